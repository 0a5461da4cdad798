"""Remember captures and audits, and keep what the overview shows of each system up to date."""

import hashlib
import json
from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import Exists, Q
from django.utils import timezone

from advisor.accounts.models import User
from advisor.audits.models import (
    NEWEST_FIRST,
    Audit,
    Capture,
    CaptureFacts,
    Finding,
)
from advisor.audits.report.data import no_all_clear
from advisor.audits.report.findings import limited
from advisor.audits.report.plain import plain
from advisor.audits.services.account_bar import bar_of, capacity_of, mean_of, waiting_tasks_of
from advisor.audits.services.deduplicate import captures_in
from advisor.audits.services.excerpts import Opener
from advisor.audits.services.judging import Judged, Prepared, judge
from advisor.audits.services.limits import limits_of
from advisor.core.version import rules_version
from advisor.findings.services.tracking import track
from advisor.systems.models import SettingsSnapshot, System
from advisor.systems.services import aliases
from advisor.uploads.models import Input, Upload
from collectors import facts as base
from collectors.facts.codec import DamagedFacts, load
from collectors.facts.openvms import ClusterMember
from rules.finding import Severity
from rules.openvms._evidence.cluster_links import of_one_cluster

TREND = 40
"""Captures in the line of the overview."""
UNJUDGED = ("unknown", "untrusted", "broken")
LEVEL = {severity.label: int(severity) for severity in Severity}


def remember_capture(prepared: Prepared, upload: Upload, opener: Opener) -> Capture:
    """Keep one capture of an upload and its audit."""
    found = prepared.found
    system = _system(found.system, upload)
    end = found.interval.end or found.interval.start
    capture = Capture.objects.create(
        system=system,
        upload=upload,
        taken=_aware(end) if end else upload.at,
        timed=end is not None,
        interval=plain(found.interval),
        seconds=found.interval.seconds,
        version=(found.system.version or "")[:300],
        platform=(found.system.platform or "")[:300],
        processors=found.system.processors,
        fact_count=len(found.facts.items),
        files=sorted({fact.source.file for fact in found.facts}),
        figures=prepared.figures,
        settings=_snapshot(system, prepared.settings),
    )
    CaptureFacts.objects.create(capture=capture, data=prepared.packed)
    remember_audit(capture, found, opener, judged=prepared.judged)
    return capture


def restore(capture: Capture) -> tuple[base.Capture, list[str]]:
    """The facts of a stored capture as the rules want them, and what of them could not be restored."""
    items, problems = load(bytes(capture.packed.data))
    system = base.System(
        capture.system.name,
        capture.system.product,
        capture.version or None,
        capture.platform or None,
        capture.processors,
    )
    times = [datetime.fromisoformat(at) if (at := capture.interval.get(name)) else None for name in ("start", "end")]
    interval = base.Interval(times[0], times[1], capture.seconds)
    return base.Capture(system, interval, base.Facts(tuple(items))), problems


def _members_beside(capture: Capture, found: base.Capture) -> Iterator[tuple[Capture, base.Capture]]:
    """The captures of the other nodes of its cluster that came with it, as stored and with their facts."""
    if all(member.own for member in found.facts.every(ClusterMember)):
        return
    uploads = Upload.objects.filter(Q(pk=capture.upload_id) | Q(captures_again=capture)).distinct()
    came = {one.pk: one for upload in uploads for one in captures_in(upload).select_related("system", "packed")}
    for pk, one in sorted(came.items()):
        if pk == capture.pk or one.system.product != capture.system.product:
            continue
        try:
            restored, _ = restore(one)
        except DamagedFacts:  # its own renewal says so
            continue
        if of_one_cluster(found, restored):
            yield one, restored


def renew_beside(capture: Capture, found: base.Capture) -> list[int]:
    """Ask for new audits of the other nodes of a cluster capture, as their links lead to its findings; which they are.

    Those for which one is asked already are left out: they see today's findings when their turn comes.
    """
    near = [one.pk for one, _ in _members_beside(capture, found) if one.audit_id and one.audit_wanted is None]
    Capture.objects.filter(pk__in=near).update(audit_wanted=timezone.now())
    return near


