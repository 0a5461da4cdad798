"""What the messages of the service share: their headers, 72 columns of text, HTML that Outlook can show, their size."""

import re
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from email.message import Message
from typing import Any

import css_inline
from django.conf import settings
from django.core.mail import EmailMultiAlternatives, SafeMIMEMultipart
from django.template.loader import render_to_string
from django.urls import reverse

from advisor.audits.report.render import SEVERITIES
from advisor.core.models import Site
from advisor.notifications.mail import links, rendering
from advisor.notifications.mail.pictures import Picture
from advisor.notifications.models import Recipient
from advisor.schedules.models import Schedule
from advisor.systems.models import System

WIDTH = 72
"""Columns of a text part: what a terminal of 80 leaves when somebody answers twice."""
SUBJECT = 78
"""Characters of a subject: one line of a header (RFC 5322, 2.1.1)."""
LEAST_WORDS = 2
"""Of the last part of a subject that is cut: one alone tells nothing (`worst...`, `1...`)."""
LONGEST_NAME = 30
"""Of a system's name in a subject, so that the rest is seen on a telephone."""
MOST_BYTES = 500_000
"""Of a whole mail (this project's figure)."""
LEVELS = ("nothing", *reversed(SEVERITIES))
"""The word for each severity, 0 to 4."""
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
IN_ASCII = str.maketrans(
    {
        "→": "->",
        "…": "...",
        "–": "-",
        "—": "-",
        "·": "-",
        "×": "x",
        "≤": "<=",
        "“": '"',
        "”": '"',
        "‘": "'",
        "’": "'",
        "\u00a0": " ",
    }
)
"""What of our own typography a terminal of last century may lack. Names are left as they are."""
UNIT = re.compile(r"(?<=\d) (?=%)")
WIDE_GAP = re.compile(r" {3,}")
INLINER = css_inline.CSSInliner(keep_at_rules=True, load_remote_stylesheets=False)


@dataclass(frozen=True)
class File:
    """A text that comes with a mail."""

    name: str
    text: str


@dataclass(frozen=True)
class Enclosed:
    """What comes with a letter: pictures inside its HTML, by what they show, and files."""

    pictures: Mapping[str, Picture] = field(default_factory=dict)
    files: Sequence[File] = ()
    left_out: str = ""
    """What was left out, and why; said in the mail."""


class ReportMessage(EmailMultiAlternatives):
    """A mail with pictures inside its HTML: mixed(related(alternative(text, HTML), pictures), files)."""

    pictures: Sequence[tuple[str, Picture]] = ()
    """Each with its Content-ID."""

    def message(self) -> Any:
        """Make the MIME message."""
        made: Message = super().message()
        if not self.pictures:
            return made
        parts = [picture.part(cid) for cid, picture in self.pictures]
        if made.get_content_subtype() == "mixed":
            body: Any = made.get_payload()
            related = SafeMIMEMultipart(_subtype="related", type="multipart/alternative")
            related.set_payload([body[0], *parts])
            made.set_payload([related, *body[1:]])
        else:
            alternative = SafeMIMEMultipart(_subtype="alternative")
            alternative.set_payload(made.get_payload())
            made.set_type("multipart/related")
            made.set_param("type", "multipart/alternative")
            made.set_payload([alternative, *parts])
        return made


def write(
    name: str,
    recipient: Recipient,
    context: Mapping[str, Any],
    site: Site,
    *,
    thread: str,
    headers: Mapping[str, str],
    enclosed: Enclosed,
) -> ReportMessage:
    """Make the mail `templates/notifications/email/<name>/` to a recipient; all of one conversation share `thread`.

    Where it would be larger than `MOST_BYTES`, pictures stay away, then files; the mail says so.
    """
    tries = (
        enclosed,
        Enclosed({}, enclosed.files, "The pictures were left out: this mail would be too large."),
        Enclosed({}, (), "Pictures and files were left out: this mail would be too large."),
    )
    for one in tries:
        made = _made(name, recipient, context, site, thread, headers, one)
        if size(made) <= MOST_BYTES:
            break
    return made


