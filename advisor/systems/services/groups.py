"""Make, change and remove groups of systems."""

from collections.abc import Iterable

from django.db import IntegrityError, transaction
from django.http import HttpRequest

from advisor.accounts.models import Team, User
from advisor.core import journal
from advisor.schedules.models import Schedule
from advisor.schedules.services import collecting, failures
from advisor.systems.models import Group, System
from advisor.uploads.services.uploads import clean_text

LONGEST = 80


class Refused(ValueError):
    """What is not done, why, and what to do instead."""


def make(team: Team, name: str, systems: Iterable[System], by: User, *, request: HttpRequest | None = None) -> Group:
    """Make a group of systems of the team. Raises `Refused`."""
    chosen = list(systems)
    with transaction.atomic():
        made = Group(team=team, name=_free_name(team, name))
        _check_systems(made, chosen)
        _save(made)
        made.systems.set(chosen)
        journal.note(by, "group made", f"{made}: {_names(chosen)}", team=team, request=request)
    return made


def change(
    group: Group, name: str, systems: Iterable[System], by: User, *, request: HttpRequest | None = None
) -> Group:
    """Give a group this name and these systems. Raises `Refused`."""
    chosen = list(systems)
    with transaction.atomic():
        now = _locked(group)
        before = now.name
        now.name = _free_name(now.team, name, now)
        _check_systems(now, chosen)
        if not chosen and (users := _users(now)):
            raise Refused(f"the group is used by {users}: leave a system in it, or take it out there first")
        _save(now)
        gone = set(now.systems.all()) - set(chosen)
        now.systems.set(chosen)
        for schedule in now.schedules.all() if gone else ():
            failures.systems_left(schedule, gone)
        renamed = f"{before} to {now}" if before != now.name else now.name
        journal.note(by, "group changed", f"{renamed}: {_names(chosen)}", team=now.team, request=request)
    return now


def remove(group: Group, by: User, *, request: HttpRequest | None = None) -> None:
    """Remove a group; its systems stay. Raises `Refused` while a schedule, a recipient or a webhook uses it."""
    with transaction.atomic():
        now = _locked(group)
        if users := _users(now):
            raise Refused(f"the group is used by {users}: take it out there first")
        journal.note(by, "group removed", now.name, team=now.team, request=request)
        now.delete()


def _users(group: Group) -> str:
    """What uses a group, in words. A recipient or webhook without its last group would be told of every system."""
    used = [f"the schedule {one}" for one in group.schedules.all()]
    used += [f"the recipient {one}" for one in group.recipients.all()]
    used += [f"the webhook {one}" for one in group.webhooks.all()]
    return ", ".join(used[:3]) + (f" and {len(used) - 3:,} more" if len(used) > 3 else "")


def _check_systems(group: Group, systems: list[System]) -> None:
    if any(system.team_id != group.team_id for system in systems):
        raise Refused("a group holds systems of its own team only")
    if group.pk is None:
        return
    for schedule in group.schedules.filter(source=Schedule.Source.COLLECTOR):
        for product in sorted({system.product for system in systems}):
            if schedule.collector not in [one.name for one in collecting.offered(product)]:
                raise Refused(f"the schedule {schedule} collects by {schedule.collector}, which is not for {product}")


def _free_name(team: Team, text: str, but: Group | None = None) -> str:
    name = clean_text(text, LONGEST)
    if not name:
        raise Refused("a group needs a name")
    if Group.objects.filter(team=team, name__iexact=name).exclude(pk=but.pk if but else 0).exists():
        raise Refused("there is a group of this name: choose another one")
    return name


def _locked(group: Group) -> Group:
    found = Group.objects.select_for_update(of=("self",)).select_related("team").filter(pk=group.pk).first()
    if found is None:
        raise Refused("this group has been removed meanwhile")
    return found


def _save(group: Group) -> None:
    try:
        with transaction.atomic():
            group.save()
    except IntegrityError:  # somebody took the name at this moment
        raise Refused("there is a group of this name: choose another one") from None


def _names(systems: list[System]) -> str:
    return ", ".join(sorted(system.name for system in systems)) or "no systems"
