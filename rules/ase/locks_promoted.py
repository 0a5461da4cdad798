"""Tasks stand behind a table lock that was promoted from many locks.

Finds: promotions to exclusive table locks counted by sp_sysmon, while at the moment of the export a session holds the
exclusive lock of a whole table and more tasks than the limit wait for that table. Where no such moment was collected,
by counts: most lock waits of the sample are for tables, one table has most of them, and a statement that changes more
rows of it at once than the HWM ran about as often.

Why it matters: a statement with more locks on a table than its lock promotion HWM tries for a lock of the whole table,
which it keeps to the end of its transaction, and shuts out everybody else meanwhile. Such a wait is counted once and
lasts as long as the batch, so the counts of an sp_sysmon report stay small.

What to do: let the batch change fewer rows in one statement than the HWM, or raise the HWM of that table alone
(`sp_setrowlockpromote`, `sp_setpglockpromote`) above the rows of its statement, where locks enough are free. A HWM for
the whole server lets every statement take as many locks. A lock scheme is no help: rows are locked already.

When to ignore it: where a job is meant to have the table to itself, or takes `lock table` itself. That the lock held
now is a promoted one is this project's conclusion from the count: sp_sysmon names no table.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from collectors.facts import Facts, known
from collectors.facts.ase import HeldLock, LockEvents, LockRequests, TableScheme
from rules.ase._evidence.waits.chains import (
    CHAIN_FACTS,
    Blocked,
    batch_of,
    blocked_tasks,
    database_of_lock,
    head_process,
    is_whole_table,
    of_last_file,
    place_of_lock,
    say_client,
    say_lock,
    table_of_lock,
)
from rules.ase._evidence.waits.events import LOCKS
from rules.ase._evidence.waits.promoted_table import PROMOTED_TABLE_FACTS, promoted_table, table_locks
from rules.ase._evidence.waits.promotion import (
    FREE_LOCKS,
    KIND_OF,
    LOCKS_TABLE,
    PROMOTION_FACTS,
    Promoter,
    promoted,
    promotions,
    raised,
    thresholds_of,
)
from rules.ase._evidence.waits.switches import SWITCH_FACTS
from rules.ase._evidence.waits.tables import table_evidence
from rules.ase._evidence.waits.tasks import WAIT_FACTS, Waited, waited_for
from rules.ase._evidence.waits.verdict import LockWaitLimits, waits_too_long
from rules.changes.ase_promotion import FORGET, PROCEDURES
from rules.engine import limit, rule
from rules.finding import Clean, Evidence, Finding, MissingInput, Outcome, Severity, Unknown, capitalized, joined

LINKS = (
    "https://infocenter.sybase.com/help/topic/com.sybase.infocenter.dc00938.1570/html/locking/X57275.htm",
    "https://infocenter.sybase.com/help/topic/com.sybase.infocenter.dc00848.1570/html/monitor_tables/CHDEHBAG.htm",
)
HOLDER = MissingInput("who holds the lock of a whole table, and who waits", HeldLock.COLLECTED_BY)
TABLE = "Exclusive Table"
EXCLUSIVE = "ex-"
BATCHES = "Let the program of SPID {0}{3} change fewer {1}s in one statement than the lock promotion HWM{2}"
LARGEST = " (SSQLID {0} changes {2} {1:,.0f} rows at once)"
LINE = " ({0} changes up to {1:,.0f} rows at once, if of this table)"
PORTIONS = " (set rowcount {0:.0f})"
OR_CALL = "; or, where sp_help lists no thresholds of the table, from its database: `{0}` (undo: `{1}`)."
OR_RAISE = "; or raise that of {0} alone{1}, as the script says."
OR_RAISE_SERVER = "; or raise the server's, which is under the vendor's default, as the script says."
OR_WORDS = (
    '; or from its database {0} "table", "{1}", {2}, <hwm>, {3} with a HWM above them, if locks enough are free '
    '(sp_monitorconfig "number of locks").'
)
OR_NONE = ": {0}."
COUNTED = (
    "By these counts it is that table (this project's conclusion: sp_sysmon names none); who asks for any lock on it "
    "waits until the transaction that was promoted ends."
)
FEWER = "Let {0} change fewer {1}s of {2} in one statement than the lock promotion HWM ({3:,}), and commit after each"
BEHIND = (
    "{0:,.0f} promotions to exclusive table locks; SPID {1} holds a whole table and other locks, and blocks {2} tasks: "
    "which of these they wait for is not in the export"
)
LIKELY = (
    "SPID {0} most likely has it by lock promotion (it holds the whole table while {1:,.0f} promotions were counted), "
    "and keeps it to the end of its transaction."
)


@dataclass(frozen=True)
class Limits:
    """How many must wait for the table at the moment."""

    tasks: float = limit(5.0, "practice: more than 5 sessions wait for locks (DbxTune's alarm)", unit="tasks")
    least: float = limit(5.0, "this project: fewer promotions in a sample are one batch", unit="promotions")
    waits_per_second: float = limit(1.0, "this project: fewer waits for table locks delay few", unit="waits/s")


@rule(
    needs=(),
    uses=(*PROMOTED_TABLE_FACTS, *WAIT_FACTS, *SWITCH_FACTS, *PROMOTION_FACTS, *CHAIN_FACTS),
    links=LINKS,
    limits=Limits,
)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Look for the table that is locked whole, where promotions are counted."""
    counted = [one for one in promotions(facts) if one.kind.lower().startswith(EXCLUSIVE)]
    locks = of_last_file(facts.every(HeldLock))
    if not any(one.event == "promotion" for one in facts.every(LockEvents)):
        yield Unknown.of(LockEvents)
        return
    many = promoted(counted)
    if many < limits.least:
        yield Clean(f"{many:,.0f} promotions to exclusive table locks (limit {limits.least:g})")
        return
    if by_counts := _by_counts(facts, limits, counted, many) if not locks else None:
        yield by_counts
        return
    if not locks:
        yield Unknown((HOLDER,), f"{many:,.0f} promotions to exclusive table locks; of which table is not counted")
        return
    blocked = blocked_tasks(facts)
    whole = [lock for lock in locks if is_whole_table(lock) and lock.spid is not None]
    worst = max(((lock, _waiting(blocked, locks, lock)) for lock in whole), key=lambda one: len(one[1]), default=None)
    waits = len(worst[1]) if worst else 0
    behind = _behind_holder(facts, blocked, locks, whole) if waits <= limits.tasks else None
    if behind and behind[1] > limits.tasks:
        yield Unknown((HOLDER,), BEHIND.format(many, *behind))
        return
    if worst is None or waits <= limits.tasks or LOCKS_TABLE.search(batch_of(facts, worst[0].spid or 0)):
        yield Clean(f"{waits} tasks wait for a table that is locked whole (limit {limits.tasks:g})")
        return
    yield _finding(facts, limits, worst[0], worst[1], many)


