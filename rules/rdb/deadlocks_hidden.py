"""Deadlocks that Rdb retries and the application never sees.

Finds: requests and promotions of locks that ended in a deadlock, per hour and by lock type, from the statistics; else
the deadlock log, each with the events it says it missed.

Why it matters: most deadlocks are tried again by Rdb without the application ever knowing (help of RMU/SHOW
STATISTICS). Each was a wait until the lock manager searched for it, and work done twice: time that no error shows.

What to do: see which lock type they are of. Record locks: change rows in one order in all programs, and commit sooner.
Where most are promotions, lock at the first read what is changed later. Page locks: spread hot rows, leave room on
pages. Area locks: reserve areas in one order. Then count again.

When to ignore it: a handful in days is normal. Requests that deadlock are already counted among those stalled: they are
no further waits. The history screen keeps the last of each process and has no span: it gives no rate.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from collectors.facts import Facts, Source, known, number_or
from collectors.facts.rdb import AttachedProcess, EventLog, LogicalArea, StatisticRow, WaitGroup
from rules.changes.quoting import comment
from rules.engine import limit, percent, rule
from rules.finding import Clean, Evidence, Expectation, Finding, MissingInput, Outcome, Severity, Unknown, joined
from rules.openvms._evidence.node import NODE_FACTS, parameter_of
from rules.rdb._evidence.attached import attached_to, image_of
from rules.rdb._evidence.counted import (
    COUNTED_FACTS,
    DEADLOCKED,
    HUNDREDTHS,
    SEARCHED_AFTER,
    STALLED,
    averaged,
    by_deadlocks,
    counted,
    in_order,
    of_each_node,
    on_node,
    rounded,
    rows_of,
    waiting_of,
)
from rules.rdb._evidence.databases import OneDatabase, belonging, databases
from rules.rdb._evidence.statistics import LEAST_COUNTED, Rate, Statistics
from rules.rdb._evidence.waits import (
    DEADLOCKS,
    WAIT_FACTS,
    Events,
    Waits,
    areas_of,
    evidence_of,
    hottest,
    named,
    total,
    waits_of,
)

LINKS = (
    "https://uprrp2.uprrp.edu/help/sys$common/syshlp/rmudisplay72.hlb?key=Overview~Fields",
    "https://uprrp2.uprrp.edu/help/sys$common/syshlp/sql$help72.hlb?key=DECLARE~CURSOR~Arguments~UPDATE_ONLY",
)
HOUR = 3600.0
REMEDY = {
    "record": "Rows are locked in different orders: change them in one order in all programs, and commit sooner.",
    "page": "Pages are wanted by several processes at once: change their rows in one order in all programs, and spread "
    "the rows that are used most.",
    "area": "Storage areas are reserved in different orders: reserve them in one order, by one RESERVING clause.",
    "logical area": "Tables are reserved in different orders: reserve them in one order, by one RESERVING clause.",
}
OF_ROWS = ("", "record")
"""Lock types, where known, of which a program decides how it locks at its first read."""
IN_ORDER = "Change rows of {} and of {}, if the numbers are of storage areas, in one order in all programs{}."
AT_ONCE = ", and lock them at the first read as they need them at last (UPDATE ONLY cursor, FOR UPDATE OF)"
RELIEF = 3.0
"""Seconds of DEADLOCK_WAIT, this project: a wait that is soon over ends before it, so that few are searched for."""
SOONER = (
    "Until then DEADLOCK_WAIT {0:g} → {1:g} on all nodes (dynamic) cuts each of these waits: {2} processes would wait "
    "so."
)
SEARCHES = "Every wait beyond a shorter DEADLOCK_WAIT is searched, which costs CPU time: hold MONITOR LOCK against now."
PROMOTED = (
    "Where a program reads rows to change them, take an UPDATE ONLY cursor or FOR UPDATE OF, which locks them for "
    "writing at once (vendor), in one order in all programs."
)
READ_FIRST = (
    "Promotions are of locks held for reading that are to become stronger: two that hold the same one wait for each "
    "other (inferred)."
)
LOG = "First write a deadlock log of the busy hour, which names the resources and so the programs."
TYPES = "First write the screens Locking (rqst deadlocks) and (prom deadlocks): they tell of which lock type they are."
OF_WORK = "deadlocks for each thousand transactions"
AGAIN = "Rdb tries most of them again by itself, so no error tells."
COLLECTED_BY = MissingInput("deadlocks with the time they cover", StatisticRow.COLLECTED_BY)
DEFAULT = "the default of DEADLOCK_WAIT"
LESS_THAN_DEFAULT = 0.9
"""This project: where all waits together are fewer than nine tenths of 10 s for each deadlock, it was not 10 s."""
LEAST_LOGGED, ALONE = 5, 80
"""This project: so many logged deadlocks, and per cent of them in one area, are enough to name it alone."""
MOST_PIDS = 5
"""Processes that are named in a sentence."""
ALL = 0.99
"""This project: what is left may be rounding."""
LEAST_PART = 20
"""This project: per cent of the logged deadlocks, from which on a second area is one of those where programs meet."""


@dataclass(frozen=True)
class Limits:
    """From where on they are more than chance. No vendor names a figure."""

    per_hour: float = limit(10.0, "this project: a handful in days is normal; no vendor names a limit", unit="/h")
    least: float = limit(5.0, "this project: fewer are chance, however short the time", unit="deadlocks")
    worth_per_hour: float = limit(
        36.0,
        "this project: at 10 s each, the default of DEADLOCK_WAIT, a tenth of a process waits; fewer get a note alone",
        unit="/h",
    )
    worth_per_thousand: float = limit(
        1.0,
        "this project: fewer than one transaction in a thousand loses its work to one, so they get a note alone",
        unit="deadlocks for each thousand transactions",
    )
    stalled_percent: float = percent(
        50.0,
        "this project: from here on most stalls that end do so only by a deadlock search",
        low=1,
        of="stalled requests",
    )
    main_percent: float = percent(
        50.0, "this project: from here on one resource has more than all others together", low=1, of="logged deadlocks"
    )


@dataclass(frozen=True)
class Counted:
    """The deadlocks of one node."""

    per_hour: float
    count: float | None
    """All of them over the span; `None`: not printed."""
    types: tuple[tuple[str, float], ...]
    """Lock types with their deadlocks per hour, the most first."""
    source: Source
    each: Statistics
    half: bool
    """Whether only requests or only promotions were read: they prove many deadlocks, never few."""
    promoted: Rate | None
    """Those of promotions, where both were read."""

    @property
    def promoted_percent(self) -> float:
        """What promotions have of them; 0 where it is not known."""
        hourly = _hourly(self.promoted) if self.promoted else None
        return min(100.0, 100 * hourly / self.per_hour) if hourly and self.per_hour else 0.0


@rule(
    needs=(),
    uses=(*COUNTED_FACTS, *WAIT_FACTS, *NODE_FACTS, AttachedProcess),
    links=LINKS,
    limits=Limits,
    sample=LEAST_COUNTED,
)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Judge each database."""
    found = databases(facts, (StatisticRow, EventLog))
    if not found:
        yield Unknown.of(StatisticRow, EventLog)
    for one in found:
        yield _judge(facts, one, limits)


