"""Reports that say a part of what a fuller one says: how they go together.

A configuration file tells what is configured and not what runs, `sp_helpconfig` the range of one parameter,
`sp_helpcache` the sizes of caches and what managing them takes. Where the fuller listing of the same thing is there
too, that one counts, wherever it lies and whichever was read later: else half a statement would hide the run value.
What only the part knows (a range, an overhead) is filled in. What is configured is never filled in: a file may be
older or newer than the listing, and the two together would tell of a change that waits for a restart and may not exist.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from collectors.facts import ABSENT, Fact
from collectors.facts.ase import CachePool, ConfigParameter, NamedCache

PARTIAL = ("ase/config_file", "ase/sp_helpcache", "ase/sp_helpconfig")
"""Kinds of report that say a part; of two of them that say something of one thing the later in this list counts."""
FILLED: Mapping[type[Fact], tuple[str, ...]] = {
    ConfigParameter: ("default_value", "unit", "kind", "minimum", "maximum"),
    NamedCache: ("kind", "overhead_mb"),
}
"""Fields that a part may fill in: none of them tells what is configured or what runs."""

Subject = tuple[object, ...]


def completed(facts: Iterable[tuple[str, Fact]]) -> list[Fact]:
    """The facts (each with the id of its report) in their order, without the parts that a fuller listing says too.

    Parts that stand alone come first: of the facts of one thing the last one counts.
    """
    parts: list[tuple[str, Fact]] = []
    whole: list[Fact] = []
    for kind, fact in facts:
        if kind in PARTIAL and _subject(fact) is not None:
            parts.append((kind, fact))
        else:
            whole.append(fact)
    if not parts:
        return whole
    parts.sort(key=lambda part: PARTIAL.index(part[0]))
    listed = {_subject(fact) for fact in whole}
    filling: dict[Subject | None, dict[str, object]] = {}
    for _, fact in parts:
        said = {name: getattr(fact, name) for name in FILLED.get(type(fact), ())}
        filling.setdefault(_subject(fact), {}).update({name: value for name, value in said.items() if _said(value)})
    alone = [fact for _, fact in parts if _subject(fact) not in listed]
    return [*alone, *(_filled(fact, filling.get(_subject(fact), {})) for fact in whole)]


def _subject(fact: Fact) -> Subject | None:
    """What a fact is about: one parameter, or one cache with its pools; `None` for all others."""
    match fact:
        case ConfigParameter():
            return ("parameter", fact.name, fact.instance)
        case NamedCache():
            return ("cache", fact.name, fact.instance)
        case CachePool():
            return ("cache", fact.cache, fact.instance)
    return None


def _filled(fact: Fact, by: Mapping[str, object]) -> Fact:
    """The fact with what it does not say itself."""
    new: dict[str, Any] = {
        name: value for name, value in by.items() if hasattr(fact, name) and not _said(getattr(fact, name))
    }
    return replace(fact, **new) if new else fact


def _said(value: object) -> bool:
    return value is not None and value is not ABSENT
