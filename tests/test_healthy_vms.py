"""Fifteen healthy OpenVMS systems, three clusters and six Oracle Rdb databases among them: nobody has to act.

`tests/healthy/vms_nodes.yml` describes them as those who run them would; `tests.healthy.vms_load` makes what they
bring. The readers check that the figures of a file agree (modes with CPUs, LOCK with DLOCK, totals with rates) and say
where they do not, so a file without a problem is one that adds up.
"""

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from advisor.audits.services.auditing import run_audit
from advisor.uploads.services.reading import read_exports
from collectors.read import Input
from rules.audit import Audit
from rules.finding import Severity
from tests.healthy.vms_load import Exports, nodes

NODES = nodes()
DRAWS = 8
"""Further draws of each system's figures, in the long run of the tests."""


def read(name: str, draw: int = 0) -> list[Input]:
    """What the readers make of the files of a system."""
    with TemporaryDirectory() as folder:
        files = list(Exports(NODES[name], draw).write())
        for file, text in files:
            (Path(folder) / file).write_text(text, "utf-8", newline="")
        return read_exports([str(Path(folder) / file) for file, _ in files], None)  # type: ignore[arg-type]


@cache
def audited(name: str) -> tuple[list[Input], list[Audit]]:
    """A system's files as they were read, and an audit of each of its nodes, made once for all tests."""
    inputs = read(name)
    return inputs, run_audit(inputs, {}, None)


def loud(audits: list[Audit]) -> list[str]:
    """Findings above a note."""
    found = [one.finding for audit in audits for one in audit.findings if one.finding.severity > Severity.NOTE]
    return [f"{one.severity.label}: {one.title}" for one in found]


@pytest.mark.parametrize("name", NODES)
def test_healthy_system_hears_nothing_above_a_note(name: str) -> None:
    inputs, audits = audited(name)
    assert not [problem for one in inputs for problem in one.problems]
    assert not [leftover for one in inputs for leftover in one.leftovers], "the layouts are those of the products"
    said = {one.verdict for audit in audits for one in audit.verdicts}
    assert not said & {"broken", "untrusted"}
    assert not loud(audits)
    assert not [change for audit in audits for one in audit.findings for change in one.finding.changes]
    assert {audit.capture.system.name for audit in audits} == {one.name for one in NODES[name].nodes}


@pytest.mark.parametrize("name", [name for name, one in NODES.items() if one.database])
def test_database_is_judged_with_its_node(name: str) -> None:
    _, audits = audited(name)
    (judged,) = [
        [one for one in audit.verdicts if one.rule.startswith("rdb/") and one.verdict == "clean"]
        for audit in audits
        if any(one.rule.startswith("rdb/") and one.verdict != "not-applicable" for one in audit.verdicts)
    ]
    assert len(judged) >= 10, "the header and the screens are read together"


@pytest.mark.long
@pytest.mark.parametrize("name", NODES)
def test_healthy_system_stays_so_in_other_hours(name: str) -> None:
    for draw in range(1, DRAWS + 1):
        inputs = read(name, draw)
        assert not [problem for one in inputs for problem in one.problems], f"draw {draw}"
        assert not loud(run_audit(inputs, {}, None)), f"draw {draw}"


def test_systems_are_of_all_kinds() -> None:
    assert len(NODES) == 15
    assert {one.cpus for one in NODES.values()} >= {1, 2, 4, 8, 16}
    assert len({one.release for one in NODES.values()}) >= 7
    assert sum(bool(one.other) for one in NODES.values()) == 3
    assert sum(bool(one.database) for one in NODES.values()) == 6
    assert any(one.dedicated for one in NODES.values())
    assert all(len(one.story.split()) > 10 for one in NODES.values()), "each is described"
