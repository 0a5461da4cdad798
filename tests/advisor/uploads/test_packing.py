"""Bytes come back as they were, however they are packed; damaged ones are told of, and none unpack to more."""

import io
import zlib
from random import Random
from tempfile import TemporaryFile

import pytest
import zstandard

from advisor.uploads.models import Blob, BlobChunk
from advisor.uploads.services import packing
from advisor.uploads.services.packing import BZ2, PIECE, ZLIB, ZSTD, DamagedBlob
from advisor.uploads.services.storing import Packed, TooMuch, open_blob
from collectors.packed import UnknownDictionary
from tests.train_dictionary import ROOT

EXPORTS = ROOT / "tests" / "exports"
SYSMON = (EXPORTS / "ase" / "sp_sysmon" / "160_threaded_two_pools.txt").read_bytes()
SETTINGS = (EXPORTS / "openvms" / "sysgen" / "active_current_and_work_area.txt").read_bytes()
STATISTICS = (EXPORTS / "rdb" / "statistics" / "users_stalls_and_hot_rows.txt").read_bytes()
ASE, OPENVMS, RDB = 10, 11, 12
WAYS = (ZLIB, BZ2, ZSTD, ASE, OPENVMS, RDB)


def figures(rows: int) -> bytes:
    """A table of T4's kind: times and noise."""
    chance = Random("figures")
    lines = (
        f"19-NOV-2015 00:{row % 60:02}:00.00," + ",".join(f"{chance.random() * 90:.2f}" for _ in range(80))
        for row in range(rows)
    )
    return "\r\n".join(lines).encode()


def packed_by(way: int, data: bytes) -> bytes:
    if way == ZLIB:
        return zlib.compress(data)
    packer = packing.packer(way, len(data))
    return packer.compress(data) + packer.flush()


def rows_of(data: bytes, size: int = 1000) -> list[bytes]:
    return [data[at : at + size] for at in range(0, len(data), size)]


def stored(data: bytes) -> Blob:
    with TemporaryFile() as file:
        return Packed(io.BytesIO(data), 1 << 30, file).keep()


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("data", "way"),
    [
        (SYSMON, ASE),
        (SETTINGS, OPENVMS),
        (STATISTICS, RDB),
        (figures(100), BZ2),
        (figures(3000), None),
        (b"", None),
        (b"x", None),
        (Random("noise").randbytes(3 * PIECE + 17), None),
        (b"0" * 3 * PIECE, None),
        (b"y" * PIECE, None),
    ],
    ids=["sp_sysmon", "SYSGEN", "RMU", "figures", "many figures", "nothing", "one byte", "noise", "zeros", "a piece"],
)
def test_what_is_stored_comes_back(data: bytes, way: int | None) -> None:
    blob = stored(data)
    assert way in (None, Blob.objects.get().packing)
    assert blob.packed == sum(len(one.data) for one in blob.chunks.all())
    with open_blob(Blob.objects.get()) as stream:
        assert stream.read(7) + stream.read() == data


@pytest.mark.django_db
def test_what_a_version_before_stored_is_read() -> None:
    """It wrote zlib, and knows nothing of the column."""
    data = zlib.compress(SYSMON)
    blob = Blob.objects.create(digest="0" * 64, size=len(SYSMON), packed=len(data))
    for number, row in enumerate(rows_of(data)):
        BlobChunk.objects.create(blob=blob, number=number, data=row)
    with open_blob(Blob.objects.get()) as stream:
        assert stream.read() == SYSMON


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("size", [1, 1000, 1 << 20])
def test_every_way_unpacks_from_rows_of_any_size(way: int, size: int) -> None:
    for data in (b"", SETTINGS, SYSMON):
        rows = rows_of(packed_by(way, data), size)
        assert b"".join(packing.unpacked(way, len(data), rows)) == data


@pytest.mark.parametrize("way", WAYS)
def test_damaged_bytes_are_told_of(way: int) -> None:
    data = packed_by(way, SYSMON)
    middle = len(data) // 2
    for damaged in (
        b"",
        b"no packed bytes at all",
        data[:middle],
        data[:-20],
        data[:middle] + bytes([data[middle] ^ 0xFF]) + data[middle + 1 :],
    ):
        with pytest.raises(DamagedBlob, match="stored bytes are damaged"):
            b"".join(packing.unpacked(way, len(SYSMON), rows_of(damaged)))


@pytest.mark.parametrize("way", WAYS)
def test_no_more_is_unpacked_than_was_packed(way: int) -> None:
    pieces = packing.unpacked(way, PIECE, [packed_by(way, b"0" * (64 * PIECE))])
    assert len(next(pieces)) <= PIECE
    with pytest.raises(DamagedBlob, match="not the 1,048,576 that were packed"):
        list(pieces)


def test_a_frame_that_asks_for_much_memory_is_refused() -> None:
    wide = zstandard.ZstdCompressionParameters(window_log=27)
    packer = zstandard.ZstdCompressor(compression_params=wide).compressobj()
    data = packer.compress(b"0" * 100) + packer.flush()
    with pytest.raises(DamagedBlob):
        list(packing.unpacked(ZSTD, 100, [data]))


def test_another_dictionary_does_not_unpack() -> None:
    with pytest.raises(DamagedBlob):
        list(packing.unpacked(OPENVMS, len(SYSMON), [packed_by(ASE, SYSMON)]))


def test_an_unknown_dictionary_says_what_to_do() -> None:
    with pytest.raises(UnknownDictionary, match="the way 999, which this version does not know: install the version"):
        list(packing.unpacked(999, 10, [b"x"]))


def test_too_much_is_refused_before_all_of_it_is_read() -> None:
    stream = io.BytesIO(b"x" * 10 * PIECE)
    with TemporaryFile() as file, pytest.raises(TooMuch):
        Packed(stream, 2 * PIECE, file)
    assert stream.tell() < 6 * PIECE
