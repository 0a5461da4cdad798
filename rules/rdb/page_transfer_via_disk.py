"""A page that another process waits for goes over the disk.

Finds: on one node, how many page locks a holder is asked to give up (blocking ASTs) and how many data pages are written
with the process waiting, where pages are transferred via disk; and page transfer via memory that is set without what it
needs, so that Rdb uses the disk all the same.

Why it matters: with transfer via disk a process must write a changed page before another may have it; via memory they
share it in global buffers (Oracle Rdb SQL Reference Manual). The holder keeps its page lock while it writes.

What to do: after-image journaling, fast commit, one cluster node, global buffers, then PAGE TRANSFER VIA MEMORY, in
this order, with the database closed and after a full backup.

When to ignore it: where users attach from several nodes: it works on one alone. Where pages are rarely wanted by two
processes, nothing is gained, and a longer recovery and much memory are the price.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from collectors.facts import Facts
from collectors.facts.rdb import Database, StatisticRow
from rules.finding import (
    Clean,
    Evidence,
    Expectation,
    Finding,
    Lacking,
    NotApplicable,
    Outcome,
    Severity,
    Unknown,
)
from rules.judging.rdb.counted import (
    Stalled,
    averaged,
    counted,
    of_each_node,
    quiet,
    stalled_of,
    waits_matter,
)
from rules.judging.rdb.databases import READS, OneDatabase, Read, databases
from rules.judging.rdb.prerequisites import (
    changes_of,
    changes_to,
    evidence_of,
    listed,
    moved,
    never,
    steps_to,
    unmet,
    unsure,
)
from rules.judging.rdb.sharing import READS as SHARING
from rules.judging.rdb.statistics import LEAST as LEAST_COUNTED
from rules.judging.rdb.statistics import READS as COUNTED
from rules.judging.rdb.statistics import Rate, Statistics
from rules.kit import limit, rule

LINKS = (
    "https://uprrp2.uprrp.edu/conan/sys$common/syshlp/SQL$HELP72.HLB?key=ALTER~DATABASE~Arguments~PAGE_TRANSFER",
    "https://docs.oracle.com/cd/F25597_01/document/products/rdb/720/E06178-01/sql_p079.htm",
)


@dataclass(frozen=True)
class Limits:
    """From where on pages are passed on often enough. No vendor names a figure."""

    blasts_percent: float = limit(
        10.0,
        "this project: a tenth of the page locks is wanted by another process; no vendor names a limit",
        low=0.1,
        high=100,
        unit="% of page locks requested and promoted",
    )
    blasts_per_second: float = limit(
        10.0, "this project: below this the total is too small to matter", unit="blocking ASTs/s"
    )
    stalled_per_second: float = limit(
        1.0, "this project: where fewer requests for pages are seen to wait it is a note", unit="stalled pages/s"
    )
    writes_per_second: float = limit(
        10.0, "this project: fewer synchronous writes leave little to gain", unit="synchronous data writes/s"
    )


@rule(needs=(Database,), uses=(*READS, *COUNTED, *SHARING), links=LINKS, limits=Limits, sample=LEAST_COUNTED)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Judge each database."""
    for one in databases(facts):
        yield from _judge(facts, one, limits)


def _judge(facts: Facts, one: OneDatabase, limits: Limits) -> Iterator[Outcome]:
    transfer = one.read("page_transfer")
    if transfer is None:
        yield Unknown((Lacking("page transfer via disk or memory", Database.BRING),), one.subject)
        return
    if why := never(one):
        yield NotApplicable(f"{one.subject}: page transfer via memory is out of the question: {why}")
        return
    if str(transfer.value).lower() == "memory":
        yield from _set_already(facts, one, transfer)
        return
    found, refused = counted(facts, one)
    judged = [(blasts, writes, each) for each in of_each_node(found, _has) for blasts, writes in _figures(each)]
    if not judged and refused:
        yield refused
        return
    if not judged:
        bring = "blocking ASTs of page locks, and synchronous data writes"
        yield Unknown((Lacking(bring, StatisticRow.BRING),), f"{one.subject}: transfer via disk, the default")
        return
    for blasts, writes, each in judged:
        asked = each.operations("page", ("locks requested", "locks promoted")) or 0.0
        percent = 100 * blasts.per_second / asked if asked else 0.0
        figures = (
            f"{blasts.per_second:,.1f} blocking ASTs/s on page locks ({percent:.1f} % of those requested and promoted) "
            f"and {writes.per_second:,.1f} synchronous data writes/s"
        )
        if (
            percent < limits.blasts_percent
            or blasts.per_second < limits.blasts_per_second
            or writes.per_second < limits.writes_per_second
        ):
            yield quiet(
                f"{one.subject}: transfer via disk, and {figures}; speaks where all three reach "
                f"{limits.blasts_percent:g} %, {limits.blasts_per_second:g}/s and {limits.writes_per_second:g}/s",
                each,
            )
            continue
        yield _finding(facts, one, limits, transfer, (blasts, writes, percent, figures), stalled_of(each, "page"), each)
        if lacking := unsure(steps_to("page_transfer", one)):
            yield Unknown(tuple(lacking))
        return


