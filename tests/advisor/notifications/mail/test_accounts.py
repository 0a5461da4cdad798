"""A recipient that is a person follows the account: its address, its teams and its end."""

from typing import Any

import pytest
from django.test import Client

from advisor.accounts.models import Role, User
from advisor.accounts.services import people as services
from advisor.core.records import Refused
from advisor.notifications.mail import links
from advisor.notifications.models import Recipient
from advisor.notifications.services import subscribers
from tests.advisor.notifications.mail.hearing import hearer
from tests.advisor.operations.administering import deeds
from tests.advisor.people import People

pytestmark = pytest.mark.postgres


def added(people: People, name: str = "kim", **more: Any) -> User:
    given = {"role": Role.DBA, "email": f"{name}@example.org", "teams": [people.team], **more}
    return services.add_user(name, people.administrator, **given)[0]


def changed(people: People, user: User, **more: Any) -> None:
    user.refresh_from_db()
    given: dict[str, Any] = {"role": user.role, "name": user.name, "email": user.email, "teams": user.teams.all()}
    services.change_user(user, people.administrator, **{**given, "active": True, **more})


def gets_mail(recipient: Recipient) -> bool:
    recipient.refresh_from_db()
    return subscribers.live().filter(pk=recipient.pk).exists()


def noted() -> list[str]:
    return list(
        deeds().filter(action__startswith="recipient", who="adam").order_by("pk").values_list("what", flat=True)
    )


def test_a_recipient_written_down_before_the_account_ends_with_it(people: People) -> None:
    one, other = hearer(people, "Kim@example.org"), hearer(people, "list@example.org")
    kim = added(people)
    one.refresh_from_db()
    assert one.user == kim
    assert noted() == ["Kim@example.org: the address of kim"]
    assert gets_mail(one)
    changed(people, kim, active=False)
    assert not gets_mail(one)
    assert gets_mail(other)


def test_an_account_that_gets_the_address_of_a_recipient_later_stands_behind_it(people: People) -> None:
    one = hearer(people, "new@example.org")
    kim = added(people)
    changed(people, kim, email="new@example.org")
    one.refresh_from_db()
    assert one.user == kim
    changed(people, kim, teams=[people.other_team])
    assert not gets_mail(one)


def test_who_is_deactivated_or_leaves_takes_along_a_recipient_that_nobody_knew_was_theirs(people: People) -> None:
    for kim, end in ((added(people), {"active": False}), (added(people, "lee"), {"teams": [people.other_team]})):
        one = hearer(people, kim.email)
        Recipient.objects.filter(pk=one.pk).update(user=None)
        changed(people, kim, **end)
        assert not gets_mail(one)
        assert f"{kim.email}: the address of {kim.username}, who gets nothing more" in noted()


def test_who_leaves_and_changes_address_at_once_gets_nothing_at_the_old_one(people: People) -> None:
    kim = added(people)
    one = hearer(people, kim.email)
    Recipient.objects.filter(pk=one.pk).update(user=None)
    changed(people, kim, email="kim@elsewhere.org", teams=[people.other_team])
    assert not gets_mail(one)


def test_an_address_that_somebody_else_of_the_team_has_as_well_goes_on(people: People) -> None:
    kim, lee = added(people, email="both@example.org"), added(people, "lee", email="both@example.org")
    one = hearer(people, "both@example.org")
    Recipient.objects.filter(pk=one.pk).update(user=None)
    changed(people, kim, active=False)
    assert gets_mail(one)
    assert one.user == lee


def test_a_recipient_of_a_team_the_account_was_never_in_stays_as_it_was(people: People) -> None:
    one = hearer(people, "kim@example.org")
    kim = added(people, teams=[people.other_team])
    assert gets_mail(one)
    assert one.user is None
    changed(people, kim, active=False)
    assert not gets_mail(one), "an account that is inactive gets nothing of any team"


def test_a_recipient_moves_to_the_new_address_and_links_to_the_old_one_open_nothing(people: People) -> None:
    one = hearer(people, "mats@example.org")
    Recipient.objects.filter(pk=one.pk).update(refused="550 no such user")
    token = links.token(one)
    changed(people, people.mate, email="Mats@NEW.example.org")
    one.refresh_from_db()
    assert (one.address, one.user, one.refused, one.stopped) == ("Mats@new.example.org", people.mate, "", None)
    assert noted() == ["mats@example.org: mats has the address Mats@new.example.org now"]
    assert Client().get(f"/mail/for/{token}/").status_code == 404


def test_where_the_new_address_is_taken_or_there_is_none_the_old_one_is_stopped(people: People) -> None:
    one, other = hearer(people, "mats@example.org"), hearer(people, "new@example.org")
    changed(people, people.mate, email="NEW@example.org")
    for each in (one, other):
        each.refresh_from_db()
    assert (one.address, one.stopped is None) == ("mats@example.org", False)
    assert one.stopped_why == "mats has the address NEW@example.org now, which gets mail of this team already"
    assert (other.user, other.stopped) == (people.mate, None)
    changed(people, people.mate, email="")
    other.refresh_from_db()
    assert other.stopped_why == "the account mats has no e-mail address any more"


def test_the_address_of_an_inactive_account_is_no_recipient(people: People) -> None:
    changed(people, added(people), active=False)
    with pytest.raises(Refused, match="inactive"):
        hearer(people, "KIM@example.org")


def test_a_change_of_something_else_leaves_recipients_alone(people: People) -> None:
    one = hearer(people, "mats@example.org")
    changed(people, people.mate, name="Mats M", role=Role.VIEWER)
    assert gets_mail(one)
    assert one.address == "mats@example.org"
    assert noted() == []
