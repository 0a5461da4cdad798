"""The host pages the server's memory out and in.

Finds: major page faults of the server's process, ten a second or more, as sp_sysmon prints them from 15.7 on (Page
Faults at OS, threaded kernel).

Why it matters: a major fault is one that the operating system serves from disk. The engine that asks for the page does
nothing else meanwhile, and may hold a spinlock or a latch that all wait for. A cache that is paged out costs more than
a smaller one: a page that the server believes in memory is read from swap space.

What to do: have the host's people look at free memory and swap space. Then give the host more memory, or the server
less: caches and pools first, as `max memory` may not be below what is configured (total logical memory), which is taken
at the start in any case; `allocate max shared memory` at 1 takes all of max memory then. Only when all fits, have the
memory locked: `lock shared memory`.

When to ignore it: for some faults in the minutes after a start, when the program and its memory are first touched.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from collectors.facts import ABSENT, Facts, known
from collectors.facts.ase import ConfigParameter, HostLoad, HostMemory, PageFaults, Server
from rules.ase._evidence.caches.memory import PAGE_KB
from rules.ase._evidence.server import setting_of, subject_of
from rules.engine import limit, rule
from rules.finding import Clean, Evidence, Finding, NotApplicable, Outcome, Severity, Unknown, joined

LINKS = (
    "https://man7.org/linux/man-pages/man2/getrusage.2.html",
    "https://infocenter.sybase.com/help/topic/com.sybase.infocenter.dc31644.1600/doc/html/san1371158515347.html",
    "https://infocenter.sybase.com/help/topic/com.sybase.infocenter.dc35890.1600/doc/html/jon1265068889138.html",
)
MOST, ALL_AT_START, LOCKED = "max memory", "allocate max shared memory", "lock shared memory"
BECAUSE = (
    "A major fault is served from disk, and the engine that asks for the page stands still meanwhile, whatever it "
    "holds. Larger caches make it worse."
)


@dataclass(frozen=True)
class Limits:
    """From how many faults on."""

    per_second: float = limit(
        10.0, "this project: a server whose memory is all in the host's has next to none", unit="/s"
    )


@rule(needs=(), uses=(PageFaults, ConfigParameter, Server, HostLoad, HostMemory), links=LINKS, limits=Limits)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Judge the newest report."""
    one = facts.latest(PageFaults)
    server = facts.latest(Server)
    if one is None and server and server.reached("15.7") is False:
        yield NotApplicable("sp_sysmon prints page faults from 15.7 on")
        return
    if one is None or not known(one.major_per_second) or one.major_per_second < 0:
        yield Unknown.of(PageFaults)
        return
    rate = one.major_per_second
    if rate < limits.per_second:
        yield Clean(f"{rate:,.1f} major page faults a second (limit {limits.per_second:g})")
        return
    most, at_start, locked = (setting_of(facts, name) for name in (MOST, ALL_AT_START, LOCKED))
    pages = most.run_number if most else None
    now = f" ({pages * PAGE_KB / 1024:,.0f} MB now)" if pages else ""
    starts = at_start is not None and at_start.run_number == 1
    at_once = f" ({ALL_AT_START} 1 takes all of it at the start)" if starts else ""
    is_locked = locked.run_number if locked else None
    host = facts.latest(HostMemory)
    total, left = (host.total_mb, host.available_mb) if host else (ABSENT, ABSENT)
    has = f" of {total:,.0f} MB" if known(total) else ""
    yield Finding(
        subject="page faults",
        severity=Severity.WARNING,
        title=f"{subject_of(facts)}: the host pages the server out, {rate:,.0f} major page faults a second",
        seen=joined(
            f"The operating system served {rate:,.0f} page faults a second of the server from disk.",
            f"{LOCKED} is {is_locked:.0f}." if is_locked is not None else "",
        ),
        because=BECAUSE,
        do=joined(
            f"Hold {MOST}{now} against the memory{has} and the swap space of the host (free -m, vmstat 5): add memory, "
            f"or make caches smaller, then lower {MOST}{at_once}.",
            "" if is_locked else f"Only when all fits, set {LOCKED} to 1 (static).",
        ),
        unknown=(
            "Who else uses the host's memory is not in the exports."
            if has
            else "How much memory the host has, and who else uses it, is not in the server's exports."
        )
        + (
            ""
            if is_locked
            else f" What rights of the host {LOCKED} needs is in the installation guide of its platform."
        ),
        evidence=(
            Evidence("major page faults", rate, "/s", one.source, limits.per_second),
            *((Evidence(MOST, pages, "pages", most.source),) if most and pages else ()),
            *(
                (Evidence(ALL_AT_START, at_start.run_number, "", at_start.source),)
                if at_start and at_start.run_number is not None
                else ()
            ),
            *((Evidence("memory of the host", total, "MB", host.source),) if host and known(total) else ()),
            *((Evidence("memory still available", left, "MB", host.source),) if host and known(left) else ()),
            *_swapped(facts),
            *((Evidence(LOCKED, is_locked, "", locked.source),) if locked and is_locked is not None else ()),
        ),
    )


def _swapped(facts: Facts) -> Iterator[Evidence]:
    """What the host moves to its swap space and back, where a command counted it over an interval."""
    rows = [one for one in facts.every(HostLoad) if not one.since_boot and known(one.swap_kb_per_second)]
    if rows and known(moved := rows[-1].swap_kb_per_second):
        yield Evidence("swapped in and out", round(moved, 1), "KB/s", rows[-1].source)
