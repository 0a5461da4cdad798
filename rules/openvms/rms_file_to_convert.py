"""An indexed file has small, half empty buckets below a deep index.

Finds: of files analyzed by ANALYZE/RMS_FILE (/FDL or /STATISTICS) those of which two are true: buckets hold few
records, the data buckets are much emptier than they are loaded, the index has many levels. How small
a step such a file grows by is said beside.

Why it matters: RMS locks and reads bucket by bucket. Each level of the index is one more bucket for each access by key,
and half empty buckets make twice as many of data; buckets that split leave the file scattered over the disk.

What to do: let EDIT/FDL design the file anew from the analysis, and CONVERT/FDL load it into a new version, while no
program has it open. CONVERT/RECLAIM frees empty buckets alone, and global buffers leave the file as it is.

When to ignore it: where the file is hardly used, or is made anew each day. Where records are put in all over the keys,
load it to less than 100 %, or the buckets split again soon.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil

from collectors.facts import Facts, known
from collectors.facts.openvms import IndexedFile
from rules.changes.quoting import comment
from rules.engine import limit, percent, rule
from rules.finding import Clean, Evidence, Expectation, Finding, NotApplicable, Outcome, Severity, Unknown
from rules.openvms._evidence.lock_trees import LONGEST_NAME

LINKS = ("https://docs.vmssoftware.com/vsi-openvms-record-management-utilities-reference-manual/",)
BLOCK, OF_BUCKET, OF_RECORD = 512, 15, 11
"""Bytes of a block, and what a bucket and a record of it take at most for themselves (Prolog 3, recalled)."""
LARGEST = 32
"""Blocks, this project: the largest bucket that is asked for, of 63 that RMS takes."""
MOST_EXTENDED, PART = 65_535, 10
"""Blocks (DCL help, SET FILE/EXTENSION), and this project: one extension is a tenth of the file."""
MANY = 2
"""This project: one of these alone is common in files that do well."""


@dataclass(frozen=True)
class Limits:
    """From where on the shape of a file costs accesses. No vendor names figures that were read."""

    records: float = limit(
        10.0, "this project: with fewer in a bucket each read and lock is for next to no record", low=2, unit="records"
    )
    fill_percent: float = percent(
        60.0, "this project: data buckets that are filled to less than this part of what they are loaded to", low=10
    )
    depth: float = limit(4.0, "this project: three levels are enough for most files", low=2, unit="levels of the index")


@rule(needs=(), uses=(IndexedFile,), links=LINKS, limits=Limits, sample=None)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Judge each file by its last analysis."""
    files = {one.name: one for one in facts.every(IndexedFile)}
    if not files:
        yield NotApplicable(f"no indexed file was analyzed ({IndexedFile.COLLECTED_BY})")
    for one in files.values():
        yield _judge(one, limits)


def _judge(one: IndexedFile, limits: Limits) -> Outcome:
    name = comment(one.name, LONGEST_NAME) or "a file without a name"
    bucket, length, fill, depth = one.bucket_blocks, one.record_bytes, one.data_fill, one.depth
    if not known(fill) or not known(depth) or not known(bucket) or not known(length) or length <= 0 or bucket <= 0:
        return Unknown.without("how full and how deep an indexed file is", IndexedFile.COLLECTED_BY, name)
    loaded = one.load_fill if known(one.load_fill) and one.load_fill > 0 else 100.0
    holds = max(1, int((bucket * BLOCK - OF_BUCKET) // (length + OF_RECORD)))
    larger = min(LARGEST, ceil((limits.records * (length + OF_RECORD) + OF_BUCKET) / BLOCK))
    few, sparse, deep = larger > bucket, 100 * fill < limits.fill_percent * loaded, depth >= limits.depth
    figures = (
        f"buckets of {bucket:,.0f} blocks hold {holds:,} records of {length:,.0f} bytes, data buckets are {fill:.0f} % "
        f"full (loaded to {loaded:.0f} %), and the index has {depth:.0f} levels"
    )
    if few + sparse + deep < MANY:
        return Clean(f"{name}: {figures}", (one.source,))
    signs = [f"its buckets hold {holds:,} record{'' if holds == 1 else 's'}"] if few else []
    signs += [f"its data buckets are {fill:.0f} % full"] if sparse else []
    signs += [f"its index has {depth:.0f} levels"] if deep else []
    extension = min(MOST_EXTENDED, ceil(one.allocated_blocks / PART)) if known(one.allocated_blocks) else 0
    step = one.extend_blocks if known(one.extend_blocks) else extension
    grows = step < extension
    extended = f" It grows by {step:,.0f} blocks at a time." if grows else ""
    wanted = [f"buckets of {larger} blocks or more"] if few else []
    wanted += [f"an EXTENSION of about {extension:,}"] if grows else []
    see = f", see that it takes {' and '.join(wanted)}" if wanted else ""
    return Finding(
        subject=name,
        severity=Severity.ADVICE,
        title=f"{name.rpartition(']')[2]} is to be converted: {', '.join(signs)}",
        seen=f"In {name} {figures}.{extended}",
        because="Each access by key reads and locks a bucket of each level, and half empty buckets are twice as many.",
        do=f"With the file closed, after a BACKUP: EDIT/FDL/ANALYSIS=<its FDL of ANALYZE/RMS_FILE/FDL>/NOINTERACTIVE "
        f"NEW.FDL{see}, then "
        "CONVERT/FDL=NEW.FDL into a new version. CONVERT/RECLAIM frees empty buckets alone; global buffers mend none.",
        unknown="How often the file is used is not in its FDL. Where records are put in all over the keys, set "
        "DATA_FILL below 100.",
        evidence=(
            Evidence("data buckets filled", fill, "%", one.source, limits.fill_percent),
            Evidence("levels of the index", depth, "", one.source, limits.depth),
            Evidence("records that a bucket holds", float(holds), "", one.source, limits.records, "from both"),
            *((Evidence("blocks of an extension", step, "blocks", one.source),) if grows else ()),
        ),
        expects=(Expectation("levels of the index", depth, "lower", "heuristic"),),
        explains=(f"openvms/rms_buckets_split_often:{one.name.upper()}",) if few else (),
    )
