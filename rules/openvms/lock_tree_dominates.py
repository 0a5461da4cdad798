"""One lock tree has most of the cluster's lock requests.

Finds: of reports of LOCK_ACTV (lock requests per second in each tree, node by node), a tree, or the trees of the file
system or of one application together, with a large share of all requests: what it is, which node masters it, who asks.
Names of resources are decoded byte by byte, and a listing of DIRECTORY/FILE_ID names the file. The figures are smoothed
over some 8 to 15 s, so one report is one moment, not a day.

Why it matters: how many locks a node makes, many figures tell; whose they are, only the trees do. Fewer lock requests
reduce the work of the lock manager at its root, whatever CPUs and parameters it has. Of a request that another node
masters, two nodes have the work.

What to do: it goes by the kind. A file of RMS: open it for input alone where nothing is written (in one case over 80 %
of a cluster's locks were of one file opened for update and only read); where several write, global buffers keep
read-mode bucket locks as system locks between accesses (Alpha V7.3 New Features). They cost page file, bucket size ×
buffers, counted by GBLPAGFIL: 2,000 buffers for buckets of 12 blocks are 24,000 blocks, 11.7 MiB. No source names a
number; as many are scripted as RMS itself takes for "default" buffers, GB_CACHEALLMAX blocks or GB_DEFPERCENT of the
file, whichever is more; 2,000 at the most where these were not read. Readers with NLK and RRL: SET
RMS_DEFAULT/QUERY_LOCK=DISABLE. The file system: keep files open, larger extents; its caches (ACP_*) are documented to
cut its I/O, no source promises fewer locks. Names that are documented nowhere may be Rdb's: RMU/SHOW LOCKS tells, then
Rdb's own rules. CONTENTION_POLICY makes more locks. An application that polls with LCK$M_NOQUEUE (ENQs not queued of
MONITOR LOCK: more than all other trees could have made) should queue its request and be told by an AST.

How loud: a note up to a rate at which real nodes had no trouble, as so few operations cost little of a CPU (2.7 µs each
in JCC's runs of 2014). Below it advice only where something else is measured: the CPU time of the file system itself
(MONITOR FCP); a cache of it that misses most of what is looked for, as each miss is work with that lock held; a queue
manager that other nodes ask so often that it must be polled, or a file of RMS that they ask for as often as
openvms/locks_mastered_remotely judges, as each such request is work of two nodes; global buffers of a file that
GBLPAGFIL has no room for, as whoever set them wanted them; a file with nearly all requests and no global buffers, where
the modes that RMS and the lock manager work in take a good part of the CPUs; a tree that is polled: work for nothing;
and a queue in that same tree (LCKQUE) that is for no record, as two kinds of report show it then. Three pictures are
asked for; two where the CPU time of the file system tells over the whole time that it lasts. One is enough to look who
asks, and for no change, where nearly all of many requests are in one tree and nothing measured beside it says
otherwise.

When to ignore it: where the requests are few, where no CPU spins and nobody waits, or where the work simply is that.

Over 600 lines: all that makes one tree louder or quieter is weighed against the rest in one place.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta

from collectors.facts import Facts, known
from collectors.facts.openvms import (
    ClusterMember,
    DirectorySize,
    DistributedLockRates,
    ListedLocks,
    ListedMember,
    LockActivity,
    LockRates,
    MemoryUse,
    MonitorSample,
    OpenFile,
    ProcessorModes,
    RmsDefaults,
    RmsRecordLock,
    SysgenParameter,
    T4File,
    Volume,
)
from collectors.facts.openvms.locking import total
from collectors.facts.openvms.resource_names import (
    APPLICATION,
    QUEUE_MANAGER,
    RMS_FILE,
    RMS_RECORD,
    SYSTEM_ID,
    UNREADABLE,
)
from collectors.facts.rdb import NodeDatabases
from rules.changes.openvms_rms import open_for_input, query_locks
from rules.changes.quoting import comment
from rules.engine import limit, percent, rule
from rules.finding import (
    Change,
    Clean,
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
from rules.openvms._evidence import file_system
from rules.openvms._evidence.cluster import CLUSTER_FACTS, members_of, own_name, own_rates
from rules.openvms._evidence.cluster_links import CROSSING
from rules.openvms._evidence.decision import decide
from rules.openvms._evidence.dominating import (
    LEAST_REQUESTS,
    SHARE_PERCENT,
    Dominating,
    Refused,
    dominates,
    judged_at,
    of_share,
    refused_of,
    renewed_of,
)
from rules.openvms._evidence.lock_queues import QUEUE_FACTS, Waits, records_waited_for, waits_of
from rules.openvms._evidence.lock_trees import (
    FILE_SYSTEM,
    TREE_FACTS,
    Picture,
    Share,
    crosses_most,
    failed_nodes,
    moment_of,
    moments_in,
    pictures_of,
    shares_of,
    silent_nodes,
)
from rules.openvms._evidence.mastership import Misplaced, misplaced
from rules.openvms._evidence.monitor_classes import CLASS_FACTS, mean_of
from rules.openvms._evidence.node import PE1_SHOWN, busiest_operations, in_prose, sentence
from rules.openvms._evidence.rms_files import SETTINGS
from rules.openvms._evidence.sampling import SAMPLE_FACTS, sampled
from rules.openvms._evidence.spinning import CROSSING_OPERATIONS

LINKS = (
    "https://wiki.vmssoftware.com/GBLPAGFIL",
    "https://wiki.vmssoftware.com/ACP_parameters",
    "https://wiki.vmssoftware.com/GB_DEFPERCENT",
)
NEAR = timedelta(minutes=5)
"""This project: as near to a sample a report is still of its time."""
SAME = 1.25
"""This project: of two rates that differ by less than a quarter each may stand for the other."""
PICTURES_TIME = 60.0
"""Seconds, this project: four times what a report looks back."""
MOST_OF = 50.0
"""Per cent of what crosses, this project: a tree that has half of it is why it crosses."""
LONGEST_MEMBER = 20
"""Characters of one of several names."""


@dataclass(frozen=True)
class Limits:
    """How many requests, which share, how many pictures."""

    share_percent: float = percent(
        SHARE_PERCENT,
        "this project: of trees that share the work evenly none has so much; what is saved in it can be seen in all",
        low=5,
        of="lock requests",
    )
    least_requests: float = limit(
        LEAST_REQUESTS,
        "this project: at the 2.7 µs that a lock operation took in JCC's runs of 2014 they are 0.3 % of one CPU",
        unit="lock requests/s",
    )
    many_requests: float = limit(
        15_000.0,
        "this project: just above the 14,282 lock operations/s at the peak of a real two-node day without trouble",
        unit="lock requests/s",
    )
    nearly_all_percent: float = percent(
        80.0, "this project: four of five, so what else locks is little", low=50, of="lock requests"
    )
    polled: float = limit(
        500.0,
        "this project: as many as openvms/locks_mastered_remotely judges; jobs alone ask for few a second",
        unit="lock requests/s of other nodes",
    )
    shared: float = limit(
        CROSSING_OPERATIONS,
        "this project: as many as openvms/locks_mastered_remotely judges; a real two-node day had 1,140 and no trouble",
        unit="lock requests/s of other nodes",
    )
    volume_waits: float = limit(
        10.0,
        "this project: with files that grow by next to nothing, so many wait for a volume's lock that extents are set",
        unit="volume lock waits/s",
    )
    file_system_cpus: float = limit(
        0.25,
        "this project: a quarter of one CPU in the file system alone is work that fewer opens or extents save",
        unit="CPUs",
    )
    unbuffered: float = limit(
        5_000.0,
        "this project: a third of what no day without trouble had, where nearly all are of one file without buffers",
        unit="lock requests/s",
    )
    inner_percent: float = percent(
        33.0, "this project: with less in kernel and executive mode RMS and its locks are no burden", of="the CPUs"
    )
    waiting: float = limit(
        3.0, "this project: as many as openvms/long_lock_waits takes for a queue", low=1, unit="lock requests that wait"
    )
    pictures: float = limit(
        3.0, "this project: a report is a picture of some 15 s; of three one may speak of a time", low=1, unit="reports"
    )
    spread_seconds: float = limit(
        600.0, "this project: two reports that lie ten minutes apart speak of a time as three nearer ones do", unit="s"
    )
    apart_seconds: float = limit(
        60.0, "this project: four times the 15 s or so that a report looks back; nearer ones count as one", unit="s"
    )


@rule(
    needs=(),
    uses=(
        *TREE_FACTS,
        *QUEUE_FACTS,
        *CLUSTER_FACTS,
        ClusterMember,
        LockRates,
        DistributedLockRates,
        MemoryUse,
        NodeDatabases,
        SysgenParameter,
        *CLASS_FACTS,
        *SAMPLE_FACTS,
        RmsRecordLock,
        ListedLocks,
        ListedMember,
        OpenFile,
        ProcessorModes,
        RmsDefaults,
        DirectorySize,
        Volume,
    ),
    links=LINKS,
    limits=Limits,
    sample=None,
)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Judge the shares of the trees."""
    reports = facts.every(LockActivity)
    if not reports:
        yield _unasked(facts, limits)
        return
    pictures = pictures_of(facts)
    if not pictures:
        yield Untrusted(f"LOCK_ACTV printed asterisks for a tree ({reports[-1].source}): no tree has so many requests")
        return
    if not any(one.total > 0 for one in pictures):
        yield _nothing_counted(facts, pictures)
        return
    pictures = [one for one in pictures if one.total > 0]
    busiest = max(pictures, key=lambda one: one.total)
    figures = f"{in_prose(busiest.total)} lock requests/s in {busiest.activity.trees:,} trees at most"
    shares = shares_of(pictures)
    first = next((one for one in shares if dominates(one, limits.share_percent, limits.least_requests)), None)
    if busiest.total < limits.least_requests:
        yield Clean(f"{figures}: few, whoever makes them (limit {limits.least_requests:,.0f}/s){_gaps(pictures)}")
    elif first is None:
        top = f"; {shares[0].key} has {shares[0].percent:.0f} % at most" if shares else ""
        yield Clean(f"{figures}, spread over them{top} (limit {limits.share_percent:g} %){_gaps(pictures)}")
    elif (elsewhere := judged_at(facts, first)) is not None:
        yield NotApplicable(f"{first.key}: judged in the capture of {elsewhere}, its master or the one measured")
    else:
        found = of_share(facts, first)
        beside = [
            one for one in shares if one is not first and dominates(one, limits.share_percent, limits.least_requests)
        ]
        told = _finding(facts, found, beside, pictures, limits)
        yield told
        if found.buffers and found.buffers.missing:
            yield Unknown(found.buffers.missing, "how many global buffers, and what they take")
        if told.once:
            why = f"{limits.pictures:.0f} reports apart tell whether it lasts"
            several = MissingInput("lock requests of each tree, at several moments", LockActivity.COLLECTED_BY)
            yield Unknown((several,), why)


