"""ANALYZE/RMS_FILE/STATISTICS (or /CHECK): the attributes of an indexed file, and what was found of each key.

Sample (the head as in the Guide to OpenVMS File Applications, example 10-1; labels of the statistics recalled; figures
of our own)::

    RMS File Statistics                         3-MAR-2026 04:10:22.18   Page 1
    DISK$DATA:[SHOP]ITEMS.IDX;2

    FILE HEADER

            File Spec: DISK$DATA:[SHOP]ITEMS.IDX;2
            File ID: (2311,7,0)

    RMS FILE ATTRIBUTES

            File Organization: indexed
            Blocks Allocated: 91200, Default Extend Size: 12
            Bucket Size: 3
            Global Buffer Count: 0

    KEY DESCRIPTOR #0 (VBN 1, offset %X'0000')

            Index Bucket Size: 3, Data Bucket Size: 3
            Index Fill Quantity: 1536, Data Fill Quantity: 1536

        STATISTICS FOR KEY #0

            Number of Index Levels:                   4
            Count of Data Records:                60000
            Mean Length of Data Record:             300
            Mean Data Bucket Fill:                  48%

An extract without its head has the name behind the command, where that was pasted with it. A file that is listed in
full is named with its id as well, as DIRECTORY/FULL names it. /CHECK prints no statistics. Facts are tentative.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from collectors.facts import ABSENT, Reading, known
from collectors.facts.openvms import AlternateKey, FileName, IndexedFile
from collectors.registry import NotThisReport, Report, report

HEAD = r"\s{0,40}(?:Check RMS File Integrity|RMS File Statistics)\b"
COMMAND = (
    r"[^!]{0,40}\bANAL\w{0,3}/RMS(?:_FILE)?/(?:STAT|CHECK)\w{0,6}(?:/\S{1,80})?\s{1,8}"
    r"(?P<asked>[A-Z0-9$_.-]{1,80}:[\[<][^\s;]{1,200};\d{1,5})"
)
START = re.compile(rf"^{HEAD}|^{COMMAND}|^\s{{0,40}}STATISTICS FOR KEY #\d{{1,3}}\s*$", re.IGNORECASE)
ASKED = re.compile(COMMAND, re.IGNORECASE)
SECTION = re.compile(
    r"\s{0,40}(?P<name>FILE HEADER|RMS FILE ATTRIBUTES|FIXED PROLOG|AREA DESCRIPTOR #\d{1,3}|KEY DESCRIPTOR #\d{1,3}"
    r"|STATISTICS FOR (?:KEY #\d{1,3}|AREA #\d{1,3}))\b",
    re.IGNORECASE,
)
PAIR = re.compile(
    r"(?:^\s{0,60}|,\s)(?P<label>[A-Z][A-Z0-9 ]{1,40}?):\s{1,60}(?P<value>[^\s,][^,]{0,255})", re.IGNORECASE
)
SPEC = re.compile(
    r"\s{0,60}File Spec:\s{1,20}(?P<name>_?(?P<device>[A-Z0-9$_.-]{1,80}):[^\s;]{1,255};\d{1,5})\s*$", re.I
)
ID = re.compile(r"\s{0,60}File ID:\s{1,20}\((\d{1,8}),(\d{1,5}),(\d{1,3})\)\s*$", re.IGNORECASE)
FLAG = re.compile(r"\s{1,60}(?:Key Flags:\s*$|\(\d{1,2}\)\s{1,20}\S)|\s{0,40}The analysis uncovered ", re.IGNORECASE)
NAMED = re.compile(r"\s{0,40}\S{1,255};\d{1,5}\s*$")
"""The file's name alone: below the head of each page."""
FIGURE = re.compile(r"(\d{1,12})\s{0,3}%?$")
KEY = re.compile(r"STATISTICS FOR KEY #([1-9]\d{0,2})")
PRIMARY, OF_PRIMARY, ATTRIBUTES = "STATISTICS FOR KEY #0", "KEY DESCRIPTOR #0", "RMS FILE ATTRIBUTES"
BLOCK = 512
RECALLED = "the layout of ANALYZE/RMS_FILE is recalled: hold fill and depth against an FDL of ANALYZE/RMS_FILE/FDL"


