"""Tables of SAP ASE whose single rows everybody wants: next numbers, counters and work queues.

Next numbers and counters are known by a statement that adds to a column of its own:
`update next_no set n = n + 1 where name = ?`. A balance is added to in the same way, so it counts only where the table
is small (a few pages), or where the same statement hands the new value to a variable, as who takes a number does; where
the size was not collected, also where it changes one row at a time and waits most times it runs. That it is such a
table is our own conclusion from its statement (knowledge/ase-waits-caches.md, 3.4 no. 4). Where no text of statements
was collected, the figures show as much of it: a few pages whose rows are updated all the time and next to never
inserted or deleted. Which of the two it is, they cannot tell.

The text of a procedure shows the same, and how long the row stays locked: each step between that update and the commit.
There a balance is told from a counter by what is added, a number or a variable.

A work queue is the other such table: every worker looks for the next row, and waits for the row that another worker
holds. It is known by a statement that takes one row (`top 1`, or the lowest key) of a table and has waited for locks;
without texts, by a few pages whose rows are inserted and deleted at the same rate.
"""

import re
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace

from collectors.facts import Fact, Facts, known
from collectors.facts.ase import (
    IndexSize,
    MonCachedObject,
    MonCachedStatement,
    MonOpenObjectActivity,
    ProcedureText,
    Server,
    TableRows,
)
from rules.ase._evidence.objects.seen import (
    activity,
    is_system,
    name_of,
    schemes,
    sizes,
    table_key,
)
from rules.ase._evidence.objects.statements import COMMENT, naming, shown
from rules.ase._evidence.server import SMALLEST_PAGE_KB, page_kb_of
from rules.ase._evidence.waits.index_wanted import PAGES_A_ROW, columns_of, pages_each
from rules.changes.quoting import bare_table
from rules.finding import Evidence

HOT_ROW_FACTS: tuple[type[Fact], ...] = (
    MonCachedStatement, MonOpenObjectActivity, MonCachedObject, IndexSize, Server, ProcedureText, TableRows,
)  # fmt: skip
FEW_PAGES = 16
"""This project: data pages up to which a table is a table of counters and no table of accounts."""
FEW_ROWS = 100.0
"""This project: the same in rows, where no export says how many pages they are."""
MANY_UPDATES, FEW_OTHERS = 10.0, 0.01
"""This project: updates a second of a table that everybody changes, and inserts and deletes beside each of them."""
MOSTLY = 0.5
"""This project: lock waits for each execution of a statement that changes one row, from which few rows are wanted."""
ONE_ROW = 1.5
"""This project: rows updated for each execution up to which it is one, beside a few of other statements."""
SETS = re.compile(r"\A\s*update\s+\S+\s+set\s+(?P<sets>.*?)(?:\bwhere\b|\bfrom\b|\Z)", re.IGNORECASE | re.DOTALL)
ADDS = re.compile(
    r"(?P<variable>@[\w@#$]+\s*=\s*)?(?:[\w#$]+\.)?(?P<column>[A-Za-z_][\w#$]*)\s*=\s*(?:[\w#$]+\.)?(?P=column)\s*\+\s*"
    r"(?:\d{1,9}\b|\?|@[\w@#$]+)",
    re.IGNORECASE,
)
TAKES_NEXT = re.compile(
    r"\A\s*(?:(?:select|update|delete)\s+top\s+1\b|select\s+(?:@[\w@#$]+\s*=\s*)?min\s*\(|"
    r"(?:update|delete)\b.*\(\s*select\s+(?:top\s+1\b|min\s*\())",
    re.IGNORECASE | re.DOTALL,
)
NEXT_NUMBER = (
    "If it hands out numbers ({0}), an IDENTITY column where they are put does it from memory (there "
    '`sp_chgattribute "<that table>", "identity_gap", 1000`); a mere count can be in several rows.'
)
OWN_STEP, OR_LAST = "Change {0} in a transaction of its own", ", or as its last statement"
TAKEN = re.compile(r"(?P<variable>@[\w@#$]+)\s*(?:=|\bout(?:put)?\b)", re.IGNORECASE)
"""A variable that is given a value, or that a procedure gives one."""
ONE_STEP = {
    "datarows": ": rows are locked singly here already.",
    "datapages": ", and keep one such row on a page.",
    "allpages": ", and keep one such row on a page.",
}
"""By lock scheme: where pages are locked, rows beside it wait, too; where rows are, a page of its own is no help."""
ONE_A_PAGE = "; where pages are locked, one such row on a page."
ROWS_SHARE = (
    "First `alter table {0} lock datarows` at a quiet moment (from datapages a change of the catalogue alone; takes "
    "more locks): its {1:,.0f} rows share {2:,.0f} page{3}, so those who want different ones wait for each other. Then "
    "change it in a transaction of its own, or as its last statement."
)
"""A page lock is one for all rows on the page; where each row has its own page, a lock of the row is no better."""
AS_MANY = 0.8
"""This project: deletes for each insert, or the other way, from which rows only pass through a table."""
TAKES = re.compile(r"@[\w@#$]+\s*=\s*(?:[\w#$]+\.)?(?P<column>[A-Za-z_][\w#$]*)\s*\+", re.IGNORECASE)
STEP = re.compile(
    r"\b(?:(?P<bound>begin\s+tran|commit|rollback)\w*|"
    r"(?P<what>insert|update|delete|merge|exec(?:ute)?)\s+(?:(?:into|from)\s+|@\w+\s*=\s*)?(?P<name>[\w#$.]+))",
    re.IGNORECASE,
)
"""What begins or ends a transaction in the text of a procedure, changes rows, or calls another procedure."""
SQL_WORD = re.compile(r"\n\s*(?:select|if|return|declare|while|end|begin|print|raiserror)\b", re.IGNORECASE)
"""What begins the next statement behind an update, on a line of its own."""
ADDS_NUMBER = re.compile(
    r"(?:[\w#$]+\.)?(?P<column>[A-Za-z_][\w#$]*)\s*=\s*(?:[\w#$]+\.)?(?P=column)\s*\+\s*\?", re.IGNORECASE
)