def _unasked(facts: Facts, limits: Limits) -> Outcome:
    """Without any report: in order where this node hardly locks."""
    most = busiest_operations(facts.every(LockRates))
    if most is not None and most < limits.least_requests:
        few = f"{in_prose(most)} lock operations/s at most are few, whoever makes them"
        return Clean(f"no report of LOCK_ACTV came with it, and {few}")
    return Unknown.of(LockActivity)


def _nothing_counted(facts: Facts, pictures: Sequence[Picture]) -> Outcome:
    """All zero: idle where PE1 is known to count everywhere, blind where it does not or nobody knows."""
    values = {one.name: one.pe1 for one in members_of(facts)}
    listed = {one.name.upper(): one.pe1 for one in facts.every(ListedMember)}
    if -1.0 in listed.values() and {name.upper() for one in pictures for name in one.activity.nodes} <= listed.keys():
        values = values or listed  # of nodes that the report names none is left whose PE1 nobody read
    own = [one.current for one in facts.every(SysgenParameter) if one.name == "PE1" and one.runs]
    zero = f"LOCK_ACTV counted nothing in any of {pictures[-1].activity.trees:,} trees"
    if -1.0 in values.values() and all(known(value) for value in values.values()):
        why = f"{zero}: PE1 is -1, which stops the counters; that is blind, not idle"
        return Unknown.without("lock requests of each tree, once PE1 is no longer -1", LockActivity.COLLECTED_BY, why)
    if -1.0 in own or -1.0 in values.values():
        return Unknown((PE1_SHOWN,), f"{zero}: PE1 is -1, which stops the counters; that is blind, not idle")
    if values and all(known(value) for value in values.values()):
        return Clean(f"{zero}, and PE1 stops the counters on none of the nodes: idle")
    return Unknown((PE1_SHOWN,), f"{zero}: idle, or PE1 is -1, which stops the counters")


