"""Tasks wait until clients take what is sent to them.

Finds: tasks that wait for the network to send (wait event 251 of monSysWaits), as an average number over the interval,
beside those that wait for anything else or run.

Why it matters: a client that is slow to take its rows, or a large result, makes such waits (vendor: Monitoring Tables).
They are no contention, are left out of the account, and no setting of locks, caches or engines shortens them. Users
feel them all the same. A network thread of the server that has no time left makes them too (ase/io_thread_saturated).

What to do: see which programs and results they are: fewer rows and columns, a program that fetches all rows without a
pause, a larger packet size for large results. Where one program is sent most packets, full ones of the largest size
that `max network packet size` allows, that is raised (static), for the program to ask for more,
with the memory that its sessions take then.

How loud it is: a note; advice where it is half of all that waits or runs, and monProcessNetIO shows that most packets
are small ones of one program and full.

When to ignore it: nearly always, where it is a note: a program that shows a page of rows at a time waits so by design.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import ceil

from collectors.facts import Facts, known
from collectors.facts.ase import (
    ConfigParameter,
    MonNetworkIO,
    MonProcess,
    MonProcessNetIO,
    MonProcessWaits,
    MonSysWaits,
)
from rules.ase._evidence.objects.sessions import say_spids
from rules.ase._evidence.server import setting_of, subject_of
from rules.ase._evidence.waits.events import NETWORK_SEND
from rules.ase._evidence.waits.tasks import WAIT_FACTS, Waited, tasks_by_event, waited_for
from rules.ase._evidence.waits.verdict import SHARE_PERCENT, TASKS, TASKS_ORIGIN
from rules.changes.ase_config import configure, waiting_number
from rules.changes.quoting import comment
from rules.engine import limit, percent, rule
from rules.finding import Change, Clean, Evidence, Finding, Outcome, Severity, Unknown

LINKS = (
    "https://infocenter.sybase.com/help/topic/com.sybase.infocenter.dc00848.1570/html/monitor_tables/CHDEHBAG.htm",
)
WHAT = "clients to take what is sent"
SLOW = (
    "A client that is slow to take its rows, or a large result, makes such waits (vendor), unless a network thread of "
    "the server has no time left (ase/io_thread_saturated). They are no contention, and the account leaves them out."
)
FASTER = (
    "See which programs and results they are: fewer rows and columns, a program that fetches all rows without a pause, "
    "or a larger packet size for large results."
)
LARGER = (
    "Let {0} ask for larger packets when it connects, up to max network packet size{4}, as additional network memory "
    "allows: its {1:.0f} sessions get {2:,.0f} bytes in each packet of {3:,.0f}. A client that fetches rows without "
    "a pause helps as well."
)
OF_SIZE = (
    "Let {0} ask for packets of {1:,.0f} bytes when it connects (max network packet size is {2:,.0f}): its {3:.0f} "
    "sessions take {4:,.0f} bytes of additional network memory then{5}. A client that fetches rows without a pause "
    "helps as well."
)
ALL_FULL = (
    "Packets are full: they hold {0:,.0f} bytes on average, and default network packet size is {1:,.0f}. Have programs "
    "with large results ask for larger ones when they connect; monProcessNetIO shows which have that size."
)
DEFAULT_NAME = "default network packet size"
MEMORY_NAME = "additional network memory"
RAISED = (
    "Raise max network packet size from {0:,.0f} to {1:,.0f} at the next restart, with {2:,.0f} bytes more additional "
    "network memory, and let {3} (SPID {4}) ask for that size: its packets are full. A client that fetches rows "
    "without a pause helps as well."
)
ASKED = "Nobody gets larger packets by this alone: a client has to ask for them when it connects."
THEN_ASK = "then let {0} ask for packets of {1:,} bytes when it connects, or nothing is gained"
"""What the change of the server is worth nothing without."""
FOR_PACKETS = "For larger packets alone: it does nothing until clients ask for them, and then it must be there."
MOST_NAME, LARGER_BYTES = "max network packet size", 8192
"""This project: what a client that is sent much asks for first; the vendor gives no figure."""
BUFFERS, OVERHEAD, BLOCK = 3, 1.02, 2048
"""Vendor, for additional network memory: of each connection with large packets; beside them; it is a multiple of."""
SMALL_BYTES, FULL, MOST = 2048.0, 0.75, 0.5
"""This project: a packet up to which a larger one is worth asking for; how full it is on average; a program's part of
all packets that were sent."""
MOST_HOSTS = 2
"""That are named."""
LOUD_PERCENT = 50.0
"""This project: half of all tasks that wait or run."""
WHOSE = "Whose they are is in monProcessWaits, by SPID, for event 251."


@dataclass(frozen=True)
class Limits:
    """How many must wait to be worth a note."""

    tasks: float = limit(TASKS, TASKS_ORIGIN, unit="tasks")
    share_percent: float = percent(
        SHARE_PERCENT, "this project: one in ten of the tasks that wait, these included, or run"
    )


@rule(
    needs=(),
    uses=(*WAIT_FACTS, MonNetworkIO, MonProcessNetIO, MonProcessWaits, MonProcess, ConfigParameter),
    links=LINKS,
    limits=Limits,
)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Judge by the time that tasks waited."""
    others = waited_for(facts, WHAT, frozenset((NETWORK_SEND,)))
    if others is None:
        yield Unknown.of(MonSysWaits)
        return
    if not isinstance(others, Waited):
        yield others
        return
    sending = next((one for one in tasks_by_event(facts) if one.event == NETWORK_SEND), None)
    if sending is None or sending.unsure:
        why = f"{sending.waits:,.0f} waits, and {sending.unsure}" if sending else "no such wait is counted"
        yield Clean(f"{WHAT} (event {NETWORK_SEND}): {why}")
        return
    beside = others.waiting + (others.running or 0.0)
    share = 100.0 * sending.tasks / (sending.tasks + beside) if sending.tasks else 0.0
    if sending.tasks < limits.tasks or share < limits.share_percent:
        most = f"limits {limits.tasks:g} task and {limits.share_percent:g} %"
        yield Clean(f"{sending.tasks:.1f} tasks on average waited for {WHAT}, {share:.0f} % ({most})")
        return
    mean = sending.mean_milliseconds
    each = f" of {mean:,.1f} ms each" if mean is not None else ""
    sender = _sender(facts) if share >= LOUD_PERCENT else None
    changes = [one for one in (sender.room, sender.raised) if one] if sender else []
    default = (setting.run_number if (setting := setting_of(facts, DEFAULT_NAME)) else None) or 0.0
    full = _all_full(facts, default)
    yield Finding(
        subject=subject_of(facts),
        severity=Severity.ADVICE if sender else Severity.NOTE,
        title=f"{sending.tasks:.1f} tasks on average wait for {WHAT}"
        + (f", in packets of {sender.packet_bytes:,.0f} bytes to {sender.name}" if sender else ""),
        seen=f"{sending.tasks:.1f} tasks on average waited for {WHAT} (event {NETWORK_SEND}), in {sending.waits:,.0f} "
        f"waits{each}, beside {beside:.1f} that waited for anything else or ran.",
        because=SLOW,
        do=sender.step if sender else ALL_FULL.format(full.value, default) if full else FASTER,
        unknown="" if sender else WHOSE,
        evidence=(
            Evidence(f"tasks waiting for {WHAT}", round(sending.tasks, 2), "tasks", sending.source, limits.tasks),
            Evidence("share of them among all that waited or ran", round(share, 1), "%", sending.source),
            *(sender.evidence if sender else ()),
            *((full,) if full else ()),
            *((Evidence(f"mean wait for {WHAT}", round(mean, 1), "ms", sending.source),) if mean is not None else ()),
        ),
        changes=tuple(changes),
    )


