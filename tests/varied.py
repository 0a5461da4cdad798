"""Facts of a case as an export has them that lacks something, or that shows more: rules and comparisons must bear it,
and what they say of it is accepted as a whole (`tests.whole`), so that a condition which no claim names is noticed
when it goes."""

import dataclasses
import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from functools import cache
from hashlib import blake2b
from random import Random
from typing import Any

from advisor.audits.services.examples import fact_class

SETTINGS = re.compile(
    r"Parameter|NamedCache|CachePool\b|[._](?:cpus?|cores?|sockets|processors|engines|threads|partitions|load|weight|pe1|"
    r"number|cothread|mode|level|nodes|kilobytes)\b|_id\b|size_kb|page"
)
"""Facts and fields that an administrator chose, or that number something: they stay."""
Items = list[dict[str, dict[str, Any] | None]]
NAME = re.compile(r"[A-Za-z_$][\w$.-]*")
LONG = "_" + "abcdefghij" * 12
WORDS = (
    "interval",
    "mean",
    "peak",
    "p95",
    "ok",
    "online",
    "dbo",
    "table",
    "index",
    "database",
    "Active",
    "Mixed",
    "Default",
)
"""Texts of facts that look like names and are none: which figure it is, and what a listing is of."""
FACTORS = (None, 0, 0, 2, 0.5, 10, 0.1)
"""What becomes of a figure; `None`: it is not there."""


def varied(facts: Items, name: str, others: Mapping[str, Items] = {}, rounds: Iterable[int] = (0,)) -> dict[str, Items]:
    """The facts of the case `name` in some other ways, the same ones in every run.

    `others`: the facts of other cases of that rule, of which kinds of facts are borrowed.
    `rounds`: by number; what more of them show is little beside what they take.
    """
    found: dict[str, Items] = {}
    for number in rounds:
        found |= {} if number else {"long": _long_names(facts)}
        dice = Random(f"{name} {number}" if number else name)
        found |= {
            f"without{number or ''}": _without_one(facts, dice),
            f"other{number or ''}": _with_other(facts, dice),
            f"kindless{number or ''}": _without_kind(facts, dice),
            f"scaled{number or ''}": _scaled(facts, dice),
            f"many{number or ''}": _many(facts, dice),
        }
        if others:
            # by name, so that a case that is added changes few of these pairs
            other = others[max(others, key=lambda one: blake2b(f"{name} {number} {one}".encode()).digest())]
            found[f"swapped{number or ''}"] = _with_kind_of(facts, other, dice)
            found[f"besides{number or ''}"] = [*facts, *_of_other_kinds(facts, other)]
    return found


def each(facts: Items) -> Iterator[tuple[str, Items]]:
    """The facts in every way that differs in one place: a fact or a field is left out, or a figure is another."""
    for at, item in enumerate(facts):
        yield f"{at}", [*facts[:at], *facts[at + 1 :]]
        for kind, field in _fields(item):
            for value in _instead(kind, field, (item[kind] or {})[field]):
                yield f"{at}.{kind}.{field}={value}", [*facts[:at], _with(item, kind, field, value), *facts[at + 1 :]]


def _instead(kind: str, field: str, old: Any) -> Iterator[Any]:
    """Values that a field may have as well; `None`: it is left out."""
    if field not in _required(kind):
        yield None
    if isinstance(old, bool):
        yield not old
    elif isinstance(old, int | float):
        yield from (abs(0 * old), 2 * old) if old else (old + 1,)


def turning_points(
    facts: Items, said_of: Callable[[Items], Hashable], known: set[Hashable]
) -> dict[str, list[tuple[float, bool]]]:
    """Where what is said becomes another as one figure grows from a hundredth of what it is to ten times as much.

    Of each figure: the value, to nine digits, and whether there it is said already what is said above. Of the facts of
    a kind the first two are taken; what turns as one that is `known` did is left out.
    """
    found: dict[str, list[tuple[float, bool]]] = {}
    base = said_of(facts)
    many: Counter[str] = Counter()
    for at, item in enumerate(facts):
        many.update(list(item))
        for kind, field in _fields(item):
            old = (item[kind] or {})[field]
            if many[kind] > 2 or isinstance(old, bool) or not isinstance(old, int | float) or not old:
                continue

            def said(value: float, at: int = at, kind: str = kind, field: str = field) -> Hashable:
                return said_of([*facts[:at], _with(facts[at], kind, field, value), *facts[at + 1 :]])

            for end in (type(old)(0.01 * old), 10 * old):
                turn = (kind, field, base, beyond := said(end))
                if beyond != base and turn not in known:
                    known.add(turn)
                    found.setdefault(f"{at}.{kind}.{field}", []).append(_turn(min(end, old), max(end, old), said))
    return found


