"""Exports of one interval that tell the same thing differently: the account says so, and which of them it uses."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from advisor.audits.report.data import account_data
from collectors.facts import Capture, Fact, Facts, Interval, Source, System, known
from collectors.facts.ase import EngineBusy, MonEngine
from collectors.facts.openvms import MonitorSample, ProcessorModes, T4File
from collectors.facts.zvm import ProcessorLoad
from rules.account import PROCESSORS, Account
from rules.audit import Audit, audit
from rules.conflict import ALIKE, APART, Told, conflict_of
from tests.stories import HERE, audits_of

ONE = Told("sp_sysmon", 53.0, Source("sysmon.txt", 26, 26), 600.0)


@pytest.mark.parametrize(
    ("percent", "seconds", "told"),
    [
        (95.0, 600.0, True),
        (53.0 + APART, 600.0, True),
        (52.9 + APART, 600.0, False),
        (95.0, 600.0 * ALIKE, True),
        (95.0, 600.0 * ALIKE - 1, False),
        (95.0, None, False),
    ],
    ids=["far apart", "just", "ticks", "about as long", "a part of it", "of unknown length"],
)
def test_only_what_differs_by_more_than_ticks_over_as_long_a_time_is_a_conflict(
    percent: float, seconds: float | None, told: bool
) -> None:
    other = Told("monEngine", percent, Source("monitoring.txt", 164, 164), seconds)
    assert (conflict_of("the engines busy", ONE, [ONE, other], "it came first") is not None) is told


def changed(story: str, change: Callable[[Fact], Fact]) -> Audit:
    """The audit of a story with some of its facts changed."""
    (one,) = audits_of(HERE / story)
    return audit(replace(one.capture, facts=Facts(tuple(map(change, one.capture.facts)))))


def printed(percent: float) -> Callable[[Fact], Fact]:
    """Change how busy sp_sysmon prints the engines."""
    return lambda one: replace(one, user_percent=percent, system_percent=0.0) if isinstance(one, EngineBusy) else one


def counted(percent: float) -> Callable[[Fact], Fact]:
    """Change how busy monEngine counts them over the interval."""

    def change(one: Fact) -> Fact:
        if not (isinstance(one, MonEngine) and one.of_interval and known(one.cpu_seconds) and known(one.idle_seconds)):
            return one
        busy = (one.cpu_seconds + one.idle_seconds) * percent / 100
        idle = one.cpu_seconds + one.idle_seconds - busy
        return replace(one, cpu_seconds=busy, user_seconds=busy, system_seconds=0.0, idle_seconds=idle)

    return change


def of_processors(made: Audit) -> Account:
    return next(one for one in made.accounts if one.currency == PROCESSORS)


def test_two_reports_of_busy_engines_that_disagree_are_told_with_their_files() -> None:
    made = of_processors(changed("healthy_monitored_server", counted(95.0)))
    assert made.conflict is not None
    assert (made.conflict.used.by, made.conflict.other.by) == ("monEngine", "sp_sysmon")
    assert made.idle == pytest.approx(0.3)
    said = made.remarks[0]
    assert said.startswith("monEngine has the engines busy 95 % of their time (")
    assert "monitoring.txt:164), sp_sysmon 53 % (" in said
    assert said.endswith(
        "sysmon.txt:26), both of the same time: this account uses monEngine, as it counts between the snapshots that "
        "the other figures are of."
    )
    data = account_data(made)["conflict"]
    assert data["used"]["percent"] == pytest.approx(95.0)
    assert data["other"]["file"].endswith("sysmon.txt")


def test_the_verdict_tells_it_where_it_would_read_otherwise_by_the_other_report() -> None:
    """Of 18 tasks 14 wait for an engine: with engines that are 95 % busy of 21, which is not the same share."""
    made = changed("healthy_monitored_server", printed(95.0))
    assert made.summary.verdict.endswith(
        "; monEngine and sp_sysmon disagree: the engines busy 53 and 95 % of their time."
    )
    quiet = changed("healthy_monitored_server", counted(95.0))
    assert quiet.summary.verdict.startswith("Nothing to do: ")
    assert "disagree" not in quiet.summary.verdict, "there is nothing to do by either"


@pytest.mark.parametrize("story", ["healthy_monitored_server", "eight_engines_no_ratio_due"])
def test_reports_that_agree_within_ticks_are_no_conflict(story: str) -> None:
    (made,) = audits_of(HERE / story)
    assert [one.conflict for one in made.accounts] == [None] * len(made.accounts)


def node(*, synch: float, busy: float, seconds: float = 2100.0) -> Audit:
    """A node of 8 CPUs: T4 says 80 % of one CPU in MP synch and 400 % busy, MONITOR what is given."""
    t4, monitor = Source("t4.csv", 1, 40), Source("modes.sum", 1, 20)
    common = {"statistic": "mean", "cpus": 8.0, "kernel_percent": 100.0, "user_percent": 100.0}
    facts = (
        MonitorSample(
            source=monitor,
            kind="summary",
            seconds=seconds,
            samples=35,
        ),
        ProcessorModes(source=monitor, mp_synch_percent=synch, idle_percent=800.0 - busy, **common),  # type: ignore[arg-type]
        T4File(source=t4, rows=35, interval_seconds=60.0),
        ProcessorModes(source=t4, mp_synch_percent=80.0, idle_percent=400.0, **common),  # type: ignore[arg-type]
    )
    return audit(Capture(System("NODE", "openvms"), Interval(), Facts(facts)))


def test_t4_and_monitor_that_disagree_on_what_is_lost_are_told_before_what_is_busy() -> None:
    made = node(synch=320.0, busy=720.0)
    account = of_processors(made)
    assert account.conflict is not None
    assert account.remarks[0] == (
        "T4 has the CPUs in MP synchronization 10 % of their time (t4.csv:1-40), MONITOR 40 % (modes.sum:1-20), both "
        "of the same time: this account uses T4, as it was read last."
    )
    assert account.gone == pytest.approx(0.8)
    assert account.otherwise is not None
    assert account.otherwise.gone == pytest.approx(3.2)
    assert made.summary.verdict.endswith(
        "T4 and MONITOR disagree: the CPUs in MP synchronization 10 and 40 % of their time."
    )


def test_t4_and_monitor_may_disagree_on_how_busy_the_cpus_were() -> None:
    account = of_processors(node(synch=80.0, busy=720.0))
    assert account.conflict is not None
    assert (account.conflict.what, account.conflict.used.percent, account.conflict.other.percent) == (
        "the CPUs busy",
        50.0,
        90.0,
    )


def test_a_summary_of_a_part_of_the_day_does_not_contradict_the_day() -> None:
    assert of_processors(node(synch=320.0, busy=720.0, seconds=600.0)).conflict is None
    assert of_processors(node(synch=90.0, busy=420.0)).conflict is None


def test_rows_of_single_processors_that_are_not_their_mean_are_told() -> None:
    (story,) = audits_of(HERE / "spinning_for_timers")
    own = of_processors(story)
    assert own.conflict is None
    mean = next(one for one in story.capture.facts.every(ProcessorLoad) if one.cpu is None and known(one.busy_percent))
    rows = tuple(
        ProcessorLoad(source=Source("fcx144.txt", 10 + cpu, 10 + cpu), cpu=cpu, busy_percent=40.0) for cpu in range(10)
    )
    facts = tuple(one for one in story.capture.facts if not (isinstance(one, ProcessorLoad) and one.cpu is not None))
    made = of_processors(audit(replace(story.capture, facts=Facts((*facts, *rows)))))
    assert made.conflict is not None
    assert made.conflict.used.percent == mean.busy_percent
    assert made.conflict.other.percent == pytest.approx(40.0)
    assert made.conflict.other.source == Source("fcx144.txt", 10, 19)
    assert made.idle == own.idle
