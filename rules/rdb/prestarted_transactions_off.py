"""Prestarted transactions are off, and the root file is much asked for.

Finds: a database with PRESTARTED TRANSACTIONS disabled, or with the logical name RDMS$BIND_PRESTART_TXN 0 before it,
where SEQBLK and TSNBLK locks are much of the locking or of the waits, or where a transaction takes one I/O to the root
file or more.

Why it matters: with the default, enabled, the end of a transaction that writes reserves the sequence number of the next
one; disabled, each start of a transaction reserves its own, for additional I/O (Oracle Rdb, help on CREATE DATABASE and
DECLARE ALIAS). That this is what the locks are for is inferred, so it is advice at most.

What to do: find out why it is off, and enable it with a time-out: WAIT n SECONDS FOR TIMEOUT ends a prestarted
transaction that a process leaves idle, which keeps the snapshot file from growing.

A logical name that is 0 goes first: it comes before the setting of the database.

When to ignore it: where servers stay attached for long, the snapshot file grew and the release has no time-out. Where a
clause of ATTACH or the logical name RDMS$BIND_PRESTART_TXN decides: both come before the setting of the database. Where
commit to journal is on, each user has a range of numbers beforehand, and little is left to gain.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from collectors.facts import Facts
from collectors.facts.rdb import Database, LogicalName, StatisticRow
from rules.changes.quoting import comment
from rules.changes.rdb_database import alter, key_of
from rules.engine import limit, rule
from rules.finding import (
    Change,
    Clean,
    Evidence,
    Expectation,
    Finding,
    MissingInput,
    Outcome,
    Severity,
    Unknown,
    joined,
)
from rules.rdb._evidence.counted import (
    COUNTED_FACTS,
    caveats,
    counted,
    of_each_node,
    on_node,
    quiet,
    rounded,
)
from rules.rdb._evidence.databases import OneDatabase, Read, databases
from rules.rdb._evidence.prerequisites import place_of
from rules.rdb._evidence.prestarted import RECALLED, deassign, logical, switched_off, take_away
from rules.rdb._evidence.root_file import (
    Hot,
    RootIO,
    RootLimits,
    asked_each,
    figures_of,
    hot_of,
    over,
    root_io,
    telling,
    waited_for,
)
from rules.rdb._evidence.statistics import LEAST_COUNTED

LINKS = (
    "https://uprrp2.uprrp.edu/conan/sys$common/syshlp/SQL$HELP_OLD72.HLB?key=CREATE~DATABASE~Arguments~PRESTARTED_TRANSACTIONS",
    "https://uprrp2.uprrp.edu/help/sys$common/syshlp/sql$help_old72.hlb?key=DECLARE~ALIAS~Arguments~PRESTARTED_TRANSACTIONS_ARE",
)
SETTING = MissingInput(
    "whether prestarted transactions are enabled",
    "an RMU/DUMP/HEADER listing of all of it, or PRESTARTED TRANSACTIONS from the DBA's own ALTER DATABASE script",
)
ROOT_FILE = MissingInput(
    "SEQBLK and TSNBLK locks beside all locks, or root file I/O beside transactions", StatisticRow.COLLECTED_BY
)
BEFORE = (
    "The logical name RDMS$BIND_PRESTART_TXN and a clause of ATTACH or DECLARE ALIAS come before this setting, and are "
    "not in the export."
)
CLAUSE = "A clause of ATTACH or DECLARE ALIAS comes before it, and is not in the export."
DO = (
    "Find out why it is off (the snapshot file grew?), then set PRESTARTED TRANSACTIONS from DISABLED to ENABLED with "
    "WAIT n SECONDS FOR TIMEOUT, n as long as an idle process may hold its transaction."
)
TAKE_AWAY = (
    "Find out who defined it and why (the snapshot file grew?), then {command}, let the processes attach again, and "
    "measure. ALTER DATABASE FILENAME '{root}' PRESTARTED TRANSACTIONS ARE ENABLED (WAIT n SECONDS FOR TIMEOUT) bounds "
    "what idle processes hold."
)
RANGES = "Nothing is set here: commit to journal is on, and gives each user a range of numbers beforehand."
FEW = "Nothing is set here: few requests were seen to wait for them."


@dataclass(frozen=True)
class Limits(RootLimits):
    """`RootLimits`, and from where on I/O to the root file matters. No vendor names a figure."""

    root_io_per_transaction: float = limit(
        1.0,
        "this project: with the setting off each start of a transaction may take one I/O to the root file",
        unit="root file I/Os per transaction",
    )
    root_io_per_second: float = limit(50.0, "this project: fewer I/Os to one file are no load", unit="root file I/Os/s")


@rule(
    needs=(Database, StatisticRow), uses=(*COUNTED_FACTS, LogicalName), links=LINKS, limits=Limits, sample=LEAST_COUNTED
)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Judge each database by the node where the root file is asked for most."""
    for one in databases(facts, (StatisticRow,)):
        yield _judge(facts, one, limits)


