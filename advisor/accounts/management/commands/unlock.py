"""`manage.py unlock [NAME]`: the way back for who is locked out, an administrator too."""

from typing import Any

from axes.utils import reset
from django.core.management.base import BaseCommand, CommandError, CommandParser

from advisor.accounts.models import User
from advisor.accounts.services import lock_outs


class Command(BaseCommand):
    """Forget wrong passwords."""

    help = (
        "Forgets the wrong passwords of a name, of an address (of IPv6: its first 64 bits, as 2001:db8:0:1::), or "
        "all of them: who was locked out or slowed may try again at once. Without any of these it says who is locked."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Take whose."""
        parser.add_argument(
            "name", nargs="?", metavar="NAME", help="whose wrong passwords are forgotten, wherever typed"
        )
        parser.add_argument("--address", metavar="ADDRESS", default="", help="those typed there, whoever's")
        parser.add_argument("--all", action="store_true", help="everybody's")

    def handle(self, *args: Any, **options: Any) -> None:
        """Do it."""
        if options["all"]:
            self.stdout.write(f"{int(reset())} counts of wrong passwords forgotten")
            return
        if not options["name"] and not options["address"]:
            locked = sorted(lock_outs.locked_out().items())
            said = [f"{ascii(name)[1:-1]} until {until:%Y-%m-%d %H:%M:%S} UTC" for name, until in locked]
            self.stdout.write("\n".join(said) or "nobody is locked out")
            return
        gone = 0
        if options["name"]:
            user = User.objects.filter(username__iexact=options["name"]).first()
            if user is None:
                raise CommandError("there is no user of this name")
            gone += lock_outs.unlock(user, None)
        if options["address"]:
            gone += int(reset(ip=options["address"]))
        self.stdout.write(f"{gone} counts of wrong passwords forgotten")
