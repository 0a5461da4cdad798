"""The views of load series: those of a capture, by their settings, and what the captures of a system make over time."""

from collections.abc import Iterator
from decimal import Decimal

from django.http import HttpResponse
from django.shortcuts import get_object_or_404

from advisor.audits.models import Audit
from advisor.audits.views.capture import audit_of, csv_file, head
from advisor.core.access import systems_of
from advisor.core.concurrency import few_at_a_time
from advisor.core.views import Asked, page
from advisor.series.services import machines, others
from advisor.series.services.fitted import MODE_WORDS, Fitted
from advisor.series.services.over_time import LEAST_LOADS, over_time
from advisor.series.services.stored import Stored, stored
from advisor.systems.services import history
from collectors.facts.scaling import LoadSeries, ParameterSeries
from rules.laws.derived import DEMAND
from rules.laws.usl import NOISE_PERCENT

MOST_ROWS = 200
"""Runs in the table of one series; the CSV file has all."""
MOST_FURTHER = 60
"""Further columns of the CSV file."""


@few_at_a_time(4)
def capture(request: Asked, pk: int) -> HttpResponse:
    """Show them: `?series=` the number of the one that others are held against, `?with=` audits, `?scaled=1`."""
    audit, kept = _audit(request, pk)
    base = _base(kept, request.GET.get("series", ""))
    wanted = others.numbers(request.GET.getlist("with"))
    found, missing = others.offered(request.user, audit, wanted)
    own = [machines.Offered(one) for one in kept.series if one is not base and _same(one, base)]
    scaled = request.GET.get("scaled") == "1"
    context = {
        **head(audit, kept.problems, "loads"),
        "kept": kept,
        "base": base,
        "wanted": wanted,
        "scaled": scaled,
        "missing": missing,
        "compared": machines.compare(base, [*own, *found], scaled=scaled) if base and not base.refused else None,
        "choices": others.choices(request.user, audit, base, wanted) if base else [],
        "most": machines.MOST,
        "most_rows": MOST_ROWS,
        "mode_words": MODE_WORDS,
        "bring_words": (LoadSeries.COLLECTED_BY,),
    }
    return page(request, "series/capture.html", context)


@few_at_a_time(4)
def settings(request: Asked, pk: int) -> HttpResponse:
    """Show the runs of one machine under several values of a setting, beside what was published of it."""
    audit, kept = _audit(request, pk)
    context = {
        **head(audit, kept.problems, "load-settings"),
        "kept": kept,
        "noise": NOISE_PERCENT,
        "bring_words": (ParameterSeries.COLLECTED_BY,),
    }
    return page(request, "series/settings.html", context)


def capture_csv(request: Asked, pk: int) -> HttpResponse:
    """Hand over the runs, a line for each; what a table has beside load, rate and modes in columns at the end."""
    audit, kept = _audit(request, pk)
    further = list(dict.fromkeys(name for one in kept.series for name in one.further))[:MOST_FURTHER]
    heading = (
        *("series", "title", "file and line", "load name", "load", "rate name", "rate", "rate by the law"),
        "percent of the highest mean rate",
        *(f"{words.lower()} processors" for words in MODE_WORDS.values()),
        *further,
    )
    return csv_file(audit, "loads", heading, (row for one in kept.series for row in _rows(one, further)))


def _audit(request: Asked, pk: int) -> tuple[Audit, Stored]:
    audit = audit_of(request, pk, None)
    return audit, stored(audit.capture)


def _base(kept: Stored, asked: str) -> Fitted | None:
    """The series asked for, else the first that can be what it claims, else the first; `None`: there is none."""
    named = next((one for one in kept.series if str(one.number) == asked), None)
    return named or next((one for one in kept.series if not one.refused), next(iter(kept.series), None))


def _same(one: Fitted, base: Fitted | None) -> bool:
    """Whether a series counts the same as the base: others of this capture are not worth a word."""
    return base is not None and (one.series.load_name, one.series.rate_name) == (
        base.series.load_name,
        base.series.rate_name,
    )


def _rows(one: Fitted, further: list[str]) -> Iterator[tuple[object, ...]]:
    series = one.series
    for run in one.runs():
        given = dict(zip(one.modes, run.processors, strict=True))
        yield (
            *(one.number, series.title, run.where, series.load_name, _exact(run.point.load), series.rate_name),
            *(_exact(run.point.rate), _rounded(run.fitted), _rounded(run.share)),
            *(_exact(given.get(mode)) for mode in MODE_WORDS),
            *(_exact(run.point.other(name)) for name in further),
        )


def _exact(value: float | None) -> Decimal | None:
    """A figure as it was read: not rounded to the four decimals of what was computed."""
    return None if value is None else Decimal(f"{value:.15g}")


def _rounded(value: float | None) -> Decimal | None:
    """A computed figure with six digits."""
    return None if value is None else Decimal(f"{value:.6g}")


@few_at_a_time(4)
def system(request: Asked, pk: int) -> HttpResponse:
    """Show it, of the newest captures."""
    system = get_object_or_404(systems_of(request.user).only("pk", "name", "product"), pk=pk)
    seen = history.recent(system)
    context = {
        "system": system,
        "found": over_time(seen),
        "captures": len(seen),
        "most": history.MOST_CAPTURES,
        "demand": DEMAND,
        "least": LEAST_LOADS,
    }
    return page(request, "series/system.html", context)
