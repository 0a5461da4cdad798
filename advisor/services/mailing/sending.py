"""Sending what the outbox holds: one line for many mails, and what each answer or silence of the server means.

Three kinds of trouble: the server is away (all mails wait, none loses a try); this mail or its recipient is refused
(for now or for good); the line breaks in the middle of a mail (it loses a try, because it may be the cause).
"""

import time
from collections.abc import Callable
from functools import partial
from typing import TypeVar

from celery.exceptions import SoftTimeLimitExceeded
from django.conf import settings
from django.db import InterfaceError, OperationalError, connection
from django.db.models import F
from django.utils import timezone

from advisor.mail import failures, kit
from advisor.mail.rendering import Unsendable, envelope
from advisor.models import Mail, Recipient, Site
from advisor.services import working
from advisor.services.mailing import mail_server
from advisor.services.mailing.conversation import CLOSING, Conversation, NotOurs, code_of, reply_of

LEASE = "mail"
WAITS = (60, 300, 900, 1800, *[3600] * 47)
"""Seconds between the tries of a mail that is refused for now: two days in all (RFC 5321, 4.5.4.1 asks for four to
five days of a relay; a report is stale before)."""
MOST_AGAIN = 5
"""So often a mail is sent again that the server may have taken: it did not say."""
MOST_BROKEN = 2
"""So many lines in a row that break in the middle of a mail are the server's doing, not the mails'."""
AWAY = (OperationalError, InterfaceError)
T = TypeVar("T")


def send_all() -> None:
    """Send what is due until nothing is, the server is away or the time for one task is up. Under the lease alone."""
    site = Site.get()
    if not mail_server.may_be_tried(site):
        return
    try:
        envelope(site.mail_from)
    except Unsendable as error:
        mail_server.is_away(failures.explain(error, site))
        return
    last = time.monotonic() + seconds_to_begin()
    rows = Mail.objects.select_related("recipient__user")
    talk = Conversation(site)
    try:
        going = True
        while going and time.monotonic() < last:
            number = working.due(rows).order_by("not_before", "pk").values_list("pk", flat=True).first()
            if number is None:
                return
            if mail := working.claim(rows, number):
                going = _send(mail, talk)
    except AWAY:
        _surely(Site.get)  # while the database is away the lease cannot be given back
        raise
    finally:
        talk.hang_up()


def seconds_to_begin() -> float:
    """How long a task begins new mails: the last one may take all its time-outs before the soft limit."""
    spare = settings.CELERY_TASK_SOFT_TIME_LIMIT - settings.MAIL_ANSWER_SECONDS
    return max(1.0, min(60.0, spare / 4))


def _send(mail: Mail, talk: Conversation) -> bool:
    """Send one mail and remember what came of it; returns whether to go on."""
    if why := _needless(mail):
        working.finish(mail, Mail.State.SKIPPED, error=why)
        return True
    try:
        answer = talk.hand_over(mail, partial(_handing_over, mail))
    except (*failures.EXPECTED, SoftTimeLimitExceeded) as error:
        return _surely(partial(_failed, mail, error, talk))
    except NotOurs:
        talk.hang_up()
        return True
    except AWAY:
        talk.hang_up()
        _surely(lambda: working.wait_on(mail, 0))
        raise
    except Exception as error:
        working.put_off(mail, f"An error of this service: {type(error).__name__}: {error}", WAITS)
        raise
    _surely(lambda: working.finish(mail, Mail.State.DONE, answer=answer, error="", refused=False))
    if mail.recipient and mail.recipient.refused:
        Recipient.objects.filter(pk=mail.recipient.pk).update(refused="", refused_at=None)
    _server_answers(talk)
    return True


def _failed(mail: Mail, error: BaseException, talk: Conversation) -> bool:
    """Remember that a mail was not taken, as far as is known; returns whether to go on."""
    code = code_of(error)
    why = failures.explain(error, talk.site)
    said = f"{why.says} {why.do}"
    if isinstance(error, Unsendable):
        working.finish(mail, Mail.State.FAILED, error=said, refused=True)
        return True
    if talk.means_server(error):
        working.wait_on(mail, 0, error=said)
        mail_server.is_away(why)
        talk.hang_up()
        return False
    if 500 <= code < 600:
        working.finish(mail, Mail.State.FAILED, error=said, refused=True, handed_over=None)
        _refused(mail, kit.answer(*reply_of(error)))
        _server_answers(talk)
        return True
    if 400 <= code < 500 and code != CLOSING:
        working.put_off(mail, said, WAITS, handed_over=None)
        _server_answers(talk)
        return True
    _broke_off(mail, failures.unknown(why) if talk.handed_over and code != CLOSING else why, talk, code)
    talk.hang_up()
    talk.broken += 1
    if talk.broken < MOST_BROKEN and not isinstance(error, SoftTimeLimitExceeded) and not failures.timed_out(error):
        return True
    mail_server.is_away(why)
    return False


def _broke_off(mail: Mail, why: failures.Failure, talk: Conversation, code: int) -> None:
    """Have a mail tried again whose line broke, within reason where the server may have it already."""
    said = f"{why.says} {why.do}"
    if not talk.handed_over or code == CLOSING:
        working.put_off(mail, said, WAITS, handed_over=None if code == CLOSING else mail.handed_over)
    elif mail.again + (mail.handed_over is not None) >= MOST_AGAIN:
        end = f"It was handed over {MOST_AGAIN + 1} times without an answer: it may have come, even more than once."
        working.finish(mail, Mail.State.FAILED, error=f"{why.says} {end}")
    else:
        working.put_off(mail, said, WAITS)


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


def _server_answers(talk: Conversation) -> None:
    talk.broken = 0
    if not talk.well:
        mail_server.is_well()
    talk.well = True


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
