"""What is remembered of lines, and what is read in one step: the same as without."""

import pytest

from collectors.facts.ase import CachePool
from collectors.facts.base import Source
from collectors.layouts.figures import size
from collectors.layouts.known_lines import LONGEST, MOST, known_lines


def test_a_line_that_comes_again_is_understood_once_within_the_bound() -> None:
    asked: list[str] = []

    def understand(line: str) -> str:
        asked.append(line)
        return line.upper()

    upper = known_lines(understand)
    assert [upper("row"), upper("row")] == ["ROW", "ROW"]
    assert asked == ["row"]
    for number in range(MOST):  # one more than are kept
        upper(f"row {number}")
    upper("row")
    assert asked.count("row") == 2


def test_a_very_long_line_is_not_remembered() -> None:
    asked: list[str] = []

    @known_lines
    def length(line: str) -> int:
        asked.append(line)
        return len(line)

    assert length("x" * (LONGEST + 1)) == length("x" * (LONGEST + 1)) == LONGEST + 1
    assert len(asked) == 2


def test_a_fact_placed_elsewhere_has_the_fields_it_is_given_and_leaves_the_first_as_it_was() -> None:
    first = CachePool(cache="one", io_size_kb=2.0)
    where = Source("cache.txt", 3, 3)
    other = first.placed(where, cache="two", run_size_mb=8.0)
    assert other == CachePool(source=where, cache="two", io_size_kb=2.0, run_size_mb=8.0)
    assert first == CachePool(cache="one", io_size_kb=2.0)


@pytest.mark.parametrize("text", ["6144.00 Mb", "512K", "1.5 gb", "2 TB", "0.00 Mb", "7. Kb", "12345678901234567 Kb"])
@pytest.mark.parametrize("unit", ["k", "m"])
def test_a_size_as_servers_print_it_is_read_as_one_between_blanks(text: str, unit: str) -> None:
    assert size(text, unit) == size(f" {text} ", unit)
