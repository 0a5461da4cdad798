"""From a table of SAP ASE to the statements and programs that use it.

Read are `monCachedStatement`, `monSysStatement`, `monProcessObject`, `monProcessStatement` and `monProcess`, and the
plans that were collected beside them (`rules.ase._evidence.objects.plans`).

No monitoring table says which statement read which table. Three ways are left: the name of the table in the text of a
cached statement, where a table may stand, which is inference and called so; the sessions that `monProcessObject` shows
reading it, with the statement they run at that moment; and the statements these sessions ended, which may be others.
Text is hostile and may hold what users typed: values and comments are taken out of it, and it is quoted, and cut with a
mark. Whoever wants it whole finds it in the export, at the line that is cited.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from collectors.facts import Fact, Facts, known
from collectors.facts.ase import (
    MonCachedStatement,
    MonOpenObjectActivity,
    MonProcess,
    MonProcessObject,
    MonProcessStatement,
    MonSysStatement,
    PlanAccess,
)
from collectors.statement_text import without_literals
from rules.ase._evidence.objects.plans import plan_evidence, plans_of
from rules.ase._evidence.objects.seen import databases, name_by_id
from rules.ase._evidence.objects.sessions import evidence_of, programs, reading
from rules.changes.quoting import comment
from rules.finding import Evidence, Finding

STATEMENT_FACTS: tuple[type[Fact], ...] = (
    MonCachedStatement,
    MonSysStatement,
    MonProcessObject,
    MonProcessStatement,
    MonProcess,
    MonOpenObjectActivity,
    PlanAccess,
)
NAMED = 5
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

    fact: MonCachedStatement | MonSysStatement | MonProcessStatement
    what: str
    """Its text, quoted, or where it stands."""
    executions: float | None
    reads: float | None
    waits: float | None
    when: str
    computed: str = ""
    """What its logical reads were computed from, where no column holds them."""
    text: str = ""
    """As it may be shown, at length; empty: not collected."""

    @property
    def number(self) -> int:
        """SSQLID; 0: none, or not known."""
        return 0 if isinstance(self.fact, MonProcessStatement) else self.fact.statement or 0

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
    finding: Finding,
    facts: Facts,
    tables: Sequence[Table],
    *,
    by_waits: bool = False,
    otherwise: str = "",
    first: int | None = None,
) -> Finding:
    """The finding with the statements that use these tables, `first` (an SSQLID) before the others.

    With `otherwise` where no statement was collected.
    """
    tables = list(dict.fromkeys(tables))
    found = sorted(by_text(facts, tables), key=lambda one: -((one.waits if by_waits else one.reads) or 0.0))
    found.sort(key=lambda one: first is None or one.number != first)
    how = f"Statements whose text names {'the table' if len(tables) == 1 else 'these tables'}"
    for other, said in (
        (_running, "Running at that moment in sessions that read it"),
        (_by_session, "Statements of sessions that were reading it, which may be others"),
    ):
        if not found:
            found, how = list(other(facts, tables)), said
    named = found[:NAMED]
    who = (
        *plan_evidence(facts, plans_of(facts, tables)),
        *evidence_of(programs(facts, tables, {one.number for one in named if one.number})),
    )
    if not found:
        cached = facts.every(MonCachedStatement)
        more = WITHOUT_TEXT if cached and not any(one.text for one in cached) else otherwise
        return replace(finding.adding(unknown=more), evidence=(*finding.evidence, *who))
    evidence = tuple(one for used in named for one in _evidence(used))
    others = ", ".join(str(one.number) for one in named[1:] if one.number)
    because = f"{how}: {named[0].says}{f'; then SSQLID {others}' if others else ''}."
    return replace(finding.adding(because=because), evidence=(*finding.evidence, *evidence, *who))


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


def by_text(facts: Facts, tables: Sequence[Table]) -> Iterator[Used]:
    """The cached statements whose text names one of these tables where a table may stand, in no order."""
    ended: dict[int, list[MonSysStatement]] = {}
    for one in facts.every(MonSysStatement):
        ended.setdefault(one.statement or 0, []).append(one)
    for row in naming(facts, tables):
        yield cached(row, ended.get(row.statement, []))


def naming(facts: Facts, tables: Sequence[Table]) -> Iterator[MonCachedStatement]:
    """The rows of `by_text` as the statement cache has them, whatever else lists the statements.

    A row that names no database is of the one with a table of that name, where the counted objects are of one alone.
    """
    wanted = {(database.lower(), name.lower()) for database, name in tables if database and name}
    names = databases(facts)
    alone: dict[str, str] | None = None
    latest = {(row.instance, row.statement, row.cached): row for row in facts.every(MonCachedStatement)}
    for row in latest.values():
        if not row.text or not row.believed:
            continue
        home = row.database or names.get(row.db_id or 0) or ""
        if not home and alone is None:
            alone = _of_one_database(facts, {name for _, name in wanted})
        used = {
            ((database or home or (alone or {}).get((name or "").lower(), "")).lower(), (name or "").lower())
            for database, name in tables_in(row.text)
        }
        if used & wanted:
            yield row


def _of_one_database(facts: Facts, names: set[str]) -> dict[str, str]:
    """By name of a table, in small letters as all here, the one database in which it was counted."""
    homes: dict[str, set[str]] = {}
    for one in facts.every(MonOpenObjectActivity):
        if (name := (one.object_name or "").lower()) in names:
            homes.setdefault(name, set()).add((one.database or "").lower())
    return {name: next(iter(found)) for name, found in homes.items() if len(found) == 1}


def cached(row: MonCachedStatement, ended: list[MonSysStatement]) -> Used:
    """A cached statement: as counted between the snapshots, else as listed when it ended, else since it was cached."""
    what = f"{shown(row.text, BESIDE)} (SSQLID {row.statement})" if row.text else f"SSQLID {row.statement}"
    waits = row.lock_waits if known(row.lock_waits) else None
    text = shown(row.text) if row.text else ""
    if ended and not row.of_interval:
        return Used(ended[-1], what, len(ended), _sum(ended), waits, "in monSysStatement", SUM, text)
    executions = row.executions if known(row.executions) else None
    when = "between the snapshots" if row.of_interval else "since it was cached"
    computed = "" if known(row.total_logical_reads) else "executions x AvgLIO"
    return Used(row, what, executions, row.logical_reads, waits, when, computed, text)


def _running(facts: Facts, tables: Sequence[Table]) -> Iterator[Used]:
    """What the sessions that read these tables run at that moment: both tables show running statements alone."""
    readers = reading(facts, tables)
    rows = [row for row in facts.every(MonProcessStatement) if (row.spid, row.kpid) in readers]
    for row in sorted(rows, key=lambda one: -(one.logical_reads if known(one.logical_reads) else 0.0)):
        where = f"{procedure_of(facts, row)}, line {row.line}" if row.procedure_id else f"line {row.line or 0}"
        reads = row.logical_reads if known(row.logical_reads) else None
        yield Used(row, f"SPID {row.spid}, {where}", None, reads, None, "until now")


def _by_session(facts: Facts, tables: Sequence[Table]) -> Iterator[Used]:
    readers = reading(facts, tables)
    groups: dict[tuple[object, ...], list[MonSysStatement]] = {}
    for one in facts.every(MonSysStatement):
        if one.spid is not None and (one.spid, one.kpid) in readers:
            groups.setdefault((one.statement or 0, one.procedure_id or 0, one.line, one.spid), []).append(one)
    found = sorted(groups.values(), key=lambda group: -(_sum(group) or 0.0))
    for group in found:
        one = group[0]
        where = f"SSQLID {one.statement}" if one.statement else f"{procedure_of(facts, one)}, line {one.line}"
        yield Used(one, f"SPID {one.spid}, {where}", len(group), _sum(group), None, "in monSysStatement", SUM)


def procedure_of(facts: Facts, row: MonSysStatement | MonProcessStatement) -> str:
    """`procedure p_day_close`, or its number where nothing names it; fit to be shown."""
    name = row.procedure or name_by_id(facts, row.database, row.db_id, row.procedure_id)
    return f"procedure {comment(name, 60) if name else row.procedure_id or 0}"


def _sum(rows: Iterable[MonSysStatement]) -> float | None:
    reads = [row.logical_reads for row in rows if known(row.logical_reads)]
    return sum(reads) if reads else None


def one_line(text: str, longest: int) -> tuple[str, bool]:
    """Text of a client on one line with nothing hidden in it, at most so long, and whether any of it is cut off."""
    flat = comment(" ".join(text.split()), longest + 1)
    return flat[:longest], len(flat) > longest


def quoted(text: str, longest: int = LONGEST) -> str:
    """A statement as it may be shown: on one line, nothing hidden in it, in quotes, cut with a mark."""
    flat, is_cut = one_line(text, longest)
    return f'"{flat}"{" [cut]" if is_cut else ""}'


def shown(text: str, longest: int = LONGEST) -> str:
    """A statement as it may be shown to anybody: without the values and comments in it, quoted."""
    return quoted(without_literals(text), longest)


def _evidence(used: Used) -> Iterator[Evidence]:
    number = used.number
    name = f"statement {number}" if number else used.what
    reads = f"logical reads of {name}" + (f" ({used.computed})" if used.computed else "")
    if used.text:
        yield Evidence(f"text of {name}", used.text, "", used.fact.source)
    if used.executions is not None:
        counted = " (rows)" if used.computed == SUM else ""
        yield Evidence(f"executions of {name}{counted}", used.executions, "", used.fact.source)
    if used.reads is not None:
        yield Evidence(reads, used.reads, "pages", used.fact.source)
    if used.waits:
        yield Evidence(f"lock waits of {name}", used.waits, "", used.fact.source)
