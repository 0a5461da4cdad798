"""Whether the mail server takes mail: while it does not, all mails wait, none of them loses a try by it."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import F, Q
from django.http import HttpRequest
from django.utils import timezone

from advisor.mail.failures import Failure
from advisor.models import Site, User
from advisor.services import journal
from advisor.services.starting import start

WAITS = (30, 60, 120, 300, 600, 1800)
"""Seconds until a server that is away is tried again; the last one for ever (this project's figures)."""
UNSET = Failure("No mail server is set: mails wait.", "Fill in the mail settings (Administration, Mail).")


@dataclass(frozen=True)
class ServerState:
    """How it stands with the mail server, in words; `since` and `again` are null where it is not away."""

    well: bool
    says: str
    do: str = ""
    since: datetime | None = None
    again: datetime | None = None
    """When it is tried again."""


def state_of_server(site: Site) -> ServerState:
    """Say whether mails go out, and if not, since when, why, what to do and when it is tried again."""
    if not site.mail_host or not site.mail_from:
        return ServerState(False, UNSET.says, UNSET.do)
    if site.mail_down_since is None:
        return ServerState(True, f"Mails go out through {site.mail_host}, port {site.mail_port}.")
    says, _, do = site.mail_down_says.partition("\n")
    return ServerState(False, says, do, site.mail_down_since, site.mail_down_until)


def may_be_tried(site: Site, now: datetime | None = None) -> bool:
    """Whether there is a server to send by now."""
    if not site.mail_host or not site.mail_from:
        return False
    now = now or timezone.now()
    until = site.mail_down_until
    # longer than the longest wait: the clock was set back
    return until is None or until <= now or until > now + timedelta(seconds=2 * WAITS[-1])


def is_away(why: Failure) -> None:
    """Remember that the server took nothing, and when to try it again."""
    site = Site.get()
    now = timezone.now()
    wait = WAITS[min(site.mail_down_tries, len(WAITS) - 1)]
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


def settings_changed() -> None:
    """Try the server at once: what was known of it was known of other settings. Within the change's transaction."""
    is_well()
    start("send_mails")


def try_now(by: User, request: HttpRequest | None = None) -> None:
    """Try the server at once, as somebody asks for; if it is still away, the waits go on as they were."""
    with transaction.atomic():
        Site.objects.filter(pk=1).update(mail_down_until=None)
        journal.note(by, "mail server tried", request=request)
        start("send_mails")
