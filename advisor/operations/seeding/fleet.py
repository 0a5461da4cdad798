"""A made fleet: systems with schedules, and the exports they put into drop folders hour by hour."""

from collections import Counter
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from random import Random

from django.utils import timezone

from advisor.accounts.models import Role, Team, User
from advisor.core.records import Refused
from advisor.operations.seeding.captures import EVERYWHERE
from advisor.operations.seeding.exports import patterns
from advisor.operations.seeding.system import MARK
from advisor.schedules.models import Schedule
from advisor.schedules.services import schedules
from advisor.schedules.services.watch_folder.places import own_folder
from advisor.systems.models import System

TEAM = f"{MARK} fleet"
FLEET_PRODUCTS = ("ase", "openvms")
"""Of the systems in turn; of each product every second one is ill."""
CHANGES = 0.05
"""The share of hours in which a system is not as it mostly is."""
EVERY_MINUTES = 60


def make(count: int, *, settle_seconds: int = 60, one_schedule: bool = False, add: bool = False) -> Counter[str]:
    """Make what is missing of a fleet of so many systems, each with a folder and an hourly schedule of its own.

    Instead, `one_schedule` may look into the folders of all. Gives how many rows of each kind were made. Raises
    `Refused` where there are other systems, unless `add`, and where its folders cannot be made.
    """
    if count < 1:
        raise Refused("seed a fleet of at least one system")
    if not add and System.objects.exclude(team__name=TEAM).exists():
        raise Refused("there are other systems in this database already; --add puts a fleet beside them")
    team, by = _team()
    made: Counter[str] = Counter()
    for number in range(1, count + 1):
        name = f"{MARK}{number:04d}"
        product = FLEET_PRODUCTS[number % len(FLEET_PRODUCTS)]
        system, new = System.objects.get_or_create(team=team, product=product, key=name, defaults={"name": name})
        made["systems"] += new
        _make_folder(folder_of(system))
        if not one_schedule:
            wish = _wish(name, folder_of(system), settle_seconds, system)
            made["schedules"] += _schedule(team, wish, by)
    if one_schedule:
        made["schedules"] += _schedule(team, _wish(TEAM, own_folder(team), settle_seconds), by)
    return made


def fleet() -> list[System]:
    """Its systems, by name."""
    return list(System.objects.filter(team__name=TEAM, name__startswith=MARK).select_related("team"))


def folder_of(system: System) -> Path:
    """Where a system of the fleet puts its exports."""
    return own_folder(system.team) / system.name


def drop(systems: Iterable[System], end: datetime) -> tuple[int, int]:
    """Put the exports of the interval that ended then into the folders, all at the same moment.

    Gives how many files and bytes that were. The same time always gives the same bytes. Raises `OSError`.
    """
    stories = patterns()
    local = timezone.localtime(end).replace(tzinfo=None)  # exports say no zone: it is the site's
    ready: list[tuple[Path, Path]] = []
    size = 0
    for system in systems:
        chance = Random(f"{system.name} {local.isoformat()}")  # noqa: S311 - made data, the same every time
        well = int(system.name.removeprefix(MARK)) // len(FLEET_PRODUCTS) % 2
        if chance.random() < CHANGES:
            well = 1 - well
        folder = folder_of(system)
        for name, data in stories[system.product][well].exports(system.name, local, chance).items():
            hidden = folder / f".{name}"
            hidden.write_bytes(data)
            ready.append((hidden, folder / name))
            size += len(data)
    for hidden, path in ready:
        hidden.rename(path)
    return len(ready), size


def _team() -> tuple[Team, User]:
    """The team of the fleet, and a DBA of it."""
    team = Team.objects.get_or_create(name=TEAM)[0]
    user = User.objects.filter(username=EVERYWHERE).first() or User.objects.create_user(EVERYWHERE, role=Role.DBA)
    user.teams.add(team)
    return team, user


def _wish(name: str, folder: Path, settle_seconds: int, system: System | None = None) -> schedules.ScheduleSpec:
    """A look every hour; what was taken is moved, as files that stay would be looked at for ever."""
    return schedules.ScheduleSpec(
        name,
        system=system,
        folder=str(folder),
        after=Schedule.After.MOVE,
        settle_seconds=settle_seconds,
        every_minutes=EVERY_MINUTES,
    )


def _schedule(team: Team, wish: schedules.ScheduleSpec, by: User) -> bool:
    if Schedule.objects.filter(team=team, name=wish.name).exists():
        return False
    schedules.make(team, wish, by)
    return True


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Refused(f"{folder} cannot be made ({error.strerror}): set DROP_FOLDERS to where it can") from None
