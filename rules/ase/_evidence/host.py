"""What the engines of SAP ASE were busy by their own ticks, beside the processor that the host gave their threads.

And what the host itself counts: processors that are idle, and those that its hypervisor gave to others.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from collectors.facts import Fact, Facts, Source, known
from collectors.facts.ase import EngineBusy, HostLoad, HostProcessors, LoadAverage, MonThread, ThreadBusy
from rules.ase._evidence.server import OTHER_POOLS, engine_pools, engines_of, process_mode
from rules.changes.ase_engines import fewer_engines, fewer_threads
from rules.changes.quoting import PLAIN_IDENTIFIER
from rules.finding import Change

ENGINE = "Engine "
BUSY_PERCENT, GAP_POINTS = 50.0, 20.0
"""This project: how busy engines must be to be compared, and how far apart the two counts may be for no reason."""
STEAL_PERCENT = 10.0
"""This project: steal time of a few per cent is common where guests share processors; a tenth of it is a cause."""
LOAD_FACTS: tuple[type[Fact], ...] = (HostLoad, HostProcessors, LoadAverage)
HOST_FACTS: tuple[type[Fact], ...] = (EngineBusy, ThreadBusy, MonThread, *LOAD_FACTS)
"""What a rule declares that asks for what is withheld."""
LEFT_FREE = 1
"""Practice: one core is left for the threads of disks and network (benohead.com, X - 1 engines)."""
SAME_MINUTES = "Whether {0} was run in the same minutes as the server's figures is for you to see."


@dataclass(frozen=True)
class Share:
    """What an engine was busy, and what its thread got, in per cent of one CPU."""

    engine: str
    ticks: float
    given: float
    source: Source


def shares_of(facts: Facts, pool: str = "") -> list[Share]:
    """Every engine (of one pool) for which both were read: by sp_sysmon, else by monThread between two snapshots."""
    return list(_sysmon(facts, pool)) or list(_monitored(facts, pool))


@dataclass(frozen=True)
class Means:
    """Over all engines that were compared, in per cent of one CPU."""

    ticks: float
    given: float

    def withheld(self, busy_percent: float = BUSY_PERCENT, gap_points: float = GAP_POINTS) -> bool:
        """Whether engines that are busy get clearly less than they ask for: then they do not lack engines."""
        return self.ticks >= busy_percent and self.ticks - self.given >= gap_points


def means_of(shares: list[Share]) -> Means | None:
    """The means; `None` where there is nothing to compare, or a share that cannot be one."""
    if not shares or any(not 0 <= one.ticks <= 101 or one.given < 0 for one in shares):
        return None
    number = len(shares)
    return Means(sum(one.ticks for one in shares) / number, sum(one.given for one in shares) / number)


def withheld(facts: Facts, pool: str = "") -> bool:
    """Whether the host withholds processors from all engines or those of one pool, by the limits as they come."""
    means, load = means_of(shares_of(facts, pool)), load_of(facts)
    return (means is not None and means.withheld()) or (load is not None and load.steal >= STEAL_PERCENT)


@dataclass(frozen=True)
class Load:
    """What the processors of the host did over some minutes."""

    command: str
    cpus: float | None
    """Logical CPUs, where an export tells."""
    idle_percent: float
    steal: float
    """Per cent of all CPUs that the hypervisor gave to others; 0 where the host counts none."""
    source: Source
    counts_steal: bool = False
    """Whether the host counts what the hypervisor gave to others: then a small `steal` says that it took little."""

    @property
    def idle(self) -> float | None:
        """Logical CPUs that are idle on average."""
        return None if self.cpus is None else self.cpus * self.idle_percent / 100.0

    @property
    def stolen(self) -> float | None:
        """Logical CPUs given to others on average."""
        return None if self.cpus is None else self.cpus * self.steal / 100.0


def load_of(facts: Facts) -> Load | None:
    """The last that was brought, one with steal time before others; `None` without any of an interval.

    What is counted since the boot of the host is left out: it tells nothing of an hour. A load average tells how many
    processors are idle at least, where they are more; one beyond them may be of tasks that wait for disks.
    """
    rows = [one for one in facts.every(HostLoad) if not one.since_boot and known(one.idle_percent)]
    one = max(rows, key=lambda row: known(row.steal_percent), default=None) if rows else None
    host, average = facts.latest(HostProcessors), facts.latest(LoadAverage)
    if one is None and average and average.most is not None and host and known(host.cpus) and average.most < host.cpus:
        return Load("uptime", host.cpus, 100.0 * (1 - average.most / host.cpus), 0.0, average.source)
    if one is None or not known(one.idle_percent):
        return None
    cpus = one.cpus if known(one.cpus) else host.cpus if host and known(host.cpus) else None
    steal = one.steal_percent if known(one.steal_percent) else 0.0
    return Load(one.command, cpus, one.idle_percent, steal, one.source, counts_steal=known(one.steal_percent))


def pool_command(facts: Facts, engines: int, pool: str = "", *, back: bool = False) -> str:
    """What brings the server to so many engines, by its kernel; empty where its one pool of engines is not known.

    `pool`: the one pool that is to have so many, where there are several. `back`: from fewer to those of now.
    """
    if process_mode(facts):
        more = back or engines > (engines_of(facts).number or 0)
        return '`sp_engine "online"`' if more else '`sp_engine "offline", <engine>` for each'
    pool = pool or only_pool(facts)
    return f"`alter thread pool {pool} with thread count = {engines}`" if PLAIN_IDENTIFIER.match(pool) else ""


def only_pool(facts: Facts) -> str:
    """The one pool of engines of a threaded kernel; empty where there are several, or none is known."""
    pools = {one.pool for one in facts.every(EngineBusy) if one.pool}
    pools |= {one.pool for one in facts.every(MonThread) if one.pool and one.pool not in OTHER_POOLS}
    pools = pools or {one.name for one in engine_pools(facts)}
    return next(iter(pools)) if len(pools) == 1 else ""


@dataclass(frozen=True)
class Crowded:
    """More engines than the host has logical CPUs."""

    engines: int
    cpus: float
    source: Source
    """Of the host's CPUs."""

    @property
    def fitting(self) -> int:
        """Engines that the CPUs have room for, beside the threads of disks and network."""
        return max(1, int(self.cpus) - LEFT_FREE)


