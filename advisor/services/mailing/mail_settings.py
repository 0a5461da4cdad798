"""The mail settings of the site: stored with a sealed password, tried out with a real mail."""

from collections.abc import Iterable
from dataclasses import dataclass

from django.db import transaction
from django.http import HttpRequest

from advisor.mail import failures, kit, test
from advisor.mail.sealing import seal
from advisor.models import Site, User
from advisor.services import journal
from advisor.services.mailing import mail_server

FIELDS = ("mail_host", "mail_port", "mail_security", "mail_user", "mail_from")


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
        mail_server.settings_changed()


def try_out(site: Site, to: str, by: User, request: HttpRequest | None = None) -> Outcome:
    """Send a real test mail through these settings, stored or not; waits at most 10 s for each answer."""
    try:
        answered = kit.connection(site).deliver(test.compose(site, to, by))
    except failures.EXPECTED as error:
        why = failures.explain(error, site)
        journal.note(by, "test mail failed", f"to {to}: {why.says}", request=request)
        return Outcome(False, why.says, why.do)
    journal.note(by, "test mail sent", f"to {to} through {site.mail_host}: {answered}", request=request)
    return Outcome(True, f"The server took the mail for {to}: {answered}")
