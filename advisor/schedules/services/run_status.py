"""What became of runs, the whole way: waiting, taking in, reading, audited, mailed. Nothing is said before it is so."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import timedelta

from django.db.models import Count, OuterRef, Q, Subquery
from django.utils import timezone

from advisor.audits.models import Capture
from advisor.findings.services.pages import worst_now
from advisor.notifications.models import Mail
from advisor.schedules.models import Run, Schedule
from advisor.schedules.services.running import holds_of
from advisor.schedules.services.timing import MOST_COUNTED, in_zone
from advisor.systems.models import System
from advisor.uploads.models import Upload

SOON = timedelta(seconds=30)
"""So long after the last audit mails may still be made (this project's figure): a page goes on looking."""
STEPS = ((86400, "d"), (3600, "h"), (60, "min"), (1, "s"))
OF_RUNS = {
    "waiting": "waiting",
    "running": "fetching",
    "done": "fetched",
    "failed": "failed",
    "skipped": "skipped",
}
OF_UPLOADS = {"waiting": "being read", "reading": "being read", "done": "read", "failed": "could not be read"}
TOLD = ("failed", "could not be read", "waiting", "fetching", "fetched", "being read", "read", "skipped")
"""The words for many runs and their uploads, in the order they are told."""
UNSETTLED = (Upload.State.WAITING, Upload.State.READING)


@dataclass(frozen=True)
class Found:
    """A capture that a run brought, with its current audit."""

    system_id: int
    system: str
    audit_id: int | None
    worst: int
    """The severity of its worst finding that is not accepted; 0: none is open."""


@dataclass
class Taken:
    """An upload of a run, and what was found in it."""

    upload: Upload
    found: list[Found] = field(default_factory=list)

    @property
    def says(self) -> str:
        """How far it has come, in a few words."""
        if self.upload.state == Upload.State.DONE:
            return "audited" if any(one.audit_id for one in self.found) else "holds nothing to audit"
        return {"waiting": "waits to be read", "reading": "being read"}.get(self.upload.state, "could not be read")


@dataclass
class RunStatus:
    """A run with everything that came of it so far."""

    run: Run
    uploads: list[Taken] = field(default_factory=list)
    mails: Counter[str] = field(default_factory=Counter)
    """How many mails of its audits are in which state."""
    held_by: Run | None = None
    """The run that has the system or folder to itself, for which this one waits."""

    @property
    def stage(self) -> str:
        """`waiting`, `taking in`, `reading`, `audited`, `nothing`, `failed` or `skipped`."""
        words: dict[str, str] = {Run.State.WAITING: "waiting", Run.State.RUNNING: "taking in"}
        words |= {Run.State.FAILED: "failed", Run.State.SKIPPED: "skipped"}
        if self.run.state in words:
            return words[self.run.state]
        states = {one.upload.state for one in self.uploads}
        if states & set(UNSETTLED):
            return "reading"
        if Upload.State.FAILED in states:
            return "failed"
        return "audited" if any(one.says == "audited" for one in self.uploads) else "nothing"

    @property
    def says(self) -> str:
        """The stage in words, with what it waits for, why it failed or what came of it."""
        if self.run.state == Run.State.WAITING:
            return self._waits()
        if self.run.state == Run.State.RUNNING:
            return "collecting" if self.run.schedule.source == Schedule.Source.COLLECTOR else "fetching"
        if self.run.state in (Run.State.FAILED, Run.State.SKIPPED):
            return self.run.state
        count = len(self.uploads)
        if self.stage == "reading":
            read = sum(one.upload.settled for one in self.uploads)
            return f"reading, {read} of {count} uploads done" if count > 1 else "reading"
        if self.stage == "failed":
            failed = sum(one.upload.state == Upload.State.FAILED for one in self.uploads)
            return f"{failed} of {count} uploads could not be read" if count > 1 else "could not be read"
        return {"nothing": "nothing to audit" if count else "nothing new"}.get(self.stage, self.stage)

    def _waits(self) -> str:
        zone = self.run.schedule.zone
        if self.held_by is not None:
            return f"waits until the run of {in_zone(self.held_by.due, zone):%H:%M %Z} ({self.held_by.schedule}) ends"
        again = f"{in_zone(self.run.not_before, zone):%H:%M:%S %Z}"
        if not self.run.tries:
            return f"looks again at {again}" if self.run.not_before > timezone.now() else "waits for a worker"
        times = "once" if self.run.tries == 1 else f"{self.run.tries} times"
        return f"tried {times}, again at {again}"

    @property
    def trouble(self) -> str:
        """What went wrong, in full; empty: nothing has."""
        wrong = [self.run.error] if self.run.state != Run.State.DONE else []
        wrong += [f"upload {one.upload.pk}: {one.upload.error}" for one in self.uploads if one.upload.error]
        return "\n".join(one for one in wrong if one)

    @property
    def sent(self) -> int:
        """Mails the server has taken."""
        return self.mails[Mail.State.DONE]

    @property
    def to_send(self) -> int:
        """Mails that wait or are being sent."""
        return self.mails[Mail.State.WAITING] + self.mails[Mail.State.RUNNING]

    @property
    def under_way(self) -> bool:
        """Whether the run or an upload of it is: its mails are not it."""
        return not self.run.settled or self.stage == "reading"

    @property
    def moves(self) -> bool:
        """Whether more will be seen by itself, soon: mails, too."""
        if self.under_way:
            return True
        ended = [one.upload.finished for one in self.uploads if one.upload.finished]
        return bool(self.to_send) or any(timezone.now() - SOON < time for time in ended)


def status_of(runs: Iterable[Run]) -> list[RunStatus]:
    """Look up what became of these runs (their schedule, system and user are at hand), in a few queries for all."""
    rows = {run.pk: RunStatus(run) for run in runs}
    if not rows:
        return []
    taken: dict[int, Taken] = {}
    columns = ("run", "state", "error", "finished", "read_bytes", "unpacked_bytes", "reading_now")
    for upload in Upload.objects.filter(run__in=rows).only(*columns).order_by("pk"):
        taken[upload.pk] = Taken(upload)
        rows[upload.run_id or 0].uploads.append(taken[upload.pk])
    if taken:
        _add_found(taken)
        _add_mails(rows, taken)
    _add_holders(rows.values())
    return list(rows.values())


def _add_found(taken: dict[int, Taken]) -> None:
    """Add the captures of each upload, those kept from another upload that told the same included."""
    columns = ("system", "system__name", "audit", "now")
    captures = Capture.objects.annotate(now=worst_now()).order_by("system__name", "-taken")
    own, again = captures.filter(upload__in=taken), captures.filter(also_in__in=taken)
    for found, path in ((own, "upload"), (again, "also_in")):
        for upload_id, system_id, system, audit_id, now in found.values_list(path, *columns):
            if upload_id in taken:  # a capture may be in further uploads that are not asked for
                taken[upload_id].found.append(Found(system_id, system, audit_id, (now or {}).get("severity") or 0))


def _add_mails(rows: dict[int, RunStatus], taken: dict[int, Taken]) -> None:
    """Add how many mails tell of the audits of each run."""
    by_upload: dict[int, Counter[str]] = defaultdict(Counter)
    told = Mail.objects.filter(audit__capture__upload__in=taken).order_by()
    for upload_id, state, count in told.values_list("audit__capture__upload", "state").annotate(Count("pk")):
        by_upload[upload_id][state] += count
    for row in rows.values():
        for one in row.uploads:
            row.mails += by_upload[one.upload.pk]


def _add_holders(rows: Iterable[RunStatus]) -> None:
    """Say of each waiting run which other one it waits for."""
    waiting: dict[str, list[RunStatus]] = defaultdict(list)
    for row in rows:
        if row.run.state == Run.State.WAITING:
            waiting[holds_of(row.run)].append(row)
    if not waiting:
        return
    for run in Run.objects.filter(holds__in=waiting, state=Run.State.RUNNING).select_related("schedule"):
        for row in waiting[run.holds or ""]:
            row.held_by = run


@dataclass
class Last:
    """The newest run of a schedule; of a group's schedule it stands for those of all its systems at that time."""

    followed: RunStatus
    states: Counter[str] = field(default_factory=Counter)
    """Of a group: how many runs of that time, and uploads of theirs, are in which state (`TOLD`)."""

    @property
    def several(self) -> bool:
        """Whether it stands for the runs of several systems."""
        return sum(self.states[word] for word in OF_RUNS.values()) > 1

    @property
    def says(self) -> str:
        """How far it has come; of several runs how many are in which state."""
        if not self.several:
            return self.followed.says
        return ", ".join(f"{self.states[word]:,} {word}" for word in TOLD if self.states[word])

    @property
    def bad(self) -> bool:
        """Whether anything of it failed."""
        return self.followed.stage == "failed" or any(self.states[word] for word in ("failed", "could not be read"))

    @property
    def moves(self) -> bool:
        """Whether more will be seen by itself, soon."""
        moves = any(self.states[word] for word in ("waiting", "fetching", "being read"))
        return moves or self.followed.moves


def last_runs(schedules: Iterable[Schedule], system: System | None = None) -> dict[int, Last]:
    """The newest run of each schedule, with what became of it; `system`: of the runs that concern this system."""
    mine = Run.objects.filter(schedule=OuterRef("pk"))
    if system is not None:
        mine = mine.filter(Q(system=system) | Q(system=None))
    newest = Subquery(mine.order_by("-due", "-id").values("pk")[:1])
    found = Schedule.objects.filter(pk__in=[one.pk for one in schedules]).annotate(last=newest)
    numbers = [pk for pk in found.values_list("last", flat=True) if pk]
    runs = Run.objects.filter(pk__in=numbers).select_related("schedule", "system", "by")
    rows = {row.run.schedule_id: Last(row) for row in status_of(runs)}
    if system is None and any(row.followed.run.system_id for row in rows.values()):
        _count_alike(rows)
    return rows


def _count_alike(rows: dict[int, Last]) -> None:
    """Count the runs that were due at the same time as the newest one of each schedule, and their uploads."""
    dues = {row.followed.run.due for row in rows.values()}
    alike = Run.objects.filter(schedule__in=rows, due__in=dues).order_by()
    uploads = Upload.objects.filter(run__schedule__in=rows, run__due__in=dues).order_by()
    of_runs = alike.values_list("schedule", "due", "state").annotate(Count("pk"))
    of_uploads = uploads.values_list("run__schedule", "run__due", "state").annotate(Count("pk"))
    for counted, words in ((of_runs, OF_RUNS), (of_uploads, OF_UPLOADS)):
        for schedule_id, due, state, count in counted:
            if rows[schedule_id].followed.run.due == due:
                rows[schedule_id].states[words[state]] += count


def unsettled(runs: Iterable[RunStatus | Last]) -> bool:
    """Whether a page that shows these should look again in a few seconds."""
    return any(run.moves for run in runs)


def lateness(run: Run) -> str:
    """What is to be said of when a run was made: how late, and for how many missed ones; empty: in time."""
    said = [f"{in_steps(run.late_seconds)} late"] if run.late_seconds else []
    count = f"{run.missed:,}{' or more' if run.missed >= MOST_COUNTED else ''}"
    if run.missed and run.state == Run.State.SKIPPED:
        said.append(f"and {count} {'time' if run.missed == 1 else 'times'} more")
    elif run.missed:
        said.append(f"makes up for {count} missed {'run' if run.missed == 1 else 'runs'}")
    return ", ".join(said)


def in_steps(seconds: float) -> str:
    """A number of seconds for people, in its two largest units: `2 h 5 min`."""
    left, said = round(seconds), []
    for size, unit in STEPS:
        if left >= size:
            said.append(f"{left // size} {unit}")
            left %= size
    return " ".join(said[:2]) or "0 s"
