"""User log caches are flushed early, and not for being full.

Finds: more than a fifth of the flushes of user log caches (sp_sysmon, Transaction Management) by Unpin, by Change of
Database, by System Log Record and Other, by Log markers, by No Free Plcblock, by single records, or by sub-commands of
minimally logged changes, at a rate that counts. Full caches are another rule's (ase/user_log_cache_flushes).

Why it matters: each of them asks for the end of the log in the middle of a transaction, where all tasks of a database
meet. Each reason has its own remedy, and a larger user log cache is only one of them: for some it is the wrong way.

What to do: by Unpin, two transactions change one page of a datarows table, so fewer rows a page there (this project's
reading: the manual's own list was not found); those that monOpenObjectActivity shows to be updated most come first. By
Change of Database, transactions span databases. By System Log Record and Other, the vendor proposes a smaller user log
cache, but where data and log of a database share a device each record is flushed, and that comes first. By Log markers,
triggers and rollbacks that are not needed. By No Free Plcblock, by its name alone, and by minimally logged records, a
larger one. By single records, the log comes onto devices of its own where `sysusages` shows that it shares them with
data; where it was not collected, it is asked for, and else they are left alone. Nothing of it is scripted: none of
these figures says which table, statement or size it is.

When to ignore it: where nobody waits for the log, nor, by Unpin, for the locks of the user log caches (wait event 272,
where monSysWaits was collected); then it is a note, unless data and log of a database share a device: a warning where
most flushes are such, a hundred a second and more, else advice of single records alone. Temporary
databases have log caches of their own from 15.0.2 on, so their use is no reason for Change of Database any more.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from collectors.facts import Facts, known
from collectors.facts.ase import ConfigParameter, DatabaseFragment, Server, UserLogCacheFlushes
from rules.ase._evidence.log.flushes import (
    EARLY_ORIGIN,
    EARLY_PERCENT,
    FLUSH_FACTS,
    NO_BLOCK,
    UNPIN,
    UNPIN_BECAUSE,
    Flushes,
    FlushLimits,
    LogWaited,
    against_unpin,
    flushes_of,
    log_waited,
)
from rules.ase._evidence.log.mixed import MIXED_FACTS, mixed_evidence, mixed_logs, say_mixed, separate_first
from rules.ase._evidence.server import level_reached, setting_of, subject_of
from rules.ase._evidence.waits.events import ULC_LOCKS
from rules.ase._evidence.waits.tasks import WAIT_FACTS, Waited, waited_for
from rules.ase._evidence.waits.verdict import TaskLimits, of_tasks
from rules.engine import limit, percent, rule
from rules.finding import Clean, Evidence, Finding, MissingInput, Outcome, Severity, Unknown, joined

LINKS = (
    "https://infocenter.sybase.com/help/topic/com.sybase.infocenter.dc00842.1570/html/spsysmon/spsysmon124.htm",
    "https://infocenter.sybase.com/help/topic/com.sybase.infocenter.dc00842.1570/html/spsysmon/spsysmon126.htm",
)
SIZE, QUEUE = "user log cache size", "user log cache queue size"
LEAST_BYTES = 2048.0
"""The vendor's smallest user log cache: of that size none gets smaller."""
FRAGMENTS = MissingInput("which databases have data and log on one device", DatabaseFragment.COLLECTED_BY)
ASK = (
    "First see whether data and log of a database share a device (master..sysusages): there each record is flushed by "
    "itself, and no larger user log cache helps."
)
LEFT = "Each of these flushes asks for the end of the log in the middle of a transaction."
FLUSHED = (
    "Where data and log share a device each log record is flushed by itself (vendor), so a page of the log is written "
    "again and again."
)
WHAT = "locks on user log caches"


@dataclass(frozen=True)
class Reason:
    """Rows of sp_sysmon that mean the same."""

    what: str
    rows: tuple[str, ...]
    because: str
    do: str
    minimal: bool | None = None
    """Whether only those of minimally logged changes mean it."""
    mixed: bool = False
    """Whether it is left out where no data and log share a device, which makes such flushes (vendor)."""
    by_mixed: bool = False
    """Whether data and log on one device make such flushes, beside what else does."""
    smaller: bool = False
    """Whether the vendor's step is a smaller cache, where it is not the smallest already."""


REASONS = (
    Reason(
        UNPIN,
        (UNPIN,),
        UNPIN_BECAUSE,
        "",
    ),
    Reason(
        "by Change of Database",
        ("by Change of Database",),
        "A transaction that goes on in another database leaves its log cache there first.",
        "Look for transactions over several databases: procedures that write into another one, and triggers.",
        smaller=True,
    ),
    Reason(
        "by System Log Record and Other",
        ("by System Log Record", "by Other"),
        "By the names of these rows they are of the server's own transactions, such as allocations of pages; the "
        "vendor says to look at what is logged.",
        "Look at what allocates and creates so much: loads, and tables that are made and dropped.",
        smaller=True,
        by_mixed=True,
    ),
    Reason(
        "by Log markers",
        ("by Log markers",),
        "Triggers, rollbacks and deferred changes read the log of their own transaction, so it has to be there.",
        "Look for triggers and rollbacks that are not needed.",
    ),
    Reason(
        NO_BLOCK,
        (NO_BLOCK,),
        "By its name the blocks of the user log cache ran out; no source describes this row.",
        f"A larger {SIZE} is this project's guess from the name (static): try it where a restart is due anyway.",
    ),
    Reason(
        "by Single Log Record",
        ("by Single Log Record",),
        "What else than data and log on one device makes such flushes is in no source that was read.",
        "",
        minimal=False,
        mixed=True,
        by_mixed=True,
    ),
    Reason(
        "of minimally logged records",
        ("by Single Log Record", "by Start of Sub-Command", "by End of Sub-Command"),
        "Minimally logged changes keep their records in the cache, and lose that logging when it is flushed (vendor).",
        f"A larger {SIZE} keeps them (static); of temporary databases it is session tempdb log cache size, which "
        "sp_sysmon does not tell apart.",
        minimal=True,
    ),
)


