"""The section Lock Management of sp_sysmon."""

from typing import TYPE_CHECKING

from tests.live.ase.paper import Paper

if TYPE_CHECKING:
    from tests.live.ase.world import World

TABLE_LOCKS = (
    ("Exclusive Table", "EX-Table Requests"),
    ("Exclusive Intent", "EX-Intent Requests"),
    ("Shared Intent", "SH-Intent Requests"),
)
PAGE_AND_ROW_LOCKS = (
    ("Exclusive Page", "EX-Page Requests"),
    ("Update Page", "UP-Page Requests"),
    ("Shared Page", "SH-Page Requests"),
    ("Exclusive Row", "EX-Row Requests"),
    ("Update Row", "UP-Row Requests"),
    ("Shared Row", "SH-Row Requests"),
    ("Next-Key", "Next-Key Requests"),
)
ADDRESS_LOCKS = (("Exclusive Address", "EX-Address Requests"), ("Shared Address", "SH-Address Requests"))


def waits(world: "World") -> dict[str, float]:
    """How many lock requests wait a second: `logical` (rows, pages, tables) and `address`."""
    rates = world.release.sysmon
    return {
        "logical": sum(rates[name][1] for name, _ in (*TABLE_LOCKS, *PAGE_AND_ROW_LOCKS)),
        "address": sum(rates[name][1] for name, _ in ADDRESS_LOCKS),
    }


def contention(world: "World", spinlock: str) -> float:
    """Per cent of the grabs of all spinlocks of a name that wait; 0 where there is none of it."""
    found = [one for one in world.activity["monSpinlockActivity"] if one["SpinlockName"] == spinlock]
    grabs = sum(one["Grabs"].per_second for one in found)
    return 100 * sum(one["Waits"].per_second for one in found) / grabs if grabs else 0.0


def write(world: "World", paper: Paper) -> None:
    """Write the section. The totals of the types make the total of the summary, and so do their waits."""
    rates = world.release.sysmon
    groups = (*TABLE_LOCKS, *PAGE_AND_ROW_LOCKS, *ADDRESS_LOCKS)
    whole = sum(rates[name][0] for name, _ in groups)
    waited = sum(waits(world).values())
    paper.section("Lock Management")
    paper.table("  Lock Summary")
    paper.counted("  Total Lock Requests", whole)
    paper.counted("  Avg Lock Contention", waited, whole)
    if world.release.number == "16.0":
        paper.counted("  Cluster Locks Retained", 0.0, whole)
    deadlocks = world.activity["monState"][0]["NumDeadlocks"].per_second
    paper.counted("  Deadlock Percentage", deadlocks, whole)
    paper.say("")
    paper.table("  Lock Detail")
    paper.say("")
    new = world.release.number == "16.0"
    title = "  Table & Partition Lock Hashtable" if new else "  Table Lock Hashtable"
    lookups = 0.0 if new else rates["Table Lookups"][0]  # 16.0 always prints 0 here
    _hashtable(world, paper, title, lookups, None if new else rates["Table Chain"][0], "tablockspins")
    _types(world, paper, TABLE_LOCKS, whole)
    row_lookups = sum(rates[name][0] for name, _ in PAGE_AND_ROW_LOCKS)
    chain = rates["Page & Row Chain"][0]
    _hashtable(world, paper, "  Page & Row Lock HashTable", row_lookups, chain, "fglockspins")
    _types(world, paper, PAGE_AND_ROW_LOCKS, whole)
    address_lookups = sum(rates[name][0] for name, _ in ADDRESS_LOCKS)
    chain = rates["Address Chain"][0]
    _hashtable(world, paper, "  Address Lock Hashtable", address_lookups, chain, "addrlockspins")
    _types(world, paper, ADDRESS_LOCKS, whole)
    paper.say("")
    _type(paper, "Last Page Locks on Heaps", "Last Pg Locks", *rates["Last Page Locks"], rates["Last Page Locks"][0])
    paper.say("")
    paper.table("  Deadlocks by Lock Type")
    paper.counted("  Total Deadlocks", deadlocks)
    paper.say("", "")
    paper.say("  Lock Promotions")
    paper.counted("    Total Lock Promotions", 0.0)
    paper.say("", "")
    paper.table("  Lock Timeouts by Lock Type")
    paper.counted("  Total Timeouts", 0.0)
    paper.say("")


def _hashtable(world: "World", paper: Paper, title: str, lookups: float, chain: float | None, spinlock: str) -> None:
    paper.say(title)
    paper.counted("    Lookups", lookups)
    if chain is not None:
        paper.state("    Avg Chain Length", chain, decimals=5)
    paper.share("    Spinlock Contention", contention(world, spinlock))
    paper.say("")


def _types(world: "World", paper: Paper, types: tuple[tuple[str, str], ...], whole: float) -> None:
    for name, total in types:
        _type(paper, name, total, *world.release.sysmon[name], whole)


def _type(paper: Paper, name: str, total: str, rate: float, waited: float, whole: float) -> None:
    """Write a lock type; one that nobody asked for has its total alone."""
    paper.say(f"  {name}")
    if rate:
        paper.counted("    Granted", rate - waited, rate)
        paper.counted("    Waited", waited, rate)
        paper.total(f"  Total {total}", rate, whole)
    else:
        paper.counted(f"    Total {total}", 0.0)
    paper.say("")
