"""One figure of contention for each spinlock of SAP ASE, from the best source the export has.

First `monSpinlockActivity` over an interval, which has grabs, waits and spins; else sp_sysmon, which prints a share
alone; else the totals since boot, an average over days. The sources are never mixed into one figure. Where the first
two say grossly different things, that is said: then they are of different hours.
"""

from dataclasses import dataclass, replace

from collectors.facts import ABSENT, Facts, Reading, Source, known
from collectors.facts.ase import MonSpinlockActivity
from rules.ase._evidence.server import not_shown
from rules.ase._evidence.spinlocks.monitored import (
    Spinlock,
    not_believed,
    not_measured,
    spinlock_named,
)
from rules.ase._evidence.times import DAY
from rules.finding import Clean, MissingInput, NotApplicable, Outcome, Unknown
from rules.laws.spinlocks import engine_time_percent
from rules.sample import LEAST

DISAGREE_TIMES, DISAGREE_POINTS = 3.0, 5.0
"""This project: two sources disagree grossly where one is three times the other and five points of a per cent more."""
FEW_GRABS = 10_000.0
"""This project: without times, fewer grabs in all are nothing; the SAP wiki calls 100 harmless and 100,000 dear."""
HEAVY_PERCENT = 10.0
"""This project, of one engine's time at 100 ns a turn: what spins cost in the average of day and night."""
ABOVE = "The busiest hour is above this average."

AT_LEAST = ", at least"


@dataclass(frozen=True)
class Figure:
    """One spinlock figure."""

    label: str
    family: str
    """`address`, `page and row`, `table`, `metadata` or `cache`: by it the limits are looked up."""
    contention: Reading
    """Share of the grabs that waited, per cent; rounded to two decimals where it was computed."""
    source: Source
    per_second: Reading = ABSENT
    """Uses per second; `ABSENT` where the export has none, or none that can be believed."""
    uses: str = "uses"
    """What `per_second` counts."""
    uses_source: Source | None = None
    """Where that stands, if not beside the contention."""
    lock: Spinlock | None = None
    """Where the figure is of `monSpinlockActivity`: its grabs, waits and spins."""
    aside: str = ""
    """What another source says of the same spinlock, as a sentence."""
    most_per_second: Reading = ABSENT
    """Where times printed to the minute leave it open: the most it can be; `per_second` is the least then."""

    @property
    def since_boot(self) -> bool:
        """Whether it is an average since the server started."""
        return self.lock is not None and not self.lock.of_interval

    @property
    def light_average(self) -> bool:
        """Whether it is an average since boot that decides nothing: the quiet hours in it may hide all there is.

        Over a day or more nights are in it, and the busiest hour is above it: where even the average is contended and
        costs a tenth of an engine, so does that hour. Two snapshots then tell how much, not whether.
        """
        if not self.since_boot or self.lock is None:
            return False
        spins = self.lock.rate(self.lock.spins)
        if spins is None or (self.lock.seconds or 0.0) < DAY:
            return True
        return engine_time_percent(spins, 1) < HEAVY_PERCENT

    @property
    def of_interval(self) -> bool:
        """Whether it is of an interval between two snapshots."""
        return self.lock is not None and self.lock.of_interval

    @property
    def short(self) -> bool:
        """Whether its interval is too short for any rule, or may be: without times, or with times to the minute.

        The engine holds back a finding for what the printed length is (`rules.sample`); what it may be is known here.
        """
        return self.of_interval and self.lock is not None and (self.lock.span or (0.0,))[0] < LEAST.seconds

    @property
    def undated(self) -> bool:
        """Whether it lies between snapshots without times: a restart between them cannot be ruled out."""
        return self.of_interval and self.lock is not None and self.lock.span is None

    @property
    def said(self) -> str:
        """The figure in a few words, with the time it covers where that is not sp_sysmon's sample."""
        share = f"{self.contention:g} % contended" if known(self.contention) else "without a figure"
        return f"{self.label} {share}" + (f" {self.lock.when}" if self.lock else "")

    @property
    def weight(self) -> float | None:
        """Spins, where they are known: what findings about spinlocks are ordered by."""
        return self.lock.spins if self.lock else None

    @property
    def share(self) -> float | None:
        """Contention in per cent: the order where spins are not known."""
        return self.contention if known(self.contention) else None

    def too_few(self, per_second: float) -> str | None:
        """Say that it is used too seldom to matter, or `None`: by its rate, without times by the grabs in all."""
        if known(self.per_second):
            most = self.most_per_second if known(self.most_per_second) else self.per_second
            if most >= per_second:
                return None
            return f"only {most:,.6g} {self.uses.removesuffix(AT_LEAST)} per second (limit {per_second:g})"
        if self.lock and per_second and self.lock.span is None and self.lock.grabs < FEW_GRABS:
            return f"only {self.lock.grabs:,.0f} grabs in all (limit {FEW_GRABS:,.0f} where no times are known)"
        return None


