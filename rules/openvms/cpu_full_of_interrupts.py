"""One CPU is full of interrupts while the others have room.

Finds: a CPU that spends most of its time in interrupt state and has next to nothing left, on a node whose other CPUs
are far from full ([MON.MODES] of T4, MONITOR MODES by CPU). Beside it which ports have their fast path there, by SHOW
FASTPATH, and what lets them be there: FAST_PATH, FAST_PATH_PORTS, and the CPUs that fast path may be given to.

Why it matters: an interrupt and the I/O it completes are done on the preferred CPU of the port; all those of ports
without fast path are done on the primary. Disks, network, TCP/IP and the lock messages of the cluster wait for that one
CPU, however idle the others are, and no mean over all CPUs shows it.

What to do: turn the fast path on where it is off (FAST_PATH, FAST_PATH_PORTS; a reboot). Else clear the primary's bit
in IO_PRCPU_BITMAP, up to V7.3-2 IO_PREFER_CPUS: both are dynamic, and FASTPATH_SERVER then spreads the ports anew. A
CPU that is not the primary needs its ports moved one by one. SET DEVICE/PREFERRED_CPUS, which gives one port a CPU, is
recalled and not found in a source: look it up in HELP.

When to ignore it: where the interrupts are of one port alone: its CPU is its limit, and only less I/O or a second port
helps.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from collectors.facts import ABSENT, Facts, known
from collectors.facts.openvms import CpuModes, ProcessorModes, SysgenParameter
from rules.changes.openvms_cpu import place_by_hand
from rules.changes.openvms_sysgen import set_cpus, set_parameter
from rules.changes.quoting import comment
from rules.engine import percent, rule
from rules.finding import Change, Clean, Evidence, Expectation, Finding, Outcome, Severity, Unknown, capitalized, joined
from rules.laws.rounding import plain
from rules.openvms._evidence.cpu_layout import LAYOUT_FACTS, PREFER_CPUS, Layout, Pair
from rules.openvms._evidence.node import cpus_changed
from rules.openvms._evidence.placement import listed_cpus
from rules.openvms._evidence.releases import ALPHA_AND_INTEGRITY, machine_of
from rules.openvms._evidence.sampling import LEAST_MINUTES, LEAST_SAMPLES, SAMPLE_FACTS, least
from rules.openvms._evidence.spinlock_looks import LOOKS_AT, look_at
from rules.openvms._evidence.spinlocks import IOLOCK8

LINKS = (
    "https://wiki.vmssoftware.com/IO_PRCPU_BITMAP",
    "https://wiki.vmssoftware.com/FAST_PATH_PORTS",
    "https://zx.net.nz/mirror/h71000.www7.hp.com/doc/73final/6136/6136pro_036.html",
)
MOST_NAMED = 6
BY_HAND = (
    "A port that stays was placed by hand: HELP SET DEVICE /PREFERRED_CPUS gives one port a CPU (recalled, not found "
    "in a source)."
)

TAKE_OUT = (
    "Take the lines with SET DEVICE/PREFERRED_CPUS for {} out of the startup file first: a port placed by hand may "
    "stay where it is, and the next boot places it there again."
)


@dataclass(frozen=True)
class Limits:
    """How full of interrupts a CPU is, and how much room the others have."""

    interrupt_percent: float = percent(
        50.0, "this project: from half of its time on one CPU is what I/O waits for", of="the time of one CPU"
    )
    warning_percent: float = percent(80.0, "this project: four fifths leave little for a burst")
    critical_percent: float = percent(90.0, "this project: a CPU can hardly take more interrupts")
    all_percent: float = percent(
        25.0, "this project: a quarter of a machine in interrupt state is a note, whichever CPU has it", of="all CPUs"
    )
    left_percent: float = percent(20.0, "this project: a CPU with more idle time than this has room")
    others_idle_percent: float = percent(
        25.0, "this project: with less the other CPUs are nearly full, too, and spreading gives little", of="their time"
    )


@dataclass(frozen=True)
class Flooded:
    """The CPU with most interrupts, and the others."""

    modes: CpuModes
    interrupt: float
    idle: float
    others: int
    others_interrupt: float
    """Mean per cent of each other CPU."""
    others_idle: float


@rule(
    needs=(),
    uses=(CpuModes, *LAYOUT_FACTS, *LOOKS_AT, *SAMPLE_FACTS),
    links=LINKS,
    limits=Limits,
    sample=lambda _limits: least(LEAST_SAMPLES, LEAST_MINUTES),
)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Judge the CPU with most interrupts, on average."""
    if changed := cpus_changed(facts):
        yield changed
        return
    found = _flooded(facts) if facts.every(CpuModes) else _together(facts, limits)
    if isinstance(found, Unknown | Clean):
        if isinstance(found, Unknown) and (much := _much_together(facts, limits)):
            yield much
        yield found
        return
    said = (
        f"CPU {found.modes.cpu} is {plain(found.interrupt, 2)} % of its time in interrupt state and "
        f"{plain(found.idle, 2)} % idle, the {found.others} others are {plain(found.others_idle, 2)} % idle"
    )
    if found.interrupt < limits.interrupt_percent or found.idle > limits.left_percent:
        yield Clean(f"{said}; limits {limits.interrupt_percent:g} % and {limits.left_percent:g} % idle")
    elif found.others_idle < limits.others_idle_percent:
        yield _all_full(facts, limits, found, said)
    else:
        yield from _finding(facts, limits, found)


