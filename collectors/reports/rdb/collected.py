"""What Lockwright collected from an Oracle Rdb database itself, and what it could not (`manifest.json`).

Written by `manage.py collect --product rdb`; its first line tells it from the manifests of others::

    {"format": "lockwright-collected/1", "product": "rdb",
     "server": "DISK$LEDGER:[LEDGER]LEDGER.RDB;1",
     "version": "Oracle Rdb V7.2-501",
     "left_out": [{"question": "RDB$CACHES", "why": "…", "do": "have SQL$SAMPLE:INFO_TABLES.SQL …"}],

It names the database and its release. What was not answered becomes a problem with its remedy.
"""

import re

from collectors import manifest
from collectors.facts.base import Fact, Source
from collectors.facts.rdb import Database
from collectors.layouts import collected
from collectors.layouts.collected import text
from collectors.registry import stream

START = re.compile(r'^\{"format": "lockwright-collected/1", "product": "rdb",')
RELEASE = re.compile(r"\b[VXT][0-9]\.[0-9][\w.-]{0,12}")


@stream(starts=START, provides=(Database,), rank=11)
class Collected(collected.Collected):
    """The database that was asked."""

    product = "rdb"

    def facts(self, one: manifest.Manifest, source: Source) -> list[Fact]:
        """Its root file and its release."""
        root, release = text(one.data.get("server"))[:255].strip(), RELEASE.search(text(one.data.get("version")))
        return [Database(source=source, database=root, release=release[0] if release else None)] if root else []
