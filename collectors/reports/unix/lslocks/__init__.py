"""lslocks: the record locks and file locks of a Linux machine with their commands and files, as a table or as JSON.

Samples::

    COMMAND           PID   TYPE SIZE   INODE MAJ:MIN MODE   M START        END PATH               BLOCKER
    payrolld         4715  POSIX 4.9K 2351197 254:0   WRITE* 0     5         14 /srv/pay/my data.db   4711
    payrolld         4711  POSIX 4.9K 2351197 254:0   WRITE  0     0          0 /srv/pay/my data.db
    (undefined)        -1 OFDLCK      2351199 254:0   WRITE  0   200        249 /srv...

    {"locks": [{"command":"payrolld", "pid":4715, "type":"POSIX", "size":5000, "inode":2351197, "maj:min":"254:0",
    "mode":"WRITE*", "m":false, "start":5, "end":14, "path":"/srv/pay/my data.db", "blocker":4711}]}

`*` behind the mode: it waits, for the process under BLOCKER, which plain `lslocks` does not show: then nothing says who
waits for whom. M: mandatory. The device is decimal. SIZE is rounded to tenths of a unit of 1,024 unless `-b` was given,
and blank where the file could not be looked at. `(undefined)`, process -1: a lock of an open file description, of which
only the mount point is known. HOLDERS (util-linux from 2.39 on, recalled) names who has such a file open and takes
lines of its own: passed over (util-linux 2.38 [M]; zvm-unix-scalability.md b2).

Trap: END is 0 both for the end of the file and for byte 0. From a start above 0 it can only be the end, and a FLOCK
covers its file always; else `end_sure` is false, and `/proc/locks` tells.

Read are `-J` as printed or on one line, tables with the columns in any order (`-o`) and with `-r`, of which the cells
are found by the heading: those of PID, TYPE, SIZE, INODE, START, END and BLOCKER end where their word ends, the others
begin where it begins. Where white space was lost, the usual order of columns is taken.
"""

import json
import re
from collections.abc import Mapping, Sequence

from collectors.facts.base import Source
from collectors.facts.unix import RecordLock, RecordLockTable
from collectors.layouts.problem_log import ProblemLog
from collectors.layouts.record_locks import Listing
from collectors.leftovers import Leftovers
from collectors.registry import Outcome, starting, stream
from collectors.reports.unix.lslocks.cells import COLUMN, Heading
from collectors.reports.unix.lslocks.values import lock_of

START = re.compile(
    rf'^(?=.{{0,200}}\bSTART\s+END\b)\s{{0,9}}{COLUMN}(?:\s+{COLUMN}){{4,13}}\s*$|^[\s{{]{{0,9}}"locks"\s{{0,4}}:\s{{0,4}}\['
)
TABLE = re.compile(rf"\s{{0,9}}{COLUMN}(?:\s+{COLUMN}){{4,13}}\s*")
JSON = re.compile(r'[\s{]{0,9}"locks"\s{0,4}:\s{0,4}\[')
OF_JSON = re.compile(r'\s*(?:["{}\[\],]|$)')
ENDS = re.compile(r"[\s\]}]*")
NEEDED = ("PID", "TYPE", "MODE", "START", "END")
LONGEST_LOCK = 65_536
"""Characters of one lock in JSON: a path has 4,096 bytes at most."""
MOST_TRIES = 20
"""How often one lock is tried to be read while lines are added to it: as often as a closing bracket comes."""
BETWEEN = re.compile(r"[\s,]*")
CLOSE = re.compile(r"[}\]]")
MOST_ODD = 20
"""So many lines in a row that are no locks: the listing is over (this project)."""
REMEDY = "upload `lslocks --json --bytes --output-all` as a file"
DECODER = json.JSONDecoder()


