"""Many idle guests wake every 10 ms and ask CP for timers.

Finds: many guests that use next to no processor time, or a list of guests whose kernels tick (hz_timer 1), while
processors spin for the lock of the timer requests (HCPTRQLK). Neither alone shows it: busy guests ask for timers, too,
and a tickless kernel sleeps until it has work.

Why it matters: a Linux kernel without the timer patch asks for a timer interrupt 100 times a second even when idle. CP
has to dispatch it each time, and keeps it in queue with its pages. 500 such guests were what bound z/VM 4.3.0 on 9 and
16 processors in published runs ("Scheduler Lock Improvement", z/VM 4.4.0 performance report).

What to do: let the kernels sleep. Kernels since 2.6.21 are tickless (CONFIG_NO_HZ). Before that the on-demand timer
patch: kernel.hz_timer=0 in /etc/sysctl.conf, kernel.hz_timer=1 takes it back. Then see what polls inside the guests:
monitoring agents and cron jobs wake them as well. Shut down guests that nobody uses.

When to ignore it: when all guests run tickless kernels; when the timer requests are those of busy guests. On 3
processors even 500 ticking guests made CP spin little in the published runs. None of the pages read here counts the
wakes of a guest, so the finding is advice at most, and only the guests can confirm it: by a list of their hz_timer.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from collectors.facts import Facts, known
from collectors.facts.zvm import GuestTimers, PerformanceRun, ProcessorLoad, SpinLock
from rules.engine import limit, percent, rule
from rules.finding import (
    Clean,
    Evidence,
    Expectation,
    Finding,
    MissingInput,
    Outcome,
    Severity,
    Unknown,
    Untrusted,
    joined,
)
from rules.zvm._evidence.machine import ASK_USERS, FEW, LEAST, MACHINE_FACTS, MEAN, Machine, machine_of
from rules.zvm._evidence.releases import HCPTRQLK, SRMSLOCK, Release
from rules.zvm._evidence.runs import distinct, doubt, run_of_pages
from rules.zvm._evidence.spins import (
    Scale,
    Spin,
    of_all,
    scale_of,
    spins_of,
)

LINKS = (
    "https://www.vm.ibm.com/perf/reports/zvm/html/schlock.html",
    "https://access.redhat.com/documentation/en-US/Red_Hat_Enterprise_Linux/5/html/Installation_Guide/s1-s390info-kernel.html",
    "https://www.vm.ibm.com/devpages/RICHARDL",
)
TICKS = 100.0
"""Timer interrupts per second of a kernel that ticks every 10 ms."""
ASK = (
    MissingInput("guests that stay in queue", "INDICATE QUEUES EXP"),
    MissingInput("timer of the guests", GuestTimers.COLLECTED_BY),
)
LOCKS = MissingInput(SpinLock.fact_name(), SpinLock.COLLECTED_BY)


@dataclass(frozen=True)
class Limits:
    """From how many guests, how idle, and how much spinning on the rule speaks."""

    guests: int = limit(50, "this project: fewer guests make fewer than 5,000 timer requests a second", unit="guests")
    idle_percent: float = percent(2.0, "this project: of one processor for each guest, on average", of="a processor")
    spin_percent: float = percent(
        1.0, f"this project: spinning for {HCPTRQLK} below this costs nothing", low=0.1, of="the time"
    )
    advice_percent: float = percent(5.0, "this project: worth a look into the guests", low=0.1, of="the time")
    few_processors: int = limit(
        FEW, "vendor: 3 processors with 500 ticking guests had no locking problem", low=1, high=64, unit="processors"
    )


@rule(needs=(), uses=(*MACHINE_FACTS, GuestTimers), links=LINKS, limits=Limits, sample=LEAST, together=True)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Judge what the pages show, and bound what runs can hold."""
    runs, users = distinct(facts.every(PerformanceRun)), _users(facts)
    spins, beside = spins_of(facts), run_of_pages(facts)
    yield from _runs([run for run in runs if not beside or run.run != beside[0].run], limits)
    if users and not 0 <= users[0] < float("inf"):
        yield Untrusted(f"{users[0]:g} users logged on are none; save the page again")
        return
    if users and users[0] < limits.guests:
        yield Clean(f"{users[0]:g} users logged on, limit {limits.guests}: too few to matter")
        return
    doubts = [why for why in spins.doubts if why.startswith(HCPTRQLK)]
    yield from (Untrusted(f"{why}; save the page again") for why in doubts)
    if spins.locks or spins.total:
        yield _pages(facts, users, limits)
    elif users or not (runs or doubts):
        why = f"{users[0]:g} users are logged on; what their timers cost is not in the export" if users else ""
        yield Unknown((LOCKS, *(() if users else (ASK_USERS,)), *ASK), why)


