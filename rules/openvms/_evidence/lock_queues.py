"""Who waits for which lock: reports of LCKQUE, without the waits that are by design.

The master of a resource lists its queue, and so may a node that waits for it, so of one resource the longest queue of
any node counts and they are never added up. Queues of different resources of one tree are added.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from collectors.facts import Facts, Reading, Source, known
from collectors.facts.openvms import FileName, ListedQueue, LockQueue, LockQueues, Process, RmsRecordLock
from collectors.facts.openvms.resource_names import (
    FILE_ACCESS,
    FILE_SERIAL,
    RMS_BUCKET,
    RMS_FILE,
    RMS_RECORD,
    VOLUME,
    as_printed,
    as_text,
)
from rules.changes.quoting import comment
from rules.openvms._evidence.lock_trees import LONGEST_NAME, called, may_be_rdbs, name_of, place_of

QUEUE_FACTS = (LockQueues, LockQueue, FileName)
HOLDER_FACTS = (ListedQueue, Process, RmsRecordLock)
"""What a rule that uses this module has to declare; the second where it asks for holders."""
SUSPENDED = frozenset({"SUSP", "SUSPO"})
"""States of SHOW SYSTEM in which a process does nothing until another one resumes or deletes it (HELP SET PROCESS)."""
HALF_A_DAY = 12
"""Hours between two clock times without a date, from which on nobody knows which came first."""
GREW = 1.25
"""This project: a queue that is a quarter longer at the end grew; one or two more or less come and go all the time."""
SYSTEM_PID = "00000000"
"""What SDA prints for a lock that the system owns."""
ALIKE = 2.0
"""This project: with half to twice as many behind it, a queue of another minute may be the same one."""
SHOW_QUEUES, ON_MASTER = "SDA's SHOW RESOURCE", "on the node that masters it"
BLOCKING = f"{SHOW_QUEUES} (ANALYZE/SYSTEM) {ON_MASTER}"
CULPRIT = "for Rdb RMU/SHOW LOCKS/MODE=CULPRIT"
SDA_LISTING, RMS_LISTING = "SHOW LOCK/BRIEF", "RMS_LOCKS"
WORD = 8
"""Digits of the number of a record in its bucket, in front of the bucket's VBN, in the name of its lock."""
HOLD = ("EX", "PW", "PR")
"""Modes in which one process keeps another one from updating a record."""


@dataclass(frozen=True)
class Held:
    """Who holds what is waited for, as one listing has it."""

    holders: tuple[tuple[str, str], ...]
    """Process and mode of the first of them, one at least."""
    holding: int
    """How many locks."""
    source: Source
    listing: str = SDA_LISTING
    image: str = ""
    """The program of the first, where the listing has it."""
    waits: int = 0
    """How many wait for it in that listing, where it says so of each lock."""
    record: str = ""
    """The record of the same file that it is, by its RFA, where LCKQUE does not say that most wait for this one."""
    bucket: int | None = None
    """The bucket's VBN, where the listing has no number of the record in it: it may be another record there."""

    @property
    def program(self) -> str:
        """The program, to be printed."""
        return comment(self.image, LONGEST_NAME)


@dataclass(frozen=True)
class Waits:
    """What waits for one tree, over the reports."""

    tree: str
    head: LockQueue
    """The longest queue of the report in which most wait."""
    waiting: float
    """Requests and conversions that wait in the tree in that report."""
    queues: int
    """For how many resources of it."""
    seen: int
    """At how many moments somebody waits for it: of reports with one clock time, which print no seconds, one counts."""
    grew: str = ""
    """How much longer the queue got from the first clock time to the last, as a clause; empty where it did not."""


