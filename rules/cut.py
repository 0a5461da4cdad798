"""Reports that are cut, or that contradict themselves: one gate for all rules.

Where a report of sp_sysmon ends without its last line, the block at its end may lack what a rule would have refused by,
as too few searches. Where its header gives two lengths that lie far apart, no rate is known. What rests on these
figures is advice at most, says so itself, and changes nothing.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from collectors.facts import Facts, Source
from collectors.facts.ase import SysmonSample, SysmonSection
from rules.finding import Finding, Severity
from rules.judging.times import MOST_UNSURE

CUT = (
    "The report ends in the very block that these figures are from, without an End of Report line, so what else stood "
    "there is not known"
)
TWO_LENGTHS = (
    "The header of the report contradicts itself: Sample Interval says {:,.0f} s, and its start and end lie {:,.0f} s "
    "apart, so no rate per second is known"
)


def whole_alone(finding: Finding, facts: Facts) -> Finding:
    """The finding; advice without changes where it rests on a report that is cut there, or contradicts itself."""
    why = next(_doubts(finding, facts), "")
    if not why:
        return finding
    says = f"{why}: bring a whole report. Until then nothing is to be changed for it, and this is no more than a hint. "
    says += f"It showed: {finding.title}." if finding.changes else finding.says
    return replace(finding.keeping((), says), severity=min(finding.severity, Severity.ADVICE))


def _doubts(finding: Finding, facts: Facts) -> Iterator[str]:
    for sample in facts.every(SysmonSample):
        sections = [one.source for one in facts.every(SysmonSection) if one.source.file == sample.source.file]
        inside = [one.source for one in finding.evidence if _within(one.source, sections)]
        if not inside:
            continue
        if not sample.complete and any(at.last >= _last_figure(facts, sections) for at in inside):
            yield CUT
        if sample.start and sample.end and sample.seconds:
            between = (sample.end - sample.start).total_seconds()
            if abs(between - sample.seconds) > MOST_UNSURE * max(between, sample.seconds):
                yield TWO_LENGTHS.format(sample.seconds, between)


def _within(source: Source, sections: Sequence[Source]) -> bool:
    return any(one.file == source.file and one.first <= source.first <= one.last for one in sections)


def _last_figure(facts: Facts, sections: Sequence[Source]) -> int:
    """The last line of a report of which a fact was made."""
    read = (fact.source for fact in facts if not isinstance(fact, SysmonSection | SysmonSample))
    return max((at.last for at in read if _within(at, sections)), default=0)
