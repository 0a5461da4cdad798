"""What the waits for a spinlock can cost where no export has their spins: a bound by their number.

sp_sysmon prints a share, and for data caches and lock hash tables how often they are used. Share times use is how many
waited; a wait takes some turns of the waiting loop at most, each of 100 ns. Nothing is said of averages since boot, nor
of a lockless cache, whose waits are no turns of this loop. Not true where the host takes the processor of the engine
that holds the spinlock (ase/host_takes_processor).
"""

from dataclasses import dataclass

from collectors.facts import Facts, known
from rules.ase._evidence.server import busy_of
from rules.ase._evidence.spinlocks.cas import CAS_GRABS
from rules.ase._evidence.spinlocks.figures import Figure
from rules.ase._evidence.spinlocks.spin_severity import NOTHING_PERCENT
from rules.finding import Evidence, Severity
from rules.laws.spinlocks import engine_time_percent

CACHE_TURNS, LOCK_TURNS = 150.0, 1000.0
"""This project: turns of the waiting loop a wait takes at most on up to 8 engines, at 100 ns each. On the 8 busy
engines of a 16.0 benchmark 134 were measured at the hottest partition of a data cache and 744 at the page and row lock
hash table; practice calls more than 100 to 200 too many (DbxTune)."""
MEASURED_ENGINES = 8
"""Where more engines may wait in front of one, a wait may take more turns in the same proportion (this project)."""
LITTLE_PERCENT = 3.0
"""Of the engines' time at most: under it a finding is advice, as the engine of the rules has it for a cost that is
known (this project). From it on the number of waits says nothing: how long they are is only bounded by other servers'
figures, so the share decides."""
CEILINGS = ((NOTHING_PERCENT, Severity.NOTE), (LITTLE_PERCENT, Severity.ADVICE))


@dataclass(frozen=True)
class Kind:
    """What one wait of a family of spinlocks can take."""

    turns: float
    measured: str
    grabs: float = 1.0
    """Of the spinlock for each use that sp_sysmon counts: a lock is taken and given back."""


CACHE = Kind(CACHE_TURNS, "134 were measured at a hot partition")
LOCKS = Kind(LOCK_TURNS, "744 were measured at a page and row lock hash table", grabs=2.0)
KINDS = {"cache": CACHE, "address": LOCKS, "page and row": LOCKS, "table": LOCKS}


@dataclass(frozen=True)
class WaitBound:
    """What the waits for one spinlock can have cost at most."""

    figure: Figure
    kind: Kind
    turns: float
    """Of one wait at most, on so many engines."""
    per_second: float
    """Waits."""
    percent: float
    """Of the time of all engines that are online, at most."""

    @property
    def nothing(self) -> bool:
        """Whether nothing measurable can have been lost."""
        return self.percent < NOTHING_PERCENT

    def severity(self, by_share: Severity) -> Severity:
        """The most that a finding may be, where `by_share` is what its share and its use say alone."""
        return min(by_share, next((most for under, most in CEILINGS if self.percent < under), by_share))

    @property
    def says(self) -> str:
        """The bound as a sentence, with what it is made of; empty where it leaves all open."""
        if self.percent >= LITTLE_PERCENT:
            return ""
        each = "" if self.figure.lock or self.kind.grabs == 1 else f", {self.kind.grabs:g} grabs for each use"
        said = (
            f"That is {self.per_second:,.0f} waits per second{each}: at up to {self.turns:g} turns of 100 ns each "
            f"(this project's bound; {self.kind.measured} on 8 engines) at most {self.percent:.2f} % of the engines' "
            "time"
        )
        if not self.nothing:
            return f"{said}."
        return f"{said}, under {NOTHING_PERCENT:g} %: nothing measurable is lost, and no restart is worth it."

    @property
    def evidence(self) -> tuple[Evidence, ...]:
        """The bound as a figure, computed from the share and the use; none where it leaves all open."""
        metric = f"{self.figure.label} waits, at most of the engines' time"
        bound = Evidence(metric, round(self.percent, 2), "%", self.figure.source, NOTHING_PERCENT)
        return (bound,) if self.percent < LITTLE_PERCENT else ()


def wait_bound(facts: Facts, figure: Figure) -> WaitBound | None:
    """The bound of one figure; `None` where its waits, or the engines, are not known.

    One figure for all partitions counts the waits of the hottest too, so the bound holds for them together.
    """
    kind = KINDS.get(figure.family)
    engines, _ = busy_of(facts, interval=figure.of_interval)
    most = figure.most_per_second if known(figure.most_per_second) else figure.per_second
    if not kind or not engines or figure.since_boot or figure.uses.startswith(CAS_GRABS):
        return None
    if not known(most) or not known(figure.contention):
        return None
    waits = most * (1.0 if figure.lock else kind.grabs) * figure.contention / 100.0
    turns = kind.turns * max(1.0, engines / MEASURED_ENGINES)
    return WaitBound(figure, kind, turns, waits, engine_time_percent(waits * turns, engines))


def costs_nothing(facts: Facts, figure: Figure) -> str:
    """That so few waits cost nothing measurable, as a sentence; empty where they may, or where that is not known."""
    bound = wait_bound(facts, figure)
    return bound.says if bound and bound.nothing else ""
