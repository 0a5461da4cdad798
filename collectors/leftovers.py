"""What no reader understood: runs of lines, bounded; and what is no loss, because it says nothing."""

import re
from collections.abc import Iterable, Sequence
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
NOISE_BEGINS = "g(R$%SsMmDd\u017f"
"""First characters of noise that holds no `>`; regardless of case U+017F is an s."""


def is_noise(line: str) -> bool:
    """Whether a line wraps an export and says nothing: blank, a rule, a prompt, a row count. Never a leftover."""
    if not line.strip(RULES):
        return True
    text = line.strip()
    return (text[0] in NOISE_BEGINS or ">" in text) and NOISE.fullmatch(text) is not None


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
        if not is_noise(text):
            self._add_run(number, [text])

    def extend(self, first: int, lines: Sequence[str]) -> None:
        """Take lines that follow each other, the first of which has this number, without the noise among them."""
        kept: list[str] = []
        for number, line in enumerate(lines, first):
            if not is_noise(line):
                kept.append(line)
            elif kept:
                self._add_run(number - len(kept), kept)
                kept = []
        if kept:
            self._add_run(first + len(lines) - len(kept), kept)

    def _add_run(self, first: int, lines: Sequence[str]) -> None:
        """Take lines that are no noise; the last run goes on where it ended above them."""
        last = first + len(lines) - 1
        begun = self.runs.pop() if self.runs and self.runs[-1].last == first - 1 else None
        if begun is None and len(self.runs) >= MOST_LEFTOVERS:
            self.dropped += len(lines)
        elif begun and len(begun.text) >= LEFTOVER_TEXT:
            self.runs.append(Leftover(begun.first, last, begun.text))
        else:
            texts = [begun.text] if begun else []
            texts += [line.rstrip() for line in lines[:LEFTOVER_TEXT]]  # with the line ends, these are more than enough
            self.runs.append(Leftover(begun.first if begun else first, last, "\n".join(texts)[:LEFTOVER_TEXT]))

    def take(self, runs: Iterable[Leftover]) -> None:
        """Take runs that a reader collected, within the same bound."""
        for run in runs:
            if len(self.runs) < MOST_LEFTOVERS:
                self.runs.append(run)
            else:
                self.dropped += run.last - run.first + 1

    def understood(self, first: int, last: int) -> None:
        """Take these lines back: a report that began below them read them."""
        withdraw(self.runs, first, last)


def withdraw(runs: list[Leftover], first: int, last: int) -> None:
    """Take these lines out of the runs that end with them."""
    while runs and first <= runs[-1].last <= last:
        run = runs.pop()
        if kept := run.text.split("\n")[: max(0, first - run.first)]:
            runs.append(Leftover(run.first, first - 1, "\n".join(kept)))
