"""Page faults that larger working sets would spare: pages that a process lost and takes back out of memory.

A page that leaves a working set goes to the free or the modified list, and a fault that finds it there reads no disk:
it costs the spinlock of memory management alone. What users may have AUTHORIZE shows, in pagelets of 512 bytes; a
process gets them at login, and WSMAX caps them all (System Manager's Manual; HELP AUTHORIZE MODIFY /WSEXTENT).
"""

from dataclasses import dataclass

from collectors.facts import Facts, known, number_or
from collectors.facts.openvms import Process, SysgenParameter, SystemRates, UserQuota
from rules.changes.openvms_authorize import PAGELET
from rules.changes.quoting import comment
from rules.finding import Evidence, Unknown
from rules.openvms._evidence.monitor_classes import CLASS_FACTS, Mean, mean_of
from rules.openvms._evidence.node import NODE_FACTS, in_prose, parameter_of

WORKING_SET_FACTS = (*CLASS_FACTS, *NODE_FACTS, Process, SystemRates, UserQuota)
"""What a rule that uses this module has to declare."""
MOSTLY = 0.5
"""This project: half and more is most of it."""
PAGE = 8192
"""Bytes; the free list counts pages of the machine, so large on Alpha and Integrity."""
TIMES = (32, 16, 8, 4, 2)
"""How many times as large, this project: the first one that the free list has room for, if all processes grow so much.
WSEXTENT is a limit: a process gets what is above WSQUOTA only while memory is free, and gives it back."""
MODEST, MODEST_TIMES = 131_072, 8
"""Pagelets, 64 MiB: beyond it, or beyond WSMAX, none is made more than so many times as large at once; nor where the
processes were not counted. This project."""
PROCESSES = 50
"""That grow so much, at least, or as many as there are, where those that need it are not known: this project."""
SPARE = 2
"""Times as many as are at their limit at one moment may be so at another: this project."""
MOST_USERS = 3
"""A listing of more is of the whole file and says nothing of whose processes fault."""
MOST_PAGELETS = 2**31 - 1
LISTED = "the users whose processes fault most (MONITOR PROCESSES/TOPFAULT)"


@dataclass(frozen=True)
class WorkingSets:
    """What was found."""

    step: str
    """What helps, a clause."""
    why: str
    """By which figures, a clause."""
    unknown: str
    """A clause."""
    evidence: tuple[Evidence, ...]
    missing: tuple[Unknown, ...] = ()
    larger: "Larger | None" = None
    """Whose, and how large, where that could be told."""

    @property
    def remedy(self) -> str:
        """Both clauses."""
        return f"{self.step}; {self.why}"


@dataclass(frozen=True)
class Larger:
    """The working set of one user: what it is, and what it may be. Pagelets."""

    user: str
    quota: tuple[int, int] | None
    """`None`: it was not read."""
    extent: tuple[int, int]
    wsmax: tuple[float, SysgenParameter] | None
    """WSMAX, where it runs and caps the new extent."""
    full: tuple[Process, ...]
    """Processes that have all that the extent gives."""


def taken_back(facts: Facts) -> Mean | None:
    """Page faults per second that find their page in memory, on the free or the modified list."""
    parts = [mean_of(facts, "MON.PAGE", name) for name in ("Free List Faults", "Modified List faults")]
    back = [one for one in parts if one]
    return Mean(sum(one.value for one in back), back[0].source) if back else None


