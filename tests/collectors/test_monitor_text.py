"""MONITOR as text: what a yml cannot say. Proof and doubt, memory, cuts between blocks, damage of all sorts."""

import io
import re
import tracemalloc
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collectors.facts import Fact
from collectors.facts.openvms import (
    DistributedLockRates,
    LockRates,
    MonitorItem,
    MonitorSample,
    Node,
    ProcessorModes,
)
from collectors.read import Input, read_stream
from collectors.registry import Kind, kinds
from collectors.reports.openvms.monitor import Monitor
from collectors.reports.openvms.monitor.checks import cpus_of
from collectors.reports.openvms.monitor.lines import START, figures_of
from collectors.reports.openvms.monitor.multi import nodes_of
from collectors.reports.openvms.monitor.series import Series

EXPORTS = Path(__file__).parent.parent / "exports" / "openvms" / "monitor"
MODES = ("Interrupt State", "MP Synchronization", "Kernel Mode", "Executive Mode", "Supervisor Mode", "User Mode")


def read(text: str) -> list[Input]:
    return read_stream("monitor.txt", io.BytesIO(text.encode()))


def facts_of(text: str, kind: type[Fact], **fields: object) -> list[Fact]:
    facts = [fact for found in read(text) for fact in found.facts if type(fact) is kind]
    return [fact for fact in facts if all(getattr(fact, name) == value for name, value in fields.items())]


def case(name: str) -> str:
    return (EXPORTS / f"{name}.txt").read_text(encoding="utf-8")


def modes(stamp: str, mp_synch: int, idle: int, node: str = "LEWIS", *, box: str = "CUR") -> str:
    """A screen of bars of two CPUs; what is left of 200 is user mode."""
    figures = (3, mp_synch, 20, 0, 0, 200 - 3 - mp_synch - 20 - idle)
    lines = [
        "                            OpenVMS Monitor Utility",
        "      +-----+              TIME IN PROCESSOR MODES",
        f"      | {box} |                   on node {node}",
        f"      +-----+             {stamp}",
        " Combined for  2 CPUs                0         50        100       150       200",
        *(
            f" {name:<30} {figure or '':>5} |"
            for name, figure in (*zip(MODES, figures, strict=True), ("Idle Time", idle))
        ),
    ]
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize(
    ("total", "whole", "cpus"),
    [(396, False, 4), (404, False, 4), (395.9, False, None), (404.1, False, None), (96, True, 1)],
)
def test_the_modes_of_a_cpu_may_lack_a_hundredth_and_bars_what_is_rounded(
    total: float, whole: bool, cpus: int | None
) -> None:
    assert cpus_of(total, cpus, whole=whole) == cpus_of(total, None, whole=whole) == cpus


def test_bars_of_several_screens_are_averaged_and_keep_their_least_and_highest() -> None:
    text = modes(" 3-FEB-2021 09:00:00.01", 10, 100) + modes(" 3-FEB-2021 09:00:03.01", 40, 60)
    (mean,) = facts_of(text, ProcessorModes, statistic="mean")
    (least,) = facts_of(text, ProcessorModes, statistic="minimum")
    (highest,) = facts_of(text, ProcessorModes, statistic="maximum")
    (current,) = facts_of(text, ProcessorModes, statistic="current")
    assert isinstance(mean, ProcessorModes)
    assert (mean.mp_synch_percent, mean.idle_percent, mean.super_percent, mean.cpus) == (25, 80, 0, 2)
    assert isinstance(least, ProcessorModes)
    assert isinstance(highest, ProcessorModes)
    assert isinstance(current, ProcessorModes)
    assert (least.mp_synch_percent, highest.mp_synch_percent, current.mp_synch_percent) == (10, 40, 40)
    assert (mean.source.first, current.source.first) == (6, 18)
    (sample,) = facts_of(text, MonitorSample)
    assert isinstance(sample, MonitorSample)
    assert (sample.samples, sample.interval_seconds) == (2, 3.0)


