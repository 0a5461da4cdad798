"""Processes that stand still for what no lock setting changes: a recovery, a quiet point, a journal to write to.

Stall Messages shows who waits at one moment and since when. Several that have waited for a minute then are a standstill
of the application, whatever the means over hours say; a log, or a shorter wait, is a note.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

from collectors.facts import known
from collectors.facts.rdb import AttachedProcess, Journals, WaitGroup
from rules.changes.quoting import comment
from rules.finding import Evidence, Finding, Severity, joined
from rules.rdb._evidence.attached import called, recoveries
from rules.rdb._evidence.counted import Mean, averaged, mean_stall, rounded
from rules.rdb._evidence.databases import OneDatabase
from rules.rdb._evidence.waits import MOST, STALLS, TIMEOUTS, Waits, main_of, named, waits_for_it

MOMENT = "stall messages"
"""The kind of a screen that shows one moment."""
SUBMITS = re.compile(r"\bAIJ submission\b", re.IGNORECASE)
NO_CHECKPOINTS = (
    "Fast commit is on without a checkpoint interval: a recovery then does all transactions again that the failed "
    "process made since it attached (Oracle, CHECKPOINT INTERVAL)."
)
"""Vendor: SQL help (7.2), ALTER DATABASE, CHECKPOINT_INTERVAL."""
SHORTER = (
    "Once it has ended, set a checkpoint interval: FAST COMMIT IS ENABLED (CHECKPOINT INTERVAL IS n BLOCKS, CHECKPOINT "
    "TIMED EVERY n SECONDS), 20,000 and 300 to begin with (this project), so that the next one is short."
)
LET_END = (
    "Let {} end: stop neither it nor the monitor; the screen DBR Activity shows what it does, the monitor log which "
    "process failed."
)
BACK_UP = (
    "If every journal is full, back them up now: RMU/BACKUP/AFTER_JOURNAL {0} <backup file>; or add one where a slot "
    "is reserved: RMU/SET AFTER_JOURNAL/ADD=(NAME=<name>,FILE=<file>) {0}. Leave journaling on; later have more or "
    "larger journals, and automatic backups (/BACKUPS=AUTOMATIC)."
)
"""Vendor: RMU help (7.2), Set After_Journal, Shutdown_Timeout: a journal has to be made available."""


@dataclass(frozen=True)
class Kind:
    """One kind of wait that no lock setting changes (which wait is which is recalled)."""

    lock: str
    """How a title calls it."""
    because: str
    do: str
    waited_for: str
    """What the processes wait for, for the title of a standstill."""


KINDS = {
    "freeze": Kind(
        "the freeze lock",
        "A process failed and its database recovery holds the others up.",
        "Look for failed processes: no lock setting changes this.",
        "a database recovery",
    ),
    "quiet": Kind(
        "the quiet lock",
        "A backup or a switch of the journal asks for a quiet point and waits for long transactions.",
        "Look for long transactions at that time: no lock setting changes this.",
        "a quiet point",
    ),
    "journal": Kind(
        "an AIJ switch-over",
        "While no after-image journal can be written to, all updates stall; after the shutdown time (60 minutes, where "
        "none is set) Oracle shuts the database down.",
        "Look for journals that are full and not backed up: no lock setting changes this.",
        "an AIJ switch-over",
    ),
}


def kind_of(group: WaitGroup) -> str:
    """The key in `KINDS` of what a group waits for; empty where settings or programs may change it."""
    if group.resource_kind == "aij" and "switch" in group.resource.lower():
        return "journal"
    return group.resource_kind if group.resource_kind in KINDS else ""


def stopped(groups: Iterable[WaitGroup], seconds: float) -> int:
    """How many processes had waited for `seconds` on average at one moment; each resource as the fullest screen has it.

    Only a screen of a moment tells: the lines of a log are of many.
    """
    most: dict[tuple[str | None, str, str, str | None], int] = {}
    for one in groups:
        if one.kind == MOMENT and known(one.seconds) and one.logged and one.seconds / one.logged >= seconds:
            key = (one.node, one.resource_kind, one.resource, one.mode)
            most[key] = max(most.get(key, 0), one.processes)
    return sum(most.values())


def halted_for(waits: Waits, resource: str, seconds: float, least: int) -> tuple[int, str]:
    """How many stand still for a resource as RMU/SHOW LOCKS prints it, and a sentence that says so.

    0 and nothing where fewer than `least` do.
    """
    groups = waits_for_it(waits, resource)
    count = stopped(groups, seconds)
    if count < least:
        return 0, ""
    most = rounded(max(map(longest, groups)))
    return (
        count,
        f"Stall Messages shows waits of up to {most} s for it, by {count} processes: it is no matter of a moment.",
    )


def ended_again(waits: Waits, long: Iterable[WaitGroup], least: int, percent: float) -> bool:
    """Whether `least` wait at one moment for what most lock timeouts of the logs are for, `percent` of them or more.

    Then it is no matter of a moment, though the lock timeout interval ends each wait before it gets long.
    """
    found = main_of(waits.most(TIMEOUTS), 1, percent)
    return found is not None and any(
        one.kind == MOMENT
        and one.processes >= least
        and (one.resource_kind, one.resource) == (found[0].resource_kind, found[0].resource)
        for one in long
    )


def standstill(
    one: OneDatabase,
    waits: Waits,
    attached: Mapping[str, AttachedProcess],
    kind: str,
    *,
    limits: tuple[float, float, int],
) -> Finding | None:
    """The waits of one kind; `limits`: seconds of a long wait, seconds of a standstill, processes of one."""
    least, still, many = limits
    groups = [group for group in waits.of(STALLS) if kind_of(group) == kind]
    groups = [group for group in groups if known(group.longest_seconds) and group.longest_seconds >= least]
    if not groups:
        return _suspended(one, waits) if kind == "journal" else None
    worst = max(groups, key=longest)
    alone = stopped(groups, still)
    all_ = stopped((*groups, *(_writers(waits) if kind == "journal" else ())), still)
    halted = all_ if all_ >= many else 0
    count, said = worst.processes or 1, KINDS[kind]
    title = (
        f"{halted} processes wait up to {longest(worst):,.1f} s for {said.waited_for}"
        if halted
        else f"processes wait up to {longest(worst):,.1f} s for {said.lock}: no matter of tuning"
    )
    more = MORE[kind](one, attached, halted, waits) if kind in MORE else _More()
    return Finding(
        subject=f"{one.subject} {kind}",
        severity=Severity.WARNING if halted else Severity.NOTE,
        title=f"{more.lead}: {title}" if more.lead else title + more.title,
        seen=joined(
            f"{count} process{'es' * (count > 1)} waited for {named(worst)}, up to {rounded(longest(worst))} s"
            f"{f', and {writers} for their records to be written' if (writers := halted - alone) > 0 else ''}.",
            more.seen,
        ),
        because=joined(said.because, more.because),
        do=more.do or said.do,
        unknown=more.unknown,
        evidence=(
            Evidence(f"longest wait for {named(worst)}", round(longest(worst), 2), so_far(worst), worst.source, least),
            *((Evidence("processes that stand still", halted, "", worst.source, many),) if halted else ()),
            *more.evidence,
        ),
        urgent=bool(halted),
    )


def so_far(group: WaitGroup) -> str:
    """The unit of how long a group waits: what a screen of a moment shows may have begun before its statistics did."""
    return "s so far" if group.kind == MOMENT else "s"


def longest(group: WaitGroup) -> float:
    """Seconds; 0 where no length was read."""
    return group.longest_seconds if known(group.longest_seconds) else 0.0


def on_the_whole(one: OneDatabase, mean: Mean, kind: str, limit: float) -> Finding:
    """That most of the time that processes wait is of one kind, by the screens of statistics."""
    said = KINDS[kind]
    return Finding(
        subject=f"{one.subject} {kind}",
        severity=Severity.NOTE,
        title=f"most of the time that processes wait for locks is for the {kind} lock: no matter of tuning",
        seen=(
            f"A request that stalls waits {rounded(mean.seconds)} s on average, and half of that time or more is for "
            f"the {kind} lock."
        ),
        because=said.because,
        do=said.do,
        unknown=averaged(mean.each),
        evidence=(Evidence("mean stall", round(mean.seconds, 2), "s", mean.source, limit),),
    )


@dataclass(frozen=True)
class _More:
    """What the header, the list of users and the screen of journals add."""

    lead: str = ""
    """Before the title, without a colon: the cause where it is shown."""
    title: str = ""
    seen: str = ""
    because: str = ""
    do: str = ""
    unknown: str = ""
    evidence: tuple[Evidence, ...] = ()


def _recovery(one: OneDatabase, attached: Mapping[str, AttachedProcess], halted: int, _: Waits) -> _More:
    """The recovery by name, and whether fast commit makes it long."""
    found = recoveries(attached)
    names = " and ".join(called(process) for process in found[:MOST])
    blocks, seconds = one.read("checkpoint_blocks"), one.read("checkpoint_seconds")
    none = bool(one.is_on("fast_commit")) and bool(blocks and seconds and blocks.value == 0 and seconds.value == 0)
    if not halted and not none:
        return _More(evidence=tuple(Evidence(called(p), "recovers", "", p.source) for p in found[:MOST]))
    let_end = LET_END.format(names or "the recovery")
    return _More(
        title=f": {names}" if names else "",
        seen=f"RMU/SHOW USERS names {names} as recovery." if names else "",
        because=NO_CHECKPOINTS if none else "",
        do=joined(let_end, SHORTER if none else ""),
        unknown=(
            ""
            if blocks
            else "Whether a checkpoint interval of fast commit would make the next one shorter tells RMU/DUMP/HEADER."
        ),
        evidence=(
            *(Evidence(called(process), "recovers", "", process.source) for process in found[:MOST]),
            *((Evidence("checkpoint interval", "none", "", blocks.source),) if none and blocks else ()),
        ),
    )


def _writers(waits: Waits) -> list[WaitGroup]:
    """Processes that wait for their records to be written to the journal (recalled): beside a switch-over, for it."""
    return [one for one in waits.of((MOMENT,), "io") if SUBMITS.search(one.resource)]


def _room(set_up: Journals | None) -> tuple[str, tuple[Evidence, ...]]:
    """How many journals can be added at once, and what shows it; nothing where no listing tells."""
    if set_up is None or not known(set_up.reserved) or not set_up.listed:
        return "", ()
    room = set_up.reserved - set_up.listed
    said = f"{set_up.reserved:,.0f} journals are reserved and {set_up.listed} exist: "
    return (
        f"{said}{f'{room:,.0f} can be added' if room > 0 else 'none can be added'}"
        f"{'; backups are manual' if set_up.backups == 'MANUAL' else ''}.",
        (Evidence("reserved journals", set_up.reserved, "journals", set_up.source),),
    )


def _of_journals(waits: Waits) -> _More:
    """What the screen of journals says, where it says that there is none to switch to."""
    journals, (room, shown) = waits.journals, _room(waits.set_up)
    if journals is None or not journals.suspended:
        return _More(because=room, evidence=shown)
    full = f", {journals.full} of {journals.listed} journals are full" if journals.full else ""
    minutes, server = journals.shutdown_minutes, journals.backup_server
    return _More(
        lead=f"the AIJ switch-over is suspended{full}",
        seen=joined(
            f"The screen AIJ Journal Information prints State: {comment(journals.state or '', 20)}"
            f"{f' and ABS: {comment(server, 20)} (backup server)' if server else ''}"
            f"{f'; Shutdown: at most {minutes:,.0f} minutes are left' if known(minutes) and minutes else ''}.",
        ),
        because=room,
        evidence=(Evidence("full journals", journals.full, "journals", journals.source), *shown),
    )


def _journal(one: OneDatabase, _: Mapping[str, AttachedProcess], halted: int, waits: Waits) -> _More:
    """Whether the screen of journals calls the switch-over suspended, or the header counts no journal as available."""
    read, found = one.read("available_journals"), _of_journals(waits)
    none = read is not None and read.value == 0
    back_up = BACK_UP.format(one.subject if one.root else "<root file>")
    return replace(
        found,
        title=": available journals 0" if none else "",
        seen=joined("The header prints `Available journal count is 0`." if none else "", found.seen),
        do=back_up if halted or none or found.lead else "",
        unknown=(
            "That this wait is for a journal to be available is recalled: RMU/DUMP/HEADER and the screen AIJ Journal "
            "Information list which journals are full."
        )
        if not found.lead
        else "",
        evidence=(
            *((Evidence("available journals", read.value, "", read.source),) if read and none else ()),
            *found.evidence,
        ),
    )


def _suspended(one: OneDatabase, waits: Waits) -> Finding | None:
    """A switch-over that is suspended by the screen of journals, without a screen of who waits for it."""
    more = _journal(one, {}, 0, waits)
    if not more.lead:
        return None
    return Finding(
        subject=f"{one.subject} journal",
        severity=Severity.WARNING,
        title=more.lead,
        seen=more.seen,
        because=joined(KINDS["journal"].because, more.because),
        do=more.do,
        evidence=more.evidence,
        urgent=True,
    )


MORE: dict[str, Callable[[OneDatabase, Mapping[str, AttachedProcess], int, Waits], _More]] = {
    "freeze": _recovery,
    "journal": _journal,
}


def always(resource: str, crowd: Mean | None, least: int, long: float) -> str:
    """That as many wait for locks of the resource's type on average, so for no moment alone, as a sentence.

    Empty for fewer than `least`. `long`: seconds of a stall from which on it is worth asking who holds the lock.
    """
    kind = resource.strip().lower().split(" ")[0]
    mean = mean_stall(crowd.each, kind) if crowd and kind in ("record", "page") else None
    if mean is None or mean.waiting < least:
        return ""
    changes = ", so who holds it changes" if mean.seconds < long else ""
    return (
        f"By the statistics {rounded(mean.waiting)} processes wait for {kind} locks at any moment, each for "
        f"{rounded(mean.seconds)} s{changes}: it is no matter of a moment."
    )
