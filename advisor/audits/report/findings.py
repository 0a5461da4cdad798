"""What is said of a finding in one line, from the JSON shape alone."""

from collections.abc import Mapping
from itertools import chain
from typing import Any

from rules.finding import rounded


def limited(finding: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Its figures that were held against a limit: numbers. What else has one is a name or a setting."""
    return [one for one in finding["evidence"] if one["limit"] is not None and isinstance(one["value"], int | float)]


def first_figure(finding: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Its first figure that is beyond its limit, else that has one, else its first one; `None` where it has none."""
    beyond = (one for one in limited(finding) if one["value"] >= one["limit"])
    with_limit = (one for one in finding["evidence"] if one["limit"] is not None)
    return next(chain(beyond, with_limit, finding["evidence"]), None)


def subject_of(finding: Mapping[str, Any], text: str) -> str:
    """Its subject as it stands before a text of it; without the part that the text itself begins with."""
    subject = str(finding["subject"])
    own = subject.rpartition(": ")[2]
    lead = subject.removesuffix(own).removesuffix(": ") if text.lower().startswith(own.lower()) else subject
    return f"{lead}: " if lead else ""


def figure_words(finding: Mapping[str, Any]) -> str:
    """That figure: `mean chain 19.2 resources per bucket, limit 1`; empty where it has none."""
    one = first_figure(finding)
    if one is None:
        return ""
    unit = f" {one['unit']}" if one["unit"] else ""
    limit = "" if one["limit"] is None else f", limit {rounded(one['limit'])}"
    return f"{one['metric']} {rounded(one['value'])}{unit}{limit}"
