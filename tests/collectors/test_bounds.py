"""No bound is silent: what is beyond it is a problem that names the line and says what to do."""

import importlib
import io
import re
from pathlib import Path

import pytest

from collectors.leftovers import MOST_LEFTOVERS
from collectors.read import Input, read_stream
from tests.bench.generate import fixture

EXPORTS = Path(__file__).resolve().parent.parent / "exports"


def read(text: str, report: str) -> Input:
    found = [one for one in read_stream("export.txt", io.BytesIO(text.encode("latin-1"))) if one.report == report]
    assert found, report
    return found[0]


@pytest.mark.parametrize(
    ("report", "module", "name", "most", "told"),
    [
        (
            "openvms/spl",
            "reports.openvms.spl.outputs",
            "MOST_ROWS",
            3,
            r"line [0-9]+: [0-9]+ rows after the first .*: upload",
        ),
        (
            "openvms/lck",
            "reports.openvms.lck",
            "MOST_ITEMS",
            1,
            r"line [0-9]+: [0-9]+ lines of figures after .*: upload",
        ),
        (
            "openvms/show_locks",
            "reports.openvms.show_locks",
            "MOST_ITEMS",
            1,
            r"line [0-9]+: [0-9]+ lines of figures .*: upload",
        ),
        (
            "openvms/autogen",
            "reports.openvms.autogen",
            "MOST_WARNINGS",
            0,
            r"line [0-9]+: not kept: .* warnings .*repeat",
        ),
        (
            "rdb/dump_header",
            "reports.rdb.dump_header",
            "MOST_WARNINGS",
            0,
            r"line [0-9]+: only the first 0 warnings .*damaged",
        ),
        (
            "unix/locking_runs",
            "reports.unix.locking_runs",
            "MOST_ROWS",
            2,
            r"line [0-9]+: a table of more than 2 rows.*: .*upload",
        ),
        (
            "unix/cpu_frequency",
            "reports.unix.cpu_frequency",
            "MOST_CPUS",
            1,
            r"line [0-9]+: more than 1 processors.*upload",
        ),
        (
            "zvm/locklog",
            "layouts.spin_locks",
            "MOST_TOTALS",
            0,
            r"line [0-9]+: of the intervals of all locks .*: upload",
        ),
    ],
)
def test_what_is_beyond_a_bound_is_told(
    report: str, module: str, name: str, most: int, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = [path.read_bytes().decode("latin-1") for path in (EXPORTS / report).iterdir() if path.suffix != ".yml"]

    def problems() -> list[str]:
        inputs = [one for text in texts for one in read_stream("export.txt", io.BytesIO(text.encode("latin-1")))]
        return [problem for one in inputs for problem in one.problems if re.match(told, problem)]

    assert not problems()
    monkeypatch.setattr(importlib.import_module(f"collectors.{module}"), name, most)
    assert problems()


def test_lines_that_were_not_understood_and_are_too_many_to_list_are_counted() -> None:
    odd = "".join(f"nobody knows what {number} is\n\n" for number in range(MOST_LEFTOVERS + 5))
    found = read(fixture("openvms/sysgen") + odd, "openvms/sysgen")
    assert len(found.leftovers) == MOST_LEFTOVERS
    assert any(re.match(r"line [0-9]+: 5 more lines below it were not understood", told) for told in found.problems)
    above = read(odd + fixture("openvms/sysgen"), "openvms/sysgen")
    assert any(re.match(r"line [0-9,]+: 5 more lines below were not understood", told) for told in above.problems)
