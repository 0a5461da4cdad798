"""/proc/locks: the record locks, file locks and leases of a Linux machine at one moment.

Sample::

    1: OFDLCK ADVISORY  WRITE -1 fe:00:2351199 200 249
    2: FLOCK  ADVISORY  READ 4711 fe:00:2351199 0 EOF
    3: POSIX  ADVISORY  WRITE 4711 fe:00:2351197 0 EOF
    3: -> POSIX  ADVISORY  WRITE 4715 fe:00:2351197 5 14
    3:  -> POSIX  ADVISORY  WRITE 4716 fe:00:2351197 8 27

Number, kind, whether reads and writes without a lock are stopped too, mode, process, device and inode, first and last
byte. `->`: it waits, and has the number of the lock it waits for; one that waits behind another waiter stands further
in (kernel 6.18 [M]) and waits for that lock as well. The device is hexadecimal, the inode decimal; `EOF`: to the end of
the file, wherever that moves. A lock of an open file description (OFDLCK) has process -1. A lease or a delegation has
ACTIVE, BREAKING or, where it waits for the holder to give way, BREAKER in the third column. Linux has had no mandatory
locks since 5.15 [R]. `<none>:0`: the file is not known any more.

Several listings may follow each other in one file: where the number falls, the next one begins. Of a very long listing
all locks are counted, and waiters and holders in their way become facts before others.
"""

import re
from collections.abc import Sequence

from collectors.facts.base import Source
from collectors.facts.unix import RecordLock, RecordLockTable
from collectors.layouts.problem_log import ProblemLog
from collectors.layouts.record_locks import Listing
from collectors.leftovers import Leftovers
from collectors.registry import Outcome, starting, stream

KIND = r"(?:POSIX|FLOCK|OFDLCK|LEASE|DELEG|ACCESS|UNKNOWN)"
STATE = r"(?:ADVISORY|MANDATORY|ACTIVE|BREAKING|BREAKER|MSNFS|UNKNOWN|\*NOINODE\*)"
HEAD = r"^\s{0,8}[0-9]{1,9}:\s{1,40}(?:->\s{0,40}){0,40}"
START = re.compile(rf"{HEAD}{KIND}\s{{1,9}}{STATE}\s{{1,9}}(?:READ|WRITE|RW|NONE|UNLCK)\s{{1,9}}-?[0-9]{{1,10}}\s")
LOCK = re.compile(
    rf"\s{{0,8}}(?P<number>[0-9]{{1,9}}):\s{{1,40}}(?P<waits>(?:->\s{{0,40}}){{0,40}})"
    rf"(?P<kind>{KIND})\s{{1,9}}(?P<state>{STATE})\s{{1,9}}(?P<mode>READ|WRITE|RW|NONE|UNLCK)\s{{1,9}}"
    r"(?P<pid>-?[0-9]{1,10})\s{1,9}"
    r"(?:(?P<major>[0-9a-f]{2,8}):(?P<minor>[0-9a-f]{2,8}):(?P<inode>[0-9]{1,20})|<none>:0)\s{1,9}"
    r"(?P<start>[0-9]{1,20})\s{1,9}(?P<end>[0-9]{1,20}|EOF)\s*"
)
DAMAGED = re.compile(rf"{HEAD}(?:[A-Z]{{1,7}}(?:\s|$)|$)")
MOST_ODD = 20
"""So many lines in a row that are no locks: the listing is over (this project)."""
CUT = "the lock is not whole: upload the output of `cat /proc/locks` as a file, its lines not wrapped or cut"


@stream(starts=START, provides=(RecordLockTable, RecordLock))
class ProcLocks:
    """One listing after the other; keeps the locks of the one at hand."""

    def __init__(self, file: str, above: Sequence[str]) -> None:
        """Begin; nothing above the first lock says anything of it."""
        self.file = file
        self.done = Outcome()
        self.now: Listing | None = None
        self.number = -1
        self.holder: RecordLock | None = None
        self.odd = 0
        self.loose, self.told = Leftovers(), ProblemLog()

    def feed(self, first: int, lines: Sequence[str]) -> int:
        """Take lines up to where another report begins."""
        for offset, line in enumerate(lines):
            found = LOCK.fullmatch(line)
            if found and (found["end"] == "EOF" or int(found["end"]) >= int(found["start"])):
                self._take(first + offset, found)
                self.odd = 0
            elif found or DAMAGED.match(line):
                self.told.problem(first + offset, CUT)
            elif line.strip():
                if self.odd >= MOST_ODD or starting(line):
                    return offset
                self.odd += 1
                self.loose.add(first + offset, line)
        return len(lines)

    def close(self) -> Outcome:
        """Hand over the listings."""
        self._end()
        self.done.problems, self.done.leftovers = self.told.problems, self.loose.runs
        return self.done

    def _take(self, line: int, found: re.Match[str]) -> None:
        number, waits = int(found["number"]), bool(found["waits"])
        if number < self.number or (number == self.number and not waits):
            self._end()
        source = Source(self.file, line, line)
        if self.now is None:
            self.now = Listing("/proc/locks", source, shows_blockers=True)
        blocker = self.holder.pid if waits and self.holder and self.holder.number == number else None
        lock = RecordLock(
            source=source,
            kind=found["kind"],
            mode=found["mode"],
            mandatory=found["state"] == "MANDATORY",
            pid=int(found["pid"]),
            device=f"{int(found['major'], 16)}:{int(found['minor'], 16)}" if found["major"] else None,
            inode=int(found["inode"]) if found["inode"] else None,
            start=int(found["start"]),
            end=None if found["end"] == "EOF" else int(found["end"]),
            waits=waits,
            number=number,
            blocker=blocker,
        )
        if not waits:
            self.holder = lock
        elif blocker is None and number != self.number:
            self.told.problem(
                line, f"lock {number}, which it waits for, is not in these lines: upload all of /proc/locks"
            )
        self.number = number
        self.now.add(lock)

    def _end(self) -> None:
        if self.now:
            self.done.facts.extend(self.now.facts())
        self.now, self.number, self.holder = None, -1, None
