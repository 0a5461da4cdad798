"""What the fleet benchmark reads out of the database: times of one hour's captures, and what they take up."""

from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime
from statistics import median
from typing import Any

TABLES = 8
"""How many are told of, the largest first."""


@dataclass(frozen=True)
class Spread:
    """Seconds."""

    median: float
    p95: float
    most: float

    def __str__(self) -> str:
        return f"{self.median:6.1f} {self.p95:6.1f} {self.most:6.1f}"


def spread(values: list[float]) -> Spread:
    """Summarise; of nothing everything is 0."""
    values = sorted(values) or [0.0]
    return Spread(median(values), values[int((len(values) - 1) * 0.95)], values[-1])


@dataclass(frozen=True)
class Hour:
    """How an hour's captures went through. Times are those of the database and the workers, of one machine."""

    audits: int
    first_look: Spread
    """From the moment the schedules were due to the first look of their runs."""
    read: Spread
    """From the moment an upload was taken in to its audit being begun: its wait in the queue."""
    audited: Spread
    """From the files being dropped to the audit being there."""
    task: float
    """Median seconds of one reading and audit."""
    seconds: float
    """From the files being dropped to the last audit."""
    busy: float
    """From the first look to the last audit."""


def hour_since(dropped: datetime, due: datetime) -> Hour:
    """The captures of all uploads since then."""
    from advisor.schedules.models import DropFile
    from advisor.uploads.models import Upload

    rows = Upload.objects.filter(at__gte=dropped, state=Upload.State.DONE).values_list("at", "claimed", "finished")
    done = [(at, claimed, finished) for at, claimed, finished in rows if claimed and finished]
    seen = dict(DropFile.objects.filter(since__gte=dropped).values_list("path", "since"))
    looks = [(since - due).total_seconds() for since in seen.values()]
    last = max((finished for _, _, finished in done), default=dropped)
    return Hour(
        audits=len(done),
        first_look=spread(looks),
        read=spread([(claimed - at).total_seconds() for at, claimed, _ in done]),
        audited=spread([(finished - dropped).total_seconds() for _, _, finished in done]),
        task=median([(finished - claimed).total_seconds() for _, claimed, finished in done] or [0.0]),
        seconds=(last - dropped).total_seconds(),
        busy=(last - min(seen.values(), default=dropped)).total_seconds(),
    )


def waited(since: datetime) -> list[float]:
    """Seconds from the moment each file was dropped (its schedule was due) to its audit."""
    from advisor.uploads.models import Upload

    rows = Upload.objects.filter(at__gte=since, state=Upload.State.DONE).values_list("run__due", "finished")
    return [(finished - due).total_seconds() for due, finished in rows if due and finished]


def left(since: datetime) -> tuple[int, int]:
    """How many uploads since then are audited, and how many failed."""
    from advisor.uploads.models import Upload

    made = Upload.objects.filter(at__gte=since)
    return made.filter(state=Upload.State.DONE).count(), made.filter(state=Upload.State.FAILED).count()


def sizes() -> dict[str, int]:
    """Bytes of each table with its indexes, of the whole database, and of the log written so far."""
    tables = _ask("SELECT relname, pg_total_relation_size(relid) FROM pg_stat_user_tables")
    found = {name: int(size) for name, size in tables}
    ((found["database"], found["log"]),) = _ask(
        "SELECT pg_database_size(current_database()), pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::bigint"
    )
    return found


@dataclass
class Growth:
    """What a number of audits made the database grow by."""

    audits: int = 0
    grown: Counter[str] = field(default_factory=Counter)

    def add(self, before: dict[str, int], after: dict[str, int], audits: int) -> None:
        """Count these audits in."""
        self.audits += audits
        self.grown.update({name: size - before.get(name, 0) for name, size in after.items()})

    def told(self, a_day: int) -> str:
        """Bytes an audit, and of as many as a day brings."""
        audits = max(1, self.audits)
        log = self.grown.pop("log", 0)
        whole = self.grown.pop("database", 0)
        tables = ", ".join(f"{name} {size / audits / 1e3:.1f}" for name, size in self.grown.most_common(TABLES))
        return (
            f"database: {whole / audits / 1e3:.0f} kB an audit, {whole / audits * a_day / 1e9:.2f} GB a day of "
            f"{a_day:,}; write-ahead log: {log / audits / 1e3:.0f} kB, {log / audits * a_day / 1e9:.2f} GB\n"
            f"  of it, kB: {tables}"
        )


def settle() -> None:
    """Have the database tidy up, so that rounds do not pay for each other."""
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE")
        cursor.execute("CHECKPOINT")


def _ask(query: str) -> list[tuple[Any, ...]]:
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute(query)
        return list(cursor.fetchall())


def table_sizes() -> dict[str, Counter[str]]:
    """Bytes of each table: its `rows`, what lies outside them (`toast`), and its `indexes`."""
    query = (
        "SELECT relname, pg_relation_size(relid), pg_table_size(relid) - pg_relation_size(relid),"
        " pg_indexes_size(relid) FROM pg_stat_user_tables"
    )
    return {
        name: Counter(rows=int(rows), toast=int(toast), indexes=int(indexes))
        for name, rows, toast, indexes in _ask(query)
    }


def largest_columns(audits: int) -> list[tuple[str, float, float]]:
    """`table.column`, its stored bytes an audit, and the rows of its table an audit; the largest first."""
    found = []
    for table, column in _ask(
        "SELECT table_name, column_name FROM information_schema.columns JOIN pg_stat_user_tables"
        " ON relname = table_name WHERE table_schema = 'public'"
    ):
        query = f'SELECT coalesce(sum(pg_column_size("{column}")), 0), count(*) FROM "{table}"'
        ((size, count),) = _ask(query)
        found.append((f"{table}.{column}", int(size) / audits, count / audits))
    return sorted(found, key=lambda one: -one[1])
