"""Before and after: captures of one system held against each other, as a page and as files."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from django.core.exceptions import ObjectDoesNotExist
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404
from django.utils.http import urlencode

from advisor.audits.models import Capture
from advisor.audits.report.compared import force_of, settings_of
from advisor.audits.report.render import render
from advisor.audits.services.compared_accounts import accounts_of
from advisor.audits.services.compared_page import (
    TONES,
    answer_of,
    drawn_of,
    findings_of,
    picture_of,
    rows_of,
    to_bring,
)
from advisor.audits.services.comparing import MOST_A_SIDE, Busy, Compared, Sides, comparable, compared, sides_of
from advisor.audits.views.audit import REPORT_CSP
from advisor.charts.compared import ratio_words
from advisor.charts.fluid import share_bar
from advisor.core.access import may_work_for, systems_of
from advisor.core.csv_files import csv_lines
from advisor.core.error_pages import error
from advisor.core.records import Refused
from advisor.core.views import Asked, page
from advisor.findings.services.conclude import CONCLUSIONS
from advisor.findings.services.elsewhere import made_elsewhere
from advisor.findings.services.pages import worst_now
from advisor.systems.models import System
from advisor.systems.services import history
from advisor.uploads.services.uploads import file_part

FORMS = {
    "json": "application/json",
    "txt": "text/plain; charset=utf-8",
    "html": "text/html; charset=utf-8",
    "csv": "text/csv; charset=utf-8",
}
WORDS = (
    ("gone", "Gone", "good"),
    ("new", "New", "warning"),
    ("not_judged_before", "Found now, could not be judged before", "note"),
    ("still", "Still there", "note"),
    ("not_judged", "Stood before, no longer judged", "note"),
)
"""What became of findings: keys of `compare/1`, words, and the shape before them."""
LISTED = 60
"""Captures to choose from: the newest, and those that were chosen."""
COLUMNS = ("key", "metric", "unit", "before", "after", "per_work_unit", "per_work_before", "per_work_after")
JUDGED = ("ratio", "low", "high", "better", "decides")


def show(request: Asked, pk: int) -> HttpResponse:
    """Show it: `?before=` and `?after=` name captures, several times where a side has several."""
    system = _system(request, pk)
    try:
        sides = _sides(request, system)
        made = compared(sides, wait=False)
    except Refused as why:
        context = {"system": system, "refused": str(why), **_choice(system, *_asked(request))}
        return page(request, "audits/compared.html", context, 400 if request.GET else 200)
    except Busy as why:
        return _busy(request, why)
    rows = rows_of(made.data)
    judged = made.data["verdict"] != "not-comparable"
    context = {
        "system": system,
        "refused": "",
        "sides": sides,
        "data": made.data,
        "problems": made.problems,
        "answer": answer_of(made.data),
        "judged": judged,
        "drawn": drawn_of(rows) if judged else [],
        "accounts": accounts_of(sides.before, sides.after, system.product) if judged else [],
        "tone": TONES[made.data["verdict"]],
        "rows": rows,
        "picture": picture_of(rows),
        "ratio_words": ratio_words,
        "findings": findings_of(made.data, sides.before, sides.after),
        "bring": to_bring(made.data),
        "in_force": force_of,
        "share_bar": share_bar,
        "settings_of": settings_of,
        "words": WORDS,
        "may_conclude": judged and may_work_for(request.user, system.team),
        "conclusions": CONCLUSIONS,
        "elsewhere": made_elsewhere(request.user, system, _rules_of(made.data)) if judged else [],
        "file_name": _file_name(system),
        "query": urlencode(_query(sides), doseq=True),
        **_choice(system, [one.pk for one in sides.before], [one.pk for one in sides.after]),
    }
    return page(request, "audits/compared.html", context)


def download(request: Asked, pk: int, name: str, form: str) -> HttpResponse:
    """Hand it over as `json`, `txt`, `html` or, its figures, `csv`. The name in the address is for people alone."""
    if form not in FORMS:
        raise Http404
    system = _system(request, pk)
    try:
        made = compared(_sides(request, system), wait=False)
    except Refused as why:
        return error(request, 400, "Not compared", str(why))
    except Busy as why:
        return _busy(request, why)
    answer = HttpResponse(_body(made, form), content_type=FORMS[form])
    answer["Content-Disposition"] = f'attachment; filename="{_file_name(system)}.{form}"'
    answer["Content-Security-Policy"] = REPORT_CSP
    return answer


def _body(made: Compared, form: str) -> str:
    if form == "json":
        return json.dumps(made.data, ensure_ascii=False, indent=1, allow_nan=False)
    if form == "csv":
        return _csv(made.data["metrics"])
    return render("compare", made.data, form)


def _csv(metrics: Iterable[dict[str, Any]]) -> str:
    """A line for each figure: texts made safe for a spreadsheet, nothing for what is not known."""
    names = (*COLUMNS, *JUDGED)
    rows = ((_cell(metric[name]) for name in names) for metric in metrics)
    return "".join(csv_lines([name.replace("_", " ") for name in names], rows))


def _cell(value: Any) -> Any:
    return ("yes" if value else "no") if isinstance(value, bool) else value


def _system(request: Asked, pk: int) -> System:
    return get_object_or_404(systems_of(request.user).select_related("team"), pk=pk)


def _asked(request: Asked) -> tuple[list[int], list[int]]:
    """The captures asked for on either side. Raises `Http404` for what is no number."""
    before, after = (_numbers(request.GET.getlist(name)) for name in ("before", "after"))
    return before, after


def _numbers(given: Iterable[str]) -> list[int]:
    """Each once. An empty one is none: a form sends it."""
    wanted = [one for one in dict.fromkeys(given) if one]
    if not all(one.isascii() and one.isdigit() and len(one) < 19 for one in wanted):
        raise Http404
    return [int(one) for one in wanted]


def _sides(request: Asked, system: System) -> Sides:
    """Raises `Http404` for a capture that is not of this system, `Refused`."""
    before, after = _asked(request)
    try:
        return sides_of(system, before, after)
    except ObjectDoesNotExist:
        raise Http404 from None


def _query(sides: Sides) -> dict[str, list[int]]:
    return {"before": [one.pk for one in sides.before], "after": [one.pk for one in sides.after]}


def _rules_of(data: Mapping[str, Any]) -> set[str]:
    """The rules whose advice is in force by now."""
    return {one["finding"].split(":", 1)[0] for one in data["changes"] if one["applied"] and one["finding"]}


def _choice(system: System, before: list[int], after: list[int]) -> dict[str, Any]:
    """The captures one may choose from, newest first, and which are chosen."""
    found = (
        comparable(system)
        .annotate(worst_now=worst_now())
        .select_related("audit")
        .only(*("system", "taken", "timed", "interval", "files", "seconds", "audit__worst"))
    )
    newest = list(found[:LISTED])
    known = {one.pk for one in newest}
    others = [one for one in (*before, *after) if one not in known]
    older = list(found.filter(pk__in=others)) if others else []
    named = history.when_each((*newest, *older))
    return {
        "captures": [*newest, *older],
        "more": comparable(system).count() - len(newest) - len(older),
        "most_a_side": MOST_A_SIDE,
        "chosen": {"before": before, "after": after},
        "when": lambda one: named.get(one.pk) or when(one),
    }


def when(capture: Capture) -> str:
    """A capture's time for people."""
    own = history.own_time(capture.taken, capture.timed, capture.interval)
    return history.when(own, capture.timed)


def _file_name(system: System) -> str:
    return f"lockwright-{file_part(system.name)}-compare"


def _busy(request: Asked, why: Busy) -> HttpResponse:
    answer = error(request, 503, "Busy", str(why))
    answer["Retry-After"] = "5"
    return answer
