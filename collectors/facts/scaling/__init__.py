"""Load series: how much work was done at how much load; and series over a parameter."""

from dataclasses import dataclass
from typing import ClassVar

from collectors.facts.base import Fact, Source

SERIES = "a CSV with a load column (engines, processes, users, …) and a rate column (throughput, …)"

FOLLOWS = {"dlm": ("dlm_cpu",), "threads": ("stopped_cpus", "cores"), "stopped_cpus": ("cores",)}
"""A setting of a run (`LoadSeries.setup`) → what it brings with it, which is no second difference."""


@dataclass(frozen=True, kw_only=True)
class LoadPoint:
    """One run: the load, the rate it gave, and whatever else stood in the row (by column name)."""

    load: float
    rate: float
    others: tuple[tuple[str, float], ...] = ()
    """`mp_synch_percent` and the other modes are per cent of one CPU."""
    line: int = 0
    file: str | None = None
    """Where the runs of one series stand in several files: that of this run; else it is the series' own."""

    def other(self, name: str) -> float | None:
        """One further column of this row."""
        return dict(self.others).get(name)


@dataclass(frozen=True, kw_only=True)
class ParameterPoint:
    """One run: the value of the parameter, and the rate it gave."""

    value: float
    rate: float
    line: int = 0


@dataclass(frozen=True, kw_only=True)
class ParameterSeries(Fact):
    """Throughput against one parameter at the same load: a size of a hash table, the bytes of a value block."""

    COLLECTED_BY: ClassVar[str] = (
        "a CSV with a column of the parameter (RESHASHTBL, LVB bytes, …) and a rate per second"
    )

    title: str
    """What the table says it is of, or the file's name."""
    parameter: str
    """As the heading has it: `RESHASHTBL`."""
    rate_name: str
    """`lock_operations_per_second`, `throughput`, …"""
    points: tuple[ParameterPoint, ...]
    """In rising order of the value."""
    setup: tuple[tuple[str, str], ...] = ()
    """What the table says of the machine and its other settings, by the lock laboratory's names: column and text."""
    switch: bool = False
    """Whether its values are 1 for on and 0 for off."""

    @property
    def node(self) -> str | None:
        """The node of OpenVMS that the runs were made on, where the table has a column of it."""
        return dict(self.setup).get("node")

    def source_of(self, point: ParameterPoint) -> Source:
        """The line of one run."""
        return Source(self.source.file, point.line, point.line, self.source.tentative) if point.line else self.source


@dataclass(frozen=True, kw_only=True)
class LoadSeries(Fact):
    """Throughput against load, in rising order of load."""

    COLLECTED_BY: ClassVar[str] = SERIES

    title: str
    """What the table says it is of, or the file's name."""
    load_name: str
    """`processes`, `engines`, `users`, …"""
    rate_name: str
    """`lock_operations_per_second`, `throughput`, …"""
    points: tuple[LoadPoint, ...]
    product: str | None = None
    """`openvms` where the columns are those of MONITOR, else `None`."""
    cores: int | None = None
    clock_mhz: float | None = None
    """Of the processors, where the title says so: what series of several machines are scaled by."""
    derived: bool = False
    """Made of several captures of one system, not of runs of one test: the work was whatever was asked for."""
    setup: tuple[tuple[str, str], ...] = ()
    """What the table says of the machine and settings, by the lock laboratory's names (`dlm`, …): column, text."""

    @property
    def node(self) -> str | None:
        """The node of OpenVMS that the runs were made on, where the table has a column of it."""
        return dict(self.setup).get("node")

    @property
    def load_said(self) -> str:
        """The load as prose has it: `CPUs`, `processes`."""
        return self.load_name.replace("cpus", "CPUs")

    @property
    def over_processors(self) -> bool:
        """Whether each run had more processors, and not more work at once."""
        return self.load_name.lower() in ("cpus", "processors", "cores")

    @property
    def peak(self) -> LoadPoint:
        """The run that did the most work."""
        return max(self.points, key=lambda point: point.rate)

    @property
    def first(self) -> LoadPoint:
        """The run at the lowest load."""
        return self.points[0]

    @property
    def last(self) -> LoadPoint:
        """The run at the highest load."""
        return self.points[-1]

    def source_of(self, point: LoadPoint) -> Source:
        """The line of one run."""
        file = point.file or self.source.file
        return Source(file, point.line, point.line, self.source.tentative) if point.line else self.source
