"""The short mail after an audit that is worth no report: that it comes is its message."""

from dataclasses import replace

from advisor.audits.models import Audit, Finding
from advisor.core.models import Site
from advisor.notifications.mail.message import (
    LEVELS,
    LONGEST_NAME,
    Enclosed,
    ReportMessage,
    cut,
    one_line,
    thread_of,
    write,
)
from advisor.notifications.mail.report import (
    Contents,
    about,
    contents,
    counted,
    nothing_found,
    restricted,
    taken_at,
)
from advisor.notifications.models import Recipient
from collectors.facts import is_command


def heartbeat_message(recipient: Recipient, audit: Audit, before: Audit | None) -> ReportMessage:
    """Make the short mail that nothing changed since `before`, or what did that is worth no report.

    It names the newest finding there ever was, for a system that has none now.
    """
    told = contents(recipient, audit, before, "")
    first = dict(list(told.bring.items())[:1])
    told = replace(told, bring=first, more_to_bring=told.more_to_bring + len(told.bring) - len(first))
    last = None if audit.worst else Finding.objects.filter(system=audit.system_id).order_by("-audit__at").first()
    system = audit.system
    context = {
        "told": told,
        "system": system,
        "name": cut(one_line(system.name, 120), LONGEST_NAME),
        "news": _news(told, str(restricted(before, audit, 1)) if before else "", LEVELS[recipient.severity]),
        "nothing": nothing_found(told, 1),
        "standing": counted(audit, 1),
        "counts": counted(audit, recipient.severity),
        "last": f"{last.title} ({taken_at(last.audit.capture)})" if last else "",
        "least": LEVELS[recipient.severity],
        "is_command": is_command,
    }
    thread, headers = thread_of(system, recipient), about("heartbeat", audit)
    return write("heartbeat", recipient, context, Site.get(), thread=thread, headers=headers, enclosed=Enclosed())


def _news(told: Contents, changed: str, least: str) -> str:
    """What the mail says first; `changed` is what changed at any level, in numbers.

    That nothing changed is said only where everything was judged.
    """
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
    if told.moved:
        return "no finding changed" if not told.not_judged else "no finding changed where it could be judged"
    return "nothing changed" if not told.not_judged else "no change where it could be judged"
