"""`manage.py rules [ID]` and `lockwright rules [ID]`: the rule book; for `documents` the documents it rests on."""

import argparse
import json
from typing import Any

from advisor.audits.services.documents import documents, platforms
from advisor.audits.services.rulebook import rulebook
from advisor.core.printing import Failed, Printing

DOCUMENTS = "documents"


class PrintingRules(Printing):
    """Print the rule book."""

    help = "The rule book: what each rule finds, why, what to do, when to ignore it, its limits, its sources."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Take an id and a format."""
        parser.add_argument("id", nargs="?", help="a rule (ase/descriptors_reused), a product (ase), or: documents")
        parser.add_argument("--format", choices=("text", "json"), default="text")

    def handle(self, *args: Any, **options: Any) -> None:
        """Run it."""
        if options["id"] == DOCUMENTS:
            self.print_documents(options["format"])
            return
        entries = rulebook(options["id"])
        if not entries:
            raise Failed(f"no rule is called {options['id']!r}; `manage.py rules` lists all")
        if options["format"] == "json":
            self.emit(json.dumps({"contract": "rules/1", "rules": entries}, ensure_ascii=False, indent=1), utf8=True)
        else:
            from advisor.audits.report.render import render

            self.emit(render("rules", {"rules": entries, "whole": len(entries) == 1}, "txt"))

    def print_documents(self, form: str) -> None:
        """Print every table and figure of the source documents; in JSON beside the rules, of which there are none."""
        data = {"documents": documents(), "platforms": platforms()}
        if form == "json":
            found = {"contract": "rules/1", "rules": [], **data}
            self.emit(json.dumps(found, ensure_ascii=False, indent=1), utf8=True)
        else:
            from advisor.audits.report.render import render

            self.emit(render("documents", data, "txt"))
