"""Before and after, of captures that are stored: which two sides, and what `rules.compare.compare` says of them.

A comparison unpacks and judges every capture of both sides, which takes longer than a page may. What comes of it is
small and kept in each process, found by the digests of all facts and by the limits: a capture that comes after another
one under its number is never taken for it, and a changed limit is never overlooked.
"""

import hashlib
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from cachetools import LRUCache, cached
from django.db.models import QuerySet

from advisor.audits.models import NEWEST_FIRST, Capture
from advisor.audits.report.comparison import comparison_data
from advisor.audits.services.limits import limits_of
from advisor.audits.services.persistence import restore
from advisor.core.page_cache import digest
from advisor.core.records import Refused
from advisor.systems.models import System
from advisor.systems.services import history
from collectors import facts as facts_of
from collectors.facts.codec import DamagedFacts
from rules.compare.compare import compare

MOST_A_SIDE = 12
"""Captures of one side: each is unpacked and judged (this project's figure)."""
LARGEST = 2**63 - 1
"""A number beyond it is no row's: databases refuse to look for it."""
KEPT = 60
"""Comparisons kept ready in each process: some tens of kilobytes each."""
AT_A_TIME = 2
"""Comparisons made at the same time in one process."""


class Busy(RuntimeError):
    """Others have comparisons made just now: come again in a moment."""


@dataclass(frozen=True)
class Sides:
    """The captures of one system that are held against each other, each side oldest first."""

    system: System
    before: tuple[Capture, ...]
    after: tuple[Capture, ...]

    @property
    def all(self) -> tuple[Capture, ...]:
        """Every one of them."""
        return (*self.before, *self.after)


def comparable(system: System) -> QuerySet[Capture]:
    """The captures of a system whose facts are stored, newest first."""
    return system.captures.filter(packed__isnull=False).order_by(*NEWEST_FIRST)


def sides_of(system: System, before: Sequence[int] = (), after: Sequence[int] = ()) -> Sides:
    """The sides as asked for by the captures' numbers; by default the newest capture, and the one before it.

    Raises `Capture.DoesNotExist` for a number that is no capture of this system, `Refused` for what cannot be compared.
    """
    if len(set(before)) > MOST_A_SIDE or len(set(after)) > MOST_A_SIDE:
        raise Refused(f"More than {MOST_A_SIDE} captures on one side: choose fewer.")
    if not all(0 < one <= LARGEST for one in (*before, *after)):
        raise Capture.DoesNotExist
    if set(before) & set(after):
        raise Refused("The same capture is on both sides: choose another one for one of them.")
    late = _asked(system, after) or _newest(system, without=before)
    if not late:
        raise Refused("There is no other capture to compare with: upload another one of this system.")
    early = _asked(system, before) or _earlier(system, late)
    if not early:
        raise Refused("There is no capture before it to compare with: upload one, or choose one for this side.")
    return Sides(system, early, late)


def _asked(system: System, numbers: Sequence[int]) -> tuple[Capture, ...]:
    found = tuple(_whole(comparable(system).filter(pk__in=numbers)))[::-1] if numbers else ()
    if len(found) < len(set(numbers)):
        raise Capture.DoesNotExist
    return found


def _newest(system: System, without: Sequence[int]) -> tuple[Capture, ...]:
    return tuple(_whole(comparable(system).exclude(pk__in=without))[:1])


def _earlier(system: System, late: tuple[Capture, ...]) -> tuple[Capture, ...]:
    """The capture before the oldest of these."""
    older = comparable(system).filter(late[0].earlier()).exclude(pk__in=[one.pk for one in late])
    return tuple(_whole(older)[:1])


def _whole(captures: QuerySet[Capture]) -> QuerySet[Capture]:
    """With what a comparison needs; the packed facts come one at a time."""
    return captures.select_related("audit").defer("figures", "audit__verdicts", "audit__laws", "audit__plan")


@dataclass(frozen=True)
class Compared:
    """What came of it."""

    data: dict[str, Any]
    """As `compare/1` prints it. It is kept: nobody may change it."""
    problems: tuple[str, ...]
    """What of the stored facts could not be restored."""


def compared(sides: Sides, *, wait: bool = True) -> Compared:
    """Hold the sides against each other. Who may see the captures was asked before.

    Raises `Refused` where stored facts are damaged; without `wait` also `Busy`, where there is no room for `PATIENCE`.
    """
    return _compared(sides, limits_of(sides.system), wait)


def _key(sides: Sides, limits: dict[str, float], wait: bool) -> bytes:
    digests = [[_digest(one) for one in side] for side in (sides.before, sides.after)]
    return hashlib.sha256(repr((sides.system.name, digests, sorted(limits.items()))).encode()).digest()


_kept: LRUCache[bytes, Compared] = LRUCache(KEPT)


@cached(_kept, key=_key, lock=threading.Lock())
def _compared(sides: Sides, limits: dict[str, float], wait: bool) -> Compared:
    with _room(wait):
        return _made(sides, limits)


def _made(sides: Sides, limits: dict[str, float]) -> Compared:
    problems: dict[str, None] = {}

    def facts(captures: Iterable[Capture]) -> list[facts_of.Capture]:
        found = []
        for one in captures:
            try:
                capture, lost = restore(one)
            except DamagedFacts as why:
                raise Refused(_damaged(one, why)) from None
            found.append(capture)
            problems.update(dict.fromkeys(lost))
        return found

    early, late = facts(sides.before), facts(sides.after)
    return Compared(comparison_data(compare(early, late, limits)), tuple(problems))


def _damaged(capture: Capture, why: DamagedFacts) -> str:
    own = history.own_time(capture.taken, capture.timed, capture.interval)
    when = history.when(own, capture.timed)
    return f"The stored facts of the capture of {when} cannot be read: {why}. Upload its exports again."


def _digest(capture: Capture) -> tuple[str, str]:
    """What a capture is: its facts, and what the system's rows tell besides."""
    told = repr((capture.version, capture.platform, capture.processors, capture.interval, capture.seconds))
    return digest(capture).hex(), told


_rooms = threading.BoundedSemaphore(AT_A_TIME)
PATIENCE = 3.0
"""Seconds that a page waits for room: most comparisons take a tenth of one."""


@contextmanager
def _room(wait: bool) -> Iterator[None]:
    if not _rooms.acquire(timeout=-1 if wait else PATIENCE):
        raise Busy("Others have captures compared just now. Ask again in a moment.")
    try:
        yield
    finally:
        _rooms.release()
