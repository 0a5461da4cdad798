"""When SAP ASE turns the row or page locks of one table into a table lock: the lock promotion thresholds of that table.

A statement that holds more than HWM locks of one scan tries for a table lock, with less than LWM never, and between the
two where it holds more than PCT per cent of the rows or pages. A table's own thresholds beat those of its database, and
these the server's. The first call for a table has to give all three (Reference Manual: Procedures 16.0,
sp_setrowlockpromote, sp_setpglockpromote, sp_droprowlockpromote). No export shows what a table or its database has of
its own, so the script shows it first and is not to be sent where there is any.
"""

from dataclasses import dataclass

from rules.changes.ase_table import SYSTEM_DATABASES, SYSTEM_TABLES, NotConvertible
from rules.changes.out_of_range import OutOfRange
from rules.changes.quoting import (
    Unquotable,
    batches,
    comment,
    held_back_tsql,
    is_plain,
    tsql_name,
    tsql_string,
)
from rules.finding import Change, Effect

LARGEST = 2_147_483_647
SMALLEST = 2
PROCEDURES = {"row": "sp_setrowlockpromote", "page": "sp_setpglockpromote"}
"""By what a table locks: rows (datarows), or pages (datapages and allpages)."""
FORGET = {"row": "sp_droprowlockpromote", "page": "sp_dropglockpromote"}
"""What drops a table's own thresholds, so that those of its database and server are in force as before. The one for
rows: Reference Manual: Procedures 16.0. The one for pages, with no second `p` in its name: its entry in the list of
system procedures of DbxTune, which says the same of it; its page of the manual was not read."""
CAUTIONS = (
    "Only for a table that has no thresholds of its own, and whose database has none: the script shows them first.",
    "A statement on it may then hold as many locks as the new HWM, and each waits, or is waited on, by itself.",
)


@dataclass(frozen=True)
class Thresholds:
    """The three figures; `hwm` and `lwm` are locks of one scan, `pct` per cent of the rows or pages."""

    lwm: int
    hwm: int
    pct: int

    @property
    def says(self) -> str:
        """As they are named."""
        return f"LWM {self.lwm}, HWM {self.hwm}, PCT {self.pct}"

    @property
    def legal(self) -> bool:
        """Whether the server takes them."""
        return SMALLEST <= self.lwm <= self.hwm <= LARGEST and 1 <= self.pct <= 100


def set_promotion(
    *,
    database: str,
    owner: str,
    table: str,
    kind: str,
    now: Thresholds,
    hwm: int,
    free_first: int | None = None,
    cautions: tuple[str, ...] = (),
) -> Change:
    """Give one table its own HWM, with LWM and PCT as they are in force (`now`: those of the server).

    `kind` is `row` or `page`. `free_first`: how many locks must be free, where no export shows how many are; the script
    shows it and is held back until a person has looked. A name that is not plain gives a change by hand. Raises
    `OutOfRange` for thresholds the server would not take, `NotConvertible` for a table that is not a user's.
    """
    new = Thresholds(min(now.lwm, hwm), hwm, now.pct)
    if not (new.legal and now.legal):
        raise OutOfRange(f"lock promotion {new.says}: {SMALLEST} <= LWM <= HWM <= {LARGEST}, PCT 1 to 100")
    system = table.lower() in {f"sys{name}" for name in SYSTEM_TABLES.split()}
    if system or database.lower() in SYSTEM_DATABASES or "tempdb" in database.lower() or table.startswith("#"):
        raise NotConvertible(repr(f"{database}.{owner}.{table}"))
    full = comment(f"{database}.{owner}.{table}")
    key, target = f"ase.table:{full}:{kind} lock promotion", f"{full}: {kind} lock promotion"
    said = (*CAUTIONS, *cautions)
    try:
        where, shown, name = tsql_name(database), tsql_string(database), _plain(owner, table)
    except Unquotable:
        by_hand = (
            "-- A name here is not a plain one: set the thresholds by hand, after a look at the name, which may hold",
            f"-- characters that hide or add a line. From its database: {PROCEDURES[kind]} with {new.says}.",
        )
        undo = ("-- Made by hand: set the thresholds that were noted before, by hand.",)
        return Change(key, target, now.says, new.says, by_hand, undo, Effect.ADVICE, said)
    look = (
        f"-- the server's thresholds: must be {now.says}",
        f'sp_configure "{kind} lock promotion"',
        "-- thresholds of the database and of the table, if any (a row for lock promotion): note them. Where there are",
        "-- any, stop here: they are in force, and not the server's",
        f"sp_helpdb {shown}",
        f"sp_help {name}",
    )
    send = batches(f'{PROCEDURES[kind]} "table", {name}, {new.lwm}, {new.hwm}, {new.pct}')
    if free_first is not None:
        send = batches(
            'sp_monitorconfig "number of locks"',
            f"-- DECIDE HERE: only when Num_free + Num_active - Max_Used is {free_first} or more, take --! out of the",
            "-- lines below and send them. Sent as they are, they change nothing",
            *held_back_tsql(*send),
        )
    return Change(
        key=key,
        target=target,
        old=now.says,
        new=new.says,
        apply=batches(
            f"use {where}",
            *look,
            *send,
            f"-- check that the table shows {new.says}",
            f"sp_help {name}",
        ),
        undo=batches(
            f"use {where}",
            "-- drops the table's own thresholds: those of the database and the server are in force again, as before",
            f'{FORGET[kind]} "table", {name}',
            "-- check that no row for lock promotion is left",
            f"sp_help {name}",
        ),
        takes_effect=Effect.ONLINE,
        cautions=said,
    )


def _plain(owner: str, table: str) -> str:
    """`"owner.table"` for a system procedure; raises `Unquotable` for a name that is not plain."""
    if not (is_plain(owner) and is_plain(table)):
        raise Unquotable(repr(f"{owner}.{table}"))
    return tsql_string(f"{owner}.{table}")
