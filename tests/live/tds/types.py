"""Column types of TDS 5.0: how a format says them and how a row carries their values, as SAP ASE sends them.

Numbers on the wire are little-endian. A value that may be NULL is preceded by its length, and NULL is the length 0.
"""

import struct
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

EPOCH = datetime(1900, 1, 1)  # noqa: DTZ001 - a datetime of the server has no zone
TICKS_A_SECOND = 300
"""A `datetime` counts three-hundredths of a second since midnight."""
LONGEST_SHORT = 255
"""Bytes that a length of one byte can say; longer character columns go as LONGCHAR."""
TEXT_POINTER, TEXT_TIMESTAMP = b"\x01" * 16, b"\x02" * 8
"""What stands before a value of type text; a client that only reads passes over both."""

Encoder = Callable[[Any], bytes]


@dataclass(frozen=True)
class Column:
    """One column of a result: its name, its type (a name of `CODES`), and what the type needs to know.

    `size` is bytes, of character types alone; `precision` and `scale` are of `numeric`.
    """

    name: str
    type: str
    size: int = 255
    precision: int = 18
    scale: int = 0


@dataclass(frozen=True)
class Code:
    """How a type is called on the wire: its token, the user type of the catalogue, its bytes, and how it is packed."""

    token: int
    user_type: int
    bytes: int = 0
    pack: str = ""


CODES = {
    "tinyint": Code(0x26, 5, 1, "<B"),
    "smallint": Code(0x26, 6, 2, "<h"),
    "int": Code(0x26, 7, 4, "<i"),
    "bigint": Code(0x26, 43, 8, "<q"),
    "unsigned smallint": Code(0x44, 44, 2, "<H"),
    "unsigned int": Code(0x44, 45, 4, "<I"),
    "unsigned bigint": Code(0x44, 46, 8, "<Q"),
    "real": Code(0x6D, 23, 4, "<f"),
    "float": Code(0x6D, 8, 8, "<d"),
    "numeric": Code(0x6C, 10),
    "datetime": Code(0x6F, 12, 8),
    "bit": Code(0x32, 16, 1),
    "char": Code(0x2F, 1),
    "varchar": Code(0x27, 2),
    "longchar": Code(0xAF, 2),
    "text": Code(0x23, 19),
}
"""A varchar longer than 255 bytes is sent as `longchar`; nobody names that type."""

INTEGERS = frozenset(name for name, code in CODES.items() if code.token in (0x26, 0x44))


def description(column: Column) -> bytes:
    """Write the type as a format says it: user type, token, and its lengths."""
    name = _wire_name(column)
    code = CODES[name]
    said = struct.pack("<IB", code.user_type, code.token)
    match name:
        case "bit":
            return said
        case "numeric":
            return said + bytes((numeric_bytes(column.precision), column.precision, column.scale))
        case "text":
            return said + struct.pack("<IH", 2**31 - 1, 0)
        case "longchar":
            return said + struct.pack("<I", column.size)
        case "char" | "varchar":
            return said + bytes((column.size,))
        case _:
            return said + bytes((code.bytes,))


def encoder(column: Column) -> Encoder:
    """Give what writes a value of this column. A value that does not fit its type raises `struct.error`."""
    name = _wire_name(column)
    code = CODES[name]
    match name:
        case "bit":
            return lambda value: b"\1" if value else b"\0"
        case "numeric":
            return lambda value: _numeric(value, column)
        case "datetime":
            return _datetime
        case "text":
            return _text
        case "longchar":
            return lambda value: _counted(value, "<I", column.size)
        case "char" | "varchar":
            return lambda value: _counted(value, "<B", column.size)
        case _:
            return _fixed(code)


def numeric_bytes(precision: int) -> int:
    """Give the bytes that a numeric of this precision takes, its sign included."""
    return 1 + (int("9" * precision).bit_length() + 7) // 8


def _wire_name(column: Column) -> str:
    return "longchar" if column.type in ("char", "varchar") and column.size > LONGEST_SHORT else column.type


def _fixed(code: Code) -> Encoder:
    packed, length = struct.Struct(code.pack), bytes((code.bytes,))
    whole = code.token != CODES["real"].token
    return lambda value: b"\0" if value is None else length + packed.pack(int(value) if whole else float(value))


def _numeric(value: Any, column: Column) -> bytes:
    if value is None:
        return b"\0"
    size = numeric_bytes(column.precision)
    scaled = int(Decimal(str(value)).scaleb(column.scale).to_integral_value())
    return bytes((size, scaled < 0)) + abs(scaled).to_bytes(size - 1, "big")


def _datetime(value: Any) -> bytes:
    if value is None:
        return b"\0"
    moment = value if isinstance(value, datetime) else datetime.fromisoformat(value)
    since = moment - EPOCH
    ticks = (since.seconds * 1_000_000 + since.microseconds) * TICKS_A_SECOND // 1_000_000
    return b"\x08" + struct.pack("<iI", since.days, ticks)


def _counted(value: Any, length: str, most: int) -> bytes:
    if value is None:
        return struct.pack(length, 0)
    raw = str(value).encode()[:most] or b" "  # the server keeps an empty string as one blank
    return struct.pack(length, len(raw)) + raw


def _text(value: Any) -> bytes:
    if value is None:
        return b"\0"
    raw = str(value).encode()
    return bytes((len(TEXT_POINTER),)) + TEXT_POINTER + TEXT_TIMESTAMP + struct.pack("<I", len(raw)) + raw
