"""Lock promotion on SAP ASE: how often row and page locks became a table lock, by which thresholds, and what to do.

The direction follows the figures (knowledge/ase-waits-caches.md, 3.3): many waits for table locks while promotions are
counted ask for a higher HWM of that table; contended spinlocks of the lock hash table ask for a lower one, and then
nothing is raised. Nor is anything raised while nearly all locks are in use, or ran out by the error log, whatever the
number of locks may become later: a higher HWM takes more of them. Where no export shows how many are free, the script
shows them first and is held back until a person has looked. An HWM below the rows that a known statement changes
would not keep it from the table lock, so where the free locks allow no higher one, smaller batches are what is left.
The size of a step is this project's: no source gives one.
"""

import re
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, replace
from math import ceil

from collectors.facts import Fact, Facts, Source, known
from collectors.facts.ase import (
    ConfigParameter,
    HeldLock,
    LockEvents,
    LogEvent,
    MonCachedStatement,
    MonOpenObjectActivity,
    MonProcess,
    MonProcessSQLText,
    MonSysStatement,
    ProcedureText,
    ResourceUsage,
    TableScheme,
)
from collectors.statement_text import without_literals
from rules.ase._evidence.objects.resources import LOCKS, USED_PERCENT, usages_of, used_percent
from rules.ase._evidence.objects.seen import activity, databases, schemes, table_key
from rules.ase._evidence.objects.statements import tables_in
from rules.ase._evidence.server import setting_of
from rules.ase._evidence.waits.chains import batch_of, head_process, is_whole_table, of_last_file
from rules.ase._evidence.waits.error_log import DAY, LOG_FACTS, events_of
from rules.ase._evidence.waits.hot_rows import STEP
from rules.changes.ase_config import configure
from rules.changes.ase_promotion import FORGET, PROCEDURES, Thresholds, set_promotion
from rules.changes.ase_table import NotConvertible
from rules.changes.out_of_range import OutOfRange
from rules.changes.quoting import comment, is_plain
from rules.finding import Change, Evidence, MissingInput

PROMOTION_FACTS: tuple[type[Fact], ...] = (
    LockEvents, ConfigParameter, ResourceUsage, MonSysStatement, MonCachedStatement, TableScheme, MonOpenObjectActivity,
    HeldLock, MonProcess, MonProcessSQLText, ProcedureText, *LOG_FACTS,
)  # fmt: skip
DEFAULT_HWM = 200
"""Vendor's default of `row lock promotion HWM` and of the one for pages."""
LOCKS_TABLE = re.compile(r"\block\s+table\b", re.IGNORECASE)
CHANGES = re.compile(r"\A\s*(?:set\s+rowcount\s+\S+\s+)?(?:insert|update|delete|merge)\b", re.IGNORECASE)
PORTION = re.compile(r"\bset\s+rowcount\s+(?P<rows>[0-9]{1,9})\s+(?:update|delete)\b", re.IGNORECASE)
KIND_OF = {"datarows": "row", "datapages": "page", "allpages": "page"}
"""What is promoted, by the lock scheme of the table."""
FIRST_STEP = 10
"""This project: times the HWM in force as a first step, where no export shows how many rows a statement changes."""
ROOM = 10
"""This project: as many statements at once, each with locks up to the HWM, must find theirs among the free ones."""
MARGIN = 1.2
"""This project: a fifth above the rows of the largest statement seen."""
MEAN_MARGIN = 3.0
"""This project: the same, of rows on average: a few executions change several times the mean."""
THRESHOLDS = MissingInput("thresholds of lock promotion", 'sp_configure "lock promotion"')
SHORT = "{0:.0f} % of the locks were in use at most, and a higher lock promotion threshold takes more"
RAN_OUT = "locks ran out (error log), and a higher lock promotion threshold takes more"
TOO_MANY = "a lock promotion threshold above its rows ({0:,.0f}) takes more than a tenth of the {1:,.0f} {2} locks"
OF_SERVER = (
    "The vendor's default for the whole server: a table or database with thresholds of its own keeps these (sp_help, "
    "sp_helpdb). Statements may then hold as many locks: watch Lock Promotions in sp_sysmon, and sp_monitorconfig."
)
FREE_LOCKS = MissingInput("how many locks are free", f'sp_monitorconfig "{LOCKS}"')


