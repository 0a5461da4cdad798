"""Oracle Rdb asked over ODBC: against PostgreSQL, which holds a transaction to READ ONLY and tells of what it refuses.

No Rdb server can be had here. Its tables are made there by the names and columns of the vendor's help; drivers fold
names to small letters, which the reader takes.
"""

import io
import json
import zipfile
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pyodbc
import pytest
from django.core.management import CommandError, call_command

from collectors.facts import Fact
from collectors.facts.rdb import Database, DatabaseUse, LogicalArea, RowCache, StorageArea
from collectors.intake import open_all
from collectors.live.ase.connection import Connection
from collectors.live.identity import Identity
from collectors.live.rdb import CollectRequest, Rdb, collect, order_of, parse, queries, questions_text, try_it
from collectors.live.rdb.questions import QUESTIONS
from collectors.live.registry import CollectorFailed, Target
from collectors.read import Input, read_all
from tests.live.running import serving
from tests.servers import Postgres, postgres_server

TABLES = """
create table rdb$database (rdb$file_name char(60), rdb$maj_ver integer);
insert into rdb$database values ('DISK$LEDGER:[LEDGER]LEDGER.RDB;1', 72);
create table rdb$database_root (rdb$maximum_users integer, rdb$maximum_nodes integer, rdb$created date);
insert into rdb$database_root values (512, 1, '2021-02-03');
create table rdb$storage_areas (rdb$area_id integer, rdb$flags integer, rdb$cache_id integer, rdb$area_name char(31));
insert into rdb$storage_areas select n, 4347, 0, 'AREA_' || n from generate_series(1, 40) n;
insert into rdb$storage_areas values (41, 32891, 2, 'x"; drop table y --'), (42, 4, 0, 'AREA_1');
create table rdb$caches (rdb$cache_id integer, rdb$row_length integer, rdb$cache_size integer, rdb$cache_name char(31));
insert into rdb$caches values (2, 256, 10000, E'POST\nINGS\tCACHE');
create table rdb$logical_areas (
  rdb$logical_area_id integer, rdb$area_id integer, rdb$record_length integer, rdb$logical_area_name char(31)
);
insert into rdb$logical_areas values (51, 5, 211, 'ORDERS'), (12, 1, 220, 'RDB$RELATIONS');
create role reads login;
grant select on all tables in schema public to reads;
"""


@pytest.fixture(scope="module")
def server() -> Iterator[Postgres]:
    with postgres_server() as one:
        run_in(one, one.make("ledger"), TABLES)
        yield one


def run_in(server: Postgres, address: str, sql: str) -> None:
    with psycopg.connect(address, autocommit=True) as line:
        line.execute(sql)


def by(server: Postgres, database: str = "ledger", **more: str) -> str:
    port = server.address.rsplit(":", 1)[1]
    parts = {
        "DRIVER": "{PostgreSQL Unicode}",
        "SERVER": "127.0.0.1",
        "PORT": port,
        "DATABASE": database,
        "UID": "reads",
    }
    return "".join(f"{name}={value};" for name, value in {**parts, **more}.items())


def read(path: Path) -> tuple[list[Fact], list[Input]]:
    inputs = list(read_all(open_all([str(path)], None)))  # type: ignore[arg-type]  # no standard input here
    return [fact for one in inputs for fact in one.facts], inputs


def test_what_it_writes_is_what_the_reader_reads(server: Postgres, tmp_path: Path) -> None:
    Rdb().collect(Target("LEDGER", "rdb", {"connection": by(server), "password": ""}), tmp_path, 60)
    (path,) = tmp_path.iterdir()
    assert path.name.startswith("DISK-LEDGER-LEDGER-LEDGER-RDB-1-")
    facts, inputs = read(path)
    assert [one.report for one in inputs] == ["rdb/collected", "rdb/information_tables"]
    root = "DISK$LEDGER:[LEDGER]LEDGER.RDB;1"
    named, found = [fact for fact in facts if isinstance(fact, Database)]
    assert (named.database, found.database) == (root, root)
    assert (found.maximum_users, found.nodes_configured, found.storage_areas) == (512, 1, 41)
    assert found.source.tentative
    areas = [fact for fact in facts if isinstance(fact, StorageArea)]
    assert [(one.name, one.page_level_locking, one.row_cache) for one in areas[39:]] == [
        ("AREA_40", True, None),
        ('x"; drop table y --', False, "POST?INGS?CACHE"),
    ]
    assert not areas[0].source.tentative
    (table,) = [fact for fact in facts if isinstance(fact, LogicalArea)]
    assert (table.name, table.number, table.area_number, table.record_bytes) == ("ORDERS", 51, 5, 211)
    (cache,) = [fact for fact in facts if isinstance(fact, RowCache)]
    assert (cache.slots, cache.row_bytes, cache.database) == (10_000, 256, root)
    assert not [fact for fact in facts if isinstance(fact, DatabaseUse)]
    assert not [run for one in inputs for run in one.leftovers]
    problems = inputs[0].problems
    assert len(problems) == 2
    assert all("does not exist" in one and "INFO_TABLES.SQL" in one for one in problems)


