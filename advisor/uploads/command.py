"""`manage.py read PATH…` and `lockwright read PATH…`; and what the commands share that read exports named there."""

import argparse
import io
import json
import sys
import time
from typing import Any

from advisor.audits.report.data import read_data
from advisor.core.printing import NOTHING_USABLE, Printing, safe
from advisor.uploads.services.reading import read_exports
from collectors.read import Input


class ReadingExports(Printing):
    """A command that reads exports named on the command line."""

    formats: tuple[str, ...] = ("text", "json", "html")

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Take paths and a format."""
        parser.add_argument("paths", nargs="+", metavar="PATH", help="file, folder, .zip, .gz, or - for standard input")
        parser.add_argument("--format", choices=self.formats, default="text", help="text for a terminal (default)")

    def read(self, paths: list[str]) -> list[Input]:
        """Read the exports; ends the command with status 2 where none is usable, naming each file and why."""
        progress = Progress(self.stderr)
        inputs = read_exports(paths, sys.stdin.buffer if sys.stdin else io.BytesIO(), progress.on_progress)
        progress.clear()
        for one in inputs:
            for problem in one.problems:
                self.stderr.write(f"{safe(one.file)}: {safe(problem, 1000)}")
        if not any(one.usable for one in inputs):
            self.stderr.write("nothing usable was given")
            sys.exit(NOTHING_USABLE)
        return inputs

    def write_json(self, data: dict[str, Any]) -> None:
        """Print the contract's JSON."""
        self.emit(json.dumps(data, ensure_ascii=False, indent=1, allow_nan=False), utf8=True)


class Reading(ReadingExports):
    """Read exports."""

    help = "Prints what was understood: every fact with its line numbers, every line not understood."
    formats = ("text", "json")

    def handle(self, *args: Any, **options: Any) -> None:
        """Run it."""
        data = read_data(self.read(options["paths"]))
        if options["format"] == "json":
            self.write_json(data)
        else:
            from advisor.audits.report.render import render

            self.emit(render("read", data, "txt"))


class Progress:
    """One line on a terminal, once the work has taken a second; nothing anywhere else."""

    AFTER, EVERY = 1.0, 0.2

    def __init__(self, stream: Any) -> None:
        """Watch the clock from now on."""
        self.stream, self.since, self.drawn = stream, time.monotonic(), 0.0
        self.name, self.bytes = "", 0

    def on_progress(self, name: str, size: int) -> None:
        """Hear that some bytes of a file were read."""
        self.bytes = size if name != self.name else self.bytes + size
        self.name = name
        now = time.monotonic()
        if self.stream.isatty() and now - self.since > self.AFTER and now - self.drawn > self.EVERY:
            self.drawn = now
            shown = safe(name)[-54:]
            self.stream.write(f"\r\x1b[K{self.bytes / 1e6:8.1f} MB of {shown}", ending="")
            self.stream.flush()

    def clear(self) -> None:
        """Take the line away."""
        if self.drawn:
            self.stream.write("\r\x1b[K", ending="")
