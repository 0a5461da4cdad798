"""Oracle Rdb asked over ODBC: its information tables, which `collectors.reports.rdb.information_tables` reads.

They say what is set and nothing of locks, waits or rates, which come from RMU. `questions.py` is what is asked. pyodbc
is imported by the collecting process alone (`child`), which can be ended.
"""

from collectors.live.rdb.collecting import LIMIT, Rdb, Tried, collect, parse, try_it
from collectors.live.rdb.questions import CollectRequest, order_of
from collectors.live.rdb.questions import text as questions_text
from collectors.live.registry import register

__all__ = ["LIMIT", "CollectRequest", "Rdb", "Tried", "collect", "order_of", "parse", "questions_text", "try_it"]

RDB = register(Rdb())
