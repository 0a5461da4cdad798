"""Walks over SPL's outputs, line by line: what each covers, and its spinlocks with the lines that name them."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from typing import Any

from collectors.facts.base import ABSENT, OVERFLOW, Reading
from collectors.layouts import sda, vms
from collectors.layouts.figures import number
from collectors.layouts.known_lines import known_lines
from collectors.layouts.tables import is_dashes
from collectors.registry import Report
from collectors.reports.openvms.spl.columns import (
    CPU,
    DIGIT,
    FIGURES,
    MOST_HEADINGS,
    NAME,
    PC,
    PER_SECOND,
    UNTOLD,
    heading,
    kinds_of,
    settled,
)

TRACE, ANALYZE, COLLECT = "SHOW TRACE/SUMMARY", "ANALYZE", "SHOW COLLECT"
TITLE = re.compile(r"\s*Spinlock (?P<what>Trace|Usage|Analysis|Collection)\b")
TIME = re.compile(
    r"\b(?:trace|collect\w{0,4}|elapsed) (?:time|period|interval|duration)\W{1,10}"
    r"(?:(?P<hours>[0-9]{1,4}):(?P<minutes>[0-9]{2}):(?P<clock>[0-9]{2}(?:\.[0-9]{1,9})?)"
    r"|(?P<seconds>[0-9]{1,9}(?:\.[0-9]{1,9})?) ?s(?:ec(?:ond)?s?)?\b)",
    re.IGNORECASE,
)
SHARE_OF = re.compile(
    r"(?:%|\bper ?cent(?:ages?)?\b|\bpct\b)[^.;]{0,40}\bof (?:the time of )?"
    r"(?:(?P<one>(?:one|a|a single|each|1) (?:CPU|processor)\b)"
    r"|(?:all )?(?:the )?(?:(?P<cpus>[0-9]{1,4}) )?(?:active )?(?:CPUs|processors)\b|the (?:whole )?machine\b)",
    re.IGNORECASE,
)
"""Words that state what the shares of a table are of."""
LEGEND = re.compile(r"\bspin (?:%|per ?cent|pct)\s{0,4}[:=]? {0,4}(?:is |are )?(?=of )", re.IGNORECASE)
"""Of a column by its name: what the spin share is of, whatever the hold share before it is of."""
COLLECTED = re.compile(r"\bspinlock:? +(?P<name>[A-Z][A-Z0-9_$]{1,30})\b")
SPINLOCK = re.compile(r"[A-Z][A-Z0-9_$./-]{1,30}|XFC|[A-Z]{1,4}\$[A-Za-z0-9_$]{1,26}")
CALLER = re.compile(r"\s{1,40}(?P<pc>[0-9A-Fa-f]{8}(?:\.?[0-9A-Fa-f]{8})?)(?P<where>\s+[A-Za-z_$]\S{0,60}.{0,60})?\s*$")
PLACE = re.compile(
    r"(?P<place>[A-Za-z][\w$]{0,40}\+[0-9A-Fa-f]{1,16})(?:\s{1,8}\((?P<routine>[A-Za-z_$][\w$]{0,40})\))?"
)
"""A caller as image and offset, with its routine where symbols were loaded."""
CALLERS = re.compile(r"\s{0,40}(?:top )?callers?:?\s*", re.IGNORECASE)
"""Above a table of callers: no part of its heading."""
NO_ROW = re.compile(r"\s{0,40}(?:Total\b[\s0-9.,%]{1,200}|Tracing (?:started|stopped)\.{0,3}\s*)", re.IGNORECASE)
"""The sums below a table, which nothing is read from, and what SPL says when a trace begins or ends."""
FIGURE = r"([0-9]{1,18}(?:\.[0-9]{0,18})?)%?"
"""A figure as SPL prints it; `_figure` reads what else may stand for one."""
NEVER = re.compile("(?!)")
LONGEST = 250
"""Characters of a row."""
MOST_CALLERS = 5
MOST_ROWS = 5_000
"""A system has some hundred spinlocks; a process one for each where they are listed."""


Columns = tuple[str, ...]
"""What each column of a table holds, as `kind_of` says it."""


@dataclass
class Lock:
    """One spinlock of one run, from all tables that name it."""

    first: int
    last: int
    figures: dict[str, Reading] = field(default_factory=dict)
    callers: list[str] = field(default_factory=list)


@dataclass
class Run:
    """One command's output."""

    command: str
    echoed: str | None
    first: int
    unit: str | None = None
    seconds: float | None = None
    detailed: bool = False
    collected: str | None = None
    at: datetime | None = None
    percent_of: str | None = None
    """What its words say that the shares are of: one CPU or all CPUs."""
    cpus: int | None = None
    """Of how many CPUs' time, where those words say it."""
    legend: bool = False
    """Whether they name the column of the spin share."""
    untold: bool = False
    """Whether it has counts of which nothing tells the unit."""
    rows: int = 0
    left: list[int] = field(default_factory=list)
    """Indexes of the rows beyond `MOST_ROWS`."""
    locks: dict[tuple[str, int | None], Lock] = field(default_factory=dict)

    def lock(self, name: str, cpu: int | None, index: int) -> Lock:
        """The spinlock of this name, made where it is new."""
        return self.locks.setdefault((name, cpu), Lock(index, index))


