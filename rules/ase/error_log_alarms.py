"""The error log tells of locks, logs, memory or connections that ran out.

Finds: in the error log of the last day (before its newest line, or the sample beside it), messages that the server ran
out of locks (1204), that tasks sleep because the log of a database is full (7412, 7413, 7415) or that a statement
ended for it (1105), that another segment of a database is full (1105), that the procedure cache had no room (701, 709,
720), that no user connection was left (1601), and stack traces.

Why it matters: a statement that gets no lock ends, and only users with sa_role can log in until locks are added. Tasks
that wait for space in the log keep their locks meanwhile, so whoever needs these rows waits behind them: what looks
like lock waits then has another cause. The counters of an interval beside it say nothing of either.

What to do: see which statements took the locks, and raise `number of locks` as far as memory allows
(ase/resource_used_up judges it, and connections, by `sp_monitorconfig`). Of a procedure cache without room: a larger
`procedure cache size`, by the most that was in use; where an index was being created, fewer `number of sort buffers`
first, each of which holds procedure cache (vendor: Error Messages 15.0, 701). Of a full log: dump the transaction log,
and look in `master..syslogshold` for the oldest open transaction, behind which nothing is freed; for later a larger
log, dumps more often, or a threshold procedure that dumps it (vendor: Monitoring Tables, event 259).

How loud it is: a log is full now, and critical, where one log alone was told full in the minutes of the snapshots and
the waits of event 259 that ended in them make a task or more (this project); the waits may have begun before, so their
number is an upper end. Else its messages are of what was. Another full segment is a warning from the second message on,
as statements end for it like those without procedure cache (1105 tells itself to use ALTER DATABASE; vendor: System
Administration Guide 16.0, tempdb).

When to ignore it: where it was seen to at the time. Messages are repeated each minute while their cause lasts, so their
number is no number of events. A stack trace is a fault of the server's own, and a matter for its vendor's support; one
message alone of a full segment is told and not judged. Message 701 may come of one statement with a very large plan,
while others go on. Other messages of the log are not read.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta

from collectors.facts import Facts
from collectors.facts.ase import ErrorLog, LogEvent
from rules.ase._evidence.log.held import (
    ENDED,
    HELD_FACTS,
    OLDEST_FIRST,
    REPLICATED,
    full_logs,
    held,
    refused_dump,
    refused_evidence,
    rep_agent_ended,
    say_error,
    say_refused,
    why_ended,
)
from rules.ase._evidence.procedure_cache import (
    PROCEDURE_FACTS,
    USED_PERCENT,
    WHICH,
    enlarged,
    larger,
    most_used,
)
from rules.ase._evidence.server import subject_of
from rules.ase._evidence.waits.chains import CHAIN_FACTS
from rules.ase._evidence.waits.error_log import LOG_FACTS, events_of, logs_full, newest_line
from rules.ase._evidence.waits.events import LOG_SPACE
from rules.ase._evidence.waits.tasks import WAIT_FACTS, Waited, waited_for
from rules.ase._evidence.waits.verdict import TASKS
from rules.changes.ase_binding import is_tempdb
from rules.changes.quoting import comment
from rules.engine import limit, rule
from rules.finding import Clean, Evidence, Finding, Outcome, Severity, joined, within

LINKS = (
    "https://infocenter.sybase.com/help/topic/com.sybase.infocenter.dc00729.1500/html/errMessageAdvRes/X312551.htm",
    "https://infocenter.sybase.com/help/topic/com.sybase.infocenter.dc31644.1600/doc/html/san1371158527503.html",
    "https://infocenter.sybase.com/help/topic/com.sybase.infocenter.dc31654.1600/doc/html/san1360629236583.html",
)
WORDS = {
    LogEvent.LOCKS: (
        Severity.WARNING,
        "The server ran out of locks",
        "A statement that gets no lock ends with message 1204, and only users with sa_role can log in until there are "
        "free ones.",
        "See which session holds most (sp_lock), and raise number of locks: sp_monitorconfig shows the most used.",
    ),
    LogEvent.LOG_FULL: (
        Severity.WARNING,
        "The log of {0} was full",
        "Tasks that wait for space in the log keep their locks, so others wait behind them; a statement that ends with "
        "message 1105 waits no longer.",
        "If it still is: dump the transaction log of {0}, and look in master..syslogshold for the oldest open "
        "transaction. For later: a larger log, dumps more often, or a threshold procedure that dumps it.",
    ),
    LogEvent.PROCEDURES: (
        Severity.WARNING,
        "The procedure cache had no room",
        "A statement, procedure or login that gets no memory there ends with message 701, 709 or 720; plans differ in "
        "size, so one may fail again and again while others run.",
        "",
    ),
    LogEvent.CONNECTIONS: (
        Severity.WARNING,
        "The server had no user connection left",
        "A login that gets none is refused with message 1601.",
        "See what the connections do (sp_who), and raise number of user connections: sp_monitorconfig shows the most "
        "used.",
    ),
    LogEvent.SEGMENT_FULL: (
        Severity.NOTE,
        "A segment of {0} was full",
        "A statement that gets no space there ends with message 1105, and nothing is judged of a single one.",
        "Look at the message, which names the object and the segment, and whether it goes on.",
    ),
    LogEvent.STACK: (
        Severity.NOTE,
        "Stack traces in the error log",
        "Each is a fault of the server's own, and nothing is judged of it here.",
        "Look whether they go on, and give them to the vendor's support.",
    ),
}
NO_SPACE = "Each statement that asks for space there ends with message 1105."
WHO_FILLS = (
    "First see who fills {0} while it is full: TempDbObjects of monProcessActivity counts the temporary tables of each "
    "session, sp_who names it. Then, if that work is wanted, more space: alter database {0}."
)
WHAT_FILLS = (
    "Look which object and segment the message names, and what fills it. Then more space for that segment: alter "
    "database {0}."
)
FULL_NOW = (
    "Look in master..syslogshold for the oldest open transaction of {0}, behind which nothing is freed, and dump the "
    "transaction log. For later: a larger log, dumps more often, or a threshold procedure that dumps it."
)
AGENT_ENDED = (
    "Its RepAgent ended at {0}{1} and was not started since in this log: nothing is freed that it did not send."
)
SPACE = "space in a log that is full"
SORTS = "If an index was being created then, lower number of sort buffers first: each holds procedure cache."
REPEATED = "A message is repeated while its cause lasts, so how often it happened is not in the log."


@dataclass(frozen=True)
class Limits:
    """How old a message may be. Of each kind one is enough."""

    hours: float = limit(24.0, "this project: what is older was seen to, or stands in a newer line", unit="h")


@rule(
    needs=(ErrorLog,),
    uses=(*LOG_FACTS, *PROCEDURE_FACTS, *WAIT_FACTS, *HELD_FACTS, *CHAIN_FACTS),
    links=LINKS,
    limits=Limits,
    sample=None,
)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Look for each kind of message in the newest part of the log."""
    groups: dict[tuple[str, str | None], list[LogEvent]] = {}
    for one in events_of(facts, timedelta(hours=limits.hours)):
        if one.kind in WORDS:
            groups.setdefault((one.kind, one.database), []).append(one)
    now = {one.database for one in full_logs(facts)}
    for (kind, database), found in groups.items():
        if kind == LogEvent.LOG_FULL and database in now and not _waits_of(facts, database):
            yield Clean(f"the log of {comment(database)} is full now: ase/log_full_now tells what to do")
        else:
            yield _finding(facts, limits, kind, database or "", found)
    if not groups:
        older = sum(one.count for one in facts.every(LogEvent) if one.kind in WORDS)
        before = f"; {older:,} older messages are in it" if older else ""
        yield Clean(
            f"error log up to {newest_line(facts):%Y-%m-%d %H:%M}: none of the messages that are read (locks, "
            f"procedure cache or connections run out, a full log or segment, a fault) in its last "
            f"{limits.hours:g} h{before}"
        )


