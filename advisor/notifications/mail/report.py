"""The report on an audit, for the DBA who reads it on a telephone at night: what is lost, what changed, what to do.

It opens with the summary and the account, says how the audit differs from the one this recipient knows, and names the
first findings at their level; the rest stands behind links. The templates `notifications/email/report/` show its
`Contents`.
"""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

from celery.exceptions import SoftTimeLimitExceeded
from django.db import Error
from django.utils.http import urlencode

from advisor.audits.models import Audit, Capture, Finding
from advisor.audits.report import account
from advisor.audits.report.account_picture import picture
from advisor.audits.report.findings import figure_words
from advisor.audits.report.placement import Placement, placement_of
from advisor.audits.report.plan import do_marked, due, steps_of, with_accepted
from advisor.audits.report.render import PRODUCT_NAMES, QUIET
from advisor.audits.services.audit_page import bring_of
from advisor.audits.services.compared_page import VERDICTS, Row, rows_of
from advisor.audits.services.comparing import compared, sides_of
from advisor.charts.compared import ratio_words
from advisor.core import jinja
from advisor.core.models import Site
from advisor.core.records import Refused as Incomparable
from advisor.findings.services.pages import accepted_in, cluster_states, open_counts, severity_now, verdict_now
from advisor.notifications.mail.message import (
    LEVELS,
    LONGEST_NAME,
    Enclosed,
    File,
    ReportMessage,
    address,
    cut,
    one_line,
    thread_of,
    write,
)
from advisor.notifications.mail.pictures import can_write, draw
from advisor.notifications.mail.scripts import files
from advisor.notifications.models import Recipient
from advisor.systems.services.history import own_time, when
from advisor.systems.services.overview import Difference, difference
from advisor.uploads.services.uploads import file_part
from collectors.facts import is_command
from rules.missing import parts_lacking
from rules.titles import in_words

LOG = logging.getLogger(__name__)
WORDS = {"limits": "by another limit", "not_judged": "no longer judged", "judged_again": "judged again"}
"""How a difference is called, where that is another word than its name."""
MOST_TOLD = 3
"""Findings told, each with its first figure."""
MOST_ACCEPTED = 5
MOST_ACCOUNTS = 2
MOST_CHANGES = 12
"""Findings named under each word of what changed."""
MOST_TO_BRING = 3
MOST_LAWS = 2
"""Load series told in words."""
PICTURE = 440
"""px of the account: its words stay legible where a telephone shows it at two thirds."""
MOST_FIGURES = 3
MOST_WITHIN = 4
"""Comparisons of tables that are told in words."""
MOST_KEYS = 3
"""Findings named as gone, and as new; their titles stand above."""


@dataclass
class Since(Difference):
    """What a recipient is told to have changed, at their level."""

    judged_again: list[str] = field(default_factory=list)
    """Found now; before, their rules could not judge. Whether the server changed nobody knows."""

    def __str__(self) -> str:
        found = ((WORDS.get(word, word), keys) for word, keys in vars(self).items() if word != "still")
        return ", ".join(f"{len(keys)} {word}" for word, keys in found if keys)


@dataclass(frozen=True)
class Told:
    """One finding as a letter tells of it."""

    title: str
    severity: int
    address: str
    """Where it stands on the page; empty for one that has gone."""
    state: str = ""
    """`new`, `worse`, `better`, `judged again`; empty: as before, or nothing is known from before."""
    was: int = 0
    """Its severity before, where it is another one."""
    number: int = 0
    """Its number on the page; 0 for one that has gone."""
    figure: str = ""
    """Its first figure with the limit, and what it costs by the account."""
    key: str = ""


@dataclass(frozen=True)
class Measured:
    """A figure that decides a comparison, as a letter tells it."""

    name: str
    """With its unit of work."""
    before: str
    after: str
    ratio: str
    """After ÷ before, with its interval where noise was measured."""
    noise: str
    """`no noise measured`; empty where it was."""
    words: str
    """`better`, `worse`, `within noise`."""


