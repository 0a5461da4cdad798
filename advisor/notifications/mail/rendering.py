"""A mail as any server takes it: 7 bit, lines of at most 998 characters, CRLF; its addresses, its Message-ID."""

import re
import unicodedata
from collections.abc import Callable
from email.charset import QP, Charset
from email.header import Header
from email.message import Message
from email.utils import formataddr, parseaddr
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.mail import EmailMessage
from django.core.mail.message import sanitize_address
from django.core.validators import validate_email

NAME = "Lockwright"
"""Of the sender."""
LONGEST_LINE = 998
"""Characters of a line (RFC 5322, 2.1.1)."""
SENDER = re.compile(rb"^From:[^\r\n]*(?:\r\n[ \t][^\r\n]*)*\r\n", re.MULTILINE | re.IGNORECASE)


class Unsendable(ValueError):
    """No server can be given this address or this mail; the message says why, in a sentence."""


def one_line(text: str, longest: int) -> str:
    """One line without what controls, turns or hides text, for a header or an address."""
    kept = "".join(c if not unicodedata.category(c).startswith(("C", "Z")) else " " for c in text)
    return " ".join(kept.split())[:longest]


def host() -> str:
    """The host of the site as the right side of a Message-ID."""
    name = urlsplit(settings.SITE_URL).hostname or "localhost"
    return f"[IPv6:{name}]" if ":" in name else name.encode("idna").decode("ascii")


def message_id(name: str) -> str:
    """A Message-ID of this site, or one that mails refer to: `<name@host>`."""
    return f"<{name}@{host()}>"


def envelope(address: str) -> str:
    """An address as servers take it, in ASCII (`a@bücher.example` → `a@xn--bcher-kva.example`). Raises `Unsendable`."""
    shown = one_line(address, 254)
    if shown != address:
        raise Unsendable(f"The address {shown} has spaces, line breaks or characters that control text.")
    if "@" not in address:
        raise Unsendable(f"The address {shown} has no @.")
    if not address.rpartition("@")[0].isascii():
        raise Unsendable(f"The address {shown} has letters before the @ that few mail servers take: use ASCII there.")
    try:
        validate_email(address)
        ascii_only: str = sanitize_address(address, "utf-8")
        host = address.rpartition("@")[2].lower()
        same = host.isascii() or host.encode("idna").decode("idna") == host
    except (ValidationError, ValueError):
        raise Unsendable(f"The address {shown} is none: it must look like name@host.example.") from None
    if not same:  # ß would become ss, which is another host
        raise Unsendable(f"The host of {shown} has letters that are written in two ways: write it as xn--...")
    return parseaddr(ascii_only)[1]


class RenderedMessage(EmailMessage):
    """A mail whose bytes were made before: they are sent as they are."""

    def __init__(self, data: bytes, from_email: str, to: str, before_end: Callable[[], Any] | None = None) -> None:
        """`before_end` is called when all but the last line of it is sent (`backends.Session`)."""
        super().__init__(from_email=from_email, to=[to])
        self.data = data
        self.before_end = before_end


def rendered(message: EmailMessage) -> bytes:
    """Make the bytes of a mail. Raises `Unsendable` where a header cannot be written."""
    if isinstance(message, RenderedMessage):
        return message.data
    try:
        made = message.message()
    except (ValueError, UnicodeError) as error:  # Django's BadHeaderError is one
        raise Unsendable(f"The mail cannot be written: {one_line(str(error), 200)}.") from None
    for name, text in {"Subject": message.subject, **message.extra_headers}.items():
        if name == "Subject" or name.startswith("X-"):
            _fold(made, name, str(text))
    for part in made.walk():
        if not part.is_multipart() and _needs_quoting(part):
            _quote(part)
    data = re.sub(rb"\r\n|\r|\n", b"\r\n", made.as_bytes(linesep="\r\n"))
    data = data if data.endswith(b"\r\n") else data + b"\r\n"
    if not data.isascii() or b"\0" in data or max(map(len, data.split(b"\r\n"))) > LONGEST_LINE:
        raise Unsendable("The mail has a header that is too long or not ASCII.")
    return data


def sent_from(data: bytes, address: str) -> bytes:
    """The same mail with this sender: the site's may have been changed while the mail waited."""
    head, gap, body = data.partition(b"\r\n\r\n")
    line = f"From: {sender(address)}\r\n".encode("ascii")
    return SENDER.sub(lambda _: line, head + b"\r\n", count=1)[:-2] + gap + body


def sender(address: str) -> str:
    """The sender as the mail shows it; a site without an address yet has a placeholder."""
    return formataddr((NAME, envelope(address) if address else "lockwright@localhost"))


def _fold(made: Message, name: str, text: str) -> None:
    """Write a header of other letters from its first line on: Django leaves that empty, which some readers show."""
    if not text.isascii():
        header: Any = Header(text, "utf-8", header_name=name)  # its types know of text alone
        made.replace_header(name, header)


def _needs_quoting(part: Message) -> bool:
    payload = part.get_payload()
    plain = part["Content-Transfer-Encoding"] in (None, "7bit", "8bit")
    return plain and isinstance(payload, str) and (not payload.isascii() or "\0" in payload)


def _quote(part: Message) -> None:
    """Have a part of text quoted-printable: readable where it is ASCII, and any server takes it."""
    raw = part.get_payload(decode=True)
    assert isinstance(raw, bytes)  # noqa: S101 - a part that is not multipart has bytes
    charset = Charset("utf-8")
    charset.body_encoding = QP
    del part["Content-Transfer-Encoding"]
    part.set_payload(raw.decode("utf-8", "replace"), charset)