@dataclass(frozen=True)
class Held:
    """A procedure that counts up a row, and what it does before it lets go of it."""

    fact: ProcedureText
    steps: int
    """Changes of rows and calls of other procedures between the update and the commit of its transaction."""
    calls: tuple[str, ...]
    """Those of other procedures, by name."""
    passed_on: bool = False
    """Whether the steps behind it use a variable that is given a value where it is counted, or behind that."""
    calling: str = ""
    """The procedure that counts up the row, where this one calls it."""

    @property
    def says(self) -> str:
        """What it does, as a clause."""
        steps = "1 step more" if self.steps == 1 else f"{self.steps} steps more"
        calls = f" (among them `exec {self.calls[0]}`)" if self.calls else ""
        how = f" by {self.calling}" if self.calling else ""
        return f"{self.fact.procedure} counts up a row{how} and keeps it locked for {steps}, to its commit{calls}"

    @property
    def evidence(self) -> Evidence:
        """The steps, with the lines of the text."""
        return Evidence("steps behind the update, to the commit", self.steps, "", self.fact.source)


@dataclass(frozen=True)
class HotRow:
    """A table with a counter, and the statement that shows it."""

    name: str
    says: str
    """The statement without its values, quoted, or the figures, for a sentence."""
    table: str
    """Its name without the database, as the export has it."""
    statement: MonCachedStatement | None = None
    """`None`: known by figures alone."""
    held: Held | None = None
    """The procedure whose text shows it, where that keeps the row locked for more steps."""

    @property
    def index(self) -> tuple[float, tuple[str, ...]] | None:
        """Pages that one execution reads to find its row, and the columns of an index that would; `None`: few pages."""
        pages = pages_each(self.statement) if self.statement else None
        columns = columns_of(self.statement.text or "") if self.statement else ()
        return (pages, columns) if pages is not None and pages >= PAGES_A_ROW and columns else None


def adds_to_itself(text: str) -> tuple[bool, bool]:
    """Whether this is an update that adds to a column of its own; and whether it also takes the value."""
    found = SETS.match(COMMENT.sub(" ", text))
    if not found:
        return False, False
    adding = ADDS.search(found["sets"])
    return bool(adding), bool(adding and (adding["variable"] or TAKES.search(found["sets"])))


def hot_row(facts: Facts, tables: Sequence[MonOpenObjectActivity]) -> HotRow | None:
    """The first of these tables that a statement shows to be one, else the first one where its figures do."""
    for table in tables:
        for row in waiting_statements(facts, table):
            adds, takes = adds_to_itself(row.text or "")
            small = _small(facts, table)
            if adds and (takes or small or (small is None and _one_row(facts, table, row))):
                return named(table, shown(row.text or "", 80), row)
    for table in tables:
        if found := _counted_up(facts, table):
            text, held = found
            return replace(named(table, text), held=held if held.steps else None)
    return None if _has_texts(facts) or not tables else _counter_by_figures(facts, tables[0])


