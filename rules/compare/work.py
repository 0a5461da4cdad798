"""What a unit of work is, and how many of them a capture did: the first kind that both sides counted."""

from collections.abc import Sequence
from dataclasses import dataclass

from rules.figures import KeyFigure


@dataclass(frozen=True)
class Unit:
    """A kind of work: the key figure that counts it, its name, and per how many of them figures are given."""

    key: str
    name: str
    per: int = 1
    plural: str = ""
    proxy: bool = False
    """Whether it only stands for the work where no transactions are counted: another plan changes it, too."""

    @property
    def many(self) -> str:
        """`committed transactions`."""
        return self.plural or f"{self.name}s"

    @property
    def said(self) -> str:
        """`committed transaction`, `1,000 lock operations`."""
        return f"{self.per:,} {self.many}" if self.per > 1 else self.name


UNITS = (
    Unit("ase.xacts", "committed transaction"),
    Unit("ase.transactions", "transaction as monState counts them", plural="transactions as monState counts them"),
    Unit("rdb.transactions:", "transaction"),
    Unit("openvms.lock_operations", "lock operation", 1000),
    Unit("ase.lock_requests", "lock request", 1000),
    Unit("ase.cache_searches", "search of a data cache", 1000, plural="searches of data caches", proxy=True),
    Unit("ase.rows_changed", "changed row", 1000, proxy=True),
)
"""In order of preference. The last ones stand for work that nobody counted: a better plan changes searches, and readers
change no rows. So spins alone are judged by them, and only where they moved the same way by each of them.

Of Rdb only where a capture counts one database's transactions: of several no one is the work of the node. Lock
operations are counted in thousands: a node does hundreds of thousands a second.
"""
PROXIES = tuple(unit for unit in UNITS if unit.proxy)
FIGURES_OF_UNIT = frozenset(unit.key for unit in UNITS)


@dataclass(frozen=True)
class Work:
    """So many units per second, of which figure."""

    unit: Unit
    key: str
    per_second: float


def common_work(before: Sequence[KeyFigure], after: Sequence[KeyFigure]) -> tuple[Work, Work] | None:
    """The work of both sides in the first unit that both counted; `None` where there is none."""
    for unit in UNITS:
        first, second = _counted(unit, before), _counted(unit, after)
        if first and second and first.key == second.key and first.per_second > 0 and second.per_second > 0:
            return first, second
    return None


def _counted(unit: Unit, figures: Sequence[KeyFigure]) -> Work | None:
    if unit.key.endswith(":"):
        found = [one for one in figures if one.key.startswith(unit.key)]
        found = found if len(found) == 1 else []
    else:
        found = [one for one in figures if one.key == unit.key]
    return Work(unit, found[0].key, found[0].value) if found else None
