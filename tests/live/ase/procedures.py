"""The procedures that the server has: those that only read, as a DBA calls them. What they print is laid out as theirs.

Layouts: knowledge/ase-formats.md, 3.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from tests.live.ase import catalogue, configuring, errors, functions, helpcache, monitoring, sysmon
from tests.live.ase.batches import BEGINS, Piece, value
from tests.live.tds.session import Client
from tests.live.tds.tokens import Event, Rows, Status, printed
from tests.live.tds.types import Column

if TYPE_CHECKING:
    from tests.live.ase.world import World

STATEMENTS = BEGINS - {"select", "exec", "execute", "use", "set", "print", "waitfor"}
"""Statements that this server understands and refuses: a login that only reads has no business with them."""
Procedure = Callable[["World", Client, Sequence[str]], Iterator[Event]]
SYSMON_SECONDS = 60.0
"""How long sp_sysmon samples, where it is not told."""


def call(said: Sequence[Piece]) -> tuple[str, list[str]]:
    """Read a call: the procedure's name without database and owner, and its arguments without their names."""
    name = "".join(value(piece) for piece in said[: _name_length(said)])
    given: list[str] = []
    rest = list(said[_name_length(said) :])
    while rest:
        piece = rest.pop(0)
        if piece.text == ",":
            continue
        if piece.text.startswith("@") and rest and rest[0].text == "=":
            rest.pop(0)
            continue
        given.append(value(piece))
    return name.rpartition(".")[2], given


def seconds(text: str) -> float:
    """Read `hh:mm:ss`. Raises `errors.Failed`."""
    try:
        hours, minutes, rest = (float(part) for part in text.split(":"))
    except ValueError:
        raise errors.Failed(202, 16, f"'{text}' is no valid time.") from None
    return hours * 3_600 + minutes * 60 + rest


def _name_length(said: Sequence[Piece]) -> int:
    """How many pieces a name with its dots takes."""
    at = 1
    while at + 1 < len(said) and said[at].text == ".":
        at += 2 if said[at + 1].text != "." else 1
    return at


def _type_info(world: "World", client: Client, given: Sequence[str]) -> Iterator[Event]:
    """Say nothing of the types there are: FreeTDS asks five times at each connect and manages without."""
    yield Status(0)


def _monitorconfig(world: "World", client: Client, given: Sequence[str]) -> Iterator[Event]:
    """sp_monitorconfig: how much of each resource is in use."""
    wanted = given[0] if given else ""
    found = [one for one in world.resources if wanted in ("all", one["Name"])]
    if not found:
        raise errors.Failed(
            18_124, 16, f"No matching configuration options for '{wanted}'.", procedure="sp_monitorconfig"
        )
    moment = functions.convert("varchar(30)", functions.iso(world.clock.moment()))
    yield printed(f"Usage information at date and time: {moment}.\n")
    columns = [
        Column("Name", "varchar", size=25),
        Column("Num_free", "int"),
        Column("Num_active", "int"),
        Column("Pct_act", "char", size=6),
        Column("Max_Used", "int"),
        Column("Reuse_cnt", "int"),
        Column("Instance_Name", "varchar", size=30),
    ]
    rows = []
    for one in found:
        whole = one["Free"] + one["Active"]
        share = f"{100 * one['Active'] / whole:6.2f}" if whole else "  0.00"
        reused = int(world.grown(one["Reused"]))
        rows.append([one["Name"][:25], one["Free"], one["Active"], share, one["MaxUsed"], reused, None])
    yield Rows(columns, rows)
    yield Status(0)


def _lock(world: "World", client: Client, given: Sequence[str]) -> Iterator[Event]:
    """sp_lock: the locks that are held or waited for."""
    yield printed(
        "The class column will display the cursor name for locks associated with a cursor for the current user\n"
    )
    columns = [
        Column("fid", "smallint"),
        Column("spid", "smallint"),
        Column("loid", "int"),
        Column("locktype", "varchar", size=25),
        Column("table_id", "int"),
        Column("page", "int"),
        Column("row", "smallint"),
        Column("dbname", "varchar", size=15),
        Column("class", "varchar", size=15),
        Column("context", "varchar", size=28),
    ]
    rows = [
        [
            *(0, one["SPID"], one["LockID"], _lock_type(one), one["ObjectID"], one["PageNumber"], one["RowNumber"]),
            *(one["DBName"][:15], "Non Cursor Lock", "Fam dur"),
        ]
        for one in monitoring.locks(world)
    ]
    yield Rows(columns, rows)
    yield Status(0)


def _lock_type(lock: Mapping[str, object]) -> str:
    mode, _, level = str(lock["LockType"]).partition(" ")
    short = {"exclusive": "Ex", "shared": "Sh", "update": "Update"}[mode]
    suffix = "-blk" if lock["BlockedState"] == "Blocking" else ""
    return f"{short}_{level}{suffix}"


def _login(world: "World", client: Client, given: Sequence[str]) -> Iterator[Event]:
    """sp_displaylogin: what the login is and which roles it has."""
    lines = ["Suid: 4", f"Loginame: {client.user}", "Fullname: ", "Default Database: master", "Default Language: "]
    lines += ["Auto Login Script: ", "Configured Authorization:"]
    lines += [f"        {role} (default ON)" for role in functions.roles(world)]
    lines += ["Locked: NO", "Password expiration interval: 0", "Minimum password length: 6"]
    for line in lines:
        yield printed(line + "\n")
    yield Status(0)


def _server(world: "World", client: Client, given: Sequence[str]) -> Iterator[Event]:
    """sp_helpdb: the databases."""
    columns = [
        Column("name", "varchar", size=30),
        Column("db_size", "varchar", size=13),
        Column("owner", "varchar", size=30),
    ]
    columns += [Column("dbid", "smallint"), Column("status", "varchar", size=100)]
    yield Rows(columns, [[one["name"], "   4096.0 MB", "sa", one["dbid"], "no options set"] for one in world.databases])
    yield Status(0)


def _sysmon(world: "World", client: Client, given: Sequence[str]) -> Iterator[Event]:
    if not {"sa_role", "mon_role"} & set(functions.roles(world)):
        raise errors.no_role("sa_role")
    return sysmon.report(world, seconds(given[0]) if given else SYSMON_SECONDS)


def _help(world: "World", client: Client, given: Sequence[str]) -> Iterator[Event]:
    """sp_help of a table: what a DBA looks for its lock scheme in."""
    found = next(
        (one for one in catalogue.tables_of(world, client.database) if given and one["Name"] == given[0]), None
    )
    if found is None:
        raise errors.Failed(17_461, 16, "Object does not exist in this database.", procedure="sp_help")
    columns = [Column("Name", "varchar", size=255), Column("Owner", "varchar", size=30)]
    columns += [Column("Object_type", "varchar", size=20)]
    yield Rows(columns, [[found["Name"], "dbo", "system table" if found["Database"] == "*" else "user table"]])
    yield printed(f"Lock scheme {found['Scheme'].capitalize()}\n")
    yield Status(0)


PROCEDURES: Mapping[str, Procedure] = {
    "sp_datatype_info": _type_info,
    "sp_configure": configuring.configure,
    "sp_helpconfig": configuring.helpconfig,
    "sp_cacheconfig": helpcache.cacheconfig,
    "sp_poolconfig": helpcache.cacheconfig,
    "sp_helpcache": helpcache.helpcache,
    "sp_monitorconfig": _monitorconfig,
    "sp_lock": _lock,
    "sp_displaylogin": _login,
    "sp_helpdb": _server,
    "sp_help": _help,
    "sp_sysmon": _sysmon,
}
