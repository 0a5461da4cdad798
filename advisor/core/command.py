"""Commands that print a result, as commands of `manage.py`."""

import sys
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from advisor.core.printing import NOTHING_USABLE, SEVERITIES, SOMETHING_FOUND, Failed, Printing, reconfigure, safe

__all__ = ["NOTHING_USABLE", "SEVERITIES", "SOMETHING_FOUND", "PrintingCommand", "safe"]


class PrintingCommand(Printing, BaseCommand):
    """A command whose result goes to standard output, whatever that is."""

    requires_system_checks = []

    def execute(self, *args: Any, **options: Any) -> str | None:
        """Run; what standard error cannot show is replaced and never an error of its own."""
        reconfigure(sys.stderr, errors="backslashreplace")
        try:
            return super().execute(*args, **options)
        except Failed as error:
            raise CommandError(str(error), returncode=error.returncode) from None
