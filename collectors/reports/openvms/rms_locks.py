"""RMS_LOCKS (G. Fruth): who has record locks of one RMS file, in which program.

One sample is published [P] (the record's text is made up)::

    (53743,2,512)  rsbaddr=82d2ec40   csid=0 (ECHO)
    Node   LCnt RSB Addr pid      image           Lock description
    ECHO      1 82CDFF80 22A0C5DD ICMENU.EXE      EX Record lock. RFA=0xb5e4b; VBN=745035
       0000042 SMITH

The head has the raw words of the file's id: the third is the relative volume number with the high byte of the file
number above it, so this is (184815,2,0) for DIRECTORY [I]. The node behind `csid` masters the tree. Below each lock
stands the record itself, which may be of people: it is known, and nothing of it is kept. What `LCnt` counts is told
nowhere.
"""

import re
from collections.abc import Iterator

from collectors.facts.openvms import RmsRecordLock
from collectors.registry import NotThisReport, Report, report

HEAD = re.compile(
    r"\s{0,8}\((?P<number>[0-9]{1,8}),(?P<sequence>[0-9]{1,5}),(?P<volume>[0-9]{1,5})\)\s{1,20}rsbaddr=[0-9a-f]{8,16}"
    r"\s{1,20}csid=[0-9a-f]{1,8}(?:\s{0,20}\([A-Z0-9$_]{1,15}\))?\s*$",
    re.IGNORECASE,
)
HEADING = re.compile(r"\s{0,8}Node\s{1,20}LCnt\s{1,20}RSB Addr\s{1,20}pid\s{1,20}image\b", re.IGNORECASE)
ROW = re.compile(
    r"\s{0,8}(?P<node>[A-Z0-9$_]{1,15})\s{1,20}[0-9]{1,8}\s{1,20}[0-9A-F]{8,16}\s{1,20}(?P<pid>[0-9A-F]{8})\s{1,20}"
    r"(?P<image>\S{1,60})\s{1,40}(?P<mode>NL|CR|CW|PR|PW|EX)\s{1,20}(?P<what>\S.{0,200})$",
    re.IGNORECASE,
)
RECORD = re.compile(r"Record lock\.\s{1,20}RFA=0x(?P<rfa>[0-9a-f]{1,16})\b", re.IGNORECASE)
WAITS = re.compile(r",\s{0,20}(?:WAITING|CONVERT(?:ING)?)\b", re.IGNORECASE)
"""Recalled: versions that say of each lock whether it is granted; the published sample says nothing."""
HIGH = 1 << 16
"""What a word cannot be: then the head has the whole number already."""
MOST = 2_000
"""Locks that are kept (this project)."""


@report(starts=HEAD, provides=(RmsRecordLock,))
def read(report: Report) -> Iterator[RmsRecordLock]:
    """Yield each record lock with its process."""
    head: re.Match[str] | None = None
    above, found = False, 0
    for index, line in enumerate(report.lines):
        if len(line) > 600:
            above = False
            continue
        row = ROW.match(line) if head else None
        if begins := HEAD.match(line):
            head = begins
        elif head and row:
            record = RECORD.match(row["what"])
            if record and found < MOST:
                yield _lock(report, index, head, row, record["rfa"])
            found += record is not None
        elif not (HEADING.match(line) or (above and line[:1] in " \t" and line.strip())):
            above = False
            continue
        report.claim(index)
        above = row is not None
    if not found:
        raise NotThisReport
    if found > MOST:
        report.problem(f"{found - MOST:,} record locks after the first {MOST:,} were not read", 0)


def _lock(report: Report, index: int, head: re.Match[str], row: re.Match[str], rfa: str) -> RmsRecordLock:
    low, volume = int(head["number"]), int(head["volume"])
    raw = low < HIGH
    return RmsRecordLock(
        source=report.source(index),
        node=row["node"].upper(),
        number=(volume >> 8) << 16 | low if raw else low,
        sequence=int(head["sequence"]),
        volume_number=volume & 255 if raw else volume,
        pid=row["pid"].upper(),
        image=row["image"],
        mode=row["mode"].upper(),
        record=rfa.upper().zfill(16),
        waiting=bool(WAITS.search(row["what"])),
    )
