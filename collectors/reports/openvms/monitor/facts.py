"""Facts of one output: what MONITOR covered, every line of it, and the classes that rules ask for."""

from collections.abc import Iterator, Mapping

from collectors.facts import Fact
from collectors.facts.base import ABSENT, Reading, Source, known
from collectors.facts.openvms import (
    AlignmentFaults,
    CpuModes,
    DistributedLockRates,
    LockDatabase,
    LockRates,
    MonitorItem,
    MonitorSample,
    Node,
    ProcessorModes,
    RemasterRates,
    SystemRates,
)
from collectors.layouts.figures import alone_above
from collectors.reports.openvms.monitor import checks, classes
from collectors.reports.openvms.monitor.series import ClassOf, Output, Series

STATISTICS = ("mean", "current", "minimum", "maximum")
CPU_FIELDS = ("interrupt_percent", "mp_synch_percent", "kernel_percent", "user_percent", "idle_percent")


def facts_of(file: str, output: Output) -> Iterator[Fact]:
    """Yield the facts of one node's output."""
    yield _sample(file, output)
    for one in output.classes.values():
        yield from _typed(file, output, one)
    for one in output.classes.values():
        for series in one.series.values():
            yield _item(file, output, one, series)


def node_of(file: str, output: Output) -> Node:
    """The node, with the time of the last display and the CPUs that a heading counts."""
    cpus: Reading = ABSENT if output.cpus is None else float(output.cpus)
    where = Source(file, output.heading, output.heading)
    return Node(source=where, name=output.node or "", active_cpus=cpus, at=output.time)


def _sample(file: str, output: Output) -> MonitorSample:
    parts = list(output.classes.values())
    longest = max(parts, key=lambda one: one.frames)
    display = output.kind == "display"
    # screens of several classes, one of each, are of one moment, however long each took to be printed
    start = output.end if display and longest.frames == 1 else output.start
    seconds = (output.end - start).total_seconds() if start and output.end else None
    least = max(s.samples_at_least for one in parts for s in one.series.values()) if longest.frames == 1 else 1
    interval = None
    if display and longest.frames > 1 and longest.first_time and longest.last_time and not longest.restarted:
        interval = (longest.last_time - longest.first_time).total_seconds() / (longest.frames - 1)
    return MonitorSample(
        source=Source(file, output.first, output.last, all(one.tentative for one in parts)),
        node=output.node,
        kind=output.kind,
        classes=tuple(dict.fromkeys(one.name for one in parts)),
        start=start,
        end=output.end,
        seconds=seconds or None,
        samples=longest.frames if display and least == 1 else None,
        samples_at_least=least if display and least > 1 else None,
        interval_seconds=round(interval, 2) if interval and interval > 0 else None,
        comment=output.comment,
    )


def _item(file: str, output: Output, one: ClassOf, series: Series) -> MonitorItem:
    name = one.name if one.cpu is None else f"{one.name} CPU {one.cpu}"
    return MonitorItem(
        source=Source(file, series.last, series.last, one.tentative),
        node=output.node,
        class_name=name,
        item=series.label,
        partner=series.partner,
        current=series.current,
        mean=series.mean(restarted=one.restarted),
        minimum=series.low,
        maximum=series.high,
    )


def _typed(file: str, output: Output, one: ClassOf) -> Iterator[Fact]:
    """The facts of the classes that have some, for each statistic there is."""
    lines = one.by_key()
    for statistic in STATISTICS:
        figures = {label: _figure(series, statistic, one) for label, series in lines.items()}
        wrong = checks.no_rates(figures) if one.name == "LOCK" else {}
        figures = {label: figure for label, figure in figures.items() if figure is not ABSENT and label not in wrong}
        if figures:
            yield from _of_class(_source(file, one, statistic), statistic, figures, output, one)


def _figure(series: Series, statistic: str, one: ClassOf) -> Reading:
    if statistic == "mean":
        return series.mean(restarted=one.restarted)
    figure: Reading = {"current": series.current, "minimum": series.low, "maximum": series.high}[statistic]
    rate = one.name in ("LOCK", "DLOCK") and "total" not in series.label.lower()
    if statistic == "maximum" and rate and known(figure):
        beside = [other for other in (series.mean(restarted=one.restarted), series.current) if known(other)]
        if beside and alone_above(figure, max(beside)):
            return ABSENT  # a counter that went round: no maximum. The line itself stays as it is printed
    return figure


def _source(file: str, one: ClassOf, statistic: str) -> Source:
    """The last screen; of what was taken over all screens the lines from the first to the last."""
    last_says_it = statistic == "current" or (one.table and not one.restarted)
    first, last = one.last_frame
    return Source(file, first if last_says_it else one.first_line, last, one.tentative)


def _of_class(
    source: Source, statistic: str, figures: Mapping[str, Reading], output: Output, one: ClassOf
) -> Iterator[Fact]:
    node = output.node
    if one.name == "MODES" or (one.name == "SYSTEM" and ("MODES", None) not in output.classes):
        yield from _modes(source, statistic, _fields(figures, classes.MODES), node, one)
    if one.name == "SYSTEM" and (fields := _fields(figures, classes.SYSTEM_RATES)):
        yield SystemRates(source=source, node=node, statistic=statistic, **fields)
    elif one.name == "LOCK":
        fields = _fields(figures, classes.LOCK)
        levels = {name: fields.pop(name) for name in classes.LEVELS if name in fields}
        if fields:
            time = one.last_time if statistic == "current" else None
            yield LockRates(source=source, node=node, statistic=statistic, time=time, **fields)
        level = {"mean": "mean", "maximum": "peak"}.get(statistic)
        if levels and level:
            yield LockDatabase(source=source, node=node, statistic=level, **levels)
    elif one.name == "DLOCK":
        yield DistributedLockRates(source=source, node=node, statistic=statistic, **_fields(figures, classes.DLOCK))
    elif one.name == "RLOCK":
        yield RemasterRates(source=source, node=node, statistic=statistic, **_fields(figures, classes.RLOCK))
    elif one.name == "ALIGN":
        yield AlignmentFaults(source=source, node=node, statistic=statistic, **_fields(figures, classes.ALIGN))


def _fields(figures: Mapping[str, Reading], names: Mapping[str, str]) -> dict[str, Reading]:
    return {names[label]: figure for label, figure in figures.items() if label in names}


def _modes(
    source: Source, statistic: str, fields: dict[str, Reading], node: str | None, one: ClassOf
) -> Iterator[Fact]:
    fields.pop("compatibility", None)
    if not fields:
        return
    if one.cpu is not None:
        some = {name: figure for name, figure in fields.items() if name in CPU_FIELDS}
        yield CpuModes(source=source, node=node, statistic=statistic, cpu=one.cpu, **some)
    else:
        cpus: Reading = ABSENT if one.cpus is None else float(one.cpus)
        yield ProcessorModes(source=source, node=node, statistic=statistic, cpus=cpus, **fields)
