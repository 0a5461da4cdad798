"""Pages of Performance Toolkit for z/VM: one page is one stream, from its heading to the next one.

The heading of a screen, and of a printed report [R], then the headings of the columns in one or several lines::

    FCX225      CPU 3906  SER 0B7F2  Interval 09:00:00 - 10:00:00    Perf. Monitor

    1FCX225  Run 2026/03/04 10:12:40         SYSSUMLG                             Page   48
    From 2026/03/04 09:00:00                                          CPU 3906-M05  SN 0B7F2
    To   2026/03/04 10:00:00
    For    3600 Secs 01:00:00                                         z/VM   V.7.3.0 SLU 2301

Screens name no release: the answer to `QUERY CPLEVEL` does, a report of its own (`zvm/cp_level`). `nnnn` and `HH:MM:SS`
are the placeholders of the manual. Columns and rows: `collectors.layouts.perfkit_table`.
"""

import re
from collections.abc import Iterable, Sequence

from collectors.facts.base import ABSENT, Fact, Reading
from collectors.facts.zvm import PerfkitPage
from collectors.layouts.perfkit_table import LONGEST
from collectors.registry import Outcome, Report, starting

MOST_LINES = 200_000
"""Lines of one page: 30 locks every minute of four days are 173,000 (this project)."""
HEADING = re.compile(
    r"1?\s{0,8}(?P<report>FCX[0-9]{3})\s{1,20}(?P<kind>CPU|Run)\s{1,8}(?P<rest>\S.{0,200})", re.IGNORECASE
)
SCREEN = re.compile(
    r"(?P<machine>\S{1,12})\s{1,8}SER\s{1,8}(?P<serial>\S{1,12})"
    r"(?:\s{1,8}(?:Interval|INTVL)\s{1,4}(?P<start>\S{1,10})\s{0,4}-\s{0,4}(?P<end>\S{1,10}))?",
    re.IGNORECASE,
)
PLACEHOLDER = re.compile(r"n{3,8}|x{3,8}|HH:MM(?::SS)?", re.IGNORECASE)
MACHINE = re.compile(
    r"\b(?:CPU|Machine)\s{1,4}(?P<machine>[0-9]{4})(?:-[0-9A-Z]{3})?\s{1,8}S(?:N|ER)\s{1,4}(?P<serial>\w{4,8})\b"
)
SPAN = re.compile(r"\s{0,8}(?P<what>From|To)\s{1,8}(?P<date>[0-9]{4}/[0-9]{2}/[0-9]{2})\s{1,4}(?P<time>[0-9:]{8})\b")
ELAPSED = re.compile(r"\s{0,8}For\s{1,12}(?P<seconds>[0-9]{1,8})\s{1,4}Secs\b")
RELEASE = re.compile(r"\bz/VM\s{1,8}V\.?(?P<release>[0-9]{1,2}\.[0-9](?:\.[0-9])?)\b")
RULED = re.compile(r"\s{0,8}[_=-]{20}")
"""What closes the heading of a printed report."""
CLOCK = re.compile(r"(?P<hour>[01][0-9]|2[0-4]):(?P<minute>[0-5][0-9]):(?P<second>[0-5][0-9])")
OWN = re.compile(r"\s{0,8}(?:>{1,2}Mean>|[0-9]{2}:[0-9]{2}(?::[0-9]{2})?\s)", re.IGNORECASE)
"""Rows of a log begin with a time of day, as no other report does: to ask all readers about each takes long."""
HEADING_LINES = 13
DAY = 86_400


def start(report: str) -> re.Pattern[str]:
    """The first line of this page, as a screen or as a printed report."""
    return re.compile(rf"^1?\s{{0,8}}{report}\s{{1,20}}(?:CPU|Run)\s{{1,8}}\S", re.IGNORECASE)


