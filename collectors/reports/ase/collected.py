"""What Lockwright collected from a server itself, and what it could not (`manifest.json` beside the exports).

Written by `manage.py collect`; its first line tells it from other manifests::

    {"format": "lockwright-collected/1",
     "server": "LARCH_ASE",
     "version": "Adaptive Server Enterprise/15.7/EBF 20369 SMP SP61 /P/x86_64/…",
     "missing": [{"what": "the login has no mon_role: …", "how": "sp_role 'grant', mon_role, <login> …"}],
     "left_out": [{"question": "tables of archive", "why": "Msg 921: …", "do": "add the login to that database …"}],

It names the server. What was missing and what failed become problems with their remedies; a question that was left out
because nobody wanted it, or because the release has no such table, is none. The files themselves are held against
their checksums when they are opened (`collectors.intake`).
"""

import re

from collectors import manifest
from collectors.facts.ase import Server
from collectors.facts.base import Fact, Source
from collectors.layouts import collected
from collectors.layouts.collected import text
from collectors.registry import stream

START = re.compile(r'^\{"format": "lockwright-collected/1",')
VERSION = re.compile(r"Adaptive Server Enterprise/")
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_$#@-]{0,29}")


@stream(starts=START, provides=(Server,), rank=10)
class Collected(collected.Collected):
    """The server that was asked."""

    product = "ase"

    def facts(self, one: manifest.Manifest, source: Source) -> list[Fact]:
        """Its name and version."""
        name, version = text(one.data.get("server")), text(one.data.get("version"))
        if not NAME.fullmatch(name):
            return []
        return [Server(source=source, name=name, version=" ".join(VERSION.sub("", version, count=1).split()) or None)]
