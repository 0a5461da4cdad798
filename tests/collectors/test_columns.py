"""Large tables as columns: rows are facts like any other, and none is filled in before somebody asks for it."""

import io
import pickle
import random
from array import array
from dataclasses import replace
from typing import Any

import pytest

from collectors.capture import captures
from collectors.facts import ABSENT, NOT_MEASURED, OVERFLOW, Source
from collectors.facts.ase import MonCachedObject, MonOpenObjectActivity
from collectors.facts.columns import Columns, coded, decoded
from collectors.read import Input, read_stream
from collectors.reports.ase.monitor_tables import reading

NAMES = ("DBID", "ObjectID", "IndexID", "DBName", "ObjectName", "LogicalReads", "LockWaits", "UsedCount")
WIDTHS = (6, 11, 7, 12, 12, 12, 11, 11)


def table(figures: dict[str, "array[float]"]) -> Columns[MonOpenObjectActivity]:
    """Two rows of this kind."""
    names = {"object_name": ["orders", "lines"]}
    return Columns(MonOpenObjectActivity, 2, figures, names, {"db_id": 4}, {"source": lambda at: Source("x", at, at)})


@pytest.mark.parametrize("reading", [0.0, -3.0, 2.0**60, ABSENT, OVERFLOW, NOT_MEASURED])
def test_an_array_keeps_why_a_figure_is_missing(reading: Any) -> None:
    assert decoded(coded(reading)) == reading


def test_a_row_of_a_table_is_a_fact_like_any_other() -> None:
    row = table({"logical_reads": array("d", [7.0, coded(OVERFLOW)])}).rows()[1]
    plain = MonOpenObjectActivity(source=Source("x", 1, 1), object_name="lines", db_id=4, logical_reads=OVERFLOW)
    assert row == plain
    assert pickle.loads(pickle.dumps(row)) == plain
    assert replace(row, db_id=5) == replace(plain, db_id=5)
    assert repr(row) == repr(plain)
    with pytest.raises(AttributeError, match="no_such_field"):
        _ = row.no_such_field


def isql(snapshot: int, rows: int, dirt: random.Random | None = None) -> str:
    """One snapshot as isql prints it; with `dirt`: NULL, asterisks, torn and damaged rows, headings that come again."""
    heading = " " + " ".join(name.ljust(width) for name, width in zip(NAMES, WIDTHS, strict=True))
    dashes = " " + " ".join("-" * width for width in WIDTHS)
    lines = [" SampleTime", " " + "-" * 26, f" Nov 21 2026 10:{snapshot:02d}:00:000AM", "", heading, dashes]
    for number in range(rows):
        moved = snapshot * 5 if number % 10 == 0 else 0
        cells = [4, number // 3, number % 3, "sales", f"table_{number // 3}", number * 7 + moved, moved, number]
        said = [str(cell) for cell in cells]
        if dirt and dirt.random() < 0.02:
            said[dirt.randrange(8)] = dirt.choice(["NULL", "***", "", "x", "1,234", "a    b", "-5"])
        texts = [
            one.ljust(width) if place in (3, 4) else one.rjust(width)
            for place, (one, width) in enumerate(zip(said, WIDTHS, strict=True))
        ]
        lines.append(" " + " ".join(texts) + " ")
        if dirt and dirt.random() < 0.01:
            lines += dirt.choice([[heading, dashes], [lines[-1][:40]], ["  1 2"]])
    return "\n".join([*lines, "", f"({rows} rows affected)", ""])


def separated(snapshot: int, rows: int, dirt: random.Random) -> str:
    """The same as values parted by semicolons, each row with its time."""
    lines = ["SampleTime;" + ";".join(NAMES)]
    for number in range(rows):
        cells = [4, number, 0, "sales", f"table_{number}", number * 7, 0, number]
        said = [f"2026-11-21 10:{snapshot:02d}:00", *map(str, cells)]
        if dirt.random() < 0.02:
            said[dirt.randrange(9)] = dirt.choice(["NULL", "", '"a;b"', "x", "1.234"])
        lines.append(";".join(said) if dirt.random() < 0.99 else dirt.choice([";;;;;;;;", "----;----", "4;5;6"]))
    return "\n".join([*lines, ""])


def read(text: str) -> Input:
    """The one report in a text."""
    [found] = read_stream("tables.txt", io.BytesIO(text.encode()))
    return found


@pytest.mark.parametrize("seed", range(6))
def test_rows_read_in_blocks_are_those_read_one_by_one(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    layout = (isql, separated)[seed % 2]
    text = layout(1, 700, random.Random(seed)) + layout(9, 700, random.Random(seed + 50))
    in_blocks = read(text)
    assert sum(isinstance(fact, MonOpenObjectActivity) for fact in in_blocks.facts) > 1000
    monkeypatch.setattr(reading, "LEAST_BLOCK", 10**9)
    assert read(text) == in_blocks


def test_most_rows_are_read_in_blocks_whatever_stands_between_them(monkeypatch: pytest.MonkeyPatch) -> None:
    one_by_one: list[object] = []
    whole = reading.Reading._row

    def counted(self: reading.Reading, *row: Any) -> bool:
        one_by_one.append(row)
        return whole(self, *row)

    monkeypatch.setattr(reading.Reading, "_row", counted)
    read(isql(1, 2000, random.Random(1)))
    dirty = len(one_by_one)
    one_by_one.clear()
    read(isql(1, 2000))
    assert len(one_by_one) < 100
    assert dirty < 2000


def test_no_row_is_filled_in_while_captures_are_made(monkeypatch: pytest.MonkeyPatch) -> None:
    filled: list[object] = []
    fill = Columns.fill

    def counted(self: Columns[Any], row: Any, at: int) -> None:
        filled.append(at)
        fill(self, row, at)

    monkeypatch.setattr(Columns, "fill", counted)
    [capture] = captures([read(isql(1, 400) + isql(9, 400))])
    rows = capture.facts.every(MonOpenObjectActivity)
    assert len(rows) == 400
    assert not filled
    assert [row.logical_reads for row in rows[:11]] == [40.0, *[0.0] * 9, 40.0]
    assert {row.certificate for row in rows} == {"ok"}
    assert rows[10].earlier == Source("tables.txt", 17, 17)
    assert len(filled) == 400


def test_every_row_of_a_table_that_no_counter_is_of_stays_unfilled(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = ["CacheName;DBName;ObjectName;CachedKB"]
    lines += [f"default data cache;sales;table_{number};{number}" for number in range(300)]
    monkeypatch.setattr(Columns, "fill", lambda *_: pytest.fail("filled in"))
    [capture] = captures([read("\n".join([*lines, ""]))])
    assert len(capture.facts.every(MonCachedObject)) == 300
