"""A dedicated lock manager is configured and does not run.

Finds: LCKMGR_MODE, as it runs (ACTIVE), above the number of active CPUs. It is the number of CPUs that have to be
active before the lock manager takes one for itself, not a CPU number: with fewer it turns itself off within a second.
Or a lock manager that runs, where another value is pending (CURRENT): LCKMGR_MODE 0 or above the CPUs there are, with
which the next boot leaves it without a CPU, or LCKMGR_CPUID naming one that cannot be taken or does not suit it, or
none (0), with which it takes the lowest CPU but the primary in place of the one that was chosen.
Or none that runs, where the pending value gives it a CPU with the next boot although CPUs hardly spin.
Also: enough CPUs are active and LCKMGR_SERVER hibernates all the same; or it is set where no document has it (x86-64).

Why it matters: who set it believes that lock operations have a CPU of their own. They have not: callers spin in MP
synchronisation as if it had never been set. A CPU that was stopped (STOP/CPU, iCAP) or did not start is enough.
Hours in which they spin much count by their own figures where those of the day hide them.

What to do: where it is meant to run, start the stopped CPUs again, which turns it on without a parameter; only where
they are to stay stopped, lower LCKMGR_MODE to the CPUs that are active: it is dynamic and takes effect at once. That
comes first where somebody wrote that a CPU is to stay stopped (an operator's message, a comment): it is quoted. A
LCKMGR_CPUID that names a stopped CPU, or none that is there, cannot be had: name one that runs. Whether a CPU is worth
it is another question (openvms/lock_manager_needs_own_cpu): the vendor asks for more than five CPUs and MP
synchronization above two CPUs' worth. Where it is not meant to run, LCKMGR_MODE 0 says so. A pending value is put back
in CURRENT and in MODPARAMS.DAT, which needs no reboot.

When to ignore it: while a CPU is out for service and comes back; where the pending value is meant, as when someone
switches the lock manager off with the next boot.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from collectors.facts import Facts, Source, known
from collectors.facts.openvms import DedicatedLockManager, Process, SysgenParameter
from rules.changes.openvms_cpu import HIGHEST_CPU
from rules.changes.openvms_sysgen import PARAMETERS, advise_parameter, keep_parameter
from rules.changes.quoting import comment
from rules.engine import limit, percent, rule
from rules.finding import Change, Clean, Evidence, Expectation, Finding, Outcome, Severity, Unknown, joined
from rules.openvms._evidence.cpu_layout import LAYOUT_FACTS, SERVER, Layout, Pair, no_dedicated
from rules.openvms._evidence.dedicated import (
    EARNS_PERCENT,
    IDLE_PERCENT,
    day_of,
    mode_meant,
    most_busy,
)
from rules.openvms._evidence.node import (
    parameter_of,
    pending_alone,
    pending_clause,
    pending_clauses,
    pending_of,
    pending_said,
    pending_text,
    sentence,
)
from rules.openvms._evidence.peaks import PEAK_FACTS, SUSTAINED, Stretch, longest
from rules.openvms._evidence.placement import left_alone
from rules.openvms._evidence.sampling import SAMPLE_FACTS
from rules.openvms._evidence.spinning import asleep, lasting_modes

LINKS = ("https://wiki.vmssoftware.com/LCKMGR_MODE",)
NAME, SEAT = "LCKMGR_MODE", "LCKMGR_CPUID"
MEANT = "Where someone chose it on purpose, nothing is to be done."
HIGHEST = 1024
"""This project: no listing's maximum is believed beyond the CPUs that a node can number."""


