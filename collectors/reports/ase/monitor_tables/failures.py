"""Queries that failed: what the server said in place of rows, and what to do about it."""

import re
from collections.abc import Callable

MESSAGE = re.compile(r"\s{0,4}Msg (?P<number>[0-9]{1,6}), Level (?P<level>[0-9]{1,2}), State (?P<state>[0-9]{1,6})")
TABLE = re.compile(r"\b(mon[A-Z][A-Za-z]{3,40}|sysmonitors)\b")
HARMLESS = 10
"""Up to this level a message informs."""
MOST_LINES = 6
NO_ROLE = frozenset((10353, 10330, 229, 230))
"""Role missing, permission denied [R] for the first; the others are the server's numbers for permission denied."""
NOT_FOUND = frozenset((208,))
SWITCHED_OFF = frozenset((12036, 12037))


NO_MATTER = re.compile(r"\s{0,4}(?:Server '|Line [0-9])")


MOST_PROBLEMS = 100
"""Problems told one by one; the others are counted."""


class Problems:
    """What is wrong with one run of tables, in the order of its lines."""

    def __init__(self) -> None:
        """Start with nothing wrong."""
        self.found: list[tuple[int, str]] = []
        self.dropped = 0

    def tell(self, what: str, line: int) -> None:
        """Note a problem of this line."""
        if len(self.found) < MOST_PROBLEMS:
            self.found.append((line, f"line {line}: {what}"))
        else:
            self.dropped += 1

    def all(self) -> list[str]:
        """Every problem, as a sentence."""
        told = [text for _, text in sorted(self.found, key=lambda one: one[0])]
        return [*told, f"{self.dropped:,} more problems of these tables"] if self.dropped else told


class Failures:
    """Gathers the lines of one message of the server, and tells what it means."""

    def __init__(self, tell: Callable[[str, int], None]) -> None:
        """Begin without a message; `tell` takes a problem and its line."""
        self.tell = tell
        self.line = self.number = self.level = 0
        self.lines: list[str] | None = None

    def take(self, number: int, line: str) -> bool:
        """Take a line that begins a message or goes on with one."""
        if found := MESSAGE.match(line):
            self.end(None)
            self.line, self.number, self.level, self.lines = number, int(found["number"]), int(found["level"]), []
            return True
        if self.lines is None or len(self.lines) >= MOST_LINES:
            return False
        self.lines.append(line)
        return True

    def end(self, asked: str | None) -> bool:
        """End the message; `asked` is the table that was asked for. Whether a query failed."""
        lines, self.lines = self.lines, None
        if lines is None or self.level <= HARMLESS:
            return False
        said = " ".join(line for line in lines if not NO_MATTER.match(line))
        self.tell(explain(self.number, said, asked), self.line)
        return True


def explain(number: int, text: str, table: str | None) -> str:
    """One sentence: which table could not be read, why, and the remedy."""
    named = TABLE.search(text)
    what = named[1] if named else table or "a query"
    said = " ".join(text.split())[:160]
    reason = f'{what} was not read, the server said "{said}"' if said else f"{what} was not read (Msg {number})"
    return f"{reason}: {_remedy(number, text, what)}"


def _remedy(number: int, text: str, what: str) -> str:
    low = text.lower()
    if number in SWITCHED_OFF or "enable monitoring" in low or "configuration option" in low:
        return 'switch it on with sp_configure "enable monitoring", 1 and the switch the message names, then ask again'
    refused = number in NO_ROLE or "permission denied" in low
    if refused and what == "sysmonitors":
        return "it needs sa_role; from 15.7 on master..monSpinlockActivity says the same with mon_role"
    if refused or "mon_role" in low or "role(s)" in low:
        return 'sp_role "grant", mon_role, <login>, then log in and ask again'
    if number in NOT_FOUND or "not found" in low:
        return "this release has no such table, or the monitoring tables are not installed (installmaster)"
    return "ask for it again"
