#!/usr/bin/env python
"""The operator's door: `manage.py audit export.txt`, `manage.py up`, `manage.py help`."""

import importlib
import os
import sys

WITHOUT_THE_SERVICE = ("audit", "compare", "locklab", "read", "rules")
"""Commands that need no database and no login: started without loading the service, in half the time."""

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "advisor.settings")
    if len(sys.argv) > 1 and sys.argv[1] in WITHOUT_THE_SERVICE:
        importlib.import_module(f"advisor.management.commands.{sys.argv[1]}").Command().run_from_argv(sys.argv)
    else:
        from django.core.management import execute_from_command_line
        from django.db import DatabaseError, InterfaceError

        try:
            execute_from_command_line(sys.argv)
        except (DatabaseError, InterfaceError) as error:
            if said := importlib.import_module("advisor.services.outside").in_a_sentence(error):
                sys.exit(f"{os.path.basename(sys.argv[0])}: {said}")  # noqa: PTH119 - a word, not a file
            raise
