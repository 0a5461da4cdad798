"""Carry-over locks switched off, or in the way of NOWAIT transactions.

Finds: with carry-over locks disabled, area locks that each transaction asks for anew; with them enabled, transactions
that wait for the NOWAIT lock.

Why it matters: a process keeps its area locks, and the top ones of its record locks, from one transaction to the next,
which saves most of those requests where it uses the same areas. In return a NOWAIT transaction has to get the NOWAIT
lock first, on which all others give up what they carried over: long if they are in a long verb (Oracle Rdb, help on
DEFINE and CHANGE DATABASE).

What to do: enable them where the same areas are used again and again; disable them where NOWAIT transactions wait
noticeably for the NOWAIT lock. Both are possible while users are attached. Where requests for areas stall, processes
want the same areas in modes that exclude each other: to keep those locks for longer helps nobody.

When to ignore it: where they were disabled for NOWAIT transactions: then nobody waits for that lock any more, and
enabling them causes the waits again. And where each transaction uses other areas: nothing is carried over. A wait for
an area may be real, because another process has reserved it: that is no fault of carry-over locks.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from collectors.facts import Facts, known
from collectors.facts.rdb import Database, HeldLock, StatisticRow, WaitGroup
from rules.changes.rdb_database import alter
from rules.engine import limit, percent, rule
from rules.finding import Clean, Evidence, Expectation, Finding, MissingInput, Outcome, Severity, Unknown, joined
from rules.rdb._evidence.counted import (
    COUNTED_FACTS,
    Stalled,
    caveats,
    counted,
    explained,
    of_each_node,
    on_node,
    per_transaction,
    quiet,
    rounded,
    shown,
    stalled_of,
    waits_matter,
)
from rules.rdb._evidence.databases import OneDatabase, Read, databases
from rules.rdb._evidence.limits import busy_locks, by_transactions, least
from rules.rdb._evidence.prerequisites import place_of
from rules.rdb._evidence.standstill import so_far
from rules.rdb._evidence.statistics import LEAST_COUNTED, Rate, Statistics
from rules.rdb._evidence.waits import STALLS, TIMEOUTS, WAIT_FACTS, Waits, hottest, total, waits_of

LINKS = (
    "https://uprrp2.uprrp.edu/help/sys$common/syshlp/rdohelp72.hlb?key=DEFINE_DATABASE~Format~db-wide-options-2~CARRY_OVER_LOCKS",
)
ASKED = "locks requested"
EACH = "area locks requested per transaction"
WAIT_FOR_AREAS = "area locks stalled for each hundred transactions"
WHY_OFF = (
    "Ask why they are off: NOWAIT transactions that waited for the NOWAIT lock are the reason the vendor names, and "
    "they wait again when they are on.",
)
ASK_FIRST = "first ask why they are off: NOWAIT transactions would wait again"
ENABLE = (
    "Ask why they are off, as NOWAIT transactions may need that; if nothing speaks against it set CARRY OVER LOCKS "
    "from DISABLED to ENABLED, which is possible while users are attached."
)
DISABLE = (
    "The vendor says to consider disabling them if that delay is noticeable: CARRY OVER LOCKS from ENABLED to "
    "DISABLED, possible while users are attached."
)
COST = ("Each transaction then asks for its area locks and top record locks anew: count both before and after.",)
NOTHING = "Nothing is set here: "
AGAINST = f"{NOTHING}NOWAIT transactions are the reason the vendor names for disabling them, and would wait again."
WANTED = (
    "Requests for areas stall: processes want the same areas in modes that exclude each other, and a lock that is "
    "carried over makes the next one wait as well."
)
MODES = f"{NOTHING}first see which transactions reserve those areas in a protected or exclusive mode."
PRICE = "each transaction then asks for its area locks and top record locks anew"
BLASTED, STALLED = "rdb/blocking_asts_high", "rdb/lock_stalls_long"
KINDS = (*STALLS, TIMEOUTS[0])


@dataclass(frozen=True)
class Limits:
    """From where on the requests, or the waits, are worth a change."""

    areas_per_transaction: float = limit(
        1.0, "this project: each transaction asks for an area lock; no vendor names a limit", unit="area locks"
    )
    areas_per_second: float = least(50.0, "area locks/s")
    busy_areas: float = busy_locks("area")
    many_areas: float = least(1_000.0, "area locks/s, as a share of all")
    areas_percent: float = percent(
        25.0,
        "this project: one request in four asks for what would be carried over; no vendor names a limit",
        low=1,
        of="lock requests",
    )
    stall_seconds: float = limit(
        2.0, "vendor: lock stall of the Online Analysis screens, 2 seconds (RDM$BIND_STATS_MAX_LOCK_STALL)", unit="s"
    )
    events: int = limit(
        5, "this project: fewer events without a length in one log are chance", low=1, unit="waits for the NOWAIT lock"
    )
    areas_stalled_percent: float = by_transactions("an area, carried over locks make the next wait, too")
    one_seconds: float = limit(
        30.0,
        "this project: fewer waits than make a finding, all shorter, are a note and no reason to disable",
        unit="s",
    )
    events_per_hour: float = limit(
        1.0, "this project: a few in a day cost less than each transaction's area locks", unit="waits/h"
    )
    main_percent: float = percent(50.0, "this project: from here on they are more than all others together", low=1)
    stalled_per_second: float = limit(
        0.1, "this project: one NOWAIT transaction in ten seconds that waits; no vendor names a limit", unit="/s"
    )


@rule(needs=(Database,), uses=(*COUNTED_FACTS, *WAIT_FACTS), links=LINKS, limits=Limits, sample=LEAST_COUNTED)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Judge each database."""
    for one in databases(facts, (WaitGroup,)):
        yield _judge(facts, one, limits)


