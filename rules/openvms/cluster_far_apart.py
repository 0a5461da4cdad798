"""A lock on another node takes a hundred times as long as a local one.

Finds: pairs of nodes of a LOCKTIME matrix whose remote lock takes many times a local one, where locks do cross. T4 and
MONITOR count operations and know nothing of distance, so without a matrix this is unknown. Each pair is reported once,
in the capture of the node that waits more. Distance is the same both ways: where the lock in the other direction takes
no such multiple, the node that serves is slow, not far.

Why it matters: a signal needs 5 µs for a kilometre of glass, and a lock waits for it there and back. Over 25 km that
alone is 250 µs, 92 to 93 local locks of 2.69 µs, where 15 m in one rack are a 27th of one. JCC Consulting's slides
(2014) call a cluster that wide about 100 times worse; they print 1.25e-3 s one way, a misprint: 25 km are 1.25e-4 s,
and only that gives their own factor of 92. No faster node shortens the way.

What to do: where LOCK_ACTV shows what a node asks for over the distance, in trees that others use more, run that work
beside their master; without any such request nothing is paid. Else keep the trees local: run the work beside their
master, open a database on one node of one site, partition its lock trees, send the requests to the data (Rdb remote
access) instead of locks over the distance. The distance that the time would correspond to is an upper bound: switches,
adapters and the software of both nodes have their part.

When to ignore it: when the matrix was measured while the nodes or the network were busy, or when the application keeps
its locks on its own site. An emulator's own network can take as long: such pairs are left to another rule.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from collectors.facts import Facts, Source, known
from collectors.facts.openvms import LockLatency
from collectors.facts.openvms.resource_names import RMS_FILE
from rules.changes.quoting import comment
from rules.engine import limit, rule
from rules.finding import (
    Clean,
    Evidence,
    Expectation,
    Finding,
    MissingInput,
    Outcome,
    Severity,
    Unknown,
    Untrusted,
    joined,
)
from rules.laws.distance import LOCAL_MICROSECONDS, farthest_metres, round_trip_locks
from rules.laws.hardware import hardware_of
from rules.openvms._evidence.cluster import (
    CLUSTER_FACTS,
    FAR_LOCKS,
    Cell,
    hardware_names,
    latencies_of,
    members_of,
    near_back,
    own_name,
    own_rates,
    shows_rdb,
    unreal,
    wrong_reading,
)
from rules.openvms._evidence.lock_trees import LONGEST_NAME, TREE_FACTS, Share, name_of, pictures_of, shares_of
from rules.openvms._evidence.node import in_prose
from rules.openvms._evidence.own_runs import own_alone

KEEP_LOCAL = (
    "Keep the lock trees local, instead of remote locks: run the work that takes them beside their lock master, where "
    "there is room, or {}."
)
BESIDE_MASTER = (
    "Run the work of {asks} in {tree} on {master}, its lock master, or on a node near to it, where there is room, "
    "or {}."
)
OF_DATABASES = "open a database at one site only, partition its lock trees, or use Rdb remote access"
LINKS = ("https://wiki.vmssoftware.com/LOCKDIRWT", "https://wiki.vmssoftware.com/LOCKRMWT")
MOST = 5
"""Pairs that one finding tells of; the others are counted."""


@dataclass(frozen=True)
class Limits:
    """How much dearer is too dear, and from when on it is paid often enough."""

    local_locks: float = limit(
        FAR_LOCKS,
        "practice: 25 km are 92 local locks, 'about 100 times worse' (JCC Consulting, 2014)",
        low=2,
        unit="times",
    )
    waiting: float = limit(
        0.1, "this project: a tenth of one process's time spent on the way", unit="seconds of waiting per second"
    )
    loud_waiting: float = limit(
        1.0, "this project: a warning where one process's whole time goes", unit="seconds of waiting per second"
    )


@dataclass(frozen=True)
class Pair:
    """Two nodes: what a lock takes from the one that waits more."""

    asks: str
    master: str
    remote: float
    """Microseconds."""
    source: Source
    local_cell: Cell
    """A local lock of the asking node, else of the master, and where it stands."""
    shortest: float
    """Microseconds, the shorter of both directions: no distance takes longer than that."""
    leaving: Cell | None
    """Lock operations per second that the asking node has served elsewhere, by whichever node, and where they stand."""

    @property
    def outgoing(self) -> float | None:
        """Lock operations per second that leave the asking node."""
        return None if self.leaving is None else self.leaving[0]

    @property
    def times(self) -> float:
        """Remote ÷ local."""
        return self.remote / self.local_cell[0]

    @property
    def waiting(self) -> float | None:
        """Seconds per second spent waiting for remote locks, at most."""
        return None if self.outgoing is None else self.outgoing * self.remote / 1e6

    @property
    def kilometres(self) -> float:
        """The distance if all of the time were propagation in glass: an upper bound."""
        return farthest_metres(self.shortest) / 1000


@dataclass(frozen=True)
class Asked:
    """What a node asks for in trees that another one masters, by the report of LOCK_ACTV in which it is most."""

    rate: float
    """Lock requests per second in all of them."""
    most: Share | None
    """The trees that it asks in most; `None` where it asks in none."""
    own: float
    """Of their requests what this node asks for, per second."""
    failed: bool
    """Whether what it asks for was not collected."""

    @property
    def little(self) -> bool:
        """Whether others ask for more than half in these trees, so that they are well where they are."""
        return self.most is not None and 2 * self.own < self.most.rate


@dataclass
class Requests:
    """One report of LOCK_ACTV: what nodes ask for in which kinds of trees, and the nodes where that failed."""

    failed: set[str]
    rates: dict[tuple[str, str], list[tuple[float, Share]]] = field(default_factory=dict)
    """By the node that asks and the master, in capitals: per second, in each kind of trees."""


@rule(needs=(), uses=(*CLUSTER_FACTS, *TREE_FACTS), links=LINKS, limits=Limits)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Judge the pairs of the matrix that this capture has to tell of."""
    cells, rates = latencies_of(facts), own_rates(facts)
    if isinstance(cells, Untrusted):
        yield cells
        return
    if wrong := rates and wrong_reading(rates):
        yield wrong
        return
    if not cells:
        alone = rates is not None and rates.incoming_per_second == 0 and rates.outgoing_per_second == 0
        yield Clean("no lock leaves this node and none comes from another") if alone else Unknown.of(LockLatency)
        return
    told = _pairs(facts, cells)
    if isinstance(told, Untrusted):
        yield told
        return
    if not told:
        lack = MissingInput("remote and local latency of a pair of nodes", LockLatency.COLLECTED_BY)
        own = own_name(facts)
        asks_less = own is not None and any(own.upper() in key and key[0] != key[1] for key in cells)
        yield Clean("the other node of each pair waits more: reported there") if asks_less else Unknown((lack,))
        return
    reports = _reports(facts)
    far: list[tuple[Pair, Asked | None]] = []
    quiet = []
    for pair in sorted(told, key=lambda pair: -pair.remote):
        seen = _asked(reports, pair)
        figures = (
            f"a lock of {pair.asks} on {pair.master} takes {pair.remote:,.0f} µs, {pair.times:,.0f} times a local one"
        )
        if pair.times < limits.local_locks:
            quiet.append(f"{figures}, limit {limits.local_locks:g}")
        elif back := near_back(cells, pair.asks, pair.master, limits.local_locks):
            quiet.append(
                f"{figures}, but one of {pair.master} on {pair.asks} takes {back[0]:,.0f} µs, "
                f"{back[0] / cells[pair.master, pair.master][0]:,.0f} times a local one: {pair.master} is slow, not far"
            )
        elif _emulated(facts, pair.asks) or _emulated(facts, pair.master):
            quiet.append(f"{figures}, but one of them is an emulator, whose own network is the likelier cause")
        elif pair.outgoing is None and seen and not seen.rate and not seen.failed:
            none = f"LOCK_ACTV lists no lock request of {pair.asks} in a tree that {pair.master} masters"
            quiet.append(f"{figures}, but {none}")
        elif pair.waiting is not None and pair.waiting < limits.waiting:
            quiet.append(
                f"{figures}, but only {pair.outgoing:,.0f}/s leave {pair.asks}: {pair.waiting:.2f} s/s of waiting"
            )
        else:
            far.append((pair, seen))
    if quiet:
        more = f", and {len(quiet) - MOST} more pairs" if len(quiet) > MOST else ""
        yield Clean("; ".join(quiet[:MOST]) + more)
    if far:
        yield _finding(facts, limits, far)


