"""Every system with its worst finding, and what is not audited although it should be."""

from typing import Any

from django.http import HttpResponse

from advisor.core.access import sources_of
from advisor.core.jinja import SEVERITY
from advisor.core.sorting import both_ways
from advisor.core.views import Asked, page, paged
from advisor.findings.services import fleet
from advisor.findings.services.listing import STATE_WORDS
from advisor.schedules.sources import data_sources
from advisor.systems.services import overview
from advisor.uploads.services import examples
from advisor.uploads.services.listing import being_read
from advisor.uploads.services.uploads import clean_text

ONLY = ("changed", "not_audited", "overdue", "snoozed")
A_PAGE = 30
"""Systems on a page: a screen shows fifteen, the worst come first, and a page costs by its rows."""
COLUMNS = (
    ("system", "System", ""),
    ("lost", "Capacity lost, mean", ""),
    ("worst", "Worst finding", ""),
    ("trend", "Trend", ""),
    ("findings", "Findings", ""),
    ("captured", "Last capture", "n"),
    ("unjudged", "Not judged", "n"),
)
"""Name in the address, heading, class of the cells."""


def show(request: Asked) -> HttpResponse:
    """Show the systems that the address asks for (`overview.Asked`)."""
    asked = _asked(request)
    since = overview.begin_visit(request.user)
    found = overview.listed(request.user, asked)
    numbers = overview.in_order(found, asked)
    if asked.only:  # computed, not stored
        every = overview.rows(overview.shown(numbers), since)
        some = paged(request, [row for row in every if getattr(row, asked.only)], A_PAGE)
        rows = list(some)
    else:
        some = paged(request, numbers, A_PAGE)
        rows = overview.rows(overview.shown(list(some)), since)
    context: dict[str, Any] = {
        "rows": rows,
        "state_words": STATE_WORDS,
        "columns": COLUMNS,
        "shown": some,
        "asked": asked,
        "since": since,
        "summary": overview.summary(request.user),
    }
    if request.htmx:
        return page(request, "systems/parts/overview_table.html", context)
    if not context["summary"]["systems"] and request.user.may_work:
        context |= examples.offered(request.user)
    if context["summary"]["reading"]:
        context |= {"now": being_read(request.user), "followed": False}
    context["yesterday"] = fleet.since_yesterday(request.user)
    context["troubled"] = list(overview.without_system(request.user))
    context["unopened"] = data_sources.unopened(sources_of(request.user))
    return page(request, "systems/overview.html", context)


def _asked(request: Asked) -> overview.Asked:
    """Read the address; a word that it does not know asks for nothing."""

    def one_of(name: str, words: tuple[str, ...]) -> str:
        given = request.GET.get(name, "")
        return given if given in words else ""

    return overview.Asked(
        q=clean_text(request.GET.get("q", ""), 200),
        severity=one_of("severity", SEVERITY[1:]),
        worst=one_of("worst", SEVERITY),
        product=clean_text(request.GET.get("product", ""), 20),
        only=one_of("only", ONLY),
        sort=one_of("sort", both_ways(overview.COLUMNS)),
    )
