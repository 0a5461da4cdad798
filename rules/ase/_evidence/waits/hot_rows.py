"""Tables of SAP ASE whose single rows everybody changes: next numbers and counters, known by their statements.

Such a statement adds to a column of its own: `update next_no set n = n + 1 where name = ?`. A balance is added to in
the same way, so it counts only where the table is small (a few pages), or where the same statement hands the new value
to a variable, as who takes a number does. That it is such a table is our own conclusion from its statement
(knowledge/ase-waits-caches.md, 3.4 no. 4). Where no text of statements was collected, the figures show as much of it: a
few pages whose rows are updated all the time and next to never inserted or deleted. Which of the two it is, they cannot
tell.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from collectors.facts import Fact, Facts, known
from collectors.facts.ase import IndexSize, MonCachedObject, MonCachedStatement, MonOpenObjectActivity, Server
from rules.ase._evidence.objects.seen import activity, databases, page_kb_of, sizes, table_key
from rules.ase._evidence.objects.statements import COMMENT, shown, tables_in

HOT_ROW_FACTS: tuple[type[Fact], ...] = (
    MonCachedStatement, MonOpenObjectActivity, MonCachedObject, IndexSize, Server,
)  # fmt: skip
FEW_PAGES = 16
"""This project: data pages up to which a table is a table of counters and no table of accounts."""
SMALLEST_PAGE_KB = 2.0
MANY_UPDATES, FEW_OTHERS = 10.0, 0.01
"""This project: updates a second of a table that everybody changes, and inserts and deletes beside each of them."""
SETS = re.compile(r"\A\s*update\s+\S+\s+set\s+(?P<sets>.*?)(?:\bwhere\b|\bfrom\b|\Z)", re.IGNORECASE | re.DOTALL)
ADDS = re.compile(
    r"(?P<variable>@[\w@#$]+\s*=\s*)?(?:[\w#$]+\.)?(?P<column>[A-Za-z_][\w#$]*)\s*=\s*(?:[\w#$]+\.)?(?P=column)\s*\+\s*"
    r"(?:\d{1,9}\b|\?|@[\w@#$]+)",
    re.IGNORECASE,
)
TAKES = re.compile(r"@[\w@#$]+\s*=\s*(?:[\w#$]+\.)?(?P<column>[A-Za-z_][\w#$]*)\s*\+", re.IGNORECASE)


@dataclass(frozen=True)
class HotRow:
    """A table with a counter, and the statement that shows it."""

    name: str
    says: str
    """The statement without its values, quoted, or the figures, for a sentence."""
    table: str
    """Its name without the database, as the export has it."""


def adds_to_itself(text: str) -> tuple[bool, bool]:
    """Whether this is an update that adds to a column of its own; and whether it also takes the value."""
    found = SETS.match(COMMENT.sub(" ", text))
    if not found:
        return False, False
    adding = ADDS.search(found["sets"])
    return bool(adding), bool(adding and (adding["variable"] or TAKES.search(found["sets"])))


def hot_row(facts: Facts, tables: Sequence[MonOpenObjectActivity]) -> HotRow | None:
    """The first of these tables that a statement shows to be one, else the first one where its figures do."""
    names = databases(facts)
    latest = {(row.instance, row.statement, row.cached): row for row in facts.every(MonCachedStatement)}
    for table in tables:
        wanted = (table.database or "").lower(), (table.object_name or "").lower()
        for row in latest.values():
            if not row.text or not row.believed or (known(row.lock_waits) and row.lock_waits <= 0):
                continue
            adds, takes = adds_to_itself(row.text)
            home = row.database or names.get(row.db_id or 0) or ""
            of = {((database or home).lower(), (name or "").lower()) for database, name in tables_in(row.text)}
            if adds and wanted in of and (takes or _small(facts, table)):
                return HotRow(f"{table.database}..{table.object_name}", shown(row.text, 80), table.object_name or "")
    return _by_figures(facts, tables[0]) if tables and not any(row.text for row in latest.values()) else None


def _by_figures(facts: Facts, table: MonOpenObjectActivity) -> HotRow | None:
    """A table of a few pages whose rows are updated all the time, and next to never inserted or deleted."""
    rows = [row for row in activity(facts) if row.of_interval and table_key(row) == table_key(table)]
    counts = [
        sum(one for row in rows if known(one := getattr(row, f"rows_{what}")))
        for what in ("updated", "inserted", "deleted")
    ]
    updated, others = counts[0], counts[1] + counts[2]
    seconds = next((row.seconds for row in rows if row.seconds), None)
    if seconds is None or updated < MANY_UPDATES * seconds or others > FEW_OTHERS * updated or not _small(facts, table):
        return None
    says = f"{updated / seconds:,.0f} updates a second on a few pages, next to no inserts"
    return HotRow(f"{table.database}..{table.object_name}", says, table.object_name or "")


def _small(facts: Facts, table: MonOpenObjectActivity) -> bool:
    """Whether the data of a table are a few pages; `False` where no export says how large they are."""
    of = sizes(facts).of
    data = [kb for (key, index), kb in of.items() if key == table_key(table) and index <= 1]
    return bool(data) and sum(data) <= FEW_PAGES * (page_kb_of(facts) or SMALLEST_PAGE_KB)
