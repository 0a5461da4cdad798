"""Bytes of unknown origin become numbered lines, and no line number moves."""

import io
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collectors.read import read_stream
from collectors.text import CHUNK, LONGEST_LINE, Begun, NotText, blocks


def lines_of(data: bytes) -> tuple[list[str], list[str]]:
    problems: list[str] = []
    lines: list[str] = []
    for first, block in blocks(io.BytesIO(data), problems.append):
        assert first == len(lines) + 1
        lines.extend(block)
    while lines and not lines[-1]:
        lines.pop()
    return lines, problems


TEXT = "Größe 1\r\nzwei\n\ndrei µs\rvier"
LINES = ["Größe 1", "zwei", "", "drei µs", "vier"]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "latin-1"])
def test_every_encoding_gives_the_same_lines(encoding: str) -> None:
    assert lines_of(TEXT.encode(encoding)) == (LINES, [])


def test_a_carriage_return_doubled_by_a_transfer_is_one_line_end() -> None:
    assert lines_of(b"a\r\r\nb\r\r\n") == (["a", "b"], [])


def test_terminal_escapes_and_padding_nuls_are_taken_out() -> None:
    data = b"\x1b[2J\x1b[1;1HEngine \x1b[7m0\x1b[m\n\x1b(0qq\x1b(B\n" + b"\0" * 5000 + b"\nend" + b" " * 5000
    lines, problems = lines_of(data)
    assert lines[:2] == ["Engine 0", "qq"]
    assert lines[3].rstrip() == "end"
    assert not problems


def test_a_carriage_return_split_from_its_line_feed_by_the_chunk_is_one_line_end() -> None:
    data = b"x" * (CHUNK - 1) + b"\r\nsecond"
    assert [len(line) for line in lines_of(data)[0]] == [CHUNK - 1, 6]


def test_a_multi_byte_character_across_two_chunks_survives() -> None:
    data = b"x" * (CHUNK - 1) + "ü".encode() + b"\nend"
    assert lines_of(data)[0][0][-1] == "ü"


def test_a_line_longer_than_the_limit_is_left_out_by_number_and_the_rest_is_read() -> None:
    data = b"first\n" + b"y" * (3 * LONGEST_LINE) + b"\nthird\n"
    lines, problems = lines_of(data)
    assert lines == ["first", "", "third"]
    assert len(problems) == 1
    assert "line 2 is longer" in problems[0]


def test_a_file_of_one_100_mb_line_costs_little_memory() -> None:
    class Endless(io.RawIOBase):
        left = 100 << 20

        def read(self, size: int = -1) -> bytes:
            size = min(size, self.left)
            self.left -= size
            return b"z" * size

    problems: list[str] = []
    tracemalloc.start()
    assert not list(blocks(Endless(), problems.append))  # type: ignore[arg-type]  # a raw stream reads alike
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(problems) == 1
    assert peak < 16 << 20


@pytest.mark.parametrize("data", [b"\x7fELF\x02\x01\0\0\0\0" * 50, b"\0" * 4096, bytes(range(1, 32)) * 100])
def test_binary_content_is_refused_with_a_remedy(data: bytes) -> None:
    with pytest.raises(NotText, match="upload the text export"):
        lines_of(data)


@given(st.binary(max_size=3000))
def test_any_bytes_give_lines_or_a_refusal(data: bytes) -> None:
    try:
        lines, _ = lines_of(data)
    except NotText:
        return
    assert all("\n" not in line and "\r" not in line and "\x1b" not in line for line in lines)


NULS = b"\0" * 20


@pytest.mark.parametrize(
    ("data", "lines", "says"),
    [
        (b"a\nb 5\0" + b"2.3\nc\n", ["a", "b 52.3", "c"], "line 2 has NUL bytes (1 in all)"),
        (b"a" * 60 + b"\n" + b"x\n" * 60 + b"\0\ny\0\nz\n", None, "line 62 and 1 more line has NUL bytes (2 in all)"),
        (b"x" * 60 + NULS * 300 + b"\nlater\n", None, "line 1 has NUL bytes (6,000 in all)"),
        (b"x\n" * CHUNK + b"\0" + b"\nlater\n", None, f"line {CHUNK + 1} has NUL bytes (1 in all)"),
        (b"x\n" * CHUNK + b"end" + NULS * CHUNK, None, ""),
        (b"x\n" * (CHUNK // 2 - 100) + NULS * 300 + b"an older row\nand another\n", None, ""),
        (b"only the last block\n" + NULS * 300 + b" \r\n\0\n", None, ""),
    ],
)
def test_nul_bytes_among_the_text_are_said_with_their_line_and_padding_is_not(
    data: bytes, lines: list[str] | None, says: str
) -> None:
    data = b"-" * 99 + b"\r\n" + data if lines else data
    found, problems = lines_of(data)
    assert not any("\0" in line for line in found)
    if lines:
        assert found[1:] == lines
        says = says.replace("line 2", "line 3")
    assert [one[: len(says)] for one in problems] == ([says] if says else [])


def test_nul_bytes_are_a_problem_of_their_file_and_what_else_it_holds_is_read() -> None:
    (one,) = read_stream(
        "series.csv", io.BytesIO(b"users,throughput\n1,100\n2,180\n4,2\0" + b"90\n8,350\n16,300\n32,210\n")
    )
    assert one.problems == [
        "line 4 has NUL bytes (1 in all): left out, so figures beside them may be wrong. Transfer the export again"
    ]
    assert one.report == "scaling/load_series"


def test_a_stream_of_which_nothing_is_asked_gives_nothing_and_loses_nothing() -> None:
    begun = Begun(io.BytesIO(b"abcdef"), 3)
    assert begun.read(0) == b""
    assert begun.read() == b"abcdef"


PROMPTED = (
    "1> 2> 3>  Name Grabs\n ---- -----\n1> select 1\n2> go\n1> 2> LOCKWAITS\n1> 2> \n5> 6 > 7\nlast 1> 2> x\n1> 2> end"
)
BEHIND = [
    " Name Grabs",
    " ---- -----",
    "1> select 1",
    "2> go",
    " LOCKWAITS",
    "1> 2> ",
    "5> 6 > 7",
    "last 1> 2> x",
    " end",
]


@pytest.mark.parametrize("at", [0, *range(1, 12), 60, 100])
def test_prompts_in_front_of_an_answer_are_taken_off_wherever_a_chunk_ends(at: int) -> None:
    lines, problems = lines_of(b"x" * (CHUNK - at - 1) + b"\n" + PROMPTED.encode())
    assert lines[1:] == BEHIND
    assert not problems
