"""Tasks wait until clients take what is sent to them.

Finds: tasks that wait for the network to send (wait event 251 of monSysWaits), as an average number over the interval,
beside those that wait for anything else or run.

Why it matters: a client that is slow to take its rows, or a large result, makes such waits (vendor: Monitoring Tables).
They are no contention, are left out of the account, and no setting of locks, caches or engines shortens them. Users
feel them all the same. A network thread of the server that has no time left makes them too (ase/io_thread_saturated).

What to do: see which programs and results they are: fewer rows and columns, a program that fetches all rows without a
pause, a larger packet size for large results.

How loud it is: a note; advice where it is half of all that waits or runs, and monProcessNetIO shows that most packets
are small ones of one program and full.

When to ignore it: nearly always, where it is a note: a program that shows a page of rows at a time waits so by design.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from collectors.facts import Facts, known
from collectors.facts.ase import MonProcess, MonProcessNetIO, MonProcessWaits, MonSysWaits
from rules.ase._evidence.server import subject_of
from rules.ase._evidence.waits.events import NETWORK_SEND
from rules.ase._evidence.waits.tasks import WAIT_FACTS, Waited, tasks_by_event, waited_for
from rules.ase._evidence.waits.verdict import SHARE_PERCENT, TASKS, TASKS_ORIGIN
from rules.changes.quoting import comment
from rules.engine import limit, percent, rule
from rules.finding import Clean, Evidence, Finding, Outcome, Severity, Unknown

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
    "Let {0} ask for larger packets when it connects, up to max network packet size, as additional network memory "
    "allows: its {1:.0f} sessions get {2:,.0f} bytes in each packet of {3:,.0f}. A client that fetches rows without "
    "a pause helps as well."
)
SMALL_BYTES, FULL, MOST = 2048.0, 0.75, 0.5
"""This project: a packet up to which a larger one is worth asking for; how full it is on average; a program's part of
all packets that were sent."""
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


@rule(needs=(), uses=(*WAIT_FACTS, MonProcessNetIO, MonProcessWaits, MonProcess), links=LINKS, limits=Limits)
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
    yield Finding(
        subject=subject_of(facts),
        severity=Severity.ADVICE if sender else Severity.NOTE,
        title=f"{sending.tasks:.1f} tasks on average wait for {WHAT}"
        + (f", in packets of {sender.packet_bytes:,.0f} bytes to {sender.name}" if sender else ""),
        seen=f"{sending.tasks:.1f} tasks on average waited for {WHAT} (event {NETWORK_SEND}), in {sending.waits:,.0f} "
        f"waits{each}, beside {beside:.1f} that waited for anything else or ran.",
        because=SLOW,
        do=sender.step if sender else FASTER,
        unknown="" if sender else WHOSE,
        evidence=(
            Evidence(f"tasks waiting for {WHAT}", round(sending.tasks, 2), "tasks", sending.source, limits.tasks),
            Evidence("share of them among all that waited or ran", round(share, 1), "%", sending.source),
            *(sender.evidence if sender else ()),
            *((Evidence(f"mean wait for {WHAT}", round(mean, 1), "ms", sending.source),) if mean is not None else ()),
        ),
    )


@dataclass(frozen=True)
class Sender:
    """The program that most packets are sent to, which are small and full."""

    name: str
    sessions: list[MonProcessNetIO]
    packet_bytes: float
    each: float
    """Bytes sent in each packet, on average."""

    @property
    def step(self) -> str:
        """What to do."""
        return LARGER.format(self.name, len(self.sessions), self.each, self.packet_bytes)

    @property
    def evidence(self) -> tuple[Evidence, ...]:
        """The size of its packets, and what is in them."""
        source = self.sessions[0].source
        return (
            Evidence(f"packet size of {self.name}", self.packet_bytes, "bytes", source, SMALL_BYTES),
            Evidence(f"sent to {self.name} in each packet", round(self.each), "bytes", source),
        )


def _sender(facts: Facts) -> Sender | None:
    """That program; `None` where none has most packets, or they are large or hold little."""
    named = {row.spid: row for row in (*facts.every(MonProcess), *facts.every(MonProcessWaits)) if row.application}
    every = [row for row in facts.every(MonProcessNetIO) if row.believed]
    rows = [row for row in every if row.of_interval] or every
    groups: dict[tuple[str, float], list[MonProcessNetIO]] = {}
    for row in rows:
        who = named.get(row.spid)
        if who and known(row.packet_bytes) and who.kpid in (None, row.kpid or who.kpid):
            at = f" on {comment(who.host, 40)}" if who.host else ""
            groups.setdefault((f"{comment(who.application or '', 40)}{at}", row.packet_bytes), []).append(row)
    (name, size), first = max(groups.items(), key=lambda one: _packets(one[1]), default=(("", 0.0), []))
    packets, sent = _packets(first), sum(row.bytes_sent for row in first if known(row.bytes_sent))
    if not packets or packets < MOST * _packets(rows) or size > SMALL_BYTES or sent < FULL * size * packets:
        return None
    return Sender(name, first, size, sent / packets)


def _packets(rows: list[MonProcessNetIO]) -> float:
    return sum(row.packets_sent for row in rows if known(row.packets_sent))
