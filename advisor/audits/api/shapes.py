"""The shapes of what the API takes and answers of audits, limits and rules."""

from datetime import datetime
from typing import Any, Literal

from ninja import Schema
from pydantic import ConfigDict, Field


class OpenAmount(Schema):
    """A part of an account without a cause."""

    amount: float | None
    low: float
    high: float
    why: str
    collect: str = Field(description="What would tell more.")
    bound: bool = Field(False, description="Not measured itself: at most `amount`.")


class AccountLoss(Schema):
    """What went to one cause."""

    to: str | None = Field(description="Key of the finding that it is booked to; null: none speaks of it.")
    what: str
    amount: float | None = Field(description="Null: only an upper end is known, `high`.")
    low: float
    high: float
    file: str
    lines: tuple[int, int]
    seen_in: str | None = Field(None, description="Key of the finding that measures it, which `to` may cause.")
    part_of: Literal["undivided"] | None = Field(
        None, description="Only an upper end is known, and `undivided` has it already: one of its parts."
    )


class ToldByExport(Schema):
    """What one export says."""

    by: str
    percent: float = Field(description="Of the time of all processors.")
    file: str
    lines: tuple[int, int]


class Conflict(Schema):
    """Two exports of the same time that tell the same thing differently."""

    what: str
    used: ToldByExport
    other: ToldByExport
    why: str = Field(description="Why the account uses that one.")


class Account(Schema):
    """Where the capacity went, in one currency; work, idle, what is lost and what is open add up to it."""

    currency: Literal["processors", "waiting_tasks"]
    span: Literal["mean", "busiest"]
    capacity: float | None = Field(description="Processors, or tasks that waited or ran; null: not known.")
    idle: float | None
    work: float | None
    work_low: float | None = None
    work_high: float | None = Field(
        None, description="Above `work` where bounds are taken out of it: so much work at least."
    )
    lost: list[AccountLoss]
    unexplained: OpenAmount | None = Field(description="Lost, cause not shown.")
    undivided: OpenAmount | None = Field(description="Work or loss: is not known from these exports.")
    remarks: list[str]
    run: str | None = Field(None, description="What a measured run is called; null: the capture itself.")
    test: bool = Field(False, description="A run of a test: what it lost the system does not lose now.")
    conflict: Conflict | None = Field(None, description="Another export tells it differently.")


class ToDo(Schema):
    """One change of the plan, or what a finding asks for that no setting does."""

    step: int | None
    title: str
    target: str
    before: float | str | None = Field(alias="from")
    after: float | str | None = Field(alias="to")
    when: Literal["now", "restart", "reboot", "outage", "investigate"]
    effect: str
    undo: str
    finding: str
    risk: str = ""
    after_step: int | None = Field(None, description="Number of the step that it comes after, made with that one.")


class ToCollect(Schema):
    """One export that would settle most of what is open."""

    command: str
    settles: list[str] = Field(description="Ids of rules.")


class Summary(Schema):
    """What to read first: the verdict, at most five things to do, at most three to collect."""

    verdict: str
    do: list[ToDo]
    collect: list[ToCollect]


class AuditedCapture(Schema):
    """One system over one interval; more fields are as the contract has them."""

    model_config = ConfigDict(extra="allow")
    system: dict[str, Any]
    interval: dict[str, Any]
    cluster: str | None = Field(None, description="Name of the one of `clusters` that it is a node of.")
    summary: Summary | None = Field(None, description="Not there in audits of before version 0.9.0.")
    account: list[Account] = Field(description="Empty where the exports allow none.")
    verdicts: list[dict[str, Any]]
    findings: list[dict[str, Any]]
    models: list[dict[str, Any]]
    comparisons: list[dict[str, Any]]
    plan: dict[str, Any]


class Cluster(Schema):
    """The nodes of a cluster that were audited together, as one."""

    name: str
    nodes: list[str]
    captures: list[int] = Field(description="Places of its nodes among `captures`, from 0 on.")
    start: str | None
    account: list[Account]
    plan: dict[str, Any]
    summary: Summary
    remarks: list[str] = Field(description="Which accounts it does not have, and why.")
    placement: dict[str, Any] | None = Field(
        None, description="Who is to master the locks, and what each node does today and afterwards."
    )


class AuditRun(Schema):
    """`audit/1` of the contract, as `manage.py audit --format json` prints it. It only grows."""

    model_config = ConfigDict(extra="allow")
    contract: Literal["audit/1"]
    inputs: list[dict[str, Any]]
    captures: list[AuditedCapture]
    clusters: list[Cluster]


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
    """A finding, and where it was found; `finding` is as the contract prints it, with its state of now."""

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
    asks: dict[str, Any]
    limits: list[dict[str, Any]]
    sources: list[str]


class RuleBook(Schema):
    """`rules/1`: every rule."""

    contract: Literal["rules/1"]
    rules: list[Rule]
