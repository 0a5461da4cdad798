"""What runs is what is judged: one gate for all rules.

Any setting may have changed with a boot of the node or a start of the server. Figures of before it were measured under
settings that the export does not show, and those of now must not be joined to them: no change is made of them.
"""

from dataclasses import replace
from datetime import datetime

from collectors.facts import Facts, Source
from collectors.facts.ase import ServerStart, Snapshot, SysmonSample
from collectors.facts.openvms import MonitorSample, Node, T4File
from rules.finding import Finding, Severity
from rules.judging.openvms.boots import AT, booted_since


def of_this_boot(finding: Finding, facts: Facts) -> Finding:
    """The finding, without changes where it rests on figures of before the boot of the node or the server that runs."""
    since = facts.once(Node, booted_since)
    captured = {one.source.file for kind in (T4File, MonitorSample) for one in facts.every(kind)} if since else ()
    if finding.changes and any(one.source.file in captured for one in finding.evidence):
        says = f"{finding.says} Nothing is to be changed for it: {since}."
        return finding.keeping((), says)
    for start in facts.every(ServerStart):
        ends = [end for one in finding.evidence if (end := _measured(facts, one.source)) and end < start.at]
        if ends:
            return _before(finding, start, max(ends))
    return finding


def _before(finding: Finding, start: ServerStart, end: datetime) -> Finding:
    """A finding of before the start: a note where a newer capture decides; what was to be changed is not repeated."""
    newer = f"the newer capture of {start.newer.strftime(AT).upper()} decides" if start.newer else "measure again"
    says = f"These figures end at {end.strftime(AT).upper()} and are of before the start of the server at "
    says += f"{start.at.strftime(AT).upper()}: what was set then is not in the export, so nothing is to be changed for "
    says += f"them; {newer}."
    says += f" They showed: {finding.title}." if finding.changes else f" {finding.says}"
    most = Severity.NOTE if start.newer else Severity.ADVICE
    return replace(finding.keeping((), says), severity=min(finding.severity, most))


def _measured(facts: Facts, source: Source) -> datetime | None:
    """When the figure of a line was measured: the end of the sample, or the time of the snapshot, last named above."""
    told: list[tuple[Source, datetime | None]] = [(one.source, one.end) for one in facts.every(SysmonSample)]
    told += [(one.source, one.taken) for one in facts.every(Snapshot)]
    above = [(at.first, end) for at, end in told if at.file == source.file and at.first <= source.first]
    return max(above, key=lambda one: one[0])[1] if above else None
