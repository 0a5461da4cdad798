"""The lock scheme of one table of SAP ASE: allpages, datapages or datarows, with all that must be true before.

Between allpages and the two data-only schemes the server copies the table and rebuilds its indexes under an exclusive
table lock, and no transaction log can be dumped until the whole database was. So the database is dumped and the table
checked before, and both again afterwards; all that blocks users is held back in comments until that dump was made.
Between datapages and datarows it only rewrites a line of the catalogue.
Sources: Reference Manual: Commands (16.0), alter table, "Changing Locking Schemes", and dbcc; Locking and Concurrency
Control (15.7), "Specifying a locking scheme"; the order of SAP's plug-in (knowledge/ase-waits-caches.md, section 9).
"""

from dataclasses import dataclass

from rules.changes.quoting import (
    PLAIN_IDENTIFIER,
    Unquotable,
    batches,
    comment,
    held_back_tsql,
    tsql_literal,
    tsql_name,
    tsql_string,
)
from rules.finding import Change, Effect

SCHEMES = ("allpages", "datapages", "datarows")
OWNER, TABLE, DATABASE = "<owner>", "<table>", "<database>"

SYSTEM_DATABASES = frozenset(
    ("master", "model", "sybsystemprocs", "sybsystemdb", "sybsecurity", "sybmgmtdb", "sybpcidb", "dbccdb")
)
SYSTEM_TABLES = """
alternates attributes columns comments configures constraints databases depends devices encryptkeys gams indexes jars
keys locks logins logs loginroles messages objects options partitionkeys partitions procedures processes protects
queryplans references remotelogins resourcelimits roles segments servers slices srvroles statistics tabstats thresholds
timeranges transactions types usages usermessages users xtypes
"""
"""System tables without the `sys` they all begin with."""

SPACE_MARGIN = 1.2
"""This project: a fifth more than what the pages take now; no source gives a factor for this command."""
COPY_CAUTIONS = (
    "Exclusive lock on the table in one transaction until the data are copied and every index is rebuilt: a long "
    "outage of a large table.",
    "After it dump transaction is refused until the database was dumped as a whole: plan that dump.",
    "Row width: on 2K pages a fixed row of a data-only table may have 1960 bytes at most, and every variable or "
    "nullable column costs 2 more (messages 4973 and 4981).",
    "The clustered index becomes a placement index: a query that relied on its order needs an order by.",
    "A partitioned or replicated table needs its own plan; statistics must be updated afterwards.",
)
LOCKS_CAUTION = (
    'Locks: datarows takes one for each row instead of one for each page. Watch sp_monitorconfig "number of locks" '
    "and raise number of locks before they run out."
)
LATCH_CAUTION = (
    "In place of address locks a data-only table takes latches on its index pages, and ascending keys meet on one leaf "
    "page: watch Latch Contention in sp_sysmon (wait event 41 in monSysWaits) before and afterwards."
)
FORWARDING_CAUTION = (
    "Rows that grow are forwarded: set exp_row_size (sp_chgattribute) and plan reorg as new housekeeping."
)


@dataclass(frozen=True)
class Pages:
    """What a table takes now, kilobytes; `None` where no export says it."""

    data_kb: float | None = None
    index_kb: float | None = None
    """Of all its indexes that are no part of the data."""

    @property
    def needed_mb(self) -> float | None:
        """Room for the copy of the data and the new indexes, with the margin; `None` where the data are not known."""
        if self.data_kb is None:
            return None
        return SPACE_MARGIN * (self.data_kb + (self.index_kb or 0.0)) / 1024

    @property
    def caution(self) -> str:
        """The room it needs while it is copied, or what shows that."""
        where = (
            "A whole copy of the data pages is made on the table's segment, and each index anew on its own; a "
            "clustered index takes more, because it becomes a tree of its own, and so does room left free on pages."
        )
        if self.needed_mb is None or self.data_kb is None:
            return f"Space: its size is not in the export; sp_spaceused shows it, and sp_helpdb what is free. {where}"
        size = f"the data take {self.data_kb / 1024:,.0f} MB"
        size += ", the size of the indexes is not in the export" if self.index_kb is None else ""
        size += f" and the indexes {self.index_kb / 1024:,.0f} MB" if self.index_kb is not None else ""
        more = "at least " if self.index_kb is None else "about "
        return f"Space: {size}, so {more}{self.needed_mb:,.0f} MB must be free (20 % margin: this project's). {where}"