def hot_row_steps(facts: Facts, hot: HotRow, table: MonOpenObjectActivity | None, scheme: str) -> Iterator[str]:
    """What shortens the waits for such a row, in one sentence or two; `scheme`: of locks, empty where not known."""
    if table and (shared := _rows_share(facts, table)):
        yield shared
        return
    where = f"{hot.name} in {hot.held.fact.procedure}" if hot.held else hot.name
    or_last = "" if hot.held and hot.held.passed_on else OR_LAST
    yield OWN_STEP.format(where) + or_last + ONE_STEP.get(scheme, ONE_A_PAGE)
    yield NEXT_NUMBER.format(hot.says)


def _rows_share(facts: Facts, table: MonOpenObjectActivity) -> str:
    """What ends it that those who want different rows of a counter wait for one page; empty where none is known to."""
    listed = schemes(facts).get(table_key(table))
    if listed is None or listed.scheme != "datapages" or not known(listed.rows) or not known(listed.pages):
        return ""
    if not listed.rows > listed.pages > 0:
        return ""
    plural = "" if listed.pages == 1 else "s"
    return ROWS_SHARE.format(bare_table(table.object_name or ""), listed.rows, listed.pages, plural)


def _counted_up(facts: Facts, table: MonOpenObjectActivity) -> tuple[str, Held] | None:
    """The update in the text of a procedure that adds a number to a column of this table, and what follows it there."""
    found: list[tuple[str, Held]] = []
    for fact in {one.procedure: one for one in facts.every(ProcedureText)}.values():
        steps = list(STEP.finditer(fact.text))
        for place, step in enumerate(steps):
            end = steps[place + 1].start() if place + 1 < len(steps) else len(fact.text)
            update = SQL_WORD.split(fact.text[step.start() : end], maxsplit=1)[0]
            name = (step["name"] or "").split(".")[-1].lower()
            if (step["what"] or "").lower() != "update" or name != (table.object_name or "").lower() or not name:
                continue
            if (sets := SETS.match(update)) and (adding := ADDS_NUMBER.search(sets["sets"])):
                held = _until_commit(fact, steps, place)
                callers = [] if held.steps else list(_callers(facts, fact))
                found.append((shown(adding[0], 50), max(callers, key=lambda one: one.steps, default=held)))
    return max(found, key=lambda one: one[1].steps, default=None)


def _callers(facts: Facts, called: ProcedureText) -> Iterator[Held]:
    """What procedures that call this one in a transaction of theirs do behind the call, to their commit."""
    for fact in facts.every(ProcedureText):
        steps = list(STEP.finditer(fact.text))
        for place, step in enumerate(steps):
            calls = (step["what"] or "").lower().startswith("exec")
            if calls and (step["name"] or "").split(".")[-1].lower() == called.procedure.lower():
                yield replace(_until_commit(fact, steps, place), calling=called.procedure)


def _until_commit(fact: ProcedureText, steps: Sequence[re.Match[str]], place: int) -> Held:
    """What the procedure does between this step and the commit; nothing where it begins no transaction before it."""
    begun = [one["bound"].lower() for one in steps[:place] if one["bound"]]
    if not begun or not begun[-1].startswith("begin"):
        return Held(fact, 0, ())
    rest: list[re.Match[str]] = []
    end = len(fact.text)
    for step in steps[place + 1 :]:
        if (step["bound"] or "").lower() == "commit":
            end = step.start()
            break
        rest += [step] if step["what"] else []
    calls = tuple(one["name"] for one in rest if one["what"].lower().startswith("exec"))
    taken = TAKEN.finditer(fact.text, steps[place].start(), rest[0].start()) if rest else ()
    used = fact.text[rest[0].start() : end] if rest else ""
    passed_on = any(re.search(rf"{re.escape(one['variable'])}(?![\w@#$])", used) for one in taken)
    return Held(fact, len(rest), calls, passed_on)


def work_queue(facts: Facts, table: MonOpenObjectActivity) -> HotRow | None:
    """The table with what shows it to be a queue whose next row every worker wants; `None` where nothing does."""
    for row in waiting_statements(facts, table):
        if known(row.lock_waits) and TAKES_NEXT.match(COMMENT.sub(" ", row.text or "")):
            return named(table, shown(row.text or "", 80), row)
    if _has_texts(facts):
        return None
    _, inserted, deleted, seconds = _changed(facts, table)
    fewest, most = min(inserted, deleted), max(inserted, deleted)
    if seconds is None or fewest < MANY_UPDATES * seconds or fewest < AS_MANY * most or not _small(facts, table):
        return None
    return named(
        table, f"{inserted / seconds:,.0f} inserts and {deleted / seconds:,.0f} deletes a second on a few pages"
    )


