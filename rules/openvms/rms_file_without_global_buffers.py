"""An indexed file that many have open has no global buffers.

Finds: by MONITOR RMS (CACHING and OPERATIONS) files with several streams that read many buckets a second from disk,
mostly by key, whose attributes (DIRECTORY/FULL) show a global buffer count of 0.

Why it matters: without global buffers each stream has a few buffers of its own, so the root and the lower levels of
the index are read by each of them, and a bucket that one has read helps no other. With them RMS also keeps read-mode
bucket locks between accesses.

What to do: SET FILE/GLOBAL_BUFFERS while no program has the file open; as many as there is room for, at least those of
the index.

When to ignore it: where the reads are of a job that goes over the whole file once. A file that is written by most
calls gains less, as each change is written to disk all the same.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from collectors.facts import Facts, known
from collectors.facts.openvms import FileName, GlobalSection, MemoryUse, MonitorItem, Node, SysgenParameter
from rules.changes.quoting import comment
from rules.engine import limit, percent, rule
from rules.finding import Clean, Evidence, Expectation, Finding, NotApplicable, Outcome, Severity, Unknown, capitalized
from rules.openvms._evidence.lock_trees import LONGEST_NAME
from rules.openvms._evidence.node import NODE_FACTS, in_prose
from rules.openvms._evidence.releases import machine_of
from rules.openvms._evidence.rms_files import buffers_for, listing_of
from rules.openvms._evidence.rms_use import READS as GETS
from rules.openvms._evidence.rms_use import WRITES, calls_of, files_counted, rates_of

LINKS = ("https://wiki.vmssoftware.com/GB_DEFPERCENT",)
READS, STREAMS = "Local Buf Read I/O Rate", "Active Streams"
HITS, ATTEMPTS = "Local Cache Hit Percent", "Global Cache Attempt Rate"
COLLECTED_BY = "a display of MONITOR RMS/FILE=name/ITEM=(OPERATIONS,CACHING), after SET FILE/STATISTICS name"


@dataclass(frozen=True)
class Limits:
    """From where on reads are worth buffers that all share. No vendor names figures that were read."""

    reads: float = limit(100.0, "this project: about what one spindle does", low=1, unit="reads/s")
    streams: float = limit(
        5.0, "this project: of fewer each may as well have buffers of its own", low=2, unit="streams"
    )
    hits_percent: float = percent(80.0, "this project: with more the buffers of each stream do", low=10, of="attempts")


@rule(
    needs=(),
    uses=(*NODE_FACTS, Node, MonitorItem, FileName, SysgenParameter, GlobalSection, MemoryUse),
    links=LINKS,
    limits=Limits,
)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Judge each file on the node that reads most of it."""
    files = files_counted(facts, READS)
    if not files:
        yield NotApplicable(f"what is read of single files was not collected ({COLLECTED_BY})")
    for name in files:
        yield from _judge(facts, name, limits)


def _judge(facts: Facts, file: str, limits: Limits) -> Iterator[Outcome]:
    rates = rates_of(facts, file, READS)
    node = max(rates, key=lambda one: rates[one][0])
    (reads, source), name = rates[node], comment(file, LONGEST_NAME)
    said = f"{in_prose(reads)} buckets of {name} are read into buffers of single streams a second"
    if reads < limits.reads:
        yield Clean(f"{said}, limit {limits.reads:g}", (source,))
        return
    by = {what: rates_of(facts, file, what).get(node) for what in (HITS, ATTEMPTS, STREAMS)}
    gets, keyed = calls_of(facts, file, node, GETS), calls_of(facts, file, node, GETS, by_key=True)
    writes = calls_of(facts, file, node, WRITES)
    lacks = [what for what, one in by.items() if one is None] + ([] if gets is not None else ["calls"])
    if lacks or gets is None or keyed is None:
        yield Unknown.without(f"{', '.join(lacks)} of the file", COLLECTED_BY, said)
        return
    hits, asked, streams = (one[0] for one in by.values() if one)
    if asked > 0 or hits >= limits.hits_percent or streams < limits.streams or 2 * keyed < gets or (writes or 0) > gets:
        yield Clean(
            f"{said}: {hits:.0f} % of the attempts find theirs there, global buffers are asked {in_prose(asked)} "
            f"times, {streams:,.0f} streams have it open, {in_prose(keyed)} of {in_prose(gets)} reads are by key",
            (source,),
        )
        return
    listed = [one for one in facts.every(FileName) if one.name.upper() == file]
    if not listed or not known(listed[-1].global_buffers):
        yield Unknown.without("the file's global buffer count", listing_of(file), said)
        return
    if listed[-1].global_buffers:
        yield NotApplicable(f"{name} has {listed[-1].global_buffers:,.0f} global buffers, and none is asked for")
        return
    buffers = buffers_for(facts, listed[-1], machine_of(facts))
    yield Finding(
        subject=name,
        severity=Severity.ADVICE,
        title=f"{name.rpartition(']')[2]}: {in_prose(reads)} reads a second for {streams:,.0f} streams without global "
        "buffers",
        seen=f"{said}, as {hits:.0f} % of the attempts alone find theirs there. {streams:,.0f} streams have the file "
        f"open, and {in_prose(keyed)} of {in_prose(gets)} reads are by key.",
        because="Each stream reads root and index into the few buffers of its own, and what one has read spares no "
        "other a read; global buffers are shared.",
        do=f"{capitalized(buffers.do)}.",
        evidence=(
            Evidence("reads into buffers of single streams", reads, "/s", source, limits.reads),
            Evidence("attempts that find theirs there", hits, "%", source, limits.hits_percent),
            Evidence("streams", streams, "", source, limits.streams),
            Evidence("global buffers", 0.0, "buffers", listed[-1].source),
        ),
        changes=(buffers.change,) if buffers.change else (),
        expects=(Expectation("reads into buffers of single streams (/s)", reads, "lower", "heuristic"),),
    )
    if buffers.missing:
        yield Unknown(buffers.missing)