def _together(facts: Facts, limits: Limits) -> Unknown | Clean:
    """What all CPUs together tell: where they have less than one may have, none has more."""
    modes = facts.latest(ProcessorModes, statistic="mean")
    if modes and known(modes.interrupt_percent) and 0 <= modes.interrupt_percent < limits.interrupt_percent:
        said = f"all CPUs together are {plain(modes.interrupt_percent, 2)} % of one CPU in interrupt state"
        return Clean(f"{said}; limit {limits.interrupt_percent:g} %")
    return Unknown.without("interrupt state of each CPU", CpuModes.COLLECTED_BY)


def _much_together(facts: Facts, limits: Limits) -> Finding | None:
    """That much of the whole machine is interrupt state, where no figures of its CPUs came along."""
    modes = facts.latest(ProcessorModes, statistic="mean")
    if modes is None or not known(modes.interrupt_percent) or not known(modes.cpus) or modes.cpus < 2:
        return None
    share = modes.interrupt_percent / modes.cpus
    ports = "" if machine_of(facts).x86 else " and which ports are on them (SHOW FASTPATH)"
    if not limits.all_percent <= share <= 100:
        return None
    return Finding(
        subject=Layout(facts).subject,
        severity=Severity.NOTE,
        title=f"{plain(modes.interrupt_percent / 100, 2)} of {modes.cpus:.0f} CPUs are interrupt state",
        seen=f"On average {plain(share, 2)} % of all CPUs are interrupt state: completion of I/O, and lock messages.",
        do=(
            f"Look which CPUs that is (MONITOR MODES/CPU){ports}: spreading it helps only where one CPU is full of it "
            "and others are not. Where all are, only less I/O helps."
        ),
        evidence=(
            Evidence("interrupt state (mean)", modes.interrupt_percent, "% of one CPU", modes.source),
            Evidence("its share of all CPUs", round(share, 1), "%", modes.source, limits.all_percent, "from this line"),
        ),
    )


def _all_full(facts: Facts, limits: Limits, found: Flooded, said: str) -> Finding:
    """That a CPU is full of interrupts and the others have little room for them: worth knowing, nothing to spread."""
    modes, off = found.modes, look_at(facts, IOLOCK8)
    others = "and the others are nearly full, too"
    do = (
        "Spreading the interrupts gives little where no CPU has room: first what keeps all of them busy, then less I/O."
    )
    if off.changes and not machine_of(facts).x86:
        others = (
            "as the fast path is off" if found.others_idle > limits.left_percent else f"the fast path is off, {others}"
        )
        clause = off.facts[-1]
        do = f"{capitalized(clause)}, with interrupts here. First turn it on (a reboot), then look again."
    return Finding(
        subject=f"{Layout(facts).subject} CPU {modes.cpu}",
        severity=Severity.NOTE,
        title=f"CPU {modes.cpu} is {plain(found.interrupt, 2)} % interrupt state, {others}",
        seen=f"{said} on average.",
        do=do,
        evidence=(
            *off.evidence,
            Evidence(
                f"CPU {modes.cpu} interrupt state (mean)",
                found.interrupt,
                "% of its time",
                modes.source,
                limits.interrupt_percent,
            ),
            Evidence(
                "idle time of the others (mean)",
                round(found.others_idle, 1),
                "% of their time",
                modes.source,
                limits.others_idle_percent,
                "as a mean",
            ),
        ),
    )


def _flooded(facts: Facts) -> Flooded | Unknown | Clean:
    latest = {one.cpu: one for one in facts.every(CpuModes) if one.statistic == "mean"}
    told = {
        cpu: (one, one.interrupt_percent, one.idle_percent)
        for cpu, one in latest.items()
        if known(one.interrupt_percent)
        and known(one.idle_percent)
        and one.interrupt_percent >= 0
        and 0 <= one.idle_percent <= 100
    }
    if not told:
        return Unknown.without("interrupt state and idle time of each CPU, on average", CpuModes.COLLECTED_BY)
    if len(told) == 1:
        return Clean("one CPU: nothing to spread interrupts over")
    modes, interrupt, idle = max(told.values(), key=lambda one: (one[1], -one[0].cpu))
    others = [one for cpu, one in told.items() if cpu != modes.cpu]
    count = len(others)
    return Flooded(
        modes, interrupt, idle, count, sum(one[1] for one in others) / count, sum(one[2] for one in others) / count
    )


