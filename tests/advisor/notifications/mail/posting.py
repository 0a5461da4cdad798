"""An outbox with mails in it, and a site that sends through a server, for tests."""

from typing import Any

import pytest
from django.core.mail import EmailMultiAlternatives
from pytest_django import Settings

from advisor.core.models import Site
from advisor.notifications import backends
from advisor.notifications.models import Mail, Recipient
from advisor.notifications.services import outbox
from tests.advisor.people import People


@pytest.fixture
def hurry(monkeypatch: pytest.MonkeyPatch, settings: Settings) -> None:
    """Have every wait for the mail server end soon: for tests of a server that hangs, where nothing else is slow."""
    monkeypatch.setattr(backends, "TIMEOUT", 0.7)
    settings.MAIL_ANSWER_SECONDS = 0.7


def send_through(port: int, **more: Any) -> None:
    """Have the site send by this port of this machine."""
    Site.get()
    Site.objects.filter(pk=1).update(
        mail_host="127.0.0.1", mail_port=port, mail_from="advisor@example.org", mail_security="none"
    )
    if more:
        Site.objects.filter(pk=1).update(**more)


def written(
    to: str = "olga@example.org", subject: str = "CLAIMS1: 3 critical", body: str = "Look at it."
) -> EmailMultiAlternatives:
    made = EmailMultiAlternatives(subject, body, "Lockwright <advisor@example.org>", [to])
    made.attach_alternative(f"<p>{body}</p>", "text/html")
    return made


def recipient_of(people: People, address: str = "olga@example.org", **more: Any) -> Recipient:
    return Recipient.objects.get_or_create(team=people.team, address=address, defaults=more)[0]


def put(people: People, key: str = "one", to: str = "olga@example.org", **words: str) -> Mail:
    """Put a report for somebody into the outbox."""
    mail = outbox.put(
        written(to, **words), kind="report", key=key, team=people.team, recipient=recipient_of(people, to)
    )
    assert mail is not None
    return mail


def after_sending(*mails: Mail) -> list[Mail]:
    """Send what is due, and see how these mails stand then."""
    outbox.send_due()
    return [Mail.objects.get(pk=mail.pk) for mail in mails]
