"""Which processes have most of something, by the columns `[MON.PROC]` of T4: seven for each mask of process names.

Source of their headings: knowledge/openvms-formats.md. What unit they have no source tells: only shares are made of
them, and a rate only where it is held against one of the whole node. A mask of `*` alone is all processes, and is left
out. Masks may overlap, so one of them can be named and none added to another.
"""

from dataclasses import dataclass

from collectors.facts import Facts, Source, known
from collectors.facts.openvms import T4Column
from rules.changes.quoting import comment
from rules.finding import Evidence

CPU_TIME, PAGE_FAULTS, COUNT = " CpuTim", " PgFlts", " ProcCount"
"""How T4 ends the heading of a column."""
MOST_OF = 50.0
"""Per cent, this project: more than half of it is most."""


@dataclass(frozen=True)
class Masked:
    """The processes of one mask with more than half of what all masks have."""

    name: str
    value: float
    """The mean of its column."""
    share: float
    """Per cent of the sum of these columns."""
    count: float | None
    """How many processes, on average; `None`: not read."""
    source: Source

    @property
    def share_read(self) -> Evidence:
        """Its share of the CPU time."""
        return Evidence(
            f"CPU time of the processes {self.name}",
            round(self.share, 1),
            "% of what T4 lists by process",
            self.source,
            computed="from the means of these columns",
        )

    @property
    def said(self) -> str:
        """The mask, and how many processes."""
        return f"{self.name} ({self.count:.0f} processes)" if self.count and self.count >= 2 else self.name


def most_of(facts: Facts, what: str, *, alone: bool = False) -> Masked | None:
    """The mask that has most of a column; `None` where none has more than half. `alone`: one that is listed is enough.

    Declares `T4Column`.
    """
    every = {one.name: one for one in facts.every(T4Column) if one.group == "MON.PROC" and known(one.mean)}
    listed = {name: one for name, one in every.items() if name.endswith(what) and name.removesuffix(what) != "*"}
    values = {name: one.mean for name, one in listed.items() if known(one.mean)}
    most, total = max(values, key=lambda name: values[name], default=""), sum(values.values())
    if (len(values) < 2 and not alone) or not values or values[most] * 100 <= total * MOST_OF:
        return None
    mask = most.removesuffix(what)
    many = every.get(f"{mask}{COUNT}")
    count = many.mean if many and known(many.mean) else None
    return Masked(comment(mask, 15), values[most], 100 * values[most] / total, count, listed[most].source)


def of_node(facts: Facts, what: str, whole: float, slack: float = 1.05) -> Masked | None:
    """The same of a rate that the node has `whole`: only where it has more than half of that, and no more than all."""
    found = most_of(facts, what, alone=True)
    if found is None or not whole * MOST_OF / 100 < found.value <= whole * slack:
        return None
    return found
