"""A verdict is no all-clear where parts of its own files could not be read: in the command, on the page, as JSON."""

import io
from pathlib import Path

import pytest
from pytest_django import DjangoCaptureOnCommitCallbacks

from advisor.audits.report.data import audit_data
from advisor.audits.services.auditing import run_audit
from advisor.systems.models import System
from advisor.uploads.services.reading import read_exports
from advisor.uploads.services.uploads import Brought, ingest
from tests.advisor.people import AsUser, People, text_of
from tests.healthy.ase_load import Load, servers
from tests.healthy.ase_sysmon import Sysmon

STRANGE = "Widget Usage by Gadget  12  34\n"
FOUND = "Nothing found in what was understood ("


def sysmon(name: str, *, strange: bool = False) -> str:
    lines = Sysmon(Load(servers()[name], 0)).write().splitlines(keepends=True)
    return "".join([*lines[:-1], *([STRANGE] if strange else []), lines[-1]])


def test_each_capture_tells_of_its_own_files_and_of_those_nothing_was_read_from(tmp_path: Path) -> None:
    for name, strange in (("PAYROLL", False), ("STOCK", True)):
        (tmp_path / f"{name}.txt").write_text(sysmon(name, strange=strange))
    inputs = read_exports([str(tmp_path)], io.BytesIO())
    first, second = (one["summary"]["verdict"] for one in audit_data(inputs, run_audit(inputs, {}))["captures"])
    assert first.startswith("Nothing to do: ")
    assert second.startswith(f"{FOUND}1 place in 1 file could not be read): ")
    (tmp_path / "notes.txt").write_text("what the DBA of the night shift wrote\n")
    inputs = read_exports([str(tmp_path)], io.BytesIO())
    first, second = (one["summary"]["verdict"] for one in audit_data(inputs, run_audit(inputs, {}))["captures"])
    assert first.startswith(f"{FOUND}1 whole file could not be read): ")
    assert second.startswith(f"{FOUND}1 place in 1 file and 1 whole file could not be read): ")


@pytest.mark.django_db
@pytest.mark.parametrize(("strange", "begins"), [(False, "Nothing to do: "), (True, FOUND)])
def test_page_and_json_say_the_same(
    people: People,
    as_user: AsUser,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
    *,
    strange: bool,
    begins: str,
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        ingest([Brought("day.txt", io.BytesIO(sysmon("STOCK", strange=strange).encode()))], people.team, people.owner)
    audit = System.objects.get().latest
    assert audit is not None
    assert audit.summary["verdict"].startswith(begins)
    olga = as_user(people.owner)
    assert begins in text_of(olga, f"/audits/{audit.pk}/")
    assert begins in text_of(olga, f"/audits/{audit.pk}/report.json")
