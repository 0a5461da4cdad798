"""Where the dedicated lock manager is to sit: every CPU of the node with the reason for or against it.

The criteria, in this order: the CPU runs; it is not the primary; TCP/IP is not on it; no device has its fast path
there; the same holds for its co-thread, or that is stopped, or there is none. What was not read counts against a CPU.
Of equals one is taken that fast path cannot be given to. RAD: where no full display names them, a check by hand; where
it is known which one has the lock manager's memory, a CPU of that one comes first.
Sources: OpenVMS V7.3 New Features, 4.4 (fast-path devices, LCKMGR_CPUID, memory on the GS Series); JCC Consulting's
slides of 2014 (co-thread).
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import groupby

from collectors.facts import known
from collectors.facts.openvms import Cpu, FastpathDevice, KernelService, ProcessorModes
from rules.changes.openvms_sysgen import PARAMETERS
from rules.changes.quoting import comment
from rules.finding import Change, Evidence, Untrusted
from rules.openvms._evidence.cpu_counts import counts_differ
from rules.openvms._evidence.cpu_layout import Layout, Pair
from rules.openvms._evidence.node import in_prose, level_of, parameter_of, pending_of
from rules.openvms._evidence.releases import machine_of

HIGHEST, IDS = PARAMETERS["LCKMGR_CPUID"].high, PARAMETERS["LOCKIDTBL"]
MOST = 3
"""Reasons against CPUs that a sentence names; the page of the node's CPUs has them all."""
EQUAL = "as good, but of a higher number"
GS_SERIES = re.compile(r"\bGS(?:80|160|320)\b")
"""Machines of quad building blocks (QBB), each of up to four CPUs and a part of the memory."""


@dataclass(frozen=True)
class Seat:
    """One CPU as a place for the lock manager."""

    cpu: int
    against: str | None
    """Why not this one, as a clause; `None`: nothing speaks against it."""
    sibling: int | None = None
    """Its co-thread, where one was read."""
    movable: tuple[str, ...] = ()
    """Devices that would have to move for it to be free, where nothing else stands against it."""
    unread: bool = False
    """Whether only something that was not in the export stands against it."""


@dataclass(frozen=True)
class Placement:
    """All CPUs as places for the lock manager, and the one to take."""

    seats: tuple[Seat, ...]
    chosen: int | None
    named: bool = False
    """Whether LCKMGR_CPUID names the chosen one already: what suits is not moved."""

    @property
    def others(self) -> str:
        """Why each other CPU was not chosen, in one sentence."""
        equal = f"as good, but LCKMGR_CPUID names CPU {self.chosen}" if self.named else EQUAL
        said: dict[str, list[int]] = {equal: []}
        for seat in self.seats:
            if seat.cpu != self.chosen:
                said.setdefault(seat.against or equal, []).append(seat.cpu)
        return "; ".join(f"CPU {listed_cpus(cpus)}: {why}" for why, cpus in said.items() if cpus)

    @property
    def brief(self) -> str:
        """The same of the first few reasons, for a sentence."""
        reasons = self.others.split("; ")
        more = (f"and {len(reasons) - MOST} more",) if len(reasons) > MOST else ()
        return "; ".join((*reasons[:MOST], *more))

    @property
    def first_to_move(self) -> Seat | None:
        """Where none is free: the CPU for which the fewest devices have to move; of equals the lowest."""
        found = [seat for seat in self.seats if seat.movable]
        return min(found, key=lambda seat: (len(seat.movable), seat.cpu), default=None)

    @property
    def answer(self) -> str:
        """The CPU number and why no other, or what has to be moved first, as a sentence."""
        if self.chosen is not None:
            rest = f" (others: {self.brief})" if self.others else ""
            suits = "on its core no fast-path device, no TCP/IP and no primary were read"
            return f"CPU {self.chosen} suits it: {suits}{rest}."
        move = self.first_to_move
        first = f": move {' and '.join(move.movable)} off the core of CPU {move.cpu} first" if move else ""
        return f"None is free{first} ({self.brief})." if self.seats else "No CPU was read."


@dataclass(frozen=True)
class LockMemory:
    """Where the lock manager's memory is, and what tells so."""

    rad: int
    said: str
    """As a clause."""
    evidence: tuple[Evidence, ...]


