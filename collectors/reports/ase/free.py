"""Memory of a Linux host (`free`).

With the column `available` from procps-ng 3.3.10 on (recalled), before that with a line for what is free without
buffers and cache; the unit stands in the command alone, or behind each figure (`-h`)::

    quay7:~ # free -m
                  total        used        free      shared  buff/cache   available
    Mem:          64221       41873        1022         311       21326       21411
    Swap:          8191           0        8191

                 total       used       free     shared    buffers     cached
    Mem:           224        221          3          0          0          4
    -/+ buffers/cache:        217          7

It may stand among others in one line (`hostname; free -m`), with what those printed between. Without the command a
figure without a unit is kilobytes where the host would have next to no memory else.
"""

import re
from collections.abc import Iterator

from collectors.facts.ase import HostMemory
from collectors.facts.base import ABSENT, Reading
from collectors.layouts.figures import number
from collectors.registry import NotThisReport, Report, report

NAMES = re.compile(r"\s{1,40}total\s{1,20}used\s{1,20}free\s{1,20}shared\s.{0,80}")
START = re.compile(f"^{NAMES.pattern}")
ASKED = re.compile(
    r"(?:.{0,80}[#$>%]\s{0,3})?free(?P<options>(?:\s{1,3}-{1,2}[a-z]{1,10}(?:\s{1,2}[0-9]{1,4})?){0,5})\s*"
)
SEVERAL = re.compile(r"[;&|]{1,2}")
"""Between commands of one line."""
ABOVE = 5
"""Lines above the heading that the other commands of that line may have printed."""
LINE = re.compile(r"(?P<name>Mem|Swap|Total|Low|High|-/\+ buffers/cache):\s{1,30}(?P<figures>\S.{0,200})")
FIGURE = re.compile(r"(?P<number>[0-9]{1,15}(?:[.,][0-9]{1,2})?)(?P<unit>[KMGTB]?)i?B?")
UNITS = {"B": 1 / 1024**2, "K": 1 / 1024, "M": 1.0, "G": 1024.0, "T": 1024.0**2}
"""Megabytes of one."""
OPTIONS = {"b": "B", "k": "K", "m": "M", "g": "G"}
LONG = {"--bytes": "B", "--kibi": "K", "--mebi": "M", "--gibi": "G", "--tebi": "T"}
SURELY_KB = 16_000_000
"""So many megabytes are 15 TB: it is more likely that 16 GB are printed in kilobytes (this project)."""
UNIT = "nothing says in which unit it is printed: export it with the command (free -m)"


@report(starts=START, provides=(HostMemory,))
def read(report: Report) -> Iterator[HostMemory]:
    """Yield one fact for each listing."""
    names: list[str] = []
    unit = ""
    lines: dict[str, list[str]] = {}
    first = last = 0
    found = False
    for back, line in enumerate(reversed(list(report.before)[-ABOVE:]), 1):
        if (asked := _asked(line)) and (back == 1 or SEVERAL.search(line)):
            unit, report.above = _unit(asked["options"]), back
            break
    for index, line in enumerate(report.lines):
        asked, heading = _asked(line), NAMES.fullmatch(line)
        if asked or heading:
            report.claim(index)
            if fact := _fact(report, names, lines, unit, first, last):
                found = True
                yield fact
            names, lines, first = line.split() if heading else [], {}, index
            unit = _unit(asked["options"]) if asked else unit
        elif row := LINE.fullmatch(line.strip()):
            lines[row["name"]] = row["figures"].split()
            last = index
            report.claim(index)
    if fact := _fact(report, names, lines, unit, first, last):
        found = True
        yield fact
    if not found and not report.problems:
        raise NotThisReport("no line Mem")


def _asked(line: str) -> re.Match[str] | None:
    """The command in this line, among others or alone."""
    found = (ASKED.fullmatch(one.strip()) for one in SEVERAL.split(line.strip()))
    return next((one for one in found if one), None)


def _unit(options: str) -> str:
    """The unit of a command without `-h`; kilobytes where it names none."""
    for one in options.split():
        if one in LONG:
            return LONG[one]
        if not one.startswith("--") and (named := [OPTIONS[letter] for letter in one if letter in OPTIONS]):
            return named[-1]
    return "K"


def _fact(
    report: Report, names: list[str], lines: dict[str, list[str]], unit: str, first: int, last: int
) -> HostMemory | None:
    """What one listing says; `None` where it has no line of the memory, or its unit is not told."""
    figures = dict(zip(names, lines.get("Mem", []), strict=False))
    if "total" not in figures:
        return None
    if not unit and not FIGURE.fullmatch(figures["total"]):
        return None
    plain = number(figures["total"])
    if not unit and plain is not None:
        if plain < SURELY_KB:
            report.problem(UNIT, first)
            return None
        unit = "K"
    without = lines.get("-/+ buffers/cache", [])
    left = figures.get("available") or (without[1] if len(without) > 1 else "")
    return HostMemory(
        total_mb=_mb(figures["total"], unit),
        available_mb=_mb(left, unit),
        source=report.source(first, last),
    )


def _mb(text: str, unit: str) -> Reading:
    found = FIGURE.fullmatch(text)
    if found is None:
        return ABSENT
    figure = number(found["number"].replace(",", "."))
    return ABSENT if figure is None else round(figure * UNITS[found["unit"] or unit or "K"], 1)
