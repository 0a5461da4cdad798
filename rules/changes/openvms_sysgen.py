"""A system parameter of OpenVMS: MODPARAMS.DAT and AUTOGEN with a reboot, or SYSGEN WRITE ACTIVE where it is dynamic.

AUTOGEN computes some parameters itself: for those a floor (`MIN_name`) is written, which its formula and its feedback
may only exceed. AUTOGEN recomputes every parameter, so its report comes before its last phases, and the phase that
reboots is a comment to be typed by a person: a pasted script must not take the node down. So is what makes a dynamic
value last: it waits for a measurement. All parameters of a plan
share one saved parameter file, one AUTOGEN and one reboot.
Ranges: knowledge/openvms-rules.md, section 1 (a VAX V7 listing, SYSGEN.HLB, wiki.vmssoftware.com).
"""

from dataclasses import dataclass

from rules.changes.out_of_range import OutOfRange
from rules.changes.quoting import Unquotable, held_back, openvms_name
from rules.finding import TAKES_A_CPU, Change, Effect, Risk

MARK = "! Lockwright"
MODPARAMS = "SYS$SYSTEM:MODPARAMS.DAT"
EDITED = "SYS$SYSTEM:MODPARAMS.NEW"
BEFORE = "SYS$SYSTEM:LOCKWRIGHT_BEFORE.PAR"
UNSHOWN = "<the value shown before the change>"


@dataclass(frozen=True)
class Parameter:
    """What is known of one parameter: legal range, whether it is dynamic, and whether AUTOGEN computes it."""

    name: str
    low: int
    high: int
    dynamic: bool
    computed: bool = False
    power_of_two: bool = False


PARAMETERS = {
    parameter.name: parameter
    for parameter in (
        Parameter("RESHASHTBL", 1, 16_777_216, False, computed=True, power_of_two=True),
        Parameter("LOCKIDTBL", 1_792, 16_776_959, False, computed=True),
        Parameter("LOCKDIRWT", 0, 255, False),
        Parameter("LOCKRMWT", 0, 10, True),
        # 128 to -1 (no limit) as SYSGEN SHOW prints it; the highest number is this project's. AUTOGEN computes it.
        Parameter("GBLPAGFIL", 128, 2_147_483_647, True, computed=True),
        # From 163,840 to -1 (no limit) as SYSGEN SHOW prints both, in bytes; the highest number is this project's.
        Parameter("NPAGEDYN", 163_840, 2_147_483_647, False, computed=True),
        Parameter("NPAGEVIR", 163_840, 68_719_476_736, False, computed=True),
        # From 1,024 on as SYSGEN SHOW prints it, in pagelets; the highest number is the largest that listings had.
        Parameter("WSMAX", 1_024, 134_217_728, False, computed=True),
        Parameter("DEADLOCK_WAIT", 0, 2_147_483_647, True),
        # This project's bounds, no listing of these three was found: 32 CPUs, CPU ids 0 to 31, and -1 as a meaning.
        Parameter("LCKMGR_MODE", 0, 32, True),
        Parameter("LCKMGR_CPUID", 0, 31, True),
        # wiki.vmssoftware.com/FAST_PATH_PORTS: a static mask of 32 bits, a set bit turns a driver's fast path off.
        Parameter("FAST_PATH", 0, 1, False),
        Parameter("FAST_PATH_PORTS", 0, 4_294_967_295, False),
        Parameter("PE1", -1, 2_147_483_647, True),
        # OpenVMS I/O User's Reference Manual V7.3, 10.2.2.1: a dynamic mask of CPUs, -1 for all.
        Parameter("IO_PREFER_CPUS", -1, 4_294_967_295, True),
        # Default 32 (OpenVMS Cluster Systems, A.1); the range as SYSGEN SHOW prints it.
        Parameter("CLUSTER_CREDITS", 10, 128, False),
    )
}


