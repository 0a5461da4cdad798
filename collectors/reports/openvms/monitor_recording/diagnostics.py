"""What must be said of a recording beside its facts: what was not read, not believed, or is not proven."""

from collections import Counter
from collections.abc import Iterator, Sequence

from collectors.reports.openvms.monitor_recording.dialect import REMEDY
from collectors.reports.openvms.monitor_recording.facts import Summary
from collectors.reports.openvms.monitor_recording.header import TICKS, moment, named
from collectors.reports.openvms.monitor_recording.part import NAMES, Recording

NUMBERS = "a binary file: its lines are record numbers, counted from 1"
ENDS_EARLY = 3
"""Intervals between the last record and the ending time of the header that say that a part is missing."""
SOME = 3


def problems(read: Recording, summary: Summary) -> Iterator[str]:
    """Say everything that is to be said of one recording, but how it ended."""
    yield NUMBERS
    if read.refused:
        yield f"record {read.start.number}: {read.refused}"
        return
    yield from _recording(read)
    yield from _figures(read)
    for why in (summary.untimed, *summary.doubted.values()):
        if why:
            yield f"tentative: {why}"
    for called, shares, whole in read.identities.gaps():
        yield (
            f"{called}: local, incoming and outgoing add up to {shares:,.1f} per second on average, the lock manager "
            f"counted {whole:,.1f}: do not judge by the distributed figures; record again"
        )
    if not read.samples.rows:
        yield (
            "no class has two records with time between them, so there is nothing to take a difference of: upload a "
            "recording of ten intervals or more of MODES,LOCK,DLOCK,RLOCK"
        )


def _recording(read: Recording) -> Iterator[str]:
    """What was passed over."""
    if not read.system.node and read.dialect:
        yield "no node name was found: it is in the system information record at the beginning of a whole file"
    if (
        others := Counter({kind: count for kind, count in sorted(read.seen.items()) if kind not in NAMES})
        + read.unknown
    ):
        yield (
            f"records not read, because no source tells how they are laid out: {named(others)}. "
            "Upload these classes as MONITOR /SUMMARY, or a T4 CSV"
        )
    if read.passed_count:
        numbers = ", ".join(map(str, read.passed)) + (", …" if read.passed_count > len(read.passed) else "")
        yield f"damaged records passed over: {read.passed_count:,} (records {numbers}); {REMEDY}"
    if read.clock:
        first, count = read.clock
        yield (
            f"record {first}: the time goes back, as after a clock was set: not read until it has passed that point "
            f"again ({count:,} records), and no difference is taken over it"
        )
    if read.transitions:
        yield (
            f"the node left and came back, or booted: {read.transitions:,} times as recorded; no difference is taken "
            "over that"
        )
    header, interval = read.header, (read.header.interval or 0) * TICKS
    if read.time and header.end and header.end - read.time > ENDS_EARLY * max(interval, 60 * TICKS):
        yield (
            f"by its header the recording goes on to {moment(header.end):%d-%b-%Y %H:%M:%S}, its records end at "
            f"{moment(read.time):%d-%b-%Y %H:%M:%S}: a part of the file may be missing"
        )


def _figures(read: Recording) -> Iterator[str]:
    """What went round, what is not believed."""
    if read.wrap_count:
        yield (
            f"counters of 32 bits that ran over, taken modulo 2**32: {read.wrap_count:,}: "
            + _some([f"{name} at record {record}" for name, record in read.wraps], read.wrap_count)
        )
    if read.doubt_count:
        yield f"intervals of a class or CPU that are not believed: {read.doubt_count:,}: " + _some(
            [f"record {record}: {why}" for record, why in read.doubts], read.doubt_count
        )
    if read.identities.lying:
        record, count, blocks = read.identities.lying
        yield f"record {record}: counts {count:,} elements and has {blocks:,} by its length: the length is believed"


def _some(parts: Sequence[str], count: int) -> str:
    """The first few of them."""
    return "; ".join(parts[:SOME]) + ("; …" if count > SOME else "")
