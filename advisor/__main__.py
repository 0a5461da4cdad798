"""`python -m advisor audit PATH…`: an audit without loading Django and the service.

It prints what `manage.py audit` prints, by the same code (`advisor.audits.command`), and starts in half the time.
"""

import argparse
import sys
from collections.abc import Sequence
from typing import TextIO

from advisor.core.kept_methods import keep_methods
from advisor.core.printing import Failed, Printing, reconfigure

PROGRAM = "lockwright"
USAGE = f"usage: {PROGRAM} audit PATH…   (every other command: manage.py help)"


def main(words: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit status."""
    name, *rest = (sys.argv[1:] if words is None else words) or [""]
    if name != "audit":
        sys.stderr.write(f"{USAGE}\n")
        return 0 if name in ("help", "-h", "--help") else 2
    keep_methods()
    from advisor.audits.command import Auditing

    return run(Auditing(), f"{PROGRAM} {name}", rest)


def run(command: Printing, program: str, words: Sequence[str]) -> int:
    """Run a command with these words of a command line; returns the exit status. Raises `SystemExit` as it does."""
    reconfigure(sys.stderr, errors="backslashreplace")
    parser = argparse.ArgumentParser(prog=program, description=command.help)
    command.add_arguments(parser)
    options = vars(parser.parse_args(words))
    command.stdout, command.stderr = Lines(sys.stdout), Lines(sys.stderr)
    try:
        command.handle(**options)
    except Failed as error:
        command.stderr.write(f"CommandError: {error}")
        return error.returncode
    return 0


class Lines:
    """A stream that ends what is written with a line feed, as Django's commands have it."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream

    def write(self, text: str, ending: str = "\n") -> None:
        """Write it, and the ending where it has none."""
        self.stream.write(text if text.endswith(ending) else text + ending)

    def flush(self) -> None:
        """Write what waits."""
        self.stream.flush()

    def isatty(self) -> bool:
        """Whether a person looks at it."""
        return self.stream.isatty()


if __name__ == "__main__":
    sys.exit(main())
