"""Moments of a server for tests of snapshots: booted the evening before, looked at from just after noon on."""

import datetime as dt

from collectors.facts.ase import Snapshot

NOON = dt.datetime(2026, 5, 4, 12, 0, 20)  # noqa: DTZ001 - exports have no zone
BOOT = dt.datetime(2026, 5, 3, 20, 30, 7)  # noqa: DTZ001
AGO = (NOON - BOOT).total_seconds()


def at(seconds: float) -> dt.datetime:
    """So many seconds after that."""
    return NOON + dt.timedelta(seconds=seconds)


def snapshot(
    seconds: float | None,
    number: int = 1,
    server: str | None = "LARCH",
    booted: dt.datetime | None = BOOT,
    cleared: dt.datetime | None = BOOT,
) -> Snapshot:
    """A snapshot so long after noon and 20 seconds; `None`: without any time."""
    taken = None if seconds is None else at(seconds)
    return Snapshot(number=number, server=server, taken=taken, booted=booted, counters_cleared=cleared)