@dataclass(frozen=True)
class BeforeAndAfter:
    """How this capture compares with the one it is told against."""

    heading: str
    figures: Sequence[Measured]
    """Those that decide, the first few."""
    more: int
    """Further figures that decide."""
    findings: Sequence[tuple[str, Sequence[str], int]]
    """For `gone` and `new` the titles of findings at the recipient's level, and how many more there are."""
    address: str

    @property
    def moved(self) -> bool:
        """Whether a figure that decides is another one, by more than noise."""
        return any(one.before != one.after and one.words != "within noise" for one in self.figures)


@dataclass(frozen=True)
class Accounted:
    """Where the capacity went, in one currency."""

    key: str
    """Of its picture."""
    heading: str
    rows: Sequence[account.Row]
    data: Mapping[str, Any]


@dataclass(frozen=True)
class Contents:
    """What a report tells."""

    audit: Audit
    when: str
    """The time of the capture and the length of its interval."""
    before: str
    """When the capture was taken that this one is compared with; empty: there is none."""
    summary: str
    """What changed, in numbers; empty where nothing did or there is nothing to compare with."""
    changes: Sequence[tuple[str, Sequence[Told], int]]
    """For each word (`new`, `worse`, …) the findings, and how many more there are."""
    findings: Sequence[Told]
    """The first at the recipient's level, in the order of the page."""
    more: int
    """Further findings at the recipient's level."""
    accepted: Sequence[str]
    """The first that are accepted at the recipient's level: title, until when, and why."""
    more_accepted: int
    below: int
    """Findings below the recipient's level."""
    bring: Mapping[str, Sequence[str]]
    """What to collect next, each with the rules that it settles."""
    lacks: Mapping[str, Sequence[str]]
    """What the output that was uploaded of such a command lacks."""
    more_to_bring: int
    judged: int
    in_order: int
    by_own_limits: int
    """Rules without a finding by limits that the site or the system set: not in order, somebody accepts it."""
    not_judged: int
    address: str
    after_trouble: str = ""
    first: bool = False
    """Whether no capture of the system was audited before."""
    verdict: str = ""
    """The summary's sentence; empty for an audit before version 0.9.0."""
    loss: str = ""
    """What is lost, for a subject; empty where the account makes nothing of it."""
    lost_before: str = ""
    lost_now: str = ""
    """Processors lost in the audit told before and in this one, where both tell and differ."""
    accounts: Sequence[Accounted] = ()
    do: Sequence[Mapping[str, Any]] = ()
    """What to do, as the contract has it in the summary; of a node of a cluster, what all its nodes are to do."""
    plan: Mapping[str, Any] = field(default_factory=dict)
    """The plan that this is of."""
    placed: Placement | None = None
    """Where the locks of its cluster belong; `None` for a system by itself."""
    laws: Sequence[Mapping[str, Any]] = ()
    """Load series, as the contract has them under `models`."""
    more_laws: int = 0
    compared: BeforeAndAfter | None = None
    """`None`: nothing to compare with, or the two cannot be compared."""
    within: Sequence[tuple[str, str]] = ()
    """Of tables that hold both sides: which runs, and what came of it; the first few."""
    more_within: int = 0
    anew: str = ""
    """Why the very capture that was told before was judged anew (`Audit.why`); empty: this is another one."""

    @property
    def unchanged(self) -> bool:
        """Whether no finding changed at the recipient's level: what stands, if anything, stood before."""
        return all(word == "still" for word, _, _ in self.changes)

    @property
    def moved(self) -> bool:
        """Whether a figure of this mail is another one than before, whatever became of the findings."""
        return bool(self.lost_now) or (self.compared is not None and self.compared.moved)


