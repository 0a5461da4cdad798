"""The source documents as data: every table and figure, what is made of it, and the platforms they compare."""

import functools
from typing import Any

from rules.documents import DOCUMENTS, Entry
from rules.kit import rules
from rules.laws.platforms import CHARTS_ALONE, PUBLISHED


def entry_data(one: Entry) -> dict[str, Any]:
    """Turn one table or figure into the shape the page and JSON use."""
    ids = _rule_ids()
    return {
        "place": one.place,
        "kind": one.kind,
        "shows": one.shows,
        "figures": list(one.figures),
        "figures_missing": one.figures_missing,
        "quoted": one.quoted,
        "slip": one.slip or None,
        "used": one.used,
        "rules": [name for name in one.used_by if name in ids],
        "modules": [name for name in one.used_by if name not in ids],
        "tests": list(one.tests),
    }


@functools.cache
def _rule_ids() -> frozenset[str]:
    return frozenset(one.id for one in rules())


def documents() -> list[dict[str, Any]]:
    """All five, in order, with every entry."""
    return [
        {
            "document": one.number,
            "title": one.title,
            "by": one.by,
            "about": one.about,
            "entries": [entry_data(entry) for entry in one.entries],
        }
        for one in DOCUMENTS
    ]


def platforms() -> dict[str, Any]:
    """What was published of one machine against another, and what of it stands in charts without figures."""
    return {
        "pairs": [
            {
                "what": one.what,
                "unit": one.unit or None,
                "first": {"name": one.first.name, "value": one.first.value},
                "second": {"name": one.second.name, "value": one.second.value},
                "times": one.times,
                "printed": one.printed,
                "applies_to": one.applies_to,
                "source": one.source,
            }
            for one in PUBLISHED
        ],
        "charts_alone": list(CHARTS_ALONE),
    }
