"""Who makes the locks of a cluster: its trees by lock requests, who masters each, who asks; and who waits for which."""

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from advisor.charts.treemap import Tile, treemap
from collectors.facts import Facts, known
from collectors.facts.openvms import ListedLocks, LockActivity, LockQueue, LockQueues, LockTree
from collectors.facts.openvms.resource_names import FileId, Resource, as_printed
from rules.openvms._evidence.lock_queues import failed_in, waiters, what_of
from rules.openvms._evidence.lock_trees import (
    LONGEST_NAME,
    Named,
    Picture,
    failed_nodes,
    moment_of,
    name_of,
    pictures_of,
    silent_nodes,
)

RULES = ("openvms/lock_tree_dominates", "openvms/processes_wait_for_locks")
"""Rules whose verdict belongs on the page."""
MOST_ROWS = 100
"""Trees, queues or names that one table shows."""


@dataclass(frozen=True)
class TreeRow:
    """One tree of the picture that is shown."""

    tree: LockTree
    resource: Resource
    named: Named | None
    total: float | None
    """Lock requests per second; `None` where the figure overflowed its column."""
    percent: float | None
    seen: int
    """In how many pictures it is among the busiest."""

    @property
    def what(self) -> str:
        """What it is called, in words."""
        if self.named and self.named.sure:
            return self.named.name
        if self.resource.decnet:
            return f"locks of one system, DECnet {self.resource.decnet}"
        place = f" {self.file}" if self.resource.file else ""
        volume = f" on {self.resource.volume}" if self.resource.volume else ""
        if place or volume:
            return f"{self.resource.kind}{place}{volume}"
        return f"{self.resource.kind} {self.tree.text.strip('. ')[:LONGEST_NAME]}".strip()

    @property
    def short(self) -> str:
        """The same, of a file with a name without its directory: a tile has little room."""
        return self.named.name.rpartition("]")[2] if self.named and self.named.sure else self.what

    @property
    def file(self) -> FileId | None:
        """The file it is of."""
        return self.resource.file

    @property
    def digits(self) -> str:
        """Its name as the tools print it: hexadecimal, last byte first."""
        return as_printed(bytes.fromhex(self.tree.name))

    @property
    def asks(self) -> list[tuple[str, float | None]]:
        """Each node with what it asks for, the most first; one that overflowed comes first, as `None`."""
        rates = [(node, rate if known(rate) else None) for node, rate in self.tree.rates]
        return sorted(rates, key=lambda one: (one[1] is not None, -(one[1] or 0.0), one[0]))


@dataclass(frozen=True)
class LockTreesView:
    """Everything the page shows."""

    pictures: tuple[Picture, ...]
    """The reports, in order of their time."""
    shown: int
    """Place of the one that is shown; of several the one with most requests, unless another was asked for."""
    rows: tuple[TreeRow, ...]
    overflowed: int
    """Reports without a sum, as a figure in them is asterisks."""
    failed: tuple[str, ...]
    silent: tuple[str, ...]
    """Nodes that counted nothing in any report."""
    queues: tuple[tuple[LockQueue, str, float], ...]
    """Resources that are waited for, what each is, and how many wait; dead-man locks left out."""
    standing: int
    """Queues of dead-man locks."""
    queue_reports: int
    queue_failed: tuple[str, ...]
    listed: tuple[ListedLocks, ...]

    @property
    def picture(self) -> Picture | None:
        """The report that is shown."""
        return self.pictures[self.shown] if self.pictures else None

    @property
    def anything(self) -> bool:
        """Whether there is anything to show."""
        return bool(self.pictures or self.overflowed or self.queue_reports or self.listed)


def lock_trees_view(facts: Facts, wanted: int | None = None) -> LockTreesView:
    """Gather it; `wanted`: place of the report that was asked for, from 0."""
    pictures = pictures_of(facts)
    busiest = max(range(len(pictures)), key=lambda at: pictures[at].total, default=0)
    shown = wanted if wanted is not None and 0 <= wanted < len(pictures) else busiest
    queues = [one for one in facts.every(LockQueue) if waiters(one) > 0]
    waited = sorted((one for one in queues if not one.standing), key=lambda one: -waiters(one))
    return LockTreesView(
        pictures=tuple(pictures),
        shown=shown,
        rows=tuple(_rows(facts, pictures, shown)) if pictures else (),
        overflowed=sum(not known(one.total) for one in facts.every(LockActivity)),
        failed=failed_nodes(pictures),
        silent=silent_nodes(pictures) if any(one.total > 0 for one in pictures) else (),
        queues=tuple((one, what_of(one), waiters(one)) for one in waited[:MOST_ROWS]),
        standing=len(queues) - len(waited),
        queue_reports=len(facts.every(LockQueues)),
        queue_failed=failed_in(facts),
        listed=tuple(sorted(facts.every(ListedLocks), key=lambda one: (-one.locks, one.text))[:MOST_ROWS]),
    )


def _rows(facts: Facts, pictures: Sequence[Picture], shown: int) -> list[TreeRow]:
    picture = pictures[shown]
    seen: dict[str, int] = {}
    for one in pictures:
        for name in {tree.name for tree in one.trees}:
            seen[name] = seen.get(name, 0) + 1
    rows = []
    for tree in picture.trees[:MOST_ROWS]:
        total = tree.total if known(tree.total) else None
        percent = 100 * total / picture.total if total is not None and picture.total > 0 else None
        rows.append(TreeRow(tree, tree.resource, name_of(facts, tree.resource), total, percent, seen[tree.name]))
    return rows


def picture_label(picture: Picture) -> str:
    """What a report is called: its time, or its file and line."""
    return picture.when or f"{picture.activity.source.file.rpartition('/')[2][:40]}, line {picture.activity.report}"


def drawn(view: LockTreesView, width: int = 480) -> Markup:
    """The trees of the report that is shown, in the colours of their masters."""
    picture = view.picture
    tiles = [Tile(row.short, row.total, f"master {row.tree.master}" if row.tree.master else "") for row in view.rows]
    others = picture.total - sum(row.total or 0.0 for row in view.rows) if picture else 0.0
    if picture and others > 0.5 * max(1, len(view.rows)):
        tiles.append(Tile(f"{picture.activity.trees - len(view.rows):,} smaller trees", others))
    at = moment_of(picture.activity.at) if picture else ""
    title = f"Lock requests per second by lock tree{f', {at}' if at else ''}"
    return treemap(tiles, title=title, unit="/s", width=width, height=300 if width >= 600 else 340)
