"""Which setting a change sets, and whether it is in force: as it was advised, or in another form that does the same.

Advice to bind a table to a cache of its own is followed where it is bound to any such cache: a site gives caches names
of its own, and makes one of what the advice would have made four. Advice to go from 100 to 20 is followed by 10.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from collectors.facts import Facts
from collectors.facts.ase import CacheBinding, MonDataCache, NamedCache, TableScheme
from rules.changes.openvms_sysgen import PARAMETERS
from rules.compare.words import same, worded
from rules.finding import Change
from rules.settings import BINDING, settings_of

CACHE_SETTINGS = {"create": "size, MB", "cache_partition": "partitions", "replacement": "replacement"}
"""What a change of a cache changes → how the setting is called."""
RDB_SETTINGS = {
    "cluster_nodes": "NUMBER OF CLUSTER NODES",
    "open_mode": "OPEN",
    "lock_partitioning": "LOCK PARTITIONING enabled",
    "adjustable_locking": "ADJUSTABLE LOCK GRANULARITY enabled",
    "carry_over_locks": "CARRY OVER LOCKS enabled",
    "fast_commit": "FAST COMMIT enabled",
    "commit_to_journal": "COMMIT TO JOURNAL OPTIMIZATION enabled",
    "page_transfer": "PAGE TRANSFER VIA",
    "prestarted_transactions": "PRESTARTED TRANSACTIONS enabled",
    "row_cache": "active row caches",
}
"""Clause of a change of a database of Rdb → the attribute that it sets."""
SWITCHED = {"enabled": "yes", "disabled": "no"}
SYSTEM_TABLES = ":system tables"
OF_A_CACHE = ("type", "size, MB", "replacement", "partitions")
"""What is said of a cache that only one side lists."""


@dataclass(frozen=True)
class State:
    """What one side tells of its settings."""

    settings: Mapping[str, str | float]
    caches: frozenset[str] = frozenset()
    """Data caches that are listed."""
    running: frozenset[str] = frozenset()
    """Data caches that are counted, listed or not."""
    bindings_listed: bool = False

    def lists(self, name: str) -> bool:
        """Whether this side would have a setting of this name, if there were it: one of a cache, or a binding."""
        if name.startswith(BINDING):
            return self.bindings_listed
        return bool(self.caches) and name.startswith("cache ")


def state_of(facts: Facts) -> State:
    """Every setting in force, with the lock schemes of tables, and what was listed in full."""
    schemes = {
        f"{'.'.join(part for part in (one.database, one.owner, one.table) if part)}: lock scheme": one.scheme
        for one in facts.every(TableScheme)
    }
    return State(
        settings_of(facts) | schemes,
        frozenset(one.name for one in facts.every(NamedCache)),
        frozenset(one.name for one in facts.every(MonDataCache)),
        bool(facts.every(CacheBinding)),
    )


def setting_of(change: Change, now: Mapping[str, str | float]) -> str | None:
    """The name of the setting that a change sets; `None` where it is of no kind that exports list."""
    kind, _, name = change.key.partition(":")
    if kind == "ase.cache":
        cache, _, what = name.rpartition(":")
        return f"cache {cache}: {CACHE_SETTINGS[what]}" if what in CACHE_SETTINGS else None
    if kind == "ase.bind":
        return None if name.endswith(SYSTEM_TABLES) else f"{BINDING}{name}"
    if kind == "ase.table":
        return f"{name.removesuffix(':lock scheme')}: lock scheme" if name.endswith(":lock scheme") else None
    if kind == "openvms.sysgen":
        node, _, parameter = name.rpartition(":")
        of_node = f"SYSGEN: {parameter} [{node}]"
        return of_node if of_node in now else f"SYSGEN: {parameter}"
    if kind == "openvms.cpu":
        return f"CPU {name.rpartition(':')[2]}: state"
    if kind == "rdb.database":
        root, _, clause = name.rpartition(":")
        return f"{root}: {RDB_SETTINGS[clause]}" if clause in RDB_SETTINGS else None
    return f"sp_configure: {name}" if kind == "ase.config" else None


def touched(change: Change, now: Mapping[str, str | float]) -> list[str]:
    """The names of all settings that a change sets: of a new cache, and of the system tables of a database, several."""
    kind, _, name = change.key.partition(":")
    if kind == "ase.cache" and name.endswith(":create"):
        return [f"cache {name.removesuffix(':create')}: {what}" for what in OF_A_CACHE]
    if kind == "ase.bind" and name.endswith(SYSTEM_TABLES):
        return [one for one in now if one.startswith(_system_tables(name.removesuffix(SYSTEM_TABLES)))]
    return [found] if (found := setting_of(change, now)) else []


def _system_tables(database: str) -> tuple[str, str]:
    return f"{BINDING}{database}.dbo.sys", f"{BINDING}{database}.sys"


@dataclass(frozen=True)
class InForce:
    """What became of a change."""

    applied: bool | None
    """`None`: no export of the after tells."""
    now: str | float | None = None
    """The setting as it is, where that is not what was advised."""


UNTOLD = InForce(None)


def in_force(change: Change, was: State, now: State, binds: Iterable[Change] = ()) -> InForce:
    """Whether the setting has the advised value, or another that does the same.

    `binds`: the changes that need this one, those that bind objects to a cache that it makes.
    """
    kind, _, name = change.key.partition(":")
    if kind == "ase.bind":
        return _bound(change, name, was, now)
    if kind == "ase.cache" and name.endswith(":create"):
        return _made(name.rpartition(":")[0], was, now, binds)
    setting = setting_of(change, now.settings)
    value = now.settings.get(setting) if setting else None
    if value is None or setting is None:
        return UNTOLD
    if kind == "openvms.cpu":
        return InForce(str(value).strip().upper() != "RUN")
    if change.new is None:
        return UNTOLD
    if kind == "rdb.database" and setting.endswith(RDB_SETTINGS["row_cache"]):
        before = was.settings.get(setting, 0.0)
        more = isinstance(value, int | float) and isinstance(before, int | float) and value > before
        return InForce(more, value if more else None)
    wanted = SWITCHED.get(str(change.new).lower(), change.new) if kind == "rdb.database" else change.new
    if same(value, wanted):
        return InForce(True)
    return InForce(_as_good(change, kind, setting, value), value)


def _as_good(change: Change, kind: str, setting: str, value: str | float) -> bool:
    """Whether another value than the advised one does what was advised."""
    if kind == "ase.table" and change.old == "allpages":  # whichever of the two it became, the advice was taken
        return worded(value) in ("datapages", "datarows")
    known = PARAMETERS.get(setting.removeprefix("SYSGEN: ").partition(" [")[0]) if kind == "openvms.sysgen" else None
    at_least = known is not None and known.computed  # a MIN_ line is a floor: AUTOGEN may go beyond it
    old, new = change.old, change.new
    if not isinstance(value, int | float) or not isinstance(new, int | float):
        return False
    if at_least:
        return value >= new
    further = setting.endswith((" ratio", ": partitions")) and isinstance(old, int | float)
    return further and (value >= new > old if new > old else value <= new < old)  # type: ignore[operator]  # by further


def _bound(change: Change, name: str, was: State, now: State) -> InForce:
    """A binding, of a table, an index, or the system tables of a database, be it by binding all of the database."""
    database = name.partition(".")[0].removesuffix(SYSTEM_TABLES)
    if name.endswith(SYSTEM_TABLES):
        found = [str(value) for key, value in now.settings.items() if key.startswith(_system_tables(database))]
    else:
        found = [str(value)] if (value := now.settings.get(f"{BINDING}{name}")) is not None else []
    if not found and (whole := now.settings.get(f"{BINDING}{database}")) is not None:
        found = [str(whole)]
    moved = [cache for cache in dict.fromkeys(found) if not same(cache, change.old or "")]
    if not found:
        return InForce(False) if now.bindings_listed and was.lists(BINDING) else UNTOLD
    if not moved:
        return InForce(False)
    return InForce(True, None if change.new in moved else ", ".join(moved))


def _made(cache: str, was: State, now: State, binds: Iterable[Change]) -> InForce:
    """A new cache: of the advised name; or, by any name, what the objects are bound to that were to be bound to it."""
    if cache in now.caches:
        return InForce(True)
    homes = [_bound(one, one.key.partition(":")[2], was, now) for one in binds]
    others = list(dict.fromkeys(str(one.now) for one in homes if one.applied and one.now is not None))
    if homes and others and all(one.applied for one in homes):
        return InForce(True, ", ".join(others))
    if cache in now.running or not now.caches:
        return UNTOLD
    return InForce(False)
