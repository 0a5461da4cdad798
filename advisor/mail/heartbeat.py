"""The short mail that nothing changed: that it comes is its message."""

from advisor.mail.letter import LEVELS, LONGEST_NAME, Enclosed, Letter, cut, one_line, write
from advisor.mail.report import Contents, about, counted
from advisor.models import Recipient, Site
from collectors.facts import is_command


def compose(site: Site, recipient: Recipient, told: Contents, last: str, thread: str) -> Letter:
    """Make it; `last` is the newest finding there ever was, for a system that has none now."""
    system = told.audit.system
    context = {
        "told": told,
        "system": system,
        "name": cut(one_line(system.name, 120), LONGEST_NAME),
        "standing": counted(told.audit, 1),
        "counts": counted(told.audit, recipient.severity),
        "last": last,
        "least": LEVELS[recipient.severity],
        "is_command": is_command,
    }
    headers = about("heartbeat", told.audit)
    return write("heartbeat", recipient, context, site, thread=thread, headers=headers, enclosed=Enclosed())
