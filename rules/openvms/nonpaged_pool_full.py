"""Nonpaged pool is as large as it may get, and nearly all of it is in use.

Finds: nonpaged pool that has grown to NPAGEVIR with next to nothing free (SHOW MEMORY, SHOW MEMORY/POOL/FULL), and
processes in RWNPG (SHOW SYSTEM), which wait for a piece of it.

Why it matters: the system allocates nonpaged pool for its own structures: locks, network and disk I/O, open files. It
begins with NPAGEDYN bytes and grows up to NPAGEVIR; where that is too small, the vendor says, the system can hang. A
process that asks in vain is in the state RWNPG until somebody gives a piece back.

What to do: raise NPAGEVIR, which costs 8 bytes for each page that is not used (4 on VAX), and NPAGEDYN to what is in
use, so that the pool need not grow into it again, both as floors in MODPARAMS.DAT for AUTOGEN, which knows by its
feedback how large the pool became. Neither is dynamic. First look what holds it (SDA, SHOW POOL/SUMMARY): a structure
whose number only grows is a leak, which a larger pool only puts off. AUTOGEN takes no more than half of main memory for
NPAGEVIR by itself; neither does this rule.

When to ignore it: a pool that has reached its maximum and has room within it is as it was planned (NPAGEDYN equal to
NPAGEVIR); a pool that is full and may still grow does so at the next request.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

from collectors.facts import Facts, Source
from collectors.facts.openvms import MemoryUse, Process
from rules.changes.openvms_sysgen import PARAMETERS, advise_parameter, set_parameter
from rules.changes.quoting import comment
from rules.engine import limit, percent, rule
from rules.finding import (
    Change,
    Clean,
    Evidence,
    Expectation,
    Finding,
    NotApplicable,
    Outcome,
    Severity,
    Unknown,
    enumerated,
    joined,
)
from rules.laws.rounding import plain
from rules.openvms._evidence.autogen import hard_coded
from rules.openvms._evidence.memory import free_memory, main_memory
from rules.openvms._evidence.node import NODE_FACTS, node_name, parameter_of, pending_said, pending_value, subject_of
from rules.openvms._evidence.pools import NONPAGED, Pool, pools_of

LINKS = ("https://wiki.vmssoftware.com/NPAGEVIR",)
NPAGEDYN, NPAGEVIR = "NPAGEDYN", "NPAGEVIR"
RWNPG = "RWNPG"
MB = 2**20
MOST_NAMED = 3
SHOWN = "SHOW MEMORY/POOL/FULL"


@dataclass(frozen=True)
class Limits:
    """When a pool is full, and how much larger it is to get."""

    grown_percent: float = percent(
        99.0, "this project: pages and roundings of the display are the rest", low=50, of=NPAGEVIR
    )
    free_percent: float = percent(5.0, "this project: of that little the largest piece is a small one", of="the pool")
    growth: float = limit(
        3.0, "this project: how much more is asked for the failures do not tell, and unused it costs nothing", high=16
    )
    room: float = limit(1.25, "this project: a quarter more than is in use", low=1, high=4)


@rule(needs=(), uses=(*NODE_FACTS, MemoryUse, Process), links=LINKS, limits=Limits, sample=None)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Hold the newest display of the pool against how large it may get, and look who waits for it."""
    waiting = [one for one in facts.every(Process) if one.state.upper() == RWNPG]
    pools = pools_of(facts, NONPAGED)
    if not pools:
        if waiting:
            yield _waiting_alone(facts, waiting)
            yield Unknown.without("nonpaged pool", SHOWN)
        else:
            yield NotApplicable(f"nonpaged pool was not collected ({SHOWN})")
        return
    pool = pools[-1]
    free = 100 * pool.free / pool.total
    said = f"{plain(pool.free, 3)} MB of {plain(pool.total, 4)} MB nonpaged pool are free"
    if free > limits.free_percent and not waiting:
        yield Clean(f"{said}, {free:.0f} %; limit {limits.free_percent:g} %")
        return
    most = _most(facts, pool)
    if not isinstance(most, tuple):
        if waiting:
            yield _waiting_alone(facts, waiting, said)
        yield most
        return
    if pool.total * 100 < most[0] * limits.grown_percent:
        grows = f"{said}; it may grow to {plain(most[0], 4)} MB"
        yield _waiting_alone(facts, waiting, grows) if waiting else Clean(grows)
        return
    yield _full(facts, limits, pools, most, waiting)


def _most(facts: Facts, pool: Pool) -> tuple[float, Source] | Outcome:
    """How large the pool may get, in MB: as the display of the pool says, else the parameter that runs."""
    if pool.most is not None:
        return pool.most, pool.source
    known_range = PARAMETERS[NPAGEVIR]
    found = parameter_of(facts, NPAGEVIR, known_range.low, known_range.high)
    return (found[0] / MB, found[1].source) if isinstance(found, tuple) else found


def _who(waiting: list[Process]) -> str:
    names = [comment(one.name, 15) for one in waiting[:MOST_NAMED]]
    more = len(waiting) - len(names)
    return enumerated([*names, f"{more} more"] if more else names)


def _waits(waiting: list[Process]) -> str:
    many = len(waiting)
    return f"{many} process{'es wait' if many > 1 else ' waits'} for nonpaged pool ({RWNPG}): {_who(waiting)}"


def _of_waiting(waiting: list[Process]) -> tuple[Evidence, ...]:
    return (Evidence(f"processes in {RWNPG}", len(waiting), "processes", waiting[0].source),) if waiting else ()


