"""SAP ASE asked over ODBC: collects the exports that `collectors.reports.ase` reads, and only reads from the server.

`questions.sql` is what is asked. pyodbc is imported by the collecting process alone (`child`), which can be ended.
"""

from collectors.live.ase.collect_request import CollectRequest
from collectors.live.ase.collecting import Ase, Collected, Tried, collect, collect_zip, order_of, pack, sizes_of, try_it
from collectors.live.ase.connection import Connection, parse
from collectors.live.ase.questions import text as questions_text
from collectors.live.registry import register

__all__ = [
    "ASE",
    "Ase",
    "CollectRequest",
    "Collected",
    "Connection",
    "Tried",
    "collect",
    "collect_zip",
    "order_of",
    "pack",
    "parse",
    "questions_text",
    "sizes_of",
    "try_it",
]

ASE = register(Ase())
