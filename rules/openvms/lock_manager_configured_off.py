"""A dedicated lock manager is configured and does not run.

Finds: LCKMGR_MODE, as it runs (ACTIVE), above the number of active CPUs. It is the number of CPUs that have to be
active before the lock manager takes one for itself, not a CPU number: with fewer it turns itself off within a second.
Also: enough CPUs are active and LCKMGR_SERVER hibernates all the same.

Why it matters: who set it believes that lock operations have a CPU of their own. They have not: callers spin in MP
synchronisation as if it had never been set. A CPU that was stopped (STOP/CPU, iCAP) or did not start is enough.

What to do: where it is meant to run, start the CPU again, or lower LCKMGR_MODE to the CPUs that are active: it is
dynamic and takes effect at once. Whether a CPU is worth it is another question (openvms/lock_manager_needs_own_cpu):
the vendor asks for more than five CPUs and MP synchronisation above two CPUs' worth. Where it is not meant to run,
LCKMGR_MODE 0 says so.

When to ignore it: while a CPU is out for service and comes back.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from collectors.facts import Facts, known
from collectors.facts.openvms import DedicatedLockManager, Process, ProcessorModes, SysgenParameter
from rules.changes.openvms_sysgen import advise_parameter
from rules.finding import Change, Clean, Evidence, Expectation, Finding, Lacking, Outcome, Severity, Unknown
from rules.judging.openvms.cpu_layout import READ, SERVER, Layout, no_dedicated
from rules.judging.openvms.node import parameter_of, pending_of, pending_text
from rules.judging.openvms.spinning import asleep
from rules.kit import limit, rule

LINKS = ("https://wiki.vmssoftware.com/LCKMGR_MODE",)
NAME = "LCKMGR_MODE"
HIGHEST = 1024
"""This project: no listing's maximum is believed beyond the CPUs that a node can number."""


@dataclass(frozen=True)
class Limits:
    """The vendor's two figures for a lock manager with a CPU of its own."""

    least_cpus: int = limit(
        6, "vendor: more than five CPUs (OpenVMS V7.3 New Features, 4.4.1)", low=2, high=32, unit="CPUs"
    )
    mp_synch_percent: float = limit(
        200.0, "vendor: higher than 200 % (OpenVMS V7.3 New Features, 4.4.1): advice, else a note", unit="% of one CPU"
    )


