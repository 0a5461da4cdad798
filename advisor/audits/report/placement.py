"""The decision over the nodes of a cluster in words and rows: one table for text, HTML and page.

It works from the JSON shape alone (`clusters[].placement`), so that stored audits are shown by it, too.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rules.laws.rounding import plain

COLUMNS = (
    *("Local/s", "Asked elsewhere/s", "Served for others/s", "MP synch, % of one CPU"),
    *("Locks, % of one CPU", "A lock of the master, µs", "Kernel, % of one CPU"),
)
TITLES = {
    "moves": "Where the locks belong: on {target}, not on {master}",
    "stays": "Where the locks belong: on {master}, as today",
    "even": "Where the locks belong: on no one node",
    "kept": "Where the locks belong: on {target}, but {master} has them",
    "open": "Where the locks belong: not known",
    "by tree": "Where the locks belong: tree by tree, see the plan",
}
OF_MASTERSHIP = (":LOCKDIRWT", ":LOCKRMWT", ":PE1")
"""Ends of the keys of changes that move trees: where a plan has one, it knows where those belong."""
UNKNOWN, AT_LEAST = "not known", "at least "
WIDE, NAMES, TERMINAL = 78, 2, 6
"""Columns of a terminal, less the indentation; columns of a table that are no figures; figures a terminal shows."""
AFTERWARDS = (
    "MP synch and kernel time afterwards are bounds by inference: what spins for one spinlock changes by more than its "
    "use does, and an operation costs the same wherever it is served. MONITOR MODES on {nodes} tells them, in the same "
    "hours, after that step."
)
WHICH = {
    "best": "as decided",
    "today": "as today",
    "runner-up": "the next best",
    "asks most": "asks most; not decided",
    "asks as much": "asks as much; not decided",
}
MOST_BASES = 12
"""This project: nodes of which a note says by what evidence; the JSON has all."""
CHOICES = (
    "By the same arithmetic for each of these nodes as the master of the trees that {master} serves; a range where the "
    "exports do not tell who works how much in them."
)
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
class ChoiceColumn:
    """One node as master."""

    master: str
    which: str
    """Why it is shown, in words."""
    crossing: str
    """Lock operations that cross the cluster then, per second."""
    waiting: str
    """Lock requests under way at a time, by LOCKTIME."""
    nodes: tuple[tuple[str, str], ...]
    """What each node asks elsewhere and serves for others per second, in the order of the rows."""


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
    """Whether the trees are to leave their master."""
    choices: tuple[ChoiceColumn, ...] = ()
    choice_nodes: tuple[str, ...] = ()
    """The nodes of their rows."""
    choice_note: str = ""

    @property
    def bounded(self) -> bool:
        """Whether a cell has a least and no most."""
        return any(cell.startswith(AT_LEAST) for row in self.rows for cell in row.after)

    @property
    def choice_lines(self) -> list[str]:
        """The choices for a terminal, a line each."""
        table: list[Sequence[str]] = [("as master", "", "cross/s", "waiting at a time")]
        table += [(one.master[:8], one.which, one.crossing, _short(one.waiting)) for one in self.choices]
        return _aligned(table) if self.choices else []

    @property
    def lines(self) -> list[str]:
        """The table for a terminal of 80 columns."""
        table: list[Sequence[str]] = [
            ("node", "", "local/s", "elsewhere/s", "serves/s", "MP synch", "lck %", "lock µs")
        ]
        for row in self.rows:
            for when, cells in (("today", row.today), ("after", row.after)):
                if cells:
                    cut = map(_short, cells[:TERMINAL])
                    table.append((row.node[:8] if when == "today" else "", when, *cut))
        return _aligned(table) if len(_aligned(table)[0]) <= WIDE else _aligned(_without_commas(table))


def _short(cell: str) -> str:
    return "-" if cell == UNKNOWN else cell.replace(" to ", "-").replace(AT_LEAST, ">")


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
    moves = found["decided"] in ("moves", "kept")
    names = {name: found[name] or "" for name in ("master", "target")}
    notes = []
    if moves and any(one["after"] for one in found["nodes"]):
        nodes = f"{names['target']} and {names['master']}"
        notes = [BY_ARITHMETIC.format(**names), AFTERWARDS.format(nodes=nodes)]
        notes += [ONE_CPU] if any(one["one_cpu_percent"] for one in found["nodes"]) else []
    bases = (f"{one['node']}: {one['after_basis']}" for one in found["nodes"][:MOST_BASES] if one.get("after_basis"))
    notes += bases if moves else ()
    choices = found.get("choices", ())
    return Placement(
        title=TITLES[_title_of(cluster, found["decided"])].format(**names),
        says=tuple(
            one for one in (found["says"], found.get("tables", ""), found["lock_manager"], found["work"]) if one
        ),
        rows=tuple(_row(one, moves=moves) for one in found["nodes"]),
        notes=tuple(notes),
        bring=tuple(dict.fromkeys(one["command"] for one in found["missing"])),
        moves=moves and any(one["after"] for one in found["nodes"]),
        choices=tuple(_choice(one) for one in choices),
        choice_nodes=tuple(one["node"] for one in choices[0]["nodes"]) if choices else (),
        choice_note=CHOICES.format(**names) if choices else "",
    )


def _title_of(cluster: Mapping[str, Any], decided: str) -> str:
    """Which title: where nothing decides for all trees, a tree in LOCK_ACTV may have been enough for a change."""
    steps = cluster.get("plan", {}).get("steps", ())
    by_tree = any(key.endswith(OF_MASTERSHIP) for step in steps for key in step["change_keys"])
    return "by tree" if decided in ("open", "even") and by_tree else decided


def _choice(one: Mapping[str, Any]) -> ChoiceColumn:
    return ChoiceColumn(
        one["master"],
        WHICH.get(one["which"], one["which"]),
        _range(one["crossing"]),
        _range(one["waiting"]),
        tuple((_range(each["outgoing"]), _range(each["incoming"])) for each in one["nodes"]),
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
    kernel = one.get("kernel_percent")
    today = (
        *(*_rates(one["today"]), synch, _range(one["one_cpu_percent"])),
        *(_latency(one["lock_us"]), UNKNOWN if kernel is None else _figure(kernel)),
    )
    after: tuple[str, ...] = ()
    if moves and one["after"]:
        after = (
            *(*_rates(one["after"]), _bounds(one.get("synch_percent_after")), _range(one["one_cpu_percent_after"])),
            *(_latency(one["lock_us_after"]), _range(one.get("kernel_percent_after"))),
        )
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


def _bounds(both: Sequence[float | None] | None) -> str:
    """As `_range`; with no upper end `at least 40`."""
    low, high = both or (None, None)
    if low is None:
        return UNKNOWN
    return f"{AT_LEAST}{_figure(low)}" if high is None else _range((low, high))


def _latency(us: float | None) -> str:
    return UNKNOWN if us is None else _figure(us)


def _figure(value: float) -> str:
    return f"{value:,.0f}" if value >= 10 or value == 0 else plain(value, 2)
