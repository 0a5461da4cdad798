"""Lock trees move to and fro between the nodes all the time.

Finds: trees that leave this node because another one is more active, steadily over the whole day, while about as many
come in: the nodes take them from each other. Moves because a node is the only user of a tree are what remastering is
for and do not count, nor do a few bursts. Of several nodes it speaks for the one that sends most away.

Why it matters: while a tree moves, nobody gets a lock in it, and both nodes send its locks over the cluster. With equal
weights a node needs only some more activity to win a tree, so two equally busy nodes go on winning it from each other.
A real two-node day with 0.03 moves per second had no trouble.

Where all nodes are as fast and of one weight the trees have no home, and that their locks cross follows from it: this
leads then, and a template of one weight on the node with room that locks most goes with it.

What to do: give the node that should be master the higher weight: LOCKDIRWT from V8.3 on (a reboot), LOCKRMWT before
(dynamic). Better still, let the work of a tree run on one node. PE1 above 0 limits moving to small trees (as recalled):
check what it is now and see the effect before it is kept.

Where the tree that moves is the busiest of all, this comes before advice on what makes its requests.

How loud: advice, and a warning where very many trees move, or where the tree that was seen to move has half of all
lock requests: then most of the locking stops with each move, and a third as many moves are enough.

When to ignore it: when jobs wander through the cluster by intent, or when only small trees move and nobody waits.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from collectors.facts import Facts, known
from collectors.facts.openvms import ClusterMember, ListedMember, LockActivity, RemasterRates
from collectors.facts.openvms.locking import total
from rules.changes.openvms_sysgen import PARAMETERS, advise_parameter
from rules.changes.quoting import comment
from rules.engine import limit, percent, rule
from rules.finding import (
    Clean,
    Effect,
    Evidence,
    Expectation,
    Finding,
    MissingInput,
    NotApplicable,
    Outcome,
    Severity,
    Unknown,
    Untrusted,
    joined,
)
from rules.laws.rounding import plain
from rules.openvms._evidence.cluster import CLUSTER_FACTS, members_of, own_name, sustained, wrong_reading
from rules.openvms._evidence.lock_trees import TREE_FACTS, Wanderer, pictures_of, shares_of, wanders_most
from rules.openvms._evidence.mastership import (
    ALIKE,
    STEP,
    WHEN_SET,
    Move,
    both_by_release,
    governing,
    move_to,
    weight_of,
)
from rules.openvms._evidence.node import in_prose, parameter_of, pending_said, sentence
from rules.openvms._evidence.node_speeds import ranks_of
from rules.openvms._evidence.room import room_of

LINKS = ("https://wiki.vmssoftware.com/LOCKDIRWT", "https://wiki.vmssoftware.com/LOCKRMWT")
COLLECTED_BY = "a T4 composite CSV with the [MON.RLCK] columns, or a summary of MONITOR RLOCK over a busy hour"
STOPS = "PE1 is {}: until a boot 1 (dynamic) nearly stops moving and keeps the counters, which -1 stops"
"""The readme of KP_LOCKTOOLS, as `openvms/remastering_switched_off` has it."""
NEARLY = 0.8
"""This project: nodes that send away 80 % of what the first one does are as much in it."""
REASONS = ("moved_higher_activity", "moved_higher_weight", "moved_sole_interest")


@dataclass(frozen=True)
class Limits:
    """What is too often, and what is to and fro."""

    moves_per_second: float = limit(
        0.3, "this project: ten times the 0.03/s of a real two-node day without trouble", unit="trees/s"
    )
    far_moves_per_second: float = limit(3.0, "this project: a warning from a hundred times that day on", unit="trees/s")
    most_percent: float = percent(
        50.0,
        "this project: a tree with half of all lock requests that moves so often stops most of the locking each time",
        of="lock requests",
    )
    main_moves_per_second: float = limit(
        0.1, "this project: three times that day, where such a tree was seen to move", unit="trees/s"
    )
    similar_percent: float = percent(
        50.0, "this project: to and fro where the smaller of in and out is half of the larger"
    )
    gap_percent: float = limit(
        10.0, "this project: moves by their reasons add up to all moves within rounding", high=50, unit="%"
    )


@rule(needs=(), uses=(*CLUSTER_FACTS, *TREE_FACTS, ListedMember, RemasterRates), links=LINKS, limits=Limits)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Judge the sustained rates."""
    rates = sustained(facts)
    if rates is None or not known(rates.moved_out) or not known(rates.moved_in):
        wrong = wrong_reading(rates) if rates else None
        yield wrong or Unknown.without("lock trees moved out and in, as a mean", COLLECTED_BY)
        return
    if refused := _refused(rates, limits):
        yield refused
        return
    if (wanderer := wanders_most(facts)) and wanderer.percent >= limits.most_percent:
        limits = replace(limits, moves_per_second=min(limits.moves_per_second, limits.main_moves_per_second))
    out, into = rates.moved_out, rates.moved_in
    fought = rates.moved_higher_activity if known(rates.moved_higher_activity) else out
    by = f", {plain(fought, 3)} of them to a more active node" if known(rates.moved_higher_activity) else ""
    figures = f"{plain(out, 3)} lock trees/s left this node{by}, {plain(into, 3)}/s came in"
    p95 = facts.latest(RemasterRates, statistic="p95")
    waits = f";{said}" if (said := _pending(facts, members_of(facts))) else ""
    if fought < limits.moves_per_second:
        yield Clean(f"{figures}; limit {limits.moves_per_second:g}/s to a more active node{waits}")
    elif 100 * min(out, into) < limits.similar_percent * max(out, into):
        yield Clean(
            f"{figures}: in one direction, so they find their node (limit {limits.similar_percent:g} % back){waits}"
        )
    elif p95 and known(p95.moved_out) and p95.moved_out < out:
        yield Clean(
            f"{figures} on average, but 95 % of the samples had at most {plain(p95.moved_out, 3)}/s: bursts{waits}"
        )
    elif (first := _first(facts)) is not None:
        yield NotApplicable(f"{figures}: judged in the capture of {first}, which sends more away")
    else:
        yield from _told(facts, rates, limits, figures, (out, into, fought))


