"""What shortens the queue for the end of a transaction log, in its order, without what the exports rule out.

Data and log on the same devices come before everything. A larger user log cache is named by what flushes them, a
faster device by the time of a task's own write (wait event 55) and not named where waits behind the writes of others
(event 54) are many times as long, which no device explains. A log cache where none is there, a smaller log I/O size
where `ase/log_io_size_unfit` would try one. What no export shows is named with its condition. Sources: knowledge/
ase-waits-caches.md, 1.4 and 5.
"""

from dataclasses import dataclass

from collectors.facts import Fact, Facts, known
from collectors.facts.ase import (
    CacheBinding,
    CachePool,
    LogWrites,
    MonCachePool,
    MonDeviceIO,
    NamedCache,
    Server,
    SysmonSample,
)
from rules.ase._evidence.caches.figures import kind_of, pools_of
from rules.ase._evidence.log.committers import BATCH, COMMITTER_FACTS, MOST, committers, full_percent, small_commits
from rules.ase._evidence.log.databases import DATABASE_FACTS, most_of
from rules.ase._evidence.log.flushes import FLUSH_FACTS, FULL, Flushes, flushes_of
from rules.ase._evidence.log.mixed import MIXED_FACTS, mixed_logs, separate_first
from rules.ase._evidence.log.waiting import WAITING_FACTS, log_of, log_waiters, only_log
from rules.ase._evidence.server import interval_first, offers
from rules.ase._evidence.waits.events import LOG_WRITES, OWN_LOG_WRITES
from rules.ase._evidence.waits.tasks import WAIT_FACTS, Waited, waited_for
from rules.changes.quoting import comment
from rules.engine import limit, percent
from rules.finding import Evidence, capitalized, joined

LEVER_FACTS: tuple[type[Fact], ...] = (
    *(*FLUSH_FACTS, *MIXED_FACTS, *WAIT_FACTS, *DATABASE_FACTS, *WAITING_FACTS, *COMMITTER_FACTS),
    *(CacheBinding, CachePool, LogWrites, MonCachePool, MonDeviceIO, NamedCache, Server, SysmonSample),
)
"""What a rule declares that asks for them."""
OWN = "one's own write of the log"
WELL_ABOVE = 2.0
"""This project: from how many writes of each page of the log on it is well above 1 (vendor)."""
MEASURE_AGAIN = "Then measure again: which of the other levers is left (ase/user_log_cache_flushes) shows after that."
DELAYED, LARGER = "delayed commit", "larger transactions"
BATCHES = "Put many changes into one transaction{1}: there are {0}."
COMMIT_LESS = f"Let {{0}}, commit once for some {BATCH} rows: {{1}}."
FULL_SESSIONS = "a larger user log cache size (static): {0:.0f} % of the flushes of all sessions were of full ones"
OWN_TASKS, BEHIND_TIMES = 1.0, 4.0
"""This project: from so many tasks on average that wait for their own write on, the log is written all the time; and up
to how many writes a wait behind those of others lasts where it is the device that makes it."""
FAST_MS = 1.5
"""This project: up to how many ms a write of the log is so fast that another device is no lever worth its price."""
READ_SHARE = 0.02
"""This project: reads of a device for its writes, below which it is written as a log is."""
FULL_PERCENT, FULL_ORIGIN = 20.0, "vendor: more than 20 % by Full ULC (sp_sysmon guide)"
SLOW_MS = 10.0
SLOW_ORIGIN = "this project: no limit is published for writes of the log; the vendor calls a read above 10 ms slow"


@dataclass(frozen=True)
class LogLimits:
    """From when on a write of the log is slow, and caches are flushed for being full."""

    milliseconds: float = limit(SLOW_MS, SLOW_ORIGIN, unit="ms")
    full_percent: float = percent(FULL_PERCENT, FULL_ORIGIN)


def own_write(facts: Facts) -> Waited | None:
    """A task's own writes of the log, which wait for nothing but the device; `None` where their time is not known."""
    own = waited_for(facts, OWN, OWN_LOG_WRITES)
    return own if isinstance(own, Waited) and not own.unsure and own.mean_milliseconds is not None else None


def own_milliseconds(facts: Facts) -> float | None:
    """How long one of them takes."""
    own = own_write(facts)
    return own.mean_milliseconds if own else None


def own_evidence(facts: Facts, slow_ms: float) -> list[Evidence]:
    """The figure."""
    own, mean = own_write(facts), own_milliseconds(facts)
    return [Evidence(f"mean time of {OWN}", round(mean, 1), "ms", own.source, slow_ms)] if own and mean else []


