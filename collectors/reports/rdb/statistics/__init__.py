"""Screens of RMU/SHOW STATISTICS, as the key W writes them to RMU.SCR, one or many in a file

Sample::

    Node: ORKNEY (1/1/1)     Oracle Rdb V7.2-530 Perf. Monitor 14-MAR-2023 09:30:00.00
    Rate: 3.00 Seconds           Summary Locking Statistics         Elapsed: 00:30:00.00
    Page: 1 of 1             DISK$PAY:[DB]PAYROLL.RDB;1                     Mode: Online
    statistic......... rate.per.second............. total....... average......
    name.............. max..... cur..... avg....... count....... per.trans....
    locks requested        9210     7804     7412.5     13342500        210.4
      rqsts not queued       88       12       10.1        18180          0.3
    blocking ASTs           160       41       38.0        68400          1.1

Five figures from the right: per second the maximum, the current rate and the average since the last reset (or since
the database was opened on the node), the total, and the average per transaction; the rest is the label. Lines set in
are parts of the line above, never to be added to it. Screens of one lock type and the summary have the same lines;
screens of one statistic have a line per lock type. Asterisks are an overflow.

Traps (rdb-formats.md 3 [R]: header and columns are recalled, the lines are the vendor's): figures are of the node
named in the header alone, unless they were merged over the cluster; the first number in the brackets behind the node
is taken as the number of nodes merged (recalled). That the columns stand in this order is believed only where total ÷
elapsed = average in the rows that are large enough to tell, on some screen of the file. A database whose statistics
are disabled prints zeros. Stalls are waits for I/O as well as for locks. A narrow terminal cuts columns at the right:
what still stands under its whole name is read.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from collectors.facts.base import ABSENT, Fact, Source, known
from collectors.facts.rdb import (
    LOCK_TYPES,
    AreaIo,
    BufferHits,
    EventLog,
    HotRow,
    Journals,
    ProcessLocks,
    StatisticRow,
    StatisticsWindow,
    WaitGroup,
)
from collectors.layouts.rmu import WAIT_LINE
from collectors.registry import NotThisReport, Report, report
from collectors.reports.rdb.statistics import rows, users
from collectors.reports.rdb.statistics.screens import COLUMNS_LINE, FOR_FILE, NODE_LINE, RATE_LINE, Screen, screens_of

START = re.compile(f"{NODE_LINE}|{RATE_LINE}|{COLUMNS_LINE}|{WAIT_LINE}")
"""A line of a stall is one of a log as well: it begins no screen, but it must not end one (logs rank higher)."""
MENU = frozenset(
    [
        "alarm",
        "bell",
        "brief",
        "config",
        "exit",
        "filter",
        "full",
        "graph",
        "help",
        "input",
        "lockid",
        "lock_id",
        "menu",
        "normal",
        "numbers",
        "options",
        "pause",
        "pageinfo",
        "refresh",
        "reset",
        "set_rate",
        "step",
        "time_plot",
        "unreset",
        "update",
        "write",
        "x_plot",
        "yank",
        "zoom",
        "!",
        "$",
        "#",
        "+",
        "-",
        "?",
        ">",
        "<",
    ]
)
"""The keys below a screen (vendor: RMU help, Keyboard)."""
SCREENS_NAMED = 3
UNKNOWN_PERCENT = 25.0
"""From here on a lock type that no rule knows is more than small change (this project)."""
EVERY_TYPE = "locks requested"
NEVER_ZERO = ("total", "area", "page", "record")
"""Lock types that a database at work needs; of the others none at all is common."""


@report(
    starts=START,
    provides=(StatisticsWindow, StatisticRow, ProcessLocks, WaitGroup, EventLog, HotRow, AreaIo, Journals, BufferHits),
)
def read(report: Report) -> Iterator[Fact]:
    """Yield for each screen a window and what stands in it."""
    screens = list(screens_of(report.lines))
    if not screens:
        raise NotThisReport
    tables = {
        at: rows.table_of(report.lines, screen)
        for at, screen in enumerate(screens)
        if screen.title and not users.is_of_users(screen.title)
    }
    unsure = _unproven(report, screens, tables)
    found: list[Fact] = []
    for at, screen in enumerate(screens):
        if not screen.title:
            report.problem(
                "no title above these figures: write the screen again, with its three header lines", screen.first
            )
            continue
        facts = list(_facts(report, screen, tables.get(at), unsure=at in unsure))
        _claim_frame(report, screen)
        found += facts
    if not found and not report.problems:
        raise NotThisReport
    _tell_zeros(report, found)
    yield from found


def _unproven(report: Report, screens: Sequence[Screen], tables: dict[int, rows.Table]) -> set[int]:
    """The screens whose layout nothing proves; tells so once for all of them."""
    proven: set[tuple[str, ...]] = set()
    unsure: set[int] = set()
    for at, table in tables.items():
        sure, against = rows.proof(table, screens[at].elapsed)
        if against is not None:
            unsure.add(at)
            what = "total, elapsed time and rates do not fit together, so the columns may be others"
            report.problem(f"{what}: write the screen again, 80 columns wide", against)
        elif sure:
            proven.add(table.order)
    unsure |= {
        at for at, table in tables.items() if table.rows and table.order not in proven and not screens[at].title_cut
    }
    unsure |= {at for at, screen in enumerate(screens) if users.is_recalled(report.lines, screen)}
    if unsure:
        titles = list(dict.fromkeys(screens[at].title for at in sorted(unsure)))
        rest = f" and {len(titles) - SCREENS_NAMED} more" if len(titles) > SCREENS_NAMED else ""
        named = ", ".join(titles[:SCREENS_NAMED]) + rest
        report.tentative(f"the columns of {named} are recalled, and no figures in the file prove them")
        report.unsure = False  # the other screens are sure: theirs is said source by source
    return unsure


def _facts(report: Report, screen: Screen, table: rows.Table | None, *, unsure: bool) -> Iterator[Fact]:
    yield StatisticsWindow(
        source=Source(report.file, report.first + screen.first, report.first + _last(report, screen), unsure),
        database=screen.database,
        node=screen.node,
        screen=screen.title,
        release=screen.release,
        at=screen.at,
        elapsed_seconds=screen.elapsed,
        rate_seconds=screen.rate,
        mode=screen.mode,
        merged=screen.merged,
        page=screen.page,
        lines_cut=len(table.cut) if table else 0,
    )
    history = users.HISTORY.search(screen.title)
    if table is not None:
        found = list(rows.facts_of(report, screen, table, unsure=unsure))
        _tell_unknown(report, found)
        yield from found
        yield from users.area_of_file(screen, found)
        if table.left:
            kept = "and its title, so nothing was read"
            if found:
                *some, last = table.left
                kept = f"only {' and '.join((', '.join(some), last)) if some else last} of each was read"
            report.problem(
                f"a narrow screen cut {len(table.cut)} lines, {kept}: write it again, uncut "
                "(/ROWS=n/COLUMNS=n, 80 columns or more)",
                table.cut[0] if table.cut else screen.first,
            )
        elif table.cut:
            lines = len(table.cut)
            what = "line left out" if lines == 1 else f"{lines} lines of this screen left out"
            report.problem(f"not five figures, {what}: write the screen again, uncut (/ROWS=n/COLUMNS=n)", table.cut[0])
    elif users.OVERVIEW.search(screen.title):
        yield from users.processes(report, screen, unsure=unsure)
    elif users.STALLS.search(screen.title):
        yield from users.stalls(report, screen, unsure=unsure)
    elif history:
        yield from users.history(report, screen, history["what"].lower())
    elif users.FILES.search(screen.title):
        yield from users.areas(report, screen)
    elif users.BUFFERS.search(screen.title):
        yield from users.buffer_hits(report, screen, unsure=unsure)
    elif users.JOURNALS.search(screen.title):
        yield from users.journals(report, screen, unsure=unsure)
    else:
        yield from users.hot_rows(report, screen)


def _tell_unknown(report: Report, found: Sequence[StatisticRow]) -> None:
    """Say so where a lock type that no rule knows has most of one item: else nobody hears of it."""
    whole = next((row.count for row in found if row.lock_type == "total"), ABSENT)
    for row in found:
        if row.lock_type in (None, *LOCK_TYPES) or not (known(whole) and known(row.count) and whole > 0):
            continue
        if (share := 100 * row.count / whole) >= UNKNOWN_PERCENT:
            report.problem(
                f"`{row.label[:60]}` is {min(share, 100):.0f} % of `{row.screen}`, and no rule knows that lock type, "
                "so nothing is judged of it: see HELP in RMU/SHOW STATISTICS what it is for",
                row.source.first - report.first,
            )


def _last(report: Report, screen: Screen) -> int:
    """The last line of a screen that is not blank."""
    return max(index for index in range(screen.first, screen.end) if report.lines[index].strip())


def _claim_frame(report: Report, screen: Screen) -> None:
    """Header, headings and the menu below a screen are understood."""
    if screen.body > screen.first:
        report.claim(screen.first, screen.body - 1)
    for index in range(screen.body, screen.end):
        line = report.lines[index]
        keys = line.lower().split()
        of_menu = len(keys) > 3 and sum(key in MENU for key in keys) >= 0.75 * len(keys)
        if of_menu or FOR_FILE.match(line) or rows.NAMES.search(line) or "rate.per" in line:
            report.claim(index)


@dataclass
class _Told:
    """What one database shows on one node of locks, and of somebody at work."""

    locking: list[StatisticRow] = field(default_factory=list)
    transactions: float = 0.0
    pids: set[str] = field(default_factory=set)


def _tell_zeros(report: Report, facts: Sequence[Fact]) -> None:
    """Say so where a database shows no lock at all: that is never an answer."""
    told: dict[tuple[str | None, str | None], _Told] = {}
    for fact in facts:
        if isinstance(fact, ProcessLocks):
            told.setdefault((fact.database, fact.node), _Told()).pids.add(fact.pid)
        elif isinstance(fact, StatisticRow):
            own = told.setdefault((fact.database, fact.node), _Told())
            if fact.item == "transactions" and known(fact.count):
                own.transactions = max(own.transactions, fact.count)
            elif fact.lock_type in NEVER_ZERO and (fact.item == EVERY_TYPE or rows.kind_of(fact.screen)[1] is None):
                own.locking.append(fact)
    for own in told.values():
        if not own.locking or any(row.count != 0 for row in own.locking):
            continue
        who = f" with {len(own.pids)} processes attached" if own.pids else ""
        why = f" with {own.transactions:,.0f} transactions" if own.transactions else who
        report.problem(
            f"`{own.locking[0].screen}` is all zero{why}: statistics disabled? If nobody was at work, write it again "
            "while somebody is; else see that the database collects statistics",
            own.locking[0].source.first - report.first,
        )
