"""What the file system (XQP) locks for: allocation on a volume, opening of a file, and its caches' parameters.

Which program opens or creates so many files is in no lock name; the trees tell the volume and, of opens, the file.
F11B$s, which guards the header of one file or directory, is below a volume's tree and shows in LCKQUE alone.
Sources: KP_LOCKTOOLS (names), wiki.vmssoftware.com/ACP_parameters (caches; they cut I/O, no source promises fewer
locks), HP "ask the wizard" 7230 (programs that hook F11B$ locks can hold them for hours).
What a node does of it MONITOR FCP and [MON.FCP] of T4 tell, and MONITOR FILE_SYSTEM_CACHE and [MON.FLSC] how often a
cache has what is looked for: hits of attempts, over all of the time (OpenVMS System Management Utilities Reference
Manual, MONITOR FILE_SYSTEM_CACHE). Its CPU time is a rate, too, in ticks of 10 ms (the same, MONITOR FCP): 100 a second
are one CPU.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil

from collectors.facts import Facts, Source, known
from collectors.facts.openvms import DirectorySize, FileName, LockQueue, LockTree, SysgenParameter, T4Column, Volume
from collectors.facts.openvms.resource_names import FILE_ACCESS, FILE_SERIAL, VOLUME
from rules.changes.quoting import Unquotable, comment, openvms_file
from rules.finding import Evidence
from rules.openvms._evidence.lock_trees import LONGEST_LABEL, LONGEST_NAME, Named, Share, is_volume, name_of, place_of
from rules.openvms._evidence.monitor_classes import Mean, cache_hits, mean_of
from rules.openvms._evidence.node import in_prose

CACHES = ("ACP_DINDXCACHE", "ACP_DIRCACHE", "ACP_HDRCACHE", "ACP_FIDCACHE", "ACP_EXTCACHE", "ACP_SYSACC")
"""Dynamic all of them (wiki.vmssoftware.com/ACP_parameters)."""
HIT_BY = {"Dir FCB": "ACP_SYSACC", "Dir data": "ACP_DIRCACHE", "File Header": "ACP_HDRCACHE"}
"""The caches that a lookup and an open ask, as T4 calls them, and the parameter of each (HELP ACP_SYSACC; the wiki)."""
TO = {"ACP_SYSACC": " to about the directories in use at once"}
"""What the vendor says to raise it to (HELP ACP_SYSACC); of the others no source has a value."""
FEW_HITS, LEAST_ATTEMPTS = 50.0, 50.0
"""Per cent of the attempts and attempts per second: this project, half of them miss and it is often; none is published.
"""
FEW_MADE = 0.05
"""This project: files made, extended and erased for one that is looked up or opened; below it these are not the load.
"""
ALLOCATIONS = "Disk space allocations"
VOLUME_WAITS = "FCP waits"
PER_FILE = 2.0
"""Extensions for each file that is made, this project: from so many on a larger extent saves some of each."""
MOST_PER_FILE = 20.0
"""The same, this project: from so many on it is other files that grow, and not those that are made."""
TICKS = 100.0
"""Ticks of CPU time in a second of one CPU."""
WORDS = {VOLUME: "creating, extending and deleting files (F11B$v)", FILE_ACCESS: "opening files (F11B$a)"}
OWN_VOLUMES = (
    "Work files of one node each can go to a volume of its own, whose locks then stay on that node (inference)."
)
OFTEN_EXTENDED = 10.0
"""Allocations per second, this project: so many are files that grow by next to nothing, time after time."""
SMALL_EXTENT = 100.0
"""Blocks of 512 bytes, this project: with less a file that grows by 1 MB/s is extended 20 times a second and more."""
MOST_EXTENDED = 65_535
"""Blocks (DCL help, SET FILE/EXTENSION)."""
LARGE_DIRECTORY = 1_000.0
"""Blocks, this project: a directory of so many has thousands of names, gone through under its lock."""
INDEX = "ACP_DINDXCACHE"
"""Builds an index into a directory, which cuts searches in it (wiki.vmssoftware.com/ACP_parameters)."""
OF_DIRECTORIES = (INDEX, "ACP_DIRCACHE", "ACP_HDRCACHE")
HOLDERS = "programs that watch, back up or defragment files, as such ones hold these locks, too (vendor)"


@dataclass(frozen=True)
class Misses:
    """One cache that often lacks what is looked for."""

    cache: str
    parameter: str
    percent: float
    """Hits of the attempts."""
    attempts: float
    """Per second."""
    source: Source


def cpus(facts: Facts) -> Mean | None:
    """The CPUs that the file system takes; `None` where neither T4 nor MONITOR tells."""
    ticks = mean_of(facts, "MON.FCP", "FCP Cpu")
    return Mean(round(ticks.value / TICKS, 2), ticks.source) if ticks else None


def told_by(facts: Facts) -> str:
    """Which export has the rates of the file system."""
    return "T4" if any(one.group == "MON.FCP" for one in facts.every(T4Column)) else "MONITOR FCP"


def _opened(facts: Facts, share: Share) -> str:
    """The file that is opened so often, by name: where opens have most of it, and this file most of them."""
    kinds = by_kind(share)
    tree = busiest(share, FILE_ACCESS) if next(iter(kinds), "") == FILE_ACCESS else None
    if tree is None or not known(tree.total) or 2 * tree.total < kinds[FILE_ACCESS]:
        return ""
    named = name_of(facts, tree.resource)
    return named.name if named and named.sure else ""


def looked_up(facts: Facts) -> str:
    """That files are looked up and opened and hardly made or extended, as a clause; empty where nothing tells so."""
    made = [_rate(facts, name) for name in ("FCP Files created", f"FCP {ALLOCATIONS}", "FCP erases")]
    used = [_rate(facts, name) for name in ("FCP Filename lookups", "FCP Files opened")]
    if None in made[:2] or None in used:
        return ""
    made_rate, lookups, opened = sum(one or 0.0 for one in made), used[0] or 0.0, used[1] or 0.0
    if made_rate > FEW_MADE * (lookups + opened):
        return ""
    return (
        f"{in_prose(lookups)} lookups and {in_prose(opened)} opens per second, {in_prose(made_rate)} files created, "
        "extended or erased"
    )


def missing_caches(facts: Facts) -> list[Misses]:
    """The caches that have less than half of what is looked for, the worst first."""
    found = []
    for cache, parameter in HIT_BY.items():
        if (hits := cache_hits(facts, cache)) is None:
            continue
        percent, attempts = hits
        if attempts.value >= LEAST_ATTEMPTS and percent < FEW_HITS:
            found.append(Misses(cache, parameter, percent, attempts.value, attempts.source))
    return sorted(found, key=lambda one: one.percent)


def _rate(facts: Facts, name: str) -> float | None:
    found = mean_of(facts, "MON.FCP", name)
    return found.value if found else None


def by_kind(share: Share) -> dict[str, float]:
    """Lock requests per second of each kind of tree, the most first."""
    found: dict[str, float] = {}
    for tree in share.trees:
        kind = tree.resource.kind
        found[kind] = found.get(kind, 0.0) + (tree.total if known(tree.total) else 0.0)
    return dict(sorted(found.items(), key=lambda one: (-one[1], one[0])))


def busiest(share: Share, kind: str) -> LockTree | None:
    """The tree of this kind with most requests."""
    mine = [tree for tree in share.trees if tree.resource.kind == kind and known(tree.total)]
    return max(mine, key=lambda tree: (tree.total, tree.name), default=None)


def said(facts: Facts, share: Share) -> str:
    """What the trees are locked for, by kind, with the busiest volume or file, as clauses."""
    clauses = []
    for kind, rate in by_kind(share).items():
        tree = busiest(share, kind)
        if tree is None or kind not in WORDS:
            continue
        resource = tree.resource
        if kind == VOLUME and (used := looked_up(facts)):
            clauses.append(
                f"{in_prose(rate)}/s are below the locks of volumes (F11B$v), most for "
                f"{comment(resource.volume or '?', LONGEST_LABEL)}: {told_by(facts)} has {used}"
            )
            continue
        where = _file(facts, tree) if kind == FILE_ACCESS else comment(resource.volume or "?", LONGEST_LABEL)
        clauses.append(f"{in_prose(rate)}/s are for {WORDS[kind]}, most for {where}")
    return "; ".join(clauses)


def of_volume(facts: Facts, share: Share) -> LockTree | None:
    """The volume's tree that a title names, so that its figures are of that tree alone; `None` where it names none."""
    return busiest(share, VOLUME) if looked_up(facts) or next(iter(by_kind(share)), "") == VOLUME else None


