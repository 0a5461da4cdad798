"""`manage.py collect-script PRODUCT`: see `advisor.audits.collect_script_command`.

Django takes the name of the file as that of the command, so this one has a hyphen; nothing imports it by a statement.
"""

from advisor.audits.collect_script_command import MakingCollectScript
from advisor.core.command import PrintingCommand


class Command(MakingCollectScript, PrintingCommand):
    """Print a script that collects."""
