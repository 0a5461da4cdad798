"""Commits queue for the root file: SEQBLK and TSNBLK locks.

Finds: locks on the transaction sequence numbers (SEQBLK) and on the transaction blocks (TSNBLK) as a share of all lock
operations, or of all requests that stall. It is advice where requests wait for them, or where commit to journal is off
and the commits write the root file so often that this is a load by itself; else a note.

Why it matters: without commit to journal each transaction takes its sequence number from the root file, one at a time,
and writes its end there. With it, each user gets a range of numbers beforehand and commit information goes to the
journal (Oracle Rdb, help on ALTER DATABASE).

What to do: enable COMMIT TO JOURNAL OPTIMIZATION, after after-image journaling and fast commit, closed and after a full
backup. Where it is on: a larger TRANSACTION INTERVAL for few users or long sessions, a smaller one for many users or
short sessions (8 to 1024, default 256). Where they are most of all locks, nobody waits for them, and the exports prove
that one node alone has a database open that is declared for more: NUMBER OF CLUSTER NODES 1.

When to ignore it: where transactions are tiny these locks are most of the little that each one takes: commit less often
first. Where the root file is neither waited for nor written much, a share alone costs little.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from collectors.facts import Facts
from collectors.facts.rdb import Database, LogicalName, StatisticRow
from rules.changes.rdb_database import alter, key_of
from rules.engine import limit, percent, rule
from rules.finding import Change, Evidence, Expectation, Finding, MissingInput, Outcome, Severity, Unknown, joined
from rules.rdb._evidence.counted import (
    COUNTED_FACTS,
    caveats,
    counted,
    explained,
    of_each_node,
    on_node,
    per_transaction,
    quiet,
    rounded,
)
from rules.rdb._evidence.databases import OneDatabase, Read, databases
from rules.rdb._evidence.prerequisites import (
    change_nodes,
    changes_to,
    evidence_of,
    listed,
    place_of,
    steps_to,
    unmet,
)
from rules.rdb._evidence.prestarted import switched_off
from rules.rdb._evidence.root_file import (
    ROOT,
    Hot,
    RootLimits,
    asked_each,
    figures_of,
    hot_of,
    over,
    root_io,
    telling,
    waited_for,
)
from rules.rdb._evidence.sharing import open_elsewhere
from rules.rdb._evidence.statistics import LEAST_COUNTED, Statistics, attached

LINKS = (
    "https://uprrp2.uprrp.edu/conan/sys$common/syshlp/SQL$HELP72.HLB?key=ALTER~DATABASE~Arguments~TRANSACTION_INTERVAL",
    "https://docs.oracle.com/cd/F25597_01/document/products/rdb/720/E06178-01/sql_p060.htm",
    "https://docs.oracle.com/cd/F25597_01/document/products/rdb/720/E06178-01/sql_p079.htm",
)
LEAST, MOST, DEFAULT = 8, 1024, 256
"""Range and default of TRANSACTION INTERVAL (vendor: help on ALTER DATABASE)."""
SOON = 60.0
"""Seconds, this project: a range that is used up sooner may be larger."""
SESSIONS = "when it is known that there are few users or all sessions are long; for many users or short ones less"
COMMIT = (
    "Set COMMIT TO JOURNAL OPTIMIZATION from DISABLED to ENABLED, TRANSACTION INTERVAL IS 256, with the database "
    "closed and after a full backup."
)
FIRST = (
    "First enable prestarted transactions (rdb/prestarted_transactions_off), the default, and measure: without them "
    "each transaction reserves its number at its start. Only if commits still queue then, COMMIT TO JOURNAL "
    "OPTIMIZATION from DISABLED to ENABLED, closed and after a full backup."
)
ASKED_ALL_THE_SAME = (
    "First enable prestarted transactions (rdb/prestarted_transactions_off), the default, and measure: each "
    "transaction asks for its number, although commit to journal gives ranges. Only then see to TRANSACTION INTERVAL."
)
ONE_NODE = (
    "First make sure that no other node opens it at night or after a failure; then set NUMBER OF CLUSTER NODES from "
    "{:g} to 1 with the database closed and after a full backup."
)
FOR_A_CLUSTER = "Declared for one node, Rdb leaves out locks and root file I/O that only a cluster needs."
NOT_PUBLISHED = "How many of these locks that spares is not published: count them again after it."
STAY = "it is known that immediate snapshots may stay, or may be deferred or disabled first"
LONGER = "; fast commit, which it switches on, lengthens recovery: choose its checkpoint interval first"
PRESTARTED = "when prestarted transactions are enabled, that was measured, and commits still queue for the root file"
SNAPSHOTS = (
    "Recalled, not confirmed: commit to journal wants snapshots disabled or deferred; with deferred ones a read-only "
    "transaction waits for the writers. Read HELP ALTER DATABASE first.",
)


@dataclass(frozen=True)
class Limits(RootLimits):
    """`RootLimits`, and from where on these locks explain other findings (this project)."""

    main_percent: float = percent(50.0, "this project: from here on they are more than all others together", low=1)
    root_writes_per_second: float = limit(
        200.0, "this project: so many writes of one file are a load, also where nobody waits", unit="root file writes/s"
    )
    root_writes_per_transaction: float = limit(
        0.5, "this project: the root file is written at one commit in two", unit="root file writes per transaction"
    )


@rule(needs=(StatisticRow,), uses=(*COUNTED_FACTS, LogicalName), links=LINKS, limits=Limits, sample=LEAST_COUNTED)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Judge each database by the node where they are most."""
    for one in databases(facts, (StatisticRow,)):
        yield from _judge(facts, one, limits)


