"""The views of an OpenVMS capture."""

from functools import partial
from typing import Any

from django.http import Http404, HttpResponse

from advisor.audits.models import Audit
from advisor.audits.report.placement import COLUMNS as PLACED_COLUMNS
from advisor.audits.report.placement import placement_of
from advisor.audits.report.plan import steps_of
from advisor.audits.views import capture
from advisor.audits.views.capture import Column, csv_file, sorted_by
from advisor.charts.sized import sized
from advisor.core.concurrency import few_at_a_time
from advisor.core.views import Asked, page
from advisor.findings.services.pages import cluster_states
from advisor.openvms.services import cluster_plan
from advisor.openvms.services.cluster import RULES as CLUSTER_RULES
from advisor.openvms.services.cluster import (
    Absent,
    Row,
    agreement,
    cluster_view,
    masters,
    picture,
)
from advisor.openvms.services.cpus import RULES as CPU_RULES
from advisor.openvms.services.cpus import cpu_map
from advisor.openvms.services.day import day_view
from advisor.openvms.services.latencies import REFERENCE, matrix_of
from advisor.openvms.services.lock_trees import RULES as TREE_RULES
from advisor.openvms.services.lock_trees import LockTreesView, TreeRow, lock_trees_view, picture_label
from advisor.openvms.services.lock_trees import drawn as trees_drawn
from advisor.openvms.services.pictures import drawn, pictures_of
from advisor.openvms.services.rule_verdicts import rule_verdicts_of
from advisor.openvms.services.stored import Stored, stored
from advisor.openvms.services.what_if import UNPROVEN, answer
from collectors.facts import known
from collectors.facts.openvms import Curve, LockActivity, LockQueues


def audit_for(request: Asked, pk: int) -> tuple[Audit, Stored]:
    """The audit, if it is this person's to see and of an OpenVMS node, and the facts of its capture."""
    audit = capture.audit_of(request, pk, "openvms")
    return audit, stored(audit.capture)


def head(audit: Audit, kept: Stored, here: str) -> dict[str, Any]:
    """What the top of each view needs; `here` is the name of its address."""
    return capture.head(audit, kept.problems, here)


def _of(field: str) -> Any:
    """Sort by a figure of the member; what is no number has no place."""

    def value(row: Row) -> float | None:
        found = getattr(row.member, field)
        return found if known(found) else None

    return value


FIGURES = (
    ("cpus", "cpus", "CPUs"),
    ("operations", "operations_per_second", "Lock operations/s"),
    ("local", "local_per_second", "Local/s"),
    ("incoming", "incoming_per_second", "Incoming/s"),
    ("outgoing", "outgoing_per_second", "Outgoing/s"),
)
SETTINGS = (
    ("synch", "mp_synch_percent", "MP synch, % of one CPU"),
    ("dirwt", "lock_directory_weight", "LOCKDIRWT"),
    ("rmwt", "lock_remaster_weight", "LOCKRMWT"),
    ("pe1", "pe1", "PE1"),
    ("out", "moved_out_per_second", "Trees moved out/s"),
    ("in", "moved_in_per_second", "Trees moved in/s"),
)
COLUMNS = (
    Column("node", "Node", lambda row: row.member.name, figure=False),
    Column("hardware", "Hardware", lambda row: row.hardware, figure=False),
    Column("version", "Version", lambda row: row.version, figure=False),
    *(Column(key, words, _of(field)) for key, field, words in FIGURES),
    Column("elsewhere", "Own requests served elsewhere, %", lambda row: row.elsewhere_percent),
    *(Column(key, words, _of(field)) for key, field, words in SETTINGS),
    Column("dedicated", "Lock manager", lambda row: dedicated(row.member.dedicated), figure=False),
    Column("from", "Interval", lambda row: row.member.start.isoformat() if row.member.start else None, figure=False),
)


