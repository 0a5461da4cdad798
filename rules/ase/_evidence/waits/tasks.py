"""How many tasks of SAP ASE waited for something, on average over an interval, by `monSysWaits`.

Average number of waiting tasks = seconds waited ÷ seconds of the interval. The share is of the tasks that waited for
anything or ran; idle daemons, and tasks that wait for the network, are left out. What the table cannot tell
(knowledge/ase-waits-caches.md, 1.1):

* A wait is booked when it ends. Where the mean wait comes near the interval, its seconds are mostly of the time before,
  so they are not turned into tasks; and a wait that still lasts is not in the table at all.
* Some releases book 0 seconds for short waits. Many waits without time are not "no wait"; with less than one wait a
  second it can be no task either, since none of them filled a second.
* Seconds are whole: of a short interval few of them say nothing.
"""

from dataclasses import dataclass, replace

from collectors.facts import NOWHERE, OVERFLOW, Fact, Facts, Source, known
from collectors.facts.ase import ConfigParameter, MonState, MonSysWaits, Snapshot, SysmonSample, TaskSwitches
from rules.ase._evidence.server import (
    ENGINE_FACTS,
    engines_of,
    interval_first,
    setting_of,
)
from rules.ase._evidence.spinlocks.monitored import say_doubt
from rules.ase._evidence.times import DAY
from rules.ase._evidence.waits.events import NETWORK, NETWORK_READ, RUN_QUEUE, at_work
from rules.finding import Evidence, MissingInput, Unknown, Untrusted

WAIT_FACTS: tuple[type[Fact], ...] = (*ENGINE_FACTS, MonSysWaits, MonState, TaskSwitches, SysmonSample)
LONG_WAIT = 0.5
"""This project: a mean wait of half the interval began before it as likely as not."""
COARSE_SECONDS, COARSE_INTERVAL = 2.0, 60.0
"""This project: whole seconds, so below two of them in less than a minute nothing is known."""
ALWAYS_THERE = NETWORK | RUN_QUEUE
"""Events that every server with clients counts: without them somebody chose the events."""
SAME_COUNT = {41: "Latch Contention", 150: "Logical Lock Contention"}
"""Wait events that sp_sysmon counts too, with its name for them."""
SAME_PERCENT, SAME_LEAST = 2.0, 1000.0
"""This project: how near two counts of one interval are, and of how many the nearness is no chance."""
SWITCH = "wait event timing"
SYSTEM_TASKS = 50
"""This project: tasks of the server itself that may wait beside those of users."""
NO_TIMES = MissingInput("when the snapshots were taken", Snapshot.COLLECTED_BY)


@dataclass(frozen=True)
class Waited:
    """What tasks waited for some events over an interval; all figures of all tasks together."""

    what: str
    seconds: float
    """Of the interval."""
    waited_seconds: float
    waits: float
    waiting: float
    """Tasks that waited for anything, these events included."""
    running: float | None
    """Engines at work; `None` where no export counts engines."""
    source: Source
    running_source: Source
    unsure: str = ""
    """Why the seconds cannot be turned into tasks."""
    sample: SysmonSample | None = None
    """The sp_sysmon whose length the interval has, where the waits have no times of their own."""
    complete: bool = True
    """Whether the table was collected whole; of a few chosen events no share of all waiting tasks can be told."""

    @property
    def sure_share(self) -> bool:
        """Whether everything is known that the share is of."""
        return self.complete and self.running is not None

    @property
    def tasks(self) -> float:
        """Average number of tasks that waited."""
        return self.waited_seconds / self.seconds

    @property
    def percent(self) -> float:
        """Share of the tasks that waited or ran."""
        whole = self.waiting + (self.running or 0.0)
        return 100.0 * self.tasks / whole if whole else 0.0

    @property
    def per_second(self) -> float:
        """Waits that ended, per second."""
        return self.waits / self.seconds

    @property
    def mean_milliseconds(self) -> float | None:
        """Mean length of a wait; `None` without waits."""
        return 1000.0 * self.waited_seconds / self.waits if self.waits else None

    @property
    def mean_seconds(self) -> float:
        """The same in seconds; 0 without waits."""
        return self.waited_seconds / self.waits if self.waits else 0.0

    @property
    def began_before(self) -> bool:
        """Whether most of the waits that ended in the interval began before it."""
        return _began_before(self.waited_seconds, self.waits, self.seconds)

    @property
    def says(self) -> str:
        """The figures as a sentence without its end."""
        if self.unsure:
            return f"{self.waits:,.0f} waits for {self.what} in {self.seconds:,.0f} s: {self.unsure}"
        whole = self.waiting + (self.running or 0.0)
        beside = f"waited or ran ({self.running:.1f} on engines)" if self.running is not None else "waited for anything"
        return (
            f"{self.tasks:.1f} tasks on average waited for {self.what}, {self.percent:.0f} % of the {whole:.1f} that "
            f"{beside}"
        )

    def evidence(self, limit_tasks: float, limit_percent: float) -> tuple[Evidence, ...]:
        """The figures with their lines."""
        of = "tasks that waited or ran" if self.running is not None else "tasks that waited"
        found = [
            Evidence(f"seconds waited for {self.what}", self.waited_seconds, "s of all tasks", self.source),
            Evidence(f"tasks waiting for {self.what}", round(self.tasks, 2), "tasks", self.source, limit_tasks),
            Evidence(f"share of the {of}", round(self.percent, 1), "%", self.source, limit_percent),
        ]
        if self.mean_milliseconds is not None:
            mean = round(self.mean_milliseconds, 1)
            found.append(Evidence(f"mean wait for {self.what}", mean, "ms", self.source))
        if self.sample:
            found.append(
                Evidence("seconds of the sp_sysmon that counts as many", self.seconds, "s", self.sample.source)
            )
        if self.running is not None:
            found.append(Evidence("engines at work", round(self.running, 1), "engines", self.running_source))
        return tuple(found)