def test_every_statement_is_in_a_transaction_that_only_reads(server: Postgres, tmp_path: Path) -> None:
    """A view that writes when it is read: PostgreSQL refuses it where, and only where, the transaction only reads."""
    address = server.make("writes")
    run_in(
        server,
        address,
        """
        create table seen (at integer);
        create function mark() returns integer language plpgsql security definer
          as 'begin insert into seen values (1); return 7; end';
        create view rdb$caches as select 1 as rdb$cache_id, mark() as rdb$cache_size, 'A' as rdb$cache_name;
        create view rdb$storage_areas as select 1 as rdb$area_id, 'AREA_1' as rdb$area_name;
        grant select on rdb$caches, rdb$storage_areas to reads;
        """,
    )
    done = collect(parse(by(server, "writes")), tmp_path, CollectRequest())
    (caches,) = [one for one in done.manifest["left_out"] if one["question"] == "RDB$CACHES"]
    assert "read-only transaction" in caches["why"]
    assert done.files[0]["questions"] == ["RDB$STORAGE_AREAS"]
    with psycopg.connect(address) as line:
        assert line.execute("select count(*) from seen").fetchone() == (0,)
        assert line.execute("select mark()").fetchone() == (7,)  # it does write where it may


def test_a_server_that_does_not_take_read_only_is_asked_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving("15.7") as other:  # SAP ASE knows no such statement
        text = f"[WRONG]\nDriver=FreeTDS\nServer={other.host}\nPort={other.port}\nTDS_Version=5.0\n"
        (tmp_path / "odbc.ini").write_text(text)
        monkeypatch.setenv("ODBCINI", str(tmp_path / "odbc.ini"))
        with pytest.raises(CollectorFailed, match="was asked nothing: it does not take `set transaction read only`"):
            try_it({"connection": f"DSN=WRONG;UID={other.user};", "password": other.password}, 20)
        asked = " ".join(other.batches()).lower()
    assert "set transaction read only" in asked
    assert "rdb$" not in asked


