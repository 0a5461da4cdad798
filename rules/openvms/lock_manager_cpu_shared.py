"""The lock manager's CPU is shared with a device or with its co-thread.

Finds: a CPU dedicated to the lock manager that has the fast path of a device or TCP/IP on it; or whose co-thread
(`Cothd` in SHOW CPU n/FULL) is in the active set, with the fast path of a device, TCP/IP or just processes on it.
Or one that is not the CPU that LCKMGR_CPUID names, as that is stopped or absent: the lock manager took another.
Or one of another RAD than the lock manager's memory, on the AlphaServers of which the vendor says where that is.

Why it matters: two co-threads share the units of one core, and on OpenVMS even an idle CPU is busy with its idle loop.
Every lock operation of the node goes through the dedicated CPU, so what slows that core slows them all. Automatic
assignment keeps fast-path devices off the dedicated CPU, one that is placed by hand can be there all the same; and it
does not keep them off its co-thread. On a BL870c of four cores the
dedicated CPU 6 had the network device EWC0 on its co-thread, CPU 2; with CPU 2 stopped lock operations peaked at
499,842 per second, as much as the same machine did without co-threads, about 490,000 (JCC Consulting's slides on the
OpenVMS lock manager, 2014). On the AlphaServers GS80, GS160 and GS320 performance is best with CPU and memory of one
QBB; V7.3 preallocates lock memory as LOCKIDTBL says, from the low QBB (OpenVMS V7.3 New Features, 4.4.5).

What to do: where LCKMGR_CPUID names a CPU that does not run, start that, or name one that runs; nothing else before.
One that is stopped together with others was stopped on purpose, so naming one that runs comes first then.
Give a device that is on the dedicated CPU another one. Take the co-thread out with STOP/CPU, at a quiet
time; FASTPATH_SERVER then moves its devices, SHOW FASTPATH says where. Where the co-thread is the primary or has
TCP/IP, it stays: the lock manager (LCKMGR_CPUID), or what runs there, moves instead. Both last over a boot only with a
line in SYSTARTUP_VMS.COM and LCKMGR_CPUID in MODPARAMS.DAT.

Where the other CPUs are full and the lock manager is not shown to be busy, the co-thread is not stopped: work would
lack it.

When to ignore it: where the dedicated CPU is far from busy ([LCK73]Busy % of T4) and lock operations are no concern, or
where the node has no CPU to spare for it.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from collectors.facts import Facts, Source, known
from collectors.facts.openvms import Cpu, CpuModes, DedicatedLockManager, FastpathDevice, ProcessorModes
from rules.changes.openvms_cpu import place_by_hand
from rules.changes.openvms_sysgen import PARAMETERS, advise_parameter
from rules.changes.quoting import comment
from rules.engine import limit, percent, rule
from rules.finding import (
    Change,
    Clean,
    Evidence,
    Expectation,
    Finding,
    Outcome,
    Severity,
    Unknown,
    Untrusted,
    joined,
    within,
)
from rules.openvms._evidence.cpu_layout import (
    LAYOUT_FACTS,
    SERVER,
    Layout,
    NotFollowed,
    Pair,
    no_dedicated,
    not_followed,
)
from rules.openvms._evidence.dedicated import DEDICATED_FACTS, EARNS_PERCENT, FULL_PERCENT, most_busy, others_busy
from rules.openvms._evidence.node import sentence
from rules.openvms._evidence.own_runs import own_peak
from rules.openvms._evidence.placement import (
    LockMemory,
    listed_cpus,
    lock_memory,
    look_at,
    placement_of,
    qbb_unread,
    stop_beside,
)
from rules.openvms._evidence.releases import machine_of

LINKS = (
    "https://wiki.vmssoftware.com/LCKMGR_MODE",
    "https://wiki.vmssoftware.com/IO_PRCPU_BITMAP",
    "https://digiater.com/openvms/doc/ia64-v8.3/opsys/vmsos83/9996/9996pro_277.html",
)
BUSY = "[LCK73]Busy %"
MEASURE = "What it gives depends on the load: measure the same work before and after."
PUBLISHED = "about that of the machine without co-threads (one BL870c: 499,842/s against about 490,000/s)"


@dataclass(frozen=True)
class Limits:
    """From which figures on it is worth a CPU."""

    busy_percent: float = percent(5.0, "this project: a dedicated CPU less busy than this loses nothing worth a CPU")
    full_percent: float = percent(
        FULL_PERCENT,
        "this project: from here on work would lack the co-thread, so it is stopped only for a busy lock manager",
        of="the other CPUs",
    )
    earns_percent: float = percent(
        EARNS_PERCENT, "this project: half busy, the lock manager is what other CPUs wait for"
    )
    few_cpus: int = limit(
        4, "practice: of four CPUs the lock manager takes a quarter already (community.hpe.com 3562167)", high=32
    )


@rule(needs=(), uses=(*LAYOUT_FACTS, *DEDICATED_FACTS, CpuModes), links=LINKS, limits=Limits)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Judge the one dedicated CPU of the node."""
    layout = Layout(facts)
    manager = layout.lock_manager
    if quiet := no_dedicated(layout):
        yield quiet
        return
    if manager is None:
        yield _no_manager(facts, layout)
        return
    cpu, source = manager
    own = facts.latest(Cpu, number=cpu, full=True)
    if own and own.process and own.process != SERVER:
        yield Untrusted(
            f"{source} puts the lock manager on CPU {cpu}, {own.source} shows {own.process[:15]!r} there: "
            f"take SHOW FASTPATH and SHOW CPU {cpu}/FULL at the same moment"
        )
        return
    if wanted := not_followed(layout, cpu):
        yield _not_followed(facts, layout, limits, manager, wanted)
        return
    pair = _core(facts, layout, limits, cpu)
    here = _on(layout, cpu)
    if isinstance(pair, Pair) and pair.sibling is not None:
        yield from _shared(facts, layout, limits, cpu, pair.sibling, (source, pair.source), here)
        return
    if here.names and (idle := _hardly_works(facts, limits)):
        yield Clean(f"CPU {cpu} of the lock manager has {here.said} on it, but {idle}")
    elif here.names:
        yield _own_cpu(layout, cpu, source, here)
    elif (memory := lock_memory(layout)) and layout.rad(cpu) != memory.rad:
        idle = _hardly_works(facts, limits)
        away = f"CPU {cpu} of the lock manager is not in RAD {memory.rad}, where its memory is"
        yield Clean(f"{away}, but {idle}") if idle else _far(layout, cpu, source, memory)
        return
    if not layout.fastpath_read and (told := _beside(facts, layout, limits, cpu, source)):
        yield told
    if not isinstance(pair, Pair) and (not here.names or not isinstance(pair, Clean)):
        yield pair


