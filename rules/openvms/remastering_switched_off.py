"""PE1 is -1: no lock tree moves, and nothing counts who uses it.

Finds: the special parameter PE1 at -1, which switches the moving of lock trees off; or at another value, where -1
waits for the next boot (CURRENT); or above 0 on a node that clearly masters what another one, not known to be slower,
works more in.

Why it matters: trees stay with the node that took the first lock, whoever works on them later. And -1 also stops the
activity counters of the trees, so tools that list the busiest trees (LCKACT) see nothing. JCC Consulting set it for the
time of a latency test alone (slides on the OpenVMS lock manager, 2014).

What to do: where trees are to stay, PE1 = 1 has nearly the same effect and keeps the counters: the readme of
KP_LOCKTOOLS (OpenVMS Freeware) advises it. Where they may move, 0, the default; so it is on a node that serves others
and is slower than one of them, before any weight is changed. Where another value waits in CURRENT, that one was meant:
it is dynamic, so only WRITE ACTIVE is missing. PE1 is dynamic; it belongs to the special parameters, which SYSGEN shows
by name alone. Where most of what a node asks for is served elsewhere, -1 is set to 0, there and on every node that has
it: of those trees the PE1 of their masters decides, and it is mostly set on all nodes alike (inference), so this comes
before any dearer remedy. Where this node works more in the trees of another one with -1, 0 on both: what comes here
must be able to leave again. Where nothing tells what other nodes ask for here, MONITOR DLOCK comes first, as 1 would
keep the trees where they are. On a node that is alone there is nothing to set; on one that serves no other, -1 keeps
nobody's trees away and nothing is urgent.

When to ignore it: during a LOCKTIME run, which needs it so that no tree moves; put it back afterwards.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from collectors.facts import Facts, known
from collectors.facts.openvms import (
    ClusterNode,
    ListedMember,
    LockActivity,
    LockLatency,
    RemasterRates,
    SysgenParameter,
)
from rules.changes.openvms_sysgen import PARAMETERS, advise_parameter, keep_parameter, set_parameter
from rules.changes.quoting import comment
from rules.engine import limit, percent, rule
from rules.finding import (
    Change,
    Clean,
    Evidence,
    Expectation,
    Finding,
    NotApplicable,
    Outcome,
    Severity,
    Unknown,
    Untrusted,
    enumerated,
    joined,
)
from rules.laws.rounding import plain
from rules.openvms._evidence.after_move import in_range
from rules.openvms._evidence.cluster import (
    CLUSTER_FACTS,
    SERVED,
    members_of,
    own_name,
    own_rates,
    stakes_of,
    sustained,
    wrong_reading,
)
from rules.openvms._evidence.decision import WHATEVER, Kind, decide
from rules.openvms._evidence.mastership import MEASURE_FIRST, works_more
from rules.openvms._evidence.node import (
    PE1_SHOWN,
    parameter_of,
    pending_clause,
    pending_of,
    pending_said,
    sentence,
)
from rules.openvms._evidence.node_speeds import compare_nodes
from rules.openvms._evidence.room import passed_over, room_of

LINKS = ("https://wiki.vmssoftware.com/LOCKRMWT",)
NAME = "PE1"
OFF, FREE, COUNTED = -1, 0, 1
CROSS = "lock operations that cross the cluster, if all these trees move (/s)"
MEANT = "Only if nobody set -1 in CURRENT on purpose."
WHEN = "only if this node is a member of a cluster, which the exports do not tell"
WHEN_APART = "only if its own trees are to be counted, or may move"
WHEN_JOINED = "with PE1 0 on the master, where its trees are to come here"
MOVE = "Lock trees may then move to the node that uses them most; 1 instead of 0 where they are to stay."


@dataclass(frozen=True)
class Limits:
    """When trees move although the listing says they do not, and when a node serves others at all."""

    moves_per_second: float = limit(
        0.001, "this project: a tree in a quarter of an hour; below that a mean of moves is rounding", unit="trees/s"
    )
    leaving_percent: float = percent(50.0, "this project: half of this node's own requests leave it", of="own requests")
    served_percent: float = percent(
        1.0, "this project: below that no other node works in its trees", of="lock operations"
    )


@rule(
    needs=(), uses=(*CLUSTER_FACTS, ListedMember, LockActivity, RemasterRates), links=LINKS, limits=Limits, sample=None
)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Judge the value in the listing."""
    setting = parameter_of(facts, NAME, PARAMETERS[NAME].low, PARAMETERS[NAME].high)
    if not isinstance(setting, tuple):
        yield (_alone(facts) if isinstance(setting, Unknown) else None) or setting
        return
    value, fact = setting
    if value != OFF:
        waits = pending_of(facts, NAME)
        if waits and waits[0] == OFF and _in_cluster(facts) is not False:
            yield _off_next(facts, (value, fact), waits)
            return
        if limited := _limited(facts, value, fact):
            yield limited
            return
        told = "lock trees move freely" if value == 0 else "moving lock trees is limited, not off"
        old = "; a limit set before V7.3 should be reviewed, moving became far faster then" if value > 0 else ""
        yield Clean(f"PE1 {value:.0f}: {told}{old}{pending_clause(facts, NAME)}")
        return
    moved = sustained(facts)
    if moved and (wrong := wrong_reading(moved)):
        yield wrong
        return
    if moved and known(moved.moved_out) and moved.moved_out > limits.moves_per_second:
        yield Untrusted(
            f"PE1 is -1 in the listing, yet {plain(moved.moved_out, 3)} lock trees/s left this node: it is not the "
            "active value, or of another time; collect both of one day"
        )
        return
    measured = _measured(facts)
    if measured and not measured.own:
        yield NotApplicable(f"PE1 is -1 as on {measured.name}: the step of that node, which was measured, sets it here")
        return
    finding = _finding(facts, value, Evidence(NAME, value, "", fact.source), limits)
    yield finding
    if not measured and len(members_of(facts)) < 2 and "openvms/locks_mastered_remotely" in finding.explains:
        yield Unknown((PE1_SHOWN,))
    if _unmeasured(facts) and _in_cluster(facts) is not False:
        yield Unknown.without("lock operations by where they are served", SERVED, "to which value PE1 is to be set")
    if _blind(facts):
        why = "PE1 is -1, which stops the counters"
        yield Unknown.without("lock requests of each tree, once PE1 is no longer -1", LockActivity.COLLECTED_BY, why)


