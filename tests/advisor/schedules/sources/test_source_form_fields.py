"""The form of a data source asks for one way: what the other way has is not meant."""

import pytest
from django.urls import reverse

from advisor.schedules.models import DataSource
from advisor.systems.models import System
from tests.advisor.people import AsUser, People, text_of

TYPED = {"name": "harbour", "port": "5000", "seconds": "60", "user": "lw", "host": "db.example.org"}
STRING = "DRIVER={Adaptive Server Enterprise};SERVER=db.example.org;PORT=5000;UID=lw;"


@pytest.mark.parametrize(("way", "kept"), [("host", ("db.example.org", "")), ("odbc", ("", STRING))])
def test_the_chosen_way_alone_is_kept(
    people: People, storm: System, as_user: AsUser, way: str, kept: tuple[str, str]
) -> None:
    data = {**TYPED, "system": str(storm.pk), "reach": way, "odbc": STRING}
    answer = as_user(people.owner).post(f"{reverse('source-new')}?team={people.team.pk}", data)
    assert answer.status_code == 302, answer.content.decode()[:3000]
    source = DataSource.objects.get()
    assert (source.host, source.odbc) == kept
    form = text_of(as_user(people.owner), reverse("source-change", args=[source.pk]))
    chosen = form.split(f'name="reach" value="{way}"')[1].split(">")[0]
    assert "checked" in chosen


def test_without_a_way_both_are_refused_as_ever(people: People, storm: System, as_user: AsUser) -> None:
    data = {**TYPED, "system": str(storm.pk), "odbc": STRING}
    answer = as_user(people.owner).post(f"{reverse('source-new')}?team={people.team.pk}", data)
    assert answer.status_code == 400
    assert not DataSource.objects.exists()


def test_systems_stand_under_their_product_so_that_fields_can_follow(
    people: People, storm: System, as_user: AsUser
) -> None:
    System.objects.create(team=people.team, product="rdb", name="PAYROLL", key="PAYROLL")
    form = text_of(as_user(people.owner), f"{reverse('source-new')}?team={people.team.pk}")
    ase, rdb = form.split('<optgroup label="SAP ASE">')[1].split('<optgroup label="Oracle Rdb">')
    assert "CLAIMS1 (SAP ASE)" in ase
    assert "PAYROLL (Oracle Rdb)" in rdb.split("</optgroup>")[0]
    for name, opens in (("seconds", "of-ase"), ("sysmon", "of-ase"), ("odbc", "of-odbc"), ("host", "of-host of-ase")):
        within = form.split(f'<fieldset class="{opens}">')[1].split("</fieldset>")[0]
        assert f'name="{name}"' in within
    assert 'name="new_system"' in form.split('<fieldset class="card of-new">')[1].split("</fieldset>")[0]


def test_oracle_rdb_has_its_one_way_whatever_was_chosen(people: People, as_user: AsUser) -> None:
    system = System.objects.create(team=people.team, product="rdb", name="PAYROLL", key="PAYROLL")
    data = {"name": "payroll", "system": str(system.pk), "reach": "host", "seconds": "60", "odbc": "DSN=payroll"}
    answer = as_user(people.owner).post(f"{reverse('source-new')}?team={people.team.pk}", data)
    assert "Say how it is reached" not in answer.content.decode(), "the string was not taken away"