def _refused(rates: RemasterRates, limits: Limits) -> Untrusted | None:
    if wrong := wrong_reading(rates):
        return wrong
    parts = [value for name in REASONS if known(value := getattr(rates, name))]
    if len(parts) < len(REASONS) or not known(rates.moved_out):
        return None
    gap, most = abs(sum(parts) - rates.moved_out), max(sum(parts), rates.moved_out)
    if gap <= max(0.05, limits.gap_percent / 100 * most):
        return None
    return Untrusted(
        f"{plain(rates.moved_out, 3)} lock trees/s moved, by their reasons {plain(sum(parts), 3)}/s: collect again"
    )


def _first(facts: Facts) -> str | None:
    """Another member that sends more trees away than this node (of equal ones the first by name)."""
    rates = {one.name: one.moved_out_per_second for one in members_of(facts) if known(one.moved_out_per_second)}
    own = own_name(facts)
    if own not in rates:
        return None
    first = max(rates, key=lambda name: rates[name])
    return None if first == own else first


def _told(
    facts: Facts, rates: RemasterRates, limits: Limits, figures: str, found: tuple[float, float, float]
) -> Iterator[Outcome]:
    out, into, fought = found
    members, own = members_of(facts), own_name(facts)
    ranks = ranks_of(facts, [one.name for one in members])
    fastest = [name for name, rank in ranks.items() if rank == 1]
    listed = members or facts.every(ListedMember)  # of nodes with listings alone the settings are known, no rates
    name = governing(facts, listed)
    decides = f"{name} decides here ({WHEN_SET[name]})" if name else both_by_release(facts, listed)
    equals = [one for one in members if one.name in fastest] if 1 < len(fastest) == len(members) else []
    move = Move((), f"{decides}: give the node that should be master the highest one{_of_equals(equals)}.")
    wanderer = wanders_most(facts)
    unranked = not wanderer and not fastest and name == "LOCKDIRWT"
    asked = _asks_most(facts, members) if unranked else None
    homeless = not wanderer and name == "LOCKDIRWT" and _one_weight(facts, equals)
    if wanderer:
        move = Move((), _weight(facts, listed, wanderer, alike=bool(equals)))
    elif homeless:
        move = _home(facts, members, equals) or move
    if len(fastest) == 1 < len(members):
        move = move_to(facts, members, fastest[0])
    elif name == "LOCKRMWT" and (target := _either(members, equals, wanderer)):
        move = move_to(facts, members, target)
    reasons = ", ".join(
        f"{plain(getattr(rates, name), 3)}/s {_word(name)}" for name in REASONS if known(getattr(rates, name))
    )
    most = wanderer is not None and wanderer.percent >= limits.most_percent
    why = f"By reason: {reasons}." if reasons else "For which reason is not in the export."
    yield Finding(
        subject=own or "node",
        severity=Severity.WARNING if fought >= limits.far_moves_per_second or most else Severity.ADVICE,
        title=f"{plain(fought, 2)} lock trees per second move away{_each(members, out)}, and as many come back"
        f"{_which(wanderer, most=most)}",
        seen=joined(f"{figures}{_elsewhere(members, own, limits)}.", why if reasons else ""),
        because=joined(
            f"{'The' if homeless or _each(members, out) else 'Two'} nodes take the trees from each other: while a tree "
            "moves, nobody gets a lock in it.",
            sentence(move.because, _seen(wanderer), "" if homeless else _unweighted(facts, listed)),
        ),
        do=asked or _do(move, wanderer),
        unknown=joined(
            sentence("" if reasons else why.removesuffix("."), move.unknown),
            sentence(_pe1(facts, listed), _pending(facts, members).strip(" .")),
        ),
        evidence=(
            Evidence(
                "lock trees moved out",
                out,
                "/s",
                rates.source,
                None if known(rates.moved_higher_activity) else limits.moves_per_second,
            ),
            Evidence("lock trees moved in", into, "/s", rates.source),
            *_by_reason(rates, limits),
            *(
                (
                    Evidence(
                        f"lock requests in {wanderer.key}",
                        round(wanderer.rate, 1),
                        "/s",
                        wanderer.source,
                        computed=f"as the mean of {wanderer.reports} reports",
                    ),
                    Evidence(
                        "its share of the lock requests listed",
                        round(wanderer.percent, 1),
                        "% of lock requests",
                        wanderer.source,
                        limits.most_percent,
                        "from both",
                    ),
                )
                if wanderer
                else ()
            ),
            *move.evidence,
        ),
        explains=("openvms/locks_mastered_remotely",) if wanderer or homeless else (),
        changes=move.changes,
        expects=(Expectation("lock trees moved out (/s)", out, "lower", "heuristic"),),
        weight=wanderer.rate if wanderer and _is_busiest(facts, wanderer) else None,
    )
    which = () if wanderer else (MissingInput("which lock trees move", LockActivity.COLLECTED_BY),)
    if missing := (*move.missing, *which):
        yield Unknown(missing)