def _gaps(pictures: Sequence[Picture]) -> str:
    """Which nodes are in none of the figures, to stand behind one."""
    failed, silent = failed_nodes(pictures), silent_nodes(pictures)
    said = [f"collection failed on {', '.join(failed)}"] if failed else []
    said += [f"{', '.join(silent)} counted nothing at all: is PE1 -1 there?"] if silent else []
    return f"; {'; '.join(said)}" if said else ""


def _finding(
    facts: Facts, found: Dominating, beside: Sequence[Share], pictures: Sequence[Picture], limits: Limits
) -> Finding:
    share, buffers, what = found.share, found.buffers, found.what
    moments = moments_in(pictures, limits.apart_seconds)
    remote = share.remote
    polled = share.kind == QUEUE_MANAGER and remote >= limits.polled
    misses = share.kind == FILE_SYSTEM and bool(file_system.missing_caches(facts))
    taken = file_system.cpus(facts) if share.kind == FILE_SYSTEM else None
    costs = taken is not None and taken.value >= limits.file_system_cpus
    # what was measured over a longer time tells that it lasts, so that fewer pictures are enough to tell whose it is
    usual = _usual(facts, share.picture)
    spread = moments_in([one for one in pictures if one.activity.at], limits.spread_seconds) > 1
    small = share.kind == FILE_SYSTEM and file_system.extended(facts, share)
    waited = bool(small) and file_system.volume_waits(facts) >= limits.volume_waits
    measured = (costs or waited) and (moments > 1 or _with_cost(facts, pictures))
    several = moments >= limits.pictures or spread or measured or usual is not None
    no_room = buffers.no_room if buffers else ""
    polls, queued = refused_of(facts, share), _queued(facts, share, limits)
    shared = (share.kind == RMS_FILE or bool(small)) and remote >= limits.shared
    inner = _unbuffered(facts, found, limits) if moments >= limits.pictures or spread else None
    loud = several and (
        shared
        or waited
        or inner is not None
        or max(one.total for one in pictures) >= limits.many_requests
        or polled
        or misses
        or costs
        or bool(no_room or polls or queued)
    )
    # one report of nearly all of many requests is worth looking at who makes them, and no change yet
    nearly_all = found.percent >= limits.nearly_all_percent and share.picture.total >= limits.many_requests
    alone = nearly_all and not loud and not _doubted(facts, share.picture)
    wrong = misplaced(facts, members_of(facts), share.masters[0], share.by_node) if len(share.masters) == 1 else None
    low, high = min(share.percents), max(share.percents)
    over = f"{high:.0f} %" if round(low) == round(high) else f"{low:.0f} to {high:.0f} %"
    when = f" at {share.picture.when}" if share.picture.when else ""
    crosses = loud and (polled or (shared and not wrong))
    weights = _weights(facts, wrong) if loud and wrong else ()
    drawn = f"{_drawn(share, weights[0])} " if weights else ""
    return Finding(
        subject=share.key,
        severity=Severity.ADVICE if loud or alone else Severity.NOTE,
        title=f"{drawn or what[0].upper()}{what if drawn else what[1:]} has {found.percent:.0f} % of the lock requests "
        + f"that LOCK_ACTV lists{found.in_all}"
        + ("; GBLPAGFIL has no room for its global buffers" if no_room else "")
        + (f": it is polled, {in_prose(polls.per_second)} requests a second are refused" if polls else "")
        + (f"; {queued.waiting:g} wait in it" if queued else "")
        + (f", by {'one report' if len(pictures) == 1 else 'too few reports'}" if alone else ""),
        seen=joined(
            f"{in_prose(share.rate)} of {in_prose(share.picture.total)} lock requests/s{when}"
            f"{f', in {share.members:,} trees' if share.members > 1 else ''}{_members(share)}"
            f"{f'; {over} in {len(pictures):,} reports' if len(pictures) > 1 else ''}{_beside(beside)}.",
            sentence(_who(share), _record_locks(found) or found.opened),
        ),
        because=joined(
            sentence(no_room) or (_because(found) if not wrong else ""),
            sentence(wrong.says) if wrong else f"{inner.metric} take {inner.value:.2f} CPUs." if inner else "",
        ),
        do=found.do,
        unknown=_unknown(found, pictures, limits),
        evidence=(
            *_evidence(facts, found, polls, queued, limits),
            *((usual,) if usual else ()),
            *((inner,) if inner else ()),
        ),
        changes=(*weights, *(_of_file(found) if loud else ())),
        explains=(CROSSING,) if crosses else () if wrong else _crossing(facts, share),
        share=share.percent,
        once=not loud and _wants_more(found, pictures, limits),
        expects=(Expectation(f"lock requests of {share.key} (/s)", share.rate, "lower", "heuristic"),),
    )


