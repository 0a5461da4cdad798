"""What `make test` leaves to `make test-all`: of many cases that go one way through the code all but the first few."""

from collections.abc import Iterable, Sequence
from typing import Any

import pytest


def first_of(few: int, names: str | Sequence[str], cases: Iterable[Any], **more: Any) -> pytest.MarkDecorator:
    """`pytest.mark.parametrize`, with the cases behind the first `few` marked `long`: put one of each kind first.

    For tests that start servers or processes for each case; others are cheap, and `make test` runs them all.
    """
    alone = isinstance(names, str)
    marked = [
        case if number < few else pytest.param(*((case,) if alone else case), marks=pytest.mark.long)
        for number, case in enumerate(cases)
    ]
    return pytest.mark.parametrize(names, marked, **more)
