"""Processes are suspended because the log of a database is full.

Finds: databases whose log is full, or has processes that sleep for it, at the moment of monOpenDatabases; or by those
that sleep, as sp_who, sysprocesses (`log suspend`) and monProcess (event 259) show them. With `master..syslogshold`,
what holds it: the transaction of a session, or the truncation point of replication.

Why it matters: a process that sleeps for space in the log keeps its locks, so whoever needs these rows waits behind it:
what looks like lock waits has this cause. Nothing in the database is changed until there is space.

What to do: end what is oldest in `master..syslogshold`, as behind it nothing is freed; then dump the transaction log.
Where the error log says that a dump could not truncate it, no dump is advised before that.
Where that is a session whose client does nothing, that session. Where it is `$replication_truncation_point`, start the
RepAgent again; it asks Replication Server for that point after each `scan batch size` log records (vendor: Replication
Server Administration Guide 2), so `sp_help_rep_agent <database>, "scan"` tells whether it is behind (practice). No
other value of that batch is advised: whether the RepAgent, the network or Replication Server is slow, no export of the
server tells. `dbcc settrunc('ltm', 'ignore')` gives up what was not sent: the replicate is then wrong until it is
reconciled or made anew (vendor: Replication Server Reference Manual 15.7), so it is never advised. For later a larger
log, dumps more often, or a threshold procedure that dumps it (vendor: Monitoring Tables, event 259).

When to ignore it: where it was over by the time you read this. A database that is full and has nobody suspended is
advice: the next change sleeps.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from collectors.facts import Facts, known
from collectors.facts.ase import MonOpenDatabases
from rules.ase._evidence.log.held import (
    HELD_FACTS,
    HOLDER,
    OLDEST_FIRST,
    FullLog,
    full_logs,
    held,
    refused_dump,
    refused_evidence,
    say_refused,
)
from rules.ase._evidence.waits.chains import CHAIN_FACTS, tasks_at_work
from rules.ase._evidence.waits.verdict import CRITICAL_ORIGIN, CRITICAL_PERCENT
from rules.changes.quoting import comment
from rules.engine import percent, rule
from rules.finding import Clean, Evidence, Finding, Outcome, Severity, Unknown, joined

LINKS = (
    "https://infocenter.sybase.com/help/topic/com.sybase.infocenter.dc32518.1571100/doc/html/jer1342602449816.html",
    "https://www.petersap.nl/SybaseWiki/index.php/Replication_Server_Performance_Tuning",
    "https://infocenter.sybase.com/help/topic/com.sybase.infocenter.dc00848.1570/html/monitor_tables/CHDEHBAG.htm",
    "https://infocenter.sybase.com/help/topic/com.sybase.infocenter.dc31644.1600/doc/html/san1371158772356.html",
    "https://infocenter.sybase.com/help/topic/com.sybase.infocenter.dc32410.1570/doc/html/san1273714241948.html",
    "https://infocenter.sybase.com/help/topic/com.sybase.infocenter.dc35920.1571100/doc/html/san1279230105764.html",
)
LOCKS = "A process that sleeps for space in the log keeps its locks, so others wait behind it."
NEXT = "The next process that changes anything there sleeps, and keeps its locks meanwhile."
DUMP = (
    "If it still is: dump the transaction log of {0}, and look in master..syslogshold for the oldest open transaction "
    "or truncation point. For later: a larger log, dumps more often, or a threshold procedure that dumps it."
)
REPLICATED = (
    'Where {0} is replicated: whether its RepAgent is behind (sp_help_rep_agent <database>, "scan"), and what makes it '
    "slow: this server, the network or Replication Server."
)


SLEEPING = "How many processes sleep for it is not in the export (sp_who: log suspend)."


@dataclass(frozen=True)
class Limits:
    """There is nothing to judge by: a log is full, or it is not. How loud it is hangs on who sleeps for it."""

    critical_percent: float = percent(CRITICAL_PERCENT, CRITICAL_ORIGIN)


@rule(needs=(), uses=(MonOpenDatabases, *HELD_FACTS, *CHAIN_FACTS), links=LINKS, limits=Limits, sample=None)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Look at the newest state of each database."""
    rows = {(one.instance, one.database): one for one in facts.every(MonOpenDatabases)}.values()
    told = [one for one in rows if known(one.log_full) or known(one.suspended)]
    full = full_logs(facts)
    for one in full:
        yield _finding(facts, limits, one)
    if any(held(facts, one.database) is None for one in full):
        yield Unknown((HOLDER,))
    if not full and told:
        yield Clean(f"no log of {len(told)} open databases is full")
    elif not full:
        yield Unknown.of(MonOpenDatabases)


def _finding(facts: Facts, limits: Limits, one: FullLog) -> Finding:
    name, sleeping, holder = comment(one.database), one.sleeping or 0.0, held(facts, one.database)
    working, refused = one.working or tasks_at_work(facts), refused_dump(facts, one.database)
    most = bool(working) and sleeping >= limits.critical_percent / 100.0 * (working or 0) and sleeping > 1
    many = f"{sleeping:,.0f} process{'es' if sleeping > 1 else ''}"
    return Finding(
        subject=name,
        severity=Severity.ADVICE if not sleeping else Severity.CRITICAL if most else Severity.WARNING,
        title=f"The log of {name} is full"
        + (f", held by {holder.who}" if holder and holder.who else "")
        + (f", and {many} sleep{'' if sleeping > 1 else 's'} for it" if sleeping else ""),
        seen=joined(
            f"{one.how}, the log of {name} was full"
            + (f" and {many} {'were' if sleeping > 1 else 'was'} suspended." if sleeping else ".")
            + (" It was being dumped then." if one.dumped and not holder else ""),
            holder.says if holder else "",
        ),
        because=joined(LOCKS if sleeping else NEXT, say_refused(refused)),
        do=holder.do if holder else (OLDEST_FIRST if refused else DUMP).format(name),
        unknown=joined(SLEEPING if one.sleeping is None else "", "" if holder else REPLICATED.format(name)),
        evidence=(
            *(() if one.sleeping is None else (Evidence("processes that are suspended", sleeping, "", one.source),)),
            *((holder.evidence,) if holder else ()),
            *refused_evidence(refused),
            *((Evidence("log is full", 1.0, "", one.source),) if one.sleeping is None else ()),
        ),
        urgent=bool(sleeping),
        explains=("ase/lock_waits_high", "ase/blocked_chain") if sleeping else (),
    )