def _is_busiest(facts: Facts, wanderer: Wanderer) -> bool:
    """Whether no tree has more lock requests than the one that moves: a home for it comes before fewer requests."""
    shares = shares_of(pictures_of(facts))
    return bool(shares) and shares[0].key == wanderer.key


def _one_weight(facts: Facts, equals: Sequence[ClusterMember]) -> bool:
    """Whether nodes that are all as fast have one LOCKDIRWT, so that no tree has a home, and no PE1 keeps it."""
    weights = {weight_of(facts, one, "LOCKDIRWT") for one in equals}
    return len(weights) == 1 and None not in weights and all(not known(one.pe1) or one.pe1 == 0 for one in equals)


def _home(facts: Facts, members: Sequence[ClusterMember], equals: Sequence[ClusterMember]) -> Move | None:
    """A home for trees that have none, as a template; `None` where no node has room, or a weight is pending."""
    most = _locks_most(equals)
    if most is None or _pending(facts, members) or any(known(one.pending_directory_weight) for one in equals):
        return None
    move = move_to(facts, members, most[0])
    if move.stays or move.held or not move.changes:
        return None
    (first, *_), node = move.changes, comment(most[0], 31)
    if not isinstance(first.old, float) or not isinstance(first.new, int | float):
        return None
    when = f"only where the work of a tree cannot be kept on one node: {node} becomes master of every tree it locks in"
    change = advise_parameter(first.target, first.old, first.new, when=when, cautions=first.cautions, node=most[0])
    do = (
        f"Run the work of a tree on one node where the application can; else LOCKDIRWT {first.old:.0f} → "
        f"{first.new:.0f} on {node}, which locks most ({in_prose(most[1])}/s), as any value above the others' "
        "gives the trees a home."
    )
    return replace(move, changes=(change,), do=do)


