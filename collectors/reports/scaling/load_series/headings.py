"""What heads a load series: a load, a rate, and what stands beside them."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from collectors.facts.scaling import LoadPoint
from collectors.reports.scaling.load_series.cells import split
from collectors.reports.scaling.load_series.settings import NAMED, is_switch, setting_columns
from collectors.reports.scaling.load_series.titles import CLOCK, Title, column_title

LOAD = (
    r"(?:(?:number|no\.?|num|count)[ _](?:of[ _])?|(?:concurrent|active|virtual|online)[ _])?"
    r"(?:load|process(?:es)?|procs|processors?|engines?|users?|cpus?|threads?|clients?|cores|workers|sessions"
    r"|connections|concurrency|streams|jobs|terminals)(?:[ _](?:active|running|online|used))?"
)
RUNNING = re.compile(r"_(?:active|running|online|used)$")
"""What stands behind a load and makes it no other one: `cpus_active`."""
PARAMETER = (
    r"(?:RESHASHTBL|LOCKIDTBL|(?:resource[ _])?hash[ _]table(?:[ _](?:size|entries))?|RHT(?:[ _](?:size|entries))?"
    r"|(?:LVB|(?:lock[ _])?value[ _]block)[ _](?:bytes|size))"
)
"""What a series may be over instead of a load: parameters of the lock manager that were tried one value at a time."""
SETTING = "|".join(f"(?:{pattern})" for pattern in NAMED.values())
PER_SECOND = r"(?:[ _]?/[ _]?|[ _]per[ _])(?:s|secs?|seconds?)"
A_SECOND = r"(?:ops|operations|txn?s?|trans(?:actions)?|req(?:uest)?s?)[ _](?:s|secs?)"
"""`ops_s`: of words for work alone, as `wait_s` and `sys_s` are seconds."""
STRONG = rf"(?:through[ _-]?put|[tq]ps|iops|{A_SECOND}|[a-z]{{1,24}}(?:[ _][a-z]{{1,24}}){{0,3}}{PER_SECOND})"
ONE_WORD = rf"(?:throughput|[tq]ps|iops|{A_SECOND}|[a-z_]{{1,40}}(?:_per_|/)(?:s|secs?|seconds?))"
PER_LONGER = r"[a-z]{1,24}(?:[ _][a-z]{1,24}){0,3}(?:[ _]?/[ _]?|[ _]per[ _])(?:mins?|minutes?|h|hours?)"
RATE = rf"(?:{STRONG}|{PER_LONGER}|(?:[a-z]{{1,24}}[ _])?rate|ops)(?: ?\([^)]{{0,20}}\))?"
LOCKS = r"(?:# *)?processes +Idle +MP ?Synch? +Kernel +Exec +Super +User +Total +new +ENQ +Convert +ENQ +DEQ +Tot +Lock"
CORES = r"\S.{0,120}[ )]- [0-9]{1,4} cores?"


def _cell(what: str) -> str:
    """A look ahead: somewhere in this delimited line a cell holds just this."""
    return rf'(?=(?:[^,;\t|]{{0,60}}+[,;\t|]){{0,40}}[ #"]{{0,4}}(?:{what})[ "]{{0,20}}(?:[,;\t|]|$))'


MOST_COLUMNS = 1000
"""A load series has a load, a rate and a few modes; a line of more columns heads something else."""
MACHINE = rf"(?>[^,;\t|]{{0,80}}?(?:{CLOCK}|\b[0-9]{{1,4}}[ -](?:cores?|CPUs?)\b)[^,;\t|]{{0,40}})"
WIDE = rf'[ #"|]{{0,4}}{LOAD}[ "]{{0,4}}(?:[,;\t|]{MACHINE}){{2,20}}[ "|]{{0,20}}$'
"""A load, then a column for each of several machines, each with its clock or the number of its cores."""
LAB = _cell("series") + _cell("processes") + _cell("enq") + _cell("convert") + _cell("deq") + _cell("total")
START = re.compile(
    rf"(?i:^{LAB}|^\s*{LOCKS}\s*$|^\s*{CORES}\s*$|^{_cell(LOAD)}{_cell(RATE)}|^{_cell('n')}{_cell(RATE)}"
    rf"|^{_cell(SETTING)}{_cell(STRONG)}"
    rf"|^\s*(?:# *)?{LOAD}(?: +[a-z_%]{{1,30}}){{0,8}}? +{ONE_WORD}(?: +[a-z_%/]{{1,30}}){{0,8}}\s*$"
    rf"|^\s*(?:# *)?{LOAD}(?=\s\s).{{0,200}}\s\s(?:{STRONG}|{PER_LONGER})(?:\s\s|\s*$)|^{WIDE})"
)
"""Specific on purpose: a line that begins a series ends whatever report it stands in."""
LABORATORY = re.compile(LAB, re.IGNORECASE)
"""The heading of the lock laboratory for OpenVMS: many of its columns would be a load elsewhere."""
PARAMETER_NAME = re.compile(PARAMETER, re.IGNORECASE)
LOAD_NAME, STRONG_NAME = re.compile(rf"{LOAD}|n", re.IGNORECASE), re.compile(STRONG, re.IGNORECASE)
A_SECOND_NAME = re.compile(A_SECOND, re.IGNORECASE)
RATE_NAME = re.compile(RATE, re.IGNORECASE)
REMARK = re.compile(r"\s*(?:#|//|--|!)")
LOCKS_LINE = re.compile(rf"\s*{LOCKS}\s*$", re.IGNORECASE)
WIDE_LINE, LABELLED = re.compile(WIDE, re.IGNORECASE), re.compile(rf"({RATE}) ?\(([^()]{{1,20}})\)", re.IGNORECASE)
NO_WORK = re.compile(
    r"(?:^|_)(?:err|errors?|fail(?:s|ed|ures?)?|miss(?:es)?|aborts?|aborted|stalls?|stalled|waits?|waited|timeouts?"
    r"|retry|retries|faults?|deadlocks?|collisions?|rejects?|rejected|drops?|dropped|rollbacks?)(?:_|$)|(?:^|_)hit_rate$"
)
"""Rates of which more is no more work: that they fall says nothing good or bad of the load."""
MOMENT = re.compile(r"(?:time_?stamp|date_?time|date|(?:sample_|start_|end_|interval_)?time)(?:_(?:start|end|of_day))?")
"""A column that may hold times of day."""
LOCK_RATE = "lock_operations_per_second"
NEW, CONVERTED, DEQ = "new_enq_per_second", "converted_enq_per_second", "deq_per_second"
MODES = ("idle_percent", "mp_synch_percent", "kernel_percent", "exec_percent", "super_percent", "user_percent")
USER = "user_percent"
LOCKS_COLUMNS = ("processes", *MODES, "total_percent", NEW, CONVERTED, DEQ, LOCK_RATE)
KNOWN = {
    **{name.removesuffix("_percent"): name for name in (*MODES, "interrupt_percent", "total_percent")},
    **dict.fromkeys(("mpsynch", "mp_sync", "mpsync", "mp_synchronization"), "mp_synch_percent"),
    **{"executive": "exec_percent", "supervisor": "super_percent", "idle_time": "idle_percent"},
    **dict.fromkeys(("inter", "int"), "interrupt_percent"),
    **dict.fromkeys(("new_enq", "new_enqs", "new_enq_rate"), NEW),
    **dict.fromkeys(("convert_enq", "converted_enq", "convert_enq_per_second", "converted_enq_rate"), CONVERTED),
    **dict.fromkeys(("deq", "deqs", "deqs_per_second", "deq_rate"), DEQ),
    **dict.fromkeys(("tot_lock", "total_lock", "lock_operations", "lock_ops", "lock_ops_per_second"), LOCK_RATE),
}
"""How the columns of MONITOR are written elsewhere → their names here."""


@dataclass
class Column:
    """A column that holds a rate, and the points read from it."""

    at: int
    name: str
    label: str | None = None
    """Where several machines stand side by side: which of them this is."""
    points: list[LoadPoint] = field(default_factory=list)


@dataclass
class Table:
    """One heading and the rows below it."""

    delimiter: str
    columns: tuple[str, ...]
    load: int | None
    """`None`: no load was told, only settings."""
    rates: list[Column]
    strong: bool
    title: Title | None = None
    parameter: str | None = None
    """What stands in the column of the load instead of one, as the heading has it."""
    settings: dict[int, str] = field(default_factory=dict)
    """Columns that part the rows into series: which setting each holds."""
    setups: dict[int, tuple[tuple[str, str], ...]] = field(default_factory=dict)
    """What these said, by the row's line in the file."""
    first: int = 0
    last: int = 0
    commas_decimal: bool = False
    ended: bool = False
    point_groups: frozenset[int] = frozenset()
    """Columns whose points stand between thousands."""
    moments: list[str] = field(default_factory=list)
    """What stands in the column of the time, row by row."""

    @property
    def moment(self) -> int | None:
        """The column that may hold the time of a row."""
        return next((at for at, name in enumerate(self.columns) if MOMENT.fullmatch(name) and at != self.load), None)


