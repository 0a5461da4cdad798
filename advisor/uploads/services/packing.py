"""How bytes of uploads are packed: the ways, by the number that a blob keeps, and the choice among them.

Text is packed by zstd with a dictionary (`collectors.packed`): a report of a few kilobytes is mostly headings that
every report of its kind has. Tables of figures, such as T4's, have few words and much noise, of which bz2 makes least.
Which of them suits a file, its first bytes decide, never its name.
"""

import bz2
import functools
import io
import zlib
from collections.abc import Callable, Iterable, Iterator
from typing import IO, Protocol, cast

import zstandard

from collectors.packed import MOST_WINDOW, compressor, dictionary, paths

ZLIB, BZ2, ZSTD = 0, 1, 2
"""`ZLIB`, by which everything was packed at first, is still read. `ZSTD` is without a dictionary."""
EXPORTS = "exports"
"""The dictionaries among which is chosen; their numbers are those of their ways."""
PIECE = 1 << 20
"""Bytes read at a time, and about the size of one row of compressed bytes."""
SAMPLE = 64 << 10
"""Bytes of a file by which its packing is chosen."""
QUICK, MIDDLE, SMALL = 3, 9, 15
"""Levels of zstd: to try, for files over a `PIECE`, and for others. Of a sp_sysmon report the last one makes a fifth
less than level 9 and takes 8 ms; of long files the dictionary matters little and the time much (measured)."""
LESS = 0.9
"""What `SMALL` makes of what `MIDDLE` makes (of reports 0.8 to 0.92, of tables 0.85 to 0.9): bz2 must make less."""


class DamagedBlob(zlib.error):
    """The packed bytes are damaged, cut short, or unpack to more than was packed."""


class Packer(Protocol):
    """What packs a stream, piece by piece."""

    def compress(self, data: bytes, /) -> bytes:
        """Take a piece; gives packed bytes as they come."""
        ...

    def flush(self) -> bytes:
        """End the stream; gives the rest."""
        ...


def packing_of(first: bytes, *, is_whole: bool) -> int:
    """Choose the packing of a stream by its first bytes, or all there is (`is_whole`): the one that makes least."""
    sample = first[:SAMPLE]
    made = {number: len(_zstd(number, QUICK).compress(sample)) for number in (ZSTD, *paths(EXPORTS))}
    best = min(made, key=made.__getitem__)
    if is_whole and len(bz2.compress(sample)) < LESS * len(_zstd(best, MIDDLE).compress(sample)):
        return BZ2  # of files over a piece bz2 would take too long
    return best


def packer(packing: int, whole: int | None) -> Packer:
    """What packs a stream so; with more effort where it is but one piece, `whole` bytes long.

    zstd is told how long: it would make room for the longest else, which takes longer (47 ms) than to pack a report.
    """
    if packing == BZ2:
        return bz2.BZ2Compressor()
    return _zstd(packing, MIDDLE).compressobj() if whole is None else _zstd(packing, SMALL).compressobj(size=whole)


def _zstd(number: int, level: int) -> zstandard.ZstdCompressor:
    return compressor(None if number == ZSTD else number, level)


def unpacked(packing: int, size: int, rows: Iterable[bytes]) -> Iterator[bytes]:
    """The bytes of a stream of `size`, at most a `PIECE` at a time. Raises `DamagedBlob`, `UnknownDictionary`."""
    unpack = UNPACK.get(packing) or functools.partial(_from_zstd, packing)
    given = 0
    try:
        for piece in unpack(iter(rows)):
            given += len(piece)
            if given > size:
                break
            yield piece
    except (zlib.error, zstandard.ZstdError, OSError, EOFError) as error:
        raise DamagedBlob(f"stored bytes are damaged: {error}") from None
    if given != size:
        raise DamagedBlob(f"stored bytes are damaged: not the {size:,} that were packed")


def _from_zlib(rows: Iterator[bytes]) -> Iterator[bytes]:
    unpacking = zlib.decompressobj()
    for row in rows:
        while row:
            yield unpacking.decompress(row, PIECE)
            row = unpacking.unconsumed_tail
    yield unpacking.flush(PIECE)


def _from_bz2(rows: Iterator[bytes]) -> Iterator[bytes]:
    unpacking = bz2.BZ2Decompressor()
    for row in rows:
        yield unpacking.decompress(row, PIECE)
        while not (unpacking.needs_input or unpacking.eof):
            yield unpacking.decompress(b"", PIECE)


def _from_zstd(packing: int, rows: Iterator[bytes]) -> Iterator[bytes]:
    known = None if packing == ZSTD else dictionary(packing)
    unpacking = zstandard.ZstdDecompressor(dict_data=known, max_window_size=MOST_WINDOW)
    with unpacking.stream_reader(cast(IO[bytes], _Rows(rows))) as stream:
        while piece := stream.read(PIECE):
            yield piece


class _Rows(io.RawIOBase):
    """Rows as a stream: each read gives one, however many bytes are asked for."""

    def __init__(self, rows: Iterator[bytes]) -> None:
        self.rows = rows

    def read(self, size: int = -1) -> bytes:
        return next(self.rows, b"")


UNPACK: dict[int, Callable[[Iterator[bytes]], Iterator[bytes]]] = {ZLIB: _from_zlib, BZ2: _from_bz2}
