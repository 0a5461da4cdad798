"""What the rules about spinlock ratios of SAP ASE have in common: when a figure may be acted on, and the next ratio.

A spinlock ratio says how many buckets or descriptors one spinlock guards. The gates are those of RULES.md: more than
one engine (with one engine every table has one spinlock and the ratios mean nothing), engines that have work, enough
activity, and the figure over its limit. Where nothing says how many engines there are, no script is given and nothing
is critical. sp_sysmon prints a per cent alone; grabs and spins would decide better, and every finding says so. Where
the spins are known they decide how loud it is, and whether anything is changed at all (`spin_severity`); where they are
not, but how many waited is, that number bounds it (`waits`). Since boot
nothing is critical, and no dynamic ratio is asked for: it may have been lowered since. Of a moment nothing is critical
either, and nothing is asked for.

Where the figure is far above what an even spread over the spinlocks can show at all (`most_contended_evenly`), a few
hot buckets or descriptors cause it: each lies under one spinlock whatever the ratio, so no ratio is asked for. Nor is
one where the spinlocks are listed one by one and a few of them have most of the waits (`uneven`).

Of the ratios that sources name the highest is asked for whose expected contention is under the limit, at once and not
one after the other: each step of a static ratio costs a restart.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import isnan

from collectors.facts import OVERFLOW, Facts, Reading, known
from collectors.facts.ase import ConfigParameter, MonSpinlockActivity
from rules.ase._evidence.server import (
    ENGINES_MISSING,
    busy_of,
    not_shown,
    setting_of,
    subject_of,
)
from rules.ase._evidence.spinlocks.figures import Figure
from rules.ase._evidence.spinlocks.gates import CRITICAL_USES
from rules.ase._evidence.spinlocks.spin_severity import SpinBound, spin_bound
from rules.ase._evidence.spinlocks.uneven import uneven
from rules.ase._evidence.spinlocks.waits import WaitBound, wait_bound
from rules.changes.ase_config import PARAMETERS, configure, waiting_number
from rules.finding import Change, Clean, Evidence, Expectation, Finding, Outcome, Severity, Unknown, Untrusted
from rules.laws.spinlocks import contention_after, most_contended_evenly, spinlocks
from rules.sample import LEAST

SWITCHES = "it needs enable monitoring and enable spinlock monitoring, which costs about 1 %"
"""What must be on in sp_configure before monSpinlockActivity holds anything."""
DECIDES = (
    "sp_sysmon prints no grabs and no spins, so this is ranked by its share: monSpinlockActivity (15.7 ESD#2 and "
    f"later) would show the cost; {SWITCHES}."
)
UNDECIDED = (
    "sp_sysmon prints no grabs and no spins, so this is ranked by its share: what it costs this release cannot show."
)


UNDER_ONE = "what is hot lies under one spinlock whatever the ratio. Look for the page, table or object that all want."
UNEVEN_TIMES = 10.0
"""This project: grabs never spread quite evenly, and two hot buckets under one spinlock are parted by a lower ratio;
ten times what the arithmetic allows for an even spread is left to that."""


@dataclass(frozen=True)
class Ratio:
    """One spinlock figure and the parameter that spreads it."""

    figure: Figure
    """Its label is what is contended, as a DBA calls it: `address lock hash table`."""
    parameter: str
    steps: Sequence[int]
    """Ratios that may be asked for, falling: the first one below the ratio in force that is expected to be enough."""
    guarded: float | None
    """How many buckets or descriptors there are to guard; `None` where the export does not say."""
    guarded_then: float | None = None
    """How many there will be after another change of the same restart, where one is asked for."""
    guarded_bring: str = ""
    about: bool = False
    """Whether the manual's own count differs from the arithmetic a little."""
    cautions: tuple[str, ...] = ()
    cure: str = ""
    """A better cure than the ratio, as a sentence."""
    spreads_too: str = ""
    """What spreads the grabs beside the ratio, as a sentence: not said where a few hot buckets cause it."""
    first: str = ""
    """What must be done before the ratio is touched, as a sentence: then no ratio is asked for."""
    spins_needed: str = ""
    """Why nothing may be changed by a share alone, as sentences: then only spins of an interval give a change."""


@dataclass(frozen=True)
class Thresholds:
    """The limits a ratio rule holds its figure against."""

    fires_percent: float
    critical_percent: float
    busy_percent: float
    per_second: float = 0.0
    above: bool = False
    """Whether the figure must lie above `fires_percent`, not on it."""
    base: Severity = Severity.WARNING
    """How loud a figure between the two limits is."""


