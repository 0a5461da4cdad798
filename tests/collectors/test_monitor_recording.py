"""MONITOR recordings: what a yml cannot say. Pieces of any size, damage of all sorts, long files, proofs."""

import io
import struct
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from advisor.audits.services.excerpts import add_excerpts
from collectors.facts import Fact, known
from collectors.facts.openvms import (
    Curve,
    DistributedLockRates,
    LockDatabase,
    LockRates,
    MonitorSample,
    ProcessorModes,
    RemasterRates,
)
from collectors.read import Input, read_stream
from collectors.reports.openvms.monitor_recording import MonitorRecording
from collectors.reports.openvms.monitor_recording.counters import Counting, Longwords, Rates
from collectors.reports.openvms.monitor_recording.header import TICKS, header_of, moment, system_of
from collectors.reports.openvms.monitor_recording.sums import MOST_KEPT, MOST_STEPS
from collectors.text import blocks
from tests.facts_yml import load
from tests.recordings import Node, build, contained, vms_time

CASES = Path(__file__).parent.parent / "exports" / "openvms" / "monitor_recording"
BEGIN = datetime(2026, 3, 2, 9)  # noqa: DTZ001  # the export has no zone


def case(name: str) -> dict[str, Any]:
    said: dict[str, Any] = load(CASES / f"{name}.yml")["recording"]
    return said


def read(data: bytes) -> list[Input]:
    return read_stream("MONITOR.DAT", io.BytesIO(data))


def facts_of(found: list[Input], kind: type[Fact]) -> list[Any]:
    return [fact for one in found for fact in one.facts if type(fact) is kind]


LOCKS = {"LOCK": [1000, 2000, 990, 12, 6, 3, 0, 0, 42000, 12500]}


def of_locks(samples: int, rate: Callable[[int], float], **said: Any) -> bytes:
    """A recording of LOCK alone, with a rate of new locks for each sample."""
    then = [{"LOCK": [rate(at), *LOCKS["LOCK"][1:]]} for at in range(samples)]
    counters = {"LOCK": [5, 6, 7, 8, 9, 10, 11, 12, 41000, 12000]}
    node = {"node": "LEWIS", "boot": BEGIN, "begin": BEGIN, "end": BEGIN, "counters": counters, "then": then, **said}
    return build({"nodes": [node]})


@pytest.mark.parametrize(("dialect", "time_at"), [("old", 3), ("new", 3), ("new", 4), ("new", 8)])
def test_both_layouts_and_each_place_of_the_time_say_the_same(dialect: str, time_at: int) -> None:
    said = case("before_v83")
    want = read(build(said))
    (node,) = case("before_v83")["nodes"]
    (got,) = read(build({"nodes": [{**node, "dialect": dialect, "time_at": time_at}]}))
    differing = [fact for fact in got.facts if fact not in want[0].facts]
    assert {type(fact) for fact in differing} <= {MonitorSample}
    assert got.facts
    (sample,) = facts_of([got], MonitorSample)
    assert sample.dialect == ("before V8.3" if dialect == "old" else "V8.3 or later")


def test_what_the_figures_prove_is_firm_and_the_rest_is_tentative() -> None:
    proven = read(build(case("before_v83")))
    assert proven[0].facts
    assert not any(fact.source.tentative for fact in proven[0].facts)
    unproven = read(build(case("nothing_proves_the_times")))
    assert unproven[0].facts
    assert all(fact.source.tentative for fact in unproven[0].facts)


def test_modes_that_add_up_prove_the_times_without_an_ending_time() -> None:
    said = case("before_v83")
    said["nodes"][0]["end"] = None
    found = read(build(said))
    assert not any(fact.source.tentative for fact in found[0].facts)


def test_only_the_classes_that_are_not_proven_are_tentative() -> None:
    said = case("before_v83")
    for step in said["nodes"][0]["then"]:
        step["DLOCK"][0] += 900
        step["RLOCK"] = [2, 1, 1, 0, 50, 3, 60]
    found = read(build(said))
    tentative = {type(fact) for fact in found[0].facts if fact.source.tentative}
    assert tentative == {DistributedLockRates, RemasterRates, Curve}
    curves = {fact.name for fact in facts_of(found, Curve) if fact.source.tentative}
    assert curves == {"local", "incoming", "outgoing", "directory"}


def test_modes_that_never_add_up_are_tentative() -> None:
    said = case("before_v83")
    for step in said["nodes"][0]["then"]:
        step["MODES"][0][7] = step["MODES"][1][7] = 5
    found = read(build(said))
    assert all(fact.source.tentative for fact in facts_of(found, ProcessorModes))
    assert not any(fact.source.tentative for fact in facts_of(found, LockRates))
    assert any(problem.startswith("tentative: the modes do not add up") for problem in found[0].problems)


