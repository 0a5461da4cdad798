"""What a letter needs, gathered from what is remembered: a report, "nothing changed", the week, "not audited"."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from django.core.mail import EmailMultiAlternatives

from advisor.mail import digest as digest_mail
from advisor.mail import heartbeat as heartbeat_mail
from advisor.mail import not_audited as not_audited_mail
from advisor.mail import pictures
from advisor.mail import report as report_mail
from advisor.mail.letter import Enclosed, File, address
from advisor.mail.scripts import files
from advisor.models import Audit, Capture, Finding, Recipient, Schedule, Site, System
from advisor.services import overview
from advisor.services.history import own_time, when
from advisor.services.mailing import audience
from advisor.services.mailing.comparison import before_and_after, within
from advisor.services.mailing.reporting import contents, restricted
from advisor.services.scheduling import troubles
from advisor.services.scheduling.troubles import Missing
from advisor.services.uploads import file_part

WEEK = timedelta(days=7)
MOST_LINES = 300
"""Systems in a digest; the page has them all."""
MOST_SILENT = 50
"""Told of in one mail that systems are not audited."""
SIGNS = {"new": "+", "worse": "^", "better": "v", "gone": "-", "limits": "~", "not_judged": "?"}
"""For the words of a difference, in the column of a digest."""
MOST_TRENDS = 60
"""Of them with a picture: those that come first."""


def report(
    recipient: Recipient, audit: Audit, before: Audit | None, *, after_trouble: str = ""
) -> EmailMultiAlternatives:
    """Make the report on an audit, told against `before`: the one this recipient knows, or that of the capture before.

    `after_trouble`: why the system was not audited until now, where it was not.
    """
    told, plots = contents(recipient, audit, before, after_trouble)
    tables, more = within(audit)
    told = replace(told, compared=before_and_after(recipient, audit, before), within=tables, more_within=more)
    drawn = {key: pictures.draw(f"plot{number}", svg) for number, (key, svg) in enumerate(plots.items(), 1)}
    left_out = "" if pictures.can_write() else "No pictures: the machine that made this mail has no font to draw with."
    enclosed = Enclosed(
        {key: picture for key, picture in drawn.items() if picture},
        _scripts(audit, told.when) if recipient.scripts else (),
        left_out if plots else "",
    )
    return report_mail.compose(Site.get(), recipient, told, enclosed, _thread(audit.system, recipient))


def heartbeat(recipient: Recipient, audit: Audit, before: Audit | None) -> EmailMultiAlternatives:
    """Make the short mail that nothing changed since `before`, or what did that is worth no report."""
    told, _ = contents(recipient, audit, before, "")
    last = None if audit.worst else Finding.objects.filter(system=audit.system_id).order_by("-audit__at").first()
    said = f"{last.title} ({_taken(last.audit.capture)})" if last else ""
    changed = str(restricted(before, audit, 1)) if before else ""
    return heartbeat_mail.compose(Site.get(), recipient, told, changed, said, _thread(audit.system, recipient))


def not_audited(recipient: Recipient, missing: Missing | Sequence[Missing]) -> EmailMultiAlternatives:
    """Make the mail that a system, or what a schedule brings, is not audited any more; or several at once."""
    several = [missing] if isinstance(missing, Missing) else list(missing)
    told = [_silent(one) for one in several[:MOST_SILENT]]
    more = len(several) - len(told)
    about = several[0].system or several[0].schedule
    thread = _thread(about, recipient) if about and len(several) == 1 else f"silent.{recipient.pk}"
    return not_audited_mail.compose(Site.get(), recipient, told, more, address("overview"), thread)


def digest(recipient: Recipient, now: datetime) -> EmailMultiAlternatives:
    """Make the week of the fleet: a line a system, those that are not audited first, then the worst."""
    since = recipient.digest_told or now - WEEK
    concerned = audience.about(recipient)
    known = set(concerned.values_list("pk", flat=True))
    missing = [one for one in troubles.not_audited(recipient.team, now) if _is_for(one, recipient, known)]
    silent = {one.system.pk: one for one in missing if one.system}
    systems = concerned.select_related("team", "latest__capture__upload")
    systems = systems.defer(*overview.HEAVY, *overview.HEAVY_CAPTURE)
    rows = overview.rows(list(systems), since, now)
    rows.sort(key=lambda row: (row.system.pk not in silent, *_rank(row.audit), row.system.name))
    lines = [_line(row, silent.get(row.system.pk)) for row in rows[:MOST_LINES]]
    told = digest_mail.Contents(
        since=since,
        now=now,
        lines=lines,
        more=max(0, len(rows) - MOST_LINES),
        systems=len(rows),
        worst={level: sum(row.audit is not None and row.audit.worst == level for row in rows) for level in range(5)},
        never=sum(row.audit is None for row in rows),
        not_all_judged=sum(row.audit is not None and not row.audit.worst and bool(row.audit.unjudged) for row in rows),
        changed=sum(bool(row.changed) and not row.new for row in rows),
        new=sum(row.new for row in rows),
        silent=len(silent),
        schedules=[(one.schedule.name, one.since, one.why) for one in missing if one.schedule and not one.system],
        address=address("overview"),
    )
    trends = [(line.key, row.line) for line, row in zip(lines, rows, strict=False)][:MOST_TRENDS]
    drawn = {key: pictures.draw(key, svg) for key, svg in trends if svg}
    enclosed = Enclosed({key: picture for key, picture in drawn.items() if picture})
    return digest_mail.compose(Site.get(), recipient, told, enclosed, f"digest.{recipient.pk}")


def _scripts(audit: Audit, taken: str) -> list[File]:
    told = (f"system: {audit.system.name}", taken, f"audit: {address('audit', audit.pk)}")
    return files(file_part(audit.system.name), told, audit.plan)


def _thread(about: System | Schedule, recipient: Recipient) -> str:
    """What all mails about one thing to one recipient share."""
    return f"{'system' if isinstance(about, System) else 'schedule'}-{about.pk}.{recipient.pk}"


def _taken(capture: Capture) -> str:
    return when(own_time(capture.taken, capture.timed, capture.interval), capture.timed)


def _last(system: System | None) -> not_audited_mail.Last | None:
    """The last audit there was of a system."""
    if system is None or system.latest is None:
        return None
    audit = system.latest
    return not_audited_mail.Last(_taken(audit.capture), report_mail.counted(audit, 1), address("audit", audit.pk))


def _silent(missing: Missing) -> not_audited_mail.Silent:
    system, schedule = missing.system, missing.schedule
    return not_audited_mail.Silent(
        name=missing.name,
        kind="system" if system else "schedule",
        since=missing.since,
        why=missing.why,
        do=missing.do,
        schedule=schedule.name if schedule and system else "",
        address=_page(system, schedule),
        upload=address("upload-show", missing.upload) if missing.upload else "",
        last=_last(system),
    )


def _page(system: System | None, schedule: Schedule | None) -> str:
    if system:
        return address("system", system.pk)
    return address("schedule", schedule.pk) if schedule else address("overview")


def _is_for(missing: Missing, recipient: Recipient, known: set[int]) -> bool:
    """Whether this recipient is concerned; a schedule without a system concerns those who are told of every system."""
    if missing.system:
        return missing.system.pk in known
    return not audience.choosing().filter(pk=recipient.pk).exists()


def _signs(changed: overview.Difference) -> str:
    return " ".join(f"{sign}{len(keys)}" for word, sign in SIGNS.items() if (keys := getattr(changed, word)))


def _rank(audit: Audit | None) -> tuple[int, float]:
    return (-audit.worst, -(audit.processors_lost or 0.0)) if audit else (1, 0.0)


def _line(row: overview.Row, missing: Missing | None) -> digest_mail.Line:
    audit = row.audit
    return digest_mail.Line(
        key=f"trend{row.system.pk}",
        name=row.system.name,
        address=address("system", row.system.pk),
        worst=audit.worst if audit else 0,
        headline=audit.headline if audit else "",
        changed=str(row.changed) if row.changed else "new" if row.new else "",
        signs=_signs(row.changed) if row.changed else "new" if row.new else "",
        lost=audit.processors_lost if audit else None,
        taken=audit.capture.taken if audit else None,
        unjudged=len(audit.unjudged) if audit else 0,
        trend=row.trend,
        trend_of=row.trend_of,
        silent_since=missing.since if missing else None,
        why=missing.why if missing else "",
    )
