"""What the page of a finding shows: what it is, its chain of causes, evidence, course, changes, activity."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Q
from markupsafe import Markup

from advisor.accounts.models import User
from advisor.audits.models import Audit, Capture, Finding, LimitSetting
from advisor.audits.report.plan import WHENS
from advisor.audits.services import backtest
from advisor.audits.services.audit_page import Course, courses_of
from advisor.charts.curves import timeline
from advisor.charts.finding import Node, chain, multiple, scale_of
from advisor.charts.sized import sized
from advisor.core.access import tracked_of
from advisor.core.jinja import unit_of
from advisor.findings.models import FindingEvent, TrackedFinding
from advisor.findings.services import elsewhere
from advisor.findings.services.changes_seen import SEEN, by_clock, shown_at
from advisor.systems.models import System
from rules.finding import rounded
from rules.missing import parts_lacking

State = TrackedFinding.State
MOST_EVENTS, MOST_ELSEWHERE = 100, 20
MOST_COLUMNS, MOST_A_COLUMN = 4, 4
"""Of the chain of causes; what is left out stands in the list below it, as every finding of the chain does."""


@dataclass(frozen=True)
class Quoted:
    """One piece of evidence."""

    data: Mapping[str, Any]
    """As the contract prints it."""
    bar: Markup | None
    """The figure as a multiple of its limit; none without a limit."""


@dataclass(frozen=True)
class Made:
    """One change of the finding, as the plan has it."""

    data: Mapping[str, Any]
    due: str
    """When it is made, in words; empty where no step of the plan has it."""
    risk: str
    risk_why: str


@dataclass(frozen=True)
class Related:
    """A finding of the same audit that explains this one, or that this one explains."""

    title: str
    page: int | None
    """Number of its page."""


@dataclass(frozen=True)
class FindingPage:
    """Everything about one finding."""

    row: TrackedFinding
    data: Mapping[str, Any]
    """The finding as the contract prints it; empty where the audit that found it has gone."""
    audit: Audit | None
    captures: int
    """Captures since it was first seen."""
    chain: Markup | None
    causes: list[Related]
    effects: list[Related]
    evidence: list[Quoted]
    course: Markup | None
    changes: list[Made]
    events: list[FindingEvent]
    elsewhere: list[TrackedFinding]
    limited: bool
    """Whether it is gone, judged by limits of the rule that somebody set: that may be the limits' doing."""
    sharpen: dict[str, list[str]]
    """What would tell more of it: commands, each with what the output that was uploaded lacks, if any was."""
    tried: dict[str, int]
    """State → on how many systems the rule's finding has it after a change, among those that this person sees."""


@dataclass(frozen=True)
class LimitSet:
    """A limit that somebody set in place of the rule's own."""

    setting: LimitSetting
    undo: int | None
    """The trial whose saving can be undone; none where it was set otherwise, or changed since."""


def limits_of(system: System, names: Sequence[str]) -> dict[str, LimitSet]:
    """Which of these limits are not the rule's own for a system: its own, else the site's."""
    rows = LimitSetting.objects.filter(Q(system=None) | Q(system=system), name__in=names).select_related("by")
    by_scope: dict[bool, dict[str, LimitSetting]] = {True: {}, False: {}}
    for row in rows:
        by_scope[row.system_id is not None][row.name] = row
    own, site = by_scope[True], by_scope[False]
    undo = {**backtest.to_undo(None, site), **dict.fromkeys(own), **backtest.to_undo(system, own)} if rows else {}
    return {name: LimitSet(one, undo.get(name)) for name, one in {**site, **own}.items()}


def found(user: User, pk: int) -> TrackedFinding:
    """The finding, if this person may see it. Raises `TrackedFinding.DoesNotExist`."""
    rows = tracked_of(user).select_related("system__team", "owner", "state_by", "before")
    return rows.get(pk=pk)


def page_of(user: User, row: TrackedFinding) -> FindingPage:
    """Gather it, in a fixed number of queries."""
    finding = Finding.objects.filter(pk=row.finding_id or 0).select_related("audit__capture__upload").first()
    audit = finding.audit if finding else None
    data: dict[str, Any] = finding.data if finding else {}
    beside = _beside(audit) if audit else []
    drawn, causes, effects = _explained(row, beside)
    events = list(row.events.all()[:MOST_EVENTS])
    series = _course(row, finding) if finding else []
    return FindingPage(
        row=row,
        data=data,
        audit=audit,
        captures=Capture.objects.filter(system=row.system_id, taken__gte=row.first_seen).exclude(audit=None).count(),
        chain=drawn,
        causes=causes,
        effects=effects,
        evidence=_evidence(data.get("evidence", ())),
        course=_drawn(row, series, events),
        changes=_changes(data.get("changes", ()), audit.plan if audit else {}),
        events=events,
        elsewhere=list(elsewhere.others_of(user, row)[:MOST_ELSEWHERE]),
        limited=row.presence == TrackedFinding.Presence.GONE and _limited(row),
        sharpen=_sharpen(audit, row.rule) if audit else {},
        tried=elsewhere.tried(user, row.rule),
    )


