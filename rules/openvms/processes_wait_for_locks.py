"""Processes queue for one lock tree.

Finds: in reports of LCKQUE, the lock resources that most requests wait for, with what they are: a bucket or a record of
a file of RMS, a file header, an application's name. Waits that stand for ever by design (dead-man locks of system
services, as LCKQUE.COM itself has them) are left out; where SDA's listing has no other waits, a note says so. Of one
resource the longest queue that any node lists counts. In SDA's SHOW LOCK/BRIEF the same of one moment, with the
processes that hold the lock, or the holder of a queue that LCKQUE shows, too. SHOW SYSTEM tells its name and state.
What is seen once is a note, or advice to look at the holder where it is known and has many behind it; a warning where
that holder is suspended, as such a queue ends by nothing that the users or it do, and where it has many behind it more
than once.

Why it matters: a process that waits for a lock costs no CPU and does no work. Lock rates and MP synch of such a node
look in order; only the queue says for whom they wait.

What to do: find who holds the lock while they wait: SDA's SHOW RESOURCE on the node that masters it lists granted
and waiting queue (SHOW LOCK/BLOCKING only what has a blocking AST: System Analysis Tools Manual), for Rdb
RMU/SHOW LOCKS/MODE=CULPRIT. Then look at what the holder does meanwhile; one that is suspended is resumed (SET
PROCESS/RESUME/IDENTIFICATION=pid). A DEADLOCK_WAIT below its default makes
more searches and no wait shorter.

When to ignore it: where a queue is seen once and gone: a report is a moment. Repeat it while users complain.
"""

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from collectors.facts import ABSENT, Facts, known
from collectors.facts.openvms import DirectorySize, FileName, ListedLocks, ListedQueue, LockQueues, LockRates, Volume
from collectors.facts.openvms.resource_names import (
    FILE_ACCESS,
    FILE_SERIAL,
    RMS_BUCKET,
    RMS_RECORD,
    VOLUME,
    XQP_KINDS,
    as_text,
)
from rules.changes.quoting import comment
from rules.engine import limit, percent, rule
from rules.finding import Clean, Evidence, Expectation, Finding, NotApplicable, Outcome, Severity, Unknown, joined
from rules.laws.rounding import plain
from rules.openvms._evidence.cluster import CLUSTER_FACTS, members_of, own_name, shows_rdb
from rules.openvms._evidence.deadlock_wait import DEFAULT, LONGEST, NAME, STATISTICS, no_cure
from rules.openvms._evidence.file_system import (
    HOLDERS,
    directory_called,
    fewer_files,
    in_blocks,
    large_directory,
    split,
)
from rules.openvms._evidence.lock_queues import (
    BLOCKING,
    CULPRIT,
    HOLDER_FACTS,
    QUEUE_FACTS,
    RMS_LISTING,
    SYSTEM_PID,
    Held,
    Waits,
    also_listed,
    failed_in,
    file_of,
    find_holder,
    first_of,
    held_by,
    holder_of,
    holders_in,
    idle,
    listed_as,
    look_at,
    suspended,
    waiters,
    waits_of,
    what_of,
    whose,
)
from rules.openvms._evidence.lock_trees import LONGEST_NAME, TREE_FACTS, is_volume, name_of
from rules.openvms._evidence.node import parameter_of, sentence

LINKS = ("https://wiki.vmssoftware.com/DEADLOCK_WAIT",)
REASONS = {
    RMS_BUCKET: "All who want any record of that bucket wait for one lock, mostly while it is read or written.",
    RMS_RECORD: "One process keeps the record locked and the others want the same one: mostly a row that all update.",
    FILE_SERIAL: "The file system lets one at a time look into or change a file's header or a directory.",
    FILE_ACCESS: "Somebody has the file open in a way that shuts the others out.",
    VOLUME: "Creating, extending and deleting files on that volume go one after the other.",
}