def set_parameter(
    name: str,
    old: float | None,
    new: float,
    *,
    dynamic: bool,
    minimum: bool = False,
    cautions: tuple[str, ...] = (),
    memory_mb: float = 0.0,
    node: str | None = None,
    pending: float | None = None,
) -> Change:
    """Set one system parameter from the value in the export to another.

    `old` is the value that runs, `None` where no export showed it: the script then shows it first and the undo asks
    for that figure. `pending`: the value of CURRENT where it differs, which the undo of CURRENT goes back to; one that
    the parameter does not take is not written, the undo then asks for the figure that the first step shows. Where
    CURRENT has the new value of a dynamic parameter already, only ACTIVE is written. `minimum` writes `MIN_name`, as
    AUTOGEN-computed parameters need. `node` names where to do it; a name that cannot be written safely makes a change
    to be applied by hand. Raises `OutOfRange` for a value or a kind of change that the
    parameter does not take.
    """
    known = _checked(name, old, new, dynamic, minimum)
    try:
        where = openvms_name(node) if node is not None else None
    except Unquotable:
        return _by_hand(known, old, new, cautions)
    show = f"$ MCR SYSGEN SHOW {name}"
    least = "at least " if minimum else ""
    line = f"{'MIN_' if minimum else ''}{name} = {new:.0f}"
    back, was = (f"{old:.0f}", f", was {old:.0f}") if old is not None else (UNSHOWN, "")
    then = back
    if pending is not None:
        then = f"{pending:.0f}" if known.low <= pending <= known.high and pending == int(pending) else UNSHOWN
        was = f", was {then} in CURRENT" if then != UNSHOWN and not dynamic else was
    shown = f", in the export {then}" if then != UNSHOWN and pending is not None else ""
    on = f" on node {where}, while logged in there" if where else ""
    expected = f"; the export showed {back}" if old is not None else "; note it for the way back"
    last, forget = _into_modparams(name, line, was), _out_of_modparams(line)
    waiting = f", and {then} in CURRENT, which the next boot takes" if shown else ""
    if dynamic and pending == new:
        apply = (
            f"$! {name}{on}: CURRENT (of the next boot) is {new:.0f} already, in the export, and ACTIVE (what runs) is",
            f"$! not{expected}: WRITE ACTIVE was left out or taken back, so ask who did that",
            *_both(name),
            *_sysgen("ACTIVE", name, f"{new:.0f}"),
            f"$! check that it is {new:.0f}",
            show,
            f"$! AUTOGEN keeps it where {MODPARAMS} has a line for it: this shows it, if there is one",
            f'$ SEARCH {MODPARAMS} "{name}"',
        )
        undo = (
            f"$! ACTIVE: what the first SHOW gave before the change{', in the export ' + back if was else ''};",
            f"$! CURRENT was not touched, so the next boot takes {new:.0f} as it would have",
            *_sysgen("ACTIVE", name, back),
            show,
        )
    elif dynamic:
        apply = (
            f"$! {name}{on}: the ACTIVE value and the CURRENT one (of the next boot){expected}",
            "$! they differ where a change waits for a reboot: note both, the way back needs each",
            *_both(name),
            *_sysgen("ACTIVE", name, f"{new:.0f}"),
            f"$! check that it is {new:.0f}",
            show,
            "$! MEASURE FIRST. To let it last over a reboot and AUTOGEN, take $! out of the lines below and send them",
            *held_back(*_sysgen("CURRENT", name, f"{new:.0f}")),
            last[0],
            *held_back(*last[1:]),
        )
        undo = (
            f"$! ACTIVE: what the first SHOW gave before the change{', in the export ' + back if was else ''}",
            *_sysgen("ACTIVE", name, back),
            *_undo_current(name, then, shown, known=pending is not None),
            *forget,
            show,
        )
    else:
        apply = (
            f"$! {name}{on}: the value now{expected}{waiting}",
            show,
            *_current(name, pending),
            *last,
            f"$! after the reboot, check that {name} is {least}{new:.0f}:  MCR SYSGEN SHOW {name}",
        )
        undo = (
            *forget,
            *_sysgen("CURRENT", name, then),
            f"$! after the reboot, check that {name} is {then}:  MCR SYSGEN SHOW {name}",
        )
    return Change(
        key=_key(where, name),
        node=where or "",
        target=name,
        old=old,
        new=new,
        apply=apply,
        undo=undo,
        risk=TAKES_A_CPU if name == "LCKMGR_MODE" and new else None,
        takes_effect=Effect.ONLINE if dynamic else Effect.REBOOT,
        cautions=(*cautions, *(_ONLINE[: 1 if pending == new else 2] if dynamic else _REBOOT)),
        memory_mb=memory_mb,
        opening=() if dynamic else _KEEP,
        closing=() if dynamic else _AUTOGEN,
        undo_closing=() if dynamic else _UNDO_REST,
    )


