"""The text of stored procedures: a script, `defncopy`, or `sp_helptext <procedure>`.

As it was created::

    create procedure take_ticket @hall int as
    begin tran
       update seat_no set n = n + 1 where hall = @hall
       insert ticket (hall, taken) values (@hall, getdate())
    commit tran
    go

* A procedure ends at `go`, the return status, the next prompt of isql, or the next procedure.
* Values are taken out of the text where it is read (`statement_text`), and comments with them.
* A text without variables (`@name`) and without `begin tran` may be of another product, and is left alone where no
  `sp_helptext` or its heading stands above it.
* `sp_helptext` cuts long texts into rows of 255 characters; a word that is cut there is not put together again.
"""

import re
from collections.abc import Iterator
from itertools import pairwise

from collectors.facts.ase import ProcedureText
from collectors.registry import NotThisReport, Report, report
from collectors.statement_text import without_literals

CREATE = r"^\s{0,4}(?:[0-9]{1,4}>\s{0,4})?create\s{1,9}(?:or\s{1,9}replace\s{1,9})?proc(?:edure)?\s{1,9}"
START = re.compile(rf"{CREATE}[\w#$@\[\"]", re.IGNORECASE)
NAME = re.compile(rf"{CREATE}(?P<name>[\w#$@.\[\]\"]{{1,255}})", re.IGNORECASE)
END = re.compile(r"\s*(?:[0-9]{1,4}>\s*)?(?:go|\(return status\b.*|\([0-9]+ rows? affected\))\s*$|1>\s", re.IGNORECASE)
PROMPT = re.compile(r"^\s{0,4}[0-9]{1,4}> ?")
ASKED_ABOVE = 3
"""Lines of isql above what `sp_helptext` prints: `go`, and the call."""
AROUND = re.compile(
    r"\s*(?:(?:#\s*)?Lines of Text|text|[0-9]+|[-\s]*|\([0-9]+ rows? affected\)|/\*.*\*/|--.*)\s*$", re.IGNORECASE
)
"""What `sp_helptext` and `defncopy` print above a text."""
HELPTEXT = re.compile(r"\bsp_helptext\b|^\s*#\s*Lines of Text\b", re.IGNORECASE)
OURS = re.compile(r"@\w|\bbegin\s+tran", re.IGNORECASE)


@report(starts=START, provides=(ProcedureText,))
def read(report: Report) -> Iterator[ProcedureText]:
    """Yield one fact per procedure."""
    report.above = next(
        (above for above, line in enumerate(reversed(report.before)) if not AROUND.match(line)), len(report.before)
    )
    above = report.before[max(0, len(report.before) - report.above - ASKED_ABOVE) :]
    if not any(OURS.search(line) for line in report.lines) and not any(HELPTEXT.search(line) for line in above):
        raise NotThisReport
    starts = [index for index, line in enumerate(report.lines) if NAME.match(line)]
    for at, after in pairwise([*starts, len(report.lines)]):
        end = next((index for index in range(at + 1, after) if END.match(report.lines[index])), after)
        lines = [PROMPT.sub("", line) for line in report.lines[at:end]]
        found = NAME.match(report.lines[at])
        name = re.sub(r"[\[\]\"]", "", found["name"]) if found else ""
        report.claim(at, end - 1)
        if end < after and report.lines[end].strip().lower().endswith("go"):
            report.claim(end)
        yield ProcedureText(
            source=report.source(at, end - 1),
            procedure=name.split(".")[-1],
            text=without_literals("\n".join(lines)),
        )
