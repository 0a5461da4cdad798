"""A CPU of an OpenVMS node: taken out of the active set with STOP/CPU, put back with START/CPU; or relieved by hand.

STOP/CPU lets the CPU finish its turn and stops a secondary only; it refuses a CPU that some process depends on, and
/OVERRIDE_CHECKS, which would go on nevertheless, is never printed. START/CPU works on a stopped CPU only. Both need
CMKRNL and are lost at a boot. FASTPATH_SERVER then spreads the fast-path ports over the CPUs that are left.
Sources: HP OpenVMS DCL Dictionary (STOP/CPU, START/CPU); HP "ask the wizard" 4495; OpenVMS 7.3 New Features, 4.4 (an
active set smaller than LCKMGR_MODE turns the dedicated lock manager off within a second); HP Instant Capacity User's
Guide (a CPU stopped under iCAP may come back). Not in the sources, practice: the line in SYSTARTUP_VMS.COM, and
SET DEVICE/PREFERRED_CPUS, which is therefore named but never written out.
"""

from collections.abc import Sequence

from rules.changes.quoting import Unquotable, held_back, openvms_name
from rules.finding import TAKES_A_CPU, Change, Effect, Risk

HIGHEST_CPU = 1023
"""Source: IO_PRCPU_BITMAP stands for CPU 0 to CPU 1023 (wiki.vmssoftware.com/IO_PRCPU_BITMAP)."""
STARTUP = "SYS$MANAGER:SYSTARTUP_VMS.COM"
RULER = f"$! {'=' * 96}"
"""Above and below a decision. What it decides on is a comment: in a script nothing else stops the next line."""


MOVES_FAST_PATH = Risk("medium", "at a quiet time: the fast path of its devices moves, and a CPU is taken from work")


def decision(line: str, *unless: str) -> tuple[str, ...]:
    """A line held back below a box that says when not to send it."""
    return (
        RULER,
        "$! DECIDE HERE. Do NOT send the line below this box (without its $!) if what was shown says that",
        *(f"$!   - {reason}" for reason in unless),
        RULER,
        *held_back(line),
    )


class NeverStop(ValueError):
    """A CPU that must not be stopped: the primary, one that a service runs on, or no CPU at all."""


def stop_cpu(
    cpu: int,
    *,
    primary: bool,
    services: Sequence[str],
    devices: Sequence[str],
    node: str | None = None,
    cautions: tuple[str, ...] = (),
    others: Sequence[int] = (),
) -> Change:
    """Take one secondary CPU out of the active set, or several in one command: it and `others`.

    `devices` are those whose fast path is on it: they move and are named. Raises `NeverStop` for the primary, for a CPU
    that TCP/IP or the lock manager runs on, and for a number that is no CPU. A name that cannot be written safely makes
    a change to be applied by hand.
    """
    every = (cpu, *others)
    if any(not 0 <= one <= HIGHEST_CPU or isinstance(one, bool) for one in every):
        raise NeverStop(f"CPU {cpu}: 0 to {HIGHEST_CPU}")
    those = ",".join(map(str, every))
    if primary:
        raise NeverStop(f"CPU {those} is or may be the primary")
    if services:
        raise NeverStop(f"CPU {those}: {', '.join(services)} runs there and has to be moved first")
    try:
        where = openvms_name(node) if node is not None else None
        moved = ", ".join(openvms_name(device) for device in devices)
    except Unquotable:
        return _by_hand(
            f"openvms.cpu:by hand:{those}", f"CPU {those}", f"stop CPU {those}", f"start CPU {those} again", cautions
        )
    on = f" on node {where}, while logged in there" if where else ""
    look = (f"$ SHOW CPU {those}/FULL", "$ SHOW FASTPATH")
    elsewhere = f", {moved} on another CPU" if moved else ""
    placed = f"; {moved} had its fast path here" if moved else ""
    return Change(
        key=f"openvms.cpu:{where + ':' if where else ''}{those}",
        node=where or "",
        target=f"CPU {those}",
        old="RUN",
        new="STOPPED",
        risk=MOVES_FAST_PATH if devices else TAKES_A_CPU,
        opening=(
            f"$! CPU {those}{on}: look first{placed}",
            "$ SHOW CPU",
            *look,
            "$ MCR SYSGEN SHOW LCKMGR_MODE",
        ),
        apply=(
            *decision(
                f"$ STOP/CPU {those}",
                f"CPU {those} is the primary, or does not run",
                f"TCP/IP or the lock manager is on CPU {those}",
                "LCKMGR_MODE is as large as the number of active CPUs: the dedicated lock manager would turn off",
            ),
            f"$! check: CPU {those} stopped{elsewhere}, the lock manager where it was",
            *look,
            f"$! measure; when it is to stay, make it last over a boot: at the end of {STARTUP} the line",
            f"$!   $ STOP/CPU {those}",
        ),
        undo=(
            f"$ START/CPU {those}",
            *look,
            *((f"$! {moved}: before the change on CPU {those}; FASTPATH_SERVER decides where now",) if moved else ()),
            f"$! take the line $ STOP/CPU {those} out of {STARTUP} again",
        ),
        takes_effect=Effect.ONLINE,
        cautions=(*cautions, *_moves(moved, those), *_STOPPING),
    )


