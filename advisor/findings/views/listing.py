"""The findings of all systems: filtered, sorted, a page at a time, as the address says."""

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.views.decorators.http import require_POST

from advisor.accounts.models import User
from advisor.core.access import groups_of, systems_of
from advisor.core.views import Asked, page, paged, refusal_told
from advisor.findings.services import listing
from advisor.findings.services.listing import Filter
from advisor.findings.views.act import ACTS, owners

A_PAGE = 50
COLUMNS = (
    ("severity", "Severity", ""),
    ("finding", "Finding", ""),
    ("system", "System", ""),
    ("lost", "CPUs lost", ""),
    ("when", "Takes effect", ""),
    ("state", "State", ""),
    ("owner", "Owner", ""),
    ("seen", "Seen", "n"),
)
"""Name in the address, heading, class of the cells."""


def show(request: Asked) -> HttpResponse:
    """Show the findings that the address asks for (`services.listing.Filter`)."""
    asked = Filter.read(request.GET.dict())
    found = listing.counts(request.user, asked)
    numbers = listing.listed(request.user, asked).values_list("pk", flat=True)
    shown = paged(request, numbers, A_PAGE, found.total)
    rows = listing.rows(list(shown))
    context = {
        "asked": asked,
        "counts": found,
        "shown": shown,
        "rows": rows,
        "scale": max((capacity(one) for one in rows), default=0.0),
        "columns": COLUMNS,
        "sorted_words": {name: words for name, words, _ in COLUMNS},
        "state_words": listing.STATE_WORDS,
        "when_words": listing.WHEN_WORDS,
        "changed_words": listing.CHANGED,
        "presences": listing.PRESENCE_WORDS,
        "views": list(request.user.saved_views.all()),
    }
    if request.user.may_work:
        context |= {"acts": ACTS, "workers": owners(request.user)}
    if not request.htmx:
        context |= _choices(request.user, asked, found)
    return page(request, "findings/parts/list.html" if request.htmx else "findings/list.html", context)


def capacity(tracked: Any) -> float:
    """The processors that the bar of a finding is held against: those of its system, and never fewer than are lost."""
    return max(tracked.processors or 0.0, float(tracked.system.processors or 0) if tracked.processors else 0.0)


def _choices(user: User, asked: Filter, found: listing.Counts) -> dict[str, Any]:
    """What the selects offer."""
    owners = User.objects.filter(pk__in=[pk for pk in found.owner if pk]).order_by("username")
    system = systems_of(user).filter(pk=int(asked.system)).first() if asked.system else None
    return {
        "rules": listing.rules_seen(user),
        "groups": list(groups_of(user)),
        "owners": [(one, found.owner[one.pk]) for one in owners],
        "products": sorted(systems_of(user).order_by().values_list("product", flat=True).distinct()),
        "of_system": system,
    }


@require_POST
def keep(request: Asked) -> HttpResponse:
    """Keep the filter that the page shows under a name."""
    with refusal_told(request):
        view = listing.keep(request.user, request.POST.get("name", ""), request.POST.get("query", ""))
        messages.success(request, f"The view {view.name} is kept.")
        return redirect(f"{reverse('findings')}?{view.query}")
    return redirect("findings")


@require_POST
def let_go(request: Asked, pk: int) -> HttpResponse:
    """Let a view of one's own go."""
    view = get_object_or_404(request.user.saved_views, pk=pk)
    view.delete()
    messages.success(request, f"The view {view.name} is removed.")
    return redirect(f"{reverse('findings')}?{view.query}")


def navigation(request: HttpRequest) -> dict[str, Callable[[], int]]:
    """Offer the number of open findings to every template; it is counted where a template asks for it."""
    return {"open_findings": lambda: listing.open_count(request.user)}  # type: ignore[arg-type]  # of those who are logged in
