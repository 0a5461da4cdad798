"""Which captures of two heaps of exports are the same system, before and after."""

from collections.abc import Sequence

from collectors.facts import Capture
from collectors.grouping import name_of
from collectors.read import Input

MOST_NAMED, LONGEST = 8, 80
"""Systems that a message names, and characters of each name."""


class NotOneSystem(ValueError):
    """There is no one system on both sides; the message names what there is, and the remedy."""


def sides(
    before: Sequence[Capture], after: Sequence[Capture], name: str | None
) -> tuple[list[Capture], list[Capture], str | None]:
    """The captures of the one system on both sides, and a remark where it was taken for one by product alone.

    Several captures of it on a side are samples of one state. Raises `NotOneSystem`.
    """
    if name:
        wanted = name.upper()
        before = [one for one in before if one.system.name.upper() == wanted] or list(before)
        after = [one for one in after if one.system.name.upper() == wanted] or list(after)
    first, second = _systems(before), _systems(after)
    both = [key for key in second if key in first]
    if len(both) == 1:
        return first[both[0]], second[both[0]], None
    if len(both) > 1:
        names = ", ".join(sorted(second[key][0].system.name[:LONGEST] for key in both)[:MOST_NAMED])
        if len(both) > MOST_NAMED:
            names += f" and {len(both) - MOST_NAMED} more"
        raise NotOneSystem(f"both sides hold several systems ({names}): choose one with --name")
    pairs = [(one, two) for one in first for two in second if one[0] == two[0]]
    if len(pairs) == 1:
        old, new = first[pairs[0][0]], second[pairs[0][1]]
        called = old[0].system.name, new[0].system.name
        return old, new, f"{called[0]} and {called[1]} are taken for one system: no other is on both sides"
    held = [_held(side) for side in (first, second)]
    raise NotOneSystem(f"no system is on both sides: before {held[0]}, after {held[1]}; --name tells what they are of")


def _held(side: dict[tuple[str, str], list[Capture]]) -> str:
    said = [f"{ones[0].system.name[:LONGEST]} ({product})" for (product, _), ones in side.items()]
    more = f" and {len(said) - MOST_NAMED} more" if len(said) > MOST_NAMED else ""
    return ", ".join(said[:MOST_NAMED]) + more or "none"


def _systems(captures: Sequence[Capture]) -> dict[tuple[str, str], list[Capture]]:
    found: dict[tuple[str, str], list[Capture]] = {}
    for one in captures:
        found.setdefault((one.system.product, one.system.name.upper()), []).append(one)
    return found


def other_name(inputs: Sequence[Input], name: str | None, when: str) -> str | None:
    """A remark where every export of a side that names its system calls it something else than the user does.

    That is right where a system was renamed, and wrong where the exports are of a neighbour: only a person can tell.
    """
    told = {own.upper(): own for one in inputs if one.facts and (own := name_of(one))}
    if not name or not told or name.upper() in told:
        return None
    said = ", ".join(own[:LONGEST] for own in list(told.values())[:MOST_NAMED])
    return f"The exports of {when} call their system {said}, and --name takes them for {name[:LONGEST]}."