WAITS = "Who waits for a lock does nothing until its holder gives it up."
HOLDER_DOES = "see what the holder does meanwhile (SHOW PROCESS/CONTINUOUS with its process id)"
NAME_THEM = "Write reports of LCKQUE while they wait, which name each of these locks, and see what the holders do."
OWN_NAMES = ("RMS$", "F11B$")
"""What the names of RMS and of the file system begin with."""
SUM = "as a sum"
AGAIN = "Then list the queue again, some minutes later: if it stands, that process is the cause."
IN_THE_PROGRAM = "In the program: no record locked while a person thinks, numbers of a counter taken in blocks."
"""knowledge/openvms-rdb-more.md 1.7: fewer locked reads, which is inferred."""
DESIGNED = 4
"""So many names of dead-man locks are printed."""
VOLUME_LOCK, SERIAL_LOCK, FILE_BYTES = "F11B$v", "F11B$s", 4
PASSES = (
    "This lock passes from each that opens, creates or deletes a file there to the next, so its holder is seldom the "
    "cause. Only one that holds it in listing after listing is to be looked at: watchers of files, backups and "
    "defragmentation agents may."
)
"""openvms-rdb-more.md [V] W11 on what hooks these locks."""
ONE_MOMENT = "A listing is one moment and no rate: repeat it while users complain."


@dataclass(frozen=True)
class Limits:
    """How many wait, and how often that is seen."""

    waiting: float = limit(
        3.0, "this project: as many as openvms/long_lock_waits takes for a queue", low=1, unit="lock requests that wait"
    )
    many_waiting: float = limit(
        30.0, "this project: a warning from ten times the first limit on", low=1, unit="lock requests that wait"
    )
    behind_one: float = limit(
        10.0,
        "this project: so many behind one process are worth a look at it although they are seen once",
        low=1,
        unit="lock requests that wait",
    )
    reports: float = limit(
        2.0, "this project: a report is a moment; what two of them show is no accident", low=1, unit="reports"
    )
    part_percent: float = percent(
        10.0, "this project: less than a tenth of the requests that wait is not what they wait for"
    )
    searches: float = limit(
        0.3, "this project: at 10 s of DEADLOCK_WAIT three requests wait at any moment", unit="deadlock searches/s"
    )


