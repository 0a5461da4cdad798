"""A file grows in small steps, many times a second.

Finds: many allocations of disk space a second (MONITOR FCP, `[MON.FCP]` of T4) that are no files created, and a file in
a listing of DIRECTORY/FULL that is extended by few blocks: its own extent, else that of its volume (SHOW DEVICE/FULL).
Which file grows, MONITOR RMS tells: most of the allocations are its automatic extensions. So does LOCK_ACTV: most
locks of volume allocation (F11B$v) are of the file's volume, and of the trees of that volume's RMS files its own has
most.

Why it matters: each extension is a call of the file system that writes the storage bitmap and the file's header while
it holds the volume's allocation lock, so all who create, extend or delete files on that volume wait for it in turn.

What to do: SET FILE/EXTENSION, and the same extent for files that are created anew: ALLOCATION and EXTENSION in FDL,
SET RMS_DEFAULT/EXTEND_QUANTITY before the program starts, or its FAB. So large that one extension a minute is left: at
most so many blocks are allocated and not used.

When to ignore it: where the allocations are files that come and go, or where the program asks for an extent of its own.
RMS asks for that first, then for the file's, the process's and the system's, and for the volume's last (recalled).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil

from collectors.facts import Facts, Source, known
from collectors.facts.openvms import FileName, LockTree, Volume
from collectors.facts.openvms.resource_names import RMS_FILE
from collectors.facts.openvms.resource_names import VOLUME as ALLOCATION
from rules.changes.quoting import Unquotable, comment, openvms_file
from rules.engine import limit, percent, rule
from rules.finding import (
    Clean,
    Evidence,
    Expectation,
    Finding,
    NotApplicable,
    Outcome,
    Severity,
    Unknown,
    joined,
)
from rules.openvms._evidence.dominating import DOMINATING_FACTS, dominating
from rules.openvms._evidence.file_system import MOST_EXTENDED, OFTEN_EXTENDED
from rules.openvms._evidence.lock_queues import QUEUE_FACTS
from rules.openvms._evidence.lock_trees import FILE_SYSTEM, LONGEST_NAME, is_volume, name_of
from rules.openvms._evidence.monitor_classes import mean_of
from rules.openvms._evidence.node import in_prose, node_name
from rules.openvms._evidence.rms_use import rates_of

LINKS = ("https://wiki.vmssoftware.com/ACP_parameters",)
ALLOCATED, CREATED, WAITED = "FCP Disk space allocations", "FCP Files created", "FCP waits"
EXTENDED = "Automatic Extend Rate"
"""Of MONITOR RMS, OPERATIONS: how often RMS extended one file."""
MINUTE = 60.0
LISTED = "a listing of DIRECTORY/FULL of the files that grow, and SHOW DEVICE/FULL of their disk"


@dataclass(frozen=True)
class Limits:
    """How often, and how small a step."""

    allocations: float = limit(
        OFTEN_EXTENDED, "this project: so many are files that grow by next to nothing", low=0.1, unit="allocations/s"
    )
    created_percent: float = percent(
        50.0, "this project: with more, files that are made are the load", low=1, of="the allocations"
    )
    trees_percent: float = percent(
        50.0,
        "this project: a file with half of the allocations, a volume or file with half of the locks is the one",
        low=10,
    )


@dataclass(frozen=True)
class Step:
    """A file and by how much it is extended."""

    file: FileName
    blocks: float
    volume: Volume | None
    """Whose extent it gets, where it has none of its own."""


@rule(needs=(), uses=(*DOMINATING_FACTS, *QUEUE_FACTS, Volume), links=LINKS, limits=Limits)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Judge how often space is allocated, then which file it is for."""
    rate, made = _rate(facts, ALLOCATED), _rate(facts, CREATED)
    if rate is None:
        yield NotApplicable("how often disk space is allocated was not collected (MONITOR FCP)")
        return
    value, source = rate
    said = f"{in_prose(value)} allocations of disk space a second"
    if value < limits.allocations:
        yield Clean(f"{said}, limit {limits.allocations:g}", (source,))
        return
    if made and made[0] * 100 > value * limits.created_percent:
        yield Clean(f"{said}, and {in_prose(made[0])} files created: files that are made, not extended", (source,))
        return
    first = dominating(facts)
    first = first if first and first.share.kind == FILE_SYSTEM else None
    grows, sure = _growing(facts, limits, value)
    if first and not sure:
        if not facts.every(Volume) and not facts.every(FileName):
            why = f"{said}; by how much files grow at a time, and whose they are, is not there"
            yield Unknown.without("the extent of the files that grow", LISTED, why)
            return
        yield NotApplicable(f"{said}: judged with the lock trees of the file system, which have most of the requests")
        return
    if grows is None:
        yield Unknown.without("the extent of the files that grow", LISTED, f"{said}; whose they are is not there")
    elif (larger := _larger(grows, value)) <= grows.blocks:
        file = comment(grows.file.name, LONGEST_NAME)
        yield Clean(f"{said}, and {file} grows by {grows.blocks:,.0f} blocks already", (source, grows.file.source))
    else:
        explains = (f"openvms/lock_tree_dominates:{first.share.key}",) if first else ()
        yield _finding(facts, grows, rate, larger, explains, sure=sure, limits=limits)


