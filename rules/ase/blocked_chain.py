"""One task blocks others with its locks.

Finds: tasks that wait for a lock of another task at the moment of the export, who stands at the head of each chain, how
many wait for it, directly or behind others, and since when; with the table and the statement where they were collected.

Why it matters: a lock that is held for minutes stops everybody who needs the row, and everybody behind them. Wait
events are booked when a wait ends, so a chain that still stands is in no average: only monProcess, sysprocesses,
monLocks and sp_lock show it. Often the head does nothing at all: its client opened a transaction and thinks.

What to do: look at the head. If its client is idle, let it commit or roll back, and mend the application that keeps a
transaction open while it waits for a person. If its client takes no rows, let it fetch them all, or cancel. If it
works, its statement is the one to make shorter; maintenance belongs where nobody works. Ending it with
`kill` is a last resort and for its owner to decide: its transaction is rolled back, which can take as long as the work
did, and the locks stay until that is done.

Many tasks at one moment, none of which waits for long, are a note: such a queue at one row passes by itself. It is a
note, too, where no times were collected, as by sp_lock alone, and then how long they wait is to be seen first; advice,
where two tasks or more stand behind a client that does nothing, or more than the limit behind a job that has locked the
whole of a table, and they are a third of all sessions. One that
waits beyond the limit behind a client that does nothing is a warning, as nothing but that client ends it; and where
such a head holds the table that most lock waits are for, or no export names one and as many wait behind it as wait on
average, it explains ase/lock_waits_high; so does a head at work that has locked the whole of that table while as many
wait behind it.

When to ignore it: few tasks that wait for seconds are daily life. A maintenance job that is meant to lock a table makes
a chain on purpose. What the export shows is one moment; look again before anything is done.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from collectors.facts import Facts, known
from collectors.facts.ase import HeldLock, MonProcess, MonProcessStatement, MonState, MonTable
from rules.ase._evidence.objects.plans import PLAN_FACTS, plan_evidence, plans_of_session
from rules.ase._evidence.objects.statements import quoted, shown
from rules.ase._evidence.server import server_of, subject_of
from rules.ase._evidence.waits.chains import (
    CHAIN_FACTS,
    IDLE_CLIENT,
    NAME,
    Blocked,
    Chain,
    batch_of,
    blocked_tasks,
    blocking_lock,
    chains_of,
    head_process,
    is_whole_table,
    last_batch,
    locks_that_block,
    longest_possible,
    open_since,
    place_of_lock,
    processes_tell,
    say_client,
    say_lock,
    sessions_listed,
    table_of_lock,
    tasks_at_work,
    waited_before,
    waiting_without_holder,
)
from rules.ase._evidence.waits.events import LOCKS, NETWORK
from rules.ase._evidence.waits.head_work import (
    FETCH,
    REBUILD,
    SENDS,
    STOPS,
    TAKES,
    lasting,
    maintenance_of,
    sends,
)
from rules.ase._evidence.waits.kept_reads import MANY, clause_in, held_at_once, kept_reads, reads_at_high_level
from rules.ase._evidence.waits.promotion import PROMOTION_FACTS, Taken, taken
from rules.ase._evidence.waits.tables import TABLE_FACTS, locks_table, waiting_tables
from rules.ase._evidence.waits.tasks import WAIT_FACTS, Waited, waited_for
from rules.ase._evidence.waits.undone import all_listed, changes_nothing, few_changes
from rules.ase._evidence.waits.verdict import CRITICAL_ORIGIN, CRITICAL_PERCENT
from rules.engine import limit, percent, rule
from rules.finding import (
    Clean,
    Evidence,
    Finding,
    MissingInput,
    Outcome,
    Severity,
    Unknown,
    Untrusted,
    enumerated,
    joined,
)

LINKS = (
    "https://infocenter.sybase.com/help/topic/com.sybase.infocenter.dc00848.1570/html/monitor_tables/CHDEHBAG.htm",
    "https://infocenter.sybase.com/help/topic/com.sybase.infocenter.dc00938.1570/html/locking/X57275.htm",
)
NAMED = 3
SINCE = MissingInput("since when they wait, and what the head does", MonProcess.COLLECTED_BY)
WAITERS = MissingInput("who waits, and since when", f"sp_who, or {MonProcess.COLLECTED_BY}")
HOLDER = MissingInput("who blocks whom", MonProcess.COLLECTED_BY)
LOOK = "Look again before you do anything, as this is one moment; then let "
STANDS = "It stands at both looks, where SPID {0} waits {1:,.0f} s and {2:,.0f} s: let "
CARE = f"{LOOK}the owner of SPID {{0}} commit or roll back{{1}}. "
NO_THINKING = ", and have its program commit before it waits for a person"
CARE_CURSOR = f"{LOOK}the owner of SPID {{0}} close the cursor or commit, and its program fetch all rows at once. "
CARE_LEVEL = (
    f"{LOOK}the owner of SPID {{0}} {{1}}commit, and its program do so before it waits for a person. Take `{{2}}` out "
    "of its batch if what it read may change (level 1 keeps at most a cursor's row); "
)
"""Such locks stay to the end of the transaction, whatever becomes of a cursor."""
UNDOES = (
    "Ending it (`kill {0}`) rolls its transaction back, which can take as long as its work did, and the locks stay "
    "until then{1}."
)
UNDOES_LITTLE = "Ending it (`kill {0}`) undoes little: it holds no exclusive lock in this listing{1}."
UNDOES_FEW = (
    "Ending it (`kill {0}`) undoes little: all {2} locks that it holds are listed, and {3} of them are exclusive, of "
    "rows and pages, none of a table{1}."
)
NOT_BEHIND = "; SPID {0}, which {1} others, {2} behind it: leave {3}"
PASSES = (
    "End nothing: a queue whose waits are this short mostly passes by itself. Look again, and where SPID {0} still "
    "stands at its head, shorten its transaction."
)
UNTIMED = (
    "First see how long they wait, which is not in the export: select * from master..monProcess (SecondsWaiting) tells "
    "while they wait. Where it is over {1:g} s behind SPID {0}, let its owner commit or roll back; end nothing before."
)
UNTIMED_TABLE = (
    "First see how long they wait (SecondsWaiting in master..monProcess); over {1:g} s, let SPID {0} finish, or end it "
    "only if undoing all it did, which can take as long, costs less. "
)
UNTIMED_IDLE = (
    "Look once more, a minute later (sp_who): where tasks still stand behind SPID {0}, let its owner commit or roll "
    "back, and mend the program that keeps a transaction open while it waits for a person. End nothing before."
)
WORKS = (
    f"{LOOK}SPID {{0}} finish, or end it only if undoing all "
    "it did, which can take as long as its work, costs less: the locks stay until then. "
)
WORKS_LITTLE = (
    f"{LOOK}SPID {{0}} finish, or `kill {{1}}`, which undoes "
    "little: its exclusive locks in this listing are {2}, of rows and pages, and none is of a table. "
)
"""What a transaction has changed it keeps locked to its end, so few such locks are few changes."""
READS = (
    "Let SPID {0} finish, or end it (kill {0}){1}. Then let its statement read at isolation level 1 (no holdlock, or "
    "at isolation read committed) if its owner allows rows to change between two of its reads."
)
NOTHING_TO_UNDO = ", which undoes little: it holds no exclusive lock in this listing"
KEEPS = "It reads, and keeps {0:,} shared locks of {1} at once, which a read at isolation level 1 does not."
KEEPS_BY_TEXT = "It reads {0} at isolation level {1}, so it keeps a shared lock on all it has read."
SHORTER = "Its statement{0} is the one to make shorter."
SLOW = "its client takes no rows"
LEVEL_ONE = ", and read at isolation level 1 (no holdlock) if what it read may change"
RUNS = " (line {0} of procedure {1}, {2:,.0f} logical reads so far)"
LAST = "The last batch of it in the export: {0}."
TEXT = "The statement of SPID {0} is not in the export: master..monProcessSQLText has it."


@dataclass(frozen=True)
class Limits:
    """How many must wait, or how long."""

    seconds: float = limit(60.0, "practice: one blocker for more than 60 s (DbxTune's alarm)", unit="s")
    momentary_seconds: float = limit(
        2.0, "this project: all wait less, so whoever holds the lock now is gone before anybody looks", unit="s"
    )
    tasks: float = limit(5.0, "practice: more than 5 sessions wait for locks (DbxTune's alarm)", unit="tasks")
    connections_percent: float = percent(
        10.0, "this project: where monState alone was collected, fewer of all connections are daily life"
    )
    critical_percent: float = percent(CRITICAL_PERCENT, CRITICAL_ORIGIN)


@rule(
    needs=(),
    uses=(
        *CHAIN_FACTS,
        *TABLE_FACTS,
        *PLAN_FACTS,
        *WAIT_FACTS,
        *PROMOTION_FACTS,
        MonProcessStatement,
        MonState,
        MonTable,
    ),
    links=LINKS,
    limits=Limits,
)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Judge the chains of the moment."""
    asked = any(one.table in ("monLocks", "monProcess") for one in facts.every(MonTable))
    if not facts.every(HeldLock) and not processes_tell(facts) and (facts.every(MonProcess) or not asked):
        yield from _by_state(facts, limits)
        return
    blocked, orphans = blocked_tasks(facts), waiting_without_holder(facts)
    chains, circle = chains_of(blocked)
    most = longest_possible(facts)
    late = next((one for one in blocked if most is not None and (one.seconds or 0.0) > most), None)
    if late:
        yield Untrusted(f"SPID {late.spid} would have waited {late.seconds:,.0f} s, the server runs {most:,.0f} s")
        return
    over = [
        one
        for one in chains
        if (one.seconds or 0.0) >= limits.seconds
        or len(one.blocked) > limits.tasks
        or (one.seconds is None and _idle(facts, one))
    ]
    if over:
        yield _finding(facts, limits, sorted(over, key=lambda one: not _long(limits, one)))
        if any(_untimed(one) for one in over):
            yield Unknown((SINCE,))
        return
    holds = locks_that_block(facts)
    if orphans and not blocked:
        yield Unknown((HOLDER,), f"{len(orphans)} tasks wait for locks, and nothing says by whom they are held")
    elif holds and not blocked:
        yield from _by_marks(facts, limits, holds)
        yield Unknown((WAITERS,), f"others wait for {_of_holder(facts, holds)}; who they are is not in the export")
    elif blocked and all(one.seconds is None for one in blocked):
        yield Unknown((SINCE,), f"{_many(len(blocked))} at this moment; since when is not in the export")
    elif circle:
        yield Clean(f"{len(circle)} tasks block each other in a circle: a deadlock the server is about to end")
    else:
        longest = max((one.seconds for one in blocked if one.seconds is not None), default=0.0)
        said = f"{_many(len(blocked))}, {longest:,.0f} s at most" if blocked else "nobody is blocked"
        yield Clean(f"{said} (limits {limits.tasks:g} tasks, {limits.seconds:g} s)")


