"""The cache map: the data caches as a picture, the binding plan of the audit beside it, the figures as a table."""

from django.http import HttpResponse

from advisor.services.ase import picture
from advisor.services.ase.caches import Shown
from advisor.services.ase.planned import planned
from advisor.web.ase.kit import audit_for, head
from advisor.web.captured import Column, csv_file, sorted_by
from advisor.web.kit import Asked, page

COLUMNS = (
    Column("name", "Cache", lambda one: one.name.lower(), figure=False),
    Column("size", "Size, MB", lambda one: one.size_mb),
    Column("partitions", "Partitions", lambda one: one.partitions),
    Column("searches", "Searches, % of all", lambda one: one.searches_share),
    Column("spins", "Spins, % of all", lambda one: one.load.spins_share),
    Column("waited", "Grabs that waited, %", lambda one: one.load.percent),
    Column("hottest", "Hottest partition, %", lambda one: one.load.hottest),
    Column("coldest", "Coldest partition, %", lambda one: one.load.coldest),
)


def show(request: Asked, pk: int) -> HttpResponse:
    """Show it: `?sort=` a column."""
    audit, views = audit_for(request, pk)
    shown = views.caches
    plan = planned(audit, shown)
    rows, sort = sorted_by(shown.caches, COLUMNS, request.GET.get("sort", "")[:20])
    context = {
        **head(audit, views, "ase-caches"),
        "shown": shown,
        "rows": rows,
        "columns": COLUMNS,
        "sort": sort,
        "plan": plan,
        "now": picture.now(shown) if shown.caches else None,
        "after": picture.after(shown, plan) if plan and shown.caches else None,
        "percent": picture.percent,
    }
    return page(request, "ase/caches.html", context)


def as_csv(request: Asked, pk: int) -> HttpResponse:
    """Hand over the figures, a line for each cache."""
    audit, views = audit_for(request, pk)
    heading = (
        *("cache", "kind", "size mb", "partitions", "replacement", "pending", "pools", "searches share percent"),
        *("spins share percent", "waited percent", "hottest percent", "coldest percent", "load from"),
        *("bound objects", "most searched"),
    )
    return csv_file(audit, "caches", heading, (_row(one) for one in views.caches.caches))


def _row(one: Shown) -> tuple[object, ...]:
    share = None if one.searches_share is None else round(100 * one.searches_share, 4)
    return (
        *(
            one.name,
            one.kind,
            one.size_mb,
            one.partitions,
            one.replacement,
            "; ".join(one.pending),
            "; ".join(one.pools),
        ),
        *(share, one.load.spins_share, one.load.percent, one.load.hottest, one.load.coldest, one.load.said),
        *(one.bound_count, "; ".join(held.name for held in one.residents)),
    )
