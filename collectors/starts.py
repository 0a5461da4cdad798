"""Which lines start a report: a look for words comes before the patterns, and is many times faster.

From a pattern follows a set of words of which every match contains at least one: for `^ *Fast Path (preferred|CPUs)`
that is `fast path `. A line with none of them needs no pattern. Where no such words follow, the pattern is always
tried. Each alternative of a pattern is looked at by itself, so that a rare one does not cost what a long one does. The
words are worked out from the pattern, so nobody has to keep the two in step.
"""

import re
from collections.abc import Hashable, Iterable, Iterator, Sequence
from re import _constants as c  # type: ignore[attr-defined]  # the parser of re itself, without typing
from re import _parser  # type: ignore[attr-defined]
from typing import Any, Generic, TypeVar

ENOUGH = 6
"""Characters from which on a longer word tells no more."""
MOST = 120
"""Words for one alternative: beyond that the pattern itself is as fast."""

Words = frozenset[str]


def words_of(pattern: str) -> Words | None:
    """The words, in small letters, of which every match of the pattern contains one; `None` where there are none.

    For patterns that are searched without regard to case.
    """
    found = _of_run(_parser.parse(pattern))
    return found if found and len(found) <= MOST else None


def _of_run(items: Iterable[Any]) -> Words | None:
    """What one part of a sequence requires: that with the longest shortest word."""
    best: Words | None = None
    run = ""
    for kind, given in [*items, (None, None)]:
        if kind is c.LITERAL:
            run += chr(given).lower()
            continue
        if kind in (c.AT, c.ASSERT_NOT):  # take no room: the literals around them touch
            continue
        best = _better(best, frozenset({run}) if run else None)
        run = ""
        best = _better(best, _of_one(kind, given))
    return best


def _of_one(kind: Any, given: Any) -> Words | None:
    """What one item that is no literal requires."""
    if kind is c.SUBPATTERN:
        return _of_run(given[3])
    if kind is c.BRANCH:
        return _of_all(given[1])
    if kind in (c.MAX_REPEAT, c.MIN_REPEAT, c.POSSESSIVE_REPEAT) and given[0] >= 1:
        return _of_run(given[2])
    if kind is c.ATOMIC_GROUP:
        return _of_run(given)
    if kind is c.ASSERT and given[0] >= 0:
        return _of_run(given[1])
    return None


def _of_all(branches: Sequence[Any]) -> Words | None:
    """What alternatives require: one word of each; nothing where one of them requires nothing."""
    found: set[str] = set()
    for branch in branches:
        words = _of_run(branch)
        if words is None:
            return None
        found |= words
    return frozenset(found)


def _better(one: Words | None, other: Words | None) -> Words | None:
    if not one or not other:
        return one or other
    return max((one, other), key=lambda words: (min(ENOUGH, *map(len, words)), -len(words)))


K = TypeVar("K", bound=Hashable)


class Starts(Generic[K]):
    """The starts of many kinds, all looked for at once, without regard to case."""

    def __init__(self, patterns: Iterable[tuple[K, str]]) -> None:
        """Take each kind's pattern; the order is that in which `of` gives them."""
        self.order: dict[K, int] = {}
        self.always: list[tuple[K, re.Pattern[str]]] = []
        by_word: dict[str, list[tuple[K, re.Pattern[str]]]] = {}
        for number, (kind, pattern) in enumerate(patterns):
            self.order[kind] = number
            for part in alternatives(pattern):
                words, found = words_of(part), (kind, re.compile(part, re.IGNORECASE))
                if words is None:
                    self.always.append(found)
                for word in words or ():
                    by_word.setdefault(word, []).append(found)
        self.by_word = tuple(by_word.items())

    def of(self, line: str) -> list[K]:
        """The kinds that start on this line, in order."""
        low = line.lower()
        if not low.isascii():
            low += line.casefold() + low.replace("\u017f", "s")  # what counts as a letter of another case
        tried: dict[tuple[K, re.Pattern[str]], None] = dict.fromkeys(self.always)
        for found in [found for word, found in self.by_word if word in low]:
            tried |= dict.fromkeys(found)
        starting = {kind for kind, pattern in tried if pattern.search(line)}
        return sorted(starting, key=self.order.__getitem__) if starting else []


def alternatives(pattern: str) -> Iterator[str]:
    """A pattern parted at its outermost `|`, or at those of the one group around all of it; as it is without any."""
    parts = _parted(pattern)
    wrapped = WRAPPED.fullmatch(pattern) if len(parts) == 1 else None
    inner = _parted(wrapped[1]) if wrapped else []
    yield from inner if all(map(_is_whole, inner)) and inner else parts


WRAPPED = re.compile(r"\(\?i?:(.*)\)", re.DOTALL)
"""One group around everything; case does not count anyway."""


def _is_whole(pattern: str) -> bool:
    """Whether a piece of a pattern is one: of `(?:a)|(?:b)` the middle is none."""
    try:
        re.compile(pattern)
    except re.error:
        return False
    return True


def _parted(pattern: str) -> list[str]:
    """The pieces between the outermost `|`."""
    depth, start, at, opened, inside = 0, 0, 0, 0, False
    found: list[str] = []
    while at < len(pattern):
        letter = pattern[at]
        if letter == "\\":
            at += 1
        elif inside:
            inside = letter != "]" or at == opened + 1 or (at == opened + 2 and pattern[opened + 1] == "^")
        elif letter == "[":
            inside, opened = True, at
        elif letter in "()":
            depth += 1 if letter == "(" else -1
        elif letter == "|" and depth == 0:
            found.append(pattern[start:at])
            start = at + 1
        at += 1
    return [*found, pattern[start:]]
