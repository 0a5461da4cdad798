"""Why user log caches were flushed to the transaction log, by `sp_sysmon`, and whether anybody waits for that log.

Rows and their meaning: knowledge/ase-waits-caches.md, 5.1. A flush is felt where tasks wait for the end of the log: by
the share of requests for its semaphore that waited, and nothing else in sp_sysmon tells it.
"""

from dataclasses import dataclass

from collectors.facts import OVERFLOW, Fact, Facts, known
from collectors.facts.ase import ConfigParameter, SemaphoreRequests, Server, SysmonSample, UserLogCacheFlushes
from rules.ase._evidence.caches.figures import seconds_of
from rules.ase._evidence.objects.rebuild import NEEDS as REBUILD_NEEDS
from rules.ase._evidence.objects.rebuild import fewer_rows
from rules.ase._evidence.objects.updated import UPDATED_FACTS, say_updated, updated_most
from rules.ase._evidence.server import level_reached, setting_of
from rules.engine import limit, percent
from rules.finding import Clean, Evidence, Outcome, Unknown, Untrusted

FLUSH_FACTS: tuple[type[Fact], ...] = (
    *(UserLogCacheFlushes, SemaphoreRequests, SysmonSample, ConfigParameter, Server),
    *UPDATED_FACTS,
)
"""What a rule declares that asks for flushes."""
TOTAL, FULL, NO_BLOCK = "Total ULC Flushes", "by Full ULC", "by No Free Plcblock"
QUEUE = "user log cache queue size"
QUEUED = (
    'First try `sp_configure "user log cache queue size", 1` (static, and so is the way back to 0): 16.0 made it for '
    "datarows tables that many update (vendor), and message 16760 says if it needs a larger user log cache. Then fewer "
    "rows on their pages, by exp_row_size and an outage for reorg rebuild"
)
MINIMAL = "Minimally Logged DMLs"
LOG_WAITED_PERCENT = 20.0
EARLY_PERCENT, EARLY_ORIGIN = (
    20.0,
    "vendor: about 20 % by System Log Record and Other (sp_sysmon guide); this project for the other reasons",
)
IN_ORDER = ("by End Transaction",)
"""What is no flush before its time."""
UNPIN = "by Unpin"
UNPIN_BECAUSE = (
    "A task needs a page of a datarows table whose change is still in another task's log cache (this project's "
    "reading: the manual's list was not found)."
)
FEWER_ROWS = "Put fewer rows on the pages that several change at once: {0}, or spread their keys; "
ANY_TABLE = f'sp_chgattribute "exp_row_size", then reorg rebuild ({REBUILD_NEEDS})'
BY_WAITS = "find them by ase/latch_contended and ase/lock_waits_high."


@dataclass(frozen=True)
class FlushLimits:
    """From which rate of flushes on a rule speaks, and from which waits for the log on they are felt."""

    per_second: float = limit(10.0, "this project: fewer flushes cost nothing that can be seen", unit="/s")
    log_waited_percent: float = percent(
        LOG_WAITED_PERCENT,
        "vendor: its tests kept very high rates with 20 to 30 % waiting for the log semaphore (sp_sysmon guide 15.0.2)",
    )


@dataclass(frozen=True)
class Flushes:
    """All flushes of one sample."""

    rows: tuple[UserLogCacheFlushes, ...]
    """One for each reason and kind of logging."""
    total: UserLogCacheFlushes
    seconds: float | None

    @property
    def whole(self) -> float:
        """How many there were."""
        return self.total.count if known(self.total.count) else 0.0

    def by(self, *reasons: str, minimal: bool | None = None) -> tuple[UserLogCacheFlushes, ...]:
        """The rows of these reasons; `minimal`: of minimally logged changes alone, or of all others."""
        return tuple(
            row
            for row in self.rows
            if row.reason in reasons and (minimal is None or (row.logging == MINIMAL) is minimal)
        )

    def count(self, rows: tuple[UserLogCacheFlushes, ...]) -> float:
        """Flushes of some rows."""
        return sum(row.count for row in rows if known(row.count))

    def percent(self, rows: tuple[UserLogCacheFlushes, ...]) -> float:
        """Their share of all flushes."""
        return 100.0 * self.count(rows) / self.whole if self.whole else 0.0

    def rate(self, rows: tuple[UserLogCacheFlushes, ...]) -> float | None:
        """Flushes a second; `None` where the report does not say how long it sampled."""
        return self.count(rows) / self.seconds if self.seconds else None

    def evidence(self, what: str, rows: tuple[UserLogCacheFlushes, ...], most: float, rate: float) -> list[Evidence]:
        """Share and rate of some rows, and all flushes."""
        found = [
            Evidence(f"flushes of user log caches {what}", round(self.percent(rows), 1), "%", rows[0].source, most)
        ]
        if (per_second := self.rate(rows)) is not None:
            found.append(Evidence("the same a second", round(per_second, 1), "/s", rows[0].source, rate))
        return [*found, Evidence("flushes of user log caches", self.whole, "", self.total.source)]