def _judge(facts: Facts, one: OneDatabase, limits: Limits) -> Outcome:
    found, refused = counted(facts, one)
    waits = waits_of(facts, one)
    rows = [count for count, _ in of_each_node(found, _counted)]
    if rows:
        return _of_statistics(facts, one, limits, max(rows, key=lambda row: row.per_hour), waits)
    log = waits.events(DEADLOCKS)
    if log and log.hours:
        return _of_log(facts, one, limits, waits, log, log.hours)
    if refused:
        return refused
    if log:
        why = f"{one.subject}: {log.said} deadlocks, but the time they cover is not in the export: no rate"
        return Unknown((COLLECTED_BY,), why)
    why = f"{one.subject}: the screens Summary Locking Statistics and Locking (rqst deadlocks) decide"
    return Unknown((COLLECTED_BY,), why)


def _counted(each: Statistics) -> Counted | None:
    """Requests and promotions together, of all lock types; `None` where the rows do not tell.

    A mean of 0.0 has one decimal: without its count it may be 180 in an hour.
    """
    rates = [each.rate(item, "total") for item in DEADLOCKED]
    read = [rate for rate in rates if rate is not None]
    hourly = [hour for rate in read if (hour := _hourly(rate)) is not None]
    if not read or len(hourly) < len(read):
        return None
    counts = [rate.count for rate in read if rate.count is not None]
    types = []
    for kind in each.lock_types:
        of_type = [h for item in DEADLOCKED if (rate := each.rate(item, kind)) and (h := _hourly(rate)) is not None]
        if sum(of_type):
            types.append((kind, sum(of_type)))
    most = max(read, key=lambda rate: rate.per_second)
    types.sort(key=lambda pair: -pair[1])
    return Counted(
        sum(hourly),
        sum(counts) if len(counts) == len(read) else None,
        tuple(types),
        most.source,
        each,
        len(read) < 2,
        rates[1] if len(read) == len(rates) else None,
    )


