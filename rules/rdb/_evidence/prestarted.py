"""Prestarted transactions, where the logical name RDMS$BIND_PRESTART_TXN decides instead of the database.

The vendor's help (SQL, DECLARE ALIAS and ATTACH, PRESTARTED TRANSACTIONS) has the name come before the setting of the
database, and a clause of ATTACH or DECLARE ALIAS before both. That 0 stands for off and 1 for on is recalled.
"""

from collectors.facts import Facts
from collectors.facts.rdb import LogicalName
from rules.changes.quoting import comment
from rules.finding import Change, Effect

NAME = "RDMS$BIND_PRESTART_TXN"
TABLES = {"LNM$SYSTEM": "/SYSTEM", "LNM$SYSCLUSTER": "/CLUSTER_SYSTEM", "LNM$GROUP": "/GROUP"}
"""Tables that hold for more than the process or job that lists them, with the qualifier of DEASSIGN (its help)."""
MODES = {"exec": "/EXECUTIVE_MODE"}
RECALLED = "That 0 switches them off is recalled: HELP ALTER DATABASE and the Guide to Performance and Tuning tell."


def logical(facts: Facts, name: str = NAME) -> LogicalName | None:
    """A name of Rdb's as the last listing has it for the whole node, or a group, or as not defined.

    `None`: in no listing. What a process or a job has for itself says nothing of the processes that use the database.
    """
    listed = [one for one in facts.every(LogicalName) if one.name == name]
    last = [one for one in listed if one.source.file == listed[-1].source.file]
    return next((one for one in last if one.value is None or _way(one)), None)


def _way(one: LogicalName) -> str:
    """The qualifier that takes it away; empty where its table is another one, or not printed."""
    return next((way for table, way in TABLES.items() if (one.table or "").startswith(table)), "")


def switched_off(facts: Facts) -> LogicalName | None:
    """The same where it switches prestarted transactions off."""
    found = logical(facts)
    return found if found and found.value == "0" else None


def deassign(one: LogicalName) -> str:
    """The command that takes the name away, `DEASSIGN/SYSTEM RDMS$BIND_PRESTART_TXN`."""
    return f"DEASSIGN{_way(one)}{MODES.get(one.mode or '', '')} {one.name}"


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
        condition=(
            "when it is known why it was defined; if the snapshot file grew, first ALTER DATABASE … PRESTARTED "
            "TRANSACTIONS ARE ENABLED (WAIT n SECONDS FOR TIMEOUT), which bounds what idle processes hold"
        ),
        cautions=(RECALLED,),
    )
