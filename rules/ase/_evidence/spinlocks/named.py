"""Spinlocks of SAP ASE that have a name and no ratio: when they are dear enough to speak of, and how that is said.

Dear by its share of waits, as any other spinlock, or by its spins: a tenth of all of them, and so many each second
that they take a noticeable part of an engine. No source gives such a spinlock a figure of its own.
"""

from dataclasses import dataclass

from collectors.facts import Facts, known
from rules.ase._evidence.server import busy_of
from rules.ase._evidence.spinlocks.figures import Figure
from rules.ase._evidence.spinlocks.gates import (
    BUSY_ORIGIN,
    BUSY_PERCENT,
    METADATA_GRABS,
    SHARE_ORIGIN,
    SPINS_ORIGIN,
    SPINS_PER_ENGINE,
    SPINS_SHARE,
)
from rules.ase._evidence.spinlocks.ratio import LEAVE_IT, decides, refused, waited
from rules.ase._evidence.spinlocks.spin_severity import GROWS, spin_bound
from rules.engine import limit, percent
from rules.finding import Change, Clean, Evidence, Finding, Outcome, Severity, joined

PERCENT_ORIGIN = "practice: above 10-20 % a spinlock wants more instances (DbxTune); for this one no vendor figure"
GRABS_ORIGIN = "this project: with fewer grabs the per cent is of almost nothing"


@dataclass(frozen=True)
class Dear:
    """The limits such a spinlock is held against: those of each of its rules, which may add their own."""

    contention_percent: float = percent(10.0, PERCENT_ORIGIN, low=0.1)
    spins_share_percent: float = percent(SPINS_SHARE, SHARE_ORIGIN, low=1)
    spins_per_engine: float = limit(SPINS_PER_ENGINE, SPINS_ORIGIN, unit="spins/s")
    grabs_per_second: float = limit(METADATA_GRABS, GRABS_ORIGIN, unit="grabs/s")
    busy_percent: float = percent(BUSY_PERCENT, BUSY_ORIGIN)


def by_spins(facts: Facts, dear: Dear, figure: Figure) -> bool:
    """Whether it is dear by its spins in an interval."""
    lock = figure.lock
    if lock is None or not lock.of_interval or lock.spins_share is None:
        return False
    rate = lock.per_engine(busy_of(facts)[0])
    return lock.spins_share >= dear.spins_share_percent and rate is not None and rate >= dear.spins_per_engine


def quiet_of(facts: Facts, dear: Dear, figure: Figure) -> Outcome | None:
    """The quiet outcome, or `None` where the spinlock is dear."""
    floor = 0.0 if by_spins(facts, dear, figure) else dear.contention_percent
    quiet = refused(facts, figure.label, figure.contention, floor, busy_percent=dear.busy_percent, figure=figure)
    few = figure.too_few(dear.grabs_per_second)
    return quiet or (Clean(f"{figure.said}, but {few}") if few else None)


@dataclass(frozen=True)
class Advice:
    """What is said of such a spinlock beside its figures: the parts of a finding's text, with their proof."""

    because: str = ""
    do: str = ""
    unknown: str = ""
    evidence: tuple[Evidence, ...] = ()
    changes: tuple[Change, ...] = ()


def speak(
    facts: Facts, dear: Dear, figure: Figure, *, subject: str, advice: Advice, base: Severity = Severity.ADVICE
) -> Finding:
    """Make the finding: the figures, then the advice; where its spins can cost nothing, no advice.

    Unless it is contended, has most of the spins of busy engines, and the advice is scripted: then it is a cheap one.

    Since boot, and of a moment, it is a note.
    """
    contention = figure.contention if known(figure.contention) else 0.0
    lock = figure.lock
    own = [Evidence(f"{figure.label} contention", contention, "%", figure.source, dear.contention_percent)]
    if lock:
        own += lock.cost_evidence(dear.contention_percent)
    bound = spin_bound(facts, lock)
    grows = bound is not None and bound.grows and bool(advice.changes) and contention >= dear.contention_percent
    nothing = bound is not None and bound.nothing and not figure.since_boot and not grows
    if bound:
        own.append(bound.evidence)
    loud = Severity.ADVICE if grows else bound.severity(base) if bound else base
    return Finding(
        subject=subject,
        severity=Severity.NOTE if figure.since_boot or figure.short else loud,
        title=f"{figure.label}: {contention:g} % contended" + _spun(figure),
        seen=joined(waited(facts, figure, figure.label), lock.counted if lock else ""),
        because=joined("" if nothing else GROWS if grows else advice.because, bound.says if bound else ""),
        do=LEAVE_IT if nothing else advice.do,
        unknown=joined("" if lock else decides(facts), "" if nothing else advice.unknown, figure.aside),
        evidence=(*own, *advice.evidence),
        explains=() if nothing or grows else ("ase/engines_not_the_answer",),
        changes=() if nothing else advice.changes,
        weight=figure.weight,
        share=figure.share,
    )


def _spun(figure: Figure) -> str:
    lock = figure.lock
    return f", {lock.spins_share:.0f} % {lock.of_all}" if lock and lock.spins_share is not None else ""
