"""Whether a report adds up (ase-formats.md 1.9 and 1.10: these sums hold exactly in every real report seen [R]).

Sample::

    Total Lock Requests = all totals of the lock types, address locks included, last page locks not
    Avg Lock Contention = all their waits
    Total Cache Searches of the summary = those of all caches, and hits and misses of each make its searches
    Buffers Grabbed = the turnover of all caches, and that of each = the grabs of its pools

Where a sum does not hold, lines are missing or figures were changed. Where a figure is missing, nothing is said; nor
is it of sums over a section that the report was cut in.
"""

from collections.abc import Iterator, Sequence

from collectors.facts.ase.sysmon import CacheActivity, LockRequests, LockSummary
from collectors.facts.ase.sysmon_detail import CachePoolActivity
from collectors.facts.base import ABSENT, Fact, Reading
from collectors.reports.ase.sp_sysmon.forms import total

LAST_PAGE = "Last Page Locks on Heaps"
MOST_NAMED = 4
REMEDY = "lines are missing or figures were changed: export the report again"


def lock_sums(facts: Sequence[Fact], *, cut: bool) -> Iterator[str]:
    """Check the locks; `cut`: lock types may be missing at the end."""
    types = [fact for fact in facts if isinstance(fact, LockRequests)]
    wrong = [one.lock_type for one in types if _differ(one.total, [one.granted, one.waited])]
    if wrong:
        named = ", ".join(wrong[:MOST_NAMED]) + (", …" if len(wrong) > MOST_NAMED else "")
        yield f"Lock Detail: granted and waited do not make the total of {named}; {REMEDY}"
    counted = [one for one in types if one.lock_type != LAST_PAGE]
    summaries = [fact for fact in facts if isinstance(fact, LockSummary)]
    if cut or not counted or not summaries:
        return
    for what, whole, parts in (
        ("requests", summaries[0].requests, [one.total for one in counted]),
        ("waits", summaries[0].waited, [one.waited for one in counted]),
    ):
        if _differ(whole, parts):
            yield f"Lock Detail: {what} of all lock types add up to {total(parts):.0f}, not to {whole:.0f}; {REMEDY}"


def cache_sums(facts: Sequence[Fact], searches: Reading, grabbed: Reading, *, cut: bool) -> Iterator[str]:
    """Check the data caches against the summary's searches and buffers grabbed; `cut`: caches may be missing."""
    found = [fact for fact in facts if isinstance(fact, CacheActivity)]
    pools: dict[str, list[Reading]] = {}
    for fact in facts:
        if isinstance(fact, CachePoolActivity) and fact.grabbed is not ABSENT:
            pools.setdefault(fact.cache, []).append(fact.grabbed)
    for one in found:
        if _differ(one.searches, [one.hits, one.misses]):
            yield f"Cache {one.name}: hits and misses do not make the searches; {REMEDY}"
        if one.grabbed != 0 and _differ(one.grabbed, pools.get(one.name, ())):
            yield f"Cache {one.name}: the grabs of its pools do not make the turnover; {REMEDY}"
    for what, whole, parts in (
        ("searches", searches, [one.searches for one in found]),
        ("buffers grabbed", grabbed, [one.grabbed for one in found]),
    ):
        if found and not cut and _differ(whole, parts):
            yield f"Data caches: {what} add up to {total(parts):.0f}, not to {whole:.0f} as the summary says; {REMEDY}"


def _differ(whole: Reading, parts: Sequence[Reading]) -> bool:
    """Whether these are all numbers and do not add up."""
    numbers = [part for part in parts if isinstance(part, float)]
    return isinstance(whole, float) and len(numbers) == len(parts) and sum(numbers) != whole
