"""Prestarted transactions, where the logical name RDMS$BIND_PRESTART_TXN decides instead of the database.

The vendor's help (SQL, DECLARE ALIAS and ATTACH, PRESTARTED TRANSACTIONS) has the name come before the setting of the
database, and a clause of ATTACH or DECLARE ALIAS before both. That 0 stands for off and 1 for on is recalled.
"""

from collectors.facts import Facts
from collectors.facts.rdb import LogicalName
from rules.changes.quoting import comment
from rules.finding import Change, Effect

NAME = "RDMS$BIND_PRESTART_TXN"
TABLES = {
    "LNM$SYSTEM_TABLE": "SYSTEM",
    "LNM$SYSTEM": "SYSTEM",
    "LNM$PROCESS_TABLE": "PROCESS",
    "LNM$PROCESS": "PROCESS",
}
"""Qualifier of DEASSIGN by table of the name (OpenVMS DCL Dictionary, DEASSIGN)."""
RECALLED = "That 0 switches them off is recalled: HELP ALTER DATABASE and the Guide to Performance and Tuning tell."


def logical(facts: Facts) -> LogicalName | None:
    """The name as it was listed last, also where it is not defined; `None`: not in the export."""
    return next((one for one in reversed(facts.every(LogicalName)) if one.name == NAME), None)


def switched_off(facts: Facts) -> LogicalName | None:
    """The same where it switches prestarted transactions off."""
    found = logical(facts)
    return found if found and found.value == "0" else None


def deassign(one: LogicalName) -> str:
    """The command that takes the name away, `DEASSIGN/SYSTEM RDMS$BIND_PRESTART_TXN`."""
    table = one.table or ""
    way = "JOB" if table.startswith("LNM$JOB") else "GROUP" if table.startswith("LNM$GROUP") else TABLES.get(table)
    return f"DEASSIGN{f'/{way}' if way else f'/TABLE={comment(table, 31)}' if table else ''} {NAME}"


def take_away(one: LogicalName, key: str) -> Change:
    """To take the name away, in comments alone: who defined it may have had a reason."""
    return Change(
        key=key,
        target=NAME,
        old=one.value,
        new=f"not defined ({deassign(one)})",
        apply=(
            f"$! see where it is defined:  SHOW LOGICAL/FULL {NAME}",
            f"$!   {deassign(one)}",
            "$!   and its line out of the command procedure that defines it (SYSTARTUP_VMS.COM, a login procedure)",
            "$! then let the processes attach again",
        ),
        undo=(
            f"$! if it was taken away: define it again as SHOW LOGICAL/FULL showed it ({comment(one.value or '', 20)})",
        ),
        takes_effect=Effect.ADVICE,
        condition="when it is known why it was defined (the snapshot file grew?)",
        cautions=(RECALLED,),
    )
