"""The lock tree that has most of the lock requests, by its name, and what to do about it.

Whoever asks for fewer lock operations names it in the same words: the rule of the trees themselves, a lock manager that
is full, work that crosses the cluster.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from collectors.facts import Facts, Source, known, number_or
from collectors.facts.openvms import (
    ListedLocks,
    ListedMember,
    LockQueue,
    LockRates,
    OpenFile,
    RmsDefaults,
    RmsRecordLock,
)
from collectors.facts.openvms.resource_names import (
    APPLICATION,
    QUEUE_MANAGER,
    RMS_FILE,
    SYSTEM_ID,
    UNREADABLE,
    as_text,
)
from collectors.facts.rdb import NodeDatabases
from collectors.facts.rdb.names import DEVICE
from rules.changes.quoting import comment
from rules.finding import capitalized, enumerated
from rules.laws.rounding import plain
from rules.openvms._evidence import file_system
from rules.openvms._evidence.cluster import members_of, own_name, shows_rdb
from rules.openvms._evidence.lock_trees import (
    FILE_SYSTEM,
    TREE_FACTS,
    Named,
    Share,
    file_within,
    may_be_rdbs,
    name_of,
    pictures_of,
    shares_of,
    wanders_most,
)
from rules.openvms._evidence.mastership import ALIKE, CLEARLY
from rules.openvms._evidence.monitor_classes import CLASS_FACTS
from rules.openvms._evidence.node import NODE_FACTS, called_alike, in_prose, node_name
from rules.openvms._evidence.releases import machine_of
from rules.openvms._evidence.rms_files import Buffers, buffers_for
from rules.openvms._evidence.rms_use import Use, use_of
from rules.openvms._evidence.spinning import CROSSING_OPERATIONS

DOMINATING_FACTS = (*TREE_FACTS, *NODE_FACTS, *CLASS_FACTS, ListedMember, LockQueue)
"""What a rule that uses this module has to declare."""
LABEL = re.compile(r"[A-Z0-9$_-]{1,12}")
"""A volume label that can stand in a command."""
INPUT = "ACCESS READ in BASIC, with a USEROPEN that clears MSE"
"""What ended over 80 % of a cluster's locks in G. Fruth's case (practice; knowledge/openvms-rdb-more.md, W10)."""
LONGEST_IMAGE, MOST_IMAGES = 20, 4
SHARE_PERCENT = 30.0
"""Of all lock requests: the limit of openvms/lock_tree_dominates, where its origin is told."""
POLLED_REQUESTS = 500.0
"""This project: fewer requests refused per second cost next to nothing."""
TRIED_AGAIN = 50.0
"""Per cent of all requests, arithmetic: one that is refused once and then waits is two of them."""
MOST_PART = 0.75
"""Of what a node asks for, this project: so the node's own sums of new and converted locks are mostly of one tree."""
RENEWED = 5.0
"""New requests for each conversion, this project: programs that keep their locks have fewer of them than of the others.
"""
LEAST_REQUESTS = 1_000.0
"""Lock requests per second of all trees: the same."""
QUERIES = "where readers use NLK with RRL, SET RMS_DEFAULT/QUERY_LOCK=DISABLE/SYSTEM (enabled now; from the next open)"
NODE = re.compile(r"[A-Z0-9$_]{1,15}")
"""A node name that can stand in a command."""