def _finding(facts: Facts, limits: Limits, found: Flooded) -> Iterator[Outcome]:
    layout, cpu = Layout(facts), found.modes.cpu
    devices = [one.device for one in layout.devices_on(cpu)]
    by_line = [comment(one.device) for one in layout.devices_on(cpu) if one.placed_on == cpu]
    placed = ", ".join(by_line)
    them = "them" if len(by_line) == len(devices) else placed
    by_hand = f"; SET DEVICE/PREFERRED_CPUS places {them} there" if placed else ""
    services = [one.service for one in layout.services_on(cpu)]
    there = [comment(one) for one in (*devices, *services)]
    named = ", ".join((*there[:MOST_NAMED], *((f"{len(there) - MOST_NAMED} more",) if len(there) > MOST_NAMED else ())))
    off = look_at(facts, IOLOCK8)
    remedy = _remedy(layout, limits, cpu, devices)
    unknown = ""
    if machine_of(facts).x86:
        remedy = Remedy(f"Fast Path is {ALPHA_AND_INTEGRITY}: find the device of these interrupts, and ask VSI.")
    elif off.changes:
        clause = off.facts[-1]
        remedy = Remedy(f"{capitalized(clause)}. Turn it on again (a reboot).", tuple(off.changes))
    elif not layout.fastpath_read:
        unknown = f"Which ports have their fast path on CPU {cpu} was not read: collect SHOW FASTPATH."
    elif not devices and not remedy.changes:
        unknown = (
            f"SHOW FASTPATH has no port on CPU {cpu}, so which device's interrupts these are is in no export: drivers "
            "without fast path interrupt the primary."
        )
    elif services:
        unknown = f"How {' and '.join(map(comment, services))} is given another CPU no source says: it may stay there."
    severity = Severity.ADVICE
    if found.interrupt >= limits.warning_percent:
        severity = Severity.CRITICAL if found.interrupt >= limits.critical_percent else Severity.WARNING
    yield Finding(
        subject=f"{layout.subject} CPU {cpu}",
        severity=severity,
        title=(
            f"CPU {cpu} is full: {found.interrupt:.0f} % of its time goes to interrupts"
            f"{f' ({named}{by_hand})' if devices else ''}, the other CPUs are {found.others_idle:.0f} % idle"
        ),
        seen=joined(
            f"On average CPU {cpu} was {plain(found.interrupt, 3)} % in interrupt state and {plain(found.idle, 2)} % "
            f"idle, each of the {found.others} others {plain(found.others_interrupt, 2)} % and "
            f"{plain(found.others_idle, 3)} %.",
            f"By SHOW FASTPATH {named} {'is' if len(there) == 1 else 'are'} there." if there else "",
        ),
        because=(
            "Interrupts and the I/O they complete are done on the port's preferred CPU, those of ports without fast "
            "path on the primary: what this CPU cannot take waits, however idle the others are."
        ),
        do=remedy.do or f"Collect SHOW FASTPATH, and spread what has its fast path on CPU {cpu} over the other CPUs.",
        unknown=joined(
            unknown, TAKE_OUT.format(placed) if placed else BY_HAND if remedy.changes and remedy.spreads else ""
        ),
        evidence=(
            Evidence(
                f"CPU {cpu} in interrupt state (mean)",
                found.interrupt,
                "%",
                found.modes.source,
                limits.interrupt_percent,
            ),
            Evidence(f"CPU {cpu} idle (mean)", found.idle, "%", found.modes.source),
            Evidence("other CPUs idle (mean)", round(found.others_idle, 1), "%", found.modes.source),
            *(
                Evidence(f"fast-path CPU of {comment(one.device)}", cpu, "", one.source)
                for one in layout.devices_on(cpu)
            ),
            *off.evidence,
            *remedy.evidence,
        ),
        changes=() if machine_of(facts).x86 else tuple(_after_lines(one, placed) for one in remedy.changes),
        expects=(Expectation(f"CPU {cpu} in interrupt state (%)", round(found.interrupt, 1), "lower", "heuristic"),),
        share=found.interrupt,
    )


def _after_lines(change: Change, placed: str) -> Change:
    """The change, with the lines that would undo it as a caution."""
    return replace(change, cautions=(*change.cautions, TAKE_OUT.format(placed))) if placed else change