def remember_audit(
    capture: Capture,
    found: base.Capture,
    opener: Opener,
    *,
    by: User | None = None,
    why: str = "upload",
    problems: list[str] | None = None,
    judged: Judged | None = None,
) -> Audit:
    """Judge a capture by today's rules and the limits of its system, and make that its current audit."""
    limits = limits_of(capture.system)
    if judged is None or judged.limits != limits:  # not judged yet, or somebody set a limit meanwhile
        near = [(restored, limits_of(one.system)) for one, restored in _members_beside(capture, found)]
        judged = judge(found, limits, opener, near)
    data, cluster = judged.data, judged.cluster
    read = Input.objects.filter(upload=capture.upload_id).values("file", "report", "leftovers")
    own = read.filter(Q(file__in=capture.files) | Q(facts=0))  # asked for only where nothing was found
    summary = no_all_clear(data["summary"], own)
    if cluster:
        cluster = {**cluster, "summary": no_all_clear(cluster["summary"], read)}
    before = capture.audit
    if before is not None:
        _keep_excerpts(data, before)
    findings = data["findings"]
    counts = Counter(verdict["verdict"] for verdict in data["verdicts"])
    counts.update(finding["severity"] for finding in findings)
    worst = max((LEVEL[finding["severity"]] for finding in findings), default=0)
    headline = next((n for n, finding in enumerate(findings) if LEVEL[finding["severity"]] == worst), 0)
    with transaction.atomic(savepoint=False):
        made = Audit.objects.create(
            capture=capture,
            system=capture.system,
            by=by,
            why=why,
            rules_version=rules_version(),
            limits=limits,
            worst=worst,
            headline=findings[headline]["title"][:500] if findings else "",
            headline_number=headline,
            counts=dict(counts),
            processors_lost=lost_on_average(data["account"], findings),
            capacity=capacity_of(data["account"]),
            waiting_tasks=waiting_tasks_of(data["account"]),
            bar=bar_of(data["account"], findings),
            cluster=cluster,
            findings_digest={finding["key"]: LEVEL[finding["severity"]] for finding in findings},
            unjudged=[verdict["rule"] for verdict in data["verdicts"] if verdict["verdict"] in UNJUDGED],
            verdicts=data["verdicts"],
            laws=data["models"],
            comparisons=data["comparisons"],
            plan=data["plan"],
            account=data["account"],
            summary=summary,
            problems=problems or [],
        )
        Finding.objects.bulk_create(
            Finding(
                audit=made,
                system=capture.system,
                number=number,
                key=finding["key"][:400],
                rule=finding["rule"],
                subject=finding["subject"][:300],
                severity=LEVEL[finding["severity"]],
                title=finding["title"][:500],
                processors=(finding["cost"] or {}).get("processors"),
                **figure_columns(finding),
                data=finding,
            )
            for number, finding in enumerate(findings)
        )
        kinds = sorted({fact.fact_name() for fact in found.facts})
        Capture.objects.filter(pk=capture.pk).update(audit=made, audit_wanted=None, kinds=kinds)
        capture.audit = made
    return made


def settle_system(system: System) -> None:
    """Bring a system's newest audit, versions, trend and findings up to date; one left with nothing is forgotten."""
    heavy = [
        f"audit__{name}"
        for name in (
            "verdicts",
            "laws",
            "comparisons",
            "plan",
            "account",
            "summary",
            "cluster",
            "bar",
            "findings_digest",
        )
    ]
    audited = system.captures.exclude(audit=None).select_related("audit").defer("figures", *heavy)
    newest = list(audited.order_by(*NEWEST_FIRST)[:TREND])
    if not newest:
        work = system.tracked.filter(events__by__isnull=False)
        kept = (system.captures, system.limits, system.notes, system.schedules, system.groups, system.sources, work)
        if not any(rows.exists() for rows in kept):
            system.delete()
            return
        System.objects.filter(pk=system.pk).update(latest=None, trend=[])
        track(system)
        return
    told = {
        name: next((value for capture in newest if (value := getattr(capture, name))), getattr(system, name))
        for name in ("version", "platform", "processors")
    }
    trend = [
        [capture.taken.isoformat(), capture.audit.processors_lost, capture.audit.worst]
        for capture in reversed(newest)
        if capture.audit and (capture.timed or not newest[0].timed)
    ]
    latest = newest[0].audit
    if latest:
        shown = System.objects.filter(pk=system.pk, latest=latest)
        Audit.objects.filter(~Exists(shown), pk=latest.pk).update(shown=timezone.now())
    System.objects.filter(pk=system.pk).update(latest=latest, trend=trend, **told)
    track(system)


