"""AGEN$PARAMS.REPORT: what AUTOGEN measured since the last boot, and what it made of each parameter.

Sample::

            AUTOGEN Parameter Calculation Report on node: ORKNEY
          This information was generated at  3-FEB-2021 02:00:41.10

    Feedback information was generated on  3-FEB-2021 01:59:47.23

    LOCKIDTBL parameter information:
            Feedback information.
               Old value was 48000, New value is 101640
               Current number of locks: 70300
               Peak number of locks: 84700

    RESHASHTBL parameter information:
            Feedback information.
               Old value was 2048, New value is 16384
               Current number of resources: 13400
            Override Information - parameter calculation has been overridden.
               The calculated value was 16384.  The new value is 65536.
               MIN_RESHASHTBL = 65536 in MODPARAMS.DAT

The layout is recalled (openvms-formats.md d.10 [M]) and nothing in the report proves it: all of it is tentative. The
levels of locks and resources also become `LockDatabase`, `current` at the time of the feedback and `peak` since boot.

"Old value" is what was in force when AUTOGEN ran, "New value" what it proposes; neither need be in force when somebody
reads the report. So no `SysgenParameter` is made of them: bring SYSGEN SHOW. Feedback of less than 24 hours of uptime,
or over 30 days old, is of little use, and the report itself warns [S].
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from collectors.facts.base import ABSENT, Fact, Reading, known
from collectors.facts.openvms import AutogenFeedback, AutogenRun, LockDatabase, Node
from collectors.layouts.vms import MOMENT, NODE, moment
from collectors.registry import NotThisReport, Report, reading, report

START = re.compile(
    r"^\s*AUTOGEN (?:Parameter )?Calculation Report\b|^\s{0,8}[A-Z][A-Z0-9_$]{1,30} parameter information:\s*$",
    re.IGNORECASE,
)
TITLE = re.compile(
    rf"\s*AUTOGEN (?:Parameter )?Calculation Report(?:\s+on\s+node:?\s+(?P<node>{NODE})(?:::)?)?\s*$", re.IGNORECASE
)
AT = re.compile(
    rf"\s*(?:This information was generated|AUTOGEN was run(?: on node:? (?P<node>{NODE}))?) (?:at|on)"
    rf"\s+(?P<at>{MOMENT})\s*\.?\s*$",
    re.IGNORECASE,
)
FEEDBACK_AT = re.compile(
    rf"\s*(?:\*+ )?Feedback (?:information|data) was (?:generated|collected) (?:at|on)\s+(?P<at>{MOMENT})\s*\.?"
    r"(?:\s*\(uptime(?: (?P<days>[0-9]{1,4}) days?)?,? (?P<hours>[0-9]{1,2}):[0-9]{2}(?::[0-9]{2})?\))?\s*$",
    re.IGNORECASE,
)
UPTIME = re.compile(
    r"\b(?:system (?:was|has been) up|up ?time (?:of|was|is)|been up)(?: for)?(?: only)? "
    r"(?P<hours>[0-9]{1,6}(?:\.[0-9]{1,3})?) hours\b",
    re.IGNORECASE,
)
BLOCK = re.compile(r"\s{0,8}(?P<name>[A-Z][A-Z0-9_$]{1,30}) parameter information:\s*$", re.IGNORECASE)
VALUE = r'(?:"[^"]{0,40}"|-?[0-9][0-9,]{0,20}(?:\.[0-9]{1,6})?|\*{1,20})'
OLD = re.compile(rf"\s*Old value was:? (?P<old>{VALUE})[,.;]?(?P<rest>.*)$", re.IGNORECASE)
NEW = re.compile(rf"\s*(?:The )?New value is:? (?P<new>{VALUE})\.?\s*$", re.IGNORECASE)
BEGUN = re.compile(r"\s*New(?: value(?: is)?)?\s*", re.IGNORECASE)
"""Where the line was broken off within the new value."""
CALCULATED = re.compile(
    rf"\s*(?:The )?calculated value was:? (?P<calculated>{VALUE})\.?"
    rf"(?:\s+(?:The )?new value (?:is:?|of) (?P<new>{VALUE})\.?(?: (?:is|from)\b.{{0,80}})?"
    r"|\s+The value (?:has been|was|is) (?:disabled|overridden)\b.{0,80}"
    r"|\s+The(?: new(?: value(?: used(?: in(?: the(?: parameter(?: file)?)?)?)?)?)?)?)?\s*$",
    re.IGNORECASE,
)
LEVEL = re.compile(
    rf"\s+(?P<label>[A-Z][A-Za-z0-9 ,/()'-]{{2,60}}): {{0,20}}(?P<value>{VALUE})"
    r"(?: (?:bytes|pages|blocks|requests per [0-9]{1,3} sec))?\.?\s*$"
)
OVERRIDE = re.compile(r"\s*-?\s{0,4}(?:Override\b|.{0,60}\bhas been overridden\b)", re.IGNORECASE)
REASON = re.compile(
    r"\s*-?\s{0,4}(?:Override: {0,4}(?P<said>\S.{0,160})|(?P<reason>(?:(?:MIN|MAX|ADD)_[A-Z0-9_$]{1,31}"
    r"|[A-Z][A-Z0-9_$]{1,30} has been (?:disabled|modified|set|limited))\b.{0,160}))",
    re.IGNORECASE,
)
HARD_CODED = re.compile(rf"\bhard[- ]coded value of:? (?P<value>{VALUE})", re.IGNORECASE)
WARNING = re.compile(r"\s*\*{2,4} {0,2}(?P<level>WARNING|ERROR) {0,2}\*{2,4}[ -]{0,6}(?P<text>.{0,160})", re.IGNORECASE)
UNDERSTOOD = re.compile(
    r"\s*(?:Feedback information\.?|Feedback information will be used .{0,60}|Parameter information follows:?"
    r"|Processing Parameter Data files:?|Including parameters from:? .{0,80}|AUTOGEN was run from .{0,80}"
    r"|This file is .{0,80}"
    r"|\*{2,4} {0,2}(?:No changes will be done by AUTOGEN|INFORMATIONAL) {0,2}\*{2,4}"
    r"|The following was detected within \S{1,80}|Please review immediately\."
    r"|\*{2,4} {0,2}INFORMATIONAL {0,2}\*{2,4}[ -]{1,6}.{1,160}|End of AUTOGEN (?:Parameter )?Calculation Report"
    r"|The values given in this report are what AUTOGEN would|have set the parameters to\.)\s*$",
    re.IGNORECASE,
)
LOCKS = re.compile(r"(?P<statistic>Current|Peak) number of (?P<what>locks|resources)", re.IGNORECASE)
LONGEST = 240
MOST_WARNINGS = 50


@dataclass
class _Block:
    """What the report says of one parameter, from index `first` to `last`."""

    name: str
    first: int
    last: int
    old: Reading | str = ABSENT
    new: Reading | str = ABSENT
    levels: list[tuple[str, Reading, int]] = field(default_factory=list)
    reasons: list[str] = field(default_factory=list)
    calculated: Reading | str = ABSENT
    hard_coded: Reading | str = ABSENT
    overridden: bool = False
    begun: str = ""
    sentence: str = ""
    """What the line above says of the override, where its sentence goes on."""


@dataclass
class _Run:
    """One report: its heading and its parameters."""

    first: int
    last: int
    titled: bool = False
    node: str | None = None
    at: str = ""
    feedback_at: str = ""
    uptime: Reading = ABSENT
    warnings: list[str] = field(default_factory=list)
    blocks: list[_Block] = field(default_factory=list)


@report(starts=START, provides=(AutogenFeedback, AutogenRun, LockDatabase, Node))
def read(report: Report) -> Iterator[Fact]:
    """Yield each run of AUTOGEN, its parameters, and how many locks and resources it found."""
    runs = _runs(report)
    if not any(run.titled or _useful(run) for run in runs):
        raise NotThisReport
    report.tentative("the layout of AGEN$PARAMS.REPORT is recalled; SYSGEN SHOW and MONITOR LOCK say it for certain")
    for run in runs:
        where = report.source(run.first, run.last)
        if run.node:
            yield Node(source=where, name=run.node, at=moment(run.at))
        if not run.blocks:
            report.problem("no parameter below the heading: cut off, upload the report whole", run.first)
        yield AutogenRun(
            source=where,
            node=run.node,
            at=moment(run.at),
            feedback_at=moment(run.feedback_at),
            uptime_hours=run.uptime,
            warnings=tuple(run.warnings),
        )
        for block in run.blocks:
            yield from _facts(report, run, block)


def _useful(run: _Run) -> bool:
    return any(block.old is not ABSENT or block.new is not ABSENT or block.levels for block in run.blocks)


def _facts(report: Report, run: _Run, block: _Block) -> Iterator[Fact]:
    yield AutogenFeedback(
        source=report.source(block.first, block.last),
        node=run.node,
        parameter=block.name,
        old=block.old,
        new=block.new,
        levels=tuple((label, value) for label, value, _ in block.levels),
        calculated=block.calculated if known(block.calculated) else ABSENT,
        hard_coded=block.hard_coded if known(block.hard_coded) else ABSENT,
        override="; ".join(block.reasons)[:200] or ("overridden" if block.overridden else None),
    )
    levels = {
        (found["statistic"].lower(), found["what"].lower()): (value, index)
        for label, value, index in block.levels
        if (found := LOCKS.fullmatch(label))
    }
    for what in ("locks", "resources"):
        current, peak = (levels.get((statistic, what), (ABSENT, 0)) for statistic in ("current", "peak"))
        if known(current[0]) and known(peak[0]) and current[0] > peak[0]:
            said = f"{block.name}: {current[0]:,.0f} {what} now and {peak[0]:,.0f} at the peak"
            report.problem(f"{said}: neither was used, check their digits", current[1])
            continue
        for statistic, (value, index) in (("current", current), ("peak", peak)):
            if value is not ABSENT:
                locks, resources = (value, ABSENT) if what == "locks" else (ABSENT, value)
                where = report.source(index)
                yield LockDatabase(source=where, node=run.node, statistic=statistic, locks=locks, resources=resources)


def _runs(report: Report) -> list[_Run]:
    """Walk over the lines once and claim those understood."""
    runs: list[_Run] = []
    warning = False
    for index, raw in enumerate(report.lines):
        line = raw.expandtabs()[:LONGEST].rstrip()
        if found := TITLE.match(line):
            runs.append(_Run(index, index, titled=True, node=(found["node"] or "").upper() or None))
            warning = False
        elif found := BLOCK.match(line):
            if not runs:
                runs.append(_Run(index, index))
            runs[-1].blocks.append(_Block(found["name"].upper(), index, index))
            warning = False
        elif not runs:
            continue
        elif warning and line.startswith(" ") and not _above(runs[-1], line) and not _inside(runs[-1], index, line):
            runs[-1].warnings[-1] = f"{runs[-1].warnings[-1]} {line.strip()}"[:LONGEST]
            runs[-1].uptime = _uptime(runs[-1].warnings[-1], runs[-1].uptime)
            warning = False
        elif found := WARNING.match(line):
            warning = len(runs[-1].warnings) < MOST_WARNINGS
            if not warning:
                what = f"not kept: the first {MOST_WARNINGS} warnings of this run were"
                report.problem(
                    f"{what}; what they warn of stands in AGEN$PARAMS.REPORT, repeat AUTOGEN once done", index
                )
            else:
                runs[-1].warnings.append(" ".join(found["text"].split()))
                runs[-1].uptime = _uptime(found["text"], runs[-1].uptime)
        elif not (_above(runs[-1], line) or _inside(runs[-1], index, line) or UNDERSTOOD.match(line)):
            warning = False
            continue
        else:
            warning = False
        report.claim(index)
        if runs[-1].blocks:
            runs[-1].blocks[-1].last = index
        else:
            runs[-1].last = index
    return runs


def _uptime(text: str, otherwise: Reading) -> Reading:
    found = UPTIME.search(text)
    return float(found["hours"]) if found else otherwise


def _above(run: _Run, line: str) -> bool:
    """Take a line that tells of the whole run."""
    if found := AT.match(line):
        run.at, run.node = found["at"], run.node or (found["node"] or "").upper() or None
    elif found := FEEDBACK_AT.match(line):
        run.feedback_at = found["at"]
        if found["hours"]:
            run.uptime = 24.0 * int(found["days"] or 0) + int(found["hours"])
    elif UPTIME.search(line):
        run.uptime = _uptime(line, run.uptime)
    else:
        return False
    return True


def _inside(run: _Run, index: int, line: str) -> bool:
    """Take a line of the parameter above it."""
    if not run.blocks:
        return False
    block = run.blocks[-1]
    begun, block.begun = block.begun, ""
    sentence, block.sentence = block.sentence, ""
    fixed = HARD_CODED.search(f"{sentence} {line.strip()}")
    if not fixed and (OVERRIDE.match(line) or CALCULATED.match(line)) and not line.endswith("."):
        block.sentence = line.strip()
    block.hard_coded = _value(fixed["value"].rstrip(".")) if fixed else block.hard_coded
    if found := OLD.match(line):
        block.old = _value(found["old"])
        new = NEW.match(found["rest"])
        block.new = _value(new["new"]) if new else block.new
        block.begun = found["rest"] if BEGUN.fullmatch(found["rest"]) else ""
        return bool(new or block.begun or not found["rest"].strip())
    if found := NEW.match(f"{begun} {line.strip()}"):
        block.new = _value(found["new"])
        return True
    if found := CALCULATED.match(line):
        block.calculated = _value(found["calculated"])
        block.new = _value(found["new"]) if found["new"] else block.new
        if fixed:
            block.reasons.append(" ".join(line.split())[:160])
        return True
    if found := LEVEL.match(line):
        block.levels.append((" ".join(found["label"].split()), reading(found["value"]), index))
        return True
    if found := REASON.match(line):
        block.reasons.append(" ".join((found["said"] or found["reason"]).split()))
        return True
    if fixed:
        block.reasons.append(" ".join(line.split())[:160])
        return True
    block.overridden = block.overridden or OVERRIDE.match(line) is not None
    return OVERRIDE.match(line) is not None


def _value(text: str) -> Reading | str:
    return text[1:-1].strip() if text.startswith('"') else reading(text)