def _opens_more(facts: Facts, *, lookups: bool = True) -> bool:
    """Whether there are more lookups and opens than files that are made, extended or erased.

    Without `lookups` opens are counted alone, as a file that is made or erased is looked up, too.
    """
    made = [_rate(facts, name) or 0.0 for name in ("FCP Files created", f"FCP {ALLOCATIONS}", "FCP erases")]
    names = ("FCP Filename lookups", "FCP Files opened")[not lookups :]
    return sum(_rate(facts, name) or 0.0 for name in names) > sum(made)


def what(facts: Facts, share: Share) -> str:
    """What it is, for a title."""
    does = "looking up and opening files" if looked_up(facts) else "opening, creating and extending files"
    tree = of_volume(facts, share)
    if tree and not looked_up(facts) and not _opens_more(facts):
        does = "creating, extending and deleting files"
    elif tree and not looked_up(facts) and not _opens_more(facts, lookups=False):
        does = "creating, extending, deleting and opening files"
    volume = tree.resource.volume if tree else None
    file = _opened(facts, share).rpartition("]")[2]
    if next(iter(by_kind(share)), "") == VOLUME and (small := extended(facts, share)):
        does = f"extending files by {small.by:.0f} blocks" if small.name else "extending files"
        file = small.name.rpartition("]")[2]
    on = f" on {comment(volume, LONGEST_LABEL)}" if volume else ""
    return f"{does}{on} (file system{f', as {file}' if file else ''})"


