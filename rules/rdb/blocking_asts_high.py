"""Many lock requests make a holder give up its lock.

Finds: blocking ASTs ("blasts") as a share of the locks requested and promoted, per second and for each transaction, in
all and by lock type.

Why it matters: a blocking AST goes to the holder of a lock that another process wants. The help of RMU/SHOW STATISTICS
calls them a good indication of contention, and names no limit: those here are this project's. Each costs the holder an
interruption and a demotion, and both processes one more lock operation.

What to do: the lock type decides. Page locks: row caches, page transfer via memory. Record locks: adjustable lock
granularity. Area locks: carry-over locks. SEQBLK and TSNBLK: commit to journal. Then count again.

When to ignore it: where requests do not stall and response is good: a lock that its holder gives up at once costs
little. Carry-over locks are given up by blocking ASTs by design; where one process follows another through the same
areas that is cheaper than to ask for them in every transaction.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from collectors.facts import Facts
from collectors.facts.rdb import StatisticRow
from rules.engine import limit, percent, rule
from rules.finding import Evidence, Expectation, Finding, MissingInput, Outcome, Severity, Unknown, joined
from rules.rdb._evidence.counted import (
    BLASTS,
    COUNTED_FACTS,
    PROMOTED,
    AskedBack,
    Stalled,
    asked_back,
    averaged,
    counted,
    of_each_node,
    on_node,
    per_transaction,
    quiet,
    rounded,
    shown,
    stalled_of,
    waits_matter,
)
from rules.rdb._evidence.databases import OneDatabase, databases
from rules.rdb._evidence.extents import of_extents
from rules.rdb._evidence.hot_pages import hot_page
from rules.rdb._evidence.limits import least
from rules.rdb._evidence.prerequisites import active_caches, listed, never, page_level, set_in_vain
from rules.rdb._evidence.statistics import LEAST_COUNTED, Rate, Statistics
from rules.rdb._evidence.waiting_types import NOWHERE, aij_of, log_server, no_log_server, startup
from rules.rdb._evidence.waits import WAIT_FACTS, waits_of

LINKS = ("https://uprrp2.uprrp.edu/help/sys$common/syshlp/rmudisplay72.hlb?key=Overview~Fields",)
MEANING = (
    "A blocking AST interrupts the holder of a lock that another process wants: the vendor calls many of them a good "
    "indication of contention and names no limit, so the limits are this project's."
)
MODES = "see which transactions reserve them in a protected or exclusive mode"
ROOT = "Commits queue for the root file: see whether commit to journal is on (rdb/root_file_locks_hot)."
REMEDY = {
    "record": "Several processes want the same rows, or levels of adjustable lock granularity above them: see whether "
    "that setting suits the work (rdb/record_granularity).",
    "area": f"Processes give up storage areas to each other: {MODES}, and whether carry-over locks suit the work "
    "(rdb/carry_over_locks).",
    "logical area": f"Processes give up tables to each other: {MODES}.",
    "nowait": "NOWAIT transactions make all others give up the locks that they carried over: see rdb/carry_over_locks.",
    "seqblk": ROOT,
    "tsnblk": ROOT,
}
PAGES = "Pages pass from process to process"
CACHES = "row caches keep rows off pages (rdb/row_cache_missing)"
MEMORY = "page transfer via memory passes them on without a write (rdb/page_transfer_via_disk)"
SET_IN_VAIN = "page transfer via memory is set and needs {} first (rdb/page_transfer_via_disk)."
BY_PAGE = (
    "Locking is at page level {}, where a page lock is held to the end of the transaction: if processes wait for them, "
    "LOCKING IS ROW LEVEL comes first there (more locks)."
)
"""Page level is not for areas where page conflicts show: knowledge/rdb-rules.md, section 2."""
FEW = "Few requests were seen to stall, or only briefly: holders give up at once, so this is a note."
UNSEEN = "Whether requests stall is not in the export, so this is a note: Summary Locking Statistics shows it."
COLLECTED_BY = MissingInput(
    "blocking ASTs beside the locks requested and promoted, in all and by lock type", StatisticRow.COLLECTED_BY
)


@dataclass(frozen=True)
class Limits:
    """From where on they are many. The vendor names no limit, so all are this project's and may be set."""

    blasts_percent: float = percent(
        10.0,
        "this project: one request in ten disturbs a holder; the vendor names no limit",
        low=0.1,
        of="locks requested and promoted",
    )
    blasts_per_second: float = least(50.0, "blocking ASTs/s")
    stalled_per_second: float = limit(
        1.0, "this project: fewer requests that stall get a note alone", unit="stalled requests/s"
    )
    main_percent: float = percent(
        50.0, "this project: from here on one lock type has more than all others together", low=1, of="blocking ASTs"
    )


