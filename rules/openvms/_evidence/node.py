"""What rules about one OpenVMS node have in common: its name, its system parameters, its highest levels."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from collectors.facts import OVERFLOW, Facts, Reading, Source, known
from collectors.facts.openvms import LockDatabase, LockRates, Node, Process, ProcessorModes, SysgenParameter
from rules.changes.quoting import comment
from rules.finding import MissingInput, Outcome, Unknown, Untrusted, capitalized
from rules.laws.rounding import plain
from rules.openvms._evidence.autogen import AUTOGEN_FACTS
from rules.openvms._evidence.boots import BOOT_FACTS, booted_since

NODE_FACTS = (*BOOT_FACTS, *AUTOGEN_FACTS, SysgenParameter, LockDatabase, LockRates)
"""What a rule that uses this module has to declare."""

SEPARATOR = re.compile(r"[ ,;]{1,3}")
CPU_RANGE, MOST_CPUS = re.compile(r"([0-9]{1,4})(?:-([0-9]{1,4}))?"), 1024
LEVELS = f"{LockDatabase.COLLECTED_BY}, or MONITOR LOCK"
PE1_SHOWN = MissingInput("PE1 of every node", "MCR SYSGEN SHOW PE1 ! on every node of the cluster")
MEASURED_SINCE = MissingInput("figures of the boot that runs", ProcessorModes.COLLECTED_BY)
NUMBERED = re.compile(r"([A-Z](?:[A-Z0-9_$-]{0,12}[A-Z_$-])?)[0-9]{1,5}")
"""A process name that ends in a number."""
ALIKE = 8
"""Processes called alike, this project: so many are started by one procedure."""
USE = (
    "SYSGEN SHOW prints the active value, or the current one (that of the next boot) after USE CURRENT; where a change "
    "waits for a reboot they differ: look at both before changing anything."
)


def node_name(facts: Facts) -> str | None:
    """The node's name, where a display gives it. A rule need not declare `Node` for it."""
    named = [node.name for node in facts.also(Node).every(Node) if node.name]
    return named[-1] if named else None


def subject_of(facts: Facts) -> str:
    """The node, or what to call it."""
    return node_name(facts) or "node"


def called_alike(facts: Facts) -> str:
    """The most processes of SHOW SYSTEM that are called alike but for a number; empty for few of them.

    A rule need not declare `Process` for it.
    """
    processes = facts.also(Process).every(Process)
    counted = Counter(found[1] for one in processes if (found := NUMBERED.fullmatch(one.name)))
    name, many = max(counted.items(), key=lambda one: (one[1], one[0]), default=("", 0))
    return f"{many} processes {comment(name, 15)}*" if many >= ALIKE else ""


def parameter_of(facts: Facts, name: str, low: float, high: float) -> tuple[float, SysgenParameter] | Outcome:
    """The value of a numeric system parameter with its fact, or the outcome where there is none to judge by."""
    bring = Unknown.without(name, f"MCR SYSGEN SHOW {name}", f"{name}: not in the export")
    listed = _of_this_node(facts, name)
    here = [one for one in listed if one.runs]
    if len({one.node for one in here}) > 1 and len({one.current for one in here}) > 1:
        return Unknown.without(name, f"MCR SYSGEN SHOW {name} ! of this node alone", f"{name}: of several nodes")
    if not here:
        return Unknown(bring.missing, f"{name}: {_only(listed[-1])}") if listed else bring
    if since := booted_since(facts):
        return Unknown((MEASURED_SINCE,), f"{name}: {since}")
    value = here[-1].current
    if value is OVERFLOW or isinstance(value, str):
        return Untrusted(f"{name}: {value if isinstance(value, str) else 'asterisks'} is no number")
    if not known(value):
        return bring
    if not low <= value <= high or value != int(value):
        return Untrusted(f"{name} {value:g} is outside its range, {low:,.0f} to {high:,.0f}: the listing was misread")
    return value, here[-1]


def cpus_in(facts: Facts, *names: str) -> frozenset[int] | None:
    """The CPUs that a parameter names, of several the first that is listed: a mask (-1: all) or a list, `0-7,9`.

    `None` where none was collected, or its value is no such thing. Source: IO_PRCPU_BITMAP is a list of CPUs, 0 to 1023
    (wiki.vmssoftware.com/IO_PRCPU_BITMAP); IO_PREFER_CPUS and SMP_CPUS are masks.
    """
    here = [one for name in names for one in _of_this_node(facts, name) if one.runs]
    value = here[-1].current if here else None
    if isinstance(value, str):
        return cpus_named(value)
    if not known(value) or value != int(value) or value < -1:
        return None
    return frozenset(cpu for cpu in range(MOST_CPUS) if value == -1 or int(value) >> cpu & 1)


