"""The decision over the nodes of a cluster in words and rows: one table for text, HTML and page.

It works from the JSON shape alone (`clusters[].placement`), so that stored audits are shown by it, too.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rules.laws.rounding import plain

COLUMNS = (
    *("Local/s", "Asked elsewhere/s", "Served for others/s", "MP synch, % of one CPU"),
    *("Locks, % of one CPU", "A lock of the master, µs"),
)
TITLES = {
    "moves": "Where the locks belong: on {target}, not on {master}",
    "stays": "Where the locks belong: on {master}, as today",
    "even": "Where the locks belong: on no one node",
    "kept": "Where the locks belong: on {target}, but {master} has them",
    "open": "Where the locks belong: not known",
}
UNKNOWN = "not known"
WIDE, NAMES = 78, 2
"""Columns of a terminal, less the indentation; columns of the table that are no figures."""
AFTERWARDS = "What MP synch will be no export tells: MONITOR MODES on {nodes}, in the same hours, after that step."
ONE_CPU = (
    "Locks in per cent of one CPU: all lock operations of a node by what a local one takes there in LOCKTIME, an "
    "inference for a lock manager that serves one after the other."
)
BY_ARITHMETIC = (
    "Afterwards by arithmetic on the rates of today, as if all trees that {master} serves were {target}'s; a range "
    "where the exports do not tell how much of what {master} does locally is in them."
)


@dataclass(frozen=True)
class NodeRow:
    """One node, today and afterwards, in the order of `COLUMNS`."""

    node: str
    about: str
    """Its machine, its place by speed, and what its lock manager has."""
    today: tuple[str, ...]
    after: tuple[str, ...]
    """Empty where nothing changes."""


@dataclass(frozen=True)
class Placement:
    """What a reader is shown of it."""

    title: str
    says: tuple[str, ...]
    """The decision, the lock manager, the work: a sentence or two each."""
    rows: tuple[NodeRow, ...]
    notes: tuple[str, ...]
    """How the figures were computed, and what cannot be computed."""
    bring: tuple[str, ...]
    """Commands that would decide more."""
    moves: bool

    @property
    def lines(self) -> list[str]:
        """The table for a terminal of 80 columns."""
        table: list[Sequence[str]] = [
            ("node", "", "local/s", "elsewhere/s", "serves/s", "MP synch", "CPU %", "lock µs")
        ]
        for row in self.rows:
            for when, cells in (("today", row.today), ("after", row.after)):
                if cells:
                    cut = ("-" if one == UNKNOWN else one.replace(" to ", "-") for one in cells)
                    table.append((row.node[:8] if when == "today" else "", when, *cut))
        return _aligned(table) if len(_aligned(table)[0]) <= WIDE else _aligned(_without_commas(table))


def _without_commas(table: Sequence[Sequence[str]]) -> list[list[str]]:
    return [[cell.replace(",", "") for cell in row] if at else list(row) for at, row in enumerate(table)]


def _aligned(table: Sequence[Sequence[str]]) -> list[str]:
    """Names to the left, figures to the right, each column as wide as its widest cell."""
    wide = [max(map(len, column)) for column in zip(*table, strict=True)]
    lines = []
    for row in table:
        cells = (
            cell.ljust(to) if at < NAMES else cell.rjust(to)
            for at, (cell, to) in enumerate(zip(row, wide, strict=True))
        )
        lines.append("  ".join(cells))
    return lines


def placement_of(cluster: Mapping[str, Any]) -> Placement | None:
    """The decision of a cluster; `None` in audits that have none."""
    found = cluster.get("placement")
    if not found:
        return None
    moves = found["decided"] == "moves"
    names = {name: found[name] or "" for name in ("master", "target")}
    notes = []
    if moves and any(one["after"] for one in found["nodes"]):
        nodes = f"{names['target']} and {names['master']}"
        notes = [BY_ARITHMETIC.format(**names), AFTERWARDS.format(nodes=nodes)]
        notes += [ONE_CPU] if any(one["one_cpu_percent"] for one in found["nodes"]) else []
    return Placement(
        title=TITLES[found["decided"]].format(**names),
        says=tuple(one for one in (found["says"], found["lock_manager"], found["work"]) if one),
        rows=tuple(_row(one, moves=moves) for one in found["nodes"]),
        notes=tuple(notes),
        bring=tuple(dict.fromkeys(one["command"] for one in found["missing"])),
        moves=moves,
    )


def _row(one: Mapping[str, Any], *, moves: bool) -> NodeRow:
    about = [one["machine"] or "machine not known"]
    if one["rank"]:
        about.append(f"{_nth(one['rank'])} by speed")
    if one["dedicated"] is not None:
        about.append("lock manager with its own CPU" if one["dedicated"] else "no CPU for the lock manager")
    if one["manager_percent"] is not None:
        about.append(f"that CPU {_figure(one['manager_percent'])} % busy")
    if not one["brought"]:
        about.append("no export of it was uploaded")
    synch = UNKNOWN if one["synch_percent"] is None else _figure(one["synch_percent"])
    today = (*_rates(one["today"]), synch, _range(one["one_cpu_percent"]), _latency(one["lock_us"]))
    after: tuple[str, ...] = ()
    if moves and one["after"]:
        same = one["after"] == one["today"]
        spins = synch if same else UNKNOWN
        after = (*_rates(one["after"]), spins, _range(one["one_cpu_percent_after"]), _latency(one["lock_us_after"]))
    return NodeRow(one["node"], ", ".join(about), today, after)


def _nth(rank: int) -> str:
    return {1: "fastest", 2: "second", 3: "third"}.get(rank, f"{rank}th")


def _rates(rates: Mapping[str, Sequence[float] | None]) -> tuple[str, ...]:
    return tuple(_range(rates[part]) for part in ("local", "outgoing", "incoming"))


def _range(both: Sequence[float] | None) -> str:
    if both is None:
        return UNKNOWN
    low, high = (_figure(one) for one in both)
    return low if low == high else f"{low} to {high}"


def _latency(us: float | None) -> str:
    return UNKNOWN if us is None else _figure(us)


def _figure(value: float) -> str:
    return f"{value:,.0f}" if value >= 10 or value == 0 else plain(value, 2)
