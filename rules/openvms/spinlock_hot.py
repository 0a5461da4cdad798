"""CPUs spin for one spinlock: which one, and what reduces that.

Finds: spinlocks of a trace (SDA, SPL) that CPUs spin for longer than a share of the time; beside them, as a note, those
that are held most of the time although few spin yet.

Why it matters: MP synchronization is the sum of all spinning; only a trace tells for which spinlock. Held by one CPU at
a time, a spinlock that is held all the time lets no more work through, however many CPUs there are. On early Integrity
systems one missing cache made MMG hot: its repair took an rx2600 from 2,084 to 10,999 I/Os per second (HP's talk on the
performance of OpenVMS on Integrity, 2004).

What to do: what the finding says for that spinlock; it names what the export shows beside it. Only LCKMGR speaks for
the lock manager, and then for fewer lock operations or for a dedicated CPU. Of a name that no source explains it
says just that: the program counters of the trace tell whose code takes it, no remedy is invented.

SPL prints spin as per cent, and no source says of what: of one CPU or of all. It is taken as of one, unless its sum
agrees with MP synch (the capture's mean, or of the hour around the trace) only times the CPUs; the finding says so.
Hold stays as printed: one CPU at a time holds a spinlock, and no more than all others spin while it is held, which
refutes shares of all CPUs of a spinlock that is held little. Where the output states its unit nothing is inferred.

A trace lasts seconds: it divides the MP synchronization of a capture (T4, MONITOR) that is long enough, and how loud
the rule speaks follows from that. Where the capture's mean hides hours in which CPUs spun as in the trace, it divides
these hours, not the mean. Without such a capture it is a note, whatever its shares. No least length of a trace
is published; the capture's and the trace's here are this project's own.

When to ignore it: when the trace was short, or not of the busy time: the buffer of a trace may hold less than a second.
SPL ANALYZE lists from 10 % on, so a spinlock it does not name is below that and not absent. SHOW SPINLOCKS is the state
of one moment; nothing is judged by it.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from collectors.facts import ABSENT, Facts, Reading, known
from collectors.facts.openvms import ProcessorModes, SpinlockState, SpinlockTrace, SpinlockTraceRun
from collectors.facts.openvms.spinlocks import TRACE
from rules.engine import limit, percent, rule
from rules.finding import (
    Clean,
    Cost,
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
from rules.openvms._evidence.cpu_layout import LAYOUT_FACTS, Layout
from rules.openvms._evidence.node import in_prose, sentence
from rules.openvms._evidence.peaks import PEAK_FACTS, Length, Stretch, longest
from rules.openvms._evidence.releases import ALPHA_AND_INTEGRITY, machine_of
from rules.openvms._evidence.sampling import LEAST_MINUTES, LEAST_SAMPLES, SAMPLE_FACTS, too_short
from rules.openvms._evidence.spinlock_looks import LOOKS_AT, fewer_locks, look_at
from rules.openvms._evidence.spinlocks import (
    IOLOCK8,
    LCKMGR,
    TRACED,
    Heat,
    heats,
    known_of,
    listed_from,
    most_often,
)
from rules.openvms._evidence.spinning import apart

LINKS = (
    "https://wiki.vmssoftware.com/MONITOR_MODES",
    "https://wiki.vmssoftware.com/LCKMGR_MODE",
    "https://wiki.vmssoftware.com/FAST_PATH_PORTS",
)
PAST_PEAK = "openvms/concurrency_past_peak"
MOST = 10
"""Findings for one node: a trace may name a spinlock for each process."""
USES = (*LAYOUT_FACTS, *LOOKS_AT, *PEAK_FACTS, *SAMPLE_FACTS, SpinlockTrace, SpinlockTraceRun, SpinlockState)


@dataclass(frozen=True)
class Limits:
    """From which shares of the time of a trace on the rule speaks, and how loud."""

    spin_percent: float = limit(
        10.0, "vendor: SPL ANALYZE lists from 10 % spin on (SDA help); this project: a note", unit="% of one CPU"
    )
    advice_percent: float = limit(25.0, "this project: a quarter of a CPU lost is worth advice", unit="% of one CPU")
    advice_share: float = percent(
        3.0, "this project: less than makes a loss worth a warning is no loss to a large machine", of="all CPUs"
    )
    warning_percent: float = limit(100.0, "this project: one CPU's worth does nothing but spin", unit="% of one CPU")
    critical_share: float = percent(
        50.0, "this project: half of the machine spins for one spinlock", low=1, of="all CPUs"
    )
    hold_percent: float = percent(
        50.0,
        "this project: held half of the time it lets at most twice the work through; vendor: ANALYZE lists from 10 %",
        low=1,
        of="the time",
    )
    least_seconds: float = limit(
        1.0, "this project: no minimum is published; a shorter trace is one moment, a note at most", unit="s"
    )
    least_capture_seconds: float = limit(
        60.0 * LEAST_MINUTES, "this project: no minimum is published; as of the rules that take a CPU", unit="s"
    )
    least_samples: int = limit(
        LEAST_SAMPLES,
        "this project: a capture or hours that a trace divides have so many samples",
        low=1,
        unit="samples",
    )
    least_minutes: float = limit(
        30.0, "this project: hours last so long, where nobody counted their samples", low=1, unit="minutes"
    )
    explained_percent: float = percent(
        50.0, "this project: a trace that spins less than half of the capture's MP synch is of another time"
    )


@rule(needs=(), uses=USES, links=LINKS, limits=Limits)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Judge every spinlock that a trace gives a share for."""
    found = heats(facts)
    cpus = Layout(facts).captured
    if not found:
        alone = cpus == 1 and not facts.every(SpinlockTrace)
        yield Clean("no spinlock trace; one CPU waits for no other") if alone else _nothing(facts)
        return
    for heat in found:
        if why := _wrong(heat, cpus):
            yield Untrusted(f"{why}: trace again")
    sound = [heat for heat in found if not _wrong(heat, cpus)]
    if not sound:
        return
    hot = [heat for heat in sound if known(heat.spin) and heat.spin >= limits.spin_percent]
    names = {heat.name for heat in hot}
    held = [heat for heat in sound if heat.name not in names and known(heat.hold) and heat.hold >= limits.hold_percent]
    if cpus == 1:
        yield Clean(f"{sound[0].said}; one CPU waits for no other")
        return
    synch = _synch(facts, limits)
    spun = sum(heat.spin for heat in sound if known(heat.spin))
    hours = _hours(facts, limits, cpus, synch, spun)
    for heat in hot[:MOST]:
        yield from _finding(facts, limits, heat, cpus, _Loss(synch, spun, hours), leads=heat is sound[0])
    if hot and synch is None:
        wanted = MissingInput("MP synch of a capture around the trace, which it divides", ProcessorModes.COLLECTED_BY)
        yield Unknown((wanted,))
    for heat in held[: MOST - len(hot[:MOST])]:
        yield _held(facts, limits, heat)
    if not hot and not held:
        yield Clean(f"highest: {sound[0].said}; limits {limits.spin_percent:g} % spin, {limits.hold_percent:g} % hold")
    yield from _beside(facts, sound, hot)


