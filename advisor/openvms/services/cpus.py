"""The CPU map of a node: which CPUs share a core, what runs on each, where the lock manager is to sit, who must move.

Co-threads are read (`Cothd`), never computed; what was not read is said with the command that prints it. The judgement
of each CPU as a place is that of the rules (`rules.openvms._evidence.placement`).
"""

from dataclasses import dataclass

from collectors.facts import NOT_MEASURED, OVERFLOW, Facts, Reading, known
from collectors.facts.openvms import Cpu, CpuModes, FastpathDevice, ProcessorModes
from rules.changes.quoting import comment
from rules.finding import Untrusted
from rules.openvms._evidence.cpu_layout import (
    SERVER,
    Layout,
    Pair,
    no_dedicated,
)
from rules.openvms._evidence.placement import (
    Placement,
    Seat,
    cost_of,
    placement_of,
)

RULES = (
    "openvms/lock_manager_cpu_shared",
    "openvms/lock_manager_needs_own_cpu",
    "openvms/lock_manager_saturated",
    "openvms/lock_manager_idle",
    "openvms/cothreads_hurt",
)
"""Rules whose verdict belongs beside the map; the first is the one of the conflict."""
MODES = ("mp_synch", "kernel", "user", "interrupt", "idle")
MOST_ROWS = 256
"""CPUs in the table: more than any machine that ran OpenVMS had."""
EACH_CPU = "a T4 composite CSV with columns for each CPU (MON.MODES, Cpu 00 and on), or screens of MONITOR MODES/CPU"
"""What brings the modes of each CPU where those of all together are there."""
MOST_NAMED = 16
"""CPUs named in one sentence."""
HIGHEST_PERCENT = 102.0
"""Of one CPU: above it a figure is not believed, the rest is rounding."""


@dataclass(frozen=True)
class Shown:
    """One CPU."""

    number: int
    mate: int | None
    mate_said: str
    """`CPU 2`, `none`, `not read` …"""
    state: str
    services: tuple[str, ...]
    devices: tuple[str, ...]
    modes: tuple[Reading, ...]
    """In the order of `MODES`, per cent of this CPU, mean; empty where none was read."""
    place: str
    """As a place for the lock manager: a clause."""
    good: bool
    moving: tuple[str, ...] = ()
    """Devices that have to leave this CPU first."""

    @property
    def figures(self) -> tuple[float | None, ...]:
        """The modes as numbers, `None` for what is none or cannot be believed."""
        return tuple(one if known(one) and 0 <= one <= HIGHEST_PERCENT else None for one in self.modes)

    @property
    def modes_said(self) -> str:
        """The modes in words."""
        named = zip(MODES, self.modes, strict=False)
        return ", ".join(f"{mode.replace('mp_', 'MP ')} {_percent(value)}" for mode, value in named)


@dataclass(frozen=True)
class CpuMap:
    """All CPUs of a node, and where the lock manager is to sit."""

    node: str
    cores: tuple[tuple[Shown, ...], ...]
    """In the order of their lowest number; a CPU whose co-thread was not read stands alone."""
    left_out: int
    manager: int | None
    """The CPU that is dedicated to the lock manager now."""
    chosen: int | None
    """Where it is to sit: there it stays, or there it goes."""
    conflict: tuple[int, int] | None
    """The lock manager's CPU and its co-thread that runs."""
    answer: str
    cost: str
    bring: tuple[str, ...]

    @property
    def cpus(self) -> list[Shown]:
        """Every CPU by its number."""
        return sorted((one for core in self.cores for one in core), key=lambda one: one.number)


@dataclass(frozen=True)
class _Advice:
    chosen: int | None
    answer: str
    moving: tuple[str, ...] = ()
    conflict: tuple[int, int] | None = None
    bring: tuple[str, ...] = ()


