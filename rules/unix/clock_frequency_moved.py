"""The processors' clock moved between the variants that are compared.

Finds: measured variants of locking whose processors ran at different clocks; or whose user times differ although both
run the same code; or for which nothing shows that the clock stood still while a governor or boosting may move it. While
this is found, comparisons of these runs are untrusted, those of the other rules, too.

Why it matters: processes that wait let processors idle, and an idle processor's clock is lowered. Coarse locking waits
more, so it is measured at a lower clock: in one published test its user time was almost twice that of fine locking, and
much nearer to it once the clock was fixed (Stevens and Rago, APUE 20.9).

What to do: fix the clock (governor performance, boosting off), measure again, give it back. In a virtual machine the
host sets the clock: have it fixed there, or run the variants in turn, several times, until user times repeat.

When to ignore it: where only clock time of one variant matters, on the machine as it is used. Equal user times say that
the clock did not move, whatever governor is set, and a clock that was measured and stood still excuses unequal ones.
Where fine locking has the longer user time, cores shared by two threads (SMT) may be the reason.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from collectors.facts import Facts, Source, known
from collectors.facts.unix import CpuFrequency, LockingRun
from rules.changes.unix_cpufreq import fix_clock
from rules.engine import limit, rule
from rules.finding import (
    Clean,
    Evidence,
    Expectation,
    Finding,
    MissingInput,
    NotApplicable,
    Outcome,
    Severity,
    Unknown,
    Untrusted,
    joined,
)
from rules.unix._evidence.clock import CLOCK_FACTS, Clock, Tolerance, clock_of, listed_clocks, moved, users_of
from rules.unix._evidence.runs import Pair, counted, pairs

LINKS = (
    "https://docs.kernel.org/admin-guide/pm/cpufreq.html",
    "https://docs.kernel.org/admin-guide/pm/intel_pstate.html",
    "https://www.man7.org/linux/man-pages/man1/cpupower-frequency-set.1.html",
)


@dataclass(frozen=True)
class Limits:
    """How far user times and clocks of one comparison may lie apart. The other rules keep to the defaults."""

    user_ratio: float = limit(
        1.5, "this project: APUE 20.9 has almost 2 with a moving clock and up to 1.41 with a fixed one", low=1, unit="×"
    )
    leaning_ratio: float = limit(
        1.25,
        "this project: of coarse over fine where a governor may move the clock; 1.11 at most in APUE 20.9, when fixed",
        low=1,
        unit="×",
    )
    frequency_percent: float = limit(
        5.0, "practice: runs of one test repeat within a few per cent", low=0.5, high=50, unit="%"
    )


@rule(needs=(), uses=CLOCK_FACTS, links=LINKS, limits=Limits)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Judge the pairs of each table, or say what the governors alone leave open."""
    runs, clock = facts.every(LockingRun), clock_of(facts)
    if not runs:
        yield _governors_alone(clock)
        return
    found = pairs(facts)
    for title in dict.fromkeys(pair.title for pair in found):
        yield _judge(facts, [pair for pair in found if pair.title == title], clock, limits)
    steady = [run for run in runs if run.title not in {pair.title for pair in found}]
    if steady and not found:
        yield NotApplicable("one variant alone was measured: there are no user times to hold against each other")
    yield from _over_processes(runs, clock, limits)


def _governors_alone(clock: Clock) -> Outcome:
    if clock.may_move is False:
        return Clean(f"{clock.said}: the clock is fixed")
    if clock.may_move:
        why = f"{clock.said}: fix the clock before variants of a program are compared"
        return Unknown(Unknown.of(LockingRun).missing, why)
    if clock.processors or clock.boosts:
        return Unknown(Unknown.of(LockingRun).missing, clock.said)
    return Unknown.of(LockingRun, CpuFrequency)


def _judge(facts: Facts, found: Sequence[Pair], clock: Clock, limits: Limits) -> Outcome:
    title = found[0].title
    for pair in found:
        if wrong := pair.wrong:
            return Untrusted(f"{title}: {wrong}")
    tolerance = Tolerance(limits.user_ratio, limits.leaning_ratio, limits.frequency_percent)
    suspected = [(pair, why) for pair in found if (why := moved(pair, clock, tolerance))]
    if suspected:
        return _finding(found, suspected, clock, listed_clocks(facts), limits)
    ratios = [(max(users) / min(users), pair) for pair in found if (users := users_of(pair))]
    measured = [pair for pair in found if pair.both("frequency_mhz")]
    if not ratios and not measured:
        if clock.may_move is False:
            return Clean(f"{title}: {clock.said}: the clock was fixed")
        lacks = (
            MissingInput("unix.LockingRun user_seconds", LockingRun.COLLECTED_BY),
            *Unknown.of(CpuFrequency).missing,
        )
        return Unknown(lacks, f"{title}: nothing shows at which clock the variants ran")
    said = []
    if measured:
        said.append(
            f"the clocks of {len(measured)} pairs of runs differ by no more than {limits.frequency_percent:g} %"
        )
    if ratios:
        most, where = max(ratios, key=lambda one: one[0])
        said.append(f"user times differ by {most:.2f} times at most ({where.name}; limit {limits.user_ratio:g})")
    more = f"; {clock.said}" if clock.said else ""
    return Clean(f"{title}: {' and '.join(said)}: the same clock{more}")


