"""The figures of the service itself, for Prometheus. Read from the database when they are asked for, none kept.

Severities, verdicts and what is lost come from the few figures kept with each system's newest audit, so that a scrape
never looks at the findings themselves. Series of systems are bounded: there are as many as systems, times the losses
that are kept one by one (`advisor.audits.services.account_bar.MOST`), and they go with the system or its next audit.
"""

import os
from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from django.db import connection
from django.db.models import Count, Min, QuerySet
from django.db.models.functions import Now
from django.utils import timezone
from prometheus_client import CollectorRegistry, Histogram
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

from advisor.audits.models import Audit, Capture
from advisor.audits.services.account_bar import LONGEST, MOST, OTHER
from advisor.charts.words import clean
from advisor.core import heartbeats, job_queue
from advisor.core.models import Site, Work, Worker
from advisor.core.version import VERSION, rules_version
from advisor.findings.models import TrackedFinding
from advisor.findings.services.pages import accepted_counts
from advisor.findings.services.states import state_now
from advisor.notifications.models import Delivery, Mail
from advisor.schedules.models import Run, Schedule
from advisor.systems.models import System
from advisor.systems.services.overview import is_overdue
from advisor.systems.services.snoozing import snoozed_now
from advisor.uploads.models import Upload
from rules.finding import Severity

State = TrackedFinding.State
REGISTRY = CollectorRegistry()
REQUESTS = Histogram(
    "lockwright_http_request_seconds",
    "Time to answer a request, by the name of the page and the status.",
    ("view", "status"),
    buckets=(0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 120),
    registry=REGISTRY,
)


class Stored(Collector):
    """What the database says at this moment."""

    def collect(self) -> Iterator[Metric]:
        """Read everything once. Raises what the database raises."""
        yield _labelled("build_info", "Version and rules.", {(VERSION, rules_version()): 1}, "version", "rules")
        yield _gauge("captures", "Captures remembered.", Capture.objects.count())
        yield _gauge("audits", "Audits remembered, earlier ones included.", Audit.objects.count())
        yield from _systems()
        yield from _uploads()
        yield from _work("run", Run.objects.all(), Run.objects.all())
        yield from _work("mail", Mail.objects.all(), Mail.objects.all())
        live = Delivery.objects.filter(webhook__paused=None)  # what waits for a paused one is no fault
        yield from _work("delivery", Delivery.objects.all(), live)
        yield from _workers()
        yield from _clock()
        if (size := database_bytes()) is not None:
            yield _gauge("database_bytes", "Size of the database.", size)


REGISTRY.register(Stored())


def exposed() -> CollectorRegistry:
    """What is told: where the web server has several processes, the requests of all of them.

    They count in a folder (`web_server.waitress_prefork`); the registry of each knows its own alone.
    """
    if "PROMETHEUS_MULTIPROC_DIR" not in os.environ:
        return REGISTRY
    found = CollectorRegistry()
    MultiProcessCollector(found)  # type: ignore[no-untyped-call]
    found.register(Stored())
    return found


def _gauge(name: str, says: str, value: float) -> Metric:
    return GaugeMetricFamily(f"lockwright_{name}", says, value=value)


def _labelled(name: str, says: str, values: dict[tuple[str, ...], float], *labels: str) -> Metric:
    family = GaugeMetricFamily(f"lockwright_{name}", says, labels=labels)
    for label_values, value in values.items():
        family.add_metric(label_values, value)
    return family