def crowded(facts: Facts) -> Crowded | None:
    """More engines than CPUs (vendor: no more engines than CPUs); `None` where they are not, or one is not known."""
    host, engines = facts.latest(HostProcessors), engines_of(facts).number
    if host is None or not known(host.cpus) or engines is None or engines <= host.cpus:
        return None
    return Crowded(engines, host.cpus, host.source)


def fewer(facts: Facts, old: int, new: int) -> Change | None:
    """The change to fewer engines, by the kernel; `None` where the one pool of engines is not known."""
    if process_mode(facts):
        return fewer_engines(old, new)
    pool = only_pool(facts)
    return fewer_threads(pool, old, new) if pool else None


def _sysmon(facts: Facts, pool: str) -> Iterator[Share]:
    """Engines of sp_sysmon beside their threads."""
    threads = {one.name.strip(): one for one in facts.every(ThreadBusy)}
    for engine in {one.engine: one for one in facts.every(EngineBusy)}.values():
        if pool and engine.pool != pool:
            continue
        thread = threads.get(f"{ENGINE}{engine.engine}")
        if thread and known(thread.user_percent) and engine.busy_percent is not None:
            given = thread.user_percent + (thread.system_percent if known(thread.system_percent) else 0.0)
            yield Share(f"{ENGINE}{engine.engine}", engine.busy_percent, given, thread.source)


def _monitored(facts: Facts, pool: str) -> Iterator[Share]:
    """Threads of monThread between two snapshots whose pools run engines: those that ran tasks."""
    for row in facts.every(MonThread):
        if not row.of_interval or not row.believed or not row.seconds or not known(row.total_ticks):
            continue
        if pool and row.pool != pool:
            continue
        runs = known(row.task_runs) and row.task_runs > 0
        if runs and row.total_ticks > 0 and known(row.busy_ticks) and known(row.user_time):
            cpu = row.user_time + (row.system_time if known(row.system_time) else 0.0)
            whole = (row.seconds_low or row.seconds) * 1000.0  # to the minute: the shortest it can have been
            yield Share(
                f"thread {row.thread}", 100.0 * row.busy_ticks / row.total_ticks, 100.0 * cpu / whole, row.source
            )
