"""`manage.py locklab`: measure record locking on this machine; print a table of runs that `audit` reads.

With `--for openvms` nothing is measured: it writes the programs that measure an OpenVMS node.
"""

import argparse
import shlex
import time
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from advisor.core.command import NOTHING_USABLE, PrintingCommand, safe
from advisor.series.services import lock_laboratory

INTERRUPTED = 130
"""The status shells give to what ends by Ctrl-C."""
MEASURED_HERE = (
    "",
    lock_laboratory.DEFAULT_SECONDS,
    lock_laboratory.DEFAULT_RECORDS,
    lock_laboratory.DEFAULT_REPEAT,
)
"""What is asked for where nothing is said of processes, seconds, records and runs."""
AFTER = 1.0
"""Seconds from which on a terminal is told what is done."""


class Command(PrintingCommand):
    """Measure record locking on this machine."""

    help = (
        "Measures record locks (fcntl) on this machine: locks on a whole file against locks on single records, with "
        "one process and with several, for some seconds, in a temporary file. Prints a table of runs, which `audit` "
        "reads. TMPDIR says on which file system. With --for openvms it writes a C program and a DCL procedure that "
        "measure the lock manager of an OpenVMS test node (untried on OpenVMS) into a folder; without --out it prints "
        "one procedure that creates both. Exit status: 0 measured or written, 2 not, 130 interrupted."
    )

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Take what to measure, and where to write it."""
        parser.add_argument("--processes", default="", help="as 1-8 or 1,2,4; default: 1, 2, 3, 4, 6, 8 and so on")
        parser.add_argument(
            "--seconds",
            type=float,
            default=lock_laboratory.DEFAULT_SECONDS,
            help="for all runs together, about; default: %(default)g",
        )
        parser.add_argument(
            "--records", type=int, default=lock_laboratory.DEFAULT_RECORDS, help="in the file; default: %(default)s"
        )
        parser.add_argument(
            "--repeat", type=int, default=lock_laboratory.DEFAULT_REPEAT, help="runs of each; default: %(default)s"
        )
        parser.add_argument("--for", dest="product", choices=("openvms",), help="write what measures a node of it")
        parser.add_argument("--out", metavar="FILE", type=Path, help="with --for a folder; default: standard output")

    def handle(self, *args: Any, **options: Any) -> None:
        """Run it."""
        self.since, self.drawn = time.monotonic(), False
        asked = (options["processes"], options["seconds"], options["records"], options["repeat"])
        if options["product"]:
            self.write_programs(asked, options["out"])
            return
        try:
            text, others = lock_laboratory.measure(*asked, options["out"], self.on_progress)
        except KeyboardInterrupt:
            raise CommandError("interrupted: nothing was written", returncode=INTERRUPTED) from None
        except lock_laboratory.NotMeasured as error:
            raise CommandError(safe(str(error), 1000), returncode=NOTHING_USABLE) from None
        finally:
            if self.drawn:
                self.stderr.write("\r\x1b[K", ending="")
        if options["out"]:
            name = str(options["out"])
            audit = f"manage.py audit {safe(shlex.quote(name))}"
            text = f"written: {safe(name)}\n         {others}\nnext:    {audit}"
        self.emit(text, utf8=True)

    def write_programs(self, asked: tuple[object, ...], folder: Path | None) -> None:
        """Write what measures a node of OpenVMS; how it measures is said to its procedure, there."""
        if asked != MEASURED_HERE:
            said = "--processes, --seconds, --records and --repeat are for this machine: leave them out with --for"
            raise CommandError(said, returncode=NOTHING_USABLE)
        if folder is None:
            self.emit(lock_laboratory.procedure_for_openvms().removesuffix("\n"), utf8=True)
            return
        try:
            names = " and ".join(lock_laboratory.write_for_openvms(folder))
        except lock_laboratory.NotMeasured as error:
            raise CommandError(safe(str(error), 1000), returncode=NOTHING_USABLE) from None
        self.emit(
            f"written: {names}, into {safe(str(folder))}: untried on OpenVMS, so read them before you run them\n"
            "next:    take both to a test node without users; the head of LOCKLAB.COM says how it is run",
            utf8=True,
        )

    def on_progress(self, doing: str) -> None:
        """Say on a terminal what is being done, once it has taken a second; nothing anywhere else."""
        if self.stderr.isatty() and time.monotonic() - self.since > AFTER:
            self.drawn = True
            self.stderr.write(f"\r\x1b[K{safe(doing)} …", ending="")
            self.stderr.flush()
