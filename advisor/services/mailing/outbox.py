"""The outbox: every mail rendered once, sent until it is taken or given up."""

from dataclasses import dataclass
from secrets import token_hex
from zlib import compress, decompress

from django.core.mail import EmailMessage
from django.db import IntegrityError, transaction
from django.http import HttpRequest
from django.utils import timezone

from advisor.mail.rendering import Unsendable, envelope, rendered
from advisor.mail.words import message_id, one_line
from advisor.models import Audit, Lease, Mail, Recipient, Site, System, Team, User
from advisor.services import journal, working
from advisor.services.mailing import mail_server, sending
from advisor.services.mailing.mail_server import ServerState, state_of_server, try_now
from advisor.services.starting import start

__all__ = ["Rendered", "ServerState", "Unsendable", "put", "render", "send_due", "state_of_server", "try_now"]

MOST_WORKERS = len(sending.WAITS) + sending.MOST_AGAIN
"""A mail whose server had it wait often has many tries: it is not given up because a worker dies, too."""


@dataclass(frozen=True)
class Rendered:
    """A mail as it will be sent: make it before a transaction, put it in within one."""

    to: str
    subject: str
    message_id: str
    data: bytes
    packed: bytes


def render(message: EmailMessage) -> Rendered:
    """Make the bytes of a mail to one address, with a Message-ID of ours. Raises `Unsendable`."""
    people = message.recipients()
    if len(people) != 1:
        raise Unsendable(f"A mail of the outbox has one address, not {len(people)}.")
    envelope(people[0])
    number = message_id(token_hex(16))
    message.extra_headers = {**message.extra_headers, "Message-ID": number}
    data = rendered(message)
    return Rendered(people[0], one_line(str(message.subject), 300), number, data, compress(data))


def put(
    message: EmailMessage | Rendered,
    *,
    kind: str,
    key: str,
    team: Team | None,
    recipient: Recipient | None = None,
    system: System | None = None,
    audit: Audit | None = None,
) -> Mail | None:
    """Put a mail in, in the caller's transaction; `None` where one with this key is there already.

    Its sending starts on commit. Raises `Unsendable`, and nothing is stored.
    """
    if Mail.objects.filter(key=key).exists():
        return None
    made = message if isinstance(message, Rendered) else render(message)
    try:
        with transaction.atomic():
            mail = Mail.objects.create(
                key=key,
                kind=kind,
                team=team,
                recipient=recipient,
                system=system,
                audit=audit,
                to=made.to,
                subject=made.subject,
                message_id=made.message_id,
                message=made.packed,
                size=len(made.data),
            )
    except IntegrityError:
        return None
    start("send_mails")
    return mail


def bytes_of(mail: Mail) -> bytes:
    """The whole mail as it is sent."""
    return decompress(bytes(mail.message))


def anything_due() -> bool:
    """Whether there is a mail to send now, and a server, and nobody is sending."""
    if not mail_server.may_be_tried(Site.get()) or not working.due(Mail.objects.all()).exists():
        return False
    held = Lease.objects.filter(name=sending.LEASE).first()
    return held is None or working.lost(held.claimant, held.claimed, timezone.now())


def send_due() -> None:
    """Send what is due, one process at a time; what is left after a while is left to the next task."""
    if not anything_due():
        return
    with working.leased(sending.LEASE) as taken:
        if taken:
            sending.send_all()
    if taken and anything_due():
        start("send_mails")


def take_back_lost() -> None:
    """Free the mails whose worker has died."""
    working.take_back_lost(Mail.objects.all(), most=MOST_WORKERS)


def send_again(mail: Mail, by: User, request: HttpRequest | None = None) -> bool:
    """Have a mail sent (again) at once, under the same Message-ID; false where it is being sent just now."""
    at_once = {"state": Mail.State.WAITING, "not_before": timezone.now(), "queued": None}
    afresh = {
        "tries": 0,
        "again": 0,
        "handed_over": None,
        "refused": False,
        "finished": None,
        "error": "",
        "answer": "",
    }
    with transaction.atomic():
        same = Mail.objects.filter(pk=mail.pk)
        settled = same.exclude(state__in=[Mail.State.RUNNING, Mail.State.WAITING])
        if not same.filter(state=Mail.State.WAITING).update(**at_once) and not settled.update(**at_once, **afresh):
            return False
        journal.note(by, "mail sent again", _named(mail), system=mail.system, team=mail.team, request=request)
        start("send_mails")
    return True


def drop(mail: Mail, by: User, request: HttpRequest | None = None) -> bool:
    """Have a mail that waits not sent; false where it does not wait (any more)."""
    with transaction.atomic():
        waits = Mail.objects.filter(pk=mail.pk, state=Mail.State.WAITING)
        said = f"{by.username} dropped it"
        if not waits.update(state=Mail.State.SKIPPED, finished=timezone.now(), error=said):
            return False
        journal.note(by, "mail dropped", _named(mail), system=mail.system, team=mail.team, request=request)
    return True


def _named(mail: Mail) -> str:
    return f"to {mail.to}: {mail.subject}"