def _users(facts: Facts) -> tuple[float, ProcessorLoad] | None:
    rows = [row for row in facts.every(ProcessorLoad) if row.statistic == MEAN and known(row.users)]
    return (rows[-1].users, rows[-1]) if rows and known(rows[-1].users) else None


def _runs(runs: list[PerformanceRun], limits: Limits) -> Iterator[Outcome]:
    """A table has no guests: its SIE rate says at most how many there can be that wake every 10 ms."""
    many: dict[float, str] = {}
    for run in runs:
        if why := doubt(run):
            yield Untrusted(f"run {run.run}: {why}; collect the table again")
        elif known(run.sie_per_second):
            at_most = run.sie_per_second / TICKS
            said = f"run {run.run}: {run.sie_per_second:,.0f} SIE/s, so at most {at_most:,.0f} guests wake every 10 ms"
            if at_most < limits.guests:
                yield Clean(f"{said}, limit {limits.guests}")
            else:
                many[at_most] = said
        else:
            yield Unknown((LOCKS, ASK_USERS, *ASK), f"run {run.run}: neither guests nor SIE rate in the table")
    if many:
        said = "; ".join(dict.fromkeys((many[min(many)], many[max(many)])))
        yield Unknown((LOCKS, ASK_USERS, *ASK), f"{said}; how many do is not in the table")


def _pages(facts: Facts, users: tuple[float, ProcessorLoad] | None, limits: Limits) -> Outcome:
    spins, machine = spins_of(facts), machine_of(facts)
    scale = scale_of(spins, machine)
    spin = next((one for one in spins.locks if one.lock == HCPTRQLK), None)
    early = machine.release is not None and machine.release < Release(4, 4)
    if spin is None:
        spin = next((one for one in spins.locks if early and one.lock == SRMSLOCK), spins.total)
    if spin is None:
        return Unknown((LOCKS, *ASK), f"{HCPTRQLK} is not on the page, nor is the total")
    if machine.processors == 1 or of_all(spin.percent, machine, scale)[1] < limits.spin_percent:
        said = f"{spin.said}, limit {limits.spin_percent:g} %: timer requests are not spun for"
        return Clean(said, (spin.fact.source,))
    if spin.lock != HCPTRQLK:
        also = "before 4.4.0 it serves timer requests and much else" if early else f"{HCPTRQLK} is not on the page"
        return Unknown((*(() if early else (LOCKS,)), *(() if users else (ASK_USERS,)), *ASK), f"{spin.said}; {also}")
    timers = facts.latest(GuestTimers)
    if timers and known(timers.ticking) and timers.ticking >= limits.guests:
        return _ticking(spin, timers, timers.ticking, machine, scale, limits)
    guests = _guests(users, machine)
    if guests is None or users is None:
        return Unknown((ASK_USERS, *ASK), f"{spin.said}; how many guests there are, and how idle, is not in the export")
    if guests > limits.idle_percent:
        why = f"{spin.said}; {users[0]:g} users take {guests:.1f} % of a processor each, which is not idle"
        return Unknown(ASK, f"{why}: whether idle ones among them ask for timers stays open")
    return _finding(spin, users, guests, machine, scale, limits)


def _guests(users: tuple[float, ProcessorLoad] | None, machine: Machine) -> float | None:
    """What a guest takes on average, % of one processor."""
    if users is None or not users[0] or machine.processors is None:
        return None
    return machine.processors * machine.emulation.value / users[0] if machine.emulation else None


def _few(machine: Machine, limits: Limits) -> bool:
    """Whether there are so few processors that little is to be gained."""
    return machine.processors is not None and machine.processors <= limits.few_processors