def _judge(facts: Facts, one: OneDatabase, limits: Limits) -> Outcome:
    setting, name = one.read("prestarted_transactions"), logical(facts)
    if switch := switched_off(facts):
        setting = Read(False, switch.source)
    elif name is not None and name.value == "1":
        return Unknown((), f"{one.subject}: {name.name} is 1, which as recalled enables prestarted transactions")
    elif setting and setting.value:
        return Clean(f"{one.subject}: prestarted transactions are enabled{one.read_apart}")
    found, refused = counted(facts, one)
    hots = telling((hot for hot, _ in of_each_node(found, hot_of)), limits)
    hot = max(hots, key=lambda hot: _weight(hot, limits), default=None)
    io = max((io for io, _ in of_each_node(found, root_io)), key=lambda io: _heavy(io, limits), default=None)
    said = "; ".join([*([figures_of(hot)] if hot else []), *([_io_said(io)] if io else [])])
    if hot is None and io is None:
        return refused or Unknown((ROOT_FILE, *(() if setting else (SETTING,))), one.subject)
    locks, reads = hot is not None and over(hot, limits), io is not None and _heavy(io, limits)[0]
    if not locks and not reads:
        off = "prestarted transactions are off, and " if setting else ""
        return quiet(f"{one.subject}: {off}little is asked of the root file: {said}", (hot or io).each)  # type: ignore[union-attr]
    if setting is None:
        return Unknown((SETTING,), f"{one.subject}: {said}")
    return _finding(facts, one, limits, setting, hot if locks else None, io if reads else None)


def _weight(hot: Hot, limits: Limits) -> tuple[bool, float, float]:
    return over(hot, limits), hot.stalls or 0.0, hot.operations


def _heavy(io: RootIO, limits: Limits) -> tuple[bool, float]:
    many = io.per_second >= limits.root_io_per_second and io.per_transaction >= limits.root_io_per_transaction
    return many, io.per_second


def _io_said(io: RootIO) -> str:
    return f"{rounded(io.per_second)} root file I/Os/s, {rounded(io.per_transaction)} for each transaction"


def _finding(
    facts: Facts, one: OneDatabase, limits: Limits, setting: Read, hot: Hot | None, io: RootIO | None
) -> Finding:
    """At least one of `hot` and `io` is there."""
    each = hot.each if hot else io.each  # type: ignore[union-attr]
    ranges, off = one.is_on("commit_to_journal"), switched_off(facts)
    do = DO
    if off:
        do = TAKE_AWAY.format(command=deassign(off), root=comment(one.root, 255) if one.root else "<root file>")
    matters = io is not None or (hot is not None and waited_for(hot, limits))
    asked = asked_each(hot, limits) if ranges else None
    acts = matters and (not ranges or asked is not None)
    figures = " and ".join([*([figures_of(hot)] if hot else []), *([_io_said(io)] if io else [])])
    return Finding(
        subject=one.subject,
        severity=Severity.ADVICE if acts else Severity.NOTE,
        title=f"prestarted transactions are off{f' by {off.name}' if off else ''}, and the root file is much asked for",
        seen=joined(
            f'{off.name} is "0"{f" ({comment(off.table, 31)})" if off.table else ""}.'
            if off
            else "Prestarted transactions are off; commit to journal is on, but each transaction asks for "
            f"{rounded(asked)} of these locks all the same."
            if asked is not None
            else "Prestarted transactions are off.",
            f"{figures}{on_node(each)} ({each.over}).",
        ),
        because=(
            "With the setting off each transaction reserves its number at its start, which takes additional I/O "
            "(vendor). That the locks are for this is inferred, not read."
        ),
        do=do if acts else RANGES if ranges else FEW,
        unknown=joined(RECALLED if off else CLAUSE if logical(facts) else BEFORE, caveats(one, each)),
        evidence=(
            Evidence(off.name if off else "prestarted transactions", "0" if off else "disabled", "", setting.source),
            *_lock_evidence(hot, limits),
            *_io_evidence(io, limits),
        ),
        explains=("rdb/root_file_locks_hot",) if acts and hot else (),
        changes=(_change(facts, one, off),) if acts else (),
        expects=_expects(hot, io) if acts else (),
    )


def _change(facts: Facts, one: OneDatabase, off: LogicalName | None) -> Change:
    """The name goes first: it comes before the setting of the database."""
    place = place_of(facts, one)
    if off:
        return take_away(off, key_of("prestarted_transactions", place))
    return alter("prestarted_transactions", place, "DISABLED", "ENABLED")


def _lock_evidence(hot: Hot | None, limits: Limits) -> tuple[Evidence, ...]:
    if hot is None:
        return ()
    source = hot.rates[0].source
    percent = Evidence(
        *(hot.metric, round(hot.operations, 1), "% of lock operations", source),
        limits.operations_percent,
    )
    whole = Evidence(hot.counted_as, round(hot.whole, 1), "/s", source, limits.operations_per_second)
    stalls = (
        (
            Evidence(
                "stalled for SEQBLK and TSNBLK", round(hot.stalls, 1), "/s", hot.stalls_from, limits.stalled_per_second
            ),
        )
        if hot.stalls is not None
        else ()
    )
    # what people wait for comes first
    waits = hot.stalls is not None and hot.stalls >= limits.stalled_per_second
    return (*stalls, percent, whole) if waits else (percent, whole, *stalls)


def _io_evidence(io: RootIO | None, limits: Limits) -> tuple[Evidence, ...]:
    if io is None:
        return ()
    source = io.rates[0].source
    return (
        Evidence("root file I/O", round(io.per_second, 1), "/s", source, limits.root_io_per_second),
        Evidence(
            "root file I/Os per transaction", round(io.per_transaction, 2), "", source, limits.root_io_per_transaction
        ),
    )


def _expects(hot: Hot | None, io: RootIO | None) -> tuple[Expectation, ...]:
    if io is not None:
        return (Expectation("root file I/Os per transaction", round(io.per_transaction, 2), "lower", "heuristic"),)
    percent = round(hot.operations, 1) if hot else 0.0
    name = hot.metric if hot else "SEQBLK and TSNBLK locks"
    return (Expectation(f"{name} (% of lock operations)", percent, "lower", "heuristic"),)
