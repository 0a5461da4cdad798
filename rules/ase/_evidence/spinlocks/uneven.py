"""Whether a few rows of a spinlock cause its contention: one hot page or bucket, which no larger number spreads.

What is hot lies under one spinlock, however many there are: a hot page stays in one partition of its cache, a hot
descriptor or bucket under one spinlock of its table. The vendor names latch requests for one page that show as cache
spinlock contention on one partition (New Features 16.0); so the rows are compared before their number is raised.
"""

from dataclasses import dataclass

from collectors.facts import Facts, known
from collectors.facts.ase import MonSpinlockActivity
from rules.ase._evidence.spinlocks.monitored import Spinlock, spinlock_named
from rules.finding import Evidence

UNEVEN_TIMES = 5.0
"""This project: waits of a hot row against the mean of the others. On an evenly used cache of eight partitions of a
healthy 16.0 benchmark the hottest and the coldest row were three times apart."""
MOST_WAITS = 0.5
"""This project: of all waits; with less in the hot rows the others are the larger part of the contention."""


@dataclass(frozen=True)
class Uneven:
    """The rows that cause the contention of a spinlock, held against the others."""

    lock: Spinlock
    hot: tuple[MonSpinlockActivity, ...]

    def _share(self, field: str, whole: float) -> float:
        return 100.0 * _sum(self.hot, field) / whole if whole else 0.0

    @property
    def waits_share(self) -> float:
        """Their share of all waits, per cent."""
        return self._share("waits", self.lock.waits)

    @property
    def grabs_share(self) -> float:
        """Their share of all grabs, per cent."""
        return self._share("grabs", self.lock.grabs)

    @property
    def others_percent(self) -> float:
        """Contention of the other rows together, per cent."""
        grabs = self.lock.grabs - _sum(self.hot, "grabs")
        return 100.0 * (self.lock.waits - _sum(self.hot, "waits")) / grabs if grabs else 0.0

    @property
    def hot_ones(self) -> str:
        """How many of the rows have how many of the waits, as a clause for a title too."""
        number, rows = len(self.hot), len(self.lock.rows)
        return (
            f"{number} of its {rows} spinlocks {'has' if number == 1 else 'have'} {self.waits_share:.0f} % of the waits"
        )

    @property
    def says(self) -> str:
        """The rows against the others, as the beginning of a sentence."""
        return (
            f"{self.hot_ones} and {self.grabs_share:.0f} % of the grabs, the others together are "
            f"{self.others_percent:.1f} % contended"
        )

    @property
    def evidence(self) -> tuple[Evidence, ...]:
        """The shares as figures."""
        where, number = self.hot[0].source, f"{len(self.hot)} of {len(self.lock.rows)} rows of {self.lock.name}"
        return (
            Evidence(f"waits of {number}", round(self.waits_share, 1), "% of all waits", where),
            Evidence(f"grabs of {number}", round(self.grabs_share, 1), "% of all grabs", where),
        )


def uneven(lock: Spinlock | None, goal_percent: float) -> Uneven | None:
    """The few rows that cause the contention; `None` where the rows are alike, or one row stands for all of them.

    They are at most half of the rows, each with five times the waits of the others' mean, and they have most of the
    waits, or so many that `goal_percent` of all grabs would wait if the others did not at all.
    """
    if lock is None or len(lock.rows) < 2 or not lock.waits or not lock.grabs:
        return None
    rows = sorted(lock.rows, key=lambda row: -_waits(row))
    for number in range(1, len(rows) // 2 + 1):
        hot, others = rows[:number], rows[number:]
        mean = sum(_waits(row) for row in others) / len(others)
        if _waits(hot[-1]) < UNEVEN_TIMES * mean:
            continue
        waits = _sum(hot, "waits")
        if waits >= MOST_WAITS * lock.waits or 100.0 * waits / lock.grabs >= goal_percent:
            return Uneven(lock, tuple(hot))
    return None


def uneven_caches(facts: Facts, names: list[str], goal_percent: float, least_percent: float) -> list[Uneven]:
    """The data caches over `least_percent` in one row that few partitions cause, over an interval."""
    found = [uneven(_lock(facts, name), goal_percent) for name in names]
    return [one for one in found if one and (one.hot[0].waited_percent or 0.0) >= least_percent]


def _lock(facts: Facts, name: str) -> Spinlock | None:
    lock = spinlock_named(facts, name)
    return lock if lock and lock.of_interval else None


def _waits(row: MonSpinlockActivity) -> float:
    return row.waits if known(row.waits) else 0.0


def _sum(rows: tuple[MonSpinlockActivity, ...] | list[MonSpinlockActivity], field: str) -> float:
    return sum(value for row in rows if known(value := getattr(row, field)))
