"""Lines that come again are understood once: listings repeat their headings, their labels and most of their rows."""

from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")
MOST, LONGEST = 4096, 500
"""Lines remembered by one function, and characters of one: some megabytes."""


class _Known(dict[str, T]):
    """What lines were understood as."""

    def __init__(self, understand: Callable[[str], T]) -> None:
        super().__init__()
        self.understand = understand

    def __missing__(self, line: str) -> T:
        understood = self.understand(line)
        if len(line) <= LONGEST:
            if len(self) >= MOST:
                self.clear()
            self[line] = understood
        return understood


def known_lines(understand: Callable[[str], T]) -> Callable[[str], T]:
    """Remember what a function made of a line, within a bound: when it is reached all is forgotten.

    What it returns is shared: it must never be changed. A line that is known costs a look into a dictionary and no call
    of a function written in Python.
    """
    return _Known(understand).__getitem__
