"""One system: its figures, findings and settings over time, its captures, limits and notes."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache, partial
from typing import Any

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.db.models import Exists, OuterRef, Q
from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.template.loader import render_to_string
from django.utils import timezone
from django.views.decorators.http import require_POST
from markupsafe import Markup

from advisor.audits.models import NEWEST_FIRST, Capture, LimitSetting
from advisor.audits.services.rulebook import judging
from advisor.audits.views.rulebook import (
    Entry,
    LimitForm,
    entries_of,
    take_back,
)
from advisor.core.access import journal_of, may_work_for, systems_of
from advisor.core.csv_files import csv_answer
from advisor.core.jinja import SEVERITY
from advisor.core.version import rules_version
from advisor.core.views import Asked, page, paged, refusal_in
from advisor.findings.services.changes_seen import changes_of, marks_for
from advisor.findings.services.pages import (
    accepted_of,
    last_change_judged,
    some_accepted,
    verdict_now,
    worst_now,
    worst_standing,
)
from advisor.schedules.source_views.listing import NEWEST, rows_of
from advisor.schedules.views.listing import Proposed, feeds_of, proposed
from advisor.series.services.over_time import has_some
from advisor.systems.models import System
from advisor.systems.services import aliases, history, snoozing
from advisor.systems.services.overview import ACCOUNT, bar, is_overdue
from advisor.systems.services.settings_history import settings_over_time
from advisor.uploads.services.naming import some_unnamed, unnamed_upload
from advisor.uploads.services.uploads import clean_text, file_part

OLD = timedelta(days=2)
"""A capture older than this stands out where nobody said how often one is expected (this project's figure)."""
CAME = {"proven": "it got better", "no-effect": "it had no effect", "worse": "it got worse"}
"""What came of a change, by the state that a capture gave it."""
CHARTS = 12
"""On one page."""
TOLD = 50
"""Captures in the table of figures; the CSV file has all."""
CHANGES = 100
NOTES = 50
LETTERS = {4: "C", 3: "W", 2: "A", 1: "N", history.NOT_FOUND: "·", history.NOT_JUDGED: "?", history.NOT_APPLICABLE: "–"}
CELLS = {
    state: Markup('<td class="{}">{}</td>').format(
        f"tag {SEVERITY[state]}" if isinstance(state, int) else "soft", letter
    )
    for state, letter in LETTERS.items()
}
"""The cells of findings by capture, made once: there are a thousand of them on a page."""
HEAD = (
    *("pk", "name", "product", "version", "platform", "processors", "created", "expected_hours", "team__name"),
    *("troubled", "trouble", "key", "former", "snoozed_until", "snoozed_why", "snoozed_by__username", "example"),
)
LATEST = (
    *("worst", "headline", "headline_number", "processors_lost", "unjudged", "counts", "summary", *ACCOUNT),
    *("capture__taken", "capture__timed", "capture__upload__at"),
)
LISTED = ("system", "taken", "timed", "interval", "seconds", "fact_count", "files", "upload__at")
LISTED_AUDIT = ("audit__worst", "audit__rules_version", "audit__unjudged", "audit__counts")


class NoteForm(forms.Form):
    """What somebody wants to be remembered of a system."""

    text = forms.CharField(max_length=4000)


class ExpectedForm(forms.Form):
    """How often a capture is expected: every 1 to 8784 hours (a year), or nothing."""

    hours = forms.IntegerField(min_value=1, max_value=8784, required=False)


class SnoozeForm(forms.Form):
    """Until when a system is snoozed, and why; the service says what is wrong with them."""

    until = forms.DateField(required=False)
    why = forms.CharField(required=False, max_length=snoozing.LONGEST_WHY)


@dataclass(frozen=True)
class LimitRow:
    """A limit that the site or the system sets, with the rule's own."""

    name: str
    rule: Entry | None
    limit: dict[str, Any] | None
    """None: no rule has such a limit any more."""
    site: LimitSetting | None
    own: LimitSetting | None


def _system(request: Asked, pk: int) -> System:
    systems = systems_of(request.user).select_related("team", "latest__capture__upload", "snoozed_by")
    systems = systems.annotate(
        has_accepted=some_accepted("pk"),
        has_unnamed=some_unnamed("pk"),
        renewing=_renewing("pk"),
        worst=worst_standing(),
        last_change=last_change_judged("pk"),
    )
    return get_object_or_404(systems.only(*HEAD, *(f"latest__{name}" for name in LATEST)), pk=pk)


def _renewing(system: str) -> Exists:
    """Whether a capture is being audited again, for a query of systems; `system` has the system's number."""
    return Exists(Capture.objects.filter(system=OuterRef(system), audit_wanted__isnull=False))


def renewing(request: Asked, pk: int) -> HttpResponse:
    """Say how many captures are still to be audited again."""
    system = get_object_or_404(systems_of(request.user), pk=pk)
    left = system.captures.filter(audit_wanted__isnull=False).count()
    return page(request, "systems/parts/renewing.html", {"system": system, "left": left, "followed": True})


def _for_work(request: Asked, pk: int) -> System:
    """The system, for somebody who may change something of it; of another team it does not exist."""
    system = _system(request, pk)
    if not may_work_for(request.user, system.team):
        raise PermissionDenied("Your role reads. Ask an administrator for the role of a DBA.")
    return system


def show(request: Asked, pk: int) -> HttpResponse:
    """Show it: `?span=day|week|month|year|all`, `?page=` of its captures, `?charts=`, `?setting=` words of a name."""
    return _page(request, _system(request, pk))


def _page(request: Asked, system: System, *forms_with_errors: forms.Form) -> HttpResponse:
    """The whole page; a form that was not taken stands in it with its errors."""
    now = timezone.now()
    span = request.GET.get("span", "all")
    span = span if span in history.SPANS else "all"
    seen = history.recent(system)
    shown = history.within(seen, span)
    figures = Paginator(history.figures(shown), CHARTS).get_page(request.GET.get("charts"))
    courses = history.courses(shown, figures.object_list)
    settings = settings_over_time(seen)
    entries = entries_of(*judging(system.product))
    may_work = may_work_for(request.user, system.team)
    by_kind = {type(form): form for form in forms_with_errors}
    feeds = feeds_of(request.user, system)
    proposal = proposed(feeds, now) if system.expected_hours is None else None
    hours = proposal.hours if proposal else system.expected_hours
    captures = Capture.objects.filter(system=system).select_related("upload", "audit").order_by(*NEWEST_FIRST)
    captures = captures.annotate(worst_now=worst_now())
    listed = paged(request, captures.only(*LISTED, *LISTED_AUDIT), 25)
    named = {one.pk: one.when for one in seen} | history.when_each(listed)
    words = clean_text(request.GET.get("setting", ""), 100)
    accepted = accepted_of(system.pk) if getattr(system, "has_accepted", True) else []
    context = {
        "system": system,
        "latest": system.latest,
        "answer": verdict_now(system.latest, {row.key: row for row in accepted}) if system.latest else "",
        "steps": len({one["step"] for one in system.latest.summary.get("do", ()) if one["step"]})
        if system.latest
        else 0,
        "last_change": getattr(system, "last_change", None),
        "came": CAME,
        "bar": bar(system.latest, system.product) if system.latest else None,
        "may_work": may_work,
        "accepted": accepted,
        "unnamed": unnamed_upload(system) if may_work and getattr(system, "has_unnamed", True) else None,
        "left": int(getattr(system, "renewing", False)),
        "followed": False,
        "overdue": is_overdue(system, now),
        "worst": getattr(system, "worst", None) if system.latest else None,
        "old": _old(system, proposal, now),
        "feeds": feeds,
        "sources": rows_of(list(system.sources.annotate(last_try=NEWEST))),
        "proposal": proposal,
        "formerly": aliases.formerly(system),
        "collected_as": aliases.collected_as(system),
        "now": now,
        "span": span,
        "spans": history.SPANS,
        "seen": seen,
        "loads": has_some(seen),
        "shown": shown,
        "figures": figures,
        "courses": courses,
        "change_marks": partial(marks_for, changes=changes_of(system.pk)),
        "told": _told(shown, courses),
        "found": history.findings(seen),
        "cells": CELLS,
        "settings": settings,
        "changes": settings.changes[:CHANGES],
        "setting": words,
        "current": [
            item
            for item in sorted(settings.current.items())
            if all(word in item[0].lower() for word in words.lower().split())
        ],
        "captures": listed,
        "when": lambda one: named[one.pk],
        "rules_version": rules_version(),
        "entries": entries,
        "limits": _limits(system, entries),
        "every_limit": _every_limit(*judging(system.product)) if may_work else "",
        "limit_form": by_kind.get(LimitForm) or LimitForm(entries),
        "notes": system.notes.select_related("by")[: NOTES + 1],
        "most_notes": NOTES,
        "note_form": by_kind.get(NoteForm) or NoteForm(),
        "expected_form": by_kind.get(ExpectedForm) or ExpectedForm(initial={"hours": hours}),
        "snooze_form": by_kind.get(SnoozeForm) or SnoozeForm(),
        "journal": journal_of(request.user).filter(system=system)[:20],
    }
    return page(request, "systems/system.html", context, 400 if forms_with_errors else 200)


def _old(system: System, proposal: Proposed | None, now: datetime) -> str:
    """Why the newest capture is old, with where the limit comes from; empty: it is not, or there is none."""
    if system.latest is None:
        return ""
    hours, why = system.expected_hours, "as somebody said under Captures"
    if hours is None and proposal is not None:
        hours, why = proposal.hours, f"by the schedule {proposal.schedule.name}"
    if hours is None:
        old = now - system.latest.capture.taken > OLD
        return "older than 2 days: this project's figure, as nobody said how often one is expected" if old else ""
    old = now - system.latest.capture.taken > timedelta(hours=hours)
    return f"one is expected every {hours} h, {why}" if old else ""


def _told(
    shown: list[history.Seen], courses: list[history.TimeSeries]
) -> list[tuple[history.Seen, list[float | None]]]:
    """The figures of the charts as rows of a table, newest first."""
    last = range(len(shown) - 1, max(-1, len(shown) - 1 - TOLD), -1)
    return [(shown[n], [course.series[n][1] for course in courses]) for n in last]


@lru_cache(maxsize=8)
def _every_limit(*products: str) -> Markup:
    """The rows of all limits of these products' rules, drawn once: they are the same for as long as the program is."""
    drawn = render_to_string("systems/parts/every_limit.html", {"entries": entries_of(*products)})
    return Markup(drawn)  # noqa: S704 - what our own template escaped


def _limits(system: System, entries: Sequence[Entry]) -> list[LimitRow]:
    """The limits that the site or this system sets for the rules it is judged by."""
    found: dict[str, dict[bool, LimitSetting]] = {}
    mine = Q(system=system)
    for product in judging(system.product):
        mine |= Q(name__startswith=f"{product}/")
    for one in LimitSetting.objects.filter(mine, Q(system=None) | Q(system=system)).select_related("by"):
        found.setdefault(one.name, {})[one.system_id is not None] = one
    known = {one["name"]: (entry, one) for entry in entries for one in entry["limits"]}
    rows = []
    for name, of in sorted(found.items()):
        rule, limit = known.get(name, (None, None))
        rows.append(LimitRow(name, rule, limit, site=of.get(False), own=of.get(True)))
    return rows


@require_POST
def change_limit(request: Asked, pk: int) -> HttpResponse:
    """Set a limit for this system, try it first (`try`), or take its own back (`take_back=<name>`)."""
    system = _for_work(request, pk)
    if name := request.POST.get("take_back", ""):
        take_back(request, name, system)
        return redirect("system", pk)
    form = LimitForm(entries_of(*judging(system.product)), request.POST)
    if "try" in request.POST:
        tried = form.try_out(request, system)
        return redirect("backtest", tried.pk) if tried else _page(request, system, form)
    return redirect("system", pk) if form.put(request, system) else _page(request, system, form)


@require_POST
def add_note(request: Asked, pk: int) -> HttpResponse:
    """Write a note."""
    system = _for_work(request, pk)
    form = NoteForm(request.POST)
    if not form.is_valid():
        return _page(request, system, form)
    history.add_note(system, request.user, form.cleaned_data["text"], request)
    messages.success(request, "The note is kept.")
    return redirect("system", pk)


@require_POST
def change_expected(request: Asked, pk: int) -> HttpResponse:
    """Say how often a capture is expected; empty: nobody says."""
    system = _for_work(request, pk)
    form = ExpectedForm(request.POST)
    if not form.is_valid():
        return _page(request, system, form)
    hours = form.cleaned_data["hours"]
    history.expect_every(system, hours, request.user, request)
    messages.success(request, f"A capture is expected every {hours} h." if hours else "No capture is expected.")
    return redirect("system", pk)


@require_POST
def change_snooze(request: Asked, pk: int) -> HttpResponse:
    """Snooze it (`until`, `why`), or end that now (`end=1`)."""
    system = _for_work(request, pk)
    form = SnoozeForm(request.POST)
    with refusal_in(form):
        if request.POST.get("end"):
            snoozing.wake(system, request.user, request=request)
            messages.success(request, "It is not snoozed any more.")
            return redirect("system", pk)
        if form.is_valid():
            until = form.cleaned_data["until"]
            snoozing.snooze(system, until, form.cleaned_data["why"], request.user, request=request)
            messages.success(request, f"It is snoozed until {until}.")
            return redirect("system", pk)
    return _page(request, system, form)


def figures_csv(request: Asked, pk: int) -> StreamingHttpResponse:
    """Hand over every key figure of every capture, a line each."""
    system = _system(request, pk)
    heading = ("taken", "time of", "figure", "label", "unit", "value", "better")
    return csv_answer(f"lockwright-{file_part(system.name)}-figures.csv", heading, history.every_figure(system))
