"""`manage.py audit PATH…` and `lockwright audit PATH…`: read exports, run every rule, print the result."""

import argparse
import sys
from typing import Any

from advisor.audits.report.data import audit_data
from advisor.audits.services.auditing import (
    BadSetting,
    parse_limits,
    run_audit,
    worst,
)
from advisor.audits.services.excerpts import add_excerpts
from advisor.core.printing import SEVERITIES, SOMETHING_FOUND, Failed
from advisor.uploads.command import ReadingExports
from rules.in_time import in_reading_order


class Auditing(ReadingExports):
    """Audit exports."""

    help = (
        "Reads exports, runs every rule, prints the result. Needs no database, no server, no login. "
        "Exit status: 0 nothing at or above --fail-on, 1 something is, 2 nothing usable was given."
    )

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the name, the limits and the severity that fails."""
        super().add_arguments(parser)
        parser.add_argument(
            "--name",
            metavar="SYSTEM",
            help="the system of exports that name none, and another name for the one system that they name",
        )
        parser.add_argument(
            "--set",
            action="append",
            default=[],
            metavar="RULE.LIMIT=VALUE",
            dest="limits",
            help="a limit of your own; `manage.py rules RULE` lists them",
        )
        parser.add_argument("--full", action="store_true", help="text with every figure, script and reason")
        parser.add_argument(
            "--run-sheet", action="store_true", help="text of one page for the change window: steps, checks, undo"
        )
        parser.add_argument("--fail-on", choices=SEVERITIES, default="warning", help="default: warning")

    def handle(self, *args: Any, **options: Any) -> None:
        """Run it."""
        try:
            limits = parse_limits(options["limits"])
        except BadSetting as error:
            raise Failed(str(error)) from None
        inputs = self.read(options["paths"])
        audits = run_audit(inputs, limits, options["name"])
        # scripts count on the order of times; a person reads what is to be decided by first
        data = audit_data(inputs, audits if options["format"] == "json" else in_reading_order(audits))
        if limits:  # what has no finding by them is not counted as in order
            for capture in data["captures"]:
                capture["limits"] = limits
        if options["format"] == "json":
            self.write_json(data)
        else:
            from advisor.audits.report.render import render

            add_excerpts(data)
            html = options["format"] == "html"
            kind = "audit_full" if options["full"] and not html else "audit"
            if options["run_sheet"]:
                kind, html = "run_sheet", False
            self.emit(render(kind, data, "html" if html else "txt"), utf8=html)
        loudest = worst(audits)
        if loudest is not None and loudest >= len(SEVERITIES) - SEVERITIES.index(options["fail_on"]):
            sys.exit(SOMETHING_FOUND)
