"""A cache for logs that misses much: who reads the log behind those who write it, reads it from disk.

What is written to a log stays in its cache until newer pages take its place; the RepAgent, a rollback or a trigger that
reads further back misses. So the cache lasts as long as the log takes to grow by its size, which sp_sysmon tells, and a
reader further behind than that is what makes it miss (this project's reasoning). Only of a cache of type log only.
"""

from dataclasses import dataclass

from collectors.facts import Fact, Facts, known
from collectors.facts.ase import CacheActivity, LogWrites, MonProcessActivity, NamedCache, SysmonSample
from rules.ase._evidence.caches.figures import kind_of, named_of, seconds_of
from rules.ase._evidence.server import page_kb
from rules.changes.quoting import comment
from rules.finding import Evidence

READ_BEHIND_FACTS: tuple[type[Fact], ...] = (CacheActivity, LogWrites, MonProcessActivity, NamedCache, SysmonSample)
AGENT = "REP AGENT"
"""What `monProcess` says a session of the RepAgent does."""
MOST = 0.5
"""This project: of the misses; who makes as many physical reads is who reads behind."""


@dataclass(frozen=True)
class ReadBehind:
    """How long the cache lasts, and which RepAgent makes its misses."""

    lasts: str
    """As a sentence; empty where the growth of the logs is not in the export."""
    growth: str
    """In brackets behind "as large as the log grows"; empty where it is not known."""
    agent: str
    """As a sentence; empty where none is known to be the one."""
    evidence: tuple[Evidence, ...]


def read_behind(facts: Facts, cache: CacheActivity, size_mb: float, missed: float) -> ReadBehind:
    """What is known of the readers; `missed`: misses of the cache in the sample."""
    lasts, grows = "", ""
    evidence: list[Evidence] = []
    written, seconds, page = facts.latest(LogWrites), seconds_of(facts), page_kb(facts)
    only = [one.name for one in facts.every(NamedCache) if kind_of(named_of(facts, one.name)) == "log"]
    if written and seconds and page and known(written.pages) and written.pages > 0 and set(only) == {cache.name}:
        growth = written.pages * page / 1024 / seconds
        grows = f" ({growth:.1f} MB for each second)"
        lasts = f"All logs grow by {growth:.1f} MB a second, which {size_mb:,.0f} MB hold {size_mb / growth:,.0f} s of."
        evidence.append(
            Evidence("growth of all logs", round(growth, 2), "MB/s", written.source, None, "from its pages")
        )
    agent = rep_agent(facts, "physical_reads")
    if agent is None or agent[0] < MOST * missed:
        return ReadBehind(lasts, grows, "", tuple(evidence))
    reads, row = agent
    of = f" of {comment(row.database)}" if row.database else ""
    evidence.append(Evidence(f"physical reads of the RepAgent, SPID {row.spid}", reads, "", row.source))
    return ReadBehind(
        lasts, grows, f"The RepAgent{of} (SPID {row.spid}) made {reads:,.0f} physical reads.", tuple(evidence)
    )


def rep_agent(facts: Facts, counter: str) -> tuple[float, MonProcessActivity] | None:
    """The session of a RepAgent that counted most of this over an interval, with its number; `None` without one."""
    found = [
        (count, row)
        for row in facts.every(MonProcessActivity)
        if row.of_interval and row.believed and (row.command or "").upper() == AGENT
        if known(count := getattr(row, counter))
    ]
    return max(found, key=lambda pair: pair[0], default=None)
