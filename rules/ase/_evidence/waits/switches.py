"""Why tasks of SAP ASE gave up their engine, by sp_sysmon: `Task Context Switches Due To`.

It counts switches and no time, so it says how often something held work up, never for how long. Held against all
switches, and against those that something held up: without voluntary yields, packets received and network services,
where a task has used its time or a client thinks (knowledge/ase-waits-caches.md, 2).
"""

from dataclasses import dataclass

from collectors.facts import OVERFLOW, Fact, Facts, Source, known
from collectors.facts.ase import SysmonSample, TaskSwitches
from rules.finding import Evidence, Untrusted

SWITCH_FACTS: tuple[type[Fact], ...] = (TaskSwitches, SysmonSample)
NOT_HELD_UP = ("Voluntary Yields", "Network Packet Received", "Network services")


@dataclass(frozen=True)
class Switches:
    """Task switches due to one cause."""

    cause: str
    percent: float
    """Of all task switches, as printed."""
    count: float | None
    per_second: float | None
    held_percent: float | None
    """Of the switches that something held up; `None` where not every count was printed, or nothing held these up."""
    source: Source

    @property
    def says(self) -> str:
        """The figures as a sentence without its end."""
        held = f", {self.held_percent:.0f} % of those that something held up" if self.held_percent is not None else ""
        rate = f", {self.per_second:,.1f} a second" if self.per_second is not None else ""
        return f"{self.percent:g} % of all task switches were due to {self.cause}{held}{rate}"

    def evidence(self, limit: float) -> Evidence:
        """The share with its line."""
        return Evidence(self.cause.lower(), self.percent, "% of task switches", self.source, limit)

    def held_evidence(self, limit: float) -> Evidence:
        """The share of those that something held up, with the line of the cause."""
        share, unit = round(self.held_percent or 0.0, 1), "% of the task switches that something held up"
        how = "without voluntary yields, packets received and network services"
        return Evidence(self.cause.lower(), share, unit, self.source, limit, computed=how)


def switches_of(facts: Facts, cause: str) -> Switches | Untrusted | None:
    """Task switches due to one cause; `None` where the row was not printed."""
    rows = {one.cause: one for one in facts.every(TaskSwitches)}
    own = rows.get(cause)
    if own is None:
        return None
    if OVERFLOW in (own.count, own.percent):
        return Untrusted(f"{cause}: a count is printed as asterisks")
    counts = {name: one.count for name, one in rows.items() if known(one.count)}
    shares = [own.percent] if known(own.percent) else []
    if any(count < 0 for count in counts.values()) or any(not 0 <= share <= 100 for share in shares):
        return Untrusted(f"{cause}: a count or share of task switches is impossible")
    if not shares:
        return None
    whole = len(counts) == len(rows) and all(name in counts for name in NOT_HELD_UP)
    held = sum(count for name, count in counts.items() if name not in NOT_HELD_UP)
    count = counts.get(cause)
    seconds = next((one.seconds for one in reversed(facts.every(SysmonSample)) if one.seconds), None)
    rate = own.per_second if known(own.per_second) else count / seconds if count is not None and seconds else None
    among = whole and held and cause not in NOT_HELD_UP
    share = 100.0 * count / held if among and count is not None else None
    return Switches(cause, shares[0], count, rate, share, own.source)
