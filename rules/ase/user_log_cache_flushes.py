"""User log caches are flushed because they are full.

Finds: more than a fifth of the flushes of user log caches by Full ULC (sp_sysmon, Transaction Management), at a rate
that counts.

Why it matters: each task collects its log records in a cache of its own and appends them to the transaction log in one
go. A cache that fills up before its transaction ends is flushed early, so the task asks for the end of the log, the one
place where all tasks of a database meet, more often than once a transaction.

What to do: twice the `user log cache size`, the first step of this project; the vendor's rule is not to make it larger
than what a transaction writes. It is static, and each configured user connection and worker process has one, so the
memory is said. It is scripted only where tasks wait for the log: else it would be a restart for nothing that anybody
feels.

When to ignore it: a few large transactions, as of a load, fill any cache. Where data and log of a database share
segments, each record is flushed anyway. Flushes by end of transaction are as they should be.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from collectors.facts import OVERFLOW, Facts, known
from collectors.facts.ase import ConfigParameter, SemaphoreRequests, SysmonSample, UserLogCacheFlushes
from rules.ase._evidence.caches.figures import seconds_of
from rules.ase._evidence.caches.memory import MEMORY_FACTS, free_evidence, too_little
from rules.ase._evidence.server import setting_of, subject_of
from rules.changes.ase_config import LARGEST, configure, waiting_number
from rules.engine import limit, percent, rule
from rules.finding import Change, Clean, Evidence, Finding, Outcome, Severity, Unknown, Untrusted

LINKS = ("https://infocenter.sybase.com/help/topic/com.sybase.infocenter.dc00842.1570/html/spsysmon/spsysmon124.htm",)
FULL, TOTAL = "by Full ULC", "Total ULC Flushes"
SETTING = "user log cache size"
EARLY = (
    "A cache that fills up before its transaction ends asks for the end of the log more often than once a transaction."
)
WAITED = "and {0:.1f} % of the requests for the log had to wait, so fewer flushes would be felt"
QUIET = (
    "Where a restart is due for another reason, twice the user log cache size is a step; by itself it is worth none."
)
STEP = (
    "Twice the size in force is a first step (this project's): the vendor says not to go beyond what a transaction "
    "writes, and not for a few large transactions. Look at the share of Full ULC again afterwards."
)
EACH = (
    "Each of {0:,.0f} user connections and worker processes has one, so it takes about {1:,.1f} MB more; every task of "
    "the server gets the larger one."
)
UNKNOWN = (
    "How many bytes a transaction writes is not in sp_sysmon: monProcessActivity (ULCMaxUsage, ULCFlushFull) has it."
)


@dataclass(frozen=True)
class Limits:
    """From which share and rate on."""

    full_percent: float = percent(20.0, "vendor: more than 20 % by Full ULC (sp_sysmon guide)")
    per_second: float = limit(10.0, "this project: fewer flushes cost nothing that can be seen", unit="/s")
    log_waited_percent: float = percent(
        20.0,
        "vendor: its tests kept very high rates with 20 to 30 % waiting for the log semaphore (sp_sysmon guide 15.0.2)",
    )


@rule(
    needs=(UserLogCacheFlushes,),
    uses=(UserLogCacheFlushes, SemaphoreRequests, SysmonSample, *MEMORY_FACTS, ConfigParameter),
    links=LINKS,
    limits=Limits,
)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Hold the flushes by Full ULC against all flushes."""
    full = [one for one in facts.every(UserLogCacheFlushes) if one.reason == FULL]
    total = facts.latest(UserLogCacheFlushes, reason=TOTAL)
    if total is None or not full:
        yield Unknown.of(UserLogCacheFlushes)
        return
    counts = [one.count for one in full]
    if OVERFLOW in (*counts, total.count):
        yield Untrusted("flushes of user log caches: a count is printed as asterisks")
        return
    if not known(total.count) or not all(known(count) for count in counts):
        yield Unknown.of(UserLogCacheFlushes)
        return
    count = sum(one for one in counts if known(one))
    if min(count, total.count) < 0 or count > total.count:
        yield Untrusted(
            f"flushes of user log caches: {count:,.0f} by Full ULC of {total.count:,.0f} in all cannot be: a counter "
            "wrapped or was cleared"
        )
        return
    if not total.count:
        yield Clean("no user log cache was flushed in the sample")
        return
    share = 100.0 * count / total.count
    seconds = seconds_of(facts)
    rate = count / seconds if seconds else None
    said = f"{share:.1f} % of the flushes of user log caches are by Full ULC" + (
        f", {rate:,.1f} a second" if rate is not None else ""
    )
    if share <= limits.full_percent or (rate is not None and rate < limits.per_second):
        yield Clean(f"{said} (limits {limits.full_percent:g} % and {limits.per_second:g} a second)")
        return
    yield _finding(facts, limits, (full[0], total), share, rate)


