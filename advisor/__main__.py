"""`lockwright audit|read|compare|rules …`, also `python -m advisor …`: commands without loading Django and the service.

Each prints what `manage.py` prints, by the same code, and starts in half the time.
"""

import argparse
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import TextIO

from advisor.core.kept_methods import keep_methods
from advisor.core.printing import Failed, Printing, reconfigure

PROGRAM = "lockwright"
COMMANDS = {
    "audit": ("advisor.audits.command", "Auditing"),
    "read": ("advisor.uploads.command", "Reading"),
    "compare": ("advisor.audits.compare_command", "Comparing"),
    "rules": ("advisor.audits.rules_command", "PrintingRules"),
}
"""The module and the class of each; one is loaded alone."""
USAGE = f"usage: {PROGRAM} {'|'.join(COMMANDS)} …   (every other command: manage.py help)"


def main(words: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit status."""
    name, *rest = (sys.argv[1:] if words is None else words) or [""]
    if name not in COMMANDS:
        sys.stderr.write(f"{USAGE}\n")
        return 0 if name in ("help", "-h", "--help") else 2
    keep_methods()
    module, command = COMMANDS[name]
    return run(getattr(import_module(module), command)(), f"{PROGRAM} {name}", rest)


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
