"""What tasks of one capture waited for: by wait event as average waiting tasks, and by cause of task switches.

Judging is that of the rules (`rules.ase._evidence.waits`): what they leave out is left out here and counted, and time
that is not booked is called that. sp_sysmon's switches stand apart: they count no time and cover another sample.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from advisor.audits.models import Audit, Capture
from advisor.charts.stacked import REST, stacked_by_name
from collectors.facts import Facts, known
from collectors.facts.ase import MonProcess, MonProcessWaits, MonState, MonSysWaits, SysmonSection, TaskSwitches
from rules.ase._evidence.server import engines_of, interval_first
from rules.ase._evidence.waits.events import GROUPS, NETWORK, NETWORK_READ, RUN_QUEUE
from rules.ase._evidence.waits.relief import BY_CAUSE, BY_EVENT, Relief
from rules.ase._evidence.waits.switches import Switches, switches_of
from rules.ase._evidence.waits.tasks import ByEvent, left_out, tasks_by_event, waited_for
from rules.finding import Unknown, Untrusted

MOST_SESSIONS = 20
MOST_CAPTURES = 60
"""Captures of the same system in the picture over time: the latest up to this one."""
BACKGROUND = ("housekeeper", "rep agent", "replication agent")
"""How the titles of the sections begin that count the work of background tasks: shown, and judged by nothing."""
NO_RELIEF = Relief("no source read here explains this event")


@dataclass(frozen=True)
class Event:
    """One wait event with its figures."""

    number: int
    text: str
    tasks: float | None
    """Average waiting tasks; `None` where its seconds are no measure of them."""
    percent: float | None
    """Of all tasks that waited."""
    per_second: float | None
    mean_milliseconds: float | None
    waits: float
    seconds: float
    group: str
    rules: tuple[str, ...]
    """Whose findings such waits are caused by."""
    means: str
    relieved_by: str
    unsure: str
    """Why there are no tasks."""


@dataclass(frozen=True)
class LeftOut:
    """An event that is no wait of work."""

    number: int
    text: str
    waits: float | None
    seconds: float | None
    why: str


@dataclass(frozen=True)
class Cause:
    """One cause of task switches, by sp_sysmon."""

    name: str
    per_second: float | None
    percent: float | None
    held_percent: float | None
    means: str
    relieved_by: str
    why: str
    """Why there is no figure."""


@dataclass(frozen=True)
class Session:
    """One session's waits for one event."""

    spid: int
    login: str
    number: int
    text: str
    seconds: float
    waits: float | None


@dataclass(frozen=True)
class Background:
    """One figure of a background task, by sp_sysmon."""

    section: str
    name: str
    per_second: float | None
    count: float | None


@dataclass(frozen=True)
class Waits:
    """Everything about the waits of a capture."""

    seconds: float | None
    events: tuple[Event, ...]
    waiting: float
    """Tasks that waited for anything, on average."""
    running: float | None
    """Engines at work; `None` where no export counts them."""
    thinking: float | None
    """Tasks whose client had sent nothing."""
    connections: float | None
    left_out: tuple[LeftOut, ...]
    sessions: tuple[Session, ...]
    causes: tuple[Cause, ...]
    background: tuple[Background, ...]
    why_none: str
    """Why no wait events are shown, in words; empty where they are."""
    bring: tuple[str, ...]

    @property
    def by_engines(self) -> bool:
        """Whether more than half of the tasks that waited, waited for an engine."""
        queue = sum(one.tasks or 0.0 for one in self.events if one.number in RUN_QUEUE)
        return self.waiting > 0 and queue > self.waiting / 2


def waits_of(facts: Facts) -> Waits:
    """Gather it."""
    rows = tasks_by_event(facts)
    why, bring = ("", ()) if rows else _why_none(facts)
    work = [one for one in rows if one.at_work]
    waiting = sum(one.tasks for one in work)
    engines = engines_of(facts, interval=True)
    running = None
    if engines.number is not None and engines.busy_percent is not None:
        running = engines.number * min(engines.busy_percent, 100.0) / 100
    events = sorted(
        (_event(one, waiting) for one in work if one.waits), key=lambda one: (-(one.tasks or 0), -one.waits)
    )
    states = [one.connections for one in interval_first(facts, MonState) if known(one.connections)]
    return Waits(
        seconds=rows[0].seconds if rows else None,
        events=tuple(events),
        waiting=waiting,
        running=running,
        thinking=next((one.tasks for one in rows if one.event == NETWORK_READ and not one.unsure), None),
        connections=states[0] if states else None,
        left_out=tuple(_left_out(facts)) if rows else (),
        sessions=tuple(_sessions(facts, {one.event: one.text for one in rows})),
        causes=tuple(_causes(facts)),
        background=tuple(_background(facts)),
        why_none=why,
        bring=bring,
    )