def say_device(facts: Facts, slow_ms: float) -> str:
    """How long an own write takes, as the end of a sentence; nothing where no export tells."""
    mean = own_milliseconds(facts)
    if mean is None:
        return ""
    side = "over" if mean > slow_ms else "under"
    return f"; one's own takes {mean:,.1f} ms, {side} this project's limit of {slow_ms:g} ms"


def fast_device(facts: Facts) -> bool:
    """Whether an own write is known to be as fast as one of the log can be expected to be."""
    mean = own_milliseconds(facts)
    return mean is not None and mean <= FAST_MS


def _devices_fast(facts: Facts) -> bool:
    """Whether every device that is written is so fast, the log's among them."""
    rows = [one for one in interval_first(facts, MonDeviceIO) if known(one.writes) and one.writes > 0]
    each = [_at_most(one) for one in rows]
    return bool(each) and all(one is not None and 0 < one <= FAST_MS for one in each)


def _at_most(row: MonDeviceIO) -> float | None:
    """Mean milliseconds of one I/O of a device at most, by the requests that were counted; `None` without any.

    `MonDeviceIO.mean_milliseconds` wants all kinds of requests; one that is not counted only makes this larger.
    """
    counts = [one for one in (row.reads, row.apf_reads, row.writes) if known(one)]
    return row.io_milliseconds / sum(counts) if known(row.io_milliseconds) and sum(counts) > 0 else None


def of_log(facts: Facts) -> str:
    """Whose log it is, as the end of a title; empty where no export shows it."""
    whose, inferred = most_of(facts), log_of(facts)
    name = whose.first.name if whose else inferred.name if inferred else ""
    return f"; the log of {name}" if name else ""


def whose_evidence(facts: Facts) -> list[Evidence]:
    """The figures by which it is that log, who waits for it, and who commits most."""
    whose, inferred, waiters, most = most_of(facts), log_of(facts), log_waiters(facts), committers(facts)
    return [
        *(whose.evidence if whose else ()),
        *((inferred.evidence,) if inferred else ()),
        *((waiters.evidence,) if waiters else ()),
        *(most.evidence if most else ()),
    ]


def levers(facts: Facts, limits: LogLimits, *, before: str = "") -> str:
    """What to look at, and all levers that are left; data and log on one device come before all of it.

    `before`: a lever that the caller's own figures put before the others.
    """
    if mixed := mixed_logs(facts):
        return joined(separate_first(mixed), MEASURE_AGAIN)
    most, small = committers(facts), small_commits(facts)
    if most or small:
        which = "" if most or of_log(facts) else "; whose log it is, monOpenDatabases shows"
        waiters = log_waiters(facts)
        rest = left(facts, limits, fewer=True).replace(f"{LARGER}, ", "").replace(LARGER, "")
        others = f"{f'{before}, ' if before else ''}{rest}{delayed(facts)}".removeprefix(", ")
        who = f" in {waiters.says}" if waiters else ""
        first = COMMIT_LESS.format(most.who, most.says) if most else BATCHES.format(small.says, who) if small else ""
        return first + (f" Then, in this order: {others}{which}." if others else "")
    counted = isinstance(flushes_of(facts), Flushes) or full_percent(facts) is not None
    flushed = "" if counted else "why user log caches are flushed (Transaction Management of sp_sysmon) and "
    one = only_log(facts)
    which = "" if of_log(facts) else f"{f'that it is the log of {comment(one)}' if one else 'which log it is'} "
    which += "(monOpenDatabases)" if which else ""
    first = (
        joined(f"First see {flushed.removesuffix(' and ') if not which else flushed}{which}.")
        if flushed or which
        else ""
    )
    order = f"in this order: {f'{before}, ' if before else ''}{left(facts, limits)}{delayed(facts)}."
    return joined(first, f"Then, {order}" if first else capitalized(order))


def delayed(facts: Facts) -> str:
    """Delayed commit as the last of a list, where the release has it."""
    return f", {DELAYED} (its owner decides: a crash may lose the last page)" if offers(facts, DELAYED) else ""


def behind_times(facts: Facts) -> float:
    """How many own writes a wait behind those of others (event 54) lasts, where no device explains that; else 0.

    Also 0 where either time is not known, or so many wait for their own that the log is written all the time.
    """
    own, mean = own_write(facts), own_milliseconds(facts)
    others = waited_for(facts, "others' writes of the log", LOG_WRITES - OWN_LOG_WRITES)
    if own is None or not mean or own.tasks >= OWN_TASKS:
        return 0.0
    if not isinstance(others, Waited) or others.unsure or not others.mean_milliseconds:
        return 0.0
    times = others.mean_milliseconds / mean
    return times if times > BEHIND_TIMES else 0.0


