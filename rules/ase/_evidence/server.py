"""The server of SAP ASE as its exports show it: its name, its release, its settings, its engines and how busy they are.

sp_sysmon prints each engine's utilisation. Where it was not collected, `monEngine` counts the engines that are online,
or `monThread` those of the threaded kernel, or a query their number, or `sp_helpthread` the threads of its pools. How
busy they are is taken from two snapshots alone: since boot it is an average over nights and weekends.

What a server cannot show is not asked for: `unknown_of` leaves out what its release or its kernel does not have.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeVar

from collectors.facts import NOWHERE, Fact, Facts, Source, known
from collectors.facts.ase import (
    CachePool,
    ConfigParameter,
    EngineBusy,
    EnginesOnline,
    MonEngine,
    MonSpinlockActivity,
    MonThread,
    RunnableTasks,
    Server,
    SysmonSample,
    ThreadBusy,
    ThreadPool,
)
from collectors.facts.ase.introduced import OPTIONS, TABLES
from rules.finding import MissingInput, NotApplicable, Unknown

ENGINES_MISSING = MissingInput(
    "number of engines online", 'sp_sysmon "00:10:00" -- with its Kernel Utilization section'
)
OTHER_POOLS = ("syb_system_pool", "syb_blocking_pool")
"""Their threads do I/O and calls that block; the threads of every other pool are engines (create thread pool)."""
ENGINE_QUEUE = "Sched Q"
"""One row for each engine of the threaded kernel (knowledge: RULES 5, a 16.0 benchmark of 8 engines)."""
ENGINE_FACTS: tuple[type[Fact], ...] = (
    Server,
    EngineBusy,
    EnginesOnline,
    MonEngine,
    MonThread,
    ThreadPool,
    ConfigParameter,
)
"""What a rule declares that asks for engines, settings or the server's name."""

SINCE: dict[type[Fact], tuple[str, str]] = {
    MonSpinlockActivity: ("monSpinlockActivity", TABLES["monSpinlockActivity"]),
    MonThread: ("monThread", TABLES["monThread"]),
    ThreadBusy: ("Thread Utilization of sp_sysmon", "15.7"),
    RunnableTasks: ("Average Runnable Tasks of sp_sysmon", "15.7"),
}
"""What came with a release, by the vendor's documentation (knowledge/ase-formats.md, 1.5 and 2)."""
THREADED: tuple[type[Fact], ...] = (ThreadBusy, RunnableTasks)
"""What only the threaded kernel prints."""

F = TypeVar("F", bound=Fact)


@dataclass(frozen=True)
class Engines:
    """The engines that are online."""

    number: int | None = None
    """`None` where no export counts them."""
    busy_percent: float | None = None
    """Mean share of their time that they worked or spun, per cent; `None` where no interval shows it."""
    source: Source = NOWHERE
    """Where the first of them stands."""
    seconds: float | None = None
    """Of the interval; `None` where the export does not say."""


def subject_of(facts: Facts) -> str:
    """The server's name, or what to call it where no report prints one. A rule need not declare `Server` for it."""
    named = [server.name for server in facts.also(Server).every(Server) if server.name]
    return named[-1] if named else "server"


def server_of(facts: Facts) -> Server | None:
    """The newest statement about the server whose release can be read."""
    return next((server for server in reversed(facts.every(Server)) if server.release), None)


def level_reached(facts: Facts, wanted: str) -> bool | None:
    """Whether the server is `wanted` (`16.0 SP02`) or later; `None` where no export tells, which is never assumed."""
    server = server_of(facts)
    return server.reached(wanted) if server else None


def offers(facts: Facts, name: str) -> bool:
    """Whether a text may name this monitoring table or option: not where the release is known not to have it."""
    return level_reached(facts, {**TABLES, **OPTIONS}[name]) is not False


def process_mode(facts: Facts) -> bool:
    """Whether exports show that the kernel runs engines as processes; of a threaded one, or not known, `False`.

    Before 15.7, which brought the threaded kernel, there is no other.
    """
    if level_reached(facts, "15.7") is False:
        return True
    mode = setting_of(facts, "kernel mode")
    if mode is not None:
        return str(mode.run_value).lower() == "process"
    engines = facts.every(EngineBusy)
    threads = bool(interval_first(facts, MonThread)) or bool(interval_first(facts, ThreadBusy))
    without_pool = bool(engines) and all(one.pool is None for one in engines)
    return without_pool and not threads and bool(level_reached(facts, "15.7"))


def not_shown(facts: Facts, kind: type[Fact]) -> str:
    """Why this server cannot show facts of this type, as a sentence without its end; empty where it can."""
    server = server_of(facts)
    if kind in SINCE and server:
        name, since = SINCE[kind]
        if server.reached(since) is False:
            return f"{name} came with {since}, and this server is {(server.version or '').split('/')[0]}"
    if kind in THREADED and process_mode(facts):
        return "process mode: a kernel without threads prints none"
    return ""


