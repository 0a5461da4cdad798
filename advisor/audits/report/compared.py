"""What the text and the HTML of a comparison say of each figure: from the JSON shape alone."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rules.compare.words import percent

WORDS = {True: "better", False: "worse"}
IN_FORCE = {True: "in force", False: "not in force", None: "no export of the after tells"}
NOT_LISTED = "not listed"
"""In place of a setting whose cache or binding the listing of that side does not have."""


def force_of(change: Mapping[str, Any]) -> str:
    """Whether a change that was advised before is in force; what is there instead, where it is something else."""
    word, now = IN_FORCE[change["applied"]], change.get("now")
    if now is None:
        return word
    now = f"{now:,.10g}" if isinstance(now, int | float) else now
    return f"{word}, in another form: {now}" if change["applied"] else f"{word}: {now}"


def settings_of(data: Mapping[str, Any]) -> list[tuple[str, Any, Any, str]]:
    """What a comparison lists of settings: name, before, after, and the key of the finding that advised it, if any."""
    return [
        (
            one["target"],
            NOT_LISTED if one["before"] is None else one["before"],
            NOT_LISTED if one["after"] is None else one["after"],
            one["advised"] or "",
        )
        for one in data.get("settings", ())
    ]


@dataclass(frozen=True)
class Row:
    """One figure in words; `before` and `after` are those per unit of work where there are any."""

    name: str
    unit: str
    before: float | None
    after: float | None
    change: str
    """`-33 %, 95 % interval -37 to -28 %`; empty where there is nothing to divide by."""
    word: str
    """`better`, `worse`, or empty: within the noise, or neither is better."""
    decides: bool
    per_work: bool


def row_of(metric: Mapping[str, Any]) -> Row:
    """Make the row of one metric of `compare/1`."""
    per = metric["per_work_unit"]
    ends = (metric["per_work_before"], metric["per_work_after"]) if per else (metric["before"], metric["after"])
    name, unit = metric["metric"], metric["unit"] or ""
    if per and per.startswith(name):  # `lock requests per committed transaction` says it all
        name, unit = per, ""
    elif per:
        unit = per
    return Row(
        name,
        unit,
        _short(ends[0]),
        _short(ends[1]),
        _change(metric),
        WORDS.get(metric["better"], ""),
        metric["decides"],
        bool(per),
    )


def _change(metric: Mapping[str, Any]) -> str:
    if metric["ratio"] is None:
        return ""
    change = f"{percent(metric['ratio'])} %"
    if metric["low"] is None:
        return change
    how = "95 % interval" if metric.get("noise") == "bootstrap" else "every pair of samples"
    return f"{change}, {how} {percent(metric['low'])} to {percent(metric['high'])} %"


def _short(value: float | None) -> float | None:
    """As sentences have it: four significant digits, whole numbers above 1,000; more would claim what no sample has."""
    if value is None:
        return None
    return float(round(value)) if abs(value) >= 1000 else float(f"{value:.4g}")
