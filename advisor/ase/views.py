"""Views of one stored capture of an SAP ASE: waits, blocking, statements, cache map, spinlocks, what-if."""

from functools import partial
from typing import Any

from django.http import HttpResponse

from advisor.ase.services import picture
from advisor.ase.services.caches import Shown
from advisor.ase.services.planned import planned
from advisor.ase.services.spinlocks import judged, ranked, ranked_shares, verdicts
from advisor.ase.services.statements import Statement
from advisor.ase.services.stored import Views, views_of
from advisor.ase.services.waits import over_time
from advisor.ase.services.what_if.form import MOST_OBJECTS, answer
from advisor.audits.models import Audit
from advisor.audits.views import capture
from advisor.audits.views.capture import Column, csv_file, sorted_by
from advisor.charts import fluid
from advisor.charts.sized import sized
from advisor.core.views import Asked, page, paged


def audit_for(request: Asked, pk: int) -> tuple[Audit, Views]:
    """The audit, if it is this person's to see and of an ASE, and what is shown of its capture."""
    audit = capture.audit_of(request, pk, "ase")
    return audit, views_of(audit.capture)


def head(audit: Audit, views: Views, here: str) -> dict[str, Any]:
    """What the top of each view needs; `here` is the name of its address."""
    return {**capture.head(audit, views.problems, here), "sampled": views.sampled}


WAIT_COLUMNS = (
    Column("event", "Waits for", lambda one: one.text.lower(), figure=False),
    Column("tasks", "Tasks waiting, mean", lambda one: one.tasks),
    Column("rate", "Waits a second", lambda one: one.per_second),
    Column("mean", "Mean wait, ms", lambda one: one.mean_milliseconds),
)


def waits(request: Asked, pk: int) -> HttpResponse:
    """Show what tasks waited for, by tasks or `?sort=` a column."""
    audit, views = audit_for(request, pk)
    found = views.waits
    rows, sort = sorted_by(found.events, WAIT_COLUMNS, request.GET.get("sort", "")[:20])
    course, captures = over_time(audit)
    context = {
        **head(audit, views, "ase-waits"),
        "found": found,
        "rows": rows,
        "columns": WAIT_COLUMNS,
        "sort": sort,
        "course": course,
        "captures": captures,
        "said": verdicts(audit).words,
        "part_bar": fluid.part_bar,
    }
    return page(request, "ase/waits.html", context)


def waits_csv(request: Asked, pk: int) -> HttpResponse:
    """Hand over the figures, a line for each event of work and each that is left out."""
    audit, views = audit_for(request, pk)
    heading = (
        *("event", "description", "tasks waiting", "share of waiting tasks percent", "waits", "waits per second"),
        *("seconds waited", "mean wait ms", "group", "remark"),
    )
    rows: list[tuple[object, ...]] = [
        (
            *(one.number, one.text, one.tasks, one.percent, one.waits, one.per_second, one.seconds),
            *(one.mean_milliseconds, one.group, one.unsure),
        )
        for one in views.waits.events
    ]
    rows += [
        (one.number, one.text, None, None, one.waits, None, one.seconds, None, "left out", one.why)
        for one in views.waits.left_out
    ]
    return csv_file(audit, "waits", heading, rows)


def blocking(request: Asked, pk: int) -> HttpResponse:
    """Show who blocks whom at the moment of the export, and the deadlocks it tells of."""
    audit, views = audit_for(request, pk)
    return page(request, "ase/blocking.html", {**head(audit, views, "ase-blocking"), "found": views.blocking})


PAGE = 50
STATEMENT_COLUMNS = (
    Column("name", "Statement", lambda one: one.name, figure=False),
    Column("executions", "Executions", lambda one: one.executions),
    Column("reads", "Logical reads", lambda one: one.reads),
    Column("physical", "Physical reads", lambda one: one.physical),
    Column("each", "Time of each, ms", lambda one: one.each_ms),
    Column("locks", "Lock waits", lambda one: one.lock_waits),
    Column("waited", "Waited for locks, ms", lambda one: one.lock_wait_ms),
)


def statements(request: Asked, pk: int) -> HttpResponse:
    """Show who does the work: `?sort=` a column, `?page=`, and `?values=shown` for text with the values in it."""
    audit, views = audit_for(request, pk)
    found = views.statements
    rows, sort = sorted_by(found.statements, STATEMENT_COLUMNS, request.GET.get("sort", "")[:20])
    context = {
        **head(audit, views, "ase-statements"),
        "found": found,
        "rows": paged(request, rows, PAGE),
        "columns": STATEMENT_COLUMNS,
        "sort": sort,
        "values": request.GET.get("values") == "shown",
    }
    return page(request, "ase/statements.html", context)


def statements_csv(request: Asked, pk: int) -> HttpResponse:
    """Hand over the figures, a line for each statement, its text without values."""
    audit, views = audit_for(request, pk)
    heading = (
        *("statement", "executions", "logical reads", "physical reads", "mean elapsed ms", "lock waits"),
        *("lock wait ms", "counted", "tables named in its text", "text without values"),
    )
    return csv_file(audit, "statements", heading, (_statement_line(one) for one in views.statements.statements))


def _statement_line(one: Statement) -> tuple[object, ...]:
    figures = (one.executions, one.reads, one.physical, one.each_ms, one.lock_waits, one.lock_wait_ms)
    return (one.name, *figures, one.when, "; ".join(one.tables), one.masked)