def _unbuffered(facts: Facts, found: Dominating, limits: Limits) -> Evidence | None:
    """What the node works in kernel and executive mode, where nearly all is for a file without global buffers."""
    share, listed, buffers = found.share, found.named.listed if found.named else None, found.buffers
    if listed is None or listed.global_buffers != 0 or buffers is None or buffers.change is None:
        return None
    if (
        share.rate < limits.unbuffered
        or found.percent < limits.nearly_all_percent
        or _of_another_time(facts, share.picture)
    ):
        return None
    modes = facts.latest(ProcessorModes, statistic="mean")
    inner = total(modes.kernel_percent, modes.exec_percent) if modes else None
    if modes is None or inner is None or not known(modes.cpus) or inner < modes.cpus * limits.inner_percent:
        return None
    held = round(modes.cpus * limits.inner_percent / 100, 2)
    what = "Kernel and executive mode, those of the lock manager and RMS,"
    return Evidence(what, round(inner / 100, 2), "CPUs", modes.source, held, "as their sum")


def _of_file(found: Dominating) -> tuple[Change, ...]:
    """What spares locks of a file: opening it to read, then global buffers those of buckets, no queries records."""
    listed, buffers = found.listed, found.buffers
    off = found.query_locks_off
    if listed and listed.of_records:
        return () if off else (query_locks(),)
    if buffers is None or buffers.change is None:
        return ()
    sure = found.named if found.named and found.named.sure and not found.written else None
    reads = open_for_input(sure.name, found.programs) if sure else None
    late = replace(buffers.change, after=(*buffers.change.after, reads.key)) if reads else buffers.change
    first = (reads, late) if reads else (late,)
    return first if listed or off else (*first, query_locks())


