"""One process asks for most of the locks, or must give most of them up.

Finds: in the Process Lock Overview the process with most lock requests and promotions, or with most blocking ASTs, as a
share of all that are listed; with its name and image, where RMU/SHOW USERS has them.

Why it matters: where the locks come from one program, that program is what to look at before any setting. The counts
are of each process since its statistics were activated, at the earliest since it attached, so the oldest process may
lead by its age alone: it is a note. Where the requests of all listed add up to those of Summary Locking Statistics, all
are counted over the same time; then it is more, where processes wait and most give way to this very one.

What to do: see what the process is (RMU/SHOW USERS) and what it reads: a scan without an index locks every row that it
passes, and reports need no locks of rows in a transaction that is READ ONLY. Else write the screen twice and compare.

When to ignore it: a batch job that does most of the work asks for most of the locks. The screen lists only processes
whose statistics are activated (help of RMU/SHOW STATISTICS), so others may ask for more.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from collectors.facts import OVERFLOW, Facts, Reading, known
from collectors.facts.rdb import AttachedProcess, HeldLock, ProcessLocks
from rules.changes.quoting import comment
from rules.engine import limit, percent, rule
from rules.finding import Clean, Evidence, Finding, MissingInput, Outcome, Severity, Unknown, joined
from rules.rdb._evidence.attached import attached_to, called, image_of
from rules.rdb._evidence.counted import COUNTED_FACTS, Mean, counted, mean_stall, rounded
from rules.rdb._evidence.databases import OneDatabase, belonging, databases
from rules.rdb._evidence.statistics import Rate
from rules.rdb._evidence.waits import WAIT_FACTS, changes_many, waits_of

LINKS = (
    "https://uprrp2.uprrp.edu/help/sys$common/syshlp/rmudisplay72.hlb?key=Overview~Screens~Process_Lock_Overview_screen",
)
OVERVIEW = MissingInput(
    "the locks of each process", "a write (key W) of the RMU/SHOW STATISTICS screen Process Lock Overview"
)
SINCE = (
    "The counts are of each process since its statistics were activated, so the oldest may lead by its age: write the "
    "screen twice, some minutes apart. Only processes with activated statistics are listed."
)
LOOK = (
    "See what it is (SHOW PROCESS/ID={pid}) and what it reads, before any setting: a scan without an index locks every "
    "row, and a report can be a READ ONLY transaction."
)
LOOK_AT = (
    "See what {} reads, before any setting: a scan without an index locks every row, and a report takes no locks of "
    "rows in SET TRANSACTION READ ONLY."
)
CHANGES = "It changes the rows that others wait for: what it is to do stands at those waits (rdb/lock_stalls_long)."
WAITS = ("rdb/lock_stalls_long", "rdb/blocking_asts_high", "rdb/record_locks_dominate")
"""What a process causes that asks for most locks and is asked most to give its own up."""
SERVER = "It is a server of Rdb itself (tag s): nothing is to be done in an application."


@dataclass(frozen=True)
class Limits:
    """From where on one process stands out. No vendor names a figure."""

    most_percent: float = percent(
        50.0, "this project: more than all other listed processes together", low=1, of="what the processes ask for"
    )
    processes: int = limit(3, "this project: of two, one has always half or more", low=2, unit="processes")
    asked: float = limit(100_000.0, "this project: fewer are seconds of work", unit="locks requested and promoted")
    same_percent: float = percent(
        5.0, "this project: screens written one after another differ by some minutes' work", of="the locks requested"
    )
    waiting: float = limit(
        1.0, "this project: from here on somebody waits for a lock at any moment; below it is a note", unit="processes"
    )
    blasts: float = limit(1_000.0, "this project: fewer disturb nobody", unit="blocking ASTs")


@dataclass(frozen=True)
class Most:
    """The process with most of one kind."""

    process: ProcessLocks
    count: float
    whole: float
    name: str
    """`20600A07:1`, or with its name where that is known; fit for any output."""

    @property
    def percent(self) -> float:
        """Of all that are listed."""
        return 100 * self.count / self.whole


@dataclass(frozen=True)
class Whole:
    """What the screens of statistics say of all processes of a node."""

    requested: Rate | None
    mean: Mean | None


@rule(
    needs=(ProcessLocks,), uses=(*COUNTED_FACTS, *WAIT_FACTS, AttachedProcess), links=LINKS, limits=Limits, sample=None
)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Judge the newest screen of each node of each database."""
    for one in databases(facts, (ProcessLocks,)):
        wholes = {
            (each.node or "").upper(): Whole(each.rate("locks requested", "total"), mean_stall(each))
            for each in counted(facts, one)[0]
        }
        attached, held = attached_to(facts, one), waits_of(facts, one).held
        for node, listed in sorted(_listed(facts, one).items()):
            yield _judge(one, node, listed, limits, attached, wholes.get(node, Whole(None, None)), held)


def _listed(facts: Facts, one: OneDatabase) -> dict[str, list[ProcessLocks]]:
    """The processes of each node, each once, as they were listed last."""
    nodes: dict[str, dict[tuple[str, str | None], ProcessLocks]] = {}
    for process in belonging(facts.every(ProcessLocks), one):
        nodes.setdefault((process.node or "").upper(), {})[process.pid, process.stream] = process
    return {node: list(found.values()) for node, found in nodes.items()}