def _asks_most(facts: Facts, members: Sequence[ClusterMember]) -> str | None:
    """Of nodes of which none is known to be faster, the one that asks for clearly most, as what to do; else `None`.

    What moves belongs to its parts: who asks for most of all need not do so in the trees that move (inferred).
    """
    asks = {one.name: total(one.local_per_second, one.outgoing_per_second) for one in members}
    rates = {name: rate for name, rate in asks.items() if rate is not None}
    most = _locks_most(members)
    if most is None or len(rates) < len(members) or len(members) < 2 or not _one_weight(facts, members):
        return None
    node, rate = most
    if _pending(facts, members) or any(other >= ALIKE * rate for name, other in rates.items() if name != node):
        return None
    now = weight_of(facts, next(one for one in members if one.name == node), "LOCKDIRWT") or 0.0
    whole = 100 * rate / sum(rates.values())
    bridge = ""
    if all(known(one.pe1) for one in members):
        bridge = " Until that boot PE1 1 on all of them (dynamic) nearly stops the moves."
    return (
        f"LOCKDIRWT {now:.0f} → {now + 1:.0f} on {comment(node, 31)}, which asks for {whole:.0f} % of the locks, gives "
        f"the trees a home there (not dynamic: a reboot of that node), unless LOCKTIME shows it to be slower.{bridge}"
    )


def _elsewhere(members: Sequence[ClusterMember], own: str | None, limits: Limits) -> str:
    """What other nodes send away that often, to end a clause: in their captures this does not stand."""
    rates = [(one.name, one.moved_out_per_second) for one in members if one.name != own]
    told = [
        f"{plain(rate, 2)}/s left {comment(node, 31)}"
        for node, rate in rates
        if known(rate) and rate >= limits.moves_per_second
    ]
    return "".join(f", {one}" for one in told[:3])


def _each(members: Sequence[ClusterMember], out: float) -> str:
    """That every node sends about as many away, for a title: then it is none's own."""
    rates = [one.moved_out_per_second for one in members]
    alike = len(rates) > 2 and all(known(rate) and NEARLY * out <= rate <= out for rate in rates)
    return f" from each of {len(rates)} nodes" if alike else ""


def _unweighted(facts: Facts, members: Sequence[ClusterMember | ListedMember]) -> str:
    """That no LOCKDIRWT gives the trees a home, where it counts and was read of all nodes, as a clause."""
    weights = {weight_of(facts, one, "LOCKDIRWT") for one in members}
    if governing(facts, members) == "LOCKRMWT" or len(members) < 2 or len(weights) != 1 or None in weights:
        return ""
    (weight,) = weights
    return f"LOCKDIRWT is {weight:.0f} on all of them, so that none is preferred"


def _which(wanderer: Wanderer | None, *, most: bool) -> str:
    """Which tree was seen to move, to end a title; `most`: it has most of all lock requests."""
    share = f", with {wanderer.percent:.0f} % of the lock requests that LOCK_ACTV lists," if wanderer and most else ""
    return f": {wanderer.said}{share} among them" if wanderer else ""


def _seen(wanderer: Wanderer | None) -> str:
    """How often its master changed, as a clause."""
    if wanderer is None:
        return ""
    asks = " and ".join(f"{comment(node, 15)} ({in_prose(rate)}/s)" for node, rate in [*wanderer.by_node.items()][:3])
    masters = ", then ".join(comment(node, 15) for node in wanderer.masters[:4])
    return (
        f"{wanderer.key} was mastered by {masters} in {wanderer.reports} reports of LOCK_ACTV, with requests of {asks}"
    )


def _do(move: Move, wanderer: Wanderer | None) -> str:
    """One tree's work on one node needs no boot, so it comes first where that tree is known."""
    if move.changes and all(one.takes_effect is Effect.ADVICE for one in move.changes) and not move.held:
        return move.do
    if wanderer and not move.changes and not move.held:
        also = f"; so for {' and '.join(wanderer.others)}, whose master changes too" if wanderer.others else ""
        return joined(
            f"Run the work on {wanderer.said} on one node, {_which_node(wanderer)}{also}.",
            "" if move.stays else move.do,
        )
    return joined(
        "" if move.stays else move.do,
        "" if move.held else "Unequal weights end it; the work of a tree on one node ends it too.",
    )


def _which_node(wanderer: Wanderer) -> str:
    """On which one, as a clause."""
    (most, rate), *others = wanderer.by_node.items()
    alike = [node for node, other in others if other >= ALIKE * rate]
    if alike:
        named = " and ".join(comment(node, 31) for node in [most, *alike][:3])
        return f"either one: {named} ask for as much in it"
    return f"as on {comment(most, 31)}, which asks most in it"