def test_bars_of_averages_and_of_maxima_are_no_current_figures() -> None:
    text = modes(" 3-FEB-2021 09:00:00.01", 10, 100, box="AVE") + modes(" 3-FEB-2021 09:00:03.01", 90, 60, box="MAX")
    (mean,) = facts_of(text, ProcessorModes, statistic="mean")
    (highest,) = facts_of(text, ProcessorModes, statistic="maximum")
    assert isinstance(mean, ProcessorModes)
    assert isinstance(highest, ProcessorModes)
    assert (mean.mp_synch_percent, highest.mp_synch_percent) == (10, 90)
    assert not facts_of(text, ProcessorModes, statistic="current")


def test_bars_squeezed_by_a_mail_are_read() -> None:
    text = "\n".join(" ".join(line.split()) for line in modes(" 3-FEB-2021 09:00:00.01", 10, 100).split("\n"))
    assert "MP Synchronization 10 |" in text
    (current,) = facts_of(text, ProcessorModes, statistic="current")
    assert isinstance(current, ProcessorModes)
    assert (current.mp_synch_percent, current.super_percent, current.idle_percent, current.cpus) == (10, 0, 100, 2)


def test_the_modes_of_monitor_system_stand_in_for_those_of_monitor_modes() -> None:
    text = case("summary_of_one_file")
    system = text[text.index("SYSTEM STATISTICS") - 60 : text.index("ALIGNMENT FAULT STATISTICS") - 60]
    (mean,) = facts_of(system, ProcessorModes, statistic="mean")
    assert isinstance(mean, ProcessorModes)
    assert (mean.mp_synch_percent, mean.cpus) == (188.02, 8)


def test_the_list_of_processes_is_read() -> None:
    text = (
        "Process Count: 41            OpenVMS Monitor Utility           Uptime:   7 19:01:12\n"
        "                                   PROCESSES\n"
        "                                 on node LEWIS\n"
        "                             3-FEB-2021 09:00:00.01\n"
        "   PID   STATE PRI      NAME         PAGES      DIOCNT  FAULTS   CPU TIME\n"
        " 20200401 HIB   16  SWAPPER             0/0         0       0   00:00:01.2\n"
        " 2020041A CUR 3 63  LCKMGR_SERVER      12/ 260      4     101 1 02:10:09.4\n"
    )
    names = [fact.item for fact in facts_of(text, MonitorItem) if isinstance(fact, MonitorItem)]
    assert names == ["20200401 SWAPPER", "2020041A LCKMGR_SERVER"]
    assert not [run for found in read(text) for run in found.leftovers]


@pytest.mark.parametrize(
    ("name", "tentative"),
    [
        ("lock_and_dlock_tables", False),
        ("modes_bars_combined_and_per_cpu", False),
        ("summary_of_two_nodes", False),
        ("six_nodes_on_two_pages", False),
        ("row_sum_is_not_the_sum", True),
        ("lock_is_not_the_sum_of_dlock", True),
        ("minimum_above_maximum", True),
        ("modes_do_not_add_up", True),
        ("system_and_cluster_screens", True),
    ],
)
def test_a_screen_is_firm_only_where_its_own_figures_prove_it(name: str, tentative: bool) -> None:
    facts = [fact for found in read(case(name)) for fact in found.facts if not isinstance(fact, Node)]
    assert {fact.source.tentative for fact in facts} == {tentative}


def test_lock_and_dlock_of_different_times_are_not_held_against_each_other() -> None:
    text = case("lock_is_not_the_sum_of_dlock")
    first, second = text.split("                     DISTRIBUTED")
    later = first + "                     DISTRIBUTED" + second.replace("09:14:22.07", "09:14:25.07")
    assert "do not agree" in str(read(text)[0].problems)
    assert not read(later)[0].problems


def test_the_averages_of_two_nodes_side_by_side_are_held_against_each_other_node_by_node() -> None:
    text = case("summary_of_two_nodes")
    broken, count = re.subn(r"\b117\.10( +)937\.30\b", r"817.10\g<1>1637.30", text)
    assert count == 1
    problems = str(read(broken)[0].problems)
    assert "node BARRA do not agree" in problems
    assert "node SKYE" not in problems


