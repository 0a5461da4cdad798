"""What a file is that no reader takes, where that can be told, and how to have it in a form that is read."""

import re
from collections.abc import Sequence

LINES_LOOKED_AT = 400
"""This project: what a file is stands in its beginning."""
LONGEST = 2_000
ROWS_OF_FIGURES = 3
"""This project: so many rows of the same number of figures, and nothing else, are a table without its heading."""
SHARE_OF_FIGURES = 0.8

HTML = re.compile(r"<(?:!doctype html|html|table|tr|td|th)\b", re.IGNORECASE)
AS_TEXT = "save the listing as plain text as isql prints it (isql -w 2000 -o FILE, then {0})"
OF_HTML = (
    (re.compile(r"Parameter ?Name|Config ?Value|sp_configure|lock hashtable size", re.IGNORECASE), "sp_configure"),
    (re.compile(r"Cache ?Name|default data cache|sp_cacheconfig|sp_helpcache", re.IGNORECASE), "sp_cacheconfig"),
    (re.compile(r"System Performance Report|sp_sysmon", re.IGNORECASE), 'sp_sysmon "00:10:00"'),
    (re.compile(r"\bmon[A-Z][A-Za-z]{3,30}\b|SpinlockName"), "select * from master..monSpinlockActivity"),
)
ANY_HTML = "a page of HTML: save it as plain text, with the blanks between its columns, or as CSV"
SCREEN = re.compile(
    r"^\s*statistic\.{3,}\s|^\s*name\.{3,}\s+max\.{2,}"
    r"|^\s*(?:locks (?:requested|promoted|demoted|released)|(?:rqsts|proms) (?:not queued|stalled|deadlocked|timeouts?)"
    r"|blocking ASTs|transactions|verb successes|verb failures)(?:\s+[0-9][0-9,.]*){3,}\s*$",
    re.IGNORECASE | re.MULTILINE,
)
"""Rows of figures as the screens have them, not prose about them."""
OF_SCREEN = (
    "a screen of RMU/SHOW STATISTICS without its title and node, as copied from the terminal: write it with the key W "
    "(Write screen) and collect that file; before 7.2.5, or where it is cut, with a terminal of 132 columns"
)
FIGURE = re.compile(r"[-+]?[0-9][0-9.,]*(?:[eE][-+]?[0-9]+)?%?")
HEADLESS = (
    "rows of figures without a heading: put one line above them that names the columns, a load and a rate "
    "(users,throughput), or the columns of the table it was copied from (bcp prints none: name the file as its table)"
)
NAMED = (
    "rows of figures below a heading that is not understood: name a load and a rate in it (users,throughput); of "
    "several machines side by side the rate with each name in brackets (users,tps (OLD),tps (NEW)), or each machine "
    "with its clock or its cores"
)
WORD = re.compile(r"[A-Za-z]{2}")


def hint_of(lines: Sequence[str]) -> str | None:
    """What the beginning of a file shows it to be, and what to collect instead; `None` where nothing is known of it."""
    lines = [line[:LONGEST] for line in lines if line.strip()]
    text = "\n".join(lines)
    if HTML.search(text):
        command = next((command for pattern, command in OF_HTML if pattern.search(text)), None)
        return f"a page of HTML: {AS_TEXT.format(command)}" if command else ANY_HTML
    if SCREEN.search(text):
        return OF_SCREEN
    if not _headless(lines):
        return None
    return NAMED if WORD.search(lines[0]) else HEADLESS


def _headless(lines: Sequence[str]) -> bool:
    """Whether nearly all lines are rows of figures, of the same number each."""
    rows = [re.split(r"[;\t|]|,(?=\s*[-+0-9])|\s+", line.strip()) for line in lines]
    figures = [len(row) for row in rows if len(row) > 1 and all(FIGURE.fullmatch(cell) for cell in row if cell)]
    alike = max((figures.count(width) for width in set(figures)), default=0)
    return alike >= ROWS_OF_FIGURES and alike >= SHARE_OF_FIGURES * len(lines)
