"""The worked examples of docs/engineers, followed to the letter on a copy of the tree."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs" / "engineers"
BLOCK = re.compile(r"\(`([^`]+)`\):\n\n```\w*\n(.*?)^```$", re.DOTALL | re.MULTILINE)
"""A file of the example: its path in brackets before a colon, and its text."""
COPIED = (
    "advisor",
    "collectors",
    "docs",
    "rules",
    "templates",
    "tests",
    "manage.py",
    "pyproject.toml",
    "README.md",
    "CONTRIBUTING.md",
)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A copy of what the examples change."""
    for name in COPIED:
        if (ROOT / name).is_dir():
            shutil.copytree(
                ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__", "faults", "bench")
            )
        else:
            shutil.copy(ROOT / name, tmp_path)
    return tmp_path


def run(tree: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", *words], cwd=tree, capture_output=True, text=True, check=False)


def follow(tree: Path, page: str) -> list[str]:
    """Write the files that a page shows; gives their paths."""
    blocks = BLOCK.findall((DOCS / page).read_text(encoding="utf-8"))
    for path, text in blocks:
        (tree / path).parent.mkdir(parents=True, exist_ok=True)
        (tree / path).write_text(text, encoding="utf-8")
    return [path for path, _ in blocks]


def test_a_rule_is_added_as_the_page_says(tree: Path) -> None:
    made = run(tree, "tests.scaffold", "rule", "ase/devices_nearly_used_up")
    cases = ("pytest", "-v", "-p", "no:cacheprovider", "tests/test_findings.py", "-k", "devices_nearly_used_up")
    assert run(tree, *cases).returncode == 1, "the cases that are written first fail"
    shown = follow(tree, "add-a-rule.md")
    assert [f"made {path}" for path in sorted(shown, reverse=True)] == sorted(made.stdout.splitlines(), reverse=True)
    done = run(tree, *cases)
    assert done.returncode == 0, done.stdout
    assert "10 passed" in done.stdout, (
        "six cases, one with the figure at the limit, and all with a fact or a figure less, with uneven figures, and "
        "without the time that they took"
    )
    assert (
        run(tree, "ruff", "check", *[path for path in shown if path.endswith(".py")]).stdout == "All checks passed!\n"
    )
    listed = subprocess.run(
        [sys.executable, "manage.py", "rules", "ase/devices_nearly_used_up"], cwd=tree, capture_output=True, text=True
    )
    assert "Nearly all device numbers are taken." in listed.stdout
    assert run(tree, "tests.doc_tables").returncode == 0
    held = run(
        tree, "pytest", "-v", "-p", "no:cacheprovider", "tests/test_conventions.py", "-k", "devices or readme or docs"
    )
    assert held.returncode == 0, held.stdout


@pytest.mark.parametrize("name", ["ase", "oracle/x", "ase/../x", "ase/Upper", "ase/resource_used_up"])
def test_a_name_that_cannot_be_is_refused_and_nothing_is_written(tree: Path, name: str) -> None:
    before = sorted(tree.rglob("*.py"))
    done = run(tree, "tests.scaffold", "rule", name)
    assert done.returncode == 1
    assert "write ID=" in done.stderr or "is there already" in done.stderr
    assert [one for one in sorted(tree.rglob("*.py")) if one not in before] == []


@pytest.mark.long
def test_a_page_is_added_as_the_page_says(tree: Path) -> None:
    shown = follow(tree, "add-a-page.md")
    assert len(shown) == 3
    text = (DOCS / "add-a-page.md").read_text(encoding="utf-8")
    line = re.search(r"^    path\(.*$", text, re.MULTILINE)
    brought = re.search(r"`(from advisor[^`]+)` above", text)
    assert line
    assert brought
    urls = tree / "advisor" / "config" / "urls.py"
    added = urls.read_text(encoding="utf-8").replace("urlpatterns = [", f"urlpatterns = [\n{line[0]}", 1)
    urls.write_text(added.replace("from django.urls", f"{brought[1]}\nfrom django.urls", 1), encoding="utf-8")
    told = re.search(r"`advisor/core/help.yml`:\n\n```yaml\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    assert told
    with (tree / "advisor" / "core" / "help.yml").open("a", encoding="utf-8") as help_of_pages:
        help_of_pages.write(told[1])
    pages = ("tests/advisor/systems/test_counts_page.py", "tests/advisor/core/test_page_help.py")
    done = run(tree, "pytest", "-v", "-p", "no:cacheprovider", *pages)
    assert done.returncode == 0, done.stdout
    assert "6 passed" in done.stdout


HELD = "sp_helpdevice or DeviceSize or docs"
"""The tests about the new reader and its fact, and about the docs."""


@pytest.mark.long
def test_a_reader_is_added_as_the_page_says(tree: Path) -> None:
    made = run(tree, "tests.scaffold", "reader", "ase/sp_helpdevice")
    case = ("pytest", "-v", "-p", "no:cacheprovider", "tests/test_exports.py", "-k", "sp_helpdevice")
    assert run(tree, *case).returncode != 0, "the case that is written first fails"
    shown = follow(tree, "add-a-reader.md")
    assert {line.removeprefix("made ") for line in made.stdout.splitlines()} == set(shown)
    done = run(tree, *case)
    assert done.returncode == 0, done.stdout
    assert "1 passed" in done.stdout
    assert run(tree, "tests.doc_tables").returncode == 0
    reports = (tree / "docs" / "dba" / "reports.md").read_text("utf-8")
    assert "(`sp_helpdevice`); collected by `sp_helpdevice` |" in reports
    commands = "tests/collectors/test_printed_commands.py"
    held = run(tree, "pytest", "-v", "-p", "no:cacheprovider", "tests/test_conventions.py", commands, "-k", HELD)
    assert held.returncode == 0, held.stdout
    used = run(tree, "pytest", "-q", "-p", "no:cacheprovider", "tests/rules/test_nothing_unjudged.py")
    failed = [line for line in used.stdout.splitlines() if line.startswith("FAILED")]
    assert len(failed) == 1, used.stdout
    assert "[ase.DeviceSize]" in failed[0], "until a rule or a page uses the fact"
