"""`manage.py collect CONNECTION`: ask a live server; write the answers as exports that `audit` reads."""

import argparse
import json
import shlex
import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from getpass import getpass
from pathlib import Path
from typing import Any

from django.core.exceptions import ImproperlyConfigured
from django.core.management.base import CommandError

from advisor.core import env
from advisor.core.command import NOTHING_USABLE, PrintingCommand, safe
from advisor.schedules.sources import command_line

EVERY, SAMPLED = 5.0, 600.0
"""Seconds from sample to sample, and of all of them, where one of the two is given alone."""
INCOMPLETE = 1
INTERRUPTED = 130
"""The status shells give to what ends by Ctrl-C."""
ROWS = "{file:<24} {rows:>9,} rows {bytes:>12,} bytes {seconds:>8.1f} s"


class Command(PrintingCommand):
    """Collect from a live SAP ASE or Oracle Rdb database."""

    help = (
        "Asks a live SAP ASE, or with --product rdb an Oracle Rdb database by ODBC, only reading, and writes the "
        "answers as one zip of exports that `audit` reads. "
        f"The password comes from the variable {command_line.PASSWORD}, from the file that "
        f"{command_line.PASSWORD}_FILE names, or from a prompt on a terminal; in the connection string it is refused: "
        "there others see it. "
        "Exit status: 0 collected, 1 a part of it (some questions were not answered), 2 nothing, 130 interrupted."
    )

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Take the connection and what to ask."""
        parser.add_argument(
            "connection", nargs="?", metavar="CONNECTION", help="ase://USER@HOST:PORT/ or an ODBC connection string"
        )
        parser.add_argument(
            "--product", choices=command_line.PRODUCTS, default="ase", help="rdb: Oracle Rdb; default: ase"
        )
        parser.add_argument("--questions", action="store_true", help="print every statement that is sent, and why")
        parser.add_argument("--out", metavar="FILE.zip", type=Path, help="default: server and time, in this folder")
        parser.add_argument("--seconds", type=float, default=60.0, help="between the two snapshots; default: 60")
        parser.add_argument("--every", type=float, default=0.0, help="seconds: sample waits and spinlocks so often")
        parser.add_argument("--for", type=float, default=None, dest="so_long", help="seconds to sample; default: 600")
        parser.add_argument("--sysmon", metavar="HH:MM:SS", default="", help="run sp_sysmon too, for so long")
        parser.add_argument("--without", metavar="QUESTION", action="append", default=[], help="leave a question out")
        parser.add_argument("--question-seconds", type=float, default=0.0, help="each question has at least so long")
        parser.add_argument("--total-seconds", type=float, help="all of it ends within; default: 600 and --seconds")
        parser.add_argument("--format", choices=("text", "json"), default="text", help="text for a terminal (default)")

    def handle(self, *args: Any, **options: Any) -> None:
        """Run it."""
        if options["questions"]:
            self.emit(command_line.questions(options["product"]), utf8=True)
            return
        if not options["connection"]:
            raise CommandError("say which server: ase://USER@HOST:PORT/", returncode=NOTHING_USABLE)
        try:
            product = options["product"]
            where = command_line.connection(options["connection"], password_given(), product)
            if where.user and not where.password and sys.stdin and sys.stdin.isatty():
                password = getpass(f"Password of {where.user} at {where.where}: ")
                where = command_line.connection(options["connection"], password, product)
            seconds, every = length_of(options)
            asked = (seconds, options["sysmon"], options["without"])
            times = {name: options[name] for name in ("question_seconds", "total_seconds")}
            with ended_in_order(self.on_stop if every else None) as stop:
                data = command_line.collect(
                    where,
                    options["out"],
                    *asked,
                    on_progress=self.on_progress,
                    product=product,
                    every=every,
                    stop=stop,
                    **times,
                )
        except KeyboardInterrupt:
            raise CommandError("interrupted: nothing was written", returncode=INTERRUPTED) from None
        except command_line.NotCollected as error:
            raise CommandError(safe(str(error), 1000), returncode=NOTHING_USABLE) from None
        if options["format"] == "json":
            self.emit(json.dumps(data, ensure_ascii=False, indent=1), utf8=True)
        else:
            self.emit(told(data))
        if not data["complete"]:
            lost = sum(bool(one["do"]) for one in data["left_out"])
            says = f"{lost} of the questions {'was' if lost == 1 else 'were'} not answered: the rest is kept"
            raise CommandError(says, returncode=INCOMPLETE)

    def on_stop(self) -> None:
        """Say what Ctrl-C does while samples are taken."""
        self.stderr.write(
            "stopping: what was sampled is kept, the last snapshot is taken; Ctrl-C again: nothing is kept"
        )

    def on_progress(self, doing: str) -> None:
        """Say on a terminal what is being done; nothing anywhere else."""
        if self.stderr.isatty():
            self.stderr.write(f"{safe(doing)} …")


def length_of(options: Mapping[str, Any]) -> tuple[float, float]:
    """Seconds between the snapshots, and from sample to sample (0: none). Raises `CommandError`."""
    every, so_long = options["every"], options["so_long"]
    if not every and so_long is None:
        return options["seconds"], 0.0
    if options["product"] != "ase":
        raise CommandError("samples (--every, --for) are taken of SAP ASE alone", returncode=NOTHING_USABLE)
    return SAMPLED if so_long is None else so_long, every or EVERY


@contextmanager
def ended_in_order(told: Callable[[], None] | None) -> Iterator[Callable[[], bool]]:
    """While samples are taken the first Ctrl-C has them end in order, which `told` is called for; the second ends all.

    Gives what says whether they are to end. `told` is `None` where no samples are taken.
    """
    pressed: list[int] = []

    def press(number: int, frame: object) -> None:
        if pressed or told is None:
            raise KeyboardInterrupt
        pressed.append(number)
        told()

    if told is None:
        yield lambda: False
        return
    before = signal.signal(signal.SIGINT, press)
    try:
        yield lambda: bool(pressed)
    finally:
        signal.signal(signal.SIGINT, before)


def password_given() -> str:
    """The password from the environment or from a file it names; empty: neither. Raises `CommandError`."""
    try:
        return env.secret(command_line.PASSWORD)
    except (ImproperlyConfigured, UnicodeDecodeError) as error:
        says = str(error) if isinstance(error, ImproperlyConfigured) else f"{command_line.PASSWORD}_FILE is no text"
        raise CommandError(safe(says), returncode=NOTHING_USABLE) from None


def told(data: dict[str, Any]) -> str:
    """The result for a terminal: what was written, what was left out, what to do next."""
    lines = [f"{safe(data['server'])}: {safe(data['version'])}", ""]
    lines += [ROWS.format(**one) for one in data["files"]]
    if data.get("warnings"):
        lines += ["", "warning:"]
        lines += [f"  {safe(one['what'], 500)}\n    {safe(one['how'], 500)}" for one in data["warnings"]]
    if data["missing"]:
        lines += ["", "missing, and how to give it:"]
        lines += [f"  {safe(one['what'], 500)}\n    {safe(one['how'], 500)}" for one in data["missing"]]
    failed = [one for one in data["left_out"] if one["do"]]
    if failed:
        lines += ["", "not answered:"]
        lines += [f"  {safe(one['question'])}: {safe(one['why'], 500)}\n    {safe(one['do'], 500)}" for one in failed]
    left = [one for one in data["left_out"] if not one["do"]]
    if left:
        lines += ["", "not asked:"]
        lines += [f"  {safe(one['question'])}: {safe(one['why'], 500)}" for one in left]
    return "\n".join([*lines, "", f"written: {safe(data['file'])}", f"next:    manage.py audit {_shell(data['file'])}"])


def _shell(file: str) -> str:
    return safe(shlex.quote(file))
