"""Whether the nodes that lock work or trees are sent to have free processors for them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from collectors.facts import known
from collectors.facts.openvms import ClusterMember
from rules.changes.quoting import comment
from rules.finding import Evidence
from rules.laws.derived import BUSY_PERCENT
from rules.openvms._evidence.node import in_prose

FULL_PERCENT = BUSY_PERCENT
"""This project: from this share of all CPUs on the machine may set a node's rate (`rules.laws.derived`), so it is sent
no more lock work by a script."""
LITTLE_PERCENT = 2.0
"""This project: so little more of all its CPUs, at most, hardly shows in MONITOR MODES: a busy node may take it."""
CROWDED_PERCENT = 90.0
"""This project: from this share on a node takes nothing more, however little."""
ASKING_PERCENT = 85.0
"""This project: below this a busy node takes the trees that it asks for most itself, by a weight that is undone at
once. What a request of its own costs once it is local no export tells, so a node that is nearly full waits."""
CLEARLY_MORE = 2.0
"""This project: twice as many processors free are more, whatever one sample is off by."""
PART = (
    "How much of it would come is not in the exports: move a part at a time (LOCK_ACTV tells which trees are busy) and "
    "measure."
)
HOW = {
    "work": ": move it in parts",
    "weight": "; a weight moves all its trees, and no programs",
    "trees": "; trees go by who uses them: watch MODES there",
}
"""What sends it there, a person, a weight or the trees' own moving, and what that means for a node that is tight."""
WEIGHED = (
    "How much of it would come is not in the exports, and a weight moves all trees in which that node takes a lock, "
    "not a part of them, and no programs. With weights that are equal a tree goes there only where that node is "
    "clearly the more active one. Measure MONITOR MODES there afterwards."
)
"""openvms-rules.md, sections 1 and 2: a request of a node with a higher weight flags the tree at any activity."""


