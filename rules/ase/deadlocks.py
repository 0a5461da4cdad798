"""Transactions end in deadlocks.

Finds: deadlocks per hour, from sp_sysmon (Deadlocks by Lock Type), from two snapshots of monState, or as the most in
any hour of monDeadLock or of the last day of the error log. monDeadLock says who waited for whose lock on which table,
and so does the log while `print deadlock information` is 1.

Why it matters: of each deadlock one transaction is rolled back and its application gets message 1205. It was a wait
until the server searched for the ring, and work that is done twice, where the application tries again at all.

What to do: take tables and rows in one order in all transactions that meet, keep these short, and let an index find
their rows, so that they lock no others. Between page locks of one table the rows were perhaps only neighbours: datarows
locks them singly. Where both share a lock on one row and each wants it for itself, no order helps: a shared lock that
is kept past its read is one of isolation level 2 or 3, and the row is to be changed first, or read with a lock that one
alone can have (`select ... for update`, 15.7 on, datarows). The texts of the statements are in the error log while
`print deadlock information` is 1.

How loud it is: by the rate, and advice where most of those that are listed are about the same tables. Where two
procedures or programs take two tables in opposite order again and again within a day, the rate says nothing against
mending them: also advice. Where most lock waits are for these tables and last as long as those in the rings, it
explains ase/lock_waits_high: they are waits in the rings and behind them.

When to ignore it: a few an hour are daily life where applications try again. `deadlock checking period` is no remedy:
it says when the server looks; 0 makes it look at each wait, which holds spinlocks and is not for production (vendor).
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from collectors.facts import Facts, Source, known
from collectors.facts.ase import (
    ConfigParameter,
    Deadlock,
    ErrorLog,
    LockEvents,
    LogEvent,
    MonState,
    ProcedureText,
    SysmonSample,
    TableScheme,
)
from rules.ase._evidence.server import subject_of
from rules.ase._evidence.times import without_head
from rules.ase._evidence.waits.deadlocks import (
    PERIOD,
    Ring,
    about,
    asks_of,
    by_texts,
    edges_of,
    mean_wait,
    most_within,
    numbers_of,
    procedures_of,
    rings_of,
    searched_at_once,
    victims_of,
)
from rules.ase._evidence.waits.error_log import DAY, events_of
from rules.ase._evidence.waits.events import LOCKS
from rules.ase._evidence.waits.tables import TABLE_FACTS, waiting_tables
from rules.ase._evidence.waits.tasks import WAIT_FACTS, Waited, waited_for
from rules.changes.quoting import bare_table, comment
from rules.engine import limit, rule
from rules.finding import Clean, Evidence, Finding, Outcome, Severity, Unknown, Untrusted, enumerated, joined

LINKS = (
    "https://infocenter.sybase.com/help/topic/com.sybase.infocenter.dc00938.1570/html/locking/X57275.htm",
    "https://infocenter.sybase.com/help/topic/com.sybase.infocenter.dc00848.1570/html/monitor_tables/CHDEHBAG.htm",
    "https://infocenter.sybase.com/help/topic/com.sybase.infocenter.dc32300.1570/html/sqlug/BABHGBBB.htm",
)
TOTAL = "Total Deadlocks"
BY_NUMBER = re.compile(r"db (?P<database>\d{1,9})\.\.(?P<table>.+)")
NAMED = 4
"""Edges in the evidence."""
TABLES, PROCEDURES = 5, 4
"""Of a ring that are named, with how many more there are: an order of some of its tables would not end it."""
LONGEST = 260
"""Characters of a ring in the sentence; a longer one stands in the evidence and on the page alone."""
VICTIM = "Of each, one transaction was rolled back with message 1205."
REPEAT = "Victims must retry: the application has to repeat what ends with message 1205."
"""Beside an order of tables, which makes deadlocks few and never impossible; where nothing else is to be said."""
ONE_ORDER = "Take {0} in one order in all transactions that meet{1}, and keep these short{2}."
ONE_TABLE = "Take the rows of {0} in one order in all transactions that meet{1}, and keep these short."
FIRST = (
    "Change the row of {0} before it is read{1}, or read it by `select ... for update` (in the transaction, datarows "
    "tables, 15.7 on, with `select for update` 1) and without holdlock. Let the application repeat what ends with 1205."
)
"""Vendor: Transact-SQL Users Guide 15.7, "Using select for update" (dc32300.1570 BABHGBBB)."""
CONVERTED = ", whose rows are locked shared before they are changed"
CONVERTS = "Each holds a shared lock on the same row and wants it for itself: no order of rows or tables ends that."
PAGES = "All these locks are of whole pages, so the rows may only be neighbours: datarows locks them singly."
BY_SCHEME = {
    "allpages": (
        "{0} is allpages, so the rows may only be neighbours on a page: `alter table {1} lock datarows` locks them "
        "singly, but needs an outage with room for a copy, and a full dump of the database after it."
    ),
    "datapages": (
        "{0} is datapages, so the rows may only be neighbours on a page: `alter table {1} lock datarows` locks them "
        "singly and changes the catalogue alone, but takes more locks."
    ),
}
"""Of page locks on one table, by its lock scheme."""
BY_NAME = "If database {0} is {1} (`select db_name({0})`): "
"""The log names databases by number; a listing that has the one table of that name does not prove whose it is."""
AT_ONCE = f"{PERIOD} is 0, which holds spinlocks at each wait: not for production (vendor)."
STATEMENTS = "The texts of the statements are in the error log while `print deadlock information` is 1."
BY_THEM = ", by their texts"
BY_TEXT = (
    "Which procedures these are is by the order in their texts; `select object_name(<number>)` of HeldProcedureID, in "
    "their database, proves it."
)
CALLED = "`select object_name({0})`, in the database of the procedure, names it."
WHO = "Who blocked whom is in monDeadLock, which one reader empties."
SAME_WAITS = (
    "A wait for a lock lasts {0:,.0f} ms on average and {1:,.0f} ms in these rings, and {2:.0f} % of the lock waits "
    "are for these tables: they are waits in such rings and behind them (inferred)."
)
MOST_PERCENT = 50.0
"""This project: of all lock waits; with less for these tables, other waits are the larger part."""
ALIKE = 2.0
"""This project: times, up to which the mean wait for a lock is as long as one in a ring."""


@dataclass(frozen=True)
class Limits:
    """From how many on. No vendor names a figure."""

    per_hour: float = limit(10.0, "this project: fewer are daily life; no vendor names a limit", unit="/h")
    advice_per_hour: float = limit(60.0, "this project: one a minute; no vendor names a limit", unit="/h")
    warning_per_hour: float = limit(
        180.0, "this project: three transactions a minute are done twice or fail; no vendor names a limit", unit="/h"
    )
    warning_least: float = limit(30.0, "this project: fewer may be one burst, whatever the rate", unit="deadlocks")
    least: float = limit(5.0, "this project: fewer are chance, however short the time", unit="deadlocks")
    repeated: float = limit(
        5.0,
        "this project: so often within a day the same two transactions meet again and again, however low the rate; no "
        "vendor names a limit",
        unit="deadlocks",
    )


@dataclass(frozen=True)
class Counted:
    """How many there were, over how long."""

    count: float
    per_hour: float
    said: str
    source: Source
    over_interval: bool = False
    """Whether they are of the time over which waits are counted, too."""
    repeated: bool = False
    """Whether they are those about the same tables within a day, whatever the rate."""

    @property
    def often(self) -> str:
        """`120 deadlocks an hour`, `9 deadlocks within a day`."""
        return f"{self.count:,.0f} deadlocks within a day" if self.repeated else f"{self.hourly} deadlocks an hour"

    @property
    def hourly(self) -> str:
        """Per hour, as printed."""
        return f"{self.per_hour:,.0f}"


@rule(
    needs=(),
    uses=(
        *WAIT_FACTS,
        *TABLE_FACTS,
        Deadlock,
        ErrorLog,
        LogEvent,
        LockEvents,
        SysmonSample,
        MonState,
        ConfigParameter,
        TableScheme,
        ProcedureText,
    ),
    links=LINKS,
    limits=Limits,
)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Judge the rate that is counted over an interval, else the busiest hour of the list."""
    rings = rings_of(facts)
    counted = _by_sysmon(facts) or _by_state(facts) or _by_list(rings) or _by_log(facts)
    if isinstance(counted, Untrusted):
        yield counted
    elif counted is None:
        yield Unknown.of(LockEvents, MonState)
    elif counted.per_hour >= limits.per_hour and counted.count >= limits.least:
        yield _finding(facts, limits, counted, rings)
    elif repeated := _repeated(facts, rings, limits):
        yield _finding(facts, limits, repeated, rings)
    elif not counted.over_interval and (many := _without_head(facts, limits)):
        yield many
    else:
        yield Clean(f"{counted.said} (limits {limits.per_hour:g} an hour and {limits.least:g} in all)")


