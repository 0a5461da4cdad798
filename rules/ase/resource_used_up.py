"""Locks or user connections have run out, or are about to.

Finds: a line of `sp_monitorconfig` with nothing free, with as many in use at some time as there are, or with nine
tenths in use. Of resources whose loss is smaller (open databases, worker processes and the like) only that all were in
use, as a note. Descriptors of objects, indexes, partitions and databases whose reuses are counted are judged by
ase/descriptors_reused: a count of reuses says something of descriptors alone. A procedure cache that is full is no
resource that ran out.

Why it matters: without a free lock a statement ends with message 1204, and only users with sa_role can log in until
locks are added; every other login is refused. Without a free connection logins are refused; one connection is kept
for an administrator, for 15 minutes. With none free when it was listed it is critical; that all were in use at some
time is a warning where nine tenths are in use now too, or where the error log of the last day tells of it, else advice.

What to do: raise the number. Both are dynamic and take memory. For locks twice what was in use at most; before that
look who holds them: one transaction that locks rows by the hundred thousand needs smaller batches, not more locks.
Where a lock promotion HWM is as high as the number of locks, nothing is ever promoted, and the same statement takes any
number of locks: its job commits smaller pieces first, with more locks meanwhile if all were used, and its table gets a
threshold of its own, above what others hold there. One for the whole server would make table locks of theirs as well.
The session that holds half of those in use or more is named, by monProcessActivity, a count of locks by session or the
locks as they are listed, with its program and statement; while nearly all are in use, it is to be looked at at once.
For connections a quarter more, after a look at what they do: a pool that never closes its connections fills any number.
The operating system's file descriptors end it (`select @@max_connections`).

When to ignore it: where all of it was used once, by a job that is no longer run: Max_Used counts from the start of the
server, or of the last reset.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import ceil

from collectors.facts import OVERFLOW, Facts, Source, known, number_or
from collectors.facts.ase import (
    ConfigParameter,
    LogEvent,
    MonProcessActivity,
    ResourceUsage,
    SessionLocks,
)
from collectors.statement_text import without_literals
from rules.ase._evidence.caches.memory import MEMORY_FACTS, free_evidence, too_little
from rules.ase._evidence.objects.resources import LOCKS, USED_PERCENT, more_locks, usages_of
from rules.ase._evidence.objects.statements import shown, tables_in
from rules.ase._evidence.server import setting_of, subject_of
from rules.ase._evidence.waits.chains import (
    CHAIN_FACTS,
    batch_of,
    head_process,
    say_client,
)
from rules.ase._evidence.waits.error_log import DAY, LOG_FACTS, events_of
from rules.ase._evidence.waits.lock_holders import (
    Held,
    by_session,
    client_of,
    held_by,
    others_above,
    table_of,
    threshold,
)
from rules.ase._evidence.waits.promotion import most_requests, unreachable
from rules.changes.ase_config import configure, more_memory, waiting_number
from rules.changes.ase_promotion import FORGET, PROCEDURES
from rules.changes.quoting import is_plain
from rules.engine import limit, percent, rule
from rules.finding import (
    Change,
    Clean,
    Evidence,
    Expectation,
    Finding,
    Outcome,
    Severity,
    Unknown,
    Untrusted,
    capitalized,
    joined,
)

LINKS = (
    "https://infocenter.sybase.com/help/topic/com.sybase.infocenter.dc31644.1600/doc/html/san1371158527503.html",
    "https://infocenter.sybase.com/help/topic/com.sybase.infocenter.dc31654.1600/doc/html/san1360629137503.html",
)
CONNECTIONS = "number of user connections"
LOST = {
    LOCKS: "Without a free lock a statement ends with message 1204, and only users with sa_role can log in until locks "
    "are added.",
    CONNECTIONS: "Without a free connection logins are refused; one is kept for an administrator, for 15 minutes.",
}
LOOK = {
    LOCKS: "Look first who holds them (sp_lock, monLocks): one transaction that locks its rows one by one needs "
    "smaller batches.",
    CONNECTIONS: "Look first how many of them only wait for their client (sp_who): a pool that never closes its "
    "connections fills any number.",
}
HELD_PERCENT = 50.0
"""This project: who holds half of the locks in use, or more, is who to ask first."""
LISTED, SMALL_PERCENT = 10, 5.0
"""This project: of so many sessions listed, where none holds as much of the locks in use, none is the one to ask."""
TOGETHER = "Of {0} sessions listed none holds more than {1:,.0f}, so none of these is the one to ask."
NOT_LISTED = "Whether a session that is not listed holds more, LocksHeld of master..monProcessActivity shows."
PIECES = "First have SPID {0} commit in pieces below {1:,} {2}s{3}. "
MEANWHILE = "; meanwhile raise {0} from {1:,.0f} to {2:,}, in force at once"
PROMOTE = (
    'Then `use {0}`, `{1} "table", "{2}", {3}, {3}, 100` ({4}; undo: `{5} "table", "{2}"`): a statement above it locks '
    "all others out."
)
PROMOTE_NAMELESS = (
    'Then give its table a threshold of its own: `{0} "table", "<table>", {1}, {1}, 100` ({2}), beyond which a table '
    "lock shuts others out."
)
PROMOTE_THERE = (
    'Then in its database `{0} "table", "{1}", {2}, {2}, 100` ({3}; undo: `{4} "table", "{1}"`): a statement above it '
    "locks all others out."
)
WHO = (
    "First see who holds them (`select spid, dbid, id, count(*) locks from master..syslocks group by spid, dbid, id`), "
    "and have that job commit in pieces. "
)
NEVER = "{0}, which is no fewer than there are locks: a statement keeps every {1} lock that it takes{2}."
NOT_SERVER = "; the default for the whole server would make table locks for {0}, too"
SMALLER = "First have SPID {0} commit in smaller pieces."
DATABASES = "number of open databases"
OTHERS = (
    DATABASES,
    "number of worker processes",
    "number of dtx participants",
    "number of aux scan descriptors",
)
"""What sp_monitorconfig counts beside them, whose loss no source that was read tells: a note at most."""
ROUNDED = 50

RAN_OUT = {LOCKS: LogEvent.LOCKS, CONNECTIONS: LogEvent.CONNECTIONS}
"""What the error log tells of each that ran out."""


@dataclass(frozen=True)
class Limits:
    """When a resource counts as about to run out, and by how much to raise connections."""

    used_percent: float = percent(
        USED_PERCENT, "practice: DbxTune warns at 90 % of locks and of user connections", low=50
    )
    growth_percent: float = limit(
        25.0, "this project: four fifths of the new number are in use at the peak that was seen", low=1, unit="%"
    )


@rule(
    needs=(ResourceUsage,),
    uses=(*MEMORY_FACTS, *LOG_FACTS, *CHAIN_FACTS, MonProcessActivity, SessionLocks),
    links=LINKS,
    limits=Limits,
    sample=None,
)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Judge each resource, in a cluster of each instance."""
    named = [(name, usage) for name in (*LOST, *OTHERS) for usage in usages_of(facts, name)]
    if not any(name in LOST for name, _ in named):
        yield Unknown.of(ResourceUsage)
    for name, usage in named:
        yield _judge(facts, limits, name, usage)


