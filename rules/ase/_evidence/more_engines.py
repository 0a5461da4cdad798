"""How many engines more SAP ASE is to have for a queue that nothing spins for, and from where; or none, and why.

An engine more needs a processor of the host that is idle at the same minutes, and `max online engines` has to allow it;
where it allows no more, the threads of an idle pool are moved.
"""

import math
from dataclasses import dataclass, replace

from collectors.facts import Facts, Source, known
from collectors.facts.ase import HostProcessors, RunnableTasks
from rules.ase._evidence.host import LEFT_FREE, Load, means_of, only_pool, pool_command, shares_of
from rules.ase._evidence.server import engines_of, pools_of, process_mode, setting_of
from rules.changes.ase_config import configure, legal
from rules.changes.ase_engines import fewer_threads, more_threads
from rules.changes.quoting import comment
from rules.finding import Change

MOST = "max online engines"
ADD_NONE = "Add no engine"
KEPT = 0.5
"""Of its threads, what an idle pool keeps at least, and how busy it may be of them then (this project: it was idle in
this capture, and is there for something)."""
OTHER_HOURS = "What {} does at other hours is not in this capture: hold it against its own busiest hour first."
STEP = 0.5
"""This project: half as many engines again at most before it is measured anew."""
TWICE = 2
"""This project: times the engines that run, where spins were counted, the host's idle processors are known, and even
so many would have twice as many tasks queued for each as the limit: then half as many again are too few."""
STILL = ", as even {0} would queue over {1:g} each,"
ALLOWED = 2.0
"""This project: times the engines that run that are allowed at the one restart, and then taken in steps."""
DIVIDES = (
    "It divides the procedure cache that engines keep (engine local cache percent): each gets less of it, so no higher "
    "than the engines that are to run."
)


@dataclass(frozen=True)
class Queue:
    """Tasks that could have run and had no engine."""

    tasks: float
    said: str
    source: Source


def printed_queue(facts: Facts, pool: str | None = None) -> Queue | None:
    """What sp_sysmon prints: the averages of five minutes of every queue, or of those of one pool, added up."""
    queues = {(one.pool, one.queue): one for one in facts.every(RunnableTasks)}.values()
    rows = [one for one in queues if pool is None or one.pool == pool]
    counted = [one.five_minutes for one in rows if known(one.five_minutes)]
    if not rows or len(counted) < len(rows) or any(one < 0 for one in counted):
        return None
    longest = max(rows, key=lambda one: one.five_minutes if known(one.five_minutes) else 0.0)
    tasks = sum(counted)
    return Queue(tasks, f"{tasks:,.1f} tasks runnable on average over 5 minutes", longest.source)


def not_yet(facts: Facts) -> str:
    """No engine while neither the engines' spins were counted nor the host's idle processors."""
    most = setting_of(facts, MOST)
    room = most.run_number if most else None
    configured = "" if room is None else f" ({MOST} is {room:g})"
    return f"{ADD_NONE}{configured} before the host is known to have a processor idle."


@dataclass(frozen=True)
class More:
    """That engines are added, or none, in words."""

    says: str
    changes: tuple[Change, ...] = ()
    """Where spins were counted and the host has processors idle, so that nothing has to be asked before."""


def _moved(
    facts: Facts, number: int, queue: float, idle: float | None, pool: str, room: float | None, *, counted: bool
) -> More | None:
    """Threads of an idle pool for the one that is short of them, where `max online engines` (`room`) allows no more.

    The other pool keeps half of its threads, and twice those that it keeps busy; the short one is doubled at most.
    """
    spare: dict[str, int] = {}
    for other, one in pools_of(facts).items():
        queued = printed_queue(facts, other)
        if (
            pool
            and other != pool
            and one.number
            and one.busy_percent is not None
            and not (queued and queued.tasks >= 1)
        ):
            keeps = max(one.number * KEPT, one.number * one.busy_percent / 100 / KEPT, 1.0)
            spare[other] = one.number - math.ceil(keeps)
    donor = max(spare, key=lambda name: spare[name], default="")
    more = int(min(spare.get(donor, 0), number, queue, *([idle] if idle is not None else [])))
    if more < 1 or process_mode(facts):
        return None
    has = pools_of(facts)[donor].number or 0
    means = means_of(shares_of(facts, pool))
    gives, takes = pool_command(facts, has - more, donor), pool_command(facts, number + more, pool)
    steps = (
        f"first {gives}, then {takes}"
        if gives and takes
        else f"first {donor} {has - more}, then {pool} {number + more}"
    )
    changes: tuple[Change, ...] = ()
    if counted or means:  # withheld processors are told before
        fewer = fewer_threads(donor, has, has - more)
        fewer = replace(fewer, cautions=(*fewer.cautions, OTHER_HOURS.format(comment(donor))))
        grown = replace(more_threads(pool, number, number + more), needs=(fewer.key,), after=(fewer.key,))
        changes = (fewer, grown)
    quiet = "as nothing spins" if counted else "if nothing spins"
    return More(
        f"All {room:g} {MOST} are used: {quiet}, move {more} of the other pool's threads, {steps}; measure again.",
        changes,
    )


