"""The shapes of schedules, runs and groups, for the OpenAPI document."""

from datetime import datetime
from typing import Literal

from ninja import Schema
from pydantic import Field

from advisor.core.api import Number

Source = Literal["folder", "collector"]
After = Literal["leave", "move"]
Stage = Literal["waiting", "taking in", "reading", "audited", "nothing", "failed", "skipped"]


class ScheduleWish(Schema):
    """What a schedule is to be. Exactly one of `every_minutes` and `cron` says when."""

    name: str = Field(max_length=80)
    system: Number | None = Field(None, description="For this system; with neither, for whatever the exports name.")
    group: Number | None = Field(None, description="For the systems of this group.")
    source: Source = "folder"
    folder: str = Field("", max_length=500, description="Empty: the folder of the team. Relative: below it.")
    after: After = Field("leave", description="What becomes of a file that was taken; `move`: into `taken/` beside it.")
    settle_seconds: int = Field(60, ge=1, le=3600, description="So long a file must not have changed.")
    collector: str = Field("", max_length=60)
    every_minutes: int | None = Field(None, ge=1, le=525_600)
    cron: str = Field("", max_length=100, description="Five fields, in `zone`.")
    peak: Literal["", "day", "week"] = Field(
        "",
        description="Due at the busiest hour of the day or week that the history shows, for a collector; "
        "`every_minutes` is what it goes by meanwhile.",
    )
    zone: str = Field("", max_length=60, description="As in `Europe/Oslo`. Empty: that of the site.")
    blackouts: str = Field(
        "",
        max_length=4000,
        description="When nothing runs, a window a line: `sat,sun 22:00-04:00`, `2026-12-24 00:00 - 2026-12-27 00:00`.",
    )


class NewSchedule(ScheduleWish):
    """A schedule to be made."""

    team: str = Field("", max_length=80, description="Name or number of the team; needed in several.")


class RunUpload(Schema):
    """An upload that a run took in, and the current audits of what it holds."""

    upload: int
    state: Literal["waiting", "reading", "done", "failed"]
    error: str
    audits: list[int]


class RunMails(Schema):
    """Mails that tell of the audits of a run."""

    sent: int
    waiting: int
    failed: int


class RunRow(Schema):
    """A run, and everything that came of it so far."""

    id: int
    schedule: int
    system: int | None = Field(description="Null: a drop folder, whose exports say it.")
    due: datetime
    why: Literal["due", "now"]
    by: str | None = Field(description="Who asked for it.")
    state: Literal["waiting", "running", "done", "failed", "skipped"] = Field(description="Of the fetching alone.")
    stage: Stage = Field(description="How far it has come on the whole way to the audit.")
    says: str = Field(description="The stage in words.")
    told: str = Field(description="What came of it, or which blackout window skipped it.")
    error: str
    tries: int
    missed: int = Field(description="Times it was due before and did not run; this run makes up for them.")
    late_seconds: int
    begun: datetime | None
    finished: datetime | None
    uploads: list[RunUpload]
    mails: RunMails


class RunPage(Schema):
    """Some of the runs, newest first; `count`: how many there are."""

    count: int
    items: list[RunRow]


class RunsAsked(Schema):
    """The runs that were asked for; what becomes of them is at `location`."""

    runs: list[int]
    location: str


class ScheduleRow(ScheduleWish):
    """A schedule."""

    id: int
    team: str
    when: str = Field(description="In words.")
    paused: datetime | None
    next_due: datetime | None
    looked: datetime | None = Field(description="When its folder was last looked into.")
    troubled: datetime | None = Field(description="Since when it delivers nothing although it should.")
    trouble: str
    by: str | None
    created: datetime


class SchedulePage(Schema):
    """Some of the schedules, by team and name; `count`: how many there are."""

    count: int
    items: list[ScheduleRow]
