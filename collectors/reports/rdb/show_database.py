"""SQL's SHOW DATABASE: the attributes of an Oracle Rdb database that a session is attached to.

Sample::

    SQL> attach 'filename DISK$LEDGER:[LEDGER]LEDGER';
    SQL> show database rdb$dbhandle
    Default alias:
        Oracle Rdb database in file DISK$LEDGER:[LEDGER]LEDGER
            Number of users:                50
            Number of nodes:                16
            Snapshots are Enabled Immediate
            Carry over locks are enabled
            Adjustable lock granularity is enabled (count is 3)
            Global buffers are disabled (number is 250, user limit is 5,
                page transfer via disk)
            Journal fast commit is enabled
                ( checkpoint interval is 20000 blocks,
                checkpoint timed every 0 seconds,
                no commit to journal optimization,
                transaction interval is 256 )
            Lock Partitioning is DISABLED

The layout is recalled, so what is read is tentative, and a sentence is known by the words that carry the meaning. What
stands in brackets may go on over several lines. A file named without its type is a root file (`.RDB`); a logical name
names no database here. Whether the number of nodes is the configured one is not known: it is read as a header's is.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

from collectors.facts.rdb import Database
from collectors.layouts.rdb_counts import ATTACH, PROMPT, root_of
from collectors.registry import Report, reading, report

START = re.compile(r"^\s{0,20}(?:Oracle )?Rdb(?:/VMS)? database in file\s{1,9}(?P<root>\S{1,255})\s*$", re.IGNORECASE)
ABOVE = re.compile(rf"{PROMPT}(?:show databases?\b.{{0,80}}|(?:default )?alias\b.{{0,40}})?\s*$", re.IGNORECASE)
SWITCH = r"(?:is|are) (?P<value>enabled|disabled)\b"
SWITCHES = (
    ("carry_over_locks", "carry over locks"),
    ("adjustable_locking", "adjustable lock granularity"),
    ("global_buffers", "global buffers"),
    ("fast_commit", "journal fast commit"),
    ("after_image_journaling", "journal"),
    ("statistics_enabled", "statistics collection"),
    ("lock_partitioning", "lock partitioning"),
    ("prestarted_transactions", "prestarted transactions"),
    ("row_cache_enabled", "row cache"),
)
COUNTS = (
    ("maximum_users", "", r"number of users:\s{1,60}"),
    ("maximum_nodes", "", r"number of nodes:\s{1,60}"),
    ("buffer_blocks", "", r"buffer size \(blocks/buffer\):\s{1,60}"),
    ("user_buffer_count", "", r"number of buffers:\s{1,60}"),
    ("lock_timeout_seconds", "", "lock timeout interval is "),
    ("adjustable_locking_count", "adjustable", r"\bcount is "),
    ("global_buffer_count", "global", r"\bnumber is "),
    ("user_limit", "global", r"\buser limit is "),
    ("checkpoint_blocks", "journal fast", r"\bcheckpoint interval is "),
    ("checkpoint_seconds", "journal fast", r"\bcheckpoint timed every "),
    ("transaction_interval", "journal fast", r"\btransaction interval is "),
)
"""Field, the word that the sentence begins with where it stands within one, and what stands before the number."""
SNAPSHOTS = re.compile(r"snapshots are (?P<value>disabled|enabled (?:immediate|deferred))\b", re.IGNORECASE)
TRANSFER = re.compile(r"global\b.{0,120}\bpage transfer via (?P<value>memory|disk)\b", re.IGNORECASE)
COMMIT = re.compile(r"journal fast\b.{0,200}?\b(?P<no>no )?commit to journal optimization\b", re.IGNORECASE)
WORDS = (
    ("log_server", re.compile(r"log server:\s{1,60}(?P<value>manual|automatic)\b", re.IGNORECASE)),
    ("open_mode", re.compile(r"mode is open (?P<value>manual|automatic)\b", re.IGNORECASE)),
)
OTHERS = re.compile(
    r"(?:Multischema|Number of|Buffer|AIJ|Unused|System Index|Journal|Backup|Overwrite|Notification|(?:Detected )?"
    r"Asynchronous|Incremental|Shutdown|Workload|Cardinality|Metadata|Default Storage|Mode is|Database|Shared|Large|"
    r"Security|Dictionary|ACL|Page|Galaxy|Logminer|Row Cache)\b.{0,200}$",
    re.IGNORECASE,
)
"""Sentences from which nothing here is judged."""
MOST_LINES = 8
"""Lines that one sentence with its brackets goes on over (this project's figure)."""
TENTATIVE = "the layout of SHOW DATABASE is recalled: hold what is said of the database against the listing"


@report(starts=START, provides=(Database,))
def read(report: Report) -> Iterator[Database]:
    """Yield one fact per database that is shown."""
    for above, line in enumerate(reversed(report.before), 1):
        if not (ABOVE.match(line[:400]) or ATTACH.match(line[:400])):
            break
        report.above = above
    starts = [index for index, line in enumerate(report.lines) if START.match(line[:400].rstrip())]
    for index, line in enumerate(report.lines):
        if ABOVE.match(line[:400]):
            report.claim(index)
    report.tentative(TENTATIVE)
    for at, end in pairwise([*starts, len(report.lines)]):
        if found := _database(report, at, end):
            yield found


def _database(report: Report, at: int, end: int) -> Database | None:
    """The attributes below one name."""
    root = START.match(report.lines[at].rstrip())
    report.claim(at)
    values: dict[str, Any] = {}
    last, index = at, at + 1
    while index < end:
        text, taken = _sentence(report.lines, index, end)
        said = _said(text)
        values = {**said, **values}
        if said or OTHERS.match(text):
            last = index + taken - 1
            report.claim(index, last)
        index += taken
    if not values or root is None:
        report.problem("no attribute below the name of the database: list it with SHOW DATABASE RDB$DBHANDLE", at)
        return None
    return Database(source=report.source(at, last), database=root_of(root["root"]), **values)


def _sentence(lines: Sequence[str], at: int, end: int) -> tuple[str, int]:
    """A sentence with what stands in brackets behind or below it, and the lines it takes."""
    text, taken = lines[at].strip(), 1
    while at + taken < end and taken < MOST_LINES:
        more = lines[at + taken].strip()
        if not (text.count("(") > text.count(")") or more.startswith("(")):
            break
        text, taken = f"{text} {more}", taken + 1
    return text, taken


def _said(text: str) -> dict[str, Any]:
    """What one sentence sets."""
    values: dict[str, Any] = {}
    for name, words in SWITCHES:
        if found := re.match(rf"{words} {SWITCH}", text, re.IGNORECASE):
            values[name] = found["value"].lower() == "enabled"
    for name, begins, words in COUNTS:
        if text.lower().startswith(begins) and (
            found := (re.search if begins else re.match)(rf"{words}(?P<value>[0-9,]{{1,15}})\b", text, re.IGNORECASE)
        ):
            values[name] = reading(found["value"])
    if found := SNAPSHOTS.match(text):
        values["snapshot_mode"] = found["value"].lower().rpartition(" ")[2]
    if found := TRANSFER.match(text):
        values["page_transfer"] = found["value"].lower()
    if found := COMMIT.match(text):
        values["commit_to_journal"] = found["no"] is None
    for name, pattern in WORDS:
        if found := pattern.match(text):
            values[name] = found["value"].upper()
    return values
