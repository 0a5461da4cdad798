"""What the operator's commands share: no database, results on standard output, everything else on standard error."""

import io
import json
import os
import sys
import time
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from advisor.services.reading import read_exports
from collectors.read import Input

SEVERITIES = ("critical", "warning", "advice", "note")
NOTHING_USABLE = 2
SOMETHING_FOUND = 1


class PrintingCommand(BaseCommand):
    """A command whose result goes to standard output, whatever that is."""

    requires_system_checks = []

    def execute(self, *args: Any, **options: Any) -> str | None:
        """Run; what standard error cannot show is replaced and never an error of its own."""
        _reconfigure(sys.stderr, errors="backslashreplace")
        return super().execute(*args, **options)

    def emit(self, text: str, *, utf8: bool = False) -> None:
        """Print the result. A reader that went away is no error; a full disk or no output at all ends with status 2.

        `utf8` is for JSON and HTML, which are UTF-8 whatever the terminal speaks.
        """
        if sys.stdout is None:
            raise CommandError("there is no standard output to write to", returncode=NOTHING_USABLE)
        if utf8:
            _reconfigure(sys.stdout, encoding="utf-8", errors="replace")
        else:
            _reconfigure(sys.stdout, errors="replace")
        try:
            self.stdout.write(text)
            self.stdout.flush()
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        except OSError as error:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise CommandError(f"cannot write the result: {error.strerror}", returncode=NOTHING_USABLE) from None


def _reconfigure(stream: Any, *, errors: str, encoding: str | None = None) -> None:
    """Change how a real stream encodes; a test's stand-in has no encoding."""
    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(encoding=encoding, errors=errors)


class ExportCommand(PrintingCommand):
    """A command that reads exports named on the command line."""

    formats: tuple[str, ...] = ("text", "json", "html")

    def add_arguments(self, parser: CommandParser) -> None:
        """Take paths and a format."""
        parser.add_argument("paths", nargs="+", metavar="PATH", help="file, folder, .zip, .gz, or - for standard input")
        parser.add_argument("--format", choices=self.formats, default="text", help="text for a terminal (default)")

    def read(self, paths: list[str]) -> list[Input]:
        """Read the exports; ends the command with status 2 where none is usable, naming each file and why."""
        progress = Progress(self.stderr)
        inputs = read_exports(paths, sys.stdin.buffer if sys.stdin else io.BytesIO(), progress.hear)
        progress.clear()
        for one in inputs:
            for problem in one.problems:
                self.stderr.write(f"{self.safe(one.file)}: {self.safe(problem, 1000)}")
        if not any(one.usable for one in inputs):
            self.stderr.write("nothing usable was given")
            sys.exit(NOTHING_USABLE)
        return inputs

    def write_json(self, data: dict[str, Any]) -> None:
        """Print the contract's JSON."""
        self.emit(json.dumps(data, ensure_ascii=False, indent=1, allow_nan=False), utf8=True)

    @staticmethod
    def safe(text: str, longest: int = 200) -> str:
        """Keep a file name or a line of an export from steering the terminal or filling it."""
        cut = text if len(text) <= longest else f"{text[:longest]}…"
        return "".join(char if char.isprintable() else "\ufffd" for char in cut)


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
