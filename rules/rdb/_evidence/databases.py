"""The databases of a capture: which facts speak of which, what their attributes are, and on which nodes they are open.

A capture may hold several databases. A fact that names none belongs to the only one there is; a name without a
directory stands for the one root file of that name. An attribute counts as the newest export that has it says.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, TypeVar

from collectors.facts import Facts, Missing, Source, known
from collectors.facts.rdb import Database, DatabaseUse, OfDatabase, RowCache, SeenOnNode, StatisticsWindow, StorageArea
from collectors.facts.rdb.names import is_whole, root_key, short_name
from rules.changes.quoting import comment
from rules.finding import enumerated

DATABASE_FACTS: tuple[type[OfDatabase], ...] = (
    Database,
    DatabaseUse,
    StorageArea,
    RowCache,
    StatisticsWindow,
    SeenOnNode,
)
"""What a rule that uses this module has to declare."""
USERS_PER_BLOCK = 50
"""A TSN block serves so many users, and the header prints the blocks as nodes (RMU Reference Manual)."""
SAME_TIME = timedelta(minutes=10)
"""Displays of several nodes are taken one after another."""
OUT_OF_DATE = timedelta(days=1)
"""This project: settings that were listed more than this before or after the figures may be others than theirs.

No vendor names an age."""
WARNED = {
    "after_image_journaling": re.compile(r"after-image journaling is disabled", re.IGNORECASE),
    "fast_commit": re.compile(r"fast commit is disabled", re.IGNORECASE),
    "row_cache_enabled": re.compile(r"row cach(?:e|es|ing) (?:is|are) disabled", re.IGNORECASE),
}
"""What a `WARNING:` line of the header says of an attribute that no other line was read of: that it is off."""

D = TypeVar("D", bound=OfDatabase)


@dataclass(frozen=True)
class Read:
    """One attribute as read, and where."""

    value: Any
    source: Source


@dataclass(frozen=True)
class Nodes:
    """How many nodes may have the database open: what is proven, and what is only printed."""

    configured: float | None
    printed: float | None
    users: float | None
    source: Source
    warned: bool = False
    """Whether a `WARNING:` line names it as what keeps row caches from being active."""

    @property
    def least(self) -> float | None:
        """What a header prints at the least, whatever is configured: users ÷ 50, rounded up."""
        return -(-self.users // USERS_PER_BLOCK) if self.users is not None else None

    @property
    def trap(self) -> str:
        """Why a printed count proves nothing, for a sentence."""
        if self.printed is None:
            return "the number of cluster nodes is not in the export"
        if self.users is None:
            return (
                f"at most {self.printed:g} are configured: the header prints {self.printed:g} nodes, but no users, and "
                f"it prints users ÷ {USERS_PER_BLOCK} where that is more"
            )
        return (
            f"at most {self.printed:g} are configured: the header prints {self.printed:g} nodes, which "
            f"{self.users:,.0f} users ÷ {USERS_PER_BLOCK} give by themselves: it proves nothing about NUMBER OF "
            "CLUSTER NODES"
        )


@dataclass(frozen=True)
class Sighting:
    """The database was open on a node, at least from `start` to `end` (`None`: not in the export)."""

    node: str
    start: datetime | None
    end: datetime | None
    users: float | None
    """Without the servers of Rdb itself. `None`: not in the export."""
    source: Source


@dataclass(frozen=True)
class OneDatabase:
    """One database: the facts that speak of it, the newest last."""

    root: str | None
    """The root file as printed; `None` where no export names it."""
    headers: tuple[Database, ...] = ()
    uses: tuple[DatabaseUse, ...] = ()
    areas: tuple[StorageArea, ...] = ()
    caches: tuple[RowCache, ...] = ()
    windows: tuple[StatisticsWindow, ...] = ()
    seen_on: tuple[SeenOnNode, ...] = ()
    """Other nodes that exports of another time show it on."""
    alone: bool = True
    """Whether it is the only one: what names no database is then of it, too."""

    @property
    def subject(self) -> str:
        """What findings call it: the root file without its version, fit for any output."""
        return comment(root_key(self.root)) if self.root else "database"

    @property
    def area_names(self) -> dict[str, str]:
        """Names of its storage areas, fit to be shown, by their number as a key of a row begins with it."""
        return {f"{area.number:.0f}": comment(area.name, 31) for area in self.areas if known(area.number)}

    def is_called(self, root: str) -> bool:
        """Whether a root file is this one's; a name without a directory stands for any root file of that name."""
        return self.root is not None and (_same(root, self.root) or _same(self.root, root))

    def read(self, field: str) -> Read | None:
        """An attribute of `Database` from the newest export that has it; what a `WARNING:` line says counts, too."""
        for header in reversed(self.headers):
            value = getattr(header, field)
            if value is not None and not isinstance(value, Missing):
                return Read(value, header.source)
            if field in WARNED and any(WARNED[field].search(line) for line in header.warnings):
                return Read(False, header.source)
        return None

    def is_on(self, field: str) -> bool | None:
        """Whether an attribute is on; `None`: not in the export."""
        read = self.read(field)
        return bool(read.value) if read else None

    def word(self, field: str) -> str | None:
        """An attribute in words, small letters; `None`: not in the export."""
        read = self.read(field)
        return str(read.value).lower() if read else None

    def figure(self, field: str) -> float | None:
        """A number; `None`: not in the export."""
        read = self.read(field)
        return float(read.value) if read and known(read.value) else None

    @property
    def by_page(self) -> bool:
        """Whether locking is at page level in the database or in each of its areas; that of the metadata may differ."""
        data = [area for area in self.areas if area.name.upper() != "RDB$SYSTEM"]
        return bool(self.is_on("page_level_locking")) or (bool(data) and all(area.page_level_locking for area in data))

    @property
    def nodes(self) -> Nodes | None:
        """The node count: of the newest export that proves one, else as last printed. `None`: no export has any."""
        for header in reversed(self.headers):
            if header.nodes is not None:
                return Nodes(header.nodes, *_printed(header), header.source, known(header.nodes_warned))
        printed = [header for header in self.headers if known(header.maximum_nodes) or known(header.nodes_warned)]
        if not printed:
            return None
        return Nodes(None, *_printed(printed[-1]), printed[-1].source, known(printed[-1].nodes_warned))

    @property
    def one_instance(self) -> bool | None:
        """Whether it is marked for one node or one instance; `None`: not proven either way."""
        nodes = self.nodes
        if self.is_on("single_instance"):
            return True
        return nodes.configured == 1 if nodes and nodes.configured is not None else None

    @property
    def seen_last(self) -> datetime | None:
        """When a statistics screen or a list of users was last taken of it; `None`: none has a time."""
        times = [*(window.at for window in self.windows), *(use.at for use in self.uses)]
        return max((at for at in times if at), default=None)

    @property
    def header_at(self) -> datetime | None:
        """When the newest header was written; `None`: none has a time."""
        return max((header.at for header in self.headers if header.at), default=None)

    @property
    def another_time(self) -> str:
        """Dates of header and figures, for a sentence, where settings may have been changed between them; else empty.

        A header from before what was seen last may be out of date; one from after the statistics does not show what
        those were measured with.
        """
        header, counted = self.header_at, max((one.at for one in self.windows if one.at), default=None)
        if out_of_date(header, self.seen_last):
            return f"header of {header:%d-%b-%Y}, database last seen {self.seen_last:%d-%b-%Y}"
        if out_of_date(counted, header):
            return f"header of {header:%d-%b-%Y}, statistics of {counted:%d-%b-%Y}"
        return ""

    @property
    def read_apart(self) -> str:
        """What to say of a setting in order, of a header of another time than the figures; begins with a comma."""
        dates = self.another_time
        return f", which does not tell whether it was when the figures were read ({dates})" if dates else ""

    @property
    def sightings(self) -> list[Sighting]:
        """Where it was seen open, one per node; the latest of several. A list of the whole cluster names no node."""
        seen = [
            Sighting(one.node, one.opened or one.at, one.at, one.attached, one.source)
            for one in self.uses
            if one.node and not one.cluster_wide
        ]
        seen += [
            Sighting(one.node, _since(one), one.at, None, one.source)
            for one in self.windows
            if one.node and one.node.upper() not in {other.node.upper() for other in seen}
        ]
        return list({one.node.upper(): one for one in seen}.values())

    @property
    def together(self) -> list[Sighting]:
        """The sightings, where nothing speaks against all of them being of one moment; else an empty list.

        A database that fails over is seen on two nodes, one after the other. Users are of the moment in which they were
        counted, however long the database had been open by then.
        """
        seen = self.sightings
        for one in seen:
            for other in seen:
                if one.start and other.end and one.start > other.end + SAME_TIME:
                    return []
                counted = one.users is not None and other.users is not None
                if counted and one.end and other.end and one.end > other.end + SAME_TIME:
                    return []
        return seen

    @property
    def in_use(self) -> list[Sighting]:
        """Of those at one moment the nodes with users, or whose users are not known; Rdb's own servers are none."""
        return [one for one in self.together if one.users is None or one.users]


