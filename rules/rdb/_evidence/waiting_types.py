"""Who waits at any moment and for which lock type; the journal's log server where that is the after-image journal."""

from collections.abc import Callable, Sequence

from collectors.facts.rdb import WaitGroup
from rules.changes.quoting import comment
from rules.finding import Evidence
from rules.rdb._evidence.counted import Mean, TypeWaits, mean_stall, on_node, rounded, waits_for
from rules.rdb._evidence.databases import OneDatabase
from rules.rdb._evidence.prerequisites import never
from rules.rdb._evidence.root_file import printed
from rules.rdb._evidence.waits import AIJ, BY_TYPE

LOG_SERVER = (
    "Start the journal's log server: RMU/SERVER AFTER_JOURNAL START {} (while users are attached; back: STOP), then "
    "ALTER DATABASE with LOG SERVER IS AUTOMATIC, so that it starts with the database (back: MANUAL). On a single node "
    "that ends AIJ locking; afterwards look at the journal's disk."
)
"""Vendor: SQL help (7.2), ALTER DATABASE, LOG_SERVER; RMU help (7.2), Server After_Journal, Start."""

ASKS = "see what asks for them"
ATTACHED = "users attach and detach (inferred), so let programs stay attached, and let the database stay open"
OTHERS = {
    "filid": (
        "files of the database grow, so see which storage areas and snapshot files do (RMU/DUMP/HEADER=AREAS, twice), "
        "and give them room ahead, or a larger EXTENT"
    ),
    "rtupb": ATTACHED,
    "active": ATTACHED,
    "membit": "nodes open and close the database (inferred), so let it stay open on each",
    "logical area": (
        "let the transaction that reserves a table FOR EXCLUSIVE or PROTECTED (inferred) reserve it FOR SHARED, with a "
        "commit after each portion"
    ),
}
"""What waits for a lock type come of that no other rule judges; vendor (help on the screen Locking): what it guards."""


RUNS = (
    "its log server runs, which on a single node ends AIJ locking (Oracle): count again, as these waits may be of "
    "before it did, then see the AIJ screens and the journal's disk"
)
BY_MEMORY = " and rdb/page_transfer_via_disk"


def see_of(one: OneDatabase, kind: str) -> str:
    """Where it stands what helps against waits for a lock type; of page transfer only where it can be had."""
    if kind == "aij":
        return aij_of(one)
    more = BY_MEMORY if kind == "page" and one.word("page_transfer") != "memory" and not never(one) else ""
    return f"{BY_TYPE.get(kind) or OTHERS.get(kind, '')}{more}"


def aij_of(one: OneDatabase) -> str:
    """What helps where processes wait for the journal: the log server, unless a listing names it as active."""
    return RUNS if any(use.log_server for use in one.uses) else AIJ


def most_waited_for(mean: Mean) -> tuple[str, TypeWaits] | None:
    """The lock type that most of those who wait wait for, where a screen tells or lets it be inferred."""
    found = [(kind, waits) for kind in mean.each.lock_types if (waits := waits_for(mean.each, kind))]
    kind, most = max(found, key=lambda pair: pair[1].processes, default=(None, None))
    return (kind, most) if kind and most and most.processes >= mean.waiting / 2 else None


def of_several(mean: Mean, see: Callable[[str], str]) -> str:
    """The two lock types that most wait for together, where no one type has most, and what to do; empty where none."""
    found = [(kind, waits) for kind in mean.each.lock_types if (waits := waits_for(mean.each, kind))]
    most = sorted(found, key=lambda pair: -pair[1].processes)[:2]
    if len(most) < 2 or sum(one.processes for _, one in most) < mean.waiting / 2:
        return ""
    parts = [f"{rounded(one.processes)} for {printed(kind)} locks ({see(kind) or ASKS})" for kind, one in most]
    return f"Of {rounded(mean.waiting)} that wait, {' and '.join(parts)}."


def no_log_server(one: OneDatabase) -> bool:
    """Whether the journal's log server is started by hand and runs nowhere: RMU/SHOW USERS names it where it runs."""
    uses = one.uses
    return one.word("log_server") == "manual" and bool(uses) and not any(use.servers or use.log_server for use in uses)


def unserved(one: OneDatabase, mean: Mean, main: Sequence[WaitGroup] = ()) -> bool:
    """Whether most wait for the after-image journal, whose log server runs nowhere.

    `main`: logged stalls, the resource with most of them first, where it has most; they decide where no screen of
    statistics tells for which lock type processes wait.
    """
    most = most_waited_for(mean)
    kind = most[0] if most else main[0].resource_kind if main else ""
    return kind == "aij" and no_log_server(one)


NOWHERE = "the journal's log server runs nowhere (startup MANUAL): "
"""Before the title of what comes of it."""


def log_server(one: OneDatabase) -> str:
    """How it is started, as one sentence and what to look at then."""
    return LOG_SERVER.format(comment(one.root, 100) if one.root else "<root file>")


def by_hand(one: OneDatabase, mean: Mean, main: Sequence[WaitGroup]) -> list[Evidence]:
    """The line that says how it is started, where that is why they wait."""
    return startup(one) if unserved(one, mean, main) else []


def startup(one: OneDatabase) -> list[Evidence]:
    """The line of the header that says how it is started."""
    manual = one.read("log_server")
    return [Evidence("startup of the journal's log server", str(manual.value), "", manual.source)] if manual else []


def of_mean(mean: Mean) -> str:
    """How long a stall lasts, of which lock types, and how many wait, as a clause."""
    every = (mean_stall(mean.each, kind, at_most=mean.at_most) for kind in mean.each.lock_types)
    types = [one for one in every if one and one.seconds and mean.lock_type == "total"]
    types.sort(key=lambda one: -one.waiting)
    said = ", ".join(f"{one.lock_type} {rounded(one.seconds)} s" for one in types[:3])
    alone = f" for {printed(mean.lock_type)} locks" if mean.lock_type != "total" else ""
    return (
        f"a request that stalls{alone} waits {'at most ' * mean.at_most}{rounded(mean.seconds)} s on average"
        f"{on_node(mean.each)} ({mean.each.over}"
        f"{f'; {said}' if said else ''}), and {rounded(mean.waiting)} processes wait{alone} at any moment"
    )
