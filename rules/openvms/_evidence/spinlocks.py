"""What rules about OpenVMS spinlocks have in common: what is known of each, and how hot a trace shows it.

Names and remedies: knowledge/openvms-rules.md, section 5. Where a name is in no source there is no remedy.
"""

import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from collectors.facts import ABSENT, OVERFLOW, Facts, Reading, known
from collectors.facts.openvms import Curve, ProcessorModes, SpinlockTrace, SpinlockTraceRun
from rules.openvms._evidence.cpu_layout import Layout

LCKMGR, IOLOCK8, MMG = "LCKMGR", "IOLOCK8", "MMG"
RECALLED = " (as recalled, no source confirms it)"


@dataclass(frozen=True)
class Known:
    """What one spinlock guards, and what reduces its use; no remedy where none is known."""

    guards: str
    remedy: str = ""
    recalled: bool = False
    """Whether the remedy is from memory alone: it is said so."""

    @property
    def do(self) -> str:
        """What helps, as a clause."""
        if not self.remedy:
            return "no remedy is known but less of what takes it"
        return f"what helps{RECALLED if self.recalled else ''}: {self.remedy}"


BY_NAME = {
    LCKMGR: Known(
        "the lock database (from V7.3 on)",
        "fewer lock operations",
    ),
    IOLOCK8: Known(
        "fork level 8: the cluster's messages (SCS), many drivers, parts of the file system",
        "the fast path on for every port (FAST_PATH 1, FAST_PATH_PORTS 0), which gives each port a spinlock of its "
        "own, and the ports spread over the CPUs",
    ),
    "SCHED": Known(
        "the scheduler: states of processes and event flags",
        "fewer wakes; look for processes that wake each other or set event flags all the time",
        recalled=True,
    ),
    MMG: Known(
        "memory management",
        "fewer page faults (MONITOR PAGE) or, on Integrity, alignment faults (MONITOR ALIGN), whichever are many",
    ),
    "FILSYS": Known("the file system's structures", "fewer opens, closes and extensions of files", recalled=True),
    "TIMER": Known(
        "the timer queue",
        "fewer timer requests ($SETIMR): SDA> SHOW TQE lists whose they are; let that program wait for an event",
    ),
    "HWCLK": Known("the hardware clock and the time of the first timer", "fewer timer requests ($SETIMR)"),
    "POOL": Known("nonpaged pool", "a larger NPAGEDYN, so that the lookaside lists serve what is asked for"),
    "INVALIDATE": Known(
        "invalidation of translation buffers for system space", "less mapping and deleting of global sections"
    ),
    "MAILBOX": Known("messages in mailboxes", "fewer and larger messages"),
    "PERFMON": Known("the monitoring of I/O"),
    "VIRTCONS": Known("the virtual console"),
    "MEGA": Known("the fork-wait queue"),
    "MCHECK": Known("the handling of machine errors"),
    "EMB": Known("error log buffers"),
    "XFC": Known("the extended file cache", "for files that are mostly written: no caching of them", recalled=True),
    "PEDRIVER": Known("cluster traffic over the LAN"),
    "TCPIP": Known("TCP/IP", "its packet processing engine on a CPU of its own"),
}
BY_KIND = (
    (re.compile(r"PCB\$[0-9A-F]{1,16}"), Known("one process: the trace has one such spinlock for each of them")),
    (
        re.compile(r"PORT\$.{1,26}|[A-Z0-9_]{1,15}\$[A-Z]{2,4}[0-9]{0,5}"),
        Known("one port or device, whose name it carries", "less I/O on it, or more ports for the same work"),
    ),
)


def known_of(name: str) -> Known | None:
    """What is known of a spinlock, by its name or by what kind of name it has; `None` for all others."""
    found = BY_NAME.get(name)
    return found or next((one for pattern, one in BY_KIND if pattern.fullmatch(name)), None)


