"""What the page of an audit shows: findings with their causes, plots and evidence, what to collect, what was judged."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db.models import prefetch_related_objects
from markupsafe import Markup

from advisor.audits.models import Audit, Capture, Finding
from advisor.audits.report import account
from advisor.audits.report.account_picture import page_bar, picture, swatches
from advisor.audits.report.plan import PlanStep, do_marked, steps_of
from advisor.audits.services.collect_script import PRODUCTS, collect_scripts, requests_of
from advisor.audits.services.compared_page import Within, within
from advisor.audits.services.contract import audit_json
from advisor.charts import svg
from advisor.charts.curves import timeline
from advisor.charts.fluid import limit_scale
from advisor.findings.models import TrackedFinding
from advisor.findings.services.pages import with_state
from advisor.systems.services.history import own_time
from advisor.systems.services.overview import COMPARED, Difference, difference
from rules.laws.usl import law
from rules.missing import parts_lacking
from rules.ranking import causes_of

QUIET = ("untrusted", "broken", "unknown")
MOST_POINTS = 60
"""Captures in the plot of a finding."""
WIDTH = 640
"""px of such a plot."""
TREND_WIDTH, TREND_HEIGHT = 204, 44
"""px of the line of what is lost."""
SAID_OF_SCRIPT = ("Takes ", "Changes nothing", "What it costs ", "What each part costs ", "Needs ", "Which privilege ")
"""How the sentences begin in which a script that collects says its duration, its cost and the rights it needs."""
Course = list[tuple[datetime, float | None]]
"""A figure over captures, oldest first; `None` where the finding did not stand."""


@dataclass
class Node:
    """One finding with the findings it explains folded under it."""

    finding: Finding
    plot: Markup | None
    new: bool
    course: bool
    """Whether the plot is one over captures; else the evidence says the same."""
    points: Course = field(default_factory=list)
    """That course."""
    symptoms: list["Node"] = field(default_factory=list)

    def over_captures(self, events: Sequence[tuple[datetime, str]] = ()) -> Markup:
        """The course as pages draw it, as wide as their place, with changes as vertical lines."""
        one = self.finding
        return timeline(self.points, unit=one.unit, title=one.metric, limit=one.limit, events=events)

    @property
    def data(self) -> dict[str, Any]:
        """The finding as the contract has it."""
        data: dict[str, Any] = self.finding.data
        return data

    @property
    def evidence(self) -> list[tuple[dict[str, Any], Markup | None]]:
        """Each figure, with its picture on the one scale of the finding where it is held against a limit above 0."""
        multiples = [_multiple(one) for one in self.data["evidence"]]
        most = 1.1 * max((1.0, *(one for one in multiples if one is not None)))
        return [
            (one, None if times is None else _limit_scale(one, most))
            for one, times in zip(self.data["evidence"], multiples, strict=True)
        ]


def _multiple(evidence: Mapping[str, Any]) -> float | None:
    """How many times its limit a figure is; `None` where a scale from zero does not hold both."""
    value, limit = evidence["value"], evidence["limit"]
    if not isinstance(value, int | float) or not isinstance(limit, int | float) or value < 0 or limit <= 0:
        return None
    return float(value / limit)


def _limit_scale(evidence: Mapping[str, Any], most: float) -> Markup:
    return limit_scale(evidence["value"], evidence["limit"], most=most, unit=evidence["unit"], title=evidence["metric"])


@dataclass(frozen=True)
class CollectShown:
    """One script that collects what the audit lacks."""

    script: str
    said: tuple[str, ...]
    """What it says of its duration, its cost and the rights it needs, a sentence each."""


@dataclass(frozen=True)
class Trend:
    """What was lost of the capacity, capture by capture up to this one."""

    line: Markup
    captures: int
    """In which it was measured."""
    first: float
    """Share lost in the first of them, 0 to 1."""
    since: str
    """When that one was taken."""
    last: float


@dataclass(frozen=True)
class AccountShown:
    """Where the capacity went, in one currency."""

    heading: str
    unit: str
    """What its amounts are called."""
    rows: list[tuple[account.Row, Markup]]
    """Each with the colour it has in the picture."""
    remarks: list[str]
    bar: Markup
    """The picture beside which `rows` are its legend; empty where nothing has a length."""
    printed: Markup
    """With its legend, where no table stands beside it."""


@dataclass
class AuditPage:
    """Everything about one audit."""

    audit: Audit
    findings: list[Finding]
    roots: list[Node]
    since: Difference | None
    before: Capture | None
    titles: dict[str, str]
    """Of findings of the capture before that are none of this one, by their keys."""
    clean: list[dict[str, Any]]
    """In order by the rules' own limits."""
    by_own_limits: list[dict[str, Any]]
    """Without a finding by limits that the site or the system set: that is not in order, somebody accepts it."""
    quiet: list[dict[str, Any]]
    not_applicable: list[dict[str, Any]]
    bring: dict[str, list[str]]
    """Commands for the rules that could not judge."""
    lacks: dict[str, list[str]]
    """Commands whose output was uploaded, each with what that output lacks."""
    sharpen: dict[str, list[str]]
    """Commands for rules that fired and could say more."""
    laws: list[tuple[dict[str, Any], Markup | None]]
    comparisons: list[Within]
    """Before and after, where one file holds both sides."""
    accounts: list[AccountShown]
    """Empty for audits before version 0.9.0, and where no export tells."""
    more_accounts: list[AccountShown]
    """Of a table of measured runs each run has one; of a day its busiest stretch, where that is like the mean."""
    plan: list[PlanStep]
    do: list[dict[str, Any]]
    """What to do of the summary, with marks of what is accepted."""
    cost: dict[str, str]
    """Key of a finding → what the account books on it."""
    counted_in: dict[str, int]
    """Key of a finding → number of the finding its cost is counted in."""
    numbers: dict[str, int]
    """Key of a finding → its number on the page."""

    @property
    def summary(self) -> dict[str, Any]:
        """The verdict, what to do and what to collect; of audits before version 0.9.0 empty."""
        summary: dict[str, Any] = self.audit.summary
        return summary

    @property
    def nodes(self) -> list[Node]:
        """Every finding in the order of the audit: an effect comes after its cause."""
        found, waiting = [], list(self.roots)
        while waiting:
            node = waiting.pop()
            found.append(node)
            waiting += node.symptoms
        return sorted(found, key=lambda node: node.finding.number)

    def effects_of(self, key: str) -> list[int]:
        """The numbers of the findings that this one explains."""
        explained = next((one.data["explains"] for one in self.findings if one.data["key"] == key), ())
        return sorted(self.numbers[one] for one in explained if one in self.numbers and one != key)

    def causes_of(self, key: str) -> list[int]:
        """The numbers of the findings that explain this one."""
        causes = (one.data for one in self.findings if key in one.data["explains"])
        return [self.numbers[one["key"]] for one in causes if one["key"] != key]