def _pairs(facts: Facts, cells: dict[tuple[str, str], Cell]) -> list[Pair] | Untrusted:
    """Each pair once, from the side that waits more, as far as it is this capture's to tell; worst first."""
    own = own_name(facts)
    out: dict[str, Cell] = {}
    for one in members_of(facts):
        if known(one.outgoing_per_second) and not unreal(one.outgoing_per_second):
            out[one.name.upper()] = one.outgoing_per_second, one.source
    rates = own_rates(facts)
    if own and own.upper() not in out and rates and rates.outgoing_per_second is not None:
        out[own.upper()] = rates.outgoing_per_second, rates.source
    captured = {one.name.upper() for one in members_of(facts)} | ({own.upper()} if own else set())
    found = []
    for names in sorted({tuple(sorted(key)) for key in cells if key[0] != key[1]}):
        sides = [(a, b) for a, b in (names, names[::-1]) if (a, b) in cells]
        here = [side for side in sides if not captured or side[0] in captured] or sides
        waits = {side: out[side[0]][0] * cells[side][0] if side[0] in out else 0.0 for side in here}
        asks, master = max(here, key=lambda side: (waits[side], cells[side][0]))
        (remote, source), local = cells[asks, master], cells.get((asks, asks)) or cells.get((master, master))
        if local is None or (own and own.upper() != asks):
            continue
        if remote < min(cells[n, n][0] for n in names if (n, n) in cells):
            return Untrusted(
                f"a lock of {asks} on {master} takes {remote:g} µs, less than a local one: misread columns"
            )
        shortest = min(cells[side][0] for side in sides)
        found.append(Pair(asks, master, remote, source, local, shortest, out.get(asks)))
    return found


