"""SDA's outputs: spinlocks, lock summaries, fault traces; the real example, and whatever text may stand around it."""

import io
import random
from pathlib import Path

import pytest

from collectors.facts.base import ABSENT, Fact, Facts
from collectors.facts.openvms import (
    LockSummaryItem,
    Node,
    ProcessorModes,
    SpinlockState,
    SpinlockTrace,
    SpinlockTraceRun,
)
from collectors.layouts import sda
from collectors.layouts.sda_figures import pairs
from collectors.read import Input, read_stream
from collectors.registry import starting
from collectors.reports.openvms.spl.columns import cut_heading, kind_of, settled
from rules.engine import judge_one, rules
from rules.openvms._evidence.spinlock_looks import look_at
from tests.longer import first_of
from tests.yardstick import no_longer_than

FIXTURES = Path(__file__).parent.parent / "exports" / "openvms"
READERS = ("spl", "show_spinlocks", "show_locks", "lck", "flt")
CASES = [path for name in READERS for path in sorted((FIXTURES / name).glob("*.txt"))]
HEAD = "SDA> SPL SHOW TRACE/SUMMARY/RATES\nSpinlock   Acquires/sec   Hold %   Hold us   Spin %\n"


def read_text(text: str) -> list[Input]:
    return read_stream("export.txt", io.BytesIO(text.encode()))


def facts_of(text: str) -> list[Fact]:
    return [fact for found in read_text(text) for fact in found.facts]


def test_the_real_example_of_spinlocks_is_read_whole_and_is_not_tentative(real_exports: Path) -> None:
    with (real_exports / "openvms" / "sda_show_spinlocks_doc.txt").open("rb") as stream:
        (found,) = read_stream("doc.txt", stream)
    assert found.report == "openvms/show_spinlocks"
    assert (found.problems, found.leftovers) == ([], [])
    states = {fact.spinlock: fact for fact in found.facts if isinstance(fact, SpinlockState)}
    assert len(states) == len(found.facts) == 6
    static = states["IOLOCK8"]
    assert (static.owner_cpu, static.ipl, static.rank, static.index, static.depth) == (2, 8.0, 20.0, 52.0, 1.0)
    assert static.dynamic is False
    assert static.timeout_seconds == pytest.approx(1874.88)
    dynamic = states["HAETAR$PAA"]
    assert (dynamic.dynamic, dynamic.ipl, dynamic.index) == (True, 20.0, ABSENT)
    assert not any(fact.source.tentative for fact in found.facts)


@pytest.mark.parametrize(
    ("hold", "tentative"), [("12.0", False), ("12.5", False), ("13.0", True), ("1.2", True)], ids=str
)
def test_a_trace_is_proven_only_where_rate_and_mean_hold_give_the_share(hold: str, tentative: bool) -> None:
    rows = f"LCKMGR  61250.0  73.5  {hold}  142.1\nSCHED  12040.0  3.6  3.0  0.1\n"
    traces = [fact for fact in facts_of(HEAD + rows) if isinstance(fact, SpinlockTrace)]
    assert [fact.source.tentative for fact in traces] == [tentative, tentative]


def test_one_row_alone_proves_nothing() -> None:
    facts = facts_of(HEAD + "LCKMGR  61250.0  73.5  12.0  142.1\n")
    assert facts
    assert all(fact.source.tentative for fact in facts)


def test_what_is_read_tentatively_is_never_more_than_advice() -> None:
    rows = "LCKMGR  61250.0  73.5  12.0  342.1\nSCHED  12040.0  3.6  {}  0.1\n"
    capture = ProcessorModes(statistic="mean", mp_synch_percent=350.0, cpus=8.0)
    (rule,) = [one for one in rules() if one.id == "openvms/spinlock_hot"]
    severities = []
    for hold in ("3.0", "30.0"):
        verdict = judge_one(rule, Facts((*facts_of(HEAD + rows.format(hold)), capture)), {})
        (finding,) = [one for one in verdict.findings if "LCKMGR" in one.subject]
        severities.append((finding.severity.label, bool(finding.explains)))
    assert severities == [("critical", True), ("advice", True)]


