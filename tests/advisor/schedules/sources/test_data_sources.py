"""Data sources are made, changed and removed by who may work for the team; everything is noted, no secret is."""

from typing import Any

import pytest
from django.db import connection as database

from advisor.core.models import JournalEntry
from advisor.core.records import Refused
from advisor.schedules.models import DataSource
from advisor.schedules.sources import data_sources
from advisor.systems.models import System
from advisor.systems.services.overview import heard
from advisor.systems.services.systems import forget_system, rename_system
from tests.advisor.people import People
from tests.advisor.schedules.scheduling import make_system
from tests.advisor.schedules.sources.asked import SECRET, make_source, wish

pytestmark = pytest.mark.postgres

BY_STRING = "DRIVER={Adaptive Server Enterprise};SERVER=db1.example.org;PORT=5000;UID=reader"


def notes() -> list[tuple[str, str, str]]:
    return list(JournalEntry.objects.order_by("pk").values_list("who", "action", "what"))


def test_who_added_changed_and_removed_it_is_noted_without_login_or_password(people: People, system: System) -> None:
    source = make_source(system, people.owner)
    data_sources.change(source, wish(name="standby", seconds=30, password="t0p-secret"), people.mate)
    source.refresh_from_db()
    data_sources.remove(source, people.administrator)
    place = "db1.example.org, port 5000"
    said = "name harbour to standby, seconds 60 to 30, password set"
    assert notes() == [
        ("olga", "data source added", f"harbour of TIDEWAY: {place}"),
        ("mats", "data source changed", f"standby of TIDEWAY: {place} (changed: {said})"),
        ("adam", "data source removed", f"standby of TIDEWAY: {place}"),
    ]
    assert all(entry.system == system for entry in JournalEntry.objects.all())
    assert not any(word in str(notes()) for word in (SECRET, "t0p-secret", "reader"))


@pytest.mark.parametrize(
    "more",
    [
        {"host": "db2.example.org"},
        {"port": 5001},
        {"user": "sa"},
        {"host": "", "odbc": BY_STRING},
    ],
    ids=str,
)
def test_a_stored_password_is_not_sent_where_it_was_not_typed_for(
    people: People, system: System, more: dict[str, Any]
) -> None:
    source = make_source(system, people.owner)
    with pytest.raises(Refused, match="type its password, or remove the stored one") as refused:
        data_sources.change(source, wish(**{"password": "", **more}), people.mate)
    assert refused.value.field == "password"
    source.refresh_from_db()
    assert source.host == "db1.example.org"
    data_sources.change(source, wish(**{"password": "new", **more}), people.mate)
    source.refresh_from_db()
    assert source.password_sealed


def test_an_empty_password_keeps_the_stored_one_and_one_can_be_removed(people: People, system: System) -> None:
    source = make_source(system, people.owner)
    assert data_sources.change(source, wish(password="", seconds=90), people.owner) == ["seconds 60 to 90"]
    source.refresh_from_db()
    sealed = source.password_sealed
    assert sealed
    assert data_sources.change(source, wish(password="", remove_password=True, seconds=90), people.owner) == [
        "password removed"
    ]
    source.refresh_from_db()
    assert (source.password_sealed, source.key_mark) == ("", "")