@dataclass(frozen=True)
class Blasts:
    """The blocking ASTs of one lock type, or of all."""

    lock_type: str
    rate: Rate
    back: AskedBack | None
    """Of the locks requested and promoted; `None`: not in the export."""
    each: Statistics

    @property
    def named(self) -> str:
        """For a sentence."""
        return "all" if self.lock_type == "total" else self.lock_type

    @property
    def part(self) -> str:
        """Its share of those requested and promoted, for a sentence; empty where it is not known."""
        return self.back.said if self.back else ""

    def is_many(self, limits: Limits) -> bool | None:
        """Whether they are many of those asked for; `None`: not all that it takes was read."""
        if self.rate.per_second < limits.blasts_per_second:
            return False
        if self.back is None or self.back.least < limits.blasts_percent <= self.back.most:
            return None
        return self.back.least >= limits.blasts_percent


@rule(needs=(StatisticRow,), uses=(*COUNTED_FACTS, *WAIT_FACTS), links=LINKS, limits=Limits, sample=LEAST_COUNTED)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Judge each database by the node with most of them."""
    for one in databases(facts, (StatisticRow,)):
        yield _judge(facts, one, limits)


def _judge(facts: Facts, one: OneDatabase, limits: Limits) -> Outcome:
    found, refused = counted(facts, one)
    judged = [blasts for of_node, _ in of_each_node(found, _all) for blasts in of_node]
    if not any(blasts.back for blasts in judged):
        return refused or Unknown((COLLECTED_BY,), one.subject)
    high = [blasts for blasts in judged if blasts.is_many(limits)]
    if not high:
        most = max((blasts for blasts in judged if blasts.back), key=lambda blasts: blasts.rate.per_second)
        if unsure := [blasts for blasts in judged if blasts.is_many(limits) is None and blasts.back]:
            kinds = ", ".join(f"{b.lock_type} {rounded(b.rate.per_second)}/s ({b.part})" for b in unsure)
            return Unknown((PROMOTED,), f"{one.subject}: blocking ASTs of {kinds} of those requested and promoted")
        if all(blasts.lock_type != "total" for blasts in judged):
            types = ", ".join(blasts.lock_type for blasts in judged)
            return Unknown((COLLECTED_BY,), f"{one.subject}: low for {types} locks; others were not written")
        return quiet(
            f"{one.subject}: {most.rate.per_second:,.1f} blocking ASTs/s ({most.lock_type} locks), "
            f"{most.part} of those requested and promoted "
            f"(limits {limits.blasts_per_second:g}/s and {limits.blasts_percent:g} %)",
            most.each,
        )
    worst = max(high, key=lambda blasts: blasts.rate.per_second)
    return _finding(facts, one, limits, worst, worst.back) if worst.back else Unknown((COLLECTED_BY,), one.subject)


def _all(each: Statistics) -> list[Blasts]:
    """Of the total and of each lock type, where blocking ASTs were counted."""
    return [
        Blasts(kind, rate, asked_back(each, kind), each)
        for kind in ("total", *each.lock_types)
        if (rate := each.rate(BLASTS, kind)) is not None
    ]


def _finding(facts: Facts, one: OneDatabase, limits: Limits, worst: Blasts, back: AskedBack) -> Finding:
    each = worst.each
    types = sorted(
        (b for b in _all(each) if b.lock_type != "total"),
        key=lambda blasts: (-blasts.rate.per_second, blasts.lock_type),
    )
    total = next((b for b in _all(each) if b.lock_type == "total"), None)
    whole = max(total.rate.per_second if total else 0.0, types[0].rate.per_second if types else 0.0)
    most = types[0] if types and types[0].rate.per_second >= limits.main_percent / 100 * whole else None
    main = most if worst.lock_type == "total" else worst
    hot = hot_page(waits_of(facts, one)) if main and main.lock_type == "page" and not page_level(one) else None
    area, grows, extents = of_extents(one, waits_of(facts, one)) if main and main.lock_type == "filid" else ("", "", ())
    alone = main is not None and main.lock_type == "aij" and no_log_server(one)
    remedy = (
        hot.do(one)
        if hot
        else grows
        if grows
        else log_server(one)
        if alone
        else _remedy(facts, one, main.lock_type)
        if main
        else "First write the screen Locking (blocking ASTs): the lock type with most of them decides what to change."
        if not types
        else "No lock type has most of them, so no single change reduces them."
    )
    stalls = _stalled(each, main)
    of_type = main.lock_type if main and stalled_of(each, main.lock_type) else "total"
    waits = waits_matter(each, stalls.per_second if stalls else None, limits.stalled_per_second, of_type)
    per = per_transaction(each, [worst.rate])
    said = ", ".join(
        f"{b.lock_type} {rounded(b.rate.per_second)}/s" + (f" ({b.part})" if b.back else "") for b in types[:4]
    )
    each_has = f" and {rounded(per)} for each transaction" if per is not None else ""
    most_are = f", so most are of {main.lock_type} locks" if main and main is most else ""
    named = f"blocking ASTs of {worst.lock_type} locks"
    of_asked = f"{named} requested and promoted"
    kind = "" if worst.lock_type == "total" else f" on {worst.lock_type} locks"
    return Finding(
        subject=one.subject,
        severity=Severity.ADVICE if waits else Severity.NOTE,
        title=(
            (NOWHERE if alone else "")
            + f"{'' if back.exact else 'at least '}{back.least:.0f} % of the lock requests{kind} make a holder give up "
            f"its lock{f'; {hot.said}' if hot else ''}"
            + (f"; storage area {area} is extended again and again" if area else "")
        ),
        seen=joined(
            f"{rounded(worst.rate.per_second)} blocking ASTs/s{kind}{on_node(each)} ({each.over}), "
            f"{back.said} of {worst.named} locks requested and promoted{each_has}.",
            f"By lock type: {said}{most_are}." if said else "",
        ),
        because=joined(MEANING, FEW if stalls and not waits else ""),
        do=remedy,
        unknown=joined("" if waits or stalls else UNSEEN, averaged(each)),
        evidence=(
            *shown(named, worst.rate, limits.blasts_per_second),
            back.evidence(of_asked, limits.blasts_percent),
            *((Evidence("blocking ASTs per transaction", round(per, 2), "", worst.rate.source),) if per else ()),
            *(
                proof
                for b in types[:4]
                if b.lock_type != worst.lock_type
                for proof in shown(f"blocking ASTs of {b.lock_type} locks", b.rate)
            ),
            *shown("stalled", stalls, limits.stalled_per_second),
            *(hot.evidence if hot else ()),
            *extents,
            *(startup(one) if alone else ()),
        ),
        explains=(
            *(("rdb/lock_stalls_long",) if waits and _same_conflicts(each, main, limits) else ()),
            *(("rdb/page_locks_dominate",) if waits and hot else ()),
        ),
        expects=(Expectation(f"{named} (/s)", round(worst.rate.per_second, 1), "lower", "heuristic"),),
        weight=worst.rate.per_second,
    )


def _stalled(each: Statistics, main: Blasts | None) -> Stalled | None:
    """What stalled: of the lock type that has most blocking ASTs, else of all."""
    return (stalled_of(each, main.lock_type) if main else None) or stalled_of(each)


def _same_conflicts(each: Statistics, main: Blasts | None, limits: Limits) -> bool:
    """Whether the lock type with most blocking ASTs has most of what stalled, too: the same conflicts."""
    here = stalled_of(each, main.lock_type) if main else None
    return here is not None and (here.percent or 0.0) >= limits.main_percent and not here.source.tentative


def _remedy(facts: Facts, one: OneDatabase, lock_type: str) -> str:
    """What helps against them, of pages that which is not in force."""
    if lock_type == "aij":
        return f"Processes give up the after-image journal to each other: {aij_of(one)}."
    if lock_type != "page":
        return REMEDY.get(lock_type, f"See what waits for {lock_type} locks before anything is changed.")
    where = page_level(one)
    return joined(_of_pages(facts, one), BY_PAGE.format(where) if where else "")


def _of_pages(facts: Facts, one: OneDatabase) -> str:
    if why := never(one):
        return (
            f"{PAGES}, and neither row caches nor page transfer via memory can be used: {why}. Let the work on one "
            "area meet on one node."
        )
    if missing := set_in_vain(facts, one):
        return f"{PAGES} over the disk: {SET_IN_VAIN.format(listed(missing))}"
    left = [*([] if active_caches(one) else [CACHES]), *([] if one.word("page_transfer") == "memory" else [MEMORY])]
    if left:
        return f"{PAGES}: {', and '.join(left)}."
    return (
        f"{PAGES}, although row caches and page transfer via memory are set: see which tables are in no cache, and let "
        "the work on one table meet in fewer processes."
    )
