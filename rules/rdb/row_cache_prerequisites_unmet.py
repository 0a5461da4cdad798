"""Row caches are enabled, but what they need is missing.

Finds: a database whose row caches are enabled or defined while none is active, and the prerequisites that the header
shows to be missing: after-image journaling, fast commit, one cluster node, a reserved slot.

Why it matters: Rdb accepts the setting and goes on without row caches. Whoever enabled them believes they are in use,
and measures page locks that they were meant to take away.

What to do: make what is missing in its order, with the database closed and after a full backup; or disable row caches
where users attach from several nodes, for there they can never become active.

When to ignore it: where row caches were switched off on purpose for a time. `WARNING:` lines alone are no finding: a
header prints them for every database that was never meant to have a row cache.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from collectors.facts import Facts
from collectors.facts.rdb import Database
from rules.engine import rule
from rules.finding import Clean, Evidence, Finding, NotApplicable, Outcome, Severity, Unknown, Untrusted, joined
from rules.rdb._evidence.databases import DATABASE_FACTS, OneDatabase, Read, databases
from rules.rdb._evidence.prerequisites import (
    Step,
    changes_of,
    evidence_of,
    listed,
    moved,
    never,
    not_by_page,
    steps_to,
    unmet,
    unsure,
    warned,
)
from rules.rdb._evidence.sharing import SHARING_FACTS

LINKS = ("https://docs.oracle.com/cd/F25597_01/document/products/rdb/720/E06178-01/sql_p080.htm",)


@dataclass(frozen=True)
class Limits:
    """There is nothing to judge by: a prerequisite is met or it is not."""


@rule(needs=(Database,), uses=(*DATABASE_FACTS, *SHARING_FACTS), links=LINKS, limits=Limits)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Judge each database."""
    for one in databases(facts):
        yield from _judge(facts, one)


def _judge(facts: Facts, one: OneDatabase) -> Iterator[Outcome]:
    enabled, active = one.read("row_cache_enabled"), one.figure("active_row_caches")
    wanted = enabled if enabled and enabled.value else None
    if wanted is None and one.caches:
        wanted = Read(True, one.caches[0].source)
    if wanted is None and active:
        wanted = one.read("active_row_caches")
    if wanted is None:
        if enabled is None and active is None:
            yield Unknown.without("whether row caches are enabled", Database.COLLECTED_BY, one.subject)
            return
        yield NotApplicable(f"{one.subject}: row caches are not enabled and none is defined")
        return
    steps = steps_to("row_cache", facts, one)
    missing, lacking = unmet(steps), unsure(steps)
    impossible = "" if one.one_instance else never(one)
    if active and not (missing and warned(one)) and not impossible:
        if missing:
            yield Untrusted(
                f"{one.subject}: active row caches: {active:g}, yet the export shows {listed(missing)}, and one "
                "excludes the other: collect a new header, dumped while the database is open"
            )
            return
        yield Clean(f"{one.subject}: active row caches: {active:g}{one.read_apart}")
        return
    if missing or impossible:
        yield _finding(facts, one, missing, wanted, impossible)
    elif not lacking:
        yield Clean(f"{one.subject}: all prerequisites are met ({listed(steps)})")
    if lacking:
        yield Unknown(tuple(lacking))


def _finding(facts: Facts, one: OneDatabase, missing: list[Step], wanted: Read, impossible: str) -> Finding:
    active = one.figure("active_row_caches")
    by_page, row_level = ("", "") if impossible else not_by_page(one)
    lacking = f"Missing: {listed(missing)}." if missing else ""
    none = (
        f"the header counts {active:g} as active, which seems to mean defined, as it does of storage areas"
        if active
        else "none is active"
    )
    if impossible:
        because = f"None can become active as things are: {impossible}."
        do = "Disable them, or let all users attach on one node first."
    else:
        because = "Rdb accepts the setting and goes on without row caches until all of these are there."
        do = "Make what is missing in this order, with the database closed and after a full backup"
        do += (
            ", or disable row caches."
            if one.caches or active
            else (
                " and together with a cache to add (ADD CACHE, by table or area), or disable row caches: no cache is "
                "defined, so the database is not to be closed for these alone."
            )
        )
    return Finding(
        subject=one.subject,
        severity=Severity.ADVICE,
        title=(
            f"row caches are wanted, but {' and '.join(step.label for step in missing)} "
            f"{'is' if len(missing) == 1 else 'are'} missing"
            if missing
            else "row caches are wanted where none can be active"
        ),
        seen=joined(f"Row caches are enabled or defined and {none}.", lacking),
        because=joined(because, by_page),
        do=joined(do, row_level),
        unknown=moved(one),
        evidence=(Evidence("row caches wanted", "yes", "", wanted.source), *evidence_of(missing)),
        changes=() if impossible else changes_of("row_cache", facts, one),
    )
