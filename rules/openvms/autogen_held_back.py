"""AUTOGEN is kept from sizing the lock tables.

Finds: in AGEN$PARAMS.REPORT a RESHASHTBL or LOCKIDTBL that a bare `NAME = value` of MODPARAMS.DAT fixes at less than
AUTOGEN calculated; and feedback of less than 24 hours of uptime, or more than 30 days older than the report.

Why it matters: a bare value blocks AUTOGEN for that parameter, whatever its feedback finds (vendor), so each AUTOGEN
writes the small table again. Feedback of a few hours has not seen the busiest one, and old feedback is of another load;
the report itself warns of both (vendor), and its peaks are those that lock tables are sized by.

What to do: replace the line by `MIN_NAME = value` with the larger value, as the vendor advises, so that AUTOGEN may go
above it. Save feedback again after more than 24 hours of typical work, before the next reboot. Whether the table that
runs costs anything is judged by openvms/resource_hash_table_undersized and openvms/lock_id_table_small, which have the
commands. Where the report shows that the fixed hash table ran and how many resources were in it, and no listing of what
runs came along, that line is the remedy itself: advice, where the chains are far too long.

When to ignore it: where someone fixed the value on purpose and measures it. The layout of the report is recalled, so
look at MODPARAMS.DAT before changing a line of it. A value fixed above the calculated one costs memory alone and is
not told.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from collectors.facts import Facts, known
from collectors.facts.openvms import (
    AutogenFeedback,
    AutogenRun,
    LockRates,
    ModparamsLine,
    SysgenParameter,
)
from rules.changes.openvms_sysgen import PARAMETERS, set_parameter
from rules.engine import limit, rule
from rules.finding import Clean, Evidence, Finding, Outcome, Severity, Unknown, Untrusted, joined
from rules.laws.hashing import BUCKET_BYTES, PROVEN, mean_chain, next_power_of_two
from rules.openvms._evidence.autogen import (
    AUTOGEN_FACTS,
    LEAST_HOURS,
    MOST_DAYS,
    Feedback,
    feedback_of,
    fixed_by_hand,
    fixed_line,
)
from rules.openvms._evidence.chains import FAR_CHAIN, wanted_buckets
from rules.openvms._evidence.lock_tables import lock_ids_for
from rules.openvms._evidence.node import NODE_FACTS, USE, busiest_operations, level_of, node_name, subject_of

LINKS = ("https://wiki.vmssoftware.com/LOCKIDTBL",)
HASH, IDS = "RESHASHTBL", "LOCKIDTBL"
JUDGED_BY = {HASH: "openvms/resource_hash_table_undersized", IDS: "openvms/lock_id_table_small"}
SHOW = "the lines of {} in SYS$SYSTEM:AGEN$PARAMS.REPORT and in SYS$SYSTEM:MODPARAMS.DAT"
BLOCKS = (
    "A bare value in MODPARAMS.DAT blocks AUTOGEN for that parameter, so the next AUTOGEN writes it again (vendor)."
)
RECALLED = "The layout of AUTOGEN's report is recalled: look at the line in MODPARAMS.DAT itself before changing it."
BITS = f"Whether more than {PROVEN:,} buckets help is unproven."
AGAIN = (
    "Before the next reboot, and after more than 24 hours of typical work, save feedback anew: "
    "`@SYS$UPDATE:AUTOGEN SAVPARAMS TESTFILES CHECK_FEEDBACK` changes no parameter; then read its report."
)


@dataclass(frozen=True)
class Limits:
    """From when on feedback tells enough."""

    hours: float = limit(
        LEAST_HOURS, "vendor: the report warns of less uptime (System Manager's Manual)", low=1, unit="hours"
    )
    days: float = limit(
        MOST_DAYS, "vendor: the report warns of older feedback (System Manager's Manual)", low=1, unit="days"
    )
    far_chain: float = limit(
        FAR_CHAIN, "this project: from here on the hash table is far too small", low=1, unit="resources per bucket"
    )
    operations_per_second: float = limit(
        100.0, "this project: below this, long chains cost next to nothing", unit="lock operations/s"
    )


@rule(needs=(AutogenRun,), uses=(*AUTOGEN_FACTS, *NODE_FACTS), links=LINKS, limits=Limits, sample=None)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Look at both lock tables and at the feedback of the last run."""
    feedback = feedback_of(facts)
    for name in (HASH, IDS):
        if found := fixed_by_hand(facts, name):
            yield _fixed(facts, found, feedback, limits)
    if feedback and (feedback.known or not any(fixed_by_hand(facts, name) for name in (HASH, IDS))):
        yield _told(facts, feedback, limits)