def test_two_traces_of_one_file_stay_two() -> None:
    first = HEAD + "LCKMGR  61250.0  73.5  12.0  142.1\n"
    runs = [fact for fact in facts_of(first + first.replace("142.1", "2.1")) if isinstance(fact, SpinlockTraceRun)]
    assert [run.source.first for run in runs] == [1, 4]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Spinlock Name", "name"),
        ("CPU", "cpu"),
        ("Calling PC", "pc"),
        ("Acqs/sec", "acquires_per_second"),
        ("Acquires per second", "acquires_per_second"),
        ("Acquires", "acquires?"),
        ("Spins /sec", "spins_per_second"),
        ("Waits/s", "spins_per_second"),
        ("Spins", "spins?"),
        ("Spin", "spin?"),
        ("Hold", "hold?"),
        ("Hold %", "hold_percent"),
        ("Spin (%)", "spin_percent"),
        ("Spin Pct", "spin_percent"),
        ("Avg Hold usec", "hold_microseconds"),
        ("Spinwait (µs)", "spin_microseconds"),
        ("Max Hold us", ""),
        ("Hold ms", "hold?"),
        ("Rank", ""),
    ],
)
def test_a_column_is_told_by_its_words(text: str, kind: str) -> None:
    assert kind_of(text) == kind


def test_a_unit_that_nothing_tells_makes_no_figure() -> None:
    assert [settled("acquires?", unit) for unit in ("rates", "totals", None)] == ["acquires_per_second", "acquires", ""]
    assert [settled("hold?", unit) for unit in ("rates", "totals", None)] == ["hold_percent", "", ""]


def test_a_heading_is_cut_by_dashes_by_blanks_or_by_words() -> None:
    heads, dashes = ["           Acquires   Hold", "Spinlock       /sec      %"], "--------   --------   ----"
    assert cut_heading(heads, dashes)[0] == ["Spinlock", "Acquires /sec", "Hold %"]
    assert cut_heading(heads, None)[0] == ["Spinlock", "Acquires /sec", "Hold %"]
    assert cut_heading(["Spinlock Acquires/sec Avg Hold us Spin %"], None)[-1] == [
        "Spinlock",
        "Acquires/sec",
        "Avg Hold us",
        "Spin %",
    ]


@pytest.mark.parametrize(
    "prose",
    [
        "The spinlock trace information of SKYE is below.",
        "Spinlock usage is high, and the hold time of acquires is what we look at.",
        "Spinlock Contention    n/a   0.0   n/a",
        "Spinlock acquires and the hold are high",
        "fault trace information was not collected",
        "We ran SHOW SPINLOCKS and SPL ANALYZE.",
        "$ SHOW LOCK",
        "Lock Management",
        "Lock Remaster Counters: are explained in the manual",
        "UCB address: 8140B3C0",
    ],
)
def test_prose_and_other_reports_start_none_of_these(prose: str) -> None:
    assert not [kind for kind in starting(prose) if kind.id in {f"openvms/{name}" for name in READERS}]


@pytest.mark.parametrize("case", CASES, ids=[f"{path.parent.name}/{path.stem}" for path in CASES])
def test_no_line_of_these_exports_starts_another_report(case: Path) -> None:
    kinds = {kind.id for line in case.read_text().splitlines() for kind in starting(line)}
    assert kinds == {f"openvms/{case.parent.name}"}


def test_a_million_locks_are_a_few_figures() -> None:
    block = "Lock id: 00010A2C   PID:     00010007   Flags:   SYSTEM\nPar. id: 00000000   SUBLCKs: 3\nLocal copy\n\n"
    facts = facts_of("SDA> SHOW LOCK\n" + block * 2_000)
    items = {fact.label: fact.value for fact in facts if isinstance(fact, LockSummaryItem)}
    assert items == {"locks listed": 2_000.0, "locks listed: Local copy": 2_000.0}


