"""Tasks wait for slow writes of a transaction log.

Finds: tasks that wait for the last page of a log to be written (wait events 54 and 55 of monSysWaits), as an average
number over the interval and as a share of the tasks that wait or run, where a task's own write (event 55) takes long.
Where these waits were not collected, as advice, a device of the log of a user database that takes as long (monIOQueue)
and mostly writes (monDeviceIO), with one write or more under way on average.

Why it matters: a transaction has ended when its log page is on the device, and it keeps its locks until then. One slow
log device holds up every task that commits, and the queue for the end of the log behind it.

What to do: find out which log device it is (monIOQueue names it, monOpenDatabases the database) and what makes it slow,
with the tools of the host: devices that share spindles with data, a write cache that is off, mirrored storage far away.
Where sp_helpdevice shows it with dsync on and directio off, and a quick device beside it with directio, it is opened as
that one is. After that, fewer and larger transactions, a log I/O size that fits, and, where its owner accepts that a
crash may lose the last moment, delayed commit.

When to ignore it: where a write takes less than the limit, which is this project's, as none is published, it is a note:
the number of commits makes these waits as much as the device does. sp_sysmon counts switches for log writes and no
time, so it decides nothing here, and a large share of group commit sleeps at a high rate is no problem by the vendor's
own words.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial

from collectors.facts import Facts
from collectors.facts.ase import DeviceAttributes, MonIOQueue
from rules.ase._evidence.log.committers import Committers, committers
from rules.ase._evidence.log.databases import Most, most_of
from rules.ase._evidence.log.levers import (
    LEVER_FACTS,
    LogLimits,
    behind_times,
    delayed,
    fast_device,
    left,
    levers,
    of_log,
    own_evidence,
    own_milliseconds,
    own_write,
    whose_evidence,
)
from rules.ase._evidence.log.mixed import mixed_evidence, mixed_logs
from rules.ase._evidence.log.write_path import WritePath, write_path
from rules.ase._evidence.server import subject_of
from rules.ase._evidence.waits import devices
from rules.ase._evidence.waits.events import LOG_WRITES
from rules.ase._evidence.waits.tasks import Waited, waited_for
from rules.ase._evidence.waits.verdict import TooLong, WaitLimits, judge_waits
from rules.changes.ase_device import direct_io
from rules.changes.quoting import comment
from rules.engine import rule
from rules.finding import LONGEST_PART, Change, Evidence, Finding, Outcome, Severity, Unknown, joined

LINKS = (
    "https://infocenter.sybase.com/help/topic/com.sybase.infocenter.dc00848.1570/html/monitor_tables/CHDEHBAG.htm",
    "https://infocenter.sybase.com/help/topic/com.sybase.infocenter.dc00842.1570/html/spsysmon/X94488.htm",
    "https://infocenter.sybase.com/help/topic/com.sybase.infocenter.dc36273.1600/doc/html/san1393052004947.html",
)
WHAT = "writes of the last log page"
SLOW = (
    "A task's own write (event 55) has nothing but the log device to wait for, and every commit of that database "
    "waits with it."
)
MOST_OWN = (
    "Most of these tasks wait for their own write (event 55) and so for nothing but the log device: {0:,.1f} ms each"
)
OWN_TAKES = "A task's own write (event 55) takes {0:,.1f} ms"
UNDER = "{0}, under this project's limit of {1:g} ms (no limit is published for log writes). {2}."
BOTH = "Fewer commits and a faster device both shorten it"
COMMITS = "At that speed fewer commits shorten it, and hardly another device"
NOT_DEVICE = "A wait behind another's write (event 54) lasts {0:.0f} of them, which no device explains"
DEVICE = (
    "Find out what slows {0}: {1}a network mount, paths shared with data, no write cache, a remote mirror; if none "
    "does, move the log to a faster device."
)
BUFFERED = "dsync in place of directio (`sp_deviceattr`), "
DIRECT = (
    "Open {0} as {1} is: `sp_deviceattr {0}, dsync, false`, then `sp_deviceattr {0}, directio, true` (refused while "
    "dsync is on), then one restart, never with both off."
)
DATABASE = "Which database's log it is: monOpenDatabases (AppendLogRequests, AppendLogWaits) shows"

NEED_NOT = "; the device with most writes need not be that of the log"


@dataclass(frozen=True)
class Limits(LogLimits, WaitLimits):
    """`WaitLimits` and `LogLimits`."""


@rule(needs=(), uses=(*LEVER_FACTS, *devices.DEVICE_FACTS, DeviceAttributes), links=LINKS, limits=Limits)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Judge by the time that tasks waited; sp_sysmon has none."""
    found = partial(_finding, facts, limits)
    by_device = partial(_by_device, facts, limits)
    lacking = (devices.MISSING_LOG,)
    yield from judge_waits(facts, limits, found, what=WHAT, events=LOG_WRITES, when_unsure=lacking, otherwise=by_device)


