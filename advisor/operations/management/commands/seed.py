"""`manage.py seed`: fill a database with made systems, to see how the service behaves when it holds a lot."""

import time
from collections import Counter
from datetime import datetime
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from advisor.core.records import Refused
from advisor.operations.seeding import fleet as seed_fleet
from advisor.operations.seeding.captures import EVERYWHERE, Amount, seed


class Command(BaseCommand):
    """Seed."""

    help = (
        "Fills the database with made systems, captures, audits and findings of the real shape; all names begin with "
        "SEED. For a database of its own, never for one in use. With --fleet: systems with hourly schedules instead, "
        "and the exports of one hour in their drop folders; once more for the next hour."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Take how much to make."""
        parser.add_argument("--systems", type=int, default=200, help="default: 200")
        parser.add_argument("--captures", type=int, default=50_000, help="of all systems together; default: 50000")
        parser.add_argument("--findings", type=int, default=1_000_000, help="of all captures; default: 1000000")
        parser.add_argument("--add", action="store_true", help="also where the database holds systems already")
        parser.add_argument("--fleet", type=int, metavar="SYSTEMS", help="make a fleet that audits itself")
        parser.add_argument("--hour", type=datetime.fromisoformat, help="of the fleet's exports; default: the last one")
        parser.add_argument("--settle", type=int, default=60, help="seconds its files must not change; default: 60")
        parser.add_argument("--one-schedule", action="store_true", help="for all of the fleet, not one a system")

    def handle(self, *args: Any, **options: Any) -> None:
        """Seed, and print what was made and the seconds it took."""
        since = time.monotonic()
        try:
            if options["fleet"] is None:
                amount = Amount(options["systems"], options["captures"], options["findings"])
                made = seed(amount, add=options["add"], on_progress=self.stderr.write)
            else:
                made = self.fleet(options)
        except Refused as error:
            raise CommandError(str(error)) from None
        for name, count in made.items():
            self.stdout.write(f"{count:>9,} {name}")
        self.stdout.write(f"{time.monotonic() - since:>9.1f} seconds")
        self.stdout.write(f"{EVERYWHERE} is a DBA of every seeded team: manage.py changepassword {EVERYWHERE}")

    def fleet(self, options: dict[str, Any]) -> Counter[str]:
        """Make a fleet, and put what an hour brings into its folders."""
        made = seed_fleet.make(
            options["fleet"],
            settle_seconds=options["settle"],
            one_schedule=options["one_schedule"],
            add=options["add"],
        )
        hour = options["hour"] or timezone.now().replace(minute=0, second=0, microsecond=0)
        hour = hour if timezone.is_aware(hour) else timezone.make_aware(hour)
        try:
            made["files"], made["bytes"] = seed_fleet.drop(seed_fleet.fleet()[: options["fleet"]], hour)
        except OSError as error:
            raise CommandError(f"the exports cannot be written: {error}") from None
        return made