NO_PAGES = Pages()


class NotConvertible(ValueError):
    """A table that must never be altered: a system table, or any table of a system or temporary database."""


def alter_lock_scheme(
    *,
    database: str,
    owner: str,
    table: str,
    old: str,
    new: str,
    cautions: tuple[str, ...] = (),
    object_id: int | None = None,
    pages: Pages = NO_PAGES,
) -> Change:
    """Change the lock scheme of one table, `old` and `new` being two of `SCHEMES`.

    `object_id`: by it the table is checked, where an export shows it. `pages`: its size, for the room it needs. A name
    that cannot be written safely gives a change to be made by hand. Raises `ValueError` for another word or no change
    at all, `NotConvertible` for what must not be altered.
    """
    _check_schemes(old, new)
    if (
        table.lower() in {f"sys{name}" for name in SYSTEM_TABLES.split()}
        or database.lower() in SYSTEM_DATABASES
        or "tempdb" in database.lower()
    ):
        raise NotConvertible(repr(f"{database}.{owner}.{table}"))
    full = f"{database}.{owner}.{table}"
    key, target = f"ase.table:{comment(full)}:lock scheme", f"{comment(full)}: lock scheme"
    said = (*cautions, *_cautions(old, new, pages))
    try:
        where, what = tsql_name(database), f"{tsql_name(owner)}.{_always_delimited(table)}"
        look, check = _look(owner, table), _check(owner, table, object_id)
        dboption = tsql_string(database)
    except Unquotable:
        by_hand = (
            f"-- A name here cannot be written safely into a script: change the lock scheme to {new} by hand.",
            "-- Look at the name first: it holds characters that could hide or add a line.",
        )
        undo = (f"-- Made by hand: change the lock scheme back to {old} by hand.",)
        return Change(key, target, old, new, by_hand, undo, Effect.ADVICE, said)
    copies = "allpages" in (old, new)
    return Change(
        key=key,
        target=target,
        old=old,
        new=new,
        apply=_script(where, dboption, what, look, check, new, copies),
        undo=_script(where, dboption, what, look, check, old, copies),
        takes_effect=Effect.OFFLINE if copies else Effect.ONLINE,
        cautions=said,
    )


def lock_scheme_template(old: str, new: str, cautions: tuple[str, ...] = ()) -> Change:
    """The same script for a table that no export names: every line a comment, names to be filled in by a person."""
    _check_schemes(old, new)
    copies = "allpages" in (old, new)
    look = (
        "select o.type, lock_scheme = lockscheme(o.id) from sysobjects o",
        f"where o.id = object_id('{OWNER}.{TABLE}')",
        "go",
        f'sp_spaceused "{OWNER}.{TABLE}"',
        "go",
    )
    check = batches(f'dbcc checktable("{OWNER}.{TABLE}")')
    script = _script(DATABASE, f'"{DATABASE}"', f"{OWNER}.{TABLE}", look, check, new, copies)
    back = _script(DATABASE, f'"{DATABASE}"', f"{OWNER}.{TABLE}", look, check, old, copies)
    first = (
        f"-- For one table at a time, {old} to {new}. Fill in {DATABASE}, {OWNER} and {TABLE}; never a system table."
    )
    only = f"-- Only for tables that were converted that far, {old} to {new}; any other is left as it is."
    return Change(
        key=f"ase.table:template:{old} to {new}",
        target=f"lock scheme of the tables that {'' if old == 'allpages' else 'still '}wait",
        old=old,
        new=new,
        apply=(first, *(line if line.startswith("--") else f"--   {line}" for line in script)),
        undo=(only, *(line if line.startswith("--") else f"--   {line}" for line in back)),
        takes_effect=Effect.ADVICE,
        cautions=(*cautions, *_cautions(old, new, NO_PAGES)),
    )


def _check_schemes(old: str, new: str) -> None:
    if old not in SCHEMES or new not in SCHEMES or old == new:
        raise ValueError(f"lock scheme {old!r} to {new!r}: two different ones of {', '.join(SCHEMES)}")