@rule(
    needs=(),
    uses=(*QUEUE_FACTS, *HOLDER_FACTS, *TREE_FACTS, *CLUSTER_FACTS, DirectorySize, Volume),
    links=LINKS,
    limits=Limits,
    sample=None,
)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Judge each tree that is waited for."""
    reports = facts.every(LockQueues)
    waits = waits_of(facts) if reports else []
    queued = [one for one in waits if one.waiting >= limits.waiting]
    here = [one for one in queued if _judged_at(facts, one) is None][:3]
    told = [listed_as(facts, one) for one in here]
    held = [held_by(facts, one) for one in here]
    queues = [one for one in facts.every(ListedQueue) if not one.standing]
    if not queues:
        yield from _by_design([one for one in facts.every(ListedQueue) if _listed(one)], limits)
    listed = [one for one in queues if _listed(one) >= limits.waiting]
    alone = [one for one in listed if one not in told]
    for seen in sorted(alone, key=lambda one: (-_listed(one), one.text))[:3]:
        yield _listed_finding(facts, seen, limits)
    few = [one for one in queues if one not in listed]
    yield from _spread(few, {one.root for one in listed}, limits, no_cure(facts))
    if not reports:
        if not listed:
            yield _unasked(facts, limits)
        return
    if not queued:
        least = f"{waits[0].waiting:.0f} wait for {waits[0].tree} at most" if waits else "nobody waits"
        failed = failed_in(facts)
        gap = f"; collection failed on {', '.join(failed)}" if failed else ""
        said = f"{least} in {_reports(len(reports))}, limit {limits.waiting:.0f}{gap}"
        if all(one.whole for one in reports):
            yield Clean(said)
        else:  # what was left out may be what all wait for
            yield Unknown.without("a report that is read whole", LockQueues.COLLECTED_BY, f"{said}, in what was read")
        return
    if not here:
        yield NotApplicable(
            f"{queued[0].tree}: judged in the capture of {_judged_at(facts, queued[0])}, which lists it"
        )
    for one, by in zip(here, held, strict=True):
        yield _finding(facts, one, by, len(reports), limits)


def _listed(queue: ListedQueue) -> int:
    """Requests and conversions that wait."""
    return queue.waiting + queue.converting


def _one_holds_many(waiting: float, held: Held | None, limits: Limits) -> bool:
    """Whether one process, known by its number, has so many behind it that it is to be looked at after one moment."""
    lone = held is not None and held.holding == 1 and [pid for pid, _ in held.holders] != [SYSTEM_PID]
    return lone and waiting >= limits.behind_one


def _after(facts: Facts, held: Held | None, many: bool, *, record: bool = False) -> str:
    """What comes after the look at who holds it, as a sentence; empty where that takes two of them."""
    if held is not None and (held.image or suspended(facts, held)):
        return ""
    if many:
        return AGAIN
    if record and held is None:
        return f"{IN_THE_PROGRAM.removesuffix('.')}; keep {NAME}."
    return IN_THE_PROGRAM if record and held is not None and look_at(facts, held) else no_cure(facts)


def _loud(facts: Facts, many: bool, often: bool, held: Held | None) -> Severity:
    """How loud a queue is below the limit of a warning, by who holds it."""
    if many and (often or suspended(facts, held)):
        return Severity.WARNING
    return Severity.ADVICE if many or often else Severity.NOTE


def _shown(root: str) -> str:
    return comment(root.rstrip(" ."), LONGEST_NAME) or "a name without text"


def _held(facts: Facts, held: Held) -> str:
    """Who holds it, as far as the listing names them, and in which mode."""
    if held.image:
        return f"{first_of(facts, held)} ({held.holders[0][1]})"
    named = [f"{holder_of(facts, pid)[0]} ({mode})" for pid, mode in held.holders]
    more = held.holding - len(named)
    return f"{', '.join(named)}{f' and {more:,} more' if more > 0 else ''}"


def _named_as_rdbs(facts: Facts, root: str) -> bool:
    """Whether SDA's text of a root may be a name of Rdb, whose bytes no text shows."""
    return not root.startswith(OWN_NAMES) and (shows_rdb(facts) or "." in root.rstrip(" ."))


def _serialised(facts: Facts, queue: ListedQueue) -> tuple[str, FileName | None] | None:
    """The volume whose file system lets one at a time at a header, and the only listed file that it can be.

    `None` where the queue is for another lock. SDA prints dots for bytes that are no text, so several may fit.
    """
    if not (queue.root.startswith(VOLUME_LOCK) and queue.text.startswith(SERIAL_LOCK)):
        return None
    volume = queue.root.removeprefix(VOLUME_LOCK).rstrip(" .")
    shown = queue.text.removeprefix(SERIAL_LOCK).ljust(FILE_BYTES, ".")
    fit = {one.name: one for one in facts.every(FileName) if is_volume(one.device, volume) and _as_sda(one) == shown}
    return volume, next(iter(fit.values())) if len(fit) == 1 else None


def _as_sda(file: FileName) -> str:
    """What SDA prints for a file's number and the volume's, four bytes of a name (openvms-rdb-more.md [S][V])."""
    return as_text(file.number.to_bytes(FILE_BYTES - 1, "little") + bytes((file.volume_number % 256,)))


def _of_a_header(facts: Facts, volume: str, file: FileName | None) -> str:
    """What to do about a queue for a header."""
    directory = large_directory(file)
    return split(facts, directory) if directory else fewer_files(facts, volume)


