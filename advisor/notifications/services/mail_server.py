"""The mail server: its settings, stored with a sealed password and tried out with a real mail, and how it stands."""

from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime

from django.conf import settings
from django.core.mail import EmailMultiAlternatives
from django.db import transaction
from django.http import HttpRequest
from django.utils import timezone

from advisor.accounts.models import User
from advisor.core import journal
from advisor.core.job_queue import start
from advisor.core.models import Site
from advisor.core.sealing import seal
from advisor.notifications.backends import OutboxBackend
from advisor.notifications.mail import failures
from advisor.notifications.mail.failures import Failure
from advisor.notifications.mail.message import from_templates
from advisor.notifications.services import outbox

FIELDS = ("mail_host", "mail_port", "mail_security", "mail_user", "mail_from")
UNSET = Failure("No mail server is set: mails wait.", "Fill in the mail settings (Administration, Mail).")


@dataclass(frozen=True)
class Outcome:
    """What a try came to: what the server answered, or what went wrong and what to do."""

    sent: bool
    says: str
    do: str = ""


def take_password(site: Site, password: str, *, remove: bool) -> None:
    """Give the settings a password, sealed; an empty one keeps what is stored, `remove` takes it away."""
    if remove:
        site.mail_password_sealed = ""
    elif password:
        site.mail_password_sealed = seal(password)


def store(site: Site, changed: Iterable[str], by: User, request: HttpRequest | None = None) -> None:
    """Store the mail settings alone; `changed` are the words for the journal, never their secrets."""
    with transaction.atomic():
        site.save(update_fields=[*FIELDS, "mail_password_sealed"])
        journal.note(by, "mail settings changed", ", ".join(changed) or "nothing", request=request)
        settings_changed()


def try_out(site: Site, to: str, by: User, request: HttpRequest | None = None) -> Outcome:
    """Send a real test mail through these settings, stored or not; waits at most 10 s for each answer."""
    try:
        with closing(OutboxBackend(site)) as backend:
            backend.send_messages([_test_message(site, to, by)])
    except failures.EXPECTED as error:
        why = failures.explain(error, site)
        journal.note(by, "test mail failed", f"to {to}: {why.says}", request=request)
        return Outcome(False, why.says, why.do)
    journal.note(by, "test mail sent", f"to {to} through {site.mail_host}: {backend.answer}", request=request)
    return Outcome(True, f"The server took the mail for {to}: {backend.answer}")


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


def settings_changed() -> None:
    """Try the server at once: what was known of it was known of other settings. Within the change's transaction."""
    outbox.is_well()
    start("notifications.send_mails")


def try_now(by: User, request: HttpRequest | None = None) -> None:
    """Try the server at once, as somebody asks for; if it is still away, the waits go on as they were."""
    with transaction.atomic():
        Site.objects.filter(pk=1).update(mail_down_until=None)
        journal.note(by, "mail server tried", request=request)
        start("notifications.send_mails")


def _test_message(site: Site, to: str, by: User) -> EmailMultiAlternatives:
    """The mail that shows whether the settings work: who asked for it, and through which server it came."""
    context = {"site": site, "by": by, "at": timezone.now(), "address": settings.SITE_URL}
    return from_templates("test", to, context, site)
