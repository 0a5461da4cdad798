"""Which processes are attached to a database, by RMU/SHOW USERS: the name and image behind a PID, and recoveries."""

import re
from collections.abc import Mapping

from collectors.facts import Facts
from collectors.facts.rdb import AttachedProcess
from rules.changes.quoting import comment
from rules.rdb._evidence.databases import OneDatabase, belonging

RECOVERY = re.compile(r"[\]>:]RDMDBR[0-9]{0,4}\.EXE\b", re.IGNORECASE)
"""The image of a database recovery process, by the logical name of its log (RDM$BIND_DBR_LOG_FILE)."""
SERVER = re.compile(r"\bRDM(?:ABS|ALS|LCS|LRS|RCS|[A-Z$_]{0,12}SERVER)[0-9]{0,4}\.EXE\b", re.IGNORECASE)
"""The image of another server of Rdb itself: backup and writer of the journal, row cache, hot standby."""
FILE = re.compile(r"[\]>:/](?P<name>[^\]>:/;]{1,60})(?:;[0-9]{1,5})?$")


def attached_to(facts: Facts, one: OneDatabase) -> dict[str, AttachedProcess]:
    """The processes of one database by PID, as they were listed last."""
    return {process.pid: process for process in belonging(facts.every(AttachedProcess), one)}


def called(process: AttachedProcess) -> str:
    """`HR_HEADCOUNT (20800F1C)`, or the PID alone."""
    return f"{comment(process.process, 20)} ({process.pid})" if process.process else process.pid


def image_of(attached: Mapping[str, AttachedProcess], pid: str) -> str:
    """`HEADCOUNT.EXE`, without its directory; empty where it is not listed."""
    found = FILE.search(attached[pid].image or "") if pid in attached else None
    return comment(found["name"], 60) if found else ""


def recoveries(attached: Mapping[str, AttachedProcess]) -> list[AttachedProcess]:
    """The database recovery processes among them."""
    return [process for process in attached.values() if RECOVERY.search(process.image or "")]
