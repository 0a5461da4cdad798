"""Labels and figures of SDA's summaries: `Number of locks    84700`, `Lock trees sent:  12   received:  7`."""

import re
from collections.abc import Iterator

from collectors.facts.base import ABSENT, OVERFLOW, Reading

LONGEST = 250
"""Characters of a line: these summaries are made for terminals."""
PAIR = re.compile(
    r"(?P<label>[A-Za-z](?:[\w()/'.,%#$-]| (?! )){1,60}?)"
    r"(?:[ .]{0,40}[:=]\s{0,40}|\s{2,60}|\.{2,60} {0,20}| )"
    r"(?P<value>\*{1,20}|-?[0-9][0-9,]{0,25}(?:\.[0-9]{1,9})?|[0-9A-F]{8}(?:\.?[0-9A-F]{8})?)(?=\s|$|%)"
)
HEADING = re.compile(r"\s{0,40}(?P<heading>[A-Z][A-Za-z]*(?:[ /-][A-Za-z]+){0,8})\s*:?\s*$")
ZEROS = re.compile(r"0[0-9A-F]{7}|0[0-9A-F]{15}|[0-9A-F]{8}\.[0-9A-F]{8}")
"""SDA pads hexadecimal numbers with zeros to 8 or 16 digits."""
PLAIN = re.compile(r"-?(?:[0-9]{1,18}|[0-9]{1,3}(?:,[0-9]{3}){1,5})(?:\.[0-9]{1,9})?")


def pairs(line: str) -> list[tuple[str, Reading]]:
    """The labels of a line with their figures, if it holds nothing else; empty for any other line."""
    text = line.strip()
    if not text or len(text) > LONGEST:
        return []
    found: list[tuple[str, Reading]] = []
    at = 0
    for label, value, start, end in _pieces(text):
        if text[at:start].strip(" ,;%"):
            return []
        figure = figure_of(value)
        if figure is ABSENT:
            return []
        found.append((label, figure))
        at = end
    return found if not text[at:].strip(" %") else []


def _pieces(text: str) -> Iterator[tuple[str, str, int, int]]:
    for one in PAIR.finditer(text):
        yield " ".join(one["label"].split()).rstrip(" .,-"), one["value"], one.start(), one.end()


def heading_of(line: str) -> str | None:
    """The words of a line that has nothing but a heading; `None` for any other line."""
    found = HEADING.match(line) if len(line) <= LONGEST else None
    return " ".join(found["heading"].split()) if found else None


def figure_of(text: str) -> Reading:
    """Read a figure: asterisks, a hexadecimal number where it is padded like one, else a decimal one."""
    if text and not text.strip("*"):
        return OVERFLOW
    if ZEROS.fullmatch(text):
        return float(int(text.replace(".", ""), 16))
    return float(text.replace(",", "")) if PLAIN.fullmatch(text) else ABSENT
