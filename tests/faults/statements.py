"""What a process says to its database, as PostgreSQL logs it, and which statements are committed together."""

import re
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

LOGGED = {"PGOPTIONS": "-c log_statement=all -c log_parameter_max_length=0"}
"""In the environment of a process: the server logs each statement of its connections."""
STATEMENT = re.compile(r"^(\S+ \S+) \S+ \[(\d+)\] LOG:  (?:statement|execute \S+): (.*?)(?=^\S|\Z)", re.M | re.S)
READS = ("SELECT", "DECLARE", "FETCH", "CLOSE", "SHOW", "SET")


@dataclass(frozen=True)
class Commit:
    """What was committed together: a statement of its own, or all of a transaction from BEGIN to COMMIT."""

    at: datetime
    """When the server began with the last of them, to the millisecond."""
    statements: tuple[str, ...]

    @property
    def counts(self) -> bool:
        """Whether it wrote, or was asked for: a single SELECT costs its answer alone."""
        return len(self.statements) > 1 or not self.statements[0].startswith(READS)

    def count(self, verb: str, table: str) -> int:
        """How many of its statements are of this kind: `INSERT` and a table, say."""
        wanted = {"INSERT": f'INSERT INTO "{table}" ', "UPDATE": f'UPDATE "{table}" '}[verb]
        return sum(one.startswith(wanted) for one in self.statements)

    def has(self, verb: str, table: str) -> bool:
        """Whether any is."""
        return bool(self.count(verb, table))

    def is_of(self, verb: str, table: str) -> bool:
        """Whether it is one such statement and nothing else."""
        return len(self.statements) == 1 and self.has(verb, table)

    def __str__(self) -> str:
        return "; ".join(one[:300] for one in self.statements)


def commits(log: Path, start: int = 0) -> list[Commit]:
    """What was committed since the log of a server had `start` bytes; what was rolled back, or lasts, is left out."""
    made: list[Commit] = []
    begun: dict[str, list[str]] = {}
    for at, process, found in STATEMENT.findall(log.read_bytes()[start:].decode(errors="replace")):
        statement = " ".join(found.split())
        if statement.startswith("BEGIN"):
            begun[process] = []
        if process not in begun:
            made.append(Commit(datetime.fromisoformat(at), (statement,)))
            continue
        begun[process].append(statement)
        if statement in ("COMMIT", "ROLLBACK"):
            whole = begun.pop(process)
            made += [Commit(datetime.fromisoformat(at), tuple(whole))] if statement == "COMMIT" else []
    return made
