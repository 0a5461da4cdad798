"""Co-threads are on while the load is light or bound by locks.

Finds: CPUs with a running co-thread (`Cothd` in SHOW CPU/FULL) on a node that is either half idle even when busy, or
that spends much of its busy time in MP synchronization; or on which a test of this very node, or of a machine of its
model, clock and cores, gained nothing with co-threads and lost by more than noise.

Why it matters: co-threads pay where many busy threads compute. OpenVMS takes each for a full CPU, and an idle one still
runs its idle loop on the core of a busy one; so a light load gets slower. A load that waits for a spinlock only gets
more CPUs to wait with. On a BL870c one lock operation took 3.9 µs with co-threads and a dedicated lock manager, and 2.7
µs (one process) without both (JCC Consulting's slides on the OpenVMS lock manager, 2014): two differences at once, so
it is no measure of either alone.

What to do: where the load waits for locks, stop one co-thread, never a primary, the lock manager's CPU or that of
TCP/IP; begin with the one beside the CPU that the lock manager has or is to get, in a step of its own. Measure the same
work before and after, in throughput per second and time per operation; go on to the next only if it helped. A test of
locks alone is a reason to try it, not more: threads that compute may gain, and no more CPUs go than the busiest time
leaves idle. A light load needs nothing. Where a dedicated lock manager does little, give its CPU back first.

On x86-64 a test of the node is needed besides a display of the pairs, and nothing is scripted; a guest sees those that
its host lets it see.

When to ignore it: when the busy threads compute and do not wait, when there are hours busier than those in the export,
or on a machine whose figures you cannot repeat under the same load.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from collectors.facts import Facts
from collectors.facts.openvms import Cpu, DedicatedLockManager, ProcessorModes
from rules.changes.openvms_sysgen import parameter_key
from rules.engine import limit, percent, rule
from rules.finding import (
    Change,
    Clean,
    Evidence,
    Expectation,
    Finding,
    MissingInput,
    NotApplicable,
    Outcome,
    Severity,
    Unknown,
    Untrusted,
    joined,
)
from rules.laws.series import NOISE
from rules.openvms._evidence.chains import NAME as TABLE
from rules.openvms._evidence.chains import Chain, chain_of
from rules.openvms._evidence.cpu_layout import LAYOUT_FACTS, Layout, Pair
from rules.openvms._evidence.debug_modes import debug_modes
from rules.openvms._evidence.dedicated import day_of, hidden_in_kernel
from rules.openvms._evidence.node import Work, in_prose, work_of
from rules.openvms._evidence.own_runs import WithAndWithout, own_peak, with_and_without, with_stopped
from rules.openvms._evidence.placement import placement_of
from rules.openvms._evidence.releases import Machine, machine_of
from rules.openvms._evidence.sampling import LEAST_MINUTES, LEAST_SAMPLES, SAMPLE_FACTS, least, too_short
from rules.sources import JCC

FIRMWARE = (
    "Hyperthreads as a whole are a setting of the firmware, on the server's console: no export of OpenVMS shows it, "
    "and the platform's manual says how (no command for it is known here)."
)
LINKS = (
    "https://wiki.vmssoftware.com/MONITOR_MODES",
    "https://digiater.com/openvms/doc/ia64-v8.3/opsys/vmsos83/9996/9996pro_277.html",
)


HOSTED = (
    "On a guest the pairs are those its host lets it see. Hyperthreads as a whole are a setting of the host or its "
    "firmware, which no export of OpenVMS shows."
)
COMPARE = (
    "Compare the same work before and after, in operations per second and processor time per operation: START/CPU if "
    "it is not better."
)
HOST = (
    MissingInput(
        "which CPUs are threads of one core", "of the hypervisor, in words: cores and threads behind the virtual CPUs"
    ),
    MissingInput(
        "CPU limit, reservation and waiting of the virtual machine",
        "of the hypervisor, for the time of the capture: limit, reservation, time its CPUs were ready and not run",
    ),
)
"""What is asked where OpenVMS is a guest; nothing is claimed of either."""
MOST_PAIRS = 4
"""Cores that are named in a sentence."""
PEAK_SHARE = 20.0
"""MP synch in the busy time at the published peak, per cent; where this node was tested, its own replaces it."""


@dataclass(frozen=True)
class Limits:
    """What counts as light, and what as bound by locks."""

    light_percent: float = percent(50.0, "this project: up to half busy, each busy thread could have a core to itself")
    synch_share_percent: float = percent(
        PEAK_SHARE, f"practice: at the highest lock rate of a BL870c 40 of 200 busy per cent were MP synch ({JCC})"
    )
    synch_percent: float = limit(
        100.0, "this project: below one CPU's worth of MP synch there is little to win", unit="% of one CPU"
    )
    idle_percent: float = percent(5.0, "this project: a dedicated lock manager less busy than this is to go first")
    least_samples: int = limit(
        LEAST_SAMPLES, "this project: no minimum is published; fewer samples stop no CPU", low=2, unit="samples"
    )
    least_minutes: float = limit(
        LEAST_MINUTES, "this project: no minimum is published; ten minutes of the load in question", unit="minutes"
    )


@rule(
    needs=(Cpu,),
    uses=(*LAYOUT_FACTS, *SAMPLE_FACTS, DedicatedLockManager),
    links=LINKS,
    limits=Limits,
    sample=lambda limits: least(limits.least_samples, limits.least_minutes),
)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Judge the node, and name one co-thread to begin with."""
    layout = Layout(facts)
    tried = with_and_without(facts, "threads", of_model=True)
    if not facts.every(ProcessorModes) and not (tried and tried.costs):
        yield Unknown.of(ProcessorModes)
        return
    machine = machine_of(facts)
    if machine.without_cothreads:
        yield NotApplicable(f"{machine.no_integrity}: co-threads are of Integrity servers")
        return
    read = layout.pairs()
    if machine.x86:
        on = [one for one in read if isinstance(one, Pair) and _both_run(layout, one)]
        yield _tested_guest(layout, on, tried) if on and tried else _of_host(facts, machine, limits)
        return
    yield from (pair for pair in read if isinstance(pair, Untrusted))
    pairs = [pair for pair in read if isinstance(pair, Pair)]
    if not pairs and not any(isinstance(pair, Untrusted) for pair in read):
        yield _without_pairs(facts)
        return
    on = [pair for pair in pairs if _both_run(layout, pair)]
    unread = [pair for pair in pairs if _both_run(layout, pair) is None]
    said = list(_load(facts, limits, layout, on, tried)) if on else []
    yield from said
    if any(isinstance(one, Clean) for one in said):
        return
    if pairs and not on and not unread:
        yield Clean(f"of each of the {len(pairs)} cores that were read one co-thread is stopped")
    yield from (Unknown((_state(layout, pair),)) for pair in unread)
    if pairs and not layout.all_full:
        yield Unknown.without("co-threads of all CPUs (Cothd)", "SHOW CPU/FULL")