@dataclass(frozen=True)
class _Loss:
    """What is lost over a capture, which a trace divides. Per cent of one CPU."""

    synch: ProcessorModes | None
    """Mean MP synch of a capture that is long enough; `None`: the trace is alone."""
    spun: float
    """Of all spinlocks in the trace."""
    hours: Stretch | None = None
    """The hours of the capture in which CPUs spun as in the trace, where its mean spins far less: these are divided."""

    @property
    def whole(self) -> Reading:
        """What is divided; `ABSENT`: nothing."""
        if self.hours:
            return self.hours.synch
        return self.synch.mp_synch_percent if self.synch else ABSENT

    def of(self, spin: float, explained_percent: float) -> float | None:
        """The spinlock's part of the capture's MP synch; `None` without a capture.

        Where the trace spins far less than the capture, it is of a quieter time and only its own share is told.
        """
        whole = self.whole
        if not known(whole):
            return None
        return whole * spin / self.spun if self.shared_out(explained_percent) else min(spin, whole)

    def shared_out(self, explained_percent: float) -> bool:
        """Whether the whole is divided as the trace's spinning is: it spins as much, nearly."""
        return known(self.whole) and self.spun >= explained_percent / 100 * self.whole


def _synch(facts: Facts, limits: Limits) -> ProcessorModes | None:
    modes = facts.latest(ProcessorModes, statistic="mean")
    if modes is None or not known(modes.mp_synch_percent) or modes.mp_synch_percent < 0:
        return None
    return None if too_short(facts, modes.source, limits.least_samples, limits.least_capture_seconds / 60) else modes


def _hours(
    facts: Facts, limits: Limits, cpus: float | None, mean: ProcessorModes | None, spun: float
) -> Stretch | None:
    """The longest time in which CPUs spun as in the trace, where the mean of the capture hides that."""
    usual = mean.mp_synch_percent if mean else ABSENT
    if cpus is None or not known(usual) or spun <= usual / TRACED:
        return None

    def alike(synch: float, _busy: float, _operations: float | None) -> bool:
        return TRACED * spun <= synch <= spun / TRACED

    return longest(facts, cpus, Length(limits.least_samples, LEAST_MINUTES, limits.least_minutes), alike)