def page_of(audit: Audit, followed: Mapping[str, TrackedFinding] | None = None) -> AuditPage:
    """Gather it, in a fixed number of queries; `followed`: what is followed of its findings, by their keys."""
    rows = followed or {}
    prefetch_related_objects([audit], "findings")
    findings = list(audit.findings.all())
    before = _before(audit.capture)
    since = difference(before.audit, audit) if before and before.audit else None
    verdicts, data = audit.verdicts, [finding.data for finding in findings]
    product = audit.system.product
    numbers = {finding.data["key"]: finding.number + 1 for finding in findings}
    shown = account.shown(audit.account)
    others = [one for one in audit.account if one not in shown]
    cost, counted_in = account.costs(audit.account, data, product)
    clean = [verdict for verdict in verdicts if verdict["verdict"] == "clean"]
    limited = {name.rpartition(".")[0] for name in audit.limits}
    courses = courses_of(audit, findings)
    stated = [with_state(one, rows.get(one["key"][:400])) for one in data]
    steps = steps_of(audit.plan, stated)
    return AuditPage(
        audit,
        findings,
        _trees(findings, courses, set(since.new) if since else set()),
        since,
        before,
        _titles(before, since, set(numbers)),
        clean=[verdict for verdict in clean if verdict["rule"] not in limited],
        by_own_limits=[verdict for verdict in clean if verdict["rule"] in limited],
        quiet=sorted(
            (verdict for verdict in verdicts if verdict["verdict"] in QUIET), key=lambda v: QUIET.index(v["verdict"])
        ),
        not_applicable=[verdict for verdict in verdicts if verdict["verdict"] == "not-applicable"],
        bring=bring_of(verdict for verdict in verdicts if verdict["verdict"] in QUIET),
        lacks=parts_lacking(lack for verdict in verdicts for lack in verdict["missing"]),
        sharpen=bring_of(verdict for verdict in verdicts if verdict["verdict"] not in QUIET),
        laws=[(one, _law_plot(one)) for one in audit.laws],
        comparisons=within(audit.comparisons),
        accounts=[_account(one, numbers, product, f"account{n}") for n, one in enumerate(shown, 1)],
        more_accounts=[_account(one, numbers, product, f"more-account{n}") for n, one in enumerate(others, 1)],
        plan=steps,
        do=do_marked(audit.summary.get("do", ()), steps, stated),
        cost=cost,
        counted_in=counted_in,
        numbers=numbers,
    )