def more_engines(
    facts: Facts, tasks_per_engine: float, number: int, queue: float, load: Load | None, pool: str, *, counted: bool
) -> More:
    """More engines where nothing spins, with the command as far as exports tell which it is.

    One where the host's processors are not known; else up to half as many again, or `TWICE` as many, no more than tasks
    queue, than `max online engines` and than cores of the host, of which one is left for the threads of disks and
    network. A pool beside others is doubled at most, within the same bounds of the whole server. `tasks_per_engine`:
    the longest queue that is short; `counted`: whether spins were.
    """
    most, host = setting_of(facts, MOST), facts.latest(HostProcessors)
    room = most.run_number if most else None
    cores = host.cores if host else None
    every = engines_of(facts).number or number
    idle = load.idle if load else None
    if load and idle is not None and idle < 1:
        return More(f"{ADD_NONE}: of {load.cpus:,.0f} CPUs of the host {idle:.1f} are idle ({load.command}).")
    if room is None and most and known(most.config_value) and isinstance(most.config_value, float):
        room = most.config_value if most.config_value >= every else None  # a configuration file has no other
    moved = (
        _moved(facts, number, queue, idle, pool, room, counted=counted) if room is not None and room <= every else None
    )
    if moved:
        return moved
    far = counted and idle is not None and queue > TWICE * tasks_per_engine * TWICE * every
    bounds = [
        every * ((TWICE - 1) if far else STEP),
        queue,
        *([number] if pool else []),
        *([idle] if idle is not None else []),
    ] + ([cores - LEFT_FREE - every] if cores is not None else [] if idle is not None else [1.0])
    more = int(min([*bounds, room - every] if room is not None and room > every else bounds))
    if cores is not None and more < 1:
        return More(
            f"{ADD_NONE}: the host has {cores:,.0f} cores for {every} engines, and the threads for disks and "
            "network want one, too."
        )
    more = max(1, more)
    command, first = pool_command(facts, number + more, pool), ""
    if room is not None:
        first = f"; {MOST} is {room:g}" + (", to be raised first, with a restart" if room <= every else "")
    allowed, ahead = None, ""
    if load and load.cpus and idle and room is not None and room <= every:
        # one restart has to be enough for the steps that follow, too
        allowed = max(every + more, int(min(every * ALLOWED, every + idle, (cores or load.cpus or 0.0) - LEFT_FREE)))
        first = ""
        ahead = f'first `sp_configure "{MOST}", {allowed}` (now {room:g}, static), then '
    how = f" ({command}{first})" if command else f" ({first.removeprefix('; ')})" if first else ""
    spare = f"the host has {idle:.1f} of {load.cpus:,.0f} CPUs idle ({load.command})" if load and idle else ""
    quiet, of_pool = "As nothing spins" if counted else "If nothing spins", " of the pool" if pool else ""
    sure = counted and spare and room is not None and room > every and not process_mode(facts)
    name = pool or only_pool(facts)
    changes: tuple[Change, ...] = ()
    if counted and name and (sure or allowed) and not process_mode(facts):
        changes = (more_threads(name, number, number + more),)
    if counted and allowed and legal(MOST, allowed):
        allows = configure(MOST, room, allowed, cautions=(DIVIDES,))
        changes = (allows, *(replace(one, needs=(allows.key,), after=(allows.key,)) for one in changes))
    if more == 1:
        if spare:
            return More(f"{quiet} and {spare}, {ahead}add one engine{how} and measure again.", changes)
        return More(f"{quiet}, add one engine{how} if the host has a processor idle then, and measure again.")
    if spare:
        still = STILL.format(TWICE * every, TWICE * tasks_per_engine) if more > every * STEP else ","
        to = f"{ahead}go from {number} to {number + more} engines{of_pool}{how}{still} and measure again."
        return More(f"{quiet} and {spare}, {to}", changes)
    return More(
        f"{quiet}, go from {number} to {number + more} engines{of_pool}{how} if so many of the host's {cores:,.0f} "
        "cores are idle then, and measure again."
    )