@dataclass(frozen=True)
class ByEvent:
    """Tasks that waited for one event, on average over the interval."""

    event: int
    tasks: float
    """0 where its seconds are no measure of them; `unsure` says why."""
    unsure: str
    source: Source
    waits: float = 0.0
    waited_seconds: float = 0.0
    seconds: float = 0.0
    """Of the interval."""
    text: str = ""
    """What this server calls the event, where monWaitEventInfo was collected."""

    @property
    def per_second(self) -> float | None:
        """Waits that ended, per second."""
        return self.waits / self.seconds if self.seconds else None

    @property
    def mean_milliseconds(self) -> float | None:
        """Mean length of a wait; `None` where none was counted, or its time is not booked."""
        return 1000.0 * self.waited_seconds / self.waits if self.waits and self.waited_seconds else None

    @property
    def at_most(self) -> float:
        """Tasks that can have waited at most, where the waits ended in the interval and may have begun before it."""
        return min(self.waited_seconds / self.seconds, self.waits) if self.seconds else 0.0

    @property
    def at_work(self) -> bool:
        """Whether such a task has work to do."""
        return at_work(self.event)


def tasks_by_event(facts: Facts) -> list[ByEvent]:
    """Waiting tasks by event, those that wait for the network included; none where no whole table can be believed."""
    rows = [row for row in _rows(facts) if row.of_interval and (at_work(row.event) or row.event in NETWORK)]
    seconds = next((row.seconds for row in rows if row.seconds), None)
    whole = any(row.event in ALWAYS_THERE for row in rows)
    timed = any(known(row.wait_seconds) and row.wait_seconds for row in rows)
    if not seconds or not whole or not timed or not all(row.believed for row in rows):
        return []
    if any(OVERFLOW in (row.wait_seconds, row.waits) for row in rows):
        return []
    found = []
    for row in rows:
        time = row.wait_seconds if known(row.wait_seconds) else 0.0
        waits = row.waits if known(row.waits) else 0.0
        unsure, text = _unsure(time, waits, seconds), row.description or ""
        found.append(ByEvent(row.event, _tasks(row, seconds), unsure, row.source, waits, time, seconds, text))
    return found


@dataclass(frozen=True)
class CommandTime:
    """How long the server works on a client's command on average, waits included: of reports and loads it is long."""

    seconds: float
    source: Source
    at_most: bool = False
    """Whether the work of the engines was not counted, and taken to be all they can do."""

    @property
    def evidence(self) -> Evidence:
        """The figure."""
        how = "by Little's law: tasks that wait or run / commands a second"
        what = f"mean time of a client's command{', at most' if self.at_most else ''}"
        return Evidence(what, round(self.seconds, 3), "s", self.source, computed=how)