@dataclass(frozen=True)
class Small:
    """A file that is listed with a small extent on a volume where files are extended often."""

    name: str
    """Empty where no file of the volume is listed, so that its own extent alone is known."""
    command: str
    """As DCL takes its name."""
    by: float
    """Blocks, whole clusters of the volume."""
    more: int
    """Other listed files of the volume with as small an extent."""
    rate: float
    """Allocations per second of the node."""
    volume: Volume | None = None
    """Where the file has no extent of its own: whose extent it gets, unless a process or a program asks for another."""

    @property
    def larger(self) -> int:
        """Blocks with which about one extension a second is left (this project), in thousands."""
        return min(MOST_EXTENDED, 1_000 * ceil(self.rate * self.by / 1_000))

    @property
    def left(self) -> float:
        """Extensions per second with so many blocks, 1 at least: fewer are none to count on."""
        return max(1.0, self.rate * self.by / self.larger)


def extended(facts: Facts, share: Share) -> Small | None:
    """The file with the smallest extent on the busiest volume, where extensions are the load: not files that are made.

    A file without an extent of its own has that of its volume (SHOW DEVICE/FULL); of files alike the largest is named.
    Where none is listed, the volume's extent alone, if so few files are made that it is others that grow (`grown`).
    `None` where neither a file's nor the volume's extent was read.
    """
    tree, rate, made = busiest(share, VOLUME), *(_rate(facts, f"FCP {one}") for one in (ALLOCATIONS, "Files created"))
    if tree is None or rate is None or made is None or rate < OFTEN_EXTENDED or made > rate / 2:
        return None
    volume = _volume(facts, tree.resource.volume)
    default = _in_clusters(volume) if volume else 0.0
    here = [
        (one.extend_blocks or default, one)
        for one in facts.every(FileName)
        if is_volume(one.device, tree.resource.volume) and known(one.extend_blocks)
        if one.extend_blocks > 0 or default > 0
    ]
    least = min((by for by, _ in here), default=0.0)
    small = {one.name: one for by, one in here if by == least}
    if not small:
        alone = Small("", "", default, 0, rate, volume)
        grow = 0 < default < SMALL_EXTENT and rate > MOST_PER_FILE * made
        return alone if grow and alone.larger > default else None
    name = min(small, key=lambda one: (-_allocated(small[one]), one))
    of_volume = volume if not small[name].extend_blocks else None
    try:
        found = Small(comment(name, LONGEST_NAME), openvms_file(name), least, len(small) - 1, rate, of_volume)
    except Unquotable:
        return None
    return found if found.larger > least else None


def _allocated(file: FileName) -> float:
    return file.allocated_blocks if known(file.allocated_blocks) else 0.0


def _volume(facts: Facts, label: str | None) -> Volume | None:
    """The volume of this label, where one device alone has it and its extent was read."""
    volumes = [one for one in facts.also(Volume).every(Volume) if label and one.label.upper() == label.upper()]
    found = volumes[-1] if len({one.device for one in volumes}) == 1 else None
    return found if found and known(found.extend_blocks) else None


