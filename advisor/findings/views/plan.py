"""One plan over several systems: the page, the run sheet over all, the scripts as an archive."""

from typing import Any

from django.http import HttpResponse
from django.utils import timezone
from django.views.decorators.http import require_safe

from advisor.core.access import groups_of
from advisor.core.concurrency import few_at_a_time
from advisor.core.error_pages import error
from advisor.core.views import Asked, page
from advisor.findings.services import plan_files
from advisor.findings.services.applied import applied
from advisor.findings.services.joint_plan import JointPlan, TooMany, joint_plan
from advisor.findings.services.listing import STATE_WORDS
from advisor.findings.services.selection import MOST_SYSTEMS, Selection, named
from advisor.findings.views.act import ACTS, owners

SHORT = 6
"""Systems that are shown without opening anything."""


@require_safe
@few_at_a_time(4)
def show(request: Asked) -> HttpResponse:
    """Show the plan of the systems that the address names (`services.selection.Selection`)."""
    selected = Selection.read(request.GET)
    context: dict[str, Any] = {
        "selected": selected,
        "groups": list(groups_of(request.user)),
        "views": list(request.user.saved_views.all()),
        "most": MOST_SYSTEMS,
    }
    if not selected:
        return page(request, "findings/plan_choose.html", context)
    try:
        plan = joint_plan(request.user, selected)
    except TooMany as why:
        return page(request, "findings/plan_choose.html", {**context, "refused": str(why)}, 400)
    rows = applied(plan)
    context |= {
        "plan": plan,
        "named": named(request.user, selected),
        "rows": rows,
        "states": {state: words for state, words in STATE_WORDS.items() if any(state in row.cells for row in rows)},
        "state_words": STATE_WORDS,
        "short": SHORT,
    }
    if request.user.may_work:
        context |= {"acts": ACTS, "workers": owners(request.user)}
    return page(request, "findings/plan.html", context)


@require_safe
@few_at_a_time(4)
def sheets(request: Asked) -> HttpResponse:
    """Show the run sheet over all of them, to be printed: each system on a sheet of its own."""
    selected = Selection.read(request.GET)
    try:
        plan = joint_plan(request.user, selected)
    except TooMany as why:
        return error(request, 400, "Too many systems", str(why))
    context = {"plan": plan, "selected": selected, "sheets": plan_files.sheets(plan)}
    return page(request, "findings/plan_sheets.html", context)


@require_safe
@few_at_a_time(4)
def scripts(request: Asked) -> HttpResponse:
    """Hand over the scripts of all of them as a ZIP archive; of a single system it is named after that one."""
    try:
        plan = joint_plan(request.user, Selection.read(request.GET))
    except TooMany as why:
        return error(request, 400, "Too many systems", str(why))
    answer = HttpResponse(plan_files.archive(plan), content_type="application/zip")
    answer["Content-Disposition"] = f'attachment; filename="lockwright-{_of(plan)}-{timezone.localdate()}.zip"'
    return answer


def _of(plan: JointPlan) -> str:
    return plan_files.name_of(plan.systems[0]) if len(plan.systems) == 1 else f"plan-of-{len(plan.systems)}-systems"