def from_templates(
    name: str,
    to: str,
    context: dict[str, Any],
    site: Site,
    headers: Mapping[str, str] | None = None,
    reference: str = "",
) -> EmailMultiAlternatives:
    """Make the mail `templates/notifications/email/<name>/`: a subject of one line, a body of text, the same as HTML.

    `headers` are more of its headers, each made one clean line; mails with the same `reference` (a Message-ID, see
    `rendering.message_id`) are one thread.
    """
    thread = {"References": reference, "In-Reply-To": reference} if reference else {}
    more = {**thread, **(headers or {}), "Auto-Submitted": "auto-generated"}
    made = EmailMultiAlternatives(
        rendering.one_line(render_to_string(f"notifications/email/{name}/subject.txt", context), 900),
        render_to_string(f"notifications/email/{name}/body.txt", context),
        rendering.sender(site.mail_from),
        [to],
        headers={key: rendering.one_line(value, 900) for key, value in more.items()},
    )
    made.attach_alternative(render_to_string(f"notifications/email/{name}/body.html", context), "text/html")
    return made


def size(letter: EmailMultiAlternatives) -> int:
    """How many bytes a mail has as it is sent."""
    return len(letter.message().as_bytes(linesep="\r\n"))


def _made(
    name: str,
    recipient: Recipient,
    context: Mapping[str, Any],
    site: Site,
    thread: str,
    headers: Mapping[str, str],
    enclosed: Enclosed,
) -> ReportMessage:
    cids = {key: f"{picture.name}.{thread}@lockwright" for key, picture in enclosed.pictures.items()}
    shared = {
        "fold": fold,
        "fold_query": fold_query,
        "one_line": one_line,
        "cut": cut,
        "quote": quote,
        "levels": LEVELS,
        "enclosed": enclosed,
        "cids": cids,
        "recipient": recipient,
        "why": why(recipient),
        "settings_link": links.settings(recipient),
        "unsubscribe_link": links.unsubscribe(recipient),
        "site_link": settings.SITE_URL,
    }
    more = {**_headers(recipient), **{key: one_line(value, 200) for key, value in headers.items()}}
    reference = rendering.message_id(thread)
    plain = from_templates(name, recipient.address, {**shared, **context}, site, headers=more, reference=reference)
    made = ReportMessage(
        cut_subject(str(plain.subject)), plain.body, plain.from_email, plain.to, headers=plain.extra_headers
    )
    made.attach_alternative(INLINER.inline(str(plain.alternatives[0][0])), "text/html")
    made.pictures = [(cids[key], picture) for key, picture in enclosed.pictures.items()]
    for file in enclosed.files:
        made.attach(file.name, file.text, "text/plain")
    return made


def thread_of(about: System | Schedule, recipient: Recipient) -> str:
    """What all mails about one thing to one recipient share."""
    return f"{'system' if isinstance(about, System) else 'schedule'}-{about.pk}.{recipient.pk}"


def _headers(recipient: Recipient) -> dict[str, str]:
    """What every letter has: its list, that no person wrote it, and that no machine should answer it."""
    return {
        "List-Id": f"<team-{recipient.team_id}.lockwright.{rendering.host()}>",
        "List-Unsubscribe": f"<{links.unsubscribe(recipient)}>",
        "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
        "Precedence": "bulk",
        "X-Auto-Response-Suppress": "All",
    }


def address(name: str, *args: Any) -> str:
    """The whole address of a page."""
    return settings.SITE_URL + reverse(name, args=args)


def one_line(text: str, longest: int = 2000) -> str:
    """Make one clean line of a text from outside, cut at a word where it is longer."""
    return cut(rendering.one_line(text, 2 * longest), longest)


