"""Tables whose query subtracts two copies itself: their counters are differences already, and no totals.

Known by the query above the rows (`Waits = w2.Waits - w.Waits`, `from #waits_delta`), by what the rows bear (the two
times `SampleStart` and `SampleEnd`, or `SampleSeconds`), or by the end of the file's name (`monDeviceIO_delta.csv`,
`spin_delta_300s.txt`). How long it was says a title (`-- delta 14:00:00 - 14:10:00, 600 s`), or the rows, or the file's
name; without these they are differences of an unknown time, of which no rate is made.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import PurePath
from typing import cast

from collectors.facts.base import Fact
from collectors.facts.columns import Picked
from collectors.facts.counted import Counted
from collectors.layouts.dates import ANY, moment

SUBTRACTS = re.compile(r"\b\w{1,30}\.(\w{1,40})\s{0,4}-\s{0,4}\w{1,30}\.\1\b", re.IGNORECASE)
"""The same column of two tables or aliases, one minus the other."""
COPY = re.compile(r"\bfrom\s{1,9}(?:#|\w{1,30}\.\w{0,30}\.)\w{0,30}(?:delta|diff)\w{0,20}", re.IGNORECASE)
"""A table of a script, temporary or in a database of its own, that is called differences."""
TWO_TIMES = r"[^a-z0-9](?P<first>(?:[01][0-9]|2[0-3])[0-5][0-9])[^a-z0-9](?P<second>(?:[01][0-9]|2[0-3])[0-5][0-9])"
TIMES = re.compile(rf"{TWO_TIMES}$", re.IGNORECASE)
FILE = re.compile(
    r"(?:^|[^a-z])(?:(?P<before>[0-9]{1,5})(?P<of>s|sec|min|h)[^a-z0-9])?(?:delta|diff|difference)s?"
    r"(?:[^a-z0-9]?(?P<many>[0-9]{1,5})(?P<unit>s|sec|min|h)|(?P<plain>60|90|120|180|240|300|600|900|1200|3600)"
    rf"|{TWO_TIMES})?$",
    re.IGNORECASE,
)
"""How the name of a file ends that holds them: `monDeviceIO_delta.csv`. In front it may be the name of a server.