def _judge(facts: Facts, limits: Limits, name: str, usage: ResourceUsage) -> Outcome:
    label = name.removeprefix("number of ") + (f" of {usage.instance}" if usage.instance else "")
    figures = (usage.free, usage.active, usage.max_used)
    if OVERFLOW in figures or any(known(one) and one < 0 for one in figures):
        return Untrusted(f"{label}: a figure is below zero or printed as asterisks")
    if not known(usage.active) or not known(usage.free):
        return Unknown.of(ResourceUsage)
    there = usage.active + usage.free
    most = max(usage.active, usage.max_used if known(usage.max_used) else 0.0)
    said = f"{label}: {usage.active:,.0f} of {there:,.0f} in use, at most {most:,.0f}"
    if not there:
        return Clean(f"{label}: none is configured")
    if name == DATABASES and number_or(usage.reused, 0) >= there:
        return Clean(f"{said}; reuses are judged by ase/descriptors_reused")
    if most > there:
        return Clean(f"{said}: there were more when the most were in use")
    out = most >= there
    if not out and (name not in LOST or 100.0 * most < limits.used_percent * there):
        return Clean(said)
    return _finding(facts, limits, name, label, usage, (there, most))


def _finding(
    facts: Facts, limits: Limits, name: str, label: str, usage: ResourceUsage, numbers: tuple[float, float]
) -> Finding:
    there, most = numbers
    assert known(usage.active)  # noqa: S101 - _judge() has turned everything else away
    out, setting = most >= there, setting_of(facts, name)
    running = setting.run_number if setting else None
    newer = running is not None and running > there and not usage.instance
    change = None if newer or usage.instance or name not in LOST else _more(limits, name, setting, there, most)
    short = too_little(facts, name, change.memory_mb) if change else ""
    because = LOST.get(name, "What is lost without a free one is in no source that was read: see the error log.")
    look, then, unknown = LOOK.get(name, ""), "", ""
    holder = _most_locks(facts, usage) if name == LOCKS else None
    if holder:
        because, look = joined(because, _say_holder(facts, holder)), SMALLER.format(holder.spid)
    together, unlisted = _together(facts, usage) if name == LOCKS and not holder else ("", "")
    if together:  # nobody is left to look for
        because, look, unknown = joined(because, together), "", unlisted
    table = _most_locked(facts, usage) if name == LOCKS else None
    if name == LOCKS:
        because = "; ".join(filter(None, (because.removesuffix("."), _say_table(facts, table)))) + "."
    never = unreachable(facts, there) if name == LOCKS and not newer and not usage.instance else None
    told = [one for one in events_of(facts, DAY) if one.kind == RAN_OUT.get(name)] if out else []
    ran_out = f"By the error log they ran out last at {told[-1].last:%Y-%m-%d %H:%M}." if told else ""
    if out and usage.active < there and not told:
        peak = "When all were in use is not in the export: Max_Used is a peak that may be long past."
        unknown = joined(unknown, peak)
    if never:
        change, then = None if short or not (out and holder) else change, ""
        others = others_above(facts, holder.spid) if holder else 0
        many = f"{others} other sessions" if others > 1 else "another session"
        spread = NOT_SERVER.format(many) if others else ""
        says = NEVER.format(never.says, never.kind, spread)
        because = joined(_say_holder(facts, holder) if holder else because, says)
        raised = MEANWHILE.format(name, there, change.new) if change else ""
        look = _pieces(facts, holder, never.kind, there, raised)
    elif newer:
        look = f"Collect a new report: {name} is {running:,.0f} by now, so this one is older than the setting."
    elif change and short:
        because, look = (
            because if holder else joined(because, look),
            f"{f'First have SPID {holder.spid} commit in smaller pieces; raise' if holder else 'Raise'} {name} from "
            f"{there:,.0f} to {change.new:,}, but only after max memory.",
        )
        then = short
    elif change:
        then = f"{'Then raise' if look else 'Raise'} {name} from {there:,.0f} to {change.new:,}, in force at once."
    elif usage.instance and name in LOST:
        unknown = joined(unknown, "Whether the instance has a value of its own is not known, so no script is given.")
    elif name in LOST:
        then = f"More are configured already, but do not run: see the error log, and max memory ({name})."
    severity = max(_severity(limits, usage.active, there, most), Severity.WARNING if told else Severity.NOTE)
    change = None if short else change
    if change and holder:
        change = replace(change, cautions=(SMALLER.format(holder.spid), *change.cautions))
    return Finding(
        subject=label,
        severity=Severity.NOTE if newer or name not in LOST else severity,
        title=f"{capitalized(label)}: {'all' if out else 'nearly all'} of {there:,.0f} were in use"
        + (f", {holder.locks:,.0f} now by SPID {holder.spid}{_client(facts, holder)}" if holder else "")
        + (f", most on {table.place}" if table else "")
        + (f"; {never.setting.name} is out of reach" if never else ""),
        seen=joined(
            f"{usage.active:,.0f} of {there:,.0f} {label} were in use when this was listed, at most {most:,.0f} since "
            "the start of the server.",
            ran_out,
        ),
        because=because,
        do=joined(look, then),
        urgent=holder is not None and 100.0 * usage.active >= limits.used_percent * there,
        unknown=unknown,
        evidence=(
            Evidence(f"{label} in use", usage.active, "", usage.source),
            Evidence(f"{label} there are", there, "", usage.source),
            Evidence(
                f"{label} in use at most since the start",
                most,
                "",
                usage.source,
                there * (limits.used_percent if name in LOST else 100.0) / 100,
            ),
            *(
                Evidence(
                    f"messages: {one.kind}", one.count, "", one.source, computed="as their number within this hour"
                )
                for one in told[-1:]
            ),
            *((Evidence(f"locks that SPID {holder.spid} holds", holder.locks, "", holder.source),) if holder else ()),
            *(
                (Evidence(never.setting.name, never.setting.run_number or 0.0, "", never.setting.source),)
                if never
                else ()
            ),
            *((Evidence(f"locks on {table.place}", table.locks, "", table.source),) if table else ()),
            *(free_evidence(facts) if short else ()),
        ),
        changes=(change,) if change else (),
        expects=(Expectation(f"share of {label} in use", round(100 * most / there, 1), "lower", "arithmetic"),)
        if change
        else (),
        share=100.0 * most / there,
        explains=tuple(f"ase/error_log_alarms:{subject_of(facts)}: {one.kind}" for one in told[-1:]),
    )


