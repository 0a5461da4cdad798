"""Pages are read again and again, and the processes have few buffers.

Finds: page fetches that do not find their page in the buffers, as a share of all, while transactions read pages
synchronously, beside the number of buffers a process has.

Why it matters: each such fetch waits for the disk, and a transaction keeps its locks meanwhile. Oracle's own analysis
screen calls less than 75 % of the fetches found in local buffers, 85 % in global ones, worth a look, which is an
indication, no proof. A user limit of global buffers is to be above the default number of buffers (SQL help).

What to do: give each process more buffers: NUMBER OF BUFFERS, or USER LIMIT IS with NUMBER IS for all of a node, where
the node has the memory. Where SHOW MEMORY shows it free, global buffers take a tenth of it, which all users share.
Then count the fetches and reads again.

When to ignore it: where large tables are scanned once, as reports and batch runs do: no number of buffers helps that,
an index may. Some processes may have a number of their own (RDM$BIND_BUFFERS).
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from collectors.facts import Facts, Source, known
from collectors.facts.openvms import MemoryUse
from collectors.facts.rdb import BufferHits, StatisticRow
from rules.changes.rdb_database import Place, alter
from rules.engine import limit, percent, rule
from rules.finding import Change, Clean, Evidence, Expectation, Finding, Outcome, Severity, Unknown, Untrusted
from rules.openvms._evidence.memory import FreeMemory, free_memory
from rules.rdb._evidence.counted import COUNTED_FACTS, caveats, counted, of_each_node, per_transaction, rounded, shown
from rules.rdb._evidence.databases import OneDatabase, belonging, databases
from rules.rdb._evidence.limits import least
from rules.rdb._evidence.prerequisites import place_of
from rules.rdb._evidence.screens import screens
from rules.rdb._evidence.sharing import open_elsewhere
from rules.rdb._evidence.statistics import LEAST_COUNTED, Rate, Statistics

LINKS = (
    "https://uprrp2.uprrp.edu/help/sys$common/syshlp/rmudisplay72.hlb?key=Overview~Fields~PIO_Statistics__Data_Fetches_screen",
    "https://uprrp2.uprrp.edu/help/sys$common/syshlp/sql$help72.hlb?key=CREATE~DATABASE~Arguments~USER_LIMIT",
)
FETCHES = re.compile(r"\b(?:PIO Statistics|Summary PIO)\W{0,4}Data Fetches\b", re.IGNORECASE)
ASKED, MISSED = ("fetch for read", "fetch for write"), "not found: read"
SCREEN = (
    "a write (key W) of the RMU/SHOW STATISTICS screen PIO Statistics--Data Fetches, or Buffer Analysis, after minutes "
    "of typical load"
)
FEW = 20
"""The number that a header of the vendor's manual shows as the default of a local pool (RMU help, Open)."""
BLOCK = 512
KILOBYTE = 1_024
MEGABYTE = KILOBYTE**2
MOST = 1_048_576
"""Global buffers that a change sets at most, as in `rules.changes.rdb_clauses`."""
FREE_SHARE, ONE_STEP_MB = 0.1, 2_048.0
"""This project: what global buffers take of the memory that is free, and of any memory in one step: no export tells
how many pages are read again."""
ROOM = "room for a global section of {:,.0f} MB (GBLPAGES, and GBLPAGFIL where it lies in a page file)"
MAY_BE = " that there may be"
EACH = "synchronous data reads per transaction"


@dataclass(frozen=True)
class Limits:
    """From where on too many fetches miss."""

    local_percent: float = percent(
        25.0, "vendor: Buffer Analysis, local buffer page hit below 75 % (RDM$BIND_STATS_LB_PAGE_HIT_RATIO)", low=1
    )
    global_percent: float = percent(
        15.0, "vendor: Buffer Analysis, global buffer pool hit below 85 % (RDM$BIND_STATS_GB_POOL_HIT_RATIO)", low=1
    )
    acts_percent: float = percent(
        50.0, "this project: where fewer than half of the fetches wait for the disk, a note alone", low=1
    )
    reads_per_second: float = least(50.0, "synchronous data reads/s")
    reads_per_transaction: float = limit(
        5.0, "this project: fewer reads are those that any transaction needs", unit="synchronous data reads"
    )