def _why_none(facts: Facts) -> tuple[str, tuple[str, ...]]:
    if not facts.every(MonSysWaits):
        return "No wait events are in the exports of this capture.", (MonSysWaits.COLLECTED_BY,)
    everything = frozenset(row.event for row in facts.every(MonSysWaits))
    said = waited_for(facts, "wait events", everything)
    if isinstance(said, Untrusted):
        return f"Not believed: {said.why}.", ()
    if isinstance(said, Unknown):
        return f"{said.why[:1].upper()}{said.why[1:]}.", tuple(one.command for one in said.missing)
    return "Some events alone were collected, or no time was booked for any.", (MonSysWaits.COLLECTED_BY,)


def _event(one: ByEvent, waiting: float) -> Event:
    group = next((group for group in GROUPS if one.event in group.events), None)
    relief = BY_EVENT.get(one.event, NO_RELIEF)
    return Event(
        number=one.event,
        text=one.text,
        tasks=None if one.unsure else one.tasks,
        percent=None if one.unsure or not waiting else 100.0 * one.tasks / waiting,
        per_second=one.per_second,
        mean_milliseconds=one.mean_milliseconds,
        waits=one.waits,
        seconds=one.waited_seconds,
        group=group.what if group else "other wait events",
        rules=group.causes if group else (),
        means=relief.means,
        relieved_by=relief.relieved_by,
        unsure=one.unsure,
    )


def _left_out(facts: Facts) -> Iterable[LeftOut]:
    rows = left_out(facts)
    for row in sorted(rows, key=lambda row: row.event):
        network = "a client that thinks" if row.event == NETWORK_READ else "a client that is slow to take its rows"
        yield LeftOut(
            row.event,
            row.description or "",
            row.waits if known(row.waits) else None,
            row.wait_seconds if known(row.wait_seconds) else None,
            network if row.event in NETWORK else "idle or background",
        )


def _sessions(facts: Facts, texts: dict[int, str]) -> Iterable[Session]:
    """The sessions that waited longest for one event of work; a time beyond the interval is of the time before."""
    logins = {row.spid: row.login or "" for row in facts.every(MonProcess)}
    found = []
    for row in facts.every(MonProcessWaits):
        time = row.wait_milliseconds
        fits = row.of_interval and row.believed and row.seconds and known(time) and 0 < time <= 1000 * row.seconds
        if fits and known(time) and row.event in texts and row.event not in NETWORK:
            waits = row.waits if known(row.waits) else None
            found.append(Session(row.spid, logins.get(row.spid, ""), row.event, texts[row.event], time / 1000, waits))
    return sorted(found, key=lambda one: -one.seconds)[:MOST_SESSIONS]


def _causes(facts: Facts) -> Iterable[Cause]:
    """sp_sysmon's task switches, the most first."""
    names = dict.fromkeys(one.cause for one in facts.every(TaskSwitches))
    made = []
    for name in names:
        found, relief = switches_of(facts, name), BY_CAUSE.get(name, NO_RELIEF)
        read = found if isinstance(found, Switches) else None
        made.append(
            Cause(
                name,
                read.per_second if read else None,
                read.percent if read else None,
                read.held_percent if read else None,
                relief.means,
                relief.relieved_by,
                found.why if isinstance(found, Untrusted) else "" if read else "not printed",
            )
        )
    return sorted(made, key=lambda one: -(one.percent or 0.0))


def _background(facts: Facts) -> Iterable[Background]:
    """What the housekeeper and the RepAgent did, as the newest report of sp_sysmon counts it."""
    sections = {one.title: one for one in facts.every(SysmonSection) if one.title.lower().startswith(BACKGROUND)}
    for section in sections.values():
        for row in section.rows:
            rate, count = (one if known(one) else None for one in (row.per_second, row.count))
            if rate is not None or count is not None:
                yield Background(section.title, ", ".join(row.path), rate, count)


def over_time(audit: Audit) -> tuple[Any, int]:
    """What tasks waited for over the captures of this system up to this one, stacked; and how many captures that is.

    By the accounts that their audits keep, so nothing is unpacked for it. Nothing with fewer than two captures.
    """
    rows = (
        Capture.objects.filter(system=audit.system_id, audit__isnull=False, timed=True, taken__lte=audit.capture.taken)
        .order_by("-taken", "-id")
        .values_list("taken", "audit__account")[:MOST_CAPTURES]
    )
    points = [(taken, waits) for taken, account in reversed(rows) if (waits := _by_cause(account)) is not None]
    if len(points) < 2:
        return None, len(points)
    title = "Average waiting tasks by what they wait for"
    return stacked_by_name(points, unit="tasks waiting", title=title), len(points)


def _by_cause(account: Sequence[dict[str, Any]]) -> dict[str, float] | None:
    """Average waiting tasks by cause, of the account of tasks; `None` where an audit has none."""
    found = next((one for one in account if one["currency"] == "waiting_tasks" and not one.get("run")), None)
    if found is None:
        return None
    sums: dict[str, float] = {}
    for loss in found["lost"]:
        sums[loss["what"]] = sums.get(loss["what"], 0.0) + (loss["amount"] or 0.0)
    if left := found["unexplained"]:
        sums[REST] = sums.get(REST, 0.0) + (left["amount"] or 0.0)
    return sums
