"""The headings of SPL's tables: which words make one, and what each of its columns holds.

No sample of these tables is at hand, so nothing is taken from where a word stands but the order of the columns.
"""

import re
from collections.abc import Sequence
from functools import lru_cache

from collectors.layouts.known_lines import known_lines
from collectors.layouts.tables import starts_of

MOST_LINES = 4
"""Lines that one heading may be spread over."""
MOST_HEADINGS = 100
"""Headings that are remembered."""
NAME, CPU, PC, OTHER = "name", "cpu", "pc", ""
FIGURES = (
    "acquires_per_second",
    "spins_per_second",
    "acquires",
    "spins",
    "hold_percent",
    "spin_percent",
    "hold_microseconds",
    "spin_microseconds",
)
UNTOLD = ("acquires?", "spins?", "hold?", "spin?")
"""Columns whose heading does not tell the unit: the command's qualifier may."""
BEGINS = re.compile(
    r"(?:spin ?lock|lock|name|cpu|pc|caller|calling|address|module|offset|routine|ipl|rank"
    r"|acquires?|acqs?|acquisitions?|spins?|spinwaits?|waits?|hold|holds|avg|average|mean)\b",
    re.IGNORECASE,
)
"""A word that begins a column, where blanks do not part the columns any more."""
MEANS = re.compile(r"(?:avg|average|mean)\.?\Z", re.IGNORECASE)
DIGIT = re.compile(r"[0-9]")
WORD = re.compile(r"[A-Za-z(%/µ#][A-Za-z()%/µ.:_#-]{0,24}")
MEASURE = re.compile(r"\b(?:acq(?:uire|uisition)?s?|spins?|spinwaits?|waits?|holds?)\b", re.IGNORECASE)
KEYS = re.compile(r"\b(?:spin ?lock|lock|name|cpu|pc)\b", re.IGNORECASE)
FORKS = re.compile(r"\s*fork ?lock", re.IGNORECASE)
PROSE = re.compile(r"\b(?:and|are|for|from|is|of|the|this|was|were|with)\b", re.IGNORECASE)
PER_SECOND = re.compile(r"/ ?s(?:ec(?:ond)?)?\b|\bper sec(?:ond)?\b|\brate\b", re.IGNORECASE)
PERCENT = re.compile(r"%|\bper ?cent\b|\bpct\b", re.IGNORECASE)
MICROSECONDS = re.compile(r"(?<![a-z])(?:us|usecs?|µs|µsecs?|microsec(?:ond)?s?)(?![a-z])", re.IGNORECASE)


@known_lines
def is_head(line: str) -> bool:
    """Whether a line can be one of a heading: words alone, no sentence. Most lines have a digit, a heading none."""
    if DIGIT.search(line):
        return False
    words = line.split()
    return (
        0 < len(words) <= 40
        and len(line) <= 250
        and all(WORD.fullmatch(word) for word in words)
        and not PROSE.search(line)
        and not line.rstrip().endswith((".", ":"))
    )


def heading(lines: Sequence[str], at: int) -> int:
    """How many lines of a table's heading begin at `lines[at]`; 0 where none does."""
    if not is_head(lines[at]):
        return 0
    count = 1
    while count < MOST_LINES and at + count < len(lines) and is_head(lines[at + count]):
        count += 1
    text = "\n".join(lines[at : at + count])
    return count if KEYS.search(text) and MEASURE.search(text) and not FORKS.match(text) else 0


@lru_cache(maxsize=MOST_HEADINGS)
def kinds_of(heads: tuple[str, ...], dashes: str | None) -> tuple[tuple[str, ...], ...]:
    """What the columns hold, in each way in which the heading may be cut, each way once."""
    ways = [_kinds(texts) for texts in cut_heading(heads, dashes)]
    # "Caller PC" is one column
    ways = [tuple(kind for at, kind in enumerate(way) if kind != PC or PC not in way[at - 1 : at]) for way in ways]
    return tuple(dict.fromkeys(ways))