def databases(facts: Facts, kinds: Iterable[type[OfDatabase]] = ()) -> list[OneDatabase]:
    """Every database that a header, a monitor, a statistics screen or a fact of `kinds` speaks of, in that order."""
    every: list[OfDatabase] = [fact for kind in (*DATABASE_FACTS, *kinds) for fact in facts.every(kind)]
    roots = _roots(every)
    if not roots:
        return [_one(facts, None, True)] if every else []
    nameless = len(roots) > 1 and any(fact.database is None for fact in every)
    whole = [_one(facts, root, len(roots) == 1) for root in roots]
    return [*whole, *([_one(facts, None, False)] if nameless else [])]


def out_of_date(listed: datetime | None, figures: datetime | None) -> bool:
    """Whether a listing is known to be too old for figures; without both times nothing is known."""
    return listed is not None and figures is not None and figures - listed > OUT_OF_DATE


def belonging(found: Iterable[D], one: OneDatabase) -> Iterator[D]:
    """The facts of one database; those that name none are of the only one there is."""
    for fact in found:
        if fact.database is None:
            if one.alone or one.root is None:
                yield fact
        elif one.root is not None and _same(fact.database, one.root):
            yield fact


def node_names(seen: Sequence[Sighting]) -> str:
    """`ORKNEY and SKYE`."""
    return enumerated([comment(one.node, 31) for one in seen])


