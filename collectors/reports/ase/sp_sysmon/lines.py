"""What one line of an sp_sysmon report is, told from its shape.

The shape of a line is the line with every digit replaced by `0`::

    Granted                           0.9           5.2         103     100.0 %
    Granted                           0.0           0.0         000     000.0 %

An archive of reports has hundreds of thousands of lines and a few thousand shapes. So the shape is looked up first,
and only a shape never seen before is taken apart. Nothing is lost by it: the shape tells where label and figures
stand and whether the figures are whole; the figures themselves are read from the line when somebody asks for them.
"""

import re
from itertools import pairwise

from collectors.facts.base import ABSENT, OVERFLOW, Missing
from collectors.reports.ase.sp_sysmon.figures import NUMBER, Token, figures_of, percents, standard, stray_of
from collectors.reports.ase.sp_sysmon.items import (
    BLANK,
    HEADS,
    RULE,
    STANDARD,
    Advice,
    Head,
    Item,
    Mark,
    Odd,
    Row,
    Sentence,
    Table,
)

MASK = bytes.maketrans(b"123456789", b"000000000")
MOST_SHAPES = 40_000
"""Shapes remembered; a server's archive has about 5,000. A hostile file must not fill memory."""
LONGEST_SHAPE = 400

TITLES = frozenset({
    "Kernel Utilization", "Bucketpool Activity", "Worker Process Management", "Parallel Query Management",
    "Task Management", "Application Management", "ESP Management", "Housekeeper Task Activity",
    "Monitor Access to Executing SQL", "Transaction Profile", "Transaction Management", "Index Management",
    "Metadata Cache Management", "Lock Management", "Data Cache Management", "NV Cache Management",
    "Procedure Cache Management", "Memory Management", "Recovery Management", "Disk I/O Management",
    "Network I/O Management",
})  # fmt: skip
"""The sections, ase-formats.md 1.4. Others (Replication Agent) are known by their underline."""
HEADINGS = (" ".join(STANDARD), " ".join(STANDARD[:3]))
TABLES = {
    "Engine Busy Utilization CPU Busy I/O Busy Idle": ("CPU Busy", "I/O Busy", "Idle"),
    "Engine Busy Utilization CPU Busy IO Busy Idle": ("CPU Busy", "IO Busy", "Idle"),
    "Engine Busy Utilization": ("CPU Busy",),  # early 12.5 [?]
    "Engine Busy Utilization:": ("CPU Busy",),
    "Engine Utilization (Tick %) User Busy System Busy I/O Busy Idle": ("User Busy", "System Busy", "I/O Busy", "Idle"),
    "Engine Utilization (Tick %) User Busy System Busy IO Busy Idle": ("User Busy", "System Busy", "IO Busy", "Idle"),
    "Average Runnable Tasks 1 min 5 min 15 min % of total": ("1 min", "5 min", "15 min", "% of total"),
    "Thread Utilization (OS %) User Busy System Busy Idle": ("User Busy", "System Busy", "Idle"),
    "Bucketpool Name BucketSize Allocs/s AllocsMissed/s": ("BucketSize", "Allocs/s", "AllocsMissed/s"),
    "Bucketpool Name BucketSize Allocs Frees Found empty": ("BucketSize", "Allocs", "Frees", "Found empty"),
}
"""Headings of the tables with columns of their own, white space collapsed."""
BY_SHAPE = {
    re.sub("[0-9]", "0", text): (text.removesuffix(" ".join(columns)).strip(" :"), columns)
    for text, columns in TABLES.items()
}
FIELDS = re.compile(
    r"\s*(Server Version|Server Name|Run Date|Sampling Started at|Sampling Ended at|Sample Interval|Sample Mode"
    r"|Counters Last Cleared|Statistics Cleared at|Statistics Sampled at|Instance Name|Cluster Name):"
)
END = re.compile(r"={3,200} End of Report ={0,200}")
SENTENCES = {
    pattern.lstrip("(\\").split()[0].rstrip(":)"): (re.compile(r"\s*" + pattern.replace(" ", r"\s+") + r"\s*"), column)
    for pattern, column in (
        (rf"(Adaptive Server threads are consuming) ({NUMBER}) CPU units\.", "CPU units"),
        (rf"(Throughput \(committed xacts per CPU unit\)) : ({NUMBER})", "xacts per CPU unit"),
        (rf"(Your Runnable Process Search Count) is set to ({NUMBER})", "setting"),
        (rf"and (I/O Polling Process Count) is set to ({NUMBER})", "setting"),
        (rf"(Avg Time per [A-Za-z]{{1,20}} Chkpt) ({NUMBER}) seconds", "seconds"),
        (rf"(Summary): Total: ({NUMBER}) % Average: {NUMBER} %", "CPU Busy"),
        (r"(\(since beginning of sample\))", ""),
        (r"(No (?:[a-z]{1,20} locks are acquired|Large Pool\(s\) In This Cache)).{0,60}", ""),
        (r"(Statistics Not Available) .{0,80}", ""),
        (r"(ThreadPool) : \S{1,80} : no activity during sample", ""),
    )
}
"""Fixed sentences of the layout by their first word, some with a figure in them."""
OURS = re.compile(
    r"(?:Exclusive|Shared|Update) .{3,40}|Next-Key|.{4,40} Hashtable|Last Page Locks on Heaps|Lock Promotions"
    r"|Deadlock Detection|Open [A-Z][a-z]{1,20} Usage|Reuse Requests|(?:ULC|Log) Semaphore Requests|Device:|Reads"
    r"|ThreadPool : .{1,80}|Engine 0{1,4}|0{1,5} {1,3}Kb Pool|[/\\].{2,250}|Pages Requested|Reside in Another"
    r"|(?:Large|Dirty|Buffer|Pool|Cache|Cluster|Asynchronous|Other Asynchronous|APFs?) .{4,60}|Cache: .{1,80}"
    r"|Inserts|Updates|Deletes|Selects|Data Only Locked Updates|.{3,20} Logged(?: DMLs)?|Any Logging Mode DMLs"
    r"|I/Os Delayed by|Completed Disk I/O's|A?synchronous I/O's|Device Activity Detail|Task Context Switches .{3,20}"
    r"|Worker Process .{4,20}|Memory Requests for .{4,40}|SQL Statement Cache:|Recompilation.{4,20}"
    r"|Max ULC Size .{4,40}|Network Checks|Disk I/O Checks|Application Statistics .{4,60}",
    re.IGNORECASE,
)
"""Headings that we know, by their shape: no need to ask whether another export begins there."""
NONE = (re.compile(r"(?!)"), "")
NO_HEADING = re.compile(r"\s*(?:Msg 0{1,9}, Level|Server '|Line 0{1,9}:)")
"""Messages of the server among the lines: an error, not a part of the report."""


