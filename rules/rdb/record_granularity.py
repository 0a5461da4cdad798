"""Adjustable lock granularity that does not suit the work.

Finds: with adjustable lock granularity (ALG) enabled, blocking ASTs on record locks as a share of those requested and
promoted; with it disabled, how many record locks a transaction of mostly queries takes. Data I/O tells whether it is
mostly queries, or else the rows that are changed of those that are fetched; without the blocking ASTs of record locks
those of all locks bound them.

Why it matters: with ALG a process locks many rows by one lock, and walks down to single rows when another comes: fewer
locks in general, and one blasted holder after the other where rows are changed here and there (Oracle Rdb, help on
DEFINE DATABASE). Without it every row read takes a lock of its own.

What to do: mostly queries: enable it. Many changes of scattered rows and many blocking ASTs on record locks: consider
to disable it, and before that raise the lock parameters of the system (LOCKIDTBL, RESHASHTBL) and ENQLM of the users
where they are not ample: more locks are taken. Compare locks and blocking ASTs for each transaction before and after.

When to ignore it: where the waits are for single rows that all want, ALG is not the cause: no granularity splits a row.
And where the load changes by the hour: what helps the day's updates costs the night's reports.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import inf

from collectors.facts import Facts
from collectors.facts.rdb import Database, StatisticRow, WaitGroup
from rules.changes.rdb_database import alter
from rules.engine import limit, percent, rule
from rules.finding import Clean, Evidence, Expectation, Finding, MissingInput, Outcome, Severity, Unknown, joined
from rules.openvms._evidence.node import NODE_FACTS
from rules.rdb._evidence.counted import (
    ASKED,
    BLASTS,
    COUNTED_FACTS,
    PROMOTED,
    AskedBack,
    asked_back,
    caveats,
    counted,
    of_each_node,
    on_node,
    part_of_stalls,
    per_transaction,
    quiet,
    rounded,
    shown,
    stalled_of,
    waits_for,
)
from rules.rdb._evidence.databases import OneDatabase, Read, databases
from rules.rdb._evidence.limits import busy_locks, least
from rules.rdb._evidence.lock_room import room_of
from rules.rdb._evidence.prerequisites import place_of
from rules.rdb._evidence.statistics import LEAST_COUNTED, Rate, Statistics
from rules.rdb._evidence.waits import (
    DEADLOCKS,
    STALLS,
    TIMEOUTS,
    WAIT_FACTS,
    areas_of,
    evidence_of,
    hottest,
    levels_waited_for,
    total,
    waits_of,
)

LINKS = (
    "https://uprrp2.uprrp.edu/help/sys$common/syshlp/rdohelp72.hlb?key=DEFINE_DATABASE~Format~db-wide-options-2",
    "https://wiki.vmssoftware.com/LOCKIDTBL",
)
OF_ASKED = "blocking ASTs of record locks requested and promoted"
LEAST_WAITS = 5
"""This project: fewer waits do not tell what most are for."""
READ = ("synch data reads", "asynch data reads")
WRITTEN = ("synch data writes", "asynch data writes")
CHANGED, FETCHED = ("record marked", "record stored", "record erased"), ("record fetched",)
"""Rows as the screen Record Statistics counts them."""
RECORDS = MissingInput(
    "record locks and their blocking ASTs (the screen Locking (record locks))", StatisticRow.COLLECTED_BY
)
MIX = MissingInput("data reads and writes beside transactions (the screen Summary IO)", StatisticRow.COLLECTED_BY)
NO_FORMULA = "no source has a formula for how many, so watch SHOW MEMORY/POOL and the locks of MONITOR LOCK"

WALKS = (
    "With adjustable lock granularity a holder walks down to single rows whenever another process comes. The limits "
    "are this project's; the vendor names none."
)
SCATTERED = (
    "Where transactions change scattered rows, consider setting ADJUSTABLE LOCK GRANULARITY from ENABLED to DISABLED: "
    "more locks are then taken{first}{levels}. Where they mostly read, keep it."
)
FIRST_MORE = (
    "{first} ADJUSTABLE LOCK GRANULARITY from ENABLED to DISABLED, which takes more locks{levels}. Where these "
    "transactions mostly read, keep it."
)
WALKED = (
    "{first} ADJUSTABLE LOCK GRANULARITY from ENABLED to DISABLED{levels}. Not where these transactions mostly read, "
    "nor where a stall log names single rows."
)
UPDATES = "an hour of many updates may be why it is off"
ENABLE = (
    f"Ask first, as {UPDATES}; if nothing speaks against it set ADJUSTABLE LOCK GRANULARITY from DISABLED to ENABLED."
)
MIX_FIRST = "Write the screen Summary IO of the same hour first"
ASK_MIX = (
    f"{MIX_FIRST}: where writes are {{:g}} % of the data I/O or less, set ADJUSTABLE LOCK GRANULARITY from DISABLED to "
    f"ENABLED. Else leave it, as {UPDATES}."
)
ONLY_READS = "once the screen Summary IO has shown that these transactions mostly read"
SPARED = "first let reports run READ ONLY, and batches RESERVING their tables: both spare these locks"
MORE = ("Disabled, it takes more locks: see that LOCKIDTBL, RESHASHTBL and the ENQLM of its users have room.",)
BACK = ("Only the way back takes more locks: see LOCKIDTBL and the ENQLM of its users before that.",)


@dataclass(frozen=True)
class Limits:
    """From where on the setting and the work do not match. No vendor names a figure."""

    blasts_percent: float = percent(
        10.0,
        "this project: one record lock in ten is wanted by another process; no vendor names a limit",
        low=0.1,
        of="record locks requested and promoted",
    )
    blasts_per_second: float = least(50.0, "blocking ASTs/s")
    records_per_transaction: float = limit(
        100.0, "this project: a hundred row locks in a transaction are a scan", unit="record locks"
    )
    waiting: float = limit(1.0, "this project: at any moment one process or more waits for a row", unit="processes")
    few_blasts_percent: float = percent(
        1.0, "this project: hardly a row is wanted by two", low=0, of="record locks requested and promoted"
    )
    writes_percent: float = percent(
        20.0, "this project: mostly queries: four of five data I/Os read", low=0, of="data I/O"
    )
    changed_percent: float = percent(
        10.0, "this project: where one row in ten that is fetched is changed, it is no report", low=1, of="rows fetched"
    )
    scanned_records: float = limit(
        1_000.0,
        "this project: ten times a scan's hundred, so it is worth a look before it is known whether rows are changed",
        unit="record locks",
    )
    next_to_no_percent: float = percent(
        0.1, "this project: one lock in a thousand is asked back", low=0, of="record locks requested and promoted"
    )
    operations_per_second: float = least(500.0, "record locks/s")
    busy_records: float = busy_locks("record")
    stalled_per_second: float = limit(
        1.0,
        "this project: where fewer record locks stall, their time is not known and no log names one, it is a note",
        unit="stalled/s",
    )
    main_percent: float = percent(50.0, "this project: from here on they are more than all others together", low=1)
    walked_percent: float = percent(
        50.0,
        "this project: of more than half of the record locks the holder is interrupted: hardly a row is kept",
        low=10,
        of="record locks requested and promoted",
    )
    walked_waiting: float = limit(
        0.5, "this project: half of the time somebody waits for a row or a level above it", unit="processes"
    )
    walked_per_transaction: float = limit(
        10.0, "this project: a transaction walks down again and again", unit="blocking ASTs per transaction"
    )


@dataclass(frozen=True)
class Records:
    """The record locks of one node."""

    asked: float | None
    """Requested and promoted, per second; `None`: only one of the two was read."""
    back: AskedBack
    blasts: Rate
    source: Rate
    each: Statistics


@rule(
    needs=(Database,), uses=(*COUNTED_FACTS, *WAIT_FACTS, *NODE_FACTS), links=LINKS, limits=Limits, sample=LEAST_COUNTED
)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Judge each database."""
    for one in databases(facts):
        yield (told := _judge(facts, one, limits))
        if isinstance(told, Finding) and MIX_FIRST in told.do:
            yield Unknown((MIX,), f"{one.subject}: whether it mostly reads is not known")


