"""A page that another process waits for goes over the disk.

Finds: on one node, what it costs that pages are transferred via disk: page locks that a holder is asked to give up
(blocking ASTs), pages written for it, and how many processes wait for page locks; and page transfer via memory that is
set without what it needs, so that Rdb uses the disk all the same.

Why it matters: with transfer via disk a process must write a changed page before another may have it; via memory they
share it in global buffers (Oracle Rdb SQL Reference Manual). The holder keeps its page lock while it writes.

What to do: after-image journaling, fast commit, one cluster node, global buffers, then PAGE TRANSFER VIA MEMORY, in
this order, with the database closed and after a full backup.

When to ignore it: where users attach from several nodes: it works on one alone. Where pages are rarely wanted by two
processes, nothing is gained, and a longer recovery and much memory are the price. With page level locking the holder
keeps the page until it commits, whichever way the page is passed on.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from collectors.facts import Facts
from collectors.facts.rdb import Database, StatisticRow
from rules.engine import limit, percent, rule
from rules.finding import (
    Clean,
    Evidence,
    Expectation,
    Finding,
    MissingInput,
    NotApplicable,
    Outcome,
    Severity,
    Unknown,
    joined,
)
from rules.rdb._evidence.counted import (
    BLASTS,
    COUNTED_FACTS,
    HUNDREDTHS,
    ONE_WAITS,
    PROMOTED,
    WAITING,
    AskedBack,
    Stalled,
    TypeWaits,
    asked_back,
    caveats,
    counted,
    explained,
    of_each_node,
    on_node,
    quiet,
    rounded,
    shown,
    stalled_of,
    waiting_of,
    waits_for,
    waits_matter,
)
from rules.rdb._evidence.databases import OneDatabase, Read, databases
from rules.rdb._evidence.limits import least
from rules.rdb._evidence.prerequisites import (
    buffers_needed,
    changes_of,
    changes_to,
    evidence_of,
    listed,
    moved,
    never,
    page_level,
    steps_to,
    unmet,
    unsure,
)
from rules.rdb._evidence.statistics import LEAST_COUNTED, Rate, Statistics

LINKS = (
    "https://uprrp2.uprrp.edu/conan/sys$common/syshlp/SQL$HELP72.HLB?key=ALTER~DATABASE~Arguments~PAGE_TRANSFER",
    "https://docs.oracle.com/cd/F25597_01/document/products/rdb/720/E06178-01/sql_p079.htm",
    "https://uprrp2.uprrp.edu/help/sys$common/syshlp/rmudisplay72.hlb?key=Overview~Fields~PIO_Statistics__Data_Writes_screen",
)
OF_ASKED = "blocking ASTs of page locks requested and promoted"
PASSED_ON = "unmark buffer: blocking ast"
"""Each modified buffer that is written because another user wants a page in it (vendor: help on that screen)."""
COUNTED_BY = MissingInput(
    "how many pages are written because another process wants them",
    "a write (key W) of the RMU/SHOW STATISTICS screen PIO Statistics--Data Writes (line blocking AST), after some "
    "minutes of typical load, twice",
)
PRICE = "It needs memory for global buffers and makes recovery longer."
WRITES = "the screen Summary IO has {:g} synch data writes/s or more, and {:g} % of these blocking ASTs"
WRITTEN = "A page that another process wants is written before it may have it; via memory it need not be."
HARDLY = "Nothing is set here: hardly a request for a page was seen to wait."
UNSEEN = "Nothing is set here: whether requests for pages wait is not in the export."
FEW = (
    "Nothing is set here: at most {} % of the pages that are asked back can have been written for it, so the waits are "
    "hardly for the disk."
)
HELD = (
    "Nothing is set here, as locking is at page level {}: a holder keeps such a page until it commits, so via memory "
    "the others would wait as long. See which pages have lock waits."
)
STALLS = MissingInput(
    "how long requests for page locks wait (the screen Locking (page locks))", StatisticRow.COLLECTED_BY
)


@dataclass(frozen=True)
class Limits:
    """From where on passing pages on costs enough. No vendor names a figure."""

    blasts_percent: float = percent(
        10.0,
        (
            "this project: a tenth of the page locks is wanted by another process, so they are reported although "
            "nobody waits long; no vendor names a limit"
        ),
        low=0.1,
        of="page locks requested and promoted",
    )
    blasts_per_second: float = least(10.0, "blocking ASTs/s")
    stalled_per_second: float = limit(
        1.0, "this project: where fewer requests for pages are seen to wait it is a note", unit="stalled pages/s"
    )
    writes_per_second: float = limit(
        10.0, "this project: fewer pages written for it leave little to gain", unit="pages or data writes/s"
    )
    writes_percent: float = limit(
        10.0,
        "this project: where fewer than one page in ten that is asked back can have been written for it, the waits are "
        "not for the disk; no vendor names a limit",
        high=100,
        unit="pages or data writes as % of blocking ASTs on page locks",
    )
    main_percent: float = percent(
        50.0, "this project: from here on most of what is asked back, or waited for, is pages", low=1
    )


@rule(needs=(Database,), uses=COUNTED_FACTS, links=LINKS, limits=Limits, sample=LEAST_COUNTED)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Judge each database."""
    for one in databases(facts):
        yield from _judge(facts, one, limits)


