"""The container: records of variable length as RMS writes them, and where the recordings of a file begin and end.

Each record is preceded by its length (16 bits, little-endian) and begins at an even byte. A length of 0xFFFF says that
the rest of the block of 512 bytes is empty. Nothing marks the end of the file but its size: what was transferred with
the whole last block has stale bytes behind the last record.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

BLOCK = 512
EMPTY_REST = 0xFFFF
HEADER = re.compile(rb".[\x00-\x03]\x80.{8,200}?MON[0-9]{5}", re.DOTALL)
"""A length of at most 1,023 bytes and the file header behind it."""
PERHAPS = re.compile(rb"(?=.[\x00-\x03]\x80)", re.DOTALL)
LONGEST_HEADER = 1100
NOT_NUL = re.compile(rb"[^\0]")


@dataclass(frozen=True)
class Record:
    """One record: its number in the file, counted from 1; the byte its length stands at; its bytes."""

    number: int
    offset: int
    data: bytes

    @property
    def kind(self) -> int:
        """Byte 0: 0 to 127 a class, 128 to 191 system control, 192 to 255 the customer's own."""
        return self.data[0]


class Records:
    """Cuts bytes into records, and looks for the next file header where there is no sense in what comes."""

    def __init__(self) -> None:
        """Begin at byte 0."""
        self.buffer, self.base, self.at = b"", 0, 0
        self.origin = 0
        """Where the file at hand begins: its blocks are counted from there."""
        self.number = 0
        self.skip = 0
        self.lost = False

    @property
    def offset(self) -> int:
        """The byte that comes next."""
        return self.base + self.at

    @property
    def end(self) -> int:
        """The byte behind the last one that was fed."""
        return self.base + len(self.buffer)

    @property
    def rest(self) -> bytes:
        """Bytes that were fed and are no whole record."""
        return self.buffer[self.at :]

    def feed(self, data: bytes, *, last: bool = False) -> Iterator[Record]:
        """Take bytes and give the records that are whole; between two of them `lose` and `header_in` may be called.

        Unless these are the `last` bytes, so many are held back that `header_in` can see a header behind a record.
        """
        ahead = 0 if last else LONGEST_HEADER
        self.buffer, self.base, self.at = self.buffer[self.at :] + data, self.offset, 0
        while True:
            if self.skip:
                step = min(self.skip, len(self.buffer) - self.at)
                self.at, self.skip = self.at + step, self.skip - step
            if self.lost and not self._found():
                return
            if len(self.buffer) - self.at < 2:
                return
            length = int.from_bytes(self.buffer[self.at : self.at + 2], "little")
            if length == EMPTY_REST:
                self.skip = BLOCK - (self.offset - self.origin) % BLOCK
            elif length == 0:
                self._pass_nuls()
            elif self.at + 2 + length + ahead > len(self.buffer):
                return
            else:
                start = self.at
                self.at += 2 + length
                self.skip = length & 1
                self.number += 1
                yield Record(self.number, self.base + start, self.buffer[start + 2 : start + 2 + length])

    def _pass_nuls(self) -> None:
        """Lengths of 0: no record of MONITOR is empty; blocks that were never written are full of them."""
        found = NOT_NUL.search(self.buffer, self.at)
        passed = (found.start() if found else len(self.buffer)) - self.at
        self.at += passed - passed % 2

    def _found(self) -> bool:
        """Go to the next file header; keeps what may be the beginning of one."""
        found = HEADER.search(self.buffer, self.at)
        self.lost = found is None
        self.at = found.start() if found else max(self.at, len(self.buffer) - LONGEST_HEADER)
        return found is not None

    def lose(self) -> None:
        """From here on look for a file header only."""
        self.lost = True

    def header_in(self, record: Record) -> bool:
        """Go back to the file header that begins within this record, if one does: its length was a lie."""
        start, end = record.offset - self.base + 2, self.at
        places = (found.start() for found in PERHAPS.finditer(self.buffer, start, end + 2))
        place = next((at for at in places if HEADER.match(self.buffer, at)), None)
        if place is not None:
            self.at, self.skip, self.lost = place, 0, False
        return place is not None

    def header_in_rest(self) -> bool:
        """Go to the file header in the bytes that are no whole record, if there is one, at the end of the file."""
        found = HEADER.search(self.buffer, self.at + 2)
        if found:
            self.at, self.lost = found.start(), False
            self.number += 1  # the piece in front of it
        return found is not None
