"""A change on SAP ASE that waits for locks for most of its time because it scans, by the statement cache alone.

Ratios of one statement need no second snapshot: rows scanned for each row changed, and the time it waited for locks of
the time it took, both since it was cached. What names the same table and waits as much, though it finds its rows on few
pages, waits for such a scan or for the same holders. Which of its waits are of the busy hour, no export of this kind
says, so it is judged only where nothing else tells how many tasks wait.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from collectors.facts import Facts, known
from collectors.facts.ase import MonCachedStatement, TableScheme
from rules.ase._evidence.objects.indexes import beginning_with, indexes_of
from rules.ase._evidence.objects.scans import LEAST_PAGES
from rules.ase._evidence.objects.seen import databases
from rules.ase._evidence.objects.statements import shown, tables_in
from rules.ase._evidence.waits.index_wanted import CHANGES, PAGES_A_ROW, columns_of, index_step, pages_each
from rules.finding import Evidence, Finding, Severity, joined

WAITED_PERCENT = 50.0
"""This project: of its elapsed time, from which on waits for locks are what a statement takes its time for."""
EACH_MILLISECONDS = 100.0
"""This project: lock wait of one execution on average, under which nobody notices it."""
RUNS = 100.0
"""This project: executions, under which a mean is of little."""
HOLDS_UP = "A scan for changes asks for a lock at each row or page on its way and waits at each that is held{0}."
OTHERS = "; SSQLID {0} finds its rows on {1:,.0f} pages and waits {2:.0f} % of its time, most likely behind it"
SINCE = "The figures are since each was cached: how many tasks wait at a time is in monSysWaits, twice{0}."
NO_SCHEME = ", and the lock scheme of the table in `lockscheme(id)`"


@dataclass(frozen=True)
class Waits:
    """One statement on one table, and what of its time it waits for locks."""

    row: MonCachedStatement
    database: str | None
    table: str
    milliseconds: float
    """Lock wait of one execution on average."""
    percent: float
    """The same of its elapsed time."""


def _waits(facts: Facts) -> Iterator[Waits]:
    """The statements on one user table that wait for locks for most of their time, longest first."""
    names, found = databases(facts), []
    for row in {(one.instance, one.statement, one.cached): one for one in facts.every(MonCachedStatement)}.values():
        tables, ran, waited, took = (
            tables_in(row.text or ""), row.executions, row.lock_wait_milliseconds, row.mean_elapsed_milliseconds,
        )  # fmt: skip
        if len(tables) != 1 or not row.believed or not known(ran) or not known(waited) or not known(took):
            continue
        ((database, table),) = tables
        home = database or row.database or names.get(row.db_id or 0)
        if ran < RUNS or took <= 0 or not table or "tempdb" in (home or "").lower() or table.startswith("#"):
            continue
        each = waited / ran
        if each >= EACH_MILLISECONDS and WAITED_PERCENT * took <= 100.0 * each <= 100.0 * 2 * took:
            found.append((waited, Waits(row, home, table, each, min(100.0 * each / took, 100.0))))
    for _, one in sorted(found, key=lambda pair: -pair[0]):
        yield one


def scan_waits(facts: Facts) -> Finding | None:
    """The statement that scans for a row or two to change, and waits for locks on its way; `None`: there is none."""
    waits = list(_waits(facts))
    for one in waits:
        pages, seen, changed = pages_each(one.row), one.row.mean_scan_rows, one.row.mean_write_rows
        if not CHANGES.match(one.row.text or "") or pages is None or pages < LEAST_PAGES:
            continue
        if not known(seen) or not known(changed) or seen < PAGES_A_ROW * max(changed, 1.0):
            continue
        columns = columns_of(one.row.text or "")
        if any(beginning_with(indexes_of(facts, one.table), column) for column in columns):
            continue
        return _finding(facts, one, [other for other in waits if other is not one], (pages, seen, changed), columns)
    return None


def _finding(
    facts: Facts, one: Waits, others: list[Waits], figures: tuple[float, float, float], columns: tuple[str, ...]
) -> Finding:
    row, name, (pages, seen, changed) = one.row, f"{one.database or '?'}..{one.table}", figures
    same = [other for other in others if (other.database, other.table.lower()) == (one.database, one.table.lower())]
    victims = [(other, read) for other in same if (read := pages_each(other.row)) is not None and read < PAGES_A_ROW]
    behind = OTHERS.format(victims[0][0].row.statement, victims[0][1], victims[0][0].percent) if victims else ""
    ran = row.executions if known(row.executions) else 0.0
    listed = any(scheme.table.lower() == one.table.lower() for scheme in facts.every(TableScheme))
    source = row.source
    return Finding(
        subject=name,
        severity=Severity.ADVICE,
        title=f"SSQLID {row.statement} scans {name} for each row it changes, and waits for locks meanwhile",
        seen=joined(
            f"{shown(row.text or '', 80)} (SSQLID {row.statement}) scans {seen:,.0f} rows on {pages:,.0f} pages to "
            f"change {changed:,.3g}, {ran:,.0f} times.",
            f"Each waits {one.milliseconds:,.0f} ms for locks, {one.percent:.0f} % of its time.",
        ),
        because=HOLDS_UP.format(behind),
        do=index_step(row, one.table, name, columns),
        unknown=joined(
            SINCE.format("" if listed else NO_SCHEME),
            ""
            if indexes_of(facts, one.table)
            else f"Whether such an index is there already: `sp_helpindex {one.table}`.",
        ),
        evidence=(
            Evidence("rows scanned for each row changed", round(seen / max(changed, 1.0)), "", source, PAGES_A_ROW),
            Evidence("pages read each time", pages, "pages", source, LEAST_PAGES),
            Evidence("lock wait of each execution", round(one.milliseconds, 1), "ms", source, EACH_MILLISECONDS),
            Evidence("lock wait of its elapsed time", round(one.percent, 1), "%", source, WAITED_PERCENT),
            *(
                Evidence(
                    f"lock wait of SSQLID {other.row.statement}",
                    round(other.percent, 1),
                    "%",
                    other.row.source,
                )
                for other, _ in victims[:3]
            ),
        ),
    )
