"""In which one setting two load series differ: a dedicated lock manager, threads, value blocks, a size of a table.

Runs are comparable where machine, node, release and all other settings are the same, as far as the tables tell them; a
setting that one side tells and the other does not is a second difference. Series without a table of settings say at
most in their titles what was switched (`rules.laws.machines`).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from collectors.facts.scaling import FOLLOWS, LoadSeries
from rules.laws.machines import machine_of, switched
from rules.laws.series import NOISE, held_against

SETTINGS = {
    "dlm": "dedicated lock manager",
    "threads": "hyperthreads",
    "lvb_bytes": "value block",
    "reshashtbl": "RESHASHTBL",
    "lockidtbl": "LOCKIDTBL",
}
"""Settings by the lock laboratory's names, in words."""
SIZES = ("reshashtbl", "lockidtbl", "lvb_bytes")
"""Those with a size, of which several may be tried in one test."""
MOST = 100
"""Series that are held against each other, the first ones: every two of them are looked at (this project)."""
NO_DIFFERENCE = ("series",)
"""What only names a row of tests."""


@dataclass(frozen=True)
class Differ:
    """Two series that differ in one setting: the one without it, or with the smaller size, first."""

    setting: str
    """A key of `SETTINGS`, else what the titles say was switched."""
    before: LoadSeries
    after: LoadSeries


def differ(one: LoadSeries, other: LoadSeries) -> Differ | None:
    """In which setting alone they differ; `None` where they differ in none, in several, or in nothing that is told."""
    if one.derived or other.derived:
        return None
    if not one.setup and not other.setup:
        side = switched(one.title, other.title)
        what = machine_of(one.title).what or ""
        return None if side is None else Differ(what, *((one, other) if side == "after" else (other, one)))
    first, second = settings_of(one), settings_of(other)
    keys = {name for name in first.keys() | second.keys() if first.get(name) != second.get(name)}
    for name in SETTINGS:
        if name in keys and keys <= {name, *FOLLOWS.get(name, ())} and name in first and name in second:
            pair = sorted((one, other), key=lambda series: order_of(settings_of(series)[name]))
            return Differ(name, *pair)
    return None


def outdone(series: LoadSeries, others: Sequence[LoadSeries]) -> str:
    """That a run with another size of one table did more, as a clause; empty where none did.

    Of the values of one parameter that were tried the best is the machine's course over the load: a fall that all of
    them have is one fall, and what a value costs against the best the series over that parameter says.
    """
    pairs = [pair for one in others[:MOST] if one is not series and (pair := differ(series, one)) is not None]
    alike = [(pair, pair.after if pair.before is series else pair.before) for pair in pairs if pair.setting in SIZES]
    pair, best = max(alike, key=lambda found: _most(found[1]), default=(None, series))
    if pair is None or _most(best) <= _most(series):
        return ""
    name, text = SETTINGS[pair.setting], settings_of(best)[pair.setting]
    return f"with {name} {text} it did more: that run is judged, and what the value costs is said over all that ran"


def _most(series: LoadSeries) -> float:
    return max((point.rate for point in series.points), default=0.0)


def settings_of(series: LoadSeries) -> dict[str, str]:
    """What was told of its runs, by the lock laboratory's names; of a title the one thing that it says was switched."""
    if series.setup:
        return {name: text for name, text in series.setup if name not in NO_DIFFERENCE}
    machine = machine_of(series.title)
    return {machine.what: "on" if machine.on else "off"} if machine.what else {}


def order_of(text: str) -> tuple[int, float, str]:
    """`off` before `on`, sizes in rising order: the value that others are held against comes first."""
    if text.isascii() and text.isdecimal():
        return 0, float(text), text
    return 1, float(text == "on"), text


def of_a_size(series: LoadSeries, others: Sequence[LoadSeries]) -> bool:
    """Whether it is a run of a test over sizes, or of a switch in vain, which goes past the peak in every run.

    Over sizes only where the table names the node; what a switch cost is the finding, whoever ran it.
    """
    pairs = (differ(series, other) for other in others[:MOST] if other is not series)
    return any(
        pair is not None and ((pair.setting in SIZES and series.node is not None) or _in_vain(pair)) for pair in pairs
    )


def _in_vain(pair: Differ) -> bool:
    """Whether what was switched gained nothing beyond noise, neither at most nor at the highest load of both."""
    common = held_against(pair.before, pair.after)
    if isinstance(common, str):
        return False
    most = max(at.after.rate for at in common) / max(at.before.rate for at in common)
    return max(most, common[-1].after.rate / common[-1].before.rate) <= 1 + NOISE


def all_that_differ(series: Sequence[LoadSeries]) -> tuple[Differ, ...]:
    """Every two that differ in one setting alone; of sizes each with the next larger one."""
    found = [pair for one, other in combinations(series[:MOST], 2) if (pair := differ(one, other)) is not None]
    return tuple(pair for pair in found if not any(_between(pair, other) for other in found))


def _between(pair: Differ, other: Differ) -> bool:
    """Whether another size was tried between the two of a pair."""
    if pair.setting != other.setting or pair.setting not in SETTINGS or pair.before is not other.before:
        return False
    return order_of(settings_of(other.after)[pair.setting]) < order_of(settings_of(pair.after)[pair.setting])
