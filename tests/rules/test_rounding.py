"""Numbers in sentences are never in scientific notation."""

import re
from pathlib import Path

import pytest

from rules.laws.rounding import plain


@pytest.mark.parametrize(
    ("number", "digits", "said"),
    [
        (132.7, 2, "130"),
        (99.7, 2, "100"),
        (10_240.0, 4, "10,240"),
        (12_345.6, 4, "12,350"),
        (0.3148, 3, "0.315"),
        (0.0000123, 2, "0.000012"),
        (0.0, 2, "0"),
    ],
)
def test_a_number_is_rounded_and_printed_in_full(number: float, digits: int, said: str) -> None:
    assert plain(number, digits) == said


SIGNIFICANT = re.compile(r":,?\.[1-6]g\}")
COEFFICIENTS = "α {model.alpha"
"""Of a fitted law: these are so small that they are best read in scientific notation."""


@pytest.mark.parametrize("product", ["openvms", "rdb", "zvm", "unix", "scaling", "compare"])
def test_sentences_round_by_the_one_helper(product: str) -> None:
    """`{99.7:.2g}` is 1e+02."""
    files = [Path("rules/summary.py"), Path("rules/finding.py"), *Path("rules", product).rglob("*.py")]
    lines = [
        f"{file}:{n}"
        for file in files
        for n, line in enumerate(file.read_text("utf-8").splitlines(), 1)
        if SIGNIFICANT.search(line) and COEFFICIENTS not in line and 'float(f"' not in line
    ]
    assert not lines
