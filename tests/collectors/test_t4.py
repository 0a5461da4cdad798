"""T4: what a yml cannot say. Memory, cuts between blocks, damage of all sorts, and the real files."""

import io
import random
import subprocess
import sys
import tracemalloc
from datetime import datetime, timedelta
from pathlib import Path

import numpy as np
import pytest

from collectors.facts.openvms import LockRates, Node, ProcessorModes, T4Column, T4File
from collectors.read import Input, read_stream
from collectors.reports.openvms.t4 import T4
from collectors.reports.openvms.t4.figures import Thinned
from collectors.reports.openvms.t4.names import STAMP, Clock
from tests.longer import first_of

EXPORTS = Path(__file__).parent.parent / "exports" / "openvms" / "t4"
NAMES = [f"[MON.PROC]P{n} Dirio" for n in range(56)]
FIGURES = [",".join(f"{row + column}.250000000000000" for column in range(56)) for row in range(1000)]
HEAD = (
    "SIRIUS,  T4EXTR Version: \r\n[MON]Sample Time,[MON.LOCK]New ENQ rate,[ACLG]Sample Time," + ",".join(NAMES) + "\r\n"
)


class Generated(io.RawIOBase):
    """A T4 file of this many bytes that is never in memory as a whole: row n has the figures n, n + 1, …"""

    def __init__(self, size: int) -> None:
        self.size, self.made, self.row = size, 0, 0
        self.rest = HEAD.encode()

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        while len(self.rest) < size and self.made < self.size:
            time = datetime(2021, 5, 1) + timedelta(minutes=self.row)  # noqa: DTZ001  # the export has no zone
            stamp = f"{time:%d-%b-%Y %H:%M}:00.00".upper()
            line = f"{stamp},{self.row}.50,{time:%H:%M}:00,{FIGURES[self.row % 1000]}\r\n".encode()
            self.rest += line
            self.made += len(line)
            self.row += 1
        given, self.rest = self.rest[:size], self.rest[size:]
        return given


def only(found: list[Input], kind: type, **fields: object) -> object:
    facts = [fact for item in found for fact in item.facts if type(fact) is kind]
    (fact,) = [fact for fact in facts if all(getattr(fact, name) == value for name, value in fields.items())]
    return fact


def peak_of_memory(size: int) -> tuple[int, list[Input]]:
    tracemalloc.start()
    found = read_stream("made.csv", Generated(size))  # type: ignore[arg-type]  # reads as a BinaryIO does
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak, found


@pytest.mark.long
def test_memory_does_not_grow_with_the_file() -> None:
    peak_of_memory(1_000_000)  # what is loaded once
    small, _ = peak_of_memory(5_000_000)
    large, found = peak_of_memory(20_000_000)
    assert large < small * 1.1
    file = only(found, T4File)
    assert isinstance(file, T4File)
    assert file.rows > 15_000
    assert file.p95_every == 16
    column = only(found, T4Column, group="MON.LOCK")
    assert isinstance(column, T4Column)
    assert column.samples == file.rows
    assert column.maximum == file.rows - 0.5
    assert column.mean == file.rows / 2
    assert column.source.first == file.rows + 2
    assert column.p95 == pytest.approx(0.95 * file.rows, rel=0.01)


def test_the_rows_kept_are_every_second_fourth_eighth() -> None:
    thinned, dice, at = Thinned(1), random.Random(7), 0
    while at < 9_000:
        end = at + dice.choice([1, 2, 3, 61, 500])
        rows = np.arange(at, end, dtype=np.float64)
        thinned.add(rows.reshape(-1, 1), rows)
        assert thinned.used > 1_000 or thinned.every == 1
        assert thinned.rows[: thinned.used, 1].tolist() == list(range(0, end, thinned.every))
        at = end
    assert thinned.every == 8


def test_reading_no_rows_does_not_load_numpy() -> None:
    code = "import sys, collectors.reports.openvms.t4; sys.exit('numpy' in sys.modules or 'orjson' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("name", sorted(path.stem for path in EXPORTS.glob("*.csv")))
