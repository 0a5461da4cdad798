"""Lines that come again are understood once: listings repeat their headings, their labels and most of their rows."""

from collections.abc import Callable
from functools import lru_cache
from typing import Concatenate, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")
MOST, LONGEST = 4096, 500
"""Lines remembered by one function, and characters of one: some megabytes."""


def known_lines(understand: Callable[Concatenate[str, P], T]) -> Callable[Concatenate[str, P], T]:
    """Remember what a function made of a line (and of little else), within a bound.

    What it returns is shared: it must never be changed.
    """
    known: Callable[Concatenate[str, P], T] = lru_cache(maxsize=MOST)(understand)  # type: ignore[assignment]

    def understood(line: str, /, *more: P.args, **named: P.kwargs) -> T:
        return (known if len(line) <= LONGEST else understand)(line, *more, **named)

    return understood