@dataclass(frozen=True)
class Dominating:
    """A tree with what is known of its file."""

    share: Share
    named: Named | None
    buffers: Buffers | None
    facts: Facts = field(repr=False, compare=False)
    """Of the node: what its file system did tells what the locks of a volume are for."""

    @property
    def what(self) -> str:
        """What it is, for a title or a clause: `the RMS file ORDERS.DAT;12`."""
        share, named = self.share, self.named
        if share.kind == RMS_FILE:
            short = named.name.rpartition("]")[2] if named else ""
            if self._asked:
                return f"the RMS file {share.key}"
            if named and not named.sure:
                return f"the RMS file {share.key}, by its id {short},"
            return f"the RMS file {short or share.key}"
        if share.kind == FILE_SYSTEM:
            return file_system.what(self.facts, share)
        if share.kind == APPLICATION:
            whole = as_text(bytes.fromhex(share.trees[0].name)).rstrip(" .")
            if share.members == 1 and share.resource.prefix == whole:
                return f"the application's lock tree {share.key}"
            return f"the application behind the names {share.key}{'*' if share.family else '...'}"
        if share.kind == UNREADABLE and (file := self.within):
            return f"the lock tree of {file} ({share.key})"
        if share.kind == UNREADABLE:
            return f"the lock tree {share.key}"
        return f"the lock tree of {_component(share)} ({share.key})"

    @property
    def percent(self) -> float:
        """The share of what `what` names: of the file system's trees a volume's own, where it names a volume."""
        share = self.share
        tree = file_system.of_volume(self.facts, share) if share.kind == FILE_SYSTEM else None
        total = share.picture.total
        return 100 * tree.total / total if tree and known(tree.total) and total else share.percent

    @property
    def in_all(self) -> str:
        """What the file system has with its other trees, to stand behind that figure; empty where it is as much."""
        whole = f"{self.share.percent:.0f} %"
        return f", the file system in all {whole}" if whole != f"{self.percent:.0f} %" else ""

    @property
    def do(self) -> str:
        """What makes it ask for fewer locks, as sentences that name it."""
        share, named, buffers = self.share, self.named, self.buffers
        if buffers and buffers.no_room:
            return f"{self._file}: {buffers.do}"
        if buffers and (listed := self.listed) and listed.of_records and self.query_locks_off:
            return (
                f"{self._file or share.key}: where nothing is written, open it for input alone ({listed.said}); global "
                "buffers spare no record lock."
            )
        if buffers and (listed := self.listed) and listed.of_records:
            return (
                f"{self._file or share.key}: where its readers use NLK with RRL, SET RMS_DEFAULT/QUERY_LOCK=DISABLE"
                f"/SYSTEM, for files opened afterwards ({listed.said}). Where nothing is written, open it for input "
                "alone; global buffers spare no record lock."
            )
        if buffers and (used := self.use) and used.only_read(self.askers):
            who = self.programs or "the programs that use it"
            return (
                f"{self._file}: {used.said}, so have {who} open it for input alone ({INPUT}), allowing "
                f"others to read. {_other_way(buffers)}"
            )
        if buffers and self.written and self.use:
            do = capitalized(buffers.do)
            only = f"Only {self.programs or 'a program'} that never writes it can open it for input alone"
            return f"{self._file}: {self.use.said}. {do}. {only}."
        if buffers:
            file = self._file if named else share.key
            find = "" if named else f"find its name ({_find(share)}) and its programs; "
            if programs := self.programs:
                read = f"whichever of {programs} only reads it should open it for input alone ({INPUT})"
            elif openers := self.openers:
                read = f"whichever of the {len(openers)} that have it open only reads it should open it for input alone"
            else:
                read = "where nothing is written, open it for input alone"
            if self.queries_on:
                read = f"{QUERIES}; {read}"
            return f"{file}: {find}{read}. Where several write, {buffers.do}."
        if share.kind == FILE_SYSTEM:
            return file_system.remedy(self.facts, share)
        if share.kind == QUEUE_MANAGER:
            most, alike = next(iter(share.by_node), ""), called_alike(self.facts)
            first = f": the {alike} of SHOW SYSTEM first" if alike else f", on {most} first" if most else ""
            # DCL help, START/QUEUE/MANAGER: it moves to the first node of the list that is there, without interruption
            moves = most and share.masters and most not in share.masters and NODE.fullmatch(most)
            move = f"move it to {most}, which asks most (START/QUEUE/MANAGER/ON=({most},*)), or " if moves else ""
            return (
                "Find what asks for queues in a loop (SHOW QUEUE, F$GETQUI) or submits many short jobs"
                f"{first}, and have it ask seldom (inference). Only if that is not enough, {move}give busy queues a "
                "manager of their own (START/QUEUE/MANAGER/ADD/NAME_OF_MANAGER=name)."
            )
        if share.kind == SYSTEM_ID:
            return "They cost no other node anything; look at what runs there before changing anything."
        if polls := refused_of(self.facts, share):
            return (
                f"Have the program behind {share.key} stop polling: it should queue its request with $ENQ and wait for "
                "the AST, or hold NL, convert it and ask holders by a blocking AST, instead of trying again with "
                f"LCK$M_NOQUEUE ({in_prose(polls.per_second)} refused a second)."
            )
        if share.kind in (APPLICATION, UNREADABLE):
            renewed = renewed_of(self.facts, share)
            program = (
                "it should keep NL locks and convert them instead of making new ones"
                f"{f' ({renewed.said})' if renewed else ''}, and not poll (inference)."
            )
            if (shared := self.halved) and not self.may_be_rdbs:
                return (
                    f"Split {share.key} into a root for each node's part of the data, or run its work on "
                    f"{comment(share.masters[0], 15)}, its master, where the CPUs have room: {shared} ask in it, so no "
                    "weight helps. The program should also keep NL locks and convert them (inference)."
                )
            if not self.may_be_rdbs:
                return f"Ask for the program behind {share.key}{'*' if share.family else ''}: {program}"
            return (
                f"Of {share.key}: where Rdb is used, RMU/SHOW LOCKS names its locks, and Rdb's own rules say what to "
                f"do. Else ask for the program: {program}"
            )
        return "Look at what asks it for so much before changing anything."

    @property
    def halved(self) -> str:
        """Its master and who else asks half as much or more, with their rates: as many cross whichever is master.

        Empty where another one asks for more, where the master moves, where few requests cross, and for several trees.
        """
        share, master = self.share, next(iter(self.share.masters), "")
        own = share.by_node.get(master, 0.0)
        others = [node for node, rate in share.by_node.items() if node != master and rate * CLEARLY >= own > 0]
        named = [f"{comment(one, 15)} ({in_prose(share.by_node[one])}/s)" for one in (master, *others) if others]
        alone = share.members == 1 and wanders_most(self.facts) is None
        if not (alone and others) or share.remote < CROSSING_OPERATIONS or own < ALIKE * max(share.by_node.values()):
            return ""
        return enumerated(named) if len(named) <= MOST_IMAGES else "its nodes"

    @property
    def use(self) -> Use | None:
        """What MONITOR RMS counts of its file, where the name is sure."""
        return use_of(self.facts, self.named.listed.name) if self.named and self.named.sure else None

    @property
    def written(self) -> bool:
        """Whether programs write its file as a rule, not once: one call of a hundred at least (this project)."""
        used = self.use
        return used is not None and used.writes * 100 >= used.reads + used.writes > 0

    @property
    def askers(self) -> frozenset[str]:
        """The nodes that ask for its locks."""
        return frozenset(node.upper() for node, rate in self.share.by_node.items() if rate > 0)

    @property
    def programs(self) -> str:
        """The programs that hold exclusive locks of the file's records by RMS_LOCKS, most locks first; empty: none."""
        counted = Counter(one.image for one in self.record_locks)
        names = [comment(name, LONGEST_IMAGE) for name, _ in sorted(counted.items(), key=lambda one: (-one[1], one[0]))]
        more = f" and {len(names) - MOST_IMAGES} more" if len(names) > MOST_IMAGES else ""
        return f"{', '.join(names[:MOST_IMAGES])}{more}"

    @property
    def query_locks_off(self) -> bool:
        """Whether RMS asks for no query locks already, by the system's default."""
        return self.of_system("query_lock").lower().startswith("dis")

    @property
    def within(self) -> str:
        """The file whose id stands in the name of its one tree; empty where none is found."""
        share = self.share
        return file_within(self.facts, bytes.fromhex(share.trees[0].name)) if len(share.trees) == 1 else ""

    @property
    def queries_on(self) -> bool:
        """Whether query locks are what is left: RMS asks for them, and the file has global buffers already."""
        file = self.named.listed if self.named and self.named.sure else None
        some = file is not None and number_or(file.global_buffers, 0.0) > 0
        return some and not self.listed and self.of_system("query_lock").lower().startswith("en")

    def of_system(self, name: str) -> str:
        """A default of the system as SHOW RMS_DEFAULT prints it; empty where none was listed, or several differ."""
        listed = [one for one in self.facts.also(RmsDefaults).every(RmsDefaults) if one.scope == "system"]
        values = {str(getattr(one, name) or "") for one in listed}
        return comment(values.pop(), 12) if len(values) == 1 else ""

    @property
    def openers(self) -> list[OpenFile]:
        """The processes that have the file open by SHOW DEVICE/FILES, once each; empty where its name is of two disks.

        A disk is listed by its device as well as by a logical name, so the rest of the name tells.
        """
        path = self.named.name.partition(":")[2].upper() if self.named and self.named.sure else ""
        found = [one for one in self.facts.also(OpenFile).every(OpenFile) if path and one.name.upper() == path]
        alone = len({one.device for one in found}) == 1
        return list({one.pid: one for one in found if int(one.pid, 16)}.values()) if alone else []

    @property
    def opened(self) -> str:
        """Who has it open, as a clause; empty without a listing."""
        named = [f"{comment(one.process, 15)} ({one.pid})" if one.process else one.pid for one in self.openers]
        more = f" and {len(named) - MOST_IMAGES:,} more" if len(named) > MOST_IMAGES else ""
        has = f"SHOW DEVICE/FILES has it open by {len(named):,} process{'es' * (len(named) > 1)}"
        return f"{has}: {', '.join(named[:MOST_IMAGES])}{more}" if named else ""

    @property
    def record_locks(self) -> list[RmsRecordLock]:
        """Exclusive locks of records of the file, as RMS_LOCKS lists them."""
        every = self.facts.also(RmsRecordLock).every(RmsRecordLock)
        return [one for one in every if one.mode == "EX" and not one.waiting and one.file == self.share.resource.file]

    @property
    def listed(self) -> "Listed | None":
        """Its bucket and record locks in SDA's SHOW LOCK/BRIEF; `None` where that lists none below it."""
        share = self.share
        if share.kind != RMS_FILE or share.members > 1:
            return None
        printed = as_text(bytes.fromhex(share.trees[0].name)).rstrip()
        alike = [one for one in self.facts.also(ListedLocks).every(ListedLocks) if one.text.rstrip() == printed]
        found = max(alike, key=lambda one: one.below, default=None)
        return Listed(found.buckets, found.records, found.source) if found and found.buckets + found.records else None

    @property
    def may_be_rdbs(self) -> bool:
        """Whether one of its names may be Rdb's."""
        return any(may_be_rdbs(self.facts, bytes.fromhex(tree.name)) for tree in self.share.trees)

    @property
    def fewer(self) -> str:
        """That most of the lock requests are its own, as a clause for who asks for fewer of them."""
        share = self.share
        at = f" at {share.picture.when}" if share.picture.when else ""
        return (
            f"{self.what} has {self.percent:.0f} % of {in_prose(share.picture.total)} lock requests/s{at}{self.in_all} "
            "(LOCK_ACTV)"
        )

    @property
    def _file(self) -> str:
        named = self.named
        if named is None or named.sure:
            return named.name if named else ""
        volume = comment(self.share.resource.volume or "", 12)
        if self._asked:
            return f"{self.share.key}, {named.name} if {named.listed.device} is that volume (SHOW DEVICE)"
        return f"{named.name}, if {named.listed.device} is the volume {volume} (SHOW DEVICE)"

    @property
    def _asked(self) -> bool:
        """Whether its id is listed under a logical name alone: DISK$ and another label is mostly another volume."""
        return self.named is not None and not self.named.sure and not DEVICE.match(self.named.listed.device)


