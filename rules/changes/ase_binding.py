"""What is bound to which data cache of SAP ASE: a user table or index, or the system tables of one database.

Bindings are dynamic and outlast a restart. A user object needs an exclusive lock for a moment; system tables need their
database in single-user mode, which is an outage of that database. Sources: System Procedures (16.0), sp_bindcache;
System Administration Guide 2 (16.0), "Binding objects to caches" (knowledge/ase-rules.md, section 3.3).
"""

import re
from collections.abc import Sequence

from rules.changes.ase_cache import by_hand
from rules.changes.ase_table import SYSTEM_DATABASES, SYSTEM_TABLES
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
from rules.finding import QUIET_TIME, Change, Effect

WORDS = re.compile(r"[\w$#]+(?:[ -][\w$#]+){0,20}\Z")
"""Letters, digits, `_$#`, single blanks and hyphens between them: no dot, bracket or quote, which sp_bindcache might
read as more than a part of a name (this project)."""
NEVER = {
    "sysattributes": "sysattributes cannot be bound (message 867)",
    "sysallocpg": "sysallocpg cannot be bound (message 868)",
    "syslogs": "syslogs belongs into a cache for logs alone",
}
"""System tables that are not bound with the others."""
TEMPORARY = "tables of a temporary database cannot be bound alone (message 18098), and tempdb not in use (857)"
IN_USE = (
    "A database in use cannot be bound (message 857), and nearly every session uses tempdb: do it right after a "
    "restart of the server, before anybody is let in, and repeat it then if it is refused."
)
ALIKE = "Bind all databases of one tempdb group to the same cache."
LOCKS = (
    "Takes an exclusive lock on the table and clears its pages from the old cache; refused with cursors or dirty reads "
    "open (messages 861, 864). At a quiet time: until its pages are read anew, its queries go to disk."
)
OUTAGE = (
    "The database is in single-user mode meanwhile: nobody can work in it. sp_dboption fails while anybody is in it, "
    "and every sp_bindcache after that fails, too."
)
REPLICATED = (
    "A replicated database has its RepAgent in it: stop it before (sp_stop_rep_agent) and start it afterwards "
    "(sp_start_rep_agent); until then its log cannot be truncated past it."
)


class NotBindable(ValueError):
    """What the server refuses to bind: the message says which and why."""


def is_tempdb(database: str) -> bool:
    """Whether a database is taken for a temporary one, by its name: its tables cannot be bound alone (18098)."""
    return "tempdb" in database.lower()


def why_not(database: str, table: str) -> str | None:
    """Why an object is not bound alone, or `None`."""
    if is_tempdb(database) or table.startswith("#"):
        return TEMPORARY
    return why_not_database(database) or NEVER.get(table.lower())


def why_not_database(database: str) -> str | None:
    """Why no object of a database is bound alone, or `None`."""
    name = database.lower()
    if is_tempdb(name):
        return TEMPORARY
    if name == "master":
        return "tables of master cannot be bound (message 18089)"
    return (
        f"{comment(database)} belongs to the server: nothing of it is bound here" if name in SYSTEM_DATABASES else None
    )


def bind(
    cache: str,
    database: str,
    owner: str,
    table: str,
    index: str | None = None,
    *,
    old: str | None = None,
    needs: tuple[str, ...] = (),
    cautions: tuple[str, ...] = (),
) -> Change:
    """Bind the data of a user table, or one index of it, to a named cache.

    `old`: the cache it is in, through no binding of its own. By hand where the owner or the table is not a plain
    identifier: how sp_bindcache reads delimiters inside `owner.table` is not documented. Database and index are
    arguments of their own, and need only be quoted. Raises `NotBindable`.
    """
    reason = why_not(database, table)
    if reason or table.lower() in {f"sys{name}" for name in SYSTEM_TABLES.split()}:
        raise NotBindable(reason or f"{table} is a system table")
    name = ".".join((database, owner, table)) + (f".{index}" if index else "")
    key, target = f"ase.bind:{comment(name)}", f"{comment(name)}: cache binding"
    try:
        _check((owner, table))
        into, of = _database(database)
        to, what = tsql_string(cache), f'{of}, "{owner}.{table}"' + _index(index)
    except Unquotable:
        return by_hand(key, target, None if old is None else comment(old), comment(cache), needs)
    return Change(
        key=key,
        target=target,
        old=None if old is None else comment(old),
        new=comment(cache),
        apply=batches(
            f"use {into}",
            "-- what is bound where now",
            "sp_helpcache",
            "-- wait for a quiet time: no locks on it, no open cursors",
            "sp_lock",
            f"sp_bindcache {to}, {what}",
            "-- check that Status is V (valid)",
            f"sp_helpcache {to}",
        ),
        undo=batches(
            f"use {into}",
            "-- if it was bound to another cache before, bind it there instead",
            f"sp_unbindcache {what}",
            "sp_helpcache",
        ),
        risk=QUIET_TIME,
        takes_effect=Effect.ONLINE,
        cautions=(LOCKS, *cautions),
        needs=needs,
    )


