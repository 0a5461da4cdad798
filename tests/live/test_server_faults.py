"""The faults of the server of `tests.live`, one by one, as a client meets them."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager

import pyodbc
import pytest

from tests.live.queries import ask, connected, one, rows
from tests.live.running import Serving, serving
from tests.live.wire import Line
from tests.servers import PATIENCE


@contextmanager
def at_fault(*faults: str, pace: float = 1.0) -> Iterator[tuple[Serving, pyodbc.Connection]]:
    with serving(faults=faults, pace=pace) as server, connected(server, seconds=round(PATIENCE)) as connection:
        yield server, connection


def test_without_mon_role_the_monitoring_tables_are_refused_and_the_rest_is_not() -> None:
    with at_fault("no-mon-role") as (_, connection):
        assert one(connection, "proc_role('mon_role')") == 0
        assert "mon_role" not in one(connection, "show_role()")
        with pytest.raises(pyodbc.Error, match=r"'mon_role'.*10353"):
            rows(connection, "select * from master..monState")
        assert rows(connection, "select * from master..sysdatabases")


def test_without_sa_role_sp_sysmon_is_still_for_who_may_monitor() -> None:
    with at_fault("no-sa-role", pace=60.0) as (_, connection):
        assert one(connection, "has_role('sa_role')") == 0
        assert ask(connection, "sp_sysmon '00:00:05'")
    with (
        at_fault("no-sa-role", "no-mon-role", pace=60.0) as (_, connection),
        pytest.raises(pyodbc.Error, match="10353"),
    ):
        ask(connection, "sp_sysmon '00:00:05'")


def test_switched_off_tables_are_empty_and_the_switch_says_so() -> None:
    with at_fault("monitoring-off") as (_, connection):
        assert rows(connection, "select * from master..monSpinlockActivity") == []
        assert rows(connection, "select * from master..monState") != []
    with at_fault("switch-off=enable spinlock monitoring") as (_, connection):
        assert rows(connection, "select * from master..monSpinlockActivity") == []
        assert rows(connection, "select * from master..monDataCache") != []
        (switch,) = rows(connection, "sp_configure 'enable spinlock monitoring'")
        assert switch["Run Value"].strip() == "0"


def test_a_missing_table_and_a_missing_procedure_are_errors_of_their_own() -> None:
    with at_fault("missing-table=monThread", "missing-procedure=sp_helpcache") as (_, connection):
        with pytest.raises(pyodbc.Error, match=r"monThread not found.*208"):
            rows(connection, "select * from master..monThread")
        with pytest.raises(pyodbc.Error, match=r"sp_helpcache.*2812"):
            ask(connection, "sp_helpcache")
        assert rows(connection, "select * from master..monEngine")


def test_a_deadlock_comes_after_the_rows_and_once() -> None:
    with at_fault("deadlock=monLocks") as (_, connection):
        cursor = connection.cursor()
        cursor.execute("select * from master..monLocks")
        assert cursor.fetchall()
        with pytest.raises(pyodbc.Error, match="1205"):
            cursor.nextset()
        cursor.close()
        assert rows(connection, "select * from master..monLocks")


@pytest.mark.parametrize(("fault", "number"), [("refuse-database", 916), ("offline-database", 950)])
def test_a_database_that_cannot_be_used_says_why_and_the_others_can(fault: str, number: int) -> None:
    with at_fault(f"{fault}=archive") as (_, connection):
        for batch in ("use archive", "select * from archive..sysobjects"):
            with pytest.raises(pyodbc.Error, match=rf"archive.*\({number}\)"):
                ask(connection, batch)
        assert one(connection, "db_name()") == "master"
        assert rows(connection, "select * from billing..sysobjects")


def test_a_slow_answer_can_be_cancelled_and_the_line_goes_on() -> None:
    with serving(faults=("slow=monEngine",)) as server, connected(server, seconds=1) as connection:
        with pytest.raises(pyodbc.Error, match="HYT00"):
            rows(connection, "select * from master..monEngine")
        assert one(connection, "1") == 1
        assert "cancel" in [one["kind"] for one in server.requests()]


@pytest.mark.parametrize("fault", ["drop-in-table=monWaitEventInfo", "drop-after-rows=3"])
def test_the_line_is_cut_in_the_middle_of_an_answer(fault: str) -> None:
    with serving(faults=(fault,)) as server:
        connection = pyodbc.connect(server.connection(), autocommit=True, timeout=60)
        with pytest.raises(pyodbc.Error):
            ask(connection, "select * from master..monWaitEventInfo")
        with pytest.raises(pyodbc.Error, match="08"):
            one(connection, "1")
        connection.close()


def test_a_cut_after_so_many_rows_leaves_shorter_answers_whole() -> None:
    with at_fault("drop-after-rows=3") as (_, connection):
        assert len(rows(connection, "select top 2 * from master..monWaitEventInfo")) == 2


def test_nulls_leave_the_names_or_not_even_these() -> None:
    with at_fault("nulls") as (_, connection):
        found = rows(connection, "select * from master..monDataCache")
        assert {row["CacheSearches"] for row in found} == {None}
        assert "default data cache" in {row["CacheName"] for row in found}
    with at_fault("nulls=all") as (_, connection):
        found = rows(connection, "select * from master..monDataCache")
        assert {value for row in found for value in row.values()} == {None}


@pytest.mark.parametrize("fault", ["locked-login", "without-rsa"])
def test_a_login_that_is_refused_whatever_it_says(fault: str) -> None:
    with (
        serving(faults=(fault,)) as server,
        pytest.raises(pyodbc.Error, match="4002"),
        connected(server, Encryption="require"),
    ):
        pass


def test_a_server_that_takes_the_line_and_says_nothing() -> None:
    """Not by pyodbc: FreeTDS waits for ever here, which is what the fault is for."""
    with serving(faults=("silent-accept",)) as server, Line(server) as line:
        line.login()
        line.wait_no_longer_than(0.5)
        with pytest.raises(TimeoutError):
            line.read()


def test_a_server_that_falls_silent_after_the_login() -> None:
    with serving(faults=("silent-login",)) as server, Line(server) as line:
        line.login()
        assert line.read()
        line.send_batch("select 1")
        line.wait_no_longer_than(0.5)
        with pytest.raises(TimeoutError):
            line.read()


def test_a_killed_server_is_gone() -> None:
    with serving() as server:
        server.kill()
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection((server.host, server.port), 1).close()
