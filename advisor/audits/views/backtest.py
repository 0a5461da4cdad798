"""A limit that is tried on stored captures: how far it is, what it would change; save it, and undo that."""

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_POST, require_safe

from advisor.audits.models import Backtest
from advisor.audits.services import backtest
from advisor.audits.services.rulebook import rulebook
from advisor.audits.views.rulebook import renewed
from advisor.core.access import backtests_of, captures_of, may_work_for
from advisor.core.records import Refused
from advisor.core.views import Asked, page
from advisor.systems.models import System
from advisor.systems.services.history import when_each


def _row(request: Asked, pk: int) -> Backtest:
    rows = backtests_of(request.user).select_related("system__team", "system__latest", "by")
    return get_object_or_404(rows.defer("captures"), pk=pk)


def _may_work(request: Asked, system: System | None) -> bool:
    return request.user.is_administrator if system is None else may_work_for(request.user, system.team)


def _for_work(request: Asked, pk: int) -> Backtest:
    row = _row(request, pk)
    if not _may_work(request, row.system):
        raise PermissionDenied("Your role reads. Ask an administrator for the role of a DBA.")
    return row


@require_safe
def show(request: Asked, pk: int) -> HttpResponse:
    """Show it; while it runs the page asks for this part again (htmx)."""
    row = _row(request, pk)
    rule = row.name.rpartition(".")[0]
    entry = next((one for one in rulebook(rule) if one["rule"] == rule), None)
    listed = row.result.get("listed", ())
    captures = captures_of(request.user).filter(pk__in={one[0] for one in listed}).select_related("system")
    shown = {one.pk: one for one in captures.only("taken", "timed", "interval", "files", "audit", "system__name")}
    named = when_each(shown.values())
    context = {
        "row": row,
        "entry": entry,
        "limit": next((one for one in entry["limits"] if row.name.endswith(f".{one['limit']}")), None)
        if entry
        else None,
        "rule": rule,
        "of": min(row.there, backtest.MOST_CAPTURES),
        "system": row.system,
        "may_work": _may_work(request, row.system),
        "may_undo": backtest.may_undo(row),
        "listed": [(shown[one[0]], *one[1:]) for one in listed if one[0] in shown],
        "when": lambda one: named[one.pk],
        "finding": _finding(row, rule),
    }
    return page(request, "audits/parts/backtest.html" if request.htmx else "audits/backtest.html", context)


def _finding(row: Backtest, rule: str) -> int | None:
    """The page of the rule's finding on this system, where there is just one."""
    found = list(row.system.tracked.filter(rule=rule).values_list("pk", flat=True)[:2]) if row.system else []
    return found[0] if len(found) == 1 else None


@require_POST
def save(request: Asked, pk: int) -> HttpResponse:
    """Set the limit to what was tried."""
    row = _for_work(request, pk)
    try:
        backtest.save(row, request.user, request=request)
    except (backtest.BadLimit, Refused) as why:
        messages.error(request, f"Nothing was saved. {why}")
    else:
        messages.success(request, f"{row.name} is {row.value:g} now, {row.old:g} before. {renewed(row.system)}")
    return redirect("backtest", pk)


@require_POST
def undo(request: Asked, pk: int) -> HttpResponse:
    """Go back to what counted before it was saved."""
    row = _for_work(request, pk)
    try:
        backtest.undo(row, request.user, request=request)
    except (backtest.BadLimit, Refused) as why:
        messages.error(request, str(why))
    else:
        messages.success(request, f"Undone: {row.name} is {row.old:g} again. {renewed(row.system)}")
    return redirect("backtest", pk)