def _judge(facts: Facts, one: OneDatabase, limits: Limits) -> Iterator[Outcome]:
    transfer = one.read("page_transfer")
    if transfer is None:
        yield Unknown.without("page transfer via disk or memory", Database.COLLECTED_BY, one.subject)
        return
    if why := never(one):
        yield NotApplicable(f"{one.subject}: page transfer via memory is out of the question: {why}")
        return
    if str(transfer.value).lower() == "memory":
        yield from _set_already(facts, one, transfer, limits)
        return
    found, refused = counted(facts, one)
    judged = of_each_node(found, _figures)
    if not judged and refused:
        yield refused
        return
    if not judged:
        bring = "blocking ASTs of page locks, and synchronous data writes"
        yield from _unwritten(facts, one, limits, transfer, found)
        yield Unknown.without(bring, StatisticRow.COLLECTED_BY, f"{one.subject}: transfer via disk, the default")
        return
    for (blasts, writes), each in judged:
        outcome = _of_node(facts, one, limits, transfer, blasts, writes, each)
        yield outcome
        if isinstance(outcome, Finding):
            if lacking := unsure(steps_to("page_transfer", facts, one)):
                yield Unknown(tuple(lacking))
            return


def _unwritten(
    facts: Facts, one: OneDatabase, limits: Limits, transfer: Read, found: list[Statistics]
) -> Iterator[Finding]:
    """Where all that it needs is there and processes wait for pages, but what is written for them was not counted.

    Transfer via memory spares nothing of a page that its holder did not change, so the writes are to be seen first.
    """
    steps = steps_to("page_transfer", facts, one)
    crowds = of_each_node(found, lambda each: waits_for(each, "page"))
    crowd, each = max(crowds, key=lambda pair: pair[0].processes, default=(None, None))
    blasts = each.rate(BLASTS, "page") if each else None
    if crowd is None or each is None or blasts is None or crowd.processes < ONE_WAITS:
        return
    if blasts.per_second < limits.blasts_per_second or unmet(steps) or unsure(steps) or page_level(one):
        return
    yield Finding(
        subject=one.subject,
        severity=Severity.ADVICE,
        title=f"{blasts.per_second:,.0f} page locks per second are wanted by another process, and transfer is via disk",
        seen=f"{rounded(blasts.per_second)} blocking ASTs/s on page locks{on_node(each)}, and "
        f"{rounded(crowd.processes)} processes wait for one at any moment{crowd.said}.",
        because=f"{WRITTEN} All that this needs is there.",
        do=f"See whether {WRITES.format(limits.writes_per_second, limits.writes_percent)}: then set PAGE TRANSFER VIA "
        f"from DISK to MEMORY, with the database closed and after a full backup. {PRICE}",
        unknown=joined("How many pages are written for it is not in the export.", moved(one), caveats(one, each)),
        evidence=(
            Evidence("page transfer", str(transfer.value), "", transfer.source),
            *shown("blocking ASTs on page locks", blasts, limits.blasts_per_second),
            Evidence("processes that wait for a page lock", round(crowd.processes, 2), "", crowd.source, ONE_WAITS),
        ),
        explains=explained(each, ("page",), limits.main_percent) if not blasts.source.tentative else (),
        changes=changes_to(
            "page_transfer",
            facts,
            one,
            "DISK",
            "MEMORY",
            only=f"when {WRITES.format(limits.writes_per_second, limits.writes_percent)}",
        ),
        expects=(Expectation("blocking ASTs on page locks (/s)", round(blasts.per_second, 1), "lower", "heuristic"),),
    )