def _without_head(facts: Facts, limits: Limits) -> Unknown | None:
    """That sp_sysmon counted enough of them, over a time that is not in the export; `None` where it did not."""
    row = facts.latest(LockEvents, event="deadlock", kind=TOTAL)
    if row is None or not known(row.count) or row.count < limits.least:
        return None
    return without_head(f"{row.count:,.0f} deadlocks in a sample of sp_sysmon")


def _by_sysmon(facts: Facts) -> Counted | Untrusted | None:
    row, sample = facts.latest(LockEvents, event="deadlock", kind=TOTAL), facts.latest(SysmonSample)
    if row is None or sample is None or not sample.seconds or not known(row.count):
        return None
    if row.count < 0:
        return Untrusted(f"{TOTAL}: {row.count:g} is below zero: its counter wrapped or was cleared")
    rate = row.count * 3600 / sample.seconds
    return Counted(
        row.count,
        rate,
        f"{row.count:,.0f} deadlocks in {sample.seconds:,.0f} s of sp_sysmon",
        row.source,
        over_interval=True,
    )


def _by_state(facts: Facts) -> Counted | Untrusted | None:
    rows = [one for one in facts.every(MonState) if one.of_interval and one.seconds]
    if not rows:
        return None
    if not all(one.believed for one in rows):
        return Untrusted("monState: its counters were cleared or wrapped between the snapshots")
    counts, seconds = [one.deadlocks for one in rows if known(one.deadlocks)], rows[-1].seconds or 0.0
    if not counts or not seconds:
        return None
    count = sum(counts)
    said = f"{count:,.0f} deadlocks in {seconds:,.0f} s between two snapshots of monState"
    return Counted(count, count * 3600 / seconds, said, rows[-1].source, over_interval=True)