@dataclass(frozen=True)
class Listed:
    """Locks below a file of RMS at one moment, of one node."""

    buckets: int
    records: int
    source: Source

    @property
    def of_records(self) -> bool:
        """Whether most of them are of records."""
        return self.records > self.buckets

    @property
    def said(self) -> str:
        """Both, as a clause."""
        return f"SHOW LOCK/BRIEF lists {self.records:,} record and {self.buckets:,} bucket locks below it"


@dataclass(frozen=True)
class Renewed:
    """Locks that are made anew and given back each time, and hardly ever converted, on this node, per second."""

    new: float
    converted: float
    deq: float
    source: Source

    @property
    def said(self) -> str:
        """Both beside the conversions, as a clause."""
        if self.converted < 1:
            return f"{in_prose(self.new)} new requests and {in_prose(self.deq)} DEQs a second, next to no conversion"
        new, deq = self.new / self.converted, self.deq / self.converted
        return f"{plain(new, 2)} new requests and {plain(deq, 2)} DEQs for each conversion on this node"


def renewed_of(facts: Facts, share: Share) -> Renewed | None:
    """What proves that a tree which has most of this node's requests keeps no locks to convert."""
    rates = facts.latest(LockRates, statistic="mean") or facts.latest(LockRates, statistic="current")
    if rates is None or _own_part(facts, share) < MOST_PART:
        return None
    values = (rates.new_enq_per_second, rates.converted_enq_per_second, rates.deq_per_second)
    if not all(map(known, values)):
        return None
    new, converted, deq = (value for value in values if known(value))
    if new < LEAST_REQUESTS or new < RENEWED * converted or deq < new / 2:
        return None
    return Renewed(new, converted, deq, rates.source)


