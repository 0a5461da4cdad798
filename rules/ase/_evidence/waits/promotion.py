"""Lock promotion on SAP ASE: how often row and page locks became a table lock, by which thresholds, and what to do.

The direction follows the figures (knowledge/ase-waits-caches.md, 3.3): many waits for table locks while promotions are
counted ask for a higher HWM of that table; contended spinlocks of the lock hash table ask for a lower one, and then
nothing is raised. The size of a step is this project's: no source gives one.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil

from collectors.facts import Fact, Facts, known
from collectors.facts.ase import (
    ConfigParameter,
    LockEvents,
    MonCachedStatement,
    MonOpenObjectActivity,
    MonSysStatement,
    ResourceUsage,
    TableScheme,
)
from rules.ase._evidence.objects.resources import LOCKS, usages_of
from rules.ase._evidence.objects.seen import table_key
from rules.ase._evidence.objects.statements import tables_in
from rules.ase._evidence.server import setting_of
from rules.changes.ase_promotion import Thresholds, set_promotion
from rules.changes.ase_table import NotConvertible
from rules.changes.out_of_range import OutOfRange
from rules.finding import Change, Evidence, MissingInput

PROMOTION_FACTS: tuple[type[Fact], ...] = (
    LockEvents, ConfigParameter, ResourceUsage, MonSysStatement, MonCachedStatement, TableScheme, MonOpenObjectActivity,
)  # fmt: skip
DEFAULT_HWM = 200
"""Vendor's default of `row lock promotion HWM` and of the one for pages."""
KIND_OF = {"datarows": "row", "datapages": "page", "allpages": "page"}
"""What is promoted, by the lock scheme of the table."""
FIRST_STEP = 10
"""This project: times the HWM in force as a first step, where no export shows how many rows a statement changes."""
ROOM = 10
"""This project: as many statements at once, each with locks up to the HWM, must find theirs among the free ones."""
MARGIN = 1.2
"""This project: a fifth above the rows of the largest statement seen."""
THRESHOLDS = MissingInput("thresholds of lock promotion", 'sp_configure "lock promotion"')
FREE_LOCKS = MissingInput("how many locks are free", f'sp_monitorconfig "{LOCKS}"')


@dataclass(frozen=True)
class Raise:
    """A higher HWM for one table: the change, or what is missing for it."""

    change: Change | None
    missing: tuple[MissingInput, ...] = ()
    evidence: tuple[Evidence, ...] = ()


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
    """The server's thresholds for `row` or `page` locks; `None` where one of the three was not brought."""
    settings = [setting_of(facts, f"{kind} lock promotion {name}") for name in ("LWM", "HWM", "PCT")]
    read = [one.run_number for one in settings if one and one.run_number is not None]
    if len(read) < len(settings):
        return None
    lwm, hwm, pct = (int(one) for one in read)
    return Thresholds(lwm, hwm, pct)


def raised(facts: Facts, scheme: TableScheme) -> Raise:
    """A higher HWM for this table, as far as the locks that are free allow it."""
    kind = KIND_OF.get(scheme.scheme, "row")
    now, free = thresholds_of(facts, kind), free_locks(facts)
    missing = (*(() if now else (THRESHOLDS,)), *(() if free is not None else (FREE_LOCKS,)))
    if now is None or free is None:
        return Raise(None, missing)
    rows = _most_rows(facts, scheme) if kind == "row" else None
    over = rows if rows and rows[0] > now.hwm else None
    wanted = ceil(over[0] * MARGIN / 100) * 100 if over else FIRST_STEP * now.hwm
    most = int(free // ROOM)
    new = min(wanted, most)
    if new <= now.hwm or not scheme.database or not scheme.owner:
        return Raise(None)
    step = (
        f"HWM {new}: a fifth above the {over[0]:,.0f} rows of the largest statement on it in the export."
        if over and new == wanted
        else f"HWM {new}: {FIRST_STEP} times the one in force, a first step (this project's)."
        if new == wanted
        else f"HWM {new}: a tenth of the {free:,.0f} locks that are free, so that ten such statements find theirs."
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
            cautions=(step, after),
        )
    except (NotConvertible, OutOfRange):
        return Raise(None)
    return Raise(change, (), tuple(_figures(facts, kind, over)))


def _figures(facts: Facts, kind: str, over: tuple[float, MonSysStatement] | None) -> Iterator[Evidence]:
    setting = setting_of(facts, f"{kind} lock promotion HWM")
    if setting and setting.run_number is not None:
        yield Evidence(f"{kind} lock promotion HWM", setting.run_number, "locks", setting.source)
    for usage in usages_of(facts, LOCKS):
        if known(usage.free):
            yield Evidence("locks that are free", usage.free, "locks", usage.source)
    if over:
        yield Evidence("rows changed by one statement", over[0], "rows", over[1].source)


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


def _most_rows(facts: Facts, scheme: TableScheme) -> tuple[float, MonSysStatement] | None:
    """The most rows that one statement changed whose text names this table, and where it stands."""
    names = {row.db_id: row.database for row in facts.every(MonOpenObjectActivity) if row.database}
    wanted = (scheme.database or "").lower(), scheme.table.lower()
    naming = {
        row.statement
        for row in facts.every(MonCachedStatement)
        if row.text
        and wanted
        in {
            ((database or row.database or names.get(row.db_id) or "").lower(), (name or "").lower())
            for database, name in tables_in(row.text)
        }
        and row.text.lstrip().lower().startswith(("update", "delete"))
    }
    ended = [one for one in facts.every(MonSysStatement) if one.statement in naming and known(one.rows_affected)]
    most = max(ended, key=lambda one: one.rows_affected if known(one.rows_affected) else 0.0, default=None)
    return (most.rows_affected, most) if most and known(most.rows_affected) else None


def lower_hwm(facts: Facts) -> str:
    """That fewer locks are taken where an HWM above the vendor's default is lowered to it, as a sentence; else empty.

    Only while no promotion is counted: with promotions the threshold is low enough for what runs.
    """
    setting = setting_of(facts, "row lock promotion HWM")
    running = setting.run_number if setting else None
    if running is None or running <= DEFAULT_HWM or promotions(facts):
        return ""
    most = _most_requests(facts)
    where = f" for {most}" if most else ""
    return (
        f"row lock promotion HWM runs with {running:,.0f} (vendor's default {DEFAULT_HWM}): where no table lock is "
        f"waited for, a lower one{where} takes fewer locks (sp_setrowlockpromote)."
    )


def _most_requests(facts: Facts) -> str:
    """The user table with more than half of all lock requests of the interval; empty where there is none."""
    counts: dict[object, tuple[float, str]] = {}
    for row in facts.every(MonOpenObjectActivity):
        if row.of_interval and row.believed and known(row.lock_requests) and row.object_name and row.database:
            before = counts.get(table_key(row), (0.0, ""))[0]
            counts[table_key(row)] = (before + row.lock_requests, f"{row.database}..{row.object_name}")
    most = max(counts.values(), default=(0.0, ""))
    return most[1] if 2 * most[0] > sum(count for count, _ in counts.values()) else ""