def _judge(facts: Facts, one: OneDatabase, limits: Limits) -> Iterator[Outcome]:
    found, refused = counted(facts, one)
    judged = telling((hot for hot, _ in of_each_node(found, hot_of)), limits)
    if not judged:
        bring = MissingInput("SEQBLK and TSNBLK locks beside all locks", StatisticRow.COLLECTED_BY)
        yield refused or Unknown((bring,), f"{one.subject}: the screens Locking (SEQBLK lock) and (TSNBLK lock) decide")
        return
    high = [hot for hot in judged if over(hot, limits)]
    hot = max(high or judged, key=lambda hot: (hot.stalls or 0.0, hot.operations))
    if not high:
        if hot.whole >= limits.operations_per_second and not all(hot.each.share(kind) for kind in ROOT):
            bring = MissingInput("both SEQBLK and TSNBLK locks", StatisticRow.COLLECTED_BY)
            yield Unknown((bring,), f"{one.subject}: {figures_of(hot)}, of one of the two alone")
            return
        outcome = quiet(
            f"{one.subject}: {figures_of(hot)} (limits {limits.operations_percent:g} % of lock operations and "
            f"{limits.stalled_percent:g} % of the requests that stall)",
            hot.each,
        )
        yield outcome
        return
    yield _finding(facts, one, limits, hot)
    if one.read("commit_to_journal") is None and one.is_on("fast_commit") is not False:
        yield Unknown.without("commit to journal", Database.COLLECTED_BY, one.subject)