@stream(starts=START, provides=(RecordLockTable, RecordLock))
class Lslocks:
    """One listing after the other; keeps the locks of the one at hand, and the text of one lock in JSON."""

    def __init__(self, file: str, above: Sequence[str]) -> None:
        """Begin; of the lines above only the opening brace of JSON is ours."""
        self.file = file
        self.done = Outcome()
        last = [line.strip() for line in above]
        self.done.above = int(bool(last) and last[-1] == "{")
        self.now: Listing | None = None
        self.heading: Heading | None = None
        self.text = ""
        self.text_line = self.last = self.tries = 0
        self.in_json = False
        self.odd = 0
        self.loose, self.told = Leftovers(), ProblemLog()

    def feed(self, first: int, lines: Sequence[str]) -> int:
        """Take lines up to where another report begins."""
        for offset, line in enumerate(lines):
            number = first + offset
            if found := JSON.match(line):
                self._begin(number)
                self.in_json, rest = True, line[found.end() :]
                self._json(number, rest)
            elif TABLE.fullmatch(line) and START.search(line):
                self._begin(number)
                self.heading = Heading(line)
                if lacking := [name for name in NEEDED if not self.heading.has(name)]:
                    self.told.problem(number, f"no column {', '.join(lacking)}, so no lock is read: {REMEDY}")
            elif self.in_json and (OF_JSON.match(line) or not starting(line)):
                self._json(number, line)
            elif line.strip() and (self.in_json or not self._row(number, line)):
                return offset
            self.last = number
        return len(lines)

    def close(self) -> Outcome:
        """Hand over the listings."""
        self._end()
        self.done.problems, self.done.leftovers = self.told.problems, self.loose.runs
        return self.done

    def _begin(self, number: int) -> None:
        self._end()
        self.odd = 0
        self.now = Listing("lslocks", Source(self.file, number, number), shows_blockers=False)

    def _end(self) -> None:
        if self.in_json:
            self.told.problem(self.text_line or self.last, f"the JSON breaks off: read up to here; {REMEDY}")
        if self.now:
            self.now.shows_blockers = self.now.shows_blockers or bool(self.heading and self.heading.has("BLOCKER"))
            self.done.facts.extend(self.now.facts())
        self.now, self.heading, self.text, self.in_json, self.text_line = None, None, "", False, 0

    def _row(self, number: int, line: str) -> bool:
        """Take one line below a heading of a table; `False`: it is another's."""
        if line.strip() == "{" or (not self.heading and ENDS.fullmatch(line)):
            return True
        for cells in self.heading.ways(line) if self.heading else ():
            if self._add(number, number, cells):
                self.odd = 0
                return True
        if self.heading and self.heading.goes_on(line):
            return True
        if self.odd >= MOST_ODD or starting(line):
            return False
        self.odd += 1
        if self.heading and self.heading.like_a_row(line):
            self.told.problem(number, f"a lock whose cells do not stand under their headings, left out: {REMEDY}")
        else:
            self.loose.add(number, line)
        return True

    def _json(self, number: int, line: str) -> None:
        """Take one line of JSON: more of a lock, or the end of the list."""
        if not self.text.strip(" \t,"):
            self.text, self.text_line, self.tries = line, number, 0
        else:
            self.text += "\n" + line
        if not CLOSE.search(line) and len(self.text) <= LONGEST_LOCK:
            return
        at = 0
        while (found := BETWEEN.match(self.text, at)) and (begin := found.end()) < len(self.text):
            if self.text[begin] == "]":
                self._after(number, self.text[begin:])
                return
            if not CLOSE.search(self.text, begin) and len(self.text) - begin <= LONGEST_LOCK:
                break
            try:
                value, at = DECODER.raw_decode(self.text, begin)
            except (ValueError, RecursionError):
                self.text = self.text[begin:]
                self._stuck(number, line)
                return
            if not (isinstance(value, dict) and self._add(self.text_line, number, _cells(value))):
                self.told.problem(self.text_line, f"no lock as lslocks writes it, left out: {REMEDY}")
            self.text_line, self.tries = number, 0
        self.text = self.text[at:]

    def _after(self, number: int, text: str) -> None:
        """Leave the list; what stands behind its brackets is not ours."""
        found = ENDS.match(text)
        if found and found.end() < len(text):
            self.loose.add(number, text[found.end() :])
        self.in_json, self.text = False, ""

    def _stuck(self, number: int, line: str) -> None:
        """What is there is no whole lock yet; damage, if a lock ends here or it has grown too long."""
        self.tries += 1
        if line.strip() in ("},{", "},", "}") or len(self.text) > LONGEST_LOCK or self.tries > MOST_TRIES:
            self.told.problem(self.text_line, f"no lock as lslocks writes it, left out: {REMEDY}")
            self.text, self.text_line, self.tries = "{" if line.strip() == "},{" else "", number, 0

    def _add(self, first: int, last: int, cells: Mapping[str, str]) -> bool:
        lock = lock_of(cells, Source(self.file, first, last))
        if lock is None or self.now is None:
            return False
        self.now.shows_blockers = self.now.shows_blockers or "BLOCKER" in cells
        self.now.add(lock)
        return True


def _cells(value: Mapping[str, object]) -> dict[str, str]:
    """The values of one lock as a table would print them; what JSON has no value for is blank."""
    cells: dict[str, str] = {}
    for name, given in list(value.items())[:40]:
        if isinstance(given, bool):
            given = int(given)
        if given is None or isinstance(given, str | int):
            cells[name.upper()] = "" if given is None else str(given)
    return cells
