"""The names a system had before: exports, subfolders of a drop folder and collectors that go by one mean that system.

`System.former` holds them as they were typed. Its first is the name the server is known by, which renaming and merging
leave: it may be the system's own.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from django.db.models import Q

from advisor.accounts.models import Team
from advisor.systems.models import System
from collectors import facts as base

LONGEST = 120


def key_of(name: str) -> str:
    """What names are compared by."""
    return name.upper()[:LONGEST]


def of_example(name: str) -> str:
    """What the system of an example is called where another system has its name."""
    return f"{name[: LONGEST - 10]} (example)"


def collected_as(system: System) -> str:
    """The name a collector is called with: the one the server is known by."""
    return str(system.former[0]) if system.former else system.name


def formerly(system: System) -> list[str]:
    """The names it had, without its own."""
    return [name for name in system.former if key_of(name) != key_of(system.name)]


def rename(system: System, name: str) -> None:
    """Give it another name, and let it answer to the one before; what is kept is up to the caller."""
    names = system.former or [system.name]
    before, system.name, system.key = system.name, name, key_of(name)
    system.former = _settled(name, [*names, before])


def take_names(system: System, other: System) -> None:
    """Let `other` answer to the names of `system`, which is merged into it; what is kept is up to the caller."""
    other.former = _settled(other.name, [*(other.former or [other.name]), system.name, *system.former])


def answer_to(system: System, name: str) -> None:
    """Let a system answer to the name its server goes by from now on; what is kept is up to the caller."""
    system.former = _settled(system.name, [name, *(system.former or [system.name])])


def let_go(system: System, name: str) -> bool:
    """Let a system no longer answer to a name it had; returns whether it did. What is kept is up to the caller.

    One the server was known by gives way to the system's own.
    """
    left = [one for one in system.former if key_of(one) != key_of(name)]
    if len(left) == len(system.former) or key_of(name) == system.key:
        return False
    known = left if left and left[0] == system.former[0] else [system.name, *left]
    system.former = _settled(system.name, known)
    return True


def let_go_elsewhere(system: System, names: Iterable[str]) -> None:
    """Let no other system of the team and product answer to these names: a name means one system."""
    alike = System.objects.filter(team=system.team_id, product=system.product).exclude(former=[]).exclude(pk=system.pk)
    for other in alike.only("name", "key", "former"):
        went = [let_go(other, name) for name in names]
        if any(went):
            other.save(update_fields=["former"])


def find(team: Team, product: str, name: str) -> System | None:
    """The system of this name; where there is none, the one that had it."""
    key = key_of(name)
    rows = System.objects.filter(Q(key=key) | ~Q(former=[]), team=team, product=product)
    found = {one.key: one for one in rows.defer("trend", "trouble")}
    return found.get(key) or next((one for one in found.values() if key in map(key_of, one.former)), None)


def by_today(captures: Sequence[base.Capture], team: Team) -> list[base.Capture]:
    """The captures under the names that their systems have today, in one query."""
    keys = {key_of(one.system.name) for one in captures}
    rows = System.objects.filter(Q(key__in=keys) | ~Q(former=[]), team=team)
    found = list(rows.values_list("product", "key", "name", "former"))
    today = {(product, key_of(old)): name for product, _, name, former in found for old in former}
    today |= {(product, key): "" for product, key, _, _ in found}  # a name that a system has means that one
    made = []
    for one in captures:
        name = today.get((one.system.product, key_of(one.system.name)))
        made.append(replace(one, system=replace(one.system, name=name)) if name else one)
    return made


def _settled(own: str, names: Sequence[str]) -> list[str]:
    """Each name once; the system's own only where it comes first, and others with it."""
    each = {key_of(name): name for name in reversed(names)}
    kept = [each.pop(key) for key in dict.fromkeys(map(key_of, names))]
    if key_of(kept[0]) == key_of(own):
        kept[0] = own
    kept = [kept[0], *(name for name in kept[1:] if key_of(name) != key_of(own))]
    return [] if len(kept) == 1 and key_of(kept[0]) == key_of(own) else kept
