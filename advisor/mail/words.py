"""Small words that every mail is made of: one clean line, the name of the sender, the host that mails come from."""

import unicodedata
from urllib.parse import urlsplit

from django.conf import settings

NAME = "Lockwright"


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