def _judge(facts: Facts, one: OneDatabase, limits: Limits) -> Outcome:
    setting = one.read("carry_over_locks")
    if setting is None:
        why = f"{one.subject}: carry-over locks are not in the export (default enabled)"
        return Unknown.without("carry-over locks", Database.COLLECTED_BY, why)
    return (_enabled if setting.value else _disabled)(facts, one, limits, setting)


def _disabled(facts: Facts, one: OneDatabase, limits: Limits, setting: Read) -> Outcome:
    found, refused = counted(facts, one)
    start = f"{one.subject}: carry-over locks are disabled"
    judged = of_each_node(found, _areas)
    if not judged:
        bring = MissingInput(
            "area locks beside transactions (Locking (area locks), Summary IO)", StatisticRow.COLLECTED_BY
        )
        return refused or Unknown((bring,), start)
    rate, each = max(judged, key=lambda pair: pair[0].per_second)
    per = per_transaction(each, [rate])
    if per is None:
        return Unknown.without("transactions (the screen Summary IO)", StatisticRow.COLLECTED_BY, start)
    figures = (
        f"{rounded(rate.per_second)} area locks/s{on_node(each)} are requested, {rounded(per)} for each transaction"
    )
    if per < limits.areas_per_transaction or rate.per_second < limits.areas_per_second:
        said = f"(limits {limits.areas_per_second:g}/s and {limits.areas_per_transaction:g})"
        return quiet(f"{start}, and only {figures} {said}", each)
    stalled = stalled_of(each, "area")
    part = 100 * per * stalled.per_second / rate.per_second if stalled else None
    wanted = waits_matter(each, part, limits.areas_stalled_percent, "area")
    against, reasons = _against(facts, one, limits, found)
    whole = each.rate(ASKED, "total")
    share = 100 * rate.per_second / whole.per_second if whole and whole.per_second else 0.0
    many = rate.per_second >= limits.busy_areas or (
        rate.per_second >= limits.many_areas and share >= limits.areas_percent
    )
    costs = many and not wanted and not against
    little = (
        f"{NOTHING}below {limits.busy_areas:,.0f}/s, or {limits.many_areas:,.0f}/s and {limits.areas_percent:g} % of "
        "the requests, there is little to gain, and NOWAIT transactions may need it so."
    )
    return Finding(
        subject=one.subject,
        severity=Severity.ADVICE if costs else Severity.NOTE,
        title=f"each transaction asks for {per:,.1f} area locks anew: carry-over locks are off",
        seen=joined(
            f"{figures} ({each.over}){f', {share:.0f} % of all lock requests' if share else ''}, and carry-over locks "
            "are disabled.",
            against,
        ),
        because=joined(
            "With carry-over locks a process keeps them, and its top record locks, from one transaction to the next: a "
            "substantial reduction, the vendor says, where the same areas are used again.",
            WANTED if wanted else "",
        ),
        do=ENABLE if costs else AGAINST if against else MODES if wanted else little,
        unknown=caveats(one, each),
        evidence=(
            Evidence("carry-over locks", "disabled", "", setting.source),
            *shown("area locks requested", rate, limits.areas_per_second),
            Evidence(EACH, round(per, 2), "", rate.source, limits.areas_per_transaction),
            *(
                (Evidence("area locks of all requested", round(share, 1), "%", rate.source, limits.areas_percent),)
                if share
                else ()
            ),
            *shown("stalled area locks", stalled),
            *(_of_transactions(part, stalled, limits) if part is not None and stalled else ()),
            *reasons,
        ),
        changes=(
            replace(
                alter("carry_over_locks", place_of(facts, one), "DISABLED", "ENABLED", cautions=WHY_OFF),
                condition=ASK_FIRST,
            ),
        )
        if costs
        else (),
        expects=(Expectation(EACH, round(per, 2), "lower", "heuristic"),),
    )