def gs_series(layout: Layout) -> bool:
    """Whether it is one of the machines, and a release, of which the vendor says where that memory is.

    OpenVMS V7.3 New Features, 4.4.5, for V7.3; that V7.3-1 and V7.3-2 do the same is inferred, of V8 nothing was found.
    """
    return bool(layout.v7 and GS_SERIES.search(machine_of(layout.facts).hardware or ""))


def lock_memory(layout: Layout) -> LockMemory | None:
    """The RAD that has the lock manager's memory; `None` where nothing tells.

    On the GS Series LOCKIDTBL preallocates it from the low QBB, all of it where the value is as large as locks and
    resources together (4.4.5); that the low QBB is the lowest RAD is inferred.
    """
    rads = [one for one in layout.rads if one is not None]
    found = parameter_of(layout.facts, "LOCKIDTBL", IDS.low, IDS.high)
    locks, resources = level_of(layout.facts, "locks"), level_of(layout.facts, "resources")
    if not gs_series(layout) or len(rads) < 2 or len(rads) < len(layout.rads) or not isinstance(found, tuple):
        return None
    ids, setting = found
    if not isinstance(locks, tuple) or not isinstance(resources, tuple) or ids < locks[0] + resources[0]:
        return None
    return LockMemory(
        min(rads),
        f"LOCKIDTBL {in_prose(ids)} preallocates memory for all {in_prose(locks[0] + resources[0])} locks and "
        f"resources in the low QBB, RAD {min(rads)}",
        (
            Evidence("LOCKIDTBL", ids, "entries", setting.source),
            Evidence("locks", locks[0], "", locks[2]),
            Evidence("resources", resources[0], "", resources[2]),
        ),
    )


def _near_memory(layout: Layout, seats: tuple[Seat, ...]) -> tuple[Seat, ...]:
    """The seats with a reason against those far from the lock memory, where a nearer one is free."""
    memory = lock_memory(layout)
    near = [one.cpu for one in seats if memory and one.against is None and layout.rad(one.cpu) == memory.rad]
    if memory is None or not near:
        return seats
    far = f"not in RAD {memory.rad}, where the lock memory is"
    return tuple(one if one.against or one.cpu in near else replace(one, against=far) for one in seats)


def placement_of(layout: Layout, without: frozenset[int] = frozenset()) -> Placement:
    """Judge every CPU that was read; `without`: those that are not to be taken (its place now and the co-thread)."""
    seats = _near_memory(layout, tuple(_seat(layout, cpu) for cpu in _numbers(layout) if cpu not in without))
    free = [seat for seat in seats if seat.against is None]
    waits = pending_of(layout.facts, "LCKMGR_CPUID")  # the later choice of two
    chosen = (waits[0] if waits else None, layout.setting("LCKMGR_CPUID"))
    named = next((seat for cpu in chosen for seat in free if seat.cpu and seat.cpu == cpu), None)
    may = layout.fast_path_cpus or frozenset()
    best = named or min(free, key=lambda seat: (_rank(layout, seat), seat.cpu in may, seat.cpu), default=None)
    return Placement(seats, best.cpu if best else None, named is not None)


def stop_beside(
    layout: Layout, placed: Placement, after: tuple[str, ...], least: float = 0
) -> tuple[tuple[Change, ...], str]:
    """Stop the co-thread of the chosen CPU, where it runs: a step of its own after the changes `after`, and a sentence.

    `least`: CPUs that have to stay active; with fewer the co-thread stays, and it is said why.
    """
    sibling = next((seat.sibling for seat in placed.seats if seat.cpu == placed.chosen), None)
    if sibling is None or not layout.runs(sibling):
        return (), ""
    if layout.active is not None and layout.active - 1 < least:
        return (), (
            f"Its co-thread CPU {sibling} stays: with it stopped {layout.active - 1:.0f} CPUs would be active, fewer "
            f"than {least:.0f}."
        )
    beside = (
        f"It is the co-thread of CPU {placed.chosen}, which the lock manager has then: whatever runs on it slows that."
    )
    stop = tuple(replace(change, after=(*change.after, *after)) for change in layout.stop(sibling, beside))
    return stop, (
        f"A step of its own, after that was measured: stop its co-thread with STOP/CPU {sibling}, and measure again "
        "(START/CPU if it is not better)."
    )