@dataclass(frozen=True)
class Sender:
    """The program that most packets are sent to, which are small and full."""

    name: str
    sessions: list[MonProcessNetIO]
    packet_bytes: float
    each: float
    """Bytes sent in each packet, on average."""
    most: ConfigParameter | None
    """How large packets may be, where it was listed."""
    memory: ConfigParameter | None = None
    """What packets larger than the default are kept in, where it was listed."""

    @property
    def held_back(self) -> float | None:
        """The largest packet, in bytes, where the program has that already and can ask for no more."""
        run = self.most.run_number if self.most else None
        return run if run is not None and run <= self.packet_bytes < LARGER_BYTES else None

    @property
    def raised(self) -> Change | None:
        """What lets it ask for more, where that does not wait for a restart already."""
        waiting = waiting_number(self.most)
        if self.held_back is None or (waiting is not None and waiting >= LARGER_BYTES):
            return None
        change = configure(MOST_NAME, self.held_back, LARGER_BYTES, cautions=(ASKED,), configured=waiting)
        return replace(change, condition=THEN_ASK.format(self.name, LARGER_BYTES))

    @property
    def needs(self) -> float:
        """Bytes of additional network memory that its sessions take with larger packets."""
        return ceil(len(self.sessions) * BUFFERS * LARGER_BYTES * OVERHEAD / BLOCK) * BLOCK

    @property
    def room(self) -> Change | None:
        """More memory for larger packets, where the largest packet is raised and less is configured than they take."""
        has = self.memory.run_number if self.memory else None
        if self.raised is None or has is None or has >= self.needs or waiting_number(self.memory) is not None:
            return None
        more = self.needs / 1_048_576
        return configure(MEMORY_NAME, has, has + self.needs, cautions=(FOR_PACKETS,), memory_mb=more)

    @property
    def step(self) -> str:
        """What to do."""
        memory = self.needs
        if self.held_back is not None:
            spids = say_spids([(one.spid, one.kpid) for one in self.sessions])
            return RAISED.format(self.held_back, LARGER_BYTES, memory, self.name, spids)
        run = self.most.run_number if self.most else None
        if run is not None and run >= LARGER_BYTES:
            has = self.memory.run_number if self.memory else None
            first = ": raise it first" if has is not None and has < memory else ""
            of = f", of {has:,.0f} that are configured{first}" if has is not None else ""
            return OF_SIZE.format(self.name, LARGER_BYTES, run, len(self.sessions), memory, of)
        value = f" ({run:,.0f})" if run is not None else ""
        return LARGER.format(self.name, len(self.sessions), self.each, self.packet_bytes, value)

    @property
    def evidence(self) -> tuple[Evidence, ...]:
        """The size of its packets, and what is in them."""
        source = self.sessions[0].source
        held, room = self.held_back, self.memory
        has = room.run_number if room else None
        return (
            Evidence(f"packet size of {self.name}", self.packet_bytes, "bytes", source, SMALL_BYTES),
            Evidence(f"sent to {self.name} in each packet", round(self.each), "bytes", source),
            *((Evidence(MOST_NAME, held, "bytes", self.most.source),) if self.most and held is not None else ()),
            *((Evidence(MEMORY_NAME, has, "bytes", room.source),) if room and has is not None and self.room else ()),
        )


