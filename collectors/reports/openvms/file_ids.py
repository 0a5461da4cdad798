"""Names of files by their ids: DIRECTORY/FILE_ID (or /FULL), and the head of DUMP/HEADER.

Samples, the first as the vendor's wiki prints it [V]::

    Directory DKA200:[000000]

    test.dir;1           (11,1,0)

    Dump of file DKA0:[000000]SYS0.DIR;1 on 29-MAR-2019 15:01:02.99
    File ID (11,1,0)   End of file block 1 / Allocated 16

The date has a blank before a day of one digit. A name too long for its column stands on a line of its own and the id
on the next. Only names with an id are read; a plain DIRECTORY is none of this. DIRECTORY/FULL and DUMP/HEADER print the
file's attributes below its id, of which those are read that the size of its global buffers follows from, and what
extends it; the first as ttinet.com/tti/PERFORMANCE_001.HTML has it [P]::

    ORDERS.DAT;12                 File ID:  (184815,2,0)
    File attributes:    Allocation: 13314, Extend: 90, Maximum bucket size: 6
                        Global buffer count: 50, Version limit: 3

DIRECTORY/SIZE=ALL prints blocks used and allocated, behind the id where /FILE_ID was given as well; without one they
are those of a file whose id the same text has. So is the total of a directory's own listing (/TOTAL) the number of its
files. /DATE prints a date behind the sizes. A directory that has no id anywhere is told by its name, with its size::

    OUTBOUND.DIR;1             6144/6144
    INBOUND.DIR;1           (2218,1,0)              21/32

The other lines that both print of a file are known and say nothing here (as of listings that are public: one of
DIRECTORY/FULL of V7.2 or later, and DUMP/HEADER in the examples of DISKBLOCK, 1995 [P]).

Where DUMP was given an id (`DUMP/IDENTIFIER=n/HEADER`) its line names the device, and
the header's `File name:` the file, without its directory.
"""

import re
from collections.abc import Iterator
from dataclasses import replace

from collectors.facts import ABSENT, known
from collectors.facts.openvms import DirectorySize, FileName
from collectors.layouts import vms
from collectors.registry import NotThisReport, Report, report

