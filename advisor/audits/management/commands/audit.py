"""`manage.py audit PATH…`: see `advisor.audits.command`."""

from advisor.audits.command import Auditing
from advisor.core.command import PrintingCommand


class Command(Auditing, PrintingCommand):
    """Audit exports."""