def waits_of(facts: Facts) -> list[Waits]:
    """Each tree that is waited for, that with most waiters first."""
    reports: dict[tuple[str, int], dict[tuple[str, ...], LockQueue]] = {}
    for queue in facts.every(LockQueue):
        if queue.standing or waiters(queue) <= 0:
            continue
        of = reports.setdefault((queue.source.file, queue.report), {})
        if queue.path not in of or waiters(queue) > waiters(of[queue.path]):
            of[queue.path] = queue
    clocks = {(one.source.file, one.report): one.clock for one in facts.every(LockQueues)}
    by_tree: dict[str, list[list[LockQueue]]] = {}
    moments: dict[str, set[object]] = {}
    timed: dict[str, dict[str, float]] = {}
    for key, of in reports.items():
        trees: dict[str, list[LockQueue]] = {}
        for queue in of.values():
            trees.setdefault(tree_of(queue), []).append(queue)
        for tree, queues in trees.items():
            by_tree.setdefault(tree, []).append(queues)
            moments.setdefault(tree, set()).add(clocks.get(key) or key)
            if clock := clocks.get(key):
                at = timed.setdefault(tree, {})
                at[clock] = max(at.get(clock, 0.0), sum(map(waiters, queues)))
    found = [
        replace(_waits(tree, several, len(moments[tree])), grew=_grew(timed.get(tree, {})))
        for tree, several in by_tree.items()
    ]
    return sorted(found, key=lambda one: (-one.waiting, one.tree))


def _grew(timed: Mapping[str, float]) -> str:
    """That a queue grew, of the requests that wait by clock time; a report has no date, so half a day is the most."""
    if len(timed) < 2:
        return ""
    first, last = min(timed), max(timed)
    if timed[last] < GREW * timed[first] or int(last[:2]) - int(first[:2]) >= HALF_A_DAY:
        return ""
    return f"the queue grew from {timed[first]:,.0f} at {first} to {timed[last]:,.0f} at {last}"


def also_listed(facts: Facts, head: LockQueue) -> str:
    """What other nodes of the same report list for it, as a clause; whether these are more of them LCKQUE tells not."""
    told = {
        one.node: waiters(one)
        for one in facts.every(LockQueue)
        if (one.source.file, one.report, one.path) == (head.source.file, head.report, head.path)
        and one.node
        and one.node != head.node
        and waiters(one) > 0
    }
    return " and ".join(f"{comment(node, 15)} lists {many:,.0f} for it, too" for node, many in [*told.items()][:3])


def _waits(tree: str, several: Sequence[Sequence[LockQueue]], seen: int) -> Waits:
    most = max(several, key=lambda queues: sum(map(waiters, queues)))
    head = max(most, key=lambda queue: (waiters(queue), queue.path))
    return Waits(tree, head, sum(map(waiters, most)), len(most), seen)


def waiters(queue: LockQueue) -> float:
    """Requests and conversions that wait."""
    return _number(queue.waiting) + _number(queue.converting)


def _number(reading: Reading) -> float:
    return reading if known(reading) and reading >= 0 else 0.0


def tree_of(queue: LockQueue) -> str:
    """What the tree of a queue is called, as that of a LOCK_ACTV report is."""
    return called(queue.names[0])


def file_of(facts: Facts, waits: Waits) -> str:
    """The file's name, as LCKQUE or a listing has it; empty where neither does."""
    if waits.head.file:
        return comment(waits.head.file, LONGEST_NAME)
    named = name_of(facts, waits.head.resource)
    return named.name if named and named.sure else ""


def listed_as(facts: Facts, waits: Waits) -> ListedQueue | None:
    """The same queue in SDA's SHOW LOCK/BRIEF, which has the holders.

    SDA prints a dot for every byte that is no character, so two locks can look alike: then it is none of them. A
    listing without the parents has the name of the lock itself alone: then as many have to wait in it, too.
    """
    printed = _printed(waits.head)
    alike = {one.path for one in facts.every(LockQueue) if _printed(one) == printed}
    queues = facts.every(ListedQueue)
    found = [one for one in queues if (one.root.rstrip(), one.text.rstrip()) == printed]
    if not found:
        alike = {one.path for one in facts.every(LockQueue) if not one.standing and _printed(one)[1] == printed[1]}
        found = [one for one in queues if one.root == one.text and one.text.rstrip(" .") == printed[1].rstrip(" .")]
        found = found if len(found) != 1 or _as_many(found[0], waiters(waits.head)) else []
    return found[0] if len(found) == 1 and len(alike) == 1 and found[0].holders else None


def holders_in(queue: ListedQueue | None) -> Held | None:
    """Who holds what SDA lists; `None` where it names no holder."""
    return Held(queue.holders, queue.holding, queue.source) if queue and queue.holders else None


