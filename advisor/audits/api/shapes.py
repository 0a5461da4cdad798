"""The shapes of what the API takes and answers of audits, limits and rules."""

from datetime import datetime
from typing import Any, Literal

from ninja import Schema
from pydantic import ConfigDict, Field


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


class FindingRow(Schema):
    """A finding, and where it was found; `finding` is as the contract prints it."""

    id: int
    system: int
    system_name: str
    audit: int
    taken: datetime
    finding: dict[str, Any]


class FindingPage(Schema):
    """Some of the findings asked for, newest audit first; `count`: how many there are."""

    count: int
    items: list[FindingRow]


class Again(Schema):
    """A capture that is being audited again; its newest audit will be the one of its row at `location`."""

    capture: int
    location: str


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