def _rate(facts: Facts, what: str) -> tuple[float, Source] | None:
    """A rate of the file system, on average."""
    found = mean_of(facts, "MON.FCP", what)
    return (found.value, found.source) if found else None


def _larger(grows: Step, rate: float) -> int:
    """Blocks with which one extension a minute is left, in thousands."""
    return min(MOST_EXTENDED, 1_000 * ceil(rate * grows.blocks * MINUTE / 1_000))


def _growing(facts: Facts, limits: Limits, allocations: float) -> tuple[Step | None, bool]:
    """The file that grows, and whether MONITOR RMS or the lock trees show that it is the one.

    Without both, or where they name a file that is not listed: the one listed with the smallest step, the largest of
    these, on the volume that the trees name, else on the only one that is listed.
    """
    for listed in facts.every(FileName):
        extended = _extended(facts, listed)
        often = extended is not None and extended[0] * 100 > allocations * limits.trees_percent
        if often and (step := _step(facts, listed, None)):
            return step, True
    trees = [one for one in facts.every(LockTree) if known(one.total) and one.resource.volume]
    label = _most(trees, ALLOCATION, limits)
    volume = label.resource.volume if label else None
    steps = [found for one in facts.every(FileName) if (found := _step(facts, one, volume))]
    steps = [one for one in steps if not volume or is_volume(one.file.device, volume)]
    if not steps or (not volume and len({one.file.device for one in steps}) > 1):
        return None, False
    mine = _most([one for one in trees if one.resource.volume == volume], RMS_FILE, limits) if volume else None
    named = name_of(facts, mine.resource) if mine else None
    if named and named.sure:
        for one in steps:
            if one.file.name == named.listed.name:
                return one, True
    if mine:
        return None, False  # another file's locks: the one listed may grow by next to nothing
    allocated = {id(one): one.file.allocated_blocks for one in steps}
    return min(steps, key=lambda one: (one.blocks, -(size if known(size := allocated[id(one)]) else 0.0))), False


def _extended(facts: Facts, file: FileName) -> tuple[float, Source] | None:
    """How often RMS extends a file on the node whose allocations are counted; `None` where MONITOR RMS was not read."""
    return rates_of(facts, file.name, EXTENDED).get(node_name(facts) or "")


