"""Results are sent in many small packets that are full.

Finds: packets to clients that are as large, on average, as `default network packet size` allows, while tasks that wait
until the network has sent their packet (Network Packet Sent) make a large part of all task switches.

Why it matters: a connection has one packet on its way at a time (vendor). A result of 20 KB is forty packets of 512
bytes, after each of which the task may sleep, and ten of 2,048. The mean is near the limit only where most packets are
full, so results go on in the next one.

What to do: raise `default network packet size`, and `max network packet size` where it is smaller, at once to what
single clients may ask for: both are static. Each user connection and worker process has three buffers of that size. A
client that asks for a size of its own gets it up to the maximum, from `additional network memory`. What fits the
network best a test shows (vendor: where its packets carry 1,500 bytes, 1,024 may do better than 1,536).

When to ignore it: where one job sends much, such as bcp or an extract: let that client ask for larger packets (bcp -A),
and leave the default as it is. A slow client makes the same waits, and no packet size helps it.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import ceil

from collectors.facts import Facts, Source, known
from collectors.facts.ase import MonProcessNetIO, PacketsSent, Server, TaskSwitches
from rules.ase._evidence.caches.memory import MEMORY_FACTS, free_evidence, too_little
from rules.ase._evidence.server import setting_of, subject_of
from rules.changes.ase_config import configure, waiting_number
from rules.engine import limit, percent, rule
from rules.finding import Change, Clean, Evidence, Finding, MissingInput, Outcome, Severity, Unknown, joined

LINKS = (
    "https://infocenter.sybase.com/help/topic/com.sybase.infocenter.dc00842.1570/html/spsysmon/X40994.htm",
    "https://infocenter.sybase.com/help/topic/com.sybase.infocenter.dc31654.1570/html/sag1/sag1168.htm",
    "https://infocenter.sybase.com/help/topic/com.sybase.infocenter.dc31654.1600/doc/html/san1360629108986.html",
    "https://infocenter.sybase.com/help/topic/com.sybase.infocenter.dc31654.1600/doc/html/san1360629044985.html",
)
DEFAULT, MOST = "default network packet size", "max network packet size"
CONNECTIONS, WORKERS = "number of user connections", "number of worker processes"
ADDITIONAL = "additional network memory"
SENT = "Network Packet Sent"
BUFFERS, OVERHEAD, BLOCK = 3, 1.02, 2048
"""Vendor: for each user connection and worker process, and of larger packets for each that asks for them; what they
take beside the buffers; additional network memory is a multiple of it."""
NEWER = 2048
"""Vendor: the default of 15.7 and later; up to it the step goes at once, above it by doubling."""
LARGEST = 8192
"""This project: beyond that, larger packets are for single clients that ask for them; so large they may be, too."""
WHO = "Which programs send so much is not in the export: monProcessNetIO counts BytesSent by SPID."
SIZES = MissingInput("the size of packets", 'sp_configure "network"')
BECAUSE = (
    "A connection has one packet on its way at a time, and the task may sleep after each. The mean is that near the "
    "limit only where most packets are full, so results go on in the next one."
)
ASKED = (
    "Clients that ask for a size of their own are not changed by the default; those that ask for more than the default "
    "take it from additional network memory: three buffers of that size for each."
)
FOR_CLIENTS = (
    f"for a client that asks for so much, {ADDITIONAL} must be raised too (dynamic): {{0:,}} bytes each, {{1:,.0f}} now"
)
FITS = (
    "Measure it in a test first: a size that fills the packets of the network is best (vendor: where they carry 1,500 "
    "bytes, 1,024 may do better than 1,536)."
)


@dataclass(frozen=True)
class Limits:
    """How full packets are, how many there are, and how much of the switches they make."""

    full_percent: float = percent(75.0, "this project: a mean so near the limit is of packets most of which are full")
    switches_percent: float = percent(25.0, "this project: a quarter of all task switches is a major cause")
    per_second: float = limit(
        1000.0, "this project: fewer packets are nothing to a network thread or engine", unit="/s"
    )


@rule(needs=(), uses=(PacketsSent, TaskSwitches, Server, MonProcessNetIO, *MEMORY_FACTS), links=LINKS, limits=Limits)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Hold the mean packet against the size that is configured."""
    one = facts.latest(PacketsSent)
    if one is None or not known(one.packets_per_second) or not known(one.bytes_each):
        yield Unknown.of(PacketsSent)
        return
    rate, each = one.packets_per_second, one.bytes_each
    said = f"{rate:,.0f} packets a second are sent, {each:,.0f} bytes each"
    if rate < limits.per_second:
        yield Clean(f"{said} (limit {limits.per_second:g} a second)")
        return
    causes = [row for row in facts.every(TaskSwitches) if row.cause == SENT and row.source.file == one.source.file]
    share = causes[-1].percent if causes else None
    if share is None or not known(share):
        yield Unknown.without(SENT, TaskSwitches.COLLECTED_BY, said)
        return
    if share < limits.switches_percent:
        yield Clean(f"{said}, and {share:.0f} % of the task switches wait for it (limit {limits.switches_percent:g} %)")
        return
    setting = setting_of(facts, DEFAULT)
    size = setting.run_number if setting else None
    if not setting or not size:
        yield Unknown((SIZES,), f"{said}; how large they may be is not in the export")
    elif 100.0 * each < limits.full_percent * size:
        yield Clean(f"{said}, of {size:,.0f} by default: they are not full")
    elif size >= LARGEST:
        yield Clean(f"{said}, of {size:,.0f} by default: a larger one is for single clients to ask for")
    else:
        yield _finding(facts, limits, one, size, (share, causes[-1].source), setting.source)