class PageStream:
    """Takes the lines of one page, then has its reader make facts of them.

    A page ends where another begins, whatever its number, and where another kind of report does.
    """

    def __init__(self, file: str, above: Sequence[str]) -> None:
        """Begin at the heading."""
        self.file, self.above, self.first = file, above, 0
        self.lines: list[str] = []
        self.cut = False

    def feed(self, first: int, lines: Sequence[str]) -> int:
        """Take lines up to the next page."""
        self.first = self.first or first
        for at, line in enumerate(lines):
            if self.lines and not OWN.match(line) and (HEADING.match(line) or starting(line)):
                return at
            if len(self.lines) >= MOST_LINES:
                self.cut = True
                return at
            self.lines.append(line)
        return len(lines)

    def close(self) -> Outcome:
        """Read the page."""
        report = Report(self.file, self.first, self.lines, self.above)
        if self.cut:
            report.problem(f"a page of over {MOST_LINES:,} lines: read up to there only")
        facts = list(self.facts(report))
        return Outcome(facts, report.leftovers(), report.problems, report.above)

    def facts(self, report: Report) -> Iterable[Fact]:
        """What this kind of page says."""
        raise NotImplementedError


def is_sample(report: Report) -> bool:
    """Whether the heading has the placeholders of a manual: then its figures are no measurement, and this is told."""
    found = HEADING.match(report.lines[0])
    if not found or not any(map(PLACEHOLDER.fullmatch, found["rest"].split())):
        return False
    number = found["report"].upper()
    report.problem(
        f"a sample layout of {number} from a manual (CPU nnnn, HH:MM:SS), no measurement: save the page of your system",
        0,
    )
    report.claim(0, len(report.lines) - 1)
    return True


def page_fact(report: Report) -> PerfkitPage:
    """Whose page it is and what time it covers; claims the lines that say so."""
    found = HEADING.match(report.lines[0])
    screen = SCREEN.match(found["rest"]) if found and found["kind"].upper() == "CPU" else None
    said = {name: text for name, text in screen.groupdict().items() if text} if screen else {}
    report.claim(0)
    last = 0 if screen else _printed(report, said)
    _check(report, said)
    seconds = float(said["seconds"]) if "seconds" in said else _seconds(report, said.get("start"), said.get("end"))
    return PerfkitPage(
        source=report.source(0, last),
        report=found["report"].upper() if found else "",
        machine=said.get("machine"),
        serial=said.get("serial"),
        start=said.get("start"),
        end=said.get("end"),
        seconds=seconds,
        release=said.get("release"),
        date=said.get("date"),
    )


def _printed(report: Report, said: dict[str, str]) -> int:
    """Read the heading of a printed report, up to its rule; returns the index of its last line."""
    last = 0
    for index, line in enumerate(report.lines[:HEADING_LINES]):
        if RULED.match(line):
            report.claim(0, index)
            return index
        found = [form.search(line[:LONGEST]) for form in (MACHINE, ELAPSED, RELEASE)]
        for match in found:
            said |= {name: text for name, text in match.groupdict().items() if text} if match else {}
        if span := SPAN.match(line):
            said["start" if span["what"] == "From" else "end"] = span["time"]
            said.setdefault("date", span["date"].replace("/", "-"))
        if span or any(found):
            report.claim(index)
            last = index
    return last


def _check(report: Report, said: dict[str, str]) -> None:
    """Leave out what the heading cannot mean, and tell."""
    wanted = {"machine": r"[0-9]{4}", "serial": r"[0-9A-Za-z]{4,8}", "start": CLOCK.pattern, "end": CLOCK.pattern}
    said["machine"] = said.get("machine", "").partition("-")[0]
    odd = [name for name, form in wanted.items() if not re.fullmatch(form, said.get(name, ""))]
    for name in odd:
        said.pop(name, None)
    if odd:
        names = {
            "machine": "machine type",
            "serial": "serial number",
            "start": "begin of the interval",
            "end": "end of the interval",
        }
        told = ", ".join(names[name] for name in odd)
        report.problem(f"the heading names no {told} that can be one: save the page again with its first line", 0)


def _seconds(report: Report, begin: str | None, end: str | None) -> Reading:
    """From one time of day to the next, past midnight if need be; a page does not say how many days."""
    if begin is None or end is None:
        return ABSENT
    if begin == end:
        report.problem("the interval begins and ends at the same time: its length is not known", 0)
        return ABSENT
    return float((_of_day(end) - _of_day(begin)) % DAY)


def _of_day(text: str) -> int:
    hour, minute, second = (int(part) for part in text.split(":"))
    return hour * 3600 + minute * 60 + second
