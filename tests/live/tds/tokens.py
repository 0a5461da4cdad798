"""What a TDS 5.0 server says: the events of an answer, and the tokens they become.

An answer is a row of events (`Rows`, `Message`, `Status`, …); `tests.live.tds.session` sends them.
"""

import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from tests.live.tds.types import Column, description, encoder

ROWFMT, ROWFMT2, ROW, DONE, EED = 0xEE, 0x61, 0xD1, 0xFD, 0xE5
ENVCHANGE, LOGINACK, CAPABILITY, RETURN_STATUS = 0xE3, 0xAD, 0xE2, 0x79
MSG, PARAMFMT, PARAMS = 0x65, 0xEC, 0xD7
LANGUAGE, DBRPC, DYNAMIC, DYNAMIC2, LOGOUT, OPTIONCMD = 0x21, 0xE6, 0xE7, 0x62, 0x71, 0xA6

FINAL, MORE, ERROR, COUNT, ATTENTION = 0x00, 0x01, 0x02, 0x10, 0x20
"""Bits of a DONE token's status."""
LOGIN_TAKEN, LOGIN_REFUSED, LOGIN_GOES_ON = 5, 6, 7
"""What a LOGINACK says: taken, refused, or that the password is wanted first, encrypted with the key that follows."""
DATABASE, CHARSET, PACKET_SIZE = 1, 3, 4
"""Kinds of an ENVCHANGE."""
ERRORS_FROM = 11
"""Messages of this severity on are errors; below they are information."""
MAY_BE_NULL = 0x20


@dataclass(frozen=True)
class Rows:
    """A result set; `rows` may be endless as far as this module cares."""

    columns: Sequence[Column]
    rows: Iterable[Sequence[Any]]


@dataclass(frozen=True)
class Message:
    """A message: what PRINT prints (number 0, severity 10 or less) or an error (severity 11 or more)."""

    number: int
    severity: int
    text: str
    state: int = 1
    procedure: str = ""
    line: int = 1


@dataclass(frozen=True)
class Status:
    """What a procedure returned; below 0: it failed."""

    value: int


@dataclass(frozen=True)
class Changed:
    """That a part of the session's environment is another now."""

    kind: int
    new: str
    old: str = ""


@dataclass(frozen=True)
class Pause:
    """Seconds of our clock that the server thinks; a cancel ends it."""

    seconds: float


@dataclass(frozen=True)
class Cut:
    """The line breaks here, in the middle of what is being sent."""


@dataclass(frozen=True)
class Silence:
    """The server says nothing more, and takes no cancel."""


Event = Rows | Message | Status | Changed | Pause | Cut | Silence


def printed(text: str) -> Message:
    """Make the message of a PRINT."""
    return Message(0, 10, text)


def short(text: str) -> bytes:
    """Write text with its length in one byte, cut at 255 bytes."""
    raw = text.encode()[:255]
    return bytes((len(raw),)) + raw


def row_format(columns: Sequence[Column], *, wide: bool) -> bytes:
    """Say the columns of a result, in the wide form (from TDS 5.0 with large tables on) or in the old one."""
    said = bytearray(struct.pack("<H", len(columns)))
    for one in columns:
        status = 0 if one.type == "bit" else MAY_BE_NULL
        # label, catalogue, owner, table, name: of an answer that was computed only the first and last are known
        said += short(one.name) + (
            b"\0\0\0" + short(one.name) + struct.pack("<I", status) if wide else bytes((status,))
        )
        said += description(one) + b"\0"
    head = struct.pack("<BI", ROWFMT2, len(said)) if wide else struct.pack("<BH", ROWFMT, len(said))
    return head + bytes(said)


def row_writer(columns: Sequence[Column]) -> Any:
    """Give what writes one row of these columns."""
    writers = [encoder(one) for one in columns]
    return lambda row: bytes((ROW,)) + b"".join([write(value) for write, value in zip(writers, row, strict=True)])


def message(said: Message, server: str) -> bytes:
    """Write a message in the extended form (EED), which carries severity, server, procedure and line."""
    text = said.text.encode()
    body = struct.pack("<IBB", said.number, said.state, said.severity) + short("ZZZZZ") + b"\0" + struct.pack("<H", 1)
    body += struct.pack("<H", len(text)) + text + short(server) + short(said.procedure) + struct.pack("<H", said.line)
    return struct.pack("<BH", EED, len(body)) + body


def changed(event: Changed) -> bytes:
    """Say that the environment changed."""
    body = bytes((event.kind,)) + short(event.new) + short(event.old)
    return struct.pack("<BH", ENVCHANGE, len(body)) + body


def done(status: int, count: int = 0) -> bytes:
    """End a statement, or with `FINAL` an answer; `count` is of rows, where the status says `COUNT`."""
    return struct.pack("<BHHI", DONE, status, 0, count)


def returned(status: Status) -> bytes:
    """Say what a procedure returned."""
    return struct.pack("<Bi", RETURN_STATUS, status.value)


def login_answer(status: int, program: str, release: tuple[int, int, int, int]) -> bytes:
    """Answer a login: taken, refused or to be gone on with, by which program."""
    body = bytes((status, 5, 0, 0, 0)) + short(program) + bytes(release)
    return struct.pack("<BH", LOGINACK, len(body)) + body


def capabilities(said: bytes) -> bytes:
    """Send the capabilities back as the client asked for them: this server grants what it was asked."""
    return struct.pack("<BH", CAPABILITY, len(said)) + said