def _of_node(
    facts: Facts, one: OneDatabase, limits: Limits, transfer: Read, blasts: Rate, writes: Rate, each: Statistics
) -> Outcome:
    """Judge by what it costs: a share alone neither accuses nor acquits, for page locks are many."""
    back, stalled = asked_back(each, "page"), stalled_of(each, "page")
    many = back is not None and back.least >= limits.blasts_percent
    few_asked = back is not None and back.most < limits.blasts_percent
    counted_ones = each.rate(PASSED_ON)
    waiting = waiting_of(each, "page")
    costs = waits_matter(each, stalled.per_second if stalled else None, limits.stalled_per_second, "page")
    crowd = _inferred(each)
    costs = costs or (crowd is not None and crowd.processes >= ONE_WAITS)
    share = f" ({back.said} of those requested and promoted)" if back else ""
    figures = (
        f"{rounded(blasts.per_second)} blocking ASTs/s on page locks{share} and {rounded(writes.per_second)} "
        f"{_named(counted_ones)}/s"
    )
    unseen = "" if waiting or crowd else ", waits for page locks not in the export"
    waits = f", {rounded(stalled.per_second)} stalled page locks/s" if stalled else unseen
    waits += f", {rounded(waiting.per_second / HUNDREDTHS)} processes wait for one at any moment" if waiting else ""
    waits += f", {rounded(crowd.processes)} processes wait for one at any moment{crowd.said}" if crowd else ""
    start = f"{one.subject}: transfer via disk, and {figures}{waits}"
    few = blasts.per_second < limits.blasts_per_second or writes.per_second < limits.writes_per_second
    if few or (stalled and not costs and few_asked):
        return quiet(
            f"{start}; limits {limits.blasts_per_second:g} blocking ASTs/s and {limits.writes_per_second:g} writes/s, "
            f"where {limits.stalled_per_second:g}/s stall and {WAITING:g} of a process waits, or where the share is "
            f"{limits.blasts_percent:g} % (this project's)",
            each,
        )
    if not many and not stalled and not costs:
        return Unknown((STALLS,), start)
    if stalled and not costs and not many:
        return Unknown((PROMOTED,), start)
    if not counted_ones and (apart := one.another_time):
        why = f"{start}; whether fast commit was enabled at that time is not known ({apart}), without it each commit"
        return Unknown((COUNTED_BY,), f"{why} writes its pages, too")
    if not many and not counted_ones and one.is_on("fast_commit") is not True:
        return Unknown((COUNTED_BY,), f"{start}; without fast commit each commit writes its pages, too")
    return _finding(facts, one, limits, transfer, (blasts, writes, back, figures + waits), stalled, costs, each)


def _inferred(each: Statistics) -> TypeWaits | None:
    """How many wait for a page lock, where neither their time nor how many stall is there, but tells of all."""
    if stalled_of(each, "page") or waiting_of(each, "page"):
        return None
    return waits_for(each, "page")


def _named(passed_on: Rate | None) -> str:
    return "pages written because another process wants them" if passed_on else "synchronous data writes"


def _figures(each: Statistics) -> tuple[Rate, Rate] | None:
    """Blocking ASTs of page locks, and pages written for them, where both were counted.

    At most that many are written for them as are written with the process waiting.
    """
    blasts, writes = each.rate("blocking asts", "page"), each.rate(PASSED_ON) or each.rate("synch data writes")
    return (blasts, writes) if blasts and writes else None