def _judge(facts: Facts, one: OneDatabase, limits: Limits) -> Outcome:
    setting = one.read("adjustable_locking")
    if setting is None:
        why = f"{one.subject}: adjustable lock granularity is not in the export"
        return Unknown.without("adjustable lock granularity", Database.COLLECTED_BY, why)
    found, refused = counted(facts, one)
    judged = [records for records, _ in of_each_node(found, _asked_back if setting.value else _bounded)]
    word = "enabled" if setting.value else "disabled"
    if not judged:
        return refused or Unknown((RECORDS,), f"{one.subject}: adjustable lock granularity is {word}")
    if setting.value:
        return _enabled(facts, one, limits, setting, max(judged, key=lambda records: records.blasts.per_second))
    return _disabled(
        facts, one, limits, setting, max(judged, key=lambda records: records.asked or records.source.per_second)
    )


def _records(each: Statistics) -> Records | None:
    """Record locks with their blocking ASTs."""
    back, source = asked_back(each, "record"), each.rate(ASKED[0], "record")
    if back is None or source is None:
        return None
    return Records(back.asked, back, back.rate, source, each)


def _asked_back(each: Statistics) -> Records | None:
    """The same, and where requests for record locks were not written, at least their part of all locks asked for."""
    blasts, every = each.rate(BLASTS, "record"), each.rate(ASKED[0], "total")
    whole = each.operations("total", ASKED)
    if (found := _records(each)) or blasts is None or every is None or not whole or each.rate(ASKED[0], "record"):
        return found
    return Records(None, AskedBack(100 * blasts.per_second / whole, inf, blasts, None), blasts, every, each)


