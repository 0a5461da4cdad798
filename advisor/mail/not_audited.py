"""The mail that systems are not audited any more: since when, why, and what to do."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from advisor.mail.letter import LONGEST_NAME, Enclosed, Letter, cut, one_line, write
from advisor.models import Recipient, Site


@dataclass(frozen=True)
class Last:
    """The last audit there was."""

    taken: str
    found: str
    """Findings by severity; empty for none."""
    address: str


@dataclass(frozen=True)
class Silent:
    """One system, or one schedule whose systems nobody knows, that brings no audit any more."""

    name: str
    kind: str
    """`system` or `schedule`."""
    since: datetime
    why: str
    do: str
    schedule: str
    """The schedule that failed; empty: none is known, or it is what is told of."""
    address: str
    last: Last | None
    upload: str = ""
    """The address of the upload that could not be read; empty: it is none that failed."""


def compose(site: Site, recipient: Recipient, silent: Sequence[Silent], more: int, address: str, thread: str) -> Letter:
    """Make it. `more`: so many are not told of here; `address` is where all of them are seen."""
    first = silent[0]
    alone = len(silent) + more == 1
    context = {
        "silent": silent,
        "more": more,
        "first": first,
        "alone": alone,
        "name": cut(one_line(first.name if alone else recipient.team.name, 120), LONGEST_NAME),
        "address": address,
    }
    headers = {"X-Lockwright-Kind": "not-audited"}
    if alone:
        headers[f"X-Lockwright-{first.kind.capitalize()}"] = first.name
    return write("not_audited", recipient, context, site, thread=thread, headers=headers, enclosed=Enclosed())