def _not_followed(
    facts: Facts, layout: Layout, limits: Limits, manager: tuple[int, Source], wanted: NotFollowed
) -> Finding:
    """LCKMGR_CPUID names a CPU that does not run: that is put right first, before anything beside the place now."""
    cpu, source = manager
    home = placement_of(layout, without=frozenset({cpu})).chosen
    here = _on(layout, cpu).names
    beside: tuple[str, ...] = ()
    pair = layout.pair(cpu)
    if isinstance(pair, Pair) and pair.sibling is not None and layout.runs(pair.sibling) is not False:
        beside = _on(layout, pair.sibling).names
    others = here + beside
    idle = _hardly_works(facts, limits)
    shares = sentence(
        f"it shares that CPU with {' and '.join(map(comment, here))}" if here else "",
        f"it shares its core there with {' and '.join(map(comment, beside))}" if beside else "",
    )
    starts = wanted.stopped and wanted.number in layout.startable
    ways = [f"start CPU {wanted.number} again (START/CPU {wanted.number})"] if starts else []
    ways.append(f"set LCKMGR_CPUID to a CPU that runs{f': CPU {home} suits it' if home is not None else ''}")
    also = [one for one in layout.stopped if one != wanted.number] if wanted.stopped else []
    if also:  # one that is out with others was taken out on purpose, so what runs comes first
        ways.reverse()
    changes: tuple[Change, ...] = ()
    if home is not None and (also or (wanted.stopped and not starts)):
        changes = (layout.set("LCKMGR_CPUID", home, *look_at(layout, home)),)
    elif starts:
        changes = (layout.start_again([wanted.number]),)
    if home is not None and not also and (starts or not wanted.stopped):
        when = f"only if CPU {wanted.number} is not to be started again" if wanted.stopped else "after a look at it"
        old = float(wanted.number) if wanted.number <= PARAMETERS["LCKMGR_CPUID"].high else None
        changes = (*changes, advise_parameter("LCKMGR_CPUID", old, home, when=when, node=layout.node))
    severity = Severity.WARNING if others else Severity.ADVICE
    return Finding(
        subject=layout.subject,
        severity=Severity.NOTE if idle else severity,
        title=f"LCKMGR_CPUID {wanted.number} is not followed: CPU {wanted.number} is {wanted.why}"
        + (f", and CPU {cpu} serves {' and '.join(map(comment, here[:3]))} beside the lock manager" if here else ""),
        seen=(
            f"LCKMGR_CPUID {wanted.number} is not followed: CPU {wanted.number} is {wanted.why}, and the lock manager "
            f"runs on CPU {cpu} instead, which it took by itself."
            f"{' Stopped as well: CPU ' + ', '.join(map(str, also)) + '.' if also else ''}"
        ),
        because=joined(shares, f"It {idle}." if idle else "", "" if starts else layout.kept_said),
        do=(
            f"To put it right, {', or else '.join(ways)}. Where it runs now is not where it is meant to be, so nothing "
            f"else is moved or stopped for CPU {cpu}."
        ),
        evidence=(
            Evidence("LCKMGR_CPUID", wanted.number, "", wanted.setting.source),
            Evidence("CPU of the lock manager", cpu, "", source),
        ),
        explains=("openvms/lock_manager_saturated",),
        changes=changes,
    )