def report_message(
    recipient: Recipient, audit: Audit, before: Audit | None, *, after_trouble: str = ""
) -> ReportMessage:
    """Make the report on an audit, told against `before`: the one this recipient knows, or that of the capture before.

    `after_trouble`: why the system was not audited until now, where it was not.
    """
    told = contents(recipient, audit, before, after_trouble)
    tables, more = within(audit)
    told = replace(told, compared=before_and_after(recipient, audit, before), within=tables, more_within=more)
    product = audit.system.product
    drawn = {
        one.key: draw(one.key, picture(one.data, one.rows, product, width=PICTURE, legend=True))
        for one in told.accounts
    }
    left_out = "" if can_write() else "No pictures: the machine that made this mail has no font to draw with."
    enclosed = Enclosed(
        {key: made for key, made in drawn.items() if made},
        _scripts(audit, told.when) if recipient.scripts else (),
        left_out if told.accounts else "",
    )
    system = audit.system
    counts = counted(audit, recipient.severity)
    worst = headline(audit, recipient.severity)
    context = {
        "told": told,
        "system": system,
        "name": cut(one_line(system.name, 120), LONGEST_NAME),
        "counts": counts,
        "found": counts or nothing_found(told, recipient.severity),
        "worst": one_line(worst, 300) if counts else "",
        "least": LEVELS[recipient.severity],
        "due": due,
        "product": PRODUCT_NAMES.get(system.product, system.product),
        "is_command": is_command,
        "law_words": law_words,
    }
    thread, headers = thread_of(system, recipient), about("report", audit)
    return write("report", recipient, context, Site.get(), thread=thread, headers=headers, enclosed=enclosed)


def contents(recipient: Recipient, audit: Audit, before: Audit | None, after_trouble: str) -> Contents:
    """Gather a report."""
    findings = list(audit.findings.all())
    accepted = accepted_in(audit)
    product, data = audit.system.product, [one.data for one in findings]
    since = restricted(before, audit, recipient.severity) if before else Since()
    at_level = [one for one in findings if one.severity >= recipient.severity]
    wanted = [one for one in at_level if one.key not in accepted]
    quiet = [(one.title, accepted[one.key]) for one in at_level if one.key in accepted]
    old = before.findings_digest if before else {}
    limited = {name.rpartition(".")[0] for name in audit.limits}
    clean = [verdict["rule"] for verdict in audit.verdicts if verdict["verdict"] == "clean"]
    costs = account.costs(audit.account, data, product)
    bring = _to_bring(audit, since)
    lost = [account.lost(one.account, product) if one else "" for one in (before, audit)]
    joint = audit.cluster if audit.cluster.get("placement") else None
    own, others = cluster_states(audit)
    numbers = {one["key"]: number for number, one in enumerate(data, 1)}
    do = do_marked(
        (joint["summary"] if joint else audit.summary).get("do", ()),
        steps_of(plan_of(audit), own, others),
        (*own, *others),
    )
    return Contents(
        audit,
        when=interval(audit.capture),
        before=taken_at(before.capture) if before else "",
        summary=str(since),
        changes=_changes(since, audit, before, {one.data["key"]: one for one in findings}) if before else (),
        findings=[_told(one, since, old, costs) for one in wanted[:MOST_TOLD]],
        more=max(0, len(wanted) - MOST_TOLD),
        accepted=[f"{title}, until {row.state_until}: {row.state_why}" for title, row in quiet[:MOST_ACCEPTED]],
        more_accepted=max(0, len(quiet) - MOST_ACCEPTED),
        below=len(findings) - len(at_level),
        bring=dict(bring[:MOST_TO_BRING]),
        lacks=parts_lacking(lack for verdict in audit.verdicts for lack in verdict["missing"]),
        more_to_bring=max(0, len(bring) - MOST_TO_BRING),
        judged=sum(verdict["verdict"] in ("fired", "clean") for verdict in audit.verdicts),
        in_order=sum(rule not in limited for rule in clean),
        by_own_limits=sum(rule in limited for rule in clean),
        not_judged=sum(verdict["verdict"] in QUIET for verdict in audit.verdicts),
        address=address("audit", audit.pk),
        after_trouble=after_trouble,
        verdict=verdict_now(audit, accepted),
        loss=account.loss(audit.account, product),
        lost_before=lost[0] if all(lost) and lost[0] != lost[1] else "",
        lost_now=lost[1] if all(lost) and lost[0] != lost[1] else "",
        accounts=_accounts(audit, numbers),
        do=[{**one, "title": in_words(one["title"], numbers)} for one in do],
        plan=plan_of(audit),
        placed=placement_of(audit.cluster),
        laws=audit.laws[:MOST_LAWS],
        more_laws=max(0, len(audit.laws) - MOST_LAWS),
        first=before is None and not _earlier(audit),
        anew=audit.why if before and before.capture_id == audit.capture_id else "",
    )