@dataclass(frozen=True)
class Heat:
    """One spinlock by its latest trace: shares of the time of the trace, in per cent of one CPU."""

    trace: SpinlockTrace
    seconds: float | None
    """How long was traced, where the output says so."""
    hold: Reading
    """A spinlock is held by one CPU at a time, so 100 is all there is."""
    spin: Reading
    """Of all CPUs together: 200 are two that do nothing but wait."""
    computed: bool
    """Whether the spin share is rate × mean wait, because no share is printed."""
    times: float = 1.0
    """What the printed spin share was multiplied by: the CPUs, where it is taken as per cent of all of them."""

    told: bool = False
    """Whether the trace says so itself."""

    @property
    def printed(self) -> str:
        """That the trace prints another spin share, and why it is not taken as of one CPU, as a clause; else empty."""
        if self.times == 1 or not known(self.spin):
            return ""
        spin, cpus = self.spin / self.times, f"{self.times:.0f} CPUs"
        if self.told:
            return f"printed {spin:.1f} % of all {cpus}"
        return f"printed {spin:.1f} %, taken as of all {cpus}, as only so it agrees with MP synch"

    @property
    def name(self) -> str:
        """As printed."""
        return self.trace.spinlock

    @property
    def wrong(self) -> str:
        """Why the figures cannot be believed; empty where they can."""
        for what, value in (("hold", self.hold), ("spin", self.spin)):
            if value is OVERFLOW:
                return f"{self.name}: {what} is printed as asterisks"
            if known(value) and not 0 <= value < float("inf"):
                return f"{self.name}: {what} {value:g} % is no share of time"
        if known(self.hold) and self.hold > 105:
            return f"{self.name}: held {self.hold:g} % of the time, and only one CPU at a time holds a spinlock"
        return ""

    @property
    def said(self) -> str:
        """Name and shares, for a list."""
        parts = [f"{what} {value:.1f} %" for what, value in (("hold", self.hold), ("spin", self.spin)) if known(value)]
        return f"{self.name} {', '.join(parts)}{f' ({self.printed})' if self.printed else ''}"


def heats(facts: Facts) -> list[Heat]:
    """Every spinlock with a share in a trace, most expensive first. Declares `SpinlockTrace` and `SpinlockTraceRun`.

    Lines of single CPUs are left out: what share of what time they are is not known.
    """
    facts.once(SpinlockTraceRun, _runs)
    return list(facts.once(SpinlockTrace, _heats))


def _heats(facts: Facts) -> tuple[Heat, ...]:
    """What `heats` gives, made once of however many lines there are."""
    runs = facts.once(SpinlockTraceRun, _runs)
    latest: dict[str, Heat] = {}
    for trace in facts.every(SpinlockTrace):
        heat = _heat(runs, trace)
        if trace.cpu is None and not (heat.hold is ABSENT and heat.spin is ABSENT):
            latest[trace.spinlock] = heat
    found = sorted(latest.values(), key=lambda one: (-_number(one.spin), -_number(one.hold), one.name))
    times = _all_cpus(facts, runs, found)
    told = [_told_cpus(facts, runs, one) for one in found]
    return tuple(
        replace(one, spin=one.spin * (own or times), times=own or times, told=own is not None)
        if known(one.spin)
        else one
        for one, own in zip(found, told, strict=True)
    )


def _told_cpus(facts: Facts, runs: "Runs", heat: Heat) -> float | None:
    """Of how many CPUs the trace itself says that its spin shares are; `None` where it does not, or they cannot be.

    Arithmetic: no more than 100 % of all CPUs can spin, and while one holds the spinlock all but that one at most.
    """
    run = _run_of(runs, heat.trace)
    if run is None or run.percent_of != "all CPUs" or heat.computed or not known(heat.spin):
        return None
    cpus = run.cpus or Layout(facts).captured
    if not cpus or heat.spin > 100 or (known(heat.hold) and heat.spin * cpus > heat.hold * (cpus - 1)):
        return None
    return float(cpus)


def _all_cpus(facts: Facts, runs: "Runs", found: Sequence[Heat]) -> float:
    """The CPUs, where the capture shows that the spin shares are per cent of all of them; 1: they are of one CPU.

    No source says which of both SPL prints. Two CPUs decide nothing: trace and capture may differ by that much anyway.
    Arithmetic: for a spinlock no more than all other CPUs can spin while it is held, so a short hold refutes it.
    """
    cpus, spun = Layout(facts).captured, sum(one.spin for one in found if known(one.spin))
    synch = _synch_around(facts, _run_of(runs, found[0].trace)) if found else ABSENT
    if (
        not spun
        or cpus is None
        or cpus <= 2
        or not known(synch)
        or any(one.wrong or _unit_told(runs, one.trace) for one in found)
    ):
        return 1.0
    first = found[0]
    if spun >= TRACED * synch or (known(first.hold) and _number(first.spin) * cpus > first.hold * (cpus - 1)):
        return 1.0
    return cpus if abs(spun * cpus - synch) <= SAME_SPINNING * synch else 1.0


def _synch_around(facts: Facts, run: SpinlockTraceRun | None) -> Reading:
    """MP synch in the hour around the trace where both times are known (absent: not captured), else of the capture."""
    curves = [curve for curve in facts.also(Curve).every(Curve) if curve.name == "mp synch"]
    if run and run.at and curves:
        near = [
            mean
            for curve in curves
            for at, mean in enumerate(curve.means)
            if known(mean)
            and abs((curve.start - run.at).total_seconds() + (at + 0.5) * curve.step_seconds)
            <= max(HALF_AN_HOUR, curve.step_seconds / 2)
        ]
        return sum(near) / len(near) if near else ABSENT
    modes = facts.latest(ProcessorModes, statistic="mean")
    return modes.mp_synch_percent if modes else ABSENT