def _finding(
    found: Sequence[Pair],
    suspected: Sequence[tuple[Pair, str]],
    clock: Clock,
    listed: Sequence[tuple[float, Source]],
    limits: Limits,
) -> Finding:
    pair, why = max(suspected, key=lambda one: (_apart(one[0]), one[0].processes))
    evidence = []
    for name, label, unit, most in (
        ("user_seconds", "user time", "s", limits.user_ratio),
        ("frequency_mhz", "clock of the processors", "MHz", limits.frequency_percent),
    ):
        for cell in (pair.before, pair.after):
            value = cell.mean(name)
            if value is not None:
                what = f"{label}, {cell.name}, {counted(pair.processes)}"
                evidence.append(Evidence(what, round(value, 4), unit, cell.source))
        both = pair.both(name)
        if both and min(both) > 0:
            ratio = max(both) / min(both)
            if unit == "s":
                least = most if ratio >= most else limits.leaning_ratio  # the one that decided
                evidence.append(Evidence("user time, larger ÷ smaller", round(ratio, 2), "×", pair.source, least))
            else:
                apart = round(100 * (ratio - 1), 1)
                evidence.append(Evidence("clocks lie apart by", apart, "% more", pair.source, most))
    evidence += [
        Evidence(f"governor of processor {one.cpu}", str(one.governor), "", one.source) for one in clock.moving
    ][:4]
    evidence += [Evidence(one.name, "boosting allowed", "", one.source) for one in clock.boosted]
    seen, by_clock = "", sorted(listed, key=lambda one: one[0])
    if by_clock and 100 * ((high := by_clock[-1])[0] / (low := by_clock[0])[0] - 1) > limits.frequency_percent:
        seen = f"The listings show the processors at {low[0]:,.0f} and at {high[0]:,.0f} MHz on average."
        evidence += [
            Evidence("clock of the processors listed", round(mhz, 1), "MHz", source, computed="as their mean")
            for mhz, source in (low, high)
        ]
    if not evidence:
        evidence.append(Evidence("runs", len(found), "pairs", pair.source))
    host = "The cpufreq files are empty, so the host of this machine sets the clock." if clock.hidden else ""
    return Finding(
        subject=pair.title,
        severity=Severity.ADVICE,
        title=f"The clock may have moved in {len(suspected)} of {len(found)} comparisons, so they are not believed",
        seen=joined(f"{pair.name}: {why}.", host or seen),
        because=(
            "Waiting processes let processors idle, and the clock of an idle processor may be lowered: then one "
            "variant is measured on a slower machine than the other."
        ),
        do=(
            f"Fix the clock{' on the host' if clock.hidden else ''}, measure every variant again, and give it back; "
            "until then no comparison of these runs is believed."
        ),
        evidence=tuple(evidence),
        changes=() if clock.hidden else fix_clock(clock),
        expects=(Expectation("user time, larger ÷ smaller", _ratio(pair), "near 1", "published"),),
    )


def _ratio(pair: Pair) -> float | None:
    users = users_of(pair)
    return round(max(users) / min(users), 2) if users else None


def _apart(pair: Pair) -> float:
    """How far the two lie apart, by clock or by user time: the worst pair is told."""
    both = pair.both("frequency_mhz") or pair.both("user_seconds")
    return max(both) / min(both) if both and min(both) > 0 else 0.0


def _over_processes(runs: Sequence[LockingRun], clock: Clock, limits: Limits) -> Iterator[Outcome]:
    """The clock of one variant over its numbers of processes: a load series bends with it."""
    for title, name in dict.fromkeys((run.title, run.name) for run in runs):
        read = [
            (run.frequency_mhz, run)
            for run in runs
            if (run.title, run.name) == (title, name) and known(run.frequency_mhz) and run.frequency_mhz > 0
        ]
        if len({run.processes for _, run in read}) < 2:
            continue
        (high, fast), (low, slow) = max(read, key=lambda one: one[0]), min(read, key=lambda one: one[0])
        if fast.processes == slow.processes or 100 * (high / low - 1) <= limits.frequency_percent:
            continue
        yield Finding(
            subject=f"{title}, {name}",
            severity=Severity.NOTE,
            title=f"{name}: {high:,.0f} MHz with {counted(fast.processes)}, {low:,.0f} with {slow.processes:g}",
            seen=f"The clock of the processors differs by {100 * (high / low - 1):.0f} % between the runs of {name}.",
            because=(
                "Processors that boost run faster while others idle. Throughput by number of processes bends for that "
                "reason, too: a law fitted to it takes the clock for contention."
            ),
            do="Fix the clock and measure again to see locking alone.",
            evidence=tuple(
                Evidence(f"clock of the processors, {counted(run.processes)}", round(value, 1), "MHz", run.source)
                for value, run in ((high, fast), (low, slow))
            ),
            changes=() if clock.hidden else fix_clock(clock),
        )
