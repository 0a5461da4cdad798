"""What the rules about spinlock ratios of SAP ASE have in common: when a figure may be acted on, and the next ratio.

A spinlock ratio says how many buckets or descriptors one spinlock guards. The gates are those of RULES.md: more than
one engine (with one engine every table has one spinlock and the ratios mean nothing), engines that have work, enough
activity, and the figure over its limit. Where nothing says how many engines there are, no script is given and nothing
is critical. sp_sysmon prints a per cent alone; grabs and spins would decide better, and every finding says so. Where
the spins are known they decide how loud it is, and whether anything is changed at all (`spin_severity`); where they are
not, but how many waited is, that number bounds it (`waits`). Since boot nothing is critical, and no dynamic ratio is
asked for: it may have been lowered since; where the spins, spread over that time, are next to nothing, no static one
either. Of a moment nothing is critical either, and nothing is asked for.

Where the figure is far above what an even spread over the spinlocks can show at all (`most_contended_evenly`), a few
hot buckets or descriptors cause it: each lies under one spinlock whatever the ratio, so no ratio is asked for. Nor is
one where the spinlocks are listed one by one and a few of them have most of the waits (`uneven`).

A figure under its limit is acted on where the ratio was raised above its default and the spinlock has most of the spins
of busy engines (`raised`).

Of the ratios that sources name the highest is asked for whose expected contention is under the limit, at once and not
one after the other: each step of a static ratio costs a restart. Where the grabs spread evenly, contention is taken to
fall in inverse proportion to the number of spinlocks, as the vendor expects of cache partitions.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import isnan

from collectors.facts import OVERFLOW, Facts, Reading, known
from collectors.facts.ase import ConfigParameter, MonSpinlockActivity
from rules.ase._evidence.server import (
    ENGINES_MISSING,
    busy_of,
    engines_at_most,
    not_shown,
    setting_of,
    subject_of,
)
from rules.ase._evidence.spinlocks.figures import Figure
from rules.ase._evidence.spinlocks.gates import (
    BUSY_ORIGIN,
    BUSY_PERCENT,
    CRITICAL_ORIGIN,
    CRITICAL_USES,
    LOCK_PERCENT,
)
from rules.ase._evidence.spinlocks.monitored import share_in_words
from rules.ase._evidence.spinlocks.raised import is_lever
from rules.ase._evidence.spinlocks.spin_severity import GROWS, SpinBound, spin_bound
from rules.ase._evidence.spinlocks.uneven import uneven
from rules.ase._evidence.spinlocks.waits import WaitBound, wait_bound
from rules.changes.ase_config import PARAMETERS, configure, waiting_number
from rules.engine import limit, percent
from rules.finding import (
    Change,
    Clean,
    Evidence,
    Expectation,
    Finding,
    MissingInput,
    Outcome,
    Severity,
    Unknown,
    Untrusted,
    capitalized,
    joined,
    within,
)
from rules.laws.rounding import plain
from rules.laws.spinlocks import contention_after, most_contended_evenly, spinlocks
from rules.resets import WRAPPED
from rules.sample import LEAST
from rules.sources import TALLMAN

DECIDES = (
    "sp_sysmon shows the share alone: for the cost collect monSpinlockActivity (needs enable monitoring and enable "
    "spinlock monitoring, about 1 %)."
)
UNDECIDED = "sp_sysmon shows the share alone: what it costs this release cannot show."
LEAVE_IT = "Nothing is to be changed for it."
NOT_BY_AVERAGE = (
    "Nothing is to be changed for an average since boot this small: take two snapshots of monSpinlockActivity, with "
    "monEngine, ten minutes apart at the busiest hour."
)
HOT_ONE = (
    "A lower {} is not the remedy: what is hot lies under one spinlock whatever the ratio. Look for the page, table or "
    "object that all want."
)
UNEVEN_TIMES = 10.0
"""This project: grabs never spread quite evenly, and two hot buckets under one spinlock are parted by a lower ratio;
ten times what the arithmetic allows for an even spread is left to that, and the finding says so."""


@dataclass(frozen=True)
class RatioLimits:
    """The limits that each rule of a ratio has; it states those that differ, and how often the spinlock is used."""

    contention_percent: float = percent(
        LOCK_PERCENT, f"practice: 10 % starts the search ({TALLMAN}; Rukav's sp_sysmon hints)"
    )
    critical_percent: float = percent(30.0, CRITICAL_ORIGIN)
    busy_percent: float = percent(BUSY_PERCENT, BUSY_ORIGIN)
    target_ratio: int = limit(5, f"practice: used at 64 engines ({TALLMAN})", low=1, high=1031)


@dataclass(frozen=True)
class Ratio:
    """The parameter that spreads a spinlock, and what is said of it."""

    parameter: str
    steps: Sequence[int]
    """Ratios that may be asked for, falling: the first one below the ratio in force that is expected to be enough."""
    because: str
    """What takes these spinlocks, as a sentence."""
    guarded: float | None = None
    """How many buckets or descriptors there are to guard; `None` where the export does not say."""
    guards: str = "buckets"
    guarded_then: float | None = None
    """How many there will be after another change of the same restart, where one is asked for."""
    with_it: str = ""
    """That other change, as the end of a clause."""
    guarded_bring: str = ""
    about: bool = False
    """Whether the manual's own count differs from the arithmetic a little."""
    per_second: float = 0.0
    """Uses per second under which a per cent is of almost nothing."""
    above: bool = False
    """Whether the figure must lie above its limit, not on it."""
    base: Severity = Severity.WARNING
    """How loud a figure between the two limits is."""
    cautions: tuple[str, ...] = ()
    ahead: str = ""
    """What comes before a lower ratio, as a sentence, without holding it back."""
    cure: str = ""
    """What reduces it beside the ratio, as a sentence: not said where a few hot buckets cause it."""
    left: Callable[[Facts], str] | None = None
    """What to do instead where no lower ratio is left, as a sentence."""
    first: str = ""
    """What must be done before the ratio is touched, as a sentence: then no ratio is asked for."""
    spins_needed: str = ""
    """Why nothing may be changed by a share alone, as a sentence: then only spins of an interval give a change."""