def set_cpus(
    name: str, old: str | None, cpus: str, *, node: str | None = None, cautions: tuple[str, ...] = ()
) -> Change:
    """Set a dynamic parameter that is a list of CPUs, `1-7`, from the list in the export to another.

    Source: wiki.vmssoftware.com/IO_PRCPU_BITMAP. How MODPARAMS.DAT writes such a list no source says: CURRENT alone.
    """
    apply: tuple[str, ...]
    undo: tuple[str, ...]
    try:
        where = openvms_name(node) if node is not None else ""
    except Unquotable:
        where, effect = "", Effect.ADVICE
        apply = (f"$! apply by hand on that node: SYSGEN, USE ACTIVE, SET {name} {cpus}, WRITE ACTIVE",)
        undo = (f"$! by hand: {name} back to {old or UNSHOWN}",)
    else:
        effect, on = Effect.ONLINE, f" on node {where}, while logged in there" if where else ""
        apply = (
            f"$! {name}{on}: the ACTIVE list and the CURRENT one (of the next boot); note both for the way back",
            *_both(name),
            *_sysgen("ACTIVE", name, cpus),
            "$! FASTPATH_SERVER spreads the ports over these CPUs now: look where they are",
            "$ SHOW FASTPATH",
            "$! MEASURE FIRST. To let it last over a reboot, take $! out of the lines below and send them; how",
            f"$! {MODPARAMS} writes such a list no source says: look it up before the next AUTOGEN",
            *held_back(*_sysgen("CURRENT", name, cpus)),
        )
        undo = (
            "$! ACTIVE: what the first SHOW gave before the change; CURRENT only where its lines were sent",
            *_sysgen("ACTIVE", name, old or UNSHOWN),
            *held_back(*_sysgen("CURRENT", name, old or UNSHOWN)),
            "$ SHOW FASTPATH",
        )
    return Change(
        key=_key(where or None, name),
        node=where,
        target=name,
        old=old,
        new=cpus,
        apply=apply,
        undo=undo,
        takes_effect=effect,
        cautions=_ONLINE,
    )


def keep_parameter(
    name: str,
    pending: float,
    new: float,
    *,
    when: str = "",
    cautions: tuple[str, ...] = (),
    memory_mb: float = 0.0,
    node: str | None = None,
) -> Change:
    """Let the next boot take another value than the one that waits for it: CURRENT and MODPARAMS.DAT alone.

    Nothing that runs changes, and no reboot is asked for. `pending`: what CURRENT has now, to which the undo goes back.
    `when` makes it a template in comments alone that says what has to be decided first. Ranges as above.
    """
    known = PARAMETERS.get(name)
    minimum = known is not None and known.computed
    known = _checked(name, None, new, known is not None and known.dynamic, minimum)
    try:
        where = openvms_name(node) if node is not None else None
    except Unquotable:
        return _by_hand(known, pending, new, cautions)
    legal = known.low <= pending <= known.high and pending == int(pending)
    back = f"{pending:.0f}" if legal else UNSHOWN
    line = f"{'MIN_' if minimum else ''}{name} = {new:.0f}"
    if when:
        on = f" on node {where}" if where else ""
        apply: tuple[str, ...] = (
            f"$! {name}{on}, {when}:",
            f"$!   MCR SYSGEN, USE CURRENT, SET {name} {new:.0f}, WRITE CURRENT",
            f"$!   {line}   as a line of {MODPARAMS}",
        )
        undo: tuple[str, ...] = (
            f"$! {name}{on}: if it was written, CURRENT back to {back}, and the line out of {MODPARAMS} again",
        )
    else:
        on = f" on node {where}, while logged in there" if where else ""
        show = ("$ MCR SYSGEN", "USE CURRENT", f"SHOW {name}", "EXIT")
        apply = (
            f"$! {name}{on}: the CURRENT value (of the next boot) alone; the export showed {back}",
            *show,
            *_sysgen("CURRENT", name, f"{new:.0f}"),
            *_into_modparams(name, line, f", was {back} in CURRENT" if legal else ""),
            f"$! check that CURRENT is {new:.0f}; nothing that runs changes before the next boot",
            *show,
        )
        undo = (
            f"$! CURRENT: what the first SHOW gave before the change, in the export {back}",
            *_sysgen("CURRENT", name, back),
            *_out_of_modparams(line),
            *show,
        )
    return Change(
        key=f"{_key(where, name)}:CURRENT",
        node=where or "",
        target=f"{name} in CURRENT",
        old=pending,
        new=new,
        apply=apply,
        undo=undo,
        takes_effect=Effect.ADVICE if when else Effect.ONLINE,
        condition=when,
        cautions=(*cautions, *(() if when else _KEPT)),
        memory_mb=memory_mb,
    )