def outputs(report: Report) -> list[Run]:
    """Walk over the lines once and claim those understood."""
    runs: list[Run] = []
    table: Columns | None = None
    name, collected, index, outside = "", _collected(report.before), 0, False
    while index < len(report.lines):
        line = report.lines[index]
        if not line or line.isspace():
            pass
        elif table and (taken := _plain_row(report, index, runs[-1], table)):
            name = taken
        elif (command := sda.command_of(line)) is not None:
            table, name = None, ""
            collected = _collected([line]) or collected
            run = _begun(command, index)
            outside = run is None
            if run:
                run.collected = collected if run.command == COLLECT else None
                runs.append(run)
                report.claim(index)
        elif NO_ROW.fullmatch(line[:LONGEST]):
            report.claim(index)
        elif outside or (runs and runs[-1].detailed):
            pass
        elif found := TITLE.match(line):
            if not runs or (runs[-1].echoed is None and runs[-1].locks):
                what = {"Analysis": ANALYZE, "Collection": COLLECT}.get(found["what"], TRACE)
                runs.append(Run(what, None, index, collected=collected if what == COLLECT else None))
            _take_time(runs[-1], line)
            _take_share_of(runs[-1], line)
            runs[-1].at = vms.first_moment(line[:LONGEST]) or runs[-1].at
            runs[-1].collected = _named(line) or runs[-1].collected
            report.claim(index)
        elif CALLERS.fullmatch(line):
            table, name = None, ""
            report.claim(index)
        elif count := heading(report.lines, index):
            if not runs:
                runs.append(Run(TRACE, None, index))
            table, index = _table(report, index, count, runs[-1])
            name = ""
            continue
        elif is_dashes(line):
            report.claim(index)
        elif runs:
            taken = _row(report, index, runs[-1], table, name)
            name = name if taken is None else taken
            if taken is None and _take_share_of(runs[-1], line):
                report.claim(index)
            elif taken is None and not DIGIT.search(line):
                table = None  # words alone: whatever stands below it, it is another table
            if taken is None and _take_time(runs[-1], line):
                report.claim(index)
            if taken is None and runs[-1].command == COLLECT and (said := _named(line)):
                runs[-1].collected = said
                report.claim(index)
        index += 1
    return runs


def _begun(command: str, index: int) -> Run | None:
    """The output that an echoed command begins; `None` for a command that is none of SPL's displays."""
    if sda.is_command(command, "SPL", "SH", "TR"):
        unit = "totals" if sda.has(command, "TOTALS", 3) else "rates" if sda.has(command, "RATES") else None
        return Run(TRACE, command, index, unit, detailed=not sda.has(command, "SUMMARY"))
    if sda.is_command(command, "SPL", "AN"):
        return Run(ANALYZE, command, index)
    if sda.is_command(command, "SPL", "SH", "CO"):
        return Run(COLLECT, command, index)
    return None


def _collected(lines: Sequence[str]) -> str | None:
    """The spinlock that a command above asked SPL to collect."""
    found = None
    for line in lines:
        command = sda.command_of(line) or ""
        if sda.is_command(command, "SPL", "STA", "CO"):
            said = sda.qualifiers(command)
            found = next((value for name, value in said.items() if "SPINLOCK".startswith(name) and value), found)
    return found


def _named(line: str) -> str | None:
    found = COLLECTED.search(line) if len(line) <= 250 else None
    return found["name"] if found else None


def _take_time(run: Run, line: str) -> bool:
    """Take how long was traced, where the line says so."""
    found = TIME.search(line) if len(line) <= 250 else None
    if found is None:
        return False
    if found["seconds"]:
        run.seconds = float(found["seconds"])
    else:
        run.seconds = 3600.0 * int(found["hours"]) + 60 * int(found["minutes"]) + float(found["clock"])
    return True


def _take_share_of(run: Run, line: str) -> bool:
    """Take what the shares are of, where the line states that."""
    if len(line) > LONGEST:
        return False
    named = LEGEND.search(line)
    found = SHARE_OF.search(line, named.start() if named else 0)
    if found:
        run.percent_of = "one CPU" if found["one"] else "all CPUs"
        run.cpus, run.legend = int(found["cpus"]) if found["cpus"] else None, bool(named)
    return found is not None


