"""A letter taken apart as a mail program does it, and captures of one system that differ."""

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from email import message_from_bytes, policy
from email.message import EmailMessage

from django.core.mail import EmailMultiAlternatives

from advisor.audits.models import Audit
from advisor.notifications.mail.rendering import rendered
from advisor.notifications.models import Recipient
from advisor.systems.models import System
from advisor.uploads.models import Upload
from advisor.uploads.services.uploads import Brought, ingest
from tests.advisor.people import STORIES, People

HOSTILE = '"><script>alert(1)</script>\r\nBcc: x@y.example\u202egnp.exe'
LINKS = ("http://", "https://")


@dataclass(frozen=True)
class Parts:
    """What a recipient gets."""

    mail: EmailMessage
    text: str
    html: str
    pictures: Mapping[str, bytes]
    files: Mapping[str, bytes]

    @property
    def lines(self) -> list[str]:
        """The text part, line by line."""
        return self.text.splitlines()

    @property
    def too_long(self) -> list[str]:
        """Lines of more than 72 columns that are no link."""
        return [line for line in self.lines if len(line) > 72 and not line.startswith(LINKS)]


def parts(letter: EmailMultiAlternatives) -> Parts:
    """Write a letter as it is sent and read it again."""
    return taken_apart(rendered(letter))


def taken_apart(data: bytes) -> Parts:
    """Read the bytes of a mail."""
    mail = message_from_bytes(data, policy=policy.default)
    assert isinstance(mail, EmailMessage)
    texts: dict[str, str] = {}
    pictures, files = {}, {}
    for part in mail.walk():
        if part.get_content_disposition() == "attachment":
            files[str(part.get_filename())] = payload(part)
        elif part.get_content_type() == "image/png":
            pictures[str(part["Content-ID"])[1:-1]] = payload(part)
        elif part.get_content_maintype() == "text":
            texts[part.get_content_type()] = payload(part).decode().replace("\r\n", "\n")
    return Parts(mail, texts["text/plain"], texts["text/html"], pictures, files)


def payload(part: EmailMessage) -> bytes:
    found = part.get_payload(decode=True)
    assert isinstance(found, bytes)
    return found


def tree(part: EmailMessage) -> object:
    """The types of the parts of a mail, as nested lists."""
    if not part.is_multipart():
        return part.get_content_type()
    return [part.get_content_type(), *(tree(one) for one in part.iter_parts() if isinstance(one, EmailMessage))]


def recipient_of(people: People, **more: object) -> Recipient:
    """Somebody who gets what a recipient gets who chose nothing, but for what is given here."""
    return Recipient.objects.create(team=people.team, address="ops@example.org", **more)


def bring_storms(people: People, changes: Sequence[Mapping[str, str]]) -> Upload:
    """Bring the story `address_lock_storm` once a day, each day with these texts of its export replaced."""
    for day, replaced in enumerate(changes):
        brought = [
            Brought(path.name, io.BytesIO(_on_day(path.read_text(), day, replaced).encode()))
            for path in sorted((STORIES / "address_lock_storm").glob("*.txt"))
        ]
        taken = ingest(brought, people.team, people.owner)
    return taken.upload


def _on_day(text: str, day: int, replaced: Mapping[str, str]) -> str:
    text = text.replace("Feb 11, 2026", f"Feb {11 + day}, 2026")
    for old, new in replaced.items():
        text = text.replace(old, new)
    return text


def audits_of(system: System) -> list[Audit]:
    """The current audit of each capture, oldest first."""
    return [capture.audit for capture in system.captures.order_by("taken") if capture.audit]
