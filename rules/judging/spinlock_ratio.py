"""What the rules about spinlock ratios of SAP ASE have in common: when a figure may be acted on, and the next ratio.

A spinlock ratio says how many buckets or descriptors one spinlock guards. The gates are those of RULES.md: more than
one engine (with one engine every table has one spinlock and the ratios mean nothing), engines that have work, enough
activity, and the figure over its limit. Where nothing says how many engines there are, no script is given and nothing
is critical. sp_sysmon prints a per cent alone; grabs and spins would decide better, and every finding says so.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from collectors.facts import OVERFLOW, Facts, Reading, Source, known
from collectors.facts.ase import ConfigParameter, EngineBusy, Server
from rules.changes.ase_config import PARAMETERS, configure, waiting_number
from rules.finding import (
    Change,
    Clean,
    Evidence,
    Expectation,
    Finding,
    Lacking,
    NotApplicable,
    Outcome,
    Severity,
    Unknown,
    Untrusted,
)
from rules.laws.spinlocks import spinlocks

SWITCHES = "it needs enable monitoring and enable spinlock monitoring, which costs about 1 %"
"""What must be on in sp_configure before monSpinlockActivity holds anything."""
DECIDES = (
    "sp_sysmon prints no grabs and no spins: monSpinlockActivity (15.7 ESD#2 and later) would show the cost; "
    f"{SWITCHES}."
)
ENGINES_MISSING = Lacking("number of engines online", 'sp_sysmon "00:10:00" -- with its Kernel Utilization section')


@dataclass(frozen=True)
class Ratio:
    """One spinlock figure and the parameter that spreads it."""

    label: str
    """What is contended, as a DBA calls it: `address lock hash table`."""
    contention: Reading
    source: Source
    parameter: str
    steps: Sequence[int]
    """Ratios to go through, falling: the first one below the ratio in force is asked for."""
    guarded: float | None
    """How many buckets or descriptors there are to guard; `None` where the export does not say."""
    guarded_bring: str = ""
    about: bool = False
    """Whether the manual's own count differs from the arithmetic a little."""
    per_second: Reading | None = None
    """Uses per second, where the report prints them."""
    uses: str = "lookups"
    """What `per_second` counts."""
    uses_source: Source | None = None
    """Where it stands, if not beside the contention."""
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


def subject_of(facts: Facts) -> str:
    """The server's name, or what to call it where no report prints one."""
    named = [server.name for server in facts.every(Server) if server.name]
    return named[-1] if named else "server"


def server_of(facts: Facts) -> Server | None:
    """The newest statement about the server whose release can be read."""
    return next((server for server in reversed(facts.every(Server)) if server.release), None)


def setting_of(facts: Facts, name: str) -> ConfigParameter | None:
    """The setting as last listed; that of the whole server before that of one instance of a cluster."""
    return facts.latest(ConfigParameter, name=name, instance=None) or facts.latest(ConfigParameter, name=name)


def busy_of(facts: Facts) -> tuple[int | None, float | None]:
    """Number of engines in the report and their mean busy share in per cent; `None` where it is not printed.

    Where no report counts them, a server that runs with `max online engines` 1 has one.
    """
    engines = facts.every(EngineBusy)
    busy = [engine.busy_percent for engine in engines if engine.busy_percent is not None]
    number = len(engines) or None
    if not engines:
        most = setting_of(facts, "max online engines")
        number = 1 if most and most.run_number == 1 else None
    return (number, sum(busy) / len(busy) if busy else None)


def refused(
    facts: Facts,
    label: str,
    contention: Reading,
    limit_percent: float,
    *,
    busy_percent: float,
    above: bool = False,
) -> Outcome | None:
    """The quiet outcome for a contention figure that must not be acted on, or `None` where it may."""
    engines, busy = busy_of(facts)
    if contention is OVERFLOW:
        return Untrusted(f"{label}: printed as asterisks (1000 % or more cannot be a share of grabs)")
    if not known(contention):
        return Unknown((Lacking(f"contention of {label}", 'sp_sysmon "00:10:00"'),), f"{label}: not in the report")
    if contention < 0:
        return Untrusted(f"{label}: {contention:g} %: a 32-bit counter wrapped; take a shorter sample")
    if contention > 100:
        return Untrusted(f"{label}: {contention:g} % is more than all grabs; a counter wrapped or was cleared")
    said = f"{label} {contention:g} % contended"
    if contention < limit_percent or (above and contention == limit_percent):
        return Clean(f"{said}, {'speaks above' if above else 'limit'} {limit_percent:g} %")
    if engines == 1:
        return Clean(f"{said}, but with one engine there is one spinlock and no ratio matters")
    if busy is not None and busy < busy_percent:
        return Clean(f"{said}, but the engines are {busy:.1f} % busy: nothing to gain")
    return None