def _core(facts: Facts, layout: Layout, limits: Limits, cpu: int) -> Pair | Outcome:
    """The core of the dedicated CPU where it is shared with a CPU that runs, else why nothing is to be said of it."""
    pair = layout.pair(cpu)
    if pair is None:
        return Unknown.without(f"co-thread of CPU {cpu} (Cothd)", f"SHOW CPU {cpu}/FULL")
    if isinstance(pair, Untrusted):
        return pair
    if pair.sibling is None:
        why = "no CPU of this machine has" if machine_of(facts).without_cothreads else "no Cothd in its full display"
        return Clean(f"CPU {cpu} of the lock manager has no co-thread ({why})")
    if layout.runs(pair.sibling) is False:
        return Clean(f"co-thread CPU {pair.sibling} of the lock manager's CPU {cpu} is stopped")
    if not layout.fastpath_read:
        primary = ", the primary" if layout.is_primary(pair.sibling) else ""
        why = f"{layout.contradicted} The co-thread of CPU {cpu} is CPU {pair.sibling}{primary}".lstrip()
        return Unknown.without(f"devices and services on CPU {pair.sibling}", "SHOW FASTPATH", why)
    if layout.runs(pair.sibling) is None:
        return Unknown.without(f"state of CPU {pair.sibling}", f"SHOW CPU {pair.sibling}/FULL")
    return _not_worth_it(facts, layout, limits, cpu) or pair


@dataclass(frozen=True)
class _There:
    """What has its place on one CPU beside the lock manager."""

    cpu: int
    names: tuple[str, ...]
    evidence: tuple[Evidence, ...]

    @property
    def said(self) -> str:
        """As a clause."""
        return " and ".join(map(comment, self.names))


def _on(layout: Layout, cpu: int) -> _There:
    devices = layout.devices_on(cpu)
    services = [one for one in layout.services_on(cpu) if "lock manager" not in one.service.lower()]
    return _There(
        cpu,
        tuple(one.device for one in devices) + tuple(one.service for one in services),
        (
            *(Evidence(f"fast-path CPU of {comment(one.device)}", one.cpu, "", one.source) for one in devices),
            *(Evidence(f"CPU of {comment(one.service)}", one.cpu, "", one.source) for one in services),
        ),
    )


