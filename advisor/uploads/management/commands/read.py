"""`manage.py read PATH…`: what was understood, every fact with its lines, every line not understood."""

from typing import Any

from advisor.audits.report.data import read_data
from advisor.core.command import PrintingCommand
from advisor.uploads.command import ReadingExports


class Command(ReadingExports, PrintingCommand):
    """Read exports."""

    help = "Prints what was understood: every fact with its line numbers, every line not understood."
    formats = ("text", "json")

    def handle(self, *args: Any, **options: Any) -> None:
        """Run it."""
        data = read_data(self.read(options["paths"]))
        if options["format"] == "json":
            self.write_json(data)
        else:
            from advisor.audits.report.render import render

            self.emit(render("read", data, "txt"))