def _table(report: Report, at: int, count: int, run: Run) -> tuple[Columns | None, int]:
    """Take a heading of `count` lines; gives what its columns hold, and the index of the line after it."""
    heads = tuple(report.lines[at : at + count])
    after = at + count
    dashes = report.lines[after] if after < len(report.lines) and is_dashes(report.lines[after]) else None
    ways = kinds_of(heads, dashes)
    kinds = ways[0]
    if len(ways) > 1:
        rows = list(map(_width, report.lines[after : after + 60]))
        kinds = max(ways, key=lambda way: rows.count(len(way)))
    if not any(kind in (*FIGURES, *UNTOLD, PC) for kind in kinds) or kinds[0] not in (NAME, CPU, PC):
        return None, after
    if PC not in kinds and any(PER_SECOND.search(head) for head in heads):
        run.unit = "rates"
    run.untold |= PC not in kinds and run.unit is None and any(kind in UNTOLD for kind in kinds)
    report.claim(at, after if dashes is not None else after - 1)
    return tuple(settled(kind, run.unit) for kind in kinds), after + (dashes is not None)


def _tokens(line: str) -> list[str]:
    line = line[:LONGEST]
    return (line.replace(" %", "%") if "%" in line else line).split()


@known_lines
def _width(line: str) -> int:
    return len(_tokens(line))


@lru_cache(maxsize=MOST_HEADINGS)
def _plain(table: Columns) -> re.Pattern[str]:
    """What matches the rows of a table that holds names and figures, if they are as SPL prints them: most lines."""
    if len({*table} - {NAME, CPU}) == len([kind for kind in table if kind in FIGURES]):
        cells = {NAME: f"({SPINLOCK.pattern})", CPU: "([0-9]{1,4})"}
        return re.compile(r"\s*" + r"\s+".join(cells.get(kind, FIGURE) for kind in table) + r"\s*")
    return NEVER


def _plain_row(report: Report, index: int, run: Run, table: Columns) -> str | None:
    """Take a line as `_row` would, in one step; gives `None` of a line that only `_row` can tell."""
    line = report.lines[index]
    found = _plain(table).fullmatch(line) if run.rows < MOST_ROWS and len(line) <= LONGEST else None
    if not found:
        return None
    cells: dict[str, Any] = dict(zip(table, found.groups(), strict=True))
    name, cpu = cells.pop(NAME, run.collected), cells.pop(CPU, None)
    figures: dict[str, Reading] = {kind: float(text) for kind, text in cells.items()}
    taken = bool(name and SPINLOCK.fullmatch(name)) and _take(report, index, run, (name, cpu), figures)
    return name if taken else None


def _row(report: Report, index: int, run: Run, table: Columns | None, above: str) -> str | None:
    """Take one line below a heading, if it is a row or a caller; gives the name of its spinlock, or `None`."""
    line = report.lines[index]
    if above and run.command != COLLECT and (found := CALLER.match(line)):
        _add_caller(run, above, index, f"{found['pc']} {found['where'] or ''}")
        report.claim(index)
        return above
    tokens = _tokens(line)
    if table and table[-1] == PC and len(tokens) > len(table):
        tokens[len(table) - 1 :] = [" ".join(tokens[len(table) - 1 :])]
    if table is None or len(tokens) != len(table):
        return None
    if run.rows >= MOST_ROWS:
        run.left.append(index)
        return None
    cells = dict(zip(table, tokens, strict=True))
    name = cells.get(NAME, above if PC in cells else run.collected or "")
    cpu = cells.get(CPU)
    if not SPINLOCK.fullmatch(name) or (cpu is not None and not re.fullmatch("[0-9]{1,4}", cpu)):
        return None
    if PC in cells:
        if place := PLACE.fullmatch(cells[PC]):
            rate = number(cells.get("acquires_per_second", ""))
            often = f" {rate:,.0f}/s" if rate is not None else ""
            _add_caller(run, name, index, f"{place['routine'] or place['place']}{often}")
            run.rows += 1
            report.claim(index)
            return name
        if not sda.ADDRESS.fullmatch(cells[PC].partition(" ")[0]):
            return None
        where = [token for kind, token in zip(table, tokens, strict=True) if not kind and number(token) is None]
        _add_caller(run, name, index, " ".join([cells[PC], *where]))
    else:
        figures = {kind: _figure(text) for kind, text in cells.items() if kind in FIGURES}
        read = bool(figures) and ABSENT not in figures.values()
        return name if read and _take(report, index, run, (name, cpu), figures) else None
    run.rows += 1
    report.claim(index)
    return name


def _take(report: Report, index: int, run: Run, named: tuple[str, str | None], figures: dict[str, Reading]) -> bool:
    """Take the figures of a spinlock, on a CPU if one is named; whether they are not there already."""
    name, cpu = named
    lock = run.lock(name, None if cpu is None else int(cpu), index)
    if figures.keys() & lock.figures.keys():
        return False
    lock.last = index
    lock.figures.update(figures)
    run.rows += 1
    report.claim(index)
    return True


def _add_caller(run: Run, name: str, index: int, text: str) -> None:
    callers = run.lock(name, None, index).callers
    caller = " ".join(text.split())[:120]
    if len(callers) < MOST_CALLERS and caller not in callers:
        callers.append(caller)


def _figure(token: str) -> Reading:
    """A figure, with or without its per cent sign."""
    token = token.removesuffix("%")
    found = number(token)
    return OVERFLOW if token and not token.strip("*") else ABSENT if found is None else found
