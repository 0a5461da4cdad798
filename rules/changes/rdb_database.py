"""Attributes of an Oracle Rdb database: ALTER DATABASE in SQL, wrapped in the DCL that it needs around it.

A full backup comes first. Where users must be out, the database is closed on all nodes (RMU/CLOSE/CLUSTER/NOABORT/WAIT:
no user is thrown out, but nobody gets in any more, and the prompt comes back when the last one has left), altered and
opened again; several changes share one backup, one close and one open. Each shows the header's line before and after.
What alters the database is held back in comments until the backup is known to be good: `ON WARNING THEN EXIT` ends a
command file, and stops nothing that is pasted.
RMU as in the help of Rdb 7.2. What is recalled only is said to be so in the change's cautions.
"""

import textwrap
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass

from rules.changes.out_of_range import OutOfRange
from rules.changes.quoting import Unquotable, comment, held_back, rdb_file, rdb_name
from rules.changes.rdb_clauses import CLAUSES, Clause
from rules.finding import Change, Effect, Risk

RULER = f"$! {'=' * 96}"
HEADER = "SYS$LOGIN:LOCKWRIGHT_HEADER.TXT"
PLACE = "LOCKWRIGHT_BACKUP"
ONLINE = (
    "$! an online backup waits for a moment without an update transaction (HELP RMU BACKUP, Quiet_Point), and new ones",
    "$! may wait for it: not in the busy hour, and not beside a long transaction. It needs snapshots (immediate",
    "$! or deferred): where they are disabled it fails, and the database has to be closed for a backup without /ONLINE",
)
ONE_NODE = (
    "$! that lists the users of all nodes: where NUMBER OF CLUSTER NODES is to be set below and it shows those of a",
    "$! second one (Monitor ID) stop here, for 1 would lock that node out. A node that has it open without a user is",
    "$! in RMU/SHOW SYSTEM there",
)
CLOSED = ", with the database closed on all nodes"
NOTED = "the value shown before the change"


@dataclass(frozen=True)
class Place:
    """The database to alter, and what is known of how it is open."""

    root: str | None
    """The root file as the export has it; `None`: it names none."""
    open_mode: str | None = None
    """`AUTOMATIC` or `MANUAL`; `None`: not in the export."""
    by_operator: bool | None = None
    """Whether somebody opened it with RMU/OPEN."""
    elsewhere: bool | None = None
    """Whether more than one node has it open; `None`: the export cannot tell."""
    others: tuple[str, ...] = ()
    """The other nodes of the cluster, none of which has it open now."""
    without: tuple[str, ...] = ()
    """Where no list says which nodes the cluster has: those whose own list of open databases does not have it."""
    another_time: str = ""
    """Where the header is of another time than the figures, so not to act on: the dates that say so, in words."""
    uncounted: bool = False
    """Whether its header says that statistics are disabled: nothing but the header asks for a change then."""


EVERY_NODE = "RMU/SHOW SYSTEM on every node of the cluster shows it open on one alone"
COMMIT = "COMMIT TO JOURNAL OPTIMIZATION"
"""Switched on with its TRANSACTION INTERVAL, at the default of 256 (vendor: help on ALTER DATABASE)."""
MOST_OTHERS = 3
"""Other nodes that are named."""
CLOSES = Risk(
    "high",
    "users cannot work with it until it is done; not while a long job is attached: closing waits for it, and meanwhile "
    "nobody gets in",
)
SAME = {"new_row_cache": "row_cache", "commit_with_checkpoint": "commit_to_journal"}
"""Clauses that set what another one sets, with more to it."""


def key_of(clause: str, place: Place, area: str | None = None) -> str:
    """The key of a change, for `needs`."""
    clause = SAME.get(clause, clause)
    root = comment(place.root.strip().upper().partition(";")[0], 255) if place.root else "database"
    return f"rdb.database:{root}:{clause}{':' + comment(area.strip().upper(), 64) if area is not None else ''}"


