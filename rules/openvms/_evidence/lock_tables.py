"""Whether the node that is to master the lock trees has lock tables for them: RESHASHTBL and LOCKIDTBL.

The resources of a tree are kept by its master. How many of those of today's master come along is not in the exports:
all of them at the most, and the new master has its own already. So what is asked for holds both. Neither parameter is
dynamic: where the move boots that node anyway they go with that boot, and no boot is asked for on their account alone.
A table that is short without a cost is said to be, and no step is made of it where no boot takes it along.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from collectors.facts import known
from collectors.facts.openvms import ClusterMember
from collectors.facts.openvms.locking import total
from rules.changes.openvms_sysgen import PARAMETERS, advise_parameter, set_parameter
from rules.changes.quoting import comment
from rules.finding import Change, Effect, Evidence, MissingInput, joined
from rules.laws.hashing import BUCKET_BYTES, LOCK_ID_BYTES, PROVEN, compared_in_vain, mean_chain, next_power_of_two
from rules.openvms._evidence.chains import ENOUGH_CHAIN, FAR_CHAIN, GROWTH, LITTLE_COMPARED, as_wanted, wanted_buckets
from rules.openvms._evidence.mastership import Move
from rules.openvms._evidence.node import LEVELS, in_prose

HASH, IDS = PARAMETERS["RESHASHTBL"], PARAMETERS["LOCKIDTBL"]
ENOUGH_IDS_PERCENT = 50.0
"""This project: above half of the peak one extension of the lock ID table was enough."""
ROUND = 1_000
WHEN = "with the next reboot of that node that happens anyway"
POOL = (
    "The locks and resources themselves take memory there, too; how much a lock takes no source tells: look at SHOW "
    "MEMORY before and after."
)


@dataclass(frozen=True)
class LockTables:
    """What is known of the tables of the new master."""

    says: str
    """As sentences."""
    move: Move
    """With what its tables need, and their figures."""
    missing: tuple[MissingInput, ...]
    """What would tell whether they do."""


def with_tables(members: Sequence[ClusterMember], home: str, master: str, move: Move) -> LockTables:
    """The move to `home`, with its lock tables made large enough for what it has and all that `master` has."""
    new, old = (next(one for one in members if one.name == name) for name in (home, master))
    boots = any(one.takes_effect is Effect.REBOOT and one.node == new.name for one in move.changes)
    found = [one for one in (_hash(new, old, boots=boots), _ids(new, old, boots=boots)) if one]
    changes = tuple(change for _, made, _ in found for change in made)
    go_along = [f"{one.target} {one.old:.0f} to {one.new:.0f}" for one in changes if boots and one.old and one.new]
    do = f"{move.do.removesuffix('.')}; with the same boot {' and '.join(go_along)}." if go_along else move.do
    return LockTables(
        joined(*(says for says, _, _ in found)),
        replace(
            move,
            do=do,
            changes=(*move.changes, *changes),
            evidence=(*move.evidence, *(one for _, made, evidence in found if made for one in evidence)),
        ),
        tuple(dict.fromkeys((*_levels(new, old), *_settings(new)))),
    )


Found = tuple[str, tuple[Change, ...], tuple[Evidence, ...]]
"""What is said, what is changed, and the figures."""


def _hash(new: ClusterMember, old: ClusterMember, *, boots: bool) -> Found | None:
    value, own, comes, name = new.hash_table, new.resources, old.resources, comment(new.name, 31)
    if not known(value) or not known(own) or not known(comes) or not HASH.low <= value <= HASH.high:
        return None
    most, buckets = own + comes, next_power_of_two(value)
    chain = mean_chain(most, buckets)
    figures = (
        f"at most {in_prose(most)} resources are on {name} then, {in_prose(own)} of its own and all "
        f"{in_prose(comes)} of {comment(old.name, 31)}: a mean chain of {chain:.2f} in the {buckets:,} buckets of its "
        "RESHASHTBL"
    )
    evidence = (
        Evidence(f"RESHASHTBL of {new.name}", value, "entries", new.tables_source or new.source),
        Evidence(f"resources of {new.name}", own, "resources", new.levels_source or new.source),
        Evidence(f"resources of {old.name}", comes, "resources", old.levels_source or old.source),
        Evidence(
            f"mean chain on {new.name} with those of {old.name}, at most",
            round(chain, 2),
            "resources per bucket",
            new.tables_source or new.source,
            ENOUGH_CHAIN,
            computed="from both",
        ),
    )
    if chain <= ENOUGH_CHAIN:
        return f"Its lock tables hold the trees: {figures}.", (), evidence
    wanted = wanted_buckets(most)
    if wanted <= buckets or (buckets >= PROVEN and chain < FAR_CHAIN):
        return f"RESHASHTBL stays: {figures}; whether more than {PROVEN:,} help is unproven.", (), evidence
    waits = new.pending_hash_table
    if known(waits) and waits != value and next_power_of_two(waits) >= wanted:
        return f"RESHASHTBL {waits:,.0f} is pending on {name} and enough: {figures} of today.", (), evidence
    most_served = total(new.local_per_second, new.outgoing_per_second, new.incoming_per_second, old.local_per_second)
    if not boots and chain < FAR_CHAIN and most_served is not None:
        compared = compared_in_vain(most_served, most, buckets)
        if compared < LITTLE_COMPARED:
            little = (
                f"at most {in_prose(compared)} names/s are compared in vain (from {LITTLE_COMPARED:,.0f}/s on this "
                "project minds)"
            )
            return f"RESHASHTBL stays: {figures}; {little}.", (), evidence
    memory = (wanted - buckets) * BUCKET_BYTES / 2**20
    large = (
        f"More than {PROVEN:,} buckets are unproven: measure kernel time before and after." if wanted > PROVEN else ""
    )
    change = _change("RESHASHTBL", value, wanted, memory, new, boots=boots and buckets < PROVEN, cautions=(large,))
    says = (
        f"RESHASHTBL of {name} is too small for the trees that come: {figures}, so {value:.0f} to {wanted} "
        f"({as_wanted(most)}) {'with the boot that makes it master' if boots and buckets < PROVEN else WHEN}."
    )
    return says, (change,), evidence


def _ids(new: ClusterMember, old: ClusterMember, *, boots: bool) -> Found | None:
    """The lock ID table grows by itself when it is full, so it asks for no boot: it goes with one."""
    value, own, comes = new.lock_id_table, new.locks, old.locks
    if not known(value) or not known(own) or not known(comes) or not IDS.low <= value <= IDS.high:
        return None
    most = own + comes
    waits = new.pending_lock_id_table
    if not most or 100 * max(value, waits if known(waits) else value) / most >= ENOUGH_IDS_PERCENT or not boots:
        return None
    wanted = lock_ids_for(most)
    if wanted <= value:
        return None
    evidence = (
        Evidence(f"LOCKIDTBL of {new.name}", value, "entries", new.tables_source or new.source),
        Evidence(f"locks of {new.name}", own, "locks", new.levels_source or new.source),
        Evidence(f"locks of {old.name}", comes, "locks", old.levels_source or old.source),
    )
    memory = (wanted - value) * LOCK_ID_BYTES / 2**20
    says = f"LOCKIDTBL goes with the same boot, {value:.0f} to {wanted}: at most {in_prose(most)} locks are there then."
    return says, (_change("LOCKIDTBL", value, wanted, memory, new, boots=True),), evidence


def _change(
    name: str,
    old: float,
    new: float,
    memory: float,
    node: ClusterMember,
    *,
    boots: bool,
    cautions: tuple[str, ...] = (),
) -> Change:
    more = (f"For the lock trees that come with mastership; about {memory:.2f} MB more (as recalled).", *cautions, POOL)
    told = tuple(one for one in more if one)
    if not boots:
        return advise_parameter(name, old, new, when=WHEN, cautions=told, memory_mb=memory, node=node.name)
    waits = node.pending_hash_table if name == "RESHASHTBL" else node.pending_lock_id_table
    pending = waits if known(waits) and waits != old else None
    return set_parameter(
        name,
        old,
        new,
        dynamic=False,
        minimum=True,
        cautions=told,
        memory_mb=memory,
        node=node.name,
        pending=pending,
    )


def _levels(new: ClusterMember, old: ClusterMember) -> Iterator[MissingInput]:
    for name in (comment(one.name, 31) for one in (new, old) if not known(one.resources)):
        yield MissingInput(f"number of resources of {name}", f"{LEVELS} ! on {name}")


def _settings(new: ClusterMember) -> Iterator[MissingInput]:
    if not known(new.hash_table):
        name = comment(new.name, 31)
        yield MissingInput(f"RESHASHTBL of {name}", f"MCR SYSGEN SHOW RESHASHTBL ! on {name}")


def lock_ids_for(locks: float, growth: float = GROWTH) -> int:
    """LOCKIDTBL for so many locks and this much more, in whole thousands, as far as it may be."""
    return min(math.ceil(locks * growth / ROUND) * ROUND, IDS.high)