def bind_unnamed(
    cache: str, database: str, owner: str, table: str, index_id: int, *, old: str, needs: tuple[str, ...] = ()
) -> Change:
    """Bind an index that the exports know by its number alone: what to run finds its name, a person writes it in."""
    name = comment(f"{database}.{owner}.{table}.index {index_id}")
    key, target = f"ase.bind:{name}", f"{name}: cache binding"
    try:
        _check((owner, table))
        into, of = _database(database)
        to = tsql_string(cache)
    except Unquotable:
        return by_hand(key, target, comment(old), comment(cache), needs)
    named = f"select name from sysindexes where id = object_id('{owner}.{table}') and indid = {index_id}"  # noqa: S608 - checked
    return Change(
        key=key,
        target=target,
        old=comment(old),
        new=comment(cache),
        apply=batches(
            f"use {into}",
            "-- the name of the index, which no export has",
            named,
            f'-- at a quiet time, with that name: sp_bindcache {to}, {of}, "{owner}.{table}", its name',
            "-- see that Status is V (valid)",
            f"sp_helpcache {to}",
        ),
        undo=batches(f"use {into}", named, f'-- with that name: sp_unbindcache {of}, "{owner}.{table}", its name'),
        risk=QUIET_TIME,
        takes_effect=Effect.ADVICE,
        cautions=(LOCKS,),
        needs=needs,
    )


def bind_system_tables(
    cache: str,
    database: str,
    tables: Sequence[tuple[str, str | None]],
    *,
    old: str | None = None,
    needs: tuple[str, ...] = (),
    cautions: tuple[str, ...] = (),
) -> Change:
    """Bind system tables of one database, given as (table, index or `None`), all in one outage of it.

    Raises `NotBindable` for a database or a table that the server refuses, and for a user table.
    """
    for table, _ in tables:
        reason = why_not(database, table)
        if reason or table.lower() not in {f"sys{name}" for name in SYSTEM_TABLES.split()}:
            raise NotBindable(reason or f"{table} is no system table")
    key, target = f"ase.bind:{comment(database)}:system tables", f"{comment(database)}: system tables, cache binding"
    try:
        _check([table for table, _ in tables])
        to, option, literal = tsql_string(cache), tsql_string(database), tsql_literal(database)
        _, of = _database(database)
        what = [f'{of}, "dbo.{table}"' + _index(index) for table, index in tables]
    except Unquotable:
        return by_hand(key, target, None if old is None else comment(old), comment(cache), needs)
    return Change(
        key=key,
        target=target,
        old=None if old is None else comment(old),
        new=comment(cache),
        apply=batches(
            *_alone(database, option, literal),
            *held_back_tsql(*(f"sp_bindcache {to}, {one}" for one in what)),
            "-- check that Status is V (valid) for each",
            f"sp_helpcache {to}",
            *_for_all(database, option),
        ),
        undo=batches(
            *_alone(database, option, literal),
            *held_back_tsql(*(f"sp_unbindcache {one}" for one in reversed(what))),
            "sp_helpcache",
            *_for_all(database, option),
        ),
        takes_effect=Effect.OFFLINE,
        cautions=(OUTAGE, REPLICATED, *cautions),
        needs=needs,
    )