def _sharpen(audit: Audit, rule: str) -> dict[str, list[str]]:
    lacks = parts_lacking(lack for verdict in audit.verdicts for lack in verdict["missing"])
    own = (lack["bring"] for verdict in audit.verdicts if verdict["rule"] == rule for lack in verdict["missing"])
    return {command: lacks.get(command, []) for command in own}


def _beside(audit: Audit) -> list[dict[str, Any]]:
    """All findings of the same audit, as light as the chain needs them."""
    columns = ("key", "title", "metric", "value", "unit", "limit", "data")
    return list(audit.findings.values(*columns))


def _explained(
    row: TrackedFinding, beside: Sequence[Mapping[str, Any]]
) -> tuple[Markup | None, list[Related], list[Related]]:
    """The chain as a picture, and its neighbours as links: what explains this finding, and what it explains."""
    by_key = {one["key"]: one for one in beside}
    explains = {
        key: [other for other in one["data"].get("explains") or () if other in by_key and other != key]
        for key, one in by_key.items()
    }
    causes = [key for key, others in explains.items() if row.key in others]
    effects = explains.get(row.key, [])
    if not causes and not effects:
        return None, [], []
    columns = {row.key: 0}
    for step, before in ((-1, causes), (-2, [k for k, o in explains.items() if any(c in o for c in causes)])):
        columns |= {key: step for key in before if key not in columns}
    for step, after in ((1, effects), (2, [key for one in effects for key in explains[one]])):
        columns |= {key: step for key in after if key not in columns}
    if max(columns.values()) - min(columns.values()) >= MOST_COLUMNS:
        columns = {key: place for key, place in columns.items() if place != 2}
    explained = {other for others in explains.values() for other in others}
    nodes, taken = [], dict.fromkeys(range(-2, 3), 0)
    for key in sorted(columns, key=lambda key: (columns[key], key != row.key)):
        taken[columns[key]] += 1
        if taken[columns[key]] <= MOST_A_COLUMN:
            one = by_key[key]
            said = ""
            if one["value"] is not None:
                told = f"{rounded(one['value'])} {unit_of(one['unit'], one['value'])}"
                said = f"{told}, limit {rounded(one['limit'])}"
            nodes.append(Node(key, one["title"], said, columns[key], key == row.key, key not in explained))
    edges = [(cause, effect) for cause in columns for effect in explains.get(cause, ()) if effect in columns]
    pages = dict(TrackedFinding.objects.filter(system=row.system_id, key__in=by_key).values_list("key", "pk"))
    links = [[Related(by_key[key]["title"], pages.get(key)) for key in keys] for keys in (causes, effects)]
    drawn = sized(lambda width: chain(nodes, edges, title="What explains what", width=width))
    return drawn, links[0], links[1]


def _evidence(items: Sequence[Mapping[str, Any]]) -> list[Quoted]:
    """All figures that were held against a limit on one scale."""
    held = [(one["value"], one["limit"]) for one in items if _is_held(one)]
    most = scale_of(held)
    return [
        Quoted(one, multiple(one["value"], one["limit"], most, unit=one["unit"], title=one["metric"]))
        if _is_held(one)
        else Quoted(one, None)
        for one in items
    ]


def _is_held(one: Mapping[str, Any]) -> bool:
    return isinstance(one["value"], int | float) and bool(one["limit"])


def _course(row: TrackedFinding, finding: Finding) -> Course:
    """Its figure over the captures up to the newest."""
    newest = Audit.objects.filter(pk=row.system.latest_id or 0).select_related("capture").first()
    return courses_of(newest, [finding]).get(finding.key, []) if newest else []


def _drawn(row: TrackedFinding, series: Course, events: Sequence[FindingEvent]) -> Markup | None:
    """The course as a picture, with the days on which its state changed; none of a single capture."""
    if len(series) < 2 or all(value is None for _, value in series):
        return None
    zoned = series[0][0].tzinfo is not None
    marks = [
        (by_clock(shown_at(event, row.proof), zoned=zoned), _word(event)) for event in events if event.kind == "state"
    ]
    return timeline(series, unit=row.unit, title=row.metric, limit=row.limit, events=sorted(marks))


def _word(event: FindingEvent) -> str:
    """What an entry of the activity tells, as a word beside a line."""
    if event.by_id is None and event.text.startswith(SEEN):
        return "change seen in force"
    return event.text.split("\n")[0].split(" until ")[0].split(":")[0].removesuffix(" it")


def _changes(changes: Sequence[Mapping[str, Any]], plan: Mapping[str, Any]) -> list[Made]:
    """Its changes, each with when the plan has it made and what that risks (from version 0.9.0 on)."""
    made = []
    for change in changes:
        step: Mapping[str, Any] = next(
            (one for one in plan.get("steps", ()) if change["key"] in one["change_keys"]), {}
        )
        risk = step.get("risk") or {}
        due = WHENS[step["when"]] if step.get("when") in WHENS else ""
        made.append(Made(change, due, risk.get("level", ""), risk.get("why", "")))
    return made


def _limited(row: TrackedFinding) -> bool:
    """Whether the newest audit judged by limits of the finding's rule that are not the rule's own."""
    limits = Audit.objects.filter(pk=row.system.latest_id or 0).values_list("limits", flat=True).first()
    return any(name.startswith(f"{row.rule}.") for name in limits or ())
