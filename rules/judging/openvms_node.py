"""What rules about one OpenVMS node have in common: its name, its system parameters, its highest levels."""

from collections.abc import Sequence

from collectors.facts import OVERFLOW, Facts, Reading, Source, known
from collectors.facts.openvms import LockDatabase, LockRates, Node, SysgenParameter
from rules.finding import Lacking, Outcome, Unknown, Untrusted

READS = (Node, SysgenParameter, LockDatabase, LockRates)
"""What a rule that uses this module has to declare."""

LEVELS = "a T4 collection of a busy day (composite .csv), or MONITOR LOCK"
USE = (
    "SYSGEN SHOW prints the active value, or the current one (that of the next boot) after USE CURRENT; where a change "
    "waits for a reboot they differ: look at both before changing anything."
)


def node_name(facts: Facts) -> str | None:
    """The node's name, where a display gives it."""
    named = [node.name for node in facts.every(Node) if node.name]
    return named[-1] if named else None


def subject_of(facts: Facts) -> str:
    """The node, or what to call it."""
    return node_name(facts) or "node"


def parameter_of(facts: Facts, name: str, low: float, high: float) -> tuple[float, SysgenParameter] | Outcome:
    """The value of a numeric system parameter with its fact, or the outcome where there is none to judge by."""
    bring = Unknown((Lacking(name, f"MCR SYSGEN SHOW {name}"),), f"{name}: not in the export")
    found = [one for one in facts.every(SysgenParameter) if one.name == name]
    here = [one for one in found if one.node is not None and one.node == node_name(facts)] or found
    if len({one.node for one in here}) > 1 and len({one.current for one in here}) > 1:
        return Unknown((Lacking(name, f"MCR SYSGEN SHOW {name} of this node alone"),), f"{name}: of several nodes")
    if not here:
        return bring
    value = here[-1].current
    if value is OVERFLOW or isinstance(value, str):
        return Untrusted(f"{name}: {value if isinstance(value, str) else 'asterisks'} is no number")
    if not known(value):
        return bring
    if not low <= value <= high or value != int(value):
        return Untrusted(f"{name} {value:g} is outside its range, {low:,.0f} to {high:,.0f}: the listing was misread")
    return value, here[-1]


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
        return Unknown((Lacking(f"number of {field}", LEVELS),), f"{field}: not in the export")
    return highest[0], mean, highest[1]


def busiest_operations(rates: Sequence[LockRates]) -> float | None:
    """The highest lock operation rate of any statistic, or `None` where none was read."""
    read = (one.operations_per_second for one in rates)
    return max((rate for rate in read if rate is not None and rate >= 0), default=None)