def _nothing(facts: Facts) -> Outcome:
    """There is no share: what is there instead, and what to bring."""
    if facts.every(SpinlockTrace):
        counted = most_often(facts)
        why = "counts and mean times without a share or a rate: whether they matter cannot be told"
        why += f"; {counted.said}" if counted else ""
        return Unknown.without("hold and spin of each spinlock as a share of the time", TRACE, why)
    states = facts.every(SpinlockState)
    if states:
        waited = [one.spinlock for one in states if known(one.cpus_waiting) and one.cpus_waiting > 0]
        seen = f"CPUs waited for {', '.join(waited[:3])}" if waited else "no CPU waited"
        why = f"SHOW SPINLOCKS is the state of one moment ({seen}): only a trace measures"
        return Unknown.without("spinlock trace", TRACE, why)
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


def _finding(
    facts: Facts, limits: Limits, heat: Heat, cpus: float | None, loss: _Loss, *, leads: bool
) -> Iterator[Outcome]:
    spin = heat.spin
    assert known(spin)  # noqa: S101 - check() has turned everything else away
    short = heat.seconds is not None and heat.seconds < limits.least_seconds
    lost = loss.of(spin, limits.explained_percent)
    look = look_at(facts, heat.name, spin if lost is None else lost)
    beyond = _beyond(facts, loss)
    severity = Severity.NOTE if short or lost is None or beyond else _severity(limits, lost, cpus)
    if loss.hours:
        severity = min(severity, Severity.WARNING)  # of some hours, not of all
    explains: tuple[str, ...] = ()
    if leads and not short and not beyond and spin >= limits.advice_percent:
        explains = (*(("openvms/lock_manager_needs_own_cpu",) if heat.name == LCKMGR else ()), PAST_PEAK)
    seen = (
        f"In the trace{_time(heat)} CPUs spent {in_prose(spin)} % of one CPU's time spinning for {heat.name}"
        f"{f' ({heat.printed})' if heat.printed else ''}"
        f"{f', which was held {in_prose(heat.hold)} % of the time' if known(heat.hold) else ''}"
        f"{' (spins per second × mean wait)' if heat.computed else ''}."
    )
    brief = f"the trace covers less than {limits.least_seconds:g} s: one moment, so trace longer under load"
    alone = "a trace is a moment: what that costs over time only a capture of MP synch tells, and none that is long "
    alone += "enough came with it, so this is a note"
    not_its = (
        "a dedicated lock manager would not help, as this is not its spinlock" if leads and heat.name != LCKMGR else ""
    )
    do = joined(sentence(look.remedy or _remedy(heat, facts), not_its), look.do)
    if beyond:
        do = "Collect trace and capture of the same busy hour before anything is changed for this spinlock."
    yield Finding(
        subject=f"{Layout(facts).subject} spinlock {heat.name}",
        severity=min(severity, look.at_most),
        title=f"{heat.name}: {spin / 100:.1f} CPUs' worth spins for one spinlock{_then(spin, lost)}",
        seen=joined(seen, "" if beyond else _divided(heat, loss, lost, limits)),
        because="" if beyond else joined(sentence(*_known(heat), *look.facts), look.because),
        do=do,
        unknown=joined(
            sentence(beyond or ("" if lost is not None else alone), brief if short else ""),
            "" if beyond else sentence(_unsaid(heat), look.unknown),
        ),
        evidence=(*_evidence(heat, limits), *_capture(loss), *look.evidence),
        cost=None
        if lost is None or beyond
        else Cost(lost / 100, min(lost, spin) / 100, max(lost, spin) / 100, of_capture=loss.hours is None),
        explains=explains,
        changes=() if beyond or machine_of(facts).x86 else tuple(look.changes),
        expects=()
        if beyond
        else (
            Expectation(f"{heat.name} spin (% of one CPU)", round(spin, 1), "lower", "heuristic"),
            *look.expects,
        ),
        share=spin,
        once=lost is None and not short and not beyond and spin >= limits.warning_percent,
    )
    yield from look.missing


def _then(spin: float, lost: float | None) -> str:
    """The end of a title: where the account, which divides the capture, has another figure than the trace."""
    own = "" if lost is None else f"{lost / 100:.1f}"
    return f" in the trace, {own} by its share over the capture" if own and own != f"{spin / 100:.1f}" else ""


