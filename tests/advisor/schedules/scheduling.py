"""Schedules and runs as tests make them: in a line, due when the test says, with real folders and programs."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from advisor.accounts.models import Team
from advisor.schedules.models import Run, Schedule
from advisor.schedules.services import running
from advisor.systems.models import System

NOON = datetime(2026, 5, 6, 12, tzinfo=UTC)
"""A Wednesday."""


def make_schedule(team: Team, name: str = "hourly", **more: Any) -> Schedule:
    """A schedule of every hour over a folder, due at noon."""
    values: dict[str, Any] = {"folder": "/nowhere", "every_minutes": 60, "next_due": NOON, "created": NOON, **more}
    if values.get("cron"):
        values["every_minutes"] = None
    return Schedule.objects.create(team=team, name=name, **values)


def make_system(team: Team, name: str = "CLAIMS1", **more: Any) -> System:
    return System.objects.create(team=team, product="ase", name=name, key=name.upper(), **more)


def runs_of(schedule: Schedule) -> list[tuple[str, str, int]]:
    """The runs of a schedule in order of their times: state, time, times missed."""
    rows = Run.objects.filter(schedule=schedule).order_by("due", "pk")
    return [(run.state, f"{run.due:%d %H:%M}", run.missed) for run in rows]


Probe = Callable[[str], None]
"""Makes the program `probe` of these lines of shell."""


def due_run(schedule: Schedule, **more: Any) -> Run:
    """A run of a schedule that is to be made now."""
    return Run.objects.create(**{"schedule": schedule, "due": NOON, "not_before": NOON, "created": NOON, **more})


def collected(team: Team, system: System, name: str = "hourly", **more: Any) -> Run:
    """A run of a schedule that collects by `probe` from a system."""
    schedule = make_schedule(team, name, source="collector", collector="probe", folder="", system=system)
    return due_run(schedule, system=system, **more)


def made(run: Run) -> Run:
    """The run after a worker has been asked to make it."""
    running.make_run(run.pk)
    run.refresh_from_db()
    return run
