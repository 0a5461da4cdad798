"""The server of SAP ASE as its exports show it: its name, its release, its settings, its engines and how busy they are.

sp_sysmon prints each engine's utilisation. Where it was not brought, `monEngine` counts the engines that are online,
or `monThread` those of the threaded kernel. How busy they are is taken from two snapshots alone: since boot it is an
average over nights and weekends.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeVar

from collectors.facts import NOWHERE, Fact, Facts, Source, known
from collectors.facts.ase import ConfigParameter, EngineBusy, MonEngine, MonThread, Server
from rules.finding import Lacking, NotApplicable

ENGINES_MISSING = Lacking("number of engines online", 'sp_sysmon "00:10:00" -- with its Kernel Utilization section')
OTHER_POOLS = ("syb_system_pool", "syb_blocking_pool")
"""Their threads do I/O and calls that block; the threads of every other pool are engines (create thread pool)."""
ENGINE_FACTS: tuple[type[Fact], ...] = (Server, EngineBusy, MonEngine, MonThread, ConfigParameter)
"""What a rule declares that asks for engines, settings or the server's name."""

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


def engines_of(facts: Facts, *, interval: bool = False) -> Engines:
    """The engines, by sp_sysmon, else by `monEngine`, else by `monThread`; of two reports of an engine the later.

    `interval`: for what the monitoring tables counted between two snapshots, their own figure of how busy the engines
    were goes first: sp_sysmon may be of another hour. Where nothing counts the engines, a server that runs with `max
    online engines` 1 has one.
    """
    printed = list({one.engine: one for one in facts.every(EngineBusy)}.values())
    counted = _counted(facts)
    if counted and (not printed or (interval and counted.busy_percent is not None)):
        return counted
    if printed:
        return Engines(len(printed), _mean(one.busy_percent for one in printed), printed[0].source)
    most = setting_of(facts, "max online engines")
    return Engines(1, None, most.source) if most and most.run_number == 1 else Engines()


def _counted(facts: Facts) -> Engines | None:
    """The engines as the monitoring tables count them."""
    rows = [one for one in interval_first(facts, MonEngine) if (one.status or "online").lower() == "online"]
    engines = list({(one.instance, one.engine): one for one in rows}.values())
    if engines:
        busy = _mean(one.busy_percent for one in engines if one.of_interval and one.believed)
        return Engines(len(engines), busy, engines[0].source)
    threads = [one for one in interval_first(facts, MonThread) if one.pool and one.pool not in OTHER_POOLS]
    threads = list({(one.instance, one.thread): one for one in threads}.values())
    if threads:
        return Engines(len(threads), _mean(thread_busy(one) for one in threads), threads[0].source)
    return None


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
    if facts.declared is not None and kind not in facts.declared:
        return []
    rows = facts.every(kind)
    return [row for row in rows if getattr(row, "of_interval", False)] or rows
