"""Tasks wait for slow writes of data pages.

Finds: tasks that wait until a data page is written (wait events 31, 36, 51 and 52 of monSysWaits), as an average number
over the interval and as a share of the tasks that wait or run, with the mean time of a wait.

Why it matters: a task that wants to change a page while it is being written waits for the device, and keeps its locks.
Checkpoint, housekeeper and the wash of the caches write beside the statements, so slow devices hold up tasks that do
not write themselves.

What to do: of slow writes, look below the device that monDeviceIO names, with the tools of the host. Where most of
these waits are for a page that another task writes (36, 52) and the table that is updated most lies on a few pages,
these are likely the pages: fewer rows on each, and fewer updates, help whatever the device takes. The housekeeper may
add writes in idle time up to `housekeeper free write percent`, one in a hundred by default; a system whose disks are
overloaded cannot bear more (vendor: Configuration Parameters 16.0), so a higher value goes back to the default. Zero is
the vendor's step only where the disks cannot bear any, and then statistics have to be flushed by hand
(`sp_flushstats`): nothing here shows that, so it is not advised.

How loud it is: as other waits where a write takes longer than the limit, which is this project's, as none is published;
else a note.

When to ignore it: writes that are fast are waited for because several tasks change the same page (36, 52) or its index
splits (51), which no device mends. Where tasks also wait for a free buffer (ase/cache_stalls) the housekeeper's writes
help, and its setting is left alone.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from collectors.facts import Facts
from collectors.facts.ase import ConfigParameter, SegmentUse, TableScheme
from rules.ase._evidence.log.levers import SLOW_MS
from rules.ase._evidence.objects.seen import name_of, schemes, table_key
from rules.ase._evidence.server import server_of, setting_of, subject_of
from rules.ase._evidence.waits import devices
from rules.ase._evidence.waits.events import DATA_WRITES, FREE_BUFFERS
from rules.ase._evidence.waits.hot_rows import HOT_ROW_FACTS, Updated, most_updated
from rules.ase._evidence.waits.tasks import WAIT_FACTS, Waited, tasks_by_event, waited_for
from rules.ase._evidence.waits.verdict import TooLong, WaitLimits, judge_waits
from rules.changes.ase_config import PARAMETERS, configure, waiting_number
from rules.changes.quoting import bare_table, comment, is_plain
from rules.engine import limit, rule
from rules.finding import Change, Evidence, Finding, Outcome, Severity, Unknown, joined

LINKS = (
    "https://infocenter.sybase.com/help/topic/com.sybase.infocenter.dc00848.1570/html/monitor_tables/CHDEHBAG.htm",
    "https://infocenter.sybase.com/help/topic/com.sybase.infocenter.dc31654.1600/doc/html/san1360629094986.html",
)
WHAT, SETTING = "writes of data pages", "housekeeper free write percent"
SLOW = "A task that wants to change a page waits until it is written, and keeps its locks meanwhile."
FAST = (
    "Writes this fast are waited for because several tasks change the same page (events 36 and 52), or its index "
    "splits (51): a faster device alone does not mend it."
)
UNTIMED = "How long a write takes cannot be told from these."
DEVICES = "Look below {0} with the tools of the host: service time and queue of the disk, paths, a write cache."
NARROW = "Where the same pages are changed again and again: fewer rows on each, and shorter transactions."
HOT = (
    "{0} the rows of {1} over more pages{2}, or change them less often: {3:,.0f} updates a second on few pages, likely "
    "those that are written."
)
ROW_SIZE = ' (`sp_chgattribute "{0}", "exp_row_size", <n>`{1}, and `reorg rebuild {0}`)'
VARIABLE = ", before 16.0 of variable length alone"
CHANGING = frozenset((36, 52))
"""A task wants to change a page that is being written: of these waits alone a hot page is a cause."""
CAUTION = (
    "The housekeeper then writes less in idle time: more buffers reach the wash marker dirty (events 46 and 47), and "
    "checkpoints write more. Watch both."
)
LEFT = "The housekeeper's setting is left alone, because tasks wait for a free buffer as well (events 46 and 47)."


@dataclass(frozen=True)
class Limits(WaitLimits):
    """`WaitLimits`, and from what time on a write is slow."""

    milliseconds: float = limit(
        SLOW_MS, "this project: no limit is published for writes; the vendor calls a read above 10 ms slow", unit="ms"
    )


@rule(
    needs=(),
    uses=(*WAIT_FACTS, ConfigParameter, *devices.DEVICE_FACTS, *HOT_ROW_FACTS, TableScheme, SegmentUse),
    links=LINKS,
    limits=Limits,
)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Judge by the time that tasks waited; sp_sysmon has none."""
    found = partial(_finding, facts, limits)
    yield from judge_waits(facts, limits, found, what=WHAT, events=DATA_WRITES, when_unsure=(devices.MISSING,))