def _by_list(rings: list[Ring]) -> Counted | None:
    most = 0 if any(one.edges[0].logged for one in rings) else most_within(rings)
    if not most:
        return None
    listed = f"{len(rings):,} in the list" if len(rings) > most else "all that are listed"
    return Counted(most, most, f"{most:,} deadlocks within one hour by monDeadLock, {listed}", rings[0].source)


def _repeated(facts: Facts, rings: list[Ring], limits: Limits) -> Counted | None:
    """Those about the two tables that most are about, where so many ended within a day and it is known whose."""
    tables, many = about(rings)
    alike = [one for one in rings if one.tables == tuple(sorted(tables))]
    count = most_within(alike, DAY) if 2 * many > len(rings) and asks_of(facts, rings, tables) else 0
    if count < limits.repeated:
        return None
    said = f"{count:,} deadlocks about the same tables within a day, {len(rings):,} in the list"
    return Counted(count, count / 24, said, alike[0].source, repeated=True)


def _by_log(facts: Facts) -> Counted | None:
    hours = [one for one in events_of(facts, DAY) if one.kind == LogEvent.DEADLOCK]
    if not hours:
        return None
    most, number = max(hours, key=lambda one: one.count), sum(one.count for one in hours)
    said = f"{most.count:,} deadlocks within one hour by the error log, {number:,} in its last day"
    return Counted(most.count, most.count, said, most.source)