def _reports(facts: Facts) -> list[Requests]:
    """What each report of LOCK_ACTV lists, by the node that asks and the master."""
    found = []
    for picture in pictures_of(facts):
        one = Requests({name.upper() for name in picture.activity.failed})
        for share in shares_of([picture]):
            rates: dict[tuple[str, str], float] = {}
            for tree in share.trees:
                for node, rate in tree.rates:
                    if known(rate):
                        key = node.upper(), (tree.master or "").upper()
                        rates[key] = rates.get(key, 0.0) + rate
            for key, rate in rates.items():
                one.rates.setdefault(key, []).append((rate, share))
        found.append(one)
    return found


def _asked(reports: list[Requests], pair: Pair) -> Asked | None:
    """What the asking node of a pair wants of the other; `None` without a report of LOCK_ACTV."""
    asked = []
    for one in reports:
        rates = one.rates.get((pair.asks, pair.master), [])
        own, most = max(rates, key=lambda each: each[0], default=(0.0, None))
        asked.append(Asked(sum(rate for rate, _ in rates), most if own else None, own, pair.asks in one.failed))
    return max(asked, key=lambda each: (each.rate, each.failed), default=None)


def _called(facts: Facts, share: Share) -> str:
    """The trees as a step names them: by the file's name, where a listing has it."""
    if share.kind != RMS_FILE:
        return share.key
    named = name_of(facts, share.resource)
    return f"the RMS file {comment(named.name, LONGEST_NAME) if named and named.sure else share.key}"


def _emulated(facts: Facts, node: str) -> bool:
    machine = hardware_of(hardware_names(facts).get(node, ("",))[0])
    return machine is not None and machine.emulator is True


