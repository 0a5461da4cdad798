"""Several systems at once: rename, merge, delete. Each is all or nothing, and done the way it is done for one.

What is concerned is held from the start, in one order for everybody: schedules, then systems by their number. Two that
change the same systems wait for each other, and the second one is refused where the first took something away.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from django.db import transaction
from django.db.models import Q
from django.http import HttpRequest

from advisor.accounts.models import User
from advisor.core.access import may_work_for, systems_of
from advisor.core.jinja import counted
from advisor.core.records import Refused
from advisor.findings.models import TrackedFinding
from advisor.findings.services import tracking
from advisor.schedules.models import Run, Schedule
from advisor.systems.models import System
from advisor.systems.services import aliases
from advisor.systems.services.systems import LONGEST, forget_system, rename_system
from advisor.uploads.services.uploads import clean_text

MOST = 200
"""Systems that are changed at once: a page of the overview."""
NAMED = 5
"""Things of one kind that a preview names; the rest is counted."""
GONE = "some of these systems have been merged or deleted meanwhile: choose again"


def chosen(user: User, wanted: Sequence[int]) -> list[System]:
    """The systems of these numbers that a person may change, by name. Raises `Refused` beyond `MOST`."""
    if len(wanted) > MOST:
        raise Refused(f"{MOST} systems can be changed at once: choose fewer")
    found = (
        systems_of(user).filter(pk__in=wanted).select_related("team").defer("trend", "trouble").order_by("name", "pk")
    )
    teams: dict[int, bool] = {}
    for one in found:
        if one.team_id not in teams:
            teams[one.team_id] = may_work_for(user, one.team)
    return [one for one in found if teams[one.team_id]]


@dataclass(frozen=True)
class NewName:
    """What one system is to be called."""

    system: System
    name: str
    problem: str = ""
    """Why it cannot be called so; empty: it can."""


def by_pattern(systems: Sequence[System], find: str, put: str) -> dict[int, str]:
    """Names in which every `find` is replaced by `put`, without regard to case; of the systems that it changes."""
    find = find.strip()
    if not find:
        return {}
    names = {one.pk: clean_text(_replaced(one.name, find, put.strip()), LONGEST) for one in systems}
    return {one.pk: names[one.pk] for one in systems if names[one.pk] != one.name}


def _replaced(name: str, find: str, put: str) -> str:
    low, parts, at = name.lower(), [], 0
    if len(low) != len(name):  # a letter whose small form is longer: places would not fit
        return name.replace(find, put)
    while (found := low.find(find.lower(), at)) >= 0:
        parts += [name[at:found], put]
        at = found + len(find)
    return "".join([*parts, name[at:]])


def looked_at(systems: Sequence[System], names: Mapping[int, str]) -> list[NewName]:
    """Each new name that differs from the old one, with what is wrong with it."""
    wanted = {one: clean_text(names[one.pk], LONGEST) for one in systems if one.pk in names}
    changed = {one: name for one, name in wanted.items() if name != one.name}
    keys = Counter(_key(one, changed.get(one, one.name)) for one in systems)
    others = System.objects.filter(key__in=[aliases.key_of(name) for name in changed.values()])
    taken = set(others.exclude(pk__in=[one.pk for one in systems]).values_list("team", "product", "key"))
    found = []
    for one, name in changed.items():
        problem = ""
        if not name:
            problem = "a system needs a name"
        elif keys[_key(one, name)] > 1:
            problem = "two of these systems would have this name: merge them"
        elif _key(one, name) in taken:
            problem = "another system has this name: choose it as well, and merge them"
        found.append(NewName(one, name, problem))
    return found


def _key(system: System, name: str) -> tuple[int, str, str]:
    return system.team_id, system.product, aliases.key_of(name)


def rename_several(
    systems: Sequence[System], names: Mapping[int, str], by: User, *, request: HttpRequest | None = None
) -> int:
    """Give systems other names; returns how many got one. Raises `Refused` where one of them cannot, and changes none.

    A name that another of them gives up is free for the next one; two that swap theirs are refused.
    """
    with _held(systems) as held:
        wanted = looked_at(held, names)
        for one in wanted:
            if one.problem:
                raise Refused(f"{one.system.name} to {one.name}: {one.problem}")
        left = {one.system.pk: one for one in wanted}
        while left:
            used = {_key(one.system, one.system.name): pk for pk, one in left.items()}
            free = [one for pk, one in left.items() if used.get(_key(one.system, one.name), pk) == pk]
            if not free:
                swapped = " and ".join(sorted(one.system.name for one in left.values())[:2])
                raise Refused(f"{swapped} would swap names: give one of them a third name first")
            for one in free:
                rename_system(one.system, one.name, by, request=request)
                del left[one.system.pk]
    return len(wanted)


@dataclass
class Merged:
    """What merging would do, in words."""

    into: System
    systems: list[System]
    """Those that go."""
    joined: list[str] = field(default_factory=list)
    conflicts: list[str] = field(default_factory=list)
    """What only one of both can have, and which counts."""


def merging(systems: Sequence[System], into: System) -> Merged:
    """What comes of merging systems into one of them. Raises `Refused` where they are no one system."""
    others = [one for one in systems if one.pk != into.pk]
    if not others:
        raise Refused("choose two systems or more to merge them")
    if len({(one.team_id, one.product) for one in systems}) > 1:
        raise Refused("only systems of one team and one product can be one system")
    found = Merged(into, others)
    numbers = [one.pk for one in others]
    of_them = {"system__in": numbers}
    counts = {
        "capture": sum(one.captures.count() for one in others),
        "note": sum(one.notes.count() for one in others),
        "data source": sum(one.sources.count() for one in others),
        "schedule": Schedule.objects.filter(**of_them).count(),
        "followed finding": TrackedFinding.objects.filter(**of_them).count(),
    }
    found.joined += [counted(count, word) for word, count in counts.items() if count]
    for word, related in (("group", "groups"), ("recipient of mail", "recipients"), ("webhook", "webhooks")):
        names = sorted({str(thing) for one in others for thing in getattr(one, related).all()})
        if names:
            found.joined.append(f"{word}{'' if len(names) == 1 else 's'}: {_some(names)}")
    names = list(dict.fromkeys(name for one in others for name in (one.name, *one.former)))
    found.joined.append(f"exports that say {_some(names)} are of {into.name} from then on")
    found.conflicts += _limits_that_differ(others, into)
    for one in others:
        found.conflicts += _decided_twice(one, into)
        if one.expected_hours and into.expected_hours and one.expected_hours != into.expected_hours:
            found.conflicts.append(
                f"a capture of {one.name} is expected every {one.expected_hours} h: {into.name}'s "
                f"{into.expected_hours} h count"
            )
        if one.snoozed and not into.snoozed:
            found.conflicts.append(f"{one.name} is snoozed until {one.snoozed_until}: {into.name} is not, and stays so")
    return found


def _limits_that_differ(others: Sequence[System], into: System) -> Iterator[str]:
    own = {one.name: (into.name, one.value) for one in into.limits.all()}
    for system in others:
        for one in system.limits.all():
            whose, value = own.setdefault(one.name, (system.name, one.value))
            if value != one.value:
                yield f"limit {one.name}: {one.value:g} of {system.name} goes, {value:g} of {whose} counts"


def _decided_twice(system: System, into: System) -> list[str]:
    """Of the findings that both have, those about which people decided otherwise."""
    open_state = TrackedFinding.State.OPEN
    told = []
    for row, same in tracking.side_by_side(system, into):
        if same is not None and row.state != same.state and (row.state, same.state) != (open_state, open_state):
            counts = row if tracking.decided_later(row, same) else same
            goes = same if counts is row else row
            whose = system if counts is row else into
            told.append(
                f"{row.title}: {goes.get_state_display().lower()} goes, {counts.get_state_display().lower()} of "
                f"{whose.name} counts"
            )
    left = len(told) - NAMED
    return told[:NAMED] + ([f"{left:,} more findings that were decided otherwise of {system.name}"] if left > 0 else [])


def merge_several(systems: Sequence[System], into: int, by: User, *, request: HttpRequest | None = None) -> System:
    """Merge systems into the one of them with the number `into`; returns that one. Raises `Refused`."""
    with _held(systems) as held:
        target = next((one for one in held if one.pk == into), None)
        if target is None:
            raise Refused("choose which of the systems stays")
        for one in merging(held, target).systems:
            rename_system(one, target.name, by, merge=True, request=request)
    return System.objects.get(pk=into)


def delete_several(systems: Sequence[System], typed: str, by: User, *, request: HttpRequest | None = None) -> int:
    """Forget systems with all there is of them. Raises `Refused` unless their number was typed."""
    if typed.strip() != f"{len(systems)}":
        raise Refused(f"type {len(systems)} to delete these {len(systems)} systems")
    with _held(systems) as held:
        for one in held:
            forget_system(one, one.name, by, request=request)
    return len(held)


@contextmanager
def _held(systems: Sequence[System]) -> Iterator[list[System]]:
    """A transaction that has these systems and their schedules. Raises `Refused` where one has gone or is renamed."""
    names = {one.pk: one.name for one in systems}
    if not names:
        raise Refused("choose systems first")
    with transaction.atomic():
        concerned = Q(system__in=names) | Q(pk__in=Run.objects.filter(system__in=names).values("schedule"))
        list(Schedule.objects.select_for_update().filter(concerned).order_by("pk").values_list("pk"))
        rows = System.objects.select_for_update(of=("self",)).select_related("team").filter(pk__in=names)
        held = list(rows.order_by("pk"))
        if {one.pk: one.name for one in held} != names:
            raise Refused(GONE)
        yield held


def _some(names: Sequence[str]) -> str:
    left = len(names) - NAMED
    return ", ".join(names[:NAMED]) + (f" and {left:,} more" if left > 0 else "")
