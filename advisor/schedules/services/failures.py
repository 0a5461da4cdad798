"""Systems that are not audited although they should be: what failed for good stands on the overview and in the mail.

A trouble is two lines, why and what to do. The first begins with what failed (`run 12 of nightly: …`), so that it is
known what ends it: the next audit always; what a run failed at, a later run of the same schedule as well.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from cronsim import CronSimError
from django.db.models import Q, QuerySet, Value
from django.db.models.functions import Coalesce
from django.utils import timezone

from advisor.accounts.models import Team
from advisor.core import journal
from advisor.schedules.models import Run, Schedule
from advisor.schedules.services import timing
from advisor.systems.models import System
from advisor.systems.services.overview import heard
from advisor.systems.services.snoozing import snoozed_now
from advisor.uploads.models import Upload
from advisor.uploads.services.uploads import clean_text

OVER = {"troubled": None, "trouble": ""}
OF_RUN = re.compile(r"run (\d+) of ")
OF_UPLOAD = re.compile(r"upload (\d+) of ")
LOOK_AT_RUN = "look at the run and at the log of the worker, and run the schedule now when the cause is gone"
LOOK_AT_UPLOAD = "look at the upload: it shows what each file was taken for"
MOST_FILES = 3
"""Named of an upload."""
SPANS = [timedelta(days=days) for days in (0.1, 2, 15, 70, 1100)]
"""How far back the last two due times are looked for; a schedule of leap days has none."""
IN_DAYS = 48
"""More hours than these are told in days."""


@dataclass(frozen=True)
class Missing:
    """A system, or a schedule that names none, that is not audited although it should be."""

    system: System | None
    schedule: Schedule | None
    """The schedule that failed, where there is one: its page shows the runs."""
    since: datetime
    """When something last came, or since when it was expected; the same as long as the trouble lasts."""
    why: str
    do: str
    upload: int | None = None
    """The upload that failed, where it is one that did."""

    @property
    def name(self) -> str:
        """What people call it."""
        return self.system.name if self.system else self.schedule.name if self.schedule else ""


def audited(system: System) -> None:
    """A system has a new audit: its troubles are over, and those of the schedule without a system that brought it."""
    System.objects.filter(pk=system.pk, troubled__isnull=False).update(**OVER)
    brought = Schedule.objects.filter(troubled__isnull=False, runs__uploads__captures__audit=system.latest_id)
    brought.update(**OVER)


def run_failed(run: Run) -> None:
    """A run has failed for good."""
    why, _, do = run.error.partition("\n")
    said = f"run {run.pk} of {run.schedule}: {why or 'it failed'}"
    _trouble(run.schedule, run.system or run.schedule.system, said, do or LOOK_AT_RUN, run.created)


def upload_failed(upload: Upload) -> None:
    """An upload that a schedule took in cannot be read, or holds nothing usable.

    Anybody puts a stray file into a drop folder: a system that is audited otherwise is not called not audited for it.
    """
    run = upload.run
    if run is None:
        return
    system = run.system or run.schedule.system or _named(upload)
    if system and run.schedule.source == Schedule.Source.FOLDER and not _behind(system, run.schedule):
        system = None
    why = clean_text(upload.error, 500) or "nothing usable was given"
    said = f"upload {upload.pk} of {run.schedule}: {why}{_files_of(upload)}"
    _trouble(run.schedule, system, said, LOOK_AT_UPLOAD, upload.at)


def schedule_failed(schedule: Schedule, why: str, do: str) -> None:
    """A schedule cannot make a run at all."""
    _trouble(schedule, None, f"{schedule}: {why}", do, timezone.now())


def schedule_works(schedule: Schedule, system: System | None = None) -> None:
    """A run of a schedule (for a system) has ended well: what an earlier one failed at is over.

    What became of an upload is over with the next audit only.
    """
    concerned = system or schedule.system
    if concerned:
        for one in System.objects.filter(pk=concerned.pk, troubled__isnull=False, trouble__startswith="run "):
            if _origins([one.trouble]).get(one.trouble, schedule) == schedule:
                System.objects.filter(pk=one.pk, trouble=one.trouble).update(**OVER)
    troubled = Schedule.objects.filter(pk=schedule.pk, troubled__isnull=False)
    troubled.exclude(trouble__startswith="upload ").update(**OVER)


def schedule_rests(schedule: Schedule) -> None:
    """A schedule is paused, changed or about to be removed: its troubles are over where no other schedule has them."""
    Schedule.objects.filter(pk=schedule.pk).update(**OVER)
    _take_back(schedule, System.objects.filter(team=schedule.team_id))


def systems_left(schedule: Schedule, systems: Iterable[System]) -> None:
    """A schedule takes care of these systems no longer."""
    _take_back(schedule, System.objects.filter(pk__in=[system.pk for system in systems]))


def _take_back(schedule: Schedule, systems: QuerySet[System]) -> None:
    """End the troubles of systems that come from a schedule; another one's that fails as well takes their place."""
    troubled = list(systems.filter(troubled__isnull=False))
    origins = _origins(system.trouble for system in troubled)
    for system in troubled:
        if origins.get(system.trouble) == schedule:
            System.objects.filter(pk=system.pk).update(**OVER)
            if other := _failing(system, schedule):
                run_failed(other)


