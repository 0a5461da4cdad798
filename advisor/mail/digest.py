"""The week of a fleet, a line a system, for somebody who need not know what a spinlock is."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from advisor.mail.letter import LEVELS, Enclosed, Letter, cut, one_line, write
from advisor.models import Recipient, Site

ROOM = 18
"""Columns of what changed, in the text part."""


@dataclass(frozen=True)
class Line:
    """One system."""

    key: str
    """The name of its trend among the pictures."""
    name: str
    address: str
    worst: int
    """0 nothing, 1 note … 4 critical."""
    headline: str
    changed: str
    """What changed since the last digest, in numbers; empty: nothing."""
    signs: str
    """The same as short as can be, `+1 ^1 -2`."""
    lost: float | None
    """Processors lost; None where nobody can tell."""
    taken: datetime | None
    """When its newest capture was taken; None: it was never audited."""
    unjudged: int
    """Rules that could not judge it."""
    trend: Sequence[float | None]
    trend_of: str
    """What the trend is of: `processors lost` or `worst severity`."""
    silent_since: datetime | None
    """Since when it is not audited although it should be."""
    why: str

    @property
    def state(self) -> str:
        """Its worst severity in a word."""
        return "never" if self.taken is None else LEVELS[self.worst]

    @property
    def going(self) -> str:
        """Where its trend leads: the newest figure against the oldest known, `up`, `down`, `level` or nothing.

        Less is no improvement where rules could not judge: then it leads nowhere.
        """
        known = [value for value in self.trend if value is not None]
        if len(known) < 2:
            return ""
        if known[-1] < known[0]:
            return "" if self.unjudged else "down"
        return "up" if known[-1] > known[0] else "level"

    @property
    def more(self) -> str:
        """What the second line of the text says: changes that the column has no room for, not judged, the finding."""
        long = f"changed {self.signs}" if len(self.signs) > ROOM else ""
        blind = f"not judged {self.unjudged}" if self.unjudged else ""
        return "; ".join(part for part in (long, blind, self.headline) if part)


@dataclass(frozen=True)
class Contents:
    """What a digest tells."""

    since: datetime
    now: datetime
    lines: Sequence[Line]
    more: int
    """Systems that are on the page alone."""
    systems: int
    worst: Mapping[int, int]
    """For each severity 0 to 4, how many audited systems have it as their worst."""
    never: int
    """Systems that were never audited."""
    not_all_judged: int
    """Audited systems without a finding where rules could not judge: they count in `worst` as well."""
    changed: int
    new: int
    """Systems first seen in this time; they count as changed no more."""
    silent: int
    schedules: Sequence[tuple[str, datetime, str]]
    """Schedules that bring nothing although they should, since when and why, where no system is known."""
    address: str


def compose(site: Site, recipient: Recipient, told: Contents, enclosed: Enclosed, thread: str) -> Letter:
    """Make it."""
    context = {
        "told": told,
        "team": cut(one_line(recipient.team.name, 80), 30),
        "counts": ", ".join(f"{told.worst[level]:,} {LEVELS[level]}" for level in (4, 3, 2, 1) if told.worst[level]),
        "calm": told.worst[0] - told.not_all_judged,
        "nothing": _nothing(told),
        "room": ROOM,
    }
    headers = {"X-Lockwright-Kind": "digest", "X-Lockwright-Team": recipient.team.name}
    return write("digest", recipient, context, site, thread=thread, headers=headers, enclosed=enclosed)


def _nothing(told: Contents) -> str:
    """What the subject says where no system has a finding."""
    if told.never == told.systems:
        return "none audited"
    return "nothing found, not all judged" if told.not_all_judged else "no findings"