@dataclass(frozen=True)
class Refused:
    """Lock requests that are refused at once, as they were made with LCK$M_NOQUEUE and a holder was in the way."""

    per_second: float
    of_all: float
    """Per cent of new requests and conversions."""
    source: Source


def refused_of(facts: Facts, share: Share) -> Refused | None:
    """What proves that a tree is polled: so many requests are refused that no other tree has room for them.

    `None` also for names that may be Rdb's, and where a database is open on the node: Rdb tries requests with NOWAIT.
    """
    if share.kind != APPLICATION or any(one.databases for one in facts.also(NodeDatabases).every(NodeDatabases)):
        return None
    found = _refused(facts)
    return found if found and found.of_all > 100 * (1 - _own_part(facts, share)) else None


def refused_mostly(facts: Facts) -> Refused | None:
    """What proves that a node's lock requests are mostly polling, whichever tree they are in.

    Where a request that was refused is made again as one that waits, as Rdb does, half of all are refused at the most:
    beyond that they are tried over and over (arithmetic). Nothing is said of it where Rdb is known to be used.
    """
    found = None if shows_rdb(facts) else _refused(facts)
    return found if found and found.of_all > TRIED_AGAIN else None


def without_polling(facts: Facts, polls: Refused) -> str:
    """What helps against it, as a clause; with whom to ask, as far as listings beside it show."""
    alike = called_alike(facts)
    names = {one.text.rstrip(" .") for one in facts.also(ListedLocks).every(ListedLocks)}
    lock = f" of {comment(names.pop(), 31)} (the one name in SHOW LOCK/BRIEF)" if len(names) == 1 else ""
    first = f", first in the {alike} of SHOW SYSTEM (inference)" if alike else ""
    return (
        f"no polling: {polls.of_all:.0f} % of the lock requests, {in_prose(polls.per_second)}/s, are refused at once "
        f"(LCK$M_NOQUEUE) and tried again; queue the $ENQ{lock} and wait for its AST{first}"
    )