def _queued(facts: Facts, share: Share, limits: Limits) -> Waits | None:
    """Who waits in it by LCKQUE, where these are enough and the longest queue is for no record."""
    found = next((one for one in waits_of(facts) if one.tree == share.key), None)
    if found is None or found.waiting < limits.waiting or found.head.resource.kind == RMS_RECORD:
        return None
    return found


def _crossing(facts: Facts, share: Share) -> tuple[str, ...]:
    """What crosses the cluster because of it, as a rule: where it has half of that at least."""
    rates = own_rates(facts)
    if rates is None or rates.incoming_per_second is None or rates.outgoing_per_second is None:
        return ()
    most = crosses_most(facts, own_name(facts) or "", rates.incoming_per_second + rates.outgoing_per_second)
    return (CROSSING,) if most and most[0] == share.key and most[1] >= MOST_OF else ()


def _weights(facts: Facts, wrong: Misplaced) -> tuple[Change, ...]:
    """The weights that would let the tree go; none that the decision over the whole cluster sets: one value each."""
    move = decide(facts).move
    planned = {one.key for one in move.changes} if move else set()
    return tuple(one for one in wrong.changes if one.key not in planned)


def _drawn(share: Share, weight: Change) -> str:
    """That a weight keeps the tree where little is asked of it: the first change, so the title begins with it."""
    master = share.masters[0]
    own = 100 * {node.upper(): rate for node, rate in share.by_node.items()}.get(master.upper(), 0.0) / share.rate
    part = "under 1" if own < 1 else f"{own:.0f}"
    return (
        f"{weight.target.partition(' ')[0]} keeps a lock tree on {comment(master, 31)}, which asks for {part} % of it:"
    )