CALLED = (
    "Against {0:,.0f} promotions to table locks raise the threshold of {1}, from its database, where sp_help lists "
    "none of its own: `{2}` (undo: `{3}`)."
)
OR_BATCHES = "Or let {0} change fewer rows than {1:,} at once (it changes up to {2:,.0f}), if they are of that table."
FREE_FIRST = "First see that {0:,} locks are free (sp_monitorconfig){1}."
OR_FEWER = ", or let SSQLID {0} change fewer than {1:,} rows at once"
FIRST = "That HWM is a first step (this project's): watch Lock Promotions in sp_sysmon."


@dataclass(frozen=True)
class Promoter:
    """The statement that changes most rows of a table at once."""

    rows: float
    """Of one execution: counted, or at most as many."""
    statement: int
    """SSQLID."""
    source: Source
    counted: bool
    """Whether the rows of one execution were counted; else they are a bound."""
    mean: bool = False
    """Whether they are the mean of all its executions, so that single ones change more."""
    portion: bool = False
    """Whether they are the portions of the batch of the session that holds the whole table (`set rowcount`)."""
    line: str = ""
    """`reprice at line 41`, where it is one of a procedure, which most likely changes this table: no export says so."""


@dataclass(frozen=True)
class Raise:
    """A higher HWM for one table: the change, or what is missing for it, or why there is none."""

    change: Change | None
    missing: tuple[MissingInput, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    promoter: Promoter | None = None
    """The statement above the HWM in force, or the largest where that is not known; `None`: none is known."""
    hwm: int | None = None
    """The one in force."""
    kind: str = "row"
    """`row` or `page`: what is promoted."""
    whole: bool = False
    """Whether the change is one of the server, whose threshold is under the vendor's default, and not of the table."""
    call: str = ""
    """The command that sets the thresholds of the table, with its figures; empty where the change is another.

    It is there without a change, too, where the export does not say whose table it is, so that no script is written."""
    batches: str = ""
    """Why nothing is raised, where smaller batches are what is left, as a clause."""


def promotions(facts: Facts, kind: str = "") -> list[LockEvents]:
    """The promotions to table locks that sp_sysmon counts: of `row` or `page` locks, or of both; none that are 0."""
    rows = {one.kind: one for one in facts.every(LockEvents) if one.event == "promotion"}
    own = [one for name, one in rows.items() if not name.startswith("Total")]
    counted = [one for one in own if known(one.count) and one.count > 0]
    return [one for one in counted if not kind or f"-{kind} to " in one.kind.lower()]


def promoted(rows: list[LockEvents]) -> float:
    """How many promotions these are."""
    return sum(one.count for one in rows if known(one.count))


def thresholds_of(facts: Facts, kind: str) -> Thresholds | None:
    """The server's thresholds for `row` or `page` locks; `None` where one of the three was not collected."""
    settings = [setting_of(facts, f"{kind} lock promotion {name}") for name in ("LWM", "HWM", "PCT")]
    read = [one.run_number for one in settings if one and one.run_number is not None]
    if len(read) < len(settings):
        return None
    lwm, hwm, pct = (int(one) for one in read)
    return Thresholds(lwm, hwm, pct)


def raised(facts: Facts, scheme: TableScheme, db_id: int | None = None) -> Raise:
    """A higher HWM for this table, as far as the locks that are free allow it.

    `db_id`: the number of its database, where the caller knows it and perhaps no listing of databases does.
    """
    kind = KIND_OF.get(scheme.scheme, "row")
    now, free = thresholds_of(facts, kind), free_locks(facts)
    largest = _most_rows(facts, scheme, db_id)
    largest = largest or _of_procedures(facts, scheme, now.hwm if now else None) or _of_holder(facts, scheme)
    if largest and kind == "page":  # a statement locks at most as many pages as rows
        largest = replace(largest, counted=False)
    over = largest if largest and (now is None or largest.rows > now.hwm) else None
    figures, hwm = tuple(_figures(facts, kind, over)), now.hwm if now else None
    used = used_percent(facts, LOCKS)
    if used is not None and used >= USED_PERCENT:
        return Raise(None, (), figures, over, hwm, kind, batches=SHORT.format(used))
    if free is None and any(one.kind == LogEvent.LOCKS for one in events_of(facts, DAY)):
        return Raise(None, (), figures, over, hwm, kind, batches=RAN_OUT)
    number = setting_of(facts, LOCKS)
    locks = free if free is not None else number.run_number if number else None
    missing = (*(() if now else (THRESHOLDS,)), *(() if free is not None else (FREE_LOCKS,)))
    if now is None or locks is None:
        return Raise(None, missing, figures, over, hwm, kind)
    are, most = "free" if free is not None else "configured", int(locks // ROOM)
    low = now.hwm < DEFAULT_HWM
    first = DEFAULT_HWM if low else FIRST_STEP * now.hwm
    least = ceil(over.rows * MARGIN / 100) * 100 if over else first
    wanted = min(ceil(over.rows * MEAN_MARGIN / 100) * 100, max(least, most)) if over and over.mean else least
    if over and wanted > most:
        return Raise(None, missing, figures, over, hwm, kind, batches=TOO_MANY.format(wanted, locks, are))
    new = min(wanted, most)
    if low and free is not None and max(new, wanted) <= DEFAULT_HWM <= most:  # the server's own is what was lowered
        change = configure(f"{kind} lock promotion HWM", now.hwm, DEFAULT_HWM, cautions=(OF_SERVER,))
        return Raise(change, missing, figures, over, hwm, kind, whole=True)
    figured = f"{min(now.lwm, new)}, {new}, {now.pct}"
    call = f'{PROCEDURES[kind]} "table", "{scheme.table}", {figured}' if is_plain(scheme.table) else ""
    if new <= now.hwm or not scheme.database or not scheme.owner:
        return Raise(None, missing, figures, over, hwm, kind, call=call if new > now.hwm else "")
    step = (
        f"HWM {new}: above the {over.rows:,.0f} rows that the largest statement on it changes on average."
        if over and over.mean
        else f"HWM {new}: a fifth above the {over.rows:,.0f} rows of {over.line}, if that changes this table."
        if over and over.line
        else f"HWM {new}: a fifth above the {over.rows:,.0f} rows of the largest statement on it in the export."
        if over
        else f"HWM {new}: a tenth of the {locks:,.0f} locks that are {are}, so that ten such statements find theirs."
        if new != wanted
        else f"HWM {new}: the vendor's default, of which the server has {now.hwm}."
        if low and new == DEFAULT_HWM
        else f"HWM {new}: {FIRST_STEP} times the one in force, a first step (this project's)."
    )
    after = f'Afterwards watch Lock Promotions and table locks that wait in sp_sysmon, and sp_monitorconfig "{LOCKS}".'
    try:
        change = set_promotion(
            database=scheme.database,
            owner=scheme.owner,
            table=scheme.table,
            kind=kind,
            now=now,
            hwm=new,
            free_first=ROOM * new if free is None else None,
            cautions=(step, after),
        )
    except (NotConvertible, OutOfRange):
        return Raise(None, missing, figures, over, hwm, kind)
    return Raise(change, missing, figures, over, hwm, kind, call=call)


def call_steps(raising: Raise, count: float, name: str) -> Iterator[str]:
    """The thresholds of a table as a command, where no script of them can be written, and what else there is to do.

    `count`: of its promotions, `name`: of the table with its database.
    """
    table = raising.call.split('"')[3]
    big, undo = raising.promoter, f'{FORGET[raising.kind]} "table", "{table}"'
    yield CALLED.format(count, name, raising.call, undo)
    if FREE_LOCKS in raising.missing:
        rows = OR_FEWER.format(big.statement, raising.hwm) if big and big.statement and raising.hwm else ""
        yield FREE_FIRST.format(ROOM * int(raising.call.split(", ")[3]), rows)
    elif big is None:
        yield FIRST
    elif big.line and raising.hwm:
        yield OR_BATCHES.format(big.line, raising.hwm, big.rows)


def _figures(facts: Facts, kind: str, over: Promoter | None) -> Iterator[Evidence]:
    setting = setting_of(facts, f"{kind} lock promotion HWM")
    if setting and setting.run_number is not None:
        yield Evidence(f"{kind} lock promotion HWM", setting.run_number, "locks", setting.source)
    for usage in usages_of(facts, LOCKS):
        if known(usage.free):
            yield Evidence("locks that are free", usage.free, "locks", usage.source)
    if over:
        how = ", on average" if over.mean else "" if over.counted or over.line else ", at most"
        what = f"rows changed by {over.line}, at most" if over.line else f"rows changed by one statement{how}"
        yield Evidence(what, round(over.rows), "rows", over.source)


def free_locks(facts: Facts) -> float | None:
    """Locks that were free at most use, of the instance with fewest; `None` where not every line says it."""
    usages = usages_of(facts, LOCKS)
    found = []
    for one in usages:
        if not known(one.free) or not known(one.active):
            return None
        used = max(one.active, one.max_used if known(one.max_used) else 0.0)
        found.append(one.free + one.active - used)
    return min(found, default=None)


def table_lock_holder(facts: Facts, scheme: TableScheme) -> HeldLock | None:
    """Who holds the exclusive lock of this whole table at the moment of the export; `None` where no row shows it."""
    for lock in of_last_file(facts.every(HeldLock)):
        held = is_whole_table(lock) and lock.spid is not None
        database = lock.database or databases(facts).get(lock.db_id or 0)
        here = (database or "").lower() == (scheme.database or "").lower()
        same = lock.object_id is not None and lock.object_id == scheme.object_id
        if held and here and (same or lock.object_name == scheme.table):
            return lock
    return None


@dataclass(frozen=True)
class Taken:
    """How a session came to the lock of a whole table, as far as its batch or its command shows it."""

    says: str
    """A clause behind the lock."""
    against: str
    """What leaves it out the next time, as a sentence."""


def taken(facts: Facts, lock: HeldLock, table: str | None = None) -> Taken | None:
    """How this lock of a whole table was taken; `None` where neither the batch nor the command of its holder shows it.

    `table`: its name, where that is known. Without a batch the one procedure that has such a statement is named.
    That a batch which changes rows and asks for no table lock was promoted is this project's conclusion: an earlier
    batch of the same transaction may have asked for it.
    """
    process, text = head_process(facts, lock.spid or 0), without_literals(batch_of(facts, lock.spid or 0))
    if LOCKS_TABLE.search(text):
        return Taken("taken by `lock table` in its batch", "Afterwards see whether that job needs `lock table` by day.")
    if not CHANGES.match(text or (process.command if process else None) or ""):
        return None
    listed = [one for one in facts.every(TableScheme) if one.object_id == lock.object_id and lock.object_id]
    kinds = {KIND_OF.get(one.scheme, "") for one in listed}
    kind = next(iter(kinds)) if len(kinds) == 1 else ""
    setting = setting_of(facts, f"{kind} lock promotion HWM") if kind else None
    number = setting.run_number if setting else None
    hwm = f"the {kind} lock promotion HWM" if kind else "the lock promotion HWM"
    hwm += f" ({number:,.0f})" if number is not None else ""
    own = "" if text else _procedure_of(facts, (process.command if process else None) or "", table)
    return Taken(
        f"most likely by lock promotion (its batch {'has no `lock table`' if text else 'changes rows'})",
        f"Afterwards have {own or 'it'} change fewer {kind or 'row'}s in one statement than {hwm}, so that it locks no "
        "table.",
    )


def _procedure_of(facts: Facts, command: str, table: str | None) -> str:
    """The one procedure whose text runs this command on this table, for a sentence; empty: none, or several."""
    found = {
        one.procedure
        for one in facts.every(ProcedureText)
        for step in STEP.finditer(one.text)
        if step["what"] and step["what"].upper() == command.strip().upper()
        if table and (step["name"] or "").split(".")[-1].lower() == table.lower()
    }
    return f"{comment(found.pop(), 60)} (it alone does so by its text)" if len(found) == 1 else ""


def _most_rows(facts: Facts, scheme: TableScheme, db_id: int | None) -> Promoter | None:
    """The most rows of this table that one execution of a statement changes, whose text names the table."""
    names = databases(facts) | ({db_id: scheme.database} if db_id is not None and scheme.database else {})
    wanted = (scheme.database or "").lower(), scheme.table.lower()
    latest = {(row.instance, row.statement, row.cached): row for row in facts.every(MonCachedStatement)}
    naming = [
        row
        for row in latest.values()
        if row.text
        and wanted
        in {
            ((database or row.database or names.get(row.db_id or 0) or "").lower(), (name or "").lower())
            for database, name in tables_in(row.text)
        }
        and row.text.lstrip().lower().startswith(("update", "delete"))
    ]
    numbers = {row.statement for row in naming}
    found = [
        Promoter(one.rows_affected, one.statement or 0, one.source, True)
        for one in facts.every(MonSysStatement)
        if one.statement in numbers and known(one.rows_affected)
    ]
    changed = _changed_rows(facts, scheme)
    found += [one for one in (_of_cached(row, changed) for row in naming if row.believed) if one]
    return max(found, key=lambda one: (one.rows, one.counted), default=None)


def _of_procedures(facts: Facts, scheme: TableScheme, hwm: int | None) -> Promoter | None:
    """The one line of a procedure, or of a session's batch, that changes more rows of one database than the HWM.

    A row without a database may be of that of the table. No text says which table it changes: `None` where two such
    lines were listed, or where the rows that were changed in the table are fewer than those which its executions in the
    listing changed. Where these are not counted, the session that holds the whole table must have run that line.
    """
    changed, lines = _changed_rows(facts, scheme), dict[tuple[str, int], list[MonSysStatement]]()
    for one in facts.every(MonSysStatement):
        here = (one.database or scheme.database or "").lower() == (scheme.database or "").lower()
        of = one.procedure or (f"the batch of SPID {one.spid}" if one.spid and not one.procedure_id else "")
        if here and of and one.line and known(one.rows_affected) and hwm and one.rows_affected > hwm:
            lines.setdefault((of, one.line), []).append(one)
    if len(lines) != 1:
        return None
    (((procedure, line), rows),) = lines.items()
    holder = table_lock_holder(facts, scheme) if changed is None else None
    if changed is None and not (holder and any(one.spid == holder.spid for one in rows)):
        return None
    if changed is not None and sum(one.rows_affected for one in rows if known(one.rows_affected)) > changed:
        return None
    most = max(rows, key=lambda one: one.rows_affected if known(one.rows_affected) else 0.0)
    count = most.rows_affected if known(most.rows_affected) else 0.0
    return Promoter(count, 0, most.source, False, line=f"{comment(procedure, 60)} at line {line}")


def _of_holder(facts: Facts, scheme: TableScheme) -> Promoter | None:
    """The portions (`set rowcount`) in which the session that holds this whole table changes it and no other table."""
    holder = table_lock_holder(facts, scheme)
    batch = batch_of(facts, holder.spid or 0) if holder else ""
    found = list(PORTION.finditer(batch))
    named = {(name or "").lower() for _, name in tables_in(without_literals(batch))}
    rows = float(found[0]["rows"]) if len(found) == 1 else 0.0
    if holder is None or not rows or named != {scheme.table.lower()}:
        return None
    said = [one for one in facts.every(MonProcessSQLText) if one.spid == holder.spid and one.text]
    return Promoter(rows, 0, said[-1].source, False, portion=True)


def _of_cached(row: MonCachedStatement, changed: float | None) -> Promoter | None:
    """What one execution of a cached statement changes.

    Counted from 15.7 ESD#2 on. Without that column it is at most what it scans, and at most what its executions share
    of all rows that were changed in the table; one of the two alone can be far too high, so both have to be there.
    """
    if known(row.max_write_rows) and row.max_write_rows > 0:
        return Promoter(row.max_write_rows, row.statement, row.source, True)
    if known(row.mean_write_rows) and row.mean_write_rows > 0:
        return Promoter(row.mean_write_rows, row.statement, row.source, True, mean=True)
    if changed is None or not row.of_interval or not known(row.executions) or row.executions <= 0:
        return None
    if not known(row.mean_scan_rows) or row.mean_scan_rows <= 0:
        return None
    return Promoter(min(row.mean_scan_rows, changed / row.executions), row.statement, row.source, False)


def _changed_rows(facts: Facts, scheme: TableScheme) -> float | None:
    """Rows of this table that were updated or deleted in the interval; `None` where no export counts them."""
    counts = [
        sum(one for one in (row.rows_updated, row.rows_deleted) if known(one))
        for row in activity(facts)
        if row.of_interval and row.index_id in (0, 1) and table_key(row) == table_key(scheme)
        if known(row.rows_updated) or known(row.rows_deleted)
    ]
    return sum(counts) if counts else None


def lower_hwm(facts: Facts) -> str:
    """That fewer locks are taken where an HWM above the vendor's default is lowered to it, as a sentence; else empty.

    Only while no promotion is counted: with promotions the threshold is low enough for what runs.
    """
    most, kind = most_requests(facts)
    setting = setting_of(facts, f"{kind or 'row'} lock promotion HWM")
    running = setting.run_number if setting else None
    if running is None or running <= DEFAULT_HWM or promotions(facts):
        return ""
    where = f" for {most}" if most else ""
    call = PROCEDURES[kind] if kind else f"datarows: {PROCEDURES['row']}"
    return (
        f"{kind or 'row'} lock promotion HWM runs with {running:,.0f} (vendor's default {DEFAULT_HWM}): if no table "
        f"lock is waited for, a lower one{where} takes fewer locks ({call})."
    )


@dataclass(frozen=True)
class Unreachable:
    """A threshold of lock promotion as high as the number of locks, or higher: nothing is ever promoted."""

    setting: ConfigParameter
    kind: str
    """`row` or `page`."""

    @property
    def says(self) -> str:
        """The setting, what it runs with, and the vendor's default, as a clause."""
        name, running = self.setting.name, self.setting.run_number or 0.0
        return f"{name} runs with {running:,.0f} (vendor's default {DEFAULT_HWM})"


def unreachable(facts: Facts, locks: float) -> Unreachable | None:
    """The HWM that no statement can reach with this number of locks, rows first; `None` where none is known to be."""
    for kind in PROCEDURES:
        setting = setting_of(facts, f"{kind} lock promotion HWM")
        running = setting.run_number if setting else None
        if setting and running is not None and running >= max(locks, DEFAULT_HWM + 1):
            return Unreachable(setting, kind)
    return None


def most_requests(facts: Facts) -> tuple[str, str]:
    """The user table with more than half of all lock requests of the interval, and `row` or `page` as it locks.

    Both are empty where there is none, the kind alone where the lock scheme of the table is not in the export.
    """
    counts: dict[Hashable, tuple[float, str]] = {}
    for row in facts.every(MonOpenObjectActivity):
        if row.of_interval and row.believed and known(row.lock_requests) and row.object_name and row.database:
            before = counts.get(table_key(row), (0.0, ""))[0]
            counts[table_key(row)] = (before + row.lock_requests, f"{row.database}..{row.object_name}")
    most = max(counts, key=lambda key: counts[key][0], default=None)
    if most is None or 2 * counts[most][0] <= sum(count for count, _ in counts.values()):
        return "", ""
    scheme = schemes(facts).get(most)
    return counts[most][1], KIND_OF.get(scheme.scheme, "") if scheme else ""