def _accounts(audit: Audit, numbers: Mapping[str, int]) -> list[Accounted]:
    """The first accounts that are worth a picture."""
    product = audit.system.product
    return [
        Accounted(f"account{n}", account.heading(one, product), account.rows(one, numbers), one)
        for n, one in enumerate(account.shown(audit.account)[:MOST_ACCOUNTS], 1)
    ]


def _to_bring(audit: Audit, since: Since) -> list[tuple[str, Sequence[str]]]:
    """What to collect next: first what is lacking since before, then as the summary has it.

    Of an audit without a summary what the rules lack that could not judge.
    """
    lacking = {key.split(":", 1)[0] for key in since.not_judged}
    found = bring_of(verdict for verdict in audit.verdicts if verdict["rule"] in lacking)
    if "collect" in audit.summary:
        more = {one["command"]: one["settles"] for one in audit.summary["collect"]}
    else:
        more = bring_of(verdict for verdict in audit.verdicts if verdict["verdict"] in QUIET)
    return list({**found, **more}.items())


def restricted(before: Audit, after: Audit, least: int) -> Since:
    """The difference of two audits as far as a finding had severity `least` on either side."""
    whole = difference(before, after)
    old, new = before.findings_digest, after.findings_digest
    since = Since(
        **{
            part.name: [key for key in getattr(whole, part.name) if max(old.get(key, 0), new.get(key, 0)) >= least]
            for part in fields(whole)
        }
    )
    since.judged_again = [key for key in since.new if key.split(":", 1)[0] in before.unjudged]
    since.new = [key for key in since.new if key not in since.judged_again]
    return since


def interval(capture: Capture) -> str:
    """When a capture was taken, as its export has it: begin, end and length."""
    begin, end = (str(capture.interval.get(name) or "").replace("T", " ") for name in ("start", "end"))
    if not begin and not end:
        return "The exports say no time; uploaded " + taken_at(capture)
    same_day = begin[:10] == end[:10] and bool(end)
    time = f"{begin[:19]} to {end[11:19] if same_day else end[:19]}" if begin and end else (begin or end)[:19]
    length = f", {jinja.measured(capture.seconds)} s" if capture.seconds else ""
    return f"Captured {time}{length}"


def taken_at(capture: Capture) -> str:
    """When a capture was taken, in its own time."""
    return when(own_time(capture.taken, capture.timed, capture.interval), capture.timed)


def before_and_after(recipient: Recipient, audit: Audit, before: Audit | None) -> BeforeAndAfter | None:
    """Hold the capture of an audit against that of the one it is told against.

    `None` where there is no other capture, where the two cannot be compared, or where that went wrong (the log says
    how): a report without it is better than none.
    """
    if before is None or before.capture_id == audit.capture_id:
        return None
    try:
        data = compared(sides_of(audit.system, [before.capture_id], [audit.capture_id])).data
    except (Incomparable, Capture.DoesNotExist):
        return None
    except (Error, SoftTimeLimitExceeded):
        raise
    except Exception:
        LOG.exception("audits %s and %s could not be compared", before.pk, audit.pk)
        return None
    if data["verdict"] == "not-comparable":
        return None
    return _compared(recipient, audit, before, data)


