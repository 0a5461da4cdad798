"""The pages of recipients: who sees and changes what, and the way from one's account."""

import re
from typing import Any

import pytest
from django.urls import reverse

from advisor.core.models import Site
from advisor.notifications.models import Recipient
from advisor.notifications.services import notify, recipients
from advisor.notifications.services.preferences import wanted_words
from advisor.systems.models import System
from tests.advisor.keeping import keeps
from tests.advisor.notifications.mail.hearing import audited_again, hearer
from tests.advisor.people import AsUser, People, text_of
from tests.advisor.seen import words_of

shared = keeps("address_lock_storm")

PAGES = ("letter-recipient", "letter-preview", "letter-preview-html")
DEEDS = ("letter-recipient-stop", "letter-recipient-resume", "letter-recipient-remove", "letter-test")


def typed(**other: object) -> dict[str, Any]:
    """What the form of a recipient holds, with changes."""
    held: dict[str, Any] = {
        "reports": "on",
        "severity": "3",
        "scripts": "on",
        "not_audited": "on",
        "days": ["0", "1", "2", "3", "4", "5", "6"],
        "digest_day": "0",
        "digest_hour": "7",
        "zone": "UTC",
    }
    return {name: value for name, value in {**held, **other}.items() if value is not None}


def test_the_list_says_whom_about_what_and_what_became_of_the_last_mail(
    people: People, as_user: AsUser, storm: System
) -> None:
    hearer(people, "a@example.org", everything=True)
    recipients.stop(hearer(people, "b@example.org", systems=[storm]), people.owner, "on leave")
    audited_again(storm)
    notify.notify(storm.pk)
    words = words_of(text_of(as_user(people.colleague), reverse("letters")))
    assert "a@example.org all systems reports after every audit from warning on" in words
    assert "CLAIMS1: " in words
    assert "waits" in words
    assert "b@example.org CLAIMS1 reports of changes" in words
    assert "on leave" in words
    assert "No mail server is set" in words


def test_a_dba_adds_a_recipient_with_systems_and_groups(people: People, as_user: AsUser, storm: System) -> None:
    group = people.team.groups.create(name="claims")
    client = as_user(people.owner)
    assert 'value="olga@example.org"' in text_of(client, reverse("letter-recipient-add"))
    data = typed(address="list@example.org", systems=[storm.pk], groups=[group.pk], severity="4", digest="on")
    answer = client.post(reverse("letter-recipient-add"), data, follow=True)
    assert "list@example.org gets mail about CLAIMS1, group claims, from the next audit on" in answer.content.decode()
    one = Recipient.objects.get()
    assert (one.address, one.severity, one.digest) == ("list@example.org", 4, True)
    assert one.digest_due
    assert (list(one.systems.all()), list(one.groups.all())) == ([storm], [group])


@pytest.mark.parametrize(
    ("other", "said"),
    [
        ({"address": "nobody"}, "Enter a valid email address."),
        ({"address": "ø@b.org"}, "valid email"),
        ({"address": "a@b.org\r\nBcc: c@d.org"}, "valid email"),
        ({"days": None}, "required"),
        ({"zone": "Mars/Olympus"}, "not one of the available choices"),
        ({"reports": None, "not_audited": None}, "Choose something to be sent"),
        ({"severity": "9"}, "not one of the available choices"),
        ({"systems": ["4711"]}, "not one of the available choices"),
    ],
)
def test_what_cannot_be_is_an_error_of_the_form(
    people: People, as_user: AsUser, other: dict[str, object], said: str
) -> None:
    answer = as_user(people.owner).post(reverse("letter-recipient-add"), typed(**{"address": "a@b.org", **other}))
    assert answer.status_code == 400
    assert said in words_of(answer.content.decode())
    assert not Recipient.objects.exists()


def test_systems_of_another_team_are_not_offered_and_not_taken(people: People, as_user: AsUser) -> None:
    theirs = System.objects.create(team=people.other_team, product="ase", name="PAYROLL9", key="PAYROLL9")
    client = as_user(people.owner)
    assert "PAYROLL9" not in text_of(client, reverse("letter-recipient-add"))
    data = typed(address="a@b.org", systems=[theirs.pk])
    assert client.post(reverse("letter-recipient-add"), data).status_code == 400
    address = f"{reverse('letter-recipient-add')}?team={people.other_team.pk}"
    assert client.get(address).status_code == 404
    assert client.post(address, typed(address="a@b.org")).status_code == 404


def test_who_is_in_several_teams_chooses_one(people: People, as_user: AsUser) -> None:
    client = as_user(people.administrator)
    assert "Payroll" in text_of(client, reverse("letter-recipient-add"))
    client.post(f"{reverse('letter-recipient-add')}?team={people.other_team.pk}", typed(address="a@b.org"))
    assert Recipient.objects.get().team == people.other_team


def boxes_of(page: str) -> dict[int, bool]:
    """The systems that a form offers, and whether each is chosen: as boxes, which need no key to choose several."""
    found = re.findall(r'<input type="checkbox" name="systems" value="(\d+)"([^>]*)>', page)
    return {int(number): "checked" in rest for number, rest in found}