def test_a_report_of_another_kind_ends_the_screens() -> None:
    fastpath = (EXPORTS.parent / "show_fastpath" / "two_nodes.txt").read_text(encoding="utf-8")
    found = read(case("lock_and_dlock_tables") + fastpath + case("vax_bars_without_lines"))
    assert [one.report for one in found] == ["openvms/monitor", "openvms/show_fastpath", "openvms/monitor"]


def test_a_long_text_behind_a_screen_is_not_of_this_report() -> None:
    lines = case("vax_bars_without_lines").split("\n") + [f"a word of line {number}" for number in range(3_000)]
    assert Monitor("x.txt", ()).feed(1, lines) < 2_100


@pytest.mark.parametrize("line", ["The OpenVMS Monitor Utility shows rates.", "see LOCK MANAGEMENT STATISTICS below"])
def test_prose_starts_nothing(line: str) -> None:
    assert not START.search(line)


@pytest.mark.parametrize(
    "line",
    [
        "                 OpenVMS Monitor Utility",
        "Node: LEWIS       OpenVMS Monitor Utility        3-FEB-2021 09:14:22",
        "      | AVE |    DISTRIBUTED LOCK MANAGEMENT STATISTICS",
        "<b><div id=monitor></div></b><pre>",
    ],
)
def test_a_start_is_of_this_kind_alone(line: str) -> None:
    found: list[Kind] = [kind for kind in kinds() if kind.starts.search(line)]
    assert [kind.id for kind in found] == ["openvms/monitor"]


def test_figures_that_touch_are_told_apart_and_digits_of_a_word_belong_to_it() -> None:
    touching = figures_of("  Total Locks    1048210.001047900.40   1.00*******", 4, 4)
    assert touching is not None
    assert touching.figures == ("1048210.00", "1047900.40", "1.00", "*******")
    named = figures_of("  DSA1:  STOCK2  0.10 0.20 0.00 3.00", 4, 4)
    assert named is not None
    assert named.label == "DSA1: STOCK2"
    assert figures_of("  New ENQ Rate   1.00 2.00 3.0", 4, 4) is None


def session(screens: int) -> Iterator[str]:
    """LOCK and DLOCK in turn, every three seconds; the current figure of screen n is n % 100."""
    lock, distributed = (case("lock_and_dlock_tables")[at:to] for at, to in ((0, 1190), (1190, None)))
    lock = lock.replace("1210.33    1105.20     640.00    1890.66", "{0:7.2f}      50.00       0.00     100.00")
    at = datetime(2021, 2, 3)  # noqa: DTZ001  # the export has no zone
    for number in range(screens):
        stamp = f"{at + timedelta(seconds=3 * number):%d-%b-%Y %H:%M:%S}.07".upper()
        text = (distributed if number % 2 else lock).replace(" 3-FEB-2021 09:14:22.07", stamp)
        yield text.replace("{0:7.2f}", f"{number % 100:7.2f}")


def test_memory_does_not_grow_with_the_session() -> None:
    reader, used, number = Monitor("long.txt", ()), list[int](), 1
    tracemalloc.start()
    for count, screen in enumerate(session(150), start=1):
        lines = screen.split("\n")
        assert reader.feed(number, lines) == len(lines)
        number += len(lines)
        if count % 50 == 0:
            used.append(tracemalloc.get_traced_memory()[0])
    tracemalloc.stop()
    assert max(used) < 1.2 * used[0]
    found = reader.close()
    assert not found.problems
    (sample,) = [fact for fact in found.facts if isinstance(fact, MonitorSample)]
    assert (sample.samples, sample.interval_seconds, sample.seconds) == (75, 6.0, 447.0)
    (current,) = [f for f in found.facts if isinstance(f, LockRates) and f.statistic == "current"]
    assert current.new_enq_per_second == 48
    assert len([fact for fact in found.facts if isinstance(fact, DistributedLockRates)]) == 4


