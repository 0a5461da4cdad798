"""Where rows are inserted: a temporary table with most of the interval, or what sessions insert into at the moment."""

import re
from collections import Counter
from dataclasses import dataclass, replace

from collectors.facts import Facts, Source, known
from collectors.facts.ase import IndexKeys, MonOpenObjectActivity, MonProcess
from collectors.statement_text import pieces, without_literals
from rules.ase._evidence.objects.seen import activity
from rules.ase._evidence.waits.chains import batch_of
from rules.ase._evidence.waits.events import LATCHES
from rules.changes.ase_descriptor import bindable

INSERT = re.compile(
    r"\binsert\s+(?:into\s+)?(?:(?P<database>\w{1,255})\.\w{0,255}\.|\w{1,255}\.)?(?P<table>#?\w{1,255})"
    r"(?:\s*\((?P<columns>[\w\s,]{1,4000})\)\s*(?:values|select)\b)?",
    re.IGNORECASE,
)
VALUES = re.compile(r"\)\s*values\s*\(", re.IGNORECASE)
CLOCKS = re.compile(r"\s*(?:getdate|getutcdate|current_bigdatetime)\s*\(\s*\)\s*", re.IGNORECASE)
LEAST_SESSIONS = 5
"""This project: sessions caught in a wait for a latch, below which a look at the moment shows nothing."""
LEFT_OUT = "left out of the insert"
"""Stands for the type of a column whose value the server makes itself: a number that rises, or a default."""

CLOCK = "the time of the insert"
"""Stands for the type of a column into which every insert puts the time: that rises."""


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
    clock: frozenset[str]
    """Those into which every such insert puts the time."""
    source: Source

    def marked(self, indexes: list[IndexKeys]) -> list[IndexKeys]:
        """The indexes, with what the inserts say of their first columns.

        A unique one of one column that no insert names has what the server makes itself.
        """
        return [replace(one, first_type=self._first_type(one)) for one in indexes]

    def _first_type(self, index: IndexKeys) -> str:
        first = index.columns[0] if index.columns else ""
        if first.lower() in self.clock:
            return CLOCK
        alone = self.columns and index.unique and not index.first_type and len(index.columns) == 1
        return LEFT_OUT if alone and first not in (self.columns or ()) else index.first_type


def inserting_now(facts: Facts) -> InsertingNow | None:
    """By `monProcess` and the batches: more than half of those that wait have to insert into one user table.

    In which database it is stays open where neither the sessions nor the inserts say so.
    """
    caught = {row.spid: row for row in facts.every(MonProcess) if row.wait_event in LATCHES}
    if len(caught) < LEAST_SESSIONS:
        return None
    into: dict[tuple[str, str], list[tuple[MonProcess, str]]] = {}
    clocks: dict[tuple[str, str], list[frozenset[str]]] = {}
    for row in caught.values():
        text = without_literals(batch_of(facts, row.spid))
        found = list(INSERT.finditer(text))
        targets = {(one["database"] or row.database or "", one["table"]) for one in found}
        if len(targets) == 1:  # of a batch with several it is not known at which of them the session waits
            columns = {one["columns"] or "" for one in found}
            target = targets.pop()
            into.setdefault(target, []).append((row, columns.pop() if len(columns) == 1 else ""))
            clocks.setdefault(target, []).extend(_by_clock(text, one) for one in found)
    if not into:
        return None
    (database, table), most = max(into.items(), key=lambda one: len(one[1]))
    if 2 * len(most) <= len(caught) or not bindable(database, table):
        return None
    lists = Counter(frozenset(_names(columns)) for _, columns in most if columns)
    every = len(lists) == 1 and lists.total() == len(most)
    source = most[0][0].source
    named = MonOpenObjectActivity(source=source, database=database or None, object_name=table, index_id=0)
    clock = frozenset.intersection(*clocks[database, table])
    return InsertingNow(named, len(most), len(caught), next(iter(lists)) if every else None, clock, source)


def _names(columns: str) -> list[str]:
    return [name.strip().lower() for name in columns.split(",")]


def _by_clock(text: str, insert: re.Match[str]) -> frozenset[str]:
    """The columns into which an insert puts the time, by the places of its columns and values."""
    begins = VALUES.search(text, insert.end("columns")) if insert["columns"] else None
    if begins is None or begins.start() > insert.end():
        return frozenset()
    names, values = _names(insert["columns"]), list(pieces(f"{text[begins.end() :]})"))  # a text may be cut
    if len(names) != len(values):
        return frozenset()
    return frozenset(name for name, value in zip(names, values, strict=True) if CLOCKS.fullmatch(value))