def _finding(
    facts: Facts, limits: Limits, one: PacketsSent, size: float, switches: tuple[float, Source], listed: Source
) -> Finding:
    assert known(one.packets_per_second) and known(one.bytes_each)  # noqa: S101, PT018 - asked by check()
    rate, each, share = one.packets_per_second, one.bytes_each, switches[0]
    new = NEWER if size < NEWER else min(2 * int(size), LARGEST)
    memory_mb, counted = _memory(facts, new - size)
    short = too_little(facts, DEFAULT, memory_mb) if memory_mb else ""
    maximum = setting_of(facts, MOST)
    most = maximum.run_number if maximum else None
    both = most is None or most < new
    return Finding(
        subject=DEFAULT,
        severity=Severity.WARNING if share >= 2 * limits.switches_percent else Severity.ADVICE,
        title=f"{subject_of(facts)}: results are sent in full packets of {size:,.0f} bytes, {rate:,.0f} a second",
        seen=f"{rate:,.0f} packets a second are sent, {each:,.0f} bytes each on average, where {DEFAULT} is "
        f"{size:,.0f}. {share:.0f} % of all task switches wait until a packet is sent.",
        because=BECAUSE,
        do=joined(
            f"Raise {DEFAULT} from {size:,.0f} to {new:,} bytes at the next restart"
            f"{f', and {MOST} to {LARGEST:,} with it' if both else ''}"
            + (", but only after max memory." if short else "."),
            short or "Where one job sends most of it, let that client ask for larger packets instead (bcp -A).",
        ),
        unknown=WHO if not facts.every(MonProcessNetIO) else "",
        evidence=(
            Evidence("packets sent", round(rate, 1), "/s", one.source, limits.per_second),
            Evidence("bytes in each packet", each, "bytes", one.source, round(size * limits.full_percent / 100)),
            Evidence(f"share of task switches, {SENT}", share, "%", switches[1], limits.switches_percent),
            Evidence(DEFAULT, size, "bytes", listed),
            *((Evidence(MOST, most, "bytes", maximum.source),) if maximum and most is not None else ()),
            *(free_evidence(facts) if short else ()),
        ),
        changes=() if short else tuple(_changes(facts, size, most, new, memory_mb, counted)),
        share=share,
        explains=("ase/clients_take_rows_slowly",),
    )


def _memory(facts: Facts, more: float) -> tuple[float, str]:
    """Megabytes that larger buffers take, and a caution that says so; 0 where the connections are not listed."""
    ends = [one.run_number or 0.0 for name in (CONNECTIONS, WORKERS) if (one := setting_of(facts, name))]
    if not ends:
        return 0.0, f"Takes {BUFFERS} buffers of {more:,.0f} bytes more for each user connection and worker process."
    mb = sum(ends) * BUFFERS * more / 1024 / 1024
    return mb, f"Takes about {mb:,.1f} MB more: {BUFFERS} buffers for each of {sum(ends):,.0f} connections."


def _for_clients(facts: Facts) -> str:
    """That the maximum alone gives no client a larger packet, as a clause; empty where one has room, or none tells."""
    setting = setting_of(facts, ADDITIONAL)
    has = setting.run_number if setting else None
    each = ceil(BUFFERS * LARGEST * OVERHEAD / BLOCK) * BLOCK
    return FOR_CLIENTS.format(each, has) if has is not None and has < each else ""


def _changes(
    facts: Facts, size: float, most: float | None, new: int, memory_mb: float, counted: str
) -> Iterator[Change]:
    """The maximum first, as the default may not be larger; nothing that waits for the restart already.

    One restart is enough for the default and for single clients that ask for more: the maximum goes to what these may
    ask for.
    """
    waiting = waiting_number(setting_of(facts, MOST))
    larger: tuple[str, ...] = ()
    if (most is None or most < new) and (waiting is None or waiting < new):
        raised = configure(MOST, most, LARGEST, configured=waiting)
        larger = (raised.key,)
        yield replace(raised, condition=_for_clients(facts))
    waiting = waiting_number(setting_of(facts, DEFAULT))
    if waiting is None or waiting < new:
        cautions = (counted, ASKED, FITS)
        change = configure(DEFAULT, size, new, cautions=cautions, memory_mb=memory_mb, configured=waiting)
        yield replace(change, needs=(*change.needs, *larger), after=(*change.after, *larger))