def alter(
    clause: str,
    place: Place,
    old: float | str | None,
    new: float | str,
    *,
    area: str | None = None,
    needs: tuple[str, ...] = (),
    cautions: tuple[str, ...] = (),
    when: str = "",
    fill: Mapping[str, str] | None = None,
    sized: tuple[float, float] | None = None,
) -> Change:
    """Set one attribute from the value in the export to another.

    `old` is `None` where no export showed it: the script shows it first and the undo asks for it. `area` names the
    storage area of `area_locking`. `fill`: what is known of that which stands in <> in a template. `sized`: number and
    user limit of the global buffers that are enabled. `when`: what has to come first; the change is then a template in
    comments alone. So is one node where another may have the database open, now or later, and every change where the
    header is of another time than the figures: what it shows may have been changed between them. A name that cannot be
    written safely makes a change to be applied by hand. Raises `OutOfRange` for a clause or value that there is not,
    for the value that is there already, and for one node where several have the database open.
    """
    known = _checked(clause, place, old, new, area)
    when = when or known.template
    if clause == "cluster_nodes" and new == 1 and place.elsewhere is None:
        rest = f"no node but this and {_listed(place.without)}, or those others do not have it open"
        seen = f"SHOW CLUSTER shows {rest}" if place.without else EVERY_NODE
        alone = f"when {seen}, and it is known that no other has to open it after a failure"
        when = f"{alone}; {when}" if when else alone
    elif clause == "cluster_nodes" and new == 1 and place.others:
        only = f"when {_given_up(place.others)}"
        when = f"{only}; {when}" if when else only
    if place.uncounted:
        counting = "when statistics are counted, and those of a busy hour still ask for it"
        when = f"{counting}; {when}" if when else counting
    if dates := place.another_time:
        read = f"when a new RMU/DUMP/HEADER still shows what it is changed from, and new figures why ({dates})"
        when = f"{read}; {when}" if when else read
        apart = f"Header and figures are of different times: {dates}. Read both again first."
        cautions = (apart, *cautions)
    by_hand = ""
    try:
        root = rdb_file(place.root or "")
        where = rdb_name(area) if area is not None else ""
    except Unquotable:
        root, where = "<root file>", "<storage area>" if area is not None else ""
        by_hand = (
            "A name holds characters that cannot be written into a script: apply this by hand."
            if place.root
            else "The export does not name the root file: apply this by hand."
        )
    target = f"{known.label} of {where}" if where else known.label
    effect = Effect.ONLINE if known.online else Effect.OFFLINE
    lines = _Lines(
        known, root, where, _written(clause, new, sized), _written(clause, old) if old is not None else None, fill or {}
    )
    if when or by_hand:
        return Change(
            key=key_of(clause, place, area),
            target=target,
            old=old,
            new=new,
            apply=lines.template(when or "by hand", known.online),
            undo=lines.template_undo(target, known.online),
            takes_effect=Effect.ADVICE,
            condition=comment(when, 400),
            cautions=(*cautions, *((by_hand,) if by_hand else ()), *known.cautions),
            needs=needs,
        )
    return Change(
        key=key_of(clause, place, area),
        target=target,
        old=old,
        new=new,
        apply=lines.apply(),
        undo=lines.undo(),
        takes_effect=effect,
        risk=None if known.online else CLOSES,
        cautions=(*cautions, *known.cautions),
        opening=_opening(root, "BEFORE", known.online),
        closing=() if known.online else _reopen(root, place),
        undo_opening=_opening(root, "BACK", known.online),
        undo_closing=() if known.online else _reopen(root, place),
        needs=needs,
    )


def _checked(clause: str, place: Place, old: float | str | None, new: float | str, area: str | None) -> Clause:
    known = CLAUSES.get(clause)
    if known is None:
        raise OutOfRange(f"{clause!r}: only {', '.join(CLAUSES)} are known")
    if ("{area}" in known.sql) != (area is not None):
        raise OutOfRange(f"{known.label}: {'needs a' if area is None else 'is not of one'} storage area")
    if known.words and new not in known.words:
        raise OutOfRange(f"{known.label} {new!r}: {' or '.join(known.words)}")
    if not known.words and not (isinstance(new, int | float) and known.low <= new <= known.high and new == int(new)):
        raise OutOfRange(f"{known.label} {new!r}: a whole number from {known.low} to {known.high}")
    if old == new:
        raise OutOfRange(f"{known.label} is {new} already")
    if clause == "cluster_nodes" and new == 1 and place.elsewhere:
        raise OutOfRange("NUMBER OF CLUSTER NODES 1: several nodes have the database open")
    return known