def refused(
    facts: Facts,
    label: str,
    contention: Reading,
    limit_percent: float,
    *,
    busy_percent: float,
    above: bool = False,
    figure: Figure | None = None,
) -> Outcome | None:
    """The quiet outcome for a contention figure that must not be acted on, or `None` where it may.

    `figure`: where the contention was taken from one; then the outcome says what time it covers, and its aside.
    """
    engines, busy = busy_of(facts, interval=bool(figure and figure.of_interval))
    if contention is OVERFLOW:
        return Untrusted(f"{label}: printed as asterisks (1000 % or more cannot be a share of grabs)")
    if not known(contention):
        return Unknown.without(f"contention of {label}", 'sp_sysmon "00:10:00"', f"{label}: not in the report")
    if isnan(contention):
        return Untrusted(f"{label}: printed as no number")
    if contention < 0:
        return Untrusted(f"{label}: {contention:g} %: a 32-bit counter wrapped; take a shorter sample")
    if contention > 100:
        return Untrusted(f"{label}: {contention:g} % is more than all grabs; a counter wrapped or was cleared")
    said = figure.said if figure else f"{label} {contention:g} % contended"
    aside = f". {figure.aside}" if figure and figure.aside else ""
    if contention < limit_percent or (above and contention == limit_percent):
        return Clean(f"{said}, {'speaks above' if above else 'limit'} {limit_percent:g} %{aside}")
    if engines == 1:
        return Clean(f"{said}, but with one engine there is one spinlock and no ratio matters")
    if busy is not None and busy < busy_percent:
        return Clean(f"{said}, but the engines are {busy:.1f} % busy: nothing to gain")
    return None


def decides(facts: Facts) -> str:
    """What would show the cost of a spinlock known by its share alone, where this server has it."""
    return UNDECIDED if not_shown(facts, MonSpinlockActivity) else DECIDES


def at_work(facts: Facts, figure: Figure) -> str:
    """How many engines there are and how busy, as the end of a sentence; nothing where no export says."""
    engines, busy = busy_of(facts, interval=figure.of_interval)
    said = f" on {engines} engines" if engines else ""
    return said + (f" that are {busy:.0f} % busy on average" if busy is not None else "")


def judge_ratio(facts: Facts, gate: Thresholds, ratio: Ratio) -> Iterator[Outcome]:
    """Judge one spinlock figure and ask for the next ratio."""
    figure, contention = ratio.figure, ratio.figure.contention
    quiet = refused(
        facts,
        figure.label,
        contention,
        gate.fires_percent,
        above=gate.above,
        busy_percent=gate.busy_percent,
        figure=figure,
    )
    if quiet:
        yield quiet
        return
    assert known(contention)  # noqa: S101 - refused() has turned everything else away
    few = figure.too_few(gate.per_second)
    if few and figure.per_second == 0:
        yield Untrusted(f"{figure.said}, yet 0 {figure.uses} per second: the counters contradict each other")
        return
    if few:
        yield Clean(f"{figure.said}, but {few}")
        return
    setting = setting_of(facts, ratio.parameter)
    now = setting.run_number if setting else None
    engines, _ = busy_of(facts)
    bound = spin_bound(facts, figure.lock)
    waits = wait_bound(facts, figure) if bound is None else None
    nothing = bool((bound and bound.nothing) or (waits and waits.nothing))
    step = _Step(ratio.first) if ratio.first else _next_step(ratio, contention, gate.fires_percent, setting, now)
    spreads_too = ratio.spreads_too
    if nothing:
        step, spreads_too = _Step(""), ""
    elif step.change and now is not None and (hot := _hot_spots(ratio, contention, now, engines)):
        step, spreads_too = _Step(hot), ""
    elif step.change and (skew := uneven(figure.lock, gate.fires_percent)):
        step, spreads_too = _Step(f"{skew.says[0].upper()}{skew.says[1:]}. {_under_one(ratio)}"), ""
    elif step.change and (held := _held_back(ratio, bound, engines)):
        step = _Step(f"{held}: {step.says}")
    says = f"{contention:g} % of the grabs of the {figure.label} spinlocks had to wait{at_work(facts, figure)}."
    cost = f"{figure.lock.told} {bound.says if bound else ''}".strip() if figure.lock else decides(facts)
    alone = "" if engines else "The number of engines is not in the export: with one engine no ratio matters."
    told = (
        says,
        _by_spins(ratio, bound),
        step.says,
        spreads_too,
        "" if nothing else ratio.cure,
        alone,
        waits.says if waits else "",
        cost,
        figure.aside,
    )
    yield Finding(
        subject=subject_of(facts),
        severity=_severity(ratio, gate, contention, bound or waits, engines),
        title=f"{figure.label[0].upper()}{figure.label[1:]} spinlocks {contention:g} % contended",
        seen=" ".join(part for part in told if part),
        evidence=tuple(_evidence(ratio, gate, contention, setting, now, bound or waits)),
        explains=() if nothing else ("ase/engines_not_the_answer",),
        changes=(step.change,) if step.change else (),
        expects=step.expects,
        weight=figure.weight,
        share=figure.share,
    )
    if nothing:
        return
    if now is None:
        yield Unknown.without(ratio.parameter, f'sp_configure "{ratio.parameter}"')
    if not ratio.guarded and ratio.guarded_bring:
        yield Unknown.without(f"what {ratio.parameter} spreads", ratio.guarded_bring)
    if not engines:
        yield Unknown((ENGINES_MISSING,))


