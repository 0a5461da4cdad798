"""Locks held now, and deadlocks that were: `monLocks`, `monDeadLock`."""

from collectors.facts.ase import Deadlock, HeldLock
from collectors.reports.ase.monitor_tables.cells import blocking, count, small, time, waiting, whole, words
from collectors.reports.ase.monitor_tables.tables import MonitorTable, counts, marks, order

LOCKS = MonitorTable(
    name="monLocks",
    fact=HeldLock,
    columns={
        "spid": ("spid", whole),
        "kpid": ("kpid", whole),
        "lockid": ("lock_id", whole),
        "blockedby": ("blocked_by", whole),
        "dbname": ("database", words),
        "dbid": ("db_id", whole),
        "objectid": ("object_id", whole),
        "objectname": ("object_name", words),
        "locktype": ("lock_type", words),
        "locklevel": ("level", small),
        "lockstate": ("waiting", waiting),
        "blockedstate": ("blocking", blocking),
        "waittime": ("wait_seconds", count),
        "pagenumber": ("page", count),
        "rownumber": ("row", count),
        "context": ("context", words),
    },
    marks=marks("locktype lockstate", "locktype locklevel", "lockid locktype", "lockid lockstate"),
    never=frozenset(("deadlockid", "victimkpid")),
    orders=(
        order(
            "SPID KPID DBID ParentSPID LockID Context ObjectID LockState LockType LockLevel WaitTime PageNumber "
            "RowNumber"
        ),
        order(
            "SPID KPID DBID ParentSPID LockID Context ObjectID LockState LockType LockLevel WaitTime PageNumber "
            "RowNumber BlockedState BlockedBy"
        ),
    ),
)

DEADLOCKS = MonitorTable(
    name="monDeadLock",
    fact=Deadlock,
    columns={
        "deadlockid": ("deadlock_id", whole),
        "resolvetime": ("resolved", time),
        "victimkpid": ("victim_kpid", whole),
        "objectdbname": ("database", words),
        "objectdbid": ("db_id", whole),
        "objectname": ("object_name", words),
        "heldspid": ("held_spid", whole),
        "heldkpid": ("held_kpid", whole),
        "waitspid": ("wait_spid", whole),
        "waitkpid": ("wait_kpid", whole),
        "heldlocktype": ("held_lock", words),
        "waitlocktype": ("waited_lock", words),
        "heldcommand": ("held_command", words),
        "waitcommand": ("wait_command", words),
        "heldprocedurename": ("held_procedure", words),
        "waitprocedurename": ("wait_procedure", words),
        "heldprocedureid": ("held_procedure_id", whole),
        "waitprocedureid": ("wait_procedure_id", whole),
        "heldlinenumber": ("held_line", whole),
        "waitlinenumber": ("wait_line", whole),
        "heldapplname": ("held_application", words),
        "waitapplname": ("wait_application", words),
        "heldtranname": ("held_transaction", words),
        "waittranname": ("wait_transaction", words),
        **counts(page="pagenumber", row="rownumber", wait_milliseconds="waittime"),
    },
    marks=marks("deadlockid", "victimkpid", "heldlocktype waitlocktype", "heldspid waitspid"),
    orders=(
        order(
            "DeadlockID VictimKPID ResolveTime ObjectDBID PageNumber RowNumber HeldFamilyID HeldSPID HeldKPID "
            "HeldProcDBID HeldProcedureID HeldBatchID HeldContextID HeldLineNumber WaitFamilyID WaitSPID WaitKPID "
            "WaitTime ObjectName HeldUserName HeldApplName HeldTranName HeldLockType HeldCommand WaitUserName "
            "WaitLockType"
        ),
    ),
)