FURTHER: Mapping[str, tuple[int, ...]] = {
    "lock spinlock ratio": (10, 5),
    "lock address spinlock ratio": (1,),
    "lock table spinlock ratio": (5, 1),
    "open object spinlock ratio": (5,),
    "open index spinlock ratio": (5,),
    "open index hash spinlock ratio": (5,),
    "partition spinlock ratio": (1,),
}
"""By parameter the ratios that may be asked for where the target is not expected to be enough; none below the last."""


def falling(target: float, parameter: str) -> list[int]:
    """The target, then those of the parameter's further steps that lie below it."""
    return [int(target), *(step for step in FURTHER[parameter] if step < target)]


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
        whatever = f"{label} {contention:g} %: {WRAPPED.partition(';')[0]}"
        return _nothing_to_gain(whatever, engines, busy, busy_percent) or Untrusted(
            f"{label}: {contention:g} %: {WRAPPED}"
        )
    if contention > 100:
        return Untrusted(f"{label}: {contention:g} % is more than all grabs; a counter wrapped or was cleared")
    said = figure.said if figure else f"{label} {contention:g} % contended"
    aside = f". {figure.aside}" if figure and figure.aside else ""
    if contention < limit_percent or (above and contention == limit_percent):
        return Clean(f"{said}, {'not above the limit of' if above else 'limit'} {limit_percent:g} %{aside}")
    return _nothing_to_gain(said, engines, busy, busy_percent)


def _nothing_to_gain(said: str, engines: int | None, busy: float | None, busy_percent: float) -> Clean | None:
    """The outcome where no contention is worth a change, whatever its figure."""
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


def waited(facts: Facts, figure: Figure, of: str) -> str:
    """Its share of grabs that waited, and how busy the engines were, as a sentence. `of`: what was grabbed."""
    share = f"{share_in_words(figure.contention)} %" if known(figure.contention) else "An unknown share"
    return f"{share} of the grabs of {of} had to wait{at_work(facts, figure)}."


def judge_ratio(facts: Facts, limits: RatioLimits, figure: Figure | Outcome, ratio: Ratio) -> Iterator[Outcome]:
    """Judge one spinlock figure and ask for the next ratio; without a figure the outcome that stands for it."""
    if not isinstance(figure, Figure):
        yield figure
        return
    contention = figure.contention
    quiet = refused(
        facts,
        figure.label,
        contention,
        limits.contention_percent,
        above=ratio.above,
        busy_percent=limits.busy_percent,
        figure=figure,
    )
    few = figure.too_few(ratio.per_second)
    if isinstance(quiet, Clean) and not few and is_lever(facts, figure.lock):
        quiet = None
    if quiet:
        yield quiet
    elif few and figure.per_second == 0:
        yield Untrusted(f"{figure.said}, yet 0 {figure.uses} per second: the counters contradict each other")
    elif few:
        yield Clean(f"{figure.said}, but {few}")
    else:
        assert known(contention)  # noqa: S101 - refused() has turned everything else away
        yield from _Case(facts, limits, figure, ratio, contention).outcomes()