def _most(trees: list[LockTree], kind: str, limits: Limits) -> LockTree | None:
    """The tree of a kind with more than its share of all requests of that kind, in its busiest report."""
    mine = [one for one in trees if one.resource.kind == kind]
    first = max(mine, key=lambda one: one.total if known(one.total) else 0.0, default=None)
    if first is None or not known(first.total):
        return None
    beside = sum(
        one.total
        for one in mine
        if known(one.total) and (one.report, one.source.file) == (first.report, first.source.file)
    )
    return first if first.total * 100 > beside * limits.trees_percent else None


def _step(facts: Facts, file: FileName, label: str | None) -> Step | None:
    """By how much a file is extended; `None` where nothing tells."""
    if not known(file.extend_blocks):
        return None
    if file.extend_blocks > 0:
        return Step(file, file.extend_blocks, None)
    volumes = [one for one in facts.every(Volume) if is_volume(file.device, label or one.label)]
    volumes = [one for one in volumes if not label or one.label.upper() == label.upper()]
    if len({one.device for one in volumes}) != 1:
        return None
    blocks, cluster = volumes[-1].extend_blocks, volumes[-1].cluster_blocks
    if not known(blocks) or blocks < 1:
        return None
    whole = cluster * ceil(blocks / cluster) if known(cluster) and cluster > 0 else blocks
    return Step(file, whole, volumes[-1])


def _finding(
    facts: Facts,
    grows: Step,
    rate: tuple[float, Source],
    larger: int,
    explains: tuple[str, ...],
    *,
    sure: bool,
    limits: Limits,
) -> Finding:
    value, source = rate
    file, waits = grows.file, _rate(facts, WAITED)
    extended = _extended(facts, file)
    name = comment(file.name, LONGEST_NAME)
    short = name.rpartition("]")[2]
    left = max(1 / MINUTE, value * grows.blocks / larger)
    waited = f", and {in_prose(waits[0])} times a second one waits for a volume's lock" if waits and waits[0] else ""
    whose = f", the extent of its volume {comment(grows.volume.label, 12)}" if grows.volume else ""
    size = f" of {file.allocated_blocks:,.0f} blocks" if known(file.allocated_blocks) else ""
    try:
        command = openvms_file(file.name)
    except Unquotable:
        command = name
    anew = f"ALLOCATION {file.allocated_blocks:.0f} and " if known(file.allocated_blocks) else ""
    unproven = "" if sure else "That it is this file, nothing here proves: look whether it grows, and take LOCK_ACTV."
    own = "A program that asks for an extent of its own keeps that; else the process's (SHOW RMS_DEFAULT) comes first."
    return Finding(
        subject=name,
        severity=Severity.ADVICE if sure else Severity.NOTE,
        title=f"{short} grows by {grows.blocks:,.0f} blocks at a time: {in_prose(value)} allocations of space a second",
        seen=(
            f"Disk space is allocated {in_prose(value)} times a second{waited}. "
            f"{name}{size} is extended by {grows.blocks:,.0f} blocks{whose}."
        ),
        because=(
            "Each extension writes bitmap and header under the volume's allocation lock, which all wait for "
            "who create, extend or delete files."
        ),
        do=(
            f"SET FILE/EXTENSION={larger} {command}: about {in_prose(left * MINUTE)} a minute instead of these. "
            f"Where the file is created anew: {anew}EXTENSION {larger} in its FDL, or SET "
            f"RMS_DEFAULT/EXTEND_QUANTITY={larger} before the program."
        ),
        unknown=joined(unproven, own if grows.volume else ""),
        evidence=(
            Evidence("allocations of disk space", round(value, 2), "/s", source, limits.allocations),
            *((Evidence("automatic extensions of the file", extended[0], "/s", extended[1]),) if extended else ()),
            *((Evidence("volume lock waits", round(waits[0], 2), "/s", waits[1]),) if waits else ()),
            Evidence(f"extent of {name}", grows.blocks, "blocks", (grows.volume or file).source),
        ),
        expects=(Expectation("allocations of disk space (/s)", round(value, 2), round(left, 2), "heuristic"),),
        explains=explains,
    )
