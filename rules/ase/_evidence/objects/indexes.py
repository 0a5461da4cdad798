"""The indexes of a table of SAP ASE, where `sp_helpindex`, or the script that made them, was collected.

Its listing names no database, so a table is known by its name alone: where two databases have one of that name, the
indexes listed may be those of the other, which is why nothing is judged by them and they are only said.
"""

from collectors.facts import Facts
from collectors.facts.ase import IndexKeys, WithoutIndexes
from rules.changes.quoting import comment
from rules.finding import Evidence

NAMED = 4
"""Indexes that are named."""


def indexes_of(facts: Facts, table: str | None) -> list[IndexKeys]:
    """Those of a table of this name, each once, in the order of the listing; none: not collected."""
    rows = [one for one in facts.every(IndexKeys) if one.table and table and one.table.lower() == table.lower()]
    typed = {one.index: one for one in rows if one.first_type}
    return list({one.index: typed.get(one.index, one) for one in rows}.values())


def without_indexes(facts: Facts, table: str | None) -> bool:
    """Whether a table of this name is listed as one that has no index at all."""
    return bool(table) and any(one.table.lower() == (table or "").lower() for one in facts.every(WithoutIndexes))


def beginning_with(indexes: list[IndexKeys], column: str) -> IndexKeys | None:
    """The index whose first column this is."""
    return next((one for one in indexes if one.columns[:1] == (column.lower(),)), None)


def say_indexes(indexes: list[IndexKeys]) -> str:
    """The indexes with their columns: `entry_pk (entry_id), entry_day (booked, branch)`."""
    more = f" and {len(indexes) - NAMED} more" if len(indexes) > NAMED else ""
    return (
        ", ".join(f"{comment(one.index, 60)} ({', '.join(map(comment, one.columns))})" for one in indexes[:NAMED])
        + more
    )


def index_evidence(indexes: list[IndexKeys]) -> list[Evidence]:
    """The columns of each index, with its line."""
    return [
        Evidence(f"index {comment(one.index, 60)}", ", ".join(map(comment, one.columns)), "", one.source)
        for one in indexes[:NAMED]
    ]