def _turn(low: float, high: float, said: Callable[[float], Hashable]) -> tuple[float, bool]:
    """The figure between two of which another thing is said, and whether that holds for the figure itself."""
    below, whole = said(low), isinstance(low, int)
    while high - low > (1 if whole else 1e-11 * abs(high)):
        middle = (low + high) // 2 if whole else (low + high) / 2
        low, high = (middle, high) if said(middle) == below else (low, middle)
    at = high if whole else float(f"{high:.9g}")
    return at, said(at) != below


def _without_one(facts: Items, dice: Random) -> Items:
    at = dice.randrange(len(facts)) if facts else 0
    return [*facts[:at], *facts[at + 1 :]]


def _with_other(facts: Items, dice: Random) -> Items:
    """The facts with one figure changed, or one field left out."""
    places = [(at, *place) for at, item in enumerate(facts) for place in _fields(item)]
    if not places:
        return facts
    at, kind, field = dice.choice(places)
    return [*facts[:at], _changed(facts[at], kind, field, dice.choice(FACTORS)), *facts[at + 1 :]]


def _without_kind(facts: Items, dice: Random) -> Items:
    """The facts without all of one kind: a report that nobody collected."""
    kinds = sorted({kind for item in facts for kind in item})
    gone = dice.choice(kinds) if kinds else ""
    return [item for item in facts if gone not in item]


def _scaled(facts: Items, dice: Random) -> Items:
    """The facts with one figure changed alike in all facts of its kind."""
    places = sorted({place for item in facts for place in _fields(item)})
    if not places:
        return facts
    (kind, field), times = dice.choice(places), dice.choice(FACTORS)
    return [_changed(item, kind, field, times) if kind in item else item for item in facts]


def _many(facts: Items, dice: Random) -> Items:
    """The facts with five more of each of one kind, which have other names: lists that are too long for a sentence."""
    kinds = sorted({kind for item in facts for kind, field in _fields(item) if _is_name((item[kind] or {})[field])})
    if not kinds:
        return facts
    kind = dice.choice(kinds)
    own = [item for item in facts if kind in item]
    return [*facts, *(_renamed(item, kind, f"_{number}") for number in range(2, 7) for item in own)]


def _long_names(facts: Items) -> Items:
    """The facts with names that are cut wherever they are printed."""
    return [
        {kind: {name: f"{value}{LONG}" if _is_name(value) else value for name, value in (fields or {}).items()}}
        for item in facts
        for kind, fields in item.items()
    ]


def _renamed(item: dict[str, dict[str, Any] | None], kind: str, suffix: str) -> Any:
    """The fact with its last name another one: an object is another in the same database."""
    fields = item[kind] or {}
    names = [name for name, value in fields.items() if _is_name(value)]
    return _with(item, kind, names[-1], f"{fields[names[-1]]}{suffix}") if names else item


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and bool(NAME.fullmatch(value)) and value not in WORDS


def _with_kind_of(facts: Items, other: Items, dice: Random) -> Items:
    """The facts with those of one kind as another case has them."""
    kinds = sorted({kind for item in facts for kind in item} & {kind for item in other for kind in item})
    if not kinds:
        return facts
    taken = dice.choice(kinds)
    return [*(item for item in facts if taken not in item), *(item for item in other if taken in item)]


def _of_other_kinds(facts: Items, other: Items) -> Items:
    """What another case has besides."""
    kinds = {kind for item in facts for kind in item}
    return [item for item in other if not kinds & set(item)]


def _fields(item: dict[str, dict[str, Any] | None]) -> list[tuple[str, str]]:
    """The kind of a fact and each of its fields."""
    return [(kind, field) for kind, fields in item.items() for field in fields or {} if field != "source"]


def _changed(item: dict[str, dict[str, Any] | None], kind: str, field: str, times: float | None) -> Any:
    """The fact with one figure so many times what it was; `None`: without the field, where there is a fact without."""
    old = (item[kind] or {}).get(field)
    if times is None and field not in _required(kind):
        return _with(item, kind, field, None)
    if isinstance(old, int | float) and not isinstance(old, bool):
        return _with(item, kind, field, type(old)((2 if times is None else times) * old))
    return item


def _with(item: dict[str, dict[str, Any] | None], kind: str, field: str, value: Any) -> Any:
    """The fact with another value of a field; `None`: without the field."""
    fields = {**(item[kind] or {}), field: value}
    if value is None:
        del fields[field]
    return {**item, kind: fields}


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