def _finding(facts: Facts, limits: Limits, waits: TooLong) -> Iterator[Outcome]:
    mean = waits.mean_milliseconds
    slow = mean is not None and mean > limits.milliseconds
    writers = devices.data_writers(facts) if slow else []
    device = devices.slowest(writers, limits.milliseconds)
    below = DEVICES.format(f"{device}{devices.besides(writers, limits.milliseconds)}" if device else "the device")
    change, said = _housekeeper(facts, limits) if slow else (None, "")
    page = _hot_page(facts)
    hot = _spread(facts, page, after=slow) if page else ""
    yield Finding(
        subject=subject_of(facts),
        severity=waits.severity if slow else Severity.NOTE,
        title=waits.title
        + (f" of {mean:,.1f} ms each" if mean is not None else "")
        + (f"; slow device: {device}" if device else "")
        + (f"; likely pages of {comment(name_of(page.row))}" if page else "")
        + (f"; {SETTING} is {change.old:g}" if change and isinstance(change.old, float) else ""),
        seen=joined(waits.seen, devices.say_devices(writers)),
        because=SLOW if slow else FAST if mean is not None else "",
        do=joined(*((said, below) if change else (below, said)), hot) if slow else hot or NARROW,
        unknown=joined(
            waits.unknown,
            UNTIMED if mean is None else "",
            "Which device it is: two readings of monDeviceIO and monIOQueue show." if slow and not writers else "",
        ),
        evidence=(
            *waits.evidence,
            *(one.evidence for one in writers),
            *((page.evidence, *_on_devices(facts, page)) if page else ()),
            *_setting(facts),
        ),
        changes=(change,) if change else (),
    )
    if slow and not writers:
        yield Unknown((devices.MISSING,))


def _hot_page(facts: Facts) -> Updated | None:
    """The table whose pages are likely wanted while they are written, where most of the waits are of that kind."""
    tasks = {one.event: one.tasks for one in tasks_by_event(facts) if one.event in DATA_WRITES}
    changing = sum(tasks[event] for event in CHANGING & tasks.keys())
    return most_updated(facts) if 2 * changing > sum(tasks.values()) else None


def _on_devices(facts: Facts, page: Updated) -> Iterator[Evidence]:
    """On which devices its segment lies, where it was listed; the name of a table is all that the listing has."""
    for one in facts.every(SegmentUse):
        if page.row.object_name in one.tables:
            devices = comment(", ".join(one.devices))
            yield Evidence(f"devices of {name_of(page.row)} (segment {comment(one.segment)})", devices, "", one.source)


def _spread(facts: Facts, page: Updated, *, after: bool) -> str:
    """How its rows come to lie on more pages; `after`: behind the device, as a step of its own."""
    table, scheme = page.row.object_name or "", schemes(facts).get(table_key(page.row))
    server = server_of(facts)
    old = "" if server and server.before(16) is False else VARIABLE
    how = ROW_SIZE.format(bare_table(table), old) if scheme and scheme.scheme != "allpages" and is_plain(table) else ""
    return HOT.format("Then spread" if after else "Spread", comment(name_of(page.row)), how, page.per_second)


def _housekeeper(facts: Facts, limits: Limits) -> tuple[Change | None, str]:
    """Back to the default where more is allowed, and nothing says that the housekeeper's writes are needed."""
    setting = setting_of(facts, SETTING)
    now, waiting, default = (
        setting.run_number if setting else None,
        waiting_number(setting),
        PARAMETERS[SETTING].default,
    )
    if now is None or default is None or now <= default:
        return None, ""
    stalls = waited_for(facts, "a free buffer", FREE_BUFFERS)
    if isinstance(stalls, Waited) and not stalls.unsure and stalls.tasks >= limits.tasks:
        return None, LEFT
    change = configure(SETTING, now, default, cautions=(CAUTION,), configured=waiting)
    return change, f"Lower {SETTING} from {now:g} to {default:g}, the default (dynamic)."


def _setting(facts: Facts) -> tuple[Evidence, ...]:
    setting = setting_of(facts, SETTING)
    if setting is None or setting.run_number is None:
        return ()
    return (Evidence(SETTING, setting.run_number, "%", setting.source),)