def _finding(facts: Facts, limits: Limits, counted: Counted, rings: list[Ring]) -> Finding:
    tables, many = about(rings)
    at_once = searched_at_once(facts)
    first = f"The latest: {rings[0].says}." if rings else ""
    named = _listed(tables, TABLES) or "tables and rows"
    by_text = by_texts(facts, rings, tables)
    ran = _listed(list(by_text.values()) or procedures_of(rings, tables), PROCEDURES)
    pages = bool(rings) and all(one.by_pages for one in rings) and not _by_rows(facts, tables)
    converts = len(tables) == 1 and 2 * sum(one.converts for one in rings if one.tables == tables) > len(rings)
    numbers = [] if by_text or converts else numbers_of(rings, tables)
    how = FIRST if converts else ONE_TABLE if len(tables) == 1 else ONE_ORDER
    asks = [] if converts else asks_of(facts, rings, tables)
    order = how.format(
        named,
        f" ({ran}{BY_THEM})" if by_text else f" ({ran})" if ran else "",
        f": {' last, '.join(asks)} last" if asks else "",
    )
    more = AT_ONCE if at_once else "" if converts else (_singly(facts, tables) if pages else "") or REPEAT
    waits = _same_waits(facts, rings, tables) if counted.over_interval and 2 * many > len(rings) >= limits.least else ""
    who, lost = victims_of(rings)
    same_table = converts and [one.name for one in waiting_tables(facts)][:1] == list(tables)
    kinds = [one for one in facts.every(LockEvents) if one.event == "deadlock" and one.kind != TOTAL]
    return Finding(
        subject=subject_of(facts),
        severity=_loud(limits, counted, one_kind=2 * many > len(rings) >= limits.least),
        title=counted.often
        + (f", most about {named}" if tables else "")
        + (CONVERTED if converts else "")
        + (f" ({ran})" if asks and ran else ""),
        seen=joined(
            f"{counted.said}{'' if counted.repeated else f': {counted.hourly} an hour'}.",
            first if len(first) <= LONGEST else "",
        ),
        because=joined(
            CONVERTS if converts else "",
            "" if waits else VICTIM,
            f"{many} of the {len(rings)} listed are about {named}"
            + (f"; the victim is mostly {who} ({lost})." if 2 * lost > len(rings) else ".")
            if len(rings) > 1
            else "",
            waits,
        ),
        do=joined(order, more),
        unknown=joined(
            BY_TEXT if by_text else STATEMENTS, WHO if not rings else CALLED.format(*numbers) if numbers else ""
        ),
        evidence=(
            *(
                (Evidence("deadlocks about the same tables", counted.count, "", counted.source, limits.repeated),)
                if counted.repeated
                else (
                    Evidence("deadlocks", counted.count, "", counted.source, limits.least),
                    Evidence("deadlocks per hour", round(counted.per_hour, 1), "/h", counted.source, limits.per_hour),
                )
            ),
            *(Evidence(name, said, "", at) for name, said, at in list(edges_of(rings))[:NAMED]),
            *(
                Evidence(f"deadlocks about {one.kind} locks", one.count, "", one.source)
                for one in kinds
                if known(one.count) and one.count > 0
            ),
            *((Evidence(PERIOD, 0, "ms", at_once.source),) if at_once else ()),
        ),
        explains=("ase/lock_waits_high",) if waits or same_table else (),
    )


def _same_waits(facts: Facts, rings: list[Ring], tables: tuple[str, ...]) -> str:
    """That most lock waits are for the tables of the rings and as long as the waits in them; empty: not so.

    A wait behind a short transaction ends much sooner than one that lasts until the server looks for rings: waits of
    that length are waits in rings, and of those who queue behind them.
    """
    inside, waited = mean_wait(rings), waited_for(facts, "locks", LOCKS)
    if inside is None or not isinstance(waited, Waited) or waited.unsure or not waited.waits:
        return ""
    there = sum(one.share for one in waiting_tables(facts) if f"{one.row.database}..{one.row.object_name}" in tables)
    mean = waited.waited_seconds * 1000.0 / waited.waits
    if there < MOST_PERCENT or not inside / ALIKE <= mean <= inside * ALIKE:
        return ""
    return SAME_WAITS.format(mean, inside, there)


def _loud(limits: Limits, counted: Counted, *, one_kind: bool) -> Severity:
    """By the rate; as a warning only where there were many, too, and as advice where most are of the same tables.

    `one_kind`: the same few transactions meet again and again then, and it is known which: that is to be ended.
    """
    if counted.per_hour >= limits.warning_per_hour and counted.count >= limits.warning_least:
        return Severity.WARNING
    return Severity.ADVICE if one_kind or counted.per_hour >= limits.advice_per_hour else Severity.NOTE


def _listed(names: Sequence[str], most: int) -> str:
    """These names as a list for a sentence, with how many more there are."""
    return enumerated([*names[:most], f"{len(names) - most} more"] if len(names) > most else names)


def _singly(facts: Facts, tables: tuple[str, ...]) -> str:
    """What locks rows singly, by the lock scheme of the one table that these are about, where it is listed."""
    named = facts.every(TableScheme) if len(tables) == 1 else []
    one = next((one for one in named if f"{one.database}..{one.table}" == tables[0]), None)
    sure = ""
    if one is None and (number := BY_NUMBER.fullmatch(tables[0])):
        called = {one.database: one for one in named if one.table == number["table"] and one.database}
        (one,) = called.values() if len(called) == 1 else (None,)
        sure = BY_NAME.format(number["database"], comment(one.database or "", 60)) if one else ""
    if one is None:
        return PAGES
    name = comment(f"{one.database}..{one.table}")
    return sure + BY_SCHEME.get(one.scheme, PAGES).format(name, bare_table(one.table))


def _by_rows(facts: Facts, tables: tuple[str, ...]) -> bool:
    """Whether a listing shows one of these tables to lock rows already."""
    rows = {f"{one.database}..{one.table}" for one in facts.every(TableScheme) if one.scheme == "datarows"}
    return any(one in rows for one in tables)
