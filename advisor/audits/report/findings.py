"""What is said of a finding in one line, from the JSON shape alone."""

from collections.abc import Mapping
from typing import Any

from rules.finding import rounded


def first_figure(finding: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Its first figure that is beyond its limit, else that has one, else its first one; `None` where it has none."""
    evidence = finding["evidence"]
    limited = [one for one in evidence if one["limit"] is not None]
    beyond = [one for one in limited if isinstance(one["value"], int | float) and one["value"] >= one["limit"]]
    return next(iter([*beyond, *limited, *evidence]), None)


def figure_words(finding: Mapping[str, Any]) -> str:
    """That figure: `mean chain 19.2 resources per bucket, limit 1`; empty where it has none."""
    one = first_figure(finding)
    if one is None:
        return ""
    unit = f" {one['unit']}" if one["unit"] else ""
    limit = "" if one["limit"] is None else f", limit {rounded(one['limit'])}"
    return f"{one['metric']} {rounded(one['value'])}{unit}{limit}"