def _judge(
    one: OneDatabase,
    node: str,
    listed: list[ProcessLocks],
    limits: Limits,
    attached: Mapping[str, AttachedProcess],
    of: Whole,
    held: Sequence[HeldLock],
) -> Outcome:
    where = f"{one.subject}{f' on {comment(node, 31)}' if node else ''}"
    wide = [process for process in listed if OVERFLOW in (process.requested, process.promoted, process.blasted)]
    if wide:
        why = f"{where}: a count of {_named(wide[0])} is wider than its column, so who asks for most is not known"
        return Unknown((OVERVIEW,), why)
    if len(listed) < limits.processes:
        return Clean(f"{where}: {len(listed)} processes are listed, too few for one of them to stand out")
    asks = _most(listed, _asked, attached)
    blasted = _most(listed, lambda process: _value(process.blasted), attached)
    if asks is None and blasted is None:
        return Unknown((OVERVIEW,), f"{where}: the counts of the processes are not in the export")
    first = asks if asks and asks.percent >= limits.most_percent and asks.count >= limits.asked else None
    second = blasted if blasted and blasted.percent >= limits.most_percent and blasted.count >= limits.blasts else None
    main = first or second
    if main is None:
        said = f"{asks.name} asks for most locks, {asks.percent:.0f} %" if asks else "nothing is asked for"
        return Clean(
            f"{where}: of {len(listed)} processes {said} (limits {limits.most_percent:g} % of at least "
            f"{limits.asked:,.0f})"
        )
    whole = of if _same_time(listed, of.requested, limits) else Whole(None, None)
    return _finding(where, len(listed), limits, main, (first, second), attached, whole, held)


def _same_time(listed: list[ProcessLocks], requested: Rate | None, limits: Limits) -> bool:
    """Whether the listed ones make up all that was requested on the node, so that all are counted over its time."""
    counts = [value for process in listed if (value := _value(process.requested)) is not None]
    if requested is None or not requested.count or len(counts) < len(listed):
        return False
    return abs(sum(counts) - requested.count) <= limits.same_percent / 100 * requested.count


def _asked(process: ProcessLocks) -> float | None:
    requested, promoted = _value(process.requested), _value(process.promoted)
    return None if requested is None else requested + (promoted or 0.0)


def _value(reading: Reading) -> float | None:
    return float(reading) if known(reading) else None


def _most(
    listed: list[ProcessLocks],
    count: Callable[[ProcessLocks], float | None],
    attached: Mapping[str, AttachedProcess],
) -> Most | None:
    """The process with most; `None` where a count is missing or all are zero: a part would pass for the whole."""
    counts = [(process, value) for process in listed if (value := count(process)) is not None]
    whole = sum(value for _, value in counts)
    if len(counts) < len(listed) or not whole:
        return None
    process, value = max(counts, key=lambda pair: pair[1])
    known_as = attached.get(process.pid)
    return Most(process, value, whole, called(known_as) if known_as and known_as.process else _named(process))


def _named(process: ProcessLocks) -> str:
    return comment(process.pid + (f":{process.stream}" if process.stream else ""), 20)


def _finding(
    where: str,
    listed: int,
    limits: Limits,
    main: Most,
    both: tuple[Most | None, Most | None],
    attached: Mapping[str, AttachedProcess],
    whole: Whole,
    held: Sequence[HeldLock],
) -> Finding:
    """`main` is the first of `both`, who asks for most and who is asked most to give up, that stands out.

    `whole`: empty where the processes may be counted over other times than the statistics.
    """
    asks, blasted = both
    said = [
        *([f"{asks.percent:.0f} % of the locks requested and promoted are of process {asks.name}"] if asks else []),
        *([f"{blasted.percent:.0f} % of the blocking ASTs are of process {blasted.name}"] if blasted else []),
    ]
    title = "asks for most of the locks" if asks else "is asked most to give up its locks"
    mean, pid = whole.mean, comment(main.process.pid, 20)
    in_the_way = asks is not None and blasted is not None and asks.process == blasted.process
    costs = in_the_way and not main.process.server and mean is not None and mean.waiting >= limits.waiting
    image = image_of(attached, main.process.pid)
    look = LOOK_AT.format(f"{main.name} in {image}") if image else LOOK.format(pid=pid)
    if changes_many(held, main.process.pid):
        look = CHANGES
    same = "" if whole.requested is None else ", which together asked for all that Summary Locking Statistics counts"
    return Finding(
        subject=where,
        severity=Severity.ADVICE if costs else Severity.NOTE,
        title=f"process {main.name} {title}: {main.percent:.0f} %",
        seen=joined(
            f"Of {listed} processes that are listed{same}: {', and '.join(said)}.",
            f"{rounded(mean.waiting)} processes wait for a lock at any moment." if costs and mean else "",
        ),
        because=joined(
            "Where the locks come from one program, that program is what to look at first.",
            SERVER if main.process.server else "",
        ),
        do="Nothing is set here." if main.process.server else look,
        unknown=SINCE if whole.requested is None else "",
        evidence=(
            *_evidence("locks requested and promoted", "locks", asks, limits.asked, limits.most_percent),
            *_evidence("blocking ASTs", "events", blasted, limits.blasts, limits.most_percent),
            *(
                (Evidence("processes that wait, on average", round(mean.waiting, 2), "", mean.source, limits.waiting),)
                if costs and mean
                else ()
            ),
        ),
        explains=WAITS if costs else (),
        share=round(main.percent, 1),
    )


def _evidence(what: str, unit: str, most: Most | None, least: float, share: float) -> tuple[Evidence, ...]:
    if most is None:
        return ()
    source = most.process.source
    return (
        Evidence(f"{what} of process {most.name}", most.count, unit, source, least),
        Evidence(f"{what} of process {most.name}, of all listed", round(most.percent, 1), "%", source, share),
    )