def _hot_spots(ratio: Ratio, contention: float, now: float, engines: int | None) -> str:
    """Why no ratio helps, where arithmetic excludes that the grabs spread over the spinlocks; else nothing."""
    if not engines or not ratio.guarded or ratio.guarded < 1 or now < 1:
        return ""
    number = spinlocks(ratio.guarded, now)
    most = most_contended_evenly(engines, number)
    if contention < UNEVEN_TIMES * most:
        return ""
    return (
        f"A lower {ratio.parameter} is not asked for: {engines} engines on {number:,} evenly used spinlocks can keep "
        f"each other waiting in {most:.2g} % of the grabs at most, so a few hot ones cause this, and {UNDER_ONE}"
    )


def _under_one(ratio: Ratio) -> str:
    """Why a few hot spinlocks are no reason for a lower ratio."""
    return f"A lower {ratio.parameter} is not asked for: {UNDER_ONE}"


def _held_back(ratio: Ratio, bound: SpinBound | None, engines: int | None) -> str:
    """On what condition the change may be made, where this export does not show enough for a script; else nothing."""
    figure = ratio.figure
    if not engines:
        return "Should there be more than one engine"
    if figure.since_boot and not PARAMETERS[ratio.parameter].static:
        return "Should an interval show the same (the ratio may be new)"
    if figure.short:
        return f"Should an interval of {LEAST.seconds:g} s or more show the same"
    if ratio.spins_needed and not _measured(bound):
        return "Should its spins in an interval take a measurable part of the engines' time"
    return ""


def _by_spins(ratio: Ratio, bound: SpinBound | None) -> str:
    """Where only spins give a change: why, and whether they are there."""
    if not ratio.spins_needed:
        return ""
    if _measured(bound):
        return f"{ratio.spins_needed} The spins of this interval show that they may cost time."
    return f"{ratio.spins_needed} Nothing is changed for a share alone: two snapshots of monSpinlockActivity decide."


def _measured(bound: SpinBound | None) -> bool:
    """Whether spins of an interval show that engines may lose time."""
    return bound is not None and bound.lock.of_interval and bool(bound.lock.seconds) and not bound.nothing


def _severity(
    ratio: Ratio, gate: Thresholds, contention: float, bound: SpinBound | WaitBound | None, engines: int | None
) -> Severity:
    """By the share, then by the spins where they are known, else by the waits."""
    figure = ratio.figure
    if figure.undated:
        return Severity.NOTE
    loud = Severity.CRITICAL if engines and not figure.since_boot and not figure.short else Severity.WARNING
    by_share = loud if contention >= gate.critical_percent else gate.base
    by_spins = bound if isinstance(bound, SpinBound) else None
    if ratio.spins_needed and not _measured(by_spins):
        by_share = min(by_share, Severity.ADVICE)
    if by_spins is None and known(figure.per_second) and figure.per_second < CRITICAL_USES * gate.per_second:
        by_share = min(by_share, Severity.WARNING)
    return bound.severity(by_share) if bound else by_share


def _evidence(
    ratio: Ratio,
    gate: Thresholds,
    contention: float,
    setting: ConfigParameter | None,
    now: float | None,
    bound: SpinBound | WaitBound | None,
) -> Iterator[Evidence]:
    figure = ratio.figure
    yield Evidence(f"{figure.label} spinlock contention", contention, "%", figure.source, gate.fires_percent)
    if known(figure.per_second):
        uses, where = f"{figure.label} {figure.uses}", figure.uses_source or figure.source
        yield Evidence(uses, figure.per_second, "/s", where, gate.per_second)
    if figure.lock:
        yield from figure.lock.cost_evidence(gate.fires_percent)
    if isinstance(bound, WaitBound):
        yield from bound.evidence
    elif bound:
        yield bound.evidence
    if setting and now is not None:
        yield Evidence(ratio.parameter, now, "", setting.source)