def left(facts: Facts, limits: LogLimits, *, beside_device: bool = False, fewer: bool = False) -> str:
    """The levers that the exports do not rule out, in their order, but for delayed commit.

    `beside_device`: the device is spoken of, so what is left is what makes its writes fewer or smaller. `fewer`: that
    commits become far fewer comes first, so a device that is not slow is judged after that.
    """
    mean = own_milliseconds(facts)
    slow = mean is not None and mean > limits.milliseconds
    held = slow or beside_device or fewer or fast_device(facts) or behind_times(facts)
    faster = not (_devices_fast(facts) or _log_device_fast(facts)) if mean is None else not held
    found = (
        f"a faster log device ({mean:,.1f} ms a write)" if slow and not beside_device else "",
        _user_log_cache(facts, limits, beside_device),
        "" if _filled(facts) else LARGER,
        "a faster log device" if faster else "",
        "" if beside_device or _own_cache(facts) else "a log-only cache of its own",
        _smaller_writes(facts) if beside_device else "",
    )
    return ", ".join(one for one in found if one)


def _filled(facts: Facts) -> bool:
    """Whether most flushes of user log caches are of full ones: larger transactions fill them all the more."""
    flushes = flushes_of(facts)
    share = flushes.percent(flushes.by(FULL)) if isinstance(flushes, Flushes) else full_percent(facts)
    return share is not None and share > 100 * MOST


def _log_device_fast(facts: Facts) -> bool:
    """Whether all devices that are named as a log's and hardly read, as a log is, are so fast."""
    rows = [one for one in interval_first(facts, MonDeviceIO) if "log" in one.device.lower()]
    hardly = [one for one in rows if known(one.reads) and known(one.writes) and one.reads < READ_SHARE * one.writes]
    return bool(hardly) and all((each := _at_most(one)) is not None and 0 < each <= FAST_MS for one in hardly)


def _user_log_cache(facts: Facts, limits: LogLimits, only_counted: bool) -> str:
    """A larger user log cache, by what flushes them; nothing where none was counted and `only_counted` are named."""
    flushes = flushes_of(facts)
    sessions = full_percent(facts)
    if not isinstance(flushes, Flushes) and sessions is not None:
        return FULL_SESSIONS.format(sessions) if sessions > limits.full_percent else ""
    if not isinstance(flushes, Flushes):
        return (
            ""
            if only_counted
            else f"a larger user log cache size (static) if over {limits.full_percent:g} % of flushes are by Full ULC"
        )
    share = flushes.percent(flushes.by(FULL))
    return (
        f"what ase/user_log_cache_flushes says ({share:.0f} % are by Full ULC)" if share > limits.full_percent else ""
    )


def _own_cache(facts: Facts) -> bool:
    """Whether a cache for logs is there, by its type or by a log that is bound to a named one."""
    return any(kind_of(one) == "log" for one in facts.every(NamedCache)) or bool(caches_of_logs(facts))


def _smaller_writes(facts: Facts) -> str:
    """A smaller log I/O size, where the pages of the log are written often enough and a smaller one can be."""
    if only_pool(facts):
        return ""
    each = writes_each(facts)
    if each is None:
        return "a smaller log I/O size (`sp_logiosize`) if log pages are written more than once"
    return (
        f"a smaller log I/O size (`sp_logiosize`: each page is written {each:.1f} times)" if each >= WELL_ABOVE else ""
    )


def writes_each(facts: Facts) -> float | None:
    """How many times each page of the log is written, all databases together; `None` where it was not counted."""
    row = facts.latest(LogWrites)
    if row is None or not known(row.count) or not known(row.pages) or not row.pages > 0:
        return None
    return row.count / row.pages


def caches_of_logs(facts: Facts) -> set[str]:
    """The caches that a log is bound to by itself."""
    return {one.cache for one in facts.every(CacheBinding) if (one.table or "").lower() == "syslogs"}


def only_pool(facts: Facts) -> str:
    """Why no log can be written in smaller pieces: each cache that a log is bound to has one pool, that of a page.

    Nothing where another is known, or no cache of a log is: then a larger size may have been set.
    """
    caches = caches_of_logs(facts)
    sizes = {cache: {pool.io_size_kb for pool in pools_of(facts, cache)} for cache in caches}
    if not caches or any(len(found) != 1 for found in sizes.values()):
        return ""
    (size, *_) = {kilobytes for found in sizes.values() for kilobytes in found}
    return f"the cache of the log ({', '.join(sorted(caches))}) has pages of {size:g}K alone"
