"""The outbox: every mail rendered once, sent over one connection until it is taken or given up.

Three kinds of trouble: the server is away (all mails wait, none loses a try); this mail or its recipient is refused
(for now or for good); the connection breaks in the middle of a mail (it loses a try, because it may be the cause).
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from secrets import token_hex
from typing import Any, TypeVar
from zlib import compress, decompress

from celery.exceptions import SoftTimeLimitExceeded
from django.conf import settings
from django.core.mail import EmailMessage
from django.db import connection, transaction
from django.db.models import F, Q
from django.http import HttpRequest
from django.utils import timezone

from advisor.accounts.models import Team, User
from advisor.audits.models import Audit
from advisor.core import job_queue, journal
from advisor.core.job_queue import AWAY, start
from advisor.core.models import Lease, Site
from advisor.notifications.backends import CLOSING, OutboxBackend, answer, code_of, reply_of
from advisor.notifications.mail import failures
from advisor.notifications.mail.failures import Failure
from advisor.notifications.mail.rendering import (
    RenderedMessage,
    Unsendable,
    envelope,
    message_id,
    one_line,
    rendered,
    sent_from,
)
from advisor.notifications.models import Mail, Recipient
from advisor.systems.models import System

LEASE = "mail"
WAITS = (60, 300, 900, 1800, *[3600] * 47)
"""Seconds between the tries of a mail that is refused for now: two days in all (RFC 5321, 4.5.4.1 asks for four to
five days of a relay; a report is stale before)."""
MOST_AGAIN = 5
"""So often a mail is sent again that the server may have taken: it did not say."""
MOST_BROKEN = 2
"""So many connections in a row that break in the middle of a mail are the server's doing, not the mails'."""
MOST_WORKERS = len(WAITS) + MOST_AGAIN
"""A mail whose server had it wait often has many tries: it is not given up because a worker dies, too."""
SERVER_WAITS = (30, 60, 120, 300, 600, 1800)
"""Seconds until a server that is away is tried again; the last one for ever (this project's figures)."""
T = TypeVar("T")


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
    values: dict[str, Any] = {
        "kind": kind,
        "team": team,
        "recipient": recipient,
        "system": system,
        "audit": audit,
        "to": made.to,
        "subject": made.subject,
        "message_id": made.message_id,
        "message": made.packed,
        "size": len(made.data),
    }
    mail, is_new = Mail.objects.get_or_create(key=key, defaults=values)
    if not is_new:
        return None
    start("notifications.send_mails")
    return mail


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
        start("notifications.send_mails")
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


def bytes_of(mail: Mail) -> bytes:
    """The whole mail as it is sent."""
    return decompress(bytes(mail.message))


def anything_due() -> bool:
    """Whether there is a mail to send now, and a server, and nobody is sending."""
    if not job_queue.due(Mail.objects.all()).exists() or not may_be_tried(Site.get()):
        return False
    held = Lease.objects.filter(name=LEASE).first()
    return held is None or job_queue.lost(held.claimant, held.claimed, timezone.now())


def send_due() -> None:
    """Send what is due, one process at a time; what is left after a while is left to the next task."""
    if not anything_due():
        return
    with job_queue.leased(LEASE) as taken:
        if taken:
            _send_all()
    if taken and anything_due():
        start("notifications.send_mails")


def reset_lost() -> None:
    """Free the mails whose worker has died."""
    job_queue.reset_lost(Mail.objects.all(), most=MOST_WORKERS)


def may_be_tried(site: Site, now: datetime | None = None) -> bool:
    """Whether there is a server to send by now."""
    if not site.mail_host or not site.mail_from:
        return False
    now = now or timezone.now()
    until = site.mail_down_until
    # longer than the longest wait: the clock was set back
    return until is None or until <= now or until > now + timedelta(seconds=2 * SERVER_WAITS[-1])


def is_noted_away(site: Site) -> bool:
    """Whether the server took nothing when it was last tried."""
    return site.mail_down_since is not None or site.mail_down_until is not None or site.mail_down_tries > 0


def is_away(why: Failure) -> None:
    """Remember that the server took nothing, and when to try it again."""
    site = Site.get()
    now = timezone.now()
    wait = SERVER_WAITS[min(site.mail_down_tries, len(SERVER_WAITS) - 1)]
    Site.objects.filter(pk=site.pk).update(
        mail_down_since=site.mail_down_since or now,
        mail_down_until=now + timedelta(seconds=wait),
        mail_down_tries=F("mail_down_tries") + 1,
        mail_down_says=f"{why.says[:300]}\n{why.do}"[:500],
    )


def is_well() -> None:
    """Remember that the server took or refused a mail: it is there."""
    down = Site.objects.filter(~Q(mail_down_since=None) | ~Q(mail_down_until=None) | ~Q(mail_down_tries=0))
    down.update(mail_down_since=None, mail_down_until=None, mail_down_tries=0, mail_down_says="")


class NotOurs(Exception):
    """Another process has the mail by now."""


class Outgoing(OutboxBackend):
    """The connection of one task, and how the server behaved in it."""

    def __init__(self, site: Site) -> None:
        super().__init__(site, settings.MAIL_ANSWER_SECONDS)
        self.broken = 0
        """Connections in a row that broke in the middle of a mail."""
        self.well = not is_noted_away(site)
        """Whether nothing else is noted than that the server answers."""


def _send_all() -> None:
    """Send what is due until nothing is, the server is away or the time for one task is up. Under the lease alone."""
    site = Site.get()
    if not may_be_tried(site):
        return
    try:
        envelope(site.mail_from)
    except Unsendable as error:
        is_away(failures.explain(error, site))
        return
    last = time.monotonic() + seconds_to_begin()
    rows = Mail.objects.select_related("recipient__user")
    server = Outgoing(site)
    try:
        going = True
        while going and time.monotonic() < last:
            number = job_queue.due(rows).order_by("not_before", "pk").values_list("pk", flat=True).first()
            if number is None:
                return
            if mail := job_queue.claim(rows, number):
                going = _send(mail, server)
    except AWAY:
        _surely(Site.get)  # while the database is away the lease cannot be given back
        raise
    finally:
        server.close()


def seconds_to_begin() -> float:
    """How long a task begins new mails: the last one may take all its time-outs before the soft limit."""
    spare = settings.CELERY_TASK_SOFT_TIME_LIMIT - settings.MAIL_ANSWER_SECONDS
    return max(1.0, min(60.0, spare / 4))


def _send(mail: Mail, server: Outgoing) -> bool:
    """Send one mail and remember what came of it; returns whether to go on."""
    if why := _needless(mail):
        job_queue.finish(mail, Mail.State.SKIPPED, error=why)
        return True
    try:
        server.send_messages([_message(mail, server.site)])
    except (*failures.EXPECTED, SoftTimeLimitExceeded) as error:
        return _surely(partial(_failed, mail, error, server))
    except NotOurs:
        server.close()
        return True
    except AWAY:
        server.close()
        _surely(lambda: job_queue.wait_on(mail, 0))
        raise
    except Exception as error:
        job_queue.retry_later(mail, f"An error of this service: {type(error).__name__}: {error}", WAITS)
        raise
    _surely(lambda: job_queue.finish(mail, Mail.State.DONE, answer=server.answer, error="", refused=False))
    if mail.recipient and mail.recipient.refused:
        Recipient.objects.filter(pk=mail.recipient.pk).update(refused="", refused_at=None)
    _server_answers(server)
    return True


def _failed(mail: Mail, error: BaseException, server: Outgoing) -> bool:
    """Remember that a mail was not taken, as far as is known; returns whether to go on."""
    code = code_of(error)
    why = failures.explain(error, server.site)
    said = f"{why.says} {why.do}"
    if isinstance(error, Unsendable):
        job_queue.finish(mail, Mail.State.FAILED, error=said, refused=True)
        return True
    if server.is_fault_of_server(error):
        job_queue.wait_on(mail, 0, error=said)
        is_away(why)
        server.close()
        return False
    if 500 <= code < 600:
        job_queue.finish(mail, Mail.State.FAILED, error=said, refused=True, handed_over=None)
        _refused(mail, answer(*reply_of(error)))
        _server_answers(server)
        return True
    if 400 <= code < 500 and code != CLOSING:
        job_queue.retry_later(mail, said, WAITS, handed_over=None)
        _server_answers(server)
        return True
    _broke_off(mail, failures.unknown(why) if server.handed_over and code != CLOSING else why, server, code)
    server.close()
    server.broken += 1
    if server.broken < MOST_BROKEN and not isinstance(error, SoftTimeLimitExceeded) and not failures.timed_out(error):
        return True
    is_away(why)
    return False


def _broke_off(mail: Mail, why: failures.Failure, server: Outgoing, code: int) -> None:
    """Have a mail tried again whose connection broke, within reason where the server may have it already."""
    said = f"{why.says} {why.do}"
    if not server.handed_over or code == CLOSING:
        job_queue.retry_later(mail, said, WAITS, handed_over=None if code == CLOSING else mail.handed_over)
    elif mail.again + (mail.handed_over is not None) >= MOST_AGAIN:
        end = f"It was handed over {MOST_AGAIN + 1} times without an answer: it may have come, even more than once."
        job_queue.finish(mail, Mail.State.FAILED, error=f"{why.says} {end}")
    else:
        job_queue.retry_later(mail, said, WAITS)


def _message(mail: Mail, site: Site) -> RenderedMessage:
    """The mail as it is stored. The sender of the site may have been changed since it was made: then it is stored anew.

    Raises `Unsendable`.
    """
    stored = decompress(bytes(mail.message))
    data = sent_from(stored, site.mail_from)
    if data != stored:
        Mail.objects.filter(pk=mail.pk).update(message=compress(data), size=len(data))
    return RenderedMessage(data, site.mail_from, mail.to, partial(_handing_over, mail))


def _handing_over(mail: Mail) -> None:
    """Remember, before the server can have the mail, that it may have it."""
    again = F("again") + 1 if mail.handed_over else F("again")
    held = Mail.objects.filter(pk=mail.pk, state=Mail.State.RUNNING, claimant=mail.claimant, claimed=mail.claimed)
    if not held.update(handed_over=timezone.now(), again=again):
        raise NotOurs


def _needless(mail: Mail) -> str:
    """Why a mail is not to be sent any more; empty: it is."""
    to, test = mail.recipient, mail.kind == Mail.Kind.TEST
    if to is None:
        return "" if test else "the recipient was removed"
    same = to.address.lower() == mail.to.lower()
    if test and not same:
        return ""  # to whoever asked for it
    if not same:
        return f"the address of this recipient is {to.address} by now"
    if to.stopped is not None:
        return f"nothing is sent to this recipient: {to.stopped_why or 'stopped'}"
    if to.user is not None and not to.user.is_active:
        return f"{to.user.username} may not log in any more"
    if to.user is not None and not to.user.is_administrator and not to.user.teams.filter(pk=to.team_id).exists():
        return f"{to.user.username} has left the team"
    return ""


def _refused(mail: Mail, said: str) -> None:
    if mail.recipient is not None and mail.recipient.address.lower() == mail.to.lower():
        Recipient.objects.filter(pk=mail.recipient.pk).update(refused=said[:300], refused_at=timezone.now())


def _server_answers(server: Outgoing) -> None:
    server.broken = 0
    if not server.well:
        is_well()
    server.well = True


def _surely(write: Callable[[], T]) -> T:
    """Do this even if the database is away for a while: what the server answered is known here alone."""
    last = time.monotonic() + settings.CELERY_TASK_SOFT_TIME_LIMIT / 2
    while True:
        try:
            return write()
        except AWAY:
            if connection.in_atomic_block or time.monotonic() > last:
                raise
            connection.close()
            time.sleep(1)


def _named(mail: Mail) -> str:
    return f"to {mail.to}: {mail.subject}"