def _beside(others: Sequence[Share]) -> str:
    """What has as large a share beside it, as a clause: it is not this one tree alone."""
    named = " and ".join(f"{one.key} ({one.percent:.0f} %)" for one in others)
    return f"; beside it {named}" if named else ""


def _evidence(
    facts: Facts, found: Dominating, polls: Refused | None, queued: Waits | None, limits: Limits
) -> Iterator[Evidence]:
    share, named, remote = found.share, found.named, found.share.remote
    source, whole = share.source, share.picture.activity.source
    added = f"as the sum of {share.members:,} trees" if share.members > 1 else ""
    yield Evidence("lock requests in it", share.rate, "/s", source, computed=added)
    yield Evidence(
        "share of the lock requests listed",
        share.percent,
        "% of lock requests",
        source,
        limits.share_percent,
        "from both",
    )
    yield Evidence("lock requests in all trees", share.picture.total, "/s", whole, limits.many_requests, "as their sum")
    if remote:
        yield Evidence("of them asked for by nodes that are not its master", remote, "/s", source, computed="as a sum")
    if polls:
        yield Evidence("ENQs not queued (mean)", round(polls.per_second, 1), "/s", polls.source)
    if share.kind == APPLICATION and (renewed := renewed_of(facts, share)):
        for metric, value in (("new", renewed.new), ("converted", renewed.converted), ("given back", renewed.deq)):
            yield Evidence(f"locks {metric} on this node (mean)", round(value, 1), "/s", renewed.source)
    if queued:
        yield Evidence("lock requests that wait in it", queued.waiting, "", queued.head.source, limits.waiting)
    if locks := found.record_locks:
        yield Evidence("EX record locks in it", float(len(locks)), "", locks[0].source, computed="as their number")
    if listed := found.listed:
        yield Evidence("record locks below it (SHOW LOCK/BRIEF)", float(listed.records), "", listed.source)
        yield Evidence("bucket locks below it (SHOW LOCK/BRIEF)", float(listed.buckets), "", listed.source)
    if named:
        if openers := found.openers:
            many = float(len(openers))
            yield Evidence("processes that have it open", many, "", openers[0].source, computed="as their number")
        yield Evidence("file" if named.sure else "file, by its id alone", named.name, "", named.source)
    if share.kind == FILE_SYSTEM:
        if taken := file_system.cpus(facts):
            yield Evidence(
                "CPU time of the file system", taken.value, "CPUs", taken.source, limits.file_system_cpus, "from ticks"
            )
        yield from file_system.growth(facts, share)
        yield from file_system.settings(facts)
    if share.kind == FILE_SYSTEM and (opens := mean_of(facts, "MON.IO", "File Open Rate")):
        yield Evidence("file opens (mean)", opens.value, "/s", opens.source)
    if share.kind == RMS_FILE:
        for name in SETTINGS:
            setting = facts.latest(SysgenParameter, name=name)
            if setting and setting.runs and known(setting.current):
                yield Evidence(name, setting.current, "", setting.source)