def look_at(layout: Layout, cpu: int) -> tuple[str, ...]:
    """What is to be looked at by hand before the lock manager is given a CPU: its RAD, and on V7.3 the fast-path mask.

    Sources: OpenVMS V7.3 New Features, 4.4 (lock memory in the RAD of that CPU; clear its bit in IO_PREFER_CPUS).
    """
    found = []
    here = layout.rad(cpu)
    if None in layout.rads or not layout.rads:
        found.append(
            "Check by hand that the CPU is in the RAD of the work (NUMA): no full display of all CPUs names their RADs "
            "(SHOW CPU/FULL, Capabilities)."
        )
    elif len(layout.rads) > 1:
        found.append(f"CPU {cpu} is in RAD {here} of {len(layout.rads)}: check that the work and its memory are there.")
    if layout.runs(cpu) is None:
        found.append(
            f"See with SHOW CPU that CPU {cpu} runs: LCKMGR_CPUID of a CPU that is absent or stopped has no effect."
        )
    if layout.v7 and (layout.fast_path_cpus is None or cpu in layout.fast_path_cpus):
        found.append(f"On V7.3 fast path may still be given to CPU {cpu}: clear its bit in IO_PREFER_CPUS.")
    return tuple(found)


def qbb_unread(layout: Layout, cpu: int) -> str:
    """That the QBB of a CPU was not read, as a sentence; empty where it is no such machine, or the RADs were read."""
    if not gs_series(layout) or (layout.rads and None not in layout.rads):
        return ""
    return (
        f"Whether CPU {cpu} is in the QBB that has the lock manager's memory was not read (SHOW CPU/FULL, "
        "Capabilities): CPU and memory of one QBB are best (OpenVMS V7.3 New Features, 4.4.5)."
    )


def cost_of(layout: Layout) -> tuple[str, list[Evidence]]:
    """What one CPU less costs on this machine: its share, and how much is idle on average."""
    cpus = layout.active
    if cpus is None:
        return "It costs one CPU.", []
    modes = layout.facts.latest(ProcessorModes, statistic="mean")
    said = f"It costs one CPU of {cpus:.0f}, {100 / cpus:.0f} % of the machine"
    if layout.cores is not None and layout.cores < cpus:
        share = 100 / layout.cores
        said = f"It costs one core of {layout.cores}, {share:.0f} % of the machine, with its co-thread stopped"
    if (
        counts_differ(layout)
        or modes is None
        or not known(modes.idle_percent)
        or not 0 <= modes.idle_percent <= 100 * cpus
    ):
        return f"{said}.", []
    idle = modes.idle_percent / 100
    room = (
        "more than one CPU is idle on average" if idle >= 1 else "less than one CPU is idle on average: work will wait"
    )
    return f"{said}; {room} ({modes.idle_percent:.0f} % of one CPU).", [
        Evidence("idle (mean)", modes.idle_percent, "% of one CPU", modes.source)
    ]


def left_alone(layout: Layout) -> str:
    """What the choice that the system makes by itself would run into, and which CPUs have nothing, as a clause."""
    seat = layout.setting("LCKMGR_CPUID")
    named = seat is not None and seat > 0 and layout.runs(int(seat)) is not False and not layout.is_primary(int(seat))
    named = named and seat is not None and not layout.absent(int(seat))
    cpu = int(seat) if named and seat is not None else layout.default_choice
    there = [device.device for device in layout.devices_on(cpu)]
    there += [service.service for service in layout.services_on(cpu)]
    served = (
        f", which serves {' and '.join(map(comment, there))}" if there else ", whatever that or its co-thread serves"
    )
    if named:
        return f"LCKMGR_CPUID names CPU {cpu}, so it takes that one{served}"
    said = f"left alone it takes the lowest CPU other than the primary: CPU {cpu}{served}"
    if layout.unused:
        numbers, beyond = listed_cpus(layout.unused), max(layout.running) >= len(layout.running)
        which = (
            "the lowest numbers but those stopped, as many as run"
            if beyond
            else "numbers below the count of active CPUs"
        )
        said += f"; without a device or service in SHOW FASTPATH: CPU {numbers} ({which})"
    return said


def likely_seat(layout: Layout) -> int | None:
    """The CPU to look at first where SHOW FASTPATH tells what each serves and no full display which share a core.

    The one that LCKMGR_CPUID names where it is free, else the lowest; `None` where it says nothing or none is free.
    """
    free = layout.unused
    named = layout.setting("LCKMGR_CPUID")
    return int(named) if named in free else next(iter(free), None)