def _limited(facts: Facts, value: float, fact: SysgenParameter) -> Finding | None:
    """PE1 above 0 keeps the trees here that another node works more in, as the decision over all nodes has it.

    Where that is open, as nothing tells which node is faster, the figures tell all the same who works more in them.
    """
    members, own = members_of(facts), own_name(facts) or "node"
    if value <= 0 or len(members) < 2:
        return None
    found = decide(facts)
    kept = found.move if found.kind is Kind.KEPT and found.master == own else None
    undecided = found.kind is Kind.OPEN and not (found.refused or found.move)
    target = found.target if kept else _user(facts) if undecided else None
    if target is None:
        return None
    crossing = [one.today.outgoing for one in found.lines if one.today.outgoing]
    before, after = sum(low for low, _ in crossing), found.crossing_after if kept else None
    stakes = stakes_of(members, own, target)
    works = (
        f"{target} asks this node for {stakes[1]:,.0f} lock operations/s, it does {stakes[0]:,.0f} itself."
        if stakes
        else ""
    )
    alike = " and ".join(comment(one.name, 15) for one in members if not one.own and known(one.pe1) and one.pe1 > 0)
    also = f"; the same on {alike}, or what came there never leaves" if alike else ""
    pending = pending_of(facts, NAME)
    free = set_parameter(
        NAME, value, FREE, dynamic=True, cautions=(MOVE,), node=own_name(facts), pending=pending[0] if pending else None
    )
    return Finding(
        subject=own,
        severity=Severity.ADVICE,
        title=f"PE1 = {value:.0f} keeps lock trees here that {target} works more in",
        seen=joined(f"{found.figures}." if kept else works, f"PE1 is {value:.0f} here."),
        because=f"{target} works more in them; above 0 only trees of up to so many locks may move (as recalled).",
        do=(
            f"PE1 {value:.0f} → 0, its default (at once{also}), lets them move to {target}; measure after it. Before "
            "that, ask why it was set: before V7.3 moving a tree took far longer."
        ),
        unknown=sentence(room_of(members, target, comes_from=(own,), by="trees").brief),
        evidence=(Evidence(NAME, value, "", fact.source), *(kept.evidence if kept else ())),
        explains=("openvms/locks_mastered_remotely",),
        changes=kept.changes if kept else (free,),
        expects=(Expectation(CROSS, round(before), in_range(after), "arithmetic"),) if after else (),
    )


