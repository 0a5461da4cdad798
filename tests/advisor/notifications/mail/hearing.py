"""What tests of who is told what share: recipients, audits that come and differ, and what lies in the outbox."""

import re
import zlib
from datetime import timedelta
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import default
from typing import Any

from django.utils import timezone

from advisor.audits.models import Audit, Capture, CaptureFacts
from advisor.audits.services import renewal
from advisor.notifications.models import Mail, Recipient
from advisor.notifications.services import recipients
from advisor.systems.models import System
from tests.advisor.people import People


def hearer(people: People, address: str = "olga@example.org", **wishes: Any) -> Recipient:
    """A recipient of the owner's team, who gets what `wishes` say."""
    about = {name: wishes.pop(name) for name in ("systems", "groups") if name in wishes}
    return recipients.make(Recipient(team=people.team, address=address, **wishes), people.owner, **about)


def mails(**of: Any) -> list[Mail]:
    """What lies in the outbox, oldest first; rows without a mail are left out."""
    return list(Mail.objects.filter(size__gt=0, **of).order_by("pk"))


def kinds(**of: Any) -> list[str]:
    """Their kinds."""
    return [mail.kind for mail in mails(**of)]


def content(mail: Mail) -> EmailMessage:
    return message_from_bytes(zlib.decompress(bytes(mail.message)), policy=default)


def text_of(mail: Mail) -> str:
    """The text part, on one line."""
    part = content(mail).get_body(("plain",))
    assert part is not None
    return " ".join(part.get_content().split())


def link_of(mail: Mail, page: str = "") -> str:
    """The path of the signed link of a mail."""
    found = re.search(r"(/mail/for/[^/\s]+/)", text_of(mail))
    assert found
    return found[1] + page


def audited_again(system: System) -> Audit:
    """Audit the newest capture once more: the newest audit is another one, with the same findings."""
    system.refresh_from_db()
    assert system.latest is not None
    made = renewal.audit_again(system.latest.capture_id)
    assert made is not None
    system.refresh_from_db()
    return made


def another_capture(audit: Audit) -> Audit:
    """Bring a capture of an hour later that is like the one of this audit; gives the newest audit."""
    old = audit.capture
    made = audited_again(audit.system)
    later = Capture.objects.get(pk=old.pk)
    later.pk = None
    later.taken += timedelta(hours=1)
    later.audit = made
    later.save()
    CaptureFacts.objects.create(capture=later, data=old.packed.data)
    Audit.objects.filter(pk=made.pk).update(capture=later)
    Capture.objects.filter(pk=old.pk).update(audit=audit)
    return Audit.objects.get(pk=made.pk)


def was(audit: Audit, **severities: int | None) -> None:
    """Have an audit of before say otherwise: by the rule's last name, a severity, or nothing found."""
    digest = dict(audit.findings_digest)
    for rule, level in severities.items():
        (key,) = [one for one in digest if f"/{rule}:" in one]
        del digest[key]
        if level is not None:
            digest[key] = level
    Audit.objects.filter(pk=audit.pk).update(findings_digest=digest)


def shown_before(audit: Audit, **ago: float) -> None:
    """Have an audit shown that long ago."""
    Audit.objects.filter(pk=audit.pk).update(shown=timezone.now() - timedelta(**ago))
