#!/usr/bin/env python
"""The operator's door: `manage.py audit export.txt`, `manage.py up`, `manage.py help`."""

import importlib
import os
import sys

WITHOUT_THE_SERVICE = {
    "audit": "advisor.audits",
    "collect-script": "advisor.audits",
    "compare": "advisor.audits",
    "locklab": "advisor.series",
    "read": "advisor.uploads",
    "rules": "advisor.audits",
}
"""Commands without a database or a login, and their apps: started without loading the service, in half the time."""

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "advisor.config.settings")
    if len(sys.argv) > 1 and (app := WITHOUT_THE_SERVICE.get(sys.argv[1])):
        importlib.import_module(f"{app}.management.commands.{sys.argv[1]}").Command().run_from_argv(sys.argv)
    else:
        from django.core.management import execute_from_command_line
        from django.db import DatabaseError, InterfaceError

        try:
            execute_from_command_line(sys.argv)
        except (DatabaseError, InterfaceError) as error:
            if said := importlib.import_module("advisor.core.infrastructure_errors").in_a_sentence(error):
                sys.exit(f"{os.path.basename(sys.argv[0])}: {said}")  # noqa: PTH119 - a word, not a file
            raise
