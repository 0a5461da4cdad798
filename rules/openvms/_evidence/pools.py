"""The system's pools by SHOW MEMORY, in MB: one line of Dynamic Memory Usage, or the whole display of /POOL/FULL."""

from collections.abc import Sequence
from dataclasses import dataclass

from collectors.facts import Facts, Reading, Source, known
from collectors.facts.openvms import MemoryUse

NONPAGED = "Nonpaged Dynamic Memory"
UNITS = {"bytes": 1 / 2**20, "kb": 1 / 1024, "mb": 1.0, "gb": 1024.0, "pagelets": 512 / 2**20}
"""MB of each unit that the displays name."""
BY_PARAMETER = ("npagedyn", "npagevir", "pagedyn")
"""Older displays name the parameter in place of the unit, which is that of the current size then."""


@dataclass(frozen=True)
class Pool:
    """One pool at one moment, MB."""

    total: float
    free: float
    largest: float | None
    """The largest piece of it that is free."""
    most: float | None
    """How large it may get; `None` where the display does not say it."""
    source: Source


def pools_of(facts: Facts, name: str) -> list[Pool]:
    """Every display of a pool whose figures can be, in the order of the exports. Declares `MemoryUse`."""
    found: list[Pool] = []
    display: list[MemoryUse] = []
    for one in facts.every(MemoryUse):
        first = one.group.lower() == name.lower() and one.name.lower() == "current size"
        if first and any(other.name == one.name and other.unit == one.unit for other in display):
            found += _whole(display)
            display = []
        if one.group.lower() == name.lower():
            display.append(one)
        elif one.group.lower().startswith("dynamic memory") and one.name.lower() == name.lower():
            found += _line(one)
    return found + _whole(display)


def _line(one: MemoryUse) -> list[Pool]:
    unit = UNITS.get(one.unit.lower())
    total, free, largest = (_in_mb(one.figure(column), unit) for column in ("Total", "Free", "Largest"))
    return _sound(total, free, largest, None, one.source)


def _whole(display: Sequence[MemoryUse]) -> list[Pool]:
    if not display:
        return []
    sizes = [one for one in display if one.name.lower() == "current size" and one.unit.lower() != "pagelets"]
    usual = UNITS.get(sizes[0].unit.lower()) if sizes else None

    def of(label: str) -> float | None:
        """The figure of a label in MB, of two units the first that is known."""
        for one in display:
            unit = usual if one.unit.lower() in BY_PARAMETER else UNITS.get(one.unit.lower())
            if one.name.lower() == label and (value := _in_mb(one.figure("Value"), unit)) is not None:
                return value
        return None

    source = display[0].source
    return _sound(of("current size"), of("free space"), of("largest var block"), of("maximum size"), source)


def _in_mb(value: Reading, unit: float | None) -> float | None:
    return value * unit if known(value) and unit is not None else None


def _sound(
    total: float | None, free: float | None, largest: float | None, most: float | None, source: Source
) -> list[Pool]:
    """The pool, where its figures are there and can be: no more is free than there is."""
    if total is None or free is None or total <= 0 or not 0 <= free <= total:
        return []
    return [Pool(round(total, 2), round(free, 3), largest, round(most, 2) if most else None, source)]
