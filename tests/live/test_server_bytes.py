"""The bytes of the server of `tests.live`, against what TDS 5.0 says they are, without a driver between."""

import struct
from collections.abc import Iterator
from datetime import datetime

import pytest
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from cryptography.hazmat.primitives.hashes import SHA1

from tests.live.running import Serving, serving
from tests.live.tds.login import Exchange
from tests.live.tds.tokens import row_format, row_writer
from tests.live.tds.types import Column, encoder
from tests.live.wire import CANCEL, Line

DONE_FINAL, DONE_ERROR, DONE_COUNT, DONE_CANCELLED = 0x00, 0x02, 0x10, 0x20

DAY_TWO = datetime(1900, 1, 2, 0, 0, 1)  # noqa: DTZ001 - a datetime of the server has no zone
NOON_BEFORE = datetime(1899, 12, 31, 12)  # noqa: DTZ001


@pytest.fixture(scope="module")
def server() -> Iterator[Serving]:
    with serving(faults=("slow=monEngine",)) as found:
        yield found


def done(status: int, count: int = 0) -> bytes:
    return struct.pack("<BHHI", 0xFD, status, 0, count)


@pytest.mark.parametrize(
    ("column", "value", "wire"),
    [
        (Column("x", "tinyint"), 200, "01 c8"),
        (Column("x", "smallint"), -2, "02 feff"),
        (Column("x", "int"), -2, "04 feffffff"),
        (Column("x", "bigint"), 2**40, "08 0000000000010000"),
        (Column("x", "unsigned int"), 2**32 - 1, "04 ffffffff"),
        (Column("x", "unsigned bigint"), 2**64 - 1, "08 ffffffffffffffff"),
        (Column("x", "real"), 1.5, "04 0000c03f"),
        (Column("x", "float"), -2.0, "08 00000000000000c0"),
        (Column("x", "numeric", precision=5, scale=2), "-12.34", "04 01 0004d2"),
        (Column("x", "datetime"), DAY_TWO, "08 01000000 2c010000"),
        (Column("x", "datetime"), NOON_BEFORE, "08 ffffffff 00c1c500"),
        (Column("x", "bit"), None, "00"),
        (Column("x", "bit"), 1, "01"),
        (Column("x", "varchar", size=5), "ab", "02 6162"),
        (Column("x", "varchar", size=5), "", "01 20"),
        (Column("x", "varchar", size=5), None, "00"),
        (Column("x", "varchar", size=300), "ab", "02000000 6162"),
        (Column("x", "varchar", size=300), None, "00000000"),
        (Column("x", "text"), None, "00"),
        (Column("x", "text"), "ab", "10" + "01" * 16 + "02" * 8 + "02000000 6162"),
        (Column("x", "int"), None, "00"),
    ],
)
def test_a_value_is_written_as_its_type_has_it(column: Column, value: object, wire: str) -> None:
    assert encoder(column)(value) == bytes.fromhex(wire)


def test_a_value_that_does_not_fit_its_type_is_no_value() -> None:
    with pytest.raises(struct.error):
        encoder(Column("x", "int"))(2**31)


def test_an_encrypted_password_is_taken_with_the_nonce_it_was_asked_with_and_no_other() -> None:
    key = rsa.generate_private_key(public_exponent=65_537, key_size=2_048)
    exchange, other = Exchange(key), Exchange(key)
    pad = padding.OAEP(padding.MGF1(SHA1()), SHA1(), None)
    secret = key.public_key().encrypt(exchange.nonce + b"quay", pad)
    formats = bytes.fromhex("ec 0e00 0100 00 00 00000000 e1 ffffff7f 00")
    answer = bytes.fromhex("65 03 01 1f00") + formats + b"\xd7" + struct.pack("<I", len(secret)) + secret
    assert exchange.password(answer) == "quay"
    assert other.password(answer) is None
    assert exchange.password(answer[:-1] + bytes((answer[-1] ^ 1,))) is None
    assert exchange.password(b"\x71") is None


def test_the_wide_format_says_label_places_name_status_and_type() -> None:
    said = row_format([Column("a", "int"), Column("b", "varchar", size=7)], wide=True)
    first = "01 61 00 00 00 01 61 20000000 07000000 26 04 00"
    second = "01 62 00 00 00 01 62 20000000 02000000 27 07 00"
    body = bytes.fromhex("0200" + first + second)
    assert said == bytes.fromhex("61") + struct.pack("<I", len(body)) + body


def test_the_narrow_format_is_sent_to_a_client_that_asks_for_nothing_more(server: Serving) -> None:
    with Line(server) as line:
        line.login()
        assert line.read()
        line.send_batch("select 258 a, 'xy' b")
        columns = [Column("a", "int"), Column("b", "varchar", size=2)]
        fmt = bytes.fromhex("0200" + "01 61 20 07000000 26 04 00" + "01 62 20 02000000 27 02 00")
        row = bytes.fromhex("d1 04 02010000 02 7879")
        assert row_writer(columns)([258, "xy"]) == row
        assert line.read() == b"\xee" + struct.pack("<H", len(fmt)) + fmt + row + done(DONE_COUNT, 1)


def test_a_login_is_acknowledged_with_the_protocol_and_ends_in_done(server: Serving) -> None:
    with Line(server) as line:
        line.login()
        answer = line.read()
    program = b"Adaptive Server Enterprise"
    taken = b"\x05\x05\x00\x00\x00" + bytes((len(program),)) + program + b"\x10\x00\x00\x00"
    assert b"\xad" + struct.pack("<H", len(taken)) + taken in answer
    assert b"\xe3" + struct.pack("<H", 9) + b"\x01\x06master\x00" in answer
    assert answer.endswith(done(DONE_FINAL))


def test_a_refused_login_says_4002_and_is_cut_off(server: Serving) -> None:
    with Line(server) as line:
        line.login(password="wrong")
        answer = line.read()
        assert answer[0] == 0xE5
        assert struct.unpack_from("<I", answer, 3)[0] == 4002
        assert answer[8] == 14  # the severity
        assert answer.endswith(done(DONE_ERROR))
        with pytest.raises(ConnectionError):
            line.read()


def test_two_results_are_parted_by_a_done_that_says_more(server: Serving) -> None:
    with Line(server) as line:
        line.login()
        line.read()
        line.send_batch("select 1 a select 2 a")
        answer = line.read()
    assert answer.count(done(DONE_COUNT | 0x01, 1)) == 1
    assert answer.endswith(done(DONE_COUNT, 1))


def test_a_cancel_is_answered_by_a_done_that_says_so(server: Serving) -> None:
    with Line(server) as line:
        line.login()
        line.read()
        line.send_batch("select * from master..monEngine")
        line.send(CANCEL, b"")
        assert line.read() == done(DONE_CANCELLED)
        line.send_batch("select 1 a")
        assert line.read().endswith(done(DONE_COUNT, 1))


def test_a_greeting_of_another_protocol_is_hung_up_on_and_recorded(server: Serving) -> None:
    with Line(server) as line:
        line.send(18, b"\x00" * 20)
        with pytest.raises(ConnectionError):
            line.read()
    assert "not a login" in [one["kind"] for one in server.requests()]


def test_a_long_answer_goes_in_packets_of_the_size_that_was_granted(server: Serving) -> None:
    with Line(server) as line:
        line.login()
        line.read()
        line.send_batch("select * from master..monTableColumns")
        assert len(line.read()) > 20 * 512
