"""What no reader understood: runs of lines, bounded; and what is no loss, because it says nothing."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

MOST_LEFTOVERS = 1000
"""Runs of lines kept per input; beyond that they are counted."""
LEFTOVER_TEXT = 200

RULES = " \t-=+|_*~"
"""Characters of rules and box drawing."""
NOISE = re.compile(
    r"""
      (?:[0-9]+:)?[0-9]+>.*                         # isql prompts, echoed input with them
    | go(?:[ ]*;)?
    | \([0-9]+[ ]rows?[ ]affected\)(?:[ ]*;)?
    | Rows[ ][0-9]+
    | \(return[ ]status[ ]=[ ]-?[0-9]+\)
    | (?i:sp_\w+\b.*|dbcc[ ].*|(?:mcr[ ])?sysgen\b.*|mcr[ ].*)
    | \$(?:[ ].*)?                                  # DCL prompt and commands
    | %SYSMAN-I-OUTPUT,.*
    | (?:SYSGEN|SYSMAN|SYSBOOT|SDA)>.*
    | [^\s>]{1,32}[ ]?>[ ]{0,4}(?i:show|set|mc|mcr|run)\b.*   # a site's own DCL prompt
    """,
    re.VERBOSE,
)
"""What wraps an export and says nothing, without the blanks around it."""


def is_noise(line: str) -> bool:
    """Whether a line wraps an export and says nothing: blank, a rule, a prompt, a row count. Never a leftover."""
    return not line.strip(RULES) or NOISE.fullmatch(line.strip()) is not None


@dataclass(frozen=True)
class Leftover:
    """A run of lines nobody understood."""

    first: int
    last: int
    text: str


class Leftovers:
    """Collects lines not understood as runs, with a bound."""

    def __init__(self) -> None:
        """Start empty."""
        self.runs: list[Leftover] = []
        self.dropped = 0

    def add(self, number: int, text: str) -> None:
        """Take one line, unless it is noise."""
        if is_noise(text):
            return
        if self.runs and self.runs[-1].last == number - 1:
            last = self.runs[-1]
            text = last.text if len(last.text) >= LEFTOVER_TEXT else f"{last.text}\n{text.rstrip()}"
            self.runs[-1] = Leftover(last.first, number, text[:LEFTOVER_TEXT])
        elif len(self.runs) < MOST_LEFTOVERS:
            self.runs.append(Leftover(number, number, text.rstrip()[:LEFTOVER_TEXT]))
        else:
            self.dropped += 1

    def take(self, runs: Iterable[Leftover]) -> None:
        """Take runs that a reader collected, within the same bound."""
        for run in runs:
            if len(self.runs) < MOST_LEFTOVERS:
                self.runs.append(run)
            else:
                self.dropped += run.last - run.first + 1

    def understood(self, first: int, last: int) -> None:
        """Take these lines back: a report that began below them read them."""
        take_back(self.runs, first, last)


def take_back(runs: list[Leftover], first: int, last: int) -> None:
    """Take these lines out of the runs that end with them."""
    while runs and first <= runs[-1].last <= last:
        run = runs.pop()
        if kept := run.text.split("\n")[: max(0, first - run.first)]:
            runs.append(Leftover(run.first, first - 1, "\n".join(kept)))