def collect_shown(audit: Audit) -> CollectShown | None:
    """The script for what this audit says to collect; `None` where it lacks nothing, or none is written for it."""
    product = audit.system.product
    if product not in PRODUCTS:
        return None
    prefetch_related_objects([audit], "findings")
    requests = requests_of(audit_json(audit, inputs=False), product)
    if not any(one.commands for one in requests):
        return None
    script = collect_scripts(requests)
    return CollectShown(script, tuple(_said_of(script)))


def _said_of(script: str) -> list[str]:
    """The sentences of the comment on top of a script that say what running it means."""
    head: list[str] = []
    for line in script.splitlines():
        comment = re.fullmatch(r"(?:--|\$!|/\*)(?: (.*?))?(?: ?\*/)?", line)
        if comment is None:
            break
        text = comment[1] or ""
        head.append("\n" if text.startswith(" ") else text)  # a command between two sentences
    sentences = re.split(r"(?<=\.)\s+(?=[A-Z])|\n", " ".join(head))
    return [one.strip() for one in sentences if one.strip().startswith(SAID_OF_SCRIPT)]


def trend_of(audit: Audit) -> Trend | None:
    """What was lost over the captures up to this one, at most `MOST_POINTS`; `None` with fewer than two measured."""
    if not audit.capture.timed:
        return None
    captures = Capture.objects.filter(system=audit.system_id, taken__lte=audit.capture.taken, timed=True)
    newest = captures.exclude(audit=None).exclude(pk=audit.capture_id).order_by("-taken", "-id")
    fields = ("taken", "interval", "audit__processors_lost", "audit__capacity")
    found = [
        (own_time(taken, True, interval), lost / capacity)
        for taken, interval, lost, capacity in newest.values_list(*fields)[: MOST_POINTS - 1]
        if lost is not None and capacity
    ][::-1]
    if not found or audit.lost_share is None:
        return None
    shares = [share for _, share in found] + [audit.lost_share]
    line = svg.sparkline(
        [100 * share for share in shares],
        width=TREND_WIDTH,
        height=TREND_HEIGHT,
        title=f"Capacity lost over {len(shares)} captures, from {100 * shares[0]:.0f} % to {100 * shares[-1]:.0f} %",
        span=(0.0, 0.0),
    )
    return Trend(line, len(shares), shares[0], f"{found[0][0]:%Y-%m-%d}", audit.lost_share)


def _account(one: Mapping[str, Any], numbers: dict[str, int], product: str, name: str) -> AccountShown:
    rows = account.rows(one, numbers)
    return AccountShown(
        heading=account.heading(one, product),
        unit=account.unit(one, product),
        rows=list(zip(rows, swatches(rows), strict=True)),
        remarks=one["remarks"],
        bar=page_bar(one, rows, product, name=name),
        printed=picture(one, rows, product),
    )


def _before(capture: Capture) -> Capture | None:
    """The capture of the same system before this one."""
    if not capture.timed:
        return None
    earlier = Capture.objects.filter(capture.earlier(), system=capture.system_id, timed=True).exclude(audit=None)
    return (
        earlier.select_related("audit")
        .only("taken", *(f"audit__{name}" for name in COMPARED))
        .order_by("-taken", "-id")
        .first()
    )


def _titles(before: Capture | None, since: Difference | None, here: set[str]) -> dict[str, str]:
    """What the findings say that stood in the capture before and not in this one, by their keys."""
    if before is None or before.audit is None or not since:
        return {}
    left = {key[:400] for key in (*since.gone, *since.not_judged, *since.limits) if key not in here}
    found = before.audit.findings.filter(key__in=left) if left else Finding.objects.none()
    return dict(found.values_list("key", "title"))