def _finding(
    facts: Facts,
    limits: Limits,
    rows: tuple[UserLogCacheFlushes, UserLogCacheFlushes],
    share: float,
    rate: float | None,
) -> Finding:
    full, total = rows
    waited = _log_waited(facts)
    felt = waited is not None and waited[0] >= limits.log_waited_percent
    change, refused = _change(facts) if felt else (None, "")
    evidence = [
        Evidence("flushes of user log caches by Full ULC", round(share, 1), "%", full.source, limits.full_percent)
    ]
    if rate:
        evidence.append(Evidence("the same a second", round(rate, 1), "/s", full.source, limits.per_second))
    if known(total.count):
        evidence.append(Evidence("flushes of user log caches", total.count, "", total.source))
    if waited:
        evidence.append(Evidence("requests for the log that waited", round(waited[0], 1), "%", waited[1].source))
    return Finding(
        subject=subject_of(facts),
        severity=Severity.ADVICE if felt else Severity.NOTE,
        title=f"{share:.0f} % of the flushes of user log caches come too early: the cache was full",
        seen=f"{share:.1f} % of the flushes are by Full ULC"
        + (f", {rate:,.0f} a second" if rate is not None else "")
        + (f", {WAITED.format(waited[0])}." if felt and waited else "."),
        because=EARLY,
        do="Double the user log cache size, in the next restart." if change else refused or QUIET,
        unknown=UNKNOWN,
        evidence=(*evidence, *(free_evidence(facts) if refused else ())),
        changes=(change,) if change else (),
        explains=("ase/log_semaphore_contended",) if felt else (),
    )


def _log_waited(facts: Facts) -> tuple[float, SemaphoreRequests] | None:
    """Share of the requests for the log semaphore that waited; `None` where it cannot be told."""
    one = facts.latest(SemaphoreRequests, name="Log")
    if one is None or not known(one.waited) or not known(one.total) or not one.total > 0:
        return None
    share = 100.0 * one.waited / one.total
    return (share, one) if 0 <= share <= 100 else None


def _change(facts: Facts) -> tuple[Change | None, str]:
    """Twice the size with the memory it takes, or why it is not scripted, as a sentence."""
    setting = setting_of(facts, SETTING)
    size = setting.run_number if setting else None
    users = _number(facts, "number of user connections")
    if setting is None or size is None or users is None:
        return None, (
            f"Twice the {SETTING} is a first step; its value, and the number of user connections that each have one, "
            "are not in the export: sp_configure shows them."
        )
    workers = _number(facts, "number of worker processes") or 0.0
    new, waiting = 2 * size, waiting_number(setting)
    if waiting is not None and waiting >= new:
        return None, f"A {SETTING} of {waiting:,.0f} bytes is configured and waits for the restart: measure after it."
    if new > LARGEST:
        return None, f"The {SETTING} is {size:,.0f} bytes and cannot be doubled: make the transactions smaller."
    more_mb = (users + workers) * size / 1024 / 1024
    if refused := too_little(facts, SETTING, more_mb):
        return None, refused
    cautions = (STEP, EACH.format(users + workers, more_mb))
    return configure(SETTING, size, new, cautions=cautions, memory_mb=more_mb, configured=waiting), ""


def _number(facts: Facts, name: str) -> float | None:
    setting = setting_of(facts, name)
    return setting.run_number if setting else None
