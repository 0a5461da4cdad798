"""How alike the work of two sides was: part by part, and what each part says in words.

A part is left out where one side does not tell; what the advice of the before side meant to change is not held against
the after: datarows instead of allpages locking changes the lock mix, and that was the point.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from collectors.facts import Facts, Reading, known
from collectors.facts.ase import LockRequests, RowsAffected
from collectors.facts.openvms import DistributedLockRates, LockRates
from collectors.facts.rdb import StatisticRow
from rules.compare.sides import ENGINE_CPU, NODE_CPU, Side
from rules.compare.words import number
from rules.compare.work import PROXIES, Work
from rules.laws.comparability import of_amounts, of_hours, of_loads, of_shares
from rules.laws.rounding import plain

MEANT_TO_CHANGE = {
    "lock mix": ("ase/allpages_table_contended", "rdb/page_locks_dominate", "rdb/row_cache_missing"),
    "local and remote": (
        *("openvms/locks_mastered_remotely", "openvms/lock_master_on_slow_node", "openvms/emulated_lock_master"),
        *("openvms/cluster_far_apart", "openvms/lock_trees_move_too_often", "rdb/database_open_on_many_nodes"),
        *("rdb/lock_tree_unpartitioned", "rdb/use_remote_access"),
    ),
    "processors": ("ase/engines_past_peak", "openvms/cothreads_hurt", "openvms/lock_manager_cpu_shared"),
}
"""Part → the rules whose advice changes it: of processors they all want fewer."""
ALL_BUT = 0.995
"""From here on it is 100 % as printed, and no kind is worth a word."""
IDLE_PERCENT = 1.0
"""This project: below it what a machine does by itself outweighs what the work costs."""
LEAST_COUNTED = 100
"""This project: of fewer units of work chance alone moves the cost of one by a fifth."""


@dataclass(frozen=True)
class Part:
    """One aspect of the work: how alike, 0 to 1, and the figures in words."""

    part: str
    similarity: float
    why: str
    meant: bool = False
    """Whether the before side was advised to change just this: then it is not held against the comparison."""


def parts_of(before: Side, after: Side, work: tuple[Work, Work] | None, advised: Iterable[str]) -> list[Part]:
    """Every part both sides tell of. `advised`: the rules that fired before."""
    fired = set(advised)
    found = [*_mixes(before, after), *_load(work), *_idle(before, after, work), *_stand_in(before, after, work)]
    found += [*time_of(before, after), *_hour(before, after), *processors_of(before, after)]
    return [replace(one, meant=_meant(one, fired, before, after)) for one in found]


def _meant(part: Part, fired: set[str], before: Side, after: Side) -> bool:
    """Whether the advice was to change this, and this way."""
    if part.similarity >= 1 or not fired & set(MEANT_TO_CHANGE.get(part.part, ())):
        return False
    counts = before.newest.system.processors, after.newest.system.processors
    return part.part != "processors" or (counts[0] or 0) > (counts[1] or 0)


Mix = Callable[[Facts], dict[str, float]]


def _mixes(before: Side, after: Side) -> Iterator[Part]:
    mixes: tuple[tuple[str, tuple[Mix, ...]], ...] = (
        ("statement mix", (rows_affected, reads_and_writes)),
        ("lock mix", (locks_by_strength, enqueues, locks_of_rdb)),
        ("local and remote", (places,)),
    )
    for name, counted in mixes:
        for mix in counted:  # the first that both sides counted: enqueues and a database's requests are two things
            first, second = _whole(before, mix), _whole(after, mix)
            similarity = of_shares(first, second)
            if similarity is not None:
                differs = f": {_differs(first, second)}" if similarity < ALL_BUT else ""
                yield Part(name, similarity, f"{name} overlaps by {100 * similarity:.0f} %{differs}")
                break


def _whole(side: Side, mix: Mix) -> dict[str, float]:
    """The mix of a side: the shares of each capture that tells, by its length."""
    whole: dict[str, float] = {}
    for one in side.measured:
        found = {kind: value for kind, value in mix(one.capture.facts).items() if value < math.inf}
        total = sum(found.values())
        for kind, value in found.items() if total > 0 else ():
            whole[kind] = whole.get(kind, 0.0) + one.seconds * value / total
    return whole


def _differs(before: Mapping[str, float], after: Mapping[str, float]) -> str:
    """The two kinds whose shares moved most."""
    first, second = sum(before.values()), sum(after.values())
    shares = {kind: (before.get(kind, 0) / first, after.get(kind, 0) / second) for kind in {**before, **after}}
    most = sorted(shares.items(), key=lambda pair: (-abs(pair[1][0] - pair[1][1]), pair[0]))[:2]
    return ", ".join(f"{kind} {100 * old:.0f} → {100 * new:.0f} %" for kind, (old, new) in most)


def rows_affected(facts: Facts) -> dict[str, float]:
    """Rows of SAP ASE by what was done to them."""
    rows = {one.operation: one.count for one in facts.every(RowsAffected)}
    rows = {kind: rows[kind] for kind in ("Inserts", "Updates", "Deletes", "Selects") if kind in rows}
    return {kind.lower(): value for kind, value in rows.items() if known(value) and value >= 0}


def reads_and_writes(facts: Facts) -> dict[str, float]:
    """Pages of a database of Rdb."""
    return _rdb(facts, {"data reads": "reads", "data writes": "writes"})


def locks_by_strength(facts: Facts) -> dict[str, float]:
    """Lock requests of SAP ASE, without address locks, and not by page or row.

    The lock scheme decides these, and that may be the change.
    """
    found: dict[str, float] = {}
    for one in facts.every(LockRequests):
        kind = one.lock_type.split(" ")[0].lower()
        if kind not in ("exclusive", "shared", "update") or one.lock_type.endswith("Address"):
            continue
        if known(one.total) and one.total >= 0:
            found[kind] = found.get(kind, 0.0) + one.total
    return found


def enqueues(facts: Facts) -> dict[str, float]:
    """Lock operations of an OpenVMS node."""
    rates = facts.latest(LockRates, statistic="mean")
    if rates is None:
        return {}
    return _all_of(
        {
            "new enqueues": rates.new_enq_per_second,
            "converts": rates.converted_enq_per_second,
            "dequeues": rates.deq_per_second,
        }
    )


def locks_of_rdb(facts: Facts) -> dict[str, float]:
    """What a database of Rdb asked the lock manager for."""
    kinds = {"locks requested": "requests", "locks promoted": "promotions", "locks demoted": "demotions"}
    return _rdb(facts, kinds)


def places(facts: Facts) -> dict[str, float]:
    """Lock operations of OpenVMS by where they were served."""
    rates = facts.latest(DistributedLockRates, statistic="mean")
    if rates is None:
        return {}
    return _all_of(
        {
            "local": rates.local_per_second,
            "incoming": rates.incoming_per_second,
            "outgoing": rates.outgoing_per_second,
        }
    )


def _all_of(read: Mapping[str, Reading | None]) -> dict[str, float]:
    """The mix, where every kind of it was read; else nothing: a part would pass for the whole."""
    found = {kind: value for kind, value in read.items() if known(value) and value >= 0}
    return found if len(found) == len(read) else {}


def _rdb(facts: Facts, items: Mapping[str, str]) -> dict[str, float]:
    found = {}
    for row in facts.every(StatisticRow):
        if row.item in items and row.lock_type in (None, "total") and known(row.mean_per_second):
            found[items[row.item]] = row.mean_per_second
    return found if len(found) > 1 else {}


def _load(work: tuple[Work, Work] | None) -> Iterator[Part]:
    if work is None:
        return
    first, second = work[0].per_second, work[1].per_second
    similarity = of_loads(first, second)
    if similarity is not None:
        many = work[1].unit.many
        yield Part(
            # what stands for the work may be more of it, or another plan: it always counts
            "amount" if work[1].unit.proxy else "load",
            similarity,
            f"{number(first)} → {number(second)} {many} per second, {second / first:.2f} times",
        )


def _idle(before: Side, after: Side, work: tuple[Work, Work] | None) -> Iterator[Part]:
    """A side that did next to nothing: what a unit of work costs there is chance, or what the machine does anyway."""
    for side, done, when in zip((before, after), work or (), ("before", "after"), strict=False):
        for busy_key, whole_key in ((ENGINE_CPU, "ase.engines"), (NODE_CPU, "openvms.cpus")):
            busy, whole = side.value(busy_key), side.value(whole_key)
            if busy is not None and whole and 100 * busy / whole < IDLE_PERCENT:
                yield Part("idle", 0.0, f"{when} {plain(100 * busy / whole, 2)} % of the processors were busy: idle")
        seconds = sum(one.seconds for one in side.measured if one.value(done.key) is not None)
        known_length = any(one.capture.interval.seconds for one in side.measured)
        if known_length and done.per_second * seconds < LEAST_COUNTED:
            counted = f"{number(done.per_second * seconds)} {done.unit.many}"
            yield Part("idle", 0.0, f"{when} {counted} were counted: too few to tell what one costs")


SPUN = "ase.spins"
FAR, NOISE = 1.2, 1.05
"""This project: a move of one sample on a side, and the least by which every other count has to move the same way."""


def _stand_in(before: Side, after: Side, work: tuple[Work, Work] | None) -> Iterator[Part]:
    """Where something only stands for the work, spins must have moved the same way by each such count and by second."""
    if work is None or not work[1].unit.proxy:
        return
    spun = _ratio(before, after, SPUN)
    if spun is None:
        return
    counted = [(unit, done) for unit in PROXIES if (done := _ratio(before, after, unit.key))]
    moved = {f"per {unit.name}": spun / done for unit, done in counted} | {"per second": spun}
    by = moved[f"per {work[1].unit.name}"]
    sides = (by < 1 / FAR, max(moved.values()) < 1 / NOISE), (by > FAR, min(moved.values()) > NOISE)
    against = any(went and not all_went for went, all_went in sides)
    said = ", ".join(f"{ratio:.2f} {what}" for what, ratio in moved.items())
    yield Part("work", 0.0 if against else 1.0, f"no transactions on both sides; spins × {said}")


def _ratio(before: Side, after: Side, key: str) -> float | None:
    first, second = before.value(key), after.value(key)
    return second / first if first and second and first > 0 and second > 0 else None


def time_of(before: Side, after: Side) -> Iterator[Part]:
    """Where both sides are of one time, at least for the most part: no change lies between them."""
    if before.newest.system.name.upper() == after.newest.system.name.upper() and overlap(before, after) > 0.5:
        yield Part("time", 0.0, "both sides were measured at the same time: no change can lie between them")


def overlap(before: Side, after: Side) -> float:
    """Which share of the shorter of two captures lies in the other: the most of all pairs, 0 without times."""
    shares = [0.0]
    for one in before.spans:
        for other in after.spans:
            shared = (min(one[1], other[1]) - max(one[0], other[0])).total_seconds()
            shorter = min((end - start).total_seconds() for start, end in (one, other))
            shares.append(1.0 if one == other else shared / shorter if shorter > 0 and shared > 0 else 0.0)
    return max(shares)


def _hour(before: Side, after: Side) -> Iterator[Part]:
    if before.spans and after.spans:
        yield Part("hour", of_hours(before.spans, after.spans), f"{_when(before)} against {_when(after)}")


def _when(side: Side) -> str:
    """`Tue 09:00 to 10:00`; of several captures from the first start to the last end, and how many they are."""
    start, end = side.span or side.spans[0]
    day = "" if start.date() == end.date() else f"{end:%a} "
    if (end - start).days >= 7:
        return f"{start:%Y-%m-%d %H:%M} to {end:%Y-%m-%d %H:%M}{_counted(side)}"
    return f"{start:%a %H:%M} to {day}{end:%H:%M}{_counted(side)}"


def _counted(side: Side) -> str:
    return f" in {len(side.captures)} captures" if len(side.captures) > 1 else ""


def processors_of(before: Side, after: Side) -> Iterator[Part]:
    """How many processors, or engines, each side had."""
    first, second = before.newest.system.processors, after.newest.system.processors
    similarity = of_amounts(first, second) if first and second else None
    if similarity is not None and first != second:
        yield Part("processors", similarity, f"{first} → {second} processors")
    elif similarity is not None:
        yield Part("processors", similarity, f"{first} processors on both sides")