def _unit_told(runs: "Runs", trace: SpinlockTrace) -> bool:
    """Whether the output tells what its shares are of: its words do, or rate × mean wait, which are of one CPU."""
    run = _run_of(runs, trace)
    return bool(run and run.percent_of) or (known(trace.spins_per_second) and known(trace.spin_microseconds))


Runs = Mapping[tuple[str, str], Sequence[SpinlockTraceRun]]
"""The outputs of a trace by file and command, in the order of their lines."""


def _runs(facts: Facts) -> Runs:
    found: dict[tuple[str, str], list[SpinlockTraceRun]] = {}
    for run in facts.every(SpinlockTraceRun):
        found.setdefault((run.source.file, run.command), []).append(run)
    for runs in found.values():
        runs.sort(key=_first_line)
    return found


def _first_line(run: SpinlockTraceRun) -> int:
    return run.source.first


TRACED = 0.5
"""This project: a trace fits that spins at least half of the capture's mean MP synch, and at most twice its highest."""
SAME_SPINNING = 0.1
"""This project: the spinning of a trace agrees with MP synch (mean, or of the hour around it) within a tenth."""
HALF_AN_HOUR = 1800.0
"""Seconds on each side of a trace."""
WAITED_PERCENT = 10.0
"""Of one CPU. Vendor: SPL ANALYZE lists from here on."""
ALL = 0.995
"""Arithmetic: a part of MP synch that is printed as 100 % is all of it."""
MOMENT_SECONDS = 10.0
"""This project, as no minimum is published: a shorter trace names no spinlock to take a CPU for. How loud a spinlock is
in openvms/spinlock_hot has a limit of its own: there a capture of hours says what is lost."""


def waited_for(facts: Facts) -> Heat | None:
    """The spinlock that a trace shows CPUs to spin for most; `None` where none decides that, or there is no trace.

    It decides nothing where its figures cannot be believed, where it is tentative or of one moment. Where CPUs spin for
    the lock manager nearly as much as for the hottest, that is no reason to leave it alone: then it is LCKMGR.
    """
    first = divides(facts)
    return None if first is None or first.trace.source.tentative else first


def divides(facts: Facts) -> Heat | None:
    """The same, of a tentative trace too: it divides what is lost, and what is set for it waits for a person."""
    found = heats(facts)
    if not found or any(heat.wrong for heat in found):
        return None
    first = next((heat for heat in found if heat.name == LCKMGR and _close(heat, found[0])), found[0])
    return None if _momentary(first) or _number(first.spin) < WAITED_PERCENT else first


def _momentary(heat: Heat) -> bool:
    return heat.seconds is not None and heat.seconds < MOMENT_SECONDS


def short_trace(facts: Facts) -> str:
    """That the trace that came along is too short to decide anything, as a clause; empty where it is not."""
    found = heats(facts)
    if not found or found[0].seconds is None or not _momentary(found[0]):
        return ""
    return (
        f"the spinlock trace that came along is of {found[0].seconds:g} s, one moment, which decides nothing: trace at "
        f"least {MOMENT_SECONDS:g} s under this load (this project's minimum; none is published)"
    )


def half_believed(facts: Facts) -> str:
    """What a trace that is read tentatively blames, and why that decides nothing, as a clause; empty without one.

    Such a trace was collected: it is not to be asked for as if it had not been.
    """
    heat = divides(facts)
    if heat is None or not heat.trace.source.tentative:
        return ""
    # the command that lists every spinlock with its rates is not asked for a second time
    whole = any(run.unit == "rates" and not known(run.listed_from_percent) for run in facts.every(SpinlockTraceRun))
    settles = "hold its lines against the display" if whole else "SPL SHOW TRACE/SUMMARY/RATES without a limit would"
    return (
        f"the spinlock trace that came along shows that CPUs wait for {heat.name} most, but it is read tentatively: no "
        f"sample of its layout is known, and its figures do not prove it ({settles})"
    )


MOST_WAITS = 50.0
"""This project: per cent of the waits that a list counts; from here on one spinlock has more than all others."""


