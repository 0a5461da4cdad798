"""Reads keep their locks longer than they have to.

Finds: read locks that others wait for and that stay until a transaction ends or a cursor moves on (`sp_lock`: context
`Range` or `Inf key`, or the name of a cursor; a shared lock of a whole table, if neither `lock table` nor the making of
an index took it; one of a page or row whose session runs nothing, holds twenty or more of that table at once, or whose
batch reads it at isolation level 2 or 3); and, while tasks wait for locks, statements that read the table with most
lock waits at isolation level 2 or 3, or a server with `read committed with lock` on.

Why it matters: at level 1, the default, a read lets go of a row or page once it has read it. At level 3 (`holdlock`),
and at level 2 on data-only-locked tables, it keeps a shared lock on all it has read until its transaction ends, so that
nobody changes it meanwhile. A cursor keeps a lock on the row or page it stands on. With `read committed with lock`
reads of data-only-locked tables hold the lock of a row until they have that of the next (vendor: Locking and
Concurrency Control).

Where most of the blocked tasks of the moment stand behind such reads, on the table with most lock waits of the
interval, these reads are the cause of `ase/lock_waits_high` and as loud as it, up to a warning.

What to do: ask the owner of the statement whether what it read must stand still. Where not, level 1 in that statement
alone (`at isolation read committed`, or no `holdlock`) ends the waiting; its price is that rows may change between two
reads of one transaction. Where it must, only a shorter transaction helps. A cursor is fetched at once and closed, or
declared `for read only`. `read committed with lock` goes back to its default 0, at once: reads still wait for rows that
somebody changes, and still see committed rows alone.

When to ignore it: where nobody waits. Exclusive locks stay until the commit at every level, so a statement that changes
rows gains nothing by another level. That a statement reads a table is inferred from its text.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from collectors.facts import Facts
from collectors.facts.ase import ConfigParameter, HeldLock, MonCachedStatement
from rules.ase._evidence.objects.statements import BESIDE, STATEMENT_FACTS, Table, by_text, quoted, shown
from rules.ase._evidence.server import setting_of, subject_of
from rules.ase._evidence.waits.chains import (
    CHAIN_FACTS,
    batch_of,
    blocked_tasks,
    chains_of,
    head_process,
    say_client,
    say_lock,
    table_of_lock,
)
from rules.ase._evidence.waits.events import LOCKS
from rules.ase._evidence.waits.kept_reads import (
    MANY,
    RANGE,
    held_at_once,
    is_shared_table,
    kept_reads,
    level_in,
    readers_of,
    reads_at_high_level,
)
from rules.ase._evidence.waits.switches import SWITCH_FACTS
from rules.ase._evidence.waits.tables import TABLE_FACTS, Waiting, lock_kinds, table_evidence, waiting_tables
from rules.ase._evidence.waits.tasks import WAIT_FACTS
from rules.ase._evidence.waits.verdict import LockWaitLimits, TooLong, judge_waits, waits_too_long
from rules.changes.ase_config import configure
from rules.engine import limit, rule
from rules.finding import Clean, Evidence, Finding, MissingInput, Outcome, Severity, Unknown, joined

LINKS = (
    "https://infocenter.sybase.com/help/topic/com.sybase.infocenter.dc00938.1570/html/locking/X16056.htm",
    "https://infocenter.sybase.com/help/topic/com.sybase.infocenter.dc32300.1600/doc/html/san1390612545104.html",
    "https://infocenter.sybase.com/help/topic/com.sybase.dc20021_1251/html/locking/locking16.htm",
)
WITH_LOCK = "read committed with lock"
CAUSE = "Logical Lock Contention"
NAMED = 3
SELECT = re.compile(r"\s*\(?\s*select\b", re.I)
WRITES = re.compile(r"(?:Exclusive|Update) (?:Row|Page)", re.I)
OF_LEVEL_3 = "Locks of context Range or Inf key are those of isolation level 3: they stay until the transaction ends."
OF_TABLE = (
    "At isolation level 1 a read takes no shared lock of a whole table: level 3 does, where it reads more rows than "
    "the lock promotion HWM or finds no index, and keeps it until the transaction ends."
)
OF_IDLE = "A read at isolation level 1 has let go of its locks before its session is idle: this one keeps them."
OF_MANY = (
    "It holds {0:,} such locks of that table at once, where a read at isolation level 1 lets go of each once it has "
    "read on: this one keeps them until its transaction ends."
)
OF_CURSOR = "A cursor keeps the lock of the row or page it stands on until it moves on or is closed."
OF_STATEMENT = "At level {0} all that is read keeps a shared lock until the transaction ends; at level 1 it is let go."
OF_SETTING = (
    "While it is 1 (vendor's default: 0), a read of a data-only-locked table holds the lock of each row or page until "
    "it has that of the next one, and whoever changes the row waits."
)
ASK = (
    "Ask the owner of {0} whether what it read must stand still until its commit. If not, use level 1 in that "
    "statement alone (at isolation read committed, no holdlock), after which rows may change between two of its reads; "
    "if so, only a shorter transaction helps."
)
ASK_CURSOR = (
    "Let the program of {0} read at level 1 (set transaction isolation level 1 before it opens the cursor, or at "
    "isolation read committed in its select) and commit after it, if what it read may change before its commit. "
    "Fetching faster or closing the cursor releases none of these locks."
)
CLOSE = (
    "Let the program of {0} fetch all rows at once and close the cursor, or declare it for read only: on "
    "data-only-locked tables such a cursor holds no lock while read committed with lock is 0. "
    "Exclusive locks stay until the commit."
)
SWITCH = (
    "Set it to 0, at once and without a restart: reads still see committed rows alone, and still wait for a row that "
    "somebody changes."
)
MOMENT = "This is one moment: look again whether they still hold them."
BY_NAME = (
    "That it reads the table is inferred from its text; whether inside a larger transaction, and whether its locks are "
    "those that are waited for, sp_lock of a busy moment shows."
)
NOT_KNOWN = "tasks wait for locks; at which isolation level the table is read is not known"
LOCKS_NOW = "sp_lock /* at a busy moment */"
LEVEL_MISSING = MissingInput(
    "the column TransactionIsolationLevel of cached statements",
    "select SSQLID, TransactionIsolationLevel, show_cached_text(SSQLID) SQLText from master..monCachedStatement",
)
NOT_SURE = "How many of the waits are for locks of reads is not in the export: sp_lock at a busy moment shows it."


@dataclass(frozen=True)
class Limits(LockWaitLimits):
    """`LockWaitLimits` for waits of an interval; for those of the moment as `ase/blocked_chain` has them."""

    seconds: float = limit(60.0, "practice: one blocker for more than 60 s (DbxTune's alarm)", unit="s")
    blocked: float = limit(5.0, "practice: more than 5 sessions wait for locks (DbxTune's alarm)", unit="tasks")


@rule(
    needs=(),
    uses=(*WAIT_FACTS, *SWITCH_FACTS, *TABLE_FACTS, *STATEMENT_FACTS, *CHAIN_FACTS, ConfigParameter),
    links=LINKS,
    limits=Limits,
)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Look at the locks of the moment, then at what reads the table that is waited for most in the interval."""
    held = kept_reads(facts)
    missing = MissingInput("at which isolation level statements run", MonCachedStatement.COLLECTED_BY)
    if held:
        waits = waits_too_long(facts, limits, what="locks", events=LOCKS, cause=CAUSE)
        yield _of_moment(facts, limits, held, waits)
        return
    found = partial(_of_interval, facts, missing)
    yield from judge_waits(facts, limits, found, what="locks", events=LOCKS, cause=CAUSE, when_unsure=(missing,))


