"""The text of a cached statement, where it was asked for by its number beside `monCachedStatement` and not with it."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from collectors.facts.ase import CachedText, MonCachedStatement
from collectors.facts.base import Fact


def with_texts(facts: Sequence[Fact]) -> Sequence[Fact]:
    """The same facts, in which rows of monCachedStatement without text have that of their number.

    In a cluster each instance has numbers of its own: one that is listed of several has none then.
    """
    texts = {one.statement: one.text for one in facts if isinstance(one, CachedText)}
    if not texts:
        return facts
    homes: dict[int, set[int | None]] = defaultdict(set)
    for one in facts:
        if isinstance(one, MonCachedStatement):
            homes[one.statement].add(one.instance)
    return [
        replace(one, text=texts[one.statement])
        if isinstance(one, MonCachedStatement)
        and not one.text
        and one.statement in texts
        and len(homes[one.statement]) == 1
        else one
        for one in facts
    ]