def test_a_long_recording_keeps_a_bounded_number_of_samples_and_steps() -> None:
    samples = 9000
    (found,) = read(of_locks(samples, lambda at: at, end=None))
    (sample,) = facts_of([found], MonitorSample)
    assert (sample.samples, sample.p95_every, sample.interval_seconds) == (samples, 8, 60.0)
    mean, p95, peak = facts_of([found], LockRates)
    assert mean.new_enq_per_second == pytest.approx((samples - 1) / 2)
    assert p95.new_enq_per_second == pytest.approx(0.95 * samples, rel=0.002)
    assert peak.new_enq_per_second == samples - 1
    (curve,) = [curve for curve in facts_of([found], Curve) if curve.name == "lock operations"]
    assert 144 <= len(curve.means) <= 288
    assert curve.step_seconds == 60 * 32
    means = [mean for mean in curve.means if known(mean)]
    assert len(means) == len(curve.means)
    assert means == sorted(means)
    assert curve.peaks[-1] == samples - 1 + 2990


def test_the_state_of_a_reader_does_not_grow_with_the_file() -> None:
    recorder = MonitorRecording("MONITOR.DAT")
    recorder.feed(of_locks(5000, lambda at: at % 7, end=None))
    assert recorder.part
    samples = recorder.part.samples
    assert all(1024 <= len(one.kept) <= MOST_KEPT for one in samples.groups.values())
    assert all(len(one.counts) <= MOST_STEPS for one in samples.steps.values())
    assert len(samples.gaps) == MOST_KEPT
    assert not recorder.part.waiting
    assert len(recorder.records.rest) < 1200


def test_a_header_whose_length_is_80_hexadecimal_is_not_taken_for_one_without_a_length() -> None:
    records = list(Node(case("before_v83")["nodes"][0]).records())
    records[0] = records[0].ljust(0x180, b"\0")
    data = contained(records, {})
    assert data[0] == 0x80
    assert facts_of(read(data), MonitorSample)


def test_times_are_found_where_the_header_has_pads() -> None:
    records = list(Node(case("before_v83")["nodes"][0]).records())
    records[0] = records[0][:5] + bytes(3) + records[0][5:]
    (sample,) = facts_of(read(contained(records, {})), MonitorSample)
    assert (sample.comment, sample.source.tentative) == ("month end", False)


def test_the_times_of_the_file_header_are_found_and_so_is_the_name_of_the_node() -> None:
    header, system, *_ = Node(case("before_v83")["nodes"][0]).records()
    for pads in (0, 1, 3):
        found = header_of(header[:5] + bytes(pads) + header[5:])
        assert (moment(found.begin), found.interval, found.comment) == (BEGIN, 60, "month end")
    assert header_of(header[:5] + bytes(16) + header[21:]).begin == 0
    assert system_of(system).node == "ORKNEY"
    assert system_of(system[:9] + b"\x01A".ljust(16, b"\0") + system[9:]).node == "ORKNEY"
    assert system_of(system[:9]).node is None


@pytest.mark.parametrize(
    ("counting", "seconds", "counts", "why"),
    [
        (Counting(), 3000, (2_200_000_000, 0), "more than once"),
        (Counting(busiest=900_000.0), 3000, (5, 5), "more than once"),
        (Counting(), 60, (70_000_000, 0), "rose by more than"),
        (Counting(), 60, (60_000_001, 0), "rose by more than"),
        (Counting(), 60, (60_000_000, 0), None),
        (Counting(ticks=True), 60, (6400, 0), "more time than passed"),
        (Counting(ticks=True), 50_000_000, (5, 0), "more than once"),
        (Counting(), 60, (6_000_000, 0), None),
        (Counting(ticks=True), 60, (6000, 0), None),
    ],
)
def test_a_counter_is_believed_where_it_cannot_have_gone_round_twice(
    counting: Counting, seconds: int, counts: tuple[int, ...], why: str | None
) -> None:
    assert counting.next(Longwords(0, 1, (7,) * len(counts))) is None
    rates = counting.next(Longwords(seconds * TICKS, 2, tuple(count + 7 for count in counts)))
    if why:
        assert isinstance(rates, str)
        assert why in rates
    else:
        assert isinstance(rates, Rates)
        assert rates.values[0] == counts[0] / seconds


def test_levels_are_those_of_the_samples() -> None:
    found = read(of_locks(3, lambda at: at, end=None))
    mean, peak = facts_of(found, LockDatabase)
    assert (mean.locks, peak.locks, peak.resources) == (42000.0, 42000.0, 12500.0)


def test_a_binary_file_is_quoted_nowhere_and_nothing_is_raised(tmp_path: Path) -> None:
    file = tmp_path / "MONITOR.DAT"
    counters = {"LOCK": [1] * 10}
    said = {"node": "LEWIS", "boot": BEGIN, "begin": BEGIN, "end": BEGIN, "counters": counters}
    header, *records = list(Node(said).records())
    like_text = bytes([200]) + b"\0" + "a\nb\n".encode("utf-16-be") * 2000
    file.write_bytes(contained([header, like_text, *records], {}))
    with file.open("rb") as stream:
        assert len(next(blocks(stream, print))[1]) > 3, "taken for UTF-16: every second byte is 0"
    item: dict[str, Any] = {"file": str(file), "lines": [2, 3], "value": 2.0, "metric": "new locks"}
    add_excerpts({"captures": [{"findings": [{"evidence": [item]}]}]})
    assert item["excerpt"] == []


def test_a_vms_time_is_counted_from_the_base_date() -> None:
    (ticks,) = struct.unpack("<Q", vms_time(datetime(1858, 11, 18)))  # noqa: DTZ001
    assert ticks == 86_400 * 10_000_000