@pytest.mark.parametrize(
    ("more", "field", "why"),
    [
        ({"name": " "}, "name", "needs a name"),
        ({"host": ""}, "host", "by host, port and user, or by an ODBC connection string"),
        ({"odbc": BY_STRING}, "host", "by host, port and user, or by an ODBC connection string"),
        ({"host": "db1;PWD=x"}, "host", "Write a host name"),
        ({"host": "db1/../x"}, "host", "Write a host name"),
        ({"port": None}, "port", "1 to 65535"),
        ({"port": 0}, "port", "1 to 65535"),
        ({"user": ""}, "user", "Write the login"),
        ({"user": "a\nb"}, "user", "Write the login"),
        ({"host": "", "odbc": "DRIVER=/tmp/x.so"}, "odbc", "not a path"),
        ({"seconds": 4}, "seconds", "5 to 600"),
        ({"seconds": 601}, "seconds", "5 to 600"),
        ({"sysmon": "1 minute"}, "sysmon", "HH:MM:SS"),
        ({"sysmon": "00:01:00; shutdown"}, "sysmon", "HH:MM:SS"),
        ({"sysmon": "00:00:61"}, "sysmon", "00:10:00"),
        ({"sysmon": "01:00:00"}, "sysmon", "00:10:00"),
        ({"password": "a\0b"}, "password", "none of which controls"),
        ({"password": "x" * 201}, "password", "at most 200"),
    ],
    ids=str,
)
def test_what_cannot_be_is_refused_beside_its_field(
    people: People, system: System, more: dict[str, Any], field: str, why: str
) -> None:
    with pytest.raises(Refused, match=why) as refused:
        make_source(system, people.owner, **more)
    assert refused.value.field == field
    assert not DataSource.objects.exists()


def test_one_system_has_no_two_sources_of_one_name(people: People, system: System) -> None:
    make_source(system, people.owner)
    with pytest.raises(Refused, match="has a data source of this name"):
        make_source(system, people.owner, name="HARBOUR")
    assert make_source(make_system(people.team, "OTHER"), people.owner)


def test_rdb_is_reached_by_a_connection_string_alone(people: People) -> None:
    rdb = System.objects.create(team=people.team, product="rdb", name="LEDGER", key="LEDGER")
    with pytest.raises(Refused, match="by an ODBC connection string alone"):
        make_source(rdb, people.owner)
    made = make_source(rdb, people.owner, host="", odbc="DSN=LEDGER")
    assert data_sources.options(made)["connection"] == "DSN=LEDGER;"
    assert data_sources.place(made) == "DSN LEDGER"


def test_a_system_can_be_asked_before_it_ever_brought_an_export(people: People) -> None:
    made = data_sources.system_for(people.team, "ase", " HARVEST ", people.owner)
    assert (made.name, made.key, made.product, made.latest) == ("HARVEST", "HARVEST", "ase", None)
    assert data_sources.system_for(people.team, "ase", "harvest", people.owner) == made
    assert notes() == [("olga", "system added", "HARVEST")]
    assert heard(made) == made.created
    with pytest.raises(Refused):
        data_sources.system_for(people.team, "openvms", "NODE", people.owner)
    with pytest.raises(Refused):
        data_sources.system_for(people.team, "ase", "\u202e", people.owner)


def test_sources_move_along_in_a_merge_and_go_with_a_forgotten_system(people: People, system: System) -> None:
    other = make_system(people.team, "HARVEST")
    moved, stays = make_source(system, people.owner), make_source(other, people.owner)
    rename_system(system, "HARVEST", people.owner, merge=True)
    for source in (moved, stays):
        source.refresh_from_db()
        assert source.system == other
    assert (moved.name, stays.name) == ("harbour (2)", "harbour")
    forget_system(other, "HARVEST", people.owner)
    assert not DataSource.objects.exists()


def test_no_password_stands_in_any_column_of_any_table(people: People, system: System) -> None:
    source = make_source(system, people.owner)
    data_sources.change(source, wish(name="b", password=SECRET), people.owner)
    with database.cursor() as cursor:
        for table in database.introspection.table_names(cursor):
            cursor.execute(f'select * from "{table}"')
            assert SECRET not in str(cursor.fetchall()), table


def test_neither_a_wish_nor_what_is_reached_shows_its_secret(people: People, system: System) -> None:
    source = make_source(system, people.owner, host="10.0.0.1")
    reached = data_sources.reach(source)
    assert reached.password == SECRET
    assert SECRET not in repr((reached, wish(), source))
