"""Numbers in sentences are never in scientific notation."""

import pytest

from rules.laws.rounding import plain


@pytest.mark.parametrize(
    ("number", "digits", "said"),
    [(132.7, 2, "130"), (99.7, 2, "100"), (10_240.0, 4, "10,240"), (12_345.6, 4, "12,350"), (0.3148, 3, "0.315")],
)
def test_a_number_is_rounded_and_printed_in_full(number: float, digits: int, said: str) -> None:
    assert plain(number, digits) == said
