"""Ways in which an export is damaged: cut, mixed, edited, sent through other encodings, or hostile from the start."""

import random
import re
from collections.abc import Callable, Sequence

NUMBER = re.compile(r"(?<![\w.])-?[0-9][0-9.]*\b")
ODD = (
    *("18446744073709551615", "9223372036854775807", "-9223372036854775808", "4294967295", "4294967290"),
    *("2147483647", "-2147483648", "-1", "-0.0", "0", "0.0", "NaN", "NAN", "Infinity", "INF", "-INF", "1e308", "1e999"),
    *(
        "9" * 400,
        "*****",
        "n/a",
        "1,234.5",
        "1.234,5",
        "1 234",
        "1'234",
        "１２３",
        "١٢٣",
        "²",
        "12.34.56",
        "1e5",
        "0x1F",
    ),
    *("101.0", "250.0", "999.9", "100.1", "-7"),
)
"""In place of a figure: what overflowed, what other locales and tools print, and what is possible nowhere."""
HOSTILE = ("\x1b[2J", "\t", "'; drop table x --", "%", "\u202e", "\0", "<script>alert(1)</script>", "{{ 7*7 }}")
"""Anywhere in a line."""
ENCODINGS = ("utf-16", "utf-16-le", "latin-1", "cp037", "cp1252")
MOST_STEPS = 6

Lines = list[str]


def damaged(text: str, chance: random.Random, foreign: Sequence[str] = ()) -> str:
    """The text with one to six damages; `foreign`: lines of other exports that may get into it."""
    lines = text.split("\n")
    for _ in range(chance.choice((1, 1, 2, 3, MOST_STEPS))):
        lines = chance.choice(WAYS)(lines, chance) or [""]
        if foreign and chance.random() < 0.1:
            lines.insert(chance.randrange(len(lines) + 1), chance.choice(foreign))
    return "\n".join(lines)


def encoded(text: str, chance: random.Random) -> bytes:
    """The text as bytes: most in UTF-8, some otherwise, some cut within a character."""
    how = chance.random()
    if how < 0.75:
        return text.encode("utf-8", "replace")
    if how < 0.8:
        return text.replace("\n", "\r\n").encode("utf-8", "replace")
    if how < 0.85:
        data = text.encode("utf-8", "replace")
        return data[: chance.randrange(len(data) + 1)]
    return text.encode(chance.choice(ENCODINGS), "replace")


def _at(lines: Lines, chance: random.Random) -> int:
    return chance.randrange(len(lines))


def _cut_after_a_line(lines: Lines, chance: random.Random) -> Lines:
    return lines[: max(1, _at(lines, chance))]


def _cut_within_a_line(lines: Lines, chance: random.Random) -> Lines:
    at = _at(lines, chance)
    return [*lines[:at], lines[at][: chance.randrange(len(lines[at]) + 1)]]


def _odd_figures(lines: Lines, chance: random.Random) -> Lines:
    for _ in range(chance.choice((1, 3, 10))):
        at = _at(lines, chance)
        if found := list(NUMBER.finditer(lines[at])):
            one, odd = chance.choice(found), chance.choice(ODD)
            if chance.random() < 0.3:  # as wide as its column
                odd = odd.rjust(len(one[0]))[-max(1, len(one[0])) :]
            lines[at] = lines[at][: one.start()] + odd + lines[at][one.end() :]
    return lines


def _hostile_text(lines: Lines, chance: random.Random) -> Lines:
    at = _at(lines, chance)
    cut = chance.randint(0, len(lines[at]))
    lines[at] = lines[at][:cut] + chance.choice(HOSTILE + ODD) + lines[at][cut + chance.randint(0, 6) :]
    return lines


def _columns_swapped(lines: Lines, chance: random.Random) -> Lines:
    at = _at(lines, chance)
    for index in range(at, min(len(lines), at + chance.choice((1, 5, 40)))):
        found = list(NUMBER.finditer(lines[index]))
        if len(found) > 1:
            one, other = sorted(chance.sample(found, 2), key=lambda match: match.start())
            line = lines[index]
            between = line[one.end() : other.start()]
            lines[index] = line[: one.start()] + other[0] + between + one[0] + line[other.end() :]
    return lines


