"""How long a capture was measured, and what a rule needs of it: one gate for all rules.

A moment is not the work: five seconds of sp_sysmon or three one-second samples of MONITOR show what happened to run.
Below what a rule declares, its finding is a note, without changes, and says what to collect; and nothing is in order.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

from collectors.facts import Fact, Facts, Source, known
from collectors.facts.ase import SysmonSample
from collectors.facts.openvms import MonitorSample, ProcessorModes, T4Column, T4File
from collectors.facts.rdb import EventLog, StatisticsWindow
from collectors.facts.zvm import PerfkitPage
from rules.finding import Clean, Finding, Severity, Unknown


@dataclass(frozen=True)
class LeastSample:
    """The least a rule needs before it says more than a note."""

    seconds: float
    samples: int
    origin: str
    """As of a limit: begins with `vendor`, `practice` or `this project`."""


COARSE = 900.0
"""Seconds of one sample of T4 or MONITOR: 15 minutes are for a history (CA MICS guide: 600 to 900 s), and an average of
them hides the minutes in which CPUs spin or locks are waited for (inference): nothing is called in order by them."""
AGREE_PERCENT = 25.0
"""This project: samples agree where MP synch and busy time range over no more than this of their means. Their standard
deviation is half of the range at most, so the mean of 15 such samples is known to 3 % (standard error, arithmetic)."""
LEAST = LeastSample(30.0, 1, "this project: a shorter interval shows a moment, not the work")
"""For every rule that declares nothing else."""


@dataclass(frozen=True)
class Sample:
    """One measured interval of one file."""

    file: str
    seconds: float | None
    samples: int | None
    kind: type[Fact]
    first: int | None = None
    """The line it begins at, where one file may hold several, each over a time of its own."""
    interval: float | None = None
    """Seconds of one of its samples, where it has several."""
    at_least: int | None = None
    """Of one screen that averages over several samples and does not tell how many: how many at least."""
    agree: bool = False
    """Whether the processor modes of all its samples agree."""

    @property
    def untold(self) -> str:
        """That it averages over a time that it does not tell, in words; nothing where it tells."""
        return f"an unknown number of samples, {self.at_least} or more by its figures" if self.at_least else ""

    def falls_short(self, least: LeastSample) -> str:
        """What it has too little of, in words; nothing where it is enough or not said."""
        if said := _length(self.seconds, least):
            return said
        if self.untold and least.samples > 1:
            return f"{self.untold} (at least {least.samples}"
        needed = samples_needed(least.samples, agree=self.agree)
        if self.samples is not None and self.samples < needed:
            return f"{self.samples} sample{'' if self.samples == 1 else 's'} (at least {needed}"
        return ""

    def brief(self, least: LeastSample) -> str:
        """The same for what is called in order: its time alone where that is known, as means are of counters that run.

        How many samples there are matters to a change, which one moment must not decide.
        """
        return self.falls_short(least) if self.seconds is None else _length(self.seconds, least)


def samples_of(facts: Facts) -> list[Sample]:
    """Every measured interval of a capture, by file."""
    return list(_samples(facts))


def _samples(facts: Facts) -> Iterator[Sample]:
    for sysmon in facts.every(SysmonSample):
        yield Sample(sysmon.source.file, sysmon.seconds, None, SysmonSample)
    for t4 in facts.every(T4File):
        length = t4.rows * t4.interval_seconds if t4.interval_seconds else None
        agree = samples_agree(facts, t4.source.file)
        yield Sample(t4.source.file, length, t4.rows, T4File, interval=t4.interval_seconds, agree=agree)
    for monitor in facts.every(MonitorSample):
        every = monitor.interval_seconds
        least = monitor.samples_at_least if monitor.untold else None
        file, agree = monitor.source.file, samples_agree(facts, monitor.source.file)
        yield Sample(file, monitor.seconds, monitor.samples, MonitorSample, interval=every, at_least=least, agree=agree)
    for page in facts.every(PerfkitPage):
        if known(page.seconds):  # INDICATE, QUERY CPLEVEL and the like have no interval: they are no sample
            yield Sample(page.source.file, page.seconds, None, PerfkitPage)
    for window in facts.every(StatisticsWindow):
        source = window.source
        yield Sample(source.file, window.elapsed_seconds, None, StatisticsWindow, source.first)
    for kind, rows in facts.by_type.items():
        last = rows[-1]
        if getattr(last, "of_interval", False) and (seconds := getattr(last, "seconds", None)) is not None:
            yield Sample(last.source.file, seconds, None, kind)


def samples_needed(least: int, *, agree: bool) -> int:
    """How many samples a rule needs: half of its minimum where all of them agree."""
    return -(-least // 2) if agree else least


def samples_agree(facts: Facts, file: str) -> bool:
    """Whether MP synch and busy time of all samples of a file of T4 or MONITOR lie close together.

    Where the file has no lowest and highest figure of both, nothing says so.
    """
    facts = facts.also(T4Column, ProcessorModes)
    columns = [one for one in facts.every(T4Column) if one.source.file == file and one.group.upper() == "MON.MODE"]
    spans = {one.name.casefold(): (one.minimum, one.mean, one.maximum) for one in columns}
    cpus = {}
    for modes in facts.every(ProcessorModes):
        if modes.source.file == file:
            cpus[modes.statistic] = modes
    if not spans and {"minimum", "mean", "maximum"} <= cpus.keys():
        three = [cpus[name] for name in ("minimum", "mean", "maximum")]
        low, mean, high = (one.mp_synch_percent for one in three)
        spans["mp synch"] = low, mean, high
        low, mean, high = (one.idle_percent for one in three)
        spans["idle time"] = low, mean, high
    active = cpus["mean"].cpus if "mean" in cpus else None
    if active is None or not known(active) or not {"mp synch", "idle time"} <= spans.keys():
        return False
    low, mean, high = spans["mp synch"]
    least, idle, most = spans["idle time"]
    if not (known(low) and known(mean) and known(high) and known(least) and known(idle) and known(most)):
        return False
    share = AGREE_PERCENT / 100
    return mean > 0 and high - low <= share * mean and most - least <= share * (100 * active - idle)


def longest(facts: Facts) -> float | None:
    """The longest time that any export covers, seconds; `None` where none says."""
    lengths = [one.seconds for one in samples_of(facts) if one.seconds]
    for log in facts.every(EventLog):
        if log.start and log.end:
            lengths.append((log.end - log.start).total_seconds())
    return max(lengths, default=None)


def _behind(source: Source, samples: Iterable[Sample]) -> list[Sample]:
    """The samples that a figure may be of: all of its file, or the one that begins last above its line."""
    mine = [one for one in samples if one.file == source.file]
    above = [one.first for one in mine if one.first is not None and one.first <= source.first]
    return [one for one in mine if one.first == max(above)] if above else mine


def gated(finding: Finding, least: LeastSample, samples: list[Sample]) -> Finding:
    """The finding, or a note without changes where the figures it rests on were measured for too short a time.

    It rests on the figures that were held against a limit; on all of them where none was. A screen that averages over
    an unknown time is no moment: what rests on it, or is as loud as what is lost by it, keeps its changes and is advice
    at most. Who waits at this moment, for as long as they have, is no mean: that stays, where it changes no setting.
    """
    if finding.urgent and not finding.changes:
        return finding
    judged = [one.source for one in finding.evidence if one.limit is not None]
    sources = judged or [one.source for one in finding.evidence]
    short = _short(sources, samples, lambda one: "" if one.untold else one.falls_short(least))
    if short is None:
        loud_by = [one.source for one in finding.evidence] if finding.cost else sources
        if untold := _short(loud_by, samples, lambda one: one.untold):
            said = (
                f"The screen averages over {untold[0]}: see that these are of the busy time before you change anything."
            )
            return replace(finding.adding(unknown=said), severity=min(finding.severity, Severity.ADVICE))
        return finding
    do = f"These figures cover {short[0]} are needed; {least.origin}): this is a note, so change nothing for "
    do += f"it. Collect a longer sample: {short[1]}"
    return replace(finding.keeping((), do), severity=Severity.NOTE)


def in_order(clean: Clean, least: LeastSample, samples: list[Sample]) -> Clean | Unknown:
    """The verdict, or unknown where what it rests on was measured for too short a time to call anything in order."""
    short = None
    if clean.span and (said := _length(clean.span.seconds, least)):
        short = said, clean.span.command
    short = short or _short(clean.measured, samples, lambda one: one.brief(least))
    if short is None and (coarse := _coarse(clean.measured, samples)):
        why = f"{clean.why}; in samples of {coarse[0]:,.0f} s, which hide shorter peaks"
        return Unknown.without("samples of a minute or less", coarse[1], why)
    if short is None:
        return clean
    why = f"{clean.why}; measured for {short[0]}; {least.origin})"
    return Unknown.without("a longer sample", short[1], why)


def _coarse(sources: Iterable[Source], samples: list[Sample]) -> tuple[float, str] | None:
    """Of the first figure all of whose samples are long ones: how long, and what to collect instead."""
    for source in sources:
        mine = _behind(source, samples)
        long = [one.interval for one in mine if one.interval is not None and one.interval >= COARSE]
        if mine and len(long) == len(mine):
            return min(long), mine[0].kind.COLLECTED_BY
    return None


def _short(sources: Iterable[Source], samples: list[Sample], lacks: Callable[[Sample], str]) -> tuple[str, str] | None:
    """Of the first figure all of whose samples fall short: what they lack, and what to collect instead."""
    for source in sources:
        mine = _behind(source, samples)
        short = [why for one in mine if (why := lacks(one))]
        if mine and len(short) == len(mine):
            return short[0], mine[0].kind.COLLECTED_BY
    return None


def _length(seconds: float | None, least: LeastSample) -> str:
    return (
        f"{seconds:,.0f} s (at least {least.seconds:,.0f} s" if seconds is not None and seconds < least.seconds else ""
    )