def flushes_of(facts: Facts) -> Flushes | Outcome:
    """Read them, or say why that cannot be done or that there is nothing."""
    total = facts.latest(UserLogCacheFlushes, reason=TOTAL)
    rows = {(one.reason, one.logging): one for one in facts.every(UserLogCacheFlushes) if one.reason != TOTAL}
    if total is None or not rows:
        return Unknown.of(UserLogCacheFlushes)
    counts = [total.count, *(one.count for one in rows.values())]
    if OVERFLOW in counts:
        return Untrusted("flushes of user log caches: a count is printed as asterisks")
    if not known(total.count):
        return Unknown.of(UserLogCacheFlushes)
    whole = sum(count for count in counts[1:] if known(count))
    if any(known(count) and count < 0 for count in counts) or whole > total.count * 1.001:
        return Untrusted(
            f"flushes of user log caches: {whole:,.0f} by their reasons of {total.count:,.0f} in all cannot be: a "
            "counter wrapped or was cleared"
        )
    if not total.count:
        return Clean("no user log cache was flushed in the sample")
    return Flushes(tuple(rows.values()), total, seconds_of(facts))


def against_unpin(facts: Facts) -> tuple[str, tuple[Evidence, ...]]:
    """What to do about flushes by Unpin, with the datarows tables that are the first to look at, and their figures."""
    tables = updated_most(facts, ("datarows",))
    if (queue := setting_of(facts, QUEUE)) and queue.run_number == 0 and level_reached(facts, "16.0"):
        where = f"; look first at {say_updated(tables)}." if tables else "."
        proof = Evidence(QUEUE, 0.0, "", queue.source)
        return f"{QUEUED}{where}", (proof, *(one.evidence for one in tables))
    which = f"look first at {say_updated(tables)}." if tables else BY_WAITS
    how = fewer_rows(tables[0].row.object_name or "") if tables else ANY_TABLE
    return f"{FEWER_ROWS.format(how)}{which}", tuple(one.evidence for one in tables)


def mostly_unpin(facts: Facts, least_percent: float = EARLY_PERCENT) -> float | None:
    """Share of the flushes by Unpin, where it is the largest of those before their time; `None` where it is not."""
    flushes = flushes_of(facts)
    if not isinstance(flushes, Flushes):
        return None
    shares = {row.reason: flushes.percent(flushes.by(row.reason)) for row in flushes.rows if row.reason not in IN_ORDER}
    largest = max(shares, key=lambda reason: shares[reason], default="")
    return shares[UNPIN] if largest == UNPIN and shares[UNPIN] > least_percent else None


@dataclass(frozen=True)
class LogWaited:
    """Requests for the end of a log that had to wait."""

    percent: float
    row: SemaphoreRequests

    @property
    def evidence(self) -> Evidence:
        """The figure."""
        return Evidence("requests for the log that waited", round(self.percent, 1), "%", self.row.source)


def log_waited(facts: Facts) -> LogWaited | None:
    """Share of the requests for the log semaphore that waited; `None` where it cannot be told."""
    one = facts.latest(SemaphoreRequests, name="Log")
    if one is None or not known(one.waited) or not known(one.total) or not one.total > 0:
        return None
    share = 100.0 * one.waited / one.total
    return LogWaited(share, one) if 0 <= share <= 100 else None