@dataclass(frozen=True)
class _Step:
    """The sentence about the next ratio; where it may be set the change, and what it should give."""

    says: str
    change: Change | None = None
    expects: tuple[Expectation, ...] = ()


def _next_step(
    ratio: Ratio, contention: float, goal: float, setting: ConfigParameter | None, now: float | None
) -> _Step:
    """The highest of the ratios that is expected to bring the contention under `goal`, or the lowest there is."""
    if now is None or setting is None:
        return _Step(f'The ratio in force is not in the export: sp_configure "{ratio.parameter}" shows it.')
    if now < 1:
        return _Step(f"{ratio.parameter} is shown as {now:g}, which no server can run with: list it again.")
    wanted = waiting_number(setting)
    static = PARAMETERS[ratio.parameter].static
    before_that = ""
    if wanted is not None and wanted < now:
        why = (
            "waits for a restart: measure after it." if static else f"{now:.0f} runs: see the error log for the reason."
        )
        return _Step(f"{ratio.parameter} is already configured to {wanted:.0f} and {why}")
    if wanted is not None and static:
        before_that = f"{wanted:.0f} is configured and the next restart would take it: the change replaces that. "
    lower = [step for step in ratio.steps if step < now]
    if not lower:
        left = "a lower ratio has nothing left to give." if now <= 1 else "this rule goes no lower."
        return _Step(f"{ratio.parameter} is already {now:.0f}: {left}")
    steps = [_Spread.of(ratio, now, step, contention) for step in lower]
    spread = next((one for one in steps if one.contention < goal), steps[-1])
    said = f"{before_that}Lower {ratio.parameter} from {now:.0f} to {spread.ratio}{spread.counted(ratio)}. "
    said += (
        f"Where the grabs spread evenly over what is guarded, about {spread.contention:g} % of them would wait then "
        "(in inverse proportion to the number of spinlocks, as the vendor expects of cache partitions)"
    )
    said += "." if spread.contention < goal else f": still not under {goal:g} %, and this rule goes no lower."
    cautions = (*ratio.cautions, spread.caution)
    return _Step(
        said,
        configure(ratio.parameter, now, spread.ratio, cautions=cautions, configured=wanted),
        tuple(spread.expects(ratio, contention)),
    )


@dataclass(frozen=True)
class _Spread:
    """What one lower ratio makes of the spinlocks and of their contention."""

    ratio: int
    contention: float
    """Expected, per cent."""
    before: int | None = None
    after: int | None = None
    """Spinlocks; `None` where the export does not say how much there is to guard."""

    @classmethod
    def of(cls, ratio: Ratio, now: float, new: int, contention: float) -> "_Spread":
        """Count the spinlocks, or take them as going with the inverse of the ratio."""
        if not ratio.guarded or ratio.guarded < 1:
            return cls(new, round(contention_after(contention, new, now), 1))
        before, after = spinlocks(ratio.guarded, now), spinlocks(ratio.guarded_then or ratio.guarded, new)
        return cls(new, round(contention_after(contention, before, after), 1), before, after)

    def counted(self, ratio: Ratio) -> str:
        """How many spinlocks become how many, as the end of a sentence."""
        if self.before is None or not ratio.guarded:
            return ""
        about = "about " if ratio.about else ""
        there = f"{ratio.guarded:.0f}" if ratio.guarded_then is None else f"{ratio.guarded_then:.0f} then"
        return f": {there} to guard, so {about}{self.before} spinlocks become {about}{self.after}"

    @property
    def caution(self) -> str:
        """What the change costs."""
        more = "More spinlocks" if self.before is None or self.after is None else f"{self.after - self.before:,} more"
        more += "" if self.before is None else " spinlocks"
        return (
            f"{more} take a little memory each, how much is in no source: Memory Used of the parameter shows it "
            "afterwards. One spinlock less contended may make another the most expensive one: measure again."
        )

    def expects(self, ratio: Ratio, contention: float) -> Iterator[Expectation]:
        """What should be seen afterwards."""
        label = ratio.figure.label
        if self.before is not None:
            yield Expectation(f"number of {label} spinlocks", self.before, self.after, "arithmetic")
        yield Expectation(f"{label} spinlock contention", contention, self.contention, "heuristic")