def _alone(facts: Facts) -> Clean | None:
    """Without the parameter: in order where no lock has to do with another node, so no tree can move."""
    rates = own_rates(facts)
    if rates is None or rates.incoming_per_second != 0 or rates.outgoing_per_second != 0:
        return None
    return Clean("no lock leaves this node and none comes from another: there is no tree to move")


def _measured(facts: Facts) -> ListedMember | None:
    """The one node that was measured, where of all others the listings have PE1: it asks others for most, so it leads.

    `None` where no node was, PE1 of one was not read, LOCK_ACTV counted something, or it moves trees or asks for less.
    """
    listed = facts.every(ListedMember)
    first = next(iter(listed), None)
    if first is None or not all(known(one.pe1) for one in listed) or facts.every(LockLatency) or not _blind(facts):
        return None
    if known(first.moved_out_per_second) and first.moved_out_per_second:
        return None
    local, outgoing = first.local_per_second, first.outgoing_per_second
    asks = known(local) and known(outgoing) and outgoing > local and outgoing > 0
    return first if asks and first.pe1 == OFF else None


def _in_cluster(facts: Facts) -> bool | None:
    """Whether this node shares locks with others; `None` where nothing tells."""
    rates = own_rates(facts)
    remote = [rates.incoming_per_second, rates.outgoing_per_second] if rates else []
    listed = {one.name.upper() for one in facts.every(ClusterNode) if (one.status or "MEMBER").upper() == "MEMBER"}
    if len(members_of(facts)) > 1 or len(listed) > 1 or facts.every(LockLatency) or any(remote):
        return True
    return False if listed or (remote and all(rate == 0 for rate in remote)) else None


def _faster(facts: Facts) -> tuple[str | None, str]:
    """A faster member with room, where this node serves others: its trees are to move there; and what to say of room.

    `None` with something to say: the faster ones are too busy for that.
    """
    rates, own = own_rates(facts), own_name(facts)
    if own is None or not rates or not rates.incoming_per_second:
        return None, ""
    others = [one.name for one in members_of(facts) if not one.own]
    orders = ((name, compare_nodes(facts, name, own)) for name in others)
    members = members_of(facts)
    ahead = [
        name for name, order in orders if order is not None and order.sign > 0 and not works_more(members, own, name)
    ]
    decided = decide(facts, WHATEVER) if len(members) > 1 else None
    if decided and decided.master == own and decided.kind is Kind.STAYS:
        return None, ""
    first = [decided.target] if decided and decided.master == own and decided.target in ahead else []
    name = next((name for name in (*first, *ahead) if name and not room_of(members, name).full), None)
    return name, room_of(members, name, by="trees").brief if name else passed_over(members, ahead).strip(" .")