def _by_counts(facts: Facts, limits: Limits, counted: list[LockEvents], many: float) -> Finding | None:
    """By the table and the statement that so many promotions fit, where tasks wait for tables all the time.

    `None` where the time that tasks waited is known to be little, or ase/lock_waits_high says the same with its own
    figures.
    """
    kinds = [
        kind for kind in PROCEDURES if 2 * promoted([one for one in counted if f"-{kind} " in one.kind.lower()]) > many
    ]
    waited, locks = waited_for(facts, "locks", LOCKS), table_locks(facts)
    timed = isinstance(waited, Waited) and not waited.unsure
    if not kinds or locks is None or locks.waits < limits.waits_per_second * locks.seconds or timed:
        return None
    if waits_too_long(facts, LockWaitLimits(), what="locks", events=LOCKS, cause="Logical Lock Contention"):
        return None
    kind, now = kinds[0], thresholds_of(facts, kinds[0])
    found = promoted_table(facts, many, kind)
    if found is None or now is None:
        return None
    raising, statement, name = raised(facts, found.scheme), found.statement, found.name
    by = f" (SSQLID {statement.statement})" if statement else ""
    line = raising.promoter.line if raising.promoter else ""
    whose = f"SSQLID {statement.statement} ({found.text})" if statement else line or "the statement that changes most"
    runs = (
        f"SSQLID {statement.statement} changes {found.rows:,.0f} of its rows each time, over the {kind} lock "
        f"promotion HWM ({now.hwm:,}), and ran {statement.executions:,.0f} times"
        if statement and known(statement.executions)
        else ""
    )
    share = f"{name} has {found.table.share:.0f} % of the lock waits booked to tables" if found.table else ""
    why = "; ".join(filter(None, (share, runs)))
    change, call = raising.change, raising.call
    undo = f'{FORGET[kind]} "table", "{found.scheme.table}"'
    end = (
        (OR_RAISE_SERVER if raising.whole else OR_RAISE).format(name, f": from its database `{call}`" if call else "")
        if change
        else OR_NONE.format(raising.batches)
        if raising.batches
        else OR_CALL.format(call, undo)
        if call
        else OR_WORDS.format(PROCEDURES[kind], found.scheme.table, now.lwm, now.pct)
    )
    return Finding(
        subject=name,
        severity=Severity.ADVICE,
        title=f"{many:,.0f} promotions to table locks, most likely of {name}{by}, for which tasks wait",
        seen=joined(
            f"{many:,.0f} promotions to exclusive table locks, and {locks.waits:,.0f} of {locks.all_waits:,.0f} lock "
            f"waits in {locks.seconds:,.0f} s are for table or intent locks.",
            f"{capitalized(why)}." if why.startswith("SSQLID") else f"{why}.",
        ),
        because=COUNTED,
        do=FEWER.format(whose, kind, name, now.hwm) + end,
        evidence=(
            Evidence("promotions to exclusive table locks", many, "", counted[-1].source, limits.least),
            Evidence(
                "waits for table and intent locks",
                locks.waits,
                "",
                locks.source,
                limits.waits_per_second * locks.seconds,
            ),
            *table_evidence([found.table] if found.table else []),
            *(
                (
                    Evidence(
                        f"executions of statement {statement.statement}", statement.executions, "", statement.source
                    ),
                )
                if statement and known(statement.executions)
                else ()
            ),
            *raising.evidence,
        ),
        changes=(change,) if change else (),
    )


