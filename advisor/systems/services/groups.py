"""Make, change and remove groups of systems."""

from collections.abc import Iterable, Mapping

from django.http import HttpRequest

from advisor.accounts.models import Team, User
from advisor.core.records import Records, Refused
from advisor.schedules.models import Schedule
from advisor.schedules.services import collecting, failures
from advisor.systems.models import Group, System
from advisor.uploads.services.uploads import clean_text

LONGEST = 80


class Groups(Records[Group]):
    """Groups as they are kept."""

    model, kind, added = Group, "group", "made"
    taken = "there is a group of this name: choose another one"
    gone = "this group has been removed meanwhile"

    def told(self, deed: str, row: Group) -> str:
        """Its systems, too, where it is made."""
        return f"{row}: {_names(row)}" if deed == self.added else row.name

    def words(self, row: Group) -> dict[str, str]:
        """Its name; its systems are told anyway."""
        return {"name": row.name}

    def told_change(self, row: Group, before: Mapping[str, str], said: list[str]) -> str:
        """What it is called, and which systems are in it now."""
        renamed = f"{before['name']} to {row}" if before["name"] != row.name else row.name
        return f"{renamed}: {_names(row)}"

    def leaves(self, row: Group) -> None:
        """Raise `Refused` while a schedule, a recipient or a webhook uses it."""
        if users := _users(row):
            raise Refused(f"the group is used by {users}: take it out there first")


GROUPS = Groups()
remove = GROUPS.remove
"""Its systems stay."""


def make(team: Team, name: str, systems: Iterable[System], by: User, *, request: HttpRequest | None = None) -> Group:
    """Make a group of systems of the team. Raises `Refused`."""
    chosen = list(systems)
    made = Group(team=team, name=_free_name(team, name))
    _check_systems(made, chosen)
    with GROUPS.adding(made, by, request):
        made.save()
        made.systems.set(chosen)
    return made


def change(
    group: Group, name: str, systems: Iterable[System], by: User, *, request: HttpRequest | None = None
) -> Group:
    """Give a group this name and these systems. Raises `Refused`."""
    chosen = list(systems)
    with GROUPS.changing(group, by, request) as change:
        now = change.row
        now.name = _free_name(now.team, name, now)
        _check_systems(now, chosen)
        if not chosen and (users := _users(now)):
            raise Refused(f"the group is used by {users}: leave a system in it, or take it out there first")
        now.save()
        gone = set(now.systems.all()) - set(chosen)
        now.systems.set(chosen)
        for schedule in now.schedules.all() if gone else ():
            failures.systems_left(schedule, gone)
    return now


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


def _names(group: Group) -> str:
    return ", ".join(group.systems.order_by("name").values_list("name", flat=True)) or "no systems"
