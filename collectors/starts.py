"""Which lines start a report: a look for words comes before the patterns, and is many times faster.

From a pattern follows a set of words of which every match contains at least one: for `^ *Fast Path (preferred|CPUs)`
that is `fast path `. A line with none of them needs no pattern. All words are looked for at once, in many lines joined
(Aho-Corasick).
Where no such words follow, or only words of one or two letters, the pattern is tried on every line.
Each alternative of a pattern is looked at by itself, so that a rare one does not cost what a long one does. The words
are worked out from the pattern, so nobody has to keep the two in step.

What was found is remembered by the shape of a line, its small letters with every digit as 0: a listing has few shapes
and many lines. A pattern that tells digits apart (`V[78]`) is tried on each line that may match it all the same.
"""

import re
from bisect import bisect
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from re import _constants as c  # type: ignore[attr-defined]  # the parser of re itself, without typing
from re import _parser  # type: ignore[attr-defined]
from typing import Any, Generic, NamedTuple, TypeVar

import ahocorasick

ENOUGH = 6
"""Characters from which on a longer word tells no more."""
SHORTEST = 3
"""Characters of a word worth looking for: shorter ones stand in nearly every line."""
MOST = 120
"""Words for one alternative: beyond that the pattern itself is as fast."""
MOST_SHAPES, LONGEST_SHAPE = 20_000, 500
"""Shapes of lines remembered, and bytes of one: some megabytes at most. When they are as many they are forgotten."""
FOLD = bytes(ord("0") if chr(code).isdigit() else ord(chr(code).lower()) for code in range(128)) + bytes(
    range(128, 256)
)
"""ASCII letters as small ones, digits as 0."""
DIGITS = "0123456789"
ASCII = range(128)
Words = frozenset[str]
K = TypeVar("K", bound=Hashable)


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
    if kind in REPEATS and given[0] >= 1:
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


class Alternative(NamedTuple):
    """One alternative of a pattern, and what is looked for before it is tried. Plain values: they can be kept."""

    pattern: str
    words: Sequence[str]
    """Of which every match contains one, in small letters; none where it is tried on every line."""
    only: str
    """Where there are no words: tried on every line with these characters, which may be none."""
    by_digits: bool
    """Whether it tells digits apart."""
    anchored: bool
    """Whether a match can only stand at the beginning."""
    firsts: str | None
    """With which ASCII characters, folded, a line may begin that it matches; `None`: with any."""


def worked_out(pattern: str) -> list[Alternative]:
    """The alternatives of a pattern. It takes much longer than looking for them: see `collectors.derived`."""
    found = []
    for part in alternatives(pattern):
        re.compile(part, re.IGNORECASE)  # what is no pattern is refused here, not when a line comes
        words, only = words_of(part), ""
        if words is None or min(map(len, words)) < SHORTEST:
            only = min(words) if words and len(words) == 1 else ""
            only = "" if re.search(r"\w", only) else only
            words = frozenset()
        parsed = _parser.parse(part)
        anchored = _is_anchored(parsed)
        firsts = _firsts(parsed) if anchored else None
        digits = not _takes_digits_alike(parsed)
        found.append(Alternative(part, sorted(words), only, digits, anchored, _as_text(firsts)))
    return found


class _Try(Generic[K]):
    """An alternative of a kind, compiled when the first line may match it: most never are."""

    __slots__ = ("alternative", "kind", "matches")

    def __init__(self, kind: K, alternative: Alternative) -> None:
        self.kind, self.alternative = kind, alternative
        self.matches: Callable[[str], re.Match[str] | None] = self._first

    def _first(self, line: str) -> re.Match[str] | None:
        return self.ready()(line)

    def ready(self) -> Callable[[str], re.Match[str] | None]:
        """What matches a line, compiled."""
        if self.matches == self._first:
            compiled = re.compile(self.alternative.pattern, re.IGNORECASE)
            self.matches = compiled.match if self.alternative.anchored else compiled.search
        return self.matches


REPEATS = (c.MAX_REPEAT, c.MIN_REPEAT, c.POSSESSIVE_REPEAT)