def _listed_finding(facts: Facts, queue: ListedQueue, limits: Limits) -> Finding:
    """The queue of one resource in SHOW LOCK/BRIEF: a number of locks at one moment, and no rate."""
    root = _shown(queue.root)
    own = comment(queue.text.rstrip(" ."), LONGEST_NAME)
    # names below those of RMS and the file system are numbers: SDA prints dots for them
    named = own if any(map(str.isalnum, own)) else ""
    name = (named or f"a lock below {root}") if queue.text != queue.root else root
    below = f" below {root}" if named and name != root else ""
    held = holders_in(queue)
    holder = f"it is held by {_held(facts, held)}" if held else _unheld(facts, queue)
    where = f" on {comment(queue.node, 15)}" if queue.node else ""
    many = _one_holds_many(_listed(queue), held, limits)
    header = None if suspended(facts, held) else _serialised(facts, queue)
    by = f", held by {first_of(facts, held)}" if many and held and not header else ""
    find = sentence(HOLDER_DOES, CULPRIT if _named_as_rdbs(facts, queue.root) else "")
    if header:
        volume, file = header
        called = comment(file.name if file else volume, LONGEST_NAME)
        by = f", the header of {called}" if file else f", a header on {called}"
    return Finding(
        subject=f"{root} {name}" if below else root,
        severity=_loud(facts, many, False, held),
        title=f"{_listed(queue):,} lock requests wait for {name}{by}",
        seen=sentence(f"{_listed(queue):,} wait for {name}{below} in SHOW LOCK/BRIEF{where}", holder),
        because=PASSES if header else WAITS,
        do=_of_a_header(facts, *header)
        if header
        else joined((look_at(facts, held) if held else "") or find, _after(facts, held, many)),
        unknown=ONE_MOMENT,
        evidence=(
            Evidence(
                "locks that wait for it", float(_listed(queue)), "", queue.source, limits.waiting, "as their number"
            ),
            Evidence("locks that hold it", float(queue.holding), "", queue.source, computed="as their number"),
        ),
        expects=(Expectation(f"locks that wait for {name}", float(_listed(queue)), "lower", "heuristic"),),
    )


def _unheld(facts: Facts, queue: ListedQueue) -> str:
    """Why no holder is listed: those who wait alone were (SHOW LOCK/BRIEF/WAITING), or it is on another node."""
    mine = [one for one in facts.also(ListedLocks).every(ListedLocks) if one.source.file == queue.source.file]
    if mine and all(one.locks <= one.waiting + one.converting for one in mine):
        return "the listing has locks that wait alone: list SHOW LOCK/BRIEF in full for who holds it"
    return "no lock in the listing holds it: see another node"


def _by_design(standing: Sequence[ListedQueue], limits: Limits) -> Iterator[Finding]:
    """That all of a listing wait for ever by design: whoever counts them asks what to do."""
    waiting = sum(map(_listed, standing))
    if waiting < limits.waiting:
        return
    names = list(dict.fromkeys(_shown(one.text) for one in standing))
    shown = f"{', '.join(names[:DESIGNED])}{f' and {len(names) - DESIGNED:,} more' if len(names) > DESIGNED else ''}"
    yield Finding(
        subject="dead-man locks",
        severity=Severity.NOTE,
        title=f"All {waiting:,} lock requests that wait do so by design (dead-man locks): nothing to do",
        seen=f"All {waiting:,} that wait in SHOW LOCK/BRIEF are for locks of system services: {shown}.",
        because="Who waits for a dead-man lock gets it when its holder is gone; LCKQUE.COM leaves these names out.",
        do="Stop no process for them. Leave these names out where waits are counted.",
        unknown=ONE_MOMENT,
        evidence=(
            Evidence(
                "locks that wait by design", float(waiting), "", standing[0].source, limits.waiting, "as their number"
            ),
        ),
    )