def _by_marks(facts: Facts, limits: Limits, holds: list[HeldLock]) -> Iterator[Finding]:
    """Without those who wait: the holder whose transaction is open longest, of the locks that are marked to block."""
    opened = {one.spid: begun for one in holds if one.spid and (begun := open_since(facts, one.spid))}
    if not opened:
        return
    spid = min(opened, key=lambda one: opened[one])
    lock, begun = blocking_lock(facts, spid) or holds[0], opened[spid]
    yield Finding(
        subject=subject_of(facts),
        severity=Severity.NOTE,
        title=f"SPID {spid} blocks others ({place_of_lock(facts, lock)}; its transaction is open since "
        f"{begun:%Y-%m-%d %H:%M})",
        seen=f"Others wait for {_of_holder(facts, [lock])}, whose transaction is open since {begun:%Y-%m-%d %H:%M}.",
        do=UNTIMED.format(spid, limits.seconds),
        unknown="Who waits and since when, and what the holder does: sp_who.",
        evidence=(Evidence(f"lock of SPID {spid} that others wait for", say_lock(facts, lock), "", lock.source),),
    )


def _of_holder(facts: Facts, holds: list[HeldLock]) -> str:
    """The first lock that others wait for, and whose it is."""
    more = len({one.spid for one in holds}) - 1
    others = f" and for locks of {more} more" if more else ""
    return f"{say_lock(facts, holds[0])} of SPID {holds[0].spid}{others}"