def held_by(facts: Facts, waits: Waits) -> Held | None:
    """Who holds what most wait for: of a record by RMS_LOCKS, which prints its address, else by SDA."""
    head, file = waits.head.resource, waits.head.root.file
    locks = [one for one in facts.every(RmsRecordLock) if file and one.file == file and one.mode in HOLD]
    held = (
        _lone(head.record, locks) or _in_bucket(head.record, locks) if head.kind == RMS_RECORD and head.record else None
    )
    return held or holders_in(listed_as(facts, waits)) or _alike(waits, locks)


def _alike(waits: Waits, locks: Sequence[RmsRecordLock]) -> Held | None:
    """Who holds the only record of the file that anybody waits for in RMS_LOCKS, and about as many as in LCKQUE.

    The two are of different moments, and LCKQUE may not show which record it is: it may be another one.
    """
    records = {one.record for one in locks if one.waiting}
    if len(records) != 1 or waits.head.resource.kind in (RMS_BUCKET, RMS_FILE):
        return None
    record = records.pop()
    held = _lone(record, locks)
    if held is None or not waiters(waits.head) <= ALIKE * held.waits <= ALIKE * ALIKE * waiters(waits.head):
        return None
    return replace(held, record=record)


def _in_bucket(record: str, locks: Sequence[RmsRecordLock]) -> Held | None:
    """The only process with a record in the bucket, where RMS_LOCKS prints the bucket's VBN alone as the RFA.

    The published sample has RFA=0xb5e4b beside VBN=745035, which is the same number; the name of a record lock has the
    number of the record in its bucket above it.
    """
    block = record[WORD:]
    inside = [one for one in locks if one.record[WORD:] == block]
    if any(one.record[:WORD].strip("0") for one in inside):
        return None
    held = _lone(block.zfill(len(record)), inside)
    return replace(held, bucket=int(block, 16)) if held else None


def _lone(record: str, locks: Sequence[RmsRecordLock]) -> Held | None:
    """The only process that holds a record in RMS_LOCKS; `None` where there is none, or are several."""
    held = [one for one in locks if one.record == record and not one.waiting]
    if len({one.pid for one in held}) != 1:
        return None
    queued = len({one.pid for one in locks if one.record == record and one.waiting})
    return Held(((held[-1].pid, held[-1].mode),), 1, held[-1].source, RMS_LISTING, held[-1].image, queued)


def find_holder(facts: Facts, waits: Waits) -> str:
    """How to find who holds what most wait for, as a sentence that is the same wherever it is said."""
    file = file_of(facts, waits)
    return (
        f"Find who holds {what_of(waits.head)}{f' ({file})' if file else ''} while they wait: "
        f"{_blocking(facts, waits.head)}; then see what it does meanwhile."
    )


def _blocking(facts: Facts, queue: LockQueue) -> str:
    """What shows who holds what a queue waits for; Rdb's own command where the lock may be one of Rdb."""
    if queue.resource.kind == RMS_RECORD:
        read = any(one.file == queue.root.file for one in facts.every(RmsRecordLock))
        again = " again" if read and queue.root.file else ""
        return f"{RMS_LISTING} (Fruth) of the file{again}, or {SHOW_QUEUES} {ON_MASTER}"
    return f"{BLOCKING}{f', {CULPRIT}' if may_be_rdbs(facts, queue.names[0]) else ''}"


def _as_many(queue: ListedQueue, waiting: float) -> bool:
    """Whether about as many wait in a listing of another minute."""
    return waiting <= ALIKE * (queue.waiting + queue.converting) <= ALIKE * ALIKE * waiting


def _printed(queue: LockQueue) -> tuple[str, str]:
    """Its root's name and its own, as SDA prints them."""
    return as_text(queue.names[0]).rstrip(), as_text(queue.names[-1]).rstrip()


def holder_of(facts: Facts, pid: str) -> tuple[str, str]:
    """A process that holds a lock, with its name where SHOW SYSTEM has it, and its state there; empty where not."""
    found = facts.latest(Process, pid=pid)
    if found is None or pid == SYSTEM_PID:
        return ("the system" if pid == SYSTEM_PID else f"process {pid}"), ""
    return f"{comment(found.name, 15)} ({pid})", comment(found.state, 5)


def first_of(facts: Facts, held: Held) -> str:
    """The first process that holds it, with its program where that is known."""
    name = holder_of(facts, held.holders[0][0])[0]
    return f"{name} in {held.program}" if held.image else name


