"""What kinds of facts there are in this release, and what each of their fields may hold: read from the annotations."""

import dataclasses
import importlib
import pkgutil
import types
import typing
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from itertools import chain
from typing import Any

import collectors.facts
from collectors.facts.ase.sysmon import LazyRows, SysmonRow
from collectors.facts.base import Fact, Missing

SCALARS: dict[Any, frozenset[type]] = {
    float: frozenset({float, int}),  # as Python's typing has it; which of the two it was is kept
    Missing: frozenset({Missing}),
    datetime: frozenset({datetime}),
    **{kind: frozenset({kind}) for kind in (int, str, bool, type(None))},
}


@dataclass(frozen=True)
class Shape:
    """The values that a field takes. Types are exact: a boolean is no number here."""

    types: frozenset[type]
    items: "Shape | None" = None
    """Of a tuple of any length."""
    places: "tuple[Shape, ...]" = ()
    """Of a tuple of just so many."""
    has_default: bool = False

    def holds(self, values: Sequence[object]) -> bool:
        """Whether all values are such; quick where there are many."""
        found = set(map(type, values))
        if not found <= self.types:
            return False
        if tuple not in found:
            return True
        tuples: list[tuple[object, ...]] = [value for value in values if isinstance(value, tuple)]
        if self.items:
            return self.items.holds(list(chain.from_iterable(tuples)))
        if set(map(len, tuples)) != {len(self.places)}:
            return False
        return all(place.holds(part) for place, part in zip(self.places, zip(*tuples, strict=True), strict=True))


def name_of(kind: type) -> str:
    """`ase.LockHashtable`, as `Fact.fact_name`; `base.Source` for what facts hold. Only for classes of this package."""
    return f"{kind.__module__.split('.')[2]}.{kind.__name__}"


@cache
def kinds() -> Mapping[str, type]:
    """Every kind of fact, and every dataclass that a fact holds, by name."""
    found: dict[str, type] = {}
    for module in pkgutil.walk_packages(collectors.facts.__path__, "collectors.facts."):
        for kind in vars(importlib.import_module(module.name)).values():
            if (
                isinstance(kind, type)
                and issubclass(kind, Fact)
                and kind.__module__ == module.name
                and kind.COLLECTED_BY
            ):
                found[name_of(kind)] = kind
    held = list(found.values())
    while held:
        for shape in shapes(held.pop()).values():
            new = [kind for kind in _all_types(shape) if dataclasses.is_dataclass(kind) and name_of(kind) not in found]
            found |= {name_of(kind): kind for kind in new}
            held += new
    return found


@cache
def shapes(kind: type) -> Mapping[str, Shape]:
    """What each field of a fact, or of a dataclass in one, may hold. Raises `TypeError` for a type not thought of."""
    hints = typing.get_type_hints(kind)
    return {
        field.name: dataclasses.replace(_shape(hints[field.name]), has_default=_has_default(field))
        for field in dataclasses.fields(kind)
    }


def _has_default(field: "dataclasses.Field[Any]") -> bool:
    return field.default is not dataclasses.MISSING or field.default_factory is not dataclasses.MISSING


def _shape(hint: Any) -> Shape:
    if hint is LazyRows:
        return _shape(tuple[SysmonRow, ...])
    if hint in SCALARS:
        return Shape(SCALARS[hint])
    if isinstance(hint, type) and dataclasses.is_dataclass(hint) and not typing.get_origin(hint):
        return Shape(frozenset({hint}))
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if origin is tuple and inner[1:] == (...,):
        return Shape(frozenset({tuple}), items=_shape(inner[0]))
    if origin is tuple:
        return Shape(frozenset({tuple}), places=tuple(map(_shape, inner)))
    if origin in (types.UnionType, typing.Union):
        parts = [_shape(part) for part in inner]
        tuples = [part for part in parts if tuple in part.types]
        if len(tuples) < 2:
            both = frozenset(chain.from_iterable(part.types for part in parts))
            return dataclasses.replace(tuples[0], types=both) if tuples else Shape(both)
    raise TypeError(f"collectors.facts.shapes knows no way to store {hint}")


def _all_types(shape: Shape) -> set[type]:
    """The types a shape names, its tuples' parts included."""
    inner = [*shape.places, *([shape.items] if shape.items else [])]
    return set(shape.types).union(*map(_all_types, inner))