def _spread(queues: Sequence[ListedQueue], told: AbstractSet[str], limits: Limits, no_cure: str) -> Iterator[Outcome]:
    """Trees below which as many wait, but few for one resource each; none of which a longer queue is `told`."""
    trees: dict[str, list[ListedQueue]] = {}
    for one in queues:
        if one.root not in told:
            trees.setdefault(one.root, []).append(one)
    counted = ((sum(map(_listed, some)), root, some) for root, some in trees.items())
    found = sorted((one for one in counted if one[0] >= limits.waiting), key=lambda one: -one[0])
    for waiting, root, some in found[:3]:
        name = _shown(root)
        yield Finding(
            subject=name,
            severity=Severity.NOTE,
            title=f"{waiting:,} lock requests wait for {len(some):,} different locks below {name}",
            seen=f"{waiting:,} wait below {name} in SHOW LOCK/BRIEF, for {len(some):,} different locks.",
            because=WAITS,
            do=joined(NAME_THEM, no_cure),
            unknown=ONE_MOMENT,
            evidence=(
                Evidence(
                    "locks that wait below it", float(waiting), "", some[0].source, limits.waiting, "as their number"
                ),
            ),
            expects=(Expectation(f"locks that wait below {name}", float(waiting), "lower", "heuristic"),),
        )
    if found:
        yield Unknown.of(LockQueues)


def _judged_at(facts: Facts, one: Waits) -> str | None:
    """The member that lists the longest queue, where that is another node than this one."""
    own, name = own_name(facts), one.head.node
    if name is None or own is None or own.upper() == name.upper():
        return None
    return next((member.name for member in members_of(facts) if member.name.upper() == name.upper()), None)


def _unasked(facts: Facts, limits: Limits) -> Outcome:
    """Without any report: in order where next to no request waits long enough for a deadlock search."""
    rates = next((found for name in ("mean", "current") if (found := facts.latest(LockRates, statistic=name))), None)
    searches = rates.deadlock_search_per_second if rates else ABSENT
    if known(searches) and 0 <= searches < limits.searches:
        few = f"{plain(searches, 3)} deadlock searches/s say that next to no request waits so long"
        return Clean(f"no report of LCKQUE came with it, and {few}")
    return Unknown.of(LockQueues)


def _reports(many: int) -> str:
    return "one report" if many == 1 else f"{many:,} reports"


