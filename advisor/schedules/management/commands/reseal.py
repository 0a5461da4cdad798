"""`manage.py reseal`: seal the passwords of data sources anew with the newest key, so that older ones can go."""

import sys
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from advisor.schedules.sources import keys, resealing


class Command(BaseCommand):
    """Open each password with whichever key opens it, and seal it with the first of LOCKWRIGHT_KEY or of its file."""

    help = "Seal the passwords of data sources anew with the newest key. Ends with 1 where one could not be opened."

    def handle(self, *args: Any, **options: Any) -> None:
        """Do it, and say how many."""
        try:
            done = resealing.reseal()
        except keys.NoKey as error:
            raise CommandError(f"{error}") from None
        self.stdout.write(f"sealed anew: {done.anew:,}, with the newest key already: {done.already:,}")
        for source in done.unopened:
            self.stderr.write(f"not opened: {source}")
        if done.unopened:
            self.stderr.write("put the key these were sealed with behind the newest one, or type their passwords again")
            sys.exit(1)
        self.stdout.write("keys behind the newest one are no longer needed")