def working_sets(facts: Facts, faults: float) -> WorkingSets | None:
    """What larger working sets may spare of so many page faults a second; `None` where most are of another kind."""
    back = taken_back(facts)
    if back is None or not MOSTLY * faults <= back.value <= faults:
        return None
    said = f"of {in_prose(faults)} page faults/s {in_prose(back.value)} take back pages that are still in memory"
    figure = Evidence(
        "faults of the free and modified lists", round(back.value, 1), "/s", back.source, computed="as a sum"
    )
    free = _free_bytes(facts)
    listed = {one.user: one for one in facts.every(UserQuota)}
    users = [one for one in listed.values() if known(one.ws_extent) and one.ws_extent > 0]
    if not users or len(listed) > MOST_USERS or free is None:
        room = "" if free is not None else ", where SHOW MEMORY has free pages for them"
        lacks = (Unknown.of(UserQuota),) if not listed else ()
        step = f"what helps is larger WSQUOTA and WSEXTENT of {LISTED}{room}"
        return WorkingSets(step, said, "", (figure,), lacks)
    least = min(users, key=lambda one: (one.ws_extent if known(one.ws_extent) else 0.0, one.user))
    extent, quota = least.ws_extent, least.ws_quota
    full = _at_their_limit(facts, extent) if known(extent) else []
    times = next((one for one in TIMES if _room(facts, free[0], extent, one, len(full))), 0) if known(extent) else 0
    if not known(extent) or not times:
        return WorkingSets("larger working sets need memory first", said, "", (figure, free[1]))
    grown = (times - 1) * extent * PAGELET
    name, larger = comment(least.user, 32), f"/WSEXTENT={times * extent:.0f}"
    now = f"WSextent {extent:,.0f}"
    if known(quota) and quota > 0:
        larger, now = f"/WSQUOTA={times * quota:.0f}{larger}", f"WSquo {quota:,.0f}, {now}"
    most = parameter_of(facts, "WSMAX", 1, MOST_PAGELETS)
    short = isinstance(most, tuple) and most[0] < times * extent
    larger_one = Larger(
        least.user,
        (int(quota), int(times * quota)) if known(quota) and quota > 0 else None,
        (int(extent), int(times * extent)),
        most if isinstance(most, tuple) and short else None,
        tuple(full),
    )
    cap = f"WSMAX {most[0]:,.0f} caps it first" if isinstance(most, tuple) and short else "WSMAX must not be below it"
    return WorkingSets(
        f"what helps is a larger working set: UAF> MODIFY {name}{larger} ({now} now; pagelets), from the next login",
        said,
        f"{_whose(name, full)}; the free list has room for {free[0] // grown:,.0f} that grow by "
        f"{grown / 2**20:,.0f} MiB; {cap}",
        (
            figure,
            free[1],
            *((Evidence(f"WSquo of {name}", quota, "pagelets", least.source),) if known(quota) else ()),
            Evidence(f"WSextent of {name}", extent, "pagelets", least.source),
            *(
                (Evidence("pages of processes at that limit", full[0].pages, "pages", full[0].source),)
                if full and known(full[0].pages)
                else ()
            ),
            *((Evidence("WSMAX", most[0], "pagelets", most[1].source),) if isinstance(most, tuple) else ()),
        ),
        larger=larger_one,
    )


def _free_bytes(facts: Facts) -> tuple[float, Evidence] | None:
    rates, column = facts.latest(SystemRates, statistic="mean"), mean_of(facts, "MON.PAGE", "Free List Size")
    pages, source = (column.value, column.source) if column else (None, None)
    if pages is None and rates and known(rates.free_list_pages):
        pages, source = rates.free_list_pages, rates.source
    if pages is None or source is None:
        return None
    return pages * PAGE, Evidence("free list (mean)", round(pages), "pages", source)


def _at_their_limit(facts: Facts, extent: float) -> list[Process]:
    """Processes of SHOW SYSTEM whose pages are just what WSEXTENT gives, the one with most faults first."""
    full = [one for one in facts.every(Process) if known(one.pages) and one.pages * PAGE == extent * PAGELET]
    return sorted(full, key=lambda one: number_or(one.page_faults, 0.0), reverse=True)


def _whose(name: str, full: list[Process]) -> str:
    """Whether it is the processes of this user that fault, as a clause."""
    if not full:
        return f"that it is {name}'s processes that fault (MONITOR PROCESSES/TOPFAULT) is not shown"
    those, have = ("processes", "have") if len(full) > 1 else ("process", "has")
    return (
        f"{len(full)} {those} of SHOW SYSTEM, as {comment(full[0].name, 15)}, {have} just the "
        f"{full[0].pages:,.0f} pages of {name}'s WSextent, so the limit holds them (whose they are is inferred)"
    )


def _room(facts: Facts, free: float, extent: float, times: int, full: int) -> bool:
    """Whether so many processes can grow so much: those at their limit and as many again, else as many as there are.

    Where nothing tells which they are, as many as are asked for at least.
    """
    rates = facts.latest(SystemRates, statistic="mean")
    there = rates.process_count if rates and known(rates.process_count) else 0.0
    if times > MODEST_TIMES:
        most = parameter_of(facts, "WSMAX", 1, MOST_PAGELETS)
        if not there or times * extent > (min(MODEST, most[0]) if isinstance(most, tuple) else MODEST):
            return False
    many = SPARE * full if full else max(PROCESSES, there)
    return free >= many * (times - 1) * extent * PAGELET