def _of_host(facts: Facts, machine: Machine, limits: Limits) -> Outcome:
    """On x86-64 without a Cothd in a display: the host is asked for threads and limits, where CPUs spin at all."""
    work = work_of(facts)
    if not isinstance(work, Work):
        return work
    spun = f"MP synch {work.synch:.0f} % of one CPU"
    if work.synch < limits.synch_percent:
        return Clean(f"{spun}, limit {limits.synch_percent:g} %: threads or not, little is lost", (work.spun.source,))
    return Unknown(HOST, f"{spun} on {machine.said}: which display shows threads of a core on x86-64 was not found")


def _tested_guest(layout: Layout, on: Sequence[Pair], tried: WithAndWithout) -> Outcome:
    """On x86-64, where a display shows the threads of a core and a test of the node or its model tells their gain.

    No script: what OpenVMS does with them there is documented nowhere, so the host comes first.
    """
    if not tried.costs:
        return Clean(f"{tried.where} threads cost nothing: with them against without {tried.said}")
    second = [max(pair.both) for pair in on]
    those = f"the others of {', '.join(map(str, second))}"
    if 2 * len(on) < (layout.active or 0):  # which CPUs the other cores have was not displayed
        those = "the second CPU of each other core, which SHOW CPU/FULL tells,"
    return Finding(
        subject=layout.subject,
        severity=Severity.ADVICE,
        title=f"Two CPUs a core run, and {tried.where} they gained nothing: {tried.brief}{_less(tried)}",
        seen=(
            f"{tried.begins}, with threads against without: {tried.said}{_at_the_end(tried)}. "
            f"{len(on)} {'core has' if len(on) == 1 else 'cores have'} two CPUs each here ({_pairs(on)})."
        ),
        because="A test of locks alone: threads that compute may gain by them, so it is a reason to try it, no proof.",
        do=(
            "One CPU for each core: have the host give this guest whole cores, with hyperthreads off. Or try it from "
            f"within: STOP/CPU {second[0]}, then {those} one at a time, while the same work does not get "
            "slower (START/CPU undoes it)."
        ),
        unknown=HOSTED,
        evidence=(*tried.proof, *_named(on)),
        expects=_expects(tried, back=True),
    )