def unread_seats(layout: Layout) -> str:
    """What still has to be read before a CPU is named, as a sentence."""
    if (likely := likely_seat(layout)) is None:
        return "Which CPU suits it was not in the export, so nothing is set yet."
    among = f"Of CPU {listed_cpus(layout.unused)} look" if len(layout.unused) > 1 else "Look"
    return (
        f"{among} at CPU {likely} first: SHOW CPU/FULL tells whether a CPU in use "
        "shares its core, so nothing is set yet."
    )


def _numbers(layout: Layout) -> list[int]:
    facts = layout.facts
    seen = {one.number for one in facts.every(Cpu)} | {one.cpu for one in facts.every(FastpathDevice)}
    seen |= {one.cpu for one in facts.every(KernelService)}
    if layout.fastpath_read or seen:
        seen |= layout.running
    return sorted(seen)


def _seat(layout: Layout, cpu: int) -> Seat:
    pair = layout.pair(cpu)
    sibling = pair.sibling if isinstance(pair, Pair) else None
    here, movable = _in_the_way(layout, cpu)
    if here and not movable:
        return Seat(cpu, here, sibling)
    if isinstance(pair, Untrusted):
        return Seat(cpu, "the displays disagree on its co-thread", None)
    if pair is None:
        return Seat(cpu, here or "its full display was not collected", None, movable, unread=here is None)
    if sibling is None or layout.runs(sibling) is False:
        return _verdict(cpu, sibling, here, movable)
    if layout.runs(sibling) is None:
        return Seat(cpu, here or f"whether its co-thread CPU {sibling} runs was not read", sibling, movable, not here)
    beside, more = _in_the_way(layout, sibling)
    if beside and not more:
        return Seat(cpu, f"its co-thread CPU {sibling}: {beside}", sibling)
    if beside:
        said = f"its co-thread CPU {sibling}: {beside}"
        here = f"{here}; {said}" if here else said
    return _verdict(cpu, sibling, here, (*movable, *more))


def _verdict(cpu: int, sibling: int | None, against: str | None, movable: tuple[str, ...]) -> Seat:
    return Seat(cpu, against, sibling, movable)


def _in_the_way(layout: Layout, cpu: int) -> tuple[str | None, tuple[str, ...]]:
    """What stands against a CPU by itself, and the devices to move where that is all."""
    if cpu > HIGHEST:
        return f"LCKMGR_CPUID goes up to {HIGHEST}", ()
    if layout.runs(cpu) is False:
        return "it is stopped", ()
    if layout.may_be_primary(cpu):
        return _primary(layout, cpu), ()
    if layout.boot_cpus is not None and cpu not in layout.boot_cpus:
        return "SMP_CPUS does not start it at a boot", ()
    services = [one for one in layout.services_on(cpu) if "lock manager" not in one.service.lower()]
    if services:
        return f"{comment(services[0].service)} runs there", ()
    if not layout.fastpath_read:
        return "SHOW FASTPATH was not collected", ()
    devices = tuple(comment(one.device) for one in layout.devices_on(cpu))
    if devices:
        return f"fast path of {' and '.join(devices)}", devices
    return None, ()


def _primary(layout: Layout, cpu: int) -> str:
    read = any(one.number == cpu and one.primary for one in layout.facts.every(Cpu))
    return "it is the primary" if read else "it may be the primary: nothing read rules that out"


def _rank(layout: Layout, seat: Seat) -> int:
    """Best without a co-thread, then one whose co-thread is stopped, then one whose co-thread has nothing."""
    if seat.sibling is None:
        return 0
    return 1 if layout.runs(seat.sibling) is False else 2


def listed_cpus(numbers: Iterable[int]) -> str:
    """Numbers of CPUs, three and more in a row as a range: `0, 4-7, 9, 10`."""
    said: list[str] = []
    for _, row in groupby(enumerate(sorted(set(numbers))), key=lambda pair: pair[1] - pair[0]):
        run = [number for _, number in row]
        said += [f"{run[0]}-{run[-1]}"] if len(run) > 2 else map(str, run)
    return ", ".join(said)


__all__ = [
    "LockMemory",
    "Placement",
    "Seat",
    "cost_of",
    "gs_series",
    "left_alone",
    "likely_seat",
    "listed_cpus",
    "lock_memory",
    "look_at",
    "placement_of",
    "qbb_unread",
    "stop_beside",
    "unread_seats",
]