def start_cpus(
    cpus: Sequence[int], *, mask: float | None = None, node: str | None = None, cautions: tuple[str, ...] = ()
) -> Change:
    """Take stopped CPUs into the active set again, where nobody stopped them on purpose.

    `mask`: SMP_CPUS, where it leaves one of them out at a boot; what lets them start then is a comment.
    Source: DCL Dictionary, START/CPU; wiki.vmssoftware.com/SMP_CPU_BITMAP (what a boot left out can be started).
    """
    those = ",".join(map(str, cpus))
    try:
        where = openvms_name(node) if node is not None else None
    except Unquotable:
        return _by_hand(
            f"openvms.cpu:by hand:{those}",
            f"CPU {those}",
            f"start CPU {those}",
            f"stop CPU {those} again",
            cautions,
            old="STOPPED",
            new="RUN",
        )
    are, them = ("they are", "them") if len(cpus) > 1 else ("it is", "it")
    on = f" on node {where}, while logged in there" if where else ""
    last: tuple[str, ...] = ()
    if mask is not None:
        last = (
            f"$! after a boot {are} stopped again (SMP_CPUS {mask:.0f}). Let {them} start there, too, once measured:",
            "$!   SMP_CPUS = -1   as a line of SYS$SYSTEM:MODPARAMS.DAT (later releases: SMP_CPU_BITMAP)",
        )
    return Change(
        key=f"openvms.cpu:{where + ':' if where else ''}{those}",
        node=where or "",
        target=f"START/CPU {those}: CPU {those}",
        old="STOPPED",
        new="RUN",
        apply=(
            f"$! CPU {those}{on}: look first who stopped {them}, and why",
            "$ SHOW CPU",
            *decision(
                f"$ START/CPU {those}",
                f"CPU {those} was stopped on purpose: a co-thread, a licence, Instant Capacity (iCAP) or a repair",
            ),
            "$ SHOW CPU",
            *last,
        ),
        undo=(f"$ STOP/CPU {those}", "$ SHOW CPU"),
        takes_effect=Effect.ONLINE,
        cautions=cautions,
        condition=f"only if {are} not stopped on purpose",
    )


MASKS = {
    True: "IO_PREFER_CPUS (of V7.3; later releases have IO_PRCPU_BITMAP)",
    False: "IO_PRCPU_BITMAP",
    None: "IO_PRCPU_BITMAP (on V7.3 IO_PREFER_CPUS)",
}
"""By whether it is a release before V8. Sources: V7.3 New Features, 4.4; wiki.vmssoftware.com/IO_PRCPU_BITMAP."""


def place_by_hand(what: str, cpu: int, *, v7: bool | None = None) -> Change:
    """Give a device or TCP/IP another CPU than this one: no command for it was found in a source, so by hand.

    `v7`: whether the release is one before V8, which calls the mask otherwise; `None` where it is not known.
    """
    try:
        name = openvms_name(what)
    except Unquotable:
        name = ""
    label = name or ("TCP/IP" if "TCP/IP" in what else "the device")
    hints = (
        "Check: HELP SET DEVICE /PREFERRED_CPUS (recalled, not found in a source) gives one device a CPU; clearing the "
        f"CPU's bit in {MASKS[v7]} keeps automatic assignment off it for all devices.",
        "Look with SHOW FASTPATH before and after.",
    )
    key = f"openvms.fastpath:{name or label}:{cpu}"
    wish, back = f"give {label} another CPU than {cpu}", f"let {label} go back to CPU {cpu}"
    return _by_hand(key, label, wish, back, hints, shown="$ SHOW FASTPATH", old=f"CPU {cpu}", new="another CPU")


def _by_hand(
    key: str,
    target: str,
    wish: str,
    back: str,
    cautions: tuple[str, ...],
    *,
    shown: str = "$ SHOW CPU",
    old: str = "RUN",
    new: str = "STOPPED",
) -> Change:
    """A change without a line that changes anything."""
    return Change(
        key=key,
        target=target,
        old=old,
        new=new,
        apply=(f"$! by hand: {wish}; look before and after", shown),
        undo=(f"$! by hand: {back}", shown),
        takes_effect=Effect.ADVICE,
        cautions=cautions,
    )


def _moves(moved: str, cpu: int | str) -> tuple[str, ...]:
    if not moved:
        return ()
    return (
        f"{moved}: the fast path leaves CPU {cpu} and FASTPATH_SERVER gives it another one; SHOW FASTPATH says which. "
        "I/O goes on meanwhile, but do it at a quiet time.",
    )


_STOPPING = (
    "If STOP/CPU is refused, a process is bound to that CPU: SHOW CPU/FULL names it. Do not force it with a qualifier.",
    "Check: the line in SYSTARTUP_VMS.COM is practice, not from a manual. CPU numbers can change with the hardware: "
    "read Cothd again before relying on it.",
    "Where cores are licensed by Instant Capacity (iCAP), use its ICAP commands: a CPU stopped with STOP/CPU can be "
    "started again by iCAP.",
    "Each CPU stopped is taken from all work: measure the same work before and after.",
)
