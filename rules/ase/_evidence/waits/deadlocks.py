"""Deadlocks of SAP ASE, each as a ring of processes: who held what the other waited for.

They are those of `monDeadLock`, else those of the last day of the error log. A row of that table is one edge of one
deadlock. It says what a process did when the deadlock was ended, which need not be the statement that took the lock.
Rows are told once to each reader, so those of all snapshots of a capture count.

Before 15.7 the table has neither names of procedures nor anything of the one who waits, but each who waits holds a lock
in the next edge, which has the number and the line of its procedure. Which of the procedures with a text in the export
that is, the order of the two tables in their transactions tells, where there is one for each order alone.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from collectors.facts import Facts, Source, known
from collectors.facts.ase import ConfigParameter, Deadlock, ProcedureText
from rules.ase._evidence.objects.seen import databases
from rules.ase._evidence.server import setting_of
from rules.ase._evidence.waits.error_log import DAY, recent
from rules.ase._evidence.waits.hot_rows import STEP
from rules.changes.quoting import comment

HOUR = timedelta(hours=1)
PAGE, SHARED, EXCLUSIVE = "page", "shared", "exclusive"
PERIOD = "deadlock checking period"


def searched_at_once(facts: Facts) -> ConfigParameter | None:
    """`deadlock checking period` where it runs with 0, by which each wait for a lock is searched at once; else `None`.

    Such a search holds the spinlocks of the lock manager often, and the vendor calls it not for production.
    """
    setting = setting_of(facts, PERIOD)
    return setting if setting and setting.run_number == 0 else None


@dataclass(frozen=True)
class Ring:
    """One deadlock."""

    number: int
    resolved: datetime | None
    edges: tuple[Deadlock, ...]
    """In the order of the ring as far as the SPIDs say it: each waits for what the next holds."""
    victim: int | None
    """SPID of the process that was rolled back; `None` where no export tells."""

    @property
    def source(self) -> Source:
        """Where its first edge stands."""
        return self.edges[0].source

    @property
    def tables(self) -> tuple[str, ...]:
        """The tables it was about, each once, in order of name."""
        return tuple(sorted({table_of(one) for one in self.edges}))

    @property
    def in_order(self) -> tuple[str, ...]:
        """The tables in the order of the ring, each once, from the first by name on."""
        once = tuple(dict.fromkeys(table_of(one) for one in self.edges))
        start = once.index(min(once))
        return once[start:] + once[:start]

    @property
    def by_pages(self) -> bool:
        """Whether every lock it was about is one of a whole page."""
        return all(PAGE in (one.held_lock or "").lower() for one in self.edges)

    @property
    def converts(self) -> bool:
        """Whether each shares a lock on the one row or page that all want for themselves: none can have it."""
        first = self.edges[0]
        where = (table_of(first), first.page, first.row)
        return (
            len(self.edges) > 1
            and known(first.page)
            and all((table_of(one), one.page, one.row) == where for one in self.edges)
            and all((one.held_lock or "").lower().startswith(SHARED) for one in self.edges)
            and all((one.waited_lock or "").lower().startswith(EXCLUSIVE) for one in self.edges)
        )

    @property
    def says(self) -> str:
        """The ring as a clause: who waited for what, edge by edge."""
        return "; ".join(say_edge(one) for one in self.edges)


def table_of(edge: Deadlock) -> str:
    """Database and table of what was waited for, fit to be shown."""
    database = edge.database or (f"db {edge.db_id}" if edge.db_id is not None else "")
    return comment(f"{database}{'..' if database else ''}{edge.object_name or 'a table not named'}")


def say_edge(edge: Deadlock) -> str:
    """Who waited for whose lock on which table, as a clause fit to be shown."""
    waits = _say_process(edge.wait_spid, edge.wait_command, edge.wait_procedure)
    holds = _say_process(edge.held_spid, edge.held_command, edge.held_procedure)
    page = f", page {edge.page:.0f}" if known(edge.page) and edge.page > 0 else ""
    return f"{waits} waited for the {comment(edge.held_lock or 'lock')} of {holds} on {table_of(edge)}{page}"


def _say_process(spid: int | None, command: str | None, procedure: str | None) -> str:
    doing = comment(", ".join(one for one in (command, procedure) if one), 60)
    return f"SPID {spid if spid is not None else '?'}" + (f" ({doing})" if doing else "")


def rings_of(facts: Facts) -> list[Ring]:
    """Every deadlock once, the latest first; those without a time last."""
    groups: dict[tuple[object, ...], dict[tuple[object, ...], Deadlock]] = {}
    for row in _rows(facts):
        edge = (row.held_spid, row.wait_spid, row.db_id, row.object_name, row.page, row.row)
        groups.setdefault((row.deadlock_id, row.resolved), {})[edge] = row
    found = [
        Ring(rows[0].deadlock_id or 0, rows[0].resolved, _in_order(_with_numbers(rows)), _victim(rows))
        for rows in (list(group.values()) for group in groups.values())
    ]
    return sorted(found, key=lambda one: (one.resolved is None, _ago(one.resolved), -one.number))


def _rows(facts: Facts) -> list[Deadlock]:
    """Those of `monDeadLock`; without any, those of the error log's last day: a log may go on for years."""
    homes = databases(facts)
    rows = [
        row if row.database or row.db_id not in homes else row.placed(row.source, database=homes[row.db_id])
        for row in facts.every(Deadlock)
    ]
    listed = [row for row in rows if not row.logged]
    if listed or not rows:
        return listed
    since = recent(facts, DAY)
    return [row for row in rows if since and row.resolved and row.resolved > since]