class Starts(Generic[K]):
    """The starts of many kinds, all looked for at once, without regard to case."""

    def __init__(self, patterns: Iterable[tuple[K, str | Sequence[Alternative]]]) -> None:
        """Take each kind's pattern, or its alternatives; the order is that in which `of` gives them."""
        self.order: dict[K, int] = {}
        self.tries: list[_Try[K]] = []
        """Each alternative of each pattern, with its kind."""
        self.by_digits: set[int] = set()
        """The alternatives that tell digits apart."""
        self.always: list[tuple[int, str]] = []
        """Alternatives tried on every line with these characters; they may be none."""
        self.beginning: dict[bytes, set[int]] = {first: set() for first in (b"", *(bytes([code]) for code in ASCII))}
        """By the first byte of a shape, which alternatives a line of ASCII may match."""
        self.known: dict[str | bytes, _Shape[K] | None] = {}
        """What starts on lines of a shape: nothing (`None`), or what was found."""
        by_word: dict[str, list[int]] = {}
        for number, (kind, pattern) in enumerate(patterns):
            self.order[kind] = number
            for part in worked_out(pattern) if isinstance(pattern, str) else pattern:
                if not part.words:
                    self.always.append((len(self.tries), part.only))
                for word in part.words:
                    by_word.setdefault(word, []).append(len(self.tries))
                if part.by_digits:
                    self.by_digits.add(len(self.tries))
                for first, may in self.beginning.items():
                    if part.firsts is None or (first and first.decode() in part.firsts):
                        may.add(len(self.tries))
                self.tries.append(_Try(kind, part))
        self.words = _Words(by_word)
        self.firsts = {
            number: frozenset(first for first, may in self.beginning.items() if number in may)
            for number, _ in self.always
        }
        """With what shapes begin that those may match which are tried on every line."""

    def of(self, line: str) -> list[K]:
        """The kinds that start on this line, in order."""
        return self.of_lines([line]).get(0, [])

    def of_lines(self, lines: Sequence[str]) -> dict[int, list[K]]:
        """The kinds that start on each of these lines, in order, by index; lines on which none starts are left out.

        No line may hold a line feed.
        """
        if not lines:  # joined they would be one empty line
            return {}
        shapes: list[bytes] = []
        text = "\n".join(lines)
        if text.isascii():
            shapes = text.encode().translate(FOLD).split(b"\n")
            keys: Sequence[str | bytes] = shapes
        else:  # a letter of another script may count as one of these: such lines are remembered as they are
            shapes = [_folded(line).encode("utf-8", "surrogatepass").translate(FOLD) for line in lines]
            keys = [shape if line.isascii() else line for line, shape in zip(lines, shapes, strict=True)]
        found = [self.known.get(key, UNKNOWN) for key in keys]
        if UNKNOWN in found:
            new = {key: index for index, key in enumerate(keys) if found[index] is UNKNOWN}
            at = new.values()
            learned = dict(
                zip(new, self._learned([lines[one] for one in at], [shapes[one] for one in at]), strict=True)
            )
            found = [learned[key] if one is UNKNOWN else one for key, one in zip(keys, found, strict=True)]
            if len(self.known) + len(learned) > MOST_SHAPES:
                self.known.clear()
            self.known.update((key, one) for key, one in learned.items() if len(key) <= LONGEST_SHAPE)
        starting: dict[int, list[K]] = {}
        for index, shape in enumerate(found):
            if shape and (kinds := self._kinds(shape, lines[index])):
                starting[index] = kinds
        return starting

    def _kinds(self, shape: "_Shape[K]", line: str) -> list[K]:
        """What starts on a line of this shape."""
        tries = (self.tries[number] for number in shape.tries)
        kinds = {*shape.kinds, *(one.kind for one in tries if one.matches(line))}
        return sorted(kinds, key=self.order.__getitem__) if len(kinds) > 1 else list(kinds)

    def _learned(self, lines: Sequence[str], shapes: Sequence[bytes]) -> list["_Shape[K] | None"]:
        """What starts on these lines, that have these shapes."""
        learned: list[_Shape[K] | None] = [None] * len(lines)
        may = self.words.within(shapes)
        for number, only in self.always:
            unsure, matches = number in self.by_digits, self.tries[number].ready()
            firsts = self.firsts[number]
            for index in [
                index
                for index, line in enumerate(lines)
                if only in line and (shapes[index][:1] in firsts or not line.isascii()) and (unsure or matches(line))
            ]:
                may.setdefault(index, set()).add(number)
        for index, numbers in may.items():
            line = lines[index]
            if line.isascii():
                numbers &= self.beginning[shapes[index][:1]]
            kinds = {
                self.tries[number].kind
                for number in numbers
                if number not in self.by_digits and self.tries[number].matches(line)
            }
            if kinds or numbers & self.by_digits:
                learned[index] = _Shape(frozenset(kinds), tuple(numbers & self.by_digits))
        return learned


@dataclass(frozen=True, eq=False)
class _Shape(Generic[K]):
    """What starts on lines of one shape: some kinds in any case, and alternatives to try since digits count."""

    kinds: frozenset[K]
    tries: tuple[int, ...]