@dataclass(frozen=True)
class Locked:
    """The table with most of the locks in use."""

    place: str
    locks: int
    source: Source


def _most_locked(facts: Facts, usage: ResourceUsage) -> Locked | None:
    """The table, by name, with half of the locks in use or more, by their listing; `None` where none is seen to be."""
    active = number_or(usage.active, 0.0)
    tables: dict[str, list[Held]] = {}
    for one in held_by(facts):
        if one.place:
            tables.setdefault(one.place, []).append(one)
    place, rows = max(tables.items(), key=lambda one: sum(each.locks for each in one[1]), default=("", []))
    locks = sum(one.locks for one in rows)
    if not locks or usage.instance or not active or 100.0 * locks < HELD_PERCENT * active:
        return None
    return Locked(place, int(locks), rows[0].source)


def _say_table(facts: Facts, table: Locked | None) -> str:
    """The table that most of them are on, or are asked for on; empty where no export shows one."""
    if table:
        return f"{table.locks:,} of them are on {table.place}"
    most, _ = most_requests(facts)
    return f"most lock requests of the interval are for {most}" if most else ""


def _together(facts: Facts, usage: ResourceUsage) -> tuple[str, str]:
    """That many sessions hold them together, and what the listing leaves open; both empty where it does not show it."""
    found, active = list(by_session(facts).values()), number_or(usage.active, 0.0)
    most, listed = max((one.locks for one in found), default=0.0), sum(one.locks for one in found)
    if len(found) < LISTED or usage.instance or not most or 100.0 * most > SMALL_PERCENT * active:
        return "", ""
    return TOGETHER.format(len(found), most), "" if 100.0 * listed >= HELD_PERCENT * active else NOT_LISTED