def _listed(nodes: tuple[str, ...]) -> str:
    more = f" and {len(nodes) - MOST_OTHERS} more" if len(nodes) > MOST_OTHERS else ""
    return f"{', '.join(comment(one, 31) for one in nodes[:MOST_OTHERS])}{more}"


def _given_up(others: tuple[str, ...]) -> str:
    """What one node costs where the cluster has others, as a clause: one moment does not show what opens it there."""
    return (
        f"nothing is ever to open it on {_listed(others)} at the same time: batch jobs and backups there fail then, "
        "and how one takes over after a failure has to be tried first"
    )


def _written(clause: str, value: float | str, sized: tuple[float, float] | None = None) -> str:
    """The value as the clause has it."""
    if sized:
        return f"{value} (NUMBER IS {sized[0]:.0f}, USER LIMIT IS {sized[1]:.0f})"
    if CLAUSES[clause].label == COMMIT:
        return f"{COMMIT}, TRANSACTION INTERVAL IS 256" if value == "ENABLED" else f"NO {COMMIT}"
    return f"{value:.0f}" if isinstance(value, int | float) else value


@dataclass(frozen=True)
class _Lines:
    """The text of one change."""

    known: Clause
    root: str
    area: str
    new: str
    old: str | None
    fill: Mapping[str, str]
    """`<area>` and the like, with the name or number that the export has for it."""

    @property
    def back(self) -> str:
        return self._said(self.old) if self.old is not None else NOTED

    @property
    def placeholder(self) -> str:
        """What stands for a value that no export showed: SQL refuses it, also where somebody takes the `$!` away."""
        return f"<{' or '.join(self.known.words) or 'the number noted'}>"

    @property
    def _way_back(self) -> str:
        """The whole statement that sets the value before: a comment, for a person to send."""
        if self.old is not None:
            value = self.old
        elif self.known.label == COMMIT:
            value = f"<NO, where it was disabled> {COMMIT}"
        else:
            value = self.placeholder
        clause = (self.known.back or self.known.sql).format(value=value, area=self.area)
        return f"$!   ALTER DATABASE FILENAME '{self.root}' {clause};"

    def _said(self, value: str) -> str:
        if self.known.label == COMMIT:
            return "DISABLED" if value.startswith("NO ") else "ENABLED"
        return value.partition(" (")[0]

    def _clause(self, value: str) -> str:
        return self.known.sql.format(value=value, area=self.area)

    def _look(self) -> tuple[str, str]:
        window = "/WINDOW=(1,30)" if self.area else ""
        return (
            f"$ RMU/DUMP/HEADER/OUTPUT={HEADER} {self.root}",
            f'$ SEARCH{window} {HEADER} "{self.area or self.known.look}"',
        )

    def _session(self, value: str) -> tuple[str, ...]:
        return held_back("$ MCR SQL$", f"ALTER DATABASE FILENAME '{self.root}'", f"  {self._clause(value)};", "EXIT")

    def apply(self) -> tuple[str, ...]:
        seen = f"; the export showed {self.back}" if self.old is not None else "; note it for the way back"
        return (
            f"$! {self.known.label}: the value now{seen}",
            *self._look(),
            *self._session(self.new),
            f"$! check that SQL gave no error and that it is {self._said(self.new)}",
            *self._look(),
        )

    @property
    def kept(self) -> str:
        """The way back from a value that nothing takes back to the one before; else empty."""
        if self.old is None or not self.old.isdigit() or int(self.old) >= self.known.low:
            return ""
        return f"$! {self.known.label}: nothing takes it back to {self.old}; left as it is, it does no harm"

    def template_undo(self, target: str, online: bool) -> tuple[str, ...]:
        """Comments alone, with the statement that sets the value before."""
        if self.kept:
            return (self.kept,)
        return (
            f"$! {target}: if it was set, back to {self.back},",
            f"$! after a full backup{'' if online else CLOSED}, in SQL:",
            self._way_back,
        )

    def undo(self) -> tuple[str, ...]:
        if self.kept:
            return (self.kept,)
        if self.old is None:
            return (
                f"$! {self.known.label} back to {NOTED}, in SQL:",
                self._way_back,
                *self._look(),
            )
        return (
            *self._session(self.old),
            f"$! check that SQL gave no error and that it is {self.back}",
            *self._look(),
        )

    def template(self, when: str, online: bool) -> tuple[str, ...]:
        look = tuple(f"$!   {line.removeprefix('$ ')}" for line in self._look())
        return (
            *(f"$! {line}" for line in _wrapped(f"{self.known.label}: {comment(when, 400)}")),
            *(("$! note first what it is now, for the way back:", *look) if self.old is None else ()),
            f"$! then, after a full backup{'' if online else CLOSED}, in SQL:",
            f"$!   ALTER DATABASE FILENAME '{self.root}' {self._clause(self.new)}{'' if self.known.more else ';'}",
            *(f"$!{self._filled(line.format(root=self.root))}" for line in self.known.more),
        )

    def _filled(self, line: str) -> str:
        for place, value in self.fill.items():
            with suppress(Unquotable):
                line = line.replace(place, value if value.isdigit() else rdb_name(value))
        return line


