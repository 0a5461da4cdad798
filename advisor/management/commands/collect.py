"""`manage.py collect CONNECTION`: ask a live server; write the answers as exports that `audit` reads."""

import json
import shlex
import sys
from getpass import getpass
from pathlib import Path
from typing import Any

from django.core.exceptions import ImproperlyConfigured
from django.core.management.base import CommandError, CommandParser

from advisor import env
from advisor.management.base import NOTHING_USABLE, ExportCommand, PrintingCommand
from advisor.services import live

INCOMPLETE = 1
INTERRUPTED = 130
"""The status shells give to what ends by Ctrl-C."""
ROWS = "{file:<24} {rows:>9,} rows {bytes:>12,} bytes {seconds:>8.1f} s"


class Command(PrintingCommand):
    """Collect from a live SAP ASE or Oracle Rdb database."""

    help = (
        "Asks a live SAP ASE, or with --product rdb an Oracle Rdb database by ODBC, only reading, and writes the "
        "answers as one zip of exports that `audit` reads. "
        f"The password comes from the variable {live.PASSWORD}, from the file that {live.PASSWORD}_FILE names, or from "
        "a prompt on a terminal; in the connection string it is refused: there others see it. "
        "Exit status: 0 collected, 1 a part of it (some questions were not answered), 2 nothing, 130 interrupted."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Take the connection and what to ask."""
        parser.add_argument(
            "connection", nargs="?", metavar="CONNECTION", help="ase://USER@HOST:PORT/ or an ODBC connection string"
        )
        parser.add_argument("--product", choices=live.PRODUCTS, default="ase", help="rdb: Oracle Rdb; default: ase")
        parser.add_argument("--questions", action="store_true", help="print every statement that is sent, and why")
        parser.add_argument("--out", metavar="FILE.zip", type=Path, help="default: server and time, in this folder")
        parser.add_argument("--seconds", type=float, default=60.0, help="between the two snapshots; default: 60")
        parser.add_argument("--sysmon", metavar="HH:MM:SS", default="", help="run sp_sysmon too, for so long")
        parser.add_argument("--without", metavar="QUESTION", action="append", default=[], help="leave a question out")
        parser.add_argument("--format", choices=("text", "json"), default="text", help="text for a terminal (default)")

    def handle(self, *args: Any, **options: Any) -> None:
        """Run it."""
        if options["questions"]:
            self.emit(live.questions(options["product"]), utf8=True)
            return
        if not options["connection"]:
            raise CommandError("say which server: ase://USER@HOST:PORT/", returncode=NOTHING_USABLE)
        try:
            product = options["product"]
            where = live.connection(options["connection"], password_given(), product)
            if where.user and not where.password and sys.stdin and sys.stdin.isatty():
                password = getpass(f"Password of {where.user} at {where.where}: ")
                where = live.connection(options["connection"], password, product)
            asked = (options["seconds"], options["sysmon"], options["without"])
            data = live.collect(where, options["out"], *asked, hear=self.hear, product=product)
        except KeyboardInterrupt:
            raise CommandError("interrupted: nothing was written", returncode=INTERRUPTED) from None
        except live.NotCollected as error:
            raise CommandError(ExportCommand.safe(str(error), 1000), returncode=NOTHING_USABLE) from None
        if options["format"] == "json":
            self.emit(json.dumps(data, ensure_ascii=False, indent=1), utf8=True)
        else:
            self.emit(told(data))
        if not data["complete"]:
            lost = sum(bool(one["do"]) for one in data["left_out"])
            says = f"{lost} of the questions {'was' if lost == 1 else 'were'} not answered: the rest is kept"
            raise CommandError(says, returncode=INCOMPLETE)

    def hear(self, doing: str) -> None:
        """Say on a terminal what is being done; nothing anywhere else."""
        if self.stderr.isatty():
            self.stderr.write(f"{ExportCommand.safe(doing)} …")


def password_given() -> str:
    """The password from the environment or from a file it names; empty: neither. Raises `CommandError`."""
    try:
        return env.secret(live.PASSWORD)
    except (ImproperlyConfigured, UnicodeDecodeError) as error:
        says = str(error) if isinstance(error, ImproperlyConfigured) else f"{live.PASSWORD}_FILE is no text"
        raise CommandError(ExportCommand.safe(says), returncode=NOTHING_USABLE) from None


def told(data: dict[str, Any]) -> str:
    """The result for a terminal: what was written, what was left out, what to do next."""
    safe = ExportCommand.safe
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
    return ExportCommand.safe(shlex.quote(file))