def _weight(facts: Facts, members: Sequence[ClusterMember], wanderer: Wanderer, *, alike: bool) -> str:
    """The weight that gives the tree to the node that asks most in it, as a sentence; `alike`: none is the slower."""
    name, most = governing(facts, members), next(iter(wanderer.by_node))
    weights = {one.name: weight_of(facts, one, name) for one in members} if name else {}
    numbers = {node: value for node, value in weights.items() if value is not None}
    if name is None or most not in numbers or len(numbers) < len(weights):
        both = both_by_release(facts, members)
        return f"Else {both.replace('From', 'from', 1)}: give the node that should be master the highest one."
    new = min(PARAMETERS[name].high, max(numbers.values()) + STEP)
    once = "" if alike else ", once a LOCKTIME run has shown that it is not the slower one"
    to = f"{numbers[most]:.0f} → {new:.0f} on {comment(most, 31)}"
    return f"Else {name} {to} ({WHEN_SET[name]}){once}; any value above the others' does."


def _either(members: Sequence[ClusterMember], equals: Sequence[ClusterMember], wanderer: Wanderer | None) -> str | None:
    """Which of nodes that are all as fast gets the higher weight, where that needs no boot: who asks most in the tree.

    Without a tree that was seen to move, the one with room that locks most; `None` where they are not all as fast.
    """
    if wanderer is None or not equals:
        most = _locks_most(equals)
        return most[0] if most else None
    names = {one.name.upper(): one.name for one in equals}
    full = {one.name for one in room_of(members, *names.values()).full}
    asking = [names[node.upper()] for node in wanderer.by_node if node.upper() in names]
    return next((name for name in asking if name not in full), None)


def _of_equals(members: Sequence[ClusterMember]) -> str:
    """Which of nodes that are all as fast is to win, as a clause: the one with room that locks most; empty for none."""
    if (most := _locks_most(members)) is None:
        return ""
    return f" (none is faster: any will do, {comment(most[0], 31)} locks most, {in_prose(most[1])}/s)"


def _locks_most(members: Sequence[ClusterMember]) -> tuple[str, float] | None:
    """The node with room that locks most, and how much it does, per second; `None` where nothing tells."""
    full = {one.name for one in room_of(members, *(one.name for one in members)).full}
    asks = {one.name: total(one.local_per_second, one.outgoing_per_second) for one in members if one.name not in full}
    rates = {name: rate for name, rate in asks.items() if rate is not None}
    return max(rates.items(), key=lambda one: one[1], default=None)


def _pending(facts: Facts, members: Sequence[ClusterMember]) -> str:
    """What the next boot makes of this node's weight, or of both where nothing tells which one decides."""
    name = governing(facts, members)
    return "".join(pending_said(facts, one) for one in ([name] if name else ["LOCKDIRWT", "LOCKRMWT"]))


def _pe1(facts: Facts, members: Sequence[ClusterMember]) -> str:
    """What PE1 is on the nodes, where it was read, and on which it was not, as a clause."""
    limits_it = "PE1 above 0 limits moving to small trees (as recalled)"
    read = {one.name: one.pe1 for one in members if known(one.pe1)}
    own = parameter_of(facts, "PE1", PARAMETERS["PE1"].low, PARAMETERS["PE1"].high)
    if not members and isinstance(own, tuple):
        return f"{limits_it}; it is {own[0]:.0f} here, and that of the other nodes is not in the exports"
    if not read:
        return f"{limits_it}: check its value now (MCR SYSGEN SHOW PE1), and what it does, first"
    said = f"{limits_it}; it is {', '.join(f'{value:.0f} on {name}' for name, value in read.items())}"
    unread = [one.name for one in members if one.name not in read]
    if not unread and not any(read.values()) and governing(facts, members) == "LOCKDIRWT":
        said = STOPS.format(", ".join(f"0 on {name}" for name in read))
    return f"{said}; of {', '.join(unread)} it is not in the exports (MCR SYSGEN SHOW PE1)" if unread else said


def _by_reason(rates: RemasterRates, limits: Limits) -> Iterator[Evidence]:
    for name in REASONS:
        value = getattr(rates, name)
        if known(value):
            judged = limits.moves_per_second if name == REASONS[0] else None
            yield Evidence(f"moved for {_word(name)}", value, "/s", rates.source, judged)


def _word(name: str) -> str:
    return name.removeprefix("moved_").replace("_", " ")
