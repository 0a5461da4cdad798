"""From a table of SAP ASE to the statements that use it.

Read are `monCachedStatement`, `monSysStatement` and `monProcessObject`.

No monitoring table says which statement read which table. Two ways are left: the name of the table in the text of a
cached statement, where a table may stand; and the sessions that `monProcessObject` shows reading it, with the
statements they ended. The first is surer, since a session also runs other statements; the second is said to be that.
Text is hostile: it is quoted, and cut with a mark.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from collectors.facts import Fact, Facts, known
from collectors.facts.ase import MonCachedStatement, MonOpenObjectActivity, MonProcessObject, MonSysStatement
from rules.changes.quoting import comment
from rules.finding import Evidence, Finding

STATEMENT_FACTS: tuple[type[Fact], ...] = (MonCachedStatement, MonSysStatement, MonProcessObject, MonOpenObjectActivity)
NAMED = 3
"""Statements that the evidence has; the sentence has the text of the first and the numbers of the others."""
LONGEST, BESIDE = 160, 100
"""Characters of a statement that are shown; and where its figures stand beside it."""
COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)|--[^\r\n]*", re.DOTALL)
TOKEN = re.compile(r"'(?:[^']|'')*'?|\"[^\"]*\"|\[[^\]]*\]|[A-Za-z_#@][\w#@$]*|\S")
NAME = re.compile(r"[A-Za-z_#][\w#@$]*")
BEFORE_A_TABLE = frozenset(("from", "join", "update", "into", "delete", "insert", "table"))
ENDS_A_LIST = frozenset(
    ("where", "on", "set", "group", "order", "having", "select", "values", "union", "for", "at", "plan", "compute", ")")
)
SUM = "sum of its rows"
WITHOUT_TEXT = "monCachedStatement was read without text: ask for show_cached_text(SSQLID) beside it."

Table = tuple[str | None, str | None]
"""Database and name."""


@dataclass(frozen=True)
class Used:
    """One statement, how often it ran and what it read."""

    fact: MonCachedStatement | MonSysStatement
    what: str
    """Its text, quoted, or where it stands."""
    executions: float | None
    reads: float | None
    waits: float | None
    when: str
    computed: str = ""
    """What its logical reads were computed from, where no column holds them."""

    @property
    def says(self) -> str:
        """The statement with its figures."""
        figures = [
            f"{self.executions:,.0f} executions" if self.executions is not None else "",
            f"{self.reads:,.0f} logical reads" if self.reads is not None else "",
            f"{self.waits:,.0f} lock waits" if self.waits else "",
        ]
        return f"{self.what}: {', '.join(filter(None, figures)) or 'no figures'} {self.when}"


def with_statements(
    finding: Finding, facts: Facts, tables: Sequence[Table], *, by_waits: bool = False, otherwise: str = ""
) -> Finding:
    """The finding with the statements that use these tables; with `otherwise` where no statement was brought."""
    tables = list(dict.fromkeys(tables))
    found = sorted(_by_text(facts, tables), key=lambda one: -((one.waits if by_waits else one.reads) or 0.0))
    how = f"Statements whose text names {'the table' if len(tables) == 1 else 'these tables'}"
    if not found:
        found, how = (
            list(_by_session(facts, tables)),
            "Statements of sessions that were reading it, which may be others",
        )
    if not found:
        cached = facts.every(MonCachedStatement)
        more = WITHOUT_TEXT if cached and not any(one.text for one in cached) else otherwise
        return finding.adding(unknown=more)
    named = found[:NAMED]
    evidence = tuple(one for used in named for one in _evidence(used))
    others = ", ".join(str(one.fact.statement) for one in named[1:] if one.fact.statement)
    because = f"{how}: {named[0].says}{f'; then SSQLID {others}' if others else ''}."
    return replace(finding.adding(because=because), evidence=(*finding.evidence, *evidence))


def tables_in(text: str) -> set[Table]:
    """The tables a statement names: after from, join, update, into, delete, and in the list after from."""
    found: set[Table] = set()
    tokens = TOKEN.findall(COMMENT.sub(" ", text))
    listing = wanted = False
    place = 0
    while place < len(tokens):
        word = tokens[place].lower()
        place += 1
        if word in BEFORE_A_TABLE:
            listing, wanted = word == "from", True
        elif word in ENDS_A_LIST:
            listing = wanted = False
        elif word == ",":
            wanted = listing
        elif wanted and word != "(":
            parts, place = _parts(tokens, place - 1)
            wanted = False
            if parts and parts[-1]:
                found.add((parts[0] if len(parts) == 3 and parts[0] else None, parts[-1]))
    return found


def _parts(tokens: list[str], place: int) -> tuple[list[str], int]:
    """A name of up to three parts with points between them, and the place behind it."""
    parts = [""]
    while place < len(tokens):
        part = tokens[place]
        if part == ".":
            parts.append("")
        elif parts[-1]:
            break
        elif part[0] in '["':
            parts[-1] = part[1:-1]
        elif NAME.fullmatch(part):
            parts[-1] = part
        else:
            break
        place += 1
    return (parts if len(parts) <= 3 else []), max(place, 1)


def _by_text(facts: Facts, tables: Sequence[Table]) -> Iterator[Used]:
    wanted = {(database.lower(), name.lower()) for database, name in tables if database and name}
    names = {row.db_id: row.database for row in facts.every(MonOpenObjectActivity) if row.database}
    ended: dict[int, list[MonSysStatement]] = {}
    for one in facts.every(MonSysStatement):
        ended.setdefault(one.statement or 0, []).append(one)
    latest = {(row.instance, row.statement, row.cached): row for row in facts.every(MonCachedStatement)}
    for row in latest.values():
        if not row.text or not row.believed:
            continue
        home = row.database or names.get(row.db_id) or ""
        used = {((database or home).lower(), (name or "").lower()) for database, name in tables_in(row.text)}
        if used & wanted:
            yield _cached(row, ended.get(row.statement, []))


def _cached(row: MonCachedStatement, ended: list[MonSysStatement]) -> Used:
    """A cached statement: as counted between the snapshots, else as listed when it ended, else since it was cached."""
    what = f"{quoted(row.text or '', BESIDE)} (SSQLID {row.statement})"
    waits = row.lock_waits if known(row.lock_waits) else None
    if ended and not row.of_interval:
        return Used(ended[-1], what, len(ended), _sum(ended), waits, "in monSysStatement", SUM)
    executions = row.executions if known(row.executions) else None
    when = "between the snapshots" if row.of_interval else "since it was cached"
    computed = "" if known(row.total_logical_reads) else "executions x AvgLIO"
    return Used(row, what, executions, row.logical_reads, waits, when, computed)


def _by_session(facts: Facts, tables: Sequence[Table]) -> Iterator[Used]:
    wanted = {(database, name) for database, name in tables if database and name}
    reading = {
        (row.spid, row.kpid) for row in facts.every(MonProcessObject) if (row.database, row.object_name) in wanted
    }
    groups: dict[tuple[object, ...], list[MonSysStatement]] = {}
    for one in facts.every(MonSysStatement):
        if one.spid is not None and (one.spid, one.kpid) in reading:
            groups.setdefault((one.statement or 0, one.procedure_id or 0, one.line, one.spid), []).append(one)
    found = sorted(groups.values(), key=lambda group: -(_sum(group) or 0.0))
    for group in found:
        one = group[0]
        where = f"SSQLID {one.statement}" if one.statement else f"procedure {one.procedure_id or 0}, line {one.line}"
        yield Used(one, f"SPID {one.spid}, {where}", len(group), _sum(group), None, "in monSysStatement", SUM)


def _sum(rows: Iterable[MonSysStatement]) -> float | None:
    reads = [row.logical_reads for row in rows if known(row.logical_reads)]
    return sum(reads) if reads else None


def quoted(text: str, longest: int = LONGEST) -> str:
    """A statement as it may be shown: on one line, nothing hidden in it, in quotes, cut with a mark."""
    flat = comment(" ".join(text.split()), 2 * longest)
    return f'"{flat}"' if len(flat) <= longest else f'"{flat[:longest]}" [cut]'


def _evidence(used: Used) -> Iterator[Evidence]:
    number = used.fact.statement
    name = f"statement {number}" if number else used.what
    reads = f"logical reads of {name}" + (f" ({used.computed})" if used.computed else "")
    if used.executions is not None:
        counted = " (rows)" if used.computed == SUM else ""
        yield Evidence(f"executions of {name}{counted}", used.executions, "", used.fact.source)
    if used.reads is not None:
        yield Evidence(reads, used.reads, "pages", used.fact.source)
    if used.waits:
        yield Evidence(f"lock waits of {name}", used.waits, "", used.fact.source)
