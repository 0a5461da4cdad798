"""The shapes of what the API takes and answers of systems and their captures."""

from datetime import date, datetime
from typing import Literal

from ninja import Schema
from pydantic import Field

from advisor.core.api import Number, SeverityName
from advisor.core.api_forms import Wish
from advisor.systems.services.snoozing import LONGEST_WHY

LOST = "Processors' worth of time lost on average, with or without a shown cause; null: not measured."
SHARE = "Of the processors that the account divides, 0 to 1; null: not measured."
WAITING = "Tasks that waited on average, by the account; null: not counted."


class SystemRow(Schema):
    """A system with what its newest audit found."""

    id: int
    name: str
    product: str
    team: str
    version: str | None
    platform: str | None
    processors: int | None
    expected_hours: int | None = Field(description="How often a capture is expected; null: nobody said.")
    overdue: bool = Field(description="A capture was expected by now; of a snoozed system none is.")
    not_audited_since: datetime | None = Field(description="Since when audits fail; null: they do not.")
    trouble: str | None = Field(description="Why, and what to do.")
    snoozed_until: date | None = Field(
        description="The last day on which its findings start no mail and no capture of it is expected; null: none."
    )
    snoozed_why: str | None = Field(description="The reason; null: it is not snoozed.")
    audit: int | None = Field(description="The newest audit.")
    taken: datetime | None = Field(description="The time of the newest capture.")
    severity: SeverityName | None = Field(description="The loudest finding that is not accepted; null: none.")
    counts: dict[str, int] = Field(description="Verdicts and findings by name.")
    accepted: dict[str, int] = Field(description="How many of these findings are accepted, by severity: not open.")
    processors_lost: float | None = Field(description=LOST)
    lost_share: float | None = Field(description=SHARE)
    waiting_tasks: float | None = Field(description=WAITING)


class SnoozeWish(Wish):
    """Until when a system is snoozed, and why."""

    until: date = Field(description="The last day, by the site's calendar.")
    why: str = Field(max_length=LONGEST_WHY, description="The reason stands beside the system.")


class FigureSeries(Schema):
    """One key figure over the captures that have it."""

    key: str
    label: str
    unit: str
    better: Literal["low", "high"] | None
    points: list[tuple[datetime, float]] = Field(description="Time of the capture and value, oldest first.")


class SystemWhole(SystemRow):
    """A system with its key figures."""

    created: datetime
    captures: int
    figures: list[FigureSeries]


class Interval(Schema):
    """As the export has it."""

    start: str | None = None
    end: str | None = None
    seconds: float | None = None


class KeyFigure(Schema):
    """One key figure of a capture."""

    key: str
    label: str
    unit: str
    value: float
    better: Literal["low", "high"] | None


class CaptureRow(Schema):
    """The facts of a system over an interval, and what was found in them."""

    id: int
    taken: datetime
    timed: bool = Field(description="Whether `taken` is the export's own time, not that of the upload.")
    interval: Interval
    version: str | None
    facts: int
    files: list[str]
    upload: int | None
    audit: int | None
    severity: SeverityName | None = Field(description="The loudest finding that is not accepted; null: none.")
    processors_lost: float | None = Field(description=LOST)
    lost_share: float | None = Field(description=SHARE)
    waiting_tasks: float | None = Field(description=WAITING)
    figures: list[KeyFigure]


class SystemPage(Schema):
    """Some of the systems asked for; `count`: how many there are."""

    count: int
    items: list[SystemRow]


class CapturePage(Schema):
    """Some of the captures, newest first; `count`: how many there are."""

    count: int
    items: list[CaptureRow]


class GroupRow(Schema):
    """A group of systems."""

    id: int
    name: str
    team: str
    systems: list[int]


class GroupPage(Schema):
    """Some of the groups, by team and name; `count`: how many there are."""

    count: int
    items: list[GroupRow]


class GroupWish(Schema):
    """What a group is to be."""

    name: str = Field(max_length=80)
    systems: list[Number] = Field([], max_length=10_000, description="Systems of its team.")


class NewGroup(GroupWish):
    """A group to be made."""

    team: str = Field("", max_length=80, description="Name or number of the team; needed in several.")
