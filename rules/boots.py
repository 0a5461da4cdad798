"""What runs is what is judged: one gate for all rules.

Any setting may have changed with a boot of the node or a start of the server. Figures of before it were measured under
settings that the export does not show, and those of now must not be joined to them: no change is made of them.
"""

from bisect import bisect_right
from dataclasses import replace
from datetime import datetime

from collectors.facts import Facts, Source
from collectors.facts.ase import ServerStart, Snapshot, SysmonSample
from collectors.facts.openvms import MonitorSample, Node, T4File
from rules.finding import Finding, Severity
from rules.openvms._evidence.boots import AT, MIXED, booted_since, booted_within

BOTH_SIDES = "before and after the boot together"
"""Behind the title of what a mean over a boot showed: it is of no one load."""


def of_this_boot(finding: Finding, facts: Facts) -> Finding:
    """The finding, without changes where it rests on figures of before the boot of the node or the server that runs."""
    within = facts.once(MonitorSample, booted_within)
    if within and any(one.source.file in facts.once(T4File, _captured) for one in finding.evidence):
        if finding.again:
            return replace(finding, ended=within)
        do = f"Nothing is to be changed for it: {within}, so {MIXED}."
        return replace(
            finding.keeping((), do),
            severity=min(finding.severity, Severity.ADVICE),
            title=f"{finding.title} ({BOTH_SIDES})",
            ended=within,
        )
    since = facts.once(Node, booted_since)
    captured = facts.once(T4File, _captured) if since else frozenset()
    if finding.changes and any(one.source.file in captured for one in finding.evidence):
        return finding.keeping((), f"Nothing is to be changed for it: {since}.")
    for start in facts.every(ServerStart):
        measured = facts.once(SysmonSample, _measured)
        ends = [end for one in finding.evidence if (end := _end_at(measured, one.source)) and end < start.at]
        if ends:
            return _before(finding, start, max(ends))
    return finding


def _before(finding: Finding, start: ServerStart, end: datetime) -> Finding:
    """A finding of before the start: a note where a newer capture decides; what was to be changed is not repeated."""
    do = f"These figures end at {end.strftime(AT).upper()} and are of before the start of the server at "
    do += f"{start.at.strftime(AT).upper()}: "
    if start.newer:  # listings of then may have been brought, and say what was set
        do += f"nothing is to be changed for them, the newer capture of {start.newer.strftime(AT).upper()} decides."
    else:
        do += "what was set then is not in the export, so nothing is to be changed for them; measure again."
    most = Severity.NOTE if start.newer else Severity.ADVICE
    return replace(
        finding.keeping((), do), severity=min(finding.severity, most), ended="the figures are of before the last start"
    )


def _captured(facts: Facts) -> frozenset[str]:
    """The files that T4 or MONITOR filled."""
    return frozenset(one.source.file for kind in (T4File, MonitorSample) for one in facts.every(kind))


Ends = dict[str, tuple[list[int], list[datetime | None]]]
"""By file: the first lines of its samples and snapshots, in order, and when each was measured."""


def _measured(facts: Facts) -> Ends:
    told: list[tuple[Source, datetime | None]] = [(one.source, one.end) for one in facts.every(SysmonSample)]
    told += [(one.source, one.taken) for one in facts.every(Snapshot)]
    found: Ends = {}
    told.reverse()  # of one line the first counts, so it has to come last
    for at, end in sorted(told, key=lambda one: one[0].first):
        lines, ends = found.setdefault(at.file, ([], []))
        lines.append(at.first)
        ends.append(end)
    return found


def _end_at(measured: Ends, source: Source) -> datetime | None:
    """When the figure of a line was measured: the end of the sample, or the time of the snapshot, last named above."""
    lines, ends = measured.get(source.file, ([], []))
    place = bisect_right(lines, source.first)
    return ends[place - 1] if place else None