def cpu_map(facts: Facts) -> CpuMap:
    """Lay out the CPUs of one node."""
    layout = Layout(facts)
    refused = no_dedicated(layout)
    placement = placement_of(layout)
    advice = _Advice(None, f"{refused.why}.") if refused else _advice(layout, placement)
    manager = layout.lock_manager
    seats = {seat.cpu: seat for seat in placement.seats}
    numbers = sorted(seats.keys() | {seat.sibling for seat in placement.seats if seat.sibling is not None})
    modes = {one.cpu: one for one in facts.every(CpuModes) if one.statistic == "mean"}
    unjudged = "not judged" if refused else ""
    shown = {cpu: _shown(layout, cpu, seats.get(cpu), advice, modes.get(cpu), unjudged) for cpu in numbers[:MOST_ROWS]}
    cost, evidence = cost_of(layout)
    return CpuMap(
        node=layout.subject,
        cores=tuple(_cores(shown)),
        left_out=max(0, len(numbers) - MOST_ROWS),
        manager=manager[0] if manager else None,
        chosen=advice.chosen,
        conflict=advice.conflict,
        answer=advice.answer,
        cost=cost if numbers and not refused and (layout.active is not None or evidence) else "",
        bring=_bring(layout, shown, advice.bring),
    )


def _cores(shown: dict[int, Shown]) -> list[tuple[Shown, ...]]:
    """CPUs by core; where the displays disagree each stands alone."""
    cores: list[tuple[Shown, ...]] = []
    done: set[int] = set()
    for cpu, one in shown.items():
        if cpu in done:
            continue
        mate = shown.get(one.mate) if one.mate is not None else None
        both: tuple[Shown, ...] = (one, mate) if mate is not None and mate.mate == cpu else (one,)
        done |= {each.number for each in both}
        cores.append(both)
    return cores


def _advice(layout: Layout, placement: Placement) -> _Advice:
    """Where the lock manager is to sit, by the same steps as the rules take."""
    manager = layout.lock_manager
    if manager is None:
        none = "" if layout.fastpath_read else " Whether the lock manager has a CPU now was not read: SHOW FASTPATH."
        found = _free(layout, placement)
        return _Advice(found.chosen, found.answer + none, found.moving)
    cpu = manager[0]
    own = layout.facts.latest(Cpu, number=cpu, full=True)
    if own and own.process and own.process != SERVER:
        said = f"One display puts the lock manager on CPU {cpu}, the full display of CPU {cpu} shows another process."
        return _Advice(None, f"{said} Take both at the same moment.", bring=("SHOW FASTPATH", f"SHOW CPU {cpu}/FULL"))
    pair = layout.pair(cpu)
    now = f"The lock manager runs on CPU {cpu}"
    if isinstance(pair, Untrusted):
        return _Advice(None, f"{now}; the displays disagree on its co-thread.", bring=("SHOW CPU/FULL",))
    if pair is None:
        why = f"{now}. Whether its core has a second CPU with work on it was not read."
        return _Advice(None, why, bring=(f"SHOW CPU {cpu}/FULL",))
    mate = pair.sibling
    if mate is None:
        return _Advice(cpu, f"{now}, which has no co-thread: nothing shares its core.")
    runs = layout.runs(mate)
    if runs is False:
        return _Advice(cpu, f"{now}; its co-thread, CPU {mate}, is stopped: nothing shares its core.")
    if runs is None or not layout.fastpath_read:
        what = "SHOW FASTPATH" if not layout.fastpath_read else f"SHOW CPU {mate}/FULL"
        return _Advice(None, f"{now}. What its co-thread, CPU {mate}, does was not read.", bring=(what,))
    return _shared(layout, cpu, mate, now)


def _shared(layout: Layout, cpu: int, mate: int, now: str) -> _Advice:
    """The lock manager beside a co-thread that runs: that one is freed, or the lock manager moves."""
    devices = tuple(one.device for one in layout.devices_on(mate))
    there = [*devices, *(_short(one.service) for one in layout.services_on(mate))]
    serves = f"serves {' and '.join(map(comment, there))}" if there else "runs, too"
    said = f"{now} and shares its core with CPU {mate}, which {serves}."
    against = layout.why_not_stop(mate)
    if against is None:
        listed = " and ".join(map(comment, devices))
        has, it = ("has", "it") if len(devices) == 1 else ("have", "them")
        step = f" To free the core {listed} {has} to leave CPU {mate} first; the stop of CPU {mate} moves {it}, too."
        free = f" With CPU {mate} stopped, CPU {cpu} has the core to itself."
        return _Advice(cpu, f"{said}{step if devices else ''}{free}", devices, (cpu, mate))
    found = _free(layout, placement_of(layout, without=frozenset({cpu, mate})))
    return _Advice(
        found.chosen, f"{said} CPU {mate} has to stay: {comment(against)}. {found.answer}", found.moving, (cpu, mate)
    )


