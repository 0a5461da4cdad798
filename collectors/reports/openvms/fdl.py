"""FDL of an indexed file: ANALYZE/RMS_FILE/FDL (with what the analysis found), or EDIT/FDL.

Sample (recalled, with figures of our own)::

    IDENT   "12-MAY-2026 22:10:05   OpenVMS ANALYZE/RMS_FILE Utility"
    FILE
            ALLOCATION              91200
            BUCKET_SIZE             3
            NAME                    "DISK$DATA:[SHOP]ITEMS.IDX;2"
            ORGANIZATION            indexed
    KEY 0
            DATA_AREA               0
            DATA_FILL               100
    ANALYSIS_OF_KEY 0
            DATA_FILL               48
            DEPTH                   4
    ANALYSIS_OF_KEY 1
            DATA_RECORD_COUNT       9
            DATA_SPACE_OCCUPIED     640
            DUPLICATES_PER_SIDR     6665

A section begins with its word, an attribute stands below it with its value. Other attributes are passed over: they say
nothing of how full and how deep the file is, or how many records have the same key. Facts are tentative.
"""

import re
from collections.abc import Iterator

from collectors.facts import ABSENT, Reading
from collectors.facts.openvms import AlternateKey, IndexedFile
from collectors.registry import NotThisReport, Report, report

START = re.compile(
    r'^\s{0,8}IDENT\s{1,16}"[^"]{0,60}\b(?:ANALYZE/RMS_FILE|FDL Editor)\b|^\s{0,8}ANALYSIS_OF_(?:AREA|KEY)\s{1,8}\d',
    re.IGNORECASE,
)
SECTION = re.compile(
    r"\s{0,8}(?P<name>(?:TITLE|IDENT|SYSTEM|FILE|DATE|RECORD|ACCESS|SHARING|CONNECT|NETWORK|JOURNAL)\b"
    r"|(?:AREA|KEY|ANALYSIS_OF_AREA|ANALYSIS_OF_KEY)\s{1,16}\d{1,3}\b)(?:\s{0,40}\"[^\"]{0,200}\")?\s*$",
    re.IGNORECASE,
)
ATTRIBUTE = re.compile(
    r'\s{1,40}(?P<name>[A-Z][A-Z0-9_]{1,40})\s{1,60}(?P<value>"[^"]{0,255}"|\S.{0,255})$', re.IGNORECASE
)
ALTERNATE = re.compile(r"ANALYSIS_OF_KEY [1-9]\d{0,2}")
FIGURE = re.compile(r"\d{1,12}")
RECALLED = "the layout of FDL is recalled: hold fill and depth against ANALYZE/RMS_FILE/STATISTICS of the file"


@report(starts=START, provides=(IndexedFile, AlternateKey))
def read(report: Report) -> Iterator[IndexedFile | AlternateKey]:
    """Yield one fact per file that is described, and one per alternate key of it that was analyzed."""
    said: dict[tuple[str, str], str] = {}
    first, section = 0, ""
    report.tentative(RECALLED)
    found = False
    for index, line in enumerate(report.lines):
        if begins := SECTION.match(line[:400]):
            section = " ".join(begins["name"].upper().split())
            if section == "IDENT" and said:
                for one in _file(report, said, first, index - 1):
                    found = True
                    yield one
                said, first = {}, index
            report.claim(index)
        elif attribute := ATTRIBUTE.match(line[:400]):
            said.setdefault((section, attribute["name"].upper()), attribute["value"].strip().strip('"'))
            report.claim(index)
    for one in _file(report, said, first, len(report.lines) - 1):
        found = True
        yield one
    if not found:
        raise NotThisReport


def _file(
    report: Report, said: dict[tuple[str, str], str], first: int, last: int
) -> Iterator[IndexedFile | AlternateKey]:
    """The file that these attributes describe, where it is an indexed one, with its alternate keys."""

    def figure(*places: tuple[str, str]) -> Reading:
        values = [said[place] for place in places if place in said]
        return float(values[0]) if values and FIGURE.fullmatch(values[0]) else ABSENT

    if said.get(("FILE", "ORGANIZATION"), "").lower() != "indexed":
        return
    area = f"AREA {said.get(('KEY 0', 'DATA_AREA'), '0')}"
    while last > first and not report.lines[last].strip():
        last -= 1
    yield IndexedFile(
        source=report.source(first, last),
        name=said.get(("FILE", "NAME"), ""),
        bucket_blocks=figure((area, "BUCKET_SIZE"), ("FILE", "BUCKET_SIZE")),
        allocated_blocks=figure(("FILE", "ALLOCATION"), (area, "ALLOCATION")),
        extend_blocks=figure((area, "EXTENSION"), ("FILE", "EXTENSION")),
        record_bytes=figure(("ANALYSIS_OF_KEY 0", "MEAN_DATA_LENGTH"), ("RECORD", "SIZE")),
        load_fill=figure(("KEY 0", "DATA_FILL")),
        data_fill=figure(("ANALYSIS_OF_KEY 0", "DATA_FILL")),
        depth=figure(("ANALYSIS_OF_KEY 0", "DEPTH")),
        records=figure(("ANALYSIS_OF_KEY 0", "DATA_RECORD_COUNT")),
    )
    for key in sorted({section for section, _ in said if ALTERNATE.fullmatch(section)}, key=_number):
        own = f"KEY {_number(key)}"
        yield AlternateKey(
            source=report.source(first, last),
            file=said.get(("FILE", "NAME"), ""),
            number=_number(key),
            name=said.get((own, "NAME"), ""),
            bucket_blocks=figure((f"AREA {said.get((own, 'DATA_AREA'), '0')}", "BUCKET_SIZE"), ("FILE", "BUCKET_SIZE")),
            values=figure((key, "DATA_RECORD_COUNT")),
            duplicates=figure((key, "DUPLICATES_PER_SIDR")),
            data_blocks=figure((key, "DATA_SPACE_OCCUPIED")),
        )


def _number(section: str) -> int:
    """The number at the end of `ANALYSIS_OF_KEY 2`."""
    return int(section.rpartition(" ")[2])