def _of_moment(facts: Facts, limits: Limits, held: list[HeldLock], waits: TooLong | None) -> Finding:
    chains = {chain.head: chain for chain in chains_of(blocked_tasks(facts))[0]}
    readers = readers_of(facts) if waits else None
    if readers:
        held = [readers.first, *(one for one in held if one.spid != readers.first.spid)]
    first = held[0]
    chain = chains.get(first.spid or 0)
    long = chain is not None and ((chain.seconds or 0.0) >= limits.seconds or len(chain.blocked) > limits.blocked)
    alarm = Severity.ADVICE if long else Severity.NOTE
    whose, reads = f"SPID {first.spid}", None if batch_of(facts, first.spid or 0) else _likely(facts, first)
    how, why, do = _how(facts, first)
    others = f"; so do {len(held) - 1} more sessions" if len(held) > 1 else ""
    graver = readers and waits and waits.severity > alarm
    evidence = [
        *(waits.evidence if graver and waits else ()),  # what decides comes first
        *(
            Evidence(f"SPID {one.spid} holds", f"{say_lock(facts, one)}{_kept(one)}", "", one.source)
            for one in held[:NAMED]
        ),
    ]
    if chain and chain.seconds is not None:
        wait = chain.longest
        evidence.append(
            Evidence(f"longest wait behind {whose}", chain.seconds, "s so far", wait.source, limits.seconds)
        )
    if chain:
        evidence.append(
            Evidence(f"tasks blocked by {whose}", len(chain.blocked), "tasks", first.source, limits.blocked)
        )
    said = f"and {readers.says}" if readers else ""
    return Finding(
        subject=subject_of(facts),
        severity=max(alarm, min(Severity.WARNING, waits.severity)) if readers and waits else alarm,
        title=f"{whose} keeps read locks that others wait for",
        seen=f"{whose}{say_client(head_process(facts, first.spid or 0))} holds {say_lock(facts, first)}{how}, "
        f"{said or 'and another task waits for it'}{others}.",
        because=joined(
            why,
            f"By its text SSQLID {reads.statement} likely took it: {shown(reads.text or '', BESIDE)}." if reads else "",
        ),
        do=do.format(whose),
        unknown=MOMENT,
        evidence=tuple(evidence),
        explains=("ase/lock_waits_high",) if readers else (),
    )


