"""`manage.py seed`: fill a database with made systems, to see how the service behaves when it holds a lot."""

import time
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from advisor.services.seeding import EVERYWHERE, Amount, Refused, seed


class Command(BaseCommand):
    """Seed."""

    help = (
        "Fills the database with made systems, captures, audits and findings of the real shape; all names begin with "
        "SEED. For a database of its own, never for one in use."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Take how much to make."""
        parser.add_argument("--systems", type=int, default=200, help="default: 200")
        parser.add_argument("--captures", type=int, default=50_000, help="of all systems together; default: 50000")
        parser.add_argument("--findings", type=int, default=1_000_000, help="of all captures; default: 1000000")
        parser.add_argument("--add", action="store_true", help="also where the database holds systems already")

    def handle(self, *args: Any, **options: Any) -> None:
        """Seed, and print what was made and the seconds it took."""
        since = time.monotonic()
        try:
            amount = Amount(options["systems"], options["captures"], options["findings"])
            made = seed(amount, add=options["add"], hear=self.stderr.write)
        except Refused as error:
            raise CommandError(str(error)) from None
        for name, count in made.items():
            self.stdout.write(f"{count:>9,} {name}")
        self.stdout.write(f"{time.monotonic() - since:>9.1f} seconds")
        self.stdout.write(f"{EVERYWHERE} is a DBA of every seeded team: manage.py changepassword {EVERYWHERE}")
