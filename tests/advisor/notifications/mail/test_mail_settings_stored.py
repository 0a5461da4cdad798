"""The mail settings as stored: what is taken, what is refused, and what is left alone."""

from typing import Any

import pytest
from django.test import Client

from advisor.core.models import Site
from tests.advisor.notifications.mail import mail_servers
from tests.advisor.notifications.mail.mail_servers import send

client = mail_servers.client


def test_storing_mail_leaves_days_alone_that_were_stored_meanwhile(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    Site.get()
    stale = Site.get()
    Site.objects.update(keep_bytes_days=7)
    monkeypatch.setattr(Site, "get", lambda: stale)
    send(client, "store")
    assert Site.objects.values_list("mail_host", "keep_bytes_days").get() == ("127.0.0.1", 7)


@pytest.mark.parametrize(
    "host",
    [
        "two words",
        "a\r\nRCPT TO:<x@y>",
        "http://mail",
        "mail:25",
        "-mail.org",
        "a..b",
        "x" * 64,
        "mäil.org",
        "a,b",
        "a@b",
    ],
)
def test_a_host_that_is_none_is_refused(host: str, client: Client) -> None:
    assert "errorlist" in send(client, "store", mail_host=host).content.decode()
    assert Site.get().mail_host == ""


@pytest.mark.parametrize(
    ("host", "stored"),
    [("mail.example.org", "mail.example.org"), (" relay ", "relay"), ("10.0.0.1", "10.0.0.1"), ("[::1]", "::1")],
)
def test_a_host_name_or_an_address_is_taken(host: str, stored: str, client: Client) -> None:
    assert send(client, "store", mail_host=host).status_code == 302
    assert Site.get().mail_host == stored


@pytest.mark.parametrize(
    "wrong",
    [
        {"port": 0},
        {"port": 65536},
        {"port": "smtp"},
        {"mail_security": "ssl3"},
        {"mail_from": ""},
        {"mail_from": "nobody"},
        {"mail_from": "a@example.org\nBcc: b@example.org"},
        {"mail_user": "ü"},
        {"mail_user": "a\tb"},
        {"password": "pässword"},
        {"password": "a\r\nb"},
    ],
)
def test_what_no_mail_server_could_use_is_refused(wrong: dict[str, Any], client: Client) -> None:
    assert "errorlist" in send(client, "store", **wrong).content.decode()
    assert Site.get().mail_host == ""


def test_no_host_means_no_mail_and_may_be_stored(client: Client) -> None:
    send(client, "store")
    assert send(client, "store", mail_host="", mail_from="").status_code == 302
    assert Site.get().mail_host == ""
