"""The figures at the end of a line of an sp_sysmon report, told from the line's shape (every digit a `0`).

Rows are matched from the right (ase-formats.md 1.3 [R]): 3 or 4 figures, the last one often with ` %`::

    Granted                           0.0           0.0         000     000.0 %
    Total EX-Table Requests           0.0           0.0           0
    Avg Chain Length                  n/a           n/a     0.00000       n/a

The T-SQL procedure prints fixed columns, so a figure outside its column has lost characters on the way.
"""

import re

NUMBER = r"-?0{1,18}(?:\.0{0,18})?"
FIGURE = re.compile(NUMBER)
LONGEST_TAIL = 400
MOST_FIGURES = 5
"""Four columns, and a number that may end the label: `Engine 7`."""
GRID = (0, 14, 26, 36)
"""Where the four figures end, counted from the end of the first."""
FIRST_ENDS = 41
"""Column where the first one ends; 40 or 42 in a few rows of some sections [R]."""

Token = tuple[int, int, str, bool]
"""Start, end, kind, and whether a % follows.

Kinds: `d` decimal, `i` integer, `n` n/a, `*` asterisks, `%` a per cent sign that has no figure before it.
"""


def figures_of(shape: str) -> list[Token]:
    """The figures at the end of a line, from left to right, five at most."""
    tokens: list[Token] = []
    skipped = max(0, shape.find(" ", len(shape) - LONGEST_TAIL)) if len(shape) > LONGEST_TAIL else 0
    percent = 0
    for found in reversed(list(re.finditer(r"\S+", shape[skipped:]))):
        start, end, word = found.start() + skipped, found.end() + skipped, found[0]
        if word == "%" and not percent:
            percent = end
            continue
        own = len(word) > 1 and word.endswith("%") and not percent
        kind = _kind(word.removesuffix("%") if own else word)
        if percent and kind not in ("d", "i", "*"):  # NV Cache prints `n/a   %`: a sign without a figure
            tokens.append((percent - 1, percent, "%", False))
            percent = 0
        if kind and not (own and kind == "n"):
            tokens.append((start, end - own, kind, bool(percent) or own))
        elif len(tokens) > 1 and (glued := re.fullmatch(r"\S*[A-Za-z)](\*{5,40})", word)):
            # a figure as wide as its column touches the label: `Discarded (MRU) Buffers************`
            tokens.append((end - len(glued[1]), end, "*", False))
            percent = 0
            break
        else:
            break
        percent = 0
        if len(tokens) == MOST_FIGURES:
            break
    if percent and len(tokens) < MOST_FIGURES:
        tokens.append((percent - 1, percent, "%", False))
    return tokens[::-1]


def _kind(word: str) -> str:
    if FIGURE.fullmatch(word):
        return "d" if "." in word else "i"
    if word.lower() == "n/a":
        return "n"
    return "*" if word and not word.strip("*") else ""


def standard(tokens: list[Token]) -> list[Token]:
    """Those of the four columns `per sec`, `per xact`, `count`, `% of total` (which may be missing); or none."""
    for many in (4, 3):
        last = tokens[-many:]
        if len(last) == many and _is_standard(last):
            return last
    return []


def _is_standard(tokens: list[Token]) -> bool:
    """Per second and per transaction have a decimal point, the count may; the fourth has a % or is n/a (or 100.0)."""
    (_, _, rate, _), (_, _, each, _), (_, _, count, _) = tokens[:3]
    if any(percent for _, _, _, percent in tokens[:3]) or rate in "i%" or each in "i%" or count == "%":
        return False
    return len(tokens) == 3 or tokens[3][3] or tokens[3][2] != "i"


def percents(tokens: list[Token]) -> list[Token]:
    """The figures with a per cent sign that end the line; none if what stands before them is no part of a label."""
    last: list[Token] = []
    for token in reversed(tokens):
        if not token[3]:
            break
        last.insert(0, token)
    before = tokens[: len(tokens) - len(last)]
    return last if len(before) < 2 and all(kind == "i" for _, _, kind, _ in before) else []


def stray_of(shape: str, tokens: list[Token]) -> int:
    """How far the figures stand from where the layout puts them: 0 not at all, 1 all by one column, 2 some elsewhere.

    n/a, and a figure without its % or glued to it, stray in sound reports too [R]. So do whole rows, by one column, in
    some sections.
    """
    first = tokens[0][1]
    for place, (column, (_, end, kind, percent)) in enumerate(zip(GRID, tokens, strict=False)):
        loose = place == 3 and (kind in "n%" or not percent or shape[end] == "%")
        if end != first + column and not loose:
            return 2
    tabs = len(shape.expandtabs()) - len(shape)
    return min(abs(first + tabs - FIRST_ENDS), 2)
