"""Buckets of an indexed file split for many of the records put in.

Finds: by MONITOR RMS (LOCKING and OPERATIONS) files whose buckets split for a tenth of their $PUT and $UPDATE
calls or more.

Why it matters: a split writes three buckets or more where a record would need one, holds them locked meanwhile, and
leaves two half empty buckets, so that reads need more of them; where the index splits, too, its levels grow.

What to do: analyze the file and CONVERT it, with buckets that hold more records. Where records are put in all over the
keys, load it to less than 100 % (DATA_FILL), so that each bucket has room for some.

When to ignore it: while a file is loaded or a day's records are appended by ascending keys: each new bucket at its end
counts as a split, and moves no record.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from collectors.facts import Facts
from collectors.facts.openvms import IndexedFile, MonitorItem
from rules.changes.quoting import comment
from rules.engine import limit, percent, rule
from rules.finding import Clean, Evidence, Expectation, Finding, NotApplicable, Outcome, Severity, Unknown, joined
from rules.openvms._evidence.lock_trees import LONGEST_NAME
from rules.openvms._evidence.node import in_prose
from rules.openvms._evidence.rms_use import calls_of, files_counted, rates_of

LINKS = ("https://docs.vmssoftware.com/vsi-openvms-record-management-utilities-reference-manual/",)
PUTS = ("$PUT", "$UPDATE")
SPLITS, MULTIPLE = "Bucket Split Rate", "Multi-bucket Split Rate"
COLLECTED_BY = "a display of MONITOR RMS/FILE=name/ITEM=(OPERATIONS,LOCKING), after SET FILE/STATISTICS name"


@dataclass(frozen=True)
class Limits:
    """From where on splits are worth a change. No vendor names figures that were read."""

    splits: float = limit(1.0, "this project: fewer cost next to nothing", low=0.01, unit="splits/s")
    percent: float = percent(
        10.0, "this project: a bucket that holds ten records splits about so often", low=1, of="the records put in"
    )


@rule(needs=(), uses=(MonitorItem, IndexedFile), links=LINKS, limits=Limits)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Judge each file on the node that splits most of its buckets."""
    files = files_counted(facts, SPLITS)
    if not files:
        yield NotApplicable(f"how often buckets split was not collected ({COLLECTED_BY})")
    for name in files:
        yield _judge(facts, name, limits)


def _judge(facts: Facts, file: str, limits: Limits) -> Outcome:
    rates = rates_of(facts, file, SPLITS)
    node = max(rates, key=lambda one: rates[one][0])
    (splits, source), name = rates[node], comment(file, LONGEST_NAME)
    said = f"{in_prose(splits)} buckets of {name} split a second"
    if splits < limits.splits:
        return Clean(f"{said}, limit {limits.splits:g}", (source,))
    written = calls_of(facts, file, node, PUTS)
    if written is None:
        return Unknown.without("how many records are put into the file", COLLECTED_BY, said)
    said += f", and {in_prose(written)} records are put in or changed"
    share = 100 * splits / written if written else 100.0
    if share < limits.percent:
        return Clean(said, (source,))
    more = rates_of(facts, file, MULTIPLE).get(node)
    analyzed = any(one.name.upper() == file for one in facts.every(IndexedFile))
    return Finding(
        subject=name,
        severity=Severity.ADVICE,
        title=f"{name.rpartition(']')[2]}: {in_prose(splits)} buckets split a second for {in_prose(written)} records "
        "put in or changed",
        seen=joined(f"{said}.", f"{in_prose(more[0])} of the splits take several buckets." if more and more[0] else ""),
        because="A split writes three buckets or more in place of one, locks them meanwhile, leaves two half empty.",
        do=f"{'' if analyzed else f'ANALYZE/RMS_FILE/FDL {name}, then '}CONVERT it in a window: buckets that hold more "
        "records, and DATA_FILL below 100 where records are put in all over the keys. More global buffers spare reads, "
        "and no split.",
        unknown="Records that are appended by ascending keys count as splits, too, and move nothing.",
        evidence=(
            Evidence("bucket splits", splits, "/s", source, limits.splits),
            Evidence("splits per record", round(share, 1), "%", source, limits.percent, "as splits / $PUT and $UPDATE"),
            *((Evidence("splits of several buckets", more[0], "/s", more[1]),) if more and more[0] else ()),
        ),
        expects=(Expectation("bucket splits (/s)", splits, "lower", "heuristic"),),
    )