def judge_ratio(facts: Facts, gate: Gate, ratio: Ratio) -> Iterator[Outcome]:
    """Judge one spinlock figure and ask for the next ratio."""
    quiet = refused(
        facts, ratio.label, ratio.contention, gate.fires_percent, above=gate.above, busy_percent=gate.busy_percent
    )
    if quiet:
        yield quiet
        return
    assert known(ratio.contention)  # noqa: S101 - refused() has turned everything else away
    said = f"{ratio.label} {ratio.contention:g} % contended"
    if ratio.per_second is not None and known(ratio.per_second) and ratio.per_second < gate.per_second:
        if ratio.per_second == 0:
            yield Untrusted(f"{said}, yet 0 {ratio.uses} per second: the counters contradict each other")
        else:
            yield Clean(f"{said}, but only {ratio.per_second:g} {ratio.uses} per second (limit {gate.per_second:g})")
        return
    setting = setting_of(facts, ratio.parameter)
    now = setting.run_number if setting else None
    changes, expects, advice = ((), (), ratio.first) if ratio.first else _next_step(ratio, setting, now)
    engines, busy = busy_of(facts)
    if changes and not engines:
        changes, expects, advice = (), (), f"Should there be more than one engine: {advice}"
    critical = ratio.contention >= gate.critical_percent
    at_work = f" on {engines} engines" if engines else ""
    at_work += f" that are {busy:.0f} % busy on average" if busy is not None else ""
    says = f"{ratio.contention:g} % of the grabs of the {ratio.label} spinlocks had to wait{at_work}."
    alone = "" if engines else "The number of engines is not in the export: with one engine no ratio matters."
    loud = Severity.CRITICAL if engines else Severity.WARNING
    yield Finding(
        subject=subject_of(facts),
        severity=loud if critical else gate.base,
        title=f"{ratio.label[0].upper()}{ratio.label[1:]} spinlocks {ratio.contention:g} % contended",
        says=" ".join(part for part in (says, advice, ratio.cure, alone, DECIDES) if part),
        evidence=tuple(_evidence(ratio, gate, setting, now)),
        explains=ratio.explains,
        changes=changes,
        expects=expects,
    )
    if now is None:
        yield Unknown((Lacking(ratio.parameter, f'sp_configure "{ratio.parameter}"'),))
    if not ratio.guarded and ratio.guarded_bring:
        yield Unknown((Lacking(f"what {ratio.parameter} spreads", ratio.guarded_bring),))
    if not engines:
        yield Unknown((ENGINES_MISSING,))


def _evidence(ratio: Ratio, gate: Gate, setting: ConfigParameter | None, now: float | None) -> Iterator[Evidence]:
    assert known(ratio.contention)  # noqa: S101 - as in judge_ratio()
    yield Evidence(f"{ratio.label} spinlock contention", ratio.contention, "%", ratio.source, gate.fires_percent)
    if ratio.per_second is not None and known(ratio.per_second):
        yield Evidence(
            f"{ratio.label} {ratio.uses}", ratio.per_second, "/s", ratio.uses_source or ratio.source, gate.per_second
        )
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
        expects = (Expectation(f"number of {ratio.label} spinlocks", before, after, "arithmetic"),)
        about = "about " if ratio.about else ""
        said += f": {ratio.guarded:.0f} to guard, so {about}{before} spinlocks become {about}{after}"
    return (configure(ratio.parameter, now, new, cautions=ratio.cautions, configured=wanted),), expects, said + "."


def one_engine(facts: Facts) -> NotApplicable | None:
    """Say that ratios mean nothing here, where the report shows exactly one engine."""
    engines, _ = busy_of(facts)
    return NotApplicable("one engine: every hash table has one spinlock") if engines == 1 else None
