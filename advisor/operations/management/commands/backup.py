"""`manage.py backup FILE`: the database and the keys in one file, while the service runs."""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from advisor.operations.services import backups


class Command(BaseCommand):
    """Back up."""

    help = "Back up the database and the keys into one new file, for its owner alone. The service may run meanwhile."
    requires_system_checks = []

    def add_arguments(self, parser: CommandParser) -> None:
        """Take the file."""
        parser.add_argument(
            "file", type=Path, metavar="FILE", help="a new .zip; as much room again is needed beside it"
        )
        parser.add_argument(
            "--without-keys", action="store_true", help="leave out the keys that lie beside the database"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Do it, and say what is in it and what is not."""
        try:
            done = backups.back_up(options["file"].absolute(), with_keys=not options["without_keys"])
        except backups.Refused as error:
            raise CommandError(f"{error}") from None
        except OSError as error:
            raise CommandError(f"cannot write {options['file']}: {error.strerror}") from None
        for line in done.says:
            self.stdout.write(line)
        for line in done.warnings:
            self.stderr.write(f"warning: {line}")