def _system(found: base.System, upload: Upload) -> System:
    """The system of this name in the uploader's team, or which had it; made where there is none."""
    example = upload.origin == "example"
    known = aliases.find(upload.team, found.product, found.name)
    if known and known.example == example:
        return known
    name = found.name
    if known and example:
        name = aliases.of_example(name)
    elif known:  # an example had the name until the server came
        known.name = aliases.of_example(known.name)
        known.key = aliases.key_of(known.name)
        known.save(update_fields=["name", "key"])
    key = aliases.key_of(name)
    defaults = {"name": name[:120], "example": example}
    return System.objects.get_or_create(team=upload.team, product=found.product, key=key, defaults=defaults)[0]


def _aware(time: datetime) -> datetime:
    return time if time.tzinfo else timezone.make_aware(time)


def _snapshot(system: System, values: dict[str, Any]) -> SettingsSnapshot | None:
    if not values:
        return None
    digest = hashlib.sha256(json.dumps(values, sort_keys=True, default=str).encode()).hexdigest()
    return SettingsSnapshot.objects.get_or_create(system=system, digest=digest, defaults={"values": values})[0]


def lost_on_average(accounts: list[dict[str, Any]], findings: list[dict[str, Any]]) -> float | None:
    """Processors lost by the account, with or without a shown cause; where it cannot divide, by the findings."""
    account = mean_of(accounts, "processors")
    if account is None:
        return processors_lost(findings)
    lost = [one["amount"] for one in account["lost"] if one["amount"] is not None]
    lost += [account["unexplained"]["amount"]] if account["unexplained"] else []
    if not lost and account["undivided"]:
        return processors_lost(findings)
    return float(sum(lost))


OF_TESTS = ("openvms/concurrency_past_peak", "scaling/throughput_retrograde")
"""Rules whose findings are about load series: one machine, or one test, each. So are findings about a `run …`."""


def processors_lost(findings: list[dict[str, Any]]) -> float | None:
    """What the findings cost together, in processors; null where none has a cost.

    A cause and its symptoms are one loss seen twice: of each tree counts the cause's cost, else its dearest symptom's.
    Runs of tests are no losses side by side, whichever rules found them: the dearest of all counts.
    """
    by_key = {finding["key"]: finding for finding in findings}
    explained = {key for finding in findings for key in finding["explains"] if key != finding["key"]}
    counted: set[str] = set()

    def cost(key: str) -> float | None:
        if key in counted or key not in by_key:
            return None
        counted.add(key)
        below = [found for one in by_key[key]["explains"] if (found := cost(one)) is not None]
        own = by_key[key]["cost"]
        return float(own["processors"]) if own else max(below, default=None)

    roots = [key for key in by_key if key not in explained]
    rings = [key for key in by_key if key in explained]  # causes of each other have no root: any of them is one
    costs: dict[str, float] = {}
    for key in (*roots, *rings):
        found = cost(key)
        if found is not None:
            rule, _, subject = key.partition(":")
            one = "tests" if rule in OF_TESTS or subject.startswith("run ") else key
            costs[one] = max(found, costs.get(one, 0.0))
    return sum(costs.values()) if costs else None


def figure_columns(finding: dict[str, Any]) -> dict[str, Any]:
    """The columns of a finding's first figure that was held against a limit."""
    item = next(iter(limited(finding)), None)
    return (
        {}
        if item is None
        else {
            "metric": item["metric"][:200],
            "value": item["value"],
            "unit": item["unit"][:40],
            "limit": item["limit"],
        }
    )


def _keep_excerpts(data: dict[str, Any], before: Audit) -> None:
    """Where the bytes have gone: quote what the audit before had quoted of the same lines."""
    quoted = {
        (item["file"], *item["lines"], item["metric"]): item.get("excerpt", [])
        for finding in before.findings.all()
        for item in finding.data["evidence"]
    }
    for finding in data["findings"]:
        for item in finding["evidence"]:
            item["excerpt"] = item["excerpt"] or quoted.get((item["file"], *item["lines"], item["metric"]), [])