CACHE_COLUMNS = (
    Column("name", "Cache", lambda one: one.name.lower(), figure=False),
    Column("size", "Size, MB", lambda one: one.size_mb),
    Column("partitions", "Partitions", lambda one: one.partitions),
    Column("searches", "Searches, % of all", lambda one: one.searches_share),
    Column("spins", "Spins, % of all", lambda one: one.load.spins_share),
    Column("waited", "Grabs that waited, %", lambda one: one.load.percent),
    Column("hottest", "Hottest partition, %", lambda one: one.load.hottest),
    Column("coldest", "Coldest partition, %", lambda one: one.load.coldest),
)


def caches(request: Asked, pk: int) -> HttpResponse:
    """Show it: `?sort=` a column."""
    audit, views = audit_for(request, pk)
    shown = views.caches
    plan = planned(audit, shown)
    rows, sort = sorted_by(shown.caches, CACHE_COLUMNS, request.GET.get("sort", "")[:20])
    context = {
        **head(audit, views, "ase-caches"),
        "shown": shown,
        "rows": rows,
        "columns": CACHE_COLUMNS,
        "sort": sort,
        "plan": plan,
        "now": sized(partial(picture.now, shown), halves=plan is not None) if shown.caches else None,
        "after": sized(partial(picture.after, shown, plan), halves=True) if plan and shown.caches else None,
        "percent": picture.percent,
    }
    return page(request, "ase/caches.html", context)


def caches_csv(request: Asked, pk: int) -> HttpResponse:
    """Hand over the figures, a line for each cache."""
    audit, views = audit_for(request, pk)
    heading = (
        *("cache", "kind", "size mb", "partitions", "replacement", "pending", "pools", "searches share percent"),
        *("spins share percent", "waited percent", "hottest percent", "coldest percent", "load from"),
        *("bound objects", "most searched"),
    )
    return csv_file(audit, "caches", heading, (_cache_line(one) for one in views.caches.caches))


def _cache_line(one: Shown) -> tuple[object, ...]:
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


SPINLOCK_COLUMNS = (
    Column("name", "Spinlock", lambda row: row.name.lower(), figure=False),
    Column("share", "Share of all spins, %", lambda row: row.spins_share),
    Column("contention", "Grabs that waited, %", lambda row: row.percent),
    Column("spins", "Spins", lambda row: row.spins),
    Column("grabs", "Grabs", lambda row: row.grabs),
    Column("waits", "Waits", lambda row: row.waits),
    Column("each", "Spins for each wait", lambda row: row.spins_per_wait),
)


def spinlocks(request: Asked, pk: int) -> HttpResponse:
    """Show them as the findings rank them, or `?sort=` by a column; `?page=`."""
    audit, views = audit_for(request, pk)
    found, said = views.spinlocks, verdicts(audit)
    rows, sort = sorted_by(ranked(found.rows, said), SPINLOCK_COLUMNS, request.GET.get("sort", "")[:20])
    shown = paged(request, rows, PAGE)
    context = {
        **head(audit, views, "ase-spinlocks"),
        "found": found,
        "rows": shown,
        "judged": judged(shown, views.facts, audit, said),
        "shares": ranked_shares(found.shares, said),
        "columns": SPINLOCK_COLUMNS,
        "sort": sort,
        "verdicts": said,
        "share_bar": fluid.part_bar,
    }
    return page(request, "ase/spinlocks.html", context)


def spinlocks_csv(request: Asked, pk: int) -> HttpResponse:
    """Hand over all figures, a line for each name; what is not believed has its reason and no figure."""
    audit, views = audit_for(request, pk)
    found, said = views.spinlocks, verdicts(audit)
    heading = (
        *("spinlock", "grabs", "waits", "spins", "share of all spins percent", "contention percent"),
        *("spins for each wait", "rows", "rows not believed", "hottest percent", "coldest percent", "rule"),
        *("verdict", "remark"),
    )
    over = "interval" if found.of_interval else "since boot"
    rows: list[tuple[object, ...]] = [
        (
            *(row.name, row.grabs, row.waits, row.spins, row.spins_share, row.percent, row.spins_per_wait, row.rows),
            *(row.doubtful, row.hottest, row.coldest, row.rule, said.of(row.rule, row.name).word, over),
        )
        for row in ranked(found.rows, said)
    ]
    rows += [(one.name, *([None] * 12), f"not believed: {one.why}") for one in found.doubts]
    for one in ranked_shares(found.shares, said):
        why = f"sp_sysmon{': ' if one.why else ''}{one.why}"
        rows.append(
            (one.name, *([None] * 4), one.percent, *([None] * 5), one.rule, said.of(one.rule, one.name).word, why)
        )
    return csv_file(audit, "spinlocks", heading, rows)


def what_if(request: Asked, pk: int) -> HttpResponse:
    """Show it with what the address asks for: a field for each setting, `move=` for each object."""
    audit, views = audit_for(request, pk)
    given = {name: str(value) for name, value in request.GET.items()}
    moved = [name[:800] for name in request.GET.getlist("move")[:MOST_OBJECTS]]
    answered = answer(views.facts, views.caches, views.contents, audit, given, moved)
    return page(request, "ase/what_if.html", {**head(audit, views, "ase-what-if"), "answered": answered})