def within(audit: Audit) -> tuple[list[tuple[str, str]], int]:
    """Of the tables of an audit that hold both sides the first comparisons in words, and how many more there are."""
    found = [
        (f"{one['before']['label']} → {one['after']['label']}: {VERDICTS[one['verdict']]}", one["why"])
        for one in audit.comparisons[:MOST_WITHIN]
    ]
    return found, max(0, len(audit.comparisons) - MOST_WITHIN)


def law_words(one: Mapping[str, Any]) -> str:
    """A load series and the law fitted to it, in a sentence or two."""
    named = one.get("title") or one["file"]
    if one["gamma"] is None:
        return f"{named}: no law fitted: {one['why_not']}"
    capped = f", its load capped at {one['cap']} processors" if one.get("cap") else ""
    said = (
        f"{named}: Universal Scalability Law{capped}, contention {one['alpha']:.4g}, coherency {one['beta']:.4g}, "
        f"rate at one {one['gamma']:.6g}, R² {one['r2']:.3f}"
    )
    if not one["usable"]:
        return f"{said}. Not used: {one['why_not']}"
    load = one["load_name"].replace("_", " ")
    peak = (
        "no peak"
        if one["peak_load"] is None
        else f"peak {jinja.of_law(one['peak_rate'])} at {jinja.of_law(one['peak_load'])} {load}"
    )
    harm = ""
    if one.get("harm_from") is not None:
        many = f"{one['harm_from']:g} {load}"
        harm = f"; more than {many} did less" if one.get("derived") else f"; adding does harm beyond {many}"
    return f"{said}; {peak}{harm}"


def counted(audit: Audit, least: int) -> str:
    """How many findings of each severity from `least` on, worst first: `3 critical, 1 warning, 1 accepted`.

    Empty for none.
    """
    accepted = accepted_in(audit)
    counts = open_counts(audit, accepted)
    said = [
        f"{counts[LEVELS[level]]} {LEVELS[level]}" for level in (4, 3, 2, 1) if level >= least and counts[LEVELS[level]]
    ]
    levels = {key[:400]: level for key, level in audit.findings_digest.items()}
    quiet = sum(levels.get(key, 0) >= least for key in accepted)
    return ", ".join([*said, *([f"{quiet} accepted"] if quiet else [])])


def headline(audit: Audit, least: int) -> str:
    """The title of the worst finding that nobody has accepted; where all are, that of the worst."""
    accepted = accepted_in(audit)
    if not accepted:
        return audit.headline
    others = audit.findings.filter(severity__gte=least).exclude(key__in=list(accepted)).defer("data")
    first = others.order_by("-severity", "number").first()
    return first.title if first else audit.headline


def nothing_found(told: Contents, least: int) -> str:
    """How it is said that there is no finding from `least` on: with what was judged, for that is what it rests on."""
    if not told.judged:
        return "nothing could be judged"
    judged = f"{jinja.counted(told.judged, 'rule')} judged"
    none = "no findings" if least <= 1 else f"no findings from {LEVELS[least]} on"
    return f"{none}, {judged}, {told.not_judged} not" if told.not_judged else f"{none}, {judged}"


def about(kind: str, audit: Audit) -> dict[str, str]:
    """Headers by which a mail program can sort; `X-Lockwright-Worst` is of what is open: nothing accepted alarms."""
    return {
        "X-Lockwright-Kind": kind,
        "X-Lockwright-System": audit.system.name,
        "X-Lockwright-Worst": LEVELS[severity_now(audit)],
        "X-Lockwright-Audit": str(audit.pk),
    }


def _scripts(audit: Audit, taken: str) -> list[File]:
    told = (f"system: {audit.system.name}", taken, f"audit: {address('audit', audit.pk)}")
    plan = with_accepted(plan_of(audit), *cluster_states(audit))
    return files(file_part(audit.system.name), told, plan)


def plan_of(audit: Audit) -> Mapping[str, Any]:
    """The plan of an audit; of a node of a cluster that of all its nodes, as there is but one."""
    plan: Mapping[str, Any] = audit.cluster["plan"] if audit.cluster.get("placement") else audit.plan
    return plan