def _hourly(rate: Rate) -> float | None:
    if rate.count is not None and rate.seconds:
        return HOUR * rate.count / rate.seconds
    if rate.count == 0:
        return 0.0
    return HOUR * rate.per_second if rate.per_second else None


def _of_statistics(facts: Facts, one: OneDatabase, limits: Limits, found: Counted, waits: Waits) -> Outcome:
    each = found.each
    whole = f", {found.count:,.0f} in all" if found.count is not None else ""
    thousand = _of_thousand(found)
    of_work = f", {rounded(thousand)} for each thousand transactions" if thousand is not None else ""
    figures = f"{rounded(found.per_hour)} deadlocks an hour{on_node(each)} ({each.over}{whole}){of_work}"
    few = found.count is not None and found.count < limits.least
    if found.per_hour < limits.per_hour or few:
        if found.half:
            why = f"{one.subject}: {figures}, of requests or of promotions alone"
            return Unknown.without("deadlocks of requests and of promotions", StatisticRow.COLLECTED_BY, why)
        return in_order(f"{one.subject}: {figures} (limit {limits.per_hour:g}/h, {limits.least:g} at least)", each)
    said = ", ".join(f"{kind} {rounded(hourly)}/h" for kind, hourly in found.types[:3])
    stalled = [hourly for rate in rows_of(each, STALLED) if (hourly := _hourly(rate)) is not None]
    waited = sum(stalled)
    share = min(100.0, 100 * found.per_hour / waited) if len(stalled) == len(STALLED) and waited else None
    most = share is not None and share >= limits.stalled_percent
    listed = parameter_of(facts, "DEADLOCK_WAIT", 1, 1e6)
    after, of_it = (listed[0], "DEADLOCK_WAIT of this node") if isinstance(listed, tuple) else (SEARCHED_AFTER, DEFAULT)
    held, crowd, at_default = by_deadlocks(each, after=after), waiting_of(each), after * found.per_hour / HOUR
    longest = crowd.per_second / HUNDREDTHS * HOUR / found.per_hour if crowd else 0.0
    if held and held < at_default * LESS_THAN_DEFAULT:
        held = None  # all that wait are fewer: then it is not 10 s each
    groups = [] if waits.refused() else waits.of(DEADLOCKS[:1])
    kinds = {group.resource_kind for group in groups}
    kind = found.types[0][0] if found.types else next(iter(kinds)) if len(kinds) == 1 and kinds <= set(REMEDY) else ""
    main = _main(limits, groups, kind)
    promoted = found.promoted_percent
    by_promotion = promoted >= limits.main_percent and kind in OF_ROWS
    split = f", {promoted:.0f} % on promotions" if promoted else ""
    on_promotions = f", {promoted:.0f} % on promotions" if by_promotion else ""
    who = _who(facts, one, groups)
    look = _look_at(one, main, groups, kind, _table_of(facts, one, groups), who.said)
    do = joined(look, REMEDY.get(kind, "") if kind else TYPES)
    if by_promotion:
        do = joined(look or ("" if kind or groups else LOG), PROMOTED)
    relief = ""
    if (order := _in_order(one, groups, main, at_once=promoted > 0)) and kind in OF_ROWS:
        do = order
        if held and isinstance(listed, tuple) and listed[0] >= 2 * RELIEF and _mostly(held, crowd, limits):
            relief = SOONER.format(listed[0], RELIEF, rounded(held * RELIEF / listed[0]))
    rare = thousand is not None and thousand < limits.worth_per_thousand
    return Finding(
        subject=one.subject,
        severity=Severity.ADVICE if found.per_hour >= limits.worth_per_hour and not rare else Severity.NOTE,
        title=f"{found.per_hour:,.0f} deadlocks an hour{on_promotions}{_of_type(found)}"
        f"{_titled(main, groups, kind)}{who.title}",
        seen=joined(f"{figures}{split}{f'; by lock type: {said}' if said else ''}.", _named(groups)),
        because=joined(
            READ_FIRST if by_promotion else AGAIN,
            f"All stalls together keep {rounded(crowd.per_second / HUNDREDTHS)} processes waiting, so a deadlock takes "
            f"{rounded(longest)} s at most on average."
            if crowd and not held and not most and longest < after * LESS_THAN_DEFAULT
            else "",
            f"At {after:g} s each, {of_it}, they alone keep {rounded(held)} processes "
            "waiting, and others queue behind those."
            if held and not most
            else "",
            f"They are {share:.0f} % of all requests that stalled, and counted among them." if most else "",
        ),
        do=joined(do, relief),
        unknown=joined(SEARCHES if relief else "", averaged(each)),
        evidence=(
            Evidence("deadlocks", round(found.per_hour, 1), "/h", found.source, limits.per_hour),
            *((Evidence("deadlocks in all", found.count, "", found.source),) if found.count is not None else ()),
            *(
                (Evidence(OF_WORK, round(thousand, 2), "", found.source, limits.worth_per_thousand),)
                if thousand is not None
                else ()
            ),
            *((Evidence("DEADLOCK_WAIT", after, "s", listed[1].source),) if isinstance(listed, tuple) else ()),
            *(
                (
                    Evidence(
                        "deadlocks on promotions", round(promoted, 1), "%", found.promoted.source, limits.main_percent
                    ),
                )
                if found.promoted and by_promotion
                else ()
            ),
            *(Evidence(f"deadlocks of {kind} locks", round(h, 1), "/h", found.source) for kind, h in found.types[:3]),
            *evidence_of(groups, "deadlocks for"),
        ),
        explains=("rdb/lock_stalls_long",) if (most or held) and not found.source.tentative else (),
        expects=(Expectation("deadlocks (/h)", round(found.per_hour, 1), "lower", "heuristic"),),
        weight=found.per_hour,
    )


