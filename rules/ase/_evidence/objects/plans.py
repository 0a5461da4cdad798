"""How statements of SAP ASE reach a table, by the plans that were collected (`sp_showplan`, `show_plan`, prsqlcache).

A plan names a table as its statement does, often without the database. It is taken as that of the session or of the
cached statement, where the export says whose plan it is; else as that of the one listed table of this name, and left
out where there are several. A plan is that of one statement: others may read the table by another.
"""

from collections.abc import Collection, Iterator

from collectors.facts import Fact, Facts, known
from collectors.facts.ase import (
    MonCachedStatement,
    MonOpenObjectActivity,
    MonProcess,
    MonProcessStatement,
    PlanAccess,
)
from rules.ase._evidence.objects.seen import databases
from rules.finding import Evidence

PLAN_FACTS: tuple[type[Fact], ...] = (
    PlanAccess,
    MonCachedStatement,
    MonOpenObjectActivity,
    MonProcess,
    MonProcessStatement,
)
NAMED = 5
"""Accesses that the evidence has."""

Table = tuple[str | None, str | None]
"""Database and name."""


def plans_of(facts: Facts, tables: Collection[Table]) -> list[PlanAccess]:
    """The accesses to these tables, each once, scans first."""
    wanted = {(database.lower(), name.lower()) for database, name in tables if database and name}
    found: dict[tuple[object, ...], PlanAccess] = {}
    for one in facts.every(PlanAccess):
        if ((_database(facts, one) or "").lower(), one.table.lower()) in wanted:
            found[one.spid, one.ssql_id, one.statement, one.line, one.table, one.index, one.scanned] = one
    return sorted(found.values(), key=lambda one: not one.scanned)


def plans_of_session(facts: Facts, spid: int) -> list[PlanAccess]:
    """How the running statement of a session reaches its tables, scans first."""
    return sorted((one for one in facts.every(PlanAccess) if one.spid == spid), key=lambda one: not one.scanned)


def owner_of(access: PlanAccess) -> str:
    """Whose plan it is."""
    if access.ssql_id is not None:
        return f"SSQLID {access.ssql_id}"
    return f"SPID {access.spid}" if access.spid is not None else "a statement"


def plan_evidence(facts: Facts, found: Collection[PlanAccess]) -> Iterator[Evidence]:
    """Each of the first accesses, with its line."""
    for one in list(found)[:NAMED]:
        way = f"{one.query or 'statement'}: {way_of(one)}"  # its line stands above those that show the access
        yield Evidence(f"plan of {owner_of(one)} for {table_of(facts, one)}", way, "", one.source)


def say_access(one: PlanAccess) -> str:
    """How the table is reached, in words, and by which statement."""
    return f"{one.query or 'statement'}{f' at line {one.line}' if one.line else ''}: {way_of(one)}"


def way_of(one: PlanAccess) -> str:
    """How the table is reached, in words."""
    if one.scanned:
        way = "table scan"
    else:
        way = f"index {one.index}" if one.index else "clustered index"
        way += ", no data page" if one.covered else ""
    size = f", reads of {one.io_kb:g} KB" if known(one.io_kb) else ""
    return f"{way}{size}{f', {one.strategy} replacement' if one.strategy else ''}"


def table_of(facts: Facts, access: PlanAccess) -> str:
    """Database and table, as far as exports say it."""
    database = _database(facts, access)
    return f"{database}..{access.table}" if database else access.table


def _database(facts: Facts, access: PlanAccess) -> str | None:
    """The database of the table; `None` where it cannot be told."""
    if access.database:
        return access.database
    homes: set[str | None] = set()
    if access.ssql_id is not None:
        homes = {row.database for row in facts.every(MonCachedStatement) if row.statement == access.ssql_id}
    elif access.spid is not None:
        names = databases(facts)
        running = [row for row in facts.every(MonProcessStatement) if row.spid == access.spid]
        homes = {row.database or names.get(row.db_id or 0) for row in running} - {None}
        homes = homes or {row.database for row in facts.every(MonProcess) if row.spid == access.spid}
    homes -= {None}
    if not homes:
        rows = facts.every(MonOpenObjectActivity)
        homes = {row.database for row in rows if (row.object_name or "").lower() == access.table.lower()}
    return next(iter(homes)) if len(homes) == 1 else None
