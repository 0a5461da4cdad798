"""`manage.py rules [ID]`: see `advisor.audits.rules_command`."""

from advisor.audits.rules_command import PrintingRules
from advisor.core.command import PrintingCommand


class Command(PrintingRules, PrintingCommand):
    """Print the rule book."""