def advise_parameter(
    name: str,
    old: float | None,
    new: float,
    *,
    when: str,
    cautions: tuple[str, ...] = (),
    memory_mb: float = 0.0,
    node: str | None = None,
    pending: float | None = None,
    seat: int | None = None,
) -> Change:
    """The same setting as a template in comments alone: `when` says what has to come first. Ranges as above.

    `seat`: the CPU that LCKMGR_CPUID is to name with it, so that whoever types the lines takes no other one.
    """
    known = PARAMETERS.get(name)
    minimum = known is not None and known.computed
    known = _checked(name, old, new, known is not None and known.dynamic, minimum)
    try:
        where = openvms_name(node) if node is not None else None
    except Unquotable:
        return _by_hand(known, old, new, cautions)
    on = f" on node {where}" if where else ""
    back = f"{old:.0f}" if old is not None else UNSHOWN
    line = f"{'MIN_' if minimum else ''}{name} = {new:.0f}"
    placed = "" if seat is None else f"SET LCKMGR_CPUID {seat}, "
    set_now = (f"$!   MCR SYSGEN, USE ACTIVE, {placed}SET {name} {new:.0f}, WRITE ACTIVE",) if known.dynamic else ()
    there = known.dynamic and pending == new
    last = f"{line}   as a line of {MODPARAMS}" + ("" if seat is None else f", and LCKMGR_CPUID = {seat}")
    boot: tuple[str, ...] = ()
    if not known.dynamic:
        boot = tuple(f"$!   {one.removeprefix('$! ').removeprefix('$ ').strip()}" for one in _AUTOGEN)
        cautions = (*cautions, _REBOOT[0])
    out = f", and the line out of {MODPARAMS} again"
    if there:
        last, out = f"CURRENT is {new:.0f} already: nothing else is to be written", "; CURRENT was not touched"
    return Change(
        key=_key(where, name),
        node=where or "",
        target=name,
        old=old,
        new=new,
        apply=(f"$! {name}{on}, {when}:", *set_now, f"$!   {last}", *boot),
        undo=(f"$! {name}{on}: if it was set, back to {back}{out}",),
        takes_effect=Effect.ADVICE,
        condition=f"{when}; {AT_BOOT}" if boot and "reboot" not in when else f"{WAITS}; {when}" if there else when,
        cautions=cautions,
        memory_mb=memory_mb,
        risk=WHERE_CHOSEN if boot else None,
    )


def _undo_current(name: str, then: str, shown: str, *, known: bool) -> tuple[str, ...]:
    """The way back of CURRENT: held back where no export showed its value, which need not be the one that ran.

    Written unseen, a value that was set for a test alone would last from the next boot on.
    """
    said = f"$! CURRENT: what the second SHOW gave before the change{shown}; put that in where it was another value"
    lines = _sysgen("CURRENT", name, then)
    if known:
        return (said, *lines)
    only = "$! (only where the lines for CURRENT were sent: take $! out of these then)"
    return (said, only, *held_back(*lines))


def _current(name: str, pending: float | None) -> tuple[str, ...]:
    """A look at CURRENT, where it was another value than the one that runs."""
    return () if pending is None else ("$ MCR SYSGEN", "USE CURRENT", f"SHOW {name}", "EXIT")


def _both(name: str) -> tuple[str, ...]:
    """A look at what runs and at what the next boot takes."""
    return ("$ MCR SYSGEN", "USE ACTIVE", f"SHOW {name}", "USE CURRENT", f"SHOW {name}", "EXIT")


def _into_modparams(name: str, line: str, was: str) -> tuple[str, ...]:
    """Write a line into MODPARAMS.DAT, after a look at what is there."""
    return (
        f"$! any older line for {name}: put ! before it, or AUTOGEN finds two values",
        f'$ SEARCH {MODPARAMS} "{name}"',
        f"$ OPEN/APPEND LOCKWRIGHT {MODPARAMS}",
        f'$ WRITE LOCKWRIGHT "{line} {MARK}{was}"',
        "$ CLOSE LOCKWRIGHT",
    )


def _out_of_modparams(line: str) -> tuple[str, ...]:
    """Take that line out again."""
    return (
        f"$! take the line out of MODPARAMS.DAT again: {EDITED} is the file without it. Look at it,",
        "$! and RENAME makes it the new version of MODPARAMS.DAT; put back any older line",
        f'$ SEARCH/MATCH=NOR/NOHEADING/OUTPUT={EDITED} {MODPARAMS} "{line} {MARK}"',
        f"$ TYPE {EDITED}",
        f"$ RENAME {EDITED} {MODPARAMS}",
        f"$ DIRECTORY {MODPARAMS}",
    )


def parameter_key(name: str, node: str | None = None) -> str:
    """The key of the change that sets this parameter on this node: for changes that have to wait for it."""
    try:
        return _key(openvms_name(node) if node is not None else None, name)
    except Unquotable:
        return f"openvms.sysgen:by hand:{name}"