def cut(text: str, longest: int) -> str:
    """Cut a text at a word so that it fits, and mark it."""
    if len(text) <= longest:
        return text
    short = text[: longest - 3]
    at_word = short.rpartition(" ")[0]
    return (at_word if len(at_word) > longest // 2 else short).rstrip(" ,;:") + "..."


def cut_subject(text: str) -> str:
    """Cut a subject; what stands behind its last `;` or `,` is left out whole where one word of it is left."""
    short = cut(text, SUBJECT)
    if short == text:
        return text
    for between in ("; ", ", "):
        head, _, tail = short.rpartition(between)
        if len(head) > SUBJECT // 2 and len(tail.split()) < LEAST_WORDS:
            return head + "..."
    return short


def fold(text: str, indent: int = 0, hanging: int | None = None, longest: int = 2000) -> str:
    """Fill a paragraph of a text part, as `jinja.wrap` does: the template stands where the first line begins.

    A word too long for a line is broken: no line is longer than `WIDTH`. Addresses and commands do not come here.
    """
    lines = textwrap.wrap(
        UNIT.sub("\u00a0", one_line(text, longest).translate(IN_ASCII)),
        WIDTH,
        initial_indent=" " * indent,
        subsequent_indent=" " * (indent if hanging is None else hanging),
        break_on_hyphens=False,
    )
    return "\n".join(lines)[indent:].replace("\u00a0", " ")


QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")


def fold_query(command: str, indent: int) -> str:
    """A command for a text part: a SELECT goes on over lines, as T-SQL lets it, but never within quotes.

    Any other command stands on one line, and so does one with a remark that ends with its line.
    """
    command = one_line(command, 1000)
    bare = QUOTED.sub("", command)
    if not bare.lower().startswith("select ") or "--" in bare:
        return command
    kept = QUOTED.sub(lambda found: found[0].replace(" ", "\u00a0"), command)
    lines = textwrap.wrap(kept, WIDTH - indent, break_long_words=False, break_on_hyphens=False)
    return f"\n{' ' * indent}".join(lines).replace("\u00a0", " ")


def quote(line: str, room: int) -> str:
    """Make a line of an export fit: first its indent goes, then its wide gaps become narrow, then it is cut."""
    kept = "".join(c if c.isprintable() else " " for c in line).strip()
    if len(kept) > room:
        kept = WIDE_GAP.sub("  ", kept)
    return kept if len(kept) <= room else kept[: room - 3] + "..."


def why(recipient: Recipient) -> str:
    """How a mail comes about, in a sentence: who gets what of which systems."""
    names = [*recipient.systems.values_list("name", flat=True)[:6]]
    groups = [f"the group {name}" for name in recipient.groups.values_list("name", flat=True)[:6]]
    several = cut(", ".join(one_line(name, 60) for name in (*names, *groups)), 300)
    of = several or ("no system any more" if recipient.left_alone else "every system")
    wants = []
    if recipient.reports:
        when = "after every audit" if recipient.everything else "when something changed"
        wants.append(f"reports {when}, findings from {LEVELS[recipient.severity]} on, {_days(recipient.days)}")
    if recipient.heartbeat:
        wants.append("a line when nothing changed")
    if recipient.not_audited:
        wants.append("word of systems that are not audited any more")
    if recipient.digest:
        wants.append("the week's digest")
    if recipient.daily:
        wants.append(f"the day of the fleet, {_days(recipient.days)}")
    team = one_line(recipient.team.name, 80)
    told = "; ".join(wants) or "nothing by itself"
    return f"{recipient.address} is a recipient of the team {team} ({of}): {told}."


def _days(days: Sequence[int]) -> str:
    wanted = sorted(set(days) & set(range(7)))
    if len(wanted) in (0, 7):
        return "every day"
    if len(wanted) > 2 and wanted == list(range(wanted[0], wanted[-1] + 1)):
        return f"{DAYS[wanted[0]]} to {DAYS[wanted[-1]]}"
    return "on " + ", ".join(DAYS[day] for day in wanted)
