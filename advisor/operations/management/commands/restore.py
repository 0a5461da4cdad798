"""`manage.py restore FILE`: put back what a backup holds, into a service that is stopped."""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from advisor.operations.services import backups


class Command(BaseCommand):
    """Restore."""

    help = (
        "Restore a backup into an empty database (or --replace) of a stopped service, and migrate it to this version."
    )
    requires_system_checks = []

    def add_arguments(self, parser: CommandParser) -> None:
        """Take the file."""
        parser.add_argument("file", type=Path, metavar="FILE", help="what manage.py backup wrote")
        parser.add_argument(
            "--replace",
            action="store_true",
            help="also over a database: SQLite's file and keys are moved aside, PostgreSQL's tables are deleted",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Do it, and say what was done."""
        try:
            done = backups.restore(options["file"].absolute(), replace=options["replace"])
        except backups.Refused as error:
            raise CommandError(f"{error}") from None
        except OSError as error:
            raise CommandError(f"cannot restore {options['file']}: {error}") from None
        for line in done.says:
            self.stdout.write(line)
        for line in done.warnings:
            self.stderr.write(f"warning: {line}")
