"""Lock waits of tables of SAP ASE by `sp_object_stats`, which counts them over a sample of its own, in milliseconds.

It lists the most contended tables alone, so what it books is the least that tasks waited, and no share of all tasks
that wait. How long the sample was stands in its command; where that was not echoed it is taken as an hour, which few
are longer than. Allpages and datapages tables are a matter of their lock scheme (ase/allpages_table_contended); what is
judged here is the table that locks rows already.
"""

from collections.abc import Hashable
from dataclasses import dataclass

from collectors.facts import Facts, known
from collectors.facts.ase import LockRequests, MonOpenObjectActivity, ObjectLockContention, SysmonSample
from rules.ase._evidence.objects.seen import table_key
from rules.ase._evidence.server import engines_of
from rules.ase._evidence.waits.hot_rows import HotRow, named
from rules.ase._evidence.waits.tables import LEAST_PERCENT, NAMED, Waiting
from rules.ase._evidence.waits.tasks import LONG_WAIT, Waited
from rules.ase._evidence.waits.verdict import TaskLimits, TooLong, not_counted, of_tasks
from rules.finding import Evidence, Severity

HOUR = 3600.0
"""This project: seconds of a sample whose command was not echoed."""
ALIKE, MANY_WAITS = 0.02, 1000.0
"""This project: as many waits in both, and so many, are of the same minutes."""
SAME_TIME = (
    "How long its sample was is not in the export (isql -e): sp_sysmon counts as many waits for exclusive row locks in "
    "{0:,.0f} s, which it is judged as (this project)."
)
CONTENTION = 15.0
"""Per cent of the requests that wait, from which on the vendor's procedure calls a table contended."""
EXCLUSIVE = "EX_ROW"
FEW_ROWS = "{0:.0f} % of the {1} requests for exclusive row locks waited"
FEW_ROWS_WANTED = (
    "Rows are locked singly there, so most tasks want the same few rows, such as a next number or a counter, or one "
    "transaction locks many rows for long (this project's conclusion)."
)


@dataclass(frozen=True)
class Booked:
    """The lock waits of one table, all lock types together."""

    waiting: Waiting
    wait_seconds: float
    worst: ObjectLockContention
    """The lock type with most waits."""


def booked(facts: Facts) -> list[Booked]:
    """Tables with lock waits, most first, of the last sample of each."""
    rows = {(row.database, row.owner, row.table, row.lock_type): row for row in facts.every(ObjectLockContention)}
    found: dict[Hashable, list[ObjectLockContention]] = {}
    for row in rows.values():
        if known(row.waited) and row.waited > 0:
            found.setdefault(table_key(_as_activity(row)), []).append(row)
    every = []
    for same in found.values():
        worst = max(same, key=_waits)
        one = Waiting(_as_activity(worst), scheme=worst.scheme, kind=worst.lock_type or "")
        one.waits = sum(map(_waits, same))
        one.requests = one.waits + sum(row.granted for row in same if known(row.granted))
        time = sum(row.wait_milliseconds for row in same if known(row.wait_milliseconds)) / 1000
        every.append(Booked(one, time, worst))
    whole = sum(one.waiting.waits for one in every)
    for found_one in every:
        found_one.waiting.share = 100.0 * found_one.waiting.waits / whole
    return sorted(every, key=lambda one: (-one.waiting.waits, one.waiting.name))


def booked_tables(facts: Facts) -> list[Waiting]:
    """The same for the texts: those with a real part of the waits."""
    return [one.waiting for one in booked(facts) if one.waiting.share >= LEAST_PERCENT][:NAMED]


def _waits(row: ObjectLockContention) -> float:
    return row.waited if known(row.waited) else 0.0


def _as_activity(row: ObjectLockContention) -> MonOpenObjectActivity:
    """The table as the rules know it; it holds no counts."""
    return MonOpenObjectActivity(
        source=row.source,
        database=row.database,
        db_id=row.db_id,
        owner=row.owner,
        object_name=row.table,
        object_id=row.object_id,
    )