def _trees(findings: Sequence[Finding], courses: Mapping[str, Course], new: set[str]) -> list[Node]:
    """Fold each explained finding under the first one that explains it; a ring of causes has no root and stays flat.

    Of each finding the first figure is drawn, where it has one: over the captures, or beside its limit.
    """
    nodes = {
        f.key: Node(
            f,
            _plot(f, courses[f.key]) if f.key in courses else None,
            f.key in new,
            _moves(courses.get(f.key)),
            courses.get(f.key, []),
        )
        for f in findings
    }
    causes = causes_of((one.key, one.data["explains"]) for one in findings)
    roots: list[Node] = []
    placed: dict[str, str] = {}
    for key, node in nodes.items():
        cause = next((c for c in causes.get(key, ()) if not _under(c, key, placed)), None)
        if cause is None:
            roots.append(node)
        else:
            placed[key] = cause
            nodes[cause].symptoms.append(node)
    return roots


def _under(key: str, ancestor: str, placed: dict[str, str]) -> bool:
    """Whether `key` is already folded somewhere under `ancestor`."""
    while key in placed:
        key = placed[key]
        if key == ancestor:
            return True
    return False


def courses_of(audit: Audit, findings: Iterable[Finding]) -> dict[str, Course]:
    """The first figure of each finding that has one, by the finding's key, over the captures up to this one."""
    with_figure = [finding for finding in findings if finding.value is not None]
    times = _times(audit) if with_figure else []
    if len(times) < 2:
        return {finding.key: [] for finding in with_figure}
    at: dict[str, dict[int, float | None]] = {finding.key: {} for finding in with_figure}
    stood = Finding.objects.filter(audit__in=[pk for _, pk in times], key__in=list(at))
    held = {finding.key: (finding.metric, finding.unit) for finding in with_figure}
    for key, pk, value, metric, unit in stood.order_by().values_list("key", "audit_id", "value", "metric", "unit"):
        if held[key] == (metric, unit):  # of another audit another figure may be the first
            at[key][pk] = value
    return {key: [(time, found.get(pk)) for time, pk in times] for key, found in at.items()}


def _times(audit: Audit) -> list[tuple[datetime, int]]:
    """When the captures up to this one were taken, oldest first, each with its current audit.

    Captures without a time of their own are no course.
    """
    if not audit.capture.timed:
        return []
    captures = Capture.objects.filter(system=audit.system_id, taken__lte=audit.capture.taken, timed=True)
    newest = captures.exclude(audit=None).order_by("-taken", "-id").values_list("taken", "interval", "audit_id")
    found = [(own_time(taken, True, interval), pk) for taken, interval, pk in newest[:MOST_POINTS] if pk is not None]
    return found[::-1]


def _moves(course: Course | None) -> bool:
    """Whether there is more than one figure to draw a line through."""
    return sum(value is not None for _, value in course or ()) > 1


def _plot(finding: Finding, course: Course) -> Markup:
    if _moves(course):
        return svg.history(
            course, unit=finding.unit, title=finding.metric, limit=finding.limit, width=WIDTH, height=140
        )
    return svg.bullet(finding.value or 0.0, finding.limit, unit=finding.unit, title=finding.metric, width=480)


def _law_plot(one: dict[str, Any]) -> Markup | None:
    """The measured points of a load series with the fitted curve, where there is one that may be used."""
    points = [(load, rate) for load, rate in one.get("points", [])]
    if not points:
        return None
    alpha, beta, gamma = one["alpha"], one["beta"], one["gamma"]
    cap = one.get("cap")  # older audits have no such key
    used = one["usable"] and None not in (alpha, beta, gamma)  # a law nothing is read from is not drawn either
    peak = (one["peak_load"], one["peak_rate"]) if used and one["peak_load"] is not None else None
    return svg.law(
        points,
        (lambda load: law(alpha, beta, gamma, load, cap)) if used else None,
        x_name=one["load_name"].replace("_", " "),
        y_name=one["rate_name"].replace("_", " "),
        title=f"{one['file']}: measured rates and the fitted law" if used else f"{one['file']}: measured rates",
        peak=peak,
        cap=cap if used else None,
        width=WIDTH,
    )


def bring_of(verdicts: Iterable[dict[str, Any]]) -> dict[str, list[str]]:
    """The commands whose output would let more be judged, each with the rules that want it."""
    found: dict[str, list[str]] = {}
    for verdict in verdicts:
        for lack in verdict["missing"]:
            rules = found.setdefault(lack["bring"], [])
            if verdict["rule"] not in rules:
                rules.append(verdict["rule"])
    return found