@dataclass(frozen=True)
class Updated:
    """The table whose rows are updated most of all, where its data are a few pages."""

    row: MonOpenObjectActivity
    per_second: float

    @property
    def evidence(self) -> Evidence:
        """How often its rows are updated."""
        return Evidence(f"rows updated in {name_of(self.row)}", round(self.per_second, 1), "/s", self.row.source)


def most_updated(facts: Facts) -> Updated | None:
    """That table; `None` where another one, of many pages, is updated more often, or few rows are updated at all."""
    users: dict[Hashable, MonOpenObjectActivity] = {}
    updated: dict[Hashable, float] = {}
    for row in activity(facts):
        if not row.of_interval or is_system(row) or "tempdb" in (row.database or "").lower():
            continue
        key = table_key(row)
        updated[key] = updated.get(key, 0.0) + (row.rows_updated if known(row.rows_updated) else 0.0)
        if row.index_id <= 1:
            users[key] = row
    first = max(users.values(), key=lambda row: updated[table_key(row)], default=None)
    count, _, _, seconds = _changed(facts, first) if first else (0.0, 0.0, 0.0, None)
    if first is None or not seconds or count < MANY_UPDATES * seconds or not _small(facts, first):
        return None
    return Updated(first, count / seconds)


def named(table: MonOpenObjectActivity, says: str, statement: MonCachedStatement | None = None) -> HotRow:
    """Such a table, by what shows it."""
    return HotRow(f"{table.database}..{table.object_name}", says, table.object_name or "", statement)


def _latest(facts: Facts) -> list[MonCachedStatement]:
    return list({(row.instance, row.statement, row.cached): row for row in facts.every(MonCachedStatement)}.values())


def _has_texts(facts: Facts) -> bool:
    return any(row.text for row in _latest(facts))


def waiting_statements(facts: Facts, table: MonOpenObjectActivity) -> Iterator[MonCachedStatement]:
    """Statements whose text names this table, but those that are known not to have waited for a lock."""
    for row in naming(facts, [(table.database, table.object_name)]):
        if not known(row.lock_waits) or row.lock_waits > 0:
            yield row


def _changed(facts: Facts, table: MonOpenObjectActivity) -> tuple[float, float, float, float | None]:
    """Rows of it that were updated, inserted and deleted in the interval, and its seconds."""
    rows = [row for row in activity(facts) if row.of_interval and table_key(row) == table_key(table)]
    updated, inserted, deleted = (
        sum(one for row in rows if known(one := getattr(row, f"rows_{what}")))
        for what in ("updated", "inserted", "deleted")
    )
    return updated, inserted, deleted, next((row.seconds for row in rows if row.seconds), None)


def _counter_by_figures(facts: Facts, table: MonOpenObjectActivity) -> HotRow | None:
    """A table of a few pages whose rows are updated all the time, and next to never inserted or deleted."""
    updated, inserted, deleted, seconds = _changed(facts, table)
    others = inserted + deleted
    if seconds is None or updated < MANY_UPDATES * seconds or others > FEW_OTHERS * updated or not _small(facts, table):
        return None
    return named(table, f"{updated / seconds:,.0f} updates a second on a few pages, next to no inserts")


def _one_row(facts: Facts, table: MonOpenObjectActivity, row: MonCachedStatement) -> bool:
    """Whether a statement changes one row, found on a few pages, and mostly waits for it: so few rows that all want."""
    updated, inserted, deleted, _ = _changed(facts, table)
    ran, waited, pages = row.executions, row.lock_waits, pages_each(row)
    if not (known(ran) and known(waited)) or pages is None or pages >= PAGES_A_ROW or waited < MOSTLY * ran or ran <= 0:
        return False
    if not row.of_interval:  # since it was cached: the rows of the interval say only that none are added or taken away
        return updated > 0 and inserted + deleted <= FEW_OTHERS * updated
    return MOSTLY * ran <= updated <= ONE_ROW * ran


def _small(facts: Facts, table: MonOpenObjectActivity) -> bool | None:
    """Whether the data of a table are a few pages, or a few rows; `None` where no export says how large they are."""
    of = sizes(facts).of
    data = [kb for (key, index), kb in of.items() if key == table_key(table) and index <= 1]
    if data:
        return sum(data) <= FEW_PAGES * (page_kb_of(facts) or SMALLEST_PAGE_KB)
    counted = [
        one.rows
        for one in facts.every(TableRows)
        if (one.database, one.table) == (table.database, table.object_name) and one.index_id <= 1
    ]
    return True if counted and known(counted[-1]) and counted[-1] <= FEW_ROWS else None