def _of_thousand(found: Counted) -> float | None:
    """Deadlocks for each thousand transactions; `None` where transactions were not counted.

    By the count: a mean of 0.0 a second may be 180 in an hour.
    """
    done = found.each.transactions
    return 1000 * found.per_hour / HOUR / done.per_second if done and done.per_second else None


def _named(groups: Sequence[WaitGroup]) -> str:
    return f"The log names most: {hottest(groups, 'deadlocks')}." if groups else ""


def _main(limits: Limits, groups: Sequence[WaitGroup], kind: str) -> WaitGroup | None:
    """What most of the logged deadlocks are for, where it is of that lock type, or none was counted."""
    most = total(groups[:1])
    if most < limits.least or 100 * most < limits.main_percent * total(groups):
        return None
    return groups[0] if groups[0].resource_kind == (kind or groups[0].resource_kind) else None


@dataclass(frozen=True)
class Who:
    """The processes that the deadlock log names."""

    title: str = ""
    """` by SEATS.EXE`, where all of them are known to run one image."""
    said: str = ""
    """To stand behind the deadlocks that were logged, in a sentence."""


def _who(facts: Facts, one: OneDatabase, groups: Sequence[WaitGroup]) -> Who:
    pids = sorted({pid for group in groups for pid in group.pids})
    if not pids:
        return Who()
    attached = attached_to(facts, one)
    images = {image_of(attached, pid) for pid in pids}
    image = images.pop() if len(images) == 1 else ""
    more = " …" if len(pids) > MOST_PIDS or any(group.processes > len(group.pids) for group in groups) else ""
    named_ones = f"{', '.join(comment(pid, 8) for pid in pids[:MOST_PIDS])}{more}"
    by = f"by {image} in {named_ones}" if image else f"by processes {named_ones}, whose programs RMU/SHOW USERS names"
    return Who(f" by {image}" if image else "", f", {by}")


def _of_type(found: Counted) -> str:
    """`, all of record locks`, where each type was counted and one has all of them."""
    kind, hourly = found.types[0] if found.types else ("", 0.0)
    return f", all of {kind} locks" if kind and len(found.types) == 1 and hourly >= ALL * found.per_hour else ""


def _table_of(facts: Facts, one: OneDatabase, groups: Sequence[WaitGroup]) -> str:
    """The one table that is listed of the storage area that most logged deadlocks are for; empty where not known."""
    numbers = [number for number, _ in areas_of(groups)[:1]]
    tables = {
        area.name
        for area in belonging(facts.every(LogicalArea), one)
        if known(area.area_number) and f"{area.area_number:.0f}" in numbers and number_or(area.record_bytes, 0.0) > 0
    }
    return comment(tables.pop(), 31) if len(tables) == 1 else ""


def _titled(main: WaitGroup | None, groups: Sequence[WaitGroup], kind: str) -> str:
    if main:
        return f", mostly for {named(main)}"
    meet = " and ".join(f"{number}:…" for number, _ in _meeting(groups) or _alone(groups, kind))
    return f", for {groups[0].resource_kind}s {meet}" if meet else ""


def _meeting(groups: Sequence[WaitGroup]) -> list[tuple[str, int]]:
    """The two areas, by their numbers, that most of the logged deadlocks of rows or pages are for; else none."""
    if {group.resource_kind for group in groups} not in ({"record"}, {"page"}):
        return []
    areas = areas_of(groups)[:2]
    return areas if len(areas) == 2 and 100 * areas[1][1] >= LEAST_PART * total(groups) else []