def _finding(facts: Facts, limits: Limits, waits: TooLong) -> Iterator[Outcome]:
    mean, mixed = own_milliseconds(facts), mixed_logs(facts)
    slow = mean is not None and mean > limits.milliseconds
    own = own_write(facts)
    writers = devices.log_writers(facts, own.waits) if own and mean is not None else []
    counted = None if writers or (mean is not None and not slow) else devices.counted_by_sysmon(facts, writing=True)
    device = devices.slowest(writers, limits.milliseconds) if slow else ""
    path = devices.path_of(facts, writers, limits.milliseconds) if device else ""
    rest = left(facts, limits, beside_device=True)
    then = f"Then, in this order: {rest}{delayed(facts)}."
    opened = write_path(facts, next(iter(writers), None), limits.milliseconds) if device else None
    path = path if len(_step(f"{device}{path}", opened)) + len(then) < LONGEST_PART else ""
    faster = (
        "" if mean is None or fast_device(facts) or behind_times(facts) else ", a faster log device"
    )  # without a mean one of the rest
    do = (
        _steps(_step(f"{device}{path}" if device else "the log device", opened), then)
        if slow
        else f"What shortens it: {rest}{faster}."
    )
    untimed = "" if mean is not None else "How long a task's own write takes (event 55) cannot be told from these."
    whose = most_of(facts)
    lacking = _both(
        "" if of_log(facts) else DATABASE,
        "" if mean is None or writers else "monIOQueue shows which device it is",
    )
    loop = None if slow or mixed or mean is None else _loop(facts, limits, waits)
    evidence = (*waits.evidence, *own_evidence(facts, limits.milliseconds), *mixed_evidence(mixed))
    yield Finding(
        subject=subject_of(facts),
        severity=waits.severity if slow else Severity.ADVICE if mixed or loop else Severity.NOTE,
        title=waits.title
        + (f", {loop.program.name} commits each few rows" if loop else "")
        + (f"; a task's own write takes {mean:,.1f} ms" if mean is not None else "")
        + (f"; slow device: {device}" if device else "")
        + of_log(facts),
        seen=joined(
            waits.seen, _named(devices.say_devices(writers) or (counted.says if counted else ""), opened, whose)
        ),
        because=SLOW if slow else "" if mean is None or mixed else _under(facts, limits, mean),
        do=levers(facts, limits) if mixed or loop else do,
        unknown=joined(untimed, f"{lacking}{NEED_NOT if counted else ''}." if lacking else ""),
        evidence=(
            *evidence,
            *(one.evidence for one in writers),
            *((counted.evidence,) if counted else ()),
            *(opened.evidence if opened else ()),
            *whose_evidence(facts),
        ),
        explains=("ase/log_semaphore_contended",) if slow else (),
        changes=_changes(opened),
    )
    if slow and not writers:
        yield Unknown((devices.MISSING_LOG,))