def _in_clusters(volume: Volume) -> float:
    """The volume's extent in whole clusters, blocks."""
    blocks, cluster = volume.extend_blocks, volume.cluster_blocks
    if not known(blocks) or not known(cluster) or cluster <= 0:
        return blocks if known(blocks) else 0.0
    return cluster * ceil(blocks / cluster)


def directory_waited_for(facts: Facts, share: Share) -> str:
    """The file or directory of the busiest volume for whose header most wait in LCKQUE, by name; empty without one."""
    tree = busiest(share, VOLUME)
    of = [
        (one.waiting, one)
        for one in facts.every(LockQueue)
        if one.resource.kind == FILE_SERIAL and known(one.waiting) and one.waiting > 0
        if tree and one.resource.volume == tree.resource.volume
    ]
    if not of:
        return ""
    queue = max(of, key=lambda one: one[0])[1]
    named = name_of(facts, queue.resource)
    if named and named.sure:
        return named.name
    directory = directory_called(facts, queue.file)
    return comment(directory.name, LONGEST_NAME) if directory else ""


def remedy(facts: Facts, share: Share) -> str:
    """What to do by the kind that has most, as sentences."""
    kind = next(iter(by_kind(share)), "")
    caches = "The ACP_ cache parameters are documented to cut its I/O; no source promises fewer locks."
    if kind == VOLUME and (small := extended(facts, share)):
        more = f" (and {small.more} more listed there with so small an extent)" if small.more else ""
        if small.volume:
            device = comment(small.volume.device, LONGEST_NAME)
            if not small.name:
                waits = volume_waits(facts)
                waiting = f", and {in_prose(waits)} requests/s wait for volume locks" if waits else ""
                return (
                    f"SET VOLUME/EXTENSION={small.larger} {device}: ({small.volume.extend_blocks:,.0f} blocks now, "
                    f"{small.by:.0f} with its clusters): {in_prose(small.rate)} allocations/s of so much are then "
                    f"about {in_prose(small.left)}{waiting}. Else SET RMS_DEFAULT/EXTEND_QUANTITY={small.larger} "
                    "before the program, or its FAB; a program's own extent stays."
                )
            return (
                f"SET VOLUME/EXTENSION={small.larger} {device}: ({small.volume.extend_blocks:,.0f} blocks now) and "
                f"SET FILE/EXTENSION={small.larger} {small.command}{more}: {in_prose(small.rate)} allocations/s of "
                f"{small.by:.0f} blocks are then about {in_prose(small.left)}. New files: SET RMS_DEFAULT"
                f"/EXTEND_QUANTITY={small.larger} or the program's FAB; a program's own extent stays."
            )
        return (
            f"SET FILE/EXTENSION={small.larger} {small.command}{more}: it grows by {small.by:.0f} blocks now, and of "
            f"{in_prose(small.rate)} allocations/s about {in_prose(small.left)} is left, where they are of such files. "
            "A program that asks for an extent of its own keeps that."
        )
    if kind == VOLUME and not looked_up(facts):
        if missing_caches(facts):
            return _fewer_files(facts, share)
        if wanted := grown(facts, share):
            return wanted
        tree = busiest(share, VOLUME)
        return f"{fewer_files(facts, tree.resource.volume if tree else None)} {OWN_VOLUMES if share.remote else caches}"
    if misses := missing_caches(facts):
        named = ", ".join(f"{one.parameter}{_now(facts, one.parameter)}{TO.get(one.parameter, '')}" for one in misses)
        return (
            f"{_keep_open(facts, share)}. Raise what misses ({named}; MIN_ lines in MODPARAMS.DAT, AUTOGEN, and "
            "perhaps a new MOUNT) and compare the hits: documented to cut the file system's I/O, not its locks."
        )
    return f"{_keep_open(facts, share)}, and look at {HOLDERS}. {caches}"