@dataclass
class _Found:
    """One file as far as its lines were read: values by section and label."""

    first: int
    name: str = ""
    device: str = ""
    id: tuple[int, int, int] | None = None
    said: dict[tuple[str, str], str] = field(default_factory=dict)

    def figure(self, *places: tuple[str, str]) -> Reading:
        """The number at the first of these places that has one."""
        for place in places:
            if found := FIGURE.fullmatch(self.said.get(place, "")):
                return float(found[1])
        return ABSENT


@report(starts=START, provides=(IndexedFile, AlternateKey, FileName))
def read(report: Report) -> Iterator[IndexedFile | AlternateKey | FileName]:
    """Yield the shape of each indexed file with statistics, its alternate keys, and its name with its id."""
    report.tentative(RECALLED)
    one, section, last, told = _Found(0), "", 0, False
    for index, whole in enumerate(report.lines):
        line = whole[:400].rstrip()
        asked, spec = ASKED.match(line), SPEC.match(line)
        name = asked["asked"] if asked else spec["name"].lstrip("_") if spec else ""
        if name and one.name and name.upper() != one.name.upper():
            for fact in _file(report, one, last):
                told = True
                yield fact
            one, section = _Found(index), ""
        if name:
            one.name, one.device = name, name.partition(":")[0].upper()
        elif begins := SECTION.match(line):
            section = " ".join(begins["name"].upper().split())
        elif number := ID.match(line):
            one.id = int(number[1]), int(number[2]), int(number[3])
        elif pairs := list(PAIR.finditer(line)):
            for pair in pairs:
                one.said.setdefault((section, " ".join(pair["label"].upper().split())), pair["value"].strip())
        elif not (FLAG.match(line) or NAMED.match(line) or re.match(HEAD, line, re.IGNORECASE)):
            continue
        report.claim(index)
        last = index
    for fact in _file(report, one, last):
        told = True
        yield fact
    if not told:
        raise NotThisReport


def _file(report: Report, one: _Found, last: int) -> Iterator[IndexedFile | AlternateKey | FileName]:
    source = report.source(one.first, last)
    bucket = one.figure((OF_PRIMARY, "DATA BUCKET SIZE"), (ATTRIBUTES, "BUCKET SIZE"))
    fill = one.figure((OF_PRIMARY, "DATA FILL QUANTITY"))
    fixed = one.said.get((ATTRIBUTES, "RECORD FORMAT"), "").lower().startswith("fixed")
    allocated = one.figure((ATTRIBUTES, "BLOCKS ALLOCATED"))
    extend = one.figure((ATTRIBUTES, "DEFAULT EXTEND SIZE"))
    if one.name and one.id:
        number, sequence, volume = one.id
        yield FileName(
            source=source,
            device=one.device,
            name=one.name,
            number=number,
            sequence=sequence,
            volume_number=volume,
            allocated_blocks=allocated,
            extend_blocks=extend,
            bucket_blocks=one.figure((ATTRIBUTES, "BUCKET SIZE")),
            global_buffers=one.figure((ATTRIBUTES, "GLOBAL BUFFER COUNT")),
        )
    if not any(section == PRIMARY for section, _ in one.said):
        return
    yield IndexedFile(
        source=source,
        name=one.name,
        bucket_blocks=bucket,
        allocated_blocks=allocated,
        extend_blocks=extend,
        record_bytes=one.figure(
            (PRIMARY, "MEAN LENGTH OF DATA RECORD"), *(((ATTRIBUTES, "MAXIMUM RECORD SIZE"),) if fixed else ())
        ),
        load_fill=100 * fill / (bucket * BLOCK) if known(fill) and known(bucket) and bucket > 0 else ABSENT,
        data_fill=one.figure((PRIMARY, "MEAN DATA BUCKET FILL")),
        depth=one.figure((PRIMARY, "NUMBER OF INDEX LEVELS")),
        records=one.figure((PRIMARY, "COUNT OF DATA RECORDS")),
    )
    for key in sorted({int(found[1]) for section, _ in one.said if (found := KEY.fullmatch(section))}):
        of_key, described = f"STATISTICS FOR KEY #{key}", f"KEY DESCRIPTOR #{key}"
        yield AlternateKey(
            source=source,
            file=one.name,
            number=key,
            bucket_blocks=one.figure((described, "DATA BUCKET SIZE"), (ATTRIBUTES, "BUCKET SIZE")),
            values=one.figure((of_key, "COUNT OF DATA RECORDS")),
            data_blocks=one.figure((of_key, "COUNT OF DATA BLOCKS")),
        )