def _by_device(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """A log device that takes long, where no export says how many tasks wait for it: what is under way there is known.

    Not one that mostly reads, as for a dump of the log, nor one of which monDeviceIO does not say it.
    """
    writing = {one.row.device for one in devices.mostly_written(facts)}
    for one in devices.devices_of(facts, writing=True):
        row, mean = one.row, one.mean_milliseconds
        user_log = isinstance(row, MonIOQueue) and row.kind == MonIOQueue.USER_LOG
        if not user_log or row.device not in writing or mean <= limits.milliseconds or one.under_way < limits.tasks:
            continue
        name = comment(row.device)
        quick = devices.besides([one, *devices.data_devices(facts)], limits.milliseconds).strip(",")
        opened = write_path(facts, one, limits.milliseconds)
        yield Finding(
            subject=f"{subject_of(facts)}: {name}",
            severity=Severity.ADVICE,
            title=f"The log device {name} takes {mean:,.1f} ms a write; {one.under_way:.1f} are under way on average",
            seen=f"{one.requests:,.0f} requests for the log (User Log of monIOQueue) in {row.seconds:,.0f} s took "
            f"{mean:,.1f} ms each on {name}, which mostly writes{f',{quick}' if quick else ''}"
            f"{f'; {opened.says}' if opened else ''}.",
            because="Every commit of that database waits for such a write, and keeps its locks until then.",
            do=_steps(_step(name, opened), f"Then, in this order: {left(facts, limits, beside_device=True)}."),
            unknown="How many tasks wait for it, two snapshots of monSysWaits show (events 54 and 55).",
            evidence=(
                replace(one.evidence, limit=limits.milliseconds),
                Evidence("writes under way on average", round(one.under_way, 2), "", row.source, limits.tasks),
                *(opened.evidence if opened else ()),
            ),
            changes=_changes(opened),
        )


def _step(device: str, opened: WritePath | None) -> str:
    """What is done about a slow device: how it is opened, where its directory has a quick one with directio."""
    if opened and opened.beside:
        return DIRECT.format(comment(opened.slow.name), comment(opened.sister.name))
    return DEVICE.format(device, BUFFERED if opened else "")


def _steps(device: str, then: str) -> str:
    """What is done about the device, and then; of names so long that both would not be read, the first alone."""
    both = joined(device, then)
    return both if len(both) <= LONGEST_PART else device


def _changes(opened: WritePath | None) -> tuple[Change, ...]:
    return (direct_io(opened.slow.name),) if opened and opened.beside else ()


def _named(device: str, opened: WritePath | None, whose: Most | None) -> str:
    """Device, how it is opened, and database in one sentence."""
    said = (device, opened.says if opened else "", whose.says if whose else "")
    parts = [one.rstrip(".") for one in said if one]
    return f"{'; '.join(parts)}." if parts else ""


def _loop(facts: Facts, limits: Limits, waits: TooLong) -> Committers | None:
    """The program that commits in a loop, where a third of the tasks that wait or run wait for the log behind it."""
    every, most = waited_for(facts, WHAT, LOG_WRITES), committers(facts)
    if most is None or not most.loops or waits.severity < Severity.ADVICE or not isinstance(every, Waited):
        return None
    return most if every.percent >= limits.critical_percent else None


def _both(*parts: str) -> str:
    """The parts that say something, as one sentence without its end."""
    return ", and ".join(one for one in parts if one)


def _under(facts: Facts, limits: Limits, mean: float) -> str:
    """What a write below the limit tells: the device is what most wait for where most waiting time is of event 55."""
    own, every = own_write(facts), waited_for(facts, WHAT, LOG_WRITES)
    most = own and isinstance(every, Waited) and own.waited_seconds > every.waited_seconds / 2
    said = (MOST_OWN if most else OWN_TAKES).format(mean)
    times = behind_times(facts)
    other = COMMITS if fast_device(facts) else BOTH
    return UNDER.format(said, limits.milliseconds, NOT_DEVICE.format(times) if times else other)
