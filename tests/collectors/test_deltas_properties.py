"""Whatever the counters stood at: the difference is what was counted, or it is not believed."""

from hypothesis import given
from hypothesis import strategies as st

from collectors.facts import known
from collectors.facts.ase import MonDataCache, MonSpinlockActivity, Snapshot
from collectors.intervals.deltas import differences
from collectors.intervals.wrapping import FASTEST
from tests.collectors.moments import BOOT, at, snapshot

HALF, WHOLE = 2**31, 2**32
KINDS = ("2^31", "unsigned", "signed")


def printed(total: int, kind: str) -> int:
    """A true total as the server prints it."""
    if kind == "2^31":
        return total % HALF
    total %= WHOLE
    return total - WHOLE if kind == "signed" and total >= HALF else total


def never_wrong(earlier: Snapshot, later: Snapshot, rows: list[tuple[int, int]], kind: str) -> list[bool]:
    """Subtract rows of true totals, hold the answer against what was truly counted, and tell which are believed."""
    totals = [(start, start + counted) for start, counted in rows]
    before, after = (
        [MonDataCache(name=str(n), searches=printed(pair[side], kind)) for n, pair in enumerate(totals)]
        for side in (0, 1)
    )
    found = differences(earlier, later, before, after).rows
    assert len(found) == len(rows)
    for row, (_, counted) in zip(found, rows, strict=True):
        assert isinstance(row, MonDataCache)
        assert row.believed == known(row.searches)
        assert not row.believed or row.searches == counted
    return [row.believed for row in found]


totals = st.integers(0, 3 * WHOLE) | st.builds(
    lambda n, by: max(0, n * HALF + by), st.integers(0, 6), st.integers(-9, 9)
)
small = st.integers(0, 10**6) | st.integers(0, HALF - 1)


@given(st.lists(st.tuples(totals, small), min_size=1, max_size=6), st.sampled_from(KINDS), st.booleans())
def test_less_than_one_round_is_told_right_or_not_at_all(rows: list[tuple[int, int]], kind: str, dates: bool) -> None:
    date = BOOT if dates else None
    for times in ((0, 30), (None, None)):
        earlier, later = (snapshot(time, booted=date, cleared=date) for time in times)
        never_wrong(earlier, later, rows, kind)


@given(st.lists(st.tuples(totals, st.integers(0, 10**6)), min_size=1, max_size=6), st.sampled_from(KINDS))
def test_what_half_a_minute_brings_is_believed_wherever_the_counters_stand(
    rows: list[tuple[int, int]], kind: str
) -> None:
    assert all(never_wrong(snapshot(0), snapshot(30), rows, kind))


@given(
    st.integers(1, 90_000),
    st.lists(st.tuples(totals, st.floats(0, 1)), min_size=1, max_size=6),
    st.sampled_from(KINDS),
)
def test_no_interval_is_too_long_for_servers_that_are_no_faster_than_any(
    seconds: int, rates: list[tuple[int, float]], kind: str
) -> None:
    rows = [(start, int(share * FASTEST * seconds)) for start, share in rates]
    never_wrong(snapshot(0), snapshot(seconds), rows, kind)


@given(st.integers(0, WHOLE), st.integers(0, 10**9), st.booleans(), st.sampled_from(KINDS))
def test_no_count_survives_a_restart(start: int, since: int, cleared: bool, kind: str) -> None:
    later = snapshot(30, cleared=at(5)) if cleared else snapshot(30, booted=at(5))
    before, after = MonDataCache(name="c", searches=printed(start, kind)), MonDataCache(name="c", searches=since)
    (row,) = differences(snapshot(0), later, [before], [after]).rows
    assert isinstance(row, MonDataCache)
    assert (row.certificate, known(row.searches)) == ("reset", False)


@given(st.lists(st.tuples(totals, st.integers(0, 10**8)), min_size=1, max_size=5))
def test_sums_of_counters_of_32_bits_are_told_right_or_not_at_all(rows: list[tuple[int, int]]) -> None:
    def locks(values: list[int]) -> list[MonSpinlockActivity]:
        return [MonSpinlockActivity(name="n", grabs=printed(one, "signed"), wide=False) for one in values]

    before, after = locks([start for start, _ in rows]), locks([start + counted for start, counted in reversed(rows)])
    (row,) = differences(snapshot(0), snapshot(30), before, after).rows
    assert isinstance(row, MonSpinlockActivity)
    assert not row.believed or row.grabs == sum(counted for _, counted in rows)