def _wrapped(text: str) -> list[str]:
    """Lines short enough to paste; words, as %RDMS-F-NOAIJENB, stay whole."""
    return textwrap.wrap(text, 110, break_long_words=False, break_on_hyphens=False)


def _opening(root: str, name: str, online: bool) -> tuple[str, ...]:
    """A full backup that can be read, and, unless users may stay, the database closed on all nodes."""
    file = f"{PLACE}:{root.rpartition(']')[2].rpartition(':')[2].partition('.')[0]}_{name}.RBF"
    close = (
        "$! NOT WHILE A LONG JOB IS ATTACHED, as listed above: users leave by themselves, and until the last one has,",
        "$! on all nodes, the next line lets nobody in (if it is not open at all, leave that line out). With OPEN IS",
        "$! AUTOMATIC the next user opens it again: hold logins, batch queues and servers until the end",
        f"$ RMU/CLOSE/CLUSTER/NOABORT/WAIT {root}",
    )
    return (
        f"$! {root}: needs the rights of its DBA. As a command file this ends at the first thing",
        "$! that fails; if the database was closed by then, open it again as the last lines do",
        *(ONLINE if online else ()),
        "$ ON WARNING THEN EXIT",
        "$! where several versions of Rdb are installed, first:  @SYS$LIBRARY:RDB$SETVER",
        "$! a place with room for the whole database, instead of what stands in <>",
        f"$ DEFINE {PLACE} <device:[directory]>",
        f"$ SHOW DEVICE {PLACE}",
        f"$ RMU/DUMP/USERS {root}",
        *(() if online else (*ONE_NODE, *close)),
        f"$ RMU/BACKUP{'/ONLINE' if online else ''}/LOG {root} {file}",
        f"$ RMU/DUMP/BACKUP_FILE/OUTPUT=NL: {file}",
        RULER,
        "$! DECIDE HERE: go on only if the backup was made and could be read, both without an error. Only a restore to",
        "$! another place proves that it can be restored. Then take $! out of the lines from $ MCR SQL$ to EXIT below",
        "$! this box, and send these before the rest. Pasted as it is, nothing below this box alters the database",
        RULER,
    )


ELSEWHERE = (
    "$! and so on every other node that had it open, as RMU/CLOSE/CLUSTER closed it on all of them",
    "$! (RMU/SHOW SYSTEM on each tells which databases it has open)",
)


def _reopen(root: str, place: Place) -> tuple[str, ...]:
    manual = (place.open_mode or "").upper() == "MANUAL" or place.by_operator
    again = (
        (f"$ RMU/OPEN {root}",)
        if manual
        else (f"$! if it is opened by hand (OPEN IS MANUAL):  RMU/OPEN {root}", "$! else the first user opens it")
    )
    return (
        "$! open it again; then let users, queues and servers in",
        *again,
        *(ELSEWHERE if manual and place.elsewhere is not False else ()),
        f"$ RMU/DUMP/HEADER/OUTPUT={HEADER} {root}",
        f'$ SEARCH {HEADER} "WARNING"',
        "$! take a full backup of it as it is now: the one above is of the database before the change",
    )
