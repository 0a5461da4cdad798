"""A thread for disk or network is saturated while the engines are not.

Finds: a disk or network thread of the threaded kernel that used 80 % of a CPU or more, by sp_sysmon's Thread
Utilization (OS %), while the engines had time left; beside it the events that each poll of its controller gave.

Why it matters: these threads hand the requests of all engines to the operating system, and its answers back. One that
is saturated starves the engines: tasks wait for reads, writes or packets that are there already (vendor: a network task
80 % busy beside engines with little to do is likely to starve them).

What to do: one disk or network task more (`number of disk tasks`, `number of network tasks`), if the host has a
processor for its thread. `sp_configure` shows the range, and whether it needs a restart: no source read here has them,
so there is a script only where the listing that was collected calls the setting dynamic.

How loud it is: advice; a warning where a thread uses 95 % of a CPU and half of its polls give as many events as one
can.

When to ignore it: on busy engines, which need their processors first. sp_sysmon may print more than 100 % for a thread,
by the way it collects (vendor). In process mode there are no such threads.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from collectors.facts import Facts, Source, known
from collectors.facts.ase import ConfigParameter, ControllerActivity, HostProcessors, ThreadBusy
from rules.ase._evidence.host import LOAD_FACTS, SAME_MINUTES, load_of
from rules.ase._evidence.server import ENGINE_FACTS, engines_of, setting_of, subject_of, unknown_of
from rules.changes.ase_config import configure
from rules.changes.out_of_range import OutOfRange
from rules.engine import limit, percent, rule
from rules.finding import Change, Clean, Evidence, Finding, Outcome, Severity, Unknown, joined

LINKS = (
    "https://infocenter.sybase.com/help/topic/com.sybase.infocenter.dc00842.1570/html/spsysmon/spsysmon33.htm",
    "https://justdaveinfo.wordpress.com/2015/05/19/sap-sybase-ase-magic-numbers-and-hardcoded-behaviour/",
)
THREADS = {"DiskController": ("disk", "number of disk tasks"), "NetController": ("network", "number of network tasks")}
"""Names that sp_sysmon prints, and the parameter that makes more of them."""
EXPLAINS = {"network": ("ase/clients_take_rows_slowly",), "disk": ("ase/reads_slow", "ase/data_writes_slow")}
"""What tasks then wait for, by the kind of thread."""
STARVES = "A saturated thread of this kind starves the engines: what they wait for is there, and nobody hands it over."
PROCESSOR = "Each task is a thread of its own: the host must have a processor for it."
FIRST = "`sp_configure` shows its range and whether it needs a restart; hold the same minutes against it afterwards."


@dataclass(frozen=True)
class Limits:
    """How busy such a thread is, and how busy engines may be beside it."""

    thread_percent: float = percent(80.0, "vendor: a network task so busy, in its example of a saturated one")
    events_per_poll: float = limit(
        3.0, "practice: above 3 events a poll more disk or network tasks (justdaveinfo); shown beside the first figure"
    )
    saturated_percent: float = percent(95.0, "this project: nothing of a CPU is left to the thread", low=1)
    full_polls_percent: float = percent(50.0, "this project: more is there than most polls can fetch", low=1)
    engine_percent: float = percent(85.0, "practice: CPU of 85 % (Rukav's sp_sysmon hints)")


@dataclass(frozen=True)
class Busiest:
    """The busiest thread of one kind."""

    kind: str
    parameter: str
    percent: float
    threads: int
    source: Source


@rule(needs=(), uses=(*ENGINE_FACTS, *LOAD_FACTS, ThreadBusy, ControllerActivity), links=LINKS, limits=Limits)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Hold the busiest thread of each kind against the engines."""
    found = [one for name, (kind, parameter) in THREADS.items() if (one := _busiest(facts, name, kind, parameter))]
    if not found:
        yield unknown_of(facts, ThreadBusy)
        return
    engines = engines_of(facts)
    said = ", ".join(
        f"the busiest {one.kind} thread used {one.percent:.0f} % of a CPU{_say_events(facts, one)}" for one in found
    )
    hot = [one for one in found if one.percent >= limits.thread_percent]
    if not hot:
        yield Clean(f"{said} (limit {limits.thread_percent:g} %)")
    elif engines.busy_percent is None:
        yield Unknown.without("how busy the engines are", ThreadBusy.COLLECTED_BY, said)
    elif engines.busy_percent >= limits.engine_percent:
        yield Clean(f"{said}, but the engines are {engines.busy_percent:.0f} % busy: they need their processors first")
    else:
        for one in hot:
            yield _finding(facts, limits, one, engines.busy_percent, engines.source)


