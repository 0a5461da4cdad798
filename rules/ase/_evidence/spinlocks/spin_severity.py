"""How loud a finding about a spinlock of SAP ASE may be, by what its spins can cost.

The one place for all rules about spinlocks. The share of the grabs that waited says that somebody waited; the spins say
what it cost. Where they are known they decide. What one spin costs is in no source, so nothing is said of the time they
did take: only of the time they can have taken at most. Two bounds hold at once, and the smaller counts: each turn takes
at most 100 ns, and a spinlock with a tenth of all spins takes at most a tenth of the time that the engines were busy.

Under 1 % of the engines' time nothing measurable is lost, so the finding is a note and changes nothing, whatever the
share; but where busy engines do most of their spinning there it is advice, if its lever is cheap: such a spinlock is
the first to cost something when the load grows. Only from 10 % on can it be critical. Both are ceilings, because the
bound is one: between them the share decides how loud it is, up to a warning. Most of all spins on busy engines, and a
tenth of their time at stake, make a finding a warning whatever the share.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from collectors.facts import Facts, known
from collectors.facts.ase import MonSpinlockActivity
from rules.ase._evidence.server import Engines, engines_of
from rules.ase._evidence.spinlocks.figures import Figure
from rules.ase._evidence.spinlocks.monitored import SCHEDULER, Spinlock, share_in_words, spinlocks_by_name
from rules.ase._evidence.spinlocks.names import plain_name
from rules.finding import Evidence, Severity
from rules.laws.spinlocks import engine_time_percent

NOTHING_PERCENT, CRITICAL_PERCENT = 1.0, 10.0
"""This project, of the engines' time at most: under the first nothing measurable is lost, from the second on it may be
critical."""
SLIGHT_PERCENT = 0.25
"""This project, of the engines' time at most: four times the load of such a spinlock may be measurable."""
MOST_PERCENT = 50.0
"""This project: of the spins outside the scheduler's queues; more than all other spinlocks together."""
BUSY_PERCENT = 70.0
"""Practice: threads busier than this want relief (justdaveinfo, magic numbers)."""

GROWS = "Expect little of it today; but busy engines spin here most of all, and will more as the load grows."
"""Why the lever of such a spinlock is named: where it is cheap, or is left to a restart that comes anyway."""


@dataclass(frozen=True)
class SpinBound:
    """What one spinlock's spins can have cost at most."""

    lock: Spinlock
    percent: float
    """Of the time of all engines that are online, at most."""
    engines: int | None
    """Engines online; `None` where no export counts them."""
    busy_percent: float | None
    """How busy they were in that interval; `None` where no export says."""
    most: bool
    """Whether it has most of all spins outside the scheduler's queues."""

    @property
    def nothing(self) -> bool:
        """Whether nothing measurable can have been lost."""
        return self.percent < NOTHING_PERCENT

    @property
    def grows(self) -> bool:
        """Whether it costs next to nothing, yet has most of the spins of busy engines: the first to grow with load."""
        return self.nothing and self._rated and self.percent >= SLIGHT_PERCENT and self.most

    @property
    def dominates(self) -> bool:
        """Whether busy engines may lose a tenth of their time to it, and it has most of the spins."""
        return self.most and self.costly

    @property
    def costly(self) -> bool:
        """Whether busy engines may lose a tenth of their time to it.

        Only of an interval with times and engines that are counted: nothing less shows a rate.
        """
        return self._rated and self.percent >= CRITICAL_PERCENT

    @property
    def _rated(self) -> bool:
        """Whether it is a rate, of an interval with times and of engines that are counted and busy."""
        busy = self.busy_percent is not None and self.busy_percent >= BUSY_PERCENT
        return busy and self.lock.of_interval and bool(self.lock.seconds and self.engines)

    def severity(self, by_share: Severity) -> Severity:
        """The severity by its spins, where `by_share` is what its share and its use say alone."""
        if self.nothing:
            return Severity.NOTE
        ceiling = Severity.WARNING if self.percent < CRITICAL_PERCENT else Severity.CRITICAL
        least = Severity.WARNING if self.dominates else Severity.NOTE
        return max(min(by_share, ceiling), least)

    @property
    def says(self) -> str:
        """The bound as a sentence, with what it is made of; a mean since boot, empty where nothing says since when."""
        if not self.lock.of_interval:
            return self._since_boot
        if self.nothing:
            return (
                f"Its spins cannot have taken {NOTHING_PERCENT:g} % of the engines' time: nothing measurable is lost."
            )
        taken = f"{self.percent:.1f} % of the engines' time"
        if self.engines:
            taken = f"the time of {self.engines * self.percent / 100:.1f} of {self.engines} engines"
        return f"Its spins took at most {taken} (100 ns a turn, and no more than its share of the busy time)."

    @property
    def _since_boot(self) -> str:
        """Spread over the time since boot: nights and weekends are in it, so it rules no hour out."""
        if not self.lock.seconds:
            return ""
        whose = "the engines' time" if self.engines else "one engine's time"
        taken = f"at most {share_in_words(self.percent)} % of {whose} (100 ns a turn)"
        return f"Spread over the time since boot, its spins took {taken}."

    @property
    def evidence(self) -> Evidence:
        """The bound as a figure; computed from the spins in the line it names."""
        rated = self.lock.of_interval or self.lock.seconds
        metric = f"{self.lock.name} spins, at most of the engines' time" if rated else f"{self.lock.name} spins, of all"
        return Evidence(metric, round(self.percent, 2), "%", self.lock.source, NOTHING_PERCENT)


