"""Processes are suspended because the log of a database is full.

Finds: databases whose log is full, or has processes that sleep for it, at the moment of monOpenDatabases; who sleeps is
counted in monProcess where that column was not selected. It explains what the error log tells of the same log before.

Why it matters: a process that sleeps for space in the log keeps its locks, so whoever needs these rows waits behind it:
what looks like lock waits has this cause. Nothing in the database is changed until there is space.

What to do: dump the transaction log, and look in `master..syslogshold` for the oldest open transaction, behind which
nothing is freed. Where the database is replicated nothing is freed behind its truncation point either, which its
RepAgent asks Replication Server for after each `scan batch size` log records (vendor: Replication Server Administration
Guide 2), so `sp_help_rep_agent <database>, "scan"` tells whether it is behind (practice). No other value of that batch
is advised: whether the RepAgent, the network or Replication Server is slow, no export of the server tells. For later a
larger log, dumps more often, or a threshold procedure that dumps it (vendor: Monitoring Tables, event 259).

When to ignore it: where it was over by the time you read this. A database that is full and has nobody suspended is
advice: the next change sleeps.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from collectors.facts import Facts, Source, known
from collectors.facts.ase import MonOpenDatabases, MonProcess
from rules.ase._evidence.waits.error_log import logs_full
from rules.ase._evidence.waits.events import LOG_SPACE
from rules.changes.quoting import comment
from rules.engine import rule
from rules.finding import Clean, Evidence, Finding, Outcome, Severity, Unknown, joined

LINKS = (
    "https://infocenter.sybase.com/help/topic/com.sybase.infocenter.dc32518.1571100/doc/html/jer1342602449816.html",
    "https://www.petersap.nl/SybaseWiki/index.php/Replication_Server_Performance_Tuning",
    "https://infocenter.sybase.com/help/topic/com.sybase.infocenter.dc00848.1570/html/monitor_tables/CHDEHBAG.htm",
)
LOCKS = "A process that sleeps for space in the log keeps its locks, so others wait behind it."
NEXT = "The next process that changes anything there sleeps, and keeps its locks meanwhile."
DUMP = (
    "If it still is: dump the transaction log of {0}, and look in master..syslogshold for the oldest open transaction "
    "or truncation point. For later: a larger log, dumps more often, or a threshold procedure that dumps it."
)
REPLICATED = (
    'Where {0} is replicated: whether its RepAgent is behind (sp_help_rep_agent <database>, "scan"). What makes it '
    "slow, this server, the network or Replication Server, is not in the export."
)


@dataclass(frozen=True)
class Limits:
    """There is nothing to judge by: a log is full, or it is not."""


@rule(needs=(MonOpenDatabases,), uses=(MonProcess,), links=LINKS, limits=Limits, sample=None)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Look at the newest state of each database."""
    rows = {(one.instance, one.database): one for one in facts.every(MonOpenDatabases)}.values()
    told = [one for one in rows if known(one.log_full) or known(one.suspended)]
    if not told:
        yield Unknown.of(MonOpenDatabases)
        return
    full = [one for one in told if _number(one.log_full) > 0 or _number(one.suspended) > 0]
    for one in full:
        yield _finding(facts, one)
    if not full:
        yield Clean(f"no log of {len(told)} open databases is full")


def _number(reading: object) -> float:
    return reading if isinstance(reading, float) else 0.0


def _sleeping(facts: Facts, one: MonOpenDatabases) -> tuple[float, str, Source]:
    """How many sleep for space in the log, in words too, and where that stands.

    By monOpenDatabases; where that column was not selected, by the sessions that wait for it in the same file. No words
    where neither tells: what was not selected is not zero.
    """
    if known(one.suspended):
        return one.suspended, f" and {one.suspended:,.0f} processes were suspended", one.source
    rows = [
        row
        for row in facts.every(MonProcess)
        if row.wait_event in LOG_SPACE and row.database == one.database and row.source.file == one.source.file
    ]
    said = f", and {len(rows):,} tasks waited for space in it (monProcess, event 259)" if rows else ""
    return float(len(rows)), said, rows[0].source if rows else one.source


def _finding(facts: Facts, one: MonOpenDatabases) -> Finding:
    name, (sleeping, said, source) = comment(one.database), _sleeping(facts, one)
    dumped = "It was being dumped then." if _number(one.backup) > 0 else ""
    counted = known(one.suspended) or sleeping
    alarms = () if one.database in logs_full(facts) else (f"ase/error_log_alarms:{name}",)  # that one has its waits
    return Finding(
        subject=name,
        severity=Severity.WARNING if sleeping else Severity.ADVICE,
        title=f"The log of {name} is full"
        + (f", and {sleeping:,.0f} process{'es sleep' if sleeping > 1 else ' sleeps'} for it" if sleeping else ""),
        seen=joined(f"When monOpenDatabases was read, the log of {name} was full{said}.", dumped),
        because=LOCKS if sleeping else NEXT,
        do=DUMP.format(name),
        unknown=REPLICATED.format(name),
        evidence=(
            Evidence("processes that are suspended", sleeping, "", source)
            if counted
            else Evidence("the log is full", _number(one.log_full), "", source),
        ),
        explains=(*alarms, *(("ase/lock_waits_high", "ase/blocked_chain") if sleeping else ())),
    )