def grown(facts: Facts, share: Share) -> str:
    """Of files that are extended several times each: the extent that one extension would do with, as sentences.

    What a file gets on average, in whole extents of today (this project): what is larger is extended once more, and
    twice as much would be left unused in each file that is not cut when it is closed.
    """
    tree, rate, made = busiest(share, VOLUME), *(_rate(facts, f"FCP {one}") for one in (ALLOCATIONS, "Files created"))
    volume = _volume(facts, tree.resource.volume if tree else None)
    if volume is None or rate is None or not made or rate < OFTEN_EXTENDED:
        return ""
    if not PER_FILE <= rate / made <= MOST_PER_FILE:
        return ""
    by, waits = _in_clusters(volume), _rate(facts, VOLUME_WAITS)
    extent = min(MOST_EXTENDED, ceil(rate / made) * ceil(by))
    if extent <= by:
        return ""
    device, clusters = comment(volume.device, LONGEST_NAME), ""
    if known(volume.cluster_blocks) and volume.cluster_blocks > 1:
        clusters = f" in clusters of {volume.cluster_blocks:,.0f}"
    waiting = f", and {in_prose(waits)} requests/s wait for a volume's lock" if waits else ""
    return (
        f"SET VOLUME/EXTENSION={extent} {device}: ({volume.extend_blocks:,.0f} blocks now{clusters}): for each file "
        f"made there are {rate / made:.1f} allocations, {in_prose(rate)}/s in all ({told_by(facts)}){waiting}. For "
        f"these files alone: ALLOCATION {extent} in their FDL or program, or SET RMS_DEFAULT/EXTEND_QUANTITY={extent} "
        "before the program; an extent of its own stays, as do unused blocks."
    )


def fewer_files(facts: Facts, label: str | None) -> str:
    """What makes creating, extending and deleting on a volume less, as a sentence."""
    return (
        "Create, extend and delete fewer files there: keep one file open and append to it, or use work files again; "
        f"files that grow need larger extents ({_extents(facts, label)})."
    )


def _small(facts: Facts, label: str | None) -> FileName | None:
    """The listed file of a volume that is extended by the fewest blocks, where these are few; of some the largest."""
    here = [
        (one.extend_blocks, -_allocated(one), one.name, one)
        for one in facts.every(FileName)
        if is_volume(one.device, label) and known(one.extend_blocks) and 0 < one.extend_blocks < SMALL_EXTENT
    ]
    return min(here, key=lambda one: one[:3])[3] if here else None


def _extents(facts: Facts, label: str | None) -> str:
    """How extents are made larger, for the whole volume by its device and what it has now where that was read."""
    if file := _small(facts, label):  # an extent of its own goes before that of the volume
        by = f"{file.extend_blocks:.0f}" if known(file.extend_blocks) else ""
        return (
            f"SET FILE/EXTENSION=n {comment(file.name, LONGEST_NAME)}, {by} blocks now, if it grows: MONITOR FCP "
            "has the allocations a second"
        )
    found = _volume(facts, label)
    if found is None:
        return "SET FILE/EXTENSION, or SET VOLUME/EXTENSION=n for all files there"
    clusters = f" in clusters of {found.cluster_blocks:,.0f}" if known(found.cluster_blocks) else ""
    device = comment(found.device, LONGEST_NAME)
    return (
        f"SET VOLUME/EXTENSION=n {device}:, {found.extend_blocks:,.0f} blocks now{clusters}; SET FILE/EXTENSION for one"
    )


def to_raise(facts: Facts) -> str:
    """The parameters of the caches that miss, as they run, as a clause; empty where none misses."""
    names = [one.parameter for one in missing_caches(facts)]
    names += [INDEX] if "ACP_DIRCACHE" in names else []
    return " and ".join(f"{name}{_now(facts, name)}" for name in names)


def used(facts: Facts) -> tuple[Evidence, ...]:
    """How many files are looked up, opened, made and erased a second, as far as that was read; the most first."""
    names = ("FCP Filename lookups", "FCP Files opened", "FCP Files created", "FCP erases")
    read = [(name, found) for name in names if (found := mean_of(facts, "MON.FCP", name)) and found.value > 0]
    read.sort(key=lambda one: -one[1].value)
    return tuple(Evidence(name.removeprefix("FCP "), round(one.value, 1), "/s", one.source) for name, one in read)


def _fewer_files(facts: Facts, share: Share) -> str:
    """Of files that are made and a cache that misses: fewer files, then the cache; as sentences."""
    tree, directory = busiest(share, VOLUME), directory_waited_for(facts, share)
    volume = comment(tree.resource.volume or "there", LONGEST_LABEL) if tree else "there"
    split = f", and split {directory}, for which requests wait" if directory else ""
    raised = to_raise(facts)
    return (
        f"Create, extend and delete fewer files on {volume}: keep work files and use them again, larger extents "
        f"(SET FILE/EXTENSION){split}. Raise {raised} (MIN_ in MODPARAMS.DAT, AUTOGEN; perhaps a new MOUNT) and "
        "compare the hits: that cuts I/O, not locks."
    )