def _own_cpu(layout: Layout, cpu: int, source: Source, own: _There) -> Finding:
    """A device or TCP/IP on the dedicated CPU itself, whose co-thread is no matter."""
    placed = placement_of(layout, without=frozenset({cpu}))
    home, now = placed.chosen, layout.setting("LCKMGR_CPUID")
    changes: tuple[Change, ...] = tuple(place_by_hand(name, cpu, v7=layout.v7) for name in own.names)
    do, second = f"Give {own.said} another CPU.", ""
    if home is not None and now == home:
        second = f"LCKMGR_CPUID is {home} in the export already but not in force: a change is pending."
    elif home is not None:
        move = layout.set("LCKMGR_CPUID", home, _was(cpu), *look_at(layout, home))
        stop, second = stop_beside(layout, placed, (move.key,))
        changes = (move, *stop, *(replace(one, yields_to=(move.key,)) for one in changes))
        do = f"{_move_to(layout, home)}; or {_clear_bit(layout, cpu)}give {own.said} another CPU."
    are = "are" if len(own.names) > 1 else "is"
    return Finding(
        subject=layout.subject,
        severity=Severity.WARNING,
        title=f"Lock manager's own CPU {cpu} also serves {own.said}",
        seen=f"CPU {cpu} is dedicated to the lock manager, and {own.said} {are} on it.",
        because=(
            "What is done for that there makes every lock operation of the node wait. "
            + (
                "V7.3 assigns devices to this CPU, too, where its bit in IO_PREFER_CPUS is set (OpenVMS V7.3 New "
                "Features, 4.4); later releases leave it out."
                if layout.v7
                else "Later releases leave this CPU out when they assign devices, so it may have been placed by hand."
            )
        ),
        do=joined(do, second or MEASURE),
        unknown=qbb_unread(layout, home) if home is not None else "",
        evidence=(Evidence("CPU of the lock manager", cpu, "", source), *own.evidence),
        explains=("openvms/lock_manager_saturated",),
        changes=changes,
        expects=(
            Expectation(f"devices and services beside the lock manager on CPU {cpu}", len(own.names), 0, "arithmetic"),
        ),
    )


def _move_to(layout: Layout, home: int) -> str:
    """The move of the lock manager to a CPU that suits it, as a clause."""
    now = layout.setting("LCKMGR_CPUID")
    to = f"{home}" if now is None else f"{now:.0f} → {home}"
    return (
        f"Move the lock manager to CPU {home}, on whose core no device, no TCP/IP and no primary was read: "
        f"LCKMGR_CPUID {to}, at once"
    )


def _clear_bit(layout: Layout, cpu: int) -> str:
    """The other way on V7.3, to stand before `give PGA0 another CPU`: its mask without this CPU; empty elsewhere."""
    if not layout.v7 or layout.active is None or cpu >= layout.active:
        return ""
    may = layout.fast_path_cpus or frozenset(range(int(layout.active)))
    mask = sum(1 << one for one in may if one != cpu and one < layout.active)
    return f"clear bit {cpu} of IO_PREFER_CPUS ({mask} leaves the other CPUs) and so "


def _far(layout: Layout, cpu: int, source: Source, memory: LockMemory) -> Finding:
    """The dedicated CPU is in another RAD than the lock manager's memory, and nothing else is on its core."""
    placed = placement_of(layout, without=frozenset({cpu}))
    home = placed.chosen if placed.chosen is not None and layout.rad(placed.chosen) == memory.rad else None
    changes: tuple[Change, ...] = ()
    do = f"Free a CPU of RAD {memory.rad} for the lock manager (LCKMGR_CPUID): {placed.brief}."
    if home is not None and layout.setting("LCKMGR_CPUID") == home:
        do = f"LCKMGR_CPUID is {home} in the export already but not in force: a change is pending."
    elif home is not None:
        changes = (layout.set("LCKMGR_CPUID", home, _was(cpu), *look_at(layout, home)),)
        do = f"{_move_to(layout, home)}."
    return Finding(
        subject=layout.subject,
        severity=Severity.ADVICE,
        title=f"Lock manager's CPU {cpu} is in RAD {layout.rad(cpu)}, its memory in RAD {memory.rad}",
        seen=f"CPU {cpu} of the lock manager is in RAD {layout.rad(cpu)} of {len(layout.rads)}; {memory.said}.",
        because=(
            "Performance is best with CPU and memory of one QBB, and V7.3 preallocates lock memory from the low one "
            "(OpenVMS V7.3 New Features, 4.4.5, for GS80, GS160 and GS320)."
        ),
        do=joined(do, MEASURE),
        unknown=(
            "That V7.3-1 and V7.3-2 do as V7.3, and that the low QBB is the lowest RAD, is inferred: moving back takes "
            "one command."
        ),
        evidence=(Evidence("CPU of the lock manager", cpu, "", source), *memory.evidence),
        explains=("openvms/lock_manager_saturated",),
        changes=changes,
    )