def _most_locks(facts: Facts, usage: ResourceUsage) -> Held | None:
    """Who holds half of the locks in use or more; `None` where nobody does, or no export tells.

    By monProcessActivity, else by the locks as they are listed (`sp_lock`, monLocks). More than there are cannot be of
    the moment of this listing.
    """
    most = max(by_session(facts).values(), key=lambda one: one.locks, default=None)
    active, there = number_or(usage.active, 0.0), number_or(usage.active, 0.0) + number_or(usage.free, 0.0)
    if most is None or usage.instance or not active or most.locks > there:
        return None
    return most if 100.0 * most.locks >= HELD_PERCENT * active else None


def _say_holder(facts: Facts, holder: Held) -> str:
    """The session, its program and its statement without values, as a sentence."""
    text = batch_of(facts, holder.spid)
    said = f": {shown(text)}" if text else ""
    return f"SPID {holder.spid}{_client(facts, holder)} holds {holder.locks:,.0f} of those in use{said}."


def _client(facts: Facts, holder: Held) -> str:
    """Login, program and host of the session, in brackets; empty where nothing is known of it."""
    return say_client(head_process(facts, holder.spid) or client_of(facts, holder.spid))


def _pieces(facts: Facts, holder: Held | None, kind: str, there: float, raised: str) -> str:
    """Smaller pieces first, then a threshold for the table of the session that holds most: never for all tables.

    `raised`: that more locks are to be had meanwhile, as a clause.
    """
    call = PROCEDURES[kind]
    if holder is None:
        hwm, why = threshold(facts, 0, None, there)
        return WHO + PROMOTE_NAMELESS.format(call, hwm, why)
    table = table_of(facts, holder.spid)
    database, name = (table.database, table.table) if table else _named(facts, holder)
    hwm, why = threshold(facts, holder.spid, table, there)
    pieces = PIECES.format(holder.spid, hwm, kind, raised)
    if is_plain(database) and is_plain(name):
        return pieces + PROMOTE.format(database, call, name, hwm, why, FORGET[kind])
    if table and is_plain(name):  # a batch's words alone are no proof of where the locks are
        return pieces + PROMOTE_THERE.format(call, name, hwm, why, FORGET[kind])
    return pieces + PROMOTE_NAMELESS.format(call, hwm, why)