def _how(facts: Facts, lock: HeldLock) -> tuple[str, str, str]:
    """By what it is known that this lock is kept, as a clause; what that means; and what to do."""
    batch, level = shown(batch_of(facts, lock.spid or 0), BESIDE), reads_at_high_level(facts, lock)
    says = f"Its batch: {batch}." if batch and level else ""
    if RANGE.search(lock.context or ""):
        return f" (context {quoted(lock.context or '')})", OF_LEVEL_3, ASK
    many = held_at_once(facts, lock)
    if lock.cursor and (level or many >= MANY):  # of these it keeps more than the row it stands on
        why = OF_STATEMENT.format(level) if level else OF_MANY.format(many)
        return f" (cursor {quoted(lock.cursor)})", joined(why, f"Its batch: {batch}." if batch else ""), ASK_CURSOR
    if lock.cursor:
        return f" (cursor {quoted(lock.cursor)})", OF_CURSOR, CLOSE
    if is_shared_table(facts, lock):
        return "", joined(OF_TABLE, says), ASK
    why = OF_STATEMENT.format(level) if level else OF_MANY.format(many) if many >= MANY else OF_IDLE
    return "", joined(why, says or (f"Its batch: {batch}." if batch and many >= MANY else "")), ASK


def _likely(facts: Facts, lock: HeldLock) -> MonCachedStatement | None:
    """The one cached statement that reads its table at level 2 or 3; `None` where there is none, or are several."""
    name = lock.object_name or table_of_lock(facts, lock)
    high = [one for one in _reading(facts, [(lock.database, name)]) if (level_of(one) or 0) >= 2]
    return high[0] if len(high) == 1 else None


def _reading(facts: Facts, tables: list[Table]) -> list[MonCachedStatement]:
    """The cached selects whose text names one of these tables."""
    reads = {one.statement: one for one in facts.every(MonCachedStatement) if one.text and SELECT.match(one.text)}
    return [reads[one.number] for one in by_text(facts, tables) if one.number in reads]