@dataclass(frozen=True)
class Room:
    """Whether the nodes that lock work is sent to have free processors for it."""

    full: tuple[ClusterMember, ...]
    """Those that are known to have none."""
    free: tuple[ClusterMember, ...]
    """Those that stay below the limit with all that the nodes it would come from were busy with."""
    tight: tuple[ClusterMember, ...]
    """Those that would not, or of which that cannot be told."""
    unread: tuple[str, ...]
    """Those of which no export tells how busy they are."""
    comes: tuple[ClusterMember, ...] = ()
    """The nodes that it would come from."""
    by: str = "work"
    """What sends it there: a key of `HOW`."""
    little: Mapping[str, float] = field(default_factory=dict)
    """Those that are busy and yet have room, as what comes takes at most so many per cent of all their CPUs."""

    relieves: tuple[str, ...] = ()
    """Those of `tight` that are busy, and yet have more free than the only node it would come from, which is full."""

    own: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """Those of `tight` that are busy and ask for what comes themselves: per second what they ask the master for at the
    least, and what comes from others at the most."""

    @property
    def when(self) -> str:
        """What a change that sends work there has to wait for, on one line; empty where nothing speaks against it."""
        return f"only once it has free CPUs for lock work: {self.busy}" if self.full else ""

    @property
    def watch(self) -> str:
        """That a change which sends work to a busy node is to be watched, on one line; empty where none is busy."""
        busy = [one for one in self.tight if one.name in self.own]
        return f"undo it where MODES rises: {_shares(busy)}" if busy else ""

    @property
    def brief(self) -> str:
        """What speaks for or against it, or what to look at first, as a clause: a caution has it in full."""
        told = []
        if self.full:
            told.append(
                f"there is no room for more lock work: {self.busy} (this project sends none from {FULL_PERCENT:g} % "
                "on); first take other work off it, or leave things as they are"
            )
        told += [self._spared(one) for one in self.free if one.name in self.little]
        if free := self._plainly_free:
            told.append(f"there is room for that: {_shares(free)}, at most {self._with(free)} with it")
        told += [
            f"{self._doubt(one).removesuffix('.')}{'' if one.name in self.own else HOW[self.by]}" for one in self.tight
        ]
        unread = [comment(name, 31) for name in self.unread]
        if unread:
            told.append(
                f"how busy {' and '.join(unread)} {'is' if len(unread) == 1 else 'are'}, is not in the exports: look "
                f"first whether there are free CPUs (MONITOR MODES on {' and '.join(unread)})"
            )
        return "; ".join(told)

    @property
    def said(self) -> str:
        """The same as sentences, in full."""
        told = []
        if self.full:
            told.append(
                f"But there is no room for more lock work: {self.busy} (this project sends none from "
                f"{FULL_PERCENT:g} % on). First take other work off it, or leave things as they are."
            )
        told += [f"T{self._spared(one)[1:]}." for one in self.free if one.name in self.little]
        if free := self._plainly_free:
            told.append(f"There is room for that: {_shares(free)}, at most {self._with(free)} with it.")
        doubts = [one for one in self.tight if one.name not in self.own]
        told += [f"{self._doubt(one)} {WEIGHED if self.by == 'weight' else PART}" for one in doubts]
        told += [f"T{self._doubt(one)[1:]}" for one in self.tight if one.name in self.own]
        told += [
            f"How busy {node} is, is not in the exports: look first whether it has free CPUs (MONITOR MODES on "
            f"{node}, in the busy hours)."
            for node in (comment(name, 31) for name in self.unread)
        ]
        return " ".join(told)

    @property
    def _plainly_free(self) -> list[ClusterMember]:
        return [one for one in self.free if one.name not in self.little]

    def _spared(self, one: ClusterMember) -> str:
        """That a busy node has room for these lock trees, as a clause."""
        return (
            f"{_shares([one])}, but by LOCKTIME the lock trees that come take at most "
            f"{self.little[one.name]:.1f} % of them more (up to {LITTLE_PERCENT:g} % is this project's limit)"
        )

    def _with(self, targets: Sequence[ClusterMember]) -> str:
        return ", ".join(f"{after:.0f} %" for one in targets if (after := _after(one, self.comes)) is not None)

    def _doubt(self, one: ClusterMember) -> str:
        """Why not all of it may fit on this node, as a sentence."""
        names = " and ".join(comment(other.name, 31) for other in self.comes) or "the other nodes"
        if one.name in self.relieves and one.name not in self.own:
            return f"{_shares([one])}, but {_shares(self.comes)}, so it has more free than the node that does it now."
        if asks := self.own.get(one.name):
            return (
                f"{_shares([one])}, but {in_prose(asks[0])} of the lock operations/s that come are its own, each a "
                f"message less then, and at most {in_prose(asks[1])}/s are of others: watch MODES, and undo it where "
                "that rises."
            )
        if (after := _after(one, self.comes)) is None:
            return (
                f"Whether there is room cannot be told: {_shares([one])}, but not all of how busy {names} and how many "
                "CPUs each of them has is in the exports."
            )
        return (
            f"Not all of it may fit: {_shares([one])}, with all the work of {names} it would be "
            f"{f'{after:.0f} %' if after <= 100 else 'more than 100 %'} (this project's limit after a move: "
            f"{FULL_PERCENT:g} %)."
        )

    @property
    def evidence(self) -> tuple[Evidence, ...]:
        """How busy each of them was, and those that it would come from."""
        targets = (*self.full, *self.free, *self.tight)
        return tuple(
            Evidence(
                f"busy time of {one.name}",
                round(one.busy_percent, 1),
                "% of all CPUs",
                one.busy_source or one.source,
                FULL_PERCENT if one in targets else None,
            )
            for one in (*targets, *(self.comes if self.free or self.tight else ()))
            if known(one.busy_percent)
        )

    @property
    def busy(self) -> str:
        """How busy those without room were, as a clause."""
        return _shares(self.full)


