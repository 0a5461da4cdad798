"""The text of one statement of the statement cache (`select show_cached_text(<SSQLID>)`).

Its number stands in the question alone, which isql echoes; the text has as many lines as the client makes of it::

    1> select show_cached_text(481204)
    2> go

     ------------------------------------------
     SELECT n FROM till WHERE
     id = @@@V0_INT

    (1 row affected)

A line as long as the dashes above was cut in the middle: what is below it goes on without a blank.
"""

import re
from collections.abc import Iterator

from collectors.facts.ase import CachedText
from collectors.registry import NotThisReport, Report, report
from collectors.statement_text import on_one_line

ASKED = re.compile(
    r"\s{0,9}(?:[0-9]{1,4}>\s{0,9})?select\s{1,9}(?:\w{1,60}\s{0,9}=\s{0,9})?show_cached_text(?:_long)?\s{0,9}"
    r"\(\s{0,9}(?P<id>[0-9]{1,12})\s{0,9}\)\s{0,9}(?:as\s{1,9})?\w{0,60}\s*$",
    re.IGNORECASE,
)
START = re.compile(f"^{ASKED.pattern.replace('?P<id>', '?:')}", re.IGNORECASE)
RULE = re.compile(r"\s{0,9}-{3,16384}\s*$")
ENDS = re.compile(r"\s*$|\s{0,9}(?:\([0-9]{1,9} rows? affected\)|[0-9]{1,4}>|Msg [0-9])", re.IGNORECASE)
BELOW, LONGEST = 8, 400
"""Lines from the question down to its rule of dashes, and of one text, at most."""


@report(starts=START, provides=(CachedText,))
def read(report: Report) -> Iterator[CachedText]:
    """Yield one fact for each question that has an answer."""
    found, lines = 0, report.lines
    for index, line in enumerate(lines):
        asked = ASKED.match(line)
        below = range(index + 1, min(index + BELOW, len(lines))) if asked else ()
        rule = next((at for at in below if RULE.match(lines[at])), None)
        if not asked or rule is None:
            continue
        rest = range(rule + 1, min(rule + LONGEST, len(lines)))
        end = next((at for at in rest if ENDS.match(lines[at])), None)
        if end is None or end == rule + 1:  # without its end it may go on
            continue
        found += 1
        report.claim(index, end - 1)
        width, said = len(lines[rule].rstrip()), ""
        for piece in lines[rule + 1 : end]:
            said += piece[1:] if len(piece.rstrip()) >= width else f"{piece.strip()} "
        text = on_one_line(said)
        if text and text != "NULL":
            yield CachedText(statement=int(asked["id"]), text=text, source=report.source(index, end - 1))
    if not found:
        raise NotThisReport
