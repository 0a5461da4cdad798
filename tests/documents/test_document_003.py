"""Document 003: what the page says of figures that stand elsewhere in the book."""

import pytest

from rules.unix._evidence.runs import more_percent, pairs
from tests.rules.unix_published import TITLE, by_processes, by_records, published


def of_processes(step: str) -> list[tuple[float, float, float]]:
    """Processes, system time before and after."""
    return [
        (pair.processes, *both)
        for pair in pairs(published())
        if pair.step == step and pair.title == TITLE and (both := pair.both("system_seconds"))
    ]


def test_without_contention_the_calls_alone_cost_next_to_nothing() -> None:
    found = [pair for pair in pairs(published()) if pair.step == "grain" and pair.title != TITLE]
    assert [pair.records for pair in found] == [2000, 6000, 12000]
    for pair in found:
        coarse, fine = pair.both("clock_seconds") or (0.0, 0.0)
        assert abs(more_percent(fine, coarse)) < 1.0


def test_with_two_processes_fine_locking_takes_less_system_time_though_it_calls_more() -> None:
    (_, two, *more) = of_processes("grain")
    assert two == (2, 1.43, 1.36)
    rises = [more_percent(fine, coarse) for _, coarse, fine in more]
    assert all(rise > 0 for rise in rises)
    assert [round(rise) for rise in rises[:2]] == [40, 32]
    assert max(rises[2:]) < 20.5, "a relatively small increase from five processes on, against 31 % more calls"


def test_the_first_row_of_figure_20_8_is_that_of_2_000_records_in_figure_20_7() -> None:
    first = {run.name: run for run in by_processes() if run.processes == 1}
    for run in by_records():
        if run.records == 2000 and run.variant != "none":
            for field in ("user_seconds", "system_seconds", "clock_seconds"):
                assert getattr(first[run.name], field) == pytest.approx(getattr(run, field), abs=0.031)
