"""Two exports of one interval that tell the same thing differently: which one the account uses, and that there are two.

Wherever an account takes how busy a system was, or what it lost, from one of several sources, the others are held
against it here. Nothing is decided: a reader has to know that one of them is wrong, or of other minutes.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from collectors.facts import Source

APART = 10.0
"""This project, per cent of the time of all processors: instruments that count ticks, and intervals that begin seconds
apart, differ by a few."""
APART_LOST = 3.0
"""The same of a share that is lost: what makes a warning."""
ALIKE = 0.8
"""This project: exports whose lengths differ by more than a fifth are of other minutes, and may differ."""


@dataclass(frozen=True)
class Told:
    """What one export says."""

    by: str
    """`sp_sysmon`, `monEngine`, `T4`, …"""
    percent: float
    """Of the time of all processors."""
    source: Source
    seconds: float | None = None
    """Of its interval; `None` where it does not say."""


@dataclass(frozen=True)
class Conflict:
    """Two exports that disagree."""

    what: str
    """What both tell, as in `has the engines busy`: `the engines busy`."""
    used: Told
    other: Told
    why: str
    """Why that one is used, the end of a sentence."""

    @property
    def says(self) -> str:
        """Both figures with their places, in one sentence."""
        used, other = self.used, self.other
        return (
            f"{used.by} has {self.what} {used.percent:.0f} % of their time ({used.source}), {other.by} "
            f"{other.percent:.0f} % ({other.source}), both of the same time: this account uses {used.by}, as "
            f"{self.why}."
        )

    @property
    def short(self) -> str:
        """The same as a clause without places."""
        return (
            f"{self.used.by} and {self.other.by} disagree: {self.what} {self.used.percent:.0f} and "
            f"{self.other.percent:.0f} % of their time"
        )


def conflict_of(
    what: str, used: Told, others: Iterable[Told], why: str, *, apart: float = APART, one_time: bool = False
) -> Conflict | None:
    """The export that differs most from the one that is used, if by so much; `None` where all agree.

    `one_time`: they are known to be of one interval; else their lengths have to be alike.
    """
    far = [
        one
        for one in others
        if abs(one.percent - used.percent) >= apart and (one_time or _alike(one.seconds, used.seconds))
    ]
    if not far:
        return None
    return Conflict(what, used, max(far, key=lambda one: abs(one.percent - used.percent)), why)


def _alike(one: float | None, other: float | None) -> bool:
    return bool(one and other) and min(one or 0.0, other or 0.0) >= ALIKE * max(one or 0.0, other or 0.0)