def _members(share: Share) -> str:
    """The busiest trees that are taken together by the facility of their names, to stand behind how many they are."""
    if not share.family:
        return ""
    names = [name[:LONGEST_MEMBER] for name in share.names]
    return f" whose names begin so ({', '.join(names[:3])}{' …' if len(names) > 3 else ''})"


def _who(share: Share) -> str:
    """Who masters it and who asks, as clauses."""
    asks = [f"{name} asks for {in_prose(rate)}/s" for name, rate in list(share.by_node.items())[:3]]
    more = f" and {len(share.by_node) - 3:,} more nodes for the rest" if len(share.by_node) > 3 else ""
    masters = share.masters
    mastered = (
        f"{masters[0]} masters it" if len(masters) == 1 else f"{', '.join(masters[:3])} master them" if masters else ""
    )
    return f"{mastered or 'which node masters it is not marked'}; {', '.join(asks)}{more}"


def _record_locks(found: Dominating) -> str:
    """How many of its records are locked exclusively, and by which programs, as a clause."""
    locks = found.record_locks
    return f"RMS_LOCKS has {len(locks):,} EX record locks in it, of {found.programs}" if locks else ""


def _because(found: Dominating) -> str:
    share, facts = found.share, found.facts
    if share.kind == RMS_FILE:
        return (
            "Every access to a shared file makes locks for its buckets and records: RMS does at least one lock for "
            "each direct I/O, often more (practice)."
        )
    if share.kind == FILE_SYSTEM:
        taken = file_system.cpus(facts)
        return joined(
            sentence(file_system.said(facts, share)),
            f"The file system takes {taken.value:.2f} CPUs on this node ({file_system.told_by(facts)})."
            if taken
            else "",
        )
    if share.kind == SYSTEM_ID:
        return (
            "Below such a root stand locks that are meant to stay on one node, as those of RMS global buffer sections."
        )
    if polls := refused_of(facts, share):
        return (
            f"{polls.of_all:.0f} % of the requests and conversions of this node are refused at once (ENQs not queued), "
            "as they are made with LCK$M_NOQUEUE: more than all other trees together have, so this one is polled."
        )
    if share.kind == UNREADABLE and (file := found.within):
        return f"Its name holds the file id of {file} and its volume, so its locks are of that file (inferred)."
    if share.kind in (APPLICATION, UNREADABLE):
        return joined(
            "No documented component of OpenVMS names its locks so.",
            f"Oracle Rdb's names are documented nowhere{_databases(facts)}." if found.may_be_rdbs else "",
        )
    return "It belongs to a component of OpenVMS that usually makes few locks (inference)."


def _databases(facts: Facts) -> str:
    """The databases that a node's monitor lists, for the end of a sentence."""
    found = sorted({name for one in facts.every(NodeDatabases) for name in one.databases})
    return f", and {found[0][:80]}{' and others are' if len(found) > 1 else ' is'} open here" if found else ""


def _usual(facts: Facts, picture: Picture) -> Evidence | None:
    """The lock requests of this node over a longer time around the picture, where it shows as many: no odd moment.

    What MONITOR LOCK counts holds also what other nodes ask for here, so where there are others MONITOR DLOCK tells.
    """
    own, requests = own_name(facts), dict(picture.activity.by_node)
    across = facts.latest(DistributedLockRates, statistic="mean")
    rates = facts.latest(LockRates, statistic="mean") if len(requests) == 1 else None
    if across:
        measured = total(across.enq_local, across.enq_outgoing, across.convert_local, across.convert_outgoing)
        source = across.source
    elif rates:
        measured, source = total(rates.new_enq_per_second, rates.converted_enq_per_second), rates.source
    else:
        return None
    shown, over = requests.get(own or ""), sampled(facts, source)
    if not measured or not shown or over is None or _of_another_time(facts, picture):
        return None
    longer = over.untold or (over.samples != 1 and (over.seconds is None or over.seconds >= PICTURES_TIME))
    if not longer or not measured / SAME <= shown <= measured * SAME:
        return None
    return Evidence("lock requests of this node (mean)", round(measured, 1), "/s", source, computed="as a sum")