def _named(facts: Facts, holder: Held) -> tuple[str, str]:
    """The database and the table that the batch of this session names; empty where it names none, or several."""
    named = tables_in(without_literals(batch_of(facts, holder.spid)))
    process = head_process(facts, holder.spid)
    if len(named) != 1:
        return "", ""
    ((database, table),) = named
    return database or (process.database if process else None) or "", table or ""


def _severity(limits: Limits, active: float, there: float, most: float) -> Severity:
    """By what is in use now: nothing free now is lost work now, a peak since the start of the server may be long past.

    That requests failed is not printed: reuses are counted of descriptors alone.
    """
    if active >= there:
        return Severity.CRITICAL
    return Severity.WARNING if most >= there and 100.0 * active >= limits.used_percent * there else Severity.ADVICE


def _more(limits: Limits, name: str, setting: ConfigParameter | None, there: float, most: float) -> Change | None:
    if name == LOCKS:
        return more_locks(setting, there, most)
    new = ceil(most * (1 + limits.growth_percent / 100) / ROUNDED) * ROUNDED
    wanted = waiting_number(setting)
    if wanted is not None and wanted >= new:
        return None
    memory_mb, caution = more_memory(setting, there, new)
    descriptors = (
        "Connections, devices times twice the engines, remote sites and listeners together may not be more than "
        "@@max_connections, the file descriptors that the operating system gives the server."
    )
    return configure(
        name,
        there,
        new,
        cautions=(descriptors, caution),
        memory_mb=memory_mb,
        look=("-- the most that the operating system allows", "select @@max_connections", "go"),
        configured=wanted,
    )
