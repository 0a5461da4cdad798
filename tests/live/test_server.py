"""The server of `tests.live` as FreeTDS sees it: logins, batches, types, messages."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import datetime
from decimal import Decimal
from functools import cache
from typing import Any

import pyodbc
import pytest

from tests.live.queries import ask, connected, one, rows
from tests.live.running import CannotStart, Serving, serving


@pytest.fixture(scope="module")
def servers() -> Iterator[Callable[[str], Serving]]:
    """One of each release, whatever the order in which they are asked for."""
    with ExitStack() as running:
        yield cache(lambda release: running.enter_context(serving(release=release)))


@pytest.fixture(params=["15.7", "16.0"])
def server(request: pytest.FixtureRequest, servers: Callable[[str], Serving]) -> Serving:
    return servers(request.param)


@pytest.fixture
def connection(server: Serving) -> Iterator[pyodbc.Connection]:
    with connected(server) as found:
        yield found


def test_the_server_says_who_it_is(server: Serving, connection: pyodbc.Connection) -> None:
    (row,) = rows(connection, "select @@servername Name, @@version Version, @@maxpagesize PageSize, @@spid Spid")
    name, page = {"15.7": ("HARVEST", 2_048), "16.0": ("TIDEWAY", 4_096)}[server.release]
    assert (row["Name"], row["PageSize"]) == (name, page)
    assert row["Version"].startswith(f"Adaptive Server Enterprise/{server.release}")
    assert row["Spid"] >= 17


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("convert(tinyint, 255)", 255),
        ("convert(smallint, -32768)", -32_768),
        ("convert(int, -2147483648)", -(2**31)),
        ("convert(bigint, 9223372036854775807)", 2**63 - 1),
        ("convert(unsigned smallint, 65535)", 65_535),
        ("convert(unsigned int, 2147483647)", 2**31 - 1),
        ("convert(unsigned bigint, 9223372036854775807)", 2**63 - 1),
        ("convert(real, 1.5)", 1.5),
        ("convert(float, -2.25)", -2.25),
        ("convert(numeric(18,2), -12345.67)", Decimal("-12345.67")),
        ("convert(numeric(38,0), 12345678901)", Decimal(12_345_678_901)),
        ("convert(bit, 1)", True),
        ("convert(char(10), 'ab')", "ab"),
        ("'grün'", "grün"),
        ("convert(varchar(900), 'long column')", "long column"),
        ("convert(text, 'body')", "body"),
        ("''", " "),
        ("convert(varchar(40), @@boottime, 109)", "Nov 20 2026  8:15:00:000AM"),
        ("convert(varchar(40), @@boottime)", "Nov 20 2026  8:15AM"),
        ("@@boottime", datetime(2026, 11, 20, 8, 15)),  # noqa: DTZ001 - a datetime of the server has no zone
        ("7 / 2", 3),
        ("'a' + 'b' + db_name()", "abmaster"),
    ],
)
def test_a_value_of_each_type_arrives_as_it_was(connection: pyodbc.Connection, expression: str, value: object) -> None:
    found = one(connection, expression)
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    "kind",
    [
        *("tinyint", "smallint", "int", "bigint", "unsigned smallint", "unsigned int", "unsigned bigint"),
        *("real", "float", "numeric", "datetime", "char(5)", "varchar(5)", "varchar(300)", "text"),
    ],
)
def test_null_is_none_in_each_type_but_bit(connection: pyodbc.Connection, kind: str) -> None:
    assert one(connection, f"convert({kind}, null)") is None


def test_an_unsigned_int_above_two_billion_is_negative_to_pyodbc_and_right_once_converted(
    connection: pyodbc.Connection,
) -> None:
    assert one(connection, "convert(unsigned int, 4294967295)") == -1
    assert one(connection, "convert(bigint, 4294967295)") == 2**32 - 1


def test_messages_and_results_arrive_in_the_order_of_the_batch(connection: pyodbc.Connection) -> None:
    found = ask(connection, "print 'one' print \"it's two\" select 2 b where 1 = 0 select 1 a print 'three'")
    kinds: list[Any] = [("message", "one\n"), ("message", "it's two\n"), ("rows", []), ("rows", [{"a": 1}])]
    assert found == [*kinds, ("message", "three\n")]


@pytest.mark.parametrize("between", ["; ", "\n", " -- remark; select 9 z\n", " /* select 9 z */ "])
def test_statements_need_no_mark_between_them_and_remarks_are_not_run(
    connection: pyodbc.Connection, between: str
) -> None:
    assert ask(connection, f"select 'a;b' a{between}select 2 b") == [("rows", [{"a": "a;b"}]), ("rows", [{"b": 2}])]


def test_a_thousand_rows_of_many_packets_arrive_whole(connection: pyodbc.Connection) -> None:
    found = rows(
        connection, "select a.name, b.ColumnName, b.ColumnID from master..sysdatabases a, master..monTableColumns b"
    )
    assert len(found) > 1_000
    assert len({(row["name"], row["ColumnName"], row["ColumnID"]) for row in found}) > 1_000
    assert one(connection, "1") == 1


def test_names_are_case_sensitive_and_what_is_not_there_is_an_error(connection: pyodbc.Connection) -> None:
    for batch, number in [
        ("select * from master..monspinlockactivity", "208"),
        ("select * from orders..monState", "208"),
        ("select spinlockname from master..monSpinlockActivity", "207"),
        ("select 1 from nowhere..sysobjects", "911"),
        ("sp_wipe", "2812"),
        ("select from where", "102"),
    ]:
        with pytest.raises(pyodbc.Error, match=rf"\({number}\)"):
            ask(connection, batch)
    assert one(connection, "2") == 2


@pytest.mark.parametrize("batch", ["create table t (a int)", "delete orders..customer", "drop table x", "shutdown"])
def test_what_changes_something_is_refused(connection: pyodbc.Connection, batch: str) -> None:
    with pytest.raises(pyodbc.Error, match="permission denied"):
        ask(connection, batch)


def test_a_double_quoted_text_is_a_string_until_it_is_told_to_be_a_name(connection: pyodbc.Connection) -> None:
    assert one(connection, 'lockscheme("orders..customer")') == "datarows"
    ask(connection, "set quoted_identifier on")
    assert rows(connection, 'select "name" n from master..sysdatabases where dbid = 1') == [{"n": "master"}]


def test_each_database_has_its_tables_and_the_hostile_names_come_as_they_are(connection: pyodbc.Connection) -> None:
    ask(connection, "use orders")
    assert one(connection, "db_name()") == "orders"
    own = rows(connection, "select name, lockscheme(id) scheme from sysobjects where type = 'U'")
    assert {'x"; drop table y --', "<script>alert(1)</script>"} < {row["name"] for row in own}
    assert {"allpages", "datarows"} <= {row["scheme"] for row in own}
    other = rows(connection, "select name from [billing]..sysobjects where type = 'U'")
    assert "two\nlines" in {row["name"] for row in other}


def test_sizes_come_from_indexes_of_the_database_that_is_asked(server: Serving, connection: pyodbc.Connection) -> None:
    found = rows(
        connection,
        "select o.name, i.indid, data_pages(4, o.id, i.indid) * (@@maxpagesize / 1024) kb "
        "from orders..sysobjects o, orders..sysindexes i where o.id = i.id and o.name = 'stock' order by i.indid",
    )
    sizes = {"15.7": {0: 41_000, 2: 1_024, 3: 5_200}, "16.0": {0: 44_000, 2: 1_100, 3: 5_600}}[server.release]
    assert {row["indid"]: row["kb"] for row in found} == sizes


def test_the_columns_are_those_of_the_release(server: Serving, connection: pyodbc.Connection) -> None:
    (row,) = rows(connection, "select top 1 * from master..monDataCache")
    assert ("CASGrabs" in row) == (server.release == "16.0")
    listed = rows(connection, "select ColumnName from master..monTableColumns where TableName = 'monDataCache'")
    assert [one["ColumnName"] for one in listed] == list(row)


def test_a_password_goes_encrypted_where_that_is_asked_for_and_the_record_tells(server: Serving) -> None:
    with connected(server, Encryption="require", APP="lockwright") as connection:
        assert one(connection, "suser_name()") == server.user
    with connected(server) as connection:
        assert one(connection, "1") == 1
    logins = [one for one in server.requests() if one["kind"] == "login"][-2:]
    assert [one["password"] for one in logins] == ["encrypted", "clear"]
    assert logins[0]["application"] == "lockwright"
    assert not [one for one in server.requests() if one["kind"] == "password in clear"]


@pytest.mark.parametrize("encryption", ["off", "require"])
def test_a_wrong_password_is_refused_in_the_servers_own_words(server: Serving, encryption: str) -> None:
    with (
        pytest.raises(pyodbc.Error, match=r"Login failed.*4002"),
        connected(server, PWD="wrong", Encryption=encryption),
    ):
        pass


def test_a_password_of_odd_letters_is_taken(server: Serving) -> None:
    password = "b;c{ü=1 "  # but no closing brace: FreeTDS does not take a doubled one for one
    with serving(password=password) as other:
        for encryption in ("off", "require"):
            with connected(other, Encryption=encryption) as connection:
                assert one(connection, "1") == 1


def test_parameters_and_transactions_are_seen(server: Serving) -> None:
    with connected(server) as connection:
        cursor = connection.cursor()
        with pytest.raises(pyodbc.Error):
            cursor.execute("select ?", 1)
        cursor.close()
    with connected(server, autocommit=False) as connection:
        assert one(connection, "1") == 1
    kinds = [one["kind"] for one in server.requests()]
    assert {"prepared statement", "batch with parameters", "procedure call"} & set(kinds)
    assert any("begin tran" in batch.lower() for batch in server.batches())


def test_what_freetds_asks_of_itself_is_not_what_was_asked(server: Serving) -> None:
    before = len(server.asked())
    with connected(server) as connection:
        assert one(connection, "41 + 1") == 42
    assert server.asked()[before:] == ["select 41 + 1 x"]


def test_a_server_of_an_unknown_release_or_fault_does_not_start() -> None:
    with pytest.raises(CannotStart, match="no-such-fault"), serving(faults=("no-such-fault",)):
        pass