def large_directory(file: FileName | DirectorySize | None) -> FileName | DirectorySize | None:
    """The file, where it is a directory of very many blocks."""
    if file is None or not known(file.allocated_blocks) or not file.name.partition(";")[0].upper().endswith(".DIR"):
        return None
    return file if file.allocated_blocks >= LARGE_DIRECTORY else None


def directory_called(facts: Facts, name: str | None) -> DirectorySize | None:
    """The large directory of this name, as LCKQUE prints one, where a listing has its size without its id."""
    sizes = facts.also(DirectorySize).every(DirectorySize) if name else []
    found = [one for one in sizes if name and one.name.upper() == name.upper() and large_directory(one)]
    return found[-1] if found else None


def split(facts: Facts, directory: FileName | DirectorySize) -> str:
    """What to do about the header of a large directory that is waited for: its caches come after it, as they are."""
    held = f", {directory.files:,.0f} files" if known(directory.files) else ""
    caches = ", ".join(f"{name}{_now(facts, name)}" for name in OF_DIRECTORIES)
    caches = f"now: {caches}" if any(_now(facts, name) for name in OF_DIRECTORIES) else caches
    return (
        f"Move what is old out of {comment(directory.name, LONGEST_NAME)} ({in_blocks(directory)}{held}) to an "
        "archive, and split the rest into several directories, by day for example. Then check its caches ("
        f"{caches}), and raise only what is small (MIN_ in MODPARAMS.DAT, AUTOGEN): that cuts I/O, not locks."
    )


def in_blocks(directory: FileName | DirectorySize) -> str:
    """Its size, as `9,424 blocks`."""
    return f"{directory.allocated_blocks:,.0f} blocks" if known(directory.allocated_blocks) else "size not known"


def _now(facts: Facts, name: str) -> str:
    found = facts.latest(SysgenParameter, name=name)
    return f" {found.current:g}" if found and found.runs and known(found.current) else ""


def _keep_open(facts: Facts, share: Share) -> str:
    """Of opens, as a sentence without its full stop."""
    file, opens = _opened(facts, share), _rate(facts, "FCP Files opened")
    if not file:
        return "Keep files open over the work instead of opening them for each record or request"
    often = f" (this node opens {in_prose(opens)} files a second)" if opens else ""
    return f"Keep {file} open over the work instead of opening it for each record or request{often}"


def volume_waits(facts: Facts) -> float:
    """How often per second one waits for the lock of a volume; 0 where that was not counted."""
    return _rate(facts, VOLUME_WAITS) or 0.0


def growth(facts: Facts, share: Share) -> Iterator[Evidence]:
    """The rates behind the extent that is asked for, or behind the files that are made and deleted."""
    if of_volume(facts, share):
        rates = (
            ("files created", "FCP Files created"),
            ("allocations", f"FCP {ALLOCATIONS}"),
            ("erase operations", "FCP erases"),
        )
        for what, name in rates:
            if found := mean_of(facts, "MON.FCP", name):
                yield Evidence(f"{what} ({told_by(facts)}, mean)", round(found.value, 1), "/s", found.source)
        if found := mean_of(facts, "MON.FCP", VOLUME_WAITS):
            yield Evidence(
                f"waits for a volume's lock ({told_by(facts)}, mean)", round(found.value, 1), "/s", found.source
            )


def settings(facts: Facts) -> Iterator[Evidence]:
    """The caches that miss, and the parameters of all of them that run, as far as they were read."""
    for one in missing_caches(facts):
        told = f"of {in_prose(one.attempts)} attempts/s"
        yield Evidence(f"{one.cache} cache hits", round(one.percent, 1), f"% {told}", one.source, computed="from both")
    for name in CACHES:
        found = facts.latest(SysgenParameter, name=name)
        if found and found.runs and known(found.current):
            yield Evidence(name, found.current, "", found.source)


def _file(facts: Facts, tree: LockTree) -> str:
    named: Named | None = name_of(facts, tree.resource)
    return named.name if named and named.sure else place_of(tree.resource)