def not_audited(team: Team, now: datetime | None = None, *, snoozed: bool = False) -> list[Missing]:
    """What of a team is not audited although it should be, longest first: failed for good, or overdue.

    Of a snoozed system nothing is said, unless `snoozed` asks for what would be said of it without that.
    """
    now = now or timezone.now()
    systems = System.objects.filter(team=team).select_related("latest__capture__upload")
    light = systems.only(
        *("name", "product", "team", "created", "expected_hours", "troubled", "trouble"),
        *("latest__capture__taken", "latest__capture__upload__at"),
    )
    if not snoozed:
        light = light.exclude(snoozed_now())
    concerned = list(light.filter(Q(troubled__isnull=False) | Q(expected_hours__isnull=False)))
    schedules = list(Schedule.objects.filter(team=team, troubled__isnull=False))
    origins = _origins([one.trouble for one in concerned if one.troubled] + [one.trouble for one in schedules])
    found = [_missing(None, one, one.troubled, one.trouble, origins) for one in schedules if one.troubled]
    for system in concerned:
        if system.troubled:
            found.append(_missing(system, None, system.troubled, system.trouble, origins))
        elif late := overdue(system, now):
            found.append(late)
    return sorted(found, key=lambda one: (one.since, one.name))


def overdue(system: System, now: datetime) -> Missing | None:
    """What to say of a system whose next capture is expected since a while."""
    if system.expected_hours is None:
        return None
    since = heard(system)
    if now - since <= timedelta(hours=system.expected_hours):
        return None
    hours = int((now - since).total_seconds() // 3600)
    why = f"no capture for {_long(hours)}" if system.latest else "no capture yet"
    do = "look whether its exports still come, and whether its schedule is paused"
    return Missing(system, None, since, f"{why}; one is expected every {_often(system.expected_hours)}", do)


def _missing(
    system: System | None, schedule: Schedule | None, since: datetime, trouble: str, origins: dict[str, Schedule]
) -> Missing:
    why, _, do = trouble.partition("\n")
    failed = OF_UPLOAD.match(trouble) if trouble in origins else None
    return Missing(system, schedule or origins.get(trouble), since, why, do, int(failed.group(1)) if failed else None)


def _long(hours: int) -> str:
    """A time in words; above two days, whole days are enough."""
    if hours > IN_DAYS:
        return f"{hours // 24:,} days"
    return "1 hour" if hours == 1 else f"{hours} hours"


def _often(hours: int) -> str:
    """What stands after `every`."""
    if hours == 1:
        return "hour"
    days, rest = divmod(hours, 24)
    return f"{days:,} days" if days > 1 and not rest else f"{hours:,} hours"


def _behind(system: System, schedule: Schedule) -> bool:
    """Whether nothing came of a system since the last but one time its schedule was due: once alone may be a stray."""
    if system.latest is None:
        return True
    now = timezone.now()
    try:
        windows = timing.windows(schedule.blackouts, schedule.zone)
        for span in SPANS:
            before, last = None, timing.next_free(schedule, windows, now - span, schedule.next_due)
            while last is not None and (comes := timing.next_free(schedule, windows, last, schedule.next_due)):
                if comes > now:
                    break
                before, last = last, comes
            if before is not None:
                return heard(system) < before
    except (CronSimError, ValueError, KeyError, OverflowError):  # its times were valid when they were made
        return False
    return False


def _files_of(upload: Upload) -> str:
    """The names of an upload's first files, in brackets."""
    names = [clean_text(name, 80) for name in upload.files.values_list("name", flat=True)[:MOST_FILES]]
    more = upload.files.count() - len(names)
    return f" ({', '.join(names)}{f' and {more:,} more' if more else ''})" if names else ""


def _trouble(schedule: Schedule, system: System | None, why: str, do: str, first: datetime) -> None:
    """Note a trouble, unless the schedule is paused: then nothing is expected. One that lasts keeps its beginning."""
    if Schedule.objects.filter(pk=schedule.pk, paused__isnull=False).exists():
        return
    text = f"{why[:2000]}\n{do}"
    if system is None:
        began = schedule.troubled is None
        Schedule.objects.filter(pk=schedule.pk).update(troubled=Coalesce("troubled", Value(first)), trouble=text)
    else:
        system.refresh_from_db(fields=["troubled", "latest"])
        began = system.troubled is None
        last = system.latest.capture.taken if system.latest else schedule.created
        since = min(last, timezone.now())
        System.objects.filter(pk=system.pk).update(troubled=Coalesce("troubled", Value(since)), trouble=text)
    if began:
        journal.note(None, "not audited", why, system=system, team=schedule.team)


def _named(upload: Upload) -> System | None:
    """The system an upload was given to by name, if the team has exactly one of that name."""
    key = upload.system_name.upper()[:120]
    found = list(System.objects.filter(team=upload.team_id, key=key)[:2]) if key else []
    return found[0] if len(found) == 1 else None


def _origins(troubles: Iterable[str]) -> dict[str, Schedule]:
    """The schedule that each trouble speaks of, where it is still there."""
    runs, uploads = {}, {}
    for text in troubles:
        if run := OF_RUN.match(text):
            runs[text] = int(run.group(1))
        elif upload := OF_UPLOAD.match(text):
            uploads[text] = int(upload.group(1))
    of_run = dict(Run.objects.filter(pk__in=runs.values()).values_list("pk", "schedule")) if runs else {}
    taken = Upload.objects.filter(pk__in=uploads.values(), run__isnull=False) if uploads else Upload.objects.none()
    of_upload = dict(taken.values_list("pk", "run__schedule"))
    known = {text: of_run.get(number) for text, number in runs.items()}
    known.update({text: of_upload.get(number) for text, number in uploads.items()})
    schedules = Schedule.objects.in_bulk({number for number in known.values() if number})
    return {text: schedules[number] for text, number in known.items() if number in schedules}


def _failing(system: System, but: Schedule) -> Run | None:
    """The newest run of another schedule that failed for good for this system and had no better one after it."""
    concerned = Run.objects.filter(Q(system=system) | Q(schedule__system=system), schedule__paused=None)
    for schedule_id in concerned.exclude(schedule=but).order_by().values_list("schedule", flat=True).distinct():
        ended = concerned.filter(schedule=schedule_id, state__in=(Run.State.DONE, Run.State.FAILED))
        last = ended.select_related("schedule", "system").order_by("-finished").first()
        if last and last.state == Run.State.FAILED:
            return last
    return None
