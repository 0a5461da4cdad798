"""sp_sysmon: the report of a sample, printed line by line, of the same rates as the monitoring tables have.

Sections and rows: knowledge/ase-formats.md, 1. What this server has no figures for is left out, as with a report that
was asked for by section.
"""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

from tests.live.ase import monitoring, sysmon_caches, sysmon_locks
from tests.live.ase.paper import DASHES, HEADING, RULE, SHORT_DASHES, Paper
from tests.live.tds.tokens import Event, Pause, Status, printed

if TYPE_CHECKING:
    from tests.live.ase.world import World

VERSION_WIDTH = 56
"""The header cuts the version every so many letters, in the middle of a word."""
TITLE = "      Sybase Adaptive Server Enterprise System Performance Report"
END = "=============================== End of Report ================================="
DATE = "%b %d, %Y"


def report(world: "World", seconds: float) -> Iterator[Event]:
    """Sample for so many of the server's seconds, and print the report."""
    began = world.clock.moment()
    yield Pause(seconds / world.clock.pace)
    rates = world.release.sysmon
    paper = Paper(seconds, rates["Committed Xacts"][0] * seconds)
    _header(world, paper, began, world.clock.moment(), seconds)
    _kernel(world, paper)
    _workers(paper)
    _tasks(world, paper)
    _transactions(world, paper)
    _metadata(world, paper, seconds)
    sysmon_locks.write(world, paper)
    sysmon_caches.write(world, paper)
    _procedures(paper)
    _disks(world, paper)
    _network(paper)
    paper.say(END)
    for line in paper.lines():
        yield printed(line + "\n")
    yield Status(0)


def _header(world: "World", paper: Paper, began: datetime, ended: datetime, seconds: float) -> None:
    paper.say(RULE, TITLE, RULE, "")
    version = world.release.version
    cut = [version[at : at + VERSION_WIDTH] for at in range(0, len(version), VERSION_WIDTH)]
    cut = cut[:1] if world.release.number == "15.7" else cut  # 15.7 prints what fits on a line
    labels = ["Server Version:"] + [""] * (len(cut) - 1)
    length = f"{int(seconds) // 3_600:02d}:{int(seconds) // 60 % 60:02d}:{int(seconds) % 60:02d}"
    facts = [
        *zip(labels, cut, strict=True),
        ("Run Date:", f"{began:{DATE}}"),
        ("Sampling Started at:", f"{began:{DATE} %H:%M:%S}"),
        ("Sampling Ended at:", f"{ended:{DATE} %H:%M:%S}"),
        ("Sample Interval:", length),
        ("Sample Mode:", "No Clear"),
        ("Counters Last Cleared:", f"{world.cleared:{DATE} %H:%M:%S}"),
        ("Server Name:", world.release.server),
    ]
    paper.say(*(f"{label:<23}{value}" for label, value in facts))


def _kernel(world: "World", paper: Paper) -> None:
    """Engines in ticks, and their threads as the operating system sees them."""
    paper.section("Kernel Utilization")
    load = world.activity["monEngine"][0]
    engines = [(one["UserCPUTime"].per_second, one["SystemCPUTime"].per_second) for one in monitoring.engines(world)]
    waiting = load["WaitingForIO"]
    paper.say("", "  Engine Utilization (Tick %)   User Busy   System Busy    I/O Busy        Idle", DASHES)
    paper.say("  ThreadPool : syb_default_pool")
    rows = [(user, system, waiting, 1 - user - system - waiting) for user, system in engines]
    paper.say(*(_shares(f"   Engine {at}", row, (39, 53, 65, 77)) for at, row in enumerate(rows)), DASHES)
    paper.say(*_summary("  Pool Summary ", rows, (39, 53, 65, 77)), "", DASHES)
    paper.say(*_summary("  Server Summary", rows, (39, 53, 65, 77)), "", "")
    seen = load["SystemSees"]
    paper.say("  Thread Utilization (OS %)     User Busy   System Busy        Idle", SHORT_DASHES)
    paper.say("  ThreadPool : syb_default_pool")
    threads = [(user * seen, system * seen, 1 - (user + system) * seen) for user, system in engines]
    paper.say(
        *(_shares(f"   Thread {at + 2:<4} (Engine {at})", row, (39, 53, 65)) for at, row in enumerate(threads)),
        SHORT_DASHES,
        *_summary("  Pool Summary", threads, (39, 53, 65)),
        "",
        "  ThreadPool : syb_system_pool",
        *(_shares(f"   Thread {at:<4} ({name})", row, (39, 53, 65)) for at, name, row in _system_threads(len(threads))),
        "",
    )
    units = sum(user + system for user, system, _ in threads)
    commits = paper.commits / paper.seconds / units
    paper.say(f"  Adaptive Server threads are consuming {units:.1f} CPU units.")
    paper.say(f"  Throughput (committed xacts per CPU unit) : {commits:.1f}", "")
    paper.table("  Page Faults at OS")
    paper.counted("   Minor Faults", 0.3, 0.3)
    paper.counted("   Major Faults", 0.0, 0.3)
    paper.total("   Total Page Faults", 0.3, 0.3)
    paper.say("")
    for controller, polls, events in (("Ctlib", 0, 0), ("Disk", 130 * paper.seconds, 3 * paper.seconds)):
        _controller(paper, controller, int(polls), int(events))