@dataclass(frozen=True)
class Remedy:
    """What to do: words, the changes, what they rest on."""

    do: str = ""
    changes: tuple[Change, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    spreads: bool = False
    """Whether the ports are spread anew by FASTPATH_SERVER."""


def _remedy(layout: Layout, limits: Limits, cpu: int, devices: list[str]) -> Remedy:
    """Take fast path off the primary by its mask; a port of another CPU is moved by hand.

    Where the mask has none but full CPUs, it gets the others: a port that is moved by hand has nowhere to go.
    """
    mask, may = layout.fast_path_mask, layout.fast_path_cpus
    pinned = may is not None and may & _running(layout) == {cpu}
    wider = _wider(layout, limits, may) if may is not None and devices else frozenset()
    if not layout.may_be_primary(cpu) and not pinned and not wider:
        moved = tuple(place_by_hand(name, cpu, v7=layout.v7) for name in devices[1:])
        names = " and ".join(comment(one) for one in devices[1:])
        return Remedy(f"Give {names} another CPU than {cpu}." if moved else "", moved)
    if may is not None and cpu not in may and devices and not wider:
        moved = tuple(place_by_hand(name, cpu, v7=layout.v7) for name in devices)
        return Remedy(f"{mask} leaves CPU {cpu} out, so these ports were placed by hand: give them other CPUs.", moved)
    target = wider or _others(layout, cpu, may, len(devices))
    if not target or not (devices or pinned):
        return Remedy()
    text = listed_cpus(target).replace(" ", "")
    value = sum(1 << one for one in target)
    listed = [one for one in layout.facts.every(SysgenParameter) if one.name == mask and one.runs]
    old = listed[-1].current if listed else None
    now = (
        f" (now {old:g})"
        if known(old) and not isinstance(old, str)
        else (f" (now {old})" if isinstance(old, str) else "")
    )
    other = ""
    if mask == PREFER_CPUS:
        was = float(old) if known(old) and not isinstance(old, str) else None
        change = set_parameter(mask, was, value, dynamic=True, node=layout.node)
        set_to = f"{value}"
        other = "" if layout.v7 else f" (a release with IO_PRCPU_BITMAP instead: SET that {text})"
    else:
        change = set_cpus(mask, old if isinstance(old, str) else None, text, node=layout.node)
        set_to = text
    evidence = tuple(
        Evidence(mask, one.current if isinstance(one.current, str) else float(one.current), "", one.source)
        for one in listed[-1:]
        if isinstance(one.current, str) or known(one.current)
    )
    inside = listed_cpus((may or frozenset()) & _running(layout))
    first = f"{mask}{now} leaves the ports CPU {inside} alone" if wider else f"Leave CPU {cpu} out of {mask}{now}"
    return Remedy(
        f"{first}: USE ACTIVE, SET {mask} {set_to}, WRITE ACTIVE{other}. FASTPATH_SERVER "
        f"then spreads the ports over CPU {listed_cpus(target)}; SHOW FASTPATH tells where.",
        (change,),
        evidence,
        spreads=True,
    )


def _wider(layout: Layout, limits: Limits, may: frozenset[int]) -> frozenset[int]:
    """The CPUs that the mask is to have where each of several that it has now is full of interrupts; else none."""
    modes = {one.cpu: one.interrupt_percent for one in layout.facts.every(CpuModes) if one.statistic == "mean"}
    inside, apart = may & _running(layout), _lock_manager(layout)
    full = [cpu for cpu in inside if known(share := modes.get(cpu, ABSENT)) and share >= limits.interrupt_percent]
    if len(inside) < 2 or len(full) < len(inside) or not _running(layout) - may - apart:
        return frozenset()
    return frozenset(cpu for cpu in _running(layout) - apart if cpu not in may or not layout.may_be_primary(cpu))


def _lock_manager(layout: Layout) -> frozenset[int]:
    """The lock manager's own CPU and its co-thread, where it has one."""
    if not layout.lock_manager:
        return frozenset()
    pair = layout.pair(layout.lock_manager[0])
    return frozenset((layout.lock_manager[0], *(pair.both if isinstance(pair, Pair) else ())))


def _running(layout: Layout) -> frozenset[int]:
    """The CPUs that are in the active set, as far as it was read."""
    seen = layout.displayed or set(range(int(layout.active or 0)))
    return frozenset(cpu for cpu in seen if layout.runs(cpu) is not False)


def _others(layout: Layout, cpu: int, may: frozenset[int] | None, ports: int) -> frozenset[int]:
    """The CPUs to spread over: those allowed now without this one, or all where these are fewer than the ports.

    Never the lock manager's own CPU or its co-thread.
    """
    free = _running(layout) - {cpu} - _lock_manager(layout)
    allowed = free & may if may is not None else free
    return allowed if len(allowed) >= min(ports, len(free)) and len(allowed) > 1 else free