def _waiting_alone(facts: Facts, waiting: list[Process], pool: str = "") -> Finding:
    """Processes that wait, while nothing shows that the pool is at its end: of one moment, so nothing is changed."""
    return Finding(
        subject=subject_of(facts),
        severity=Severity.ADVICE if not pool else Severity.NOTE,
        title=f"{len(waiting)} process{'es wait' if len(waiting) > 1 else ' waits'} for nonpaged pool",
        seen=f"In SHOW SYSTEM {_waits(waiting)}.",
        because="A process in this state goes on only once somebody gives back a piece of nonpaged pool.",
        do=f"Look with {SHOWN} while they wait: whether the pool is as large as it may get, and how large its largest "
        "free piece is.",
        unknown=f"SHOW SYSTEM is one moment; {pool}." if pool else "SHOW SYSTEM is one moment.",
        evidence=_of_waiting(waiting),
    )


def _full(
    facts: Facts, limits: Limits, pools: list[Pool], most: tuple[float, Source], waiting: list[Process]
) -> Finding:
    pool, (largest, where) = pools[-1], most
    full, grown = 100 - 100 * pool.free / pool.total, 100 * pool.total / largest
    evidence = [
        Evidence("nonpaged pool in use", round(full, 1), "%", pool.source, 100 - limits.free_percent, "of its size"),
        Evidence("its size, of what it may get", round(grown, 1), "%", pool.source, limits.grown_percent, "as a share"),
        Evidence("nonpaged pool", pool.total, "MB", pool.source),
        Evidence("of it free", pool.free, "MB", pool.source),
        Evidence("how large it may get", round(largest, 2), "MB", where),
        *_of_waiting(waiting),
    ]
    piece = ""
    if pool.largest is not None:
        piece = f", its largest free piece has {plain(pool.largest * 1024, 3)} KB"
        evidence.append(Evidence("largest free piece", round(pool.largest * 1024, 2), "KB", pool.source))
    changes, memory = _changes(facts, limits, pool)
    grew = ""
    if len(pools) > 1:
        used = [one.total - one.free for one in pools]
        grew = f"In {len(pools)} displays {plain(min(used), 4)} to {plain(max(used), 4)} MB of it were in use."
    raised = " and ".join(
        f"{one.target} {one.old:,.0f} → {one.new:,.0f}"
        for one in changes
        if isinstance(one.old, float) and isinstance(one.new, float | int)
    )
    do = f"Raise {raised} (bytes; floors in MODPARAMS.DAT, AUTOGEN with feedback, reboot)." if raised else ""
    if not changes:
        do = f"Collect {NPAGEVIR} and {NPAGEDYN} (SYSGEN) for values to raise them to; both take a reboot."
    return Finding(
        subject=subject_of(facts),
        severity=Severity.WARNING if waiting else Severity.ADVICE,
        urgent=bool(waiting),
        title=f"Nonpaged pool is full: {plain(pool.free, 2)} MB free of {plain(pool.total, 4)} MB, and it may not grow",
        seen=joined(
            f"Nonpaged pool has {plain(pool.total, 4)} MB of the {plain(largest, 4)} MB it may get, "
            f"{plain(pool.free, 2)} MB are free{piece}{'; ' + _waits(waiting) if waiting else ''}.",
            grew,
        ),
        because=f"Where {NPAGEVIR} is too small the system can hang, the vendor says; what asks in vain waits.",
        do=joined(
            f"First see what holds it (SDA> SHOW POOL/SUMMARY): one structure that only grows is a leak, which a "
            f"larger pool puts off. {do}",
            *(hard_coded(facts, one) for one in (NPAGEVIR, NPAGEDYN)),
        ),
        unknown=joined(memory, *(pending_said(facts, one).strip() for one in (NPAGEVIR, NPAGEDYN))),
        evidence=tuple(evidence),
        changes=tuple(changes),
        expects=(Expectation(f"processes in {RWNPG}", len(waiting), 0, "heuristic"),) if waiting else (),
    )


def _changes(facts: Facts, limits: Limits, pool: Pool) -> tuple[list[Change], str]:
    """The floors for both parameters, as far as their values came along, and what memory has to do with it."""
    memory, free = main_memory(facts), free_memory(facts)
    wanted = {
        NPAGEVIR: pool.total * limits.growth,
        NPAGEDYN: math.ceil((pool.total - pool.free) * limits.room),
    }
    if memory:
        wanted[NPAGEVIR] = min(wanted[NPAGEVIR], memory.mb / 2)
    grows = wanted[NPAGEVIR] - pool.total
    enough = free is not None and free.mb >= grows
    made = []
    for name, size in wanted.items():
        allowed = PARAMETERS[name]
        found = parameter_of(facts, name, allowed.low, allowed.high)
        new = min(int(size) * MB, allowed.high)
        if not isinstance(found, tuple) or new <= found[0]:
            continue
        more = max(0.0, new / MB - pool.total) if name == NPAGEDYN else 0.0
        pending, node = pending_value(facts, name), node_name(facts)
        if enough:
            made.append(
                set_parameter(
                    name, found[0], new, dynamic=False, minimum=True, memory_mb=more, node=node, pending=pending
                )
            )
        else:
            when = f"once SHOW MEMORY has {grows:,.0f} MB of main memory free"
            made.append(advise_parameter(name, found[0], new, when=when, memory_mb=more, node=node, pending=pending))
    if free is None:
        return made, "How much main memory is free is not in the export: the pool takes it as it grows."
    return made, "" if enough else f"Only {free.said}: a larger pool takes it from the processes."