def _kinds(texts: Sequence[str]) -> tuple[str, ...]:
    """What each column holds: one that is headed `Waits` is that of spins only where no other one says spins."""
    kinds = tuple(map(kind_of, texts))
    spins = {kind for kind, text in zip(kinds, texts, strict=True) if "spin" in text.lower()}
    return tuple(
        OTHER if kind in spins and kind.startswith("spin") and "spin" not in text.lower() else kind
        for kind, text in zip(kinds, texts, strict=True)
    )


def cut_heading(heads: Sequence[str], dashes: str | None) -> list[list[str]]:
    """The texts of the columns, in each way the heading may be cut: by its dashes, by wide blanks, by known words."""
    ways: list[list[str]] = []
    if dashes is not None and len(starts_of(dashes)) > 1:
        spans = [(found.start(), found.end()) for found in re.finditer("-+", dashes)]
        ways.append(_gathered(heads, spans, r"\S+"))
    lowest = max(heads, key=lambda head: (len(re.split(r"\s{2,}", head.strip())), heads.index(head)))
    spans = [found.span() for found in re.finditer(r"\S+(?: \S+)*", lowest)]
    ways.append(_gathered(heads, spans, r"\S+(?: \S+)*"))
    if len(heads) == 1:
        ways.append(_by_words(heads[0]))
    return ways


def _gathered(heads: Sequence[str], spans: Sequence[tuple[int, int]], piece: str) -> list[str]:
    """Give each piece of each line to the column it stands over."""
    columns: list[list[str]] = [[] for _ in spans]
    for head in heads:
        for found in re.finditer(piece, head):
            nearest = min(range(len(spans)), key=lambda at: _away(found.span(), spans[at]))
            columns[nearest].append(found[0])
    return [" ".join(words) for words in columns]


def _away(piece: tuple[int, int], span: tuple[int, int]) -> tuple[float, float]:
    """How far a piece stands from a column: first what lies between them, then the distance of their middles."""
    between = max(0, piece[0] - span[1], span[0] - piece[1])
    return between, abs(sum(piece) - sum(span)) / 2


def _by_words(head: str) -> list[str]:
    columns: list[list[str]] = []
    for word in head.split():
        joins = bool(columns) and bool(MEANS.match(columns[-1][-1]))
        if columns and (joins or not BEGINS.match(word)):
            columns[-1].append(word)
        else:
            columns.append([word])
    return [" ".join(words) for words in columns]


def kind_of(text: str) -> str:
    """What a column holds, by its text: a field of `SpinlockTrace`, `name`, `cpu`, `pc`, one of `UNTOLD` or `OTHER`."""
    words = text.lower()
    if re.search(r"\bpcs?\b|\bcaller|\bcalling\b", words):
        return PC
    if "cpu" in words:
        return CPU
    per_second, percent, micro = PER_SECOND.search(words), PERCENT.search(words), MICROSECONDS.search(words)
    if re.search(r"\bacq", words):
        return OTHER if percent or micro else "acquires_per_second" if per_second else "acquires?"
    if re.search(r"\bholds?\b", words):
        what = "hold"
    elif re.search(r"\b(?:spins?|spinwaits?|waits?)\b", words):
        what = "spin"
    else:
        return NAME if re.search(r"\bspin ?lock\b|\block\b|\bname\b", words) else OTHER
    if re.search(r"\b(?:max|maximum|min|minimum|longest|shortest|total)\b", words):
        return OTHER
    if percent or micro:
        return f"{what}_percent" if percent else f"{what}_microseconds"
    if what == "spin" and per_second:
        return "spins_per_second"
    return "spins?" if re.search(r"\b(?:spins|spinwaits|waits)\b", words) else f"{what}?" if not per_second else OTHER


def settled(kind: str, unit: str | None) -> str:
    """What a column without a unit holds where the run's unit is known; else `OTHER`, so that no count is a rate.

    With /RATES hold and spin are shares of the time (SDA's help); in what unit /TOTALS prints them is not known.
    """
    if kind not in UNTOLD:
        return kind
    if kind in ("acquires?", "spins?"):
        return {"rates": f"{kind[:-1]}_per_second", "totals": kind[:-1]}.get(unit or "", OTHER)
    return f"{kind[:-1]}_percent" if unit == "rates" else OTHER