def _ago(when: datetime | None) -> float:
    return -(when - datetime(1970, 1, 1, tzinfo=when.tzinfo)).total_seconds() if when else 0.0


def _in_order(rows: list[Deadlock]) -> tuple[Deadlock, ...]:
    """Each edge behind the one whose holder waits in it; as printed where the SPIDs do not close a ring."""
    by_waiter = {one.wait_spid: one for one in rows}
    ordered, here = [rows[0]], rows[0]
    while len(ordered) < len(rows):
        following = by_waiter.get(here.held_spid)
        if following is None or following in ordered:
            return tuple(rows)
        ordered.append(following)
        here = following
    return tuple(ordered)


def _with_numbers(rows: list[Deadlock]) -> list[Deadlock]:
    """Each edge with the number and the line of the procedure in which it waits, from the edge where it holds."""
    holds: dict[int | None, Deadlock] = {one.held_spid: one for one in rows}
    return [
        one.placed(one.source, wait_procedure_id=held.held_procedure_id, wait_line=one.wait_line or held.held_line)
        if one.wait_spid is not None
        and one.wait_procedure_id is None
        and not one.wait_procedure
        and (held := holds.get(one.wait_spid))
        else one
        for one in rows
    ]


def _victim(rows: list[Deadlock]) -> int | None:
    for row in rows:
        if row.victim_spid is not None:
            return row.victim_spid
        if row.victim_kpid is not None:
            if row.victim_kpid == row.wait_kpid:
                return row.wait_spid
            if row.victim_kpid == row.held_kpid:
                return row.held_spid
    return None


def most_within(rings: list[Ring], long: timedelta = HOUR) -> int:
    """The most deadlocks that ended within any hour, or any other time as `long`; 0 where none has a time."""
    times = sorted(one.resolved for one in rings if one.resolved)
    most, first = 0, 0
    for last, time in enumerate(times):
        while time - times[first] >= long:
            first += 1
        most = max(most, last - first + 1)
    return most


def about(rings: list[Ring]) -> tuple[tuple[str, ...], int]:
    """The tables that most of them were about, in the order of the latest such ring, and how many of them were."""
    counts = Counter(one.tables for one in rings)
    if not counts:
        return (), 0
    tables, many = counts.most_common(1)[0]
    return next(one.in_order for one in rings if one.tables == tables), many


