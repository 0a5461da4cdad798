"""Summaries of several files: one column for each node, below `Node:`, `From:` and `To:` (a.4 [M])."""

import re
from dataclasses import dataclass
from datetime import datetime

from collectors.layouts.vms import MOMENT, moment

STATISTICS = {"CUR": "current", "AVE": "mean", "MIN": "minimum", "MAX": "maximum"}
MOST_NODES = 16
"""Columns side by side; a page has five."""
STAMPS = re.compile(rf"(?i:{MOMENT})")
DATES = re.compile(r"[0-9]{1,2}-[A-Za-z]{3}-[0-9]{4}")
CLOCKS = re.compile(r"\s*(?:[0-9]{1,2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,2})?)?\s*){1,16}$")
HEAD = re.compile(r"\s{0,40}(?P<what>Node|From|To):\s*(?P<rest>.*)")
NODE_COLUMN = re.compile(r"(?P<node>[A-Z0-9_$]{1,15})\s{0,2}(?:\(\s{0,2}(?P<statistic>CUR|AVE|MIN|MAX)\s{0,2}\))?\s*")
ROW_WORDS = re.compile(r"\s*(?:(?:Row|Sum|Average|Ave|Minimum|Min|Maximum|Max)\b[\s/]*)+$", re.IGNORECASE)
ROW_TAIL = re.compile(r"(?:\s+(?:Row|Sum|Average|Ave|Minimum|Min|Maximum|Max))+\s*$")


@dataclass
class Column:
    """One node; its figures are averages unless the heading says otherwise."""

    node: str
    statistic: str = "mean"
    start: datetime | None = None
    end: datetime | None = None


def nodes_of(rest: str) -> list[Column] | None:
    """Read what stands behind `Node:`."""
    rest = ROW_TAIL.sub("", f" {rest}").strip()
    at, found = 0, list[Column]()
    while at < len(rest) and (column := NODE_COLUMN.match(rest, at)):
        found.append(Column(column["node"], STATISTICS[column["statistic"] or "AVE"]))
        at = column.end()
    return None if at < len(rest) or not 0 < len(found) <= MOST_NODES else found


def set_times(columns: list[Column], what: str, stamps: list[str]) -> None:
    """Give the columns the times behind `From:` or `To:`."""
    for column, stamp in zip(columns, stamps, strict=False):
        if what == "From":
            column.start = moment(stamp)
        else:
            column.end = moment(stamp)
