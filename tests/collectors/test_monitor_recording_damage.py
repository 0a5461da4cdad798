"""MONITOR recordings that are damaged, come in pieces, or break off: nothing raises, what can be read is read."""

import io
import struct
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from advisor.audits.services.auditing import run_audit
from collectors.facts import Fact
from collectors.facts.openvms import (
    MonitorSample,
)
from collectors.read import Input, read_stream
from collectors.registry import Outcome, recorded_by
from collectors.reports.openvms.monitor_recording import MonitorRecording
from collectors.text import Begun
from tests.facts_yml import load
from tests.recordings import Node, build, contained

CASES = Path(__file__).parent.parent / "exports" / "openvms" / "monitor_recording"
BEGIN = datetime(2026, 3, 2, 9)  # noqa: DTZ001  # the export has no zone


def case(name: str) -> dict[str, Any]:
    said: dict[str, Any] = load(CASES / f"{name}.yml")["recording"]
    return said


def read(data: bytes) -> list[Input]:
    return read_stream("MONITOR.DAT", io.BytesIO(data))


def facts_of(found: list[Input], kind: type[Fact]) -> list[Any]:
    return [fact for one in found for fact in one.facts if type(fact) is kind]


def fed(data: bytes, size: int) -> list[Outcome]:
    recorder = MonitorRecording("MONITOR.DAT")
    for at in range(0, len(data), size):
        recorder.feed(data[at : at + size])
    return recorder.close()


@pytest.mark.parametrize("size", [1, 2, 3, 512, 4096])
@pytest.mark.parametrize("name", ["lies_and_damage", "two_nodes_with_stale_ends", "cut_off_nospan"])
def test_it_does_not_matter_in_which_pieces_a_file_comes(name: str, size: int) -> None:
    data = build(case(name))
    whole = MonitorRecording("MONITOR.DAT")
    whole.feed(data)
    want = whole.close()
    first = max(size, 300)  # the first piece holds what the file is recognised by
    pieces = MonitorRecording("MONITOR.DAT")
    pieces.feed(data[:first])
    for at in range(first, len(data), size):
        pieces.feed(data[at : at + size])
    assert pieces.close() == want


@settings(max_examples=80, deadline=None)
@given(
    st.sampled_from(["before_v83", "v83_in_a_zip", "two_nodes_with_stale_ends", "wraps_and_falls", "lies_and_damage"]),
    st.lists(st.tuples(st.floats(0, 1), st.binary(min_size=1, max_size=12)), max_size=6),
    st.floats(0, 1),
)
def test_damage_of_any_sort_raises_nothing_and_gives_finite_figures(
    name: str, damage: list[tuple[float, bytes]], left: float
) -> None:
    data = bytearray(build({**case(name), "zip": False}))
    for place, new in damage:
        at = int(place * len(data))
        data[at : at + len(new)] = new
    recorder = MonitorRecording("MONITOR.DAT")
    recorder.feed(bytes(data[: max(1, int(len(data) * (1 - left * left)))]))
    outcomes = recorder.close()
    assert outcomes
    for outcome in outcomes:
        assert outcome.facts or outcome.problems
        for fact in outcome.facts:
            assert 0 <= fact.source.first <= fact.source.last
            for value in vars(fact).values():
                assert all(one == one for one in (value if isinstance(value, tuple) else [value])), fact  # no NaN
    inputs = [Input("MONITOR.DAT", "openvms/monitor_recording", one.facts, one.problems) for one in outcomes]
    for audit in run_audit(inputs, {}):
        assert not [verdict for verdict in audit.verdicts if verdict.verdict == "broken"]


@settings(max_examples=60, deadline=None)
@given(st.binary(max_size=4000))
def test_any_bytes_behind_a_file_header_raise_nothing(data: bytes) -> None:
    records = list(Node(case("before_v83")["nodes"][0]).records())
    assert fed(contained(records[:2], {}) + data, 4096)


def test_records_of_the_longest_size_and_times_out_of_any_range_raise_nothing() -> None:
    records = list(Node(case("before_v83")["nodes"][0]).records())
    records += [bytes([kind]) + b"\xff" * 32000 for kind in (0, 2, 7, 14, 26, 128, 129, 130, 191, 255)]
    found = read(contained(records, {}))
    assert facts_of(found, MonitorSample)[0].samples == 3


@pytest.mark.parametrize("kind", [7, 60, 140, 200])
@pytest.mark.parametrize("size", [1, 999_999])
def test_a_file_header_is_found_wherever_a_lying_byte_count_hides_it(kind: int, size: int) -> None:
    first, second = (list(Node(case("before_v83")["nodes"][0]).records()) for _ in range(2))
    start = contained(first, {})
    for swallowed in (5, 30, 200, 700):
        lie = struct.pack("<HB", swallowed + 11, kind) + bytes(10)
        data = start + lie + contained(second, {})
        recorder = MonitorRecording("MONITOR.DAT")
        recorder.feed(data[:300])
        for at in range(300, len(data), size):
            recorder.feed(data[at : at + size])
        samples = [fact.samples for one in recorder.close() for fact in one.facts if isinstance(fact, MonitorSample)]
        assert samples == [3, 3]


def test_many_recordings_in_one_file_are_read_up_to_a_bound() -> None:
    header = next(Node({"node": None, "begin": BEGIN, "end": BEGIN}).records())
    found = read(contained([header], {}) * 1100)
    assert len(found) == 1000
    assert "read no further" in found[-1].problems[-1]


def test_text_is_no_recording_and_other_binary_files_are_refused() -> None:
    assert recorded_by(b"MON30001 is what the ident of a recording looks like\n" * 30) is None
    (found,) = read(b"\x00\x01\x02MON30001" + bytes(range(256)) * 8)
    assert found.report is None
    assert "binary content" in found.problems[0]


class Breaking(io.RawIOBase):
    """A stream that breaks behind these bytes."""

    def __init__(self, data: bytes) -> None:
        self.data = data

    def read(self, size: int = -1) -> bytes:
        if not self.data:
            raise OSError("the archive is damaged here")
        given, self.data = self.data[:size], self.data[size:]
        return given


@pytest.mark.parametrize("size", [200, 700, 1200])
def test_what_came_before_a_stream_broke_is_read(size: int) -> None:
    data = build(case("before_v83"))[:size]
    (found,) = read_stream("MONITOR.DAT", Breaking(data))  # type: ignore[arg-type]  # reads as a BinaryIO does
    assert any("the archive is damaged here: read up to here only" in problem for problem in found.problems)


def test_a_stream_whose_beginning_was_looked_at_gives_all_its_bytes() -> None:
    data = bytes(range(256)) * 20
    begun = Begun(io.BytesIO(data), 1000)
    assert begun.start == data[:1000]
    assert b"".join(iter(lambda: begun.read(300), b"")) == data
    again = Begun(io.BytesIO(data), 1000)
    assert again.read(1500) == data[:1500]
    assert again.read() == data[1500:]
