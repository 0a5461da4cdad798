"""What Lockwright collected from a server itself, and what it could not (`manifest.json` beside the exports).

Written by `manage.py collect`; its first line tells it from other manifests::

    {"format": "lockwright-collected/1",
     "server": "LARCH_ASE",
     "version": "Adaptive Server Enterprise/15.7/EBF 20369 SMP SP61 /P/x86_64/…",
     "missing": [{"what": "the login has no mon_role: …", "how": "sp_role 'grant', mon_role, <login> …"}],
     "left_out": [{"question": "tables of archive", "why": "Msg 921: …", "do": "add the login to that database …"}],

It names the server. What was missing and what failed become problems with their remedies; a question that was left out
because nobody wanted it, or because the release has no such table, is none. The files themselves are held against
their checksums when they are opened (`collectors.intake`).
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from collectors import manifest
from collectors.facts.ase import Server
from collectors.facts.base import Source
from collectors.kit import Outcome, stream

START = re.compile(r'^\{"format": "lockwright-collected/1",')
VERSION = re.compile(r"Adaptive Server Enterprise/")
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_$#@-]{0,29}")
MOST_PROBLEMS = 100
LONGEST = 600
REMEDY = "bring the files as they were collected"


@stream(starts=START, provides=(Server,), rank=10)
class Collected:
    """Takes the lines of one manifest; fed, because some of them would begin other kinds of report."""

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
        """Hand over the server, and what was missing or failed."""
        one = manifest.read("\n".join(self.lines).encode())
        if one is None or one.data.get("product") != "ase":
            return Outcome(problems=[f"a manifest that is cut or damaged was not read: {REMEDY}"])
        said = [_said(entry, "what", "how") for entry in one.missing]
        said += [_said(entry, "question", "why", "do") for entry in one.left_out if entry.get("do")]
        said += [f"only a part was asked for: {_text(bound)}" for entry in one.entries for bound in _bounds(entry)]
        if len(said) > MOST_PROBLEMS:
            said[MOST_PROBLEMS:] = [f"{len(said) - MOST_PROBLEMS:,} more questions were not answered: see the file"]
        return Outcome(list(self._server(one)), problems=said)

    def _server(self, one: manifest.Manifest) -> Iterator[Server]:
        name, version = _text(one.data.get("server")), _text(one.data.get("version"))
        if NAME.fullmatch(name):
            text = " ".join(VERSION.sub("", version, count=1).split()) or None
            yield Server(source=Source(self.file, self.first, self.last), name=name, version=text)


def _said(entry: Mapping[str, Any], *names: str) -> str:
    return ": ".join(text for name in names if (text := _text(entry.get(name))))


def _text(what: object) -> str:
    """A text of the file as it can be printed; nothing for anything else."""
    text = what[:LONGEST] if isinstance(what, str) else ""
    return "".join(char if char.isprintable() else "?" for char in text)


def _bounds(entry: Mapping[str, Any]) -> list[str]:
    found = entry.get("bounded")
    return [one for one in found if isinstance(one, str)] if isinstance(found, list) else []
