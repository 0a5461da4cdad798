"""How much of the procedure cache of SAP ASE is in use, and how large it should be: `sp_monitorconfig`.

So large that the most that was used is four fifths of it (practice: DbxTune warns from 80 % in use on). Where all of it
was in use at some time, what is needed is hidden, and twice as much is a first step. The parameter is dynamic and
counts pages of 2 KB (knowledge/ase-waits-caches.md, 6).
"""

from math import ceil

from collectors.facts import Fact, Facts, known
from collectors.facts.ase import ResourceUsage
from rules.ase._evidence.caches.memory import (
    LEAST_MB,
    MEMORY_FACTS,
    PAGE_KB,
    free_memory,
    raise_max_memory,
    too_little,
)
from rules.ase._evidence.server import setting_of
from rules.changes.ase_config import configure, legal, more_memory, waiting_number
from rules.finding import Change, Evidence

PROCEDURE_FACTS: tuple[type[Fact], ...] = (ResourceUsage, *MEMORY_FACTS)
"""What a rule declares that asks for it."""
SIZE = "procedure cache size"
USED_PERCENT, USED_ORIGIN = 80.0, "practice: more of the procedure cache in use is an alarm (DbxTune)"
STEP_PAGES = 1024
"""This project: sizes are rounded up to 2 MB."""
HIDDEN = 2
"""This project: of a cache that was full at some time so many times its size, as for locks; then it is listed again."""
WHICH = f'To what size, follows from the most that is in use: sp_monitorconfig "{SIZE}" shows it.'


def usage_of(facts: Facts) -> ResourceUsage | None:
    """The line of sp_monitorconfig; it cuts names at 25 characters."""
    return next((one for one in reversed(facts.every(ResourceUsage)) if one.name.lower() == SIZE), None)


def most_used(facts: Facts) -> tuple[Evidence, ...]:
    """The most pages that were in use, by sp_monitorconfig."""
    usage = usage_of(facts)
    used = [one for one in (usage.active, usage.max_used) if known(one) and one > 0] if usage else []
    return (Evidence("procedure cache in use, at most", max(used), "pages", usage.source),) if usage and used else ()


def pool_of(facts: Facts) -> float | None:
    """Pages of the pool that sp_monitorconfig counts: the statement cache comes on top of the size (vendor).

    So it is what is in use and what is free together, where that is more than the size; `None` where neither is known.
    """
    usage, setting = usage_of(facts), setting_of(facts, SIZE)
    size = setting.run_number if setting else None
    whole = usage.active + usage.free if usage and known(usage.active) and known(usage.free) else None
    return max(filter(None, (size, whole)), default=None)


def used_share(facts: Facts) -> float | None:
    """The most of the pool that was in use, per cent; `None` where sp_monitorconfig was not collected."""
    most, pool = most_used(facts), pool_of(facts)
    return 100.0 * float(most[0].value or 0) / pool if most and pool else None


def now_of(facts: Facts) -> str:
    """The size that runs, in words; nothing where it is not in the export."""
    size = setting_of(facts, SIZE)
    return f"{size.run_number:,.0f} pages of 2 KB now" if size and size.run_number is not None else ""


def wanted_pages(facts: Facts, used_percent: float) -> float | None:
    """The size with which the most that was in use is `used_percent` of the pool; at least twice that of a full one.

    `None` where either is not in the export.
    """
    size, most, pool = setting_of(facts, SIZE), most_used(facts), pool_of(facts)
    if size is None or not size.run_number or not most or not pool:
        return None
    used, beside = float(most[0].value or 0), pool - size.run_number
    least = HIDDEN * size.run_number if used >= pool else 0.0
    return ceil(max(used * 100 / used_percent - beside, least) / STEP_PAGES) * STEP_PAGES


def indicated(facts: Facts, used_percent: float) -> bool:
    """Whether a larger size would help, as far as the exports tell how much of the pool was in use."""
    share = used_share(facts)
    return share is None or wanted_pages(facts, used_percent) is None or share >= used_percent


def not_indicated(share: float | None = None) -> str:
    """That a larger size would not help, with the most of it that was in use, where that is known; without its end."""
    return f"A larger {SIZE} is not indicated" + (f": at most {share:.0f} % of it was in use" if share else "")


def enlarged(facts: Facts, used_percent: float) -> tuple[Change | None, str]:
    """The larger size as a change, and why it does not fit; none where less of the pool was in use, or it waits."""
    setting, wanted = setting_of(facts, SIZE), wanted_pages(facts, used_percent)
    size = setting.run_number if setting else None
    if size is None or wanted is None or wanted <= size or not indicated(facts, used_percent):
        return None, ""
    waiting = waiting_number(setting)
    if not legal(SIZE, wanted) or (waiting is not None and waiting >= wanted):
        return None, ""
    memory_mb, caution = more_memory(setting, size, wanted)
    change = configure(SIZE, size, wanted, cautions=(caution,), memory_mb=memory_mb, configured=waiting)
    return change, too_little(facts, SIZE, memory_mb)


def larger(facts: Facts, used_percent: float) -> str:
    """To what size to raise it, by the most that was in use, or what shows that; without the end of the sentence."""
    size, wanted = setting_of(facts, SIZE), wanted_pages(facts, used_percent)
    share = used_share(facts)
    if size is None or not size.run_number or wanted is None or share is None:
        now = now_of(facts)
        return f"Raise {SIZE} first (dynamic{now and f'; {now}'}{_room(facts, LEAST_MB)})"
    pages = size.run_number
    if not indicated(facts, used_percent):
        return not_indicated(share)
    more = (wanted - pages) * PAGE_KB / 1024
    why = "all of it was in use" if share >= 100 else f"the most that was used is {used_percent:g} % of it then"
    how = f"dynamic, {more:,.1f} MB; {why}{_room(facts, more)}"
    return f"Raise {SIZE} from {pages:,.0f} to {wanted:,.0f} pages first ({how})"


def _room(facts: Facts, needed_mb: float) -> str:
    """That less memory is free than is needed, as a part of a sentence."""
    free = free_memory(facts)
    if free is None or free.mb >= needed_mb:
        return ""
    lacks = raise_max_memory(free.host, needed_mb - free.mb)
    return f"; {free.mb:,.2f} MB are free: {lacks.replace(' if ', ' before, if ', 1)}"