START = re.compile(
    rf"^\s{{0,4}}Directory [A-Z0-9_$:.-]{{1,80}}:[\[<]|^\s{{0,4}}Dump of file .{{1,255}} on\s{{1,3}}{vms.MOMENT}",
    re.IGNORECASE,
)
DIRECTORY = re.compile(
    r"\s{0,4}Directory (?P<device>[A-Z0-9_$.-]{1,80}):{1,2}(?P<where>[\[<].{1,255}[\]>])\s*$", re.IGNORECASE
)
ID = r"\((?P<number>[0-9]{1,8}),(?P<sequence>[0-9]{1,5}),(?P<volume>[0-9]{1,3})\)"
ROW = re.compile(rf"(?P<name>\S[^;\s]{{0,250}};[0-9]{{1,5}})\s{{1,80}}(?:File ID:\s{{1,4}})?{ID}", re.IGNORECASE)
ALONE = re.compile(r"(?P<name>\S[^;\s]{0,250};[0-9]{1,5})\s*$")
BELOW = re.compile(rf"\s{{1,80}}(?:File ID:\s{{1,4}})?{ID}", re.IGNORECASE)
USED = r"\s{1,80}[0-9]{1,10}/(?P<allocated>[0-9]{1,10})\s*$"
DATED = rf"{USED.removesuffix('$')}(?:{vms.MOMENT}\s*)?$"
SIZES = re.compile(rf"(?P<name>\S[^;\s]{{0,250}};[0-9]{{1,5}}){DATED}")
BESIDE = re.compile(rf".{{0,400}}\){USED}")
"""Sizes behind an id."""
TOTAL = re.compile(r"(?:Grand )?[Tt]otal of [0-9,]{1,12} (?:file|director)")
FILES = re.compile(r"Total of (?P<files>[0-9,]{1,12}) files?\b")
DIRECTORY_NAME = re.compile(r"\[(?P<parent>(?:[^\[\].]{1,80}\.){0,16})(?P<name>[^\[\].]{1,80})\]")
DUMP = re.compile(rf"\s{{0,4}}Dump of file (?P<file>.{{1,255}}?) on\s{{1,3}}{vms.MOMENT}", re.IGNORECASE)
DUMP_ID = re.compile(rf"\s{{0,4}}File ID {ID}", re.IGNORECASE)
NAME_BELOW = re.compile(r"\s{0,40}File name:\s{1,80}(?P<name>\S[^;\s]{0,250};[0-9]{1,5})\s*$", re.IGNORECASE)
ALLOCATED = re.compile(r"(?:\bAllocation|^\s{1,40}Highest block):\s{1,40}(\d{1,10})\b")
EXTEND = re.compile(r"(?:\bExtend|^\s{1,40}Default extension size):\s{1,40}(\d{1,5})\b")
BUCKET = re.compile(r"(?:\bMaximum b|^\s{1,40}B)ucket size:\s{1,40}(\d{1,3})\b")
BUFFERS = re.compile(r"\bGlobal buffer count:\s{1,40}(\d{1,10})\b")
"""What DIRECTORY/FULL or DUMP/HEADER prints of a file's size, what extends it, its buckets and its global buffers."""
OF_FULL = re.compile(
    r"(?:Size|Linkcount|(?:File|RMS|Client) attributes|Caching attribute|File (?:organization|protection)"
    r"|Record (?:format|attributes)|Shelved state|Journaling enabled|Access Cntrl List):\s"
    r"|(?:Created|Revised|Expires|Backup|Effective|Recording|Accessed|Attr Mod|Data Mod):\s",
    re.IGNORECASE,
)
"""The labels of DIRECTORY/FULL; what does not fit behind one goes on below it."""
GOES_ON = re.compile(r"\s{16,80}\S")
OF_HEADER = re.compile(
    r"\s{0,60}(?:(?:File Header|(?:Header|Identification|Map|Access control|Reserved) area|VAX-11 RMS attributes"
    r"|Retrieval pointers)\s*$|Virtual block number [0-9]|(?:Identification|Map|Access control|Reserved) area offset:"
    r"|Extension segment number:|Structure level and version:|(?:Extension |Back link )?file identification:"
    r"|Record (?:type|attributes|size):|File (?:organization|characteristics|owner UIC|protection):"
    r"|(?:Highest|End of file) (?:block|byte):|Highest block written:|Fixed control area size:|Maximum record size:"
    r"|Default extension size:|Directory version limit:|Map area words in use:|Access mode:|Journal control flags:"
    r"|Active recovery units:|Caching attribute:|Revision number:|(?:Creation|Revision|Expiration|Backup) date:"
    r"|Count:\s{1,20}[0-9]+\s{1,20}LBN:|Checksum:)",
    re.IGNORECASE,
)
"""The lines of a header as DUMP/HEADER prints it."""
ANOTHER = re.compile(r"\S[^;\s]{0,250};[0-9]{1,5}\s|\s{0,4}(?:Directory|Dump of file) ")
"""A line that begins another file, which may have no id."""
DEVICE = re.compile(r"_?(?P<device>[A-Z0-9$_.-]{1,80}):", re.IGNORECASE)
MOST = 20_000
"""Files that are kept (this project)."""


@report(starts=START, provides=(FileName, DirectorySize))
def read(report: Report) -> Iterator[FileName | DirectorySize]:
    """Yield each name that has an id, and of directories without one the size."""
    walk = _Walk(report)
    found = walk.files()
    sizes = walk.directories()
    if not found and not sizes:
        raise NotThisReport
    yield from sizes[:MOST]
    if len(found) > MOST:
        report.problem(
            f"{len(found) - MOST:,} files after the first {MOST:,} were not read: list the disk meant alone", 0
        )
    yield from found[:MOST]


