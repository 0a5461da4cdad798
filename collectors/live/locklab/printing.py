"""What was measured as text: remarks, the long table of runs, and what sets the processors' clock, as of `grep .`.

Both parts are reports that `audit` reads: `unix/locking_runs` and `unix/cpu_frequency`.
"""

from collections.abc import Iterator

from collectors.live.locklab.measuring import Measured
from collectors.live.locklab.running import Run
from collectors.live.locklab.workload import BLOCK, RECORD_BYTES

COLUMNS = (
    "variant",
    "processes",
    "user_seconds",
    "system_seconds",
    "clock_seconds",
    "operations",
    "calls",
    "blocked",
    "frequency_mhz",
    "frequency_low_mhz",
    "frequency_high_mhz",
)


MUCH = 0.5
"""Processors: this project; with four, an eighth is gone."""


def text_of(measured: Measured) -> str:
    """The whole text, each line ended."""
    lines = [*_remarks(measured), ",".join(COLUMNS), *(_row(one) for one in measured.runs)]
    if measured.settings:
        lines += ["", *(f"{path}:{text}" for path, text in measured.settings)]
    return "\n".join(lines) + "\n"


def _remarks(measured: Measured) -> Iterator[str]:
    order = measured.order
    yield f"# lockwright locklab: {_plain(measured.machine)}"
    yield f"# system: {_plain(measured.system)}"
    yield f"# processors: {measured.processors}"
    yield (
        f"# work: {measured.updates} updates a process in each run, of counters in {order.records} records of "
        f"{RECORD_BYTES} bytes, {2 * len(BLOCK)} bytes summed up at each, half of them under the lock"
    )
    yield "# variants: coarse locks the whole file, fine the bytes of one record (fcntl, write locks)"
    yield "# blocked: locks that could not be had at once; no update was lost in any run"
    watched = f"watched by {measured.watched}" if measured.watched != "unknown" else "unknown on this machine"
    yield f"# clock of the processors: {watched}{_around(measured)}"
    governors = sorted({text for path, text in measured.settings if path.endswith("scaling_governor")})
    boosts = [
        f"{path.rpartition('/')[2]} {text}" for path, text in measured.settings if path.endswith(("turbo", "boost"))
    ]
    yield f"# others: {others_said(measured)}"
    yield f"# governor: {', '.join(governors) or 'unknown'}; boosting: {', '.join(boosts) or 'unknown'}"


def others_said(measured: Measured) -> str:
    """What else ran while this was measured."""
    if measured.others is None:
        return "what else ran meanwhile is unknown on this machine"
    busy, stolen = measured.others.busy, measured.others.stolen
    host = f", the host took {stolen:.1f}" if stolen >= MUCH else ""
    again = ": measure again when less else runs" if max(busy, stolen) >= MUCH else ""
    return f"other work kept {busy:.1f} of {measured.processors} processors busy meanwhile{host}{again}"


def _around(measured: Measured) -> str:
    if not measured.before or not measured.after:
        return ""
    before, after = (sum(one) / len(one) for one in (measured.before, measured.after))
    return f", {before:.0f} MHz before and {after:.0f} MHz after, mean of all"


def _row(one: Run) -> str:
    frequencies = [f"{value:.0f}" for value in one.frequency] if one.frequency else ["", "", ""]
    times = [f"{value:.4f}" for value in (one.user, one.system, one.clock)]
    counts = [str(value) for value in (one.operations, one.calls, one.blocked)]
    return ",".join([one.variant, str(one.processes), *times, *counts, *frequencies])


def _plain(text: str) -> str:
    """A name on one line of remarks."""
    return "".join(char if char.isprintable() else "?" for char in text)[:100]
