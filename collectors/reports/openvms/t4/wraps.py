"""Cells that no counter gave: a counter of 32 bits that went round shows as one figure far above its neighbours.

MONITOR's counters are unsigned longwords. T4 writes rates, so one that went round between two samples, and was not
taken modulo 2**32, stands there as about 2**32 ÷ seconds (71,582,788/s at 60 s), or negative. Such a figure is left
out: it is no maximum, belongs to no mean and makes no peak. Only a figure that stands alone is: where the samples
around it are as high, that is for the rules to refuse.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from collectors.layouts.figures import MOST_LOCK_RATE, TIMES
from collectors.reports.openvms.t4.names import Layout

Floats = NDArray[np.float64]
Marks = NDArray[np.bool_]

WORD = 2.0**32
NEARLY = 0.9
"""This project: from so much of 2**32 ÷ seconds on a figure is what a counter shows that went round."""
MODE_PERCENT = 105.0
"""Of each CPU: a mode cannot take more than all its time; the rest is left to the clock."""
MOST_CPUS = 1024
LOCKS = ("mon.lock", "mon.dloc")
LEVELS = " total"


@dataclass(frozen=True)
class Bounds:
    """Columns that are held against their neighbours, each with the highest figure that needs no second look."""

    rates: list[int]
    """Counters per second."""
    locks: Marks
    """Which of them count lock operations."""
    modes: list[int]
    caps: Floats
    """The most that each mode may be, per cent of one CPU."""


def bounds_of(layout: Layout) -> Bounds:
    """The columns of this file that may show a counter gone round."""
    found = {
        column: True for (group, name), column in layout.where.items() if group in LOCKS and LEVELS not in f" {name}"
    }
    found |= {column: False for column in layout.rates if column not in found}
    found |= {at: False for (group, _), at in layout.where.items() if group == "mon.rlck" and at not in found}
    rates = sorted(found)
    whole = MODE_PERCENT * (len(layout.cpus) or MOST_CPUS)
    modes = {column: whole for (group, _), column in layout.where.items() if group == "mon.mode"}
    modes |= {column: MODE_PERCENT for of_cpu in layout.cpus.values() for column in of_cpu.values()}
    at = sorted(modes)
    return Bounds(
        rates, np.array([found[one] for one in rates], dtype=np.bool_), at, np.array([modes[one] for one in at])
    )


def gone_round(
    values: Floats, gaps: Floats, before: Floats | None, after: Floats | None, bounds: Bounds
) -> Marks | None:
    """Mark the cells of these rows that no counter gave; `None` where there is none.

    `gaps`: seconds that each row covers, NaN where not known. `before` and `after`: the rows around them.
    """
    found = np.zeros(values.shape, dtype=np.bool_)
    if bounds.rates:
        mine = values[:, bounds.rates]
        mine = np.where(np.isfinite(mine), mine, np.nan)
        seconds = np.where(np.isfinite(gaps) & (gaps > 0), gaps, np.nan)[:, None]
        with np.errstate(invalid="ignore", over="ignore"):  # a damaged figure near the largest float
            high = (mine > NEARLY * WORD / seconds) | (bounds.locks & (mine > MOST_LOCK_RATE))
            if high.any() or (mine < 0).any():
                beside = _beside(values, before, after, bounds.rates)
                found[:, bounds.rates] = (high & ~(mine <= TIMES * beside)) | ((mine < 0) & (beside >= 0))
    if bounds.modes:
        mine = values[:, bounds.modes]
        with np.errstate(invalid="ignore"):
            high = np.isfinite(mine) & (mine > bounds.caps)
            if high.any():
                found[:, bounds.modes] = high & (_beside(values, before, after, bounds.modes) <= bounds.caps)
    return found if found.any() else None


def _beside(values: Floats, before: Floats | None, after: Floats | None, columns: list[int]) -> Floats:
    """The higher of the two neighbours of each cell; NaN where it has none."""
    none = np.full((1, len(columns)), np.nan)
    above = none if before is None else before[None, columns]
    below = none if after is None else after[None, columns]
    mine = values[:, columns]
    up, down = np.vstack([above, mine[:-1]]), np.vstack([mine[1:], below])
    return np.fmax(np.where(np.isfinite(up), up, np.nan), np.where(np.isfinite(down), down, np.nan))