def _waits_of(facts: Facts, database: str) -> Waited | None:
    """The waits for space in the log, where this is the only one that was full meanwhile."""
    return _waited(facts) if logs_full(facts) == [database] else None


def _finding(facts: Facts, limits: Limits, kind: str, name: str, found: list[LogEvent]) -> Finding:
    severity, title, because, do = WORDS[kind]
    count, first, last, database = sum(one.count for one in found), found[0], found[-1], comment(name)
    full = kind == LogEvent.LOG_FULL
    waited, holder = (_waits_of(facts, name), held(facts, name)) if full else (None, None)
    ended = rep_agent_ended(facts, name) if full else None
    refused = refused_dump(facts, name) if full else None
    if refused:
        do = f"If it still is full: {within(OLDEST_FIRST)}"
    if kind == LogEvent.SEGMENT_FULL and count > 1:
        severity, because = Severity.WARNING, NO_SPACE
        do = WHO_FILLS if is_tempdb(database) else WHAT_FILLS
    elif waited:
        severity, title = Severity.CRITICAL, "The log of {0} is full, and tasks wait for space in it"
        do = OLDEST_FIRST if refused else FULL_NOW
    if ended:
        because = AGENT_ENDED.format(f"{ended.last:%Y-%m-%d %H:%M}", say_error(ended))
        do = REPLICATED.replace("{start}", ENDED)
    do = holder.do if holder else do.format(database, why=why_ended(ended))
    many = "1 message" if count == 1 else f"{count:,} messages"
    small = kind == LogEvent.PROCEDURES
    grown, short = enlarged(facts, USED_PERCENT) if small else (None, "")
    when = f"from {first.first:%Y-%m-%d %H:%M} to {last.last:%Y-%m-%d %H:%M}"
    return Finding(
        subject=database if kind == LogEvent.LOG_FULL else f"{database or subject_of(facts)}: {kind}",
        severity=severity,
        title=title.format(database),
        seen=joined(
            f"{many} in the error log {when}; its newest line is of {newest_line(facts):%Y-%m-%d %H:%M}.",
            _said(waited) if waited else holder.says if holder else "",
            say_refused(refused),
        ),
        because=because,
        do=joined(f"{larger(facts, USED_PERCENT)}.", SORTS) if small else do,
        unknown=joined(REPEATED, WHICH if small and not most_used(facts) else ""),
        evidence=(
            Evidence(f"messages: {kind}", count, "", last.source, computed="as their number up to this line"),
            *(most_used(facts) if small else ()),
            *((holder.evidence,) if holder else ()),
            *refused_evidence(refused),
            *((Evidence("RepAgent ended", f"{ended.last:%Y-%m-%d %H:%M}", "", ended.source),) if ended else ()),
            *(
                (Evidence(f"seconds waited for {SPACE}", waited.waited_seconds, "s of all tasks", waited.source),)
                if waited
                else ()
            ),
        ),
        changes=(grown,) if grown and not short else (),
        explains=("ase/lock_waits_high", "ase/blocked_chain") if waited else (),
    )


def _waited(facts: Facts) -> Waited | None:
    """Waits for space in the log, of the interval, where they make a task or more; else `None`."""
    waited = waited_for(facts, SPACE, LOG_SPACE)
    return waited if isinstance(waited, Waited) and waited.tasks >= TASKS else None


def _said(waited: Waited) -> str:
    """The waits as a sentence."""
    many = f"{'up to ' if waited.unsure else ''}{waited.tasks:.1f} tasks on average"
    return (
        f"In {waited.seconds:,.0f} s of the snapshots {many} waited for space in it, in {waited.waits:,.0f} waits that "
        f"ended, of {waited.waited_seconds:,.0f} s together."
    )