def _bounded(each: Statistics) -> Records | None:
    """The same, and where the blocking ASTs of record locks are not in the export, with those of all locks as a bound.

    Good enough to tell that there are few.
    """
    blasts, source = each.rate(BLASTS, "total"), each.rate(ASKED[0], "record")
    if (found := _records(each)) or blasts is None or source is None or not source.per_second:
        return found
    most = 100 * blasts.per_second / source.per_second
    return Records(None, AskedBack(0.0, most, blasts, None), blasts, source, each)


@dataclass(frozen=True)
class _Mix:
    """Whether the work mostly reads."""

    percent: float
    limit: float
    of: str
    verb: str
    source: Rate


def _mix(each: Statistics, limits: Limits) -> _Mix | None:
    """By data I/O where that was read, else by rows."""
    for kept, other, most, of, verb in (
        (WRITTEN, READ, limits.writes_percent, "data I/O", "writes"),
        (CHANGED, FETCHED, limits.changed_percent, "rows fetched", "are changed"),
    ):
        some, others = ([rate for item in items if (rate := each.rate(item))] for items in (kept, other))
        whole = sum(rate.per_second for rate in (*others, *(some if kept is WRITTEN else ())))
        if some and others and whole:
            return _Mix(100 * sum(rate.per_second for rate in some) / whole, most, of, verb, some[0])
    return None