def spin_bound(facts: Facts, lock: Spinlock | None, engines: Engines | None = None) -> SpinBound | None:
    """The bound of one spinlock; `None` where no export has its spins: then its share decides alone.

    Since boot it is a mean over nights and weekends, of at least one engine: it excuses no hour, but where even it is
    next to nothing, nothing shows that any hour costs more. `engines`: those of another export than the one that counts
    first.
    """
    if lock is None or not any(known(row.spins) for row in lock.rows):
        return None
    engines = engines or engines_of(facts, interval=lock.of_interval)
    busy = engines.busy_percent if lock.of_interval else None
    percent = (lock.spins_share or 0.0) * (100.0 if busy is None else min(busy, 100.0)) / 100.0
    rate = lock.rate(lock.spins)
    number = engines.number or (None if lock.of_interval else 1)
    if rate is not None and number:
        percent = min(percent, engine_time_percent(rate, number))
    return SpinBound(lock, percent, engines.number, busy, most=_most(facts, lock))


def little_of(facts: Facts, figures: Sequence[Figure], under_percent: float) -> float | None:
    """What the spins of all of these took at most, per cent of the engines' time; `None` where that is no little.

    Where the spins of one are not known, or not of an interval with engines that are counted, it is not known.
    """
    bounds = [spin_bound(facts, one.lock) for one in figures]
    if not bounds or any(one is None or not one.lock.of_interval or not one.engines for one in bounds):
        return None
    percent = sum(one.percent for one in bounds if one)
    return percent if percent < under_percent else None


def severity_of(facts: Facts, lock: Spinlock | None, by_share: Severity) -> Severity:
    """The severity of a finding about this spinlock; `by_share` where no export has its spins."""
    bound = spin_bound(facts, lock)
    return bound.severity(by_share) if bound else by_share


def _most(facts: Facts, lock: Spinlock) -> bool:
    """Whether it has most of the spins; queues of the threaded kernel spin much by nature and are not counted."""
    if plain_name(lock.name) in SCHEDULER:
        return False
    everything = facts.once(MonSpinlockActivity, _spins_outside_queues)
    return everything > 0 and 100.0 * lock.spins >= MOST_PERCENT * everything


def _spins_outside_queues(facts: Facts) -> float:
    """Spins of every spinlock that is no queue of the scheduler: added up once for all that ask."""
    return sum(one.spins for one in spinlocks_by_name(facts).values() if plain_name(one.name) not in SCHEDULER)