@rule(
    needs=(StatisticRow,),
    uses=(*COUNTED_FACTS, BufferHits, MemoryUse),
    links=LINKS,
    limits=Limits,
    sample=LEAST_COUNTED,
)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Judge each database by the node that reads most."""
    for one in databases(facts, (StatisticRow,)):
        yield _judge(facts, one, limits)


def _judge(facts: Facts, one: OneDatabase, limits: Limits) -> Outcome:
    found, _ = counted(facts, one)
    nodes = of_each_node(found, lambda each: each.rate("synch data reads"))
    reads, of = max(nodes, key=lambda pair: pair[0].per_second, default=(None, None))
    if reads is None or of is None:
        return Unknown.without("synchronous data reads (Summary IO)", StatisticRow.COLLECTED_BY, one.subject)
    per = per_transaction(of, [reads])
    figures = f"{one.subject}: {rounded(reads.per_second)} synchronous data reads/s"
    figures += f", {rounded(per)} for each transaction" if per is not None else ""
    if reads.per_second < limits.reads_per_second or (per is not None and per < limits.reads_per_transaction):
        said = f"(limits {limits.reads_per_second:g}/s and {limits.reads_per_transaction:g})"
        return Clean(f"{figures} {said}")
    shared = one.is_on("global_buffers")
    least_percent = limits.global_percent if shared else limits.local_percent
    fetched = [each for each in screens(facts, one, FETCHES) if each.node in (None, (of.node or "").upper())]
    each = next((each for each in fetched if each.total(*ASKED) and each.total(MISSED) is not None), None)
    if each is not None:
        asked, missed = each.total(*ASKED) or 0.0, each.total(MISSED) or 0.0
        if missed > 1.05 * asked + 0.2:
            return Untrusted(f"{each.title}: more fetches missed than there are; write the screen again")
        share = min(100.0, 100 * missed / asked)
        seen = (
            f"{rounded(asked * share / 100)} of {rounded(asked)} page fetches/s do not find their page in the buffers"
        )
        misses = _Misses(share, least_percent, f"{seen} ({each.over})", each.source(MISSED))
    elif hits := _hits(facts, one, of, "global_percent" if shared else "local_percent"):
        share, pool = 100.0 - hits[0], "global" if shared else "local"
        seen = f"{rounded(share)} % of the page fetches do not find their page in {pool} buffers (Buffer Analysis)"
        misses = _Misses(share, least_percent, seen, hits[1])
    else:
        return Unknown.without("how many page fetches find their page in the buffers", SCREEN, figures)
    if misses.share < least_percent:
        return Clean(f"{figures}; {misses.share:.0f} % of the page fetches read their page (limit {least_percent:g} %)")
    return _finding(facts, one, limits, misses, (reads, of, per))


@dataclass(frozen=True)
class _Misses:
    """Page fetches that do not find their page."""

    share: float
    """Per cent of all."""
    limit: float
    said: str
    source: Source


def _hits(facts: Facts, one: OneDatabase, of: Statistics, field: str) -> tuple[float, Source] | None:
    """The share of page fetches that find their page by the analysis screen of the node, the latest one."""
    found = [
        (float(value), hits.source)
        for hits in belonging(facts.every(BufferHits), one)
        if (hits.node or "").upper() in ("", (of.node or "").upper()) and known(value := getattr(hits, field))
    ]
    return found[-1] if found else None


def _finding(
    facts: Facts,
    one: OneDatabase,
    limits: Limits,
    misses: _Misses,
    reading: tuple[Rate, Statistics, float | None],
) -> Finding:
    share, (reads, of, per) = misses.share, reading
    own, said, why = _buffers(one)
    pool = _pool(facts, one) if why else None
    acts = share >= limits.acts_percent or (pool is not None and one.is_on("global_buffers"))
    changes = _changes(facts, one, pool) if why and acts else ()
    return Finding(
        subject=one.subject,
        severity=Severity.ADVICE if changes else Severity.NOTE,
        title=f"{share:.0f} % of the page fetches read their page from the disk{f', with {said}' if said else ''}",
        seen=(
            misses.said
            + (f": {rounded(per)} synchronous reads for each transaction" if per is not None else "")
            + (f". A process has {said}." if said else ".")
        ),
        because=f"Each such fetch waits for the disk, and its transaction keeps its locks meanwhile.{why}",
        do=_do(one, changes, pool) if changes else _nothing(own, why),
        unknown=caveats(one, of)
        or "Pages that are scanned once are read whatever the buffers: see that the reads are not those of reports.",
        evidence=(
            Evidence("page fetches that read their page", round(share, 1), "%", misses.source, misses.limit),
            *shown("synchronous data reads", reads, limits.reads_per_second),
            *(
                (Evidence(EACH, round(per, 1), "", reads.source, limits.reads_per_transaction),)
                if per is not None
                else ()
            ),
            *_settings(one),
        ),
        changes=changes,
        expects=(Expectation("page fetches that read their page (%)", round(share, 1), "lower", "heuristic"),),
    )


def _buffers(one: OneDatabase) -> tuple[float | None, str, str]:
    """How many buffers a process has, in words, too; and why that is few, a sentence, else nothing."""
    default, most = one.figure("user_buffer_count"), one.figure("user_limit")
    if one.is_on("global_buffers"):
        said = f"{most:,.0f} global buffers at most" if most is not None else ""
        few = most is not None and (most < FEW or (default is not None and most <= default))
        above = " Oracle says to set the user limit above the default number of buffers, and 5 is only its default."
        return most, said, above if few else ""
    said = f"{default:,.0f} buffers by default" if default is not None else ""
    few = default is not None and default <= FEW and one.is_on("global_buffers") is False
    return default, said, f" {FEW} or fewer are what a database has that nobody has sized." if few else ""


@dataclass(frozen=True)
class _Pool:
    """Global buffers of a node, sized by the memory that is free."""

    number: float
    each: float
    """The user limit: the number divided by the users that there may be (vendor: SQL help on USER LIMIT IS)."""
    default: float
    """Buffers of a user by default, below the limit (vendor: the same)."""
    mb: float
    free: FreeMemory


def _pool(facts: Facts, one: OneDatabase) -> _Pool | None:
    """What the free memory allows; `None` where it is not known, or not more than what the buffers have now."""
    blocks, users, free = one.figure("buffer_blocks"), one.figure("maximum_users"), free_memory(facts)
    if not blocks or not users or free is None or open_elsewhere(facts, one):
        return None
    size = blocks * BLOCK / MEGABYTE
    number = min(MOST, min(FREE_SHARE * free.mb, ONE_STEP_MB) / size // 1_000 * 1_000)
    default = max(5 * FEW, 2 * (one.figure("user_buffer_count") or 0))
    now = (one.figure("global_buffer_count"), one.figure("user_limit")) if one.is_on("global_buffers") else (0, 0)
    each = number // users
    more = None not in now and number > (now[0] or 0) and each > (now[1] or 0)
    return _Pool(number, each, default, number * size, free) if more and each > default else None


def _changes(facts: Facts, one: OneDatabase, pool: _Pool | None) -> tuple[Change, ...]:
    """More buffers of the kind that is in use; the old value has to be known, and is at least doubled.

    With memory that is known to be free also more global buffers, or these instead of local ones.
    """
    place, shared = place_of(facts, one), one.is_on("global_buffers")
    own, _, _ = _buffers(one)
    if own is None:
        return ()
    if not shared:
        local = alter("buffers", place, own, max(5 * FEW, 2 * own))
        return (local, _enabled(place, pool)) if pool else (local,)
    count, users = one.figure("global_buffer_count"), one.figure("maximum_users")
    new = pool.each if pool else max(FEW, 2 * own)
    total = pool.number if pool else new * users if users is not None else 0
    care = (f"The node needs {ROOM.format(pool.mb)}.",) if pool else ()
    many = count is not None and total > count
    more = [alter("global_buffer_count", place, count, total, cautions=care)] if many else []
    more.append(alter("user_limit", place, own, new, needs=tuple(change.key for change in more)))
    default = one.figure("user_buffer_count")
    if pool and default and default < pool.default:
        more.append(alter("buffers", place, default, pool.default, needs=tuple(change.key for change in more)))
    return tuple(more)


def _enabled(place: Place, pool: _Pool) -> Change:
    """Global buffers, with their size: enabled by themselves they have one that nobody chose."""
    room = f"when the node has {ROOM.format(pool.mb)}"
    return alter("global_buffers", place, "DISABLED", "ENABLED", when=room, sized=(pool.number, pool.each))


def _do(one: OneDatabase, changes: tuple[Change, ...], pool: _Pool | None) -> str:
    blocks, users = one.figure("buffer_blocks"), one.figure("maximum_users")
    size = f" of {blocks * BLOCK / KILOBYTE:,.0f} kB each" if blocks else ""
    room = f"{pool.mb:,.0f} MB beside {pool.free.said}" if pool else ""
    if one.is_on("global_buffers"):
        named = ", then ".join(f"{change.target} from {_said(change.old)} to {_said(change.new)}" for change in changes)
        seen = f", {room}" if pool else ", after SHOW MEMORY has shown that the node has that memory"
        return f"Set {named}{size}{seen}; then count again."
    local, new = changes[0], changes[0].new
    if blocks and users and isinstance(new, int | float):
        size += f", {blocks * BLOCK * users * new / MEGABYTE:,.0f} MB for all {users:,.0f} users{MAY_BE}"
    named = f"{local.target} from {_said(local.old)} to {_said(new)}{size}"
    if not pool:
        return f"Set {named}, after SHOW MEMORY has shown that the node has that memory; then count again."
    return (
        f"In an outage set GLOBAL BUFFERS ARE ENABLED (NUMBER IS {pool.number:.0f}, USER LIMIT IS {pool.each:.0f}), "
        f"which all users share ({room}), with {named.removesuffix(MAY_BE)}. Until then a program that starts with "
        f"RDM$BIND_BUFFERS defined as {_said(new)} has that many."
    )


def _said(value: object) -> str:
    return f"{value:,.0f}" if isinstance(value, int | float) else str(value)


def _nothing(own: float | None, why: str) -> str:
    if own is None:
        return "Nothing is set here: how many buffers a process has is not in the export (RMU/DUMP/HEADER)."
    if why:
        return "Nothing is set here: most fetches find their page; see first which queries read the others."
    return "Nothing is set here: the buffers are no longer the default; see first which queries read so many pages."


def _settings(one: OneDatabase) -> tuple[Evidence, ...]:
    fields = {
        "global buffers for each user at most": "user_limit",
        "global buffers of a node": "global_buffer_count",
        "buffers of a user by default": "user_buffer_count",
    }
    read = {name: one.read(field) for name, field in fields.items()}
    return tuple(Evidence(name, float(r.value), "", r.source) for name, r in read.items() if r and known(r.value))