@dataclass(frozen=True)
class Limits:
    """The vendor's two figures for a lock manager with a CPU of its own."""

    least_cpus: int = limit(
        6, "vendor: more than five CPUs (OpenVMS V7.3 New Features, 4.4.1)", low=2, high=32, unit="CPUs"
    )
    mp_synch_percent: float = limit(
        200.0, "vendor: higher than 200 % (OpenVMS V7.3 New Features, 4.4.1): advice, else a note", unit="% of one CPU"
    )
    idle_percent: float = percent(
        IDLE_PERCENT, "this project: a lock manager less busy than this may go with the next boot"
    )
    earns_percent: float = percent(
        EARNS_PERCENT, "this project: half busy, its loss with the next boot is advice, else a note"
    )
    few_cpus: int = limit(
        4, "practice: of four CPUs the lock manager takes a quarter (community.hpe.com 3562167)", high=32, unit="CPUs"
    )


@dataclass(frozen=True)
class _Spins:
    """MP synch that lasts: of the capture, or of hours that its figure hides."""

    synch: float | None
    """Per cent of one CPU; `None` where none was read."""
    when: str
    source: Source | None = None
    hours: Stretch | None = None

    def much(self, limits: Limits) -> bool:
        """Whether more CPUs spin than the vendor asks for."""
        return self.synch is not None and self.synch > limits.mp_synch_percent


