"""Who waited for what: logs and screens of stalls, timeouts and deadlocks, and RMU/SHOW LOCKS, of one database.

A log is written as often as the screen is refreshed, so the true count is its lines and those it says it missed. A
history screen has the same events as the log, so the two are never added. The resource is named, never who held it:
that is in RMU/SHOW LOCKS alone. Stalls are waits for I/O as well, and some locks have waits by design.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Self

from collectors.facts import Facts, Source, known
from collectors.facts.rdb import AttachedProcess, EventLog, HeldLock, Journals, LogicalArea, NoLocksShown, WaitGroup
from rules.changes.quoting import comment
from rules.finding import Evidence, MissingInput, Untrusted
from rules.laws.rounding import plain
from rules.rdb._evidence.attached import image_of
from rules.rdb._evidence.databases import OneDatabase, belonging
from rules.rdb._evidence.listings import group_of, held_in_turn, listing_of, process_of

WAIT_FACTS = (WaitGroup, EventLog, HeldLock, NoLocksShown, LogicalArea, Journals)
"""What a rule that uses this module has to declare, beside those of `databases`."""
STALLS = ("stall", "stall messages")
TIMEOUTS = ("lock timeout", "lock timeout history")
DEADLOCKS = ("deadlock", "deadlock history")
"""The log first: it has more of the events than the screen of the last one of each process."""
BACKUP = (
    "let it commit, then run that backup at another time, or with /LOCK_TIMEOUT so that it gives up instead of holding "
    "others up; /NOQUIET_POINT (online backups) asks for none, and has usage notes of its own."
)
"""Vendor: RMU help (7.2), Backup Database, Command Qualifiers, Lock_Timeout and Quiet_Point."""
AIJ = (
    "see with RMU/SHOW SYSTEM whether its log server runs (LOG SERVER IS AUTOMATIC; Oracle: no AIJ locking with it on "
    "a single node), then the AIJ screens and the journal's disk"
)
"""Vendor: SQL help (7.2), ALTER DATABASE, LOG_SERVER, on bottlenecks of the after-image journal."""
BY_TYPE = {
    "page": "see rdb/page_locks_dominate",
    "record": "see rdb/record_granularity",
    "area": "see rdb/carry_over_locks",
    "nowait": "see rdb/carry_over_locks",
    "seqblk": "see rdb/root_file_locks_hot",
    "tsnblk": "see rdb/root_file_locks_hot",
    "snapshot": "see rdb/snapshots_block_readers",
    "aij": AIJ,
    "deadlock": "see rdb/deadlocks_hidden",
}
"""Where what helps against waits for a lock type stands."""
PLACE = re.compile(r"(?:page|record|(?:storage|logical) area)\b", re.IGNORECASE)
"""How the lock of a place in the database begins: the place is what is waited for, the holder changes."""
AREA_OF = re.compile(r"record\s+([0-9]{1,9}):[0-9]{1,10}:[0-9]{1,6}", re.IGNORECASE)
"""The lock of one row, with the number of its area."""
LEVEL = re.compile(r"\s{0,20}record\s+[0-9]{1,9}:[0-9]{1,10}:-[0-9]", re.IGNORECASE)
"""A lock of adjustable granularity above single rows."""
LASTING = 2
"""This project: waits that a log has for one resource, and minutes it covers, before they are more than a moment."""


def for_quiet_point(resource: str) -> bool:
    """Whether a resource is the lock of a quiet point, as displays and logs print it."""
    return resource.strip().lower().startswith("quiet")


LONGEST = 1e8
"""Seconds: three years. No stall is longer, a clock or a column was misread."""
HOLDER = MissingInput("who holds the lock", HeldLock.COLLECTED_BY)
SOONER = "let it commit sooner, ask no person for input, and find rows by an index."
READS = (
    "if it only reads (PR), let it end now, and SET TRANSACTION READ ONLY from the next run on, which takes no locks "
    "of rows; else let it commit sooner and find rows by an index."
)
RESERVES = (
    "if it reserves {0} FOR EXCLUSIVE WRITE, as EX on a logical area suggests: RESERVING {0} FOR SHARED WRITE with a "
    "commit after each portion, or run it at night."
)
READS_RESERVED = (
    "if it reserves {0} FOR PROTECTED READ, as PR on a logical area suggests: a report that only reads can SET "
    "TRANSACTION READ ONLY (with snapshots enabled, not deferred), else RESERVING {0} FOR SHARED READ."
)
"""Vendor: RDO help (7.2), START_TRANSACTION, share modes. That EX or PR on a logical area comes of them is inferred."""
ENDS = "let it commit sooner and in portions, for those who wait start once it has ended."
PORTIONS = (
    "it changes many rows in one transaction, so let it commit after each portion; or run it in quiet hours: "
    "SET TRANSACTION READ WRITE RESERVING {} FOR EXCLUSIVE WRITE, all others it reads FOR SHARED READ."
)
"""Vendor: RDO help (7.2), START_TRANSACTION, reserving clause: a table that is not listed cannot be used."""
MANY = 3
"""This project: so many rows of one process that others wait for are no chance."""
AREA = "logical area"
IN_STORAGE = "(storage area {0}, if {1} is one)"
"""The first number of a record is recalled to be of a logical area; where none is listed, a storage area is a hint."""
MOST = 3
"""Resources and processes that are named in a sentence."""


@dataclass(frozen=True)
class Events:
    """What a log, or the screen of the last events, has of timeouts or deadlocks."""

    logged: int
    missed: int
    hours: float | None
    """From the creation of the log to its last event; `None`: not in the export."""
    screen: bool
    """Whether it is the screen: counted since the processes attached."""
    source: Source

    @property
    def count(self) -> int:
        """All events, also those that the log says it missed."""
        return self.logged + self.missed

    @property
    def said(self) -> str:
        """`57 (40 lines and 17 missed)`."""
        if not self.missed:
            return f"{self.count:,}"
        what = "named on the screen" if self.screen else "lines"
        return f"{self.count:,} ({self.logged:,} {what} and {self.missed:,} {'before' if self.screen else 'missed'})"


@dataclass(frozen=True)
class Waits:
    """All waits of one database."""

    groups: tuple[WaitGroup, ...]
    logs: tuple[EventLog, ...]
    held: tuple[HeldLock, ...]
    """Without those that are in conflict by design."""
    hidden: bool
    """RMU/SHOW LOCKS listed nothing and said that with partitioned lock trees this proves nothing."""
    journals: Journals | None = None
    """After-image journals as a screen lists them, the newest of several writes."""
    set_up: Journals | None = None
    """The same as RMU/SHOW AFTER_JOURNAL has them."""

    def of(self, kinds: Sequence[str], *resources: str) -> list[WaitGroup]:
        """The groups of some kinds of log, the most frequent first; of all resources but I/O where none is named."""
        found = [
            group
            for group in self.groups
            if group.kind in kinds
            and (group.resource_kind in resources if resources else group.resource_kind != "io")
            and not _by_design(group)
        ]
        return sorted(found, key=lambda group: (-(group.logged + group.missed), group.resource))

    def most(self, kinds: Sequence[str], *resources: str) -> list[WaitGroup]:
        """As `of`, but of the one kind that has most: a wait may stand in several logs."""
        return max((self.of((kind,), *resources) for kind in kinds), key=total, default=[])

    def events(self, kinds: Sequence[str]) -> Events | None:
        """The events of the first of `kinds` that is there; several logs of one kind are added up."""
        for kind in kinds:
            logs = [log for log in self.logs if log.kind == kind]
            if logs:
                return Events(
                    sum(log.logged for log in logs),
                    sum(log.missed for log in logs),
                    _hours(logs),
                    kind.endswith("history"),
                    logs[0].source,
                )
        return None

    def refused(self) -> Untrusted | None:
        """Why these waits cannot be believed, or `None`."""
        for group in self.groups:
            for seconds in (group.longest_seconds, group.seconds):
                if known(seconds) and not 0 <= seconds < LONGEST:
                    return Untrusted(
                        f"a wait of {plain(seconds, 4)} s for {named(group)} is no length: collect the log again"
                    )
            longest, whole = group.longest_seconds, group.seconds
            if known(longest) and known(whole) and longest > whole + 0.1:
                return Untrusted(
                    f"waits for {named(group)}: the longest ({longest:,.2f} s) exceeds all together ({whole:,.2f} s)"
                )
        return None


def waits_of(facts: Facts, one: OneDatabase) -> Waits:
    """The waits of one database. Each file counts once, also where it was collected twice."""
    none = list(belonging(facts.every(NoLocksShown), one))
    names, journals = _Names.of(facts, one), list(belonging(facts.every(Journals), one))
    return Waits(
        tuple(dict.fromkeys(names.put_in(group) for group in belonging(facts.every(WaitGroup), one))),
        tuple(dict.fromkeys(belonging(facts.every(EventLog), one))),
        tuple(names.put_in_lock(lock) for lock in belonging(facts.every(HeldLock), one) if not lock.by_design),
        any(fact.partitioning_warned for fact in none),
        max((each for each in journals if each.state), key=lambda each: f"{each.at or ''}", default=None),
        next((each for each in journals if known(each.reserved)), None),
    )


@dataclass(frozen=True)
class _Names:
    """Names of areas by number, where the information tables have them."""

    storage: Mapping[str, str]
    logical: Mapping[str, str]
    hints: Mapping[str, str]
    """`storage` for records, with the one table or index that an area is listed with.

    Empty where areas are assigned to row caches, which name the area of a row more surely.
    """

    @classmethod
    def of(cls, facts: Facts, one: OneDatabase) -> Self:
        """Those of one database."""
        storage = {f"{area.number:.0f}": area.name for area in one.areas if known(area.number)}
        tables = list(belonging(facts.every(LogicalArea), one))
        logical = {f"{area.number:.0f}": area.name for area in tables if known(area.number)}
        inside: dict[str, set[str]] = {}
        for area in tables:
            if known(area.area_number):
                inside.setdefault(f"{area.area_number:.0f}", set()).add(area.name)
        alone = {number: f" with {comment(min(one), 31)}" for number, one in inside.items() if len(one) == 1}
        hints = {number: f"{comment(name, 31)}{alone.get(number, '')}" for number, name in storage.items()}
        return cls(storage, logical, {} if any(area.row_cache for area in one.areas) else hints)

    def put_in(self, group: WaitGroup) -> WaitGroup:
        """Name the area of a page, or the one that the number before a record may be of.

        A page is one of a storage area (vendor); the first number of a record is recalled to be of a logical area.
        """
        number = group.resource.partition(":")[0].strip()
        if group.resource_kind == "page" and (name := self.storage.get(number)):
            return replace(group, resource=f"{group.resource} of storage area {comment(name, 31)}")
        if group.resource_kind == AREA and (name := self.logical.get(number)):
            return replace(group, resource=f"{group.resource} ({comment(name, 31)})")
        if group.resource_kind == "record" and (name := self.logical.get(number)):
            return replace(group, resource=f"{group.resource} (of {comment(name, 31)}, if {number} is a logical area)")
        if group.resource_kind == "record" and (name := self.hints.get(number)):
            return replace(group, resource=f"{group.resource} {IN_STORAGE.format(name, number)}")
        return group

    def put_in_lock(self, lock: HeldLock) -> HeldLock:
        """Name the logical area that is locked as a whole, and the one that a record may be of, as in the logs."""
        kind, _, number = lock.resource.strip().rpartition(" ")
        if kind.lower() == "record":
            of = number.partition(":")[0]
            if name := self.logical.get(of):
                return replace(
                    lock, resource=f"{lock.resource.strip()} (of {comment(name, 31)}, if {of} is a logical area)"
                )
            if name := self.hints.get(of):
                return replace(lock, resource=f"{lock.resource.strip()} {IN_STORAGE.format(name, of)}")
            return lock
        name = self.logical.get(number) if kind.lower() == AREA else None
        return replace(lock, resource=f"{kind} {number} ({comment(name, 31)})") if name else lock


def areas_of(groups: Iterable[WaitGroup]) -> list[tuple[str, int]]:
    """Storage areas by number with their waits, most first, of groups of pages."""
    found: dict[str, int] = {}
    for group in groups:
        number = group.resource.partition(":")[0].strip()
        if number.isdigit():
            found[number] = found.get(number, 0) + group.logged + group.missed
    return sorted(found.items(), key=lambda pair: (-pair[1], int(pair[0])))


def total(groups: Iterable[WaitGroup]) -> int:
    """All waits of some groups, also those that the log says it missed."""
    return sum(group.logged + group.missed for group in groups)


def main_of(groups: Sequence[WaitGroup], least: int, percent: float) -> tuple[WaitGroup, int] | None:
    """The resource that `percent` of some groups, sorted, are for, and how many they are; `None` for less, or few."""
    whole = total(groups)
    return (groups[0], whole) if whole >= least and 100 * total(groups[:1]) >= percent * whole > 0 else None


def named(group: WaitGroup, *, short: bool = False) -> str:
    """`page 5:751 (PR)`, fit for any output; `short`: without the storage area that a record may lie in."""
    kind = "" if group.resource_kind in ("other", group.resource) else f"{group.resource_kind} "
    mode = f" ({group.mode})" if group.mode else ""
    what = group.resource.partition(" (storage")[0] if short else group.resource
    return comment(f"{kind}{what}", 120) + mode


def hottest(groups: Iterable[WaitGroup], what: str = "waits") -> str:
    """`page 5:751 (PR) 34 waits, page 5:752 (PW) 12 waits` of the first groups; empty where there are none."""
    return ", ".join(f"{named(group)} {group.logged + group.missed:,} {what}" for group in list(groups)[:MOST])


def evidence_of(groups: Sequence[WaitGroup], what: str) -> tuple[Evidence, ...]:
    """The first groups with their counts."""
    return tuple(
        Evidence(f"{what} {named(group)}", group.logged + group.missed, "events", group.source)
        for group in groups[:MOST]
    )


def culprits(held: Sequence[HeldLock]) -> list[HeldLock]:
    """Who holds others up: of MODE=CULPRIT where that is there, else blockers that do not wait themselves."""
    return _culprits(held, listing_of(held))


def _culprits(held: Sequence[HeldLock], listing: Mapping[int, object]) -> list[HeldLock]:
    blocking = [lock for lock in held if lock.role == "blocker"]
    roots = [lock for lock in blocking if lock.display == "CULPRIT"]
    waiting: dict[str, set[tuple[str, object]]] = {}
    for lock in held:
        if lock.role in ("waiting", "requestor"):
            waiting.setdefault(lock.pid, set()).add((lock.resource, listing[id(lock)]))

    def waits(lock: HeldLock) -> bool:
        """Whether it waits itself: not where it only stood in line for the same lock in another listing."""
        others = waiting.get(lock.pid, ())
        return any(what != lock.resource or where == listing[id(lock)] for what, where in others)

    found = roots or [lock for lock in blocking if not waits(lock)]
    return list({(lock.pid, lock.resource): lock for lock in found}.values())


@dataclass(frozen=True)
class Queue:
    """A process that holds others up, and those who wait for what it holds."""

    holder: HeldLock
    waiting: tuple[HeldLock, ...]
    """One line of each process that waits for it itself."""
    links: tuple["Queue", ...] = ()
    """Those of them who hold others up meanwhile, and the ones behind these in turn."""
    in_turn: tuple[HeldLock, ...] = ()
    """All that were seen to hold it, one line each, where no process holds it in every listing."""
    listings: int = 1
    """In how many listings somebody holds it."""
    more: int = 0
    """Other places of the database that it holds in the same listing, and somebody waits for."""
    place: str = ""
    """`records of area 71`, where these are all places that it holds."""

    @property
    def what(self) -> str:
        """What it holds and others wait for: `record 7:12:3`, `4 records of area 7`, `page 5:751 and 1 more`."""
        if self.place:
            return f"{self.more + 1} {self.place}"
        return f"{comment(self.holder.resource, 100)}{f' and {self.more} more' if self.more else ''}"

    @property
    def behind(self) -> int:
        """How many processes wait for it, itself or through another one."""
        return len({lock.pid for queue in (self, *self.links) for lock in queue.waiting})

    @property
    def said(self) -> str:
        """`3 processes wait for it: ORDENTRY_3 (20403A14), ORDENTRY_4 (20403A15) and 1 more`."""
        first, it = len(self.waiting), "them" if self.more else "it"
        named_ones = [process_of(lock) for lock in self.waiting[:MOST]]
        more = f" and {len(self.waiting) - MOST} more" if len(self.waiting) > MOST else ""
        some = f"{first} process{'es' * (first > 1)} wait{'s' * (first == 1)} for {it}"
        return f"{some}: {', '.join(named_ones)}{more}"

    @property
    def passed_on(self) -> str:
        """Who of those that wait holds others up in turn, a clause with its semicolon; empty where nobody does."""
        if not self.links:
            return ""
        link, more = self.links[0], len(self.links) - 1
        others = f" ({more} more such link{'s' * (more > 1)})" if more else ""
        return (
            f"; of the {self.behind} behind it {len(link.waiting)} wait{'s' * (len(link.waiting) == 1)} for "
            f"{process_of(link.holder)}, which waits itself{others}"
        )


def queues(held: Sequence[HeldLock]) -> list[Queue]:
    """Who holds others up with who waits for it, the longest queue first; without those behind whom none is listed."""
    listing = listing_of(held)
    asking: dict[str, dict[str, HeldLock]] = {}
    at_once: dict[tuple[str, object], dict[str, HeldLock]] = {}  # who asks for it in one listing
    blocking: dict[str, dict[str, HeldLock]] = {}
    for lock in held:
        if lock.role in ("waiting", "requestor"):
            asking.setdefault(lock.resource, {})[lock.pid] = lock
            at_once.setdefault((lock.resource, listing[id(lock)]), {})[lock.pid] = lock
        elif lock.role == "blocker":
            blocking.setdefault(lock.pid, {})[lock.resource] = lock
    found: list[Queue] = []
    roots = _culprits(held, listing)
    for resource, lines in held_in_turn(held, roots, listing).items():
        here = {listing[id(lock)]: lock for lock in lines}
        behind = {at: at_once.get((resource, at), {}) for at in here}
        most = max(behind, key=lambda at: len(behind[at]))
        if behind[most]:
            each = tuple({lock.pid: lock for lock in lines}.values())
            found.append(Queue(here[most], tuple(behind[most].values()), (), each, len(here)))
    turns = {queue.holder.resource for queue in found}
    for holder in roots:
        if holder.resource in turns:
            continue
        waiting = _behind(holder, asking)
        if waiting:
            found.append(Queue(holder, waiting, tuple(_links(holder, waiting, asking, blocking))))
    return sorted(_by_holder(found, listing), key=lambda queue: -queue.behind)


def _by_holder(found: Sequence[Queue], listing: Mapping[int, object]) -> Iterator[Queue]:
    """Those behind one process at several places of the database in one listing are one queue: they wait for it."""
    several: dict[object, list[Queue]] = {}
    for line in found:
        alone = line.in_turn or not PLACE.match(line.holder.resource.strip())
        several.setdefault(id(line) if alone else (line.holder.pid, listing[id(line.holder)]), []).append(line)
    for lines in several.values():
        head = max(lines, key=lambda line: line.behind)
        waiting = tuple({lock.pid: lock for line in lines for lock in line.waiting}.values())
        links = tuple({(link.holder.pid, link.holder.resource): link for line in lines for link in line.links}.values())
        areas = {AREA_OF.sub(r"records of area \1", line.holder.resource.strip()) for line in lines}
        place = comment(areas.pop(), 100) if len(lines) > 1 and len(areas) == 1 else ""
        yield replace(head, waiting=waiting, links=links, more=len(lines) - 1, place=place)


def _behind(holder: HeldLock, asking: Mapping[str, Mapping[str, HeldLock]]) -> tuple[HeldLock, ...]:
    return tuple(lock for pid, lock in asking.get(holder.resource, {}).items() if pid != holder.pid)


def _links(
    root: HeldLock,
    waiting: Sequence[HeldLock],
    asking: Mapping[str, Mapping[str, HeldLock]],
    blocking: Mapping[str, Mapping[str, HeldLock]],
) -> Iterator[Queue]:
    """Those who wait and hold others up, level by level; each process once, so that a circle ends."""
    seen, level = {root.pid}, list(waiting)
    while level:
        below: list[HeldLock] = []
        for pid in dict.fromkeys(lock.pid for lock in level):
            if pid in seen:
                continue
            seen.add(pid)
            for lock in blocking.get(pid, {}).values():
                if others := _behind(lock, asking):
                    yield Queue(lock, others)
                    below += others
        level = below


def held_by(locks: Sequence[HeldLock]) -> str:
    """`PAYROLL_07 (20600A07) holds page 811`, of the first ones."""
    return ", ".join(
        f"{process_of(lock)} holds {comment(lock.resource.partition(' (storage')[0], 60)}" for lock in locks[:MOST]
    )


def holds_up(line: Queue, behind: int = 0) -> str:
    """`BATCH_3 (20403A14) holds up 9 processes at record 7:12:3`, where its lock is one of a place in the database.

    `behind`: where more than the display lists are known to wait.
    """
    count = behind or line.behind
    at = f" at {line.what}" if PLACE.match(line.holder.resource.strip()) else ""
    if line.in_turn:
        return f"{group_of(line.in_turn)} in turn hold up {count} process{'es' * (count > 1)}{at}"
    return f"{process_of(line.holder)} holds up {count} process{'es' * (count > 1)}{at}"


def of_holder(held: Sequence[HeldLock], lines: Sequence[Queue], attached: Mapping[str, AttachedProcess]) -> str:
    """What to do where the display names who holds others up; who has most behind it first."""
    if lines and lines[0].in_turn:
        return of_turns(lines[0], held, attached)
    lock = lines[0].holder if lines else held[0]
    what, it = (lines[0].what, "them" if lines[0].more else "it") if lines else (comment(lock.resource, 100), "it")
    behind = f" while {lines[0].behind} wait for {it}" if lines else ""
    more = len({one.pid for one in held}) - 1
    others = f" (and {more} other holders)" if more > 1 else " (and one other holder)" if more else ""
    image = image_of(attached, lock.pid)
    return with_care(
        f"See what the transaction of {process_of(lock)}{f' in {image}' if image else ''} does, which holds "
        f"{what}{behind}{others}: {sooner(lock, held)}",
        lines[0] if lines else None,
    )


def of_turns(line: Queue, held: Sequence[HeldLock], attached: Mapping[str, AttachedProcess]) -> str:
    """What to do where the holder changes from listing to listing: about the program, two sentences."""
    images = {image for lock in line.in_turn if (image := image_of(attached, lock.pid))}
    who = f"{group_of(line.in_turn)}{f', all in {min(images)},' if len(images) == 1 else ''}"
    return (
        f"Change the program, and send no process away: {who} hold {comment(line.holder.resource, 100)} in turn, in "
        f"{line.listings} listings. Of each such transaction: {sooner(line.holder, held)}"
    )


def changes_many(held: Iterable[HeldLock], pid: str) -> bool:
    """Whether a process changes many rows in one transaction: it has several of one listing in EX, with others behind.

    What it holds in listings of other moments may be of other transactions.
    """
    rows: dict[object, set[str]] = {}
    for lock in held:
        if lock.pid == pid and lock.role == "blocker" and lock.granted == "EX" and "record" in lock.resource.lower():
            rows.setdefault((lock.source.file, lock.listing), set()).add(lock.resource)
    return any(len(those) >= MANY for those in rows.values())


def sooner(lock: HeldLock, held: Sequence[HeldLock] = ()) -> str:
    """What the transaction that holds this lock is to do, by what is locked in which mode; the rest of a sentence."""
    kind, mode = lock.resource.strip().lower(), lock.granted
    if changes_many(held, lock.pid):
        table = re.search(r"\(of (.{1,31}), if", lock.resource)
        return PORTIONS.format(table[1] if table else "<table>")
    if mode == "PR" and kind.startswith("record"):
        return READS
    if mode in ("EX", "PR") and kind.startswith(AREA):
        table = re.search(r"\((.{1,31})\)$", lock.resource.strip())
        return (RESERVES if mode == "EX" else READS_RESERVED).format(table[1] if table else "a table")
    return ENDS if kind.startswith("snap") else SOONER


def with_care(do: str, line: Queue | None) -> str:
    """Sentences on what to do about the head of a queue, with who is not to be sent away for it."""
    if line is None or not line.links:
        return do
    return f"{do.removesuffix('.')}; leave {process_of(line.links[0].holder)} alone, it waits, too."


def levels_waited_for(waits: "Waits") -> str:
    """The first levels of adjustable lock granularity that processes wait for in RMU/SHOW LOCKS; empty without one.

    A level above rows has a line below zero (recalled).
    """
    found = dict.fromkeys(
        lock.resource for lock in waits.held if lock.role in ("waiting", "requestor") and LEVEL.match(lock.resource)
    )
    return ", ".join(comment(one, 80) for one in list(found)[:MOST])


def waits_for_it(waits: "Waits", resource: str) -> list[WaitGroup]:
    """The stalls for a resource as RMU/SHOW LOCKS prints it."""
    name = _bare(resource)
    return [
        group
        for group in waits.of(STALLS)
        if (
            for_quiet_point(group.resource)
            if for_quiet_point(name)
            else name in (_bare(group.resource), f"{group.resource_kind} {_bare(group.resource)}")
        )
    ]


def _bare(resource: str) -> str:
    """Without the name of an area that was put behind it."""
    return re.split(r" \(| of storage area ", resource.strip().lower(), maxsplit=1)[0]


def logged_again(waits: "Waits", resource: str) -> str:
    """That a stall log shows waits for that resource over minutes, as a sentence; empty for one wait or one moment."""
    groups = [group for group in waits_for_it(waits, resource) if group.kind == "stall"]
    logs = [log for log in waits.logs if log.kind == "stall"]
    hours = _hours(logs) if logs else None
    if total(groups) < LASTING or hours is None or hours * 60 < LASTING:
        return ""
    return f"The stall log has {total(groups):,} waits for it in {hours * 60:.0f} minutes: it is no matter of a moment."


def logged_share(waits: "Waits", long: Sequence[WaitGroup]) -> float | None:
    """How many processes waited on average over the stall log, by the long waits; `None` where it does not tell."""
    logs = [log for log in waits.logs if log.kind == "stall" and log.start and log.end]
    span = sum((log.end - (log.created or log.start)).total_seconds() for log in logs if log.start and log.end)
    lengths = [group.seconds for group in long if group.kind == "stall" and known(group.seconds)]
    if span <= 0 or len(lengths) < len(long):
        return None
    return sum(lengths) / span


def _by_design(group: WaitGroup) -> bool:
    return group.resource.strip().lower().startswith("termination")


def _hours(logs: Sequence[EventLog]) -> float | None:
    """How long the logs cover together, overlaps once; `None` where one does not say."""
    spans = sorted(
        (begin, log.end) for log in logs if log.end is not None and (begin := log.created or log.start) is not None
    )
    if len(spans) < len(logs):
        return None
    total, reached = timedelta(), spans[0][0]
    for begin, end in spans:
        total += max(end - max(begin, reached), timedelta())
        reached = max(reached, end)
    return total.total_seconds() / 3600 or None


def is_row(group: WaitGroup) -> bool:
    """Whether it is the lock of one row: that of a level above rows has a line below zero (recalled)."""
    return group.resource_kind == "record" and not group.resource.partition(" ")[0].rpartition(":")[2].startswith("-")


def of_main(groups: list[WaitGroup], whole: int, what: str) -> str:
    """Which resource most of them are for, as a sentence."""
    main = groups[0]
    row = is_row(main)
    one_row = ", one row, which no lock setting splits: change it less often or for a shorter time" if row else ""
    return f"Of {whole:,} {what} {total([main]):,} are for {named(main)}{one_row}."