UNKNOWN: Any = object()
"""Of a shape that was not met."""


class _Words:
    """Many words, looked for all at once (Aho-Corasick)."""

    def __init__(self, by_word: dict[str, list[int]]) -> None:
        """Take the words, in small letters, with the numbers of what they stand for."""
        numbers: dict[str, list[int]] = {}
        for word, more in by_word.items():
            numbers.setdefault(word.encode().translate(FOLD).decode(), []).extend(more)
        self.words = ahocorasick.Automaton()
        for word, more in numbers.items():
            self.words.add_word(word, tuple(more))
        if numbers:
            self.words.make_automaton()

    def within(self, lines: Sequence[bytes]) -> dict[int, set[int]]:
        """Which lines hold which words: the numbers of these, by index of the line."""
        text = b"\n".join(lines).decode("utf-8", "surrogatepass")
        sizes: Iterable[int] = map(len, lines if text.isascii() else text.split("\n"))
        ends = list(accumulate(size + 1 for size in sizes))
        found: dict[int, set[int]] = {}
        if self.words:
            end, index = 0, 0
            for at, numbers in self.words.iter(text):
                if at >= end:
                    index = bisect(ends, at, index)
                    end, found[index] = ends[index], set()
                found[index].update(numbers)
        return found


def _folded(line: str) -> str:
    """The line in small letters; with it, what counts as a letter of another case."""
    low = line.lower()
    return low if low.isascii() else low + line.casefold() + low.replace("\u017f", "s")


def _takes_digits_alike(item: Any) -> bool:
    """Whether a pattern, as parsed, that matches a line matches it with any other digits, too."""
    if isinstance(item, tuple) and len(item) == 2 and item[0] in (c.LITERAL, c.NOT_LITERAL, c.RANGE, c.GROUPREF):
        kind, given = item
        low, high = given if kind is c.RANGE else (given, given)
        return kind is not c.GROUPREF and len({low <= ord(digit) <= high for digit in DIGITS}) == 1
    return not isinstance(item, tuple | list | _parser.SubPattern) or all(map(_takes_digits_alike, item))


def _is_anchored(items: Sequence[Any]) -> bool:
    """Whether a match can only stand at the beginning: `search` would try every place of a line in vain."""
    return bool(items) and items[0][0] is c.AT and items[0][1] in (c.AT_BEGINNING, c.AT_BEGINNING_STRING)


def _firsts(items: Iterable[Any]) -> set[str] | None:
    """With which characters what a sequence matches may begin, "" among them where that may be none; `None`: any.

    What only looks ahead is passed over, so there may be more of them than need be, never fewer.
    """
    found: set[str] = set()
    for kind, given in items:
        one = _firsts_of_one(kind, given)
        if one is None:
            return None
        found |= one
        if "" not in one:
            return found - {""}
    return found | {""}


def _firsts_of_one(kind: Any, given: Any) -> set[str] | None:
    """The same of one item."""
    if kind in (c.AT, c.ASSERT, c.ASSERT_NOT):
        return {""}
    if kind in (c.SUBPATTERN, c.ATOMIC_GROUP):
        return _firsts(given[3] if kind is c.SUBPATTERN else given)
    if kind in REPEATS:
        inner = _firsts(given[2])
        return inner if inner is None or given[0] else inner | {""}
    parts = given[1] if kind is c.BRANCH else given if kind is c.IN else ()
    if kind is c.LITERAL and given in ASCII:
        return {chr(FOLD[given])}
    if kind is c.RANGE and given[1] in ASCII:
        return {chr(FOLD[code]) for code in range(given[0], given[1] + 1)}
    if kind is c.CATEGORY and given in CLASSES:
        return {chr(FOLD[code]) for code in ASCII if CLASSES[given].match(chr(code))}
    found = [_firsts(part) if kind is c.BRANCH else _firsts_of_one(*part) for part in parts]
    return set[str]().union(*found) if found and None not in found else None  # type: ignore[arg-type]


CLASSES = {
    c.CATEGORY_DIGIT: re.compile(r"\d"),
    c.CATEGORY_SPACE: re.compile(r"\s"),
    c.CATEGORY_WORD: re.compile(r"\w"),
    c.CATEGORY_NOT_DIGIT: re.compile(r"\D"),
    c.CATEGORY_NOT_SPACE: re.compile(r"\S"),
    c.CATEGORY_NOT_WORD: re.compile(r"\W"),
}


def _as_text(firsts: set[str] | None) -> str | None:
    return None if firsts is None or "" in firsts else "".join(sorted(firsts))


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
