"""Commands that print a result: by `manage.py` as Django's commands, by `lockwright` without loading Django.

Results go to standard output, everything else to standard error; no command here needs a database.
"""

import argparse
import io
import os
import sys
from typing import Any

SEVERITIES = ("critical", "warning", "advice", "note")
NOTHING_USABLE = 2
SOMETHING_FOUND = 1


class Failed(Exception):
    """The command cannot do what it was asked; the message says why and what to do."""

    def __init__(self, message: str, returncode: int = NOTHING_USABLE) -> None:
        super().__init__(message)
        self.returncode = returncode


class Printing:
    """What a command has that prints a result, whoever runs it: `advisor.core.command` or `advisor.__main__`."""

    help = ""
    stdout: Any
    stderr: Any

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Say what it takes."""

    def handle(self, *args: Any, **options: Any) -> None:
        """Do it. Raises `Failed`, or `SystemExit` with a status that says what was found."""
        raise NotImplementedError

    def emit(self, text: str, *, utf8: bool = False) -> None:
        """Print the result. A reader that went away is no error; a full disk or no output at all ends with status 2.

        `utf8` is for JSON and HTML, which are UTF-8 whatever the terminal speaks.
        """
        if sys.stdout is None:
            raise Failed("there is no standard output to write to")
        if utf8:
            reconfigure(sys.stdout, encoding="utf-8", errors="replace")
        else:
            reconfigure(sys.stdout, errors="replace")
        try:
            self.stdout.write(text)
            self.stdout.flush()
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        except OSError as error:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise Failed(f"cannot write the result: {error.strerror}") from None


def reconfigure(stream: Any, *, errors: str, encoding: str | None = None) -> None:
    """Change how a real stream encodes; a test's stand-in has no encoding."""
    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(encoding=encoding, errors=errors)


def safe(text: str, longest: int = 200) -> str:
    """Keep a file name or a line of an export from steering the terminal or filling it."""
    cut = text if len(text) <= longest else f"{text[:longest]}…"
    return "".join(char if char.isprintable() else "\ufffd" for char in cut)