def command_time(facts: Facts, *, at_most: bool = False) -> CommandTime | None:
    """Tasks that wait or run ÷ commands a second, each of which ends a wait for the client (event 250).

    `None` where no whole table of waits can be believed, or engines are not counted. `at_most`: as if engines whose
    work was not counted had worked all the time.
    """
    rows, engines = tasks_by_event(facts), engines_of(facts, interval=True)
    busy = engines.busy_percent if engines.busy_percent is not None or not at_most else 100.0
    asked = next((row for row in rows if row.event == NETWORK_READ), None)
    if asked is None or not asked.per_second or engines.number is None or busy is None:
        return None
    tasks = sum(row.tasks for row in rows if row.at_work) + engines.number * min(busy, 100.0) / 100.0
    return CommandTime(tasks / asked.per_second, asked.source, at_most=engines.busy_percent is None)


def left_out(facts: Facts) -> list[MonSysWaits]:
    """Events of the interval that are no wait of work: idle daemons, tests, and clients that think or are slow."""
    return [row for row in _rows(facts) if row.of_interval and not at_work(row.event)]


def waited_for(facts: Facts, what: str, events: frozenset[int]) -> Waited | Untrusted | Unknown | None:
    """What tasks waited for these events; `None` where no wait event was read at all.

    `Unknown` where only totals since the start, or no times, were collected; `Untrusted` for counters that cannot be
    believed, and for more waiting tasks than the server has.
    """
    rows = _rows(facts)
    if not rows:
        return None
    counted = [row for row in rows if row.of_interval and at_work(row.event)]
    doubtful = [row for row in counted if not row.believed]
    missing = _missing(rows, what, events) or _switched_off(facts, rows, what)
    if missing and not doubtful:
        return missing
    if doubtful:
        numbers = ", ".join(str(row.event) for row in doubtful[:5])
        return Untrusted(f"monSysWaits, event {numbers}: {say_doubt(row.certificate for row in doubtful)}")
    if any(OVERFLOW in (row.wait_seconds, row.waits) for row in counted):
        return Untrusted("monSysWaits: a count is printed as asterisks")
    seconds = next((row.seconds for row in rows if row.of_interval and row.seconds), 0.0)
    own = [row for row in counted if row.event in events]
    engines = engines_of(facts, interval=True)
    running = float(engines.number) if engines.number is not None else None
    if running is not None and engines.busy_percent is not None:
        running *= min(engines.busy_percent, 100.0) / 100.0
    time, waits = _sum(own, "wait_seconds"), _sum(own, "waits")
    found = Waited(
        what=what,
        seconds=seconds,
        waited_seconds=time,
        waits=waits,
        waiting=sum(_tasks(row, seconds) for row in counted),
        running=running,
        source=own[-1].source if own else NOWHERE,
        running_source=engines.source,
        unsure=_unsure(time, waits, seconds),
        sample=sample_of(facts, facts.every(MonSysWaits)),
        complete=any(row.event in ALWAYS_THERE for row in rows),
    )
    return _impossible(facts, found) or found


def waited_since_start(facts: Facts, what: str, events: frozenset[int]) -> Waited | None:
    """The same on average since the server started, a day ago or longer; `None` where there is more, or less.

    Nights are in it, so it excuses no hour; the busiest one is above it. How many waits there were is left out: of days
    that count may have wrapped, and their mean length with it.
    """
    rows = _rows(facts)
    seconds = min((row.seconds or 0.0 for row in rows), default=0.0)
    own = [row for row in rows if row.event in events and known(row.wait_seconds)]
    if seconds < DAY or not own or any(row.of_interval or not row.believed for row in rows):
        return None
    engines = engines_of(facts)
    found = Waited(
        what=what,
        seconds=seconds,
        waited_seconds=_sum(own, "wait_seconds"),
        waits=0.0,
        waiting=sum(_sum([row], "wait_seconds") for row in rows if at_work(row.event)) / seconds,
        running=float(engines.number) if engines.number is not None else None,
        source=own[-1].source,
        running_source=engines.source,
        complete=any(row.event in ALWAYS_THERE for row in rows),
    )
    return None if _impossible(facts, found) else found


def _rows(facts: Facts) -> list[MonSysWaits]:
    """One row for each event and instance, of an interval if there is one."""
    rows = list({(row.instance, row.event, row.of_interval): row for row in facts.every(MonSysWaits)}.values())
    sample = sample_of(facts, rows)
    return [replace(row, seconds=sample.seconds) if row.of_interval else row for row in rows] if sample else rows