def test_systems_chosen_on_the_overview_are_chosen_in_the_form(people: People, as_user: AsUser, storm: System) -> None:
    other = System.objects.create(team=people.team, product="ase", name="CLAIMS2", key="CLAIMS2")
    theirs = System.objects.create(team=people.other_team, product="ase", name="PAYROLL9", key="PAYROLL9")
    address = f"{reverse('letter-recipient-add')}?system={storm.pk}&system={theirs.pk}"
    page = text_of(as_user(people.owner), address)
    assert boxes_of(page) == {storm.pk: True, other.pk: False}
    assert "CLAIMS1 (SAP ASE)" in page
    assert "<select multiple" not in page
    assert "Chosen until now, 1 system: CLAIMS1." in page
    assert "No mail server is set" in page, "before anything is added"
    assert "PAYROLL9" not in page
    page = text_of(as_user(people.administrator), f"{address}&team={people.team.pk}")
    assert "Of other teams, and so not chosen here: PAYROLL9." in words_of(page)
    assert f'name="system" value="{storm.pk}"' in text_of(as_user(people.administrator), address)
    mine = hearer(people, people.owner.email, systems=[other])
    answer = as_user(people.owner).get(address, follow=True)
    assert answer.redirect_chain[-1][0] == f"{reverse('letter-recipient', args=[mine.pk])}?system={storm.pk}"
    said = answer.content.decode()
    assert boxes_of(said) == {storm.pk: True, other.pk: False}
    assert "gets mail about Claims already" in said
    assert list(mine.systems.all()) == [other], "nothing is changed before it is stored"


def test_a_change_is_stored_and_what_was_not_chosen_is_off(people: People, as_user: AsUser, storm: System) -> None:
    one = hearer(people, heartbeat=True, digest=True)
    client = as_user(people.mate)
    page = text_of(client, reverse("letter-recipient", args=[one.pk]))
    assert 'name="heartbeat"' in page
    answer = client.post(reverse("letter-recipient", args=[one.pk]), typed(systems=[storm.pk], days=["4"]), follow=True)
    assert "nothing changed yes to no" in words_of(answer.content.decode())
    one.refresh_from_db()
    assert wanted_words(Recipient(days=[4])) == wanted_words(one)
    assert one.digest_due is None
    assert list(one.systems.all()) == [storm]


def test_another_team_s_recipient_does_not_exist(people: People, as_user: AsUser) -> None:
    one = hearer(people)
    client = as_user(people.stranger)
    assert one.address not in text_of(client, reverse("letters"))
    for name in PAGES:
        assert client.get(reverse(name, args=[one.pk])).status_code == 404
    for name in ("letter-recipient", *DEEDS):
        assert client.post(reverse(name, args=[one.pk]), typed()).status_code == 404
    one.refresh_from_db()
    assert one.stopped is None


def test_a_viewer_sees_all_and_changes_only_themselves(people: People, as_user: AsUser, storm: System) -> None:
    other = hearer(people)
    client = as_user(people.colleague)
    assert "reports of changes" in text_of(client, reverse("letter-recipient", args=[other.pk]))
    for name in PAGES[1:]:
        assert client.get(reverse(name, args=[other.pk])).status_code == 403
    for name in ("letter-recipient", *DEEDS):
        assert client.post(reverse(name, args=[other.pk]), typed()).status_code == 403
    assert client.post(reverse("letter-recipient-add"), typed(address="x@example.org")).status_code == 400
    assert client.post(reverse("letter-recipient-add"), typed(address="carl@example.org")).status_code == 302
    own = Recipient.objects.get(user=people.colleague)
    assert client.post(reverse("letter-recipient", args=[own.pk]), typed(severity="4")).status_code == 302
    assert client.get(reverse("letter-preview", args=[own.pk])).status_code == 200
    for name in ("letter-recipient-stop", "letter-recipient-resume"):
        assert client.post(reverse(name, args=[own.pk])).status_code == 302
    own.refresh_from_db()
    assert (own.severity, own.stopped) == (4, None)
    client.post(reverse("letter-recipient-remove", args=[own.pk]))
    assert not Recipient.objects.filter(pk=own.pk).exists()


def test_deeds_are_posts(people: People, as_user: AsUser) -> None:
    one = hearer(people)
    for name in DEEDS:
        assert as_user(people.owner).get(reverse(name, args=[one.pk])).status_code == 405


def test_the_account_shows_one_s_own_mail_and_the_way_to_it(people: People, as_user: AsUser) -> None:
    client = as_user(people.colleague)
    add = f"{reverse('letter-recipient-add')}?team={people.team.pk}"
    assert add in text_of(client, reverse("account"))
    client.post(add, typed(address="carl@example.org"))
    page = text_of(client, reverse("account"))
    assert reverse("letter-recipient", args=[Recipient.objects.get().pk]) in page
    assert "reports of changes from warning on" in page


def test_what_was_typed_is_no_html(people: People, as_user: AsUser) -> None:
    one = hearer(people)
    Recipient.objects.update(refused='<script>alert(1)</script> 550 "no"', refused_at=one.created)
    Site.get()
    for address in (reverse("letters"), reverse("letter-recipient", args=[one.pk])):
        assert "<script>alert" not in text_of(as_user(people.owner), address)
