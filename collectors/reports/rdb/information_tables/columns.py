"""The information tables of Oracle Rdb: their names, the columns that tell which table it is, and what columns mean.

The columns of RDB$STORAGE_AREAS, RDB$CACHES and RDB$LOGICAL_AREAS, and the bits of RDB$FLAGS of a storage area, are
those of the vendor's help (SQL72, Information_Tables). Those of the others were not seen: their names are understood by
their words, and what is read that way is tentative.
"""

import re
from collections.abc import Mapping
from typing import Final

ROOT, JOURNAL, AREAS, CACHES, USERS, LOGICAL = (
    "DATABASE_ROOT",
    "DATABASE_JOURNAL",
    "STORAGE_AREAS",
    "CACHES",
    "DATABASE_USERS",
    "LOGICAL_AREAS",
)
FILE = "DATABASE"
"""RDB$DATABASE is a system table; its RDB$FILE_NAME is the root file (vendor help). InterBase's has no such column."""
RELATIONS = "RELATIONS"
"""RDB$RELATIONS, a system table: its RDB$CARDINALITY is the rows that Rdb takes a table to have."""
SILENT = ("JOURNALS", "CHARACTER_SETS", "NLS_CHARACTER_SETS")
"""Information tables that say nothing of locking."""
TABLES = (ROOT, JOURNAL, AREAS, CACHES, USERS, LOGICAL, *SILENT)
TELLING: Final[Mapping[str, frozenset[str]]] = {
    AREAS: frozenset(("AREA_FILE", "LINKED_AREA_ID", "AREA_ACCESS_MODE", "SPAM_INTERVAL", "INITIAL_ALLOCATION")),
    CACHES: frozenset(("CACHE_SIZE", "NUM_RESERVED_ROWS", "NUM_SWEEP_ROWS", "SNAP_CACHE_SIZE")),
    LOGICAL: frozenset(("LOGICAL_AREA_ID", "LOGICAL_AREA_NAME", "ORDERED_HASH_OFFSET")),
}
"""Columns, without `RDB$`, that no other table has."""
SNAPSHOT_BIT, PAGE_LEVEL_BIT, ROW_CACHE_BIT = 1 << 2, 1 << 12, 1 << 15
"""Of RDB$FLAGS in RDB$STORAGE_AREAS (vendor help): a snapshot area; page level locking; row cache is enabled."""

FIRST = ("LAST_BACKUP", "CACHE_ID", "CACHE_NAME")
"""More columns that no table of another database has: they stand in the first line of a wrapped heading."""
COUNTS = (
    ("maximum_users", re.compile(r"(?:MAX|NUM|NUMBER|COUNT).*USER|USER.*(?:MAX|COUNT)")),
    ("nodes_configured", re.compile(r"(?:MAX|NUM|NUMBER|COUNT).*NODE|NODE.*(?:MAX|COUNT)")),
    ("global_buffer_count", re.compile(r"(?:NUM|COUNT|MAX).*GLOBAL_BUF|GLOBAL_BUF\w*_(?:NUM|COUNT)")),
    ("user_buffer_count", re.compile(r"DEFAULT_(?:NUM_)?(?:USER_)?BUF\w*(?:_COUNT)?|USER_BUF\w*_COUNT")),
    ("lock_timeout_seconds", re.compile(r"LOCK_(?:WAIT_)?TIMEOUT|LOCK_WAIT_INTERVAL")),
    ("adjustable_locking_count", re.compile(r"(?:FANOUT|ALG)\w*_COUNT|(?:NUM|COUNT)\w*_(?:FANOUT|ALG)")),
    ("transaction_interval", re.compile(r"(?:TRANSACTION|TSN|TXN)_INTERVAL")),
)
SWITCHES = (
    ("global_buffers", re.compile(r"GLOBAL_BUFFERS?(?:_ENABLED)?")),
    ("adjustable_locking", re.compile(r"ADJUSTABLE_LOCK\w*|ALG_ENABLED")),
    ("carry_over_locks", re.compile(r"CARRY_?OVER\w*")),
    ("lock_partitioning", re.compile(r"LOCK_(?:TREE_)?PARTITION\w*")),
    ("statistics_enabled", re.compile(r"STATISTICS(?:_ENABLED)?")),
    ("after_image_journaling", re.compile(r"(?:AFTER_IMAGE_)?JOURNAL(?:ING|S)?_(?:IS_)?ENABLED|AIJ_ENABLED")),
    ("fast_commit", re.compile(r"FAST_COMMIT(?:_ENABLED)?")),
    ("commit_to_journal", re.compile(r"COMMIT_TO_(?:JOURNAL|AIJ)\w*")),
    ("row_cache_enabled", re.compile(r"ROW_CACH(?:E|ING)(?:_ENABLED)?")),
    ("single_instance", re.compile(r"SINGLE_INSTANCE(?:_ENABLED)?")),
)
TRUE, FALSE = ("1", "y", "yes", "true", "enabled", "on"), ("0", "n", "no", "false", "disabled", "off")


def bare(column: str) -> str:
    """A column without `RDB$`, in capitals: `rdb$cache_id` → `CACHE_ID`."""
    name = column.strip().strip('"').upper()
    return name.removeprefix("RDB$")


def table_of(columns: list[str]) -> str | None:
    """Which information table has these columns; `None`: none that can be told by them."""
    names = {bare(column) for column in columns}
    for table, telling in TELLING.items():
        if names & telling:
            return table
    if {"RELATION_NAME", "CARDINALITY"} <= names and "INDEX_NAME" not in names:
        return RELATIONS
    if "FILE_NAME" in names and names & {"MAJ_VER", "CDD_PATH"}:
        return FILE
    if any(field_of(name) in (("nodes_configured", "count"), ("maximum_users", "count")) for name in names):
        return ROOT
    return None


def field_of(name: str) -> tuple[str, str] | None:
    """The field of `Database` that a column of the root or the journal names, and `count` or `switch`."""
    for field, pattern in SWITCHES:
        if pattern.fullmatch(name):
            return field, "switch"
    for field, pattern in COUNTS:
        if pattern.search(name):
            return field, "count"
    return None


def switch(text: str) -> bool | None:
    """Read a switch; `None` for what is none."""
    low = text.strip().lower()
    return True if low in TRUE else False if low in FALSE else None
