"""CPUs spin for one spinlock: which one, and what relieves it.

Finds: spinlocks of a trace (SDA, SPL) that CPUs spin for longer than a share of the time; beside them, as a note, those
that are held most of the time although few spin yet.

Why it matters: MP synchronisation is the sum of all spinning; only a trace tells for which spinlock. Held by one CPU at
a time, a spinlock that is held all the time lets no more work through, however many CPUs there are. On early Integrity
systems one missing cache made MMG hot: its repair took an rx2600 from 2,084 to 10,999 I/Os per second (HP's talk on the
performance of OpenVMS on Integrity, 2004).

What to do: what the finding says for that spinlock; it names what the export shows beside it. Only LCKMGR speaks for
the lock manager, and then for fewer lock operations or for a dedicated CPU. Of a name that no source explains it
says just that: the program counters of the trace tell whose code takes it, no remedy is invented.

When to ignore it: when the trace was short, or not of the busy time: the buffer of a trace may hold less than a second.
SPL ANALYZE lists from 10 % on, so a spinlock it does not name is below that and not absent. SHOW SPINLOCKS is the state
of one moment; nothing is judged by it.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from collectors.facts import Facts, known
from collectors.facts.openvms import ProcessorModes, SpinlockState, SpinlockTrace, SpinlockTraceRun
from collectors.facts.openvms.spinlocks import TRACE
from rules.finding import (
    Clean,
    Cost,
    Evidence,
    Expectation,
    Finding,
    Lacking,
    Outcome,
    Severity,
    Unknown,
    Untrusted,
)
from rules.judging.openvms.cpu_layout import READ, Layout
from rules.judging.openvms.spinlock_looks import LOOKS_AT, look_at
from rules.judging.openvms.spinlocks import LCKMGR, Heat, heats, known_of, listed_from
from rules.kit import limit, rule

LINKS = (
    "https://wiki.vmssoftware.com/MONITOR_MODES",
    "https://wiki.vmssoftware.com/LCKMGR_MODE",
    "https://wiki.vmssoftware.com/FAST_PATH_PORTS",
)
MOST = 10
"""Findings for one node: a trace may name a spinlock for each process."""
USES = (*READ, *LOOKS_AT, SpinlockTrace, SpinlockTraceRun, SpinlockState)


@dataclass(frozen=True)
class Limits:
    """From which shares of the time of a trace on the rule speaks, and how loud."""

    spin_percent: float = limit(
        10.0, "vendor: SPL ANALYZE lists from 10 % spin on (SDA help); this project: a note", unit="% of one CPU"
    )
    advice_percent: float = limit(25.0, "this project: a quarter of a CPU lost is worth advice", unit="% of one CPU")
    warning_percent: float = limit(100.0, "this project: one CPU's worth does nothing but spin", unit="% of one CPU")
    critical_share: float = limit(
        50.0, "this project: half of the machine spins for one spinlock", low=1, high=100, unit="% of all CPUs"
    )
    hold_percent: float = limit(
        50.0,
        "this project: held half of the time it lets at most twice the work through; vendor: ANALYZE lists from 10 %",
        low=1,
        high=100,
        unit="% of the time",
    )
    least_seconds: float = limit(1.0, "this project: a shorter trace is one moment, advice at most", unit="s")


@rule(needs=(), uses=USES, links=LINKS, limits=Limits)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Judge every spinlock that a trace gives a share for."""
    found = heats(facts)
    cpus = Layout(facts).active
    if not found:
        yield _nothing(facts)
        return
    for heat in found:
        if why := _wrong(heat, cpus):
            yield Untrusted(f"{why}: trace again")
    sound = [heat for heat in found if not _wrong(heat, cpus)]
    if not sound:
        return
    hot = [heat for heat in sound if known(heat.spin) and heat.spin >= limits.spin_percent]
    held = [heat for heat in sound if heat not in hot and known(heat.hold) and heat.hold >= limits.hold_percent]
    if cpus == 1:
        yield Clean(f"{sound[0].said}; one CPU waits for no other")
        return
    for heat in hot[:MOST]:
        yield from _finding(facts, limits, heat, cpus, leads=heat is sound[0])
    for heat in held[: MOST - len(hot[:MOST])]:
        yield _held(facts, limits, heat)
    if not hot and not held:
        yield Clean(f"highest: {sound[0].said}; limits {limits.spin_percent:g} % spin, {limits.hold_percent:g} % hold")
    yield from _beside(facts, sound, hot)


def _nothing(facts: Facts) -> Outcome:
    """There is no share: what is there instead, and what to bring."""
    if facts.every(SpinlockTrace):
        why = "counts and mean times without a share or a rate: whether they matter cannot be told"
        return Unknown((Lacking("hold and spin of each spinlock as a share of the time", TRACE),), why)
    states = facts.every(SpinlockState)
    if states:
        waited = [one.spinlock for one in states if known(one.cpus_waiting) and one.cpus_waiting > 0]
        seen = f"CPUs waited for {', '.join(waited[:3])}" if waited else "no CPU waited"
        why = f"SHOW SPINLOCKS is the state of one moment ({seen}): only a trace measures"
        return Unknown((Lacking("spinlock trace", TRACE),), why)
    return Unknown.of(SpinlockTrace)


def _wrong(heat: Heat, cpus: float | None) -> str:
    if heat.wrong:
        return heat.wrong
    if cpus and known(heat.spin) and heat.spin > 102 * cpus:
        return f"{heat.name}: spin {heat.spin:g} % is more than {cpus:.0f} CPUs have"
    return ""