def test_cuts_between_blocks_change_nothing(name: str) -> None:
    lines = (EXPORTS / f"{name}.csv").read_text(encoding="utf-8").replace("\0", "").split("\n")
    lines = lines[1:] if name == "free_first_line" else lines
    whole, in_pieces = T4("x.csv", ()), T4("x.csv", ())
    taken = whole.feed(1, lines)
    for number, line in enumerate(lines[:taken], start=1):
        assert in_pieces.feed(number, [line]) == 1
    one, other = whole.close(), in_pieces.close()
    assert one == other


def damaged(text: str, dice: random.Random) -> str:
    """Cut, double, drop, swap, splice, spoil."""
    lines = text.split("\n")
    for _ in range(dice.randint(1, 6)):
        at, to = dice.randrange(len(lines)), dice.randrange(len(lines))
        line = lines[at]
        spot = dice.randrange(len(line) + 1)
        match dice.randrange(7):
            case 0:
                lines[at] = line[:spot]
            case 1:
                lines.insert(to, line)
            case 2 if len(lines) > 1:
                del lines[at]
            case 3:
                lines[at], lines[to] = lines[to], lines[at]
            case 4:
                lines[at] = line[:spot] + lines[to][spot:]
            case 5:
                odd = dice.choice(
                    ["*", '"', "[", "]", ",", ":", "e9", "9" * 400, "\0", "null", "٣", "-", "$$$", "\n", " "]
                )
                lines[at] = line[:spot] + odd + line[spot + dice.randint(0, 3) :]
            case _:
                lines[at] = line.replace(dice.choice("0123456789,.:- "), dice.choice("0123456789,.:- *x"))
    return "\n".join(lines)


@first_of(1, "times", [8, 25])
@pytest.mark.parametrize("name", sorted(path.stem for path in EXPORTS.glob("*.csv")))
def test_no_damage_raises(name: str, times: int) -> None:
    text = (EXPORTS / f"{name}.csv").read_text(encoding="utf-8")
    dice = random.Random(name)
    for _ in range(times):
        for item in read_stream("x.csv", io.BytesIO(damaged(text, dice).encode())):
            for fact in item.facts:
                assert fact.source.first >= 1
                assert fact.source.last >= fact.source.first


def test_real_composite(real_exports: Path) -> None:
    path = real_exports / "openvms" / "t4_composite_first_200_rows.csv"
    with path.open("rb") as stream:
        found = read_stream(path.name, stream)
    (item,) = found
    assert not item.problems
    assert not item.leftovers
    assert isinstance(only(found, Node), Node)
    file = only(found, T4File)
    assert isinstance(file, T4File)
    assert (file.kind, file.file_format, file.rows) == ("composite", 2, 200)
    assert sum(type(fact) is T4Column for fact in item.facts) == 535 - 4
    for fact in item.facts:
        if type(fact) is ProcessorModes and fact.statistic != "p95":
            modes = [value for name, value in vars(fact).items() if name.endswith("_percent")]
            assert fact.cpus == 4
            assert sum(modes) == pytest.approx(400, abs=0.5)
        if type(fact) is LockRates:
            assert fact.operations_per_second


def test_real_format_1_with_its_tail(real_exports: Path) -> None:
    path = real_exports / "openvms" / "t4_scs.csv"
    with path.open("rb") as stream:
        found = read_stream(path.name, stream)
    (item,) = found
    assert not item.problems
    assert not item.leftovers
    file = only(found, T4File)
    assert isinstance(file, T4File)
    assert (file.kind, file.file_format, file.rows) == ("scs", 1, 1438 - 1)
    assert {fact.samples for fact in item.facts if type(fact) is T4Column} == {1437}


@pytest.mark.parametrize("time", ["24:00:00", "23:60:00", "23:59:60"])
def test_a_time_that_no_clock_shows_is_none(time: str) -> None:
    last, wrong = (STAMP.match(f"19-NOV-2015 {one}.99") for one in ("23:59:59", time))
    assert last is not None
    assert wrong is not None
    clock = Clock()
    assert clock.read(wrong) is None
    day = STAMP.match("19-NOV-2015 00:00:00.00")
    assert day is not None
    assert clock.read(last) == (clock.read(day) or 0) + 24 * 3600 * 100 - 1