def _doubted(facts: Facts, picture: Picture) -> bool:
    """Whether more was measured, of another time or with another rate, so that the picture may be an odd moment."""
    measured = (DistributedLockRates, LockRates, T4File, MonitorSample)
    return any(facts.every(one) for one in measured) and _usual(facts, picture) is None


def _with_cost(facts: Facts, pictures: Sequence[Picture]) -> bool:
    """Whether the CPU time of the file system was measured around a report, over more than one sample."""
    ticks = mean_of(facts, "MON.FCP", "FCP Cpu")
    over = sampled(facts, ticks.source) if ticks else None
    longer = over is not None and (over.untold or (over.seconds or 0.0) >= PICTURES_TIME)
    return longer and any(one.activity.at and not _of_another_time(facts, one) for one in pictures)


def _few(pictures: Sequence[Picture], limits: Limits) -> bool:
    """Whether they are pictures of too few moments to speak of a time."""
    return moments_in(pictures, limits.apart_seconds) < limits.pictures


def _wants_more(found: Dominating, pictures: Sequence[Picture], limits: Limits) -> bool:
    """Whether more of them may make it advice: many requests, or work of the file system that was measured."""
    if _usual(found.facts, found.share.picture):
        return False
    taken = file_system.cpus(found.facts) if found.share.kind == FILE_SYSTEM else None
    much = taken is not None and taken.value >= limits.file_system_cpus
    return _few(pictures, limits) and (much or max(one.total for one in pictures) >= limits.many_requests)


def _of_another_time(facts: Facts, picture: Picture) -> str:
    """That a report is of none of the time that T4 or MONITOR measured beside it, as a clause."""
    spans = [(one.start, one.end) for one in facts.every(T4File)]
    spans += [(one.start, one.end) for one in facts.every(MonitorSample)]
    whole = [(start, end) for start, end in spans if start and end]
    at = picture.activity.at
    if at is None or not whole or any(start - NEAR <= at <= end + NEAR for start, end in whole):
        return ""
    return f"what else was measured here is of another time ({moment_of(min(whole)[0])} to {moment_of(max(whole)[1])})"


def _unknown(found: Dominating, pictures: Sequence[Picture], limits: Limits) -> str:
    share, facts = found.share, found.facts
    few = _few(pictures, limits)
    count = "one report of some 15 s is" if len(pictures) == 1 else f"{len(pictures):,} reports of some 15 s are"
    gaps = _gaps(pictures).lstrip("; ")
    note = f"{count} no day: make {limits.pictures:.0f} or more at the busiest time" if few else ""
    cut = (
        "a report has no end, so small trees may be missing" if not all(one.activity.whole for one in pictures) else ""
    )
    apart = _of_another_time(facts, share.picture)
    listed = found.listed
    kind = "bucket and record locks are not told apart" if share.kind == RMS_FILE and not found.record_locks else ""
    kind = f"{listed.said}, of one moment" if listed else kind
    if share.kind == RMS_FILE and (records := records_waited_for(facts, share.key)):
        kind = f"LCKQUE lists {records:,.0f} that wait for its records, which global buffers do not spare"
    policy = found.of_system("contention_policy")
    fair = policy and not policy.lower().startswith(("never", "dis", "off"))
    query = (
        f"CONTENTION_POLICY is {policy} where SHOW RMS_DEFAULT was asked, which makes more locks (vendor)."
        if fair and share.kind == RMS_FILE
        else "QUERY_LOCK is off already where SHOW RMS_DEFAULT was asked."
        if found.query_locks_off and share.kind == RMS_FILE and not listed
        else "Where readers use NLK with RRL, SET RMS_DEFAULT/QUERY_LOCK=DISABLE saves lock calls from the next open."
        if share.kind == RMS_FILE and not listed and not found.queries_on
        else ""
    )
    return joined(sentence(note, apart, gaps, cut, kind), query)
