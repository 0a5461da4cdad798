"""The spinlocks of a capture: by spins, by share of waits, and all figures as a table."""

from django.http import HttpResponse

from advisor.services.ase.spinlocks import verdicts
from advisor.web.ase.kit import audit_for, head
from advisor.web.captured import Column, csv_file, sorted_by
from advisor.web.kit import Asked, page, paged

TOP = 15
"""Spinlocks in each of the two rankings; the table has them all."""
PAGE = 50
COLUMNS = (
    Column("name", "Spinlock", lambda row: row.name.lower(), figure=False),
    Column("grabs", "Grabs", lambda row: row.grabs),
    Column("waits", "Waits", lambda row: row.waits),
    Column("spins", "Spins", lambda row: row.spins),
    Column("share", "Share of all spins, %", lambda row: row.spins_share),
    Column("contention", "Contention, %", lambda row: row.percent),
    Column("each", "Spins for each wait", lambda row: row.spins_per_wait),
    Column("rows", "Rows (hottest, coldest)", lambda row: row.rows),
    Column("rule", "Rule", lambda row: row.rule, figure=False),
)


def show(request: Asked, pk: int) -> HttpResponse:
    """Show them: `?sort=` a column, `?page=`."""
    audit, views = audit_for(request, pk)
    found = views.spinlocks
    rows, sort = sorted_by(found.rows, COLUMNS, request.GET.get("sort", "")[:20])
    context = {
        **head(audit, views, "ase-spinlocks"),
        "found": found,
        "by_spins": found.rows[:TOP] if found.has_spins else (),
        "by_share": found.by_share[:TOP],
        "rows": paged(request, rows, PAGE),
        "columns": COLUMNS,
        "sort": sort,
        "verdicts": verdicts(audit),
    }
    return page(request, "ase/spinlocks.html", context)


def as_csv(request: Asked, pk: int) -> HttpResponse:
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
        for row in found.rows
    ]
    rows += [(one.name, *([None] * 12), f"not believed: {one.why}") for one in found.doubts]
    for one in found.shares:
        why = f"sp_sysmon{': ' if one.why else ''}{one.why}"
        rows.append(
            (one.name, *([None] * 4), one.percent, *([None] * 5), one.rule, said.of(one.rule, one.name).word, why)
        )
    return csv_file(audit, "spinlocks", heading, rows)
