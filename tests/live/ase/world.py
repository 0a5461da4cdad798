"""The server as it is at this moment: the rows of every table, with counters that have grown since the start."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from tests.live.ase import catalogue, monitoring, schema
from tests.live.ase.clock import UP_SECONDS, Clock
from tests.live.ase.faults import Faults
from tests.live.ase.release import Release
from tests.live.ase.schema import Made
from tests.live.ase.tabled import Rate

INT_WRAPS, UNSIGNED_WRAPS = 2**31, 2**32
# fmt: off
NAMED_BY = frozenset(
    (
        "SpinlockName", "SpinlockSlotID", "CacheName", "CacheID", "IOBufferSize", "DBID", "ObjectID", "IndexID",
        "PartitionID", "DBName", "ObjectName", "EngineNumber", "ThreadID", "WaitEventID", "InstanceID", "TableName",
        "ColumnName", "TableID", "ColumnID", "DeadlockID", "SPID", "LockID",
    )
)
# fmt: on
"""Columns that say which row it is; the fault `nulls` leaves them."""
Maker = Callable[["World"], Iterable[Mapping[str, Any]]]


class World:
    """One server at work."""

    def __init__(self, release: Release, clock: Clock, faults: Faults) -> None:
        """Take what it is; nothing is computed yet."""
        release = replace(
            release,
            server=(faults.value("renamed") or "") if "renamed" in faults else release.server,
            version=faults.value("version") or release.version,
            engines=int(faults.number("engines") or release.engines),
        )
        self.release, self.clock, self.faults = release, clock, faults
        self.columns = schema.tables(release.number)
        self.databases, self.objects = release.databases, release.objects
        self.caches, self.pools, self.bindings = release.caches, release.pools, release.bindings
        self.configuration, self.resources, self.activity = release.configuration, release.resources, release.activity
        for parameter in self.configuration:
            name = parameter["Name"]
            if (name == "enable monitoring" and "monitoring-off" in faults) or faults.has("switch-off", name):
                parameter["Config"] = parameter["Run"] = 0

    @property
    def booted(self) -> datetime:
        """When the server was started: anew, where a restart came between."""
        again = self._passed("restarted")
        return self.clock.booted if again is None else self.clock.moment(again)

    @property
    def cleared(self) -> datetime:
        """When the counters were cleared: at the start of the server, where nobody has done it."""
        since = self._passed("cleared")
        return self.booted if since is None else self.clock.moment(since)

    def running(self, parameter: str) -> Any:
        """The value that a parameter has now. Raises `StopIteration` where there is none."""
        return next(one["Run"] for one in self.configuration if one["Name"] == parameter)

    def table(self, database: str, name: str) -> tuple[Made, ...] | None:
        """Give the columns of a table as seen from a database; `None` where it is not there."""
        if name in schema.EVERYWHERE:
            return self.columns[name]
        if database != "master" or name not in self.columns or self.faults.has("missing-table", name):
            return None
        return self.columns[name]

    def rows(self, database: str, name: str) -> list[list[Any]]:
        """Give the rows of a table at this moment, in the order of its columns."""
        columns = self.columns[name]
        makers: Mapping[str, Maker] = {**monitoring.MAKERS, **catalogue.MAKERS}
        found: Iterable[Mapping[str, Any]]
        if name in schema.EVERYWHERE:
            found = catalogue.IN_A_DATABASE[name](self, database)
        elif name in makers:
            found = makers[name](self)
        else:
            found = self.activity.get(name, ())
        monitored = name in schema.MONITORING
        if monitored and monitoring.switched_off(self, name):
            return []
        return [[self._value(row, made, hide=monitored) for made in columns] for row in found]

    def grown(self, rate: Rate, *, cleared: bool = False, since: float | None = None) -> float:
        """How far a counter has come; `since`: seconds after the start at which its row appeared."""
        base = -UP_SECONDS
        for moment in (self._passed("restarted"), self._passed("cleared") if cleared else None, since):
            base = max(base, base if moment is None else moment)
        return rate.per_second * max(0.0, self.clock.seconds - base)

    def _passed(self, fault: str) -> float | None:
        """The moment of a fault, once it has passed."""
        moment = self.faults.number(fault)
        return moment if moment is not None and self.clock.seconds >= moment else None

    def _value(self, row: Mapping[str, Any], made: Made, *, hide: bool) -> Any:
        name = made.column.name
        if hide and "nulls" in self.faults and (self.faults.has("nulls", "all") or name not in NAMED_BY):
            return None
        value = row.get(name, Rate(0) if made.counts else None)
        if not isinstance(value, Rate):
            return value
        grown = self.grown(value, cleared=bool(made.indicators & schema.CLEARED), since=row.get("since"))
        return self._wrapped(int(grown), value) if made.column.type == "int" else int(grown)

    def _wrapped(self, grown: int, rate: Rate) -> int:
        """What a counter of 32 bits shows."""
        for fault, size in (("wrap", INT_WRAPS), ("wrap-signed", UNSIGNED_WRAPS)):
            moment = self.faults.number(fault)
            if moment is not None and rate.per_second:
                grown = (grown + size - int(rate.per_second * (UP_SECONDS + moment))) % size
                return grown - UNSIGNED_WRAPS if grown >= INT_WRAPS else grown
        return grown % INT_WRAPS