_known: dict[bytes, Item] = {}


def items_of(text: str) -> list[Item]:
    """Tell what each line of a text is."""
    shapes = text.encode("ascii", "replace").translate(MASK).split(b"\n")
    found = list(map(_known.get, shapes))
    if None in found:
        for index, item in enumerate(found):
            if item is None:
                found[index] = _learn(shapes[index])
    return found  # type: ignore[return-value]  # no None is left


def _learn(shape: bytes) -> Item:
    """Take a shape apart, once."""
    item = _known.get(shape)  # the same new shape may stand twice in one block
    if item is None:
        item = classify(shape.decode("ascii"))
        if len(_known) >= MOST_SHAPES:
            _known.clear()
        if len(shape) <= LONGEST_SHAPE:
            _known[shape] = item
    return item


def classify(shape: str) -> Item:
    """Tell what a line of this shape is."""
    norm = " ".join(shape.split())
    if not norm.strip("-= "):
        return RULE if norm.startswith("---") else BLANK
    if norm.endswith("Adaptive Server Enterprise System Performance Report"):
        return Mark("title")
    if "End of Report" in norm and END.fullmatch(norm):
        return Mark("end")
    if ":" in norm and (found := FIELDS.match(shape)):
        return Mark("field", found[1], found.end())
    spread = shape.expandtabs()
    indent = len(spread) - len(spread.lstrip())
    if (item := _heading(shape, norm, indent)) is not None:
        return item
    pattern, column = SENTENCES.get(norm.split()[0].strip(":("), NONE)
    if found := pattern.fullmatch(shape):
        figure = slice(*found.span(2)) if pattern.groups > 1 else None
        return Sentence(" ".join(found[1].split()), column, figure, indent)
    return _row(shape, indent)