def _another_locale(lines: Lines, chance: random.Random) -> Lines:
    start = 0 if chance.random() < 0.5 else _at(lines, chance)
    end = len(lines) if start == 0 else start + 40
    return [*lines[:start], *(line.translate({44: ".", 46: ","}) for line in lines[start:end]), *lines[end:]]


def _doubled(lines: Lines, chance: random.Random) -> Lines:
    at = _at(lines, chance)
    end = min(len(lines), at + chance.choice((1, 5, 30, 200)))
    return [*lines[:end], *lines[at:end], *lines[end:]]


def _interleaved(lines: Lines, chance: random.Random) -> Lines:
    half = len(lines) // 2
    return [line for pair in zip(lines[:half], lines[half:], strict=False) for line in pair]


def _taken_out(lines: Lines, chance: random.Random) -> Lines:
    at = _at(lines, chance)
    return lines[:at] + lines[at + chance.choice((1, 3, 20)) :]


def _two_changed_places(lines: Lines, chance: random.Random) -> Lines:
    one, other = _at(lines, chance), _at(lines, chance)
    lines[one], lines[other] = lines[other], lines[one]
    return lines


def _indented(lines: Lines, chance: random.Random) -> Lines:
    at = _at(lines, chance)
    lines[at : at + 30] = [" " * chance.randint(1, 20) + line for line in lines[at : at + 30]]
    return lines


def _narrowed(lines: Lines, chance: random.Random) -> Lines:
    at = _at(lines, chance)
    lines[at : at + 60] = [line[: chance.randint(20, 80)] for line in lines[at : at + 60]]
    return lines


def _digits_lost(lines: Lines, chance: random.Random) -> Lines:
    for _ in range(chance.choice((1, 5, 20))):
        at = _at(lines, chance)
        if found := list(NUMBER.finditer(lines[at])):
            one = chance.choice(found)
            place = chance.randrange(one.start(), one.end())
            line = lines[at]
            new = (line[place] + chance.choice("0123456789"), "", chance.choice("0123456789.-,e "), "\0")
            lines[at] = line[:place] + chance.choice(new) + line[place + 1 :]
    return lines


def _scaled(lines: Lines, chance: random.Random) -> Lines:
    factor = chance.choice((1e3, 1e6, 1e12, -1, 0))

    def scaled(found: re.Match[str]) -> str:
        try:
            return f"{float(found[0]) * factor:.{1 if '.' in found[0] else 0}f}"
        except ValueError:
            return found[0]

    at = _at(lines, chance)
    end = min(len(lines), at + chance.choice((1, 10, 50)))
    return [*lines[:at], *(NUMBER.sub(scaled, line) for line in lines[at:end]), *lines[end:]]


def _other_separators(lines: Lines, chance: random.Random) -> Lines:
    at, by = _at(lines, chance), chance.choice("\t;, ")
    lines[at : at + 50] = [re.sub(r" {2,}", by, line) for line in lines[at : at + 50]]
    return lines


def _white_space_lost(lines: Lines, chance: random.Random) -> Lines:
    at = _at(lines, chance)
    lines[at] = " ".join(lines[at].split())
    return lines


def _blank_lines(lines: Lines, chance: random.Random) -> Lines:
    for _ in range(chance.choice((1, 3, 10))):
        lines.insert(_at(lines, chance), " " * chance.choice((0, 0, 3)))
    return lines


WAYS: tuple[Callable[[Lines, random.Random], Lines], ...] = (
    *(_cut_after_a_line, _cut_within_a_line, _odd_figures, _odd_figures, _odd_figures, _hostile_text),
    *(_columns_swapped, _another_locale, _doubled, _interleaved, _taken_out, _two_changed_places, _indented),
    *(_narrowed, _digits_lost, _scaled, _other_separators, _white_space_lost, _blank_lines),
)
"""Odd figures are what hurts most, so they are drawn most."""
