"""RMU/SHOW AFTER_JOURNAL: how the after-image journals of an Oracle Rdb database are set up, in its form of options.

Sample (form: RMU help 7.2, Show After_Journal; figures of our own)::

    $ RMU/SHOW AFTER_JOURNAL DISK$OATS:[OATS]MILL.RDB
    JOURNAL IS ENABLED -
        RESERVE 5 -
        SHUTDOWN_TIMEOUT IS 45 -
        BACKUPS ARE MANUAL -
        CACHE IS DISABLED
    ADD JOURNAL MILL_J1 -
        FILE DISK$HAY:[OATS]MILL_J1 -
        ALLOCATION IS 90000

How full a journal is does not stand in it. `IS` and `ARE` may be left out.
"""

import re
from collections.abc import Iterator

from collectors.facts.base import ABSENT
from collectors.facts.rdb import Journals
from collectors.layouts.figures import reading
from collectors.registry import NotThisReport, Report, report

COMMAND = re.compile(
    r"\s{0,9}\$?\s{0,9}RMU\s?/\s?SHOW\s?/?\s?AFTER\w{0,20}(?:/\S{1,60})?\s{1,9}(?P<root>[^\s/!\"]{1,255})",
    re.IGNORECASE,
)
START = re.compile(
    rf"^{COMMAND.pattern}|^\s{{0,9}}JOURNAL (?:IS )?(?:ENABLED|DISABLED)\s{{0,9}}-\s{{0,9}}$", re.IGNORECASE
)
ADDED = re.compile(r"\s{0,9}ADD (?:JOURNAL )?\S{1,40}\s{0,9}-?\s*$", re.IGNORECASE)
SET = re.compile(
    r"\s{0,20}(?P<name>RESERVE|SHUTDOWN_TIMEOUT|BACKUPS)\s{1,9}(?:IS |ARE )?(?P<value>\w{1,20})\b", re.IGNORECASE
)
KNOWN = re.compile(
    r"\s{0,20}(?:JOURNAL |ALLOCATION |EXTENT |OVERWRITE |NOTIFY |CACHE |FILE |BACKUP_FILE |EDIT_STRING |! FILE )", re.I
)


@report(starts=START, provides=(Journals,))
def read(report: Report) -> Iterator[Journals]:
    """Yield what is set, and how many journals there are."""
    root: str | None = None
    said: dict[str, str] = {}
    added, last = 0, 0
    for index, line in enumerate(report.lines):
        line = line[:300]
        if command := COMMAND.match(line):
            root = command["root"]
        elif found := SET.match(line):
            said[found["name"].upper()] = found["value"]
        elif ADDED.match(line):
            added += 1
        elif not KNOWN.match(line):
            continue
        report.claim(last := index)
    if not said and not added:
        raise NotThisReport
    yield Journals(
        source=report.source(0, last),
        database=root,
        reserved=reading(said["RESERVE"]) if "RESERVE" in said else ABSENT,
        shutdown_minutes=reading(said.get("SHUTDOWN_TIMEOUT", "")),
        backups=said["BACKUPS"].upper() if "BACKUPS" in said else None,
        listed=added,
    )
