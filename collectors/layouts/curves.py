"""Samples of many days → at most 288 equal steps: the course of a figure, in bounded memory. Imports numpy."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from collectors.facts.base import ABSENT, Reading

Floats = NDArray[np.float64]

MOST_STEPS = 288
"""A day of five minutes."""
STEPS = (1, 5, 10, 30, 60, 300, 600, 1800, 3600, 7200, 21_600, 86_400, 604_800, 6_048_000)
"""Seconds; each is a multiple of the one before, so that steps can be put together."""


class Curves:
    """Some figures over time. Steps start small and are put together as the time grows."""

    def __init__(self, figures: int) -> None:
        """Keep so many figures."""
        self.figures = figures
        self.begin: float | None = None
        self.ladder = 0
        self.sum: Floats = np.zeros((MOST_STEPS, figures))
        self.count = np.zeros((MOST_STEPS, figures), dtype=np.int64)
        self.high: Floats = np.full((MOST_STEPS, figures), -math.inf)
        self.line = np.zeros(MOST_STEPS, dtype=np.int64)
        """The first line of each step, 0 for none."""

    @property
    def step(self) -> int:
        """Seconds of one step."""
        return STEPS[self.ladder]

    def add(self, ends: Floats, values: Floats, lines: Sequence[int] = ()) -> None:
        """Take samples: the seconds at which each ends, never falling, and a row of figures for each; NaN: none.

        `lines`: the line of each, where they are told.

        A sample counts in the step in which it ends; what lies beyond all steps, or before the first sample, is left
        out.
        """
        if not len(ends) or not self.figures:
            return
        if self.begin is None:
            self.begin = float(ends[0])
        while (float(ends[-1]) - self.begin) // self.step >= MOST_STEPS and self.ladder < len(STEPS) - 1:
            self._coarser()
        at = ((ends - self.begin) // self.step).astype(np.int64)
        fits = (at >= 0) & (at < MOST_STEPS)
        if len(lines):
            steps, first = np.unique(at[fits], return_index=True)
            begins = np.asarray(lines, dtype=np.int64)[fits][first]
            self.line[steps] = np.where(self.line[steps] == 0, begins, self.line[steps])
        at, values = at[fits], values[fits]
        there = np.isfinite(values)
        np.add.at(self.sum, at, np.where(there, values, 0.0))
        np.add.at(self.count, at, there.astype(np.int64))
        np.maximum.at(self.high, at, np.where(there, values, -math.inf))

    def _coarser(self) -> None:
        """Put steps together, up to the next size."""
        together = STEPS[self.ladder + 1] // STEPS[self.ladder]
        self.ladder += 1
        room = -(-MOST_STEPS // together) * together
        for name, empty, put in (("sum", 0.0, np.sum), ("count", 0, np.sum), ("high", -math.inf, np.max)):
            old = getattr(self, name)
            padded = np.full((room, self.figures), empty, dtype=old.dtype)
            padded[:MOST_STEPS] = old
            new = np.full_like(old, empty)
            new[: room // together] = put(padded.reshape(-1, together, self.figures), axis=1)
            setattr(self, name, new)
        lines = np.zeros(room, dtype=np.int64)
        lines[:MOST_STEPS] = self.line
        groups = lines.reshape(-1, together)
        self.line = np.zeros_like(self.line)
        self.line[: room // together] = np.where(groups == 0, np.iinfo(np.int64).max, groups).min(axis=1)
        self.line[self.line == np.iinfo(np.int64).max] = 0

    def finish(self, interval_seconds: float | None) -> None:
        """Let no step be shorter than the samples are apart: else every other one would be empty."""
        while self.figures and interval_seconds and self.step < interval_seconds * 0.9 and self.ladder < len(STEPS) - 1:
            self._coarser()

    def of(self, figure: int) -> tuple[Sequence[Reading], Sequence[Reading]] | None:
        """Means and peaks of one figure, up to the last step with a sample of any; `None` where it has no sample."""
        if not self.count[:, figure].any():
            return None
        last = int(np.flatnonzero(self.count.any(axis=1))[-1])
        means: list[Reading] = []
        peaks: list[Reading] = []
        for at in range(last + 1):
            count = int(self.count[at, figure])
            means.append(round(float(self.sum[at, figure]) / count, 3) if count else ABSENT)
            peaks.append(round(float(self.high[at, figure]), 3) if count else ABSENT)
        return means, peaks
