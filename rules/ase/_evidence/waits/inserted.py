"""Where rows are inserted: a temporary table with most of the interval, or what sessions insert into at the moment."""

import re
from collections import Counter
from dataclasses import dataclass, replace

from collectors.facts import Facts, Source, known
from collectors.facts.ase import IndexKeys, MonOpenObjectActivity, MonProcess
from collectors.statement_text import without_literals
from rules.ase._evidence.objects.seen import activity
from rules.ase._evidence.waits.chains import batch_of
from rules.ase._evidence.waits.events import LATCHES
from rules.changes.ase_descriptor import bindable

INSERT = re.compile(
    r"\binsert\s+(?:into\s+)?(?:(?P<database>\w{1,255})\.\w{0,255}\.|\w{1,255}\.)?(?P<table>#?\w{1,255})"
    r"(?:\s*\((?P<columns>[\w\s,]{1,4000})\)\s*(?:values|select)\b)?",
    re.IGNORECASE,
)
LEAST_SESSIONS = 5
"""This project: sessions caught in a wait for a latch, below which a look at the moment shows nothing."""
LEFT_OUT = "left out of the insert"
"""Stands for the type of a column whose value the server makes itself: a number that rises, or a default."""


def most_temporary(facts: Facts, least_percent: float) -> tuple[MonOpenObjectActivity, float, float] | None:
    """The table of a temporary database that most rows were inserted into in the interval, with count and share."""
    rows = [
        (row, row.rows_inserted)
        for row in activity(facts)
        if row.of_interval and row.index_id in (0, 1) and known(row.rows_inserted) and row.rows_inserted > 0
    ]
    if not rows:
        return None
    row, count = max(rows, key=lambda one: one[1])
    share = 100.0 * count / sum(inserted for _, inserted in rows)
    name = row.object_name or ""
    temporary = name.startswith("#") or "tempdb" in (row.database or "").lower()
    return (row, count, share) if temporary and name and share >= least_percent else None


@dataclass(frozen=True)
class InsertingNow:
    """The table that most of the sessions which wait for a latch at the moment insert into."""

    row: MonOpenObjectActivity
    """Its names alone."""
    sessions: int
    waiting: int
    """Sessions that wait for a latch, whatever they run."""
    columns: frozenset[str] | None
    """Those that every such insert names, in small letters; `None` where one of them names none."""
    source: Source

    def marked(self, indexes: list[IndexKeys]) -> list[IndexKeys]:
        """The indexes; a unique one of one column that no insert names has what the server makes itself."""
        named = self.columns
        return [
            replace(one, first_type=LEFT_OUT)
            if named and one.unique and not one.first_type and len(one.columns) == 1 and one.columns[0] not in named
            else one
            for one in indexes
        ]


def inserting_now(facts: Facts) -> InsertingNow | None:
    """By `monProcess` and the batches: more than half of those that wait have to insert into one user table."""
    caught = {row.spid: row for row in facts.every(MonProcess) if row.wait_event in LATCHES}
    if len(caught) < LEAST_SESSIONS:
        return None
    into: dict[tuple[str, str], list[tuple[MonProcess, str]]] = {}
    for row in caught.values():
        found = list(INSERT.finditer(without_literals(batch_of(facts, row.spid))))
        targets = {(one["database"] or row.database or "", one["table"]) for one in found}
        if len(targets) == 1:  # of a batch with several it is not known at which of them the session waits
            columns = {one["columns"] or "" for one in found}
            into.setdefault(targets.pop(), []).append((row, columns.pop() if len(columns) == 1 else ""))
    if not into:
        return None
    (database, table), most = max(into.items(), key=lambda one: len(one[1]))
    if 2 * len(most) <= len(caught) or not database or not bindable(database, table):
        return None
    lists = Counter(frozenset(name.strip().lower() for name in columns.split(",")) for _, columns in most if columns)
    every = len(lists) == 1 and lists.total() == len(most)
    source = most[0][0].source
    named = MonOpenObjectActivity(source=source, database=database, object_name=table, index_id=0)
    return InsertingNow(named, len(most), len(caught), next(iter(lists)) if every else None, source)
