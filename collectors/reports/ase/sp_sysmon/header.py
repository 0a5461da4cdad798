"""The header of an sp_sysmon report (ase-formats.md 1.2 [R]).

Sample::

    Server Version:        Adaptive Server Enterprise/16.0 SP03 PL06/EBF 28330 SMP/
                           P/x86_64/Enterprise Linux/ase160sp03pl06x/3461/64-bit/FB
                           O/Tue Dec  4 01:58:06 2018
    Run Date:              Mar 02, 2021
    Sampling Started at:   Mar 02, 2021 09:00:00
    Sampling Ended at:     Mar 02, 2021 09:10:00
    Sample Interval:       00:10:00
    Sample Mode:           No Clear
    Counters Last Cleared: Feb 27, 2021 23:15:41
    Server Name:           PROD1

12.5 prints times without a date, which is in `Run Date:` (`Statistics Cleared at:`, `Statistics Sampled at:`; recalled
[?], so read only if it fits). The version is cut every 56 characters, in the middle of words; a blank at a cut may have
been stripped with the padding. 15.0.3 and 15.7 print the first 56 characters only. The server's name stands second in
15.0.3 and last from 15.7 on. A header that is not there says nothing: no server, no times.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime

from collectors.facts.ase.server import Server
from collectors.reports.ase.sp_sysmon.items import Mark, Nothing
from collectors.reports.ase.sp_sysmon.page import Page

PRODUCT = "Adaptive Server Enterprise/"
CUT = 56
LABELS = 23
"""Columns that the labels take; the values begin in the next one."""
MONTHS = {
    name: number
    for number, name in enumerate("Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split(), 1)  # noqa: SIM905
}
DATE = re.compile(r"([A-Z][a-z]{2}) ([0-9]{1,2}), ([0-9]{4}) ([0-9]{1,2}):([0-9]{2}):([0-9]{2})")
SPAN = re.compile(r"([0-9]{1,4}):([0-9]{2}):([0-9]{2})")
SHORTEST, LONGEST = 30, 3600
"""Seconds. Shorter is noise; longer averages the peak away, and 32-bit counters may wrap (ase-formats.md 1.2)."""
APART = 2
"""Seconds by which start and end may differ from the interval: real reports are up to 1 s off."""
AGAIN = 'sp_sysmon "00:10:00" at the busiest hour'


@dataclass(slots=True, eq=False)
class Header:
    """What the header says."""

    first: int | None = None
    last: int = 0
    server: Server | None = None
    start: datetime | None = None
    end: datetime | None = None
    seconds: float | None = None
    mode: str | None = None
    cleared: datetime | None = None
    problems: list[str] = field(default_factory=list)
    odd: list[int] = field(default_factory=list)


def header_of(page: Page, end: int) -> Header:
    """Read the lines before the first section; whatever is no header there is not understood."""
    header = Header()
    fields: dict[str, tuple[int, int, str]] = {}
    for at, last, name, value in _fields(page, end, header):
        if header.first is None:
            header.first = at
        header.last = last
        if name:
            fields[name] = at, last, value
    header.server = _server(page, fields)
    _old_times(fields)
    header.start = _date(page, fields, "Sampling Started at", header.problems)
    header.end = _date(page, fields, "Sampling Ended at", header.problems)
    header.cleared = _date(page, fields, "Counters Last Cleared", header.problems)
    header.mode = fields["Sample Mode"][2] or None if "Sample Mode" in fields else None
    _interval(page, fields, header)
    if header.mode == "Reset Counters":
        header.problems.append(
            "Sample Mode is Reset Counters: the figures of this sample are right, but it set the counters to 0 at its "
            "start, so what another monitor subtracted across that moment is wrong. Sample with noclear: "
            f"{AGAIN.replace(' at', ', noclear at')}"
        )
    return header


def _fields(page: Page, end: int, header: Header) -> Iterator[tuple[int, int, str, str]]:
    """First and last index, name and value of each field; the title has no name."""
    at = 0
    while at < end:
        item, after = page.items[at], at + 1
        if isinstance(item, Mark) and item.what == "title":
            yield at, at, "", ""
        elif isinstance(item, Mark) and item.what == "field":
            value = page.lines[at][item.at :]
            if item.name == "Server Version":
                column = len(page.lines[at].expandtabs()) - len(value.lstrip())
                pieces = [value.strip()]
                while after < end and (piece := _next_piece(page, after, column, pieces[-1])):
                    pieces.append(piece)
                    after += 1
                value = _joined(pieces)
            yield at, after - 1, item.name, value.strip()
        elif not isinstance(item, Nothing):
            header.odd.append(at)
        at = after


def _next_piece(page: Page, at: int, column: int, before: str) -> str:
    """The piece of the version on this line, if it goes on here: text from the value's column on, and no field.

    Where leading blanks were lost, it goes on after a piece that fills its line.
    """
    line = page.lines[at].expandtabs()
    if isinstance(page.items[at], Mark | Nothing):
        return ""
    if not line[:LABELS].strip():
        return line[column:].rstrip()
    return line.strip() if line[0] != " " and len(before) >= CUT - 2 else ""


def _joined(pieces: list[str]) -> str:
    """The version in one piece. A blank stripped at a cut is put back: every piece but the last has 56 characters."""
    pieces = [piece.rstrip() for piece in pieces]
    whole = "".join(p.ljust(CUT) if CUT - 2 <= len(p) < CUT else p for p in pieces[:-1]) + pieces[-1]
    return re.sub(r"/ P/", "/P/", whole).removeprefix(PRODUCT)


def _server(page: Page, fields: dict[str, tuple[int, int, str]]) -> Server | None:
    read = [fields[name] for name in ("Server Version", "Server Name") if name in fields]
    version = fields["Server Version"][2] if "Server Version" in fields else ""
    name = fields["Server Name"][2] if "Server Name" in fields else ""
    if not version and not name:
        return None
    source = page.source(min(at for at, _, _ in read), max(last for _, last, _ in read))
    return Server(source=source, name=name or None, version=version or None)


def _date(page: Page, fields: dict[str, tuple[int, int, str]], name: str, problems: list[str]) -> datetime | None:
    if name not in fields:
        return None
    at, _, value = fields[name]
    found = DATE.fullmatch(value)
    if found and found[1] in MONTHS:
        day, year, hour, minute, second = (int(found[place]) for place in range(2, 7))
        try:
            return datetime(year, MONTHS[found[1]], day, hour, minute, second)  # noqa: DTZ001 - the export has no zone
        except ValueError:
            pass
    problems.append(f"line {page.first + at}: {name} is no date: {value[:40]!r}; export the report again")
    return None


def _old_times(fields: dict[str, tuple[int, int, str]]) -> None:
    """Give the times of 12.5 their date, unless the sample ran over midnight: of which day the date is, nobody says."""
    names = ("Statistics Cleared at", "Statistics Sampled at")
    if "Run Date" in fields and all(name in fields and SPAN.fullmatch(fields[name][2]) for name in names):
        cleared, sampled = (fields[name] for name in names)
        if cleared[2] <= sampled[2] and len(cleared[2]) == len(sampled[2]):
            for name, (at, last, time) in (("Sampling Started at", cleared), ("Sampling Ended at", sampled)):
                fields.setdefault(name, (at, last, f"{fields['Run Date'][2]} {time}"))


def _interval(page: Page, fields: dict[str, tuple[int, int, str]], header: Header) -> None:
    between = (header.end - header.start).total_seconds() if header.start and header.end else None
    if "Sample Interval" in fields:
        at, _, value = fields["Sample Interval"]
        if found := SPAN.fullmatch(value):
            header.seconds = float(int(found[1]) * 3600 + int(found[2]) * 60 + int(found[3]))
        else:
            where = f"line {page.first + at}"
            header.problems.append(f"{where}: Sample Interval is no time: {value[:40]!r}; export the report again")
    if header.seconds is None:
        header.seconds = between if between is not None and between >= 0 else None
    if header.seconds is None:
        return
    if between is not None and abs(between - header.seconds) > APART:
        header.problems.append(
            f"Sample Interval says {header.seconds:.0f} s, but start and end lie {between:.0f} s apart: "
            "the server's clock was set meanwhile, or the header was changed; rates per second may be wrong"
        )
    if header.seconds < SHORTEST:
        header.problems.append(f"sampled for only {header.seconds:.0f} s: too short, mostly noise; collect {AGAIN}")
    if header.seconds > LONGEST:
        header.problems.append(
            f"sampled for {header.seconds / 60:.0f} min: an average this long hides the peak, "
            f"and counters may have wrapped; collect {AGAIN}"
        )