def _arithmetic(facts: Facts) -> str:
    """What glass alone takes, in local locks of this node where it was tested, else of the published one."""
    own = own_alone(facts)
    local, whose = (own, "this node, by its own test") if own else (LOCAL_MICROSECONDS, "a BL870c")
    return f"25 km of glass and back alone are 250 µs, {round_trip_locks(25_000, local):.0f} local locks of {whose}."


def _finding(facts: Facts, limits: Limits, pairs: list[tuple[Pair, Asked | None]]) -> Finding:
    pairs.sort(key=lambda one: -(one[1].rate if one[1] else 0.0) * one[0].remote)
    far = [pair for pair, _ in pairs]
    worst, seen = pairs[0]
    where, most = "", None
    others = OF_DATABASES if shows_rdb(facts) else "let each site work on files of its own"
    do = KEEP_LOCAL.format(others)
    if seen and seen.most:
        tree = _called(facts, seen.most)
        where = f", and {worst.asks} asks for {in_prose(seen.own)}/s in {tree}"
        most = Evidence(f"{worst.asks} in trees of {worst.master}", round(seen.own, 1), "/s", seen.most.source)
        if seen.little:
            do = BESIDE_MASTER.format(others, asks=worst.asks, tree=tree, master=worst.master)
    waits = max((pair.waiting for pair in far if pair.waiting is not None), default=0.0)
    lines = [
        f"{pair.asks} on {pair.master} {pair.remote:,.0f} µs, {pair.times:,.0f} local locks, at most "
        f"{pair.kilometres:,.1f} km"
        for pair in far[:MOST]
    ]
    more = f" and {len(far) - MOST} more pairs" if len(far) > MOST else ""
    paid = (
        f"{worst.outgoing:,.0f} lock operations/s leave {worst.asks}: up to {worst.waiting:.2f} seconds of waiting in "
        "every second, all processes together."
        if worst.outgoing is not None
        else ""
    )
    untold = "" if paid else "How many locks cross is not in the export, so the cost is not known."
    return Finding(
        subject=own_name(facts) or "cluster",
        severity=Severity.WARNING if waits >= limits.loud_waiting else Severity.ADVICE,
        title=f"A lock of {worst.asks} on {worst.master} takes {worst.remote:,.0f} µs, "
        f"{worst.times:,.0f} times a local one{where}",
        seen=f"Measured: {'; '.join(lines)}{more}.",
        because=joined(
            paid,
            f"One process can do at most {1e6 / worst.remote:,.0f} of them a second, one after the other; "
            f"{_arithmetic(facts)}",
        ),
        do=do,
        unknown=joined(
            untold,
            "The kilometres are an upper bound, as if all of the time were light in glass: adapters, switches and busy "
            "nodes take a part of it.",
        ),
        evidence=(
            *((most,) if most else ()),
            *(
                evidence
                for pair in far[:MOST]
                for evidence in (
                    *_rate(pair),
                    Evidence(
                        f"local lock beside {pair.asks} on {pair.master}", pair.local_cell[0], "µs", pair.local_cell[1]
                    ),
                    Evidence(f"lock of {pair.asks} on {pair.master}", round(pair.remote, 2), "µs", pair.source),
                    Evidence(
                        f"local locks in one of {pair.asks} on {pair.master}",
                        round(pair.times, 1),
                        "times",
                        pair.source,
                        limits.local_locks,
                    ),
                    Evidence(
                        f"most that one process of {pair.asks} can do on {pair.master}",
                        round(1e6 / pair.remote, 1),
                        "/s",
                        pair.source,
                        computed="as 1 ÷ latency",
                    ),
                    Evidence(
                        f"{pair.asks} to {pair.master} at most",
                        round(pair.kilometres, 1),
                        "km (upper bound)",
                        pair.source,
                    ),
                )
            ),
        ),
        expects=(
            (Expectation(f"lock operations leaving {worst.asks} (/s)", round(worst.outgoing, 1), "lower", "heuristic"),)
            if worst.outgoing is not None
            else ()
        ),
    )


def _rate(pair: Pair) -> Iterator[Evidence]:
    if pair.leaving is not None:
        rate, source = pair.leaving
        yield Evidence(f"lock operations leaving {pair.asks}", round(rate, 1), "/s", source)
