"""Which lock trees have the lock requests of a cluster: reports of LOCK_ACTV put together, files named where they are.

A report is a picture of 8 to 15 s, so several of the busiest time are held together; each counts by itself, and a tree
is judged by the shares that it has in them. Trees of the file system and of one application are many small ones, so
they are taken together: those of an application by the facility that several names begin with.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from collectors.facts import Facts, Source, known
from collectors.facts.openvms import FileName, LockActivity, LockTree
from collectors.facts.openvms.resource_names import (
    APPLICATION,
    RMS_FILE,
    UNREADABLE,
    XQP_KINDS,
    FileId,
    Resource,
    as_printed,
    as_text,
    decode,
)
from collectors.facts.rdb.names import DEVICE
from rules.changes.quoting import comment
from rules.openvms._evidence.cluster import shows_rdb

TREE_FACTS = (LockActivity, LockTree, FileName)
"""What a rule that uses this module has to declare."""
FILE_SYSTEM = "the file system"
LONGEST_NAME = 60
"""Characters of a name that are printed in a text."""
LONGEST_LABEL = 12
"""Characters of a volume label."""
FACILITY = re.compile(r"[A-Za-z][A-Za-z0-9]{2,}[_$]")
"""What the names of one application begin with, as OpenVMS programs name what is theirs: `STKCTL_`, `MMK$`."""
NO_APPLICATION = frozenset({"RMS$", "F11B$", "SYS$", "RDB$", "RDMS$", "SQL$", "DBM$", "LCK$"})
"""Facilities of the system and its databases: names of theirs that are not decoded belong to many things."""


LEAST_NUMBER = 256
"""This project: a file number of one byte may stand in a name by chance."""
ALONE_PART = 0.75
"""Of what all names of one facility ask for, this project: a tree that has three quarters is the one to look at."""


@dataclass(frozen=True)
class Picture:
    """One report with its trees."""

    activity: LockActivity
    trees: tuple[LockTree, ...]
    total: float
    """Lock requests per second in all trees."""

    @property
    def when(self) -> str:
        """`12-MAY 10:14`; empty where it has no time."""
        return moment_of(self.activity.at)


@dataclass(frozen=True)
class Named:
    """What is known of the name of a file."""

    name: str
    source: Source
    sure: bool
    """Whether volume and id are both the same; else the id alone is, on a device whose label no export shows."""
    listed: FileName
    """The listing, of several of the same file the last that shows its attributes."""


@dataclass(frozen=True)
class Share:
    """One tree, or trees that belong together, over the pictures."""

    key: str
    """What it is called: `(184815,2,0) on DATA`, `the file system`, `PAYROLL_`."""
    kind: str
    resource: Resource
    trees: tuple[LockTree, ...]
    """Of the picture in which it had most."""
    picture: Picture
    rate: float
    """Lock requests per second in that picture."""
    percents: tuple[float, ...]
    """Its share in each picture, in per cent; 0 where it is not in it."""
    members: int
    """How many trees of that picture are taken together."""
    family: str = ""
    """The facility that names of one application begin with, where the trees are taken together by that."""

    @property
    def percent(self) -> float:
        """Its share in the picture in which it had most."""
        return 100 * self.rate / self.picture.total if self.picture.total else 0.0

    @property
    def by_node(self) -> dict[str, float]:
        """Lock requests per second of each node in that picture, the most first."""
        found: dict[str, float] = {}
        for tree in self.trees:
            for node, rate in tree.rates:
                found[node] = found.get(node, 0.0) + (rate if known(rate) else 0.0)
        return dict(sorted(found.items(), key=lambda one: (-one[1], one[0])))

    @property
    def names(self) -> tuple[str, ...]:
        """What its trees are called, that with most lock requests first."""
        busiest = sorted(self.trees, key=lambda tree: -tree.total if known(tree.total) else 0.0)
        return tuple(dict.fromkeys(called(bytes.fromhex(tree.name)) for tree in busiest))

    @property
    def masters(self) -> tuple[str, ...]:
        """The nodes that master the trees, the one with most requests first."""
        found: dict[str, float] = {}
        for tree in self.trees:
            if tree.master and known(tree.total):
                found[tree.master] = found.get(tree.master, 0.0) + tree.total
        return tuple(sorted(found, key=lambda name: (-found[name], name)))

    @property
    def remote(self) -> float:
        """Lock requests per second of nodes that are not the master; 0 too where no master is marked."""
        return sum(
            rate
            for tree in self.trees
            if tree.master
            for node, rate in tree.rates
            if node != tree.master and known(rate)
        )

    @property
    def source(self) -> Source:
        """The lines of its trees, from the first to the last."""
        first = min((tree.source for tree in self.trees), key=lambda one: one.first)
        last = max(tree.source.last for tree in self.trees)
        return Source(first.file, first.first, last, any(tree.source.tentative for tree in self.trees))


def pictures_of(facts: Facts) -> list[Picture]:
    """Every report that has a total, once, in order of its time; those in which a figure overflowed are left out."""
    trees: dict[tuple[str, int], list[LockTree]] = {}
    for tree in facts.every(LockTree):
        trees.setdefault((tree.source.file, tree.report), []).append(tree)
    found = [
        Picture(one, tuple(trees.get((one.source.file, one.report), ())), one.total)
        for one in facts.every(LockActivity)
        if known(one.total)
    ]
    once = {(one.activity.at, one.total, tuple(map(tuple, one.activity.by_node))): one for one in reversed(found)}
    return sorted(once.values(), key=_place)


def moments_in(pictures: Sequence[Picture], apart_seconds: float) -> int:
    """How many of these are of moments so far apart; a report without a time is one of its own."""
    times = sorted(at for one in pictures if (at := one.activity.at) is not None)
    count, last = sum(one.activity.at is None for one in pictures), None
    for at in times:
        if last is None or (at - last).total_seconds() >= apart_seconds:
            count, last = count + 1, at
    return count


def _place(picture: Picture) -> tuple[str, str, int]:
    """Those without a time first, then by time; of one time as they stand."""
    one = picture.activity
    return one.at.isoformat() if one.at else "", one.source.file, one.report


def shares_of(pictures: Sequence[Picture]) -> list[Share]:
    """What has which share of the requests, that with most requests first."""
    families = _families(pictures)
    parts = [(picture, _parts(picture, families)) for picture in pictures if picture.total > 0]
    found = []
    for key in dict.fromkeys(key for _, of in parts for key in of):
        rates = [sum(tree.total for tree in of.get(key, ()) if known(tree.total)) for _, of in parts]
        most = max(range(len(parts)), key=lambda at: rates[at])
        picture, of = parts[most]
        percents = tuple(100 * rate / one.total for rate, (one, _) in zip(rates, parts, strict=True))
        trees = tuple(of[key])
        resource = trees[0].resource
        family = key if key in families.values() else ""
        found.append(Share(key, _kind(resource), resource, trees, picture, rates[most], percents, len(trees), family))
    return sorted(found, key=lambda one: (-one.rate, one.key))


def _families(pictures: Sequence[Picture]) -> dict[str, str]:
    """What a tree is called → the facility that it shares with another tree of any picture.

    Not of a tree that has most of its family: it stands by its own name.
    """
    names: dict[str, dict[str, float]] = {}
    for tree in (tree for picture in pictures for tree in picture.trees):
        name = called(bytes.fromhex(tree.name))
        begins = FACILITY.match(name) if tree.resource.kind == APPLICATION else None
        if begins and begins[0].upper() not in NO_APPLICATION:
            of = names.setdefault(begins[0], {})
            of[name] = of.get(name, 0.0) + (tree.total if known(tree.total) else 0.0)
    found: dict[str, str] = {}
    for facility, of in names.items():
        alone = {name for name, rate in of.items() if rate >= ALONE_PART * sum(of.values()) > 0}
        if len(of) - len(alone) > 1:
            found |= dict.fromkeys(of.keys() - alone, facility)
    return found


def _parts(picture: Picture, families: Mapping[str, str]) -> dict[str, list[LockTree]]:
    parts: dict[str, list[LockTree]] = {}
    for tree in picture.trees:
        name = called(bytes.fromhex(tree.name))
        parts.setdefault(families.get(name, name), []).append(tree)
    return parts


def _kind(resource: Resource) -> str:
    return FILE_SYSTEM if resource.kind in XQP_KINDS else resource.kind


def called(root: bytes) -> str:
    """What the tree of a root, or the trees it belongs to, is called: the same in every picture and capture."""
    resource = decode(root)
    if resource.kind in XQP_KINDS:
        return FILE_SYSTEM
    if resource.kind == RMS_FILE and resource.file:
        return place_of(resource)
    if resource.kind == APPLICATION:
        return resource.prefix
    readable = as_text(root).strip(". ")
    return comment(readable if len(readable) > 2 else as_printed(root), 40)


def may_be_rdbs(facts: Facts, root: bytes) -> bool:
    """Whether a root may be Rdb's, whose names are documented nowhere.

    Where Rdb is used any name may be that is not decoded; where nothing shows it, one that is not plain text.
    """
    kind, text = decode(root).kind, root.rstrip(b" \0")
    if kind not in (APPLICATION, UNREADABLE):
        return False
    facility = FACILITY.match(as_text(text))
    plain = kind == APPLICATION and all(32 <= byte < 127 for byte in text)
    return shows_rdb(facts) or not plain or bool(facility and facility[0].upper() in NO_APPLICATION)


def place_of(resource: Resource) -> str:
    """A file by its id and volume: `(184815,2,0) on DATA`."""
    return f"{resource.file} on {comment(resource.volume or '?', LONGEST_LABEL)}"


def name_of(facts: Facts, resource: Resource) -> Named | None:
    """The name of a resource's file, where a listing has it; `None` where none has, or several may be meant."""
    if resource.file is None:
        return None
    alike = [one for one in facts.every(FileName) if _same(one.file, resource.file)]
    here = [one for one in alike if is_volume(one.device, resource.volume)]
    maybe = [one for one in alike if DEVICE.match(one.device)]
    others = {tree.resource.volume for tree in facts.also(LockTree).every(LockTree)} - {resource.volume}
    logical = [one for one in alike if not any(is_volume(one.device, label) for label in others)]
    for found, sure in ((here, True), (maybe, False), (logical, False)):
        names = {one.name: one for one in found}
        if len(names) == 1:
            (one,) = names.values()
            whole = [other for other in found if known(other.bucket_blocks) or known(other.global_buffers)]
            return Named(comment(one.name, LONGEST_NAME), one.source, sure, whole[-1] if whole else one)
        if names:
            return None
    return None


