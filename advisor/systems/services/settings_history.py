"""How a system's settings changed from capture to capture."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby

from advisor.systems.models import SettingsSnapshot
from advisor.systems.services.history import Seen
from collectors.facts import Missing
from rules.settings import WAITS

MOST_SNAPSHOTS = 40
"""Different lists of settings that are compared: of ASE each has some 400 names."""
UNREADABLE = frozenset(state.value for state in Missing)
"""Settings that stand in an export without a value that can be read: they are no change."""


@dataclass(frozen=True)
class SettingChange:
    """One setting that was something else before."""

    name: str
    old: str | float
    new: str | float
    before: Seen
    """The last capture that told the old value."""
    at: Seen


@dataclass(frozen=True)
class SettingsOverTime:
    """Changes, newest first, and the last known value of every setting with the capture that told it."""

    changes: tuple[SettingChange, ...]
    current: dict[str, tuple[str | float, Seen]]
    first: Seen | None
    """The oldest capture that was compared."""
    lists: int
    """How many different lists of settings there were."""
    complete: bool
    """Whether all of the captures given were compared."""


def settings_over_time(seen: list[Seen]) -> SettingsOverTime:
    """Compare each setting with its last known value. A name that a capture does not hold has not changed."""
    telling = [one for one in seen if one.settings]
    wanted: list[int] = []
    compared: list[Seen] = []
    for one in reversed(telling):
        if one.settings not in wanted:
            if len(wanted) == MOST_SNAPSHOTS:
                break
            wanted.append(one.settings)
        compared.insert(0, one)
    values = dict(SettingsSnapshot.objects.filter(pk__in=wanted).values_list("pk", "values")) if wanted else {}
    known: dict[str, tuple[str | float, Seen]] = {}
    changes: list[SettingChange] = []
    for pk, run in groupby(compared, key=lambda one: one.settings):
        captures = list(run)
        changes += _changes(known, values.get(pk, {}), captures[0])
        _learn(known, values.get(pk, {}), captures[-1])
    return SettingsOverTime(
        tuple(reversed(changes)),
        known,
        compared[0] if compared else None,
        len(wanted),
        len(compared) == len(telling),
    )


def _changes(
    known: dict[str, tuple[str | float, Seen]], values: dict[str, str | float], at: Seen
) -> Iterator[SettingChange]:
    """What this list has otherwise than the last known values. What waits is held against what was in force."""
    for name, value in values.items():
        old = known.get(name) or known.get(name.removesuffix(WAITS))
        if old and old[0] != value and value not in UNREADABLE:
            yield SettingChange(name, old[0], value, old[1], at)


def _learn(known: dict[str, tuple[str | float, Seen]], values: dict[str, str | float], last: Seen) -> None:
    for name, value in values.items():
        if value not in UNREADABLE:
            known[name] = value, last
        if name + WAITS not in values:  # a list that has the setting, and nothing that waits for it
            known.pop(name + WAITS, None)
