"""What is asked of an Oracle Rdb database: one SELECT a table, each in a read-only transaction of its own.

Rdb has the information tables from release 7.1 on, once `SQL$SAMPLE:INFO_TABLES.SQL` has made them (vendor: SQL
Reference Manual 7.2, Information Tables).
"""

from collections.abc import Iterable
from dataclasses import dataclass

from collectors.live.ase.collecting import checked_time
from collectors.live.registry import CollectorFailed

READ_ONLY = "set transaction read only"
"""Sent before each question, as the first statement of its transaction; a server that does not take it, or says
anything to it, is asked nothing."""
FILE = "information-tables.txt"


@dataclass(frozen=True)
class Question:
    """One SELECT."""

    name: str
    """The table."""
    why: str
    most_rows: int
    """So many rows are taken; more are not fetched."""
    columns: str = "*"

    @property
    def sql(self) -> str:
        """The statement."""
        return f"select {self.columns} from {self.name}"  # noqa: S608 - made of the constants below alone


WHO = "RDB$DATABASE"
"""The question without whose answer it is not known which database it is."""
QUESTIONS = (
    Question(WHO, "whose figures they are: the root file", 1, "RDB$FILE_NAME, RDB$MAJ_VER"),
    Question("RDB$DATABASE_ROOT", "users, nodes, buffers and locking of the database", 10),
    Question("RDB$DATABASE_JOURNAL", "after-image journaling and fast commit", 10),
    Question("RDB$STORAGE_AREAS", "storage areas: locking by page or row, row cache", 5_000),
    Question(
        "RDB$LOGICAL_AREAS",
        "tables and indexes by number, storage area and record length: names for logs, sizes for row caches",
        5_000,
        "RDB$LOGICAL_AREA_ID, RDB$AREA_ID, RDB$RECORD_LENGTH, RDB$LOGICAL_AREA_NAME",
    ),
    Question("RDB$CACHES", "row caches and their sizes", 2_000),
    Question("RDB$DATABASE_USERS", "how many users are attached", 5_000),
)
"""`RDB$DATABASE` is a system table; the others are information tables. Bounds are this project's: Rdb allows 2,048
users and some hundreds of storage areas."""


@dataclass(frozen=True)
class CollectRequest:
    """What is to be collected, and how long a server may take to answer."""

    without: tuple[str, ...] = ()
    """Names of tables that are not asked."""
    login_seconds: float = 20.0
    question_seconds: float = 30.0
    """Short: with deferred snapshots even a read-only transaction waits for all that write (rdb-rules.md 2)."""


def order_of(without: Iterable[str] = (), question_seconds: float = 0.0) -> CollectRequest:
    """Make an order. Raises `CollectorFailed` for what cannot be."""
    names = [one.name for one in QUESTIONS if one.name != WHO]
    left = tuple(name.upper() for name in without)
    if bad := [name for name in left if name not in names]:
        raise CollectorFailed(f"there is no question {bad[0][:60]!r} to leave out", f"it is one of {', '.join(names)}")
    return CollectRequest(left, question_seconds=max(CollectRequest.question_seconds, checked_time(question_seconds)))


def text() -> str:
    """What is asked, as a DBA may read it."""
    parts = [
        "-- Each question is sent in a transaction of its own that only reads, and is rolled back:",
        f"--   {READ_ONLY}",
        "-- The driver adds by itself, at the connect: the login, and through pyodbc four questions for its types",
        "-- (SQLGetTypeInfo for 12, -9, -3 and 11); what else a driver for Rdb sends, its documentation says.",
        "-- Cost: a read-only transaction takes no lock on rows; the answers come from the root file.",
    ]
    for one in QUESTIONS:
        parts += ["", f"-- {one.name}: {one.why} (at most {one.most_rows:,} rows are fetched)", f"{one.sql};"]
    return "\n".join(parts) + "\n"
