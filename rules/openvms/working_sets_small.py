"""Processes take back pages they have just lost while memory is free.

Finds: page faults that mostly find their page on the free or the modified list (MONITOR PAGE, `[MON.PAGE]` of T4), many
of them a second, with room on the free list; and whose processes have just the pages that their WSEXTENT gives (SHOW
SYSTEM, AUTHORIZE).

Why it matters: such a fault reads no disk, so no disk looks busy; it costs kernel mode, and the spinlock of memory
management where several CPUs do it. A process that is held at WSEXTENT gives up a page for each one it takes, however
much memory is free.

What to do: raise WSQUOTA and WSEXTENT of that user in AUTHORIZE, which its processes get at their next login or start.
WSMAX caps both: where it is the smaller one it has to be raised as well, as a floor in MODPARAMS.DAT for AUTOGEN, and
it is not dynamic. How much larger is held against the free list, for the processes at their limit and as many again.

When to ignore it: when few faults are taken back (first touches and images that start need no larger working set), or
when memory itself is short: then a larger working set takes from others.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from collectors.facts import Facts
from rules.changes.openvms_authorize import set_working_set
from rules.changes.openvms_sysgen import set_parameter
from rules.changes.quoting import Unquotable, comment
from rules.engine import limit, rule
from rules.finding import (
    Change,
    Clean,
    Evidence,
    Expectation,
    Finding,
    NotApplicable,
    Outcome,
    Severity,
    Unknown,
    Untrusted,
    joined,
)
from rules.openvms._evidence.autogen import hard_coded
from rules.openvms._evidence.monitor_classes import MONITOR_PAGE, page_faults
from rules.openvms._evidence.node import in_prose, node_name, pending_value, sentence, subject_of
from rules.openvms._evidence.working_sets import WORKING_SET_FACTS, Larger, taken_back, working_sets

LINKS = ("https://wiki.vmssoftware.com/WSMAX",)
WSMAX = "WSMAX"


@dataclass(frozen=True)
class Limits:
    """How many page faults that read no disk are many."""

    back_per_second: float = limit(
        2_000.0, "this project: no limit is published; nodes in order had some hundreds", low=100, unit="faults/s"
    )


@rule(needs=(), uses=WORKING_SET_FACTS, links=LINKS, limits=Limits)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Hold the faults that take pages back against the limit, and look whose working set holds them."""
    faults, back = page_faults(facts), taken_back(facts)
    if faults is None or back is None:
        many = faults is not None and faults.value >= limits.back_per_second
        none = "page faults by kind were not collected (MONITOR PAGE)"
        yield Unknown.without("page faults by kind", MONITOR_PAGE, none) if many else NotApplicable(none)
        return
    if not 0 <= back.value <= faults.value:
        yield Untrusted(f"{in_prose(back.value)} of {in_prose(faults.value)} page faults/s take back pages")
        return
    said = f"{in_prose(back.value)} of {in_prose(faults.value)} page faults/s take back pages that are still in memory"
    found = working_sets(facts, faults.value)
    if back.value < limits.back_per_second or found is None:
        yield Clean(f"{said}; limit {limits.back_per_second:,.0f}/s and half of them", (back.source,))
        return
    head = Evidence("page faults that read no disk", round(back.value, 1), "/s", back.source, limits.back_per_second)
    larger = found.larger
    held = larger is not None and bool(larger.full)
    yield Finding(
        subject=subject_of(facts),
        severity=Severity.ADVICE if held else Severity.NOTE,
        title=f"{in_prose(back.value)} page faults a second take back pages that processes had just lost",
        seen=sentence(said),
        because="Each of them costs kernel mode and the spinlock of memory management, and none reads a disk.",
        do=joined(sentence(found.step), _cap(larger), hard_coded(facts, WSMAX) if larger and larger.wsmax else ""),
        unknown=sentence(found.unknown),
        evidence=(head, *found.evidence),
        changes=_changes(facts, larger) if held and larger else (),
        expects=(Expectation("page faults that take back pages (/s)", round(back.value, 1), "lower", "heuristic"),),
    )
    yield from found.missing


def _cap(larger: Larger | None) -> str:
    """That WSMAX has to be raised first, as a sentence; empty where it is large enough, or was not read."""
    if larger is None or larger.wsmax is None:
        return ""
    now, new = larger.wsmax[0], larger.extent[1]
    return f"{WSMAX} {now:,.0f} → {new:,} with it, as no working set gets more: that takes a reboot."


def _changes(facts: Facts, larger: Larger) -> tuple[Change, ...]:
    until = (f"{WSMAX} caps it at {larger.wsmax[0]:,.0f} until the reboot.",) if larger.wsmax else ()
    try:
        authorized = set_working_set(
            larger.user, larger.quota, larger.extent, processes=len(larger.full), cautions=until
        )
    except Unquotable:
        return ()
    if larger.wsmax is None:
        return (authorized,)
    capped = set_parameter(
        WSMAX,
        larger.wsmax[0],
        larger.extent[1],
        dynamic=False,
        minimum=True,
        cautions=(f"It caps the working sets of all users: {comment(larger.user, 32)}'s alone are raised here.",),
        node=node_name(facts),
        pending=pending_value(facts, WSMAX),
    )
    return authorized, capped