def _enabled(facts: Facts, one: OneDatabase, limits: Limits, setting: Read, found: Records) -> Outcome:
    each, blasts = found.each, found.blasts
    figures = (
        f"{rounded(blasts.per_second)} blocking ASTs/s on record locks{on_node(each)}, {found.back.said} of those "
        "requested and promoted"
    )
    if found.back.most < limits.blasts_percent or blasts.per_second < limits.blasts_per_second:
        said = f"(limits {limits.blasts_per_second:g}/s and {limits.blasts_percent:g} %, this project's)"
        return quiet(
            f"{one.subject}: adjustable lock granularity is enabled{one.read_apart}, and {figures} {said}", each
        )
    if found.back.least < limits.blasts_percent:
        lacking = RECORDS if found.back.most == inf else PROMOTED
        return Unknown((lacking,), f"{one.subject}: adjustable lock granularity is enabled, and {figures}")
    waits = waits_of(facts, one)
    if why := waits.refused():
        return why
    groups, levels = waits.most((*STALLS, TIMEOUTS[0], DEADLOCKS[0]), "record"), levels_waited_for(waits)
    stalled = stalled_of(each, "record")
    crowd = waits_for(each, "record")
    many = stalled is not None and stalled.per_second >= limits.stalled_per_second
    waited = bool(groups) or (crowd.processes >= limits.waiting if crowd else many)
    if _of_rows(groups, limits):
        return Clean(
            f"{one.subject}: {figures}, but the waits are for single rows ({hottest(groups)}): no granularity splits a "
            "row, so change that row less often or for a shorter time"
        )
    above = _above_rows(one, groups, limits)
    per, room = per_transaction(each, [blasts]), room_of(facts)
    whole = each.rate(BLASTS, "total")
    main = bool(whole and whole.per_second and 100 * blasts.per_second / whole.per_second >= limits.main_percent)
    walked = (
        main
        and crowd is not None
        and crowd.processes >= limits.walked_waiting
        and found.back.least >= limits.walked_percent
        and per is not None
        and per >= limits.walked_per_transaction
        and part_of_stalls(each, ("record",)) >= limits.main_percent
    )
    return Finding(
        subject=one.subject,
        severity=Severity.ADVICE if waited or walked else Severity.NOTE,
        title=(
            f"{'' if found.back.exact else 'at least '}{found.back.least:.0f} % of the record locks are asked back: "
            f"adjustable granularity may not suit the work{f' on {above.area}' if above else ''}"
        ),
        seen=joined(
            f"{figures}{f', {rounded(per)} for each transaction' if per is not None else ''} ({each.over}).",
            f"{above.count:,} of {total(groups):,} waits are for levels above rows (a line below zero), most in "
            f"{above.area}: {hottest(groups)}."
            if above
            else f"Waited for: {hottest(groups)}."
            if groups
            else f"In RMU/SHOW LOCKS processes wait at levels above rows: {levels}."
            if levels
            else f"About {rounded(crowd.processes)} processes wait for record locks at any moment{crowd.said}."
            if crowd and (waited or walked)
            else "",
        ),
        because=WALKS,
        do=(WALKED if walked and not above else FIRST_MORE).format(
            first=f"First {room.first}; then set" if room.first else "Set", levels=f"{room.enough}{_levels(one)}"
        )
        if walked or above
        else SCATTERED.format(
            first=f", so first {room.first}" if room.first else "", levels=f"{room.enough}{_levels(one)}"
        ),
        unknown=joined(
            "" if groups or levels else "No log names the rows that have lock waits: collect one first.",
            caveats(one, each),
        ),
        evidence=(
            Evidence("adjustable lock granularity", "enabled", "", setting.source),
            *shown("blocking ASTs on record locks", blasts, limits.blasts_per_second),
            found.back.evidence(OF_ASKED, limits.blasts_percent),
            *(
                (
                    Evidence(
                        "blocking ASTs on record locks per transaction",
                        round(per, 1),
                        "",
                        blasts.source,
                        limits.walked_per_transaction,
                    ),
                )
                if walked and per is not None
                else ()
            ),
            *evidence_of(groups, "waits for"),
        ),
        explains=() if blasts.source.tentative else _explains(each, limits, main=bool(main)),
        changes=(
            alter(
                "adjustable_locking",
                place_of(facts, one),
                "ENABLED",
                "DISABLED",
                cautions=MORE,
                when=f"{room.condition}: {NO_FORMULA}",
            ),
        ),
        expects=(
            Expectation("blocking ASTs on record locks (/s)", round(blasts.per_second, 1), "lower", "heuristic"),
            *(
                (Expectation("record locks requested and promoted (/s)", round(found.asked, 1), "higher", "heuristic"),)
                if found.asked is not None
                else ()
            ),
        ),
    )


def _explains(each: Statistics, limits: Limits, *, main: bool) -> tuple[str, ...]:
    stalls = part_of_stalls(each, ("record",)) >= limits.main_percent
    return (("rdb/blocking_asts_high",) if main else ()) + (("rdb/lock_stalls_long",) if stalls else ())


def _levels(one: OneDatabase) -> str:
    """What stands between the two settings, for a sentence: fewer levels, where the header lists several."""
    levels = one.figure("adjustable_locking_count")
    return f"; between both, fewer levels (COUNT IS n, the header lists {levels:g})" if levels and levels > 1 else ""


@dataclass(frozen=True)
class _Above:
    """Waits for levels of adjustable lock granularity, and the storage area most of them are in."""

    count: int
    area: str


def _above_rows(one: OneDatabase, groups: list[WaitGroup], limits: Limits) -> _Above | None:
    """The waits for levels above rows, where they are most of several; their lines are below zero (recalled)."""
    found = [group for group in groups if group.resource.partition(" ")[0].rpartition(":")[2].startswith("-")]
    areas = areas_of(found)
    if total(groups) < LEAST_WAITS or not areas or 100 * total(found) < limits.main_percent * total(groups):
        return None
    named, number = one.area_names, areas[0][0]
    return _Above(total(found), f"{named[number]} ({number})" if number in named else f"area {number}")