def bind_temporary(cache: str, database: str, *, old: str | None = None, needs: tuple[str, ...] = ()) -> Change:
    """Bind a temporary database as a whole to a named cache: single tables of it cannot be bound (18098).

    In use it is refused, so it is the last of a restart, after what that restart brings: one moment with it.
    """
    key, target = f"ase.bind:{comment(database)}", f"{comment(database)}: cache binding"
    try:
        (_, of), to = _database(database), tsql_string(cache)
    except Unquotable:
        return by_hand(key, target, None if old is None else comment(old), comment(cache), needs)
    return Change(
        key=key,
        target=target,
        old=None if old is None else comment(old),
        new=comment(cache),
        apply=(),
        closing=batches(
            "use master",
            "-- what is bound where now",
            "sp_helpcache",
            f"-- nobody may use {comment(database)}: right after the restart, before anybody is let in",
            f"sp_bindcache {to}, {of}",
            "-- check that Status is V (valid)",
            f"sp_helpcache {to}",
        ),
        undo=(),
        undo_closing=batches(
            "use master",
            f"-- nobody may use {comment(database)}: right after the restart, before anybody is let in",
            "-- if it was bound to another cache before, bind it there instead",
            f"sp_unbindcache {of}",
            "sp_helpcache",
        ),
        takes_effect=Effect.RESTART,
        cautions=(IN_USE, ALIKE),
        needs=needs,
    )


def bind_log(cache: str, database: str, *, old: str | None = None, needs: tuple[str, ...] = ()) -> Change:
    """Bind syslogs of a database to a cache for logs, in an outage of the database.

    Raises `NotBindable` for a database whose log the server does not bind alone.
    """
    reason = why_not_database(database)
    if reason:
        raise NotBindable(reason)
    key, target = f"ase.bind:{comment(database)}:syslogs", f"{comment(database)}: syslogs, cache binding"
    try:
        to, option, literal = tsql_string(cache), tsql_string(database), tsql_literal(database)
        into, of = _database(database)
    except Unquotable:
        return by_hand(key, target, None if old is None else comment(old), comment(cache), needs)
    return Change(
        key=key,
        target=target,
        old=None if old is None else comment(old),
        new=comment(cache),
        apply=batches(
            f"use {into}",
            "-- the size of the log I/O: the cache needs a pool of it (sp_poolconfig)",
            "sp_logiosize",
            f"sp_poolconfig {to}",
            *_alone(database, option, literal),
            *held_back_tsql(f"sp_bindcache {to}, {of}, syslogs"),
            "-- check that Status is V (valid)",
            f"sp_helpcache {to}",
            *_for_all(database, option),
        ),
        undo=batches(
            *_alone(database, option, literal),
            *held_back_tsql(f"sp_unbindcache {of}, syslogs"),
            "sp_helpcache",
            *_for_all(database, option),
        ),
        takes_effect=Effect.OFFLINE,
        cautions=(OUTAGE, REPLICATED),
        needs=needs,
    )


def _alone(database: str, option: str, literal: str) -> tuple[str, ...]:
    """Make sure that nobody is in the database, and, held back until a person has seen that, keep everybody out."""
    return batches(
        "use master",
        f"-- nobody may be in {comment(database)}: this must show no rows",
        f"select spid, suid, program_name from master..sysprocesses where dbid = db_id({literal})",  # noqa: S608 - quoted
        "sp_who",
        "-- DECIDE HERE: only when nobody is in it and nobody needs it now, take --! out of the lines below and send",
        "-- them. Sent as they are, they change nothing",
        f"-- an outage of {comment(database)} begins here",
        *held_back_tsql(f'sp_dboption {option}, "single user", true', f"use {_database(database)[0]}", "checkpoint"),
    )


def _for_all(database: str, option: str) -> tuple[str, ...]:
    """Open the database again."""
    return batches(
        *held_back_tsql(
            "use master",
            f'sp_dboption {option}, "single user", false',
            f"use {_database(database)[0]}",
            "checkpoint",
            "use master",
        ),
        "-- check that single user is no longer among its options",
        f"sp_helpdb {option}",
    )


def _database(database: str) -> tuple[str, str]:
    """The name as `use` takes it, in brackets where it must be, and as the argument of a procedure, then a string.

    Raises `Unquotable`.
    """
    name = tsql_name(_words(database))
    return name, name if name == database else tsql_string(database)


def _index(index: str | None) -> str:
    """An index as a further argument, nothing where there is none. Raises `Unquotable`."""
    return f", {tsql_string(_words(index))}" if index else ""


def _words(name: str) -> str:
    """Let pass what is a string to the procedure whatever it does with it. Raises `Unquotable` for marks in a name."""
    if not WORDS.match(name):
        raise Unquotable(repr(name))
    return name


def _check(names: Sequence[str]) -> None:
    """Raise `Unquotable` for anything but plain identifiers."""
    for name in names:
        if not PLAIN_IDENTIFIER.match(name):
            raise Unquotable(repr(name))