def _fixed(facts: Facts, found: AutogenFeedback, feedback: Feedback | None, limits: Limits) -> Outcome:
    name, fixed, made = found.parameter, found.hard_coded, found.calculated
    if not known(fixed):
        return Unknown.without(f"{name} as hard-coded", SHOW.format(name))
    if not known(made):
        why = f"{name} is hard-coded to {fixed:,.0f}; what AUTOGEN calculated is not in its report"
        return Unknown.without(f"{name} as AUTOGEN calculated it", SHOW.format(name), why)
    if fixed < 1 or made < 1:
        return Untrusted(f"{name}: hard-coded to {fixed:g} and calculated as {made:g}: the report was misread")
    if made <= fixed:
        return Clean(f"{name} is hard-coded to {fixed:,.0f} and AUTOGEN calculated {made:,.0f}: it costs memory alone")
    weak = _weak(feedback, limits) if feedback else ""
    floor = max(made, _wanted(facts, name))
    more = "" if floor == made else " (for the levels read here AUTOGEN's own is too little)"
    figures = (
        Evidence(f"{name} hard-coded in MODPARAMS.DAT", fixed, "entries", (fixed_line(facts, name) or found).source),
        Evidence(f"{name} as AUTOGEN calculated it", made, "entries", found.source),
    )
    if chain := _chain_then(facts, found, fixed, limits):
        return _table_held_down(facts, found, fixed, made, floor, more, *chain, figures)
    return Finding(
        subject=f"{subject_of(facts)}, {name}",
        severity=Severity.NOTE,  # what the table costs is judged by the rule of that table
        title=f"MODPARAMS.DAT hard-codes {name} to {fixed:,.0f}, and AUTOGEN calculated {made:,.0f}",
        seen=joined(
            f"AUTOGEN's report says that {name} is hard-coded to {fixed:,.0f} in MODPARAMS.DAT and that the calculated "
            f"value was {made:,.0f}.",
            f"The feedback behind it covers {weak}." if weak else "",
        ),
        because=BLOCKS,
        do=(
            f"Replace the line {name} = {fixed:.0f} of MODPARAMS.DAT by MIN_{name} = {floor:.0f}{more}, as the vendor "
            f"advises, for the next AUTOGEN. It is worth no reboot of its own unless {JUDGED_BY[name]} says so."
        ),
        unknown=joined(RECALLED, BITS if name == HASH and floor > PROVEN else ""),
        evidence=figures,
    )


def _chain_then(facts: Facts, found: AutogenFeedback, fixed: float, limits: Limits) -> tuple[float, Evidence] | None:
    """The mean chain of the fixed hash table, where the report shows that it ran and the chains are far too long.

    `None` where a listing tells what runs, which the rule of the table judges; where MODPARAMS.DAT came along and its
    line was changed since; where as many buckets are there as are proven to help; and where hardly anything is locked.
    """
    level, lines = level_of(facts, "resources"), facts.every(ModparamsLine)
    if found.parameter != HASH or found.old != fixed or not isinstance(level, tuple) or fixed > PARAMETERS[HASH].high:
        return None
    line = fixed_line(facts, HASH)
    changed = bool(lines) and (line is None or line.value != fixed)
    buckets, rate = next_power_of_two(fixed), busiest_operations(facts.every(LockRates))
    listed = any(one.name == HASH for one in facts.every(SysgenParameter))
    idle = rate is not None and rate < limits.operations_per_second
    length = mean_chain(level[0], buckets)
    if changed or listed or idle or buckets >= PROVEN or length < limits.far_chain:
        return None
    name = f"mean chain of {level[0]:,.0f} resources in {buckets:,} buckets"
    return length, Evidence(name, round(length, 2), "resources per bucket", level[2], limits.far_chain)