def _one(facts: Facts, root: str | None, alone: bool) -> OneDatabase:
    bare = OneDatabase(root, alone=alone)
    return OneDatabase(
        root,
        tuple(sorted_by_time(belonging(facts.every(Database), bare))),
        tuple(sorted_by_time(belonging(facts.every(DatabaseUse), bare))),
        tuple(_areas(belonging(facts.every(StorageArea), bare))),
        tuple(belonging(facts.every(RowCache), bare)),
        tuple(belonging(facts.every(StatisticsWindow), bare)),
        tuple(belonging(facts.every(SeenOnNode), bare)),
        alone,
    )


def _areas(found: Iterable[StorageArea]) -> Iterator[StorageArea]:
    """Each storage area once: what a sourced layout says counts, and what it lacks is of the recalled one."""
    by_name: dict[str, StorageArea] = {}
    for area in sorted(found, key=lambda area: not area.source.tentative):
        before = by_name.get(area.name.upper(), area)
        by_name[area.name.upper()] = replace(
            area,
            number=area.number if known(area.number) else before.number,
            page_level_locking=before.page_level_locking
            if area.page_level_locking is None
            else area.page_level_locking,
            row_cache=before.row_cache if area.row_cache is None else area.row_cache,
            **{
                name: getattr(area if known(getattr(area, name)) else before, name)
                for name in ("extent_minimum_pages", "extent_maximum_pages")
            },
        )
    yield from by_name.values()


H = TypeVar("H", Database, DatabaseUse)


def sorted_by_time(found: Iterable[H]) -> list[H]:
    """The newest last, where all have a time; else in the order of the exports."""
    every = list(found)
    times = [one.at for one in every if one.at is not None]
    if len(times) < len(every):
        return every
    return [one for _, one in sorted(zip(times, every, strict=True), key=lambda pair: pair[0])]


def _roots(found: Iterable[OfDatabase]) -> list[str]:
    """The root files, each once, as first printed; a name without a directory goes with the one that has it."""
    by_key: dict[str, str] = {}
    for fact in found:
        if fact.database:
            by_key.setdefault(root_key(fact.database), fact.database)
    whole = [key for key in by_key if is_whole(key)]
    return [
        root
        for key, root in by_key.items()
        if is_whole(key) or sum(short_name(w) == short_name(key) for w in whole) != 1
    ]


def _same(name: str, root: str) -> bool:
    key, other = root_key(name), root_key(root)
    return key == other or (not is_whole(key) and is_whole(other) and short_name(key) == short_name(other))


def _printed(header: Database) -> tuple[float | None, float | None]:
    nodes = _number(header.maximum_nodes)
    return _number(header.nodes_warned) if nodes is None else nodes, _number(header.maximum_users)


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _since(window: StatisticsWindow) -> datetime | None:
    if window.at is None or window.elapsed_seconds is None or not 0 <= window.elapsed_seconds < 1e9:
        return window.at
    return window.at - timedelta(seconds=window.elapsed_seconds)
