"""The batch of one session (`dbcc sqltext(<spid>)`, which prints it to the client after `dbcc traceon(3604)`).

Its session stands in the command alone, which isql echoes; the batch may have several lines::

    1> dbcc sqltext(44)
    2> go
    SQL Text: update till set amount = 12
    where id = 7
    DBCC execution completed. If DBCC printed error messages, contact a user with System Administrator (SA) role.

The trace flag may be set in the same line. A text without the command before it is nobody's and stays a leftover. The
fact is that of `monProcessSQLText`.
"""

import re
from collections.abc import Iterator

from collectors.facts.ase import MonProcessSQLText
from collectors.registry import NotThisReport, Report, report
from collectors.statement_text import on_one_line

ASKED = re.compile(
    r"\s{0,9}(?:[0-9]{1,4}>\s{0,9})?(?:dbcc\s{1,9}traceon\s{0,9}\(\s{0,9}3604\s{0,9}\)\s{1,9})?"
    r"dbcc\s{1,9}sqltext\s{0,9}\(\s{0,9}(?P<spid>[0-9]{1,9})\s{0,9}\)",
    re.IGNORECASE,
)
SAID = re.compile(r"\s{0,9}SQL Text\s{0,3}:\s?(?P<text>.{0,16000})", re.IGNORECASE)
BETWEEN = re.compile(
    r"\s*(?:(?:[0-9]{1,4}>\s{0,9})?(?:go\b.{0,40}|print\b.{0,200})?|DBCC execution completed.{0,200})\s*$", re.I
)
ENDS = re.compile(r"\s{0,9}(?:DBCC execution completed|[0-9]{1,4}>|\(return status|Msg [0-9])", re.IGNORECASE)
START = re.compile(f"^{ASKED.pattern.replace('?P<spid>', '?:')}", re.IGNORECASE)
LONGEST = 400
"""Lines of a batch that are looked at."""


@report(starts=START, provides=(MonProcessSQLText,))
def read(report: Report) -> Iterator[MonProcessSQLText]:
    """Yield one fact for each command that has an answer."""
    found, lines = 0, report.lines
    for index, line in enumerate(lines):
        if not (asked := ASKED.match(line)):
            continue
        at = next((at for at in range(index + 1, len(lines)) if not BETWEEN.match(lines[at])), len(lines))
        said = SAID.match(lines[at]) if at < len(lines) else None
        below = range(at + 1, min(at + LONGEST, len(lines)))
        end = next((one for one in below if ENDS.match(lines[one])), None)
        if not said or end is None:  # without its end it is not known where the text stops
            continue
        found += 1
        report.claim(index, end if "DBCC" in lines[end].upper() else end - 1)
        whole = "\n".join((said["text"], *lines[at + 1 : end])).strip()
        yield MonProcessSQLText(
            spid=int(asked["spid"]), text=on_one_line(whole) or None, source=report.source(index, end - 1)
        )
    if not found:
        raise NotThisReport
