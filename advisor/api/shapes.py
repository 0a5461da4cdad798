"""The shapes of what the API takes and answers, for its OpenAPI document."""

from datetime import datetime
from typing import Any, Literal

from ninja import Schema
from pydantic import ConfigDict, Field

from rules.finding import Severity

SeverityName = Literal["note", "advice", "warning", "critical"]
WORDS = (None, *(level.label for level in Severity))
"""The word for each level 0 to 4; none for 0: no finding."""


class Error(Schema):
    """What went wrong, and what to do."""

    error: str
    remedy: str


class UploadState(Schema):
    """How far an upload has come. `done`: its audits are at `audit`; `failed`: `error` says why."""

    upload: int
    state: Literal["waiting", "reading", "done", "failed"]
    location: str
    audit: str
    new: bool | None = Field(None, description="False: these files were brought before; this is that upload.")


class NotRead(Error):
    """An upload of which there is no audit."""

    upload: int
    state: Literal["waiting", "reading", "failed"]
    location: str


class UploadWhole(UploadState):
    """An upload with its files and what became of them."""

    error: str
    team: str
    by: str | None
    at: datetime
    finished: datetime | None
    total_bytes: int
    read_bytes: int
    bytes_dropped: datetime | None = Field(description="When retention took the bytes away; the audits stay.")
    files: list[str]
    audits: list[int] = Field(description="The current audits of its captures.")


class AuditRun(Schema):
    """`audit/1` of the contract, as `manage.py audit --format json` prints it. It only grows."""

    model_config = ConfigDict(extra="allow")
    contract: Literal["audit/1"]
    inputs: list[dict[str, Any]]
    captures: list[dict[str, Any]]


class ComparisonRun(Schema):
    """`compare/1` of the contract, as `manage.py compare --format json` prints it. It only grows."""

    model_config = ConfigDict(extra="allow")
    contract: Literal["compare/1"]
    comparable: dict[str, Any]
    unit_of_work: str | None
    metrics: list[dict[str, Any]]
    findings: dict[str, list[str]]
    verdict: Literal["improved", "no-effect", "worse", "mixed", "not-comparable"]
    settings: list[dict[str, Any]] = Field(description="Those that differ, and the finding that advised each.")
    why: str


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
    overdue: bool
    not_audited_since: datetime | None = Field(description="Since when audits fail; null: they do not.")
    trouble: str | None = Field(description="Why, and what to do.")
    audit: int | None = Field(description="The newest audit.")
    taken: datetime | None = Field(description="The time of the newest capture.")
    severity: SeverityName | None = Field(description="The loudest finding; null: none.")
    counts: dict[str, int] = Field(description="Verdicts and findings by name.")
    processors_lost: float | None


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
    severity: SeverityName | None
    processors_lost: float | None
    figures: list[KeyFigure]


class FindingRow(Schema):
    """A finding, and where it was found; `finding` is as the contract prints it."""

    id: int
    system: int
    system_name: str
    audit: int
    taken: datetime
    finding: dict[str, Any]


class Again(Schema):
    """A capture that is being audited again; its newest audit will be the one of its row at `location`."""

    capture: int
    location: str


class SystemPage(Schema):
    """Some of the systems asked for; `count`: how many there are."""

    count: int
    items: list[SystemRow]


class CapturePage(Schema):
    """Some of the captures, newest first; `count`: how many there are."""

    count: int
    items: list[CaptureRow]


class FindingPage(Schema):
    """Some of the findings asked for, newest audit first; `count`: how many there are."""

    count: int
    items: list[FindingRow]


class Limit(Schema):
    """A limit as it is now: its value, and who set it to that."""

    name: str = Field(description="`rule.limit`, as in `ase/some_rule.some_limit`.")
    value: float
    set_for: Literal["system", "site"] | None = Field(description="Null: the rule's own.")
    why: str
    by: str | None
    at: datetime | None
    default: float
    unit: str | None
    low: float
    high: float | None
    origin: str


class NewLimit(Schema):
    """What a limit is set to."""

    value: float = Field(allow_inf_nan=False)
    why: str = Field("", max_length=300)


class Rule(Schema):
    """One rule, as `manage.py rules --format json` prints it."""

    model_config = ConfigDict(extra="allow")
    rule: str
    title: str
    finds: str
    why: str
    do: str
    ignore: str
    needs: list[dict[str, Any]]
    limits: list[dict[str, Any]]
    sources: list[str]


class RuleBook(Schema):
    """`rules/1`: every rule."""

    contract: Literal["rules/1"]
    rules: list[Rule]


class TokenRow(Schema):
    """A token of one's own."""

    id: int
    name: str
    hint: str = Field(description="The first letters of its secret.")
    scopes: list[str]
    created: datetime
    expires: datetime | None
    used: datetime | None
    revoked: datetime | None
    live: bool


class TokenMade(TokenRow):
    """A new token with its secret: it is shown this once."""

    secret: str


class NewToken(Schema):
    """What a token is to be."""

    name: str = Field(max_length=80)
    scopes: list[str]
    expires: datetime | None = Field(None, description="Without a time zone: in that of the site. Null: never.")


ERRORS: dict[int, Any] = {400: Error, 401: Error, 403: Error, 404: Error}
