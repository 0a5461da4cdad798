"""`manage.py compare --before PATH… --after PATH…`: see `advisor.audits.compare_command`."""

from advisor.audits.compare_command import Comparing
from advisor.core.command import PrintingCommand


class Command(Comparing, PrintingCommand):
    """Compare exports of before and after."""
