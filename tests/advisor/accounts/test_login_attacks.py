"""Guessing passwords: many names from one place or from many are slowed, nobody else is locked, the journal stays."""

import io

import pytest
from axes.models import AccessAttempt
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from advisor.accounts.login_failures import COOKIE
from advisor.core.models import JournalEntry
from tests.advisor.people import PASSWORD, AsUser, People

pytestmark = pytest.mark.postgres


def tried(name: str, password: str, address: str = "192.0.2.7", client: Client | None = None) -> int:
    """The status of one try: 302 in, 200 a wrong password, 429 not looked at."""
    typed = {"username": name, "password": password}
    return (client or Client()).post(reverse("login"), typed, REMOTE_ADDR=address).status_code


def sprayed(count: int, address: str = "192.0.2.7", start: int = 0) -> list[int]:
    return [tried(f"name{number}", "Summer2026!", address) for number in range(start, start + count)]


def test_many_names_from_one_address_are_slowed_and_one_entry_counts_them(people: People) -> None:
    statuses = sprayed(60)
    assert statuses == [200] * 20 + [429] * 40
    assert tried("olga", PASSWORD) == 429, "even a right guess is not looked at"
    (entry,) = JournalEntry.objects.filter(action="login failed")
    assert (entry.who, entry.count, entry.address) == ("name0", 61, "192.0.2.7")
    assert entry.what.startswith("also as name1, name2, ")
    assert len(entry.what) <= 500
    assert JournalEntry.objects.count() == 2, "and one of what was not looked at"
    assert AccessAttempt.objects.count() == 20
    assert tried("olga", PASSWORD, "192.0.2.8") == 302, "another place goes on"


def test_addresses_of_one_ipv6_net_are_one_place(people: People) -> None:
    for number in range(20):
        assert tried(f"name{number}", "x", f"2001:db8:0:1::{number + 1:x}") == 200
    assert tried("olga", PASSWORD, "2001:db8:0:1:ffff::1") == 429
    assert tried("olga", PASSWORD, "2001:db8:0:2::1") == 302
    assert JournalEntry.objects.filter(action="login failed").count() == 21


def test_many_names_from_many_addresses_leave_each_less_and_the_journal_short(people: People) -> None:
    for number in range(100):
        assert tried(f"a{number}", "x", f"198.51.100.{number}") == 200
        assert tried(f"b{number}", "x", f"198.51.100.{number}") == 200
    assert sprayed(6, "203.0.113.5", 1000) == [200] * 5 + [429]
    rows = JournalEntry.objects.filter(action="login failed")
    assert rows.count() == 51
    assert sum(rows.values_list("count", flat=True)) == 206
    assert tried("olga", PASSWORD, "192.0.2.1") == 302, "who comes from elsewhere is let in"


def test_failures_of_others_lock_a_name_for_their_address_alone(people: People) -> None:
    for _ in range(12):
        tried("adam", "wrong")
    assert tried("adam", PASSWORD) == 429
    assert tried("adam", PASSWORD, "192.0.2.99") == 302


def test_a_browser_that_was_logged_in_is_neither_locked_nor_slowed_by_others_behind_its_address(people: People) -> None:
    mine = Client()
    assert tried("adam", PASSWORD, client=mine) == 302
    mine.post(reverse("logout"))
    for _ in range(6):
        tried("adam", "wrong")
    sprayed(40)
    assert tried("Adam", PASSWORD, client=mine) == 302
    mine.post(reverse("logout"))
    assert tried("olga", PASSWORD, client=mine) == 429, "it is known by one name"
    for _ in range(5):
        tried("adam", "wrong", client=mine)
    assert tried("adam", PASSWORD, client=mine) == 429, "who has the browser may not guess either"


def test_a_made_up_or_outdated_mark_of_a_browser_counts_for_nothing(people: People) -> None:
    mine = Client()
    tried("adam", PASSWORD, client=mine)
    mine.post(reverse("logout"))
    sprayed(20)
    forged = Client()
    forged.cookies[COOKIE] = mine.cookies[COOKIE].value[:-2] + "xx"
    assert tried("adam", PASSWORD, client=forged) == 429
    people.administrator.set_password("another good word")
    people.administrator.save()
    assert tried("adam", "another good word", client=mine) == 429
    assert tried("adam", "another good word", "192.0.2.8", client=mine) == 302


def test_the_command_says_who_is_locked_and_lets_back_in(people: People, as_user: AsUser) -> None:
    for _ in range(5):
        tried("adam", "wrong")
    assert said().startswith("adam until 20")
    assert tried("adam", PASSWORD) == 429
    assert said("ADAM") == "1 counts of wrong passwords forgotten"
    assert tried("adam", PASSWORD) == 302
    assert JournalEntry.objects.filter(action="unlocked", what="adam", who="lockwright").count() == 1
    sprayed(20)
    assert tried("olga", PASSWORD) == 429
    said("--address", "192.0.2.7")
    assert tried("olga", PASSWORD) == 302
    assert said() == "nobody is locked out"
    with pytest.raises(CommandError, match="no user of this name"):
        said("nobody")
    assert "× 27" in as_user(people.administrator).get(reverse("administration-journal")).content.decode()


def said(*words: str) -> str:
    out = io.StringIO()
    call_command("unlock", *words, stdout=out)
    return out.getvalue().strip()
