"""Which programs are behind a statement or a table of SAP ASE: the sessions that ran it or read it, by their program.

`monProcessObject` is the only table that ties a session to a table, and shows running statements alone;
`monSysStatement` ties a session to a statement that ended. Who a session is, `monProcess` says while it is connected.
The names are what a client calls itself: they are hostile until quoted.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from collectors.facts import Fact, Facts, Source, known
from collectors.facts.ase import MonProcess, MonProcessActivity, MonProcessLookup, MonProcessObject, MonSysStatement
from rules.ase._evidence.objects.seen import place_of
from rules.changes.quoting import comment
from rules.finding import Evidence

SESSION_FACTS: tuple[type[Fact], ...] = (MonProcess, MonProcessObject, MonSysStatement)
NAMED = 5
"""Programs that are named."""
LONGEST = 60
"""Characters of a name that are shown."""
Session = tuple[int | None, int | None]
"""SPID and KPID: a SPID is given to another session after a while."""
Client = MonProcess | MonProcessActivity | MonProcessLookup
"""What says which program a session is of."""
Table = tuple[str | None, str | None]
"""Database and name."""


@dataclass(frozen=True)
class Program:
    """Sessions of one program and login."""

    application: str
    """As the client calls itself, quoted; empty: it says nothing."""
    login: str
    """Quoted."""
    sessions: tuple[Session, ...]
    reads: float | None
    """Logical reads of the tables by their running statements; `None` where only ended statements tie them."""
    source: Source

    @property
    def name(self) -> str:
        """Program and login in words."""
        if not self.application:
            return f"login {self.login}" if self.login else "a program that is not named"
        return f"{self.application}{f' (login {self.login})' if self.login else ''}"


def reading(facts: Facts, tables: Collection[Table]) -> dict[Session, list[MonProcessObject]]:
    """The sessions whose running statement read one of these tables, with the rows that say so."""
    wanted = {(database, name) for database, name in tables if database and name}
    found: dict[Session, list[MonProcessObject]] = {}
    for row in facts.every(MonProcessObject):
        if place_of(facts, row) in wanted:
            found.setdefault((row.spid, row.kpid), []).append(row)
    return found


def programs(facts: Facts, tables: Collection[Table], statements: Collection[int] = ()) -> list[Program]:
    """The programs whose sessions read these tables at this moment, or ended one of these statements; most reads first.

    `statements`: SSQLIDs. Sessions that `monProcess` does not know are left out: they ended, or it was not collected.
    """
    readers = reading(facts, tables)
    ran = {
        (row.spid, row.kpid)
        for row in facts.every(MonSysStatement)
        if row.statement and row.statement in statements and row.spid is not None
    }
    return programs_of(facts, dict.fromkeys((*readers, *sorted(ran, key=str))), readers)


def programs_of(
    facts: Facts,
    sessions: Collection[Session],
    readers: Mapping[Session, list[MonProcessObject]] | None = None,
    who: Mapping[Session, Client] | None = None,
) -> list[Program]:
    """The programs of these sessions, most reads by `readers` first; those that nothing knows are left out.

    `who`: what knows them; `None`: `monProcess`.
    """
    who = {(row.spid, row.kpid): row for row in facts.every(MonProcess)} if who is None else who
    groups: dict[tuple[str, str], list[Session]] = {}
    for session in sessions:
        if process := who.get(session):
            groups.setdefault((_said(process.application), _said(process.login)), []).append(session)
    found = [
        Program(application, login, tuple(mine), _reads(readers or {}, mine), who[mine[0]].source)
        for (application, login), mine in groups.items()
    ]
    return sorted(found, key=lambda one: (-(one.reads or 0.0), -len(one.sessions), one.name))


def say_spids(sessions: Collection[Session]) -> str:
    """The SPIDs of sessions as a person writes them: `60 to 75`, `3, 9, 12, …`."""
    spids = sorted(spid for spid, _ in sessions if spid is not None)
    row = len(spids) > 2 and spids[-1] - spids[0] == len(spids) - 1
    return f"{spids[0]} to {spids[-1]}" if row else ", ".join(map(str, spids[:3])) + (", …" if spids[3:] else "")


def evidence_of(found: list[Program]) -> Iterator[Evidence]:
    """The first programs, each with the number of its sessions and what they read, where that was counted."""
    for one in found[:NAMED]:
        count = Evidence(f"sessions of {one.name} that read or ran it", len(one.sessions), "", one.source)
        yield count
        if one.reads is not None:
            yield Evidence(f"logical reads of it by {one.name}, running now", one.reads, "pages", one.source)


def _reads(readers: Mapping[Session, list[MonProcessObject]], sessions: list[Session]) -> float | None:
    rows = [row for session in sessions for row in readers.get(session, ())]
    counts = [row.logical_reads for row in rows if known(row.logical_reads)]
    return sum(counts) if counts else None


def _said(name: str | None) -> str:
    flat = comment(" ".join((name or "").split()), LONGEST)
    return f'"{flat}"' if flat else ""