def _heading(shape: str, norm: str, indent: int) -> Item | None:
    """A section title, a heading with columns, or advice; `None` for none of these."""
    if norm in BY_SHAPE:
        label, columns = BY_SHAPE[norm]
        return Table(label, len(shape), indent, columns)
    if norm in TITLES:
        return Mark("section", norm)
    for heading in HEADINGS:
        if norm.endswith(heading):
            label = norm.removesuffix(heading).strip()
            stop = len(shape[: max(0, shape.rfind("per sec"))].rstrip())
            if not label:
                return HEADS
            return Mark("section", label) if label in TITLES else Table(_fixed(label), stop, indent, STANDARD)
    if norm.startswith("Tuning Recommendations for "):
        return Advice(False, shape.index("for") + 3)
    return Advice(True, shape.index("-") + 1) if norm.startswith("- ") else None


def _fixed(label: str) -> str | None:
    """The label, if the shape shows it as it is."""
    return None if "0" in label or "?" in label else label


def _row(shape: str, indent: int) -> Item:
    tokens = figures_of(shape)
    if found := standard(tokens):
        return _made("standard", shape, indent, found)
    if len(tokens) > 1 and all(kind != "%" and not percent for _, _, kind, percent in tokens):
        return _made("numbers", shape, indent, tokens)
    if found := percents(tokens):
        return _made("percents", shape, indent, found)
    if 0 < len(tokens) < 3 and all(kind in "n%" for _, _, kind, _ in tokens):
        return _made("lone", shape, indent, tokens)
    label = shape.strip()
    if NO_HEADING.match(shape):
        return Odd(damaged=False)
    a_number_ends_it = len(tokens) == 1 and tokens[0][2] == "i" and not tokens[0][3]
    if re.search(r"[ \t]{4}|\t", label) or (tokens and not a_number_ends_it):
        return Odd(damaged=bool(tokens) or bool(re.search(r"(?:[ \t]{2}|\t)\S*[0*%]", label)))
    norm = " ".join(label.split())
    return Head(_fixed(norm), len(shape.rstrip()), indent, bool(OURS.fullmatch(norm)))


def _made(kind: str, shape: str, indent: int, tokens: list[Token]) -> Row:
    stop = len(shape[: tokens[0][0]].rstrip())
    figures: list[slice | Missing] = []
    for start, end, what, _ in tokens:
        figures.append(ABSENT if what in "n%" else OVERFLOW if what == "*" else slice(start, end))
    if kind == "standard":
        figures += [ABSENT] * (4 - len(figures))
    placed = kind == "standard" and not shape.startswith("\t")  # the server's own tab: its figures stand as they like
    gaps = [after[0] - before[1] - 2 * before[3] for before, after in pairwise(tokens)]
    return Row(
        kind,
        _fixed(" ".join(shape[:stop].split())) if kind in ("standard", "lone") else None,
        stop,
        indent,
        tuple(figures),
        tuple((start, end) for start, end, _, _ in tokens),
        stray_of(shape, tokens) if placed else 0,
        all(gap == 1 for gap in gaps) and (not stop or tokens[0][0] - stop == 1),
    )
