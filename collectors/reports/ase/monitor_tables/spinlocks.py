"""Spinlocks: `monSpinlockActivity`, and the rows of `sysmonitors` (every release, undocumented, [S])."""

from collectors.facts.ase import MonSpinlockActivity
from collectors.reports.ase.monitor_tables.cells import count, percent, whole, words
from collectors.reports.ase.monitor_tables.tables import MonitorTable, counts, marks, order

ALL_SLOTS = frozenset(("all", "sum", "total", "*", "-"))
"""What scripts write for the slot of a row that adds up all of a name; `-` where there is but one."""


def slot(cell: str) -> int | None:
    """Which slot it is; `None` for NULL, and for all of them together."""
    return None if cell.strip().lower() in ALL_SLOTS else whole(cell)


SPINLOCKS = MonitorTable(
    name="monSpinlockActivity",
    fact=MonSpinlockActivity,
    columns={
        "spinlockname": ("name", words),
        "spinlockslotid": ("slot", slot),
        "instanceid": ("instance", whole),
        **counts(grabs="grabs", spins="spins", waits="waits"),
        "contention": ("contention_percent", percent),
    },
    marks=marks("spinlockname grabs", "spinlockname spins", "spinlockname waits", "spinlockname contention"),
    orders=(
        order("SpinlockName Grabs Spins Waits OwnerPID LastOwnerPID Contention InstanceID"),
        order("SpinlockName Grabs Spins Waits OwnerPID LastOwnerPID Contention InstanceID SpinlockSlotID"),
        order("Grabs Spins Waits OwnerPID LastOwnerPID Contention InstanceID SpinlockName"),
        order("Grabs Spins Waits OwnerPID LastOwnerPID Contention InstanceID SpinlockSlotID SpinlockName"),
    ),
)

JOINED = MonitorTable(
    name="sysmonitors",
    fact=MonSpinlockActivity,
    columns={
        "fieldname": ("name", words),
        "fieldid": ("slot", whole),
        "instanceid": ("instance", whole),
        **counts(grabs="grabs", spins="spins", waits="waits"),
        "p": ("grabs", count),
        "w": ("waits", count),
        "s": ("spins", count),
        "contention": ("contention_percent", percent),
    },
    marks=marks("fieldname grabs waits", "fieldname grabs spins", "fieldname p w", "fieldname p s"),
)
"""The three groups put side by side by hand: one row per spinlock."""

SYSMONITORS = MonitorTable(
    name="sysmonitors",
    fact=MonSpinlockActivity,
    columns={
        "groupname": ("group", words),
        "fieldname": ("name", words),
        "fieldid": ("slot", whole),
        "value": ("value", count),
        "instanceid": ("instance", whole),
    },
    marks=marks("groupname fieldname value"),
    besides=("group",),
    orders=(
        order("field_name group_name field_id value description"),
        order("group_name field_name field_id value description"),
        order("group_name field_name field_id value"),
        order("group_name field_name field_id value description instanceid"),
    ),
)
"""One row per spinlock and group: `spinlock_p` (grabs, waits included), `spinlock_w` (waits), `spinlock_s` (spins)."""