def _user(facts: Facts) -> str | None:
    """A node with room, not known as slower, that works more in this node's trees than it: -1 keeps them away."""
    own, members = own_name(facts), members_of(facts)
    for one in members:
        stakes = stakes_of(members, own, one.name) if own and not one.own else None
        if own is None or stakes is None or stakes[1] <= stakes[0] or room_of(members, one.name).full:
            continue
        order = compare_nodes(facts, one.name, own)
        if order is None or order.sign >= 0:
            return one.name
    return None


def _giver(facts: Facts) -> str | None:
    """A member with -1 whose trees are to move here, as this node works more in them, is not slower and has room."""
    own, members = own_name(facts), members_of(facts)
    if own is None or room_of(members, own).full:
        return None
    for one in members:
        stakes = stakes_of(members, one.name, own) if not one.own and known(one.pe1) and one.pe1 == OFF else None
        if stakes is None or stakes[1] <= stakes[0]:
            continue
        order = compare_nodes(facts, own, one.name)
        if order is None or order.sign >= 0:
            return one.name
    return None


def _meant(facts: Facts) -> int | None:
    """The value that was written to CURRENT and does not run yet: what a person chose. `None` where none waits."""
    waits = pending_of(facts, NAME)
    legal = waits is not None and OFF < waits[0] <= PARAMETERS[NAME].high and waits[0] == int(waits[0])
    return int(waits[0]) if waits and legal else None


def _serves_nobody(facts: Facts, limits: Limits) -> bool:
    """Whether this node asks others and next to nothing of what it does is asked by others."""
    rates = own_rates(facts)
    if rates is None or rates.incoming_per_second is None or not rates.outgoing_per_second:
        return False
    if (local := rates.local_per_second) is None or rates.incoming_per_second < 0:
        return False
    total = local + rates.incoming_per_second + rates.outgoing_per_second
    return 100 * rates.incoming_per_second < limits.served_percent * total


def _unequal(facts: Facts) -> str:
    """That the nodes of the cluster differ in it, as a sentence after a blank; empty where they do not."""
    values = [(comment(one.name, 15), one.pe1) for one in members_of(facts)]
    told = {name: value for name, value in values if known(value)}
    if len(set(told.values())) < 2:
        return ""
    off = [name for name, value in told.items() if value == OFF]
    free = ", ".join(f"{value:.0f} on {name}" for name, value in told.items() if value != OFF)
    return f" It is not the same on all nodes: -1 on {' and '.join(off)}, {free}."


def _blind(facts: Facts) -> bool:
    """Whether reports of LOCK_ACTV came with it and counted nothing at all, as the counters stand still."""
    totals = [one.total for one in facts.every(LockActivity)]
    return bool(totals) and all(total == 0 for total in totals)


def _unmeasured(facts: Facts) -> bool:
    """Whether nothing tells what other nodes ask this one for, nor what it asks them for."""
    rates = own_rates(facts)
    return rates is None or rates.incoming_per_second is None or rates.outgoing_per_second is None


def _leaving(facts: Facts) -> float:
    """Lock operations that this node asks others for, in per cent of all that it asks for; 0 where that is not read."""
    rates = own_rates(facts)
    local, outgoing = (rates.local_per_second, rates.outgoing_per_second) if rates else (None, None)
    return 100 * outgoing / (local + outgoing) if local is not None and outgoing else 0.0


