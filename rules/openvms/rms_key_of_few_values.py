"""An alternate key has few values with long chains of duplicates.

Finds: of files analyzed by ANALYZE/RMS_FILE/FDL the alternate keys whose duplicates fill many buckets for each value;
with a queue for a bucket of that file in a report of LCKQUE it is advice, else a note.

Why it matters: RMS puts a new duplicate behind all others of its value and reads that value's chain of buckets to its
end for it, thousands of reads for one record, while others wait for its buckets (HP OpenVMS Technical Journal 2, "RMS
Performance: Duplicate key chains").

What to do: design the key anew in the FDL and CONVERT/FDL the file: append a field that differs, as date and number, to
the key; or leave the commonest value out of the index by NULL_KEY; or drop the key. A CONVERT alone only packs the
chain.

When to ignore it: where records with these values are seldom put in, and the key is seldom changed to one of them. How
often is not in an FDL.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from collectors.facts import Facts, known
from collectors.facts.openvms import AlternateKey, LockQueue
from collectors.facts.openvms.resource_names import RMS_BUCKET
from rules.changes.quoting import comment
from rules.engine import limit, rule
from rules.finding import Clean, Evidence, Expectation, Finding, NotApplicable, Outcome, Severity, Unknown, capitalized
from rules.openvms._evidence.lock_queues import waiters
from rules.openvms._evidence.lock_trees import LONGEST_NAME

LINKS = ("https://h41379.www4.hpe.com/openvms/journal/v2/articles/rms.html",)
REMEDY = (
    "With the file closed, after a BACKUP, CONVERT/FDL with that key designed anew: a segment that differs (date, "
    "number) behind it, or NULL_KEY with the commonest value as NULL_VALUE (one character throughout, and no program "
    "reads by it), or no such key. Programs that read by the whole key have to change, and keys behind a dropped one "
    "get new numbers."
)
"""Vendor: Guide to OpenVMS File Applications, Index Keys, on a segment that makes a key unique; the article above."""


@dataclass(frozen=True)
class Limits:
    """From when on a chain is long."""

    buckets: float = limit(
        50.0,
        "this project: a new duplicate reads about so many buckets; no vendor names a number",
        low=2,
        unit="buckets",
    )
    waiting: float = limit(
        3.0, "this project: as many as openvms/processes_wait_for_locks takes for a queue", low=1, unit="lock requests"
    )


@rule(needs=(), uses=(AlternateKey, LockQueue), links=LINKS, limits=Limits, sample=None)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Judge each file by its last analysis, the key with the longest chains of it."""
    keys = {(one.file, one.number): one for one in facts.every(AlternateKey)}
    if not keys:
        yield NotApplicable(f"no alternate key was analyzed ({AlternateKey.COLLECTED_BY})")
    for file in dict.fromkeys(one.file for one in keys.values()):
        yield _judge(facts, [one for one in keys.values() if one.file == file], limits)


def _chain(key: AlternateKey) -> float | None:
    """Buckets of one value on average; `None` where the analysis does not tell.

    A key without duplicates has a value in a part of a bucket, which is no chain.
    """
    blocks, bucket, values = key.data_blocks, key.bucket_blocks, key.values
    if not known(blocks) or not known(bucket) or not known(values) or bucket <= 0 or values <= 0:
        return None
    return blocks / bucket / values


def _judge(facts: Facts, keys: list[AlternateKey], limits: Limits) -> Outcome:
    name = comment(keys[0].file, LONGEST_NAME) or "a file without a name"
    chains = [(chain, key) for key in keys if (chain := _chain(key)) is not None]
    if not chains:
        return Unknown.without("how many records have the same alternate key", AlternateKey.COLLECTED_BY, name)
    chain, key = max(chains, key=lambda pair: pair[0])
    own = f"key {key.number}{f' ({comment(key.name, 32)})' if key.name else ''}"
    if chain < limits.buckets or not known(key.duplicates) or not known(key.values):
        return Clean(f"{name}: the duplicates of a value take {chain:,.1f} buckets at most, on average ({own})")
    queue = _waited_for(facts, keys[0].file, limits)
    queued = f" In LCKQUE {waiters(queue):,.0f} requests wait for one bucket of the file." if queue else ""
    return Finding(
        subject=name,
        severity=Severity.ADVICE if queue else Severity.NOTE,
        title=f"{name.rpartition(']')[2]}: {own} has {key.values:,.0f} values, each in a chain of {chain:,.0f} buckets",
        seen=f"{capitalized(own)} of {name} has {key.values:,.0f} values with {key.duplicates:,.0f} duplicates "
        f"each on average, which take {chain:,.0f} buckets a value; the commonest value has more.{queued}",
        because="A record put in with such a value, or changed to it, reads its chain to the end; all who do want the "
        "same last bucket.",
        do=REMEDY,
        unknown="How often records get these values is not in an FDL"
        + (", nor of which key the bucket is that is waited for." if queue else "; a report of LCKQUE shows a queue."),
        evidence=(
            Evidence(
                "buckets of a value", round(chain, 1), "buckets", key.source, limits.buckets, "from this analysis"
            ),
            Evidence("values of the key", key.values, "", key.source),
            Evidence("duplicates of a value", key.duplicates, "", key.source),
            *(
                (Evidence("requests that wait for a bucket", waiters(queue), "", queue.source, limits.waiting),)
                if queue
                else ()
            ),
        ),
        expects=(Expectation("buckets of a value", round(chain, 1), "lower", "heuristic"),),
    )


def _waited_for(facts: Facts, file: str, limits: Limits) -> LockQueue | None:
    """The longest queue for a bucket of the file in LCKQUE, where that is long enough to count."""
    queues = [
        one
        for one in facts.every(LockQueue)
        if one.file and one.file.upper() == file.upper() and one.resource.kind == RMS_BUCKET
    ]
    longest = max(queues, key=waiters, default=None)
    return longest if longest and waiters(longest) >= limits.waiting else None
