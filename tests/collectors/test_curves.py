"""The course of a day in at most 288 steps."""

import itertools

import numpy as np
import pytest

from collectors.facts import ABSENT
from collectors.layouts.curves import MOST_STEPS, STEPS, Curves


def course(seconds: int, every: int, chunk: int = 7) -> Curves:
    """Two figures: the number of the sample, and one that is there in every third sample only."""
    curves = Curves(2)
    ends = np.arange(0, seconds, every, dtype=np.float64) + 1000
    values = np.column_stack([np.arange(len(ends)), np.where(np.arange(len(ends)) % 3 == 0, 5.0, np.nan)])
    for at in range(0, len(ends), chunk):
        curves.add(ends[at : at + chunk], values[at : at + chunk], range(at + 8, at + 8 + len(ends[at : at + chunk])))
    curves.finish(every)
    return curves


@pytest.mark.parametrize(
    ("seconds", "every", "step", "steps"),
    [
        (3600, 60, 60, 60),
        (86_400, 60, 300, 288),
        (5 * 3600, 60, 300, 60),
        (30 * 86_400, 60, 21_600, 120),
        (90, 10, 10, 9),
    ],
)
def test_a_course_has_no_more_steps_than_a_picture_shows(seconds: int, every: int, step: int, steps: int) -> None:
    curves = course(seconds, every)
    found = curves.of(0)
    assert found is not None
    assert (curves.step, len(found[0])) == (step, steps)
    assert found[1][-1] == seconds // every - 1
    in_a_step = step // every
    assert found[0][0] == (in_a_step - 1) / 2
    assert found[1][0] == in_a_step - 1


def test_means_do_not_depend_on_how_the_samples_came_in_chunks() -> None:
    assert course(86_400, 60, chunk=1).of(0) == course(86_400, 60, chunk=500).of(0)


@pytest.mark.parametrize("chunk", [1, 7, 500])
def test_each_step_knows_its_first_line(chunk: int) -> None:
    curves = course(86_400, 60, chunk)
    assert list(curves.line[:4]) == [8, 13, 18, 23]
    assert curves.line[287] == 8 + 287 * 5


def test_a_step_without_a_sample_is_absent_and_no_zero() -> None:
    found = course(600, 60).of(1)
    assert found is not None
    assert list(found[0])[:4] == [5.0, ABSENT, ABSENT, 5.0]
    empty = Curves(1)
    assert empty.of(0) is None


def test_each_size_of_step_is_a_multiple_of_the_one_before() -> None:
    assert all(later % earlier == 0 for earlier, later in itertools.pairwise(STEPS))
    assert STEPS[-1] * MOST_STEPS > 50 * 365 * 86_400


def test_a_jump_of_years_is_no_trouble() -> None:
    curves = Curves(1)
    curves.add(np.array([0.0]), np.array([[1.0]]))
    curves.add(np.array([20 * 365 * 86_400.0, 9e15]), np.array([[3.0], [9.0]]))
    found = curves.of(0)
    assert found is not None
    assert [value for value in found[0] if value is not ABSENT] == [1.0, 3.0]
