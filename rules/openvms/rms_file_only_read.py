"""A file that is only read has most of the lock requests.

Finds: the file of RMS whose lock tree stands out in LOCK_ACTV, where MONITOR RMS of every node that asks for its locks
counts calls that read it and none that writes: no $PUT, $UPDATE or $DELETE in any sample.

Why it matters: a program that opens a file for update, or lets others write it, has RMS lock each bucket and record
that it reads. Where nobody writes, these locks guard nothing. In one case over 80 % of a cluster's locks were of one
file opened for update and only read (practice).

What to do: open it for input alone, allowing others to read: ACCESS READ, ALLOW READ in BASIC, with a USEROPEN that
clears MSE. It spares the locks where every program does so: one that may write brings them back. Global buffers are
the second choice, for programs that cannot be changed: they spare locks of buckets, not those of records.

When to ignore it: where a program writes it at other times while readers have it open. A job that makes a new version
is no such program.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from collectors.facts import Facts
from collectors.facts.openvms import FileName, LockActivity, MonitorItem, RmsRecordLock
from collectors.facts.openvms.resource_names import RMS_FILE
from rules.changes.openvms_rms import open_for_input
from rules.engine import limit, rule
from rules.finding import Clean, Evidence, Expectation, Finding, NotApplicable, Outcome, Severity, Unknown
from rules.openvms._evidence.cluster import CLUSTER_FACTS
from rules.openvms._evidence.dominating import DOMINATING_FACTS, INPUT, LEAST_REQUESTS, dominating, judged_at
from rules.openvms._evidence.node import in_prose
from rules.openvms._evidence.rms_use import CLASS

LINKS = ("https://wiki.vmssoftware.com/GBLPAGFIL",)


@dataclass(frozen=True)
class Limits:
    """From how many lock requests on it is worth a change of programs."""

    requests: float = limit(
        LEAST_REQUESTS,
        "this project: work for nothing, from as many on as openvms/lock_tree_dominates looks at",
        low=1,
        unit="lock requests/s",
    )


@rule(needs=(), uses=(*DOMINATING_FACTS, *CLUSTER_FACTS, MonitorItem, RmsRecordLock), links=LINKS, limits=Limits)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Hold the calls against the lock requests."""
    if not any(one.class_name.startswith(CLASS) for one in facts.every(MonitorItem)):
        yield NotApplicable("what programs do with a file was not collected (MONITOR RMS)")
        return
    if not facts.every(LockActivity):
        yield Unknown.of(LockActivity)
        return
    found = dominating(facts)
    if found is None or found.share.kind != RMS_FILE or found.share.rate < limits.requests:
        yield Clean(f"no file of RMS has most of {limits.requests:,.0f} lock requests/s or more")
        return
    if (elsewhere := judged_at(facts, found.share)) is not None:
        yield NotApplicable(f"{found.share.key}: judged in the capture of {elsewhere}, which masters most of it")
        return
    if found.named is None or not found.named.sure:
        yield Unknown.of(FileName)
        return
    name, used, share = found.named.name, found.use, found.share
    if used is None:
        yield NotApplicable(f"MONITOR RMS counts the calls of other files, not of {name}")
    elif used.writes or used.most_written:
        yield Clean(f"{name}: {used.said}", (used.source,))
    elif not used.only_read(found.askers):
        why = f"{name}: {used.said}, but not on every node that asks for its locks, or not of every kind"
        yield Unknown.without("calls of RMS for the file, of every node", MonitorItem.COLLECTED_BY, why)
    else:
        who = found.programs or "the programs that use it"
        yield Finding(
            subject=name,
            severity=Severity.ADVICE,
            title=f"{name.rpartition(']')[2]} is only read, and has {found.percent:.0f} % of the lock requests",
            seen=(
                f"{name}: {used.said}, and {in_prose(share.rate)} lock requests a second are made in its tree, "
                f"{share.rate / used.reads:.1f} for each of these calls."
            ),
            because=(
                "A program that opens it for update, or lets others write it, has RMS lock each bucket and record that "
                "it reads; where nobody writes, these locks guard nothing."
            ),
            do=(
                f"Have {who} open it for input alone, allowing others to read ({INPUT}); only where all of them do are "
                "the locks spared. Global buffers are for programs that cannot: they spare locks of buckets, none of "
                "records."
            ),
            unknown="Whether something writes it at other times, while they have it open, the figures do not tell.",
            evidence=(
                Evidence("calls that read it", round(used.reads, 1), "/s", used.source, computed="as their sum"),
                Evidence("calls that write it", used.writes, "/s", used.source, computed="as their sum"),
                Evidence("lock requests in its tree", share.rate, "/s", share.trees[0].source, limits.requests),
            ),
            explains=(f"openvms/lock_tree_dominates:{share.key}",),
            changes=(open_for_input(name, found.programs),),
            expects=(Expectation(f"lock requests of {share.key} (/s)", share.rate, "lower", "heuristic"),),
            share=found.percent,
        )
