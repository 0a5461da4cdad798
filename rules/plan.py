"""All changes of an audit as one plan: ordered, batched by when they take effect, checked against each other."""

import textwrap
from collections.abc import Iterable
from dataclasses import dataclass

from rules.changes.quoting import comment
from rules.finding import Change, Effect

ORDER = (Effect.ADVICE, Effect.ONLINE, Effect.OFFLINE, Effect.RESTART, Effect.REBOOT)


@dataclass(frozen=True)
class Step:
    """All changes that take effect at the same moment: one restart, not five."""

    takes_effect: Effect
    change_keys: tuple[str, ...]
    apply: str
    undo: str


@dataclass(frozen=True)
class Conflict:
    """Changes that cannot both be made, and why."""

    change_keys: tuple[str, ...]
    why: str


@dataclass(frozen=True)
class Plan:
    """What to do, in order; and what excludes what."""

    steps: tuple[Step, ...] = ()
    conflicts: tuple[Conflict, ...] = ()


def make_plan(changes: Iterable[Change]) -> Plan:
    """Order the changes. The same change asked for twice is made once; two values for one setting are a conflict.

    Of two conflicting values neither is put into a step: a person decides.
    """
    by_key: dict[str, list[Change]] = {}
    for change in changes:
        same = by_key.setdefault(change.key, [])
        if all(change.new != other.new for other in same):
            same.append(change)
    conflicts = tuple(
        Conflict((key,), f"{same[0].target}: asked to become " + " and ".join(_value(change) for change in same))
        for key, same in by_key.items()
        if len(same) > 1
    )
    agreed = [same[0] for same in by_key.values() if len(same) == 1]
    steps = []
    for effect in ORDER:
        batch = [change for change in agreed if change.takes_effect is effect]
        if batch:
            keys = tuple(change.key for change in batch)
            apply = "\n".join(line for change in batch for line in (*_warnings(change), *change.apply))
            undo = "\n".join(line for change in reversed(batch) for line in change.undo)
            steps.append(Step(effect, keys, apply, undo))
    return Plan(tuple(steps), conflicts)


def _warnings(change: Change) -> list[str]:
    """The cautions as comments: a script is read alone, attached to a mail or pasted, without its finding."""
    mark = "$! " if change.key.startswith("openvms.") else "-- "
    lines = []
    for caution in change.cautions:
        first, *more = textwrap.wrap(comment(caution, longest=2000), 96, break_long_words=False)
        lines += [f"{mark}caution: {first}", *(f"{mark}   {line}" for line in more)]
    return lines


def _value(change: Change) -> str:
    return f"{change.new:g}" if isinstance(change.new, float | int) else str(change.new)