def _beyond(facts: Facts, loss: _Loss) -> str:
    """That the trace spins far more than the capture ever did, as a clause; empty where it does not."""
    synch = loss.synch.mp_synch_percent if loss.synch else None
    if loss.hours or not known(synch) or loss.spun < synch or not (away := apart(facts, synch, loss.spun)):
        return ""
    return (
        f"all spinlocks of the trace together spin {loss.spun:.0f} %, {away}: trace and capture are of different "
        "times, so nothing is advised for this spinlock"
    )


def _severity(limits: Limits, spin: float, cpus: float | None) -> Severity:
    if cpus and spin >= max(limits.critical_share * cpus, limits.warning_percent):
        return Severity.CRITICAL
    if spin >= limits.warning_percent:
        return Severity.WARNING
    worth = max(limits.advice_percent, limits.advice_share * (cpus or 0.0))
    return Severity.ADVICE if spin >= worth else Severity.NOTE


def _held(facts: Facts, limits: Limits, heat: Heat) -> Finding:
    hold = heat.hold
    assert known(hold)  # noqa: S101 - check() has turned everything else away
    spun = f"{heat.spin:.1f} % spin is" if known(heat.spin) else "how many spin was not printed, so nothing is"
    more = f"{100 / hold:.1f} times" if hold else "many times"
    return Finding(
        subject=f"{Layout(facts).subject} spinlock {heat.name}",
        severity=Severity.NOTE,
        title=f"{heat.name} is held {hold:.0f} % of the time: near all it can let through",
        seen=f"In the trace{_time(heat)} {heat.name} was held {in_prose(hold)} % of the time; {spun} known to be lost.",
        because=joined(
            f"One CPU holds it at a time, so at most {more} this work can ever go through it, and CPUs will spin "
            "before that.",
            sentence(*_known(heat)),
        ),
        do=sentence(_remedy(heat, facts)),
        unknown=sentence(_unsaid(heat)),
        evidence=_evidence(heat, limits),
        share=hold,
    )


def _time(heat: Heat) -> str:
    return f" of {heat.seconds:g} s" if heat.seconds is not None else ""


def _known(heat: Heat) -> tuple[str, ...]:
    """What it guards and who takes it, as clauses."""
    told, callers = known_of(heat.name), ", ".join(heat.trace.callers[:3])
    most = "most often it is taken by" if "/s" in callers else "most of it comes from"
    return (f"{heat.name} guards {told.guards}" if told else "", f"{most} {callers}" if callers else "")


def _remedy(heat: Heat, facts: Facts) -> str:
    """What helps, as a clause."""
    if heat.name == IOLOCK8 and machine_of(facts).x86:
        return f"what helps elsewhere, Fast Path, is {ALPHA_AND_INTEGRITY}: nothing is advised of it here"
    if heat.name == LCKMGR:
        return fewer_locks(facts)
    told = known_of(heat.name)
    return told.do if told else "find by the callers in the trace whose code takes it; no remedy is known"


def _unsaid(heat: Heat) -> str:
    """That no source explains it, as a clause."""
    return "" if known_of(heat.name) else f"no source at hand says what {heat.name} guards"


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


def _capture(loss: _Loss) -> tuple[Evidence, ...]:
    if loss.hours:
        return (loss.hours.evidence,)
    if loss.synch is None or not known(loss.synch.mp_synch_percent):
        return ()
    return (Evidence("MP synch (mean)", loss.synch.mp_synch_percent, "% of one CPU", loss.synch.source),)


def _divided(heat: Heat, loss: _Loss, lost: float | None, limits: Limits) -> str:
    """What the trace makes of the capture's MP synch, as a sentence; empty where there is no capture to divide."""
    if lost is None or loss.synch is None or not known(loss.synch.mp_synch_percent):
        return ""
    if loss.hours:
        return (
            f"{loss.hours.when} CPUs spun as in this trace, {loss.hours.synch:.0f} % of one CPU in MP synch: of these "
            f"{lost:.0f} % are {heat.name}'s by it (figures of {loss.hours.minutes:.0f} minutes, not of the capture's "
            "mean)."
        )
    by = "by this trace"
    if loss.shared_out(limits.explained_percent) and known(heat.spin):
        by = f"by its share of all spinning in the trace, {100 * heat.spin / loss.spun:.0f} %"
    return (
        f"Of the {loss.synch.mp_synch_percent:.0f} % of one CPU that MP synch takes on average, {lost:.0f} % are "
        f"{heat.name}'s {by}."
    )
