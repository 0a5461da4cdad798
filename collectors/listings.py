"""Which listings count for a sample: an untimed listing says what is set, but not when.

Nearest first: a listing in the sample's own file, then one in its own folder, then any other of the system. Of several
as near as each other that disagree none counts, because nobody can say which of them was in force during the sample.
Last come the settings that lie with another sample of the same day, where this one has no such listing of its own.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePath
from typing import Any

from collectors.facts import Fact, Missing
from collectors.facts.ase import (
    CacheBinding,
    CachePool,
    ConfigParameter,
    MemoryHeadroom,
    NamedCache,
    Server,
    TableScheme,
)
from collectors.facts.openvms import (
    Cpu,
    DirectorySize,
    FastpathDevice,
    FileName,
    KernelService,
    MemoryUse,
    Node,
    SysgenParameter,
    Volume,
)
from collectors.facts.rdb import Database
from collectors.partial import completed
from collectors.read import Input

IN_FILE, IN_FOLDER, ELSEWHERE, OF_DAY = range(4)
MOST_NAMED = 5
"""So many of the values that disagree are named; the others are counted."""

OF_FILES = (FileName, DirectorySize, Volume)
"""Attributes of files and volumes: no setting of a node, and as good as any listing where a screen is in its file."""
OF_MEMORY = MemoryUse
"""Neither setting nor figure of an interval: of the day it counts as the settings do, for its machine is the same."""
Unit = tuple[str, ...]
"""What is believed or left out as a whole: kind of report, kind of object, name."""


class Listings:
    """The untimed listings of one system, and the samples they may belong to."""

    def __init__(self, listings: Sequence[Input], timed: Iterable[Input]) -> None:
        """Find for each listing how near its nearest sample is: that near its samples must be."""
        files = {one.file for one in timed}
        folders = {_folder(file) for file in files}
        self.files = files
        self.of_file: dict[str, list[Input]] = {}
        self.of_folder: dict[PurePath, list[Input]] = {}
        self.of_all: list[Input] = []
        for one in listings:
            if one.file in files:
                self.of_file.setdefault(one.file, []).append(one)
            elif _folder(one.file) in folders:
                self.of_folder.setdefault(_folder(one.file), []).append(one)
            else:
                self.of_all.append(one)
        self.of_files: dict[PurePath, list[Input]] = {}
        """Listings of files and volumes alone that lie in the files of samples, by folder."""
        for one in (one for several in self.of_file.values() for one in several):
            if one.facts and all(isinstance(fact, OF_FILES) for fact in one.facts):
                self.of_files.setdefault(_folder(one.file), []).append(one)
        self.settled: dict[tuple[int, ...], list[Fact]] = {}
        self.settings: dict[int, Input] = {}
        """The settings alone of a listing, by its identity: `known_by` needs the same object each time."""

    def beside(self, sample: Iterable[Input], of_day: Iterable[Input] = ()) -> list[Fact]:
        """The facts of the listings that count for a sample; what was left out becomes a problem of its inputs.

        `of_day`: the inputs of other samples of the same day, whose settings and memory count where this one has no
        such listing.
        """
        files = list(dict.fromkeys(one.file for one in sample))
        folders = list(dict.fromkeys(map(_folder, files)))
        near = [(ELSEWHERE, one) for one in self.of_all]
        near += [(IN_FOLDER, one) for folder in folders for one in self.of_folder.get(folder, ())]
        near += [(IN_FILE, one) for file in files for one in self.of_file.get(file, ())]
        own = {one.report for _, one in near}
        near = [
            *((IN_FOLDER, one) for folder in folders for one in self.of_files.get(folder, ()) if one.report not in own),
            *near,
        ]
        near = [*self._of_day(of_day, {one.report for _, one in near}, set(files), set(folders)), *near]
        known_by = tuple(id(one) for _, one in near)  # self keeps them alive, so no id is used twice
        if known_by not in self.settled:
            self.settled[known_by] = _settle(near, self.files)
        return self.settled[known_by]

    def _of_day(
        self, others: Iterable[Input], reports: Collection[str | None], files: set[str], folders: set[PurePath]
    ) -> Iterator[tuple[int, Input]]:
        """Settings and memory, and nothing else, that lie with other samples of the day, of none of these reports."""
        of_files = list(dict.fromkeys(one.file for one in others))
        of_folders = list(dict.fromkeys(map(_folder, of_files)))
        found = [one for folder in of_folders if folder not in folders for one in self.of_folder.get(folder, ())]
        found += [one for file in of_files if file not in files for one in self.of_file.get(file, ())]
        for one in found:
            if one.report not in reports:
                settings = [f for f in one.facts if _unit(one, f) is not None or isinstance(f, OF_MEMORY)]
                yield OF_DAY, self.settings.setdefault(id(one), replace(one, facts=settings))


def _folder(file: str) -> PurePath:
    return PurePath(file).parent


@dataclass
class _Witness:
    """One listing; or all listings of a file without samples, where a later one is simply the newer."""

    near: int
    file: str
    inputs: list[Input] = field(default_factory=list)
    said: dict[Unit, dict[object, dict[str, Any]]] = field(default_factory=dict)

    def add(self, one: Input) -> None:
        """Take in what a listing says."""
        self.inputs.append(one)
        for fact in one.facts:
            if (unit := _unit(one, fact)) is not None:
                part, values = _values(fact)
                self.said.setdefault(unit, {}).setdefault(part, {}).update(values)

    def object_to(self, problem: str) -> None:
        """Note a problem, once, with each listing."""
        for one in self.inputs:
            if problem not in one.problems:
                one.problems.append(problem)


def _settle(near: Sequence[tuple[int, Input]], timed_files: set[str]) -> list[Fact]:
    """The facts of these listings, the farthest first, without those that cannot be believed."""
    witnesses: dict[object, _Witness] = {}
    for number, (distance, one) in enumerate(near):
        who = number if one.file in timed_files else one.file
        witnesses.setdefault(who, _Witness(distance, one.file)).add(one)
    refused = _refused(list(witnesses.values()))
    return completed(
        (one.report or "", kept) for _, one in near for kept in _kept(one, refused.get(id(one), frozenset()))
    )


def _kept(one: Input, refused: Collection[Unit]) -> Iterator[Fact]:
    for fact in one.facts:
        unit = _unit(one, fact) if refused else None
        if unit is None or unit not in refused:
            yield fact
        elif isinstance(fact, Node):  # whose listing it is was not in doubt
            yield Node(source=fact.source, name=fact.name)
        elif isinstance(fact, Server) and fact.name:
            yield Server(source=fact.source, name=fact.name)


def _refused(witnesses: Sequence[_Witness]) -> dict[int, set[Unit]]:
    """What must be left out of each input; says so in the inputs concerned."""
    refused: dict[int, set[Unit]] = {}
    disputes: dict[tuple[int, ...], list[Unit]] = {}
    outdone: dict[tuple[int, int], list[Unit]] = {}
    speakers: dict[Unit, list[int]] = {}
    for number, witness in enumerate(witnesses):
        for unit in witness.said:
            speakers.setdefault(unit, []).append(number)
    for unit, numbers in speakers.items():
        nearest = min(witnesses[number].near for number in numbers)
        first = [number for number in numbers if witnesses[number].near == nearest]
        if _disagree([witnesses[number].said[unit] for number in first], unit):
            disputes.setdefault(tuple(first), []).append(unit)
            out = numbers
        else:
            ours = [witnesses[number].said[unit] for number in first]
            out = [n for n in numbers if n not in first and _disagree([*ours, witnesses[n].said[unit]], unit)]
            for number in out:
                outdone.setdefault((number, first[-1]), []).append(unit)
        for number in out:
            for one in witnesses[number].inputs:
                refused.setdefault(id(one), set()).add(unit)
    for numbers_of, units in disputes.items():
        for number in numbers_of:
            others = list(dict.fromkeys(witnesses[n].file for n in numbers_of if n != number))
            rest = f" and {len(others) - 2} more" if len(others) > 2 else ""
            beside = " and ".join(others[:2]) + rest if others != [witnesses[number].file] else "another of this file"
            witnesses[number].object_to(
                f"says otherwise than {beside} about {_named(units)}: nothing tells which was in force during the "
                "sample, so none of them was used"
            )
    for (number, nearer), units in outdone.items():
        witnesses[number].object_to(
            f"says otherwise than {witnesses[nearer].file} about {_named(units)}: that one lies nearer to the sample "
            "and counts there"
        )
    return refused


def _disagree(statements: Sequence[dict[object, dict[str, Any]]], unit: Unit) -> bool:
    """Whether two statements give different values, or list different parts of what every listing prints whole."""
    if len(statements) < 2:
        return False
    if unit[1] in ("cache", "pools of cache", "fast path") and len({frozenset(said) for said in statements}) > 1:
        return True
    seen: dict[tuple[object, str], Any] = {}
    for said in statements:
        for part, values in said.items():
            for name, value in values.items():
                given = value is not None and not isinstance(value, Missing)
                if given and seen.setdefault((part, name), value) != value:
                    return True
    return False


def _unit(one: Input, fact: Fact) -> Unit | None:
    """To what a fact belongs; `None` for what is no setting. Only reports of one kind are held against each other."""
    report = one.report or ""
    match fact:
        case ConfigParameter():
            return (report, "parameter", fact.name, fact.instance or "")
        case SysgenParameter():
            return (report, "parameter", fact.name)
        case NamedCache():
            return (report, "cache", fact.name, str(fact.instance))
        case CachePool():  # syscacheinfo and syspoolinfo are two tables, often in two files: each prints its own whole
            kind = "pools of cache" if report == "ase/syscacheinfo" else "cache"
            return (report, kind, fact.cache, str(fact.instance))
        case CacheBinding():
            parts = (fact.database, fact.owner, fact.table, fact.index)
            return (report, "cache of", *(part or "" for part in parts))
        case TableScheme():
            return (report, "lock scheme of", fact.database or "", fact.owner or "", fact.table)
        case MemoryHeadroom():
            return (report, "free memory")
        case FastpathDevice() | KernelService():
            return (report, "fast path")
        case Cpu():
            return (report, "CPUs")
        case Node():
            return (report, "node")
        case Database():
            return (report, "database", (fact.database or "").upper())
        case Server():
            return (report, "server")
    return None


def _values(fact: Fact) -> tuple[object, dict[str, Any]]:
    """Which part of its unit a fact speaks of, and what it says that is no matter of the moment."""
    match fact:
        case ConfigParameter():
            return "", {"config": fact.config_value, "run": fact.run_value}
        case SysgenParameter():
            return "active" if fact.runs else fact.in_use, {"current": fact.current}
        case CachePool():
            return fact.io_size_kb, {name: value for name, value in vars(fact).items() if name != "source"}
        case CacheBinding():
            return "", {"cache": fact.cache, "valid": fact.valid}
        case TableScheme():
            return "", {"scheme": fact.scheme, "clustered": fact.clustered}
        case FastpathDevice():
            return fact.device, {"cpu": fact.cpu}
        case KernelService():
            return fact.service, {"cpu": fact.cpu}
        case Cpu():
            brief = {"state": fact.state, "primary": fact.primary}
            none = "none" if isinstance(fact.cothread, Missing) else fact.cothread
            return fact.number, brief | ({"cothread": none, "fastpath": fact.fastpath} if fact.full else {})
        case Database():
            return "", {name: value for name, value in vars(fact).items() if name not in ("source", "at", "called")}
        case Node():
            return fact.name.upper(), {
                name: getattr(fact, name) for name in ("hardware", "version", "active_cpus", "memory_mb")
            }
    return "", {name: value for name, value in vars(fact).items() if name != "source"}


def _named(units: Sequence[Unit]) -> str:
    """`number of engines at startup, cache orders and 3 more`."""
    words = {"fast path": "the CPUs of devices and services", "node": "the node", "server": "release and page size"}
    said = [_name(unit, words) for unit in units]
    rest = f" and {len(said) - MOST_NAMED} more" if len(said) > MOST_NAMED else ""
    return ", ".join(said[:MOST_NAMED]) + rest


def _name(unit: Unit, words: dict[str, str]) -> str:
    match unit[1]:
        case "cache" | "pools of cache":
            return f"{unit[1]} {unit[2]}"
        case "parameter":
            return unit[2]
        case "database":
            return f"the attributes of {unit[2] or 'the database'}"
        case "cache of" | "lock scheme of":
            return f"the {unit[1]} {'.'.join(part for part in unit[2:] if part)}"
    return words.get(unit[1], unit[1])
