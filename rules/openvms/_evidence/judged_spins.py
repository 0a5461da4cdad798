"""The time that is judged for a CPU of the lock manager's own: the whole capture, or hours that its figures hide."""

from dataclasses import dataclass

from collectors.facts import Facts, Source, known
from collectors.facts.openvms import ProcessorModes
from rules.finding import Evidence
from rules.openvms._evidence.peaks import Stretch
from rules.openvms._evidence.spinlocks import Heat, divides, half_believed, lock_manager_part, waited_for
from rules.openvms._evidence.spinning import other_time, rates_while_spinning

WHEN = {
    "mean": "On average",
    "p95": "At the 95th percentile",
    "at mp synch peak": "In the sample with most MP synch",
}


@dataclass(frozen=True)
class Spins:
    """The time that is judged: how much spins in it, and what is locked then."""

    when: str
    """The beginning of a sentence."""
    rated: str
    """The same of the lock operations."""
    statistic: str
    """What those are, in brackets."""
    synch: float
    """Per cent of one CPU."""
    operations: float | None
    evidence: tuple[Evidence, ...]
    """Of both."""
    source: Source | None
    hours: Stretch | None = None
    """Of these hours alone; `None`: of the capture."""

    def away(self, facts: Facts) -> str:
        """That the spinlock trace is of another time, as sentences; empty where it is not."""
        return other_time(facts, self.synch, self.hours)

    def heat(self, facts: Facts) -> Heat | None:
        """What a trace of this time blames."""
        return None if self.away(facts) else waited_for(facts)

    def divided(self, facts: Facts) -> Heat | None:
        """The same, of a trace that is read tentatively, too."""
        return None if self.away(facts) else divides(facts)

    def part(self, facts: Facts) -> float:
        """How much of its MP synch is the lock manager's by such a trace, 0 to 1; 1 where none divides it."""
        return lock_manager_part(facts) if self.heat(facts) else 1.0

    def doubted(self, facts: Facts) -> str:
        """What a trace of this time blames that is read tentatively, as a clause."""
        return "" if self.away(facts) else half_believed(facts)


def spins_of_hours(hours: Stretch) -> Spins:
    """What spins in hours that the figures of the capture hide."""
    operations = hours.operations or 0.0
    rate = hours.proof("lock operations then", operations, "/s")
    return Spins(hours.when, "Then", "then", hours.synch, operations, (hours.evidence, rate), hours.source, hours)


def spins_of_capture(facts: Facts, modes: ProcessorModes | None) -> Spins:
    """What spins in the whole capture; `modes`: its modes, where they were read."""
    rates = rates_while_spinning(facts)
    operations = rates.operations_per_second if rates else None
    synch = modes.mp_synch_percent if modes and known(modes.mp_synch_percent) else 0.0
    read = []
    if modes:
        read.append(Evidence(f"MP synch ({modes.statistic})", synch, "% of one CPU", modes.source))
    if rates and operations is not None:
        read.append(Evidence(f"lock operations ({rates.statistic})", operations, "/s", rates.source))
    when = WHEN[modes.statistic] if modes else ""
    rated, statistic = (WHEN[rates.statistic], rates.statistic) if rates else ("", "")
    return Spins(when, rated, statistic, synch, operations, tuple(read), modes.source if modes else None)