def suspended(facts: Facts, held: Held | None) -> bool:
    """Whether the first process that holds it is suspended, so that nobody behind it gets on by waiting."""
    return held is not None and holder_of(facts, held.holders[0][0])[1] in SUSPENDED


def idle(facts: Facts, held: Held | None) -> Process | None:
    """The first holder as a later SHOW SYSTEM has it, where it did nothing since an earlier one; `None`: not known.

    Only where another process did some I/O meanwhile: else it is one listing, given twice.
    """
    lines: dict[str, list[Process]] = {}
    for one in facts.every(Process):
        lines.setdefault(one.pid, []).append(one)
    mine = lines.get(held.holders[0][0], []) if held else []
    if len(mine) < 2 or not known(mine[-1].io) or not known(mine[-1].cpu_seconds):
        return None
    done = {(one.io, one.cpu_seconds) for one in mine}
    apart = any(len({one.io for one in others if known(one.io)}) > 1 for others in lines.values())
    return mine[-1] if len(done) == 1 and apart else None


def look_at(facts: Facts, held: Held, what: str = "it") -> str:
    """What to do about the first process that holds it, as sentences; empty where the system does.

    `what`: what it holds, where no sentence before has said so.
    """
    pid, mode = held.holders[0]
    name, state = first_of(facts, held), holder_of(facts, pid)[1]
    if pid == SYSTEM_PID:
        return ""
    in_state = f", {state} in SHOW SYSTEM" if state else ""
    if state in SUSPENDED:
        return (
            f"SET PROCESS/RESUME/IDENTIFICATION={pid}: {name} holds {what} ({mode}{in_state}), and a suspended process "
            "ends no work. Ask first who suspended it and why; where it must not go on, STOP/IDENTIFICATION="
            f"{pid} deletes it, and what it left unfinished is to be seen to."
        )
    if held.image:
        return (
            f"Let {name}, which holds {what} ({mode}{in_state}), end that work; SHOW PROCESS/CONTINUOUS/ID={pid} shows "
            "it, and stop it only after that look. For good, the program should release a record before it waits for "
            "anything else (terminal, printer), and take numbers of a counter in blocks."
        )
    return (
        f"Look at {name}, which holds {what} ({mode}{in_state}): SHOW PROCESS/CONTINUOUS/ID={pid} tells what it does "
        "meanwhile; have it end that work and release the lock, and stop the process only after that look."
    )


def whose(facts: Facts, held: Held) -> str:
    """Who holds it, as a clause of a title; of a bucket's VBN alone no more than that a record there is held."""
    return f"{'' if held.bucket is None else 'a record of its bucket '}held by {first_of(facts, held)}"


def records_waited_for(facts: Facts, tree: str) -> float:
    """The longest queue for a record of the file whose tree is called so; 0 where none is listed."""
    records = (one for one in facts.every(LockQueue) if one.resource.kind == RMS_RECORD and tree_of(one) == tree)
    return max(map(waiters, records), default=0.0)


def what_of(queue: LockQueue) -> str:
    """What is waited for, in words: `the bucket at VBN 1057 of (184815,2,0) on DATA`."""
    resource, root = queue.resource, queue.root
    file = place_of(resource) if resource.file else ""
    if resource.kind == RMS_BUCKET:
        return f"the bucket at VBN {resource.block:,} of {file}"
    if resource.kind == RMS_RECORD:
        return f"the record with RFA {resource.record} of {file}"
    if resource.kind == RMS_FILE:
        return f"the RMS file {file}"
    if resource.kind == FILE_SERIAL:
        return f"the header of the file or directory {file}"
    if resource.kind == FILE_ACCESS:
        return f"the opening of the file {file}"
    if resource.kind == VOLUME:
        return f"the allocation of blocks on {comment(resource.volume or '?', 12)}"
    names = "/".join(as_text(one).rstrip(" .") or as_printed(one) for one in queue.names)
    if root.kind == RMS_FILE and root.file:
        return f"a lock below the RMS file {place_of(root)}"
    return f"{comment(names, LONGEST_NAME)} ({root.kind})"


def failed_in(facts: Facts) -> tuple[str, ...]:
    """Nodes whose collection failed in any report."""
    return tuple(sorted(set(_failed(facts))))


def _failed(facts: Facts) -> Iterator[str]:
    return (comment(name, 15) for one in facts.every(LockQueues) for name in one.failed)