def _against(
    facts: Facts, one: OneDatabase, limits: Limits, found: list[Statistics]
) -> tuple[str, tuple[Evidence, ...]]:
    """What shows that NOWAIT transactions are at work, for which the vendor has carry-over locks off; else nothing.

    They take that lock whether they stall or not: with carry-over locks each of them waits for all others.
    """
    groups = _waited(waits_of(facts, one), limits, "nowait")
    proof: list[Evidence] = []
    seen = []
    for item in (ASKED, "requests stalled"):
        rates = [rate for each in found if (rate := each.rate(item, "nowait"))]
        asked = max(rates, key=lambda rate: rate.per_second, default=None)
        if asked and asked.per_second >= limits.stalled_per_second:
            seen.append(f"{rounded(asked.per_second)} {item}/s")
            proof += shown(f"{item} (NOWAIT lock)", asked, limits.stalled_per_second)
    if _many(groups, limits):
        events = total(groups)
        seen.append(f"{events:,} logged waits")
        proof.append(Evidence("waits for the NOWAIT lock", events, "events", groups[0].source, limits.events))
    if not seen:
        return "", ()
    return f"NOWAIT transactions are at work: {' and '.join(seen)} for the NOWAIT lock.", tuple(proof)


def _of_transactions(part: float, stalled: Stalled, limits: Limits) -> tuple[Evidence, ...]:
    return (Evidence(WAIT_FOR_AREAS, round(part, 1), "%", stalled.source, limits.areas_stalled_percent),)


def _areas(each: Statistics) -> Rate | None:
    return each.rate(ASKED, "area")


def _enabled(facts: Facts, one: OneDatabase, limits: Limits, setting: Read) -> Outcome:
    waits = waits_of(facts, one)
    if why := waits.refused():
        return why
    found, refused = counted(facts, one)
    start = f"{one.subject}: carry-over locks are enabled"
    nodes = of_each_node(found, lambda each: stalled_of(each, "nowait"))
    worst = max(nodes, key=lambda pair: pair[0].per_second, default=None)
    groups = _waited(waits, limits, "nowait")
    if _many(groups, limits) or (worst and worst[0].per_second >= limits.stalled_per_second):
        log = waits.events([group.kind for group in groups[:1]])
        return _finding(facts, one, limits, setting, waits, groups, worst, found, log.hours if log else None)
    areas = _waited(waits, limits, "area", "logical area")
    if _many(areas, limits):
        why_not = (
            f"{start}, and processes waited for storage areas ({hottest(areas)}): a false conflict only if the holder "
            "has no transaction open, or has not touched that area in it"
        )
        return Unknown.without(
            "who holds the area, and whether a transaction is open there", HeldLock.COLLECTED_BY, why_not
        )
    logged = [log for log in waits.logs if log.kind in KINDS]
    if not worst and not logged:
        bring = MissingInput(
            "waits for the NOWAIT lock (a log, or the screen Locking (nowait))", WaitGroup.COLLECTED_BY
        )
        return refused or Unknown((bring,), start)
    events = total(groups)
    rate = f", {worst[0].per_second:,.2f} stalled/s" if worst else ""
    said = f"{start}, and {events} waits for the NOWAIT lock were seen{rate} (limits {limits.events} and "
    said += f"{limits.stalled_per_second:g}/s)"
    return quiet(said, worst[1]) if worst else Clean(said)


def _waited(waits: Waits, limits: Limits, *resources: str) -> list[WaitGroup]:
    """The waits of one log: of the first that shows them to be many, else of that with most."""
    found = (waits.of((kind,), *resources) for kind in KINDS)
    return next((groups for groups in found if _many(groups, limits)), waits.most(KINDS, *resources))


def _many(groups: list[WaitGroup], limits: Limits) -> bool:
    """Whether they waited long, or often where no length was logged."""
    if any(known(group.longest_seconds) and group.longest_seconds >= limits.stall_seconds for group in groups):
        return True
    return total(g for g in groups if not known(g.longest_seconds)) >= limits.events


