"""What `make test` leaves to `make test-all`: of many cases that go one way through the code all but the first few."""

from collections.abc import Callable, Hashable, Iterable, Sequence
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


def one_of_each(kind: Callable[[Any], Hashable], name: str, cases: Iterable[Any], **more: Any) -> pytest.MarkDecorator:
    """`pytest.mark.parametrize`, with all cases but the first of each `kind` marked `long`, in the order of the cases.

    For tests that make a page or an audit for each of many cases.
    """
    seen: set[Hashable] = set()
    marked = []
    for case in cases:
        known = (this := kind(case)) in seen
        seen.add(this)
        marked.append(pytest.param(case, marks=pytest.mark.long) if known else case)
    return pytest.mark.parametrize(name, marked, **more)