def _kept(lock: HeldLock) -> str:
    """What `sp_lock` says of how long it is kept, fit to be shown."""
    cursor = f"cursor {quoted(lock.cursor)}" if lock.cursor else ""
    said = ", ".join(filter(None, (lock.context and quoted(lock.context), cursor)))
    return f" ({said})" if said else ""


def level_of(row: MonCachedStatement) -> int | None:
    """The isolation level a cached select reads at: a clause of its text before its session's; `None`: not known."""
    said = level_in(row.text or "")
    return row.isolation if said is None else said


def _of_interval(facts: Facts, missing: MissingInput, waits: TooLong) -> Iterator[Outcome]:
    tables = [one for one in waiting_tables(facts) if not one.system]
    of_first = _reading(facts, [(one.row.database, one.row.object_name) for one in tables[:1]])
    high = [one for one in of_first if (level_of(one) or 0) >= 2]
    setting = setting_of(facts, WITH_LOCK)
    if high:
        yield _of_statements(facts, waits, tables, high)
    elif setting and setting.run_number == 1 and tables and tables[0].scheme in ("datapages", "datarows"):
        yield _of_setting(facts, waits, tables, setting)
    elif not tables or not of_first or any(level_of(one) is None for one in of_first):
        yield Unknown((_lacks(facts, tables, of_first) or missing,), NOT_KNOWN)
    else:
        yield Clean(f"{len(of_first)} cached statements read {tables[0].name}, none above isolation level 1")


def _lacks(facts: Facts, tables: list[Waiting], of_first: list[MonCachedStatement]) -> MissingInput | None:
    """What is to be collected where the cached statements are there already; `None` where they are not, with text."""
    if not tables or not any(one.text for one in facts.every(MonCachedStatement)):
        return None
    if of_first:
        return LEVEL_MISSING
    return MissingInput(f"who reads {tables[0].name} (no cached statement does, by its text)", LOCKS_NOW)


def _of_statements(facts: Facts, waits: TooLong, tables: list[Waiting], high: list[MonCachedStatement]) -> Finding:
    first = high[0]
    level, table = level_of(first), tables[0]
    others = f"; so do {len(high) - 1} more" if len(high) > 1 else ""
    cursor = ", by a cursor" if first.kind == CURSOR else ""
    return Finding(
        subject=subject_of(facts),
        severity=Severity.ADVICE,
        title=f"SSQLID {first.statement} reads {table.name} at isolation level {level}",
        seen=f"{shown(first.text or '')} (SSQLID {first.statement}) reads {table.name}, which has most lock waits, at "
        f"isolation level {level}{cursor}{others}.",
        because=OF_STATEMENT.format(level),
        do=ASK.format(f"SSQLID {first.statement}"),
        unknown=BY_NAME,
        evidence=(
            *waits.evidence,
            *table_evidence(tables[:1]),
            *(
                Evidence(f"isolation level of statement {one.statement}", level_of(one) or 0, "", one.source)
                for one in high[:NAMED]
            ),
        ),
    )


CURSOR = 2
"""`StmtType` of a cursor's statement."""


def _of_setting(facts: Facts, waits: TooLong, tables: list[Waiting], setting: ConfigParameter) -> Finding:
    kinds = lock_kinds(facts)
    writers = bool(kinds) and bool(WRITES.match(kinds[0][0]))
    change = configure(WITH_LOCK, 1, 0) if writers else None
    return Finding(
        subject=subject_of(facts),
        severity=Severity.ADVICE if writers else Severity.NOTE,
        title=f"{WITH_LOCK} is on while tasks wait for {tables[0].name}",
        seen=f"{WITH_LOCK} is 1, and {tables[0].name} ({tables[0].scheme}) has most lock waits.",
        because=OF_SETTING,
        do=SWITCH if writers else f"Collect sp_lock of a busy moment before anything is changed. {SWITCH}",
        unknown=NOT_SURE,
        evidence=(
            *waits.evidence,
            *table_evidence(tables[:1]),
            Evidence(WITH_LOCK, 1, "", setting.source),
            *(Evidence(f"waits for locks of type {kind}", count, "", source) for kind, count, source in kinds[:1]),
        ),
        changes=(change,) if change else (),
    )
