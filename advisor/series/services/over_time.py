"""Load series made of the captures of one system at different times, from the key figures kept with each.

They are no runs of one test: the rate is what was asked for, unless the processors were busy. `rules.laws.derived`
says what that forbids to conclude.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from advisor.series.services.fitted import Fitted, fitted
from advisor.systems.services.history import Seen
from collectors.facts.scaling import LoadPoint, LoadSeries
from rules.laws.derived import BUSY

LEAST_LOADS = 3
"""Different loads: of fewer there is nothing to see."""


@dataclass(frozen=True)
class Pair:
    """A load and a rate among the key figures, and what tells how busy the processors were."""

    load: str
    rate: str
    load_name: str
    rate_name: str
    busy: str | None = None
    """Mean of all processors, per cent."""
    idle: str | None = None
    """Idle time of all CPUs, per cent of one CPU; the load is then their number."""


PAIRS = (
    Pair("ase.engines", "ase.xacts", "engines", "commits_per_second", busy="ase.engine_busy"),
    Pair("ase.engines", "ase.transactions", "engines", "transactions_per_second", busy="ase.engine_busy"),
    Pair("ase.engines", "ase.lock_requests", "engines", "lock_requests_per_second", busy="ase.engine_busy"),
    Pair("openvms.cpus", "openvms.lock_operations", "cpus", "lock_operations_per_second", idle="openvms.idle"),
)
"""Pairs of key figures (`rules.figures`) of which the one is work done and the other what it was done with."""
STATISTIC = re.compile(r" \([a-z0-9 ]{1,40}\)\Z")
"""How a key says that its figure is no mean: load and rate have to be of one statistic."""

ONE_TIME = ("", " (at lock peak)", " (at mp synch peak)")
"""Of these endings all figures are of one and the same time."""


@dataclass(frozen=True)
class OverTime:
    """A series made of captures."""

    one: Fitted
    captures: tuple[Seen, ...]
    """In the order of the runs."""

    @property
    def name(self) -> str:
        """What it is of, in words."""
        return self.one.series.title


def over_time(seen: Sequence[Seen]) -> tuple[OverTime, ...]:
    """Every known pair of which the captures hold three different loads or more."""
    held = [(one, {key: value for key, _, _, value, _ in one.figures}) for one in seen]
    found: list[OverTime] = []
    for pair in PAIRS:
        endings = sorted({key[len(pair.load) :] for _, values in held for key in values if _is(key, pair.load)})
        for ending in endings:
            taken = [(one, values) for one, values in held if {pair.load + ending, pair.rate + ending} <= values.keys()]
            if len({values[pair.load + ending] for _, values in taken}) >= LEAST_LOADS:
                found.append(_made(len(found) + 1, pair, ending, taken))
    return tuple(found)


def has_some(seen: Sequence[Seen]) -> bool:
    """Whether there is such a series; nothing is fitted for that."""
    loads: dict[str, set[float]] = {}
    for one in seen:
        values = {key: value for key, _, _, value, _ in one.figures}
        for pair in PAIRS:
            for key in values:
                if _is(key, pair.load) and (rate := pair.rate + key[len(pair.load) :]) in values:
                    loads.setdefault(rate, set()).add(values[key])
    return any(len(different) >= LEAST_LOADS for different in loads.values())


def _is(key: str, name: str) -> bool:
    """Whether a key is that of a figure, of whatever statistic."""
    return key == name or (key.startswith(name) and STATISTIC.fullmatch(key[len(name) :]) is not None)


def _made(number: int, pair: Pair, ending: str, taken: Sequence[tuple[Seen, dict[str, float]]]) -> OverTime:
    runs = sorted(taken, key=lambda held: (held[1][pair.load + ending], held[0].taken))
    points = tuple(
        LoadPoint(
            load=values[pair.load + ending],
            rate=values[pair.rate + ending],
            others=((BUSY, busy),) if (busy := _busy(pair, ending, values)) is not None else (),
        )
        for _, values in runs
    )
    series = LoadSeries(
        title=f"{pair.rate_name} by {pair.load_name}".replace("_", " ") + ending,
        load_name=pair.load_name,
        rate_name=pair.rate_name,
        points=points,
        derived=True,
    )
    return OverTime(fitted(number, series), tuple(one for one, _ in runs))


def _busy(pair: Pair, ending: str, values: dict[str, float]) -> float | None:
    """Per cent of all processors, where the capture tells; peaks of two figures are of two moments and tell nothing."""
    share: float | None = None
    if ending not in ONE_TIME:
        return None
    if pair.busy is not None:
        share = values.get(pair.busy + ending)
    elif pair.idle is not None and (cpus := values[pair.load + ending]) > 0:
        idle = values.get(pair.idle + ending)
        share = None if idle is None else 100 - idle / cpus
    return share if share is not None and 0 <= share <= 101 else None
