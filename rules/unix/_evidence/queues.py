"""Who waits for a lock on a whole file, listing by listing.

`flock` locks are whole-file by nature and are kept apart from ranges of `fcntl`, which never wait for them. A file of a
few bytes, or one that is called a lock file, holds no records: its lock is a mutex, and there is nothing to divide.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from collectors.facts import Facts, known
from collectors.facts.unix import RecordLock, RecordLockTable

QUEUE_FACTS = (RecordLockTable, RecordLock)
"""What a rule that uses this module has to declare."""
RECORD_KINDS = ("POSIX", "OFDLCK", "FLOCK")
"""Leases and delegations are no record locks: what waits there is an open, not a lock."""
NO_RECORDS_BYTES = 64
"""This project: a lock file holds nothing, or a process number and the name of a host."""
LOCK_FILE = re.compile(r"(?:\.(?:lock|lck|pid)|[/._-]lock(?:file)?)\s*\Z", re.IGNORECASE)
LONGEST_NAME = 120
NAMED_IN_TURN = 4
SAME_PROCESSES = 2
"""This project: one process has locks on several files, two that meet at two files at once are told apart below."""


@dataclass(frozen=True)
class Queue:
    """The locks of one family on one file in one listing, where somebody waits."""

    table: RecordLockTable
    locks: tuple[RecordLock, ...]

    @property
    def flock(self) -> bool:
        """Whether these are locks of `flock`."""
        return self.locks[0].kind == "FLOCK"

    @property
    def waiters(self) -> tuple[RecordLock, ...]:
        """All that wait, for the whole file or for a range."""
        return tuple(one for one in self.locks if one.waits)

    @property
    def whole(self) -> tuple[RecordLock, ...]:
        """Those that wait for the whole file."""
        return tuple(one for one in self.waiters if covers(one))

    @property
    def unsure(self) -> tuple[RecordLock, ...]:
        """Of those, the ones that may as well wait for its first byte."""
        return tuple(one for one in self.whole if not one.end_sure)

    @property
    def held(self) -> tuple[RecordLock, ...]:
        """What is held of it."""
        return tuple(one for one in self.locks if not one.waits)

    def holders(self, waiters: tuple[RecordLock, ...]) -> tuple[RecordLock, ...]:
        """Who holds what these wait for, as far as the listing tells."""
        numbers = {one.number for one in waiters if one.number is not None}
        blockers = {one.blocker for one in waiters if one.blocker is not None}
        told = tuple(one for one in self.held if one.number in numbers or one.pid in blockers)
        return told or (self.held if len(self.held) == 1 else ())

    @property
    def behind_whole(self) -> tuple[RecordLock, ...]:
        """Those that wait for a range that is held as a part of the whole file."""
        proved = self._proved_whole
        return tuple(
            one for one in self._ranged if any(covers(h) and (h.end_sure or h in proved) for h in self.holders((one,)))
        )

    @property
    def behind_unsure(self) -> tuple[RecordLock, ...]:
        """Those that wait for a range behind a lock of which `lslocks` does not tell whether it is on the whole file.

        It prints 0 for the end of the file and for its first byte.
        """
        sure = self.behind_whole
        return tuple(
            one
            for one in self._ranged
            if one not in sure and any(covers(h) and not h.end_sure for h in self.holders((one,)))
        )

    @property
    def hottest_range(self) -> tuple[RecordLock, ...]:
        """Those that wait for the range that most wait for."""
        groups: dict[tuple[int, int | None], list[RecordLock]] = {}
        for one in self._ranged:
            groups.setdefault((one.start, one.end), []).append(one)
        if not groups:
            return ()
        most = max(groups.values(), key=len)
        return tuple(most)

    def behind(self, pid: int) -> tuple[RecordLock, ...]:
        """Those that wait for a range that this process, and nobody else, keeps from them."""
        return tuple(one for one in self._ranged if {lock.pid for lock in self.holders((one,))} == {pid})

    def waiting_for(self, start: int, end: int | None) -> tuple[RecordLock, ...]:
        """Those that wait for these very bytes."""
        return tuple(one for one in self._ranged if (one.start, one.end) == (start, end))

    @property
    def _ranged(self) -> tuple[RecordLock, ...]:
        return tuple(one for one in self.waiters if not covers(one))

    @property
    def _proved_whole(self) -> tuple[RecordLock, ...]:
        """Locks that `lslocks` prints from 0 to 0 and that are of more than the first byte.

        Somebody waits for bytes behind that one, and the holder has no other lock there.
        """
        found = []
        for one in self._ranged:
            holders = self.holders((one,))
            unsure = [h for h in holders if covers(h) and not h.end_sure]
            if one.start > 0 and len(unsure) == 1 and not any(_overlap(one, h) for h in holders if h not in unsure):
                found += unsure
        return tuple(found)

    @property
    def mutex(self) -> bool:
        """Whether the file is a lock file: nothing in it could be locked in parts."""
        sizes = [one.size_bytes for one in self.locks if known(one.size_bytes)]
        paths = [one.path for one in self.locks if one.path]
        return (bool(sizes) and max(sizes) < NO_RECORDS_BYTES) or any(LOCK_FILE.search(path) for path in paths)


def _overlap(one: RecordLock, other: RecordLock) -> bool:
    """Whether two locks have a byte in common."""
    ends = [lock.end if lock.end is not None else float("inf") for lock in (one, other)]
    return one.start <= ends[1] and other.start <= ends[0]


def covers(lock: RecordLock) -> bool:
    """Whether it is on the whole file: to its end, or over all bytes there are now."""
    size = lock.size_bytes
    return lock.whole_file or (
        lock.start == 0 and lock.end is not None and known(size) and size >= NO_RECORDS_BYTES and lock.end + 1 >= size
    )


def queues(facts: Facts) -> dict[tuple[object, ...], list[Queue]]:
    """By file and family, in every listing where somebody waits, in order."""
    places: dict[str, list[RecordLockTable]] = {}
    for table in facts.every(RecordLockTable):
        places.setdefault(table.source.file, []).append(table)
    for tables in places.values():
        tables.sort(key=lambda table: table.source.first)
    starts = {file: [table.source.first for table in tables] for file, tables in places.items()}
    grouped: dict[tuple[object, ...], dict[tuple[str, int], list[RecordLock]]] = {}
    for one in _by_inode(facts.every(RecordLock)):
        at = bisect_right(starts.get(one.source.file, ()), one.source.first) - 1
        if one.kind in RECORD_KINDS and at >= 0:
            key = (*one.file_key, one.kind == "FLOCK")
            grouped.setdefault(key, {}).setdefault((one.source.file, at), []).append(one)
    return {
        key: queued
        for key, listings in grouped.items()
        if (
            queued := [
                Queue(places[file][at], tuple(locks))
                for (file, at), locks in listings.items()
                if any(one.waits for one in locks)
            ]
        )
    }


def _by_inode(locks: Sequence[RecordLock]) -> Iterator[RecordLock]:
    """Give a lock that is listed by its path the device and inode under which the same processes lock one file.

    `lslocks` without --output-all prints paths alone, `/proc/locks` inodes alone. One file is taken for the other where
    two processes or more have locks on both, and on no other file of the kind. Where all its locks in `/proc/locks` are
    on the whole file, a lock that `lslocks` prints from 0 to 0 is, too.
    """
    numbered: dict[tuple[str | None, int | None], set[tuple[str, int]]] = {}
    by_path: dict[str, set[tuple[str, int]]] = {}
    for one in locks:
        if one.inode is not None and not one.path:
            numbered.setdefault((one.device, one.inode), set()).add((one.kind, one.pid))
        elif one.inode is None and one.path:
            by_path.setdefault(one.path, set()).add((one.kind, one.pid))
    ranged = {(one.device, one.inode) for one in locks if one.inode is not None and not one.whole_file}
    same: dict[str, tuple[str | None, int | None]] = {}
    for path, processes in by_path.items():
        found = [key for key, others in numbered.items() if len(processes & others) >= SAME_PROCESSES]
        alike = [other for other, others in by_path.items() if other != path and len(processes & others) > 1]
        if len(found) == 1 and not alike:
            same[path] = found[0]
    for one in locks:
        if one.inode is None and one.path in same:
            device, inode = same[one.path]
            yield replace(one, device=device, inode=inode, end_sure=one.end_sure or (device, inode) not in ranged)
        else:
            yield one


def named(locks: tuple[RecordLock, ...]) -> str:
    """The path of a file, else its device and inode."""
    path = next((one.path for one in locks if one.path), None)
    if path:
        return path if len(path) <= LONGEST_NAME else f"…{path[1 - LONGEST_NAME :]}"
    one = locks[0]
    return f"device {one.device}, inode {one.inode}" if one.inode is not None else "an unnamed file"


def owners(locks: tuple[RecordLock, ...], most: int = 8) -> str:
    """`4711 (payrolld), 4715`: each process once; an open file description is no process."""
    said = dict.fromkeys(
        "an open file description (OFD, no process of its own)"
        if one.pid == -1
        else f"{one.pid} ({one.command})"
        if one.command
        else f"{one.pid}"
        for one in locks
    )
    more = f" and {len(said) - most} more" if len(said) > most else ""
    return ", ".join(list(said)[:most]) + more


def in_turn(held: Sequence[tuple[RecordLock, ...]]) -> str:
    """`4 processes of payrolld in turn (4711, 4715)`, where no process is among the holders of each listing.

    Empty where one is, where fewer than two listings tell who holds, or where an open file description does.
    """
    told = [{lock.pid for lock in locks} for locks in held if locks]
    locks = [lock for several in held for lock in several]
    if len(told) < 2 or set.intersection(*told) or any(lock.pid == -1 for lock in locks):
        return ""
    commands, pids = {lock.command for lock in locks}, dict.fromkeys(lock.pid for lock in locks)
    of = f" of {min(filter(None, commands))}" if len(commands) == 1 and None not in commands else ""
    more = f" and {len(pids) - NAMED_IN_TURN} more" if len(pids) > NAMED_IN_TURN else ""
    return f"{len(pids)} processes{of} in turn ({', '.join(map(str, list(pids)[:NAMED_IN_TURN]))}{more})"
