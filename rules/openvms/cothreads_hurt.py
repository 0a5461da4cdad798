"""Co-threads are on while the load is light or bound by locks.

Finds: CPUs with a running co-thread (`Cothd` in SHOW CPU/FULL) on a node that is either half idle even when busy, or
that spends much of its busy time in MP synchronisation.

Why it matters: co-threads pay where many busy threads compute. OpenVMS takes each for a full CPU, and an idle one still
runs its idle loop on the core of a busy one; so a light load gets slower. A load that waits for a spinlock only gets
more CPUs to wait with. On a BL870c one lock operation took 3.9 µs with co-threads and a dedicated lock manager, and
2.7 µs (one process) without both (source document 000).

What to do: stop one co-thread, never a primary, the lock manager's CPU or that of TCP/IP; measure the same work before
and after, in throughput per second and time per operation; go on to the next only if it helped.

When to ignore it: when the busy threads compute and do not wait, when there are hours busier than those in the export,
or on a machine whose figures you cannot repeat under the same load.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from collectors.facts import Facts, known
from collectors.facts.openvms import Cpu, Node, ProcessorModes
from rules.finding import (
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
from rules.judging.cpu_layout import READ, Layout, Pair
from rules.kit import limit, rule

LINKS = (
    "https://wiki.vmssoftware.com/MONITOR_MODES",
    "https://digiater.com/openvms/doc/ia64-v8.3/opsys/vmsos83/9996/9996pro_277.html",
)
PARTS = ("interrupt", "mp_synch", "kernel", "exec", "super", "user")


@dataclass(frozen=True)
class Limits:
    """What counts as light, and what as bound by locks."""

    light_percent: float = limit(
        50.0, "this project: up to half busy, each busy thread could have a core to itself", high=100, unit="%"
    )
    synch_share_percent: float = limit(
        20.0,
        "practice: at the highest lock rate of a BL870c 40 of 200 busy per cent were MP synch (source document 000)",
        high=100,
        unit="%",
    )
    synch_percent: float = limit(
        100.0, "this project: below one CPU's worth of MP synch there is little to win", unit="% of one CPU"
    )


@rule(needs=(Cpu, ProcessorModes), uses=READ, links=LINKS, limits=Limits)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Judge the node, and name one co-thread to begin with."""
    layout = Layout(facts)
    hardware = next((node.hardware for node in reversed(facts.every(Node)) if node.hardware), "") or ""
    if "ALPHASERVER" in hardware.upper() or hardware.upper().startswith(("VAX", "MICROVAX")):
        yield NotApplicable(f"{hardware}: co-threads are of Integrity servers")
        return
    read = layout.pairs()
    yield from (pair for pair in read if isinstance(pair, Untrusted))
    pairs = [pair for pair in read if isinstance(pair, Pair)]
    if not pairs and not any(isinstance(pair, Untrusted) for pair in read):
        yield _without_pairs(facts)
        return
    on = [pair for pair in pairs if _both_run(layout, pair)]
    unread = [pair for pair in pairs if _both_run(layout, pair) is None]
    said = list(_load(facts, limits, layout, on)) if on else []
    yield from said
    if any(isinstance(one, Clean) for one in said):
        return
    if pairs and not on and not unread:
        yield Clean(f"of each of the {len(pairs)} cores that were read one co-thread is stopped")
    yield from (Unknown((_state(layout, pair),)) for pair in unread)
    if pairs and not layout.all_full:
        yield Unknown((Lacking("co-threads of all CPUs (Cothd)", "SHOW CPU/FULL"),))


def _without_pairs(facts: Facts) -> Outcome:
    if any(one.full for one in facts.every(Cpu)):
        return Clean("no Cothd in a full display: co-threads are off")
    return Unknown((Lacking("co-threads (Cothd)", "SHOW CPU/FULL"),))


def _both_run(layout: Layout, pair: Pair) -> bool | None:
    states = [layout.runs(cpu) for cpu in pair.both]
    return False if False in states else None if None in states else True