def cpus_named(text: str) -> frozenset[int] | None:
    """The CPUs of a list, `0-7,9` or `0-7 9`; `None` where it is none."""
    found = [CPU_RANGE.fullmatch(piece) for piece in SEPARATOR.split(text.strip())] if text else []
    if not all(found):
        return None
    return frozenset(cpu for one in found if one for cpu in range(int(one[1]), int(one[2] or one[1]) + 1))


def _of_this_node(facts: Facts, name: str) -> list[SysgenParameter]:
    """Every listing of a parameter; of several nodes those of this one, where it is among them."""
    found = [one for one in facts.every(SysgenParameter) if one.name == name]
    return [one for one in found if one.node is not None and one.node == node_name(facts)] or found


def _only(listed: SysgenParameter) -> str:
    """Why a value cannot be judged that a listing shows, but not as the active one."""
    value = f"{listed.current:g}" if known(listed.current) else "a value"
    where = {
        "current": "CURRENT (of the next boot)",
        "default": "DEFAULT (as shipped)",
        "work area": "the work area (SET, and written nowhere)",
    }.get(listed.in_use or "", "a parameter file")
    return f"{value} was read from {where} alone; what runs is not in the export"


def pending_of(facts: Facts, name: str) -> tuple[float, SysgenParameter] | None:
    """The value that the next boot takes (CURRENT), where it differs from the one that runs or that one is not known.

    A value of a parameter file or of the defaults waits for nothing.
    """
    listed = _of_this_node(facts, name)
    waits = next((one for one in reversed(listed) if one.in_use == "current"), None)
    runs = next((one for one in reversed(listed) if one.runs), None)
    if waits is None or not known(waits.current) or (runs and runs.current == waits.current):
        return None
    return waits.current, waits


def pending_value(facts: Facts, name: str) -> float | None:
    """The same without its line."""
    waits = pending_of(facts, name)
    return waits[0] if waits else None


def pending_alone(facts: Facts, name: str) -> tuple[float, SysgenParameter] | None:
    """The value that the next boot takes, where nothing of what runs came along: it may be the same."""
    listed = _of_this_node(facts, name)
    if any(one.runs for one in listed) or len({one.node for one in listed}) > 1:
        return None
    return pending_of(facts, name)


def pending_text(name: str, value: float, *, at_once: bool = False) -> str:
    """That a value waits for the next boot, as a sentence.

    `at_once`: it is dynamic, and another value runs, so it need not have waited.
    """
    why = " (it is dynamic: WRITE ACTIVE was left out or taken back)" if at_once else ""
    return f"{name} is {value:,.0f} in CURRENT: pending, it takes effect with the next boot{why}."


def pending_said(facts: Facts, name: str) -> str:
    """The same of a parameter, with a blank before it; empty where no other value waits."""
    waits = pending_of(facts, name)
    if not waits:
        return ""
    return f" {pending_text(name, waits[0], at_once=waits[1].dynamic and pending_alone(facts, name) is None)}"


def pending_clause(facts: Facts, name: str) -> str:
    """The same to stand behind a figure."""
    said = pending_said(facts, name)
    return f";{said}" if said else ""


def pending_clauses(facts: Facts, *names: str) -> str:
    """The same of several parameters, for a sentence of clauses."""
    return "; ".join(said.strip(" .") for name in names if (said := pending_said(facts, name)))


def level_of(facts: Facts, field: str) -> tuple[float, float | None, Source] | Outcome:
    """The highest level of `locks` or `resources`, the sustained one (mean) where read, and the source of the first."""
    highest: tuple[float, Source] | None = None
    mean: float | None = None
    for one in facts.every(LockDatabase):
        value: Reading = getattr(one, field)
        if value is OVERFLOW or (known(value) and not 0 <= value < float("inf")):
            said = f"{value:g}" if known(value) else "asterisks"
            return Untrusted(f"{field} ({one.statistic}): {said} is no number of {field}")
        if known(value):
            highest = max(highest or (value, one.source), (value, one.source), key=lambda pair: pair[0])
            mean = value if one.statistic == "mean" else mean
    if highest is None:
        return Unknown.without(f"number of {field}", LEVELS, f"{field}: not in the export")
    return highest[0], mean, highest[1]


def sentence(*clauses: str) -> str:
    """Clauses as one sentence, without those that are empty; empty where all are."""
    said = "; ".join(one for one in clauses if one)
    return f"{capitalized(said)}." if said else ""


def in_prose(rate: float) -> str:
    """A rate to three significant digits, as a sentence needs it: `372,000`, `14.3`; evidence has all of them."""
    return plain(rate, 3)


def busiest_operations(rates: Sequence[LockRates]) -> float | None:
    """The highest lock operation rate of any statistic, or `None` where none was read.

    MONITOR's maxima are each figure's own: their sum is of no moment and is left out.
    """
    read = (one.operations_per_second for one in rates if one.statistic != "maximum")
    return max((rate for rate in read if rate is not None and rate >= 0), default=None)