def _of_rows(groups: list[WaitGroup], limits: Limits) -> bool:
    """Whether most waits are for few single rows: a level above them has a line below zero (recalled)."""
    whole = total(groups)
    rows = [group for group in groups if not group.resource.partition(" ")[0].rpartition(":")[2].startswith("-")]
    most = total(rows[:3])
    return bool(whole) and 100 * most / whole >= limits.main_percent


def _disabled(facts: Facts, one: OneDatabase, limits: Limits, setting: Read, found: Records) -> Outcome:
    each, percent, exact = found.each, found.back.most, found.asked is not None
    asked = found.asked if found.asked is not None else found.source.per_second
    start = f"{one.subject}: adjustable lock granularity is disabled{one.read_apart}"
    if not exact and (asked < limits.operations_per_second or percent >= limits.few_blasts_percent):
        return Unknown((PROMOTED if each.rate(BLASTS, "record") else RECORDS,), start)
    if asked < limits.operations_per_second:
        return quiet(f"{start}, and {asked:,.0f} record locks/s are few ({limits.operations_per_second:g})", each)
    if percent >= limits.few_blasts_percent:
        return Clean(
            f"{start}, and {percent:.1f} % of the record locks are asked back (limit "
            f"{limits.few_blasts_percent:g} %): it suits rows that several processes want"
        )
    per = per_transaction(each, [found.source])
    mix = _mix(each, limits)
    costs, source = asked >= limits.busy_records, found.source.source
    scans = costs and per is not None and per >= limits.scanned_records and percent < limits.next_to_no_percent
    if per is None or not (mix or scans):
        return Unknown((MIX,), f"{start}, and {asked:,.0f} record locks/s; whether it mostly reads is not known")
    enough = limits.records_per_transaction if mix else limits.scanned_records
    figures = f"{per:,.0f} record locks requested for each transaction{on_node(each)}" + (
        f", {rounded(mix.percent)} % of the {mix.of} {mix.verb}" if mix else ""
    )
    if mix and (per < limits.records_per_transaction or mix.percent > mix.limit):
        limits_said = f"(limits {limits.records_per_transaction:g} and {mix.limit:g} %)"
        return Clean(f"{start}, and {figures} {limits_said}")
    return Finding(
        subject=one.subject,
        severity=Severity.ADVICE if costs else Severity.NOTE,
        title=f"{per:,.0f} record locks requested for each transaction, one by one: adjustable granularity is off",
        seen=(
            f"{figures} ({each.over}), and {'only' if exact else 'at most'} {rounded(percent)} % of the record "
            "locks are asked back by another process."
        ),
        because=(
            "Work that mostly reads takes fewer locks with adjustable lock granularity, which the vendor advises for "
            "it."
        ),
        do=ENABLE
        if costs and mix
        else ASK_MIX.format(limits.writes_percent)
        if costs
        else f"Nothing is set here: below {limits.busy_records:,.0f}/s there is little to gain, and {UPDATES}. If "
        "nothing speaks against it, the change is ADJUSTABLE LOCK GRANULARITY IS ENABLED, and back: IS DISABLED.",
        unknown=caveats(one, each),
        evidence=(
            Evidence("adjustable lock granularity", "disabled", "", setting.source),
            Evidence("record locks per transaction", round(per, 1), "", source, enough),
            Evidence(
                f"record locks requested{' and promoted' if exact else ''}",
                round(asked, 1),
                "/s",
                source,
                limits.operations_per_second,
            ),
            Evidence(
                OF_ASKED if exact else f"{OF_ASKED}, at most",
                round(percent, 3),
                "%",
                found.blasts.source,
                limits.few_blasts_percent,
            ),
            *(
                [
                    Evidence(
                        "writes" if mix.verb == "writes" else "rows changed",
                        round(mix.percent, 2),
                        f"% of {mix.of}",
                        mix.source.source,
                        mix.limit,
                    )
                ]
                if mix
                else []
            ),
        ),
        explains=("rdb/record_locks_dominate",) if costs else (),
        changes=(
            replace(
                alter(
                    "adjustable_locking",
                    place_of(facts, one),
                    "DISABLED",
                    "ENABLED",
                    cautions=BACK,
                    when="" if mix else ONLY_READS,
                ),
                condition=SPARED if mix else f"{ONLY_READS}; {SPARED}",
            ),
        )
        if costs
        else (),
        expects=(Expectation("record locks per transaction", round(per, 1), "lower", "heuristic"),),
    )