def _state(layout: Layout, pair: Pair) -> Lacking:
    cpu = next(cpu for cpu in pair.both if layout.runs(cpu) is None)
    return Lacking(f"state of CPU {cpu}", f"SHOW CPU {cpu}/FULL")


def _load(facts: Facts, limits: Limits, layout: Layout, on: list[Pair]) -> Iterator[Outcome]:
    modes = facts.latest(ProcessorModes, statistic="p95") or facts.latest(ProcessorModes, statistic="mean")
    if modes is None or not known(modes.cpus) or modes.cpus < 1:
        yield Unknown((Lacking("time in processor modes", ProcessorModes.BRING),))
        return
    figures = [getattr(modes, f"{part}_percent") for part in PARTS]
    if not all(known(figure) for figure in figures):
        yield Unknown((Lacking("all processor modes", ProcessorModes.BRING),))
        return
    busy, synch, whole = sum(figures), figures[1], 100 * modes.cpus
    if min(figures) < 0 or max(figures) > whole * 1.02:
        yield Untrusted(f"processor modes of {min(figures):g} to {max(figures):g} % on {modes.cpus:g} CPUs")
        return
    busy = min(busy, whole)
    share = 100 * synch / busy if busy else 0.0
    locks = synch >= limits.synch_percent and share >= limits.synch_share_percent
    said = f"{busy:.0f} of {whole:.0f} % busy ({modes.statistic}), {share:.0f} % of it MP synch"
    if not locks and busy > whole * limits.light_percent / 100:
        yield Clean(f"co-threads are on and busy with work: {said}")
        return
    evidence = (
        Evidence(f"busy ({modes.statistic})", round(busy, 2), "% of one CPU", modes.source),
        Evidence("MP synch share of it", round(share, 2), "%", modes.source, limits.synch_share_percent),
        *(Evidence(f"co-thread of CPU {pair.cpu} (Cothd)", pair.both[-1], "", pair.source) for pair in on),
    )
    yield from _advise(layout, on, evidence, said, locks)


def _advise(
    layout: Layout, on: list[Pair], evidence: tuple[Evidence, ...], said: str, locks: bool
) -> Iterator[Outcome]:
    order = [cpu for pair in on if (cpu := _to_stop(layout, pair)) is not None] if layout.fastpath_read else []
    manager = layout.pair(layout.lock_manager[0]) if layout.lock_manager else None
    first = manager.sibling if isinstance(manager, Pair) else None
    order.sort(key=lambda cpu: (cpu != first, cpu))
    what = "waits for spinlocks" if locks else "is light"
    if order:
        then = f"; if that helped, go on with CPU {', '.join(map(str, order[1:]))}, one at a time" if order[1:] else ""
        step = f"Stop CPU {order[0]} and measure{then}."
    else:
        step = "What was read names no co-thread that may be stopped."
    yield Finding(
        subject=layout.subject,
        severity=Severity.ADVICE if locks else Severity.NOTE,
        title=f"Co-threads run while the load {what}: {said}",
        says=(
            f"The load {what}, and {len(on)} core(s) were read to run two co-threads each. {step} Compare the same "
            "work before and after: operations per second, and processor time per operation. Published for one BL870c: "
            "3.9 µs for a lock operation with co-threads and a dedicated lock manager, 2.7 µs without both."
        ),
        evidence=evidence,
        changes=layout.stop(order[0]) if order else (),
        expects=(
            Expectation(
                "time per operation", None, "lower, else START/CPU (published: 3.9 to 2.7 µs a lock)", "published"
            ),
        ),
    )
    if not layout.fastpath_read:
        yield Unknown((Lacking("devices and services of each CPU", "SHOW FASTPATH"),))


def _to_stop(layout: Layout, pair: Pair) -> int | None:
    """The CPU of a core that may go: without a device before one with devices, of equals the higher number."""
    may = [cpu for cpu in pair.both if layout.why_not_stop(cpu) is None]
    return min(may, key=lambda cpu: (len(layout.devices_on(cpu)), -cpu), default=None)
