"""What the operator's commands share: no database, results on standard output, everything else on standard error."""

import json
import sys
import time
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from advisor.services.reading import read_exports, unusable
from collectors.read import Input

SEVERITIES = ("critical", "warning", "advice", "note")
NOTHING_USABLE = 2
SOMETHING_FOUND = 1


class ExportCommand(BaseCommand):
    """A command that reads exports named on the command line."""

    requires_system_checks = []
    formats: tuple[str, ...] = ("text", "json", "html")

    def add_arguments(self, parser: CommandParser) -> None:
        """Take paths and a format."""
        parser.add_argument("paths", nargs="+", metavar="PATH", help="file, folder, .zip, .gz, or - for standard input")
        parser.add_argument("--format", choices=self.formats, default="text", help="text for a terminal (default)")

    def read(self, paths: list[str]) -> list[Input]:
        """Read the exports; ends the command with status 2 where none is usable, naming each file and why."""
        progress = Progress(self.stderr)
        inputs = read_exports(paths, sys.stdin.buffer, progress.hear)
        progress.clear()
        for one in unusable(inputs):
            for problem in one.problems or ["gave no fact"]:
                self.stderr.write(f"{self.safe(one.file)}: {self.safe(problem)}")
        if not any(one.usable for one in inputs):
            self.stderr.write("nothing usable was given")
            sys.exit(NOTHING_USABLE)
        return inputs

    def write_json(self, data: dict[str, Any]) -> None:
        """Print the contract's JSON."""
        self.stdout.write(json.dumps(data, ensure_ascii=False, indent=1, allow_nan=False))

    @staticmethod
    def safe(text: str) -> str:
        """Keep a file name or a line of an export from steering the terminal."""
        return "".join(char if char.isprintable() else "\ufffd" for char in text)


class Progress:
    """One line on a terminal, once the work has taken a second; nothing anywhere else."""

    AFTER, EVERY = 1.0, 0.2

    def __init__(self, stream: Any) -> None:
        """Watch the clock from now on."""
        self.stream, self.since, self.drawn = stream, time.monotonic(), 0.0
        self.name, self.bytes = "", 0

    def hear(self, name: str, size: int) -> None:
        """Hear that some bytes of a file were read."""
        self.bytes = size if name != self.name else self.bytes + size
        self.name = name
        now = time.monotonic()
        if self.stream.isatty() and now - self.since > self.AFTER and now - self.drawn > self.EVERY:
            self.drawn = now
            shown = ExportCommand.safe(name)[-54:]
            self.stream.write(f"\r\x1b[K{self.bytes / 1e6:8.1f} MB of {shown}", ending="")
            self.stream.flush()

    def clear(self) -> None:
        """Take the line away."""
        if self.drawn:
            self.stream.write("\r\x1b[K", ending="")
