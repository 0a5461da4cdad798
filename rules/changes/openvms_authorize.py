"""The working set that a user's processes get at login: AUTHORIZE, in pagelets of 512 bytes.

AUTHORIZE opens the SYSUAF.DAT of the default directory where no logical name says another: so it is run in SYS$SYSTEM.
Source: System Management Utilities Reference Manual, AUTHORIZE, MODIFY /WSQUOTA and /WSEXTENT.
"""

from rules.changes.quoting import openvms_name
from rules.finding import Change, Effect

PAGELET = 512
"""Bytes."""
AT_LOGIN = "Processes have it from their next login or start on: those that run keep what they have."
NEEDS = "Needs SYSPRV, and MODIFY of the SYSUAF.DAT that the node uses, which may be the one of the whole cluster."


def set_working_set(
    user: str,
    quota: tuple[int, int] | None,
    extent: tuple[int, int],
    *,
    processes: int,
    cautions: tuple[str, ...] = (),
) -> Change:
    """Set WSEXTENT, and WSQUOTA where it was read, each from the first value to the second.

    `processes`: how many have all that the old extent gives, so that they take the difference in memory. Raises
    `Unquotable` for a user name that could hide another command.
    """
    name = openvms_name(user)

    def modify(at: int) -> tuple[str, ...]:
        quotas = f"/WSQUOTA={quota[at]}" if quota else ""
        return (
            "$ SET DEFAULT SYS$SYSTEM",
            "$ MCR AUTHORIZE",
            f"SHOW {name}",
            f"MODIFY {name}{quotas}/WSEXTENT={extent[at]}",
            f"SHOW {name}",
            "EXIT",
        )

    was = f"WSextent {extent[0]}" + (f", WSquo {quota[0]}" if quota else "")
    return Change(
        key=f"openvms.uaf:{name}",
        target=f"WSEXTENT of {name}",
        old=float(extent[0]),
        new=extent[1],
        apply=(f"$! {name}: the export showed {was}", *modify(1)),
        undo=(f"$! {name}: back to {was}", *modify(0)),
        takes_effect=Effect.ONLINE,
        cautions=(*cautions, AT_LOGIN, NEEDS),
        memory_mb=processes * (extent[1] - extent[0]) * PAGELET / 2**20,
    )