def _finding(
    facts: Facts,
    one: OneDatabase,
    limits: Limits,
    setting: Read,
    waits: Waits,
    groups: list[WaitGroup],
    worst: tuple[Stalled, Statistics] | None,
    found: list[Statistics],
    hours: float | None,
) -> Finding:
    evidence = [Evidence("carry-over locks", "enabled", "", setting.source)]
    seen = []
    if worst:
        stalled = worst[0]
        part = f", {stalled.percent:.0f} % of all requests that stall" if stalled.percent is not None else ""
        seen.append(f"{stalled.per_second:,.2f} requests/s for it stalled{on_node(worst[1])}{part}")
        rate = round(stalled.per_second, 2)
        evidence.append(Evidence("stalled NOWAIT locks", rate, "/s", stalled.source, limits.stalled_per_second))
    if groups:
        events = total(groups)
        seen.append(f"{events:,} waits for the NOWAIT lock were logged")
        evidence.append(Evidence("waits for the NOWAIT lock", events, "events", groups[0].source, limits.events))
    lengths = [(g.longest_seconds, g) for g in groups if known(g.longest_seconds)]
    if lengths:
        longest, g = max(lengths, key=lambda pair: pair[0])
        seen.append(f"the longest took {longest:,.1f} s")
        evidence.append(
            Evidence("longest wait for the NOWAIT lock", longest, so_far(g), g.source, limits.stall_seconds)
        )
    per, more, expects = _cost(found)
    costs = _costs(limits, total(groups), [seconds for seconds, _ in lengths], worst, hours)
    return Finding(
        subject=one.subject,
        severity=Severity.ADVICE if costs else Severity.NOTE,
        title="NOWAIT transactions wait for carry-over locks to be given up",
        seen=f"Carry-over locks are enabled, and requests for the NOWAIT lock wait: {', '.join(seen)}.",
        because=(
            "A NOWAIT transaction needs that lock first, and all others then give up what they carried over, which "
            "takes as long as their longest verb."
        ),
        do=f"{DISABLE} The price: {PRICE}{per}."
        if costs
        else f"{NOTHING}so few waits are not worth that {PRICE}{per}.",
        unknown=joined(
            "" if per else "How many that is now, Locking (area locks) beside Summary IO tells.",
            caveats(one, worst[1] if worst else None),
        ),
        evidence=(*evidence, *more),
        changes=(alter("carry_over_locks", place_of(facts, one), "ENABLED", "DISABLED", cautions=COST),)
        if costs
        else (),
        explains=tuple(dict.fromkeys(_explains(limits, waits, groups, worst, found if costs else []))),
        expects=(
            Expectation("stalled NOWAIT locks (/s)", round(worst[0].per_second, 2), "lower", "heuristic")
            if worst
            else Expectation("waits for the NOWAIT lock", seen[0], "fewer", "heuristic"),
            *expects,
        ),
    )


def _explains(
    limits: Limits,
    waits: Waits,
    groups: list[WaitGroup],
    worst: tuple[Stalled, Statistics] | None,
    found: list[Statistics],
) -> Iterator[str]:
    """The rules whose findings these waits cause.

    Where most wait for the NOWAIT lock (by its screen, else by a log) blocking ASTs of area locks are those that give
    up what was carried over. `found`: empty where the waits are too few to be the cause.
    """
    if worst and not worst[0].source.tentative:
        by_nowait = explained(worst[1], ("nowait",), limits.main_percent)
        yield from by_nowait
        if STALLED in by_nowait and BLASTED in explained(worst[1], ("nowait", "area"), limits.main_percent):
            yield BLASTED
    if not found or not groups:
        return
    if 100 * total(groups) < limits.main_percent * total(waits.of([groups[0].kind])):
        return
    yield STALLED
    if any(BLASTED in explained(each, ("nowait", "area"), limits.main_percent) for each in found if not worst):
        yield BLASTED


def _costs(
    limits: Limits,
    events: int,
    lengths: list[float],
    worst: tuple[Stalled, Statistics] | None,
    hours: float | None,
) -> bool:
    """Whether NOWAIT transactions wait so often, or so long, that the locks of all others may pay for it."""
    if worst and waits_matter(worst[1], worst[0].per_second, limits.stalled_per_second, "nowait"):
        return True
    rare = hours is not None and events / hours < limits.events_per_hour
    return not rare and (events >= limits.events or max(lengths, default=0.0) >= limits.one_seconds)


def _cost(found: list[Statistics]) -> tuple[str, tuple[Evidence, ...], tuple[Expectation, ...]]:
    """The area locks that are requested now, of which disabling them makes more."""
    rows: list[tuple[Rate, float]] = [
        (rate, per) for rate, each in of_each_node(found, _areas) if (per := per_transaction(each, [rate])) is not None
    ]
    if not rows:
        return "", (), ()
    rate, per = max(rows, key=lambda pair: pair[0].per_second)
    return (
        f"; now it asks for {rounded(per)} area locks",
        (Evidence(EACH, round(per, 2), "", rate.source),),
        (Expectation(EACH, round(per, 2), "higher", "heuristic"),),
    )
