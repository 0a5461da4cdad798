"""What runs on which CPU of an OpenVMS node, as far as it was read, and which of them may be stopped.

Read, never computed: the CPU on the same core is what `Cothd` says in SHOW CPU n/FULL, and nothing else. What was not
read counts against a stop: a CPU that may be the primary is one, a CPU whose co-thread is not known to run stays on.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property

from collectors.facts import ABSENT, NOWHERE, Facts, Source, known
from collectors.facts.base import F
from collectors.facts.openvms import (
    Cpu,
    CpuRemark,
    FastpathDevice,
    KernelService,
    Node,
    Process,
    ProcessorModes,
    SysgenParameter,
)
from rules.changes.openvms_cpu import HIGHEST_CPU, NeverStop, start_cpus, stop_cpu
from rules.changes.openvms_sysgen import PARAMETERS, set_parameter
from rules.changes.quoting import comment
from rules.finding import Change, NotApplicable, Untrusted
from rules.openvms._evidence.boots import (
    AT,
    last_boot,
    outdated,
    shown_at,
)
from rules.openvms._evidence.node import NODE_FACTS, cpus_in, node_name, parameter_of, pending_value, subject_of
from rules.openvms._evidence.releases import machine_of

LAYOUT_FACTS = (*NODE_FACTS, Cpu, CpuRemark, FastpathDevice, KernelService, Process, ProcessorModes)
"""What a rule that asks for the layout has to declare."""
SERVER = "LCKMGR_SERVER"
PREFER_CPUS, PRCPU_BITMAP = "IO_PREFER_CPUS", "IO_PRCPU_BITMAP"


@dataclass(frozen=True)
class Pair:
    """Two CPUs of one core; `sibling` is `None` where a full display has no `Cothd`, or the machine has none."""

    cpu: int
    sibling: int | None
    source: Source

    @property
    def both(self) -> tuple[int, ...]:
        """The CPUs of the core."""
        return (self.cpu,) if self.sibling is None else (self.cpu, self.sibling)


@dataclass(frozen=True)
class Layout:
    """One node's CPUs."""

    facts: Facts

    @property
    def node(self) -> str | None:
        """The node's name, where a display gives it."""
        return node_name(self.facts)

    @property
    def subject(self) -> str:
        """The node, or what to call it."""
        return subject_of(self.facts)

    @property
    def v7(self) -> bool | None:
        """Whether it is a release before V8, which has other names for some parameters; `None` where none was read."""
        release = machine_of(self.facts).release
        return None if release is None else release.before(8, 0)

    @cached_property
    def boot_cpus(self) -> frozenset[int] | None:
        """The CPUs that SMP_CPUS starts at a boot; `None` where it was not collected."""
        return cpus_in(self.facts, "SMP_CPUS")

    @cached_property
    def fast_path_mask(self) -> str:
        """The parameter that says which CPUs fast path may be given to: the one that was listed, else by the release.

        Sources: I/O User's Reference Manual V7.3, 10.2.2.1; wiki.vmssoftware.com/IO_PRCPU_BITMAP, which replaced it.
        """
        names = (PREFER_CPUS, PRCPU_BITMAP) if self.v7 else (PRCPU_BITMAP, PREFER_CPUS)
        listed = {one.name for one in self.facts.every(SysgenParameter)}
        return next((name for name in names if name in listed), names[0])

    @cached_property
    def fast_path_cpus(self) -> frozenset[int] | None:
        """The CPUs that fast path may be given to; `None`: not collected."""
        return cpus_in(self.facts, self.fast_path_mask)

    def rad(self, cpu: int) -> int | None:
        """The resource affinity domain of a CPU, where its full display names it."""
        one = self._full.get(cpu)
        return one.rad if one else None

    @cached_property
    def rads(self) -> frozenset[int | None]:
        """Those of all CPUs with a full display; `None` among them: one does not say."""
        return frozenset(one.rad for one in self._full.values())

    @cached_property
    def active(self) -> float | None:
        """CPUs in the active set; of two readings the smaller one."""
        return min((count for count, _ in self._counts()), default=None)

    @property
    def captured(self) -> float | None:
        """CPUs that the figures of the capture are of; those of a display where the capture does not tell."""
        counts = [modes.cpus for modes in self.facts.every(ProcessorModes)]
        return min((count for count in counts if known(count) and count > 0), default=self.active)

    @property
    def alone(self) -> bool:
        """Whether every reading tells of one active CPU, and no display has the lock manager on one of its own."""
        counts = [count for count, _ in self._counts()]
        return bool(counts) and max(counts) == 1 and self.lock_manager is None

    @property
    def active_read(self) -> tuple[float, Source]:
        """The same and where it was read. Raises `ValueError` where it was not."""
        return min(self._counts(), key=lambda pair: pair[0])

    def _of_this_boot(self, kind: type[F]) -> list[F]:
        """The facts of a type but those of displays from before the last boot: they tell nothing of what runs now."""
        return [one for one in self.facts.every(kind) if not outdated(self.facts, one.source)]

    def _counts(self) -> Iterator[tuple[float, Source]]:
        counts = [(node.active_cpus, node.source) for node in self._of_this_boot(Node)]
        counts += [(modes.cpus, modes.source) for modes in self.facts.every(ProcessorModes)]
        yield from ((count, source) for count, source in counts if known(count) and count > 0)

    @property
    def stopped(self) -> list[int]:
        """CPUs whose latest display says that they are not in the active set."""
        return sorted(number for number, cpu in self._states.items() if not cpu.running)

    @property
    def startable(self) -> list[int]:
        """Those of them of which nobody wrote that they are to stay stopped."""
        kept = {cpu for remark in self.facts.every(CpuRemark) for cpu in remark.cpus}
        return [cpu for cpu in self.stopped if cpu not in kept]

    @property
    def kept_stopped(self) -> list[CpuRemark]:
        """What people wrote of CPUs that are stopped and are to stay so."""
        return [one for one in self.facts.every(CpuRemark) if not set(one.cpus).isdisjoint(self.stopped)]

    @property
    def kept_said(self) -> str:
        """That some are to stay stopped, with who says so, as a sentence; empty where nobody does."""
        remarks = self.kept_stopped
        if not remarks:
            return ""
        kept = [cpu for cpu in self.stopped if cpu not in self.startable]
        last = remarks[-1]
        of = f" of {f'{last.at:%d-%b-%Y}'.upper()}" if last.at else ""
        by = "a remark in the exports" if last.by is None else f"a message of {comment(last.by, 32)}"
        are = "are" if len(kept) > 1 else "is"
        text = comment(last.text).rstrip(". ")
        return f'CPU {", ".join(map(str, kept))} {are} not to be started, by {by}{of}: "{text}".'

    def enough_stopped(self, cpus: float) -> bool:
        """Whether so many CPUs would be active with those started that may be, and are not without them."""
        return self.active is not None and self.active < cpus <= self.active + len(self.startable)

    @property
    def fastpath_read(self) -> bool:
        """Whether SHOW FASTPATH was collected, with anything in it."""
        return bool(self._of_this_boot(FastpathDevice) or self._of_this_boot(KernelService))

    @cached_property
    def services(self) -> dict[str, KernelService]:
        """Each service by its latest reading."""
        return {service.service: service for service in self._of_this_boot(KernelService)}

    @cached_property
    def lock_manager(self) -> tuple[int, Source] | None:
        """The CPU that is dedicated to the lock manager now, and where it says so: of several displays the newest."""
        undated = datetime.min  # noqa: DTZ901  # the displays have no zone
        return max(self._places(), key=lambda place: shown_at(self.facts, place[1]) or undated, default=None)

    @property
    def lock_manager_shown(self) -> str:
        """The command whose display has it there; empty where none has."""
        now = self.lock_manager
        if now is None:
            return ""
        if any(service.source == now[1] for service in self.services.values()):
            return "SHOW FASTPATH"
        return "SHOW CPU/FULL" if any(cpu.source == now[1] for cpu in self.facts.every(Cpu)) else "SHOW SYSTEM"

    def _places(self) -> Iterator[tuple[int, Source]]:
        for service in self.services.values():
            if "lock manager" in service.service.lower():
                yield service.cpu, service.source
        for cpu in self._of_this_boot(Cpu):
            if cpu.process == SERVER and cpu.running:
                yield cpu.number, cpu.source
        for process in self._of_this_boot(Process):
            if process.name == SERVER and process.cpu is not None:
                yield process.cpu, process.source

    @property
    def contradicted(self) -> str:
        """That another display has the lock manager on another CPU, as a sentence; empty where none has."""
        now = self.lock_manager
        if now is None:
            return ""
        for service in self.facts.every(KernelService):
            at, boot = shown_at(self.facts, service.source), last_boot(self.facts)
            if "lock manager" not in service.service.lower() or service.cpu == now[0] or at is None:
                continue
            before = boot and at < boot
            since = f", before the boot at {boot.strftime(AT).upper()}," if boot and before else ""
            return (
                f"SHOW FASTPATH of {at.strftime(AT).upper()}{since} has the lock manager on CPU {service.cpu}; the "
                f"newer display has it on CPU {now[0]}, which counts."
            )
        return ""

    def services_on(self, cpu: int) -> list[KernelService]:
        """TCP/IP or the lock manager, if they run on this CPU."""
        return [service for service in self.services.values() if service.cpu == cpu]

    def devices_on(self, cpu: int) -> list[FastpathDevice]:
        """Devices whose fast path is on this CPU, each by its latest reading."""
        return list(self._devices.get(cpu, {}).values())

    @cached_property
    def _devices(self) -> dict[int, dict[str, FastpathDevice]]:
        latest = {device.device: device for device in self._of_this_boot(FastpathDevice)}
        found: dict[int, dict[str, FastpathDevice]] = defaultdict(dict)
        for device in latest.values():
            found[device.cpu][device.device] = device
        for one in self.facts.every(Cpu):
            for name in one.fastpath:
                if name not in latest:
                    found[one.number][name] = FastpathDevice(
                        source=one.source, device=name, cpu=one.number, node=one.node
                    )
        return dict(found)

    @cached_property
    def _full(self) -> dict[int, Cpu]:
        """The latest full display of each CPU."""
        return {one.number: one for one in self.facts.every(Cpu) if one.full}

    @cached_property
    def _naming(self) -> dict[float, list[Cpu]]:
        """The full displays by the co-thread that they name."""
        found: dict[float, list[Cpu]] = defaultdict(list)
        for one in self.facts.every(Cpu):
            if one.full and known(one.cothread):
                found[one.cothread].append(one)
        return dict(found)

    @cached_property
    def _states(self) -> dict[int, Cpu]:
        """The latest display of each CPU that tells its state."""
        return {one.number: one for one in self.facts.every(Cpu) if one.state}

    def runs(self, cpu: int) -> bool | None:
        """Whether a CPU is in the active set; `None` where nothing says so."""
        if cpu in self._states:
            return self._states[cpu].running
        return True if self.devices_on(cpu) or self.services_on(cpu) else None

    def is_primary(self, cpu: int) -> bool:
        """Whether a display says that it is the primary."""
        return self._primary.get(cpu) is True

    def may_be_primary(self, cpu: int) -> bool:
        """Whether it is the primary, or nothing rules it out: CPU 0 and the lowest number seen count as it.

        Where the full displays of all CPUs name none, none of them says which: the lowest number counts as it.
        """
        said = self._primary
        if True in said.values():
            return said.get(cpu) is True
        if self.all_full and False in said.values():
            return cpu <= self._lowest
        if said.get(cpu) is False:
            return False
        return cpu <= self._lowest

    @cached_property
    def _primary(self) -> dict[int, bool]:
        return {one.number: one.primary for one in self.facts.every(Cpu) if one.primary is not None}

    @cached_property
    def _lowest(self) -> int:
        return min(self._seen(), default=0)

    def _seen(self) -> Iterator[int]:
        yield from (one.number for one in self.facts.every(Cpu))
        yield from (device.cpu for device in self.facts.every(FastpathDevice))
        yield from (service.cpu for service in self.facts.every(KernelService))

    def pair(self, cpu: int) -> Pair | Untrusted | None:
        """The co-thread of a CPU from its own full display or from its sibling's; `None` where neither was read.

        Where the machine has none, as an Alpha, no display is needed.
        """
        own = self._full.get(cpu)
        others = [one for one in self._naming.get(cpu, ()) if one.number != cpu]
        if own is None:
            numbers = {one.number for one in others}
            if len(numbers) > 1:
                return Untrusted(
                    f"CPU {cpu} is the co-thread of {len(numbers)} CPUs at once: collect SHOW CPU/FULL anew"
                )
            if others:
                return Pair(cpu, others[-1].number, others[-1].source)
            machine = machine_of(self.facts)
            return Pair(cpu, None, machine.source or NOWHERE) if machine.without_cothreads else None
        if own.cothread is ABSENT:
            if others:
                return Untrusted(f"CPU {others[-1].number} names CPU {cpu} as co-thread, CPU {cpu} names none")
            return Pair(cpu, None, own.source)
        if not known(own.cothread) or own.cothread != int(own.cothread) or own.cothread == cpu or own.cothread < 0:
            return Untrusted(f"CPU {cpu} cannot have {own.cothread!r} as co-thread: collect SHOW CPU {cpu}/FULL anew")
        sibling = int(own.cothread)
        back = self._full.get(sibling)
        if (back and back.cothread != cpu) or any(one.number != sibling for one in others):
            return Untrusted(f"the displays disagree on the co-thread of CPU {cpu}: collect SHOW CPU/FULL anew")
        return Pair(cpu, sibling, own.source)

    def pairs(self) -> list[Pair | Untrusted]:
        """Every core with two CPUs that was read, once; the lower number first."""
        found: dict[frozenset[int | None], Pair | Untrusted] = {}
        for number in sorted({one.number for one in self.facts.every(Cpu) if one.full}):
            pair = self.pair(number)
            if isinstance(pair, Untrusted):
                found.setdefault(frozenset({number, None}), pair)
            elif pair and pair.sibling is not None:
                found.setdefault(frozenset({pair.cpu, pair.sibling}), pair)
        return list(found.values())

    @cached_property
    def all_full(self) -> bool:
        """Whether a full display of every active CPU was collected."""
        full = {one.number for one in self.facts.every(Cpu) if one.full}
        return self.active is not None and len(full) >= self.active

    @property
    def cores_read(self) -> bool:
        """Whether it is known which CPUs share a core: every one was displayed, or the machine has no co-threads."""
        return self.all_full or machine_of(self.facts).without_cothreads

    @property
    def displayed(self) -> set[int]:
        """CPUs of which any display was collected."""
        return {one.number for one in self.facts.every(Cpu)}

    def absent(self, cpu: int) -> bool:
        """Whether no export shows this CPU, and its number is beyond those of the CPUs that were counted."""
        if cpu in set(self._seen()):
            return False
        return self.all_displayed or (self.active is not None and cpu >= self.active + len(self.stopped))

    @property
    def all_displayed(self) -> bool:
        """Whether the state of every active CPU was collected."""
        running = [one for one in self._states.values() if one.running]
        return self.active is not None and len(running) >= self.active

    @property
    def cores(self) -> int | None:
        """Number of cores with a running CPU; `None` where not every CPU was read, or none of those that were runs."""
        if not self.all_full:
            return None
        running = {one.number for one in self.facts.every(Cpu) if one.full and self.runs(one.number) is not False}
        pairs = [pair for pair in self.pairs() if isinstance(pair, Pair)]
        return len(running) - sum(1 for pair in pairs if {pair.cpu, pair.sibling} <= running) or None

    def setting(self, name: str) -> float | None:
        """A system parameter's value in the export; `None` where it was not collected or cannot be believed."""
        found = parameter_of(self.facts, name, 0, HIGHEST_CPU + 1)
        return found[0] if isinstance(found, tuple) else None

    def why_not_stop(self, cpu: int) -> str | None:
        """What stands against stopping this CPU, as a clause; `None` where nothing does."""
        if self.may_be_primary(cpu):
            return f"CPU {cpu} is the primary, or nothing read rules it out"
        services = self.services_on(cpu)
        if services:
            return f"{services[0].service} runs on CPU {cpu}"
        manager = self.lock_manager
        if manager and manager[0] == cpu:
            return f"the lock manager runs on CPU {cpu}"
        return None

    def stop(self, cpu: int, *cautions: str) -> tuple[Change, ...]:
        """Stop a CPU; before it, lower LCKMGR_MODE where the dedicated lock manager would turn itself off.

        The stop needs that change: it leaves a plan together with it.
        Raises `NeverStop` where `why_not_stop` has something against it.
        """
        if against := self.why_not_stop(cpu):
            raise NeverStop(against)
        before: list[Change] = []
        mode, left = self.setting("LCKMGR_MODE"), (self.active or 0) - 1
        if self.lock_manager and mode is not None and 0 < left < mode:
            why = (
                f"CPU {cpu} stopped leaves {left:.0f} CPUs: at LCKMGR_MODE {mode:.0f} the lock manager's would be off."
            )
            before.append(self.set("LCKMGR_MODE", min(left, PARAMETERS["LCKMGR_MODE"].high), why))
        names = [device.device for device in self.devices_on(cpu)]
        stop = stop_cpu(cpu, primary=False, services=(), devices=names, node=self.node, cautions=cautions)
        return (*before, replace(stop, needs=tuple(change.key for change in before)))

    def stop_together(self, cpus: Sequence[int]) -> Change:
        """Stop several CPUs of a node whose lock manager has none. Raises `NeverStop` as `stop` does."""
        if against := next(filter(None, map(self.why_not_stop, cpus)), None):
            raise NeverStop(against)
        names = [device.device for cpu in cpus for device in self.devices_on(cpu)]
        return stop_cpu(cpus[0], primary=False, services=(), devices=names, node=self.node, others=cpus[1:])

    def start(self, cpus: float) -> Change | None:
        """Start the CPUs that may be started, where exactly those lack for so many to be active."""
        if not self.enough_stopped(cpus) or self.active is None or self.active + len(self.startable) != cpus:
            return None
        return self.start_again(self.startable)

    def start_again(self, cpus: Sequence[int]) -> Change:
        """Start these CPUs, which are stopped."""
        left_out = self.boot_cpus is not None and not self.boot_cpus.issuperset(cpus)
        return start_cpus(cpus, mask=self.setting("SMP_CPUS") if left_out else None, node=self.node)

    def set(self, name: str, new: float, *cautions: str) -> Change:
        """Set a dynamic lock manager parameter on this node."""
        return set_parameter(
            name,
            self.setting(name),
            new,
            dynamic=True,
            cautions=cautions,
            node=self.node,
            pending=pending_value(self.facts, name),
        )

    @property
    def running(self) -> frozenset[int]:
        """The lowest numbers, of as many as are active, but those that are stopped (inferred).

        Where as many are stopped as are active, or full displays have none that runs, they are of another moment, and
        no number is left out for them.
        """
        active, shown = int(self.active or 0), self._states.values()
        of_now = len(self.stopped) < active and (
            any(one.running for one in shown) or not any(one.full for one in shown)
        )
        stopped = frozenset(self.stopped if of_now else ())
        return frozenset(range(active + len(stopped))) - stopped

    @property
    def unused(self) -> list[int]:
        """CPUs without device or service in SHOW FASTPATH and not the primary, of those that run."""
        numbers = sorted(self.running) if self.fastpath_read else ()
        return [cpu for cpu in numbers if not self.devices_on(cpu) and not self.why_not_stop(cpu)]

    @property
    def default_choice(self) -> int:
        """The CPU that the lock manager takes where LCKMGR_CPUID names none: the lowest one but the primary.

        Where no display names the primary, it is taken to be CPU 0.
        """
        primary = next((one.number for one in self.facts.every(Cpu) if one.primary), 0)
        return next(cpu for cpu in range(HIGHEST_CPU + 1) if cpu != primary and self.runs(cpu) is not False)