def _beside(facts: Facts, sound: list[Heat], hot: list[Heat]) -> Iterator[Outcome]:
    """What the list says of spinlocks without a finding."""
    names, least = {heat.name for heat in sound}, listed_from(facts)
    if LCKMGR not in names and least is not None:
        yield Clean(f"{LCKMGR} is not listed, so it is below {least:g} % hold and spin")
    if len(hot) > MOST:
        yield Clean(f"and {len(hot) - MOST} more, down to {hot[-1].said}")


def _finding(facts: Facts, limits: Limits, heat: Heat, cpus: float | None, *, leads: bool) -> Iterator[Outcome]:
    spin = heat.spin
    assert known(spin)  # noqa: S101 - check() has turned everything else away
    look, short = look_at(facts, heat.name), heat.seconds is not None and heat.seconds < limits.least_seconds
    severity = _severity(limits, spin, cpus)
    severity = min(severity, Severity.ADVICE) if short else severity
    explains: tuple[str, ...] = ()
    strong = leads and not short and not heat.trace.source.tentative
    if heat.name == LCKMGR and strong and spin >= limits.advice_percent:
        explains = ("openvms/lock_manager_needs_own_cpu", "openvms/concurrency_past_peak")
    says = [
        f"In the trace{_time(heat)} CPUs spent {spin:.1f} % of one CPU's time spinning for {heat.name}"
        f"{f', which was held {heat.hold:.1f} % of the time' if known(heat.hold) else ''}"
        f"{' (spins per second × mean wait)' if heat.computed else ''}.",
        _remedy(heat),
        *look.says,
    ]
    if leads and heat.name != LCKMGR:
        says.append("This is not the lock manager's spinlock: a dedicated lock manager would not relieve it.")
    if short:
        says.append(f"The trace covers less than {limits.least_seconds:g} s: one moment, so trace longer under load.")
    yield Finding(
        subject=f"{Layout(facts).subject} spinlock {heat.name}",
        severity=severity,
        title=f"{heat.name}: {spin / 100:.1f} CPUs' worth spins for one spinlock",
        says=" ".join(says),
        evidence=(*_evidence(heat, limits), *look.evidence),
        cost=_cost(facts, spin),
        explains=explains,
        expects=(
            Expectation(f"{heat.name} spin (% of one CPU)", round(spin, 1), "lower", "heuristic"),
            *look.expects,
        ),
        share=spin,
    )
    yield from look.missing


def _severity(limits: Limits, spin: float, cpus: float | None) -> Severity:
    if cpus and spin >= max(limits.critical_share * cpus, limits.warning_percent):
        return Severity.CRITICAL
    if spin >= limits.warning_percent:
        return Severity.WARNING
    return Severity.ADVICE if spin >= limits.advice_percent else Severity.NOTE


def _held(facts: Facts, limits: Limits, heat: Heat) -> Finding:
    hold = heat.hold
    assert known(hold)  # noqa: S101 - check() has turned everything else away
    spun = f"{heat.spin:.1f} % spin is" if known(heat.spin) else "how many spin was not printed, so nothing is"
    more = f"{100 / hold:.1f} times" if hold else "many times"
    return Finding(
        subject=f"{Layout(facts).subject} spinlock {heat.name}",
        severity=Severity.NOTE,
        title=f"{heat.name} is held {hold:.0f} % of the time: near all it can let through",
        says=(
            f"In the trace{_time(heat)} {heat.name} was held {hold:.1f} % of the time; {spun} known to be lost. One "
            f"CPU holds it at a time, so at most {more} this work can ever go through it, and CPUs will spin before "
            f"that. {_remedy(heat)}"
        ),
        evidence=_evidence(heat, limits),
        share=hold,
    )


def _time(heat: Heat) -> str:
    return f" of {heat.seconds:g} s" if heat.seconds is not None else ""


def _remedy(heat: Heat) -> str:
    told = known_of(heat.name)
    seen = f" Most of it comes from {'; '.join(heat.trace.callers[:3])}." if heat.trace.callers else ""
    if told is None:
        return (
            f"No source at hand says what {heat.name} guards or what relieves it: the callers tell whose it is.{seen}"
        )
    return f"{told.says}{seen}"


def _evidence(heat: Heat, limits: Limits) -> tuple[Evidence, ...]:
    trace, source = heat.trace, heat.trace.source
    figures = (
        ("spin", heat.spin, "% of one CPU", limits.spin_percent),
        ("hold", heat.hold, "% of the time", limits.hold_percent),
        ("acquisitions", trace.acquires_per_second, "/s", None),
        ("spins", trace.spins_per_second, "/s", None),
        ("mean hold", trace.hold_microseconds, "µs", None),
        ("mean wait", trace.spin_microseconds, "µs", None),
    )
    return tuple(
        Evidence(f"{heat.name} {what}", round(value, 3), unit, source, held_against)
        for what, value, unit, held_against in figures
        if known(value)
    )


def _cost(facts: Facts, spin: float) -> Cost:
    """The trace is of one stretch of time: over the day at least what MP synch is on average, if that is less."""
    modes = facts.latest(ProcessorModes, statistic="mean")
    usual = modes.mp_synch_percent if modes and known(modes.mp_synch_percent) and modes.mp_synch_percent >= 0 else 0.0
    return Cost(spin / 100, min(spin, usual) / 100, spin / 100)