def _free(layout: Layout, placement: Placement) -> _Advice:
    if placement.chosen is not None:
        suits = "on its core no fast-path device, no TCP/IP and no primary were read"
        return _Advice(placement.chosen, f"CPU {placement.chosen} suits the lock manager: {suits}.")
    if placement.seats and not layout.fastpath_read:
        return _Advice(
            None, "Which CPU is free cannot be said: SHOW FASTPATH was not uploaded.", bring=("SHOW FASTPATH",)
        )
    if unjudged := [seat.cpu for seat in placement.seats if seat.unread]:
        listed = f"{', '.join(map(str, unjudged[:MOST_NAMED]))}{' …' if len(unjudged) > MOST_NAMED else ''}"
        why = "nothing was read against them, but whether they share a core was not read either"
        return _Advice(None, f"Which CPU is free cannot be said yet. CPU {listed}: {why}.", bring=(Cpu.COLLECTED_BY,))
    move = placement.first_to_move
    if move is None:
        return _Advice(None, "No CPU is free for the lock manager." if placement.seats else "No CPU was read.")
    unread = "" if layout.pair(move.cpu) else f" The co-thread of CPU {move.cpu} was not read: it may have work, too."
    first = f"None is free: move {' and '.join(move.movable)} off the core of CPU {move.cpu} first."
    return _Advice(None, first + unread, move.movable)


def _shown(
    layout: Layout, cpu: int, seat: Seat | None, advice: _Advice, modes: CpuModes | None, unjudged: str
) -> Shown:
    pair = layout.pair(cpu)
    mate = pair.sibling if isinstance(pair, Pair) else None
    devices = tuple(sorted(one.device for one in layout.devices_on(cpu)))
    manager = layout.lock_manager
    if isinstance(pair, Untrusted):
        mate_said = "displays disagree"
    else:
        mate_said = "not read" if pair is None else "none" if mate is None else f"CPU {mate}"
    against = seat.against if seat else "nothing was read of it"
    place = against or ("the place to take" if cpu == advice.chosen else "free")
    if manager and manager[0] == cpu:
        place = f"here now{', and it stays' if cpu == advice.chosen else ''}{'; ' + against if against else ''}"
    return Shown(
        number=cpu,
        mate=mate,
        mate_said=mate_said,
        state=_state(layout, cpu),
        services=tuple(_short(one.service) for one in layout.services_on(cpu)),
        devices=devices,
        modes=tuple(getattr(modes, f"{mode}_percent") for mode in MODES) if modes else (),
        place=unjudged or place,
        good=not unjudged and cpu == advice.chosen,
        moving=tuple(name for name in devices if comment(name) in map(comment, advice.moving)),
    )


def _state(layout: Layout, cpu: int) -> str:
    runs = layout.runs(cpu)
    said = "state not read" if runs is None else "running" if runs else "stopped"
    if any(one.primary for one in layout.facts.every(Cpu) if one.number == cpu):
        return f"{said}, primary"
    return f"{said}, primary?" if runs is not False and layout.may_be_primary(cpu) else said


def _short(service: str) -> str:
    """`TCP/IP` for `OpenVMS TCP/IP`, `lock manager` for that of OpenVMS."""
    bare = service.removeprefix("OpenVMS ")
    return "lock manager" if bare.lower() == "lock manager" else bare


def _bring(layout: Layout, shown: dict[int, Shown], first: tuple[str, ...]) -> tuple[str, ...]:
    """The commands that print what is missing; the display of all CPUs stands for that of one."""
    unread = any(one.mate_said in ("not read", "displays disagree") for one in shown.values())
    found = [] if layout.fastpath_read else [FastpathDevice.COLLECTED_BY]
    found += [Cpu.COLLECTED_BY] if not shown or unread else []
    if not any(one.modes for one in shown.values()):
        found.append(EACH_CPU if layout.facts.every(ProcessorModes) else CpuModes.COLLECTED_BY)
    own = [one for one in first if not (Cpu.COLLECTED_BY in found and one.startswith("SHOW CPU "))]
    return tuple(dict.fromkeys((*own, *found)))


def _percent(value: Reading) -> str:
    if known(value):
        return f"{value:.3g} %" if 0 <= value <= HIGHEST_PERCENT else "not believed"
    return "asterisks" if value is OVERFLOW else "not measured" if value is NOT_MEASURED else "not in the export"