UNCOUNTED = "The number of engines is not in the export: with one engine no ratio matters."


@dataclass(frozen=True)
class _Step:
    """What to do; where the ratio may be set the change, and what it should give. `because`: in place of the usual."""

    do: str
    change: Change | None = None
    expects: tuple[Expectation, ...] = ()
    because: str = ""


@dataclass(frozen=True)
class _Case:
    """A figure over its limit, with all that decides what is said of it and asked for."""

    facts: Facts
    limits: RatioLimits
    figure: Figure
    ratio: Ratio
    contention: float

    @cached_property
    def setting(self) -> ConfigParameter | None:
        return setting_of(self.facts, self.ratio.parameter)

    @property
    def now(self) -> float | None:
        """The ratio in force."""
        return self.setting.run_number if self.setting else None

    @cached_property
    def engines(self) -> int | None:
        return busy_of(self.facts)[0]

    @cached_property
    def several(self) -> bool:
        """Whether more than one engine may run: counted, or allowed."""
        return bool(engines_at_most(self.facts))

    @cached_property
    def spins(self) -> SpinBound | None:
        return spin_bound(self.facts, self.figure.lock)

    @cached_property
    def bound(self) -> SpinBound | WaitBound | None:
        """What it can cost at most: by its spins, else by its waits."""
        return self.spins or wait_bound(self.facts, self.figure)

    @property
    def nothing(self) -> bool:
        """Whether nothing measurable can have been lost, nor is this the first spinlock to cost something."""
        return bool(self.bound and self.bound.nothing) and not self.grows

    @property
    def grows(self) -> bool:
        """Whether it costs next to nothing, but is the one that grows with the load of busy engines."""
        unproven = self.under or self.figure.short or self.ratio.spins_needed
        return bool(self.spins and self.spins.grows) and not unproven

    @property
    def measured(self) -> bool:
        """Whether spins of an interval show that engines may lose time."""
        spins = self.spins
        return spins is not None and spins.lock.of_interval and bool(spins.lock.seconds) and not spins.nothing

    def outcomes(self) -> Iterator[Outcome]:
        """The finding, and what would say more."""
        figure, ratio, lock = self.figure, self.ratio, self.figure.lock
        step = self.step()
        usual = "" if self.nothing else ratio.because
        alone = "" if self.several else UNCOUNTED
        yield Finding(
            subject=subject_of(self.facts),
            severity=self.severity(),
            title=f"{capitalized(figure.label)} spinlocks {self.contention:g} % contended{self.ranked}",
            seen=joined(waited(self.facts, figure, f"the {figure.label} spinlocks"), lock.counted if lock else ""),
            because=joined(
                GROWS if self.grows else step.because or ratio.spins_needed or usual,
                self.bound.says if self.bound else "",
            ),
            do=step.do,
            unknown=joined(alone, "" if lock else decides(self.facts), figure.aside),
            evidence=tuple(self.evidence()),
            explains=() if self.bound and self.bound.nothing else ("ase/engines_not_the_answer",),
            changes=(step.change,) if step.change else (),
            expects=step.expects,
            weight=figure.weight,
            share=figure.share,
            again=self.nothing and figure.since_boot,
        )
        if self.nothing:
            if figure.since_boot:
                what = f"what the {figure.label} spinlocks cost at the busiest hour"
                yield Unknown((MissingInput(what, MonSpinlockActivity.COLLECTED_BY),))
            return
        if self.now is None:
            yield Unknown.without(ratio.parameter, f'sp_configure "{ratio.parameter}"')
        if not ratio.guarded and ratio.guarded_bring:
            yield Unknown.without(f"what {ratio.parameter} spreads", ratio.guarded_bring)
        if not self.engines:
            yield Unknown((ENGINES_MISSING,))

    @property
    def under(self) -> bool:
        """Whether the share is under its limit, so that it is the spins that count."""
        return self.contention < self.limits.contention_percent

    @property
    def ranked(self) -> str:
        """Its rank by spins, as the end of the title, where the share is under its limit."""
        lock = self.figure.lock
        return f", with {lock.spins_share:.0f} % {lock.of_all}" if self.under and lock and lock.spins_share else ""

    def severity(self) -> Severity:
        """By the share, then by the spins where they are known, else by the waits."""
        figure = self.figure
        if figure.undated:
            return Severity.NOTE
        if self.grows:
            return Severity.ADVICE
        loud = Severity.CRITICAL if self.engines and not figure.since_boot and not figure.short else Severity.WARNING
        if self.ratio.base < Severity.WARNING and not self.bound:  # no source calls any share of it grave
            loud = min(loud, Severity.WARNING)
        by_share = loud if self.contention >= self.limits.critical_percent else self.ratio.base
        if self.under or (self.ratio.spins_needed and not self.measured):
            by_share = min(by_share, Severity.ADVICE)
        least = CRITICAL_USES * self.ratio.per_second
        if self.spins is None and known(figure.per_second) and figure.per_second < least:
            by_share = min(by_share, Severity.WARNING)
        return self.bound.severity(by_share) if self.bound else by_share

    def evidence(self) -> Iterator[Evidence]:
        """The figures, each with its limit."""
        figure, goal = self.figure, self.limits.contention_percent
        yield Evidence(f"{figure.label} spinlock contention", self.contention, "%", figure.source, goal)
        if known(figure.per_second):
            uses, where = f"{figure.label} {figure.uses}", figure.uses_source or figure.source
            yield Evidence(uses, figure.per_second, "/s", where, self.ratio.per_second)
        if figure.lock:
            yield from figure.lock.cost_evidence(goal)
        if isinstance(self.bound, WaitBound):
            yield from self.bound.evidence
        elif self.bound:
            yield self.bound.evidence
        if self.setting and self.now is not None:
            yield Evidence(self.ratio.parameter, self.now, "", self.setting.source)

    def step(self) -> _Step:
        """What to do, with all that holds a lower ratio back."""
        ratio = self.ratio
        if self.nothing:
            return _Step(joined(NOT_BY_AVERAGE if self.figure.since_boot else LEAVE_IT, self.lever()))
        if ratio.first:
            return _Step(joined(ratio.first, ratio.cure))
        step = self.next_ratio()
        if step.change and (why := self.hot_spots() or self.skew()):
            return _Step(HOT_ONE.format(ratio.parameter), because=why)
        if step.change and (held := self.held_back()):
            step = _Step(f"{held}, {within(step.do)}")
        lowest = self.now is not None and self.now <= min(ratio.steps)
        return replace(
            step, do=joined(ratio.ahead, step.do, ratio.left(self.facts) if lowest and ratio.left else ratio.cure)
        )

    @cached_property
    def evenly(self) -> tuple[int, float] | None:
        """How many spinlocks there are, and the most contention that an even spread over them can show."""
        guarded, now = self.ratio.guarded, self.now
        if not self.engines or not guarded or guarded < 1 or now is None or now < 1:
            return None
        number = spinlocks(guarded, now)
        return number, most_contended_evenly(self.engines, number)

    def hot_spots(self) -> str:
        """Why no ratio helps, where arithmetic excludes that the grabs spread over the spinlocks; else nothing."""
        if not self.evenly or self.contention < UNEVEN_TIMES * self.evenly[1]:
            return ""
        number, most = self.evenly
        return (
            f"{self.engines} engines on {number:,} evenly used spinlocks keep each other waiting in {plain(most, 2)} % "
            "of the grabs at most, so a few hot spinlocks cause this."
        )

    def spreading(self) -> tuple[str, tuple[str, ...]]:
        """On what condition the gain holds, as the end of a clause; why that is no even spread, as a caution."""
        if not self.evenly or self.contention <= self.evenly[1]:
            return "if they spread evenly", ()
        number, most = self.evenly
        return "if what is hot parts", (
            f"{number:,} evenly used spinlocks could show {plain(most, 2)} % at most on {self.engines} engines, so "
            "some are used far more than others: a lower ratio parts what shares one, and gains less where one is hot.",
        )

    def skew(self) -> str:
        """Why no ratio helps, where a few of the spinlocks are listed with most of the waits; else nothing."""
        skew = uneven(self.figure.lock, self.limits.contention_percent)
        return f"{skew.says}." if skew else ""

    def held_back(self) -> str:
        """On what condition a change may be made, where this export does not show enough for a script; else nothing."""
        if not self.several:
            return "Should there be more than one engine"
        if self.figure.since_boot and not PARAMETERS[self.ratio.parameter].static:
            return "Should an interval show the same (the ratio may be new)"
        if self.figure.short:
            return f"Should an interval of {LEAST.seconds:g} s or more show the same"
        if self.ratio.spins_needed and not self.measured:
            return (
                "Nothing is changed for a share alone: should two snapshots of monSpinlockActivity show spins that "
                "take a measurable part of the engines' time"
            )
        return ""

    def lever(self) -> str:
        """What would be lowered should it ever cost something, as a sentence; nothing where it cannot be lower."""
        lower = self.now is not None and any(step < self.now for step in self.ratio.steps)
        if not lower or self.setting is None:
            return ""
        kind = ", dynamic" if (self.setting.kind or "").lower() == "dynamic" else ""
        return f"Its lever, should it ever cost time: a lower {self.ratio.parameter} (now {self.now:g}{kind})."

    def next_ratio(self) -> _Step:
        """The highest ratio that is expected to bring the contention under its limit, or the lowest there is."""
        ratio, setting, now, goal = self.ratio, self.setting, self.now, self.limits.contention_percent
        name = ratio.parameter
        if now is None or setting is None:
            return _Step(f'The ratio in force is not in the export: sp_configure "{name}" shows it.')
        if now < 1:
            return _Step(f"{name} is shown as {now:g}, which no server can run with: list it again.")
        wanted, static = waiting_number(setting), PARAMETERS[name].static
        if wanted is not None and wanted < now:
            why = "waits for a restart: measure after it" if static else f"{now:.0f} runs: see the error log for why"
            return _Step(f"{name} is already configured to {wanted:.0f} and {why}.")
        lower = [step for step in ratio.steps if step < now]
        if not lower:
            left = "a lower ratio has nothing left to give" if now <= 1 else "this rule goes no lower"
            return _Step("", because=f"{name} is already {now:.0f}: {left}.")
        steps = [_Spread.of(ratio, now, step, self.contention) for step in lower]
        spread = next((one for one in steps if one.contention < goal), steps[-1])
        takes = " at the next restart" if static else " (takes effect at once)"
        takes = f" together with {ratio.with_it}, in one restart" if ratio.with_it else takes
        takes += f", in place of the {wanted:.0f} that is configured for it" if wanted is not None and static else ""
        said = f"Lower {name} from {now:.0f} to {spread.ratio}{takes}: {spread.counted(ratio)}about "
        condition, uneven_use = self.spreading()
        said += f"{spread.contention:g} % of the grabs should wait then {condition}"
        said += "." if spread.contention < goal else f", still not under {goal:g} %, and this rule goes no lower."
        cautions = (*ratio.cautions, *uneven_use, spread.caution)
        change = configure(name, now, spread.ratio, cautions=cautions, configured=wanted)
        return _Step(said, change, tuple(spread.expects(self.figure.label, self.contention)))


