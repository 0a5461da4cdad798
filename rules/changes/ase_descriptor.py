"""The descriptor of one table of SAP ASE, kept in memory with `dbcc tune(des_bind, …)`.

The SAP wiki ("Spinlocks and CPU usage in SAP ASE") names it for a contended object manager; no manual page was read, so
it is for those who test first. The binding is lost at each restart (knowledge/ase-rules.md, 3.5).
"""

from rules.changes.ase_table import SYSTEM_DATABASES
from rules.changes.quoting import Unquotable, batches, comment, tsql_literal, tsql_string
from rules.finding import Change, Effect

CAUTIONS = (
    "Test it on another server first: dbcc tune is described by SAP's wiki, not by the manuals read here.",
    "Lost at every restart: put it into what runs after the server has started.",
    "A bound descriptor is never given back: number of open objects must leave room for all others.",
    "The command takes a name without its owner: look first whether two owners have a table of this name.",
)


def bindable(database: str, table: str) -> bool:
    """Whether binding is worth writing down: no temporary table, no system table, no system database."""
    temporary = "tempdb" in database.lower() or table.startswith("#")
    return not (temporary or table.lower().startswith("sys") or database.lower() in SYSTEM_DATABASES)


def bind_descriptor(*, database: str, db_id: int | None, table: str) -> Change:
    """Keep the descriptor of one table bound until the next restart.

    `db_id` is the number of its database as the export shows it; the script asks the server for the name behind that
    number first. A name that cannot be written safely, or a number that cannot be one, gives a change by hand. Raises
    `ValueError` for what is not `bindable`.
    """
    if not bindable(database, table):
        raise ValueError(f"{database}..{table}: temporary and system tables are not bound")
    full = comment(f"{database}..{table}")
    key, target = f"ase.descriptor:{full}", f"{full}: descriptor"
    try:
        name, where = tsql_string(table), tsql_literal(database)
        owners = tsql_literal(table)
        number = _number(db_id)
    except (Unquotable, ValueError):
        by_hand = (
            "-- Bind the descriptor by hand: a name here cannot be written safely into a script, or the number of the",
            "-- database is not in the export. Look at the name first: it may hold characters that hide or add a line.",
        )
        undo = ("-- Made by hand: undo it by hand with dbcc tune(des_unbind, <database number>, <table>).",)
        return Change(key, target, "not bound", "bound", by_hand, undo, Effect.ADVICE, CAUTIONS)
    look = batches(f"-- must show the number {number} and the table once", f"select db_id({where}), db_name({number})")
    return Change(
        key=key,
        target=target,
        old="not bound",
        new="bound",
        apply=batches(
            *look,
            f"-- in that database: select user_name(uid), name from sysobjects where name = {owners}",  # noqa: S608 - quoted, and a comment
            "dbcc traceon(3604)",
            f"dbcc tune(des_bind, {number}, {name})",
            "-- check: the message of dbcc names no error, and the spinlock's spins fall in the next two snapshots",
        ),
        undo=batches(*look, f"dbcc tune(des_unbind, {number}, {name})"),
        takes_effect=Effect.ONLINE,
        cautions=CAUTIONS,
    )


def _number(db_id: int | None) -> int:
    if db_id is None or not 0 < db_id < 2**31:
        raise ValueError(f"database number {db_id}")
    return int(db_id)