class _Walk:
    """Goes over the lines once."""

    def __init__(self, report: Report) -> None:
        self.report = report
        self.found: list[FileName] = []
        self.device = self.where = ""
        self.allocated: dict[str, float] = {}
        self.totals: dict[str, float] = {}
        """Blocks and files that lines without an id have, by the name of the file or directory in capitals."""
        self.sized: dict[str, int] = {}
        """The lines of those blocks."""
        self.waits: tuple[int, str] | None = None
        """A name whose id is on the next line."""
        self.dumped: tuple[int, str, re.Match[str] | None] | None = None
        """A dump's line, the file it names, and its id."""
        self.of_last = False
        """Whether lines of attributes are of the file whose id was read last."""
        self.labelled = -1
        """The last line of DIRECTORY/FULL with a label, or of what goes on below one."""

    def files(self) -> list[FileName]:
        """All of them; claims the lines understood."""
        for index, line in enumerate(self.report.lines):
            if len(line) <= 600 and self._takes(index, line):
                self.report.claim(index)
        return [self._whole(one) for one in self.found]

    def directories(self) -> list[DirectorySize]:
        """Those that have a size here, and nowhere an id."""
        named = {one.name.upper() for one in self.found}
        return [
            DirectorySize(
                source=self.report.source(index),
                name=name,
                allocated_blocks=self.allocated[name],
                files=self.totals.get(name, ABSENT),
            )
            for name, index in self.sized.items()
            if name not in named and name.partition(";")[0].endswith(".DIR")
        ]

    def _whole(self, one: FileName) -> FileName:
        """The file with what lines without its id say of it."""
        key = one.name.upper()
        return replace(
            one,
            allocated_blocks=one.allocated_blocks if known(one.allocated_blocks) else self.allocated.get(key, ABSENT),
            files=self.totals.get(key, ABSENT),
        )

    def _sizes(self, name: str, line: str) -> None:
        """The blocks that stand behind an id."""
        if sizes := BESIDE.match(line):
            self.allocated[name.upper()] = float(sizes["allocated"])

    def _totals(self, line: str) -> bool:
        """The total below a directory's files."""
        here = DIRECTORY_NAME.fullmatch(self.where)
        if here and (found := FILES.match(line)):
            parent = here["parent"].strip(".") or "000000"
            key = f"{self.device}:[{parent}]{here['name']}.DIR;1".upper()
            self.totals[key] = max(self.totals.get(key, 0.0), float(found["files"].replace(",", "")))
        return bool(TOTAL.match(line))

    def _takes(self, index: int, line: str) -> bool:
        attributes = self.of_last and self._attributes(index, line)
        if attributes or (self.of_last and self._ordinary(index, line)):
            if not self.dumped:
                self.labelled = index
            return True
        self.of_last = self.of_last and not ANOTHER.match(line)
        waits, self.waits = self.waits, None
        if found := DIRECTORY.match(line):
            self.device, self.where, self.dumped = found["device"].upper().lstrip("_"), found["where"], None
        elif found := DUMP.match(line):
            self.device, self.dumped = "", (index, found["file"].strip(), None)
        elif self.dumped is not None:
            return self._of_dump(index, line)
        elif not self.device:
            return False
        elif found := ROW.match(line):
            name = f"{self.device}:{self.where}{found['name']}"
            self._keep(index, index, name, self.device, found)
            self._sizes(name, line)
        elif waits and (found := BELOW.match(line)):
            name = f"{self.device}:{self.where}{waits[1]}"
            self._keep(waits[0], index, name, self.device, found)
            self._sizes(name, line)
            self.report.claim(waits[0])
        elif found := SIZES.match(line):
            name = f"{self.device}:{self.where}{found['name']}".upper()
            self.allocated[name], self.sized[name] = float(found["allocated"]), index
        elif found := ALONE.match(line):
            self.waits = index, found["name"]
            return False
        else:
            return self._totals(line)
        return True

    def _of_dump(self, index: int, line: str) -> bool:
        """A line below a dump's head: the id, or the name in the header."""
        if self.dumped is None:
            return False
        first, file, found = self.dumped
        device = DEVICE.match(file)
        if found is None and (found := DUMP_ID.match(line)):
            self.dumped = first, file, found
            if device and re.search(r"[\]>][^\]>;]+;[0-9]+$", file):
                self._keep(first, index, file.lstrip("_"), device["device"].upper(), found)
            return True
        named = NAME_BELOW.match(line)
        if (
            named
            and found is not None
            and device
            and not (self.found and self.found[-1].source.first == self._line(first))
        ):
            self._keep(first, index, f"{device['device'].upper()}:{named['name']}", device["device"].upper(), found)
            return True
        return bool(named or (found and OF_HEADER.match(line)))

    def _ordinary(self, index: int, line: str) -> bool:
        """A line of DIRECTORY/FULL that says nothing here, or what goes on below one."""
        goes_on = self.labelled == index - 1 and GOES_ON.match(line)
        return not self.dumped and bool(OF_FULL.match(line) or goes_on)

    def _attributes(self, index: int, line: str) -> bool:
        """A line of attributes: of the file whose id was read last."""
        one = self.found[-1]
        patterns = (ALLOCATED, EXTEND, BUCKET, BUFFERS)
        allocated, extend, bucket, buffers = (pattern.search(line) for pattern in patterns)
        if not (allocated or extend or bucket or buffers):
            return False
        self.found[-1] = replace(
            one,
            source=replace(one.source, last=max(one.source.last, self._line(index))),
            allocated_blocks=float(allocated[1]) if allocated else one.allocated_blocks,
            extend_blocks=float(extend[1]) if extend else one.extend_blocks,
            bucket_blocks=float(bucket[1]) if bucket else one.bucket_blocks,
            global_buffers=float(buffers[1]) if buffers else one.global_buffers,
        )
        return True

    def _line(self, index: int) -> int:
        return self.report.source(index).first

    def _keep(self, first: int, last: int, name: str, device: str, found: re.Match[str]) -> None:
        self.of_last = True
        self.found.append(
            FileName(
                source=self.report.source(first, last),
                device=device,
                name=name,
                number=int(found["number"]),
                sequence=int(found["sequence"]),
                volume_number=int(found["volume"]),
            )
        )