@dataclass(frozen=True)
class Counted:
    """The spinlock that CPUs wait for most often, by a trace that counts waits and gives no share of time."""

    trace: SpinlockTrace
    percent: float
    """Of all waits that the list counts."""

    @property
    def said(self) -> str:
        """As a clause."""
        return (
            "the spinlock trace that came along counts waits, not how long they took: "
            f"{self.percent:.0f} % of those it lists are for {self.trace.spinlock}"
        )

    @property
    def do(self) -> str:
        """What to begin with, as a clause; empty where nothing is known to help."""
        told = known_of(self.trace.spinlock)
        return f"to begin with, for {self.trace.spinlock}, {told.do}" if told and told.remedy else ""


def most_often(facts: Facts) -> Counted | None:
    """What is waited for most often where only counts came along (/TOTALS): a ratio needs no unit.

    It divides nothing and sets nothing, for a wait for one spinlock may take longer than for another. `None` where no
    count was read, one spinlock alone was listed, none has most of them, or there are shares of time, which say more.
    """
    if heats(facts):
        return None
    found = {one.spinlock: one for one in facts.every(SpinlockTrace) if one.cpu is None and known(one.spins)}
    waits = {name: one.spins for name, one in found.items() if known(one.spins) and one.spins >= 0}
    whole = sum(waits.values())
    if len(waits) < 2 or not whole:
        return None
    first = max(waits, key=lambda name: waits[name])
    percent = 100 * waits[first] / whole
    return Counted(found[first], percent) if percent >= MOST_WAITS else None


def share_of_spinning(facts: Facts, name: str) -> float | None:
    """How much of all spinning that a trace lists is for this spinlock, per cent; `None` without such a trace.

    The rest of a list that begins at 10 % is not known, so there the share is an upper bound.
    """
    spins = {heat.name: heat.spin for heat in heats(facts) if known(heat.spin)}
    whole = sum(spins.values())
    return 100 * spins[name] / whole if name in spins and whole > 0 else None


def lock_manager_part(facts: Facts) -> float:
    """How much of MP synch is the lock manager's by a trace that blames it, 0 to 1; 1 where no trace divides it.

    The vendor's 200 % are of one CPU with the lock manager proven as the cause: so of this part, not of all that spins.
    """
    share = share_of_spinning(facts, LCKMGR) if waited_for(facts) else None
    return 1.0 if share is None else share / 100


def _close(heat: Heat, first: Heat) -> bool:
    """Whether CPUs spin for one nearly as much as for the first: half as much at least (this project)."""
    return _number(heat.spin) >= 0.5 * _number(first.spin) > 0


def _number(reading: Reading) -> float:
    return reading if known(reading) else -1.0


def _heat(runs: Runs, trace: SpinlockTrace) -> Heat:
    run = _run_of(runs, trace)
    computed = trace.spin_percent is ABSENT and known(trace.spins_per_second) and known(trace.spin_microseconds)
    spin = _product(trace.spins_per_second, trace.spin_microseconds) if computed else trace.spin_percent
    hold = trace.hold_percent
    if hold is ABSENT:
        hold = _product(trace.acquires_per_second, trace.hold_microseconds)
    return Heat(trace, run.seconds if run else None, hold, spin, computed)


def _product(rate: Reading, microseconds: Reading) -> Reading:
    """A rate per second × a mean time, in per cent of the time."""
    return rate * microseconds / 10_000 if known(rate) and known(microseconds) else ABSENT


def _run_of(runs: Runs, trace: SpinlockTrace) -> SpinlockTraceRun | None:
    """The output that a line belongs to: the latest of its file and command that began at or above it."""
    of_command = runs.get((trace.source.file, trace.command), ())
    above = bisect_right(of_command, trace.source.first, key=_first_line)
    return of_command[above - 1] if above else None


def listed_from(facts: Facts) -> float | None:
    """From which share on the only outputs that were collected list a spinlock at all; `None` where they list all."""
    shares = [run.listed_from_percent for run in facts.every(SpinlockTraceRun)]
    numbers = [share for share in shares if known(share)]
    return max(numbers) if numbers and len(numbers) == len(shares) else None


def not_listed(facts: Facts) -> str:
    """That a trace names what CPUs wait for and LCKMGR is below its least share, as a clause; empty where none does.

    Source: knowledge/openvms-formats.md, d.1: a spinlock that SPL ANALYZE does not name is below 10 %, not absent. That
    holds for a trace that is read tentatively, too: too little to clear the lock manager, enough not to begin with it.
    """
    first, least = divides(facts), listed_from(facts)
    if first is None or least is None or any(trace.spinlock == LCKMGR for trace in facts.every(SpinlockTrace)):
        return ""
    return (
        f"in the spinlock trace CPUs wait for {first.name} most, and {LCKMGR} is not listed, so it is below {least:g} "
        "% hold and spin"
    )
