"""The password of the mail server: sealed, kept, carried over a test, and shown and sent nowhere else."""

import re
from html import unescape
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from advisor.accounts.models import User
from advisor.core.models import JournalEntry, Site
from advisor.core.sealing import Unsealable, seal, unseal
from advisor.notifications import forms
from tests.advisor.notifications.mail import mail_servers
from tests.advisor.notifications.mail.mail_servers import SECRET, Postbox, Serve, free_port, login_wanted, send, tried
from tests.advisor.people import AsUser, People

client, serve = mail_servers.client, mail_servers.serve


def test_a_secret_is_sealed_and_opens_for_its_purpose_and_key_alone(settings: Settings) -> None:
    sealed = seal(SECRET)
    assert SECRET not in sealed
    assert sealed != seal(SECRET)
    assert unseal(sealed) == SECRET
    with pytest.raises(Unsealable):
        unseal(sealed, "something else")
    with pytest.raises(Unsealable):
        unseal(sealed[:-4] + "AAA=")
    first = settings.SECRET_KEY
    settings.SECRET_KEY = "another key, also long enough for everything one may want of it"
    with pytest.raises(Unsealable):
        unseal(sealed)
    settings.SECRET_KEY_FALLBACKS = [first]
    assert unseal(sealed) == SECRET


def test_the_settings_are_stored_with_a_sealed_password_that_no_page_and_no_journal_shows(client: Client) -> None:
    assert send(client, "store", port=587, mail_security="starttls", mail_user="u", password=SECRET).status_code == 302
    site = Site.get()
    assert (site.mail_host, site.mail_port, site.mail_security, site.mail_user) == ("127.0.0.1", 587, "starttls", "u")
    assert SECRET not in site.mail_password_sealed
    assert unseal(site.mail_password_sealed) == SECRET
    text = client.get(reverse("administration-mail")).content.decode()
    assert "A password is stored." in text
    assert SECRET not in text
    assert site.mail_password_sealed not in text
    entry = JournalEntry.objects.get(action="mail settings changed")
    assert (entry.who, entry.address) == ("adam", "127.0.0.1")
    assert entry.what == (
        "Host 127.0.0.1, Port 587, Security starttls, User u, Sender address advisor@example.org, password set"
    )


def test_an_empty_password_keeps_the_stored_one_and_the_box_removes_it(client: Client) -> None:
    send(client, "store", mail_user="u", password=SECRET)
    send(client, "store", mail_user="v", port=587)
    assert unseal(Site.get().mail_password_sealed) == SECRET
    send(client, "store", mail_user="v", port=587, remove_password="on")
    assert Site.get().mail_password_sealed == ""
    said = list(JournalEntry.objects.filter(action="mail settings changed").values_list("what", flat=True))
    assert said[:2] == ["password removed", "Port 587, User v"]


def test_a_stored_password_goes_to_no_server_it_was_not_typed_for(client: Client, serve: Serve) -> None:
    send(client, "store", mail_host="mail.example.org", mail_user="u", password=SECRET)
    seen: list[Any] = []
    port = serve(Postbox(), authenticator=lambda *args: seen.append(args[-1]), auth_require_tls=False)
    for do in ("test", "store"):
        answer = send(client, do, port=port, mail_user="u")
        assert "type its password" in answer.content.decode()
    assert not seen
    assert Site.get().mail_host == "mail.example.org"


@pytest.mark.filterwarnings("ignore:Requiring AUTH while not requiring TLS")
def test_a_typed_password_logs_in_and_is_stored_after_the_test_without_typing_it_again(
    client: Client, serve: Serve
) -> None:
    box = Postbox()
    port = serve(box, **login_wanted("mailer", SECRET))
    answer = send(client, "test", port=port, mail_user="mailer", password=SECRET)
    text = answer.content.decode()
    assert len(box.mails) == 1
    assert SECRET not in unescape(text)
    assert "no-store" in answer["Cache-Control"]
    carried = re.search(r'name="carried" value="([^"]+)"', text)
    assert carried
    assert send(client, "store", port=port, mail_user="mailer", carried=carried[1]).status_code == 302
    assert unseal(Site.get().mail_password_sealed) == SECRET
    assert tried(client, port=port, mail_user="mailer").startswith("The test mail is sent.")
    assert len(box.mails) == 2


def test_a_carried_password_is_of_one_person_and_one_hour(
    client: Client, people: People, as_user: AsUser, monkeypatch: pytest.MonkeyPatch
) -> None:
    User.objects.filter(pk=people.mate.pk).update(role="administrator")
    tested = send(client, "test", port=free_port(), password=SECRET).content.decode()
    carried = re.findall(r'name="carried" value="([^"]+)"', tested)[0]
    send(as_user(people.mate), "store", carried=carried)
    send(client, "store", carried=seal(SECRET))
    send(client, "store", carried="nonsense")
    assert Site.get().mail_password_sealed == ""
    with monkeypatch.context() as later:
        later.setattr(forms, "CARRIED_SECONDS", -1)
        send(client, "store", carried=carried)
        assert Site.get().mail_password_sealed == ""
    send(client, "store", carried=carried)
    assert unseal(Site.get().mail_password_sealed) == SECRET


def test_a_password_sealed_with_a_lost_key_is_said_and_the_page_still_opens(
    client: Client, as_user: AsUser, people: People, settings: Settings
) -> None:
    send(client, "store", mail_user="u", password=SECRET)
    settings.SECRET_KEY = "another key, also long enough for everything one may want of it"
    client = as_user(people.administrator)
    assert client.get(reverse("administration-mail")).status_code == 200
    said = tried(client, mail_user="u")
    assert "the secret key of this site has changed" in said
    assert "Type the password again." in said


def test_a_stored_password_that_would_cross_the_network_in_plain_is_warned_of(client: Client) -> None:
    send(client, "store", mail_user="u", password=SECRET)
    assert "in plain" in client.get(reverse("administration-mail")).content.decode()
    send(client, "store", mail_user="u", mail_security="starttls")
    assert "in plain" not in client.get(reverse("administration-mail")).content.decode()
