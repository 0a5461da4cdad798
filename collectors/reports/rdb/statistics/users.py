"""Screens that list things: processes, stalls, last timeouts and deadlocks, hot rows, files, journals."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from collectors.facts.base import ABSENT, Reading, Source, known
from collectors.facts.rdb import (
    AreaIo,
    BufferHits,
    EventLog,
    HotRow,
    Journals,
    ProcessLocks,
    StatisticRow,
    WaitGroup,
)
from collectors.layouts.figures import reading
from collectors.layouts.rmu import PROCESS, item_of, reason_and_mode, resource_of
from collectors.registry import Report
from collectors.reports.rdb.statistics.screens import Screen, figures_of

OVERVIEW = re.compile(r"Process Lock\b", re.IGNORECASE)
STALLS = re.compile(r"Stall Messages\b", re.IGNORECASE)
HISTORY = re.compile(r"(?P<what>Timeout|Deadlock) History\b", re.IGNORECASE)
HOT = re.compile(r"Hot Row\b(?:[^()]{0,40}\((?P<cache>[^()]{1,60})\))?", re.IGNORECASE)
FILES = re.compile(r"File IO Overview\b", re.IGNORECASE)
JOURNALS = re.compile(r"AIJ Journal Information\b", re.IGNORECASE)
BUFFERS = re.compile(r"Buffer Analysis\b", re.IGNORECASE)
OF_BUFFERS = re.compile(r"\s{0,9}Analysis item\W.{0,90}\bCurrent\W.{0,30}\bTh", re.IGNORECASE)
"""Its heading: the current figure stands before the threshold."""
HIT = re.compile(
    r"\s{0,9}(?P<pool>local|global)[- ]buffer\b.{0,30}\bhit rate\s{1,60}(?P<now>[0-9]{1,3}\.[0-9])\s?%"
    r"\s{1,30}[0-9.]{1,5}\s?%\s*$",
    re.IGNORECASE,
)
SAID = re.compile(
    r"\s{0,9}(?:\w{1,20}\s{2,40})?(?:(?P<pool>local|global|AS)[- ]?)(?:buffer )?(?:page |pool )?hit ratio:?\s{1,9}"
    r"(?P<now>[0-9]{1,3}\.[0-9])\s?% is (?:below|above|at|within)\b.{0,20}%",
    re.IGNORECASE,
)
"""The same as a sentence (recalled): which figure is the threshold its words tell."""
PREFETCH = re.compile(r"\s{0,9}(?:detected )?asynchronous pre-?fetch\s{1,60}(?:enabled|disabled)\s*$", re.IGNORECASE)
OF_JOURNALS = re.compile(r"\s{0,9}After-Journal\.Name", re.IGNORECASE)
NAMED_VALUE = re.compile(r"\b(?P<name>Journaling|Shutdown|State|ABS|ALS):\s{0,9}(?P<value>\w{1,20})", re.IGNORECASE)
FULL_PERCENT = 99.0
"""This project: of the journal that is written, so that the next switch is due."""
OF_FILES = re.compile(r"\s{0,9}File/Storage\.Area\.Name\.*\s", re.IGNORECASE)
AREA = re.compile(r"\s{0,9}data\s{1,9}(?:area\s{1,9})?(?P<area>[A-Z0-9_$]{1,31})\s*$", re.IGNORECASE)
AREA_FILE = re.compile(r"[\]>:](?P<area>[A-Z0-9_$-]{1,60})\.RDA(?:;[0-9]{0,5})?$", re.IGNORECASE)
"""A file of a storage area: its name is that of the area unless somebody chose another one (inferred)."""
OPERATIONS = re.compile(r"(?:async|sync)", re.IGNORECASE)
"""How the heading of a column of reads or writes begins: `Sync.Reads`, `AsyncWrits`."""
CACHE = re.compile(
    r"\s{0,20}(?:for )?(?:row )?cache(?: name)?:?\s{1,9}\"?(?P<cache>[A-Z0-9_$]{1,31})\"?\s*$", re.IGNORECASE
)

PROCESS_ROW = re.compile(rf"\s{{0,20}}{PROCESS}\s+(?P<rest>\S.*)")
ALONE = re.compile(rf"\s{{0,20}}{PROCESS}\s*$")
TIMED = re.compile(
    r"(?P<hour>[0-9]{2}):(?P<minute>[0-9]{2}):(?P<second>[0-9]{2}\.[0-9]{2})(?:\s+|$)(?:(?P<kind>[A-Z-])\s+)?(?:-\s+)?(?P<reason>.*)"
)
LOCK_ID = re.compile(r"\s+[0-9A-F]{8}\s*$")
COUNT = re.compile(r"\s+(?P<count>[0-9][0-9,]{0,12}|\*{1,12})\s*$")
HEADING = re.compile(r"\s*(?:process|area:page)", re.IGNORECASE)
STALL_COLUMNS = re.compile(r"\b(?:since|elapsed)\b.{0,40}\breason\b.{0,60}\block\b", re.IGNORECASE)
ENTRY = re.compile(
    r"\s{0,80}(?P<dbkey>-?[0-9]{1,9}:[0-9]{1,10}:-?[0-9]{1,6}|Empty:[0-9]{1,9})"
    r"(?:\s{1,40}(?P<users>[0-9][0-9,]{0,9}|\*{1,10})(?![0-9:]))?"
    r"(?:\s{1,20}(?P<one>[YN-])(?=\s|$))?(?:\s{1,20}(?P<other>[YN-])(?=\s|$))?",
    re.IGNORECASE,
)
DAY = 86_400.0
NEAR = 1
"""Characters that a flag may stand beside its heading."""


def is_of_users(title: str) -> bool:
    """Whether a screen lists processes, rows or files instead of statistics."""
    return any(pattern.search(title) for pattern in (OVERVIEW, STALLS, HISTORY, HOT, FILES, JOURNALS, BUFFERS))


def is_recalled(lines: Sequence[str], screen: Screen) -> bool:
    """Whether nothing on a screen names its columns: one of stalls, processes or journals without its heading."""
    names = [lines[index] for index in range(screen.body, screen.end) if HEADING.match(lines[index])]
    if BUFFERS.search(screen.title):
        return True
    if JOURNALS.search(screen.title):
        return not any(OF_JOURNALS.match(line) for line in lines[screen.body : screen.end])
    if STALLS.search(screen.title):
        return not any(STALL_COLUMNS.search(line) for line in names)
    return OVERVIEW.search(screen.title) is not None and not names


def processes(report: Report, screen: Screen, *, unsure: bool) -> Iterator[ProcessLocks]:
    """One fact per process of the Process Lock Overview; its heading names the columns, else they stand as usual."""
    columns = ["requested", "promoted", "deadlocks", "blasted"]
    for index in range(screen.body, screen.end):
        line = report.lines[index]
        if HEADING.match(line):
            report.claim(index)
            columns = [_column(name) for name in line.split()[1:]]
        elif row := PROCESS_ROW.match(line):
            label, figures = figures_of("x " + row["rest"], len(columns))
            if len(figures) < min(4, len(columns)) or label.strip() != "x":
                report.problem(f"{row['pid']} has not a figure in each column: write the screen again", index)
                continue
            report.claim(index)
            values = {name: reading(text) for name, text in zip(columns, figures, strict=False)}
            number = report.first + index
            yield ProcessLocks(
                source=Source(report.file, number, number, unsure),
                database=screen.database,
                node=screen.node,
                pid=row["pid"],
                stream=row["stream"],
                requested=values.get("requested", ABSENT),
                promoted=values.get("promoted", ABSENT),
                deadlocks=values.get("deadlocks", ABSENT),
                blasted=values.get("blasted", ABSENT),
                server="s" in row["tag"] if row["tag"] else None,
            )


def _column(name: str) -> str:
    """The field that a heading (`Lock.Rqsts...`) names; one that is not known is kept under its own name."""
    name = name.strip(".").lower()
    known_as = {"locks requested": "requested", "locks promoted": "promoted", "blocking asts": "blasted"}
    return known_as.get(item_of(name) or "", name)


@dataclass
class _Waits:
    """All stalls of one screen for one resource in one mode."""

    first: int
    last: int
    lines: int = 0
    pids: set[str] = field(default_factory=set)
    lengths: list[float] = field(default_factory=list)
    times: list[datetime] = field(default_factory=list)


def stalls(report: Report, screen: Screen, *, unsure: bool) -> Iterator[WaitGroup]:
    """What the processes of a screen wait for, one fact per resource and mode.

    How long is said only where the screen has it, or where the stall began (`Since`) and is not over: the screen of
    active users shows past stalls, too.
    """
    over = "active user" in screen.title.lower()
    yield from _groups(report, screen, "stall messages", unsure=unsure, since=not over)


def history(report: Report, screen: Screen, what: str) -> Iterator[WaitGroup | EventLog]:
    """The last timeout or deadlock of each process, and how many it had since its attach.

    The others were for resources that the screen does not tell: they count in the `EventLog` as missed.
    """
    kind = f"{'lock ' if what == 'timeout' else ''}{what} history"
    counts: list[Reading] = []
    groups = list(_groups(report, screen, kind, unsure=False, since=False, counts=counts))
    yield from groups
    lines = sum(group.logged for group in groups)
    total = sum(int(count) for count in counts if isinstance(count, float))
    if lines:
        yield EventLog(
            source=report.source(groups[0].source.first - report.first, groups[-1].source.last - report.first),
            database=screen.database,
            node=screen.node,
            kind=kind,
            logged=lines,
            missed=max(0, total - lines),
        )


def _groups(
    report: Report, screen: Screen, kind: str, *, unsure: bool, since: bool, counts: list[Reading] | None = None
) -> Iterator[WaitGroup]:
    groups: dict[tuple[str, str, str | None], _Waits] = {}
    elapsed = False
    for index in range(screen.body, screen.end):
        line = report.lines[index]
        if HEADING.match(line):
            report.claim(index)
            elapsed = "elapsed" in line.lower()
        elif ALONE.match(line):
            report.claim(index)  # attached, and never stalled
        elif (row := PROCESS_ROW.match(line)) and (timed := TIMED.match(row["rest"])):
            report.claim(index)
            text = LOCK_ID.sub("", timed["reason"])
            if counts is not None and (count := COUNT.search(text)):
                counts.append(reading(count["count"]))
                text = text[: count.start()]
            reason, mode = reason_and_mode(text)
            if not reason:
                continue
            waits = groups.setdefault((*resource_of(reason), mode), _Waits(index, index))
            waits.last, waits.lines = index, waits.lines + 1
            waits.pids.add(row["pid"])
            clock = int(timed["hour"]) * 3600 + int(timed["minute"]) * 60 + float(timed["second"])
            if elapsed:
                waits.lengths.append(clock)
            elif screen.at is not None:
                began = _before(screen.at, clock)
                waits.times.append(began)
                if since:
                    waits.lengths.append((screen.at - began).total_seconds())
    for (resource_kind, resource, mode), waits in groups.items():
        yield WaitGroup(
            source=Source(report.file, report.first + waits.first, report.first + waits.last, unsure),
            database=screen.database,
            node=screen.node,
            kind=kind,
            resource_kind=resource_kind,
            resource=resource,
            mode=mode,
            logged=waits.lines,
            processes=len(waits.pids),
            longest_seconds=max(waits.lengths) if waits.lengths else ABSENT,
            seconds=round(sum(waits.lengths), 2) if waits.lengths else ABSENT,
            first=min(waits.times, default=None),
            last=max(waits.times, default=None),
        )


def _before(at: datetime, clock: float) -> datetime:
    """The last time before the screen was written at which the clock stood so."""
    day = at.replace(hour=0, minute=0, second=0, microsecond=0)
    began = day + timedelta(seconds=clock)
    return began if began <= at + timedelta(seconds=1) else began - timedelta(seconds=DAY)


def hot_rows(report: Report, screen: Screen) -> Iterator[HotRow]:
    """The rows of a cache that are shared most, two or three across; empty slots are left out."""
    title = HOT.search(screen.title)
    cache = title["cache"] if title else None
    dirty: list[int] = []
    overflowed: list[int] = []
    for index in range(screen.body, screen.end):
        line = report.lines[index].expandtabs()
        if HEADING.match(line):
            report.claim(index)
            dirty = [found.start() for found in re.finditer(r"(?<=\s)D\b", line)]
            overflowed = [found.start() for found in re.finditer(r"(?<=\s)O\b", line)]
        elif named := CACHE.match(line):
            report.claim(index)
            cache = named["cache"]
        elif entries := _entries(line):
            report.claim(index)
            for entry in entries:
                if not entry["dbkey"].lower().startswith("empty"):
                    flags = _flags(entry, dirty, overflowed)
                    yield HotRow(
                        source=report.source(index),
                        database=screen.database,
                        node=screen.node,
                        cache=cache,
                        dbkey=entry["dbkey"],
                        users=reading(entry["users"] or ""),
                        dirty=flags[0],
                        overflowed=flags[1],
                    )


def _entries(line: str) -> list[re.Match[str]]:
    """The entries of a line that holds nothing else."""
    found: list[re.Match[str]] = []
    at = 0
    while entry := ENTRY.match(line, at):
        found.append(entry)
        at = entry.end()
    return [] if line[at:].strip() else found


def _flags(entry: re.Match[str], dirty: Sequence[int], overflowed: Sequence[int]) -> tuple[bool | None, bool | None]:
    """Whether a row is dirty and whether it has overflowed; a flag that stands alone is known by its column."""
    if entry["other"]:
        return entry["one"].upper() == "Y", entry["other"].upper() == "Y"
    if not dirty or not overflowed:
        return None, None
    if not entry["one"]:
        return False, False
    at = entry.start("one")
    if min(abs(at - column) for column in dirty) <= NEAR:
        return entry["one"].upper() == "Y", False
    if min(abs(at - column) for column in overflowed) <= NEAR:
        return False, entry["one"].upper() == "Y"
    return None, None


def areas(report: Report, screen: Screen) -> Iterator[AreaIo]:
    """The storage areas of File IO Overview, by the columns that its heading names.

    Sample (the columns of figures are the screen's own)::

        File/Storage.Area.Name........ Sync.Reads SyncWrites AsyncReads AsyncWrits PgDis
        Database Root                        1810       2240          0          0     0
        data RATES_AREA                    310280      14110      70210      30880     0
    """
    columns: list[str] = []
    for index in range(screen.body, screen.end):
        line = report.lines[index]
        if heading := OF_FILES.match(line):
            columns = line[heading.end() :].split()
            report.claim(index)
            continue
        label, figures = figures_of(line, len(columns) or 1)
        if not columns or len(figures) != len(columns) or not re.search("[A-Za-z]", label):
            continue
        report.claim(index)
        counts = [reading(text) for name, text in zip(columns, figures, strict=True) if OPERATIONS.match(name)]
        if not (area := AREA.match(label)):
            continue  # the root file, a snapshot file or a journal
        whole = sum(count for count in counts if known(count))
        sure = bool(screen.elapsed) and all(map(known, counts))
        yield AreaIo(
            source=report.source(index),
            database=screen.database,
            node=screen.node,
            area=area["area"],
            per_second=whole / screen.elapsed if sure and screen.elapsed else ABSENT,
        )


def area_of_file(screen: Screen, rows: Iterable[StatisticRow]) -> Iterator[AreaIo]:
    """The storage area of a File IO Statistics screen, by the name of its file; of several nodes together none.

    Sample, below the header::

        For File: DISK$TKT:[TKT]RATES_AREA.RDA;1
    """
    area = AREA_FILE.search(screen.file or "")
    for row in rows:
        if area and not screen.merged and row.item == "total i/os" and known(row.mean_per_second):
            yield AreaIo(
                source=row.source,
                database=screen.database,
                node=screen.node,
                area=area["area"].upper(),
                per_second=row.mean_per_second,
                screen="File IO Statistics",
            )


def journals(report: Report, screen: Screen, *, unsure: bool) -> Iterator[Journals]:
    """The state of all journals, and how many are full; its fields are those of the RMU help (7.2).

    Sample::

        Journaling: enabled   Shutdown: 45   Notify: enabled   State: Suspended
        ALS: Running   ABS: Disabled   ACE: Disabled   FC: Enabled   CTJ: Disabled
        After-Journal.Name............ SeqNum AIJsize CurrEOF Status. State........
        MILL_J1                             7   90000   89990 Full    Accessible
        MILL_J2                             8   90000   89995 Latest  Accessible
    """
    told: dict[str, str] = {}
    columns: list[str] = []
    listed: list[bool] = []
    last = screen.first
    for index in range(screen.body, screen.end):
        line = report.lines[index]
        if OF_JOURNALS.match(line):
            columns = [name.strip(".").lower() for name in line.split()]
            report.claim(last := index)
        elif not columns and (found := {one["name"].lower(): one["value"] for one in NAMED_VALUE.finditer(line)}):
            told |= found
            report.claim(last := index)
        elif columns and len(cells := line.split()) == len(columns):
            row = dict(zip(columns, cells, strict=True))
            size, end = reading(row.get("aijsize", "")), reading(row.get("curreof", ""))
            if not (known(size) and known(end)):
                continue  # a slot without a journal
            report.claim(last := index)
            written = row.get("status", "").lower() == "latest" and 100 * end >= FULL_PERCENT * size
            listed.append(row.get("status", "").lower() == "full" or written)
    if told or listed:
        yield Journals(
            source=Source(report.file, report.first + screen.first, report.first + last, unsure),
            database=screen.database,
            node=screen.node,
            at=screen.at,
            state=told.get("state"),
            shutdown_minutes=reading(told.get("shutdown", "")),
            backup_server=told.get("abs"),
            listed=len(listed),
            full=sum(listed),
        )


def buffer_hits(report: Report, screen: Screen, *, unsure: bool) -> Iterator[BufferHits]:
    """The shares of page fetches that find their page; items are those of the RMU help (7.2), their layout recalled.

    Without the heading nothing is read: the threshold would pass for the figure.

    Sample::

        Analysis item................................ Current.... Threshold..
        local-buffer/AS page hit rate                       52.3%       75.0%
        asynchronous prefetch                             enabled

    or in sentences, as `AS page hit ratio 52.3% is below 75.0% threshold`.
    """
    found: dict[str, float] = {}
    last = headed = 0
    for index in range(screen.body, screen.end):
        line = report.lines[index]
        if OF_BUFFERS.match(line):
            headed = True
            report.claim(index)
        elif headed and (hit := HIT.match(line)) and float(hit["now"]) <= 100:
            found.setdefault(hit["pool"].lower(), float(hit["now"]))
            report.claim(last := index)
        elif said := SAID.match(line):
            pool = "global" if said["pool"].lower() == "global" else "local"
            if float(said["now"]) <= 100:
                found.setdefault(pool, float(said["now"]))
                report.claim(last := index)
        elif headed and PREFETCH.match(line):
            report.claim(index)
    if found:
        yield BufferHits(
            source=Source(report.file, report.first + screen.first, report.first + last, unsure),
            database=screen.database,
            node=screen.node,
            at=screen.at,
            local_percent=found.get("local", ABSENT),
            global_percent=found.get("global", ABSENT),
        )