def row_waits(facts: Facts, limits: TaskLimits) -> TooLong | None:
    """That tasks wait for a table which locks rows already, by the time booked to it; `None` where they do not."""
    every = booked(facts)
    first = max(every, key=lambda one: one.wait_seconds, default=None)
    if first is None or first.waiting.system or first.waiting.scheme != "datarows":
        return None
    sample = None if first.worst.seconds else _same_time(facts)
    seconds = first.worst.seconds or (sample.seconds if sample else None) or HOUR
    time, waits = sum(one.wait_seconds for one in every), sum(one.waiting.waits for one in every)
    engines = engines_of(facts, interval=True)
    running = float(engines.number) if engines.number is not None else None
    waited = Waited(
        what="locks",
        seconds=seconds,
        waited_seconds=time,
        waits=waits,
        waiting=time / seconds,
        running=running,
        source=first.worst.source,
        running_source=engines.source,
        complete=False,
    )
    loud = of_tasks(waited, limits)
    if loud is None or first.wait_seconds < limits.tasks * seconds or time / waits >= LONG_WAIT * seconds:
        return None
    tables = "1 table" if len(every) == 1 else f"{len(every)} tables"
    in_all = f"sp_object_stats books {time:,.0f} s of lock waits to {tables}, in {waits:,.0f} waits of "
    each = f"{1000 * time / waits:,.1f} ms each"
    evidence = [Evidence("seconds waited for locks", round(time, 1), "s of all tasks", first.worst.source)]
    if first.worst.seconds is None and sample is None:
        title = f"Tasks waited {time:,.0f} s for locks in one sp_object_stats"
        unknown = f"How long its sample was is not in the export (isql -e): judged as {HOUR:,.0f} s (this project)."
        return TooLong(Severity.ADVICE, title, f"{in_all}{each}.", tuple(evidence), unknown)
    evidence.append(
        Evidence("tasks waiting for locks", round(waited.tasks, 2), "tasks", first.worst.source, limits.tasks)
    )
    title = f"{waited.tasks:.1f} tasks on average wait for locks"
    said = f"{in_all}{each}, in {seconds:,.0f} s."
    unknown = not_counted(waited, loud)
    if sample:
        unknown, loud = SAME_TIME.format(seconds), min(loud, Severity.WARNING)
    return TooLong(loud, title, said, tuple(evidence), unknown, waited.mean_milliseconds)


def _same_time(facts: Facts) -> SysmonSample | None:
    """The sample of sp_sysmon that counts as many waits for exclusive row locks, so it is of the same minutes."""
    sample, counted = facts.latest(SysmonSample), facts.latest(LockRequests, lock_type="Exclusive Row")
    rows = {
        table_key(_as_activity(row)): row for row in facts.every(ObjectLockContention) if row.lock_type == EXCLUSIVE
    }
    waits = sum(map(_waits, rows.values()))
    if sample is None or not sample.seconds or counted is None or not known(counted.waited) or waits < MANY_WAITS:
        return None
    return sample if abs(counted.waited - waits) <= ALIKE * counted.waited else None


def few_rows(facts: Facts) -> HotRow | None:
    """The first table, where it locks rows and yet as many wait for exclusive locks that they must want the same rows.

    This project's conclusion: most of its waits are for exclusive row locks, and of these requests as large a share
    waits as the vendor calls contended. A transaction that locks many rows for long makes such figures, too.
    """
    first = next(iter(booked(facts)), None)
    if first is None or first.waiting.scheme != "datarows" or first.waiting.system:
        return None
    row, percent = first.worst, first.worst.contention_percent
    if row.lock_type != EXCLUSIVE or not known(percent) or not CONTENTION <= percent <= 100:
        return None
    requests = _waits(row) + (row.granted if known(row.granted) else 0.0)
    enough = 2 * _waits(row) >= first.waiting.waits
    return named(first.waiting.row, FEW_ROWS.format(percent, f"{requests:,.0f}")) if enough else None