def _no_manager(facts: Facts, layout: Layout) -> Outcome:
    off = [dedicated.on for dedicated in facts.every(DedicatedLockManager)]
    if layout.fastpath_read:
        return Clean("SHOW FASTPATH names no CPU for the lock manager: none is dedicated")
    if off and not any(off) and None not in off:
        return Clean("the [LCK73] columns are zero: no CPU is dedicated to the lock manager")
    return Unknown.without("the lock manager's CPU", "SHOW FASTPATH")


def _beside(facts: Facts, layout: Layout, limits: Limits, cpu: int, source: Source) -> Finding | None:
    """That its co-thread runs, where SHOW FASTPATH did not come along: what is there decides, so nothing is set."""
    pair = layout.pair(cpu)
    if not isinstance(pair, Pair) or pair.sibling is None or not layout.runs(pair.sibling):
        return None
    if _not_worth_it(facts, layout, limits, cpu):
        return None
    sibling = pair.sibling
    shown = next((one for one in reversed(facts.every(Cpu)) if one.number == sibling and one.process), None)
    ran = f", and {comment(shown.process, 15)} ran there when it was displayed" if shown and shown.process else ""
    do = (
        f"Look at SHOW FASTPATH: what is on CPU {sibling} gets another CPU, then STOP/CPU {sibling} gives the lock "
        "manager the whole core. Before that LCKMGR_MODE must not be larger than the CPUs that stay active."
    )
    if layout.may_be_primary(sibling):
        do = (
            f"CPU {sibling} is the primary, which is never stopped: look at SHOW FASTPATH for a CPU that serves "
            "nothing, and let LCKMGR_CPUID name that one."
        )
    return Finding(
        subject=layout.subject,
        severity=Severity.NOTE,
        title=f"Lock manager on CPU {cpu} shares its core with CPU {sibling}, which runs",
        seen=f"CPU {cpu} has the lock manager, CPU {sibling} is its co-thread and runs{ran}.",
        because="Two co-threads share one core: what one of them does slows the other.",
        do=do,
        evidence=(
            Evidence("CPU of the lock manager", cpu, "", source),
            Evidence(f"co-thread of CPU {cpu} (Cothd)", sibling, "", pair.source),
        ),
    )


def _not_worth_it(facts: Facts, layout: Layout, limits: Limits, cpu: int) -> Clean | None:
    if layout.active is not None and layout.active <= limits.few_cpus:
        few = f"{layout.active:g} CPUs are too few to stop one for it (limit {limits.few_cpus})"
        return Clean(f"CPU {cpu} of the lock manager shares its core, but {few}: see openvms/lock_manager_idle")
    if idle := _hardly_works(facts, limits):
        return Clean(f"CPU {cpu} of the lock manager shares its core, but {idle}")
    return None


def _hardly_works(facts: Facts, limits: Limits) -> str | None:
    busy = facts.latest(DedicatedLockManager, statistic="p95")
    if busy and busy.on and known(busy.busy_percent) and 0 <= busy.busy_percent < limits.busy_percent:
        return f"hardly works: {BUSY} {busy.busy_percent:g} (p95), limit {limits.busy_percent:g}"
    return None