def file_within(facts: Facts, root: bytes) -> str:
    """A listed file whose id and volume stand in a name that is not decoded; empty for none, and for several.

    An inference: number and sequence number are four bytes as in names of RMS, and the volume's name stands there, too.
    """
    if decode(root).kind not in (APPLICATION, UNREADABLE):
        return ""
    found = {
        one.name
        for one in facts.every(FileName)
        if one.number >= LEAST_NUMBER
        and (one.number & 0xFFFF).to_bytes(2, "little") + (one.sequence & 0xFFFF).to_bytes(2, "little") in root
        and one.device.encode() in root
    }
    return comment(found.pop().rpartition("]")[2], LONGEST_NAME) if len(found) == 1 else ""


def file_called(facts: Facts, key: str) -> str:
    """What a tree is called, by the name of its file without device and directory where a listing has it for sure."""
    for tree in facts.every(LockTree):
        if tree.resource.kind == RMS_FILE and called(bytes.fromhex(tree.name)) == key:
            named = name_of(facts, tree.resource)
            return named.name.rpartition("]")[2] if named and named.sure else key
        if called(bytes.fromhex(tree.name)) == key and (file := file_within(facts, bytes.fromhex(tree.name))):
            return file
    return key


def _same(one: FileId, other: FileId) -> bool:
    """Whether two ids are of one file, as far as both have a sequence number."""
    sequences = {one.sequence, other.sequence} - {None}
    return one.number == other.number and one.volume_number == other.volume_number and len(sequences) < 2


