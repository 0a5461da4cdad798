"""The table of the lock laboratory for OpenVMS (`manage.py locklab --for openvms`): one step of a run in a row.

Its heading names the machine, its settings and what was measured (`knowledge/openvms-rdb-more.md` 6); an empty cell is
"not measured". Rows that agree in all but the processes and the figures are one load series. Where the column `series`
names a setting that has several values, the rate over that setting is a series over a parameter as well: at the number
of processes that was measured at most of its values.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from collectors.facts.base import Source
from collectors.facts.scaling import LoadPoint, LoadSeries, ParameterPoint, ParameterSeries
from collectors.registry import Report
from collectors.reports.scaling.load_series.cells import commas_decimal, number, split
from collectors.reports.scaling.load_series.headings import CONVERTED, DEQ, LABORATORY, LOCK_RATE, MODES, NEW

SETUP = (
    "series",
    "node",
    "model",
    "clock_mhz",
    "cores",
    "threads",
    "release",
    "dlm",
    "dlm_cpu",
    "stopped_cpus",
    "reshashtbl",
    "lockidtbl",
    "lvb_bytes",
    "nodes",
    "master",
)
"""What a row says of the machine; rows that agree in all of it are of one series."""
FIGURES = {
    **dict(zip(("idle", "mpsynch", "kernel", "exec", "super", "user"), MODES, strict=True)),
    "interrupt": "interrupt_percent",
    "enq": NEW,
    "convert": CONVERTED,
    "deq": DEQ,
    "blkast": "blocking_asts_per_second",
    "own_ops": "own_operations_per_second",
    "latency_us": "latency_us",
    "seconds": "seconds",
    "samples": "samples",
}
"""Columns of a run → their names in a point."""
SWITCHES = {"dlm": "dedicated lock manager", "threads": "hyperthreads"}
IN_TITLE = frozenset(("series", "node", "model", "clock_mhz", "cores", "dlm_cpu", "stopped_cpus", "release"))
"""What the title has already, or what only follows from another setting."""
OVER = {"reshashtbl": "RESHASHTBL", "lockidtbl": "LOCKIDTBL", "lvb_bytes": "LVB bytes", "lvb": "LVB bytes"}
"""Series over a parameter: the name of the series → that of the parameter."""
CPUS = re.compile(r"\s{0,9}#\s{0,9}cpus\s{0,9}[:=]\s{0,9}([0-9]{1,4})\b", re.IGNORECASE)
SUM_PERCENT, MODES_PERCENT, RELEASED_PERCENT, OWN_PERCENT = 0.1, 2.0, 1.0, 3.0
"""How far totals, modes, enqueues against dequeues, and own counts may be off (`openvms-rdb-more.md` 6)."""
PER_CPU = 100.0


@dataclass(frozen=True)
class _Row:
    """One step that can be used."""

    index: int
    setup: tuple[tuple[str, str], ...]
    point: LoadPoint


def laboratory(report: Report) -> tuple[list[LoadSeries | ParameterSeries], frozenset[int]]:
    """The series of all tables of the laboratory, and the lines that belong to them, which are claimed."""
    rows: list[_Row] = []
    taken: set[int] = set()
    columns: tuple[str, ...] = ()
    delimiter, decimal, cpus = ",", False, _cpus_above(report)
    for index, line in enumerate(report.lines):
        if LABORATORY.match(line):
            delimiter = next(one for one in ";\t|," if one in line)
            columns = tuple(cell.strip(' "').lower() for cell in split(line, delimiter))
            decimal = delimiter == ";" and commas_decimal(report.lines[index + 1 :])[0]
        elif columns and line.lstrip().startswith("#"):
            cpus = int(found[1]) if (found := CPUS.match(line)) else cpus
        elif columns and len(cells := [cell.strip() for cell in split(line, delimiter)]) == len(columns):
            texts = dict(zip(columns, cells, strict=True))
            numbers = {
                name: number(text, commas_decimal=decimal, comma_parts=delimiter == ",") for name, text in texts.items()
            }
            wrong = _wrong(texts, numbers, cpus)
            if wrong:
                report.problem(f"{wrong}, row left out: measure this step again", index)
            else:
                rows.append(_row(report, index, texts, numbers))
        elif columns and line.strip() and delimiter in line and line.count(delimiter) > len(SETUP):
            report.problem(f"{len(cells)} cells below {len(columns)} headings, row left out: write it whole", index)
        elif line.strip():
            columns = ()
            continue
        if columns:
            report.claim(index)
            taken.add(index)
    return list(_series(report, rows)), frozenset(taken)


def _cpus_above(report: Report) -> int | None:
    """The CPUs that the remarks directly above the heading tell; the remarks count as read."""
    cpus = None
    if not LABORATORY.match(report.lines[0]):
        return None
    for many, line in enumerate(reversed(report.before), 1):
        if not line.lstrip().startswith("#"):
            break
        report.above = many
        cpus = int(found[1]) if (found := CPUS.match(line)) else cpus
    return cpus


def _wrong(texts: Mapping[str, str], numbers: Mapping[str, float | None], cpus: int | None) -> str:
    """Why a row cannot be used; empty where it can."""
    for name, text in texts.items():
        if text and name not in SETUP and numbers[name] is None:
            return f"{name[:40]} is {text[:40]!r}, no number"
    load, rate = numbers.get("processes"), _total(numbers)
    if not load or load < 0 or rate is None or rate < 0:
        return "no number of processes above 0, or no total of lock operations"
    parts = _parts(numbers)
    if len(parts) == 3:
        if abs(sum(parts) - rate) > SUM_PERCENT / 100 * rate:
            return f"{sum(parts):,.0f} enqueues, converts and dequeues, {rate:,.0f} in all"
        if abs(parts[0] - parts[2]) > RELEASED_PERCENT / 100 * max(parts[0], parts[2]):
            return f"{parts[0]:,.0f} enqueues and {parts[2]:,.0f} dequeues are more than 1 % apart"
    own = numbers.get("own_ops")
    if own is not None and abs(own - rate) > OWN_PERCENT / 100 * max(own, rate):
        return f"{own:,.0f} operations by the processes' own counts and {rate:,.0f} by MONITOR are more than 3 % apart"
    return _wrong_modes(texts, numbers, cpus)


def _wrong_modes(texts: Mapping[str, str], numbers: Mapping[str, float | None], cpus: int | None) -> str:
    """Modes that do not make up the time of all CPUs; those that lack one can only be too many."""
    if cpus is None and texts.get("threads") == "off" and (cores := numbers.get("cores")):
        cpus = int(cores)
    modes = [numbers.get(name) for name in ("idle", "interrupt", "mpsynch", "kernel", "exec", "super", "user")]
    known = [one for one in modes if one is not None]
    if not cpus or not known:
        return ""
    off = sum(known) - PER_CPU * cpus
    if off > MODES_PERCENT * cpus or (len(known) == len(modes) and -off > MODES_PERCENT * cpus):
        return f"the modes are {sum(known):.0f} % of one CPU together, with {cpus} CPUs"
    return ""


def _parts(numbers: Mapping[str, float | None]) -> list[float]:
    return [one for name in ("enq", "convert", "deq") if (one := numbers.get(name)) is not None]


def _total(numbers: Mapping[str, float | None]) -> float | None:
    total, parts = numbers.get("total"), _parts(numbers)
    return total if total is not None else sum(parts) if len(parts) == 3 else None


def _row(report: Report, index: int, texts: Mapping[str, str], numbers: Mapping[str, float | None]) -> _Row:
    others = tuple((name, value) for column, name in FIGURES.items() if (value := numbers.get(column)) is not None)
    return _Row(
        index,
        tuple((name, " ".join(texts[name].split())[:80]) for name in SETUP if texts.get(name)),
        LoadPoint(
            load=numbers["processes"] or 0.0,
            rate=_total(numbers) or 0.0,
            others=others,
            line=report.first + index,
        ),
    )


def _series(report: Report, rows: Sequence[_Row]) -> Iterator[LoadSeries | ParameterSeries]:
    groups: dict[tuple[tuple[str, str], ...], list[_Row]] = {}
    for row in rows:
        groups.setdefault(row.setup, []).append(row)
    families: dict[tuple[str, str], list[dict[str, str]]] = {}
    for setup in groups:
        said = dict(setup)
        families.setdefault((said.get("series", ""), said.get("node", "")), []).append(said)
    for setup, own in groups.items():
        said = dict(setup)
        family = families[said.get("series", ""), said.get("node", "")]
        title = _title(said, family)
        if len(own) > 1:
            yield LoadSeries(
                source=_source(report, own),
                title=title,
                load_name="processes",
                rate_name=LOCK_RATE,
                points=tuple(sorted((one.point for one in own), key=lambda point: point.load)),
                product="openvms",
                cores=_whole(said.get("cores")),
                clock_mhz=number(said.get("clock_mhz", ""), commas_decimal=False, comma_parts=True),
                setup=setup,
            )
        elif len(family) == 1:
            report.problem(f"{title}: fewer than two steps can be used: no series, measure more", own[0].index)
    for (series, _), family in families.items():
        column = {"lvb": "lvb_bytes"}.get(series, series)
        if column in ("reshashtbl", "lockidtbl", "lvb_bytes") and len(family) > 1:
            mine = [row for setup, own in groups.items() if dict(setup) in family for row in own]
            yield from _over(report, column, mine)


def _over(report: Report, column: str, rows: Sequence[_Row]) -> Iterator[ParameterSeries]:
    """The rate over one setting, where nothing else differed between its runs."""
    rest = {tuple(pair for pair in row.setup if pair[0] != column) for row in rows}
    values = {row.index: _whole(dict(row.setup).get(column)) for row in rows}
    if len(rest) > 1 or None in values.values():
        return
    at: dict[float, set[int | None]] = {}
    for row in rows:
        at.setdefault(row.point.load, set()).add(values[row.index])
    load = max(at, key=lambda load: (len(at[load]), max(row.point.rate for row in rows if row.point.load == load)))
    used = sorted((row for row in rows if row.point.load == load), key=lambda row: values[row.index] or 0)
    if len(at[load]) < 2:
        return
    title = _title({name: text for name, text in rows[0].setup if name != column}, [])
    yield ParameterSeries(
        source=_source(report, used),
        title=f"{title}, {load:g} {'process' if load == 1 else 'processes'}",
        parameter=OVER[column],
        rate_name=LOCK_RATE,
        points=tuple(
            ParameterPoint(value=float(values[row.index] or 0), rate=row.point.rate, line=row.point.line)
            for row in used
        ),
        setup=tuple(pair for pair in rows[0].setup if pair[0] != column),
    )


def _title(said: Mapping[str, str], family: Sequence[Mapping[str, str]]) -> str:
    """`rx2660 (1600 MHz) - 2 cores, LEWIS, with hyperthreads`: the machine, and what differs within its series."""
    clock = f" ({said['clock_mhz']} MHz)" if said.get("clock_mhz") else ""
    cores = f" - {said['cores']} cores" if said.get("cores") else ""
    parts = [(said.get("model", "") + clock + cores).strip(" -"), said.get("node", "")]
    for name in SETUP:
        several = len({one.get(name) for one in family}) > 1 or (name == said.get("series") and name in SWITCHES)
        if name in IN_TITLE or not several or not (text := said.get(name)):
            continue
        if name in SWITCHES and text.lower() in ("on", "off"):
            parts.append(f"{'with' if text.lower() == 'on' else 'without'} {SWITCHES[name]}")
        else:
            parts.append(f"{name} {text}")
    return ", ".join(part for part in parts if part) or "lock laboratory"


def _source(report: Report, rows: Sequence[_Row]) -> Source:
    return report.source(min(row.index for row in rows), max(row.index for row in rows))


def _whole(text: str | None) -> int | None:
    return int(text) if text and text.isascii() and text.isdecimal() and len(text) < 16 else None