def _set_already(facts: Facts, one: OneDatabase, transfer: Read, limits: Limits) -> Iterator[Outcome]:
    """Set to memory: in use only with all prerequisites."""
    steps = steps_to("page_transfer", facts, one)
    missing, lacking = unmet(steps), unsure(steps)
    if missing:
        passed = next(
            (
                (rates, each)
                for rates, each in of_each_node(counted(facts, one)[0], _figures)
                if rates[0].per_second >= limits.blasts_per_second and rates[1].per_second >= limits.writes_per_second
            ),
            None,
        )
        figures = (
            f"{rounded(passed[0][0].per_second)} blocking ASTs/s on page locks and "
            f"{rounded(passed[0][1].per_second)} {_named(passed[1].rate(PASSED_ON))}/s{on_node(passed[1])}."
            if passed
            else ""
        )
        yield Finding(
            subject=one.subject,
            severity=Severity.ADVICE,
            title="page transfer via memory is set, but pages still go over the disk",
            seen=joined(f"Missing: {listed(missing)}.", figures),
            because="Without all of these Rdb transfers pages via disk, whatever is set.",
            do=joined(
                "Make what is missing in this order, with the database closed and after a full backup.",
                buffers_needed(facts, one) if any(step.clause == "global_buffers" for step in missing) else "",
            ),
            evidence=(
                Evidence("page transfer", "memory", "", transfer.source),
                *evidence_of(missing),
                *(shown("blocking ASTs on page locks", passed[0][0], limits.blasts_per_second) if passed else ()),
            ),
            changes=changes_of("page_transfer", facts, one),
            explains=explained(passed[1], ("page",), limits.main_percent)
            if passed and not passed[0][0].source.tentative
            else (),
        )
    elif not lacking:
        yield Clean(f"{one.subject}: page transfer via memory, with all that it needs{one.read_apart}")
    if lacking:
        yield Unknown(tuple(lacking), f"{one.subject}: page transfer via memory is set")


def _why_nothing(held: str, few: bool, part: float, waits: Stalled | Rate | TypeWaits | None) -> str:
    """Why nothing is set; `waits`: what was counted of those for pages."""
    if held:
        return HELD.format(held)
    return FEW.format(rounded(part)) if few else HARDLY if waits else UNSEEN


def _finding(
    facts: Facts,
    one: OneDatabase,
    limits: Limits,
    transfer: Read,
    found: tuple[Rate, Rate, AskedBack | None, str],
    stalled: Stalled | None,
    waited: bool,
    each: Statistics,
) -> Finding:
    blasts, writes, back, figures = found
    held = page_level(one)
    part = min(100.0, 100 * writes.per_second / blasts.per_second)  # other writes are among them, so there may be more
    few = part < limits.writes_percent
    costs = waited and not held and not few
    missing = unmet(steps_to("page_transfer", facts, one))
    first = f"make what is missing in this order: {listed(missing)}; then " if missing else ""
    do = f"With the database closed and after a full backup {first}set PAGE TRANSFER VIA from DISK to MEMORY. {PRICE}"
    waiters, crowd = [], _inferred(each)
    if waiting := waiting_of(each, "page"):
        processes = round(waiting.per_second / HUNDREDTHS, 2)
        waiters.append(Evidence("processes that wait for a page lock", processes, "", waiting.source, WAITING))
    elif crowd:
        many = round(crowd.processes, 2)
        waiters.append(Evidence("processes that wait for a page lock", many, "", crowd.source, ONE_WAITS, "inferred"))
    return Finding(
        subject=one.subject,
        severity=Severity.ADVICE if costs else Severity.NOTE,
        title=f"{blasts.per_second:,.0f} page locks per second are wanted by another process, pages go over disk",
        seen=f"{figures}.",
        because=WRITTEN,
        do=do if costs else _why_nothing(held, few, part, stalled or waiting or crowd),
        unknown=joined(moved(one), caveats(one, each)),
        evidence=(
            Evidence("page transfer", str(transfer.value), "", transfer.source),
            *shown("blocking ASTs on page locks", blasts, limits.blasts_per_second),
            *((back.evidence(OF_ASKED, limits.blasts_percent),) if back else ()),
            *shown(_named(each.rate(PASSED_ON)), writes, limits.writes_per_second),
            Evidence("those of the blocking ASTs, at most", round(part, 1), "%", writes.source, limits.writes_percent),
            *shown("stalled page locks", stalled, limits.stalled_per_second),
            *waiters,
            *evidence_of(missing),
        ),
        explains=explained(each, ("page",), limits.main_percent) if costs and not blasts.source.tentative else (),
        changes=changes_to("page_transfer", facts, one, "DISK", "MEMORY") if costs else (),
        expects=(
            Expectation(f"{_named(each.rate(PASSED_ON))} (/s)", round(writes.per_second, 1), "lower", "heuristic"),
        ),
    )
