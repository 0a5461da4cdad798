"""Facts of a case as an export has them that lacks something: rules and comparisons must bear it, and what they say of
it is accepted as a whole (`tests.whole`), so that a guard which no claim names is noticed when it goes."""

import dataclasses
from functools import cache
from random import Random
from typing import Any

from advisor.audits.services.examples import fact_class

Items = list[dict[str, dict[str, Any] | None]]


def varied(facts: Items, name: str) -> dict[str, Items]:
    """The facts of the case `name` in two other ways, the same ones in every run."""
    dice = Random(name)
    return {"without": _without_one(facts, dice), "other": _with_other(facts, dice)}


def _without_one(facts: Items, dice: Random) -> Items:
    at = dice.randrange(len(facts)) if facts else 0
    return [*facts[:at], *facts[at + 1 :]]


def _with_other(facts: Items, dice: Random) -> Items:
    """The facts with one field left out, or one figure zero, doubled or halved."""
    places = [
        (at, kind, fields, field)
        for at, item in enumerate(facts)
        for kind, fields in item.items()
        for field in fields or {}
        if fields and field not in ("source", *_required(kind))
    ]
    if not places:
        return facts
    at, kind, fields, field = dice.choice(places)
    changed = {name: value for name, value in fields.items() if name != field}
    old, times = fields[field], dice.choice([None, 0, 0, 2, 0.5])
    if times is not None and isinstance(old, int | float) and not isinstance(old, bool):
        changed[field] = type(old)(times * old)
    return [*facts[:at], {kind: changed}, *facts[at + 1 :]]


@cache
def _required(kind: str) -> list[str]:
    """The fields without which there is no such fact."""
    every = dataclasses.fields(fact_class(kind))
    return [one.name for one in every if one.default is one.default_factory is dataclasses.MISSING]