@rule(
    needs=(),
    uses=(*LAYOUT_FACTS, *PEAK_FACTS, *SAMPLE_FACTS, Process, DedicatedLockManager),
    links=LINKS,
    limits=Limits,
    releases="OpenVMS V7.3 or later on Alpha and Integrity: the dedicated lock manager is documented for these alone",
)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Hold the parameter against the CPUs that are active."""
    layout = Layout(facts)
    spins = _spins(layout, limits)
    setting = parameter_of(facts, NAME, 0, HIGHEST)
    if quiet := no_dedicated(layout):
        if isinstance(setting, tuple) and setting[0] > 0 and not layout.alone:
            yield _undocumented(facts, layout, quiet.why, *setting)
        else:
            yield quiet
    elif isinstance(ends := _ends(facts, layout, limits), Finding):
        yield ends
    elif starts := _starts(layout, limits, spins, setting):
        yield starts
        if not isinstance(setting, tuple):
            yield setting
    elif not isinstance(setting, tuple):
        yield _spins_little(spins, limits, setting) or setting
    elif not setting[0]:
        yield Clean(f"{NAME} 0: none is configured{pending_clause(facts, NAME)}")
    elif layout.lock_manager:
        on = f"the lock manager runs on CPU {layout.lock_manager[0]}{_margin(layout, setting[0])}"
        yield Clean(f"{NAME} {setting[0]:.0f}, and {on}{ends}")
    elif _works(facts):
        yield Clean(
            f"{NAME} {setting[0]:.0f}, and the [LCK73] columns show it at work{_margin(layout, setting[0])}{ends}"
        )
    elif layout.active is None:
        yield Unknown.without("number of active CPUs", "SHOW CPU", f"{NAME} {setting[0]:.0f}")
    elif setting[0] > layout.active:
        yield _finding(layout, limits, spins, *setting)
    elif server := asleep(layout):
        yield _asleep(layout, limits, spins, server, *setting)
    elif layout.fastpath_read:
        why = f"{NAME} {setting[0]:.0f} with {layout.active:.0f} active CPUs, and SHOW FASTPATH has no lock manager"
        yield Unknown.without(f"state of {SERVER}", f"SHOW SYSTEM/PROCESS={SERVER}", why)
    else:
        yield Clean(f"{NAME} {setting[0]:.0f}, and {layout.active:.0f} CPUs are active: enough for it to run")


def _undocumented(facts: Facts, layout: Layout, why: str, value: float, fact: SysgenParameter) -> Finding:
    """A mode is set where no document has a dedicated lock manager: what it does there is known to nobody here."""
    read = [one for one in facts.every(DedicatedLockManager) if one.on is not None]
    idle = "" if not read or any(one.on for one in read) else " The [LCK73] columns show no request that one served."
    return Finding(
        subject=layout.subject,
        severity=Severity.NOTE,
        title=f"{NAME} {value:.0f} is set where no dedicated lock manager is documented",
        seen=f"{NAME} is {value:.0f} as it runs; {why}.{idle}",
        because="What it does here no document that was found tells: it explains no MP synch and promises none less.",
        do=(
            f"Raise nothing and add no CPU for it: SHOW SYSTEM/PROCESS={SERVER} tells whether its process is there at "
            f"all. Where nobody knows why it was set, {NAME} may go back to 0: it is documented nowhere for x86-64."
        ),
        evidence=(Evidence(NAME, value, "", fact.source),),
    )


def _margin(layout: Layout, mode: float) -> str:
    """That one CPU less would turn it off, as a clause; empty where it would not."""
    return f"; with {mode - 1:.0f} active CPUs, one less, it turns itself off" if layout.active == mode else ""


def _works(facts: Facts) -> bool:
    return any(one.on for one in facts.every(DedicatedLockManager))


def _ends(facts: Facts, layout: Layout, limits: Limits) -> Finding | str:
    """What the next boot does to a lock manager that runs, or the pending values where that is nothing to tell of."""
    if not layout.lock_manager and not _works(facts):
        return ""
    waits = pending_of(facts, NAME)
    cpus = None if layout.active is None else layout.active + len(layout.stopped)  # a boot starts what was stopped
    if waits and (waits[0] == 0 or (cpus is not None and waits[0] > cpus)):
        return _ended(facts, layout, limits, *waits)
    if layout.lock_manager and (turn := _turn(layout)) and not (turn.by_default and _little(facts, limits)):
        return _moved(facts, layout, layout.lock_manager[0], turn)
    return pending_clause(facts, NAME) + pending_clause(facts, SEAT)


def _ended(facts: Facts, layout: Layout, limits: Limits, pending: float, fact: SysgenParameter) -> Finding | str:
    """The next boot leaves the lock manager without a CPU: nothing to tell of where it does little with the one it has.

    Whoever followed openvms/lock_manager_idle for the next boot has exactly this, so it is no alarm.
    """
    most = most_busy(facts)
    peak = most.busy_percent if most and known(most.busy_percent) else None
    little = _little(facts, limits)
    if little or (layout.active is not None and layout.active <= limits.few_cpus):
        why = little or f"there are only {layout.active:.0f} CPUs"
        return f"{pending_clause(facts, NAME)} It then gives its CPU back, which suits: {why}"
    setting = parameter_of(facts, NAME, 1, PARAMETERS[NAME].high)
    keep = setting[0] if isinstance(setting, tuple) else None
    used = f"; it serves requests up to {peak:.0f} % of the time" if peak is not None else ""
    seat = f" on CPU {layout.lock_manager[0]}" if layout.lock_manager else ""
    boot = (
        "takes that CPU away from it" if pending == 0 else f"leaves it off: then {pending:.0f} CPUs have to be active"
    )
    kept = f"{NAME} {keep:.0f}" if keep else ""
    changes: tuple[Change, ...] = ()
    if keep:
        when = "only if the lock manager is meant to keep a CPU after the next boot"
        changes = (keep_parameter(NAME, pending, keep, when=when, node=layout.node),)
        if (turn := _turn(layout)) and layout.lock_manager and layout.lock_manager[0] <= PARAMETERS[SEAT].high:
            now = layout.lock_manager[0]
            changes = (*changes, keep_parameter(SEAT, turn.pending, now, when=when, node=layout.node))
            kept = f"{kept} and {SEAT} {now}"
    stay = f"Where it is to stay, put {kept} into CURRENT and MODPARAMS.DAT: no reboot." if kept else ""
    earns = peak is not None and peak >= limits.earns_percent
    return Finding(
        subject=layout.subject,
        severity=Severity.ADVICE if earns else Severity.NOTE,
        title=f"The lock manager runs on a CPU of its own until the next boot: {NAME} {pending:.0f} is pending",
        seen=f"The lock manager runs{seat} now.{pending_said(facts, NAME)}",
        because=f"That boot {boot}{used}.",
        do=joined(MEANT, stay),
        evidence=(
            Evidence(f"{NAME} in CURRENT (pending)", pending, "", fact.source),
            *((Evidence(NAME, setting[0], "", setting[1].source),) if isinstance(setting, tuple) else ()),
            *(
                (Evidence("[LCK73]Busy %, highest", peak, "%", most.source, limits.earns_percent),)
                if most and peak
                else ()
            ),
        ),
        changes=changes,
    )


def _starts(
    layout: Layout, limits: Limits, spins: _Spins, setting: tuple[float, SysgenParameter] | Outcome
) -> Finding | None:
    """The next boot gives the lock manager a CPU although CPUs spin less than the vendor asks for.

    Where one runs now, or MP synch was not read, that is for nobody to say.
    """
    facts, active = layout.facts, layout.active
    off = isinstance(setting, tuple) and not setting[0]
    waits = pending_of(facts, NAME) if off else pending_alone(facts, NAME)
    if waits is None or active is None or layout.lock_manager or _works(facts):
        return None
    cpus = active + len(layout.stopped)  # a boot starts what was stopped
    if not 0 < waits[0] <= cpus or spins.synch is None or spins.source is None:
        return None
    if not 0 <= spins.synch <= limits.mp_synch_percent:
        return None
    unmeant = "only if the lock manager is not meant to take a CPU"
    asked = (
        f"MP synch is {spins.synch:g} % of one CPU ({spins.when}), and the vendor asks for more than "
        f"{limits.mp_synch_percent:g} % with more than five CPUs."
    )
    if off:
        then = f"Else put {NAME} 0 into CURRENT and MODPARAMS.DAT before that boot: no reboot."
    else:
        then = f"Where one runs already, little MP synch may be its doing: look with SHOW {NAME} of ACTIVE first."
    seat = pending_of(facts, SEAT)
    unsuited = _unsuitable(layout, seat[0]) if seat else None
    return Finding(
        subject=layout.subject,
        severity=Severity.NOTE,
        title=f"The next boot gives the lock manager a CPU of its own: {NAME} {waits[0]:.0f} in CURRENT",
        seen=(
            f"{NAME} is {waits[0]:.0f} in CURRENT, of the next boot, and {cpus:.0f} CPUs are there, so after it one of "
            f"them serves lock requests alone, {100 / cpus:.0f} % of the machine."
            f"{f' {pending_text(SEAT, seat[0])}' if seat else ''}"
        ),
        because=joined(
            f"{f'{NAME} 0 runs now, so no CPU is dedicated; ' if off else ''}{asked}",
            f"Of that CPU: {unsuited[1]}." if unsuited else "",
        ),
        do=f"{MEANT} {then}",
        unknown="" if off else "What runs now is not in the export.",
        evidence=(
            Evidence(f"{NAME} in CURRENT (pending)", waits[0], "", waits[1].source),
            Evidence("CPUs", active, "", layout.active_read[1]),
            Evidence(f"MP synch ({spins.when})", spins.synch, "% of one CPU", spins.source, limits.mp_synch_percent),
        ),
        changes=(keep_parameter(NAME, waits[0], 0, when=unmeant, node=layout.node),) if off else (),
    )


def _unsuitable(layout: Layout, pending: float) -> tuple[Severity, str] | None:
    """What stands against the CPU that the next boot gives the lock manager, and how sure that is.

    What was stopped by hand runs again after a boot, so that counts for nothing.
    """
    if not 0 <= pending <= HIGHEST_CPU or pending != int(pending):
        return Severity.ADVICE, "that is no CPU number"
    if pending == 0:  # as shipped: no choice
        return None
    cpu = int(pending)
    if cpu not in layout.displayed and layout.all_displayed:
        return (
            Severity.ADVICE,
            f"no CPU {cpu} is in the displays of all active CPUs, so it would take another by itself",
        )
    if layout.is_primary(cpu):
        return Severity.ADVICE, f"CPU {cpu} is the primary"
    pair = layout.pair(cpu)
    if isinstance(pair, Pair) and pair.sibling is not None and layout.is_primary(pair.sibling):
        return Severity.ADVICE, f"its co-thread, CPU {pair.sibling}, is the primary and cannot be stopped"
    there = [one.device for one in layout.devices_on(cpu)]
    there += [one.service for one in layout.services_on(cpu) if "lock manager" not in one.service.lower()]
    if there:
        return (
            Severity.NOTE,
            f"{' and '.join(map(comment, there))} runs there now: look at SHOW FASTPATH after that boot",
        )
    return None


@dataclass(frozen=True)
class _Turn:
    """The seat that the next boot gives the lock manager, where something is to be said of it."""

    pending: float
    fact: SysgenParameter
    cpu: float
    """The CPU it then takes: the one that is named, or with 0 the lowest but the primary."""
    severity: Severity
    why: str

    @property
    def by_default(self) -> bool:
        """Whether CURRENT names none."""
        return self.pending == 0


def _turn(layout: Layout) -> _Turn | None:
    """What CURRENT does to the seat: `None` where it stays, or moves to another CPU against which nothing speaks.

    A number that was written there is taken for meant. 0 is what was shipped: where LCKMGR_CPUID as it runs names the
    CPU of the lock manager, that one was chosen and is lost with the boot.
    """
    waits = pending_of(layout.facts, SEAT)
    if waits is None:
        return None
    pending, fact = waits
    if pending:
        against = _unsuitable(layout, pending)
        return _Turn(pending, fact, pending, *against) if against else None
    if layout.lock_manager is None or layout.setting(SEAT) != layout.lock_manager[0]:
        return None
    cpu = min((layout.default_choice, *(one for one in layout.stopped if not layout.may_be_primary(one))))
    if cpu == layout.lock_manager[0]:
        return None
    against = _unsuitable(layout, cpu)
    if against is None:
        return _Turn(pending, fact, cpu, Severity.NOTE, f"nobody chose it, but CPU {layout.lock_manager[0]}")
    return _Turn(pending, fact, cpu, Severity.ADVICE, against[1])


def _little(facts: Facts, limits: Limits) -> str:
    """That the lock manager does little with its CPU, as a clause; empty where it does more, or nothing tells."""
    most, day = most_busy(facts), day_of(facts)
    peak = most.busy_percent if most and known(most.busy_percent) else 0.0
    if day is None or day[0] >= limits.idle_percent or peak >= limits.earns_percent:
        return ""
    return f"it serves requests {day[0]:g} % of the time"


def _moved(facts: Facts, layout: Layout, now: int, turn: _Turn) -> Finding:
    pending, severity, cpu = turn.pending, turn.severity, turn.cpu
    none = f"That names no CPU, so it takes the lowest but the primary, CPU {cpu:.0f}." if turn.by_default else ""
    changes: tuple[Change, ...] = ()
    if (severity is Severity.ADVICE or turn.by_default) and now <= PARAMETERS[SEAT].high:
        when = "only if the lock manager is meant to stay where it runs"
        changes = (keep_parameter(SEAT, pending, now, when=when, node=layout.node),)
    return Finding(
        subject=layout.subject,
        severity=severity,
        title=f"The next boot gives the lock manager CPU {cpu:.0f}: {SEAT} {pending:.0f} is pending",
        seen=f"The lock manager runs on CPU {now} now.{pending_said(facts, SEAT)}",
        because=joined(none, f"Of CPU {cpu:.0f}: {turn.why}."),
        do=joined(
            MEANT,
            f"Where it is to stay, put {SEAT} {now} into CURRENT and MODPARAMS.DAT: no reboot." if changes else "",
        ),
        evidence=(
            Evidence(f"{SEAT} in CURRENT (pending)", pending, "", turn.fact.source),
            *((Evidence("CPU of the lock manager", now, "", layout.lock_manager[1]),) if layout.lock_manager else ()),
        ),
        changes=changes,
    )


def _spins(layout: Layout, limits: Limits) -> _Spins:
    modes, cpus = lasting_modes(layout.facts), layout.captured
    synch = modes.mp_synch_percent if modes else None
    whole = _Spins(synch, modes.statistic, modes.source) if modes and known(synch) else _Spins(None, "")
    if whole.much(limits) or cpus is None:
        return whole
    hours = longest(layout.facts, cpus, SUSTAINED, lambda synch, _busy, _rate: synch > limits.mp_synch_percent)
    return _Spins(hours.synch, hours.then, hours.source, hours) if hours else whole


def _asleep(
    layout: Layout, limits: Limits, spins: _Spins, server: Process, mode: float, fact: SysgenParameter
) -> Finding:
    """Enough CPUs are active, and the process of the lock manager hibernates all the same."""
    active, read_in = layout.active_read
    return Finding(
        subject=layout.subject,
        severity=Severity.ADVICE if spins.much(limits) else Severity.NOTE,
        title=f"Dedicated lock manager configured, off: {SERVER} hibernates with {active:.0f} active CPUs",
        seen=(
            f"{NAME} is {mode:.0f} and {active:.0f} CPUs are active, enough for it, yet {SERVER} was in state "
            f"{server.state}: started and off, so the lock manager has no CPU of its own."
        ),
        because="Either the value was set after that display, or its listing is not of the active one.",
        do=(
            f"Look at both at one time before anything is set: MCR SYSGEN, USE ACTIVE, SHOW {NAME}, then SHOW SYSTEM "
            "and SHOW FASTPATH."
        ),
        evidence=(
            Evidence(NAME, mode, "", fact.source),
            Evidence("active CPUs", active, "CPUs", read_in),
            Evidence(f"state of {SERVER}", server.state, "", server.source),
            *((spins.hours.evidence,) if spins.hours else ()),
        ),
    )


def _spins_little(spins: _Spins, limits: Limits, setting: Outcome) -> Clean | None:
    """Without the parameter: in order where so little spins, at all hours, that it makes no difference."""
    if not isinstance(setting, Unknown) or spins.synch is None or not 0 <= spins.synch <= limits.mp_synch_percent:
        return None
    return Clean(
        f"{setting.why}; MP synch {spins.synch:g} % of one CPU ({spins.when}, limit "
        f"{limits.mp_synch_percent:g}): whether one is configured makes no difference"
    )


def _seat_stopped(layout: Layout) -> int | None:
    """The CPU that LCKMGR_CPUID names, where it is stopped: the lock manager takes another one then."""
    cpu = layout.setting(SEAT)
    return int(cpu) if cpu and cpu in layout.stopped else None


def _named(layout: Layout, seat: int | None) -> str:
    """That LCKMGR_CPUID names a CPU that is stopped, or that no export shows, as a clause."""
    if seat is not None:
        return f"{SEAT} names CPU {seat}, which is stopped: it cannot be had until it is started"
    cpu = layout.setting(SEAT)
    if not cpu or not layout.absent(int(cpu)):
        return ""
    return f"{SEAT} names CPU {cpu:.0f}, which no export shows: {left_alone(layout)}"


def _finding(layout: Layout, limits: Limits, spins: _Spins, mode: float, fact: SysgenParameter) -> Finding:
    facts, (active, read_in) = layout.facts, layout.active_read
    much = spins.much(limits)
    stopped = layout.stopped
    out = f"CPU {', '.join(map(str, stopped))} {'are' if len(stopped) > 1 else 'is'} stopped" if stopped else ""
    few = next((count for count in (active, layout.cores) if count is not None and count < limits.least_cpus), None)
    enough = few is None
    seat = _seat_stopped(layout)
    on_with = mode_meant(layout, limits.least_cpus)
    turned = f"{NAME} {mode:.0f} → {on_with} (dynamic: at once, with SYSGEN WRITE ACTIVE)"
    off = f"{NAME} 0 says so"
    starts = layout.boot_cpus
    if starts is not None and len(starts) < mode:
        out = "; ".join(filter(None, (out, f"SMP_CPUS starts no more than {len(starts)} CPUs at a boot")))
    if enough:
        lower = f"{turned} turns it on with the {active:.0f} CPUs there are, and takes one of them"
        if cpu := layout.setting(SEAT):
            lower += f", once {SEAT} names a CPU that is there" if layout.absent(int(cpu)) else ""
        if much and not layout.cores_read:
            lower += ": first see in SHOW CPU/FULL that this one shares its core with no CPU in use"
    else:
        of = f"{few:.0f} {'CPUs' if few == active else 'cores'}"
        lower = f"with {of} the vendor does not ask for one (more than five), so do not lower it"
    do = f"{sentence(lower)} Where it is not meant to run, {off}."
    kept = layout.kept_said
    if kept and not layout.enough_stopped(mode):
        do = f"{sentence(f'{lower}; not meant to run, {off}')} {kept}"
    startable = layout.startable
    if layout.enough_stopped(mode):
        on, other = ("", "") if seat is None else (f", on CPU {seat}", f", not CPU {seat}: name another first")
        lower = f"{turned} takes one of the {active:.0f}{other}" if enough else lower
        do = (
            f"First choice: START/CPU {', '.join(map(str, startable))} (undo: STOP/CPU), unless they are stopped on "
            f"purpose or given back (iCAP); with {mode:.0f} active it turns on by itself{on}. Only where they are to "
            f"stay stopped, {lower}; not meant to run, {off}."
        )
    elif startable and not kept:
        do = f"START/CPU, but of no CPU given back (iCAP), turns it on as soon as {mode:.0f} are active; {do}"
    loss = f"Meanwhile MP synch is {spins.synch:.0f} % of one CPU ({spins.when})." if spins.synch is not None else ""
    server = facts.latest(Process, name=SERVER)
    hibernates = f"{SERVER} is there and waits ({server.state})" if server and server.state == "HIB" else ""
    changes: tuple[Change, ...] = ()
    start = layout.start(mode) if much else None
    if enough and (start or not much):
        when = "only if it is meant to run with the CPUs that are active now"
        if layout.enough_stopped(mode):
            when = f"only if CPU {', '.join(map(str, startable))} is to stay stopped"
        worth = "Whether a CPU is worth it: openvms/lock_manager_needs_own_cpu."
        changes = (advise_parameter(NAME, mode, on_with, when=when, cautions=(worth,), node=layout.node),)
    expects: tuple[Expectation, ...] = ()
    if enough:
        expects = (Expectation("CPUs that have to be active", mode, on_with, "arithmetic"),)
    if start:
        changes, expects = (start, *changes), (Expectation("active CPUs", active, mode, "arithmetic"),)
    return Finding(
        subject=layout.subject,
        severity=Severity.ADVICE if spins.much(limits) else Severity.NOTE,
        title=f"Dedicated lock manager configured, off: {NAME} {mode:.0f} with {active:.0f} active CPUs",
        seen=joined(
            f"{NAME} is {mode:.0f}, so {mode:.0f} CPUs have to be active, and {active:.0f} are: {mode - active:.0f} "
            "too few, so the lock manager has no CPU of its own.",
            sentence(out, _named(layout, seat), hibernates, pending_clauses(facts, NAME)),
        ),
        because=joined(loss, kept if layout.enough_stopped(mode) else ""),
        do=do,
        evidence=(
            Evidence(NAME, mode, "", fact.source, active),
            Evidence("active CPUs", active, "CPUs", read_in),
            *(Evidence("to stay stopped", comment(one.text), "", one.source) for one in layout.kept_stopped),
            *((spins.hours.evidence,) if spins.hours else ()),
        ),
        explains=("openvms/lock_manager_needs_own_cpu", "openvms/spinlock_hot:LCKMGR") if much else (),
        changes=changes,
        expects=expects,
    )