def is_volume(device: str, label: str | None) -> bool:
    """Whether a device's name is that of a volume: `DISK$DATA` is what MOUNT makes of the label DATA."""
    return bool(label) and device.upper() in (f"DISK${label}".upper(), (label or "").upper())


def moment_of(at: datetime | None) -> str:
    """`12-MAY 10:14`; empty without a time."""
    return f"{at:%d-%b %H:%M}".upper() if at else ""


def silent_nodes(pictures: Sequence[Picture]) -> tuple[str, ...]:
    """Nodes that are listed in trees and counted nothing in any picture, while others counted: PE1 = -1 does that."""
    return tuple(sorted(_listed(pictures) - set(_counting(pictures))))


def _listed(pictures: Sequence[Picture]) -> set[str]:
    return {name for one in pictures for name, _ in one.activity.by_node}


def _counting(pictures: Sequence[Picture]) -> Iterator[str]:
    return (name for one in pictures for name, rate in one.activity.by_node if rate > 0)


def asked_elsewhere(facts: Facts, node: str, most: int = 3) -> list[tuple[LockTree, float]]:
    """The trees of other masters that a node asks most in, with its requests per second, in the busiest report."""
    busiest = max(pictures_of(facts), key=lambda one: one.total, default=None)
    found = [
        (tree, rate)
        for tree in (busiest.trees if busiest else ())
        for name, rate in tree.rates
        if tree.master and tree.master.upper() != node.upper() == name.upper() and known(rate) and rate > 0
    ]
    return sorted(found, key=lambda one: (-one[1], one[0].name))[:most]


def asked_of(facts: Facts, master: str) -> dict[str, float]:
    """Lock requests per second of each node in all trees of a master, in the busiest report; empty without one."""
    busiest = max(pictures_of(facts), key=lambda one: one.total, default=None)
    found: dict[str, float] = {}
    for tree in busiest.trees if busiest else ():
        for node, rate in tree.rates if (tree.master or "").upper() == master.upper() else ():
            found[node.upper()] = found.get(node.upper(), 0.0) + (rate if known(rate) else 0.0)
    return found


