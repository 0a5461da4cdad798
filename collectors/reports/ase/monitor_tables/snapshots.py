"""Which rows were read at which moment: the snapshots of a run of result sets.

A time above the tables, a time in their rows, or a table that comes again begin the next snapshot.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from collectors.facts.ase import MonState, MonSysWaits, Server, Snapshot
from collectors.facts.base import NOWHERE, Fact, Source
from collectors.reports.ase.monitor_tables.blocks import Remembered
from collectors.reports.ase.monitor_tables.tables import Read

SAME_MOMENT = timedelta(seconds=10)
"""Tables whose times lie no further apart were read one after the other for one snapshot (this project's figure:
a script that asks the time before each of a dozen tables takes a few seconds)."""


@dataclass
class Moment:
    """One snapshot, as far as it is known yet; or what one answer to `select getdate()` says."""

    number: int = 0
    server: str | None = None
    taken: datetime | None = None
    in_full: bool = False
    """Whether that time was printed with its seconds."""
    booted: datetime | None = None
    cleared: datetime | None = None
    sample: int | None = None
    """Of a sample between two snapshots its number."""
    seconds: float | None = None
    """Of tables whose query made the differences: between the two copies."""
    source: Source = NOWHERE
    tables: set[str] = field(default_factory=set)

    def learn(self, other: "Moment") -> None:
        """Take over what another says."""
        self.server = other.server or self.server
        self.in_full = other.in_full if other.taken else self.in_full
        self.taken = other.taken or self.taken
        self.booted = other.booted or self.booted
        self.cleared = other.cleared or self.cleared
        self.sample = other.sample or self.sample
        self.source = other.source

    def near(self, taken: datetime | None) -> bool:
        """Whether a time is this moment's, give or take the seconds that a script takes."""
        return self.taken is not None and taken is not None and abs(self.taken - taken) <= SAME_MOMENT


class Run:
    """The snapshots of one file, and the facts of one run of its result sets."""

    def __init__(self, before: "Run | None" = None) -> None:
        """Go on where an earlier run of the same file ended, if there was one."""
        self.moments: list[Moment] = before.moments if before else []
        self.current: Moment | None = before.current if before else None
        self.asked: Moment | None = before.asked if before else None
        """The last time that was asked for, as long as no table followed it."""
        self.events: dict[int, dict[str, Any]] = before.events if before else {}
        """What `monWaitEventInfo` says of an event: fields of `MonSysWaits`."""
        self.classes: dict[int, str] = before.classes if before else {}
        self.parts: list[tuple[Moment, list[Fact]]] = []
        self.known: dict[tuple[Read, bool], Remembered] = before.known if before else {}

    def remembered(self, read: Read, *, printed: bool) -> Remembered:
        """The cells that this reader has read; `printed`: isql wrote them."""
        key = (read, printed)
        if key not in self.known:
            self.known[key] = Remembered(read, printed=printed)
        return self.known[key]

    def tell(self, clock: Moment) -> None:
        """Hear the answer to a question for the time; of several without a table between the last one counts.

        But not one that lies before the other: `@@boottime` beside no name of its own, as the present only goes on.
        """
        if self.asked and self.asked.taken and clock.taken and clock.taken < self.asked.taken:
            clock.booted, clock.taken = clock.booted or clock.taken, None
        if self.asked:
            self.asked.learn(clock)
        else:
            self.asked = clock

    def begin(self, table: str, source: Source) -> Moment:
        """Find the snapshot of a table without times of its own, whose heading stands there."""
        asked, self.asked = self.asked, None
        now = self.current
        if now is None or table in now.tables or (asked and asked.taken and not now.near(asked.taken)):
            if asked and now and asked.taken is None and table not in now.tables:
                asked = None
            now = self._new(asked or Moment(source=source))
        elif asked:
            taken, in_full, place = now.taken, now.in_full, now.source
            now.learn(asked)
            now.source = place
            if taken:
                now.taken, now.in_full = taken, in_full
        now.tables.add(table)
        self.current = now
        return now

    def at(self, table: str, taken: datetime, server: str | None, source: Source, *, in_full: bool) -> Moment:
        """Find the snapshot of rows that bear this time."""
        same = [one for one in self.moments if one.taken == taken]
        near = [one for one in self.moments if table not in one.tables and one.near(taken)]
        found = next(iter(same or near), None)
        if found is None:
            asked, self.asked = self.asked, None
            found = Moment(server=server, source=source, taken=taken, in_full=in_full)
            if asked and asked.near(taken):
                found.learn(asked)
                found.taken, found.in_full = taken, in_full
            found = self._new(found)
        found.server = found.server or server
        found.tables.add(table)
        self.current = found
        return found

    def _new(self, moment: Moment) -> Moment:
        moment.number = len(self.moments) + 1
        self.moments.append(moment)
        return moment

    def add(self, moment: Moment, facts: list[Fact]) -> None:
        """Take the facts of one table in one snapshot."""
        for fact in facts:
            if isinstance(fact, MonState):
                # of two that differ the later: a start that was seen cannot have been before the other
                moment.booted = max(filter(None, (fact.started, moment.booted)), default=None)
                moment.cleared = fact.counters_cleared or moment.cleared
        self.parts.append((moment, facts))

    def describe(self, values: dict[str, Any]) -> None:
        """Take the words of one wait event, or of one class of them."""
        number = values["event"]
        if "class_name" in values:
            self.classes[number] = values["class_name"]
        else:
            self.events[number] = {name: value for name, value in values.items() if name != "event"}

    def facts(self) -> Iterator[Fact]:
        """Everything read, each snapshot's rows behind its `Snapshot`.

        Of no table, since when the server has run, or at least which one it is: another report may follow.
        """
        if not self.parts and self.asked and self.asked.booted:
            yield self._snapshot(self.asked)
        elif not self.parts and self.asked and self.asked.server:
            yield Server(source=self.asked.source, name=self.asked.server)
        last: Moment | None = None
        for moment, facts in self.parts:
            if moment is not last:
                last = moment
                yield self._snapshot(moment)
            yield from map(self._described, facts) if self.events else facts

    @staticmethod
    def _snapshot(moment: Moment) -> Snapshot:
        return Snapshot(
            source=moment.source,
            number=moment.number,
            sample=moment.sample,
            server=moment.server,
            taken=moment.taken,
            taken_in_full=moment.in_full,
            previous=moment.taken - timedelta(seconds=moment.seconds) if moment.taken and moment.seconds else None,
            booted=moment.booted,
            counters_cleared=moment.cleared,
        )

    def _described(self, fact: Fact) -> Fact:
        said = self.events.get(fact.event) if isinstance(fact, MonSysWaits) else None
        if not said or not isinstance(fact, MonSysWaits):
            return fact
        found = {"class_name": self.classes.get(said.get("wait_class", 0)), **said}
        return replace(fact, **{name: one for name, one in found.items() if getattr(fact, name) is None})