def figure_of(
    facts: Facts, name: str, label: str, family: str, printed: Figure | None = None, *, sysmon: bool = True
) -> Figure | Outcome:
    """The figure to judge the spinlock `name` by, or why there is none.

    `printed`: what sp_sysmon says of it, where it says anything. `sysmon`: whether sp_sysmon knows this spinlock.
    """
    lock = spinlock_named(facts, name)
    if lock and lock.percent is not None and lock.of_interval:
        return monitored(lock, label, family, printed)
    doubt = not_believed(facts, name)
    if printed and printed.contention is not ABSENT:
        return (
            _with(printed, f"monSpinlockActivity was collected, but cannot be believed: {doubt.why}.")
            if doubt
            else printed
        )
    if doubt:
        return doubt
    if lock and lock.percent is not None:
        return monitored(lock, label, family)
    if lock:
        return Clean(f"{label}: not grabbed once {lock.when}")
    off = (
        "monSpinlockActivity was collected, but nothing was measured: its switch is off"
        if not_measured(facts, name)
        else ""
    )
    without = not_shown(facts, MonSpinlockActivity)
    if without and not sysmon:
        return NotApplicable(f"{without}: nothing else counts this spinlock")
    return Unknown(ways(label, spins=not without, sysmon=sysmon), off or without)


def ways(label: str, *, spins: bool = True, sysmon: bool = True) -> tuple[MissingInput, ...]:
    """The ways to a contention figure: either is enough."""
    decide = MissingInput(f"contention of {label}: spins decide", MonSpinlockActivity.COLLECTED_BY)
    alone = "its share alone" if not spins else "or its share alone"
    share = MissingInput(f"contention of {label}, {alone}", 'sp_sysmon "00:10:00" -- at the busiest hour')
    return (*((decide,) if spins else ()), *((share,) if sysmon else ()))


def monitored(lock: Spinlock, label: str, family: str, printed: Figure | None = None, *, uses: str = "grabs") -> Figure:
    """The figure of a spinlock that was counted.

    `printed`: what sp_sysmon says of it. `uses`: what its grabs are called.
    """
    percent = round(lock.percent or 0.0, 2)
    grabs = lock.rates(lock.grabs)
    other = printed.contention if printed else ABSENT
    aside = lock.caveat
    if known(other) and 0 <= other <= 100 and _apart(percent, other):
        aside = f"{aside} " if aside else ""
        aside += (
            f"sp_sysmon says {other:g} % of the same spinlock: the two are not of the same time, and "
            "monSpinlockActivity is what is judged here."
        )
    figure = Figure(
        label=label,
        family=family,
        contention=percent,
        source=lock.source,
        per_second=ABSENT if grabs is None else grabs[0],
        most_per_second=ABSENT if grabs is None else grabs[1],
        uses=uses if grabs is None or grabs[0] == grabs[1] else f"{uses}{AT_LEAST}",
        lock=lock,
        aside=aside,
    )
    heavy = family == "cache" and figure.since_boot and not figure.light_average
    return replace(figure, aside=aside.replace(lock.caveat, ABOVE)) if heavy and lock.caveat else figure


def _apart(one: float, other: float) -> bool:
    low, high = sorted((one, other))
    return high - low > DISAGREE_POINTS and high > DISAGREE_TIMES * low


def _with(figure: Figure, aside: str) -> Figure:
    return Figure(**{**vars(figure), "aside": aside})