@pytest.mark.parametrize("name", sorted(path.stem for path in EXPORTS.glob("*.txt")))
def test_cuts_between_blocks_change_nothing(name: str) -> None:
    lines = case(name).split("\n")
    start = next((at for at, line in enumerate(lines) if START.search(line)), 0)
    whole, in_pieces = Monitor("x.txt", ()), Monitor("x.txt", ())
    taken = whole.feed(1, lines[start:])
    for number, line in enumerate(lines[start : start + taken], start=1):
        assert in_pieces.feed(number, [line]) == 1
    assert whole.close() == in_pieces.close()


def test_the_real_screen_of_processes_is_read(real_exports: Path) -> None:
    path = real_exports / "openvms" / "monitor_topcpu_1995.txt"
    (found,) = read(path.read_text(encoding="utf-8"))
    items = [(fact.item.split()[1], fact.current) for fact in found.facts if isinstance(fact, MonitorItem)]
    assert items == [("BIGJOB1", 10), ("BIGJOB2", 10), ("DECW$TE_006F", 1)]
    assert not found.problems
    assert not found.leftovers
    assert not any(fact.source.tentative for fact in found.facts)


@pytest.mark.parametrize(
    "below",
    [
        "$ SHOW CPU\n",
        "$\n",
        "SYSMAN> PARAMETERS SHOW LOCKDIRWT\n",
        "RMU Show Statistics utility\nDatabase: DISK$PAY:[DB]PAYROLL.RDB;1\n14-MAR-2023 09:00:00.00\n",
        "Row Caches...\n",
        "LOCKTIME us,ORKNEY,SKYE,BARRA\n",
        "Printed on\n14-MAR-2023 09:00:00.00\n",
        "on node BARRA\n",
    ],
)
def test_what_stands_below_a_screen_is_no_line_of_it(below: str) -> None:
    screen = case("system_and_cluster_screens").rstrip("\n") + "\n"
    plain = [fact for found in read(screen) for fact in found.facts]
    assert [fact for found in read(screen + below) for fact in found.facts] == plain


@pytest.mark.parametrize("command", ["SHOW LOCK/SUMMARY", "LCK SHOW ACTIVE", "SPL ANALYZE"])
def test_a_report_that_begins_at_a_prompt_ends_the_screens_above_it(command: str) -> None:
    text = case("summary_of_one_file") + f"SDA> {command}\nTotal number of locks: 84120\n"
    assert [found.report for found in read(text)][-1] != "openvms/monitor"


def test_a_line_of_nodes_holds_nothing_else_and_one_to_sixteen_of_them() -> None:
    sixteen = " ".join(f"SKYE{number:02} (AVE)" for number in range(16))
    assert len(nodes_of(f"{sixteen}  Row  Row") or ()) == 16
    for line in ("", "Row  Row", f"{sixteen} SKYE16 (AVE)", "SKYE (AVE) and what the mail said"):
        assert nodes_of(line) is None


@given(st.lists(st.integers(0, 100_000_00), min_size=1, max_size=60))
def test_one_screen_never_claims_more_samples_than_it_saw(hundredths: list[int]) -> None:
    figures = [one / 100 for one in hundredths]
    mean = round(sum(figures) / len(figures), 2)
    series = Series("New ENQ Rate")
    series.add(1, {"current": figures[-1], "mean": mean, "minimum": min(figures), "maximum": max(figures)})
    assert 1 <= series.samples_at_least <= len(figures)


def test_what_an_average_between_its_extremes_tells_of_the_number_of_samples() -> None:
    for current, mean, low, high, least in (
        (5.0, 5.0, 5.0, 5.0, 1),
        (8.0, 6.0, 4.0, 8.0, 2),  # two samples average in the middle
        (6.0, 6.0, 4.0, 8.0, 3),  # the last is a third one
        (4.0, 4.1, 4.0, 8.0, 39),  # one of 8.00 among so many of 4.00; 40 but for rounding
    ):
        series = Series("New ENQ Rate")
        series.add(1, {"current": current, "mean": mean, "minimum": low, "maximum": high})
        assert series.samples_at_least == least
