"""Screens of RMU/SHOW STATISTICS that are read line by line: row caches and page fetches, each by its title.

`statistics` takes one row of each name for a database; these screens have a line twice, or a screen for each cache.
"""

import re
from dataclasses import dataclass

from collectors.facts import Facts, Source, known
from collectors.facts.rdb import StatisticRow, StatisticsWindow
from rules.rdb._evidence.databases import OneDatabase, belonging


@dataclass(frozen=True)
class Lines:
    """The newest writes of one screen on one node: rates per second by label in small letters, blanks as one."""

    title: str
    node: str | None
    over: str
    """`interval` or `since reset`."""
    seconds: float | None
    """The span; `None`: not in the export."""
    rows: tuple[tuple[str, float, Source], ...]

    def total(self, *labels: str) -> float | None:
        """The rates of all lines with one of these labels together; `None` where there is none."""
        found = [rate for label, rate, _ in self.rows if label in labels]
        return sum(found) if found else None

    def source(self, label: str) -> Source:
        """Where the first line of that label stands, else the first line of all."""
        return next((source for name, _, source in self.rows if name == label), self.rows[0][2])


def screens(facts: Facts, one: OneDatabase, title: re.Pattern[str]) -> list[Lines]:
    """The screens of that title of one database; of each title and node the interval, else the last one written."""
    found: dict[tuple[str, str], Lines] = {}
    groups: dict[tuple[str, str, str, StatisticsWindow | None], list[StatisticRow]] = {}
    for row in belonging(facts.every(StatisticRow), one):
        if title.search(row.screen):
            key = (row.screen, (row.node or "").upper(), row.over, _window(row, one))
            groups.setdefault(key, []).append(row)
    for (name, node, over, window), rows in groups.items():
        lines = [
            (" ".join(row.label.lower().split()), float(row.mean_per_second), row.source)
            for row in rows
            if known(row.mean_per_second) and row.mean_per_second >= 0
        ]
        before = found.get((name, node))
        if not lines or (before and before.over == "interval" and over != "interval"):
            continue
        seconds = window.elapsed_seconds if window else None
        found[name, node] = Lines(name, node or None, over, seconds, tuple(lines))
    return list(found.values())


def _window(row: StatisticRow, one: OneDatabase) -> StatisticsWindow | None:
    """The screen that a row stands on: of its file the last of that title and span that begins above it."""
    above = [
        window
        for window in one.windows
        if window.screen == row.screen
        and window.over == row.over
        and window.source.file == row.source.file
        and window.source.first <= row.source.first
    ]
    return max(above, key=lambda window: window.source.first, default=None)