def unknown_of(facts: Facts, *kinds: type[Fact], why: str = "") -> Unknown | NotApplicable:
    """Say that no fact of these types was there, and ask for those that this server can show."""
    reasons = list(dict.fromkeys(reason for kind in kinds if (reason := not_shown(facts, kind))))
    possible = [kind for kind in kinds if not not_shown(facts, kind)]
    if not possible:
        return NotApplicable("; ".join(reasons))
    return Unknown(Unknown.of(*possible).missing, "; ".join(part for part in (why, *reasons) if part))


def setting_of(facts: Facts, name: str) -> ConfigParameter | None:
    """The setting as last listed; that of the whole server before that of one instance of a cluster."""
    return facts.latest(ConfigParameter, name=name, instance=None) or facts.latest(ConfigParameter, name=name)


def engines_of(facts: Facts, *, interval: bool = False) -> Engines:
    """The engines, by sp_sysmon, else by `monEngine`, else by `monThread`; of two reports of an engine the later.

    `interval`: for what the monitoring tables counted between two snapshots, their own figure of how busy the engines
    were goes first: sp_sysmon may be of another hour. Where nothing lists the engines, they are as many as a query
    counted online, else the threads of the pools that `sp_helpthread` lists, else the slots of `Sched Q`; a server that
    runs with `max online engines` 1 has one.
    """
    printed, counted = _printed(facts), _counted(facts) or _threads(facts)
    if counted and (not printed or (interval and counted.busy_percent is not None)):
        return counted
    if printed:
        return printed
    if online := facts.also(EnginesOnline).latest(EnginesOnline):
        return Engines(int(online.engines) if known(online.engines) else None, None, online.source)
    if listed := engine_pools(facts):
        return Engines(int(sum(one.threads for one in listed if known(one.threads))), None, listed[0].source)
    if queues := _queues(facts):
        return queues
    most = setting_of(facts, "max online engines")
    return Engines(1, None, most.source) if most and most.run_number == 1 else Engines()


def engines_at_most(facts: Facts) -> int | None:
    """How many engines there are, or, where no export counts them, how many `max online engines` allows.

    For a spinlock that is contended: on one engine alone no grab would have waited. `None` where neither is known.
    """
    number, most = engines_of(facts).number, setting_of(facts, "max online engines")
    return number or (int(most.run_number) if most and most.run_number and most.run_number > 1 else None)


def _queues(facts: Facts) -> Engines | None:
    """The engines by the slots of `Sched Q`, one for each engine of the threaded kernel; at most `max online engines`.

    Only where nothing else counts them, and for rules that ask for spinlocks and settings. Where a slot is missing the
    list was cut, as those of the dearest are, and the queues on it are not all there are.
    """
    if not facts.may_ask(MonSpinlockActivity):
        return None
    rows = [one for one in facts.every(MonSpinlockActivity) if one.name == ENGINE_QUEUE and one.slot is not None]
    slots = {(one.instance, one.slot) for one in rows}
    most = setting_of(facts, "max online engines")
    limit = most.run_number if most else None
    if len(slots) < 2 or (limit is not None and len(slots) > limit):
        return None
    if min(slot or 0 for _, slot in slots) > 1 or not all_slots(facts.every(MonSpinlockActivity)):
        return None
    return Engines(len(slots), None, rows[0].source)


def all_slots(rows: Iterable[MonSpinlockActivity]) -> bool:
    """Whether no slot is missing between those of any of these spinlocks: a cut list, as of the dearest, has gaps."""
    of_name: dict[tuple[int | None, str], set[int]] = {}
    for row in rows:
        if row.slot is not None:
            of_name.setdefault((row.instance, row.name), set()).add(row.slot)
    return all(len(slots) == max(slots) + 1 - min(slots) for slots in of_name.values())


def engine_pools(facts: Facts) -> list[ThreadPool]:
    """The pools of engines as `sp_helpthread` lists them; none where the threads of one of them are not known."""
    listed = {one.name: one for one in facts.also(ThreadPool).every(ThreadPool) if one.of_engines}
    return list(listed.values()) if all(known(one.threads) and one.threads >= 1 for one in listed.values()) else []


def engines_by_export(facts: Facts) -> dict[str, Engines]:
    """The engines by each export that says how busy they were over an interval."""
    found = {"sp_sysmon": _printed(facts), "monEngine": _counted(facts), "monThread": _threads(facts)}
    return {name: one for name, one in found.items() if one and one.busy_percent is not None}


