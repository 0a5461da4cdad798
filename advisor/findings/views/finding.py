"""The page of one finding, and what people decide on it: plain forms, which work without JavaScript."""

from collections.abc import Callable
from typing import Any

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST, require_safe

from advisor.audits.views.rulebook import Entry, LimitForm, entries_of
from advisor.core.access import may_work_for
from advisor.core.records import Refused
from advisor.core.views import Asked, page
from advisor.findings.models import TrackedFinding
from advisor.findings.services import states
from advisor.findings.services.finding_page import found, limits_of, page_of


class AcceptForm(forms.Form):
    """Until when a finding is accepted, why, and by how many per cent it may get worse."""

    until = forms.DateField(required=False)
    why = forms.CharField(required=False, max_length=states.LONGEST_WHY)
    back_if = forms.FloatField(required=False, min_value=0, max_value=100 * states.MOST_BACK_IF)


class WhyForm(forms.Form):
    """What is said with another state."""

    why = forms.CharField(required=False, max_length=states.LONGEST_WHY)


class TryLimitForm(LimitForm):
    """A limit of the finding's rule that is tried, and for whom it would be."""

    scope = forms.ChoiceField(choices=(("system", "this system"), ("site", "every system")), required=False)


class CommentForm(forms.Form):
    """A comment; the service looks at its length, as for the API."""

    text = forms.CharField(required=False, strip=False)


VERBS: dict[str, tuple[Callable[..., int], str]] = {
    "plan": (states.plan, "It is planned."),
    "made": (states.change_made, "Noted. The next captures are held against the newest one."),
    "reopen": (states.reopen, "It is open."),
}


@require_safe
def show(request: Asked, pk: int) -> HttpResponse:
    """Show it."""
    return _page(request, _row(request, pk))


@require_POST
def change_state(request: Asked, pk: int) -> HttpResponse:
    """Give it a state: `verb` is `accept` (with `until`, `why`, `back_if` in per cent), `plan`, `made`, `reopen`."""
    row = _for_work(request, pk)
    verb = request.POST.get("verb", "")
    if verb == "accept":
        form: forms.Form = AcceptForm(request.POST)
        if not form.is_valid():
            return _page(request, row, form, _said(form))
        told = form.cleaned_data
        back_if = 25.0 if told["back_if"] is None else told["back_if"]
        try:
            states.accept(request.user, [pk], told["until"], told["why"], back_if / 100, request=request)
        except Refused as why:
            return _page(request, row, form, str(why))
        messages.success(request, f"It is accepted until {told['until']}.")
        return redirect("finding", pk)
    if verb not in VERBS:
        raise Http404
    form = WhyForm(request.POST)
    if not form.is_valid():
        return _page(request, row, form, _said(form))
    act, said = VERBS[verb]
    act(request.user, [pk], form.cleaned_data["why"], request=request)
    messages.success(request, said)
    return redirect("finding", pk)


@require_POST
def try_limit(request: Asked, pk: int) -> HttpResponse:
    """Try a limit of its rule on stored captures: of this system, or (`scope=site`, an administrator's) of all."""
    row = _for_work(request, pk)
    entry = _entry(row.rule)
    if entry is None:
        raise Http404
    form = TryLimitForm([entry], request.POST)
    everywhere = request.POST.get("scope") == "site"
    if everywhere and not request.user.is_administrator:
        raise PermissionDenied("A limit for every system is an administrator's to set.")
    tried = form.try_out(request, None if everywhere else row.system)
    return redirect("backtest", tried.pk) if tried else _page(request, row, form, _said(form))


@require_POST
def change_owner(request: Asked, pk: int) -> HttpResponse:
    """Give it to the person of this number (`owner`); empty: to nobody."""
    row = _for_work(request, pk)
    chosen = request.POST.get("owner", "")
    owner = next((one for one in states.owners_for(row.system.team) if str(one.pk) == chosen), None)
    if chosen and owner is None:
        raise Http404
    states.assign(request.user, [pk], owner, request=request)
    messages.success(request, f"It is {owner.username}'s." if owner else "It has no owner.")
    return redirect("finding", pk)


@require_POST
def add_comment(request: Asked, pk: int) -> HttpResponse:
    """Write a comment."""
    row = _for_work(request, pk)
    form = CommentForm(request.POST)
    form.is_valid()
    try:
        states.comment(request.user, [pk], form.cleaned_data.get("text", ""), request=request)
    except Refused as why:
        return _page(request, row, form, str(why))
    return redirect("finding", pk)


def _row(request: Asked, pk: int) -> TrackedFinding:
    try:
        row = found(request.user, pk)
    except TrackedFinding.DoesNotExist:
        raise Http404 from None
    return row


def _for_work(request: Asked, pk: int) -> TrackedFinding:
    """The finding, for somebody who may decide about it; of another team it does not exist."""
    row = _row(request, pk)
    if not may_work_for(request.user, row.system.team):
        raise PermissionDenied("Your role reads. Ask an administrator for the role of a DBA.")
    return row


def _said(form: forms.Form) -> str:
    """The first error of a form."""
    return next(str(error) for errors in form.errors.values() for error in errors)


def _entry(rule: str) -> Entry | None:
    """What the rule book says of a rule; `None` where there is no such rule any more."""
    return next((one for one in entries_of() if one["rule"] == rule), None)


def _page(request: Asked, row: TrackedFinding, form: forms.Form | None = None, error: str = "") -> HttpResponse:
    """The whole page; a form that was not taken stands in it with its values and why."""
    may_work = may_work_for(request.user, row.system.team)
    entry = _entry(row.rule)
    typed = {name: form.data.get(name, "") for name in form.fields} if form else {}
    context: dict[str, Any] = {
        "shown": page_of(request.user, row),
        "row": row,
        "system": row.system,
        "may_work": may_work,
        "entry": entry,
        "limits": limits_of(row.system, [one["name"] for one in entry["limits"]]) if entry else {},
        "owners": states.owners_for(row.system.team) if may_work else (),
        "kind": type(form).__name__ if form else "",
        "typed": typed,
        "error": error,
    }
    return page(request, "findings/finding.html", context, 400 if error else 200)
