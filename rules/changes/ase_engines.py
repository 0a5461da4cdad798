"""Engines of SAP ASE: the thread count of a pool (threaded kernel), or engines taken offline (process kernel).

More of them only of a pool, and only where a rule knows that nothing spins and the host has processors idle.
Sources: System Administration Guide 2 (16.0), "Managing multiprocessor servers" (alter thread pool … with thread count;
sp_engine "offline", <engine>); knowledge/ase-rules.md, 3.6 E1 and E2.
"""

from rules.changes.out_of_range import OutOfRange
from rules.changes.quoting import batches, comment, is_plain
from rules.finding import Change, Effect

LARGEST = 1024
"""Source: range of max online engines in 16.0."""
TEMPORARY = (
    "Not kept over a restart unless the configuration is changed too: lower max online engines once it is proven."
)


def fewer_threads(pool: str, old: int, new: int) -> Change:
    """Give an engine pool fewer threads. Raises `OutOfRange` unless 1 <= new < old.

    A pool whose name is no plain identifier makes a change to be applied by hand.
    """
    _check(old, new)
    return _threads(pool, old, new, "engines leave one after the other, as their tasks allow")


def more_threads(pool: str, old: int, new: int) -> Change:
    """Give an engine pool more threads. Raises `OutOfRange` unless 1 <= old < new; else as `fewer_threads`."""
    _check(new, old)
    return _threads(pool, old, new, "max online engines has to allow all of them")


def _threads(pool: str, old: int, new: int, remark: str) -> Change:
    key, target = f"ase.engines:{comment(pool)}", f"{comment(pool)}: threads"
    if not is_plain(pool):
        by_hand = (f"-- by hand: this pool's name cannot be written safely; from {old} to {new} threads",)
        return Change(key, target, old, new, by_hand, (f"-- by hand: back to {old}",), Effect.ADVICE)
    show = "select ThreadID, ThreadPoolName, State from master..monThread order by ThreadPoolName"
    return Change(
        key=key,
        target=target,
        old=old,
        new=new,
        apply=batches(
            "-- the threads of each pool now, and what the server may use",
            show,
            'sp_configure "max online engines"',
            f"alter thread pool {pool} with thread count = {new}",
            f"-- check that {new} rows name {pool}; {remark}",
            show,
        ),
        undo=batches(f"alter thread pool {pool} with thread count = {old}", show),
        takes_effect=Effect.ONLINE,
        cautions=("At a quiet time, and measured under the same load before and after.",),
    )


def fewer_engines(old: int, new: int) -> Change:
    """Take engines offline, highest number first. Raises `OutOfRange` unless 1 <= new < old."""
    _check(old, new)
    show = "select EngineNumber, Status from master..monEngine"
    last = range(old - 1, new - 1, -1)
    return Change(
        key="ase.engines:process",
        target="engines online",
        old=old,
        new=new,
        apply=batches(
            "-- engines now: the numbers below suppose that they are 0 to " + str(old - 1),
            show,
            *(f'sp_engine "offline", {engine}' for engine in last),
            "-- check; an engine stays until its connections have left it",
            show,
        ),
        undo=batches(*(f'sp_engine "online", {engine}' for engine in reversed(last)), show),
        takes_effect=Effect.ONLINE,
        cautions=(TEMPORARY, "Engine 0 and engines with bound connections cannot go: sp_engine says so."),
    )


def _check(old: int, new: int) -> None:
    if not 1 <= new < old <= LARGEST:
        raise OutOfRange(f"{old} and {new} engines: the second is to be fewer, and at least one")
