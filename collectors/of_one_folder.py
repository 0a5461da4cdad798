"""Exports of one folder that all name no server: they are taken for one, unless anything in them speaks against it.

What a DBA selects from monitoring tables says nothing of the server, so snapshots and the settings beside them often
come without a name. Judged singly they tell nothing: no interval, and no setting for a figure. Advice built from two
servers would be worse, so one thing that tells them apart keeps all of the folder apart: another release, a setting
with another value, a table read twice within a minute, over days or with counters that fall, or twice in files whose
names differ in more than what numbers a sample.
"""

import re
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import PurePath

from collectors.facts import Fact
from collectors.facts.ase import ConfigParameter, Server, Snapshot, SysmonSample
from collectors.group import Groups, by_folder, no_more_alone
from collectors.intervals.moments import CLEARLY, Moment, Part, moved_between
from collectors.read import Input

PRODUCT = "ase"
"""Exports of OpenVMS name their node but for a few listings, and a folder of them is often that of a cluster."""
SHORTEST, LONGEST = timedelta(seconds=30), timedelta(days=1)
"""This project: samples of one server are so far apart; nearer ones may be of two, and later ones of another week."""
TAKEN_FOR_ONE = (
    "no server's name was recognised in any of the {0} files of this folder, so they are taken for those of one: put "
    "those of another into a folder of their own"
)
NUMBERED = re.compile(
    r"(?:[\W_]*(?:[0-9]+|[ts](?=[0-9])|snap(?:shot)?|sample|before|after|start|end|first|second|am|pm))+$"
)
"""What numbers a sample at the end of a file's name: `spin_1`, `waits.t2`, `monSysWaits_0745`, `cache_before`."""


def join_folders(groups: Groups) -> None:
    """Put the nameless exports of each folder together, and say so."""
    for folder, found in by_folder(groups, PRODUCT).items():
        inputs = [one for _, group in found for one in group.inputs]
        if len(found) < 2 or any(group.named for _, group in found) or _differ(inputs):
            continue
        (_, first), *others = found
        first.name = folder.name or first.name
        for key, group in others:
            first.inputs += group.inputs
            del groups[key]
        no_more_alone(inputs)
        inputs[0].problems.append(TAKEN_FOR_ONE.format(len({one.file for one in inputs})))


OF_A_NODE = ("openvms/sysgen", "openvms/show_memory", "openvms/install_global")
OF_DISKS = "openvms/file_ids"
"""Names of files are of a disk, so of each node that has it."""
NO_NODE = (
    "no node's name was recognised in any of the {0} listings of this folder, each of another kind, so they are taken "
    "for those of one: put those of another into a folder of their own"
)


def join_listings(groups: Groups) -> None:
    """Put what one node's settings, memory and sections print together, where a folder has each once and no name."""
    for folder, found in by_folder(groups, "openvms").items():
        inputs = [one for _, group in found for one in group.inputs]
        kinds = [one.report for one in inputs if one.report in OF_A_NODE]
        others = any(one.report not in (*OF_A_NODE, OF_DISKS) for one in inputs)
        if len(found) < 2 or any(group.named for _, group in found) or others or "openvms/sysgen" not in kinds:
            continue
        if len(kinds) != len(set(kinds)):
            continue
        (_, first), *rest = found
        first.name = folder.name or first.name
        for key, group in rest:
            first.inputs += group.inputs
            del groups[key]
        no_more_alone(inputs)
        inputs[0].problems.append(NO_NODE.format(len({one.file for one in inputs})))


def _differ(inputs: Sequence[Input]) -> bool:
    """Whether anything says that they are of more than one server, or of times that do not belong together."""
    facts = [fact for one in inputs for fact in one.facts]
    releases = {fact.version for fact in facts if isinstance(fact, Server) and fact.version}
    return len(releases) > 1 or _settings_differ(inputs) or _samples_differ(inputs) or _reports_overlap(facts)


def _reports_overlap(facts: Iterable[Fact]) -> bool:
    """Whether two reports of sp_sysmon are of one time: no server makes two at once that count the same."""
    times = [(one.start, one.end) for one in facts if isinstance(one, SysmonSample) and one.start and one.end]
    return any(later[0] < earlier[1] for earlier, later in pairwise(sorted(times)))


def _settings_differ(inputs: Iterable[Input]) -> bool:
    """Whether a setting has two values, or one listing came twice: of two servers, or of two days."""
    values: dict[str, float | None] = {}
    listings: list[frozenset[str]] = []
    for one in inputs:
        settings = [fact for fact in one.facts if isinstance(fact, ConfigParameter)]
        if any(values.setdefault(each.name, each.run_number) != each.run_number for each in settings):
            return True
        listings += [frozenset(each.name for each in settings)] if settings else []
    return len(listings) != len(set(listings))


def _samples_differ(inputs: Sequence[Input]) -> bool:
    """Whether two files hold one table, and are not called, timed and counted as two samples of one server are."""
    parts = [
        (one, Moment([Part(number, one, snapshot, one.facts)]))
        for number, one in enumerate(inputs)
        for snapshot in [fact for fact in one.facts if isinstance(fact, Snapshot)][:1]
    ]
    of_table: dict[str, list[tuple[Input, Moment]]] = {}
    for one, moment in parts:
        for table in moment.parts[0].tables - {"snapshot", "server"}:
            of_table.setdefault(table, []).append((one, moment))
    for samples in of_table.values():
        if len({one.file for one, _ in samples}) < 2:
            continue
        called = {NUMBERED.sub("", PurePath(one.file).stem.casefold()) for one, _ in samples}
        timed = sorted(((time, at) for at, (_, one) in enumerate(samples) if (time := _time(one))))
        moments = [samples[at][1] for _, at in timed] if len(timed) == len(samples) else [one for _, one in samples]
        if len(called) > 1 or any(not _may_follow(one, other) for one, other in pairwise(moments)):
            return True
    return False


def _time(moment: Moment) -> datetime | None:
    taken = moment.snapshot.taken
    return taken.replace(tzinfo=None) if taken else None


def _may_follow(one: Moment, other: Moment) -> bool:
    """Whether the other may be the next sample of the same server: soon after it, and with counters that rose.

    Without times either may be the earlier one, but its counters must clearly be.
    """
    rises, falls = moved_between(one, other)
    earlier, later = _time(one), _time(other)
    if earlier is None or later is None:
        rises, falls = max(rises, falls), min(rises, falls)
    elif not SHORTEST <= later - earlier <= LONGEST:
        return False
    return rises > CLEARLY * falls or not falls
