"""A little DCL: what a procedure of ours does, as far as it uses the language, with documented displays for answers.

It knows assignment, substitution of symbols (`'X'`, in a string `''X'`), IF, GOTO, labels, continuation lines, SPAWN,
and the few commands that a test gives answers for. Anything else is an error: then the procedure uses something new.
"""

import re
from collections.abc import Callable, Mapping, Sequence

LABEL = re.compile(r"\$ ([A-Z_]+):\Z")
ASSIGNED = re.compile(r"\$ ([A-Z]+) = (.+)\Z")
CONDITION = re.compile(r"\$ IF ([A-Z]+) \.(GT|GE|EQS)\. (\S+) THEN GOTO ([A-Z_]+)\Z")
GOTO = re.compile(r"\$ GOTO ([A-Z_]+)\Z")
SAY = re.compile(r'\$ SAY "((?:[^"]|"")*)"\Z')
LEXICAL = re.compile(r"F\$[A-Z]+\([^()]*(?:\([^()]*\))?[^()]*\)")
SPAWN = re.compile(r"\$ SPAWN/NOWAIT/NOLOG/INPUT=NL:/OUTPUT=NL: +")
SUMMARY = re.compile(
    r"\$ MONITOR (\S+?)/NODISPLAY/SUMMARY=(\S+?\.SUM)(?:/RECORD=\S+?\.DAT)?/INTERVAL=20/ENDING=\"\S+\"\Z"
)
LOGS = re.compile(r"/LOCK_TIMEOUT_LOG=(\S+?\.LOG)/DEADLOCK_LOG=(\S+?\.LOG) ")
MOST_STEPS = 1_000


class Unknown(AssertionError):
    """The procedure uses something that this does not know."""


class Procedure:
    """One run of a procedure; `output` is what `@COLLECT/OUTPUT=` would hold."""

    def __init__(self, script: str, answers: Callable[[str], str], files: Mapping[str, str]) -> None:
        """`answers`: the display of a command; `files`: what MONITOR (`ALIGN`) and RMU (`TIMEOUT`) write, by kind."""
        self.lines = self._joined(script.splitlines())
        self.answers, self.kinds, self.files = answers, files, dict[str, str]()
        self.symbols: dict[str, str | int] = {}
        self.output: list[str] = []
        self.ran: list[str] = []

    @staticmethod
    def _joined(lines: Sequence[str]) -> list[str]:
        """Lines of a command as one; comments are left out."""
        joined: list[str] = []
        for line in lines:
            if line.startswith("$!"):
                assert not line.endswith("-"), "a hyphen goes on with the next line"
            elif joined and joined[-1].endswith("-"):
                joined[-1] = joined[-1][:-1].rstrip() + " " + line.strip()
            else:
                joined.append(line)
        return joined

    def run(self, *parameters: str) -> str:
        """Run it with these parameters and give its output."""
        self.symbols |= {f"P{at}": "" for at in range(1, 9)} | {f"P{at}": one for at, one in enumerate(parameters, 1)}
        at = steps = 0
        while at < len(self.lines):
            steps += 1
            assert steps < MOST_STEPS, "it goes round for ever"
            line = self._substituted(self.lines[at])
            if line == "$ EXIT":
                return "".join(self.output)
            at = self._step(at, line)
        raise Unknown("no EXIT at the end")

    def _step(self, at: int, line: str) -> int:
        """Do one line; gives the number of the next."""
        if found := CONDITION.match(line):
            held = {"GT": lambda a, b: int(a) > int(b), "GE": lambda a, b: int(a) >= int(b), "EQS": str.__eq__}[
                found[2]
            ]
            met = held(str(self._value(found[1])), str(self._value(found[3])))
            return self._place(found[4]) if met else at + 1
        if found := GOTO.match(line):
            return self._place(found[1])
        if line in ("$ SET NOON", '$ SAY = "WRITE SYS$OUTPUT"') or LABEL.match(line) or line.startswith("$ WAIT "):
            return at + 1
        if found := ASSIGNED.match(line):
            self.symbols[found[1]] = self._value(found[2])
            return at + 1
        if found := SAY.match(line):
            self.output.append(found[1].replace('""', '"') + "\n")
            return at + 1
        if line == "$ ANALYZE/SYSTEM":
            end = self.lines.index("EXIT", at)
            for command in self.lines[at + 1 : end]:
                assert not command.startswith("$")
                self._asked(f"SDA> {command}")
            return end + 1
        self._command(line)
        return at + 1

    def _command(self, line: str) -> None:
        line = SPAWN.sub("$ ", line)
        if found := SUMMARY.match(line):
            self.files[found[2]] = self.kinds["ALIGN" if found[1] == "ALIGN" else "MONITOR"]
            self.ran.append(line)
        elif line.startswith("$ RMU/SHOW STATISTICS/"):
            logs = LOGS.search(line)
            assert logs
            self.files |= {logs[1]: self.kinds["TIMEOUT"], logs[2]: self.kinds["DEADLOCK"]}
            self.ran.append(line)
        elif line.startswith("$ TYPE LOCKWRIGHT_"):
            self.output.append(self.files[line.removeprefix("$ TYPE ")])
        elif line.startswith("$ "):
            self._asked(line)
        else:
            raise Unknown(line)

    def _asked(self, line: str) -> None:
        self.ran.append(line)
        self.output.append(self.answers(line))

    def _place(self, label: str) -> int:
        return self.lines.index(f"$ {label}:")

    def _substituted(self, line: str) -> str:
        """Put the values of symbols in: `''X'` within strings, `'X'` outside."""
        parts = re.split(r'("(?:[^"]|"")*")', line)
        return "".join(
            re.sub(r"''([A-Z0-9]+)'" if part.startswith('"') else r"'([A-Z0-9]+)'", self._symbol, part)
            for part in parts
        )

    def _symbol(self, found: re.Match[str]) -> str:
        return str(self.symbols[found[1]])

    def _value(self, expression: str) -> str | int:
        """The value of an expression: numbers and strings, added; every lexical function is `12`."""
        terms = [one.strip() for one in LEXICAL.sub('"12"', expression).split(" + ")]
        values = [self._term(one) for one in terms]
        if all(isinstance(one, int) for one in values):
            return sum(int(one) for one in values)
        return "".join(map(str, values))

    def _term(self, term: str) -> str | int:
        if re.fullmatch(r'"[^"]*"', term):
            return term[1:-1]
        if term.isdecimal():
            return int(term)
        if term in self.symbols:
            return self.symbols[term]
        raise Unknown(term)