def _shared(
    facts: Facts,
    layout: Layout,
    limits: Limits,
    cpu: int,
    sibling: int,
    sources: tuple[Source, Source],
    own: _There,
) -> Iterator[Outcome]:
    devices, beside = layout.devices_on(sibling), _on(layout, sibling)
    there = list(beside.names)
    serves = f"serves {beside.said}" if there else "runs, too"
    evidence = [
        Evidence("CPU of the lock manager", cpu, "", sources[0]),
        Evidence(f"co-thread of CPU {cpu} (Cothd)", sibling, "", sources[1]),
        *beside.evidence,
        *own.evidence,
    ]
    work = facts.latest(CpuModes, statistic="mean", cpu=sibling)
    if work and known(work.idle_percent) and 0 <= work.idle_percent <= 100:
        evidence.append(Evidence(f"CPU {sibling} not idle (mean)", round(100 - work.idle_percent, 1), "%", work.source))
    against, full = layout.why_not_stop(sibling), _none_to_spare(facts, layout, limits)
    expects: tuple[Expectation, ...] = ()
    changes: tuple[Change, ...]
    why, second = "", ""
    if against:
        changes, why, step, second = _move(layout, cpu, sibling, against, there)
    elif full:
        changes = tuple(place_by_hand(name, sibling, v7=layout.v7) for name in there)
        why = full
        step = (
            f"Do not stop CPU {sibling} now{_turns_off(layout)}: whatever has its fast path there can have another CPU."
        )
        if (others := others_busy(facts, layout)) is not None:
            read = facts.latest(ProcessorModes, statistic="mean")
            at = read.source if read else sources[0]
            evidence.append(Evidence("other CPUs busy (mean)", round(others, 1), "% of them", at, limits.full_percent))
    else:
        changes = layout.stop(sibling, *_to_stay(layout, cpu), *_at_boot(layout, sibling, devices))
        step, second = _stop(layout, sibling, devices)
        expects = (
            Expectation(f"co-threads that run beside the lock manager on CPU {cpu}", 1, 0, "arithmetic"),
            _most(facts),
        )
    if own.names:
        changes = (*(place_by_hand(name, cpu, v7=layout.v7) for name in own.names), *changes)
        step = f"First give {own.said} another CPU than {cpu}; then {within(step)}"
    yield Finding(
        subject=layout.subject,
        severity=Severity.WARNING if there or own.names else Severity.ADVICE,
        title=f"Lock manager on CPU {cpu} shares its core with CPU {sibling}, which {serves}",
        seen=(
            f"CPU {cpu} of the lock manager and CPU {sibling} are co-threads of one core, and CPU {sibling} {serves}"
            f"{_itself(own) if own.names else ''}."
        ),
        because=joined(f"Work on CPU {sibling} slows every lock operation of the node.", why),
        do=joined(step, second),
        unknown=joined(layout.contradicted, MEASURE),
        evidence=tuple(evidence),
        explains=("openvms/lock_manager_saturated",),
        changes=changes,
        expects=expects,
    )
    if against and not layout.all_full:
        yield Unknown.without("a core for the lock manager (Cothd of every CPU)", "SHOW CPU/FULL")
    if not against and not full and layout.setting("LCKMGR_MODE") is None:
        yield Unknown.without("LCKMGR_MODE, which a stopped CPU may undercut", "MCR SYSGEN SHOW LCKMGR_MODE")


def _itself(own: _There) -> str:
    return f"; {own.said} {'are' if len(own.names) > 1 else 'is'} on CPU {own.cpu} itself"


def _none_to_spare(facts: Facts, layout: Layout, limits: Limits) -> str:
    """Why the work cannot spare the co-thread, as a sentence; empty where it can, or nothing tells.

    Where the lock manager is busy the others may be so because they wait for it: then it is worth the co-thread.
    """
    others, most = others_busy(facts, layout), most_busy(facts)
    peak = most.busy_percent if most and known(most.busy_percent) else None
    if others is None or others < limits.full_percent or (peak is not None and peak >= limits.earns_percent):
        return ""
    used = f"{BUSY} is {peak:g} at most" if peak is not None else f"{BUSY} was not in the export"
    return (
        f"The CPUs beside the lock manager's are {others:.0f} % busy, so other work would lack it, and nothing shows "
        f"that they wait for the lock manager ({used}; from {limits.earns_percent:g} on it would be worth it)."
    )


def _stop(layout: Layout, sibling: int, devices: list[FastpathDevice]) -> tuple[str, str]:
    """What to do, and what that moves, as sentences."""
    moved = ", ".join(comment(device.device) for device in devices)
    if not moved:
        return f"Stop CPU {sibling} with STOP/CPU {sibling}.", ""
    return (
        f"Stop CPU {sibling} with STOP/CPU {sibling}: FASTPATH_SERVER moves the fast path of {moved} to another CPU"
        f"{_best(layout, sibling)}, so check with SHOW FASTPATH afterwards.",
        f"To move {moved} alone leaves the idle loop and the processes of CPU {sibling} on the core.",
    )