def dedicated(on: bool | None) -> str | None:
    """Whether the lock manager has a CPU of its own, in words."""
    return None if on is None else ("own CPU" if on else "shared")


def cluster(request: Asked, pk: int) -> HttpResponse:
    """Show it: `?sort=` a column, `?master=` a node for the what-if."""
    audit, kept = audit_for(request, pk)
    view = cluster_view(kept.facts, audit.system.name)
    rows, sort = sorted_by(view.rows, COLUMNS, request.GET.get("sort", "")[:20])
    joint: dict[str, Any] = audit.cluster or {}
    plan = joint.get("plan") or {"steps": [], "conflicts": []}
    steps = steps_of(plan, *cluster_states(audit)) if plan["steps"] else []
    context = {
        **head(audit, kept, "openvms-cluster"),
        "placed": placement_of(joint),
        "placed_columns": PLACED_COLUMNS,
        "plan": plan,
        "steps": steps,
        "sheet": cluster_plan.sheet(audit) if joint.get("plan", {}).get("steps") else None,
        "view": view,
        "verdicts": rule_verdicts_of(audit, CLUSTER_RULES),
        "rows": rows,
        "columns": COLUMNS,
        "sort": sort,
        "agreement": agreement(view),
        "picture": sized(partial(picture, view)) if view.rows or view.absent else None,
        "matrix": matrix_of(kept.facts),
        "reference": REFERENCE,
        "masters": masters(kept.facts, view, request.GET.get("master", "")[:200]),
        "figures": [field for _, field, _ in FIGURES],
        "settings": [field for _, field, _ in SETTINGS],
        "dedicated": dedicated,
    }
    return page(request, "openvms/cluster.html", context)


def cluster_csv(request: Asked, pk: int) -> HttpResponse:
    """Hand over the figures, a line for each node; nodes without exports have no figures."""
    audit, kept = audit_for(request, pk)
    view = cluster_view(kept.facts, audit.system.name)
    heading = (
        *("node", "exports", "hardware", "version", "start", "end", "lock manager", "own requests elsewhere percent"),
        *(field.replace("_", " ") for _, field, _ in (*FIGURES, *SETTINGS)),
        "not numbers",
    )
    rows = [_line(row) for row in view.rows] + [_named(one) for one in view.absent]
    return csv_file(audit, "cluster", heading, rows)


@few_at_a_time(4)
def cluster_scripts(request: Asked, pk: int) -> HttpResponse:
    """Hand over the plan of its cluster as an archive: a run sheet, and files of DCL for each node."""
    audit = capture.audit_of(request, pk, "openvms")
    if not audit.cluster.get("plan", {}).get("steps"):
        raise Http404
    answer = HttpResponse(cluster_plan.archive(audit), content_type="application/zip")
    answer["Content-Disposition"] = f'attachment; filename="lockwright-cluster-{audit.pk}.zip"'
    return answer


def _line(row: Row) -> tuple[object, ...]:
    one = row.member
    read = {field: getattr(one, field) for _, field, _ in (*FIGURES, *SETTINGS)}
    times = [time.isoformat(sep=" ", timespec="seconds") if time else None for time in (one.start, one.end)]
    return (
        *(one.name, "this capture" if one.own else "brought", row.hardware, row.version, *times),
        *(dedicated(one.dedicated), row.elsewhere_percent),
        *(value if known(value) else None for value in read.values()),
        "; ".join(f"{field.replace('_', ' ')}: {value.value}" for field, value in read.items() if not known(value)),
    )


def _named(one: Absent) -> tuple[object, ...]:
    empty = [None] * (4 + len(FIGURES) + len(SETTINGS))
    return (one.name, "not uploaded", one.hardware, one.software, *empty, f"named in {one.where}")


