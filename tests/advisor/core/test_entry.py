"""`python -m advisor …`: what `manage.py` prints, without Django; of an audit with what one export needs alone."""

import subprocess
import sys
from pathlib import Path

import pytest

from advisor.__main__ import main
from tests.advisor.core.test_commands import as_a_process, here
from tests.longer import first_of

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


def printed_here(*words: str) -> tuple[int, bytes, bytes]:
    """What `manage.py` prints, by a call."""
    done = here(*words)
    return done.returncode, done.stdout, done.stderr


def named(words: list[str]) -> str:
    return " ".join(word.rpartition("/")[2] for word in words)


AUDITED = [
    [SYSMON, "--format", "json", "--fail-on", "critical"],
    [str(AUDITS / EXAMPLES[0])],
    [SYSMON, "--format", "html", "--name", "PROD"],
    ["/no/such/file", SYSMON],
    [SYSMON, "--set", "ase/no_such_rule.percent=99"],
    *([str(AUDITS / name)] for name in EXAMPLES[1:]),
    [SYSMON, "--set", "ase/address_lock_spinlock_contended.contention_percent=99", "--fail-on", "note"],
    [__file__],
]


@first_of(1, "words", AUDITED, ids=named)
def test_it_prints_what_manage_audit_prints_and_ends_with_its_status(words: list[str]) -> None:
    assert run("-m", "advisor", "audit", *words) == run("manage.py", "audit", *words)


@pytest.mark.parametrize("words", AUDITED[1:5], ids=named)
def test_called_it_prints_what_manage_audit_prints_and_ends_with_its_status(words: list[str]) -> None:
    assert as_a_process(lambda: main(["audit", *words])) == printed_here("audit", *words)


COMPARED = "advisor/examples/comparisons/openvms_resource_hash_table"
BOTH = ["--before", f"{COMPARED}/before", "--after", f"{COMPARED}/after"]


OTHERS = [
    ["read", SYSMON],
    ["read", "/no/such/file"],
    ["compare", *BOTH],
    ["rules"],
    ["rules", "documents"],
    ["read", SYSMON, "--format", "json"],
    ["compare", *BOTH, "--format", "json"],
    ["compare", *BOTH, "--format", "html"],
    ["compare", "--before", "-", "--after", "-"],
    ["compare", *BOTH, "--set", "ase/no_such_rule.percent=99"],
    ["rules", "--format", "json"],
    ["rules", "ase/descriptors_reused"],
    ["rules", "no/such_rule"],
    ["rules", "documents", "--format", "json"],
]


@first_of(5, "words", OTHERS, ids=named)
def test_other_commands_print_what_manage_prints_without_django(words: list[str]) -> None:
    code = (
        "import sys; from advisor.__main__ import main\n"
        "try: status = main(sys.argv[1:])\n"
        "except SystemExit as end: status = end.code\n"
        "sys.exit(99 if {'django', 'celery'} & set(sys.modules) else status)"
    )
    with_django = printed_here(*words)
    assert with_django[0] in (0, 1, 2)
    assert run("-c", code, *words) == with_django


@first_of(1, "words", [["compare", *BOTH], *OTHERS], ids=named)
def test_manage_prints_in_a_process_what_it_prints_by_a_call(words: list[str]) -> None:
    assert run("manage.py", *words) == printed_here(*words)


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


def test_manage_serves_a_command_with_a_hyphen_alone_and_among_all() -> None:
    status, script, said = run("manage.py", "collect-script", "zvm")
    assert (status, said) == (0, b"")
    assert script.startswith(b"/* Lockwright: ")
    assert b"\n    collect-script\n" in run("manage.py", "help")[1]
    assert printed_here("collect-script", "oracle")[0] == 2


def test_what_it_does_not_do_it_says() -> None:
    status, printed, said = run("-m", "advisor", "up")
    assert (status, printed) == (2, b"")
    assert b"lockwright audit|read|compare|rules" in said
    assert b"manage.py help" in said


@first_of(1, "damage", [b"damaged", b"", None])
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