def _sender(facts: Facts) -> Sender | None:
    """That program; `None` where none has most packets, or they are large or hold little."""
    every = [row for row in facts.every(MonProcessNetIO) if row.believed]
    rows = [row for row in every if row.of_interval] or every
    clients: list[MonProcess | MonProcessWaits | MonProcessNetIO] = [
        *facts.every(MonProcess),
        *facts.every(MonProcessWaits),
        *rows,
    ]
    named = {row.spid: row for row in clients if row.application}
    groups: dict[tuple[str, float], list[MonProcessNetIO]] = {}
    for row in rows:
        who = named.get(row.spid)
        if who and known(row.packet_bytes) and who.kpid in (None, row.kpid or who.kpid):
            groups.setdefault((who.application or "", row.packet_bytes), []).append(row)
    (name, size), first = max(groups.items(), key=lambda one: _packets(one[1]), default=(("", 0.0), []))
    packets, sent = _packets(first), sum(row.bytes_sent for row in first if known(row.bytes_sent))
    if not packets or packets < MOST * _packets(rows) or size > SMALL_BYTES or sent < FULL * size * packets:
        return None
    hosts = sorted({host for row in first if (host := named[row.spid].host)})
    at = f" on {' and '.join(comment(one, 40) for one in hosts)}" if hosts else ""
    at = f" on {len(hosts)} hosts" if len(hosts) > MOST_HOSTS else at
    return Sender(
        f"{comment(name, 40)}{at}",
        first,
        size,
        sent / packets,
        setting_of(facts, MOST_NAME),
        setting_of(facts, MEMORY_NAME),
    )


def _all_full(facts: Facts, default: float) -> Evidence | None:
    """Bytes in each packet that was sent to all clients, where these are full by default; `None` where not, or large.

    A mean of full packets is no larger than the default, but for those of programs that ask for more.
    """
    row = next((one for one in reversed(facts.every(MonNetworkIO)) if one.of_interval and one.believed), None)
    if row is None or not known(row.packets_sent) or not known(row.bytes_sent) or not row.packets_sent > 0:
        return None
    each = row.bytes_sent / row.packets_sent
    if not FULL * default <= each <= default <= SMALL_BYTES:
        return None
    return Evidence("sent in each packet of all clients", round(each), "bytes", row.source)


def _packets(rows: list[MonProcessNetIO]) -> float:
    return sum(row.packets_sent for row in rows if known(row.packets_sent))
