"""Query plans of SAP ASE: how a statement reaches each of its tables; and the texts of stored procedures."""

from dataclasses import dataclass
from typing import ClassVar

from collectors.facts.base import ABSENT, Fact, Reading


@dataclass(frozen=True, kw_only=True)
class PlanAccess(Fact):
    """One table in the plan of one statement: read by a scan or by an index, with which I/O, kept how in the cache."""

    COLLECTED_BY: ClassVar[str] = "a query plan as `sp_showplan` prints it, with the command echoed (isql -e)"

    table: str
    """As the statement writes it, without owner and database: `item`."""
    database: str | None = None
    """`None`: the statement names none."""
    spid: int | None = None
    """Of the session whose plan it is, by the command above it; `None` where that is not in the export."""
    ssql_id: int | None = None
    """SSQLID of the statement in the statement cache, where its plan was asked for by it."""
    statement: int
    """Which statement of its batch or procedure."""
    line: int | None = None
    """At which line of that it stands."""
    query: str | None = None
    """`SELECT`, `UPDATE`, …"""
    scanned: bool = False
    """Whether every page of the table is read."""
    by_index: bool = False
    index: str | None = None
    """The name of that index; `None` of a clustered one where it is printed without its name."""
    covered: bool = False
    """Whether the index has all that is asked for, so that no data page is read."""
    io_kb: Reading = ABSENT
    """Size of one read of data pages, KB; of index pages where it is covered."""
    strategy: str | None = None
    """`LRU`: its pages stay in the cache as any; `MRU`: they are the next to be replaced."""
    isolation: int | None = None
    """Isolation level that the statement was compiled for (`ssql_isolate`), where it was printed."""


@dataclass(frozen=True, kw_only=True)
class ProcedureText(Fact):
    """The text of one stored procedure, without its values and comments."""

    COLLECTED_BY: ClassVar[str] = "an sp_helptext or defncopy of the procedure"

    procedure: str
    """Its name, without owner and database."""
    text: str
    """With `?` where a value stood."""