def _refused(facts: Facts) -> Refused | None:
    """The requests that are refused, where they are many and no more than all."""
    rates = facts.latest(LockRates, statistic="mean") or facts.latest(LockRates, statistic="current")
    if rates is None:
        return None
    values = (rates.enq_not_queued_per_second, rates.new_enq_per_second, rates.converted_enq_per_second)
    if not all(map(known, values)):
        return None
    refused, new, converted = (value for value in values if known(value))
    asked = new + converted
    if refused < POLLED_REQUESTS or asked <= 0 or refused > asked:
        return None
    return Refused(refused, 100 * refused / asked, rates.source)


def _own_part(facts: Facts, share: Share) -> float:
    """The tree's part of what this node asks for, where the report has that, else of what all nodes do."""
    name = (node_name(facts) or "").upper()
    asks = {node.upper(): rate for node, rate in share.by_node.items()}.get(name)
    whole = {node.upper(): rate for node, rate in share.picture.activity.by_node}.get(name)
    return min(1.0, asks / whole) if asks is not None and whole else share.percent / 100


def of_share(facts: Facts, share: Share) -> Dominating:
    """A tree with the name of its file, where a listing has it, and the global buffers that may help it."""
    if share.kind != RMS_FILE:
        return Dominating(share, None, None, facts)
    named = name_of(facts, share.resource)
    found = buffers_for(facts, named.listed if named else None, machine_of(facts))
    if named and not named.sure and found.change:
        volume = comment(share.resource.volume or "", 12)
        only = f"only where {comment(named.listed.device, 31)} is the volume {volume} (SHOW DEVICE)"
        found = replace(found, change=replace(found.change, condition=only))
    return Dominating(share, named, found, facts)


