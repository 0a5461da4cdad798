"""Facts of a case as an export has them that lacks something: rules and comparisons must bear it, and what they say of
it is accepted as a whole (`tests.whole`), so that a guard which no claim names is noticed when it goes."""

import dataclasses
import re
from functools import cache
from random import Random
from typing import Any

from advisor.audits.services.examples import fact_class

SETTINGS = re.compile(
    r"Parameter|NamedCache|CachePool\b|[._](?:cpus?|cores?|sockets|processors|engines|threads|partitions|load|weight|pe1|"
    r"number|cothread|mode|level|nodes|kilobytes)\b|_id\b|size_kb|page"
)
"""Facts and fields that an administrator chose, or that number something: they stay."""
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


def uneven(facts: Items, name: str) -> Items:
    """The facts with counts and measures like those of a real export, which no division leaves without a remainder."""
    dice = Random(name)
    return [
        {
            kind: {
                field: value if SETTINGS.search(f"{kind}.{field}") else _uneven(value, dice)
                for field, value in (fields or {}).items()
            }
            for kind, fields in item.items()
        }
        for item in facts
    ]


def _uneven(value: Any, dice: Random) -> Any:
    """Up to a quarter of a per cent more or less; large whole numbers stay whole."""
    if isinstance(value, list):
        return [_uneven(one, dice) for one in value]
    if not isinstance(value, float):
        return value
    new = value * dice.uniform(0.9975, 1.0025)
    return float(round(new)) if value.is_integer() and abs(value) >= 1000 else new


@cache
def _required(kind: str) -> list[str]:
    """The fields without which there is no such fact."""
    every = dataclasses.fields(fact_class(kind))
    return [one.name for one in every if one.default is one.default_factory is dataclasses.MISSING]
