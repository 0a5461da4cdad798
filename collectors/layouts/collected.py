"""The manifest of a live collection, of whatever product: its lines, and what was missing or failed as problems."""

from collections.abc import Mapping, Sequence
from typing import Any

from collectors import manifest
from collectors.facts.base import Fact, Source
from collectors.registry import Outcome

MOST_PROBLEMS = 100
LONGEST = 600
REMEDY = "upload the files as they were collected"


class Collected:
    """Takes the lines of one manifest; fed, because some of them would begin other kinds of report."""

    product = ""

    def __init__(self, file: str, before: Sequence[str]) -> None:
        """Start with a file."""
        self.file, self.first, self.last = file, 0, 0
        self.lines: list[str] = []
        self.size = 0

    def feed(self, first: int, lines: Sequence[str]) -> int:
        """Take lines up to the brace that ends it."""
        self.first = self.first or first
        for taken, line in enumerate(lines, 1):
            self.lines.append(line)
            self.size += len(line)
            self.last = first + taken - 1
            if line == "}" or self.size > manifest.LARGEST:
                return taken
        return len(lines)

    def close(self) -> Outcome:
        """Hand over the facts, and what was missing or failed."""
        one = manifest.read("\n".join(self.lines).encode())
        if one is None or one.data.get("product") != self.product:
            return Outcome(problems=[f"a manifest that is cut or damaged was not read: {REMEDY}"])
        said = [_said(entry, "what", "how") for entry in one.missing]
        said += [_said(entry, "question", "why", "do") for entry in one.left_out if entry.get("do")]
        said += [f"only a part was asked for: {text(bound)}" for entry in one.entries for bound in _bounds(entry)]
        if len(said) > MOST_PROBLEMS:
            said[MOST_PROBLEMS:] = [f"{len(said) - MOST_PROBLEMS:,} more questions were not answered: see the file"]
        return Outcome(self.facts(one, Source(self.file, self.first, self.last)), problems=said)

    def facts(self, one: manifest.Manifest, source: Source) -> list[Fact]:
        """What it says of the system itself."""
        raise NotImplementedError


def _said(entry: Mapping[str, Any], *names: str) -> str:
    return ": ".join(said for name in names if (said := text(entry.get(name))))


def text(what: object) -> str:
    """A text of the file as it can be printed; nothing for anything else."""
    found = what[:LONGEST] if isinstance(what, str) else ""
    return "".join(char if char.isprintable() else "?" for char in found)


def _bounds(entry: Mapping[str, Any]) -> list[str]:
    found = entry.get("bounded")
    return [one for one in found if isinstance(one, str)] if isinstance(found, list) else []
