"""What takes the page and row locks of SAP ASE, as far as sp_sysmon counts it: where to look when no ratio is due.

Forwarded rows cost two pages and more latches for each read; a log semaphore that is waited for holds locks longer;
many lock requests for each commit are many grabs of the hash table. Only figures of the export are given.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TypeGuard

from collectors.facts import Fact, Facts, Reading, known
from collectors.facts.ase import (
    LockEvents,
    LockSummary,
    RowsAffected,
    RowsChanged,
    SemaphoreRequests,
    SysmonSample,
    TaskSwitches,
)
from rules.finding import Evidence, capitalized
from rules.laws.rounding import plain

WORK_FACTS: tuple[type[Fact], ...] = (
    LockEvents,
    LockSummary,
    RowsAffected,
    RowsChanged,
    SemaphoreRequests,
    SysmonSample,
    TaskSwitches,
)
FORWARDED = "DOL Expand & Forward"
LOG_SWITCHES = "Log Semaphore Contention"
COLLECTED_BY = "Collect sp_sysmon of the same minutes: nothing in the export says what takes the locks."


@dataclass(frozen=True)
class Look:
    """One thing to look at: what was counted and what to do about it, as clauses, and the proof."""

    seen: str
    do: str
    evidence: tuple[Evidence, ...]


def seen_of(looks: Iterable[Look]) -> str:
    """What was counted, as a sentence."""
    return _sentence(one.seen for one in looks)


def do_of(looks: Iterable[Look]) -> str:
    """What to do about it, as a sentence."""
    return _sentence(one.do for one in looks)


def _sentence(clauses: Iterable[str]) -> str:
    said = "; ".join(clause for clause in clauses if clause)
    return f"{capitalized(said)}." if said else ""


def looks(facts: Facts) -> list[Look]:
    """Everything the export shows of what takes locks, in the order in which to look at it."""
    return [*_forwarded(facts), *_log(facts), *_requests(facts), *_promotions(facts)]


def _forwarded(facts: Facts) -> Iterator[Look]:
    rows = [one for one in facts.every(RowsChanged) if one.way == FORWARDED and _above_zero(one.count)]
    if not rows:
        return
    count = sum(one.count for one in rows if known(one.count))
    updates = facts.latest(RowsAffected, operation="Data Only Locked Updates")
    share = ""
    if updates and known(updates.count) and updates.count >= count:
        share = f", {100.0 * count / updates.count:.1f} % of the updates of data-only-locked tables"
    rate = sum(one.per_second for one in rows if known(one.per_second))
    proof = tuple(Evidence("rows forwarded", one.count, "", one.source) for one in rows if known(one.count))
    said = f"{count:,.0f} rows were forwarded ({plain(rate, 3)}/s{share})"
    yield Look(said, "set exp_row_size and run reorg forwarded_rows", proof)


def _log(facts: Facts) -> Iterator[Look]:
    switches = facts.latest(TaskSwitches, cause=LOG_SWITCHES)
    if switches and _above_zero(switches.percent):
        said = f"the log semaphore makes {switches.percent:g} % of the task switches, with locks held"
        yield Look(said, "", (Evidence("task switches for the log semaphore", switches.percent, "%", switches.source),))
    log = facts.latest(SemaphoreRequests, name="Log")
    if log and _above_zero(log.waited_percent):
        said = f"{log.waited_percent:g} % of the requests for the log semaphore waited"
        yield Look(said, "", (Evidence("log semaphore requests that waited", log.waited_percent, "%", log.source),))


def _requests(facts: Facts) -> Iterator[Look]:
    locks, sample = facts.latest(LockSummary), facts.latest(SysmonSample)
    if locks is None or sample is None or not _above_zero(locks.requests) or not _above_zero(sample.committed_xacts):
        return
    each = locks.requests / sample.committed_xacts
    fewer = (
        "shorten transactions or lower the isolation level, to ask for fewer locks; promote locks earlier only where a "
        "table lock blocks nobody"
    )
    yield Look(
        f"each commit asks for {each:,.0f} locks",
        fewer,
        (Evidence("lock requests per commit", round(each, 1), "", locks.source),),
    )


def _promotions(facts: Facts) -> Iterator[Look]:
    totals = [one for one in facts.every(LockEvents) if one.event == "promotion"]
    rows = [one for one in totals if not one.kind.startswith("Total")] or totals
    counted = [one for one in rows if known(one.count)]
    if counted:
        count = sum(one.count for one in counted if known(one.count))
        if not count:
            return
        evidence = tuple(Evidence(one.kind, one.count, "", one.source) for one in counted if known(one.count))
        yield Look(f"{count:,.0f} lock promotions were counted", "", evidence)


def _above_zero(figure: Reading) -> TypeGuard[float]:
    return known(figure) and figure > 0
