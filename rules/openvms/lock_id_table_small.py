"""The lock ID table starts far below the number of locks.

Finds: LOCKIDTBL as it runs (ACTIVE) under a share of the highest number of locks in the export; or one that is large
enough, where the value that waits for the next boot (CURRENT) is not.

Why it matters: LOCKIDTBL is both the number of entries at boot and the step by which the table grows when locks run
out (wiki.vmssoftware.com/LOCKIDTBL). Too small a value therefore means many extensions while the system fills up, and
never a refused lock: there is no hurry.

What to do: with the next reboot that happens anyway, raise MIN_LOCKIDTBL in MODPARAMS.DAT to the peak with some room
(four bytes an entry). Look at RESHASHTBL in the same step, as the vendor asks: it is the one that costs throughput.
On AlphaServer GS80, GS160 and GS320 with a dedicated lock manager, V7.3 wants peak locks plus peak resources instead.

When to ignore it: whenever no reboot is planned, or the locks of the peak belong to one rare job.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

from collectors.facts import Facts, Source
from collectors.facts.openvms import SysgenParameter
from rules.changes.openvms_sysgen import PARAMETERS, advise_parameter, keep_parameter
from rules.engine import limit, percent, rule
from rules.finding import Clean, Evidence, Expectation, Finding, Outcome, Severity, joined
from rules.laws.hashing import LOCK_ID_BYTES
from rules.laws.rounding import plain
from rules.openvms._evidence.autogen import autogen_evidence, hard_coded
from rules.openvms._evidence.chains import GROWTH
from rules.openvms._evidence.lock_tables import ENOUGH_IDS_PERCENT, lock_ids_for
from rules.openvms._evidence.node import (
    NODE_FACTS,
    USE,
    level_of,
    node_name,
    parameter_of,
    pending_clause,
    pending_of,
    pending_said,
    pending_text,
    subject_of,
)

LINKS = ("https://wiki.vmssoftware.com/LOCKIDTBL",)
NAME = "LOCKIDTBL"
RANGE = PARAMETERS[NAME]


@dataclass(frozen=True)
class Limits:
    """When the table is far too small, and how large a one is asked for."""

    share_percent: float = percent(
        ENOUGH_IDS_PERCENT, "this project: above half of the peak one extension was enough", low=1, of="peak locks"
    )
    growth: float = limit(GROWTH, "this project: room for a fifth more locks than the peak", low=1, high=4)


@rule(needs=(), uses=NODE_FACTS, links=LINKS, limits=Limits, together=True)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Hold the table against the locks."""
    setting, level = parameter_of(facts, NAME, RANGE.low, RANGE.high), level_of(facts, "locks")
    if not isinstance(setting, tuple) or not isinstance(level, tuple):
        yield from (outcome for outcome in (setting, level) if not isinstance(outcome, tuple))
        return
    (value, fact), (peak, _, source) = setting, level
    share = 100 * value / peak if peak else math.inf
    figures = f"LOCKIDTBL {value:,.0f}, at most {peak:,.0f} locks"
    waits = pending_of(facts, NAME)
    then = 100 * waits[0] / peak if waits and peak else math.inf
    if share >= limits.share_percent:
        told = f"{figures}; limit {limits.share_percent:g} % of them"
        if waits and then < limits.share_percent and waits[0] >= RANGE.low:
            yield _too_small_next(
                facts, (value, peak), told, (Evidence(NAME, value, "entries", fact.source), source), waits
            )
        else:
            enough = f"{figures}: {share:.0f} % of them, too small below {limits.share_percent:g} %" if peak else told
            yield Clean(f"{enough}{pending_clause(facts, NAME)}")
        return
    new = lock_ids_for(peak, limits.growth)
    if new <= value:
        yield Clean(f"{figures}; the table is as large as it may be")
        return
    if waits and then >= limits.share_percent:
        yield Clean(f"{figures}{pending_clause(facts, NAME)}")
        return
    grown = math.ceil((peak - value) / value)
    memory = (new - value) * LOCK_ID_BYTES / 2**20
    yield Finding(
        subject=subject_of(facts),
        severity=Severity.NOTE,  # extensions refuse no lock: a healthy system may show this
        title=f"LOCKIDTBL {value:,.0f} is {plain(share, 2)} % of the {peak:,.0f} locks at the peak",
        seen=(
            f"{figures}: the table has to be extended {grown} times after a boot before it holds them all."
            f"{pending_said(facts, NAME)}"
        ),
        because="Extending it is work done while it fills and no failure, so no reboot is worth it by itself.",
        do=joined(
            f"With the next reboot that happens anyway set {NAME} {value:,.0f} → {new:,} ({memory:.2f} MB more at "
            f"{LOCK_ID_BYTES} bytes an entry), and look at RESHASHTBL in the same step.",
            hard_coded(facts, NAME),
        ),
        evidence=(
            Evidence(NAME, value, "entries", fact.source),
            Evidence("locks at the peak", peak, "locks", source),
            Evidence("LOCKIDTBL of the locks at the peak", round(share, 1), "%", fact.source, limits.share_percent),
            *autogen_evidence(facts, NAME),
        ),
        changes=(
            advise_parameter(
                NAME,
                value,
                new,
                when="with the next reboot that happens anyway",
                cautions=(USE,),
                memory_mb=memory,
                node=node_name(facts),
            ),
        ),
        expects=(Expectation("extensions of the lock ID table up to the peak", grown, 0, "arithmetic"),),
    )


def _too_small_next(
    facts: Facts,
    levels: tuple[float, float],
    figures: str,
    read: tuple[Evidence, Source],
    waits: tuple[float, SysgenParameter],
) -> Finding:
    """The next boot makes a table that is too small: CURRENT is put back to what runs, which needs no reboot."""
    (value, peak), (now, source), (then, listed) = levels, read, waits
    grown = math.ceil((peak - then) / then)
    return Finding(
        subject=subject_of(facts),
        severity=Severity.NOTE,  # extensions refuse no lock
        title=(
            f"{NAME} {then:,.0f} is pending: the next boot starts with {plain(100 * then / peak, 2)} % of the "
            "peak's locks"
        ),
        seen=f"{figures}. {pending_text(NAME, then)}",
        because=f"The table then has to be extended {grown} times before it holds the {peak:,.0f} locks of the peak.",
        do=(
            f"Before the next boot put the value that runs now into CURRENT and into MODPARAMS.DAT (MIN_{NAME} = "
            f"{value:.0f}), or find out who lowered it. No reboot is needed for that."
        ),
        evidence=(
            now,
            Evidence(f"{NAME} in CURRENT (pending)", then, "entries", listed.source),
            Evidence("locks at the peak", peak, "locks", source),
        ),
        changes=(
            keep_parameter(
                NAME, then, value, cautions=("Only if nobody lowered it on purpose.",), node=node_name(facts)
            ),
        ),
        expects=(Expectation("extensions of the lock ID table up to the peak", 0, grown, "arithmetic"),),
    )