def _ticking(
    spin: Spin, timers: GuestTimers, ticking: float, machine: Machine, scale: Scale | None, limits: Limits
) -> Finding:
    """A list of the guests says how many of them tick, whatever else they do."""
    few = _few(machine, limits)
    loud = of_all(spin.percent, machine, scale)[1] >= limits.advice_percent and not few and not spin.moment
    guests = timers.guests if known(timers.guests) else ticking
    rate = spin.fact.collisions_per_second
    return Finding(
        subject=HCPTRQLK,
        severity=Severity.ADVICE if loud else Severity.NOTE,
        title=f"{ticking:,.0f} guests tick every 10 ms (hz_timer 1), and {spin.percent:.0f} % spinning for timers",
        seen=(
            f"{spin.percent:.1f} % of the time is spent spinning for {HCPTRQLK}, the queue of timer requests. Of "
            f"{guests:,.0f} guests listed {ticking:,.0f} have hz_timer 1, which is {ticking * TICKS:,.0f} timer "
            "requests a second even when all of them are idle."
        ),
        because=joined(
            "CP dispatches a guest for each of its timer interrupts, and keeps it in queue with its pages.",
            "On so few processors there is little to gain." if few else "",
        ),
        do=(
            "Set kernel.hz_timer=0 in /etc/sysctl.conf of one guest first (sysctl -w kernel.hz_timer=0 at once; 1 "
            "takes it back), then in the idle ones, then in all, and compare this page. Kernels since 2.6.21 are "
            "tickless."
        ),
        unknown="What else wakes the guests (monitoring agents, cron jobs) is not in the list.",
        evidence=(
            Evidence(f"{HCPTRQLK} spinning", round(spin.percent, 3), spin.unit, spin.fact.source, limits.spin_percent),
            *((Evidence(f"{HCPTRQLK} spins", rate, "/s", spin.fact.source),) if known(rate) else ()),
            Evidence("guests with hz_timer 1", ticking, "", timers.source, limits.guests),
        ),
        explains=(f"zvm/spin_locks_cost_too_much:{HCPTRQLK}",) if loud else (),
        expects=(Expectation(f"{HCPTRQLK} spinning (% of the time)", round(spin.percent, 2), "lower", "heuristic"),),
        share=spin.percent,
    )


def _finding(
    spin: Spin,
    users: tuple[float, ProcessorLoad],
    each: float,
    machine: Machine,
    scale: Scale | None,
    limits: Limits,
) -> Finding:
    count, row = users
    few = _few(machine, limits)
    least, most = of_all(spin.percent, machine, scale)
    proven = least >= limits.spin_percent or scale is Scale.MEAN
    loud = most >= limits.advice_percent and not few and proven and not spin.moment
    rate = spin.fact.collisions_per_second
    return Finding(
        subject=HCPTRQLK,
        severity=Severity.ADVICE if loud else Severity.NOTE,
        title=f"{count:,.0f} guests, mostly idle, and {spin.percent:.0f} % spinning for timer requests",
        seen=(
            f"{spin.percent:.1f} % of the time is spent spinning for {HCPTRQLK}, the queue of timer requests. "
            f"{count:,.0f} users are logged on and take {each:.2f} % of a processor each on average, so at least half "
            f"of them no more than {2 * each:.2f} %."
        ),
        because=joined(
            "Idle guests that wake every 10 ms look like this: without the timer patch a Linux kernel before 2.6.21 "
            "asks CP for 100 timer interrupts a second even when idle.",
            "On so few processors there is little to gain." if few else "",
        ),
        do=(
            "Look for idle guests that stay in queue (INDICATE QUEUES EXP, several times); in them uname -r tells the "
            "kernel (tickless since 2.6.21) and /proc/sys/kernel/hz_timer the timer patch (1: it ticks). Where one "
            "ticks, take a tickless kernel, or set kernel.hz_timer=0 in its /etc/sysctl.conf (1 takes that back)."
        ),
        unknown="The pages do not count wakes, so only the guests can confirm it.",
        evidence=(
            Evidence(f"{HCPTRQLK} spinning", round(spin.percent, 3), spin.unit, spin.fact.source, limits.spin_percent),
            *((Evidence(f"{HCPTRQLK} spins", rate, "/s", spin.fact.source),) if known(rate) else ()),
            Evidence("users logged on", count, "", row.source, limits.guests),
            Evidence("guests' own time, for each", round(each, 3), "% of a processor", row.source, limits.idle_percent),
        ),
        expects=(Expectation(f"{HCPTRQLK} spinning (% of the time)", round(spin.percent, 2), "lower", "heuristic"),),
        share=spin.percent,
    )
