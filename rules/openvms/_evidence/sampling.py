"""How many samples stand behind a figure of T4 or MONITOR, and how much time.

Processor modes are counted in ticks of 10 ms, so one second has 100 of them per CPU: a share of 50 % of a CPU is known
to ±5 points from one second, to ±0.65 from a minute. A change that takes a CPU away needs more than one moment.
No minimum is published for a dedicated lock manager: MONITOR recordings of 20 s and T4's 60 s are advice on the length
of one sample (CA MICS guide; T4), AUTOGEN asks for 24 hours of uptime. The minima here are this project's own.
"""

from dataclasses import dataclass

from collectors.facts import Facts, Source, known
from collectors.facts.openvms import MonitorSample, T4File
from rules.sample import COARSE, LeastSample, samples_agree, samples_needed

SAMPLE_FACTS = (T4File, MonitorSample)
"""What a rule that uses this module has to declare."""
LEAST_SAMPLES, LEAST_MINUTES = 30, 10.0
"""This project: from here on a figure is sustained enough to take a CPU from other work."""
LEAST_FOR_P95 = 20
"""Arithmetic: of fewer samples the 95th percentile is the highest one, or nearly."""


def least(samples: int, minutes: float) -> LeastSample:
    """What the engine holds a rule's sample against, of the rule's own limits."""
    return LeastSample(60.0 * minutes, samples, "this project: no minimum is published")


@dataclass(frozen=True)
class Sampled:
    """What one file of T4 or one output of MONITOR covers."""

    samples: int | None
    seconds: float | None
    called: str = "samples"
    """`screens` of a captured session: each shows one sample, and an average over an unknown time before it."""
    untold: bool = False
    """One screen that averages over several samples and does not tell over how many."""

    @property
    def said(self) -> str:
        """`3 samples in 2 s`, as far as the export tells."""
        count = f"{self.samples:,} {self.called}" if self.samples is not None else f"an unknown number of {self.called}"
        return f"{count} in {self.seconds:,.0f} s" if self.seconds is not None else f"{count}, of unknown length"


def sampled(facts: Facts, source: Source) -> Sampled | None:
    """What the figures at `source` cover; `None` where no heading of T4 or MONITOR was read there."""
    covers: list[tuple[Source, Sampled]] = []
    for one in facts.every(T4File):
        seconds = None
        if one.start and one.end:
            seconds = (one.end - one.start).total_seconds() + (one.interval_seconds or 0.0)
        covers.append((one.source, Sampled(one.rows, seconds)))
    for sample in facts.every(MonitorSample):
        called = "screens" if sample.kind == "display" else "samples"
        covers.append((sample.source, Sampled(sample.samples, sample.seconds, called, sample.untold)))
    found = [
        what for at, what in covers if at.file == source.file and at.first <= source.last and source.first <= at.last
    ]
    return found[-1] if found else None


def too_short(facts: Facts, source: Source, least_samples: int, least_minutes: float) -> str | None:
    """Why the figures at `source` are too short, as a clause; `None` where they are long enough or nothing tells.

    Where the export tells of one of samples and time alone, that one decides. One screen that averages over an unknown
    time is not called too short: `rules.sample` makes its finding advice at most.
    """
    covered = sampled(facts, source)
    if covered is None or covered.untold:
        return None
    least_samples = samples_needed(least_samples, agree=samples_agree(facts, source.file))
    few = covered.samples is not None and covered.samples < least_samples
    brief = covered.seconds is not None and covered.seconds < 60 * least_minutes
    if not few and not brief and (covered.samples is not None or covered.seconds is not None):
        return None
    return f"{covered.said}, less than the {least_samples} samples over {least_minutes:g} minutes that this takes"


def percentile_told(facts: Facts, source: Source) -> bool:
    """Whether there are samples enough for a 95th percentile, or nothing tells how many there are."""
    covered = sampled(facts, source)
    return covered is None or covered.samples is None or covered.samples >= LEAST_FOR_P95


def coarse(facts: Facts, source: Source) -> float | None:
    """Seconds of one sample of the file of T4 or MONITOR at `source`, where they are so many that they hide peaks."""
    here = [one.interval_seconds for one in facts.every(T4File) if one.source.file == source.file]
    here += [
        one.interval_seconds if known(one.interval_seconds) else None
        for one in facts.every(MonitorSample)
        if one.source.file == source.file
    ]
    lengths = [seconds for seconds in here if seconds is not None and seconds >= COARSE]
    return min(lengths) if lengths and len(lengths) == len(here) else None