def _best(layout: Layout, sibling: int) -> str:
    """Which CPUs serve nothing, so that they suit a device best, to follow "another CPU"; empty where none is known."""
    allowed = layout.fast_path_cpus
    free = [cpu for cpu in layout.unused if cpu != sibling and (allowed is None or cpu in allowed)]
    return f" (best one that serves nothing: {listed_cpus(free)})" if free else ""


def _at_boot(layout: Layout, sibling: int, devices: list[FastpathDevice]) -> tuple[str, ...]:
    """That a boot gives devices their CPUs before the stop, and what keeps them off."""
    if not devices:
        return ()
    return (
        f"At a boot fast path is given out before CPU {sibling} is stopped: {layout.fast_path_mask} without CPU "
        f"{sibling} keeps devices off it from the start.",
    )


def _to_stay(layout: Layout, cpu: int) -> tuple[str, ...]:
    found = []
    if layout.setting("LCKMGR_CPUID") != cpu:
        found.append(
            f"Over a boot the lock manager stays on CPU {cpu} only with LCKMGR_CPUID = {cpu} in MODPARAMS.DAT: without "
            "it it takes the lowest CPU other than the primary, and another CPU is its co-thread."
        )
    if layout.setting("LCKMGR_MODE") is None:
        of = f" ({layout.active:.0f} now)" if layout.active else ""
        found.append(
            f"A dedicated lock manager turns itself off when fewer CPUs than LCKMGR_MODE are active{of}: look first, "
            "and where it is as large as that, lower it by one before the stop."
        )
    return tuple(found)


def _move(
    layout: Layout, cpu: int, sibling: int, against: str, there: list[str]
) -> tuple[tuple[Change, ...], str, str, str]:
    """Where the co-thread has to stay: another CPU for the lock manager, else another one for what runs there.

    The changes, why so, and what to do in one or two steps, as sentences.
    """
    not_it = f"CPU {sibling} is not to be stopped: {against}{_turns_off(layout)}."
    placed = placement_of(layout, without=frozenset({cpu, sibling}))
    home = placed.chosen
    if home is None:
        by_hand = tuple(place_by_hand(name, sibling, v7=layout.v7) for name in there)
        other = "Move what runs there, or the" if there else "Move the"
        none = placed.answer if placed.seats else ""
        return by_hand, not_it, f"{other} lock manager to a core of its own (LCKMGR_CPUID).", none
    now = layout.setting("LCKMGR_CPUID")
    if now == home:
        return (), not_it, f"LCKMGR_CPUID is {home} in the export already but not in force: a change is pending.", ""
    to = f"{home}" if now is None else f"{now:.0f} → {home}"
    if placed.others:
        not_it = f"{not_it.removesuffix('.')}; no other suits it better than CPU {home} ({placed.brief})."
    step = (
        f"Move the lock manager to CPU {home}, on whose core no device, no TCP/IP and no primary was read: "
        f"LCKMGR_CPUID {to}, at once."
    )
    move = layout.set("LCKMGR_CPUID", home, _was(cpu))
    stop, second = stop_beside(layout, placed, (move.key,))
    return (move, *stop), not_it, step, second


def _turns_off(layout: Layout) -> str:
    """That one CPU less would turn the dedicated lock manager off, as a clause; empty where it would not."""
    mode, active = layout.setting("LCKMGR_MODE"), layout.active
    if not mode or active is None or active - 1 >= mode:
        return ""
    return f", and with {active - 1:.0f} CPUs left LCKMGR_MODE {mode:.0f} would turn the lock manager off"


def _was(cpu: int) -> str:
    return f"The lock manager runs on CPU {cpu} now: where LCKMGR_CPUID was not collected, {cpu} takes it back there."


def _most(facts: Facts) -> Expectation:
    """What the lock manager may do with a core of its own: as this node did in a test, else as another one did."""
    own = own_peak(facts, with_it=True)
    alone = own is not None and (own.told.get("threads") == "off" or own.told.get("stopped_cpus", "0") != "0")
    what = "highest rate of lock operations"
    if own is None or not alone:
        return Expectation(what, None, PUBLISHED, "published")
    return Expectation(what, None, f"up to {own.peak.rate:,.0f}/s, as in a test on this node", "measured")