@dataclass(frozen=True)
class Limits(FlushLimits, TaskLimits):
    """`FlushLimits` and `TaskLimits`, and from which share on a reason is worth a word."""

    share_percent: float = percent(EARLY_PERCENT, EARLY_ORIGIN)
    most_percent: float = percent(50.0, "this project: most flushes, where data and log on one device make them")
    many_per_second: float = limit(
        100.0, "this project: at 10 ms each, from as many on one task waits on average", unit="/s"
    )


@rule(
    needs=(UserLogCacheFlushes,),
    uses=(*FLUSH_FACTS, *MIXED_FACTS, *WAIT_FACTS, ConfigParameter, Server),
    links=LINKS,
    limits=Limits,
)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Hold each reason against all flushes."""
    flushes = flushes_of(facts)
    if not isinstance(flushes, Flushes):
        yield flushes
        return
    quiet, found = [], False
    mixed = mixed_logs(facts)
    for reason in REASONS:
        if reason.mixed and not mixed and facts.every(DatabaseFragment):
            continue
        rows = flushes.by(*reason.rows, minimal=reason.minimal)
        if not any(known(row.count) for row in rows):
            continue
        share, rate = flushes.percent(rows), flushes.rate(rows)
        if share > limits.share_percent and (rate is None or rate >= limits.per_second):
            found = True
            yield _finding(facts, limits, flushes, reason, rows)
            if reason.mixed and not mixed:
                yield Unknown((FRAGMENTS,))
        else:
            quiet.append(f"{share:.1f} % {reason.what}")
    if not found:
        said = ", ".join(quiet) or "no other reason than a full cache or the end of a transaction"
        most = f"limits {limits.share_percent:g} % and {limits.per_second:g} a second"
        yield Clean(f"flushes of user log caches: {said} ({most})")


def _finding(
    facts: Facts, limits: Limits, flushes: Flushes, reason: Reason, rows: tuple[UserLogCacheFlushes, ...]
) -> Finding:
    share, rate, waited = flushes.percent(rows), flushes.rate(rows), log_waited(facts)
    queued = waited_for(facts, WHAT, ULC_LOCKS) if reason.what == UNPIN else None
    locks = queued if isinstance(queued, Waited) and of_tasks(queued, limits) else None
    felt = locks is not None or (waited is not None and waited.percent >= limits.log_waited_percent)
    setting, evidence = ("", ()) if reason.by_mixed and mixed_logs(facts) else _setting(facts, reason)
    unpin, updated = against_unpin(facts) if reason.what == UNPIN else ("", ())
    mixed = mixed_logs(facts) if reason.by_mixed else {}
    most = share >= limits.most_percent and (rate or 0.0) >= limits.many_per_second
    return Finding(
        subject=f"{subject_of(facts)}: {reason.what}",
        severity=Severity.WARNING
        if mixed and most
        else Severity.ADVICE
        if (mixed and reason.mixed) or (felt and not reason.mixed)
        else Severity.NOTE,
        title=f"{share:.0f} % of the flushes of user log caches are {reason.what}"
        + (f"; {locks.tasks:.1f} tasks wait for {WHAT}" if locks else "")
        + (f": data and log of {say_mixed(mixed)} share a device" if mixed else ""),
        seen=f"{share:.1f} % of the flushes are {reason.what}"
        + (f", {rate:,.0f} a second" if rate is not None else "")
        + _waits(waited),
        because=FLUSHED if mixed else f"{LEFT} {reason.because}",
        do=separate_first(mixed) if mixed else joined(f"{reason.do or unpin}{setting}", ASK if reason.mixed else ""),
        evidence=(
            *flushes.evidence(reason.what, rows, limits.share_percent, limits.per_second),
            *((waited.evidence,) if waited else ()),
            *(locks.evidence(limits.tasks, limits.share_percent) if locks else ()),
            *evidence,
            *updated,
            *mixed_evidence(mixed),
        ),
        explains=(
            *(("ase/log_shares_device", "ase/log_io_size_unfit") if mixed else ()),
            *(("ase/log_semaphore_contended",) if felt else ()),
        ),
    )


def _waits(waited: LogWaited | None) -> str:
    return f", and {waited.percent:.1f} % of the requests for the log had to wait." if waited else "."


def _setting(facts: Facts, reason: Reason) -> tuple[str, tuple[Evidence, ...]]:
    """What of the settings in force belongs to it, as a sentence, with the figure; nothing where none does."""
    if reason.smaller:
        one = setting_of(facts, SIZE)
        size = one.run_number if one else None
        if one is None or size is None or size <= LEAST_BYTES:
            return "", ()
        said = f" Else a smaller {SIZE} is the vendor's step, not below {LEAST_BYTES:,.0f} bytes: {size:,.0f} now."
        return said, (Evidence(SIZE, size, "bytes", one.source),)
    if reason.what != UNPIN or not level_reached(facts, "16.0"):
        return "", ()
    one = setting_of(facts, QUEUE)
    number = one.run_number if one else None
    if one is None or not number:
        return "", ()  # 0 is spoken of with its lever (`against_unpin`)
    said = f" {QUEUE} is {number:.0f} here; 16.0 made its queue for datarows tables that many update (vendor)."
    return said, (Evidence(QUEUE, number, "", one.source),)