def _finding(facts: Facts, value: float, read: Evidence, limits: Limits) -> Finding:
    rates, node = own_rates(facts), own_name(facts)
    together, (faster, room) = _in_cluster(facts), _faster(facts)
    remote = [rates.incoming_per_second, rates.outgoing_per_second] if rates else []
    local = bool(remote) and all(rate == 0 for rate in remote)
    serves = bool(rates and rates.incoming_per_second)
    measuring = bool(facts.every(LockLatency))
    meant = _meant(facts)
    # each node counts what it asks for itself, in the trees of others, too: where that was looked for, it is needed
    apart = together is True and not faster and _serves_nobody(facts, limits) and not _blind(facts)
    user = None if faster else _user(facts)
    # of a cluster whose nodes are all at hand the figures tell who works in which trees, which decides
    asks = together is True and len(members_of(facts)) < 2 and _leaving(facts) >= limits.leaving_percent
    asks = asks and not measuring and not apart
    giver = None if faster or user or asks or apart or meant is not None else _giver(facts)
    # 1 would keep the trees where they are, 0 let them go: which is right the rates alone tell
    open_ = together is not False and not (local or faster or apart or user or asks or giver) and meant is None
    open_ = open_ and _unmeasured(facts)
    # its trees come from others: what it asks for is most of its work, and its own counters tell the master nothing
    joins = apart and meant is None and _leaving(facts) >= limits.leaving_percent
    new = (
        FREE
        if faster or joins or ((user or asks or giver) and meant is None)
        else (COUNTED if meant is None else meant)
    )
    every = facts.every(ListedMember) if _measured(facts) else ()
    others = [one for one in every if not one.own and known(one.pe1) and one.pe1 == OFF]
    named = [comment(one.name, 15) for one in others]
    alike = f"{len(named):,} other nodes" if len(named) > 4 else enumerated(named)
    where = f"here and on {alike}" if alike else "here and on every node that has -1"
    why = reason = ""
    if together is False or local:
        why = "All locks are local here, so only the counters are missing."
    elif measuring:
        why = "A LOCKTIME run came with it, which needs -1 while it runs: put it back now."
    if together is False:
        do = "There is no other node that a tree could move to: nothing is to be set."
    elif faster:
        reason = f"{faster} is faster and this node serves others, so its trees are to move."
        do = f"First PE1 -1 → 0 here (at once), then the weights (openvms/lock_master_on_slow_node). {MEASURE_FIRST}"
    elif apart:
        reason = (
            "Other nodes hardly work in its trees "
            f"({rates.incoming_per_second if rates else 0:,.0f} lock operations/s), so -1 keeps next to none "
            "away from anybody: it explains nothing of what this node asks others for."
        )
        do = (
            "Set it to 0 with the master's, where trees are to come here: with -1 this node's activity is not counted, "
            "so the master may not see how much it asks for (inference). A tree that moved here never leaves again "
            "while it is -1."
            if joins
            else "Nothing is urgent; a tree that moves here later never leaves again while it is -1."
        )
    elif meant is not None:
        do = f"PE1 = {meant} was written to CURRENT alone: with WRITE ACTIVE it runs at once, without a boot."
    elif asks:
        also = f"-1 is set on {alike}, too" if alike else "-1 is mostly set on all nodes alike (inference)"
        reason = (
            f"{_leaving(facts):.0f} % of what this node asks for is served elsewhere, and {also}: then those trees "
            "cannot move here, however much it works in them."
        )
        do = (
            f"PE1 -1 → 0 (at once) {where}, as the master's decides "
            "whether a tree may leave; then LOCK_ACTV again before anything dearer is changed. 1 instead where "
            "trees are to stay and be counted."
        )
    elif user:
        reason = f"{user} works more in its trees than this node itself, so -1 is why those locks cross the cluster."
        do = (
            f"PE1 -1 → 0 lets the trees move to {user} (at once); 1 moves only the smallest (as recalled). Before "
            "that, ask why -1 was set; after it take LOCK_ACTV three times at the peak: where the trees move by "
            "themselves, no weight need be changed."
        )
        room = "; ".join(
            one for one in (room, room_of(members_of(facts), user, comes_from=(node or "",), by="trees").brief) if one
        )
    elif giver:
        reason = f"This node works more in the trees of {giver} than that one itself, and PE1 is -1 there, too."
        do = (
            f"PE1 -1 → 0 (at once) here as on {giver}: with -1 or a limit here, what comes from there would not leave "
            "again. Then LOCK_ACTV three times at the peak, as until now nothing was counted."
        )
    elif open_:
        do = joined(
            "Put back what it was before that run (0 is the default)." if measuring else "",
            "First MONITOR DLOCK on every node under load: 0 where others ask for much that this node serves, 1 where "
            "its trees are to stay and be counted.",
        )
    else:
        do = (
            "PE1 -1 → 1 (at once) keeps all but the smallest trees where they are (as recalled: trees up to that many "
            "locks may move) and counts again; 0 lets them move."
        )
    waits = pending_of(facts, NAME)
    shared = False if open_ else None if apart else together
    changes = _changes(value, new, node, shared, faster, waits, WHEN_JOINED if joins else WHEN_APART if apart else WHEN)
    if asks and changes:
        changes += tuple(
            set_parameter(NAME, OFF, FREE, dynamic=True, cautions=(MOVE,), node=one.name) for one in others
        )
    return Finding(
        subject=node or "node",
        severity=Severity.NOTE if together is not True or local or measuring or apart else Severity.ADVICE,
        title="Remastering is switched off, and the lock trees are not counted (PE1 = -1)"
        + (": the zeros of LOCK_ACTV are blind, not idle" if _blind(facts) else ""),
        seen=(
            f"PE1 is -1: no lock tree leaves this node, and the activity counters of its trees stand still, so nothing "
            f"tells which tree is busy.{_unequal(facts)}{pending_said(facts, NAME)}"
        ),
        because=joined(why, reason),
        do=do,
        unknown=sentence(room),
        evidence=(read,),
        # 1 leaves the trees where they are: only what is to let them move can be the cause of where they are
        explains=()
        if not (serves or asks) or new != FREE or measuring or giver or joins
        else ("openvms/locks_mastered_remotely",)
        if user or asks
        else ("openvms/lock_master_on_slow_node",),
        changes=changes,
        expects=(Expectation("activity counters of the lock trees", "stand still", "count", "published"),)
        if changes
        else (),
    )


