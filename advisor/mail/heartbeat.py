"""The short mail after an audit that is worth no report: that it comes is its message."""

from advisor.mail.letter import LEVELS, LONGEST_NAME, Enclosed, Letter, cut, one_line, write
from advisor.mail.report import Contents, about, counted, nothing_found
from advisor.models import Recipient, Site
from collectors.facts import is_command


def compose(site: Site, recipient: Recipient, told: Contents, changed: str, last: str, thread: str) -> Letter:
    """Make it.

    `changed` is what changed at any level, in numbers; `last` the newest finding there ever was, for a system that has
    none now.
    """
    system = told.audit.system
    context = {
        "told": told,
        "system": system,
        "name": cut(one_line(system.name, 120), LONGEST_NAME),
        "news": _news(told, changed, LEVELS[recipient.severity]),
        "nothing": nothing_found(told, 1),
        "standing": counted(told.audit, 1),
        "counts": counted(told.audit, recipient.severity),
        "last": last,
        "least": LEVELS[recipient.severity],
        "is_command": is_command,
    }
    headers = about("heartbeat", told.audit)
    return write("heartbeat", recipient, context, site, thread=thread, headers=headers, enclosed=Enclosed())


def _news(told: Contents, changed: str, least: str) -> str:
    """What the mail says first. That nothing changed is said only where everything was judged."""
    if not told.judged:
        return "nothing could be judged"
    if told.first:
        return "first audit"
    if told.summary:
        return told.summary
    if changed:
        return f"no change from {least} on; below it {changed}"
    if not told.before:
        return "audited"
    return "nothing changed" if not told.not_judged else "no change where it could be judged"