MODES = ("interrupt", "mp_synch", "kernel", "exec", "super", "user")
MOMENTS = ("mean", "at mp synch peak", "at lock peak", "current")
"""Statistics whose figures were true together. A `p95` or a maximum is each column's own: their sum is of no moment."""


@dataclass(frozen=True)
class Work:
    """How busy the node was. `busy` and `share` are of one and the same moment, `synch` may be a 95th percentile."""

    modes: ProcessorModes
    """The moment: the mean, or one sample where there is no mean."""
    busy: float
    """Per cent of one CPU, never more than all CPUs have."""
    share: float
    """MP synchronization, per cent of `busy`."""
    now: float
    """MP synchronization of the moment, per cent of one CPU, never more than `busy`."""
    synch: float
    """MP synchronization that lasted, per cent of one CPU: the 95th percentile, else that of the moment."""
    spun: ProcessorModes
    """Where `synch` was read."""
    cpus: float
    busiest: float
    """The highest busy figure of any moment that was read."""

    @property
    def sustained(self) -> bool:
        """Whether it is more than one sample."""
        return self.modes.statistic == "mean"


def work_of(facts: Facts) -> Work | Outcome:
    """The node's time in processor modes, or the outcome where it cannot be judged."""
    for modes in facts.every(ProcessorModes):
        readings: list[Reading] = [getattr(modes, f"{mode}_percent") for mode in MODES]
        if any(value is OVERFLOW or (known(value) and value < 0) for value in readings):
            return Untrusted(f"time in processor modes ({modes.statistic}): negative or asterisks")
        highest = max((value for value in readings if known(value)), default=0.0)
        if known(modes.cpus) and highest > 102 * modes.cpus:
            return Untrusted(f"{highest:.0f} % in one processor mode is more than {modes.cpus:.0f} CPUs have")
    if changed := cpus_changed(facts):
        return changed
    moments = [one for name in MOMENTS if (one := facts.latest(ProcessorModes, statistic=name))]
    whole = [(one, busy) for one in moments if (busy := _busy(one)) is not None]
    if not whole:
        return Unknown.without("all processor modes and the number of CPUs, as a mean", ProcessorModes.COLLECTED_BY)
    modes, busy = whole[0]
    spun = facts.latest(ProcessorModes, statistic="p95") if modes.statistic == "mean" else modes
    spun = spun if spun and known(spun.mp_synch_percent) else modes
    now, synch, cpus = modes.mp_synch_percent, spun.mp_synch_percent, modes.cpus
    if not (known(now) and known(synch) and known(cpus)):
        raise AssertionError("_busy() has turned everything else away")
    share = min(100.0, 100 * now / busy) if busy else 0.0
    return Work(modes, busy, share, min(now, busy), synch, spun, cpus, max(one for _, one in whole))


OTHER_COUNT, OTHER_SHARE = 0.5, 0.05
"""Arithmetic: half a CPU is another number; this project: 5 % of it, as sampled modes add up no better than that."""


def cpus_changed(facts: Facts) -> Unknown | None:
    """That a sample of the capture is of another number of CPUs than its mean: a mean of both is of no machine.

    All modes and the idle time of one moment add up to the CPUs that were active then.
    """
    sums = {name: total / 100 for name in MOMENTS if (total := _total(facts.latest(ProcessorModes, statistic=name)))}
    mean = sums.pop("mean", None)
    for name, count in sums.items():
        if mean is not None and name != "current" and abs(count - mean) >= max(OTHER_COUNT, OTHER_SHARE * mean):
            why = (
                f"the number of CPUs changed within the capture: the modes add up to {count:.0f} CPUs in the sample "
                f"{name} and to {plain(mean, 2)} on average, so no figure of the whole time is of one machine"
            )
            lacking = MissingInput(
                "captures of one number of CPUs each", "a T4 composite CSV of the time with each number of CPUs"
            )
            return Unknown((lacking,), why)
    return None


def _total(modes: ProcessorModes | None) -> float | None:
    """All modes and the idle time of one moment; `None` where one is missing."""
    if modes is None:
        return None
    values = [value for mode in (*MODES, "idle") if known(value := getattr(modes, f"{mode}_percent"))]
    return sum(values) if len(values) == len(MODES) + 1 else None


def _busy(modes: ProcessorModes) -> float | None:
    """All modes of one moment, capped at what the CPUs have; `None` where one is missing."""
    readings: list[Reading] = [getattr(modes, f"{mode}_percent") for mode in MODES]
    values = [value for value in readings if known(value)]
    if len(values) < len(MODES) or not known(modes.cpus) or modes.cpus < 1:
        return None
    return min(sum(values), 100 * modes.cpus)