LISTED_PART = 0.25
"""This project: LOCK_ACTV counts requests, of which each is at least two operations, as its lock is given back, too. So
a quarter of what crosses is half of it; below that its time is another, or the trees are not counted, as PE1 has it."""


def crosses_most(facts: Facts, node: str, crossing: float) -> tuple[str, float] | None:
    """What has most of the requests that cross the cluster to or from a node, and its share of them in per cent.

    Of the busiest report; `None` where none crosses, or too few of the `crossing` lock operations per second.
    """
    busiest = max(pictures_of(facts), key=lambda one: one.total, default=None)
    found: dict[str, float] = {}
    for tree in busiest.trees if busiest else ():
        for name, rate in tree.rates:
            ends = {name.upper(), (tree.master or name).upper()}
            if len(ends) > 1 and node.upper() in ends and known(rate):
                key = called(bytes.fromhex(tree.name))
                found[key] = found.get(key, 0.0) + rate
    most = max(found, key=lambda key: (found[key], key), default=None)
    whole = sum(found.values())
    return (most, 100 * found[most] / whole) if most and found[most] and whole >= LISTED_PART * crossing else None


def share_of_key(facts: Facts, key: str) -> Share | None:
    """What `crosses_most` names, with who asks in it, in the busiest report."""
    busiest = max(pictures_of(facts), key=lambda one: one.total, default=None)
    return next((one for one in shares_of([busiest]) if one.key == key), None) if busiest and key else None


GOOD_PART, MOST_OTHERS = 10.0, 2
"""Per cent of the requests, this project: with less a tree that moves is not worth work on one node; trees named."""


@dataclass(frozen=True)
class Wanderer:
    """A tree whose master is another one from report to report."""

    key: str
    masters: tuple[str, ...]
    """In order of the reports; the same once where it stays."""
    by_node: dict[str, float]
    """Lock requests per second of each node, the mean of the reports, the most first."""
    reports: int
    source: Source
    file: str = ""
    """Its file's name, where a listing has it for sure."""
    percent: float = 0.0
    """Of all lock requests in those reports."""
    others: tuple[str, ...] = ()
    """Further trees whose master changed and that have a good part of the requests, the busiest first."""

    @property
    def said(self) -> str:
        """What it is, with the name of its file in brackets."""
        return f"{self.key} ({self.file})" if self.file else self.key

    @property
    def rate(self) -> float:
        """Lock requests per second of all nodes."""
        return sum(self.by_node.values())


def wanders_most(facts: Facts) -> Wanderer | None:
    """The busiest tree that changed its master between reports; `None` where none did."""
    trees: dict[str, list[LockTree]] = {}
    pictures = pictures_of(facts)
    for picture in pictures:
        for tree in picture.trees:
            if tree.master:
                trees.setdefault(tree.name, []).append(tree)
    found = []
    every = sum(one.total for one in pictures) / max(1, len(pictures))
    for seen in trees.values():
        masters = [one.master or "" for one in seen]
        changed = tuple(at for at, before in zip(masters, ["", *masters], strict=False) if at != before)
        rates: dict[str, float] = {}
        for node, rate in (pair for one in seen for pair in one.rates):
            rates[node] = rates.get(node, 0.0) + (rate / len(seen) if known(rate) else 0.0)
        by_node = dict(sorted(rates.items(), key=lambda one: (-one[1], one[0])))
        if len(changed) > 1:
            key, named = called(bytes.fromhex(seen[0].name)), name_of(facts, seen[0].resource)
            file = named.name if named and named.sure else ""
            percent = min(100.0, 100 * sum(by_node.values()) / every) if every > 0 else 0.0
            found.append(Wanderer(key, changed, by_node, len(seen), seen[-1].source, file, percent))
    found.sort(key=lambda one: (one.rate, one.key), reverse=True)
    others = tuple(one.key for one in found[1:] if one.percent >= GOOD_PART)
    return replace(found[0], others=others[:MOST_OTHERS]) if found else None


def failed_nodes(pictures: Sequence[Picture]) -> tuple[str, ...]:
    """Nodes whose collection failed in any picture: their requests are in none of its figures."""
    return tuple(sorted({name for one in pictures for name in one.activity.failed}))


def work_on(tree: str) -> str:
    """The work on a tree, or on all where none is named, to be moved: of the file system's what works on its files."""
    if tree == FILE_SYSTEM:
        return "what makes, deletes and opens the files of a volume"
    return f"the work on {tree}" if tree else "the work"
