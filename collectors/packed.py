"""Bytes packed by zstd with a dictionary, trained beforehand from texts of their kind (`tests.train_dictionary`).

A report, the facts of one and a finding are mostly words that every other one has; the dictionary holds them once. A
frame of zstd names its dictionary, so that what one packed is unpacked by it for ever.
"""

import functools
from pathlib import Path

import zstandard

DICTIONARIES = Path(__file__).resolve().parent / "dictionaries"
"""`<use>/<number>_<kind>.dictionary`: a released one is never changed or removed, as bytes are packed with it. Numbers
are unique over all uses."""
FACTS, FINDINGS, AUDITS = "facts", "findings", "audits"
"""Uses, beside `exports`: facts of a capture; findings; verdicts, plan and figures of an audit, all of them JSON."""
MOST_WINDOW = 8 << 20
"""Bytes that zstd may look back, and so the memory a stream may ask for; our levels take 4 MB at the most."""
MAGIC = zstandard.MAGIC_NUMBER.to_bytes(4, "little")
"""How a frame begins. No JSON does, nor zlib."""


class DamagedBytes(ValueError):
    """These are no packed bytes, or they are damaged, cut short, or unpack to more than is allowed."""


class UnknownDictionary(ValueError):
    """These bytes were packed with a dictionary that this version does not have; the message says what to do."""


@functools.cache
def paths(use: str = "*") -> dict[int, Path]:
    """The files of all dictionaries, or those of one use, by number."""
    return {int(path.name.partition("_")[0]): path for path in sorted(DICTIONARIES.glob(f"{use}/*.dictionary"))}


@functools.cache
def dictionary(number: int) -> zstandard.ZstdCompressionDict:
    """The dictionary of a number. Raises `UnknownDictionary`."""
    if number not in paths():
        raise UnknownDictionary(
            f"these bytes were packed in the way {number}, which this version does not know: install the version of "
            "Lockwright that stored them, or a later one"
        )
    return zstandard.ZstdCompressionDict(paths()[number].read_bytes())


@functools.cache
def _prepared(number: int, level: int) -> zstandard.ZstdCompressionDict:
    """A dictionary made ready once in each process: for the last level that takes longer than most texts do."""
    found = zstandard.ZstdCompressionDict(dictionary(number).as_bytes())
    found.precompute_compress(level=level)
    return found


def compressor(number: int | None, level: int) -> zstandard.ZstdCompressor:
    """What packs with this dictionary (`None`: without one), by a level of zstd."""
    ready = None if number is None else _prepared(number, level)
    return zstandard.ZstdCompressor(level=level, dict_data=ready, write_checksum=True)


def pack(data: bytes, use: str, level: int) -> bytes:
    """Pack with the newest dictionary of this use; equal bytes give equal bytes."""
    return compressor(max(paths(use)), level).compress(data)


def unpack(data: bytes, most_bytes: int) -> bytes:
    """Unpack one frame, and never more than is allowed. Raises `DamagedBytes`, `UnknownDictionary`."""
    try:
        frame = zstandard.get_frame_parameters(data)
        if frame.content_size > most_bytes:  # also where the size is not told, as none of ours is
            raise DamagedBytes(f"over {most_bytes:,} bytes unpacked: refused")
        known = dictionary(frame.dict_id) if frame.dict_id else None
        return zstandard.ZstdDecompressor(dict_data=known).decompress(data, allow_extra_data=False)
    except zstandard.ZstdError as error:
        raise DamagedBytes(str(error)) from None
