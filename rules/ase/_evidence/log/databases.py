"""Whose log it is that tasks wait for, by two readings of `monOpenDatabases`.

AppendLogRequests counts requests for the semaphore of one database's log, AppendLogWaits those that waited; their
quotient is what practitioners plot (DbxTune; knowledge/ase-waits-caches.md, 12).
"""

from dataclasses import dataclass

from collectors.facts import Fact, Facts, known
from collectors.facts.ase import MonOpenDatabases
from rules.changes.quoting import comment
from rules.finding import Evidence

DATABASE_FACTS: tuple[type[Fact], ...] = (MonOpenDatabases,)
"""What a rule declares that asks for it."""
MOST_PERCENT = 50.0
"""This project: a database is named as the one where it has more than half of all waits, or requests."""


@dataclass(frozen=True)
class Appended:
    """Requests for the end of one database's log over the interval."""

    row: MonOpenDatabases
    requests: float
    waits: float

    @property
    def percent(self) -> float:
        """Share of its requests that waited."""
        return 100.0 * self.waits / self.requests if self.requests else 0.0

    @property
    def name(self) -> str:
        """Of the database, as it may stand in a text."""
        return comment(self.row.database)

    @property
    def being_dumped(self) -> bool:
        """Whether it was dumped when the later snapshot was taken."""
        return known(self.row.backup) and self.row.backup > 0


def appended(facts: Facts) -> list[Appended]:
    """Every database whose requests can be believed, the one with most waits first."""
    found = []
    rows = {(one.instance, one.database): one for one in facts.every(MonOpenDatabases) if one.of_interval}
    for row in rows.values():
        asked, waited = row.append_requests, row.append_waits
        if row.believed and known(asked) and known(waited) and 0 <= waited <= asked and asked > 0:
            found.append(Appended(row, asked, waited))
    return sorted(found, key=lambda one: (-one.waits, -one.requests, one.row.database))


@dataclass(frozen=True)
class Most:
    """The database that has more than half of what tasks wait for at the ends of logs."""

    first: Appended
    percent: float
    of_waits: bool
    """Whether of the waits; else, where nobody waited, of the requests."""

    @property
    def says(self) -> str:
        """Name it as a sentence."""
        one, what = self.first, "waits for" if self.of_waits else "requests to append to"
        dumped = ", which was being dumped" if one.being_dumped else ""
        return (
            f"{self.percent:.0f} % of the {what} the end of a log are of {one.name}{dumped}: {one.waits:,.0f} of its "
            f"{one.requests:,.0f} requests waited ({one.percent:.1f} %)."
        )

    @property
    def evidence(self) -> list[Evidence]:
        """Its figures."""
        one = self.first
        return [
            Evidence(f"requests to append to the log of {one.name}", one.requests, "", one.row.source),
            Evidence(f"those that waited for the log of {one.name}", one.waits, "", one.row.source),
        ]


def most_of(facts: Facts) -> Most | None:
    """The database whose log it is; `None` where no export tells, or no one has more than half."""
    rows = appended(facts)
    waits, requests = sum(one.waits for one in rows), sum(one.requests for one in rows)
    if not rows:
        return None
    if waits:
        share = 100.0 * rows[0].waits / waits
        return Most(rows[0], share, of_waits=True) if share > MOST_PERCENT else None
    first = max(rows, key=lambda one: one.requests)
    share = 100.0 * first.requests / requests
    return Most(first, share, of_waits=False) if share > MOST_PERCENT else None
