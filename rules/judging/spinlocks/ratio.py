"""What the rules about spinlock ratios of SAP ASE have in common: when a figure may be acted on, and the next ratio.

A spinlock ratio says how many buckets or descriptors one spinlock guards. The gates are those of RULES.md: more than
one engine (with one engine every table has one spinlock and the ratios mean nothing), engines that have work, enough
activity, and the figure over its limit. Where nothing says how many engines there are, no script is given and nothing
is critical. sp_sysmon prints a per cent alone; grabs and spins would decide better, and every finding says so. Since
boot nothing is critical, and no dynamic ratio is asked for: it may have been lowered since. Of a moment nothing is
critical either, and nothing is asked for.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import isnan

from collectors.facts import OVERFLOW, Facts, Reading, known
from collectors.facts.ase import ConfigParameter
from rules.changes.ase_config import PARAMETERS, configure, waiting_number
from rules.finding import (
    Change,
    Clean,
    Evidence,
    Expectation,
    Finding,
    Lacking,
    Outcome,
    Severity,
    Unknown,
    Untrusted,
)
from rules.judging.server import ENGINES_MISSING, busy_of, setting_of, subject_of
from rules.judging.spinlocks.figures import Figure
from rules.laws.spinlocks import spinlocks

SWITCHES = "it needs enable monitoring and enable spinlock monitoring, which costs about 1 %"
"""What must be on in sp_configure before monSpinlockActivity holds anything."""
DECIDES = (
    "sp_sysmon prints no grabs and no spins, so this is ranked by its share: monSpinlockActivity (15.7 ESD#2 and "
    f"later) would show the cost; {SWITCHES}."
)


@dataclass(frozen=True)
class Ratio:
    """One spinlock figure and the parameter that spreads it."""

    figure: Figure
    """Its label is what is contended, as a DBA calls it: `address lock hash table`."""
    parameter: str
    steps: Sequence[int]
    """Ratios to go through, falling: the first one below the ratio in force is asked for."""
    guarded: float | None
    """How many buckets or descriptors there are to guard; `None` where the export does not say."""
    guarded_bring: str = ""
    about: bool = False
    """Whether the manual's own count differs from the arithmetic a little."""
    explains: tuple[str, ...] = ()
    cautions: tuple[str, ...] = ()
    cure: str = ""
    """A better cure than the ratio, as a sentence."""
    first: str = ""
    """What must be done before the ratio is touched, as a sentence: then no ratio is asked for."""


@dataclass(frozen=True)
class Gate:
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
        return Unknown((Lacking(f"contention of {label}", 'sp_sysmon "00:10:00"'),), f"{label}: not in the report")
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


def at_work(facts: Facts, figure: Figure) -> str:
    """How many engines there are and how busy, as the end of a sentence; nothing where no export says."""
    engines, busy = busy_of(facts, interval=figure.of_interval)
    said = f" on {engines} engines" if engines else ""
    return said + (f" that are {busy:.0f} % busy on average" if busy is not None else "")


def judge_ratio(facts: Facts, gate: Gate, ratio: Ratio) -> Iterator[Outcome]:
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
    changes, expects, advice = ((), (), ratio.first) if ratio.first else _next_step(ratio, setting, now)
    engines, _ = busy_of(facts)
    if changes and not engines:
        changes, expects, advice = (), (), f"Should there be more than one engine: {advice}"
    elif changes and figure.since_boot and not PARAMETERS[ratio.parameter].static:
        changes, expects, advice = (), (), f"Should an interval show the same (the ratio may be new): {advice}"
    elif changes and figure.short:
        changes, expects, advice = (), (), f"Should an interval of 30 s or more show the same: {advice}"
    says = f"{contention:g} % of the grabs of the {figure.label} spinlocks had to wait{at_work(facts, figure)}."
    cost = figure.lock.told if figure.lock else DECIDES
    alone = "" if engines else "The number of engines is not in the export: with one engine no ratio matters."
    loud = Severity.CRITICAL if engines and not figure.since_boot and not figure.short else Severity.WARNING
    yield Finding(
        subject=subject_of(facts),
        severity=Severity.NOTE if figure.undated else loud if contention >= gate.critical_percent else gate.base,
        title=f"{figure.label[0].upper()}{figure.label[1:]} spinlocks {contention:g} % contended",
        says=" ".join(part for part in (says, advice, ratio.cure, alone, cost, figure.aside) if part),
        evidence=tuple(_evidence(ratio, gate, contention, setting, now)),
        explains=ratio.explains,
        changes=changes,
        expects=expects,
        weight=figure.weight,
        share=figure.share,
    )
    if now is None:
        yield Unknown((Lacking(ratio.parameter, f'sp_configure "{ratio.parameter}"'),))
    if not ratio.guarded and ratio.guarded_bring:
        yield Unknown((Lacking(f"what {ratio.parameter} spreads", ratio.guarded_bring),))
    if not engines:
        yield Unknown((ENGINES_MISSING,))


def _evidence(
    ratio: Ratio, gate: Gate, contention: float, setting: ConfigParameter | None, now: float | None
) -> Iterator[Evidence]:
    figure = ratio.figure
    yield Evidence(f"{figure.label} spinlock contention", contention, "%", figure.source, gate.fires_percent)
    if known(figure.per_second):
        uses, where = f"{figure.label} {figure.uses}", figure.uses_source or figure.source
        yield Evidence(uses, figure.per_second, "/s", where, gate.per_second)
    if figure.lock:
        yield from figure.lock.cost_evidence(gate.fires_percent)
    if setting and now is not None:
        yield Evidence(ratio.parameter, now, "", setting.source)


def _next_step(
    ratio: Ratio, setting: ConfigParameter | None, now: float | None
) -> tuple[tuple[Change, ...], tuple[Expectation, ...], str]:
    """The change, what it should give, and the sentence about it."""
    if now is None or setting is None:
        return (), (), f'The ratio in force is not in the export: sp_configure "{ratio.parameter}" shows it.'
    if now < 1:
        return (), (), f"{ratio.parameter} is shown as {now:g}, which no server can run with: list it again."
    wanted = waiting_number(setting)
    static = PARAMETERS[ratio.parameter].static
    before_that = ""
    if wanted is not None and wanted < now:
        why = (
            "waits for a restart: measure after it." if static else f"{now:.0f} runs: see the error log for the reason."
        )
        return (), (), f"{ratio.parameter} is already configured to {wanted:.0f} and {why}"
    if wanted is not None and static:
        before_that = f"{wanted:.0f} is configured and the next restart would take it: the change replaces that. "
    lower = [step for step in ratio.steps if step < now]
    if not lower:
        left = "a lower ratio has nothing left to give." if now <= 1 else "this rule goes no lower."
        return (), (), f"{ratio.parameter} is already {now:.0f}: {left}"
    new = lower[0]
    expects: tuple[Expectation, ...] = ()
    said = f"{before_that}Lower {ratio.parameter} from {now:.0f} to {new}"
    if ratio.guarded and ratio.guarded >= 1:
        before, after = spinlocks(ratio.guarded, now), spinlocks(ratio.guarded, new)
        expects = (Expectation(f"number of {ratio.figure.label} spinlocks", before, after, "arithmetic"),)
        about = "about " if ratio.about else ""
        said += f": {ratio.guarded:.0f} to guard, so {about}{before} spinlocks become {about}{after}"
    return (configure(ratio.parameter, now, new, cautions=ratio.cautions, configured=wanted),), expects, said + "."