def _systems() -> Iterator[Metric]:
    """Everything that the newest audits of the systems tell."""
    now = timezone.now()
    counts: Counter[str] = Counter()
    systems = overdue = snoozed = 0
    lost: dict[tuple[str, ...], float] = {}
    waiting: dict[tuple[str, ...], float] = {}
    names = Counter(System.objects.order_by().values_list("name", flat=True))
    light = System.objects.select_related("latest__capture__upload", "team").only(
        *("name", "product", "team__name", "expected_hours", "created", "snoozed_until"),
        *(f"latest__{name}" for name in ("counts", "processors_lost", "waiting_tasks", "bar")),
        *("latest__capture__taken", "latest__capture__upload__at"),
    )
    for system in light.order_by().iterator():
        systems += 1
        overdue += is_overdue(system, now)
        snoozed += system.snoozed
        if system.latest is None:
            continue
        counts.update(system.latest.counts)
        name = _label(system.name)
        if names[system.name] > 1:
            name = f"{name} ({system.product}, {_label(system.team.name)})"
        for rule, amount in _lost(system.latest):
            lost[name, rule] = lost.get((name, rule), 0.0) + amount
        for what, tasks in _waiting(system.latest):
            waiting[name, what] = waiting.get((name, what), 0.0) + tasks
    quiet = sum((Counter(one) for one in accepted_counts(TrackedFinding.objects.all()).values()), Counter[str]())
    accepted: dict[tuple[str, ...], float] = {(level.label,): quiet[level.label] for level in Severity}
    by_severity: dict[tuple[str, ...], float] = {
        (level.label,): max(0, counts[level.label] - quiet[level.label]) for level in Severity
    }
    yield _gauge("systems", "Systems under study.", systems)
    yield _gauge("systems_overdue", "Systems whose next capture was expected by now.", overdue)
    yield _gauge("systems_snoozed", "Systems that are snoozed today: neither overdue nor not audited.", snoozed)
    yield _labelled("findings", "Findings of the newest audits that nobody has accepted.", by_severity, "severity")
    yield _labelled("findings_accepted", "Findings of the newest audits that are accepted.", accepted, "severity")
    yield _labelled("findings_by_state", _BY_STATE, _states(), "state")
    yield _gauge("verdicts_broken", "Rules that failed in the newest audits.", counts["broken"])
    says = (
        "Processors lost on average by the newest audit, by the rule of their root cause; empty: no cause is shown. "
        f"Missing: not measured. At most {MOST} rules of a system, the others together as {OTHER}."
    )
    yield _labelled("system_lost_processors", says, lost, "system", "rule")
    says = (
        "Tasks that waited on average by the newest audit, by what they waited for; empty: none waited. "
        f"Missing: not counted. At most {MOST} things of a system, the others together as {OTHER}."
    )
    yield _labelled("system_waiting_tasks", says, waiting, "system", "what")


_BY_STATE = "Findings followed over captures, by their state; open ones that are gone are left out."


def _states() -> dict[tuple[str, ...], float]:
    """How many findings are in which state; an acceptance whose day has passed is none."""
    rows = TrackedFinding.objects.exclude(state=State.OPEN, presence=TrackedFinding.Presence.GONE).order_by()
    found = dict(rows.annotate(now=state_now()).values_list("now").annotate(Count("pk")))
    return {(state,): found.get(state, 0) for state in State.values}


def _lost(audit: Audit) -> Iterator[tuple[str, float]]:
    """What an audit has lost, by rule. Nothing where that is not measured; one nought where it is nothing."""
    parts = audit.bar.get("parts", ())
    losses = [(rule, amount) for kind, _, amount, rule in parts if kind in ("lost", "unexplained")]
    yield from ((_label(rule), amount) for rule, amount in losses)
    if parts and not losses and audit.processors_lost == 0:
        yield "", 0.0


def _waiting(audit: Audit) -> Iterator[tuple[str, float]]:
    """How many tasks waited for what, as `_lost`."""
    waits = audit.bar.get("waits", ())
    yield from ((_label(what), tasks) for what, tasks in waits)
    if not waits and audit.waiting_tasks == 0:
        yield "", 0.0


def _label(text: str) -> str:
    """The value of a label: names and what is waited for are of exports, and one bad character would end a scrape.

    The library escapes quotes, line ends and backslashes.
    """
    return clean(text)[:LONGEST]