def dominates(share: Share, share_percent: float, least_requests: float) -> bool:
    """Whether it has the share in half of the pictures at least."""
    over = sum(one >= share_percent for one in share.percents)
    return 2 * over >= len(share.percents) and share.rate >= least_requests * share_percent / 100


def dominating(facts: Facts) -> Dominating | None:
    """The tree that has most of the lock requests in the reports of LOCK_ACTV; `None` where none stands out."""
    pictures = [one for one in pictures_of(facts) if one.total > 0]
    if not pictures or max(one.total for one in pictures) < LEAST_REQUESTS:
        return None
    first = _first(shares_of(pictures))
    return of_share(facts, first) if first else None


def _first(shares: Sequence[Share]) -> Share | None:
    return next((one for one in shares if dominates(one, SHARE_PERCENT, LEAST_REQUESTS)), None)


def _other_way(buffers: Buffers) -> str:
    """What helps the programs that have to keep a file open for update, as a sentence."""
    if buffers.change is None:
        return "More global buffers spare no record lock."
    count = f"{buffers.change.new:,}" if isinstance(buffers.change.new, int) else buffers.change.new
    return f"For those that cannot, {count} global buffers spare locks of its buckets, none of records."


def _component(share: Share) -> str:
    return {SYSTEM_ID: "one system's own locks", QUEUE_MANAGER: "the queue manager"}.get(share.kind, share.kind)


def _find(share: Share) -> str:
    """The command that finds the file's name on the system."""
    file, volume = share.resource.file, share.resource.volume or ""
    disk = f"DISK${volume}" if LABEL.fullmatch(volume) else "disk"
    return f"@FILE_ID_TO_NAME {file.number if file else 0} {disk}"


def judged_at(facts: Facts, share: Share) -> str | None:
    """The member that masters most of it, where that is another node than this one; else the one that was measured."""
    measured = next(iter(facts.every(ListedMember)), None)
    if measured and not measured.own and measured.name in share.picture.activity.nodes:
        return measured.name
    own, names = own_name(facts), {one.name.upper() for one in members_of(facts)}
    if not share.masters or own is None or own.upper() == share.masters[0].upper():
        return None
    return share.masters[0] if share.masters[0].upper() in names else None