def _cautions(old: str, new: str, pages: Pages) -> tuple[str, ...]:
    copies = "allpages" in (old, new)
    copied = (*COPY_CAUTIONS, pages.caution) if copies else ("Needs an exclusive lock on the table for a moment.",)
    back = "The way back is the same command with the same needs: copy, exclusive lock, full dump."
    rows = (LOCKS_CAUTION,) if new == "datarows" else ()
    forwarded = () if new == "allpages" else (FORWARDING_CAUTION,)
    latches = (LATCH_CAUTION,) if old == "allpages" else ()
    return (*copied, *rows, *forwarded, *latches, *((back,) if copies else ()))


def _always_delimited(table: str) -> str:
    """A table may be called `order` or `user`: in brackets that is no keyword."""
    name = tsql_name(table)
    return name if name.startswith("[") else f"[{name}]"


def _look(owner: str, table: str) -> tuple[str, ...]:
    """Show type, lock scheme and row width, found by value: safe for any name that fits into a string."""
    one = f"u.uid = o.uid and u.name = {tsql_literal(owner)} and o.name = {tsql_literal(table)}"
    lines = (
        "-- type must be U (a user table); width counts 2 bytes more for each column, the most it can be",
        "select o.type, lock_scheme = lockscheme(o.id) from sysobjects o, sysusers u",
        f"where {one}",
        "go",
        "select width = sum(c.length) + 2 * count(*) from syscolumns c, sysobjects o, sysusers u",
        f"where c.id = o.id and {one}",
        "go",
    )
    if not (PLAIN_IDENTIFIER.match(owner) and PLAIN_IDENTIFIER.match(table)):
        return (*lines, "-- look at its size and its indexes by hand (sp_spaceused, sp_helpindex): not a plain name")
    return (*lines, *batches(f'sp_spaceused "{owner}.{table}", 1', f'sp_helpindex "{owner}.{table}"'))


def _check(owner: str, table: str, object_id: int | None) -> tuple[str, ...]:
    """Check the table's pages and indexes, by its number where that is known."""
    if object_id is not None and 0 < object_id < 2**31:
        return batches(f"dbcc checktable({object_id})")
    if PLAIN_IDENTIFIER.match(owner) and PLAIN_IDENTIFIER.match(table):
        return batches(f'dbcc checktable("{owner}.{table}")')
    return ("-- check the table by hand (dbcc checktable with its number): not a plain name",)


def _script(
    database: str,
    quoted_database: str,
    table: str,
    look: tuple[str, ...],
    check: tuple[str, ...],
    new: str,
    copies: bool,
) -> tuple[str, ...]:
    """Look, save, check, prepare, alter, check again, look again, save again.

    What blocks users of a table that is copied is held back until its database was dumped: nothing else stops a script.
    """
    alter = batches(f"alter table {table} lock {new}")
    shown = (f"-- check that the lock scheme is {new}", *look)
    begin = (*batches(f"use {database}"), "-- the table now", *look)
    if not copies:
        return (*begin, *alter, *shown)
    save = batches(
        "-- note whether select into/bulkcopy/pllsort is on now, and how much space is free on each segment",
        f"sp_helpdb {quoted_database}",
        f"-- first dump the whole database, never go on without it: dump database {database} to <your dump device>",
        "-- DECIDE HERE: only when that dump ended without an error, take --! out of the lines below and send",
        "-- them. Sent as they are, they lock nothing and change nothing",
        "-- an outage of this table begins here: one table at a time, never together with the next",
    )
    outage = batches(
        "-- check the table: any error stops here. It reads every page of the table, under a shared lock",
        *check,
        "use master",
        f'sp_dboption {quoted_database}, "select into/bulkcopy/pllsort", true',
        f"use {database}",
        "checkpoint",
        *alter,
        "-- check the table again: any error means the dump made before",
        *check,
        f"update statistics {table}",
    )
    finish = (
        f"-- now dump the whole database: dump database {database} to <your dump device>",
        "-- if select into/bulkcopy/pllsort was off before, switch it off again:",
        "--   use master",
        "--   go",
        f'--   sp_dboption {quoted_database}, "select into/bulkcopy/pllsort", false',
        "--   go",
        f"--   use {database}",
        "--   go",
        "--   checkpoint",
        "--   go",
    )
    return (*begin, *save, *held_back_tsql(*outage), *shown, *finish)