def _uploads() -> Iterator[Metric]:
    """How many uploads are in which state, and how long the one that waits longest has waited.

    One that waits to be read once more is left out there: when it began to wait is not kept.
    """
    states = dict(Upload.objects.order_by().values_list("state").annotate(Count("pk")))
    by_state: dict[tuple[str, ...], float] = {(state,): states.get(state, 0) for state in Upload.State.values}
    waiting = Upload.objects.filter(state=Upload.State.WAITING, finished=None)
    oldest = waiting.order_by("at").values_list("at", flat=True).first()
    yield _labelled("uploads", "Uploads remembered.", by_state, "state")
    yield _gauge("oldest_waiting_upload_seconds", "Age of the oldest upload that waits; 0: none waits.", _since(oldest))
    begun = Upload.objects.filter(state=Upload.State.READING).aggregate(Min("claimed"))["claimed__min"]
    says = "Since when the upload that is read longest is being read; 0: none is."
    yield _gauge("longest_reading_upload_seconds", says, _since(begun))


def _work(name: str, rows: QuerySet[Any], waiting: QuerySet[Any]) -> Iterator[Metric]:
    """How many pieces of one kind of work are in which state, and how long the oldest that waits has waited.

    Counted by the index of the states alone: mails hold pictures, and a scrape reads none of them.
    """
    states = dict(rows.order_by().values_list("state").annotate(Count("pk")))
    by_state: dict[tuple[str, ...], float] = {(state,): states.get(state, 0) for state in Work.State.values}
    oldest = waiting.filter(state=Work.State.WAITING).order_by("created").values_list("created", flat=True).first()
    many = "deliveries" if name == "delivery" else f"{name}s"
    yield _labelled(many, f"{many.capitalize()} remembered.", by_state, "state")
    yield _gauge(
        f"oldest_waiting_{name}_seconds", f"Age of the oldest {name} that waits; 0: none waits.", _since(oldest)
    )
    begun = rows.filter(state=Work.State.RUNNING).aggregate(Min("claimed"))["claimed__min"]
    says = f"Since when the {name} that is worked at longest is; 0: none is."
    yield _gauge(f"longest_running_{name}_seconds", says, _since(begun))


def _workers() -> Iterator[Metric]:
    """Workers that are listened to: none where the database is that of one machine."""
    heard = Worker.objects.annotate(now=Now()).values_list("seen", "now")
    silent = sum(now - seen > heartbeats.SILENT for seen, now in heard)
    yield _gauge("workers", "Workers that note in the database that they live (PostgreSQL).", len(heard) - silent)
    seconds = heartbeats.SILENT.total_seconds()
    told = f"Workers not heard of for {seconds:.0f} seconds whose work is not given to others yet."
    yield _gauge("workers_silent", told, silent)


def _since(time: datetime | None) -> float:
    """Seconds since then; 0: never."""
    return max(0.0, (timezone.now() - time).total_seconds()) if time else 0.0


def _clock() -> Iterator[Metric]:
    """Whether what should happen by itself does."""
    troubled = System.objects.exclude(troubled=None).exclude(snoozed_now()).count()
    schedules = Schedule.objects.exclude(troubled=None).count()
    yield _gauge("systems_not_audited", "Systems that are not audited although they should be.", troubled)
    yield _gauge("schedules_in_trouble", "Schedules of no one system that deliver nothing.", schedules)
    if (ticked := job_queue.last_tick()) is not None:
        says = "Time since a worker last looked for what is due; missing: never."
        yield _gauge("last_tick_seconds", says, _since(ticked))
    down = Site.objects.exclude(mail_down_since=None).exists()
    yield _gauge("mail_server_down", "1 while the mail server takes nothing from us.", down)


def database_bytes() -> int | None:
    """The size of the database; `None` where the backend does not tell."""
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("SELECT pg_database_size(current_database())")
            return int(cursor.fetchone()[0])
        if connection.vendor == "sqlite":
            cursor.execute("SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()")
            return int(cursor.fetchone()[0])
    return None