def _waiting(blocked: list[Blocked], locks: list[HeldLock], held: HeldLock) -> dict[int, float | None]:
    """The SPIDs that wait for this table, with the seconds they have waited; `None` where those are not printed.

    By the locks on it that are waited for; and, as `sp_lock` may list held locks only, by who the processes say is
    blocked by this SPID, where no other lock of it is marked as one that blocks.
    """
    same = (held.database or held.db_id, held.object_id or held.object_name)
    found: dict[int, float | None] = {
        one.spid: one.wait_seconds if known(one.wait_seconds) else None
        for one in locks
        if one.waiting
        and one.spid not in (None, held.spid)
        and (one.database or one.db_id, one.object_id or one.object_name) == same
    }
    if held.blocking and [one for one in locks if one.spid == held.spid and one.blocking] == [held]:
        found |= {one.spid: one.seconds for one in blocked if one.by == held.spid}
    return found


def _behind_holder(
    facts: Facts, blocked: list[Blocked], locks: list[HeldLock], whole: list[HeldLock]
) -> tuple[int, int] | None:
    """Who holds a whole table and blocks most tasks of which no lock shows what they wait for, and how many."""
    told = {one.spid for one in locks if one.waiting}
    behind = Counter(one.by for one in blocked if one.spid not in told)
    holders = {one.spid for one in whole if not LOCKS_TABLE.search(batch_of(facts, one.spid or 0))}
    return next(((spid, many) for spid, many in behind.most_common() if spid in holders), None)