@pytest.mark.long
@first_of(
    3,
    "line",
    [
        "Spinlock " + "Acquires Hold " * 4_000,
        "a" * 20_000 + " 12",
        "Spinlock" + " " * 20_000 + "Hold",
        "LCKMGR " + "1 " * 10_000,
        ("a " * 10_000) + "x",
        "Label" + "." * 20_000,
        "8071A2C0 12 " + "Z" * 20_000 + "\t",
        "EMB Address : " + "8" * 20_000,
        "SDA> SPL ANALYZE/USAGE=(" + "HOLD=" * 10_000,
    ],
    ids=lambda line: line[:16],
)
def test_long_lines_cost_no_time(line: str) -> None:
    starts = (
        "SDA> SPL ANALYZE",
        "SDA> SHOW SPINLOCKS",
        "SDA> SHOW LOCK/SUMMARY",
        "SDA> LCK SHOW X",
        "SDA> FLT SHOW TR/SU",
    )
    with no_longer_than(2):
        for start in starts:
            read_text(f"{start}\n{line}\n{line}\n")


def test_shuffled_and_spliced_lines_break_nothing() -> None:
    chance = random.Random(4711)
    lines = [line for case in CASES for line in case.read_text().splitlines()]
    for _ in range(30):
        text = "\n".join(chance.choices(lines, k=60))
        for found in read_text(text):
            for fact in found.facts:
                assert 1 <= fact.source.first <= fact.source.last <= 60


def test_commands_may_be_shortened_and_qualifiers_too() -> None:
    command = sda.command_of("SDA> spl  sh tr /summ/rat")
    assert command == "SPL SH TR /SUMM/RAT"
    assert sda.is_command(command, "SPL", "SH", "TR")
    assert sda.has(command, "SUMMARY")
    assert sda.has(command, "RATES")
    assert not sda.has(command, "TOTALS")
    assert not sda.is_command(command, "SPL", "AN")


@pytest.mark.parametrize(
    ("hardware", "version", "told"),
    [
        ("HP rx2600", "X8.2", True),
        ("HP rx2600", "V8.2-1", True),
        ("HP rx2600", "V8.3", False),
        ("HP rx2600", "V8.4-2L1", False),
        ("AlphaServer ES45", "V7.3-2", False),
    ],
)
def test_the_missing_cache_of_mmg_is_told_of_early_integrity_releases_alone(
    hardware: str, version: str, told: bool
) -> None:
    look = look_at(Facts((Node(name="STAFFA", hardware=hardware, version=version),)), "MMG")
    assert ("2,084" in look.because) == told


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("Number of locks: 84,120", [("Number of locks", 84120.0)]),
        ("Sent   12   Received   7", [("Sent", 12.0), ("Received", 7.0)]),
        ("Sent 00000010", [("Sent", 16.0)]),
        ("There are 12 locks", []),
        ("12 locks", []),
        ("Address 8071A2C0", []),
        ("", []),
    ],
)
def test_labels_and_figures_fill_their_line_or_are_none(line: str, found: list[tuple[str, float]]) -> None:
    assert pairs(line) == found


def test_of_two_nodes_in_the_text_around_a_trace_none_is_taken_for_its_own() -> None:
    row = "LCKMGR 61250.0 73.5 12.0 142.1\n"
    named = facts_of(f"The trace of node ORKNEY.\n{HEAD}{row}Then compare with node SKYE.\n")
    assert [fact.name for fact in named if isinstance(fact, Node)] == ["ORKNEY"]
    both = facts_of(f"Node SKYE is well; this is of node ORKNEY.\n{HEAD}{row}")
    assert not [fact for fact in both if isinstance(fact, Node)]
    own = facts_of(f"We are on node SKYE.\nSpinlock Trace Information on node ORKNEY:\n{HEAD}{row}")
    assert [fact.name for fact in own if isinstance(fact, Node)] == ["ORKNEY"]
    below = facts_of(f"{HEAD}{row}Then compare with node SKYE.\n")
    assert not [fact for fact in below if isinstance(fact, Node)]


def test_a_listing_leaves_the_commands_of_others_to_the_report_below() -> None:
    spinlocks = (FIXTURES / "show_spinlocks" / "brief.txt").read_text(encoding="utf-8")
    collected = (FIXTURES / "spl" / "collect_by_cpu.txt").read_text(encoding="utf-8")
    traces = [fact for fact in facts_of(spinlocks + collected) if isinstance(fact, SpinlockTrace)]
    assert {fact.spinlock for fact in traces} == {"LCKMGR"}
    assert len(traces) == 3
