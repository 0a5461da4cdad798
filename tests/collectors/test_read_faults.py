"""A reader that raises ends its own report and nothing else, whichever of the three kinds of reader it is."""

import io
import json
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from django.core.management import call_command

from advisor.audits.services.auditing import run_audit
from collectors import capture, registry
from collectors.facts import Fact, Source
from collectors.facts.openvms import Node
from collectors.grouping import groups_of
from collectors.intervals.snapshots import sort_out
from collectors.read import Input, read_stream
from collectors.registry import Kind, Outcome, Report

FASTPATH = """\
Fast Path preferred CPUs on NORN 3-FEB-2026 10:11:12.13
HP rx6600  (1.59GHz/12.0MB) with 4 active CPUs
Device:           Fastpath CPU:
EWA0                      3
"""
SPINS = """\
 SpinlockName                   Grabs                Spins                Waits
 ------------------------------ -------------------- -------------------- --------------------
 fglockspins                                 6000000             90000000               120000
"""
CONFIGURE = """\
 Parameter Name                 Default     Memory Used Config Value Run Value   Unit                 Type
 ------------------------------ ----------- ----------- ------------ ----------- -------------------- ----------
 lock hashtable size                   2048          48         2048        2048 bytes                static
"""
BROKEN = "TEAPOT LISTING\npot one\npot two\npot BOOM\npot four\n"
STARTS = re.compile(r"^TEAPOT (?:LISTING|PAGE)")


def whole(report: Report) -> Iterator[Fact]:
    """A whole-report reader with a fault."""
    for index, line in enumerate(report.lines):
        report.claim(index)
        if "BOOM" in line:
            raise KeyError("spout")
        if line.startswith("pot"):
            yield Node(source=report.source(index), name=line[4:].upper())


class Fed:
    """A fed reader with a fault in `feed`."""

    def __init__(self, file: str, above: Sequence[str]) -> None:
        self.file, self.facts, self.open = file, list[Fact](), False

    def feed(self, first: int, lines: Sequence[str]) -> int:
        for at, line in enumerate(lines):
            if "BOOM" in line:
                raise ValueError("no tea")
            if not line.startswith(("pot", "TEAPOT")):
                return at
            if line.startswith("pot"):
                self.facts.append(Node(source=Source(self.file, first + at, first + at), name=line[4:].upper()))
        return len(lines)

    def close(self) -> Outcome:
        return Outcome(list(self.facts))


class ClosedBadly(Fed):
    """A fed reader with a fault in `close` too."""

    def close(self) -> Outcome:
        raise IndexError("lid")


class BegunBadly(Fed):
    """A fed reader that cannot even be made."""

    def __init__(self, file: str, above: Sequence[str]) -> None:
        raise TypeError("no pot")


class Recorded:
    """A reader of recordings with a fault."""

    def __init__(self, name: str) -> None:
        self.name = name

    def feed(self, data: bytes) -> bool:
        if b"BOOM" in data:
            raise ZeroDivisionError
        return True

    def close(self) -> Sequence[Outcome]:
        return [Outcome([Node(source=Source(self.name, 1, 4), name="POT")])]


class RecordedBadly(Recorded):
    """One with a fault in `close`, too."""

    def close(self) -> Sequence[Outcome]:
        raise AttributeError("handle")


