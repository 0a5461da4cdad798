"""`python -m advisor audit`: what `manage.py audit` prints, without Django, and with what one export needs alone."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
AUDITS = ROOT / "advisor" / "examples" / "audits"
SYSMON = str(AUDITS / "address_lock_storm" / "sysmon.txt")
EXAMPLES = (
    "lock_manager_on_a_busy_core",
    "more_engines_less_work",
    "rdb_on_two_nodes_unpartitioned",
    "records_locked_whole",
    "scheduler_lock_two_releases",
    "two_nodes_slow_master",
)


def run(*words: str) -> tuple[int, bytes, bytes]:
    done = subprocess.run([sys.executable, *words], cwd=ROOT, capture_output=True, check=False)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize(
    "words",
    [
        *([str(AUDITS / name)] for name in EXAMPLES),
        [SYSMON, "--format", "json", "--fail-on", "critical"],
        [SYSMON, "--format", "html", "--name", "PROD"],
        [SYSMON, "--set", "ase/address_lock_spinlock_contended.contention_percent=99", "--fail-on", "note"],
        [SYSMON, "--set", "ase/no_such_rule.percent=99"],
        ["/no/such/file", SYSMON],
        [__file__],
    ],
    ids=lambda words: " ".join(word.rpartition("/")[2] for word in words),
)
def test_it_prints_what_manage_audit_prints_and_ends_with_its_status(words: list[str]) -> None:
    assert run("-m", "advisor", "audit", *words) == run("manage.py", "audit", *words)


def test_it_loads_no_django_and_of_readers_and_rules_those_of_the_product() -> None:
    code = (
        "import sys; from advisor.__main__ import main\n"
        "try: main(sys.argv[1:])\n"
        "except SystemExit: pass\n"
        "print(*sys.modules, file=sys.stderr)"
    )
    run("-m", "advisor", "audit", SYSMON)  # the signs of all readers are kept from here on, unless no bytecode is
    _, printed, loaded = run("-c", code, "audit", SYSMON, "--format", "json")
    assert printed.startswith(b"{")
    names = loaded.decode().split()
    assert not {"django", "celery", "jinja2", "numpy", "scipy"} & set(names)
    assert "rules.ase.address_lock_spinlock_contended" in names
    assert not [
        name for name in names if name.startswith(("rules.openvms.", "rules.rdb.")) and "._evidence" not in name
    ]
    if not sys.dont_write_bytecode:
        readers = {
            name.split(".")[3] for name in names if name.startswith("collectors.reports.") and name.count(".") > 2
        }
        assert readers == {"sp_sysmon"}


def test_what_it_does_not_do_it_says() -> None:
    status, printed, said = run("-m", "advisor", "up")
    assert (status, printed) == (2, b"")
    assert b"lockwright audit" in said
    assert b"manage.py help" in said


@pytest.mark.parametrize("damage", [None, b"", b"damaged"])
def test_templates_and_methods_are_kept_compiled_and_what_is_damaged_is_compiled_anew(
    damage: bytes | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPYCACHEPREFIX", str(tmp_path))
    monkeypatch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
    first = run("-m", "advisor", "audit", SYSMON)
    kept = [*tmp_path.rglob("*.jinja"), *tmp_path.rglob("*.methods")]
    assert {file.suffix for file in kept} == {".jinja", ".methods"}
    for file in kept if damage is not None else ():
        file.write_bytes(damage or b"")
    assert run("-m", "advisor", "audit", SYSMON) == first
    assert {*tmp_path.rglob("*.jinja"), *tmp_path.rglob("*.methods")} == set(kept)
    assert all(file.read_bytes() not in (b"", b"damaged") for file in kept)
