"""The settings in force, of every capture: by stable names, so that two captures of a system can be compared."""

from collections.abc import Iterator

from collectors.facts import ABSENT, Facts, Missing, Reading, known
from collectors.facts.ase import CacheBinding, CachePool, ConfigParameter, NamedCache, Server
from collectors.facts.openvms import ClusterNode, Cpu, FastpathDevice, KernelService, Node, SysgenParameter
from rules.openvms._evidence.cpu_layout import Layout
from rules.rdb._evidence.watched import attributes_of

Value = Reading | str | None
WAITS = " (configured)"
"""Behind the name of a setting: what is configured where something else runs, be it for a restart or refused."""
BINDING = "binding "
"""Before the name of what is bound to a data cache: `binding orders.dbo.item.item_pk`."""


def settings_of(facts: Facts) -> dict[str, str | float]:
    """Give every setting in force by a stable name, and under that name with `(configured)` what waits.

    Numbers are in the unit of the setting. What was not read is not in it; a value printed as asterisks is in it as
    just that, in words. Of two listings the later one counts.
    """
    settings: dict[str, str | float] = {}
    found = attributes_of(facts)
    ase = (*_server(facts), *_caches(facts), *_pools(facts), *_bindings(facts))
    for name, value in (*ase, *_node(facts), *_weights(facts), *_processors(facts), *found):
        if value is None or value is ABSENT:
            continue
        settings[name] = value.value if isinstance(value, Missing) else float(value) if known(value) else str(value)
    return settings


def _both(name: str, config: Value, run: Value) -> Iterator[tuple[str, Value]]:
    """What runs, and what is configured where that is something else."""
    yield name, run
    same = config.lower() == run.lower() if isinstance(config, str) and isinstance(run, str) else config == run
    if not same:
        yield name + WAITS, config


def _server(facts: Facts) -> Iterator[tuple[str, Value]]:
    for server in facts.every(Server):
        yield "server: page size, bytes", server.page_size_bytes
    for one in {(one.name, one.instance): one for one in facts.every(ConfigParameter)}.values():
        name = f"sp_configure: {one.name}" + (f" [{one.instance}]" if one.instance else "")
        yield name, one.run_value
        if one.pending or (isinstance(one.config_value, Missing) and one.config_value is not ABSENT):
            yield name + WAITS, one.config_value


def _caches(facts: Facts) -> Iterator[tuple[str, Value]]:
    for one in {(one.name, one.instance): one for one in facts.every(NamedCache)}.values():
        name = f"cache {one.name}" + (f" [{one.instance}]" if one.instance is not None else "")
        yield f"{name}: type", one.kind
        yield f"{name}: status", one.status
        # a configured size of 0 says that none was configured; so it waits for nothing
        yield from _both(f"{name}: size, MB", one.config_size_mb or ABSENT, one.run_size_mb)
        yield from _both(f"{name}: replacement", one.config_replacement, one.run_replacement)
        yield from _both(f"{name}: partitions", one.config_partitions, one.run_partitions)


def _pools(facts: Facts) -> Iterator[tuple[str, Value]]:
    for one in {(one.cache, one.io_size_kb, one.instance): one for one in facts.every(CachePool)}.values():
        cache = one.cache + (f" [{one.instance}]" if one.instance is not None else "")
        name = f"cache {cache}, {one.io_size_kb:g} KB pool"
        yield from _both(f"{name}: size, MB", one.config_size_mb or ABSENT, one.run_size_mb)
        yield f"{name}: wash, KB", one.wash_size_kb
        yield f"{name}: prefetch, %", one.apf_percent


def _bindings(facts: Facts) -> Iterator[tuple[str, Value]]:
    for one in facts.every(CacheBinding):
        if one.valid is not False:
            yield (
                BINDING + ".".join(part for part in (one.database, one.owner, one.table, one.index) if part),
                one.cache,
            )


def _weights(facts: Facts) -> Iterator[tuple[str, Value]]:
    """Who is to be master, where a table of the whole cluster prints it."""
    for one in facts.every(ClusterNode):
        yield f"LOCKDIRWT of {one.name}", one.lock_directory_weight


def _node(facts: Facts) -> Iterator[tuple[str, Value]]:
    for node in facts.every(Node):
        yield "node: active CPUs", node.active_cpus
        yield "node: memory, MB", node.memory_mb
    parameters = facts.every(SysgenParameter)
    several = len({one.node for one in parameters if one.node}) > 1
    for one in sorted(parameters, key=lambda one: not one.runs):
        name = f"SYSGEN: {one.name}" + (f" [{one.node}]" if several and one.node else "")
        if one.runs:
            yield name, one.current
        elif one.in_use == "current" and one.current not in {
            other.current for other in parameters if other.runs and (other.name, other.node) == (one.name, one.node)
        }:
            yield name + WAITS, one.current


def _processors(facts: Facts) -> Iterator[tuple[str, Value]]:
    manager = Layout(facts).lock_manager
    if manager:
        yield "lock manager: CPU", manager[0]
    for service in facts.every(KernelService):
        if "lock manager" not in service.service.lower():
            yield f"{service.service}: CPU", service.cpu
    for device in facts.every(FastpathDevice):
        yield f"fast path {device.device}: CPU", device.cpu
    for cpu in facts.every(Cpu):
        yield f"CPU {cpu.number}: state", cpu.state
        yield f"CPU {cpu.number}: co-thread", cpu.cothread