def asks_of(facts: Facts, rings: list[Ring], tables: tuple[str, ...]) -> list[str]:
    """Who asks where for which of two tables, of the latest ring about just these: `pick (line 12) for shop..stock`.

    Both tables stand in the title, so each of the two has the other one: what each asks for second tells the order.
    Empty where the two are not told apart by procedure or program.
    """
    edges = _latest(rings, tables)
    by_text = by_texts(facts, rings, tables)
    asks = []
    for edge in edges:
        number = f"procedure {edge.wait_procedure_id}" if edge.wait_procedure_id else ""
        name = edge.wait_procedure or by_text.get(table_of(edge)) or number or edge.wait_application
        line = f" (line {edge.wait_line})" if name != edge.wait_application and edge.wait_line else ""
        if name:
            asks.append(f"{comment(name, 60)}{line} asks for {table_of(edge)}")
    return asks if len(edges) == len(tables) == len(set(asks)) == 2 else []


def _latest(rings: list[Ring], tables: tuple[str, ...]) -> tuple[Deadlock, ...]:
    return next((one.edges for one in rings if set(one.tables) == set(tables)), ())


def numbers_of(rings: list[Ring], tables: tuple[str, ...]) -> list[int]:
    """The numbers of procedures without a name in the latest ring about just these tables, each once."""
    return list(
        dict.fromkeys(
            one.wait_procedure_id for one in _latest(rings, tables) if one.wait_procedure_id and not one.wait_procedure
        )
    )


def by_texts(facts: Facts, rings: list[Ring], tables: tuple[str, ...]) -> dict[str, str]:
    """By table, the procedure whose text asks for it after the other one, where numbers stand for two procedures.

    Empty where another procedure with a text takes them in the same order: it may be that one.
    """
    edges, numbers = _latest(rings, tables), numbers_of(rings, tables)
    if not len(edges) == len(tables) == len(numbers) == 2:
        return {}
    if not all((one.held_lock or "").lower().startswith(EXCLUSIVE) for one in edges):
        return {}
    plain = {(one.object_name or "").lower(): table_of(one) for one in edges}
    found: dict[str, set[str]] = {}
    for text in facts.every(ProcedureText):
        for last in _taken_last(text.text, set(plain)):
            found.setdefault(plain[last], set()).add(text.procedure)
    if sorted(map(len, found.values())) != [1, 1] or len(set.union(*found.values())) != 2:
        return {}
    return {table: next(iter(names)) for table, names in found.items()}


def _taken_last(text: str, tables: set[str]) -> set[str]:
    """Which of two tables a procedure changes after the other one, of each transaction in its text."""
    taken: list[str] | None = None
    found = set()
    for step in STEP.finditer(text):
        bound, name = (step["bound"] or "").lower(), (step["name"] or "").split(".")[-1].lower()
        if bound:
            taken = [] if bound.startswith("begin") else None
        elif taken is not None and name in tables and name not in taken:
            taken.append(name)
            found |= {name} if len(taken) == len(tables) else set()
    return found


def victims_of(rings: list[Ring]) -> tuple[str, int]:
    """Which procedure or program was rolled back most often, fit to be shown, and how often; empty: nobody knows."""
    names = Counter(
        comment(name, 60)
        for ring in rings
        for edge in ring.edges
        if edge.wait_spid == ring.victim and (name := edge.wait_procedure or edge.wait_application)
    )
    return names.most_common(1)[0] if names else ("", 0)


def mean_wait(rings: list[Ring]) -> float | None:
    """How long those in the rings waited, on average in milliseconds; `None`: not in the export."""
    waits = [edge.wait_milliseconds for ring in rings for edge in ring.edges if known(edge.wait_milliseconds)]
    return sum(waits) / len(waits) if waits and sum(waits) > 0 else None


def procedures_of(rings: list[Ring], tables: tuple[str, ...]) -> list[str]:
    """The procedures that ran in the rings about just these tables, each once, fit to be shown."""
    edges = [edge for ring in rings if set(ring.tables) == set(tables) for edge in ring.edges]
    named = (name for edge in edges for name in (edge.wait_procedure, edge.held_procedure) if name)
    return list(dict.fromkeys(comment(name, 60) for name in named))


def edges_of(rings: list[Ring]) -> Iterator[tuple[str, str, Source]]:
    """Every edge of these: what it is called, a clause, and its line."""
    for ring in rings:
        for nth, edge in enumerate(ring.edges, 1):
            yield f"deadlock {ring.number}, wait {nth}", say_edge(edge), edge.source