def _table_held_down(
    facts: Facts,
    found: AutogenFeedback,
    fixed: float,
    made: float,
    floor: float,
    more: str,
    length: float,
    chain: Evidence,
    figures: tuple[Evidence, ...],
) -> Finding:
    """The line of MODPARAMS.DAT is why the hash table that ran was far too small: its remedy, with an agreed reboot."""
    name = found.parameter
    unproven = f"{BITS.removesuffix('.')}: measure kernel time before and after."
    return Finding(
        subject=f"{subject_of(facts)}, {name}",
        severity=Severity.ADVICE,
        title=(
            f"MODPARAMS.DAT hard-codes {name} to {fixed:,.0f} where AUTOGEN calculated {made:,.0f}: "
            f"{length:.1f} resources per bucket"
        ),
        seen=(
            f"AUTOGEN's report says that {name} ran with {fixed:,.0f}, hard-coded in MODPARAMS.DAT, and that the "
            f"calculated value was {made:,.0f}. The {chain.metric.removeprefix('mean ')} is "
            f"{length:.1f} on average."
        ),
        because=joined(
            BLOCKS, "Every lookup compares names along the chain, in kernel mode, where no display shows it apart."
        ),
        do=(
            f"Replace the line {name} = {fixed:.0f} of MODPARAMS.DAT by MIN_{name} = {floor:.0f}{more}, run AUTOGEN "
            "and reboot when that is agreed on. SYSGEN alone is no remedy: the next AUTOGEN takes it back."
        ),
        unknown=joined(RECALLED, unproven if floor > PROVEN else ""),
        evidence=(*figures, chain),
        changes=(
            set_parameter(
                name,
                fixed,
                floor,
                dynamic=False,
                minimum=True,
                cautions=(
                    USE,
                    f"The line {name} = {fixed:.0f} of MODPARAMS.DAT has to go, or it overrules the new one.",
                ),
                memory_mb=(floor - next_power_of_two(fixed)) * BUCKET_BYTES / 2**20,
                node=node_name(facts),
            ),
        ),
    )


def _wanted(facts: Facts, name: str) -> float:
    """What the rule of that table asks for, by its formula; 0 where the levels are not in the export.

    A lower floor beside it would be two figures for one table.
    """
    level = level_of(facts, "resources" if name == HASH else "locks")
    if not isinstance(level, tuple):
        return 0.0
    return float(wanted_buckets(level[0]) if name == HASH else lock_ids_for(level[0]))


def _weak(feedback: Feedback, limits: Limits) -> str:
    """What the feedback covers where that is too little, as the end of a sentence; empty where it is enough."""
    said = []
    if feedback.hours is not None and 0 <= feedback.hours < limits.hours:
        said.append(f"{feedback.hours:g} hours of uptime (limit {limits.hours:g})")
    if feedback.days is not None and feedback.days > limits.days:
        said.append(f"a time {feedback.days:,.0f} days before the report (limit {limits.days:g})")
    return " and ".join(said)


def _told(facts: Facts, feedback: Feedback, limits: Limits) -> Outcome:
    if not feedback.known:
        why = "the report says neither the uptime behind its feedback nor when that was saved"
        return Unknown.without("when the feedback of AUTOGEN was saved", AutogenRun.COLLECTED_BY, why)
    if wrong := feedback.impossible:
        return Untrusted(f"AUTOGEN's report: {wrong}: it was misread, or put together of two")
    weak = _weak(feedback, limits)
    if not weak:
        parts = [f"{feedback.hours:,.0f} hours of uptime"] if feedback.hours is not None else []
        parts += [f"a time {feedback.days:,.1f} days before the report"] if feedback.days is not None else []
        return Clean(f"AUTOGEN's feedback covers {' and '.join(parts)}")
    source = feedback.run.source
    hours = (
        ()
        if feedback.hours is None
        else (Evidence("uptime behind AUTOGEN's feedback", round(feedback.hours, 1), "hours", source, limits.hours),)
    )
    days = (
        ()
        if feedback.days is None
        else (Evidence("age of AUTOGEN's feedback", round(feedback.days, 1), "days", source, limits.days),)
    )
    return Finding(
        subject=subject_of(facts),
        severity=Severity.NOTE,  # nothing that runs is slower for it
        title=f"AUTOGEN's feedback covers {weak}: it sizes no lock table",
        seen=f"The feedback of AUTOGEN's report covers {weak}.",
        because=(
            "What it calls the peak of locks and resources need not be that of the busiest hour, so a table sized by "
            "it may be too small. AUTOGEN warns of it itself (vendor)."
        ),
        do=AGAIN,
        unknown="The layout of AUTOGEN's report is recalled, so read the moments in it, too.",
        evidence=(*hours, *days),
    )
