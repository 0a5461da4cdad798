"""A mail taken apart for the page: its headers, its text, its HTML with the pictures in it, its files."""

import re
from base64 import b64encode
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import default
from typing import Any, TypeVar

from csp.decorators import csp_update
from django.conf import settings
from django.http import HttpResponse

HEADERS = ("Date", "From", "To", "Subject", "Message-ID", "In-Reply-To", "References")
CID = re.compile(r"""cid:([^"'\s)>]+)""")
PICTURES = ("image/png", "image/gif", "image/jpeg")
CSP = "sandbox; default-src 'none'; img-src data:; style-src 'unsafe-inline'; frame-ancestors 'self'"
View = TypeVar("View", bound=Callable[..., Any])


@dataclass(frozen=True)
class File:
    """A file that comes with a mail."""

    number: int
    name: str
    data: bytes


@dataclass(frozen=True)
class Parts:
    """What a mail consists of, decoded."""

    headers: list[tuple[str, str]]
    text: str
    html: str
    """Its pictures are in it, as `data:` addresses."""
    files: list[File]


def read(content: bytes, *, links: bool) -> Parts:
    """Take a mail apart. Without `links`, the signed ones of its recipient are taken out of what is shown."""
    message = message_from_bytes(content, policy=default)
    leaves = list(_leaves(message))
    text = next((_string(one) for one in leaves if one.get_content_type() == "text/plain"), "")
    html = next((_string(one) for one in leaves if one.get_content_type() == "text/html"), "")
    shown = [html if links else unlinked(html), text if links else unlinked(text)]
    return Parts(
        headers=[(name, str(message[name])) for name in HEADERS if message[name]],
        text=shown[1],
        html=_with_pictures(shown[0], leaves),
        files=list(_files(message)),
    )


def unlinked(text: str) -> str:
    """Take the signed links out: who reads along may not change what somebody else gets."""
    return re.sub(rf"{re.escape(settings.SITE_URL)}/mail/for/[\w.:%/=-]+", "(a link for the recipient alone)", text)


def framed_page(html: str) -> HttpResponse:
    """Answer with the HTML of a mail alone, for a frame: nothing in it runs, and nothing is loaded."""
    answer = HttpResponse(html, content_type="text/html; charset=utf-8")
    answer["Content-Security-Policy"] = CSP
    answer["Referrer-Policy"] = "no-referrer"
    return answer


def framing(view: View) -> View:
    """Let a page show a frame of our own."""
    return csp_update({"frame-src": ["'self'"]})(view)  # type: ignore[return-value]  # it is typed for views of one page


def _leaves(message: EmailMessage) -> Iterator[EmailMessage]:
    """Every part that is no attachment and holds no others."""
    for part in message.walk():
        if not part.is_multipart() and part.get_content_disposition() != "attachment":
            yield part


def _files(message: EmailMessage) -> Iterator[File]:
    attached = (part for part in message.walk() if part.get_content_disposition() == "attachment")
    for number, part in enumerate(attached):
        data = part.get_payload(decode=True)
        yield File(number, part.get_filename() or "unnamed", data if isinstance(data, bytes) else b"")


def _string(part: EmailMessage) -> str:
    data = part.get_payload(decode=True)
    text = data.decode(part.get_content_charset("utf-8"), "replace") if isinstance(data, bytes) else ""
    return text.replace("\r\n", "\n")


def _with_pictures(html: str, leaves: list[EmailMessage]) -> str:
    """The HTML with the pictures it names by Content-ID; one that is not there stays unnamed."""
    found = {}
    for part in leaves:
        data = part.get_payload(decode=True)
        if part.get_content_type() in PICTURES and isinstance(data, bytes):
            name = str(part.get("Content-ID", "")).strip("<> ")
            found[name] = f"data:{part.get_content_type()};base64,{b64encode(data).decode()}"
    return CID.sub(lambda m: found.get(m[1], "data:,"), html)
