"""Reports that are cut, or that contradict themselves: one gate for all rules.

Where a report of sp_sysmon ends without its last line, the block at its end may lack what a rule would have refused by,
as too few searches. Where its header gives two lengths that lie far apart, no rate is known. What rests on these
figures is advice at most, says so itself, and changes nothing.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from collectors.facts import Facts, Source
from collectors.facts.ase import SysmonSample, SysmonSection
from rules.ase._evidence.times import MOST_UNSURE
from rules.finding import Finding, Severity

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
    do = f"{why}: collect a whole report. Until then nothing is to be changed for it, and this is no more than a hint."
    return replace(finding.keeping((), do), severity=min(finding.severity, Severity.ADVICE))


def _doubts(finding: Finding, facts: Facts) -> Iterator[str]:
    samples = facts.every(SysmonSample)
    by_file = facts.once(SysmonSection, _sections) if samples else {}
    files = {one.source.file for one in finding.evidence}
    for sample in samples:
        if sample.source.file not in files:
            continue
        sections = by_file.get(sample.source.file, [])
        inside = [one.source for one in finding.evidence if _within(one.source, sections)]
        if not inside:
            continue
        if not sample.complete and any(at.last >= facts.once(SysmonSample, _last_figures)[at.file] for at in inside):
            yield CUT
        if sample.start and sample.end and sample.seconds:
            between = (sample.end - sample.start).total_seconds()
            if abs(between - sample.seconds) > MOST_UNSURE * max(between, sample.seconds):
                yield TWO_LENGTHS.format(sample.seconds, between)


def _within(source: Source, sections: Sequence[Source]) -> bool:
    return any(one.file == source.file and one.first <= source.first <= one.last for one in sections)


def _sections(facts: Facts) -> dict[str, list[Source]]:
    """The sections of each file."""
    found: dict[str, list[Source]] = {}
    for one in facts.every(SysmonSection):
        found.setdefault(one.source.file, []).append(one.source)
    return found


def _last_figures(facts: Facts) -> dict[str, int]:
    """By file: the last line within a section of which a fact was made; 0 where there is none."""
    by_file = facts.once(SysmonSection, _sections)
    found = dict.fromkeys(by_file, 0)
    for fact in facts:
        at = fact.source
        if at.last > found.get(at.file, at.last) and not isinstance(fact, SysmonSection | SysmonSample):
            found[at.file] = at.last if _within(at, by_file[at.file]) else found[at.file]
    return found