def test_a_warning_that_read_only_has_no_effect_is_a_refusal(
    server: Postgres, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As with a driver that ends every transaction at once, whatever it is told."""
    connect = pyodbc.connect
    monkeypatch.setattr(pyodbc, "connect", lambda *given, **more: connect(*given, **{**more, "autocommit": True}))
    one = queries.Round(parse(by(server)), CollectRequest(), tmp_path, lambda doing, within: None, write=True)
    with pytest.raises(CollectorFailed, match="SET TRANSACTION can only be used in transaction blocks"):
        one.ask()
    one.line.close()
    assert not list(tmp_path.iterdir())


def test_a_table_that_answers_too_late_ends_it_in_time(server: Postgres, tmp_path: Path) -> None:
    address = server.make("slow")
    run_in(
        server,
        address,
        "create view rdb$caches as select pg_sleep(60)::text as rdb$cache_name; grant select on rdb$caches to reads;",
    )
    without = [one.name for one in QUESTIONS if one.name not in ("RDB$DATABASE", "RDB$CACHES")]
    with pytest.raises(CollectorFailed, match="was not through within 2 s, at `RDB\\$CACHES`"):
        collect(parse(by(server, "slow")), tmp_path, order_of(without), limit=2)
    assert not (tmp_path / "manifest.json").exists()


def test_what_was_answered_before_a_table_that_never_does_is_kept(server: Postgres, tmp_path: Path) -> None:
    address = server.make("falls_silent")
    run_in(
        server,
        address,
        f"{TABLES.partition('create role')[0]} drop table rdb$caches;"
        "create view rdb$caches as select pg_sleep(60)::text as rdb$cache_name;"
        "grant select on all tables in schema public to reads;",
    )
    known: list[Identity] = []
    collected = collect(parse(by(server, "falls_silent")), tmp_path, CollectRequest(), limit=10, admit=known.append)
    assert [one.server for one in known] == ["DISK$LEDGER:[LEDGER]LEDGER.RDB;1"]
    assert not collected.manifest["complete"]
    left = {one["question"]: one["why"] for one in collected.manifest["left_out"] if "any more" in one["why"]}
    assert set(left) == {"RDB$CACHES", "RDB$DATABASE_USERS"}
    facts, inputs = read(tmp_path)
    assert [fact for fact in facts if isinstance(fact, StorageArea)]
    assert [problem for one in inputs for problem in one.problems if "RDB$CACHES" in problem]


def test_rows_are_bounded_and_the_bound_is_told(server: Postgres, tmp_path: Path) -> None:
    address = server.make("many")
    run_in(
        server,
        address,
        "create view rdb$caches as select n as rdb$cache_id, 'C' || n as rdb$cache_name, 5 as rdb$cache_size"
        " from generate_series(1, 90000) n; grant select on rdb$caches to reads;",
    )
    collect(parse(by(server, "many")), tmp_path, CollectRequest())
    facts, inputs = read(tmp_path)
    assert len([fact for fact in facts if isinstance(fact, RowCache)]) == 2_000
    assert "only a part was asked for: RDB$CACHES: the first 2,000 rows" in inputs[-1].problems + inputs[0].problems


def test_a_try_tells_who_answers_and_what_is_missing(server: Postgres) -> None:
    found = try_it({"connection": by(server), "password": "s3cr3t"}, 20)
    assert found.server == "DISK$LEDGER:[LEDGER]LEDGER.RDB;1"
    assert found.release.startswith("PostgreSQL 1")
    assert found.driver.startswith("psqlodbcw.so")
    assert [what.split(":")[0] for what, _ in found.missing] == ["RDB$DATABASE_JOURNAL", "RDB$DATABASE_USERS"]
    assert "RMU/SHOW STATISTICS" in found.problems[0]


def test_what_cannot_be_asked_says_why_and_never_the_password(server: Postgres, tmp_path: Path) -> None:
    empty = server.make("empty")
    assert empty
    wrong = {
        "answered none of the questions": by(server, "empty"),
        "this machine has no such ODBC driver or data source": "DRIVER={Oracle Rdb Driver};SERVER=vms1;UID=x;",
        "no connection to 127.0.0.1:1": by(server, PORT="1"),
        "no driver for Oracle Rdb is named": "SERVER=vms1;UID=x;",
        "an Oracle Rdb database is reached by ODBC alone": "ase://x@vms1:5000/",
    }
    for says, connection in wrong.items():
        with pytest.raises(CollectorFailed) as failed:
            collect(parse(connection, "s3cr3t-pw"), tmp_path, CollectRequest(), limit=30)
        assert says in str(failed.value)
        assert "s3cr3t-pw" not in str(failed.value)
    with pytest.raises(CollectorFailed, match="no question 'X' to leave out"):
        order_of(["x"])


def test_no_login_and_no_address_stands_in_what_was_collected(server: Postgres, tmp_path: Path) -> None:
    where = parse(by(server), "s3cr3t-pw")
    assert isinstance(where, Connection)
    Rdb().collect(Target("LEDGER", "rdb", {"connection": by(server), "password": "s3cr3t-pw"}), tmp_path, 60)
    with zipfile.ZipFile(next(tmp_path.iterdir())) as archive:
        everything = b"".join(archive.read(name) for name in archive.namelist())
        told = json.loads(archive.read("manifest.json"))
    assert not [word for word in (b"s3cr3t-pw", b"reads", b"127.0.0.1") if word in everything]
    assert told["product"] == "rdb"
    assert told["files"][0]["rows"] == 47


def test_the_questions_are_those_that_are_sent() -> None:
    text = questions_text()
    assert all(f"{one.sql};" in text for one in QUESTIONS)
    assert "set transaction read only" in text


def test_the_command_writes_a_zip_and_says_what_was_not_answered(server: Postgres, tmp_path: Path) -> None:
    out = tmp_path / "ledger.zip"
    with pytest.raises(CommandError, match="2 of the questions were not answered: the rest is kept") as ended:
        call_command("collect", by(server), "--product", "rdb", "--out", str(out), "--without", "rdb$caches")
    assert ended.value.returncode == 1
    facts, _ = read(out)
    assert [fact.row_cache for fact in facts if isinstance(fact, StorageArea)][-1] == "number 2"
    printed = io.StringIO()
    call_command("collect", "--product", "rdb", "--questions", stdout=printed)
    assert "select * from RDB$CACHES;" in printed.getvalue()
    with pytest.raises(CommandError, match="an Oracle Rdb database is reached by ODBC alone"):
        call_command("collect", "ase://x@vms1:5000/", "--product", "rdb")