def _changes(
    value: float,
    new: int,
    node: str | None,
    together: bool | None,
    faster: str | None,
    waits: tuple[float, SysgenParameter] | None,
    when: str,
) -> tuple[Change, ...]:
    """A script where locks are shared, a template (`when`) where nothing tells; none for one alone or not measured."""
    if together is False:
        return ()
    then = waits[0] if waits else None
    if together is None:
        return (advise_parameter(NAME, value, new, when=when, node=node, pending=then),)
    free = (
        f"Its trees are meant to move to {faster}: afterwards, where they are to stay, 1. {MEASURE_FIRST}"
        if faster
        else ""
    )
    stay = f"0 instead of {new} where lock trees may move to the node that uses them most." if new != FREE else MOVE
    return (set_parameter(NAME, value, new, dynamic=True, cautions=(free or stay,), node=node, pending=then),)


def _off_next(facts: Facts, runs: tuple[float, SysgenParameter], waits: tuple[float, SysgenParameter]) -> Finding:
    """The next boot switches moving off: CURRENT is put back to what runs, which needs no reboot."""
    (value, fact), (pending, listed), node = runs, waits, own_name(facts)
    shared = _in_cluster(facts) is True
    when = "" if shared else WHEN
    return Finding(
        subject=node or "node",
        severity=Severity.ADVICE if shared else Severity.NOTE,
        title=f"The next boot switches remastering off (PE1 {pending:.0f} is pending)",
        seen=f"PE1 is {value:.0f} now.{pending_said(facts, NAME)}",
        because="Then no lock tree leaves this node, and the activity counters of its trees stand still.",
        do=(
            "Before the next boot put the value that runs now into CURRENT and into MODPARAMS.DAT, or find out who set "
            "it: after a LOCKTIME run it is to be put back. No reboot is needed for that."
        ),
        evidence=(
            Evidence(NAME, value, "", fact.source),
            Evidence(f"{NAME} in CURRENT (pending)", pending, "", listed.source),
        ),
        changes=(keep_parameter(NAME, pending, value, when=when, cautions=(MEANT,), node=node),),
    )
