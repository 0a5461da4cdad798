"""The table of the lock laboratory for OpenVMS (`manage.py locklab --for openvms`): one step of a run in a row.

Its heading names the machine, its settings and what was measured (`knowledge/openvms-rdb-more.md` 6); an empty cell is
"not measured". What series its rows make is in `settings`.
"""

import re
from collections.abc import Mapping

from collectors.facts.scaling import LoadPoint, LoadSeries, ParameterSeries
from collectors.registry import Report
from collectors.reports.scaling.load_series.cells import commas_decimal, number, split
from collectors.reports.scaling.load_series.headings import CONVERTED, DEQ, LABORATORY, LOCK_RATE, MODES, NEW
from collectors.reports.scaling.load_series.settings import SETUP, Run, series_of

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
CPUS = re.compile(r"\s{0,9}#\s{0,9}cpus\s{0,9}[:=]\s{0,9}([0-9]{1,4})\b", re.IGNORECASE)
SUM_PERCENT, MODES_PERCENT, RELEASED_PERCENT, OWN_PERCENT = 0.1, 2.0, 1.0, 3.0
"""How far totals, modes, enqueues against dequeues, and own counts may be off (`openvms-rdb-more.md` 6)."""
PER_CPU = 100.0


def laboratory(report: Report) -> tuple[list[LoadSeries | ParameterSeries], frozenset[int]]:
    """The series of all tables of the laboratory, and the lines that belong to them, which are claimed."""
    runs: list[Run] = []
    taken: set[int] = set()
    columns: tuple[str, ...] = ()
    delimiter, decimal, cpus = ",", False, _cpus_above(report)
    commas: bool | None = None
    for index, line in enumerate(report.lines):
        if LABORATORY.match(line):
            delimiter = next(one for one in ";\t|," if one in line)
            columns = tuple(cell.strip(' "').lower() for cell in split(line, delimiter))
            if delimiter == ";" and commas is None:  # of all tables alike: a program of one machine wrote them
                commas = commas_decimal(report.below(index))[0]
            decimal = delimiter == ";" and commas is True
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
                runs.append(_run(report, index, texts, numbers))
        elif columns and line.strip() and delimiter in line and line.count(delimiter) > len(SETUP):
            report.problem(f"{len(cells)} cells below {len(columns)} headings, row left out: write it whole", index)
        elif line.strip():
            columns = ()
            continue
        if columns:
            report.claim(index)
            taken.add(index)
    return list(series_of(report, runs, rate_name=LOCK_RATE)), frozenset(taken)


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


def _run(report: Report, index: int, texts: Mapping[str, str], numbers: Mapping[str, float | None]) -> Run:
    others = tuple((name, value) for column, name in FIGURES.items() if (value := numbers.get(column)) is not None)
    return Run(
        index,
        tuple((name, " ".join(texts[name].split())[:80]) for name in SETUP if texts.get(name)),
        LoadPoint(
            load=numbers["processes"] or 0.0,
            rate=_total(numbers) or 0.0,
            others=others,
            line=report.first + index,
        ),
    )