def _by_state(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Without sessions and locks: how many wait longer than the server's threshold, as monState says it."""
    states = [row for row in facts.every(MonState) if known(row.lock_waits)]
    if not states or not known(states[-1].lock_waits):
        yield Unknown.of(MonProcess, HeldLock)
        return
    state, waits = states[-1], states[-1].lock_waits
    threshold = f"{state.lock_wait_threshold:g} s" if known(state.lock_wait_threshold) else "its threshold"
    said = f"monState: {waits:g} tasks wait for a lock longer than {threshold} at this moment"
    if waits <= 0:
        yield Clean(said)
        return
    share = 100.0 * waits / state.connections if known(state.connections) and state.connections else 0.0
    if waits > limits.tasks and limits.connections_percent <= share <= 100.0:
        yield Finding(
            subject=subject_of(facts),
            severity=Severity.ADVICE,
            title=f"{waits:g} tasks wait for a lock longer than {threshold}",
            seen=f"{said}, {share:.0f} % of all connections.",
            urgent=True,
            do="Look at once who blocks them: master..monProcess shows it only while they wait.",
            evidence=(Evidence("tasks that wait for a lock", waits, "tasks", state.source, limits.tasks),),
        )
    yield Unknown((HOLDER,), f"{said}; who blocks them is not in the export")


def _long(limits: Limits, chain: Chain) -> bool:
    """Whether somebody in this chain waits as long as the limit says."""
    return (chain.seconds or 0.0) >= limits.seconds


def _untimed(chain: Chain) -> bool:
    """Whether somebody in this chain waits since nobody knows when: sp_lock has no times."""
    return any(one.seconds is None for one in chain.blocked)


def _idle(facts: Facts, chain: Chain) -> bool:
    """Whether the head of this chain runs nothing and waits for its client."""
    head = head_process(facts, chain.head)
    return bool(head and (head.command or "").upper() == IDLE_CLIENT)


def _stuck_share(facts: Facts, limits: Limits, chain: Chain) -> Evidence | None:
    """That a good part of all sessions are held up, nobody knows since when; else `None`.

    By a client which runs nothing, or, as more tasks than the limit, by one at work that has locked a whole table.
    """
    listed, blocked = sessions_listed(facts), len(chain.blocked)
    if chain.seconds is not None or blocked < 2 or blocked > listed:
        return None
    whole = blocked > limits.tasks and _works(facts, chain) and _has_the_table(facts, chain)
    if not whole and not _idle(facts, chain):
        return None
    share = 100.0 * blocked / listed
    whose = f"share of all sessions blocked by SPID {chain.head}"
    found = Evidence(whose, share, "%", chain.longest.source, limits.critical_percent)
    return found if share >= limits.critical_percent else None


def _works(facts: Facts, chain: Chain) -> bool:
    """Whether the head of this chain runs something, and waits for no client to send or to take anything."""
    head = head_process(facts, chain.head)
    return (
        bool(head and head.command and head.wait_event not in NETWORK) and not sends(head) and not _idle(facts, chain)
    )


def _has_the_table(facts: Facts, chain: Chain) -> bool:
    """Whether the head of this chain has locked the whole of a table."""
    lock = blocking_lock(facts, chain.head)
    return bool(lock and is_whole_table(lock))


def _momentary(limits: Limits, chains: list[Chain]) -> bool:
    """Whether all of these tasks are known to wait for a moment alone: their holder is gone before anybody looks."""
    seconds = [one.seconds for chain in chains for one in chain.blocked]
    return all(one is not None and one < limits.momentary_seconds for one in seconds)


def _over_threshold(facts: Facts, limits: Limits) -> bool:
    """Whether monState counts more tasks than the limit that wait longer than the server's own threshold."""
    counted = [row.lock_waits for row in facts.every(MonState) if known(row.lock_waits)]
    return bool(counted) and counted[-1] > limits.tasks


def _holds_the_hottest(facts: Facts, chain: Chain) -> bool:
    """Whether the head of this chain is waited for at the table that most lock waits of the interval are for."""
    tables = waiting_tables(facts)
    direct = {one.spid for one in chain.blocked if one.by == chain.head}
    locks = [lock for lock in facts.every(HeldLock) if lock.waiting and lock.spid in direct]
    own = blocking_lock(facts, chain.head)
    return any(tables and locks_table(lock, tables[0].row) for lock in (*locks, *((own,) if own else ())))


def _as_many(facts: Facts, chain: Chain) -> bool:
    """Whether as many stand in this chain as wait for locks on average."""
    waits = waited_for(facts, "locks", LOCKS)
    return isinstance(waits, Waited) and not waits.unsure and len(chain.blocked) >= waits.tasks


def _explains_waits(facts: Facts, chain: Chain) -> bool:
    """Whether the lock waits of the interval come from this chain, somebody of which waits long."""
    idle, hottest = _idle(facts, chain), _holds_the_hottest(facts, chain)
    if idle and (hottest or (not waiting_tables(facts) and _as_many(facts, chain))):
        return True
    return hottest and _works(facts, chain) and _has_the_table(facts, chain) and _as_many(facts, chain)


def _many(count: int) -> str:
    return "1 task is blocked" if count == 1 else f"{count} tasks are blocked"


def _finding(facts: Facts, limits: Limits, chains: list[Chain]) -> Finding:
    blocked = sum(len(one.blocked) for one in chains)
    working = tasks_at_work(facts)
    longest = max((one.seconds or 0.0) for one in chains)
    first = chains[0]
    others = [f"SPID {one.head} blocks {_tasks(len(one.blocked))}" for one in chains[1:NAMED]]
    others += [f"{len(chains) - NAMED} more tasks block others"] if len(chains) > NAMED else []
    share = 100.0 * blocked / working if working and blocked <= working else None
    if share is not None:
        others.append(f"{blocked} of {working} tasks that wait or run are blocked")
    head, text = head_process(facts, first.head), batch_of(facts, first.head)
    idle, stuck = _idle(facts, first), [one for one in chains if _long(limits, one) and _idle(facts, one)]
    last = "" if text else last_batch(facts, head)
    works, lock = _works(facts, first), blocking_lock(facts, first.head)
    whole = lock if lock and is_whole_table(lock) else None
    how = taken(facts, whole, table_of_lock(facts, whole)) if whole else None
    reads = works and lock is not None and any(one.spid == lock.spid for one in kept_reads(facts))
    alarm = longest >= limits.seconds or (_over_threshold(facts, limits) and not _momentary(limits, chains))
    late = sum(len(one.blocked) for one in chains if _long(limits, one))  # a queue of a moment makes it no worse
    of_late = 100.0 * late / working if share is not None and working else None
    stuck_share = _stuck_share(facts, limits, first)
    calm = Severity.ADVICE if stuck_share else Severity.NOTE
    severity = _severity(limits, late, longest, of_late, idle=bool(stuck)) if alarm else calm
    matched = list(dict.fromkeys(one.matched for chain in chains for one in chain.blocked if one.matched))
    read = f"The release is not in the export: {'; '.join(matched)}." if matched else ""
    since = f", the longest for {longest:,.0f} s" if longest else ""
    begun, opens = open_since(facts, first.head), "cursor" if lock and lock.cursor else "transaction"
    opened = f" since {begun:%Y-%m-%d %H:%M}" if begun else ""
    slow = sends(head) and not idle
    upkeep = maintenance_of(head, text) if works else ""
    held = f"idle in its {opens}{opened}" if idle else SLOW if slow else upkeep
    return Finding(
        subject=subject_of(facts),
        severity=severity,
        title=f"SPID {first.head} blocks {_tasks(len(first.blocked))}{since}{_who(facts, head, lock, held)}",
        seen=f"{'; '.join((_say(head, first), *others))}.{_holds(facts, first.head, lock)}",
        because=joined(
            f"SPID {first.head} runs nothing: its client keeps a {opens} open{opened} and sends no command."
            if idle
            else f"SPID {first.head} is at work and has locked the whole of {place_of_lock(facts, whole)}"
            f"{f', {how.says}' if how else ''}."
            if works and whole
            else _keeps(facts, lock)
            if reads and lock
            else SENDS.format(first.head, _since_start(facts, head))
            if slow
            else "",
            f"Its batch: {shown(text)}." if text else LAST.format(shown(last)) if last else "",
        ),
        do=READS.format(first.head, NOTHING_TO_UNDO if changes_nothing(facts, first.head) else "")
        if reads and alarm
        else _do(
            facts, limits, first, head, alarm=alarm, untimed=any(map(_untimed, chains)), idle=idle, works=works, how=how
        ),
        urgent=alarm,
        unknown=joined("" if text or last else TEXT.format(first.head), read),
        evidence=(*((stuck_share,) if stuck_share else ()), *_evidence(facts, limits, chains[:NAMED])),
        explains=("ase/lock_waits_high",)
        if any(_explains_waits(facts, one) for one in chains if _long(limits, one))
        else ("ase/reads_hold_locks",)
        if alarm and (idle or slow) and {one.spid for one in kept_reads(facts)} == {first.head}
        else (),
    )


def _who(facts: Facts, head: MonProcess | None, lock: HeldLock | None, idle: str) -> str:
    """Whose session the head is, the table that it holds and that it is idle, as far as known, to end a title."""
    table = place_of_lock(facts, lock) if lock and table_of_lock(facts, lock) else ""
    known_of = "; ".join(filter(None, (say_client(head).removeprefix(" (").removesuffix(")"), table, idle)))
    return f" ({known_of})" if known_of else ""


def _do(
    facts: Facts,
    limits: Limits,
    first: Chain,
    head: MonProcess | None,
    *,
    alarm: bool,
    untimed: bool,
    idle: bool,
    works: bool,
    how: Taken | None,
) -> str:
    """What to do about the first chain, by what its head does."""
    whose = f"{first.head} ({quoted(head.login, NAME)})" if head and head.login else f"{first.head}"
    upkeep = maintenance_of(head, batch_of(facts, first.head)) if works else ""
    if upkeep and (alarm or untimed):
        server = server_of(facts)
        then = lasting(upkeep, server.before(16) if server else None)
        if not alarm:
            return UNTIMED_TABLE.format(first.head, limits.seconds) + then
        begins = LOOK + STOPS.format(whose, first.head) if upkeep == REBUILD else WORKS.format(whose)
        return _looked(facts, first, begins) + then
    if alarm and works:
        few = few_changes(facts, first.head)
        begins = WORKS.format(whose) if few is None or how else WORKS_LITTLE.format(whose, first.head, few)
        return f"{_looked(facts, first, begins)}{how.against if how else SHORTER.format(_runs(facts, head))}"
    calm = PASSES if not untimed else UNTIMED_IDLE if idle and _untimed(first) else UNTIMED
    if alarm:
        lock = blocking_lock(facts, first.head)
        if idle and lock and changes_nothing(facts, first.head) and reads_at_high_level(facts, lock):
            closes, clause = "close its cursor and " if lock.cursor else "", clause_in(batch_of(facts, first.head))
            undoes = UNDOES_LITTLE.replace("Ending it (`kill {0}`)", "`kill {0}`").replace(" in this listing", "")
            return _looked(facts, first, CARE_LEVEL.format(whose, closes, clause)) + undoes.format(
                first.head, _not_behind(first)
            )
        if sends(head) and not idle:
            return _looked(facts, first, LOOK + TAKES.format(whose)) + _of_slow(facts, first, lock)
        care = CARE_CURSOR if lock and lock.cursor and held_at_once(facts, lock) < MANY else CARE
        every, few = all_listed(facts, first.head), few_changes(facts, first.head)
        undoes = UNDOES_LITTLE if changes_nothing(facts, first.head) else UNDOES_FEW if every and few else UNDOES
        return _looked(facts, first, care.format(whose, NO_THINKING if idle else "")) + undoes.format(
            first.head, _not_behind(first), every, few
        )
    if works and untimed and how:
        return UNTIMED_TABLE.format(first.head, limits.seconds) + how.against
    return calm.format(first.head, limits.seconds)


def _of_slow(facts: Facts, chain: Chain, lock: HeldLock | None) -> str:
    """What to do of a client that does not take its rows, beside asking its owner."""
    keeps = lock is not None and any(one.spid == chain.head for one in kept_reads(facts))
    undoes = UNDOES_LITTLE if changes_nothing(facts, chain.head) else UNDOES
    said = undoes.format(chain.head, _not_behind(chain)).removesuffix(".")
    return f"{said}; {FETCH.format(LEVEL_ONE if keeps else '')}"


def _since_start(facts: Facts, head: MonProcess | None) -> str:
    """Since when the head runs its statement, in brackets; empty where no export shows it."""
    rows = [one for one in facts.every(MonProcessStatement) if head and one.spid == head.spid and one.started]
    return f" (its statement runs since {rows[-1].started:%Y-%m-%d %H:%M})" if rows else ""


def _looked(facts: Facts, chain: Chain, advice: str) -> str:
    """The same advice, without a look that was taken already: somebody was seen waiting at two moments."""
    task, before = chain.longest, waited_before(facts, chain.longest)
    if before is None or task.seconds is None:
        return advice
    return advice.replace(LOOK, STANDS.format(task.spid, before, task.seconds), 1)


def _not_behind(chain: Chain) -> str:
    """That those in the middle of the chain are not to be ended, as a clause; empty where there are none."""
    middle = sorted({one.by for one in chain.blocked} & {one.spid for one in chain.blocked})
    if not middle:
        return ""
    said = enumerated(list(map(str, middle))) if len(middle) <= NAMED else f"{middle[0]} and {len(middle) - 1} more"
    return NOT_BEHIND.format(said, *(("blocks", "waits", "it") if len(middle) == 1 else ("block", "wait", "them")))


def _keeps(facts: Facts, lock: HeldLock) -> str:
    """By what it is known that the head keeps what it has read, as a sentence; empty where its listing says it."""
    many, level = held_at_once(facts, lock), reads_at_high_level(facts, lock)
    if many >= MANY:
        return KEEPS.format(many, place_of_lock(facts, lock))
    return KEEPS_BY_TEXT.format(place_of_lock(facts, lock), level) if level else ""


def _runs(facts: Facts, head: MonProcess | None) -> str:
    """Which statement the head runs, with what it has read, in brackets; empty where no export shows it."""
    rows = [one for one in facts.every(MonProcessStatement) if head and (one.spid, one.kpid) == (head.spid, head.kpid)]
    if not rows or not rows[-1].procedure_id or rows[-1].line is None or not known(rows[-1].logical_reads):
        return ""
    return RUNS.format(rows[-1].line, rows[-1].procedure_id, rows[-1].logical_reads)


def _holds(facts: Facts, spid: int, lock: HeldLock | None) -> str:
    """The lock of the head that the others wait for, as a sentence; empty where no export shows it."""
    if lock is None:
        return ""
    page = f", page {lock.page:.0f}" if known(lock.page) else ""
    return f" SPID {spid} holds {say_lock(facts, lock)}{page}."


def _tasks(count: int) -> str:
    return "1 task" if count == 1 else f"{count} tasks"


def _severity(limits: Limits, blocked: int, longest: float, share: float | None, *, idle: bool) -> Severity:
    """One for long is advice, behind an idle head a warning; as many for long, too; with a third at work critical."""
    if blocked <= limits.tasks or longest < limits.seconds:
        return Severity.WARNING if idle else Severity.ADVICE
    return Severity.CRITICAL if share is not None and share >= limits.critical_percent else Severity.WARNING


def _say(head: MonProcess | None, chain: Chain) -> str:
    direct = sum(one.by == chain.head for one in chain.blocked)
    said = f", {direct} of them directly" if direct < len(chain.blocked) else ""
    return f"SPID {chain.head}{say_client(head)} blocks {_tasks(len(chain.blocked))}{said}{_since(chain.longest)}"


def _since(longest: Blocked) -> str:
    what = f"waits for {longest.what}" if longest.what else ""
    since = f"has waited for {longest.seconds:,.0f} s" if longest.seconds is not None else ""
    said = " and ".join(filter(None, (what, since)))
    return f"; SPID {longest.spid} {said}" if said else ""


def _evidence(facts: Facts, limits: Limits, chains: list[Chain]) -> Iterator[Evidence]:
    for chain in chains:
        source = chain.longest.source
        yield Evidence(f"tasks blocked by SPID {chain.head}", len(chain.blocked), "tasks", source, limits.tasks)
        if chain.seconds is not None:
            yield Evidence(f"SPID {chain.longest.spid} waits", chain.seconds, "s so far", source, limits.seconds)
        head = head_process(facts, chain.head)
        if head and head.command:
            yield Evidence(f"command of SPID {chain.head}", quoted(head.command), "", head.source)
        yield from plan_evidence(facts, plans_of_session(facts, chain.head))