def _alone(groups: Sequence[WaitGroup], kind: str) -> list[tuple[str, int]]:
    """The one area that next to all of enough logged deadlocks of rows are for, where rows are what meets."""
    if {group.resource_kind for group in groups} != {"record"} or kind != "record":
        return []
    return [area for area in areas_of(groups)[:1] if area[1] >= LEAST_LOGGED and 100 * area[1] >= ALONE * total(groups)]


def _two_areas(one: OneDatabase, groups: Sequence[WaitGroup]) -> list[str]:
    """Two areas whose rows are met, with how many of those logged; none where they are not known by name."""
    meeting, names = _meeting(groups), one.area_names
    if not all(number in names for number, _ in meeting):
        return []
    return [f"{names[number]} ({number}, {count:,} logged)" for number, count in meeting]


def _look_at(
    one: OneDatabase, main: WaitGroup | None, groups: Sequence[WaitGroup], kind: str, table: str, who: str
) -> str:
    """The first step where one resource has most of them, or two areas have, a sentence.

    `table`: the one that lies in the first area; `who`: the processes that were logged.
    """
    if main is not None:
        logged = f"{total([main]):,} of {total(groups):,} logged ones"
        return f"First see which programs meet at {named(main)}: {logged}{who}."
    if not (met := _two_areas(one, groups)):
        for number, count in _alone(groups, kind):
            name = one.area_names.get(number, "")
            held = f"table {table} in storage area {name or number}" if table else f"storage area {name}"
            what = f"rows of {held}, if {number} is its number" if name or table else f"records {number}:…"
            return f"First see which programs change {what}: {count:,} of {total(groups):,} logged deadlocks{who}."
        return ""
    first, second = met
    if groups[0].resource_kind == "page":
        return f"First see which programs change rows of {first} and of {second}."
    return f"First see which programs change rows of {first} and of {second}, if the numbers are of storage areas."


def _in_order(one: OneDatabase, groups: Sequence[WaitGroup], main: WaitGroup | None, *, at_once: bool) -> str:
    """What to do where rows of two areas are met, a sentence; nothing where they are not known by name."""
    met = [] if main or not groups or groups[0].resource_kind != "record" else _two_areas(one, groups)
    return IN_ORDER.format(*met, AT_ONCE if at_once else "") if met else ""


def _mostly(held: float, crowd: Rate | None, limits: Limits) -> bool:
    """Whether deadlocks keep most of those waiting that wait."""
    return crowd is not None and 100 * held >= limits.main_percent * crowd.per_second / HUNDREDTHS


def _of_log(facts: Facts, one: OneDatabase, limits: Limits, waits: Waits, log: Events, hours: float) -> Outcome:
    if why := waits.refused():
        return why
    per_hour = log.count / hours
    figures = f"{log.said} deadlocks in {hours:,.1f} h of the deadlock log, {rounded(per_hour)} an hour"
    if per_hour < limits.per_hour or log.count < limits.least:
        return Clean(f"{one.subject}: {figures} (limit {limits.per_hour:g}/h, {limits.least:g} at least)")
    groups = waits.of(DEADLOCKS[:1])
    kinds = {group.resource_kind: 0 for group in groups}
    for group in groups:
        kinds[group.resource_kind] += group.logged + group.missed
    most = max(kinds, key=lambda kind: kinds[kind], default="")
    main, who = _main(limits, groups, most), _who(facts, one, groups)
    return Finding(
        subject=one.subject,
        severity=Severity.ADVICE if per_hour >= limits.worth_per_hour else Severity.NOTE,
        title=f"{per_hour:,.0f} deadlocks an hour{_titled(main, groups, most)}{who.title}",
        seen=joined(f"{figures}.", _named(groups)),
        because=AGAIN,
        do=joined(_look_at(one, main, groups, most, _table_of(facts, one, groups), who.said), REMEDY.get(most, "")),
        unknown="The log is written at each refresh and may miss some: compare with Locking (rqst deadlocks).",
        evidence=(
            Evidence("deadlocks", round(per_hour, 1), "/h", log.source, limits.per_hour),
            Evidence("lines of the log", log.logged, "deadlocks", log.source),
            Evidence("missed, by the log itself", log.missed, "deadlocks", log.source),
            *evidence_of(groups, "deadlocks for"),
        ),
        expects=(Expectation("deadlocks (/h)", round(per_hour, 1), "lower", "heuristic"),),
        weight=per_hour,
    )
