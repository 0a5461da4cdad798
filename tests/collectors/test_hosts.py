"""Whose the figures of a host are: SAP ASE's beside an export of it, else those of a host of UNIX."""

from collectors.capture import captures
from collectors.facts import Fact, Source
from collectors.facts.ase import HostLoad, LoadAverage, Server
from collectors.facts.unix import RecordLockTable
from collectors.hosts import OF_LISTED
from collectors.read import Input

HERE = Source("", 1, 1)


def given(file: str, report: str, *facts: Fact) -> Input:
    """An export as the reader hands it on."""
    return Input(file, report, facts=list(facts))


def mpstat(file: str) -> Input:
    return given(file, "ase/mpstat", HostLoad(source=HERE, command="mpstat", idle_percent=81.0))


def locks(file: str) -> Input:
    return given(file, "unix/proc_locks", RecordLockTable(source=HERE, report="/proc/locks", locks=4, waiters=0))


def told(*inputs: Input, name: str | None = None) -> list[tuple[str, str]]:
    """Product and name of each capture."""
    return [(one.system.product, one.system.name) for one in captures(inputs, name)]


def test_alone_they_are_of_a_host() -> None:
    assert told(mpstat("a/mpstat.txt")) == [("unix", "mpstat")]
    uptime = given("a/uptime.txt", "ase/uptime", LoadAverage(source=HERE, last_minute=3.0))
    assert told(mpstat("a/mpstat.txt"), uptime) == [("unix", "a")]


def test_beside_record_locks_they_are_of_that_host() -> None:
    load = mpstat("a/mpstat.txt")
    assert told(locks("a/locks.txt"), load) == [("unix", "locks")]
    assert load.problems == [OF_LISTED]


def test_beside_several_hosts_they_are_of_none_of_these() -> None:
    found = told(locks("a/web1.txt"), locks("a/web2.txt"), mpstat("a/mpstat.txt"))
    assert sorted(found) == [("unix", "mpstat"), ("unix", "web1"), ("unix", "web2")]
    assert sorted(told(locks("b/web1.txt"), mpstat("a/mpstat.txt"))) == [("unix", "mpstat"), ("unix", "web1")]


def test_beside_a_server_they_are_of_it() -> None:
    server = given("a/version.txt", "ase/version", Server(source=HERE, name="PROD", version="16.0"))
    assert told(server, mpstat("a/mpstat.txt"), locks("a/locks.txt")) == [("ase", "PROD"), ("unix", "locks")]


def test_beside_several_servers_they_stay_for_the_user_to_place() -> None:
    servers = [given(f"a/{name}.txt", "ase/version", Server(source=HERE, name=name)) for name in ("ONE", "TWO")]
    assert ("ase", "mpstat") in told(*servers, mpstat("a/mpstat.txt"))


def test_where_the_user_names_the_system_they_are_of_it() -> None:
    assert told(mpstat("a/mpstat.txt"), name="PROD") == [("ase", "PROD")]
