"""The classes of MONITOR: how each one's screen is titled, and which labels belong to which field of a fact.

Titles and the labels of LOCK, MODES and SYSTEM are stated by sources (openvms-formats.md a.2, a.3 [S]); the printed
labels of DLOCK, RLOCK, ALIGN and STATES are recalled [M].
"""

import re
from functools import lru_cache

TITLES = {
    "TIME IN PROCESSOR MODES": "MODES",
    "DISTRIBUTED LOCK MANAGEMENT STATISTICS": "DLOCK",  # before LOCK, whose title is a part of it
    "DYNAMIC LOCK REMASTERING STATISTICS": "RLOCK",
    "LOCK MANAGEMENT STATISTICS": "LOCK",
    "PAGE MANAGEMENT STATISTICS": "PAGE",
    "I/O SYSTEM STATISTICS": "IO",
    "FILE PRIMITIVE STATISTICS": "FCP",
    "FILE SYSTEM CACHING STATISTICS": "FILE_SYSTEM_CACHE",
    "SCS STATISTICS": "SCS",
    "DISK I/O STATISTICS": "DISK",
    "MSCP SERVER STATISTICS": "MSCP_SERVER",
    "DISTRIBUTED TRANSACTION STATISTICS": "TRANSACTION",
    "TIMER STATISTICS": "TIMER",
    "ALIGNMENT FAULT STATISTICS": "ALIGN",
    "DECNET STATISTICS": "DECNET",
    "TOP CPU TIME PROCESSES": "PROCESSES/TOPCPU",
    "TOP DIRECT I/O RATE PROCESSES": "PROCESSES/TOPDIO",
    "TOP BUFFERED I/O RATE PROCESSES": "PROCESSES/TOPBIO",
    "TOP PAGE FAULT RATE PROCESSES": "PROCESSES/TOPFAULT",
    "PROCESSES": "PROCESSES",
    "PROCESS STATES": "STATES",
    "SYSTEM STATISTICS": "SYSTEM",
    "CLUSTER STATISTICS": "CLUSTER",
}
ALONE = "|".join(re.escape(title) for title, name in TITLES.items() if name in ("MODES", "LOCK", "DLOCK", "RLOCK"))
"""Titles that start a report on a line of their own, without MONITOR's heading above: nothing else is called so."""

MODES = {
    "interrupt state": "interrupt_percent",
    "interrupt stack": "interrupt_percent",
    "mp synchronization": "mp_synch_percent",
    "kernel mode": "kernel_percent",
    "executive mode": "exec_percent",
    "supervisor mode": "super_percent",
    "user mode": "user_percent",
    "compatibility mode": "compatibility",
    "not available": "compatibility",
    "idle time": "idle_percent",
}
"""`compatibility` is no field of a fact: it only belongs to the sum. Summaries print `Not Available` in its place."""
LOCK = {
    "new enq rate": "new_enq_per_second",
    "converted enq rate": "converted_enq_per_second",
    "deq rate": "deq_per_second",
    "blocking ast rate": "blocking_ast_per_second",
    "enqs forced to wait rate": "enq_waited_per_second",
    "enqs not queued rate": "enq_not_queued_per_second",
    "deadlock search rate": "deadlock_search_per_second",
    "deadlock find rate": "deadlock_find_per_second",
    "total locks": "locks",
    "total resources": "resources",
}
LEVELS = ("locks", "resources")
_STEMS = {
    "new enq rate": "enq",
    "converted enq rate": "convert",
    "deq rate": "deq",
    "blocking ast rate": "blocking_ast",
    "dir functn rate": "directory",
    "dir function rate": "directory",
}
DLOCK = {
    f"{stem} ({way})": f"{field}_{way}"
    for stem, field in _STEMS.items()
    for way in ("local", "incoming", "outgoing")
    if (field, way) != ("directory", "local")
} | {"deadlock message rate": "deadlock_messages"}
RLOCK = {
    "lock tree outbound rate": "moved_out",
    "lock tree outbound rate (higher activity)": "moved_higher_activity",
    "lock tree outbound rate (higher lckdirwt)": "moved_higher_weight",
    "lock tree outbound rate (higher lockdirwt)": "moved_higher_weight",
    "lock tree outbound rate (sole interest)": "moved_sole_interest",
    "remaster msg send rate": "messages_sent",
    "lock tree inbound rate": "moved_in",
    "remaster msg receive rate": "messages_received",
}
SYSTEM_RATES = {
    "direct i/o rate": "direct_io_per_second",
    "buffered i/o rate": "buffered_io_per_second",
    "page fault rate": "page_fault_per_second",
    "page read i/o rate": "page_read_io_per_second",
    "process count": "process_count",
    "free list size": "free_list_pages",
    "modified list size": "modified_list_pages",
    "mod list size": "modified_list_pages",
}
SYSTEM_OTHERS = ("cpu busy", "lef", "lefo", "hib", "hibo", "com", "como", "pfw", "mwait", "other", "total")
"""On the screen of boxes, beside the rates."""
_WHO = {
    "kernel": "kernel",
    "executive": "exec",
    "exec": "exec",
    "supervisor": "super",
    "super": "super",
    "user": "user",
}
ALIGN = {
    f"{who}{what}": f"{field}_per_second"
    for who, field in (_WHO | {"total": "total"}).items()
    for what in ("", " mode", " rate", " faults", " mode faults", " alignment faults", " mode alignment faults")
} | {"total faults rate": "total_per_second", "total alignment fault rate": "total_per_second"}
KNOWN: dict[str, frozenset[str]] = {
    "MODES": frozenset(MODES),
    "LOCK": frozenset(LOCK),
    "DLOCK": frozenset(DLOCK),
    "RLOCK": frozenset(RLOCK),
    "SYSTEM": frozenset({*MODES, *SYSTEM_RATES, *SYSTEM_OTHERS}),
    "ALIGN": frozenset(ALIGN),
}
"""The labels of classes that become typed facts: another label there is none of MONITOR's."""
NEEDED = {
    "MODES": {label: name for label, name in MODES.items() if name not in ("compatibility", "mp_synch_percent")},
    "LOCK": LOCK,
    "DLOCK": DLOCK,
}
"""Lines that every screen of these classes has; two labels of one field are the same line by another name."""
PER_PARTNER = ("SCS", "CLUSTER", "DISK", "RMS")
"""Their lines are about a node, a disk or a file; the item stands in the heading of the columns."""
OF_MANY_LENGTHS = (*PER_PARTNER, "PROCESSES", "POOL", "VECTOR")
"""Screens of these have now more lines, now fewer: none of them is cut off for that."""


@lru_cache(maxsize=4096)
def key(label: str) -> str:
    """A label for comparing: lower case, single blanks, one blank before a bracket."""
    return re.sub(r"\s*\(\s*", " (", " ".join(label.lower().split())).replace(" )", ")").strip()


def may_vary(class_name: str) -> bool:
    """Whether two whole screens of this class may have different lines."""
    return class_name.split("/")[0] in OF_MANY_LENGTHS