@pytest.fixture
def broken(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Register one more reader for the length of a test."""
    kind: Kind = request.param
    before = registry.kinds()
    registry.REGISTER[kind.id] = kind
    registry.kinds.cache_clear()
    registry._signs.cache_clear()
    registry._starts.cache_clear()
    assert len(registry.kinds()) == len(before) + 1
    yield
    del registry.REGISTER[kind.id]
    registry.kinds.cache_clear()
    registry._signs.cache_clear()
    registry._starts.cache_clear()


def text_kind(**how: object) -> Kind:
    return Kind("openvms/teapot", STARTS, (Node,), title="Teapots.", **how)  # type: ignore[arg-type]


def bytes_kind(recorder: type[Recorded]) -> Kind:
    begins = re.compile(rb"\x01POT")
    return Kind("openvms/teapot", registry.NEVER, (Node,), title="Teapots.", recording=recorder, begins=begins)


@pytest.mark.parametrize("broken", [text_kind(read=whole), text_kind(stream=Fed)], ids=["whole", "fed"], indirect=True)
@pytest.mark.usefixtures("broken")
def test_what_was_read_before_the_fault_is_kept_and_the_other_reports_of_the_file_are_read() -> None:
    text = f"{FASTPATH}{BROKEN}{FASTPATH.replace('NORN', 'HEBE')}"
    first, failed, last = read_stream("x", io.BytesIO(text.encode()))
    assert (first.report, failed.report, last.report) == (
        "openvms/show_fastpath",
        "openvms/teapot",
        "openvms/show_fastpath",
    )
    assert [fact.name for fact in failed.facts if isinstance(fact, Node)] == ["ONE", "TWO"]
    (problem,) = failed.problems
    assert problem.startswith("not read from line 8: ")
    assert "test_read_faults.py" in problem
    assert len(last.facts) == len(first.facts) == 2
    assert not first.problems
    assert not last.problems
    told = [run.first for one in (first, failed, last) for run in one.leftovers]
    assert told == [8], "the lines that were not read are told"


@pytest.mark.parametrize("broken", [text_kind(stream=Fed)], indirect=True)
@pytest.mark.usefixtures("broken")
def test_the_next_report_of_the_kind_is_read_but_no_rest_of_the_one_that_failed() -> None:
    text = f"{BROKEN}TEAPOT PAGE 2\npot five\nTEAPOT LISTING\npot six\n"
    failed, after = read_stream("x", io.BytesIO(text.encode()))
    assert [fact.name for fact in failed.facts if isinstance(fact, Node)] == ["ONE", "TWO"]
    assert [fact.name for fact in after.facts if isinstance(fact, Node)] == ["SIX"]


@pytest.mark.parametrize("broken", [text_kind(stream=Fed)], indirect=True)
@pytest.mark.usefixtures("broken")
def test_every_report_of_a_file_may_fail() -> None:
    found = read_stream("x", io.BytesIO(("TEAPOT LISTING BOOM\n" * 50).encode()))
    assert len(found) == 50
    assert [one.problems[0].split(":")[0] for one in found[:2]] == ["not read from line 1", "not read from line 2"]


@pytest.mark.parametrize(
    "broken",
    [text_kind(stream=ClosedBadly), text_kind(stream=BegunBadly)],
    ids=["close", "begin"],
    indirect=True,
)
@pytest.mark.usefixtures("broken")
def test_a_fed_reader_that_cannot_begin_or_end_loses_its_report_alone() -> None:
    failed, last = read_stream("x", io.BytesIO(f"{BROKEN}{FASTPATH}".encode()))
    assert failed.problems[0].startswith("not read from line 1: ")
    assert not failed.facts
    assert len(last.facts) == 2


@pytest.mark.parametrize("broken", [text_kind(stream=ClosedBadly)], indirect=True)
@pytest.mark.usefixtures("broken")
def test_a_fed_reader_that_fails_at_the_end_of_the_file() -> None:
    first, failed = read_stream("x", io.BytesIO(f"{FASTPATH}TEAPOT LISTING\npot one\n".encode()))
    assert len(first.facts) == 2
    assert failed.problems[0].startswith("not read from line 5: ")


@pytest.mark.parametrize("broken", [bytes_kind(Recorded)], indirect=True)
@pytest.mark.usefixtures("broken")
def test_a_recording_that_fails_gives_what_came_before() -> None:
    (found,) = read_stream("x", io.BytesIO(b"\x01POT and BOOM"))
    assert len(found.facts) == 1
    assert found.problems[0].startswith("not read from record 5: ")


@pytest.mark.parametrize("broken", [bytes_kind(RecordedBadly)], indirect=True)
@pytest.mark.usefixtures("broken")
@pytest.mark.parametrize("data", [b"\x01POT", b"\x01POT BOOM"])
def test_a_recording_that_fails_at_its_end_is_a_problem_of_its_file(data: bytes) -> None:
    (found,) = read_stream("x", io.BytesIO(data))
    assert not found.facts
    assert found.problems[0].startswith("not read from record 1: ")


class Interrupted(Fed):
    """A reader under which the task's time runs out."""

    def feed(self, first: int, lines: Sequence[str]) -> int:
        raise type("SoftTimeLimitExceeded", (Exception,), {})


class WithoutDisk(Fed):
    """A reader under which the machine fails."""

    def feed(self, first: int, lines: Sequence[str]) -> int:
        raise MemoryError


@pytest.mark.parametrize("broken", [text_kind(stream=Interrupted), text_kind(stream=WithoutDisk)], indirect=True)
@pytest.mark.usefixtures("broken")
def test_what_is_no_fault_of_a_reader_ends_the_work() -> None:
    with pytest.raises((Exception, MemoryError)):
        read_stream("x", io.BytesIO(BROKEN.encode()))


@pytest.mark.parametrize("broken", [text_kind(read=whole)], indirect=True)
@pytest.mark.usefixtures("broken")
@pytest.mark.parametrize("command", ["audit", "read", "compare"])
def test_the_commands_go_on_and_say_so(command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "bad.txt").write_text(BROKEN)
    (tmp_path / "good.txt").write_text(FASTPATH)
    paths = (
        ["--before", str(tmp_path), "--after", str(tmp_path), "--name", "NORN"]
        if command == "compare"
        else [str(tmp_path)]
    )
    call_command(command, *paths, "--format", "json")
    said = capsys.readouterr()
    assert "bad.txt: not read from line 4: " in said.err
    data = json.loads(said.out)
    if command != "compare":
        found = {Path(one["file"]).name: one for one in data["inputs"]}
        assert "not read from line 4: " in found["bad.txt"]["problems"][0]
        assert found["good.txt"]["facts"]


def of_two_systems() -> list[Input]:
    texts = {"x": FASTPATH, "y": FASTPATH.replace("NORN", "HEBE"), "spins": SPINS}
    return [one for name, text in texts.items() for one in read_stream(name, io.BytesIO(text.encode()))]


def failing_for(name: str, step: Callable[..., object]) -> Callable[..., object]:
    """The step, with a fault wherever this word is in what it is given."""

    def failed(given: object, *rest: object) -> object:
        if name in repr(given):
            raise LookupError("no such place")
        return step(given, *rest)

    return failed


@pytest.mark.parametrize("step", ["_split_by_time", "_system", "_capture"])
def test_a_system_that_cannot_be_sorted_by_time_loses_no_other(step: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(capture, step, failing_for("HEBE", getattr(capture, step)))
    inputs = of_two_systems()
    assert [one.system.name for one in capture.captures(inputs)] == ["NORN", "spins"]
    assert [one.problems[0].split(":")[0] for one in inputs if one.problems and "fault" in one.problems[0]] == [
        "read, but not judged"
    ]


def test_exports_that_cannot_be_sorted_by_system_are_judged_singly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(capture, "groups_of", failing_for("HEBE", groups_of))
    inputs = of_two_systems()
    assert [one.system.name for one in capture.captures(inputs)] == ["NORN", "spins"]
    assert all("each export is judged by itself" in one.problems[0] for one in inputs)
    assert "not judged" in inputs[1].problems[1]


def test_snapshots_that_cannot_be_subtracted_lose_no_listing_beside_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(capture, "sort_out", failing_for("Spinlock", sort_out))
    listing = read_stream("spins", io.BytesIO(CONFIGURE.encode()))
    inputs = [*listing, *read_stream("spins", io.BytesIO(SPINS.encode()))]
    (found,) = capture.captures(inputs, "PROD9")
    assert [type(fact).__name__ for fact in found.facts] == ["ConfigParameter"]
    assert not listing[0].problems
    assert "nothing was counted between these snapshots" in inputs[1].problems[-1]


@pytest.mark.parametrize("step", ["with_members", "with_loads"])
def test_captures_that_cannot_be_held_together_are_judged_singly(step: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(capture, step, failing_for("HEBE", getattr(capture, step)))
    inputs = of_two_systems()
    found = capture.captures(inputs)
    assert [one.system.name for one in found] == ["NORN", "HEBE", "spins"]
    assert all("judged by itself" in one.problems[-1] for one in inputs)
    assert run_audit(inputs, {})