def _finding(facts: Facts, one: OneDatabase, limits: Limits, hot: Hot) -> Finding:
    each, source = hot.each, hot.rates[0].source
    waits = waited_for(hot, limits)
    per = per_transaction(each, hot.rates)
    (said, why, do), more, changes = _remedy(facts, one)
    reserves = one.is_on("prestarted_transactions") is False or switched_off(facts) is not None
    if one.is_on("commit_to_journal") and reserves and asked_each(hot, limits) is not None:
        do, changes = ASKED_ALL_THE_SAME, ()
    if do == COMMIT and (lasts := _lasts(one, each)):
        do = joined(do, lasts)
    io = root_io(each, ("root writes",)) if changes and one.is_on("commit_to_journal") is not True else None
    if io and (
        io.per_second < limits.root_writes_per_second or io.per_transaction < limits.root_writes_per_transaction
    ):
        io = None
    acts = waits or io is not None
    otherwise = acts or reserves or hot.operations < limits.main_percent
    more_nodes = None if otherwise else _declared_for_more(facts, one)
    if more_nodes:
        why, do, changes = FOR_A_CLUSTER, ONE_NODE.format(more_nodes.value), (change_nodes(facts, one),)
        more = (*more, Evidence("cluster nodes", more_nodes.value, "nodes", more_nodes.source, 1))
    acts = acts or more_nodes is not None
    percent = round(hot.operations, 1)
    whole = hot.counted_as
    of_them = "promotions" if hot.at_least else "operations" if whole == "lock operations" else whole
    operations = [
        Evidence(hot.metric, percent, f"% of {whole}", source, limits.operations_percent),
        Evidence(whole, round(hot.whole, 1), "/s", source, limits.operations_per_second),
    ]
    stalls: list[Evidence] = []
    if hot.stalled is not None and hot.stalls is not None:
        where = hot.stalls_from
        stalls = [
            Evidence("stalled for SEQBLK and TSNBLK", round(hot.stalls, 1), "/s", where, limits.stalled_per_second),
            Evidence("of all stalled requests", round(hot.stalled, 1), "%", where, limits.stalled_percent),
        ]
    # what decides comes first
    exact = hot.operations >= limits.operations_percent and not (hot.at_least and waits)
    evidence = [*operations, *stalls] if exact else [*stalls, *operations]
    if io:
        place = io.rates[0].source
        evidence.append(
            Evidence("root file writes", round(io.per_second, 1), "/s", place, limits.root_writes_per_second)
        )
    if per is not None:
        evidence.append(
            Evidence(
                f"SEQBLK and TSNBLK {of_them} per transaction",
                round(per, 2),
                "",
                source,
            )
        )
    return Finding(
        subject=one.subject,
        severity=Severity.ADVICE if acts else Severity.NOTE,
        title=(
            "commits queue for the root file"
            if waits
            else f"much of the locking is for the root file, and it is written {io.per_second:,.0f} times a second"
            if io
            else "most of the locking is for the root file, of a database that is open on one node and declared for "
            f"{more_nodes.value:g}"
            if more_nodes
            else "much of the locking is for the root file"
        ),
        seen=joined(
            f"{figures_of(hot)}{on_node(each)} ({each.over})"
            f"{f', {rounded(per)} {of_them} for each transaction' if per is not None else ''}"
            f"{f', and {rounded(io.per_transaction)} writes of the root file' if io else ''}.",
            said,
        ),
        because=joined("They guard the sequence numbers of transactions, at each start and commit.", why),
        do=do if acts else "Nothing is set here: few requests were seen to wait for them.",
        unknown=joined(caveats(one, each), NOT_PUBLISHED if more_nodes else ""),
        evidence=(*evidence, *more),
        explains=() if source.tentative else explained(each, ROOT, limits.main_percent),
        changes=changes if acts else (),
        expects=(Expectation(f"{hot.metric} (% of {whole})", percent, "lower", "heuristic"),),
        share=hot.stalled,
    )


def _declared_for_more(facts: Facts, one: OneDatabase) -> Read | None:
    """The number of nodes it is declared for, where that is several and one alone is proven to have it open."""
    nodes = one.nodes
    if one.one_instance or nodes is None or (nodes.configured or 1) <= 1 or open_elsewhere(facts, one) is not False:
        return None
    return Read(nodes.configured, nodes.source)