def _finding(facts: Facts, one: Waits, held: Held | None, reports: int, limits: Limits) -> Finding:
    often, more = one.seen >= limits.reports, one.queues > 1
    one_holds = _one_holds_many(held.waits if held and held.record else one.waiting, held, limits)
    still = idle(facts, held)
    listed_twice = held is not None and held.waits >= limits.waiting
    loud = _loud(facts, one_holds, often or still is not None or listed_twice, held)
    node = comment(one.head.node or "", 15)
    file = file_of(facts, one)
    failed = failed_in(facts)
    other = held.record if held else ""
    by = f", {whose(facts, held)}" if held and not other else ""
    directory = _directory(facts, one)
    # the tree of a volume has locks of all its files: the one that is named has the waiters of its own lock alone
    waiting = waiters(one.head) if one.head.resource.kind in XQP_KINDS else one.waiting
    if directory and waiting >= limits.behind_one:
        loud = max(loud, Severity.ADVICE)  # a large directory is there to stay, and so are those who look into it
    size = f", a directory of {in_blocks(directory)}" if directory else ""
    record = one.head.resource.kind == RMS_RECORD
    which = other or (one.head.resource.record if record else "")
    locked = f"the record with RFA {which}" if which else "it"
    if held and held.bucket is not None:
        locked = f"a record in the bucket at VBN {held.bucket:,}"
    look = look_at(facts, held, locked) if held else ""
    many = not often and one_holds
    once = "" if often else f"{_reports(reports)} of a moment {'is' if reports == 1 else 'are'} no proof: repeat it"
    return Finding(
        subject=one.tree,
        severity=Severity.WARNING if often and one.waiting >= limits.many_waiting else loud,
        title=f"{waiting:,.0f} lock requests wait for {file or one.tree}{by}{size}",
        seen=joined(
            sentence(
                f"{waiters(one.head):,.0f} wait for {what_of(one.head)}{f', listed by {node}' if node else ''}",
                also_listed(facts, one.head),
                f"in all {one.waiting:,.0f} for {one.queues:,} names of its tree" if more else "",
                f"seen in {one.seen:,} of {_reports(reports)}" if reports > 1 else "",
                one.grew,
            ),
            sentence(
                f"the file is {file}" if file else "",
                f"{held.listing} has {_held(facts, held)} as its holder"
                if held and not other and held.bucket is None
                else "",
                f"{RMS_LISTING} has {_held(facts, held)} alone with a record of its bucket (VBN {held.bucket:,})"
                if held and held.bucket is not None
                else "",
                f"{RMS_LISTING} has {held.waits:,} that wait for its record with RFA {other}, which "
                f"{_held(facts, held)} holds"
                if held and other
                else "",
                f"its I/O ({still.io:,.0f}) and CPU time ({still.cpu_seconds:,.2f} s) are the same in two listings of "
                "SHOW SYSTEM, so it does nothing meanwhile"
                if still and known(still.io) and known(still.cpu_seconds)
                else "",
            ),
        ),
        because=REASONS.get(one.head.resource.kind, WAITS),
        do=joined(look, _after(facts, held, many))
        if many
        else _of_files(facts, one, look)
        if one.head.resource.kind in XQP_KINDS
        else joined(
            look or find_holder(facts, one),
            _after(facts, held, many, record=record),
        ),
        unknown=sentence(
            once,
            "SDA prints the numbers in a name as dots, so the holder is that of the one lock that looks the same"
            if held and held.listing != RMS_LISTING
            else "",
            f"LCKQUE does not name that record: {RMS_LISTING} is of another moment, and its holder may be, too"
            if other
            else "",
            f"{RMS_LISTING} prints the bucket's VBN as the RFA, so that may be another record there, of another moment"
            if held and held.bucket is not None
            else "",
            f"{'' if held else 'who holds the lock and '}for how long each of them has waited is not in these reports",
            f"collection failed on {', '.join(failed)}" if failed else "",
        ),
        evidence=(
            *(
                (
                    Evidence(
                        "lock requests that wait in its tree", one.waiting, "", one.head.source, limits.waiting, SUM
                    ),
                )
                if more
                else ()
            ),
            Evidence("lock requests that wait for it", waiters(one.head), "", one.head.source, limits.waiting),
            Evidence("reports that show it", float(one.seen), "", one.head.source, limits.reports, "as their number"),
            *(
                (Evidence("locks that hold it", float(held.holding), "", held.source, computed="as their number"),)
                if held
                else ()
            ),
        ),
        explains=("openvms/long_lock_waits",) if often and _is_part(facts, one, limits) else (),
        expects=(Expectation(f"lock requests that wait for {one.tree}", one.waiting, "lower", "heuristic"),),
    )


def _is_part(facts: Facts, one: Waits, limits: Limits) -> bool:
    """Whether the queue is a part of what waits at any moment, by deadlock searches; `True` where none were read."""
    rates = next((found for name in STATISTICS if (found := facts.latest(LockRates, statistic=name))), None)
    searches = rates.deadlock_search_per_second if rates else ABSENT
    setting = parameter_of(facts, NAME, 1, LONGEST)
    seconds = setting[0] if isinstance(setting, tuple) else DEFAULT
    return not known(searches) or 100 * one.waiting >= limits.part_percent * searches * seconds


def _directory(facts: Facts, one: Waits) -> FileName | DirectorySize | None:
    """The large directory whose header most wait for; `None` where it is none."""
    if one.head.resource.kind != FILE_SERIAL:
        return None
    named = name_of(facts, one.head.resource)
    listed = large_directory(named.listed if named and named.sure else None)
    return listed or directory_called(facts, one.head.file)


def _of_files(facts: Facts, one: Waits, look: str) -> str:
    """What to do about waits for locks of the file system; `look`: at the holder, where it is known."""
    kind = one.head.resource.kind
    if not look and (directory := _directory(facts, one)):
        return split(facts, directory)
    find = look or f"Find who holds it while they wait: {BLOCKING}."
    if kind == VOLUME:
        return joined(find, fewer_files(facts, one.head.resource.volume))
    caches = "check ACP_DINDXCACHE and ACP_HDRCACHE, which cut their I/O"
    return joined(find, f"Look at {HOLDERS}, and at large directories: {caches}.")