def sample_of(facts: Facts, rows: list[MonSysWaits]) -> SysmonSample | None:
    """The sp_sysmon whose length differences without any times are of, as it counted as many waits; else `None`.

    Both copies of a table were then taken around the one sample that the folder holds.
    """
    whole, samples = [row for row in rows if row.of_interval], [one for one in facts.every(SysmonSample) if one.seconds]
    if not whole or len(samples) != 1 or any(row.seconds for row in whole):
        return None
    switches = {one.cause: one.count for one in facts.every(TaskSwitches)}
    pairs = [(row.waits, switches.get(SAME_COUNT[row.event])) for row in whole if row.event in SAME_COUNT]
    counts = [(one, other) for one, other in pairs if known(one) and other is not None and known(other)]
    near = [100.0 * abs(one - other) <= SAME_PERCENT * max(one, other) for one, other in counts]
    return samples[0] if near and all(near) and max(min(pair) for pair in counts) >= SAME_LEAST else None


def _missing(rows: list[MonSysWaits], what: str, events: frozenset[int]) -> Unknown | None:
    """Why waits of an interval cannot be had from these rows."""
    whole = [row for row in rows if row.of_interval]
    if not whole:
        lacking = MissingInput("waits between two snapshots", MonSysWaits.COLLECTED_BY)
        return Unknown((lacking,), f"{what}: monSysWaits was read once, its totals are an average over days")
    if not any(row.seconds for row in whole):
        return Unknown((NO_TIMES,), f"{what}: the snapshots of monSysWaits have no times")
    if not any(row.event in events for row in whole) and any(row.event in events for row in rows):
        lacking = MissingInput("waits between two snapshots", MonSysWaits.COLLECTED_BY)
        return Unknown((lacking,), f"{what}: the event stands in one snapshot of monSysWaits alone")
    if not any(known(row.wait_seconds) for row in whole):
        return Unknown.without("WaitTime of the events", MonSysWaits.COLLECTED_BY, f"{what}: waits without their time")
    return None


def _switched_off(facts: Facts, rows: list[MonSysWaits], what: str) -> Unknown | None:
    """Waits are counted without time while the switch is off."""
    setting = setting_of(facts, SWITCH)
    timed = any(known(row.wait_seconds) and row.wait_seconds for row in rows if row.of_interval)
    if timed or setting is None or setting.run_number != 0:
        return None
    return Unknown.without("time of waits", f'sp_configure "{SWITCH}", 1', f"{what}: `{SWITCH}` is off")


def _sum(rows: list[MonSysWaits], field: str) -> float:
    return float(sum(value for row in rows if known(value := getattr(row, field))))


def _tasks(row: MonSysWaits, seconds: float) -> float:
    """Tasks that waited for one event; none where its seconds are of the time before."""
    time = row.wait_seconds if known(row.wait_seconds) else 0.0
    waits = row.waits if known(row.waits) else 0.0
    return 0.0 if _unsure(time, waits, seconds) else time / seconds


def _unsure(time: float, waits: float, seconds: float) -> str:
    """Why seconds waited are no measure of waiting tasks here; nothing where they are."""
    if not time and waits >= seconds:  # fewer are less than one task, even if each lasted nearly a second
        return "their time is not booked, which is not the same as no time"
    if _began_before(time, waits, seconds):
        return f"they lasted {time / waits:,.0f} s on average and were booked when they ended, so they began before"
    if seconds < COARSE_INTERVAL and 0 < time < COARSE_SECONDS:
        return f"{time:g} s in whole seconds is too little to go by"
    return ""


def _began_before(time: float, waits: float, seconds: float) -> bool:
    """Whether waits that ended within `seconds` began before, by their mean length."""
    return bool(waits) and time / waits >= LONG_WAIT * seconds


def _impossible(facts: Facts, found: Waited) -> Untrusted | None:
    """More tasks than the server can have cannot wait."""
    most = _most_tasks(facts)
    if found.unsure or most is None or found.tasks <= most:
        return None
    return Untrusted(
        f"monSysWaits: {found.tasks:,.0f} tasks would have waited for {found.what} all the time, and the server has "
        f"{most:,.0f} at most"
    )


def _most_tasks(facts: Facts) -> float | None:
    """Tasks there can be, by the settings, else twice the connections seen; `None` where neither was collected."""
    users = _setting(setting_of(facts, "number of user connections"))
    workers = _setting(setting_of(facts, "number of worker processes"))
    if users is not None and workers is not None:
        return users + workers + SYSTEM_TASKS
    seen = [row.connections for row in interval_first(facts, MonState) if known(row.connections)]
    return 2 * max(seen) + SYSTEM_TASKS if seen else None


def _setting(setting: ConfigParameter | None) -> float | None:
    return setting.run_number if setting else None