def _lasts(one: OneDatabase, each: Statistics) -> str:
    """How long a range of the default size lasts a user, a sentence; empty where that is a minute, or not known."""
    users, done = attached(each, one), each.transactions
    if not users or not done or not done.per_second:
        return ""
    seconds = DEFAULT * users / done.per_second
    return (
        f"A range of {DEFAULT} lasts each of {users:,.0f} users {rounded(seconds)} s; if they stay attached, more "
        f"({MOST:,} at most) is asked for less often."
        if seconds < SOON
        else ""
    )


def _remedy(facts: Facts, one: OneDatabase) -> tuple[tuple[str, str, str], tuple[Evidence, ...], tuple[Change, ...]]:
    """What is set, why it matters and what to set: commit to journal with what it needs, or another interval."""
    read, commit = one.read("commit_to_journal"), one.read("fast_commit")
    journal = read or (commit if commit and not commit.value else None)  # an option of it: without it, off
    if journal is None:
        return ("", "", "Nothing is set here: whether commit to journal is on is not in the export."), (), ()
    place = place_of(facts, one)
    if not journal.value:
        shown = Evidence("commit to journal" if read else "fast commit", "disabled", "", journal.source)
        fast, missing = one.is_on("fast_commit"), unmet(steps_to("fast_commit", facts, one))
        before = changes_to("fast_commit", facts, one, "DISABLED", "ENABLED") if fast is False else ()
        when = "" if fast else "when a new header shows after-image journaling and fast commit"
        if before and not all(line.startswith("$!") for change in before for line in change.apply):
            when = ""  # the plan makes fast commit before it
        reserves = one.is_on("prestarted_transactions") is False or switched_off(facts) is not None
        if reserves:
            when, before = PRESTARTED, ()
        if one.word("snapshot_mode") in (None, "immediate"):  # the default
            when = f"{when}, and {STAY}" if when else f"when {STAY}"
        when += LONGER if reserves and not fast else ""
        needs = tuple(change.key for change in before)
        # the clause switches fast commit on as well, which is never done without a checkpoint interval
        clause = "commit_to_journal" if fast or before else "commit_with_checkpoint"
        change = alter(clause, place, "DISABLED", "ENABLED", needs=needs, cautions=SNAPSHOTS, when=when)
        change = replace(change, yields_to=(key_of("snapshot", place),))  # which would take away what it rests on
        if reserves:
            change = replace(change, after=(*change.after, key_of("prestarted_transactions", place)))
        first = f"First make {listed(missing)}, then fast commit." if missing else ""
        first = "Fast commit has to be enabled first." if fast is False and not missing else first
        why = "With commit to journal each user gets a range of numbers beforehand."
        is_off = "Commit to journal is off." if read else "Fast commit is off, so commit to journal is, too."
        said = (is_off, why, FIRST if reserves else joined(first, COMMIT))
        return said, (shown, *evidence_of(missing)), (*before, change)
    shown = Evidence("commit to journal", "enabled", "", journal.source)
    now = one.read("transaction_interval")
    value = one.figure("transaction_interval")
    if value is not None and not LEAST <= value <= MOST:
        value = None
    seen = (
        f"Commit to journal is on, with a TRANSACTION INTERVAL of {value:,.0f} ({LEAST} to {MOST:,})."
        if value is not None
        else f"Commit to journal is on; its TRANSACTION INTERVAL is not in the export (default {DEFAULT})."
    )
    sizes = "larger for few users or long sessions, smaller for many users or short ones"
    more = (shown, *((Evidence("transaction interval", value, "", now.source),) if now and value is not None else ()))
    if value is None or value >= DEFAULT:
        do = f"Nothing is set here: which interval these sessions need ({sizes}) is in no export."
        return (seen, "", do), more, ()
    do = f"If there are few users or all sessions are long, set TRANSACTION INTERVAL from {value:,.0f} to {DEFAULT} "
    do += f"with the database closed and after a full backup ({sizes})."
    return (seen, "", do), more, (alter("transaction_interval", place, value, DEFAULT, when=SESSIONS),)
