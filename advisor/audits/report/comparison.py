"""The contract's JSON of a comparison: `compare/1`. Once released it only grows."""

from typing import Any

from advisor.audits.report.plain import plain
from rules.compare.comparison import Comparison, End
from rules.compare.metrics import Metric
from rules.laws.comparability import LIMIT


def comparison_data(one: Comparison) -> dict[str, Any]:
    """One comparison; of a table that holds both sides also where it stands."""
    data: dict[str, Any] = {
        "contract": "compare/1",
        "system": {"name": one.name, "product": one.product},
        "before": _end(one.before),
        "after": _end(one.after),
        "comparable": {
            "score": None if one.score is None else round(one.score, 3),
            "limit": LIMIT,
            "why": [part.why for part in one.parts],
            "parts": [
                {"part": part.part, "similarity": round(part.similarity, 3), "why": part.why, "meant": part.meant}
                for part in one.parts
            ],
        },
        "unit_of_work": one.unit_of_work,
        "metrics": [_metric(metric) for metric in one.metrics],
        "findings": {
            "gone": list(one.findings.gone),
            "new": list(one.findings.new),
            "still": list(one.findings.still),
            "not_judged": list(one.findings.not_judged),
            "not_judged_before": list(one.findings.not_judged_before),
        },
        "configuration": [
            {"setting": differs.name, "before": plain(differs.before), "after": plain(differs.after)}
            for differs in one.settings
        ],
        "settings": [
            {
                "target": differs.name,
                "before": plain(differs.before),
                "after": plain(differs.after),
                "advised": differs.advised,
            }
            for differs in one.settings
        ],
        "changes": [
            {
                "target": change.target,
                "from": plain(change.old),
                "to": plain(change.new),
                "applied": change.applied,
                "now": plain(change.now),
                "finding": change.finding,
            }
            for change in one.changes
        ],
        "normalised": one.normalised,
        "bring": list(one.bring),
        "remarks": list(one.remarks),
        "verdict": one.verdict,
        "why": one.why,
    }
    if one.source:
        data |= {"file": one.source.file, "lines": [one.source.first, one.source.last]}
    return data


def _end(end: End) -> dict[str, Any]:
    capture, interval = end.capture, end.interval
    return {
        "label": end.label,
        "start": plain(interval.start) if interval else None,
        "end": plain(interval.end) if interval else None,
        "seconds": plain(interval.seconds) if interval else None,
        "captures": end.captures,
        "samples": end.samples,
        "files": list(end.files),
        "version": capture.system.version if capture else None,
        "platform": capture.system.platform if capture else None,
        "processors": capture.system.processors if capture else None,
    }


def _metric(one: Metric) -> dict[str, Any]:
    """A metric; `ratio` is that per unit of work where there is one, and so is its interval."""
    return {
        "key": one.key,
        "metric": one.label,
        "unit": one.unit,
        "before": plain(one.before),
        "after": plain(one.after),
        "per_work_unit": one.work_unit,
        "per_work_before": plain(one.work_before),
        "per_work_after": plain(one.work_after),
        "ratio": plain(one.ratio),
        "low": plain(one.noise.low) if one.noise and one.noise.bounded else None,
        "high": plain(one.noise.high) if one.noise and one.noise.bounded else None,
        "noise": one.noise.how if one.noise else None,
        "direction": one.direction,
        "better": one.better,
        "decides": one.decides,
    }
