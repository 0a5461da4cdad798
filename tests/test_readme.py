"""What README.md and docs/dba/output.md show as printed is printed so: pieces stand between lines of three dots."""

import contextlib
import io
import re
from pathlib import Path

import pytest
from django.core.management import call_command

from advisor.uploads.services.examples import folders

ROOT = Path(__file__).resolve().parents[1]
README, OUTPUT = ROOT / "README.md", ROOT / "docs" / "dba" / "output.md"
COMPARED = "advisor/examples/comparisons/openvms_resource_hash_table"


def blocks(page: Path) -> list[str]:
    """The pieces of a page that stand between fences without a language."""
    return re.findall(r"^```\n(.*?)^```$", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize(
    ("page", "begins", "command"),
    [
        (README, "LOCKWRIGHT AUDIT: ", ["audit", "advisor/examples/audits/payroll_page_locks"]),
        (OUTPUT, "LOCKWRIGHT AUDIT: ", ["audit", "--full", "advisor/examples/audits/address_lock_storm"]),
        (OUTPUT, "Before  ", ["compare", "--before", f"{COMPARED}/before", "--after", f"{COMPARED}/after"]),
    ],
)
def test_a_piece_of_output_is_as_printed(
    page: Path, begins: str, command: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    block = next(one for one in blocks(page) if one.startswith(begins))
    out = io.StringIO()
    with contextlib.suppress(SystemExit):  # the status tells of findings
        call_command(*command, stdout=out, stderr=io.StringIO())
    printed = out.getvalue()
    pieces = [one.strip("\n") for one in re.split(r"^\.\.\.$", block, flags=re.MULTILINE)]
    assert len([one for one in pieces if one]) > 1
    assert [one for one in pieces if f"\n{one}\n" not in f"\n{printed}\n"] == []


def test_as_many_examples_as_it_says_are_audited() -> None:
    said = re.search(r"^([0-9]+) example uploads are being audited", "".join(blocks(README)), re.MULTILINE)
    assert said
    assert int(said[1]) == len(list(folders()))
