"""The shapes of what the API takes and answers of findings as work."""

from datetime import date, datetime
from typing import Literal

from ninja import Schema
from pydantic import Field

from advisor.core.api import SeverityName
from advisor.findings.services.states import LONGEST_COMMENT, LONGEST_WHY, MOST_BACK_IF

StateName = Literal["open", "accepted", "planned", "change-made", "proven", "no-effect", "worse"]


class FindingEvent(Schema):
    """One entry of a finding's activity."""

    at: datetime
    who: str | None = Field(description="Null: a capture showed it.")
    kind: str = Field(description="`seen`, `gone`, `back`, `state`, `owner`, `comment`.")
    text: str
    value: float | None = Field(description="The figure at that time.")


class FollowedFinding(Schema):
    """A finding of a system over all its captures."""

    id: int
    system: int
    system_name: str
    key: str
    rule: str
    title: str
    severity: SeverityName
    presence: Literal["standing", "gone", "not-judged"] = Field(description="What the newest capture says of it.")
    value: float | None
    unit: str
    limit: float | None
    first_seen: datetime
    last_seen: datetime
    seen: int = Field(description="Captures that show it.")
    state: StateName
    state_since: datetime
    state_until: date | None
    state_why: str
    owner: str | None
    back_if: float = Field(description="Worse by more than this share: an accepted one is open again.")
    events: list[FindingEvent] = Field(description="Newest first, at most a hundred.")


class NewState(Schema):
    """What a finding is to be; `proven`, `no-effect` and `worse` captures alone say."""

    state: Literal["open", "accepted", "planned", "change-made"]
    until: date | None = Field(None, description="Of `accepted`: its last day.")
    why: str = Field("", max_length=LONGEST_WHY, description="`accepted` needs a reason.")
    back_if: float = Field(0.25, ge=0, le=MOST_BACK_IF, allow_inf_nan=False)


class NewOwner(Schema):
    """Who sees to it: the name of somebody who may work for its team; null: nobody."""

    owner: str | None = Field(max_length=150)


class NewComment(Schema):
    """A comment."""

    text: str = Field(max_length=LONGEST_COMMENT)