TREE_COLUMNS = (
    Column("tree", "Tree", lambda row: row.what, figure=False),
    Column("kind", "Kind", lambda row: row.resource.kind, figure=False),
    Column("requests", "Requests/s", lambda row: row.total),
    Column("share", "Share, %", lambda row: row.percent),
    Column("master", "Master", lambda row: row.tree.master, figure=False),
    Column("reports", "In reports", lambda row: float(row.seen)),
)


def lock_trees(request: Asked, pk: int) -> HttpResponse:
    """Show who makes the locks: `?report=` which report, from 1; `?sort=` a column."""
    audit, kept = audit_for(request, pk)
    asked = request.GET.get("report", "")[:6]
    view = lock_trees_view(kept.facts, int(asked) - 1 if asked.isascii() and asked.isdigit() else None)
    rows, sort = sorted_by(view.rows, TREE_COLUMNS, request.GET.get("sort", "")[:20])
    context = {
        **head(audit, kept, "openvms-lock-trees"),
        "view": view,
        "rows": rows,
        "columns": TREE_COLUMNS,
        "sort": sort,
        "label": picture_label,
        "lacking": (LockActivity.COLLECTED_BY, LockQueues.COLLECTED_BY),
        "picture": sized(partial(trees_drawn, view)) if any(row.total for row in view.rows) else None,
        "verdicts": rule_verdicts_of(audit, TREE_RULES),
    }
    return page(request, "openvms/lock_trees.html", context)


def lock_trees_csv(request: Asked, pk: int) -> HttpResponse:
    """Hand over the trees of every report, a line for each node that asks."""
    audit, kept = audit_for(request, pk)
    heading = (
        *("report", "time", "tree", "kind", "volume or device lock name", "file id", "file", "name last byte first"),
        *("requests per second", "percent of all", "master", "node", "node's requests per second", "source"),
    )
    reports = len(lock_trees_view(kept.facts).pictures)
    views = [lock_trees_view(kept.facts, at) for at in range(reports)]
    rows = [line for view in views if view.picture for row in view.rows for line in _tree_lines(view, row)]
    return csv_file(audit, "lock-trees", heading, rows)


def _tree_lines(view: LockTreesView, row: TreeRow) -> list[tuple[object, ...]]:
    picture = view.picture
    at = picture.activity.at if picture else None
    named = row.named.name if row.named and row.named.sure else None
    return [
        (
            *(view.shown + 1, at.isoformat(sep=" ") if at else None, row.tree.text, row.resource.kind),
            *(row.resource.volume, str(row.file) if row.file else None, named, row.digits),
            *(row.total, row.percent, row.tree.master, node, rate, str(row.tree.source)),
        )
        for node, rate in row.asks
    ]


def cpus(request: Asked, pk: int) -> HttpResponse:
    """Show it."""
    audit, kept = audit_for(request, pk)
    shown = cpu_map(kept.facts)
    context = {
        **head(audit, kept, "openvms-cpus"),
        "shown": shown,
        "picture": sized(partial(drawn, shown)) if shown.cores else None,
        "verdicts": rule_verdicts_of(audit, CPU_RULES),
    }
    return page(request, "openvms/cpus.html", context)


def day(request: Asked, pk: int) -> HttpResponse:
    """Show it: `?export=` the number of an export, where several have curves."""
    audit, kept = audit_for(request, pk)
    shown = day_view(audit, kept.facts, request.GET.get("export", ""))
    context = {**head(audit, kept, "openvms-day"), "shown": shown, "bring": (Curve.COLLECTED_BY,)}
    return page(request, "openvms/day.html", context)


def what_if(request: Asked, pk: int) -> HttpResponse:
    """Show it with what the address asks for: a figure for each field."""
    audit, kept = audit_for(request, pk)
    given = {name: str(value) for name, value in request.GET.items()}
    answered = answer(kept.facts, audit, given)
    context = {
        **head(audit, kept, "openvms-what-if"),
        "answered": answered,
        "pictures": pictures_of(answered),
        "unproven": UNPROVEN,
    }
    return page(request, "openvms/what_if.html", context)
