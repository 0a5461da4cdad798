"""The test mail of the mail settings: what is sent, to whom, and what it needs."""

import email
from email.message import EmailMessage
from email.policy import default

import pytest
from aiosmtpd.smtp import Envelope
from django.test import Client

from advisor.accounts.models import User
from advisor.core.models import JournalEntry, Site
from tests.advisor.notifications.mail import mail_servers
from tests.advisor.notifications.mail.mail_servers import Postbox, Serve, send, tried
from tests.advisor.people import AsUser, People

client, serve = mail_servers.client, mail_servers.serve


def read(envelope: Envelope) -> EmailMessage:
    content = envelope.content
    assert isinstance(content, bytes)
    return email.message_from_bytes(content, policy=default)


def test_the_test_sends_a_real_mail_of_text_and_html_and_stores_nothing(client: Client, serve: Serve) -> None:
    box = Postbox()
    said = tried(client, port=serve(box))
    assert said.startswith("The test mail is sent.")
    assert "adam@example.org: 250 2.0.0 queued as 4711" in said
    assert Site.get().mail_host == ""
    (envelope,) = box.mails
    assert (envelope.mail_from, envelope.rcpt_tos) == ("advisor@example.org", ["adam@example.org"])
    got = read(envelope)
    assert got["Subject"] == "Lockwright: test mail"
    assert got["From"] == "Lockwright <advisor@example.org>"
    assert got["Auto-Submitted"] == "auto-generated"
    assert got["Message-ID"]
    assert got.get_content_type() == "multipart/alternative"
    for kind in ("plain", "html"):
        part = got.get_body((kind,))
        assert part is not None
        body = part.get_content()
        assert "Mail from Lockwright reaches you." in body
        assert "adam asked for this test" in body
        assert "127.0.0.1, port" in body
        assert "http://127.0.0.1:8000" in body
    entry = JournalEntry.objects.get(action="test mail sent")
    assert entry.who == "adam"
    assert "250 2.0.0 queued as 4711" in entry.what


def test_the_test_goes_to_the_address_that_was_given(client: Client, serve: Serve) -> None:
    box = Postbox()
    assert "dba@example.net" in tried(client, port=serve(box), test_to="dba@example.net")
    assert box.mails[0].rcpt_tos == ["dba@example.net"]


@pytest.mark.parametrize("to", ["nobody", "a@b.org\r\nBcc: c@d.org", "a@b.org, c@d.org"])
def test_a_test_to_what_is_no_address_sends_nothing(to: str, client: Client, serve: Serve) -> None:
    box = Postbox()
    assert "errorlist" in send(client, "test", port=serve(box), test_to=to).content.decode()
    assert not box.mails


def test_a_test_needs_an_address_and_a_host(people: People, as_user: AsUser) -> None:
    User.objects.filter(pk=people.administrator.pk).update(email="")
    client = as_user(User.objects.get(pk=people.administrator.pk))
    text = send(client, "test", mail_host="").content.decode()
    assert "You have no e-mail address here" in text
    assert "A test needs a host." in text
