"""Every system with its worst finding, and what is not audited although it should be."""

from django.http import HttpResponse

from advisor.core.access import sources_of
from advisor.core.jinja import SEVERITY
from advisor.core.views import Asked, page, paged
from advisor.schedules.sources import data_sources
from advisor.systems.services import overview
from advisor.uploads.services.uploads import clean_text

ONLY = ("changed", "not_audited", "overdue")


def show(request: Asked) -> HttpResponse:
    """Show the systems that the address asks for: `?q=`, `?severity=`, `?product=`, `?only=` one of `ONLY`."""
    get = request.GET
    word = get.get("severity", "")
    only = get.get("only", "")
    asked = overview.Asked(
        text=clean_text(get.get("q", ""), 200),
        severity=SEVERITY.index(word) if word in SEVERITY else 0,
        product=clean_text(get.get("product", ""), 20),
        only=only if only in ONLY else "",
    )
    since = overview.begin_visit(request.user)
    found = overview.listed(request.user, asked)
    if asked.only:  # computed, not stored
        rows = [row for row in overview.rows(list(found), since) if getattr(row, asked.only)]
        shown = paged(request, rows, 200)
        rows = list(shown)
    else:
        shown = paged(request, found, 200)
        rows = overview.rows(list(shown), since)
    context = {
        "rows": rows,
        "shown": shown,
        "asked": asked,
        "since": since,
        "summary": overview.summary(request.user),
    }
    if request.htmx:
        return page(request, "systems/parts/overview_table.html", context)
    context["troubled"] = list(overview.without_system(request.user))
    context["unopened"] = data_sources.unopened(sources_of(request.user))
    return page(request, "systems/overview.html", context)
