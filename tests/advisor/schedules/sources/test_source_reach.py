"""The service asks from inside the network for whoever typed a name: never link-local, and no more than is allowed."""

import socket
from typing import Any

import pytest
from pytest_django import Settings

from advisor.config.apps import sources_are_readable
from advisor.core.records import Refused
from advisor.schedules.sources import data_sources, host_policy
from advisor.systems.models import System
from tests.advisor.people import People
from tests.advisor.schedules.sources.asked import make_source


@pytest.fixture
def names(monkeypatch: pytest.MonkeyPatch) -> dict[str, list[str]]:
    """What the name server knows."""
    known: dict[str, list[str]] = {}

    def asked(host: str, *more: Any, **named: Any) -> list[Any]:
        if host not in known:
            raise socket.gaierror(-2, "Name or service not known")
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (one, 0)) for one in known[host]]

    monkeypatch.setattr(socket, "getaddrinfo", asked)
    return known


@pytest.mark.parametrize(
    "host",
    ["169.254.169.254", "fe80::1", "[fe80::1]", "::ffff:169.254.1.1", "100.100.100.200", "224.0.0.1", "2852039166"],
)
def test_a_link_local_address_is_refused_as_it_is_typed(people: People, system: System, host: str) -> None:
    with pytest.raises(Refused, match="never asked") as refused:
        make_source(system, people.owner, host=host)
    assert refused.value.field == "host"
    with pytest.raises(Refused, match=r"never asked|host name or an IP"):
        make_source(system, people.owner, host="", odbc=f"DRIVER=FreeTDS;SERVER={host};UID=x")


def test_a_name_that_leads_to_one_is_refused_when_it_is_asked(names: dict[str, list[str]]) -> None:
    names["rebound.example.org"] = ["10.1.2.3", "169.254.169.254"]
    with pytest.raises(host_policy.NotAsked, match="never asked"):
        host_policy.resolved("rebound.example.org")


def test_the_driver_is_told_the_address_that_was_checked(
    people: People, system: System, names: dict[str, list[str]]
) -> None:
    names["db1.example.org"] = ["10.1.2.3"]
    source = make_source(system, people.owner, user="read er@x/y")
    assert data_sources.options(source)["connection"] == "ase://read%20er%40x%2Fy@10.1.2.3:5000/"


def test_freetds_is_told_the_checked_address_in_a_connection_string_too_and_another_driver_the_name(
    people: People, system: System, names: dict[str, list[str]]
) -> None:
    names["db1.example.org"] = ["10.1.2.3"]
    rest = "SERVER=db1.example.org;PORT=5000;UID=reader;"
    source = make_source(system, people.owner, host="", odbc=f"DRIVER={{FreeTDS}};{rest}")
    assert data_sources.options(source)["connection"] == "DRIVER=FreeTDS;SERVER=10.1.2.3;PORT=5000;UID=reader;"
    other = make_source(system, people.owner, name="b", host="", odbc=f"DRIVER={{Adaptive Server Enterprise}};{rest}")
    assert "SERVER=db1.example.org;" in data_sources.options(other)["connection"]
    names["db1.example.org"] = ["169.254.169.254"]
    for one in (source, other):
        with pytest.raises(host_policy.NotAsked, match="never asked"):
            data_sources.options(one)


def test_an_unknown_name_is_told_with_what_to_do(names: dict[str, list[str]]) -> None:
    with pytest.raises(host_policy.NotAsked) as refused:
        host_policy.resolved("nowhere.example.org")
    assert refused.value.says == "the name nowhere.example.org is not known here"


def test_only_what_the_operator_allows_is_asked(names: dict[str, list[str]], settings: Settings) -> None:
    settings.ALLOWED_SOURCES = ["10.1.0.0/16", "*.db.example.org", "DSN=Prod"]
    names.update(inside=["10.1.200.3"], outside=["10.2.0.1"], half=["10.1.0.1", "10.2.0.1"])
    names["one.db.example.org"] = ["192.0.2.1"]
    names["bad.db.example.org"] = ["169.254.0.1"]
    assert host_policy.resolved("inside") == "10.1.200.3"
    assert host_policy.resolved("one.db.example.org") == "192.0.2.1"
    for host in ("outside", "half", "192.0.2.1", "bad.db.example.org"):
        with pytest.raises(host_policy.NotAsked):
            host_policy.resolved(host)
    host_policy.check_dsn("PROD")
    with pytest.raises(host_policy.NotAsked, match="outside"):
        host_policy.check_dsn("test")


def test_an_address_outside_is_refused_before_it_is_kept(people: People, system: System, settings: Settings) -> None:
    settings.ALLOWED_SOURCES = ["10.1.0.0/16"]
    with pytest.raises(Refused, match="outside of what this service may ask"):
        make_source(system, people.owner, host="10.2.0.1")
    with pytest.raises(Refused, match="outside of what this service may ask"):
        make_source(system, people.owner, host="", odbc="DSN=test")
    assert make_source(system, people.owner, host="10.1.0.1")


def test_a_slip_in_what_is_allowed_stops_the_start(settings: Settings) -> None:
    settings.ALLOWED_SOURCES = ["10.1.0.0/33", "*.example.org", "10.2.0.0/16"]
    (error,) = sources_are_readable(None)
    assert (error.id, error.msg) == ("advisor.E003", "ALLOWED_SOURCES: 10.1.0.0/33 is no network.")
