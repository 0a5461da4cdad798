"""`manage.py compare` and `lockwright compare`: the same system before and after a change, per unit of work."""

import argparse
import sys
from typing import Any

from advisor.audits.report.comparison import comparison_data
from advisor.audits.services.auditing import BadSetting, parse_limits
from advisor.audits.services.pairing import NotOneSystem, other_name, sides
from advisor.core.printing import SEVERITIES, SOMETHING_FOUND, Failed, safe
from advisor.uploads.command import ReadingExports
from advisor.uploads.services.reading import captures_of
from rules.compare.compare import (
    MIXED,
    WORSE,
    Comparison,
    compare,
    remarked,
)
from rules.finding import Severity


class Comparing(ReadingExports):
    """Compare exports of before and after."""

    help = (
        "Holds exports of one system from before a change against those from after it, per unit of work: improved, "
        "no effect, worse, mixed (better here, worse there), or not comparable, and why. Exit status: 0 nothing at or "
        "above --fail-on stands after it, 1 something does, or it became worse or mixed, 2 nothing usable was given on "
        "a side."
    )

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Take two lists of paths and a format."""
        for side, when in (("before", "from before the change"), ("after", "from after it")):
            parser.add_argument(
                f"--{side}", nargs="+", required=True, metavar="PATH", help=f"exports {when}; several captures add up"
            )
        parser.add_argument("--name", metavar="SYSTEM", help="which system, where there are several or none is named")
        parser.add_argument(
            "--set", action="append", default=[], metavar="RULE.LIMIT=VALUE", dest="limits", help="a limit of your own"
        )
        parser.add_argument("--format", choices=self.formats, default="text", help="text for a terminal (default)")
        parser.add_argument("--fail-on", choices=SEVERITIES, default="warning", help="default: warning")

    def handle(self, *args: Any, **options: Any) -> None:
        """Run it."""
        try:
            limits = parse_limits(options["limits"])
        except BadSetting as error:
            raise Failed(str(error)) from None
        if "-" in options["before"] and "-" in options["after"]:
            raise Failed("standard input (-) can be one side only: name a file")
        name = options["name"]
        heaps = [self.read(options[side]) for side in ("before", "after")]
        try:
            before, after, remark = sides(captures_of(heaps[0], name), captures_of(heaps[1], name), name)
        except NotOneSystem as error:
            raise Failed(safe(str(error), 1000)) from None
        remarks = [remark] if remark else []
        renamed = [
            said for one, when in zip(heaps, ("before", "after"), strict=True) if (said := other_name(one, name, when))
        ]
        for said in (*remarks, *renamed):
            self.stderr.write(safe(said, 1000))
        compared = remarked(compare(before, after, limits), renamed)
        data = comparison_data(compared)
        if options["format"] == "json":
            self.write_json(data)
        else:
            from advisor.audits.report.render import render

            html = options["format"] == "html"
            self.emit(render("compare", data, "html" if html else "txt"), utf8=html)
        if fails(compared, len(SEVERITIES) - SEVERITIES.index(options["fail_on"])):
            sys.exit(SOMETHING_FOUND)


def fails(compared: Comparison, least: int) -> bool:
    """Whether a finding at or above this severity stands after it; what became worse, if in one way alone, warns."""
    loudest = max((found.finding.severity for one in compared.audits for found in one.findings), default=0)
    return loudest >= least or (compared.verdict in (WORSE, MIXED) and least <= Severity.WARNING)
