"""Figures as ASE and the tools around it print them: `1048576`, `1,048,576`, `2 468,13`, `6144.00 Mb`, `*****`.

ASE itself prints a decimal point and no thousands separator (ase-formats.md 1.1 [R]). Tools do what the locale of
their desktop says: thousands by comma, point, apostrophe, blank or no-break blank, decimals by point or comma
(3.3 [R]). One figure alone does not tell (`2,468`), so `decimal_comma` looks at all figures of a table. Digits are
ASCII digits, and a figure has at most 18 of them before its point: what is longer is damage, not a figure.
"""

import re
from collections.abc import Iterable
from functools import lru_cache

from collectors.facts.base import ABSENT, OVERFLOW, Reading

BLANKS = " \u00a0\u2007\u2009\u202f'\u2019"
"""What may part thousands beside comma and point: blank, no-break, figure, thin and narrow blank, apostrophes."""
PLAIN = re.compile(r"[-+]?(?:[0-9]{1,18}(?:\.[0-9]{0,18})?|\.[0-9]{1,18})")
COMMA_GROUPS = re.compile(r"[-+]?[0-9]{1,3}(?:,[0-9]{3}){1,5}(?:\.[0-9]{0,18})?")
POINT_GROUPS = re.compile(r"[-+]?[0-9]{1,3}(?:\.[0-9]{3}){1,5}(?:,[0-9]{0,18})?")
BLANK_GROUPS = re.compile(rf"[-+]?[0-9]{{1,3}}(?:[{BLANKS}][0-9]{{3}}){{1,5}}(?:[.,][0-9]{{0,18}})?")
DECIMAL_COMMA = re.compile(r"[-+]?[0-9]{1,18},[0-9]{1,18}")
SIZE = re.compile(r"(?<![0-9.,*])(?:\*{1,30}|[0-9][0-9.,]{0,30})\s{0,20}[KMGT]b(?![a-z0-9])", re.IGNORECASE)
"""A size with its unit, to be searched for in a line."""
PLAIN_SIZE = re.compile(r"([0-9]{1,18}(?:\.[0-9]{0,18})?)\s?([KMGT])b?", re.IGNORECASE)
"""A size as servers print it; `UNIT` also takes what only tools print."""
UNIT = re.compile(r"(.{0,39}?)\s?([KMGT])b?", re.IGNORECASE)
KILOBYTES = {"k": 1, "m": 1024, "g": 1024**2, "t": 1024**3}


def number(text: str, *, comma: bool = False) -> float | None:
    """Read one number, or `None`; `comma`: this table's decimal sign is a comma."""
    text = text.strip()
    if not comma and PLAIN.fullmatch(text):
        return float(text)
    if BLANK_GROUPS.fullmatch(text):
        text = text.translate({ord(blank): None for blank in BLANKS})
        comma = "," in text
    if comma and (POINT_GROUPS.fullmatch(text) or DECIMAL_COMMA.fullmatch(text)):
        return float(text.replace(".", "").replace(",", "."))
    if PLAIN.fullmatch(text):
        return float(text)
    if COMMA_GROUPS.fullmatch(text):
        return float(text.replace(",", ""))
    if DECIMAL_COMMA.fullmatch(text) or POINT_GROUPS.fullmatch(text):
        return float(text.replace(".", "").replace(",", "."))
    return None


def reading(text: str, *, comma: bool = False) -> Reading:
    """Read one figure: a number, asterisks for overflow, anything else for absent."""
    text = text.strip()
    if text and not text.strip("*"):
        return OVERFLOW
    found = number(text, comma=comma)
    return ABSENT if found is None else found


def decimal_comma(figures: Iterable[str]) -> bool:
    """Whether the figures of one table have a decimal comma.

    `31,75` and `2.468,13` prove it, `31.75` and `1,234.5` disprove it; `2,468` and `2.468` alone say nothing. Thousands
    parted by blanks are a proof too: the locales that do so have the comma. Without proof a comma parts thousands.
    """
    signs = set(map(decimal_sign, figures))
    return "," in signs and "." not in signs


@lru_cache(maxsize=4096)
def decimal_sign(figure: str) -> str:
    """The decimal sign that this figure alone proves; empty where it proves none."""
    text = figure.strip()
    if BLANK_GROUPS.fullmatch(text):
        swiss = "'" in text or "\u2019" in text  # these parts go with a decimal point
        return "." if "." in text else "" if swiss else ","
    if POINT_GROUPS.fullmatch(text):
        return "," if "," in text else ""
    if COMMA_GROUPS.fullmatch(text):
        return "." if "." in text else ""
    if DECIMAL_COMMA.fullmatch(text):
        return ","
    return "." if "." in text and PLAIN.fullmatch(text) else ""


def size(text: str, unit: str, *, comma: bool = False) -> Reading:
    """Read a size (`122880 Kb`, `1.5 Gb`, `512`) in kilobytes (`unit` is "k") or megabytes ("m"); bare, it is that."""
    if not comma and (plain := PLAIN_SIZE.fullmatch(text)):
        return float(plain[1]) * KILOBYTES[plain[2].lower()] / KILOBYTES[unit]
    printed = UNIT.fullmatch(text.strip())
    found = reading(printed[1] if printed else text, comma=comma)
    return found * KILOBYTES[printed[2].lower()] / KILOBYTES[unit] if printed and isinstance(found, float) else found


MOST_LOCK_RATE = 2_000_000.0
"""Per second (this project): four times the highest rate of lock operations known here, 499,842/s."""
TIMES = 20.0
"""This project: so many times the figures beside it a figure stands alone."""


def alone_above(figure: float, beside: float) -> bool:
    """Whether a rate is beyond what is known of lock managers, and alone is."""
    return figure > MOST_LOCK_RATE and figure > TIMES * beside
