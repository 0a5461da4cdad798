"""Names of lock resources: every byte at its place, whatever stands in it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collectors.facts.openvms import resource_names as names
from collectors.facts.openvms.resource_names import FileId, as_printed, as_text, decode, from_printed, stands

LABELS = st.text(st.sampled_from("ABCXYZ0189$_-"), min_size=1, max_size=12)
NUMBERS = st.integers(0, 2**24 - 1)
WORDS = st.integers(0, 2**16 - 1)
BYTES = st.integers(0, 255)


def rms(number: int, sequence: int, volume: int, label: str, unused: int = 0) -> bytes:
    low, high = number & 0xFFFF, number >> 16
    return b"".join(
        (b"RMS$", low.to_bytes(2, "little"), sequence.to_bytes(2, "little"), bytes([volume, high, unused]))
    ) + label.encode().ljust(12)


@given(NUMBERS, WORDS, BYTES, LABELS, BYTES)
def test_a_file_of_rms_comes_back(number: int, sequence: int, volume: int, label: str, unused: int) -> None:
    found = decode(rms(number, sequence, volume, label, unused))
    assert (found.kind, found.volume, found.file) == (names.RMS_FILE, label, FileId(number, sequence, volume))


@given(NUMBERS, BYTES, LABELS)
def test_locks_of_the_file_system_come_back(number: int, volume: int, label: str) -> None:
    padded, file = label.encode().ljust(12), number.to_bytes(3, "little") + bytes([volume])
    access = decode(b"F11B$a" + padded + file)
    assert (access.kind, access.volume, access.file) == (names.FILE_ACCESS, label, FileId(number, None, volume))
    root = b"F11B$v" + padded
    assert (decode(root).kind, decode(root).volume) == (names.VOLUME, label)
    serial = decode(b"F11B$s" + file, root)
    assert (serial.kind, serial.volume, serial.file) == (names.FILE_SERIAL, label, FileId(number, None, volume))


@given(st.integers(0, 2**32 - 1), st.binary(min_size=8, max_size=8), LABELS)
def test_children_of_a_file_are_buckets_and_records(block: int, record: bytes, label: str) -> None:
    root = rms(184_815, 2, 0, label)
    bucket, row = decode(block.to_bytes(4, "little"), root), decode(record, root)
    assert (bucket.kind, bucket.block, bucket.file) == (names.RMS_BUCKET, block, FileId(184_815, 2, 0))
    assert (row.kind, row.record, row.volume) == (names.RMS_RECORD, record[::-1].hex().upper(), label)
    assert decode(record, root, b"deeper").kind != names.RMS_RECORD


@given(WORDS)
def test_a_system_id_is_a_decnet_address(number: int) -> None:
    found = decode(b"SYS$SYS_ID" + number.to_bytes(2, "little"))
    assert (found.kind, found.system_id, found.decnet) == (names.SYSTEM_ID, number, f"{number >> 10}.{number & 1023}")
    section = decode(rms(77, 1, 0, "DATA"), b"SYS$SYS_ID" + number.to_bytes(2, "little"))
    assert (section.kind, section.file) == (names.RMS_GLOBAL, FileId(77, 1, 0))


@given(st.binary(min_size=1, max_size=32))
def test_a_name_printed_backwards_is_the_same_name(name: bytes) -> None:
    assert from_printed(as_printed(name)) == name
    assert len(as_text(name)) == len(name)


@given(st.binary(max_size=40), st.lists(st.binary(max_size=40), max_size=4))
def test_nothing_makes_it_raise(name: bytes, parents: list[bytes]) -> None:
    found = decode(name, *parents)
    assert found.kind
    assert all(32 <= ord(letter) < 127 for letter in f"{found.volume or ''}{found.prefix}")
    stands(name, *parents)


@pytest.mark.parametrize(
    ("digits", "prefix"), [("24534D52", b"RMS$"), ("762442313146", b"F11B$v"), ("612442313146", b"F11B$a")]
)
def test_the_digits_of_the_documents_end_a_name(digits: str, prefix: bytes) -> None:
    assert from_printed("00" * 4 + digits) == prefix + bytes(4)


@pytest.mark.parametrize("digits", ["", "4", "4G", "41" * 33, "<b>"])
def test_what_is_no_name_is_none(digits: str) -> None:
    assert from_printed(digits) is None


@pytest.mark.parametrize(
    ("path", "by_design"),
    [
        ((b"VCC$v1",), True),
        ((b"CACHE$cmX",), True),
        ((b"$DSA12_$WATCHR",), True),
        ((b"$DSA12_$OTHER",), False),
        ((b"QMAN$MSR_X", b"ANY"), True),
        ((b"QMAN$", b"QMAN$JBC_ALIVE_01"), True),
        ((b"CLU$NETACP_1", b"IDL_"), True),
        ((b"QMAN$OTHER",), False),
        ((b"RMS$ABCDEFGHIJK",), False),
    ],
)
def test_waits_by_design_are_told(path: tuple[bytes, ...], by_design: bool) -> None:
    *parents, own = path
    assert stands(own, *parents) is by_design


def test_an_applications_name_has_its_prefix_and_chance_has_none() -> None:
    assert decode(b"PAYROLL_STEP\x07\x01").prefix == "PAYROLL_STEP"
    assert decode(b"PAYROLL_STEP\x07\x01").kind == names.APPLICATION
    assert decode(b"A\x01\x00\x00").kind == names.UNREADABLE
    assert decode(b"RMS$short").kind == names.APPLICATION