def _pairs(on: Sequence[Pair]) -> str:
    """The CPUs of the first cores: `0/1, 2/3`."""
    named = ["/".join(map(str, pair.both)) for pair in on[:MOST_PAIRS]]
    return ", ".join([*named, *["…"][: len(on) > MOST_PAIRS]])


def _without_pairs(facts: Facts) -> Outcome:
    if any(one.full for one in facts.every(Cpu)):
        return Clean("no Cothd in a full display: co-threads are off")
    return Unknown.without("co-threads (Cothd)", "SHOW CPU/FULL")


def _both_run(layout: Layout, pair: Pair) -> bool | None:
    states = [layout.runs(cpu) for cpu in pair.both]
    return False if False in states else None if None in states else True


def _state(layout: Layout, pair: Pair) -> MissingInput:
    cpu = next(cpu for cpu in pair.both if layout.runs(cpu) is None)
    return MissingInput(f"state of CPU {cpu}", f"SHOW CPU {cpu}/FULL")


def _load(
    facts: Facts, limits: Limits, layout: Layout, on: list[Pair], tried: WithAndWithout | None
) -> Iterator[Outcome]:
    if tried and tried.costs and not facts.every(ProcessorModes):
        yield from _advise(layout, on, (*tried.proof, *_named(on)), "", False, tried, False, None, None, tested=True)
        return
    work = work_of(facts)
    if not isinstance(work, Work):
        yield work
        return
    if tried and tried.gains and not tried.loses:
        yield Clean(f"{tried.where} co-threads gained: with them against without {tried.said}")
        return
    if limits.synch_share_percent == PEAK_SHARE and (own := own_peak(facts, with_it=False)) and own.share_at_peak:
        limits = replace(limits, synch_share_percent=round(own.share_at_peak, 1))  # a site's own limit stays
    whole = 100 * work.cpus
    locks = work.sustained and work.synch >= limits.synch_percent and work.share >= limits.synch_share_percent
    said = f"{work.busy:.0f} of {whole:.0f} % busy ({work.modes.statistic}), {work.share:.0f} % of it MP synch"
    tested = bool(tried and tried.costs) and not locks
    if not locks and not tested and work.busiest > whole * limits.light_percent / 100:
        why = f"co-threads are on and busy with work: {said}; at the busiest {work.busiest:.0f} %"
        yield hidden_in_kernel(facts, why) or Clean(why, (work.modes.source,))
        return
    bound = None if tested else limits.synch_share_percent
    proof = tried.proof if tried else ()
    evidence = (
        *(proof if tested else ()),
        Evidence(f"busy ({work.modes.statistic})", round(work.busy, 2), "% of one CPU", work.modes.source),
        Evidence("MP synch share of it", round(work.share, 2), "%", work.modes.source, bound),
        Evidence(f"MP synch ({work.spun.statistic})", work.synch, "% of one CPU", work.spun.source),
        *_named(on),
        *(() if tested else proof),
    )
    served = day_of(facts)
    idle = layout.lock_manager is not None and served is not None and served[0] < limits.idle_percent
    short = too_short(facts, work.spun.source, limits.least_samples, limits.least_minutes) if locks else None
    spare = int((whole - work.busiest) // 100)
    yield from _advise(layout, on, evidence, said, locks, tried, idle, short, spare, tested=tested)


def _named(on: Sequence[Pair]) -> tuple[Evidence, ...]:
    return tuple(Evidence(f"co-thread of CPU {pair.cpu} (Cothd)", pair.both[-1], "", pair.source) for pair in on)


def _stopped_in_test(
    layout: Layout, on: Sequence[Pair], tested: WithAndWithout | None, spare: int | None
) -> tuple[tuple[int, ...], WithAndWithout] | None:
    """The co-threads that were stopped in a test that gained by it, where all of them may be stopped now.

    Not where the lock manager has a CPU: with each one less it may turn itself off. `spare`: CPUs idle at the busiest
    time; `None`: not read.
    """
    found = None if layout.lock_manager else with_stopped(layout.facts, tested)
    if found is None or (spare is not None and len(found[0]) > spare):
        return None
    cpus, run = {*found[0]}, {cpu for pair in on for cpu in pair.both}
    one_of_each = all(len({*pair.both} & cpus) < 2 for pair in on)
    return found if one_of_each and cpus <= run and not any(map(layout.why_not_stop, cpus)) else None


def _advise(
    layout: Layout,
    on: list[Pair],
    evidence: tuple[Evidence, ...],
    said: str,
    locks: bool,
    tried: WithAndWithout | None,
    idle: bool,
    short: str | None,
    spare: int | None,
    *,
    tested: bool,
) -> Iterator[Outcome]:
    """What to stop first; `tested`: `tried` lost by them and is the reason, `spare`: CPUs idle at the busiest time."""
    together = None
    home = _home(layout)
    order = [cpu for pair in on if (cpu := _to_stop(layout, pair, home)) is not None] if layout.fastpath_read else []
    manager = layout.pair(home) if home is not None else None
    first = manager.sibling if isinstance(manager, Pair) else None
    order.sort(key=lambda cpu: (cpu != first, cpu))
    what = "waits for spinlocks" if locks else "is light"
    why = (
        "A load that waits for a spinlock only gets more CPUs to wait with."
        if locks
        else "Each co-thread counts as a full CPU, and an idle one runs its idle loop on the core of a busy one."
    )
    title = f"Co-threads run while the load {what}: {said}"
    seen = f"The load {what}: {said}; {len(on)} {'core runs' if len(on) == 1 else 'cores run'} two co-threads each."
    if tested and tried:
        title = f"Co-threads run, and {tried.where} they gained nothing: {tried.brief}{_less(tried)}"
        seen = f"{tried.begins}, with co-threads against without: {tried.said}{_at_the_end(tried)}."
        here = f"Here {said}" if said else "How busy the node is in production was not read"
        seen = f"{seen} {here}; {len(on)} cores run two co-threads ({_pairs(on)})."
        why = "A test of locks alone: threads that compute may gain by them, so it is a reason to try it, no proof."
        order = order if spare is None else order[: max(0, spare)]
        together = _stopped_in_test(layout, on, tried, spare)
    elif tried:
        why = f"{why} {tried.begins} co-threads gave {tried.brief}."
    if locks:
        together = _stopped_in_test(layout, on, tried, spare)
    then = f"; if that helped, go on with CPU {', '.join(map(str, order[1:]))}, one at a time" if order[1:] else ""
    debug = debug_modes(layout.facts) if locks else None
    if together:
        order = [*together[0]]
    if together or (tested and order and len(order) == len(on)):
        title = title.replace("Co-threads run", f"Co-threads (CPU {', '.join(map(str, order))}) run")
    stops = (layout.stop_together(order),) if together else layout.stop(order[0]) if order else ()
    stops = _in_turn(layout, stops, locks)
    if debug:
        why, step = debug.because, f"{debug.do} Until then no CPU is stopped."
    elif short:
        step = f"These are {short} (this project's minimum; none is published): collect more before a CPU is stopped."
    elif idle:
        step = "First give back the CPU of the lock manager, which does little (LCKMGR_MODE), and measure again."
    elif together:
        those, alone = ",".join(map(str, order)), "" if together[1].gains else _alone(together[1])
        step = f"STOP/CPU {those}, as in the test: {together[1].brief}{alone}. {COMPARE}"
    elif not order:
        step = "Nothing is to be stopped: what was read names no co-thread that may be stopped."
    elif locks or tested:
        one = "One CPU for each core: stop" if tested and len(order) == len(on) else "Stop"
        step = f"{one} CPU {order[0]} and measure{then}. {COMPARE}"
    else:
        step = f"Nothing has to be done; to try it, STOP/CPU {order[0]} at a quiet time and measure{then}. {COMPARE}"
    yield Finding(
        subject=layout.subject,
        severity=Severity.ADVICE if (locks or tested) and not short else Severity.NOTE,
        title=title,
        seen=seen,
        because=why,
        do=step,
        unknown=joined(_untried(tried) if tested and tried else "", FIRMWARE),
        evidence=(*evidence, *(debug.evidence if debug else ())),
        changes=stops if order and (locks or tested) and not (idle or short or debug) else (),
        expects=_expects(together[1])
        if together
        else (Expectation("time per operation", None, "lower, else START/CPU", "heuristic"),),
    )
    if not layout.fastpath_read and not together:
        yield Unknown.without("devices and services of each CPU", "SHOW FASTPATH")


def _less(tried: WithAndWithout) -> str:
    """How much less was done at most and at full load, as a clause behind it; empty where it was no less."""
    if not tried.loses:
        return _alone(tried)
    with_it, without = (run.course.steps[-1] for run in (tried.with_it, tried.without))
    full = 100 * (1 - with_it.rate / without.rate) if with_it.load > without.load and without.rate > 0 else 0.0
    at_end = f" and {full:.0f} % at full load" if full > 0 else ""
    return f", {-tried.percent:.0f} % less at most{at_end}"


def _alone(tried: WithAndWithout) -> str:
    """How one process alone did, as a clause behind both at the highest load; empty where that is within noise."""
    if tried.alone is None or min(step.rate for step in tried.alone) <= 0:
        return ""
    change = tried.alone[1].rate / tried.alone[0].rate - 1
    return f", one alone {100 * change:+.0f} %" if abs(change) > NOISE else ""


def _untried(tried: WithAndWithout) -> str:
    """That the test did not load every core, as a sentence; empty where it did, or where their number is not told."""
    last, cores = tried.last[0].load, tried.without.series.cores
    name = tried.without.series.load_name
    return f"At more than {last:g} {name} the {cores:g} cores were not tested." if cores and last < cores else ""


def _at_the_end(tried: WithAndWithout) -> str:
    """Both at the highest load that each was driven to, as a clause; empty where both were to the same."""
    with_it, without = (run.course.steps[-1] for run in (tried.with_it, tried.without))
    if with_it.load == without.load or without.rate <= 0:
        return ""
    change = 100 * (with_it.rate / without.rate - 1)
    return (
        f"; at full load {in_prose(with_it.rate)} at {with_it.load:g} against {in_prose(without.rate)} at "
        f"{without.load:g} ({change:+.0f} %)"
    )


def _expects(tried: WithAndWithout, *, back: bool = False) -> tuple[Expectation, ...]:
    """What the test gained by the setting; `back`: by leaving it."""
    name = tried.without.series.load_name
    last = f"lock operations per second in the test, at {tried.last[0].load:g} {name}"
    pairs = {"lock operations per second in the test, at most": tried.most, last: tried.last}
    if tried.alone and tried.spares and not tried.gains:
        pairs = {"lock operations per second in the test, one alone": tried.alone, **pairs}
    steps = ((what, *(pair[::-1] if back else pair)) for what, pair in pairs.items())
    return tuple(Expectation(what, round(old.rate), round(new.rate), "measured") for what, old, new in steps)


def _home(layout: Layout) -> int | None:
    """The CPU that the lock manager has, or would be given first."""
    if layout.lock_manager:
        return layout.lock_manager[0]
    return placement_of(layout).chosen if layout.all_full and layout.fastpath_read else None


def _in_turn(layout: Layout, stops: Sequence[Change], locks: bool) -> tuple[Change, ...]:
    """These stops; where the load waits for locks, after what the lock manager's own CPU or a larger table may do."""
    chain = chain_of(layout.facts)
    table = (parameter_key(TABLE, layout.node),) if isinstance(chain, Chain) and chain.explains_spinning else ()
    first = (parameter_key("LCKMGR_MODE", layout.node),) if locks and not layout.lock_manager else ()
    return tuple(
        replace(change, after=(*change.after, *first), yields_to=(*change.yields_to, *table)) for change in stops
    )


def _to_stop(layout: Layout, pair: Pair, home: int | None) -> int | None:
    """The CPU of a core that may go: without a device before one with devices, of equals the higher number.

    Never `home`, where the lock manager is or is to be.
    """
    may = [cpu for cpu in pair.both if cpu != home and layout.why_not_stop(cpu) is None]
    return min(may, key=lambda cpu: (len(layout.devices_on(cpu)), -cpu), default=None)