def pools_of(facts: Facts) -> dict[str, Engines]:
    """The engines of each thread pool, by sp_sysmon, else by `monThread`; none where there is one pool.

    A task runs in its pool alone, so a mean over all engines says nothing of a pool that is short of them.
    """
    printed = {one.engine: one for one in facts.every(EngineBusy)}.values()
    shares = [(one.pool, one.busy_percent, one.source) for one in printed if one.pool]
    if not shares:
        shares = [(one.pool, thread_busy(one), one.source) for one in _engine_threads(facts) if one.pool]
    pools: dict[str, list[tuple[float | None, Source]]] = {}
    for pool, busy, source in shares:
        pools.setdefault(pool, []).append((busy, source))
    if len(pools) < 2:
        return {}
    return {
        pool: Engines(len(rows), _mean(busy for busy, _ in rows), rows[0][1])
        for pool, rows in pools.items()
        if all(busy is not None for busy, _ in rows)
    }


def _printed(facts: Facts) -> Engines | None:
    """The engines as sp_sysmon prints them."""
    return facts.once(EngineBusy, _engines_printed)


def _counted(facts: Facts) -> Engines | None:
    """The engines as `monEngine` counts them; nothing for a rule that did not ask for it."""
    return facts.once(MonEngine, _engines_counted) if facts.may_ask(MonEngine) else None


def _threads(facts: Facts) -> Engines | None:
    """The engines as `monThread` counts them; nothing for a rule that did not ask for it."""
    return facts.once(MonThread, _engines_by_threads) if facts.may_ask(MonThread) else None


def _engines_printed(facts: Facts) -> Engines | None:
    engines = list({one.engine: one for one in facts.every(EngineBusy)}.values())
    if not engines:
        return None
    samples = {one.source.file: one.seconds for one in facts.also(SysmonSample).every(SysmonSample)}
    source = engines[0].source
    return Engines(len(engines), _mean(one.busy_percent for one in engines), source, samples.get(source.file))


def _engines_counted(facts: Facts) -> Engines | None:
    rows = [one for one in interval_first(facts, MonEngine) if (one.status or "online").lower() == "online"]
    engines = list({(one.instance, one.engine): one for one in rows}.values())
    if not engines:
        return None
    busy = _mean(one.busy_percent for one in engines if one.of_interval and one.believed)
    return Engines(len(engines), busy, engines[0].source, engines[0].seconds)


def _engine_threads(facts: Facts) -> list[MonThread]:
    threads = [one for one in interval_first(facts, MonThread) if one.pool and one.pool not in OTHER_POOLS]
    return list({(one.instance, one.thread): one for one in threads}.values())


def _engines_by_threads(facts: Facts) -> Engines | None:
    threads = _engine_threads(facts)
    if not threads:
        return None
    return Engines(len(threads), _mean(thread_busy(one) for one in threads), threads[0].source, threads[0].seconds)


def busy_of(facts: Facts, *, interval: bool = False) -> tuple[int | None, float | None]:
    """Number of engines and their mean busy share in per cent; `None` where no export shows it.

    `interval`: as for `engines_of`.
    """
    engines = engines_of(facts, interval=interval)
    return engines.number, engines.busy_percent


def thread_busy(thread: MonThread) -> float | None:
    """Share of an interval's ticks in which a thread was busy, per cent; `None` where it cannot be said."""
    busy, total = thread.busy_ticks, thread.total_ticks
    if not (thread.of_interval and thread.believed and known(busy) and known(total)) or total <= 0:
        return None
    return 100.0 * busy / total


def one_engine(facts: Facts) -> NotApplicable | None:
    """Say that ratios mean nothing here, where the report shows exactly one engine."""
    return NotApplicable("one engine: every hash table has one spinlock") if engines_of(facts).number == 1 else None


def _mean(shares: Iterable[float | None]) -> float | None:
    seen = [share for share in shares if share is not None]
    return sum(seen) / len(seen) if seen else None


def interval_first(facts: Facts, kind: type[F]) -> list[F]:
    """Rows of an interval, else those of single snapshots; none for a rule that did not ask for the table."""
    if not facts.may_ask(kind):
        return []
    rows = facts.every(kind)
    return [row for row in rows if getattr(row, "of_interval", False)] or rows


SMALLEST_PAGE_KB, LARGEST_PAGE_KB = 2.0, 16.0
"""Vendor: the logical page is 2, 4, 8 or 16 KB."""


def page_kb_of(facts: Facts) -> float | None:
    """The logical page in kilobytes, as the server says it."""
    said = [server.page_size_bytes / 1024 for server in facts.every(Server) if known(server.page_size_bytes)]
    return said[-1] if said else None


def page_kb(facts: Facts) -> float | None:
    """The logical page: as the server says, else the smallest pool anywhere, which every cache has."""
    said = page_kb_of(facts)
    running = (pool.io_size_kb for pool in facts.every(CachePool) if known(pool.run_size_mb))
    return min(running, default=None) if said is None else said