A number without a unit right behind the word (`_diff600`) is of seconds, if samples usually last so long; two of four
digits are times of day (`_difference_1400_1410`)."""
LONG = re.compile(
    r"(?:^|[^a-z0-9])(?P<many>[1-9][0-9]{0,4})(?P<unit>s|sec|min|h)(?:[^a-z0-9]top[0-9]{1,3})?$", re.IGNORECASE
)
UNITS = {"min": 60, "h": 3600}
"""Seconds of one of them, where the unit is not the second."""
SERVER = r"(?-i:[A-Za-z][\w$#.-]{0,28}[A-Z0-9_][\w$#.-]{0,28})"
"""A name of a server in a title: with a capital, a figure or `_` behind its first letter, which other words lack."""
TABLE = r"\bmon[A-Z]\w{1,40}\s{0,3}(?:\([^)]{0,60}\))?"
TABLE_NAME = re.compile(r"\bmon[A-Z]\w{1,40}")
MINUS = r"(?:second|last|later|after)\s{1,3}(?:minus|-)\s{1,3}(?:first|earlier|before)"
LONG_FIRST = r"[0-9]{1,6}\s{0,2}(?:s|sec|secs|seconds|m|min|mins|minutes)\s{1,3}"
DIFFERENCE = re.compile(
    rf"(?:{SERVER}[,:]?\s{{1,3}})?"
    rf"(?:{TABLE}(?:\s{{0,3}}(?:joined|join|and|with|\+|/)\s{{0,3}}(?:with\s{{1,3}})?{TABLE})?[,:]?\s{{0,3}})?"
    rf"(?:{SERVER}[,:]?\s{{1,3}})?"
    rf"(?:(?:difference|delta|diff)s?\b(?!\s{{1,3}}(?:is|are|will|to)\b)|{MINUS}\b"
    rf"|{LONG_FIRST}(?:difference|delta|diff)s?\b(?=\s{{0,3}}(?:[,;:(]|\*/|$|(?:of|top)\b|{TABLE})))",
    re.IGNORECASE,
)
"""How a title begins that says of the rows below that they are differences: it may name a table and a server before."""
AT_END = re.compile(
    r",\s{0,3}(?:difference|delta|diff)s?\s{0,3}(?:[;,(].{0,80}|\)?\s{0,3}(?:\*/\s{0,3})?)$", re.IGNORECASE
)
"""How a title ends that says so behind a comma: `two copies of monSysWaits, 13:30 and 13:35, difference`."""
REMARK = r"(?:##|--|/\*|#|!|===)"
WORD = r"(?i:(?:difference|delta|diff)s?\b)"
BOTH = rf"(?i:from)\s{{1,3}}(?:{ANY})\s{{1,3}}(?i:to|until)\s{{1,3}}(?:{ANY})"
UNMARKED = rf"(?={TABLE},?\s{{1,3}}{WORD}|{WORD}\s{{1,3}}(?:of\s{{1,3}})?{TABLE}|{BOTH})"
"""A line without the mark of a remark is a title only where it begins with a table and the word, in either order, or
with two dates, from and to: that tells how long, and not that it is of differences."""
TITLE = re.compile(
    rf"\s{{0,10}}(?:(?:[0-9]{{1,6}}> ?){{1,9}}\s{{0,9}})?(?:{REMARK}\s{{0,10}}|{UNMARKED})(?P<says>\S.{{0,200}})"
)
CLOCK = r"(?:[01]?[0-9]|2[0-3]):[0-5][0-9](?::[0-5][0-9](?:[.:][0-9]{1,6})?)?"
SECOND = r"[\s,;]{0,9}\b(?:second|end|(?:snapshot|sample|copy)\s{0,2}(?:2|b))\b\s{0,3}[:=]?\s{0,3}"
TO = rf"(?:\s{{0,3}}(?:->?|/|\u2013|\u2192|to|until|and)\s{{0,3}}|{SECOND})"
"""What stands between two times: `09:10 - 09:20`, `snapshot 1: 09:10   snapshot 2: 09:20`."""
FROM_TO = re.compile(
    rf"(?<![0-9:])({CLOCK})(?:\s?([AP]M))?{TO}({CLOCK})(?:\s?([AP]M))?(?![0-9:]|\s?[AP]M\b)", re.IGNORECASE
)
DATES = re.compile(rf"(?<![0-9:])({ANY}){TO}({ANY})(?![0-9:])", re.IGNORECASE)
"""Both times with their dates: these may be days apart."""
FIRST = r"(?:snapshot|sample|copy)\s{0,2}(?:1|a)\b\s{0,3}[:=]?\s{0,3}"
TWO_SNAPSHOTS = rf"^\s{{0,10}}{REMARK}\s{{0,10}}{FIRST}(?:{ANY}){SECOND}(?:{ANY})"
"""A title of nothing but the times of two snapshots: it may stand far above the rows, with another report between."""
SECONDS = re.compile(
    r"(?<![0-9.:,])([0-9]{1,6})\s{0,2}(?:(?P<min>m|min|mins|minutes)|s|sec|secs|seconds)\b", re.IGNORECASE
)
NAMED_SERVER = re.compile(
    rf"(?:^|[\s,;(])(?i:server)(?:\s{{0,3}}[:=]\s{{0,3}}|\s{{1,3}})(?P<name>{SERVER})(?=[\s,;)]|$)"
)
STARTS = ("samplestart", "intervalstart", "deltastart")
ENDS = ("sampleend", "intervalend", "deltaend")
"""Columns that tell from when to when a row was counted."""
LENGTHS = ("sampleseconds", "intervalseconds", "deltaseconds")
"""Columns that tell over how many seconds it was."""
CLOCKS_OFF = 60.0
"""Seconds that the two times of a title and the seconds beside them may differ by: times may lack their seconds."""
DAY = timedelta(days=1)


@dataclass(frozen=True)
class Subtracted:
    """That the rows are differences; `seconds`: over how long, `None` where nothing says."""

    seconds: float | None = None


def by_query(line: str) -> bool:
    """Whether a line of a query says that its answer is differences."""
    return bool(SUBTRACTS.search(line) or COPY.search(line))


def by_file(name: str, titled: float | None = None) -> Subtracted | None:
    """That the rows of a file are differences, where its name ends so; `titled`: seconds by the title above them."""
    found = FILE.search(PurePath(name).stem)
    if found is None:
        return None
    many, unit = found["many"] or found["before"] or found["plain"], found["unit"] or found["of"] or "s"
    named = float(many) * UNITS.get(unit.lower(), 1) if many else None
    if found["first"]:
        named = _apart(found) or named
    if named and titled and abs(named - titled) > CLOCKS_OFF:
        return Subtracted()
    return Subtracted(titled or named or None)


def seconds_of(name: str) -> float | None:
    """The seconds that the name of a file tells at its end: `objects_15min.csv`, `waits_0830_0840.csv`."""
    if times := TIMES.search(PurePath(name).stem):
        return _apart(times)
    found = LONG.search(PurePath(name).stem)
    return float(found["many"]) * UNITS.get(found["unit"].lower(), 1) if found else None


def _apart(found: re.Match[str]) -> float | None:
    """Seconds between two times of day in a name; none of what may be two years (`2018_2019`)."""
    if found["first"][:2] == found["second"][:2] == "20":
        return None
    return (
        _between(*(_of_day(f"{one[:2]}:{one[2:]}") for one in (found["first"], found["second"]))).total_seconds()
        or None
    )


def length_of(line: str) -> float | None:
    """The seconds that a title tells; `None` where it tells none, or contradicts itself."""
    title = TITLE.match(line)
    if title is None:
        return None
    counted = SECONDS.search(title["says"])
    between = _times_apart(title["says"])
    told = float(counted[1]) * (60 if counted["min"] else 1) if counted else None
    if between and told and abs(between - told) > CLOCKS_OFF:
        return None
    return told or between or None


def _times_apart(says: str) -> float | None:
    """Seconds between the two times of a title; of times with a date each as the dates say, in doubt none."""
    if dated := DATES.search(says):
        one, other = moment(dated[1]), moment(dated[2])
        return abs((other - one).total_seconds()) if one and other else None
    times = FROM_TO.search(says)
    return (
        _between(_of_day(times[1], times[2] or times[4]), _of_day(times[3], times[4])).total_seconds()
        if times
        else None
    )


def end_of(line: str) -> datetime | None:
    """When the later of two snapshots was taken, by a title that dates both and does not contradict itself."""
    title = TITLE.match(line)
    dated = DATES.search(title["says"]) if title and length_of(line) else None
    times = [one for one in (moment(dated[1]), moment(dated[2])) if one] if dated else []
    return max(times, default=None)


def server_of(line: str) -> str | None:
    """Whose tables they are, by a title that dates both snapshots: `# server HARBOUR, from … to …, 300 s`."""
    title = TITLE.match(line)
    named = NAMED_SERVER.search(title["says"]) if title and end_of(line) else None
    return named["name"] if named else None


def by_title(line: str, above: str = "") -> Subtracted | None:
    """That a title says of the rows below that they are differences, and over how long; or the one `above` it does."""
    length = length_of(line)
    return Subtracted(length) if length and (of_differences(line) or of_differences(above)) else None


def names_another(line: str, table: str) -> bool:
    """Whether a title names a table, and not this one."""
    named = {one.lower() for one in TABLE_NAME.findall(line)}
    return bool(named) and table.lower() not in named


def of_differences(line: str) -> bool:
    """Whether a title speaks of differences, though it may not tell over how long."""
    title = TITLE.match(line)
    return title is not None and (DIFFERENCE.match(title["says"]) or AT_END.search(title["says"])) is not None


def _between(one: timedelta, other: timedelta) -> timedelta:
    """Over midnight, or with the later time first (`difference 14:05 - 14:00`): the shorter of both."""
    return min((other - one) % DAY, (one - other) % DAY)


def _of_day(clock: str, half: str | None = None) -> timedelta:
    hours, minutes, seconds = (*map(int, clock.replace(".", ":").split(":")[:3]), 0)[:3]
    if half:
        hours = hours % 12 + (12 if half.upper() == "PM" else 0)
    return timedelta(hours=hours, minutes=minutes, seconds=seconds)


def by_seconds(cell: str) -> Subtracted:
    """The differences of a row that bears its seconds."""
    return Subtracted(float(cell) if cell.strip().isdecimal() and float(cell) > 0 else None)


def between_times(start: datetime | None, end: datetime | None) -> Subtracted:
    """The differences of a row that bears both its times."""
    seconds = (end - start).total_seconds() if start and end else 0.0
    return Subtracted(seconds if seconds > 0 else None)


def as_interval(facts: Sequence[Fact], found: Subtracted) -> list[Fact]:
    """The rows of one table as what was counted in an interval; states stay as they are."""
    rows = [fact for fact in facts if isinstance(fact, Counted)]
    if not rows:
        return list(facts)
    same = {"over": "interval", "seconds": found.seconds, "certificate": "ok"}
    counted = cast(list[Fact], Picked(rows).again({}, {}, same))
    return [*counted, *(fact for fact in facts if not isinstance(fact, Counted))]