def _key(where: str | None, name: str) -> str:
    return f"openvms.sysgen:{where + ':' if where else ''}{name}"


def _checked(name: str, old: float | None, new: float, dynamic: bool, minimum: bool) -> Parameter:
    known = PARAMETERS.get(name)
    if known is None:
        raise OutOfRange(f"{name!r}: only {', '.join(PARAMETERS)} are known with their ranges")
    if not known.low <= new <= known.high or new != int(new):
        raise OutOfRange(f"{name} {new:g}: a whole number from {known.low} to {known.high}")
    if known.power_of_two and int(new) & (int(new) - 1):
        raise OutOfRange(f"{name} {new:g}: a power of two; the system rounds up to one")
    if dynamic != known.dynamic:
        raise OutOfRange(f"{name} is {'' if known.dynamic else 'not '}dynamic")
    if known.computed and not minimum:
        raise OutOfRange(f"{name} is computed by AUTOGEN: a floor (MIN_{name}), not a bare value")
    if old is not None and new == old:
        raise OutOfRange(f"{name} is {new:g} already")
    if minimum and old is not None and new < old:
        raise OutOfRange(f"MIN_{name} = {new:g} is a floor: it never lowers {old:g}")
    return known


def _sysgen(where: str, name: str, value: str) -> tuple[str, ...]:
    return ("$ MCR SYSGEN", f"USE {where}", f"SET {name} {value}", f"WRITE {where}", "EXIT")


def _by_hand(known: Parameter, old: float | None, new: float, cautions: tuple[str, ...]) -> Change:
    """A change without any executable line, for a node whose name could hide one."""
    why = "The node's name holds characters that cannot be written into a script: apply this by hand on that node."
    line = f"{'MIN_' if known.computed else ''}{known.name} = {new:.0f}"
    return Change(
        key=f"openvms.sysgen:by hand:{known.name}",
        target=known.name,
        old=old,
        new=new,
        apply=(f"$! apply by hand: {line} in MODPARAMS.DAT of that node",),
        undo=(f"$! by hand: back to {f'{old:.0f}' if old is not None else UNSHOWN}",),
        takes_effect=Effect.ADVICE,
        cautions=(*cautions, why),
    )


WAITS = "it waits in CURRENT, so WRITE ACTIVE alone is missing and the next boot sets it"
AT_BOOT = "not dynamic: it takes a reboot of that node"
WHERE_CHOSEN = Risk("medium", "nothing is run here; once it is chosen, the node is rebooted")
"""Of a template whose parameter takes a boot."""
_KEEP = (
    "$! keep all parameters as they are now: AUTOGEN may change more than what is asked for here",
    "$ MCR SYSGEN",
    "USE CURRENT",
    f"WRITE {BEFORE}",
    "EXIT",
)
_AUTOGEN = (
    "$! once for all MODPARAMS.DAT lines: compute without setting anything, and read what would change",
    "$ @SYS$UPDATE:AUTOGEN SAVPARAMS TESTFILES CHECK_FEEDBACK",
    "$ TYPE SYS$SYSTEM:AGEN$PARAMS.REPORT",
    "$! go on only if every change in that report is wanted. Then, in an agreed window, type",
    "$! (it sets the parameters, shuts the node down and reboots it):",
    "$!   @SYS$UPDATE:AUTOGEN GETDATA REBOOT CHECK_FEEDBACK",
)
_UNDO_REST = (
    "$! AUTOGEN may have changed more: all parameters as before are in the file below; where they are wanted back,",
    f"$!   MCR SYSGEN, USE {BEFORE}, WRITE CURRENT",
    "$! then, in an agreed window, reboot once:  @SYS$SYSTEM:SHUTDOWN",
)
_ONLINE = (
    "Per node: MODPARAMS.DAT and the active value belong to the node where this is run. Needs CMKRNL and SYSPRV.",
    "The active value is lost at a reboot until it is also written to CURRENT.",
)
_KEPT = (
    "No reboot is needed for it: it is for the next one, whenever that happens. Per node: CURRENT and MODPARAMS.DAT "
    "belong to the node where this is run. Needs CMKRNL and SYSPRV.",
)
_REBOOT = (
    "Not dynamic: needs a reboot. Per node: MODPARAMS.DAT belongs to the node where this is run.",
    "AUTOGEN recomputes every parameter and page, swap and dump file sizes: where parameters were set with SYSGEN "
    "alone, put them into MODPARAMS.DAT first. Feedback of less than a day of uptime is not worth using.",
    "If the node does not boot, boot conversationally and USE the saved parameter file (LOCKWRIGHT_BEFORE.PAR).",
)