def _system_threads(engines: int) -> Iterator[tuple[int, str, tuple[float, ...]]]:
    """The threads that do I/O, of which none is busy here."""
    yield 1, "Signal Handler", (0.0, 0.0, 1.0)
    yield engines + 2, "NetController", (0.031, 0.052, 0.917)
    yield engines + 3, "DiskController", (0.012, 0.018, 0.970)


def _controller(paper: Paper, name: str, polls: int, events: int) -> None:
    """How often one kind of thread asked for finished I/O; the rows of what it had are left out where that is zero."""
    paper.say(f"  {name + 'Controller Activity':<30}  per sec      per xact       count  % of total")
    paper.say("  -------------------------  ------------  ------------  ----------  ----------")
    rates = [("Polls", polls, "n/a" if polls else "0.0 %")]
    if events:
        share = f"{50 * events / polls:.1f} %"
        rates += [("Polls Returning Events", events // 2, share), ("Polls Returning Max Events", 0, "0.0 %")]
        rates.append(("Total Events", events, "n/a"))
    for label, count, share in rates:
        each = count / max(paper.commits, 1)
        paper.say(f"   {label:<26}{count / paper.seconds:>12.1f}{each:>14.1f}{count:>12}{share:>12}")
    if events:
        paper.say(f"   {'Events Per Poll':<26}{'n/a':>12}{'n/a':>14}{events / polls:>12.3f}{'n/a':>12}")
    paper.say("")


def _shares(label: str, row: tuple[float, ...], ends: tuple[int, ...], scale: float = 100.0) -> str:
    """Write a row of percentages, each ending in its column."""
    line = label
    for value, end in zip(row, ends, strict=True):
        line += f"{value * scale:>{end - len(line)}.1f} %"
    return line


def _summary(label: str, rows: list[Any], ends: tuple[int, ...]) -> list[str]:
    sums = tuple(sum(column) for column in zip(*rows, strict=True))
    means = tuple(one / len(rows) for one in sums)
    return [_shares(f"{label:<20}Total", sums, ends), _shares(f"{'':<18}Average", means, ends)]


def _workers(paper: Paper) -> None:
    """Nobody asks for parallel plans here."""
    paper.section("Worker Process Management")
    paper.say(f"{'':<29}{HEADING:>50}", f"{'':<29}{DASHES[29:]}", " Worker Process Requests")
    paper.counted("   Total Requests", 0.0)
    paper.say("")


def _procedures(paper: Paper) -> None:
    """A procedure cache that holds what is asked for."""
    paper.say(RULE, "", f"{'Procedure Cache Management':<29}{HEADING:>50}", DASHES.replace("  -", "---", 1), "")
    for label, rate in (("Requests", 40.0), ("Reads from Disk", 0.0), ("Writes to Disk", 0.0)):
        paper.counted(f"  Procedure {label}", rate, None if label == "Requests" else 40.0)
    paper.counted("  Procedure Removals", 0.0)
    paper.counted("  Procedure Recompilations", 0.0)
    paper.say("")


def _network(paper: Paper) -> None:
    """Small answers, each in a packet of its own."""
    paper.section("Network I/O Management")
    paper.table("  Network Send Activity")
    paper.counted("  Total TDS Packets Sent", 160.0)
    paper.counted("  Total Bytes Sent", 160.0 * 210)
    paper.state("  Avg Bytes Sent per Packet", 210)
    paper.say("")


def _tasks(world: "World", paper: Paper) -> None:
    """Task switches and their causes; the waits are those of the other sections."""
    rates, waits = world.release.sysmon, sysmon_locks.waits(world)
    switches = rates["Task Switches"][0]
    paper.say(RULE, "", "Task Management                   per sec      per xact       count  % of total")
    paper.say("---------------------------  ------------  ------------  ----------  ----------", "")
    paper.counted("  Connections Opened", 0.5)
    paper.say("", "  Task Context Switches by Engine", "")
    engines = world.release.engines
    for engine in range(engines):
        paper.counted(f"    Engine {engine}", switches / engines, switches)
    paper.total("    Total Task Switches:", switches)
    paper.say("", "  Task Context Switches Due To:")
    events = {one["WaitEventID"]: one["Waits"].per_second for one in world.activity["monSysWaits"]}
    causes = {
        "Voluntary Yields": events.get(214, 0.0),
        "Cache Search Misses": events.get(29, 0.0),
        "Logical Lock Contention": waits["logical"],
        "Address Lock Contention": waits["address"],
        "Latch Contention": events.get(41, 0.0),
        "Log Semaphore Contention": rates["Log Semaphore"][1],
        "PLC Lock Contention": rates["ULC Semaphore"][1],
        "Group Commit Sleeps": events.get(54, 0.0) / 4,
        "Last Log Page Writes": events.get(55, 0.0),
        "Modify Conflicts": events.get(36, 0.0),
        "Network Packet Received": events.get(250, 0.0),
        "Network Packet Sent": events.get(251, 0.0),
    }
    for cause, rate in causes.items():
        paper.counted(f"    {cause}", rate, switches)
    paper.counted("    Other Causes", switches - sum(causes.values()), switches)
    paper.say("", "")


def _transactions(world: "World", paper: Paper) -> None:
    """What was committed, rows by lock scheme, why log caches were flushed, and the semaphores of the log."""
    rates = {name: rate for name, (rate, _) in world.release.sysmon.items()}
    paper.section("Transaction Profile")
    paper.table("  Transaction Summary")
    count = f"{paper.commits:.0f}"
    paper.say(f"    Committed Xacts{rates['Committed Xacts']:>22.1f}{'n/a':>14}{count:>12}{'n/a':>8}", "")
    paper.table("  Transaction Detail")
    inserts = {name: rates[name] for name in ("APL Heap Table", "APL Clustered Table", "Data Only Lock Table")}
    updates = {"APL Direct In-place": rates["APL Direct In-place"], "DOL Direct": rates["DOL Direct"]}
    deletes = {"APL Direct": rates["APL Delete"]}
    whole = sum((*inserts.values(), *updates.values(), *deletes.values()))
    groups: Mapping[str, tuple[str, Mapping[str, float]]] = {
        "Inserts": ("Total Rows Inserted", inserts),
        "Updates": ("Total Rows Updated", updates),
        "Deletes": ("Total Rows Deleted", deletes),
    }
    for group, (total, rows) in groups.items():
        paper.say(f"  {group}")
        if sum(rows.values()):
            paper.say("    Fully Logged")
            for name, rate in rows.items():
                paper.counted(f"      {name}", rate, sum(rows.values()))
            paper.total(f"  {total}", sum(rows.values()), whole)
        else:
            paper.counted(f"  {total}", 0.0)
        paper.say("")
    if rates["DOL Direct"]:
        paper.say("  Data Only Locked Updates")
        forwarded = rates["Forwarded"]
        paper.counted("    DOL Replace", rates["DOL Direct"] - forwarded, rates["DOL Direct"])
        paper.counted("    DOL Expand & Forward", forwarded, rates["DOL Direct"])
        paper.total("  Total DOL Rows Updated", rates["DOL Direct"], rates["DOL Direct"])
        paper.say("")
    paper.section("Transaction Management")
    _flushes(paper, *world.release.sysmon["ULC Flushes"], by_logging=world.release.number == "16.0")
    _semaphore(paper, "ULC Semaphore Requests", *world.release.sysmon["ULC Semaphore"])
    new = world.release.number == "16.0"
    _semaphore(paper, "Log Semaphore Requests", *world.release.sysmon["Log Semaphore"], local=new)
    writes, pages = world.release.sysmon["Log Writes"]
    paper.counted("  Transaction Log Writes", writes)
    paper.counted("  Transaction Log Alloc", pages)
    paper.state("  Avg # Writes per Log Page", writes / pages, decimals=5)
    paper.say("")


def _flushes(paper: Paper, rate: float, full: float, *, by_logging: bool) -> None:
    """Why user log caches were flushed: at the end of transactions, and the rest because they were full."""
    paper.table("  ULC Flushes to Xact Log")
    if by_logging:
        paper.say("  Any Logging Mode DMLs")
    paper.counted("    by End Transaction", rate - full, rate)
    if by_logging:
        paper.say("", "  Fully Logged DMLs")
    paper.counted("    by Full ULC", full, rate)
    paper.total("  Total ULC Flushes", rate)
    paper.say("")
    if by_logging:
        paper.say("  Max ULC Size During Sample", "  --------------------------")
        paper.state("  Fully Logged DMLs", 0)
        paper.state("  Minimally Logged DMLs", 0)
    else:
        paper.state("  Max ULC Size During Sample", 0)
    paper.say("")


def _semaphore(paper: Paper, name: str, rate: float, waited: float, *, local: bool = False) -> None:
    paper.table(f"  {name}")
    paper.counted("    Granted", rate - waited, rate)
    paper.counted("    Local Waited" if local else "    Waited", waited, rate)
    if local:
        paper.counted("    Global Waited", 0.0, rate)
    paper.total(f"  Total {name.replace('Semaphore', 'Sem').replace('Requests', 'Req')}", rate)
    paper.say("")


def _metadata(world: "World", paper: Paper, seconds: float) -> None:
    """Descriptors in use, and the spinlocks of their caches."""
    paper.section("Metadata Cache Management")
    paper.table("  Metadata Cache Summary")
    for name in ("objects", "indexes", "partitions", "databases"):
        one = next(found for found in world.resources if found["Name"] == f"number of open {name}")
        singular = {"indexes": "Index"}.get(name, name.capitalize().removesuffix("s"))
        paper.say("", f"  Open {singular} Usage")
        paper.state("    Active", one["Active"])
        paper.state("    Max Ever Used Since Boot", one["MaxUsed"])
        paper.state("    Free", one["Free"])
        paper.say("    Reuse Requests")
        paper.state("      Succeeded", round(one["Reused"].per_second * seconds))
        paper.state("      Failed", 0)
    paper.say("")
    spinlocks = {
        "Object Manager Spinlock Contention": "Resource->rdesmgr_spin",
        "Object Spinlock Contention": "Des Upd Spinlocks",
        "Index Spinlock Contention": "Ides Spinlocks",
        "Index Hash Spinlock Contention": "Ides Chain Spinlocks",
        "Partition Spinlock Contention": "Pdes Spinlocks",
        "Partition Hash Spinlock Contention": "Pdes Chain Spinlocks",
    }
    for label, spinlock in spinlocks.items():
        paper.share(f"  {label}", sysmon_locks.contention(world, spinlock))
        paper.say("")


def _disks(world: "World", paper: Paper) -> None:
    """Disk I/Os of all devices together; none is delayed here."""
    paper.section("Disk I/O Management")
    paper.table("  Max Outstanding I/Os")
    paper.state("    Server", 31)
    for engine in range(world.release.engines):
        paper.state(f"    Engine {engine}", 9)
    paper.say("", "", "  I/Os Delayed by")
    for reason in ("Disk I/O Structures", "Server Config Limit", "Engine Config Limit", "Operating System Limit"):
        paper.state(f"    {reason}", 0)
    devices = world.activity["monDeviceIO"]
    requested = sum(one[kind].per_second for one in devices for kind in ("Reads", "APFReads", "Writes"))
    paper.say("", "")
    paper.counted("  Total Requested Disk I/Os", requested)
    paper.say("")
