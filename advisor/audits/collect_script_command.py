"""`manage.py collect-script PRODUCT [--for AUDIT.json]`: a script that collects what an audit still lacks."""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from advisor.audits.services.collect_script import (
    MOST_MINUTES,
    PRODUCTS,
    NotAnAudit,
    NothingToAsk,
    collect_scripts,
    first_audit,
    requests_of,
)
from advisor.core.printing import Failed, Printing, safe


class MakingCollectScript(Printing):
    """Print a script that collects."""

    help = (
        "Prints a script for isql (ase), DCL (openvms, rdb) or CMS (zvm) that collects what an audit still lacks, in "
        "the right order and for the right release, with its cost and duration; without --for everything that a first "
        "audit needs. It changes nothing on the system; what would is a comment."
    )

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Take the product, the audit and what the script is to fit."""
        parser.add_argument("product", choices=PRODUCTS)
        parser.add_argument(
            "--for", metavar="AUDIT.json", dest="audit", help="what `audit --format json` printed, or -"
        )
        parser.add_argument("--name", metavar="SYSTEM", help="one system of the audit; default: all, one script each")
        parser.add_argument("--release", help="15.7, V8.4: without --for, or where the audit does not know it")
        parser.add_argument(
            "--database",
            action="append",
            default=[],
            metavar="NAME",
            help="ase: a database whose tables count; openvms, rdb: a root file; may be repeated",
        )
        parser.add_argument(
            "--minutes", type=int, default=10, help=f"how long is measured, 1 to {MOST_MINUTES}; default: 10"
        )
        parser.add_argument("--trace", action="store_true", help="openvms: run the traces, which load an execlet")

    def handle(self, *args: Any, **options: Any) -> None:
        """Run it."""
        minutes = options["minutes"]
        if not 1 <= minutes <= MOST_MINUTES:
            raise Failed(f"--minutes {minutes}: 1 to {MOST_MINUTES}")
        databases = tuple(options["database"])
        more = {"version": options["release"], "minutes": minutes, "trace": options["trace"]}
        if not options["audit"]:
            request = first_audit(options["product"], system=options["name"], databases=databases, **more)
            self.emit(collect_scripts([request]), utf8=True)
            return
        try:
            requests = requests_of(_read(options["audit"]), options["product"], options["name"], databases, **more)
        except (NotAnAudit, NothingToAsk) as error:
            raise Failed(f"{safe(options['audit'])}: {safe(str(error), 1000)}") from None
        self.emit(collect_scripts(requests), utf8=True)


def _read(path: str) -> Any:
    """The JSON of a file, or of standard input (`-`). Raises `Failed`, `NotAnAudit`."""
    try:
        text = sys.stdin.buffer.read().decode("utf-8") if path == "-" else Path(path).read_text(encoding="utf-8")
        return json.loads(text)
    except OSError as error:
        raise Failed(f"{safe(path)}: {error.strerror}") from None
    except (ValueError, RecursionError):  # no UTF-8 or no JSON
        raise NotAnAudit("this is not what `audit --format json` prints") from None