@dataclass(frozen=True)
class NotFollowed:
    """LCKMGR_CPUID, where it names a CPU that cannot be taken."""

    number: int
    stopped: bool
    """Whether the CPU is there and stopped; else it is absent."""
    setting: SysgenParameter

    @property
    def why(self) -> str:
        """As an adjective."""
        return "stopped" if self.stopped else "absent: no such CPU is in the displays of all active CPUs"


def not_followed(layout: Layout, cpu: int) -> NotFollowed | None:
    """Why the lock manager is on `cpu` although LCKMGR_CPUID names another; `None` where nothing read says so.

    0 is what it is shipped with, so it counts as no choice. Only where each active CPU was displayed is one that was
    not displayed absent.
    """
    found = parameter_of(layout.facts, "LCKMGR_CPUID", 0, HIGHEST_CPU)
    if not isinstance(found, tuple) or not found[0] or found[0] == cpu:
        return None
    number = int(found[0])
    runs = layout.runs(number)
    if runs is False:
        return NotFollowed(number, True, found[1])
    if runs is None and number not in layout.displayed and layout.all_displayed:
        return NotFollowed(number, False, found[1])
    return None


def no_dedicated(layout: Layout) -> NotApplicable | None:
    """Say so where there can be no dedicated lock manager: one CPU alone; a VAX, x86-64 or a release before V7.3."""
    machine = machine_of(layout.facts)
    if machine.dedicated_documented is not False:
        return NotApplicable("one CPU: none can be dedicated to the lock manager") if layout.alone else None
    by_machine = machine.hardware and machine.family in ("VAX", "x86-64")
    what = machine.hardware if by_machine or not machine.release else f"OpenVMS {machine.release.printed}"
    return NotApplicable(f"{what}: the dedicated lock manager is documented for Alpha and Integrity from V7.3 alone")
