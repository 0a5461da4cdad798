"""Kernel Utilization: engines, threads, run queues (ase-formats.md 1.5 [R]).

Process kernel::

    Engine Busy Utilization        CPU Busy   I/O Busy       Idle
    ------------------------       --------   --------   --------
      Engine 7                       12.5 %     77.9 %      9.6 %

Threaded kernel::

    Engine Utilization (Tick %)   User Busy   System Busy    I/O Busy        Idle
    -------------------------  ------------  ------------  ----------  ----------
    ThreadPool : syb_default_pool
     Engine 0                        86.4 %        12.2 %       0.0 %       1.3 %

One engine prints no Summary rows; a pool without work says `no activity during sample`. Engine numbers are global and
pools are sorted by name, so the first engine of a report need not be number 0.
"""

import re
from collections.abc import Iterator

from collectors.facts.ase.sysmon import EngineBusy, ThreadBusy
from collectors.facts.ase.sysmon_detail import ControllerActivity, PageFaults, RunnableTasks
from collectors.reports.ase.sp_sysmon.forms import COUNT, PER_SECOND, Form
from collectors.reports.ase.sp_sysmon.page import Block, Section

ENGINE = re.compile(r"Engine ([0-9]{1,4})")
THREAD = re.compile(r"Thread ([0-9]{1,6}) \((.{1,60})\)")
POOL = "ThreadPool : "
CONTROLLER = " Activity"
CONTROLLERS = ("CtlibController", "DiskController", "NetController")
FAULTS, MAJOR = "Page Faults at OS", "Major Faults"
POLLS = {
    "Polls": "polls",
    "Polls Returning Events": "polls_with_events",
    "Polls Returning Max Events": "polls_with_most",
    "Total Events": "events",
    "Events Per Poll": "events_per_poll",
}
"""Rows of a controller, which leaves out what is zero; none of them without polls."""
FIELDS = {
    "User Busy": "user_percent",
    "CPU Busy": "user_percent",
    "System Busy": "system_percent",
    "I/O Busy": "io_percent",
    "IO Busy": "io_percent",
    "Idle": "idle_percent",
}


def kernel(section: Section) -> Iterator[Form]:
    """Every engine, thread, run queue and controller."""
    for block in section.blocks:
        controller = block.label.removesuffix(CONTROLLER)
        if controller in CONTROLLERS and "Polls" in block.rows:
            polls = {field: (block.rows.get(label), COUNT) for label, field in POLLS.items()}
            last = max(at for label, at in block.rows.items() if label in POLLS)
            yield Form(ControllerActivity, block.at, last, {"controller": controller}, polls)
        if block.label == FAULTS and MAJOR in block.rows:
            at = block.rows[MAJOR]
            yield Form(PageFaults, at, at, cells={"major": (at, COUNT), "major_per_second": (at, PER_SECOND)})
        busy = block.columns[-1] == "Idle" or block.columns == ("CPU Busy",)
        pool = block.label.removeprefix(POOL).strip() if block.label.startswith(POOL) else None
        for label, at in block.rows.items():
            if label.startswith("Pool Summary"):
                pool = None  # the next pool's heading is lost
            elif busy and (found := ENGINE.fullmatch(label)):
                yield Form(EngineBusy, at, at, {"engine": int(found[1]), "pool": pool}, _cells(block, at))
            elif busy and (found := THREAD.fullmatch(label)):
                given = {"thread": int(found[1]), "name": found[2], "pool": pool}
                yield Form(ThreadBusy, at, at, given, _cells(block, at))
            elif block.columns[0] == "1 min" and (label == "Global Queue" or ENGINE.fullmatch(label)):
                cells = {"one_minute": (at, 0), "five_minutes": (at, 1), "fifteen_minutes": (at, 2)}
                yield Form(RunnableTasks, at, at, {"queue": label, "pool": pool}, cells)


def _cells(block: Block, at: int) -> dict[str, tuple[int | None, int]]:
    """Where the figures stand, counted from the right."""
    many = len(block.columns)
    return {FIELDS[name]: (at, place - many) for place, name in enumerate(block.columns)}
