"""`manage.py read PATH…`: see `advisor.uploads.command`."""

from advisor.core.command import PrintingCommand
from advisor.uploads.command import Reading


class Command(Reading, PrintingCommand):
    """Read exports."""