def _has(each: Statistics) -> bool:
    return any(True for _ in _figures(each))


def _figures(each: Statistics) -> Iterator[tuple[Rate, Rate]]:
    """Blocking ASTs of page locks, and synchronous data writes, where both were counted."""
    blasts, writes = each.rate("blocking asts", "page"), each.rate("synch data writes")
    if blasts and writes and each.rate("locks requested", "page"):
        yield blasts, writes


def _set_already(facts: Facts, one: OneDatabase, transfer: Read) -> Iterator[Outcome]:
    """Set to memory: in use only with all prerequisites."""
    steps = steps_to("page_transfer", one)
    missing, lacking = unmet(steps), unsure(steps)
    if missing:
        yield Finding(
            subject=one.subject,
            severity=Severity.ADVICE,
            title="page transfer via memory is set, but pages still go over the disk",
            says=(
                f"Missing: {listed(missing)}. Without them Rdb transfers pages via disk, whatever is set. Make them in "
                "this order, each with the database closed and after a full backup."
            ),
            evidence=(Evidence("page transfer", "memory", "", transfer.source), *evidence_of(missing)),
            changes=changes_of("page_transfer", facts, one),
        )
    elif not lacking:
        yield Clean(f"{one.subject}: page transfer via memory, with all that it needs")
    if lacking:
        yield Unknown(tuple(lacking), f"{one.subject}: page transfer via memory is set")


def _finding(
    facts: Facts,
    one: OneDatabase,
    limits: Limits,
    transfer: Read,
    found: tuple[Rate, Rate, float, str],
    stalled: Stalled | None,
    each: Statistics,
) -> Finding:
    blasts, writes, percent, figures = found
    costs = stalled is None or waits_matter(each, stalled.per_second, limits.stalled_per_second, "page")
    missing = unmet(steps_to("page_transfer", one))
    first = f"Missing so far, in the order in which it is made: {listed(missing)}. " if missing else ""
    return Finding(
        subject=one.subject,
        severity=Severity.ADVICE if costs else Severity.NOTE,
        title=f"{blasts.per_second:,.0f} page locks per second are wanted by another process, pages go over disk",
        says=(
            f"{figures}: a page that another process wants is written before it may have it. Via memory it need not. "
            f"{first}It needs memory for global buffers and makes recovery longer.{moved(one)}"
            + ("" if costs else " Hardly a request for a page was seen to wait, so nothing is set here.")
            + averaged(each)
        ),
        evidence=(
            Evidence("page transfer", str(transfer.value), "", transfer.source),
            Evidence(
                *("blocking ASTs on page locks", round(blasts.per_second, 1), "/s"),
                *(blasts.source, limits.blasts_per_second),
            ),
            Evidence(
                *("blocking ASTs of page locks requested and promoted", round(percent, 1), "%"),
                *(blasts.source, limits.blasts_percent),
            ),
            Evidence(
                *("synchronous data writes", round(writes.per_second, 1), "/s"),
                *(writes.source, limits.writes_per_second),
            ),
            *(
                (
                    Evidence(
                        *("stalled page locks", round(stalled.per_second, 1), "/s"),
                        *(stalled.source, limits.stalled_per_second),
                    ),
                )
                if stalled
                else ()
            ),
            *evidence_of(missing),
        ),
        changes=changes_to("page_transfer", facts, one, "DISK", "MEMORY") if costs else (),
        expects=(Expectation("synchronous data writes (/s)", round(writes.per_second, 1), "lower", "heuristic"),),
    )
