"""Samples are missing inside a capture.

Finds: a time without samples inside a T4 file, and whether the node was booted in it: by the uptime of SHOW SYSTEM, or
by processes and locks that are at most half of what they were before.

Why it matters: means and percentiles are of the samples that are there. A peak in the hole is in none of them, and
where the node was booted they mix two states of it, whose settings need not be the same.

What to do: collect again without a hole; after a boot, judge the time before it and the time since on their own, and
find out why the node went down.

When to ignore it: where the collector was stopped on purpose in a quiet time.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from collectors.facts import Facts, known
from collectors.facts.openvms import Hole, MonitorSample, T4File
from rules.engine import percent, rule
from rules.finding import Clean, Evidence, Finding, NotApplicable, Outcome, Severity, Unknown, capitalized, joined
from rules.openvms._evidence.boots import AT, BOOT_FACTS, booted_within, last_boot
from rules.openvms._evidence.node import subject_of

T4_OVER = "a T4 composite CSV without a hole"
LINKS = ("https://wiki.vmssoftware.com/MONITOR_MODES",)


@dataclass(frozen=True)
class Limits:
    """How much may be missing."""

    missing_percent: float = percent(
        5.0, "this project: one sample of twenty; a restart of the collector at midnight takes fewer", of="the samples"
    )


@rule(needs=(), uses=BOOT_FACTS, links=LINKS, limits=Limits, sample=None)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Look at the composite files, as their figures are judged."""
    files = [one for one in facts.every(T4File) if one.kind == "composite" and one.start and one.rows]
    if not files:
        if facts.every(MonitorSample):
            yield NotApplicable("no T4 composite file: MONITOR prints no single samples in which a hole could show")
        else:
            yield Unknown.of(T4File)
        return
    boot = last_boot(facts)
    worst = max(files, key=lambda one: sum(hole.missing for hole in one.holes))
    missing = sum(hole.missing for hole in worst.holes)
    share = 100 * missing / (missing + worst.rows)
    booted = bool(booted_within(facts))
    if share < limits.missing_percent and not booted:
        yield Clean(f"{missing:,} of {missing + worst.rows:,} samples are missing, limit {limits.missing_percent:g} %")
        return
    longest = max(worst.holes, key=lambda hole: hole.missing, default=None)
    when = f" from {longest.start:%H:%M} to {longest.end:%H:%M}" if longest else ""
    inside = ", and the node was booted" if booted else ""
    hole = f"{missing:,} of {missing + worst.rows:,} samples are missing{when}"
    said = f"By its uptime the node was booted at {boot.strftime(AT).upper()}." if booted and boot else ""
    if booted and not boot:
        said = "No uptime was read: what is at most half of what it was is taken for a boot."
    yield Finding(
        subject=subject_of(facts),
        severity=Severity.ADVICE if booted else Severity.NOTE,
        title=f"{hole}{inside}" if missing else "The node was booted inside the capture",
        seen=joined(f"{hole}{f', the longest hole{when}' if len(worst.holes) > 1 else ''}.", _fallen(longest)),
        because="Means are of the samples that are there: what happened in the hole is in none of them."
        + (" What runs since the boot need not be what ran before it." if booted else ""),
        do=(
            "Collect again at the busy time, without a boot in it, with a spinlock trace where CPUs spin; and find out "
            "why the node went down (ANALYZE/CRASH_DUMP, operator log)."
            if booted
            else "Collect again, unbroken, where the missing time was a busy one."
        ),
        unknown=joined(said, "Whether the load was highest just before or in the hole no export shows."),
        again=True,
        evidence=(
            Evidence("samples missing", share, "% of the samples", worst.source, limits.missing_percent),
            *_levels(worst, longest),
        ),
    )
    if longest and not booted:
        yield Unknown.without("what happened in the hole", f"{T4_OVER}{when}")


def _fallen(hole: Hole | None) -> str:
    """What has fallen over it, as a sentence."""
    pairs = (("process count", hole.processes), ("locks", hole.locks)) if hole else ()
    told = [f"{name} {b:,.0f} before and {a:,.0f} after" for name, (b, a) in pairs if known(b) and known(a)]
    said = "; ".join(told)
    return f"{capitalized(said)}." if said else ""


def _levels(file: T4File, hole: Hole | None) -> Iterator[Evidence]:
    if hole and known(hole.processes[0]) and known(hole.processes[1]):
        yield Evidence("process count before the hole", hole.processes[0], "", file.source)
        yield Evidence("process count after the hole", hole.processes[1], "", file.source)