def _shares(members: Sequence[ClusterMember]) -> str:
    return ", ".join(
        f"the CPUs of {comment(one.name, 31)} were {one.busy_percent:.0f} % busy"
        for one in members
        if known(one.busy_percent)
    )


def _after(target: ClusterMember, comes: Sequence[ClusterMember]) -> float | None:
    """Per cent of its CPUs that `target` is busy once it has all the work of the others: the most there can be.

    CPU time of one machine is taken as that of the other: what is moved goes to a node that is as fast or faster.
    """
    used = [one.cpus * one.busy_percent for one in (target, *comes) if known(one.cpus) and known(one.busy_percent)]
    if not comes or len(used) <= len(comes) or not known(target.cpus) or target.cpus < 1:
        return None
    return sum(used) / target.cpus


def room_of(
    members: Sequence[ClusterMember],
    *nodes: str,
    comes_from: Sequence[str] = (),
    by: str = "work",
    takes: Mapping[str, float] | None = None,
    own: Mapping[str, tuple[float, float]] | None = None,
) -> Room:
    """What the exports tell of the free processors of these nodes, beside what they and the ones it comes from do.

    `by`: what sends it there, a key of `HOW`. `takes`: by node, what comes takes of all its CPUs at most, per cent,
    where that is known: a busy node already pays for what it asks others for, and little more is no reason to wait.
    `own`: as in `Room.own`; of nodes below `ASKING_PERCENT` a reason not to wait.
    """
    wanted, givers = {name.upper() for name in nodes}, {name.upper() for name in comes_from}
    mine = [one for one in members if one.name.upper() in wanted]
    comes = tuple(one for one in members if one.name.upper() in givers and one.name.upper() not in wanted)
    read = [(one, one.busy_percent) for one in mine if known(one.busy_percent)]
    told = {one.name.upper() for one, _ in read}
    little = {
        one.name: more
        for one, busy in read
        if busy >= FULL_PERCENT
        and (more := (takes or {}).get(one.name)) is not None
        and more <= LITTLE_PERCENT
        and busy + more < CROWDED_PERCENT
    }
    relieves = [one for one, busy in read if one.name not in little and busy >= FULL_PERCENT and _relieves(one, comes)]
    asking = {
        one.name: (own or {})[one.name]
        for one, busy in read
        if FULL_PERCENT <= busy < ASKING_PERCENT and one.name in (own or {}) and one.name not in little
    }
    below = [one for one, busy in read if busy < FULL_PERCENT or one in relieves or one.name in asking]
    free = [
        one
        for one in below
        if one not in relieves
        and one.name not in asking
        and (after := _after(one, comes)) is not None
        and after <= FULL_PERCENT
    ]
    free += [one for one, _ in read if one.name in little]
    return Room(
        tuple(one for one, busy in read if busy >= FULL_PERCENT and one.name not in little and one not in below),
        tuple(free),
        tuple(one for one in below if one not in free),
        tuple(name for name in nodes if name.upper() not in told),
        comes,
        by,
        little,
        tuple(one.name for one in relieves),
        asking,
    )


def _relieves(target: ClusterMember, comes: Sequence[ClusterMember]) -> bool:
    """Whether a busy node may take what the one that does it now has even less room for, in processors and in per cent.

    To wait for free CPUs there would keep the work where there are fewer of them.
    """
    if len(comes) != 1 or not known(comes[0].busy_percent) or not known(target.busy_percent):
        return False
    free = [
        one.cpus * (100 - one.busy_percent) for one in (target, *comes) if known(one.cpus) and known(one.busy_percent)
    ]
    return (
        len(free) == 2
        and free[0] > CLEARLY_MORE * free[1]
        and target.busy_percent < CROWDED_PERCENT <= comes[0].busy_percent
    )


def passed_over(members: Sequence[ClusterMember], faster: Sequence[str]) -> str:
    """Nodes that are faster and have no room, as a sentence after a blank."""
    busy = room_of(members, *faster).busy
    return f" Faster, but without room for it: {busy}." if busy else ""
