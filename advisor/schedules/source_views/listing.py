"""Every data source: of which system, and whether it could be asked the last time somebody tried."""

from dataclasses import dataclass

from django.db.models import OuterRef, Subquery
from django.http import HttpResponse

from advisor.core.access import sources_of
from advisor.core.views import Asked, page, paged
from advisor.schedules.models import DataSource, SourceTry
from advisor.schedules.sources import data_sources


@dataclass(frozen=True)
class Row:
    """A data source as the list shows it."""

    source: DataSource
    last: SourceTry | None


def rows_of(sources: list[DataSource]) -> list[Row]:
    """Each with its newest try, in one query for all; the sources are annotated with `last_try`."""
    numbers = [one.last_try for one in sources if one.last_try]  # type: ignore[attr-defined]
    tries = {row.source_id: row for row in SourceTry.objects.filter(pk__in=numbers)}
    return [Row(one, tries.get(one.pk)) for one in sources]


NEWEST = Subquery(SourceTry.objects.filter(source=OuterRef("pk")).order_by("-pk").values("pk")[:1])


def show(request: Asked) -> HttpResponse:
    """Show the data sources of my teams."""
    found = sources_of(request.user).select_related("system__team").annotate(last_try=NEWEST)
    shown = paged(request, found.order_by("system__team__name", "system__name", "name"))
    context = {
        "rows": rows_of(list(shown)),
        "shown": shown,
        "several_teams": request.user.is_administrator or request.user.teams.count() > 1,
        "unopened": data_sources.unopened(sources_of(request.user)),
    }
    return page(request, "schedules/source_list.html", context)