def heading(line: str, below: Sequence[str] = ()) -> Table | None:
    """Read a heading, with whatever delimiter gives it a load and a rate; `below`: lines that tell loads from words."""
    if LOCKS_LINE.match(line):
        return Table(" ", LOCKS_COLUMNS, 0, [Column(len(LOCKS_COLUMNS) - 1, LOCK_RATE)], strong=True)
    if not START.search(line) or _remark(line, below):
        return None
    text = re.sub(r"^\s*#\s*", "", line)
    if WIDE_LINE.match(line):
        return _wide(text)
    for delimiter in (";", "\t", "|", ",", "  ", " "):
        cells = [cell.strip(' "#') for cell in split(text, delimiter)]
        if 2 <= len(cells) <= MOST_COLUMNS and (found := _table(delimiter, cells, below)):
            return found
    return None


def _remark(line: str, below: Sequence[str]) -> bool:
    """Whether a comment that names a load and a rate only tells what stands below: a heading of its own follows it."""
    following = next((one for one in below if one.strip()), "")
    return REMARK.match(line) is not None and REMARK.match(following) is None and heading(following) is not None


def _wide(text: str) -> Table | None:
    """A load and several machines: what their columns count is not said, so it is a rate of something."""
    for delimiter in (";", "\t", "|", ","):
        cells = [" ".join(cell.strip(' "#').split()) for cell in split(text, delimiter)]
        if len(cells) > 2 and LOAD_NAME.fullmatch(cells[0]) and all(column_title(cell) for cell in cells[1:]):
            rates = [Column(at, "rate", cell) for at, cell in enumerate(cells) if at]
            return Table(delimiter, tuple(_plain(cell) for cell in cells), 0, rates, strong=False)
    return None


