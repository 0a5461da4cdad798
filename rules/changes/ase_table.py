"""The lock scheme of one table of SAP ASE: allpages, datapages or datarows, with all that must be true before.

Between allpages and the two data-only schemes the server copies the table and rebuilds its indexes under an exclusive
table lock, and no transaction log can be dumped until the whole database was. Between datapages and datarows it only
rewrites a line of the catalogue. Sources: Reference Manual: Commands (16.0), alter table, "Changing Locking Schemes";
Locking and Concurrency Control (15.7), "Specifying a locking scheme" (knowledge/ase-rules.md, section 3.2).
"""

from rules.changes.quoting import PLAIN_IDENTIFIER, Unquotable, comment, tsql_literal, tsql_name, tsql_string
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

COPY_CAUTIONS = (
    "Exclusive lock on the table in one transaction until the data are copied and every index is rebuilt: a long "
    "outage of a large table.",
    "Space: room on the table's segment for a whole copy of its data pages, and on each index's segment to rebuild the "
    "index; a clustered index takes more, because it becomes a tree of its own.",
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
FORWARDING_CAUTION = (
    "Rows that grow are forwarded: set exp_row_size (sp_chgattribute) and plan reorg as new housekeeping."
)


class NotConvertible(ValueError):
    """A table that must never be altered: a system table, or any table of a system or temporary database."""


def alter_lock_scheme(
    *, database: str, owner: str, table: str, old: str, new: str, cautions: tuple[str, ...] = ()
) -> Change:
    """Change the lock scheme of one table, `old` and `new` being two of `SCHEMES`.

    Raises `ValueError` for another word or no change at all, `NotConvertible` for what must not be altered. A name that
    cannot be written safely gives a change to be made by hand.
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
    said = (*cautions, *_cautions(old, new))
    try:
        where, what = tsql_name(database), f"{tsql_name(owner)}.{_always_delimited(table)}"
        look = _look(owner, table)
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
        apply=_script(where, dboption, what, look, new, copies),
        undo=_script(where, dboption, what, look, old, copies),
        takes_effect=Effect.ONLINE,
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
    script = _script(DATABASE, f'"{DATABASE}"', f"{OWNER}.{TABLE}", look, new, copies)
    back = _script(DATABASE, f'"{DATABASE}"', f"{OWNER}.{TABLE}", look, old, copies)
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
        cautions=(*cautions, *_cautions(old, new)),
    )


def _check_schemes(old: str, new: str) -> None:
    if old not in SCHEMES or new not in SCHEMES or old == new:
        raise ValueError(f"lock scheme {old!r} to {new!r}: two different ones of {', '.join(SCHEMES)}")


def _cautions(old: str, new: str) -> tuple[str, ...]:
    copied = COPY_CAUTIONS if "allpages" in (old, new) else ("Needs an exclusive lock on the table for a moment.",)
    back = "The way back is the same command with the same needs: copy, exclusive lock, full dump."
    rows = (LOCKS_CAUTION,) if new == "datarows" else ()
    forwarded = () if new == "allpages" else (FORWARDING_CAUTION,)
    return (*copied, *rows, *forwarded, *((back,) if "allpages" in (old, new) else ()))


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
    return (*lines, f'sp_spaceused "{owner}.{table}", 1', "go", f'sp_helpindex "{owner}.{table}"', "go")


def _script(
    database: str, quoted_database: str, table: str, look: tuple[str, ...], new: str, copies: bool
) -> tuple[str, ...]:
    """Look, prepare, alter, look again."""
    prepare = (
        "-- note whether select into/bulkcopy/pllsort is on now, and how much space is free on each segment",
        f"sp_helpdb {quoted_database}",
        "go",
        "use master",
        "go",
        f'sp_dboption {quoted_database}, "select into/bulkcopy/pllsort", true',
        "go",
        f"use {database}",
        "go",
        "checkpoint",
        "go",
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
    return (
        f"use {database}",
        "go",
        "-- the table now",
        *look,
        *(prepare if copies else ()),
        *(
            ("-- an outage of this table begins here: one table at a time, never together with the next",)
            if copies
            else ()
        ),
        f"alter table {table} lock {new}",
        "go",
        *((f"update statistics {table}", "go") if copies else ()),
        f"-- check that the lock scheme is {new}",
        *look,
        *(finish if copies else ()),
    )