@rule(needs=(), uses=(*READ, Process, DedicatedLockManager), links=LINKS, limits=Limits)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Hold the parameter against the CPUs that are active."""
    layout = Layout(facts)
    setting = parameter_of(facts, NAME, 0, HIGHEST)
    if quiet := no_dedicated(layout):
        yield quiet
    elif not isinstance(setting, tuple):
        yield _spins_little(facts, limits, setting) or setting
    elif not setting[0]:
        waits = pending_of(facts, NAME)
        yield Clean(f"{NAME} 0: none is configured{f'; {pending_text(NAME, waits[0])}' if waits else ''}")
    elif layout.lock_manager:
        yield Clean(f"{NAME} {setting[0]:.0f}, and the lock manager runs on CPU {layout.lock_manager[0]}")
    elif any(one.on for one in facts.every(DedicatedLockManager)):
        yield Clean(f"{NAME} {setting[0]:.0f}, and the [LCK73] columns show it at work")
    elif layout.active is None:
        yield Unknown((Lacking("number of active CPUs", "SHOW FASTPATH"),), f"{NAME} {setting[0]:.0f}")
    elif setting[0] > layout.active:
        yield _finding(facts, layout, limits, *setting)
    elif server := asleep(layout):
        yield _asleep(layout, server, *setting, spins=_synch(facts) > limits.mp_synch_percent)
    elif layout.fastpath_read:
        why = f"{NAME} {setting[0]:.0f} with {layout.active:.0f} active CPUs, and SHOW FASTPATH has no lock manager"
        yield Unknown((Lacking(f"state of {SERVER}", f"SHOW SYSTEM/PROCESS={SERVER}"),), why)
    else:
        yield Clean(f"{NAME} {setting[0]:.0f}, and {layout.active:.0f} CPUs are active: enough for it to run")


def _synch(facts: Facts) -> float:
    """MP synch that lasts, per cent of one CPU; 0 where none was read."""
    modes = facts.latest(ProcessorModes, statistic="p95") or facts.latest(ProcessorModes, statistic="mean")
    return modes.mp_synch_percent if modes and known(modes.mp_synch_percent) else 0.0


def _asleep(layout: Layout, server: Process, mode: float, fact: SysgenParameter, *, spins: bool) -> Finding:
    """Enough CPUs are active, and the process of the lock manager hibernates all the same."""
    active, read_in = layout.active_read
    return Finding(
        subject=layout.subject,
        severity=Severity.ADVICE if spins else Severity.NOTE,
        title=f"Dedicated lock manager configured, off: {SERVER} hibernates with {active:.0f} active CPUs",
        says=(
            f"{NAME} is {mode:.0f} and {active:.0f} CPUs are active, enough for it, yet {SERVER} was in state "
            f"{server.state}: started and off, so the lock manager has no CPU of its own. Either the value was set "
            f"after that display, or its listing is not of the active one: look at both at one time (MCR SYSGEN, USE "
            f"ACTIVE, SHOW {NAME}, then SHOW SYSTEM and SHOW FASTPATH) before anything is set."
        ),
        evidence=(
            Evidence(NAME, mode, "", fact.source),
            Evidence("active CPUs", active, "CPUs", read_in),
            Evidence(f"state of {SERVER}", server.state, "", server.source),
        ),
    )


def _spins_little(facts: Facts, limits: Limits, setting: Outcome) -> Clean | None:
    """Without the parameter: in order where so little spins that it makes no difference."""
    modes = facts.latest(ProcessorModes, statistic="p95") or facts.latest(ProcessorModes, statistic="mean")
    if not isinstance(setting, Unknown) or modes is None or not known(modes.mp_synch_percent):
        return None
    if not 0 <= modes.mp_synch_percent <= limits.mp_synch_percent:
        return None
    return Clean(
        f"{setting.why}; MP synch {modes.mp_synch_percent:g} % of one CPU ({modes.statistic}, limit "
        f"{limits.mp_synch_percent:g}): whether one is configured makes no difference"
    )


def _finding(facts: Facts, layout: Layout, limits: Limits, mode: float, fact: SysgenParameter) -> Finding:
    active, read_in = layout.active_read
    modes = facts.latest(ProcessorModes, statistic="p95") or facts.latest(ProcessorModes, statistic="mean")
    synch = modes.mp_synch_percent if modes and known(modes.mp_synch_percent) else None
    spins = synch is not None and synch > limits.mp_synch_percent
    stopped = layout.stopped
    out = f"CPU {', '.join(map(str, stopped))} {'are' if len(stopped) > 1 else 'is'} stopped. " if stopped else ""
    enough = active >= limits.least_cpus
    ways = f"START/CPU brings it to life as soon as {mode:.0f} CPUs are active. " if stopped else ""
    if enough:
        ways += (
            f"{NAME} {limits.least_cpus} (dynamic: at once, with SYSGEN WRITE ACTIVE) would turn it on with the "
            f"{active:.0f} CPUs there are; it then takes one of them. "
        )
    else:
        ways += f"With {active:.0f} CPUs the vendor does not ask for one (more than five), so do not lower it. "
    ways += f"Where it is not meant to run, {NAME} 0 says so."
    loss = (
        f" Meanwhile MP synch is {synch:.0f} % of one CPU ({modes.statistic})." if synch is not None and modes else ""
    )
    server = facts.latest(Process, name=SERVER)
    hibernates = f" {SERVER} is there and waits ({server.state})." if server and server.state == "HIB" else ""
    waits = pending_of(facts, NAME)
    pending = f" {pending_text(NAME, waits[0])}" if waits else ""
    changes: tuple[Change, ...] = ()
    if enough and not spins:
        when = "only if it is meant to run with the CPUs that are active now"
        worth = "Whether a CPU is worth it: openvms/lock_manager_needs_own_cpu."
        changes = (advise_parameter(NAME, mode, limits.least_cpus, when=when, cautions=(worth,), node=layout.node),)
    return Finding(
        subject=layout.subject,
        severity=Severity.ADVICE if spins else Severity.NOTE,
        title=f"Dedicated lock manager configured, off: {NAME} {mode:.0f} with {active:.0f} active CPUs",
        says=(
            f"{NAME} is {mode:.0f}, so {mode:.0f} CPUs have to be active, and {active:.0f} are: {mode - active:.0f} "
            f"too few, so the lock manager has no CPU of its own. {out}{ways}{loss}{hibernates}{pending}"
        ),
        evidence=(
            Evidence(NAME, mode, "", fact.source, active),
            Evidence("active CPUs", active, "CPUs", read_in),
        ),
        explains=("openvms/lock_manager_needs_own_cpu",) if spins else (),
        changes=changes,
        expects=(Expectation("CPUs that have to be active", mode, limits.least_cpus, "arithmetic"),) if enough else (),
    )
