"""The server's own functions, as SQLite may call them. Each takes the world and the session it is asked in."""

from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING, Any

from tests.live.ase import catalogue
from tests.live.tds.session import Client

if TYPE_CHECKING:
    from tests.live.ase.world import World

ROLES = ("sa_role", "sso_role", "oper_role", "mon_role")
"""The roles that the login has, unless a fault takes one away."""
ANSI_DATES = "%Y-%m-%d %H:%M:%S.%f"
STYLES = {
    0: "{0:%b} {0.day:2d} {0:%Y} {1:2d}:{0:%M}{0:%p}",
    109: "{0:%b} {0.day:2d} {0:%Y} {1:2d}:{0:%M:%S}:{2:03d}{0:%p}",
}
"""How `convert` writes a date: the default, and with seconds and milliseconds."""


def functions(world: "World", client: Client) -> dict[str, Callable[..., Any]]:
    """Give the functions by name, for a session."""

    def db_id(name: str | None = None) -> int | None:
        wanted = client.database if name is None else name
        return next((int(one["dbid"]) for one in world.databases if one["name"] == wanted), None)

    def db_name(number: int | None = None) -> str | None:
        if number is None:
            return client.database
        return next((str(one["name"]) for one in world.databases if one["dbid"] == number), None)

    def table(number: int, database: int | None = None) -> Any:
        name = db_name(database)
        found = catalogue.tables_of(world, name) if name else []
        return next((one for one in found if one["ID"] == number), None)

    def object_id(name: str) -> int | None:
        database, owner, last = _parts(name)
        named = catalogue.tables_of(world, database or client.database)
        if owner in ("", "dbo") and (found := next((one for one in named if one["Name"] == last), None)):
            return int(found["ID"])
        if world.table(database or client.database, last) is not None:
            return list(world.columns).index(last) + 301
        return None

    def object_name(number: int, database: int | None = None) -> str | None:
        found = table(number, database)
        return str(found["Name"]) if found else None

    def lockscheme(which: int | str, database: int | None = None) -> str | None:
        if isinstance(which, str):
            named = _parts(which)[0]
            database = db_id(named) if named else database
        number = object_id(which) if isinstance(which, str) else which
        found = table(number, database) if number is not None else None
        return str(found["Scheme"]) if found else None

    def pages(database: int, number: int, indid: int | None = None, *_: Any) -> int:
        found = table(number, database)
        sizes = [kb for at, _, kb in catalogue.indexes_of(found) if indid in (None, at)] if found else []
        return max(1, sum(sizes) // world.release.page_kb) if sizes else 0

    def row_count(database: int, number: int, *_: Any) -> int:
        found = table(number, database)
        return int(found["Rows"]) if found else 0

    def show_cached_text(number: int) -> str | None:
        found = (one["Text"] for one in world.activity["monCachedStatement"] if one["SSQLID"] == number)
        return next((str(one) for one in found), None)

    def has_role(role: str, *_: Any) -> int:
        return int(role in roles(world))

    return {
        "getdate": lambda: iso(world.clock.look()),
        "global": lambda name: global_value(world, client, name),
        "db_id": db_id,
        "db_name": db_name,
        "object_id": object_id,
        "object_name": object_name,
        "lockscheme": lockscheme,
        "data_pages": pages,
        "used_pages": pages,
        "reserved_pages": pages,
        "row_count": row_count,
        "user_name": lambda uid=1: {0: "public", 1: "dbo", 2: "guest"}.get(uid),
        "user_id": lambda *_: 1,
        "suser_name": lambda *_: client.user,
        "suser_id": lambda *_: 4,
        "host_name": lambda *_: client.host,
        "proc_role": has_role,
        "has_role": has_role,
        "show_cached_text": show_cached_text,
        "show_role": lambda: " ".join(roles(world)),
        "convert": convert,
        "isnull": lambda value, other: other if value is None else value,
        "str": lambda value, length=10, scale=0: f"{value:{length}.{scale}f}",
        "datediff": datediff,
        "index_name": lambda database, number, indid: next(
            (name for at, name, _ in catalogue.indexes_of(table(number, database)) if at == indid), None
        ),
    }


def roles(world: "World") -> list[str]:
    """The roles of the login."""
    return [one for one in ROLES if f"no-{one.replace('_', '-')}" not in world.faults]


def global_value(world: "World", client: Client, name: str) -> Any:
    """Give a global variable; an unknown one is NULL."""
    release = world.release
    major, minor = release.number.split(".")
    return {
        "servername": release.server or None,
        "version": release.version,
        "version_as_integer": int(major) * 1_000 + int(minor) * 100,
        "boottime": iso(world.booted),
        "maxpagesize": release.page_kb * 1_024,
        "pagesize": 2_048,
        "spid": client.spid,
        "error": 0,
        "trancount": 0,
        "tranchained": 0,
        "rowcount": 1,
        "isolation": 1,
        "ncharsize": 3,
        "unicharsize": 2,
        "textsize": 32_768,
        "max_connections": 500,
        "language": "us_english",
        "procid": 0,
    }.get(name)


def convert(kind: str, value: Any, style: int = 0) -> Any:
    """Convert to a type. Dates become text in the styles of `STYLES`; text that is no number raises `ValueError`."""
    if value is None:
        return None
    name = kind.lower().partition("(")[0].strip()
    if name.endswith("char"):
        moment = _moment(value)
        text = STYLES.get(style, STYLES[0]).format(moment, *_clock_face(moment)) if moment else _plain(value)
        room = kind.partition("(")[2].rstrip(") ")
        return text[: int(room) if room.isdigit() else 30]
    if name in ("datetime", "text"):
        return value
    if name in ("real", "float", "numeric", "decimal"):
        return float(value)
    return int(value) if isinstance(value, int | str) else int(float(value))


def datediff(part: str, before: str, after: str) -> int:
    """Give the seconds or milliseconds between two moments; other parts raise `KeyError`."""
    each = {"ss": 1.0, "second": 1.0, "ms": 0.001, "millisecond": 0.001, "mi": 60.0, "minute": 60.0}[part.lower()]
    return int((datetime.fromisoformat(after) - datetime.fromisoformat(before)).total_seconds() / each)


def iso(moment: datetime) -> str:
    """Write a moment as it stands in SQLite."""
    return moment.strftime(ANSI_DATES)


def _moment(value: Any) -> datetime | None:
    if not isinstance(value, str):
        return None
    try:
        return datetime.strptime(value, ANSI_DATES)  # noqa: DTZ007 - a datetime of the server has no zone
    except ValueError:
        return None


def _clock_face(moment: datetime) -> tuple[int, int]:
    """The hour on a clock of twelve, and the milliseconds."""
    return (moment.hour + 11) % 12 + 1, moment.microsecond // 1_000


def _plain(value: Any) -> str:
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _parts(name: str) -> tuple[str, str, str]:
    """Part `database.owner.name`, in which the first two may be missing."""
    parts = name.split(".")
    last = parts.pop()
    owner = parts.pop() if parts else ""
    return (parts.pop() if parts else ""), owner, last