def _settings(cells: list[str], delimiter: str, below: Sequence[str]) -> dict[int, str]:
    """The columns of settings. Where threads are counted, they are a load or one more figure, and no setting."""
    found = setting_columns(cells)
    rows = [row for line in below if len(row := split(line, delimiter)) == len(cells)]
    counted = [at for at, name in found.items() if name == "threads" and not any(is_switch(row[at]) for row in rows)]
    left = {at: name for at, name in found.items() if at not in counted}
    return left if set(left.values()) & set(NAMED) else {}


def _table(delimiter: str, cells: list[str], below: Sequence[str]) -> Table | None:
    named = [_name(cell) for cell in cells]
    modes = len(set(MODES) & set(named)) > 1  # `user` alone is somebody who works, or the seconds one used
    if not modes:
        named = [_plain(cell) if name == USER else name for name, cell in zip(named, cells, strict=True)]
    settings = _settings(cells, delimiter, below)
    loads = [at for at, cell in enumerate(cells) if LOAD_NAME.fullmatch(cell) and at not in settings]
    loads = [at for at in loads if not (modes and named[at] in MODES)]
    rates = [at for at, cell in enumerate(cells) if named[at] == LOCK_RATE or RATE_NAME.fullmatch(cell)]
    rates = [at for at in rates if named[at] not in (NEW, CONVERTED, DEQ) and not NO_WORK.search(named[at])]
    if not loads and settings and (per_second := [at for at in rates if _strong(cells[at])]):
        column = Column(per_second[0], named[per_second[0]])
        if len(settings) == 1 and PARAMETER_NAME.fullmatch(cells[at := next(iter(settings))]):
            return Table(_of(delimiter), tuple(named), at, [column], strong=True, parameter=cells[at])
        return Table(_of(delimiter), tuple(named), None, [column], strong=True, settings=settings)
    if not loads or not rates:
        return None
    seen: set[str] = set()
    for at, name in enumerate(named):
        if at == loads[0] or (name == "total_percent" and not modes):
            named[at] = RUNNING.sub("", _plain(cells[at]))
        if named[at] in seen:
            named[at] = f"{named[at]}_{at + 1}"
        seen.add(named[at])
    beside = _labelled(cells, rates)
    if beside and len(beside) + 1 == len(cells):
        return Table(_of(delimiter), tuple(named), loads[0], beside, strong=True)
    rank = {at: (named[at] != LOCK_RATE, named[at] != "throughput", not _strong(cells[at]), at) for at in rates}
    rate = min(rates, key=lambda at: rank[at])
    strong = _strong(cells[rate]) or named[rate] == LOCK_RATE
    return Table(_of(delimiter), tuple(named), loads[0], [Column(rate, named[rate])], strong, settings=settings)


def _labelled(cells: list[str], rates: list[int]) -> list[Column]:
    """`tps (old), tps (new)`: one rate of several machines or variants; none where they are rates of several things."""
    found = [(at, one) for at in rates if (one := LABELLED.fullmatch(cells[at]))]
    if (
        len(found) < 2
        or len({one[1].lower() for _, one in found}) > 1
        or len({one[2] for _, one in found}) < len(found)
    ):
        return []
    return [Column(at, _plain(one[1]), " ".join(one[2].split())) for at, one in found]


def _of(delimiter: str) -> str:
    return " " if delimiter == "  " else delimiter


def _strong(cell: str) -> bool:
    return STRONG_NAME.fullmatch(re.sub(r" ?\([^()]{0,40}\)$", "", cell)) is not None


def _plain(cell: str) -> str:
    """`Xacts / sec` → `xacts_per_second`, `idle %` → `idle_percent`."""
    text = re.sub(rf"{PER_SECOND}(?![a-z])", " per second", cell.lower()).replace("%", " percent")
    if A_SECOND_NAME.fullmatch(text):
        text = re.sub(r"[ _]s\w*$", " per second", text)
    return re.sub(r"[^a-z0-9]+", "_", text).strip("_") or "column"


def _name(cell: str) -> str:
    name = _plain(cell)
    stem = name.removesuffix("_percent").removesuffix("_mode").removesuffix("_state")
    return KNOWN.get(name) or KNOWN.get(stem) or name
