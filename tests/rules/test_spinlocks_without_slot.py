"""Rows of one spinlock without `SpinlockSlotID` are one spinlock: the order of the rows decides nothing."""

import io
from itertools import permutations

import pytest

from advisor.audits.services.auditing import run_audit
from collectors.read import read_stream

ROWS = (
    ("default data cache", 3_000_000, 2_000_000, 40_000),
    ("default data cache", 8_000_000, 5_600_000_000, 3_000_000),
    ("tablockspins", 500_000, 70_000, 1_000),
)


def said(rows: tuple[tuple[str, int, int, int], ...], *, slots: bool) -> list[tuple[object, ...]]:
    """Every verdict and figure of an audit of these rows, without the lines they stand in."""
    heading = ("SpinlockSlotID," if slots else "") + "SpinlockName,Grabs,Spins,Waits"
    lines = [",".join(map(str, ((ROWS.index(row),) if slots else ()) + row)) for row in rows]
    inputs = read_stream("spins.csv", io.BytesIO("\n".join([heading, *lines, ""]).encode()))
    (audit,) = run_audit(inputs, {})
    return [
        (one.rule, one.verdict, one.why, [(e.metric, e.value) for found in one.findings for e in found.evidence])
        for one in audit.verdicts
    ]


@pytest.mark.parametrize("rows", list(permutations(ROWS)))
def test_any_order_without_slots_says_what_the_slots_say(rows: tuple[tuple[str, int, int, int], ...]) -> None:
    want = said(ROWS, slots=True)
    assert said(rows, slots=False) == want
    (cache,) = [one for one in want if one[0] == "ase/data_cache_spinlock_contended"]
    assert cache[1] == "fired"
    assert ("hottest of 2 rows", 37.5) in cache[3]  # type: ignore[operator]
    assert ("cache spinlock contention", 27.64) in cache[3]  # type: ignore[operator]


def test_of_two_readings_without_slots_the_later_one_counts_whole() -> None:
    heading = "SpinlockName,Grabs,Spins,Waits\n"
    many = heading + "default data cache,1000000,10,900000\n" * 3
    few = heading + "default data cache,1000000,10,1000\n"
    inputs = [one for name, text in (("a", many), ("b", few)) for one in read_stream(name, io.BytesIO(text.encode()))]
    verdicts = {one.rule: one.verdict for audit in run_audit(inputs, {}, "PROD8") for one in audit.verdicts}
    assert verdicts["ase/data_cache_spinlock_contended"] != "fired"