LEAST_PROMISED = 0.1
"""This project, per cent: arithmetic says less of many spinlocks, and no grabs spread as evenly as that."""


def _promised(contention: float) -> float:
    """The contention that is expected, with one decimal, and never none at all."""
    return max(round(contention, 1), LEAST_PROMISED)


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
            return cls(new, _promised(contention_after(contention, new, now)))
        before, after = spinlocks(ratio.guarded, now), spinlocks(ratio.guarded_then or ratio.guarded, new)
        return cls(new, _promised(contention_after(contention, before, after)), before, after)

    def counted(self, ratio: Ratio) -> str:
        """How many spinlocks become how many, as a clause."""
        if self.before is None or not ratio.guarded:
            return ""
        about = "about " if ratio.about else ""
        there = f"{ratio.guarded_then or ratio.guarded:.0f} {ratio.guards}"
        return f"{about}{self.before} spinlocks become {about}{self.after} for {there}, and "

    @property
    def caution(self) -> str:
        """What the change costs."""
        more = "More spinlocks" if self.before is None or self.after is None else f"{self.after - self.before:,} more"
        more += "" if self.before is None else " spinlocks"
        return (
            f"{more} take a little memory each; the amount is not documented: see Memory Used of the parameter "
            "afterwards. One spinlock less contended may make another the most expensive one: measure again."
        )

    def expects(self, label: str, contention: float) -> Iterator[Expectation]:
        """What should be seen afterwards."""
        if self.before is not None:
            yield Expectation(f"number of {label} spinlocks", self.before, self.after, "arithmetic")
        yield Expectation(f"{label} spinlock contention", contention, self.contention, "heuristic")