def _busiest(facts: Facts, name: str, kind: str, parameter: str) -> Busiest | None:
    """The busiest thread of this name; `None` where none has a figure that can be one."""
    rows = {one.thread: one for one in facts.every(ThreadBusy) if one.name.strip().startswith(name)}
    read = [(one, used) for one in rows.values() if (used := _used(one)) is not None]
    if not read:
        return None
    most, used = max(read, key=lambda pair: pair[1])
    return Busiest(kind, parameter, used, len(rows), most.source)


def _per_poll(facts: Facts, limits: Limits, one: Busiest) -> Iterator[Evidence]:
    """Events of each poll: many of them say the same from the other side, and alone they say nothing."""
    row = _events(facts, one)
    if row and known(row.events_per_poll):
        yield Evidence(f"{one.kind} events for each poll", row.events_per_poll, "", row.source, limits.events_per_poll)


def _events(facts: Facts, one: Busiest) -> ControllerActivity | None:
    """What the threads of this kind were given for each poll, where it is printed."""
    name = next(name for name, (kind, _) in THREADS.items() if kind == one.kind)
    row = facts.latest(ControllerActivity, controller=name)
    return row if row and known(row.events_per_poll) and row.events_per_poll >= 0 else None


def _say_events(facts: Facts, one: Busiest) -> str:
    row = _events(facts, one)
    return f" with {row.events_per_poll:g} events a poll" if row else ""


def _used(one: ThreadBusy) -> float | None:
    if not known(one.user_percent) or one.user_percent < 0:
        return None
    system = one.system_percent if known(one.system_percent) else 0.0
    return min(100.0, one.user_percent + system) if system >= 0 else None


def _full_polls(facts: Facts, one: Busiest) -> float | None:
    """Share of the polls that gave as many events as one can, per cent; `None` where it is not printed."""
    row = _events(facts, one)
    if row is None or not known(row.polls) or not known(row.polls_with_most) or row.polls <= 0:
        return None
    share = 100.0 * row.polls_with_most / row.polls
    return share if 0 <= share <= 100 else None


def _one_more(setting: ConfigParameter | None) -> Change | None:
    """One task more, where the listing says that it takes effect at once and that the range has room."""
    now = setting.run_number if setting else None
    if setting is None or now is None or setting.pending or (setting.kind or "").lower() != "dynamic":
        return None
    if known(setting.maximum) and now + 1 > setting.maximum:
        return None
    try:
        return configure(setting.name, now, now + 1, cautions=(PROCESSOR,))
    except OutOfRange:
        return None


def _finding(facts: Facts, limits: Limits, one: Busiest, busy: float, engines: Source) -> Finding:
    setting = setting_of(facts, one.parameter)
    running = setting.run_number if setting else None
    change = _one_more(setting)
    now = f" ({running:g} now)" if running is not None else ""
    full = _full_polls(facts, one)
    loud = one.percent >= limits.saturated_percent and full is not None and full >= limits.full_polls_percent
    polls = f" {full:.0f} % of its polls gave as many events as one can." if full is not None and loud else ""
    load = load_of(facts)
    idle, number = load.idle if load else None, engines_of(facts).number
    unknown = "Whether the host has a processor for one more thread, no export of the server shows."
    if load and load.cpus is not None and idle is not None:
        left = f"Of {load.cpus:,.0f} CPUs of the host {idle:.1f} are idle ({load.command})"
        more = "one more thread has a processor" if idle >= 1 else "one more thread would take turns with the engines"
        unknown = f"{left}, so {more}. {SAME_MINUTES.format(load.command)}"
    elif (host := facts.latest(HostProcessors)) and known(host.cpus) and number is not None:
        unknown = (
            f"The host has {host.cpus:,.0f} CPUs for {number} engines; whether one is idle meanwhile, a vmstat "
            "of the host shows."
        )
    return Finding(
        subject=f"{one.kind} thread",
        severity=Severity.WARNING if loud else Severity.ADVICE,
        title=f"{subject_of(facts)}: a {one.kind} thread uses {one.percent:.0f} % of a CPU",
        seen=f"The busiest of {one.threads} {one.kind} threads used {one.percent:.0f} % of a CPU, by the operating "
        f"system, while the engines were {busy:.0f} % busy.{polls}",
        because=STARVES,
        do=f"Raise {one.parameter} from {change.old:g} to {change.new:g} (takes effect at once), and hold the same "
        "minutes against it afterwards."
        if change
        else joined(f"Ask for one more by {one.parameter}{now}.", FIRST),
        changes=(change,) if change else (),
        unknown=unknown,
        explains=EXPLAINS[one.kind],
        evidence=(
            Evidence(
                f"CPU of the busiest {one.kind} thread", round(one.percent, 1), "%", one.source, limits.thread_percent
            ),
            Evidence("mean engine busy", round(busy, 1), "%", engines, limits.engine_percent),
            *_per_poll(facts, limits, one),
            *((Evidence(one.parameter, running, "", setting.source),) if setting and running is not None else ()),
        ),
    )