def _finding(facts: Facts, limits: Limits, lock: HeldLock, waiting: dict[int, float | None], many: float) -> Finding:
    place, spid, home = place_of_lock(facts, lock), lock.spid or 0, database_of_lock(facts, lock)
    name = table_of_lock(facts, lock)
    listed = [
        one
        for one in facts.every(TableScheme)
        if one.object_id is not None and one.object_id == lock.object_id and one.database in (None, home)
    ]
    scheme = listed[0] if len(listed) == 1 else _concluded(facts, lock, name, home)
    kind = KIND_OF.get(scheme.scheme, "row") if scheme else "row"
    raising = raised(facts, scheme, lock.db_id) if scheme else None
    if raising and not listed and (raising.promoter is None or FREE_LOCKS in raising.missing):
        raising = None  # a table that no listing has: a threshold is named where its rows and the free locks are known
    largest = raising.promoter if raising else None
    now = thresholds_of(facts, kind)
    change = raising.change if raising else None
    whose = LARGEST.format(largest.statement, largest.rows, _how(largest)) if largest and largest.statement else ""
    whose = LINE.format(largest.line, largest.rows) if largest and largest.line else whose
    whose = PORTIONS.format(largest.rows) if largest and largest.portion else whose
    call = f": from its database `{raising.call}`" if raising and raising.call else ""
    do = BATCHES.format(spid, kind, f" ({now.hwm:,})" if now else "", whose) + (
        (OR_RAISE_SERVER if raising and raising.whole else OR_RAISE).format(place, call)
        if change
        else OR_NONE.format(raising.batches)
        if raising and raising.batches
        else OR_CALL.format(raising.call, f'{FORGET[kind]} "table", "{scheme.table}"')
        if raising and scheme and raising.call
        else OR_WORDS.format(
            PROCEDURES[kind], name or "<table>", now.lwm if now else "<lwm>", now.pct if now else "<pct>"
        )
    )
    requests = {one.lock_type: one for one in facts.every(LockRequests)}
    asked = requests.get(TABLE)
    waited = (
        f"{asked.waited:,.0f} of {asked.total:,.0f} requests for exclusive table locks waited."
        if asked and known(asked.waited) and known(asked.total)
        else ""
    )
    tasks = len(waiting)
    return Finding(
        subject=place,
        severity=Severity.WARNING,
        title=f"{tasks} tasks wait for {place}, whose locks are promoted to a table lock (SPID {spid})",
        seen=joined(
            f"SPID {spid}{say_client(head_process(facts, spid))} holds {say_lock(facts, lock)}, and {tasks} tasks "
            f"wait for it; sp_sysmon counts {many:,.0f} promotions to exclusive table locks.",
            waited,
        ),
        because=LIKELY.format(spid, many),
        do=do,
        unknown="Since when they wait is not in the export (master..monProcess, SecondsWaiting)."
        if all(seconds is None for seconds in waiting.values())
        else "",
        urgent=True,
        evidence=(
            Evidence("tasks that wait for the table", tasks, "tasks", lock.source, limits.tasks),
            Evidence("promotions to exclusive table locks", many, "", promotions(facts)[-1].source, limits.least),
            *(raising.evidence if raising else ()),
        ),
        changes=(change,) if change else (),
        explains=("ase/blocked_chain", *(("ase/lock_waits_high",) if _at_tables(list(requests.values())) else ())),
    )


def _concluded(facts: Facts, lock: HeldLock, name: str | None, home: str | None) -> TableScheme | None:
    """The table with the scheme whose locks alone were promoted; `None` where both kinds were, or it has no name."""
    kinds = [kind for kind in PROCEDURES if promotions(facts, kind)]
    if len(kinds) != 1 or not name or any(one.table.lower() == name.lower() for one in facts.every(TableScheme)):
        return None
    scheme = "datarows" if kinds[0] == "row" else "datapages"
    return TableScheme(source=lock.source, database=home, table=name, object_id=lock.object_id, scheme=scheme)


def _how(largest: Promoter) -> str:
    """What kind of figure the rows of this statement are."""
    return "on average" if largest.mean else "up to"


def _at_tables(requests: list[LockRequests]) -> bool:
    """Whether most of the lock waits of the interval are for tables: an intent lock waits for a table lock alone."""
    waited = {one.lock_type: one.waited for one in requests if known(one.waited)}
    tables = sum(count for kind, count in waited.items() if kind.endswith((" Intent", " Table")))
    return 2 * tables > sum(waited.values())