def _earlier(audit: Audit) -> bool:
    """Whether another capture of the system was audited before this one."""
    captures = Capture.objects.filter(audit.capture.earlier(), system=audit.system_id)
    return captures.exclude(audit=None).exists()


def _told(finding: Finding, since: Since, old: dict[str, int], costs: tuple[dict[str, str], dict[str, int]]) -> Told:
    key = finding.data["key"]
    state = next((word for word in ("new", "worse", "better", "judged_again") if key in getattr(since, word)), "")
    lost, counted_in = costs
    cost = lost.get(key) or (f"counted in {counted_in[key]}" if key in counted_in else "")
    return Told(
        finding.title,
        finding.severity,
        _place(finding),
        WORDS.get(state, state),
        was=old.get(key, 0) if state in ("worse", "better") else 0,
        number=finding.number + 1,
        figure="; ".join(part for part in (cost, figure_words(finding.data)) if part),
        key=key,
    )


def _place(finding: Finding) -> str:
    return f"{address('audit', finding.audit_id)}#f{finding.number}"


def _changes(since: Since, audit: Audit, before: Audit, found: dict[str, Finding]) -> list[tuple[str, list[Told], int]]:
    """Name each finding under the word for what became of it."""
    left = [key[:400] for key in (*since.gone, *since.not_judged, *since.limits) if key not in found]
    gone = {one.key: one.title for one in before.findings.filter(key__in=left).defer("data")} if left else {}
    old, new = before.findings_digest, audit.findings_digest
    made = []
    for part in fields(since):
        keys = sorted(getattr(since, part.name), key=lambda key: -max(old.get(key, 0), new.get(key, 0)))
        told = []
        for key in keys[:MOST_CHANGES]:
            finding = found.get(key)
            title = finding.title if finding else gone.get(key[:400], key)
            level = new.get(key) or old[key]
            was = old[key] if key in old and key in new and old[key] != new[key] else 0
            told.append(Told(title, level, _place(finding) if finding else "", was=was, key=key))
        if told:
            made.append((WORDS.get(part.name, part.name), told, len(keys) - len(told)))
    return made


def _compared(recipient: Recipient, audit: Audit, before: Audit, data: Mapping[str, Any]) -> BeforeAndAfter:
    deciding = [row for row in rows_of(data) if row.data["decides"]]
    query = urlencode({"before": before.capture_id, "after": audit.capture_id})
    findings = []
    for word, side in (("gone", before), ("new", audit)):
        keys = [key for key in data["findings"][word] if side.findings_digest.get(key, 0) >= recipient.severity]
        named = [key[:400] for key in keys[:MOST_KEYS]]
        titles = dict(side.findings.filter(key__in=named).values_list("key", "title")) if named else {}
        if keys:
            findings.append((word, [titles.get(key, key) for key in named], max(0, len(keys) - MOST_KEYS)))
    unit = f", per {data['unit_of_work']}" if data["unit_of_work"] else ""
    return BeforeAndAfter(
        heading=f"{VERDICTS[data['verdict']]}{unit}",
        figures=[_measured(row) for row in deciding[:MOST_FIGURES]],
        more=max(0, len(deciding) - MOST_FIGURES),
        findings=findings,
        address=f"{address('compare', audit.system_id)}?{query}",
    )


def _measured(row: Row) -> Measured:
    metric = row.data
    per = metric["per_work_unit"] is not None
    before, after = (metric[f"{'per_work_' if per else ''}{side}"] for side in ("before", "after"))
    unit = f" {metric['unit']}" if metric["unit"] and not per else ""
    noise = "" if metric["low"] is not None else "no noise measured"
    ratio = ratio_words(metric["ratio"], metric["low"], metric["high"])
    return Measured(row.name, _figure(before) + unit, _figure(after) + unit, ratio, noise, row.words)


def _figure(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"
