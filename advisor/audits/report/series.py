"""The contract's JSON of a load series: its points, the law fitted to them, and where adding more does harm."""

from collections.abc import Sequence
from typing import Any

from advisor.audits.report.plain import plain
from rules.laws.clock import AsMeasured, AtOneClock, others_as_measured, slower_ones
from rules.laws.modes import modes_by_point
from rules.laws.usl import Model, harm_from


def model_data(model: Model, among: Sequence[Model] = ()) -> dict[str, Any]:
    """One load series and its law; `among` are all of the capture, for those of another clock.

    `law` is `usl` or `usl-capped`; of the latter `cap` is the load beyond which the rate no longer changes, and
    `first_law` the law that did not fit. `modes` has an entry for each of `points`: per cent of one CPU.
    """
    series, fitted = model.series, model.fitted
    others = [other.series for other in among]
    return {
        **_law_data(model),
        "peak_load": plain(model.peak_load) if fitted else None,
        "peak_rate": plain(model.peak_rate) if fitted else None,
        "file": series.source.file,
        "usable": model.usable,
        "load_name": series.load_name,
        "rate_name": series.rate_name,
        "points": [[point.load, point.rate] for point in series.points],
        "title": series.title,
        "lines": [series.source.first, series.source.last],
        "residual_error": plain(model.residual_error),
        "limit": plain(model.limit) if fitted else None,
        "best_load": plain(model.best_load) if fitted else None,
        "harm_from": plain(harm_from(model)),
        "first_law": _law_data(model.first) if model.first else None,
        "remarks": list(model.remarks),
        "clock_mhz": plain(series.clock_mhz),
        "cores": series.cores,
        "derived": series.derived,
        "modes": modes_by_point(series),
        "at_one_clock": [_clock_data(one) for one in slower_ones(series, others)],
        "as_measured": [_measured_data(one) for one in others_as_measured(series, others)],
    }


def _law_data(model: Model) -> dict[str, Any]:
    """Which law, its coefficients with their standard errors, and whether it may be used."""
    fitted = model.fitted
    errors = dict(zip(("alpha", "beta", "gamma"), model.errors, strict=True)) if model.errors else None
    return {
        "law": model.law,
        "shape": model.shape,
        "cap": model.cap,
        "alpha": model.alpha if fitted else None,
        "beta": model.beta if fitted else None,
        "gamma": model.gamma if fitted else None,
        "errors": plain(errors),
        "r2": model.r2 if fitted else None,
        "why_not": model.why_not,
    }


def _clock_data(one: AtOneClock) -> dict[str, Any]:
    """A series of a slower clock beside this one, at the clock of this one: `loads` are load, this, that, ratio."""
    more = one.more_per_cycle
    return {
        "title": one.slow.title,
        "file": one.slow.source.file,
        "from_mhz": one.slow.clock_mhz,
        "to_mhz": one.fast.clock_mhz,
        "loads": [[each.load, each.before.rate, plain(each.after.rate), plain(each.ratio)] for each in one.common],
        "more_per_cycle": more.title if more else None,
        "says": one.says,
    }


def _measured_data(one: AsMeasured) -> dict[str, Any]:
    """Two machines of which no clock tells, as measured: `loads` are load, the one, the other, ratio."""
    return {
        "title": one.other.title,
        "file": one.other.source.file,
        "against": one.one.title,
        "loads": [[each.load, each.before.rate, each.after.rate, plain(each.ratio)] for each in one.common],
        "says": one.says,
    }
