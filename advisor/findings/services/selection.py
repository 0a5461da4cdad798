"""The systems that a page over several systems is about, as its address says: by number, by group, by a kept view."""

from collections.abc import Iterable
from dataclasses import dataclass, fields
from urllib.parse import urlencode

from django.db.models import Q, QuerySet
from django.http import QueryDict

from advisor.accounts.models import User
from advisor.core.access import groups_of, systems_of
from advisor.findings.services.listing import NUMBER, Filter, listed
from advisor.systems.models import System

MOST_SYSTEMS = 500
"""On one page (this project's figure): half a thousand plans are some megabytes."""


@dataclass(frozen=True)
class Selection:
    """What the address asks for: all that any of its parts names. The names are those of the address."""

    system: tuple[int, ...] = ()
    group: tuple[int, ...] = ()
    view: tuple[int, ...] = ()
    """Filters of the findings list that this person keeps: the systems of the findings that one shows."""

    @classmethod
    def read(cls, given: QueryDict) -> "Selection":
        """Read the address; what is no number asks for nothing."""
        return cls(**{one.name: _numbers(given.getlist(one.name)) for one in fields(cls)})

    def query(self) -> str:
        """The part of the address behind the question mark."""
        return urlencode([(name, number) for name, numbers in vars(self).items() for number in numbers])

    def __bool__(self) -> bool:
        """Whether it names anything."""
        return any(vars(self).values())


@dataclass(frozen=True)
class Named:
    """The groups and views that a selection names, by their names."""

    groups: tuple[str, ...]
    views: tuple[str, ...]


def systems_in(user: User, selected: Selection) -> QuerySet[System]:
    """The systems that are asked for and that this person may see, by name."""
    wanted = Q(pk__in=selected.system)
    if selected.group:
        groups = groups_of(user).filter(pk__in=selected.group)
        wanted |= Q(pk__in=System.objects.filter(groups__in=groups).values("pk"))
    for view in user.saved_views.filter(pk__in=selected.view) if selected.view else ():
        shown = listed(user, Filter.read(QueryDict(view.query).dict())).order_by().values("system")
        wanted |= Q(pk__in=shown)
    return systems_of(user).filter(wanted).order_by("name", "pk")


def named(user: User, selected: Selection) -> Named:
    """What the groups and views are called."""
    groups = groups_of(user).filter(pk__in=selected.group) if selected.group else ()
    views = user.saved_views.filter(pk__in=selected.view) if selected.view else ()
    return Named(tuple(one.name for one in groups), tuple(one.name for one in views))


def _numbers(given: Iterable[str]) -> tuple[int, ...]:
    return tuple(dict.fromkeys(int(one) for one in given if NUMBER.fullmatch(one)))
