"""The listing of a table's indexes, which `sp_helpindex` prints alone and `sp_help` among others."""

import re
from collections.abc import Iterator

from collectors.facts.ase import IndexKeys
from collectors.layouts.tables import Row, Table

INDEXES_LISTED = re.compile(r"\bindex_name\W{1,300}(?:index_keys|index_description)\b", re.IGNORECASE)


def index_of(row: Row, table: Table) -> Iterator[IndexKeys]:
    """The index of a row, of a table that stands elsewhere; none where the row is cut before its columns."""
    name, keys, said = row.get("index_name"), row.get("index_keys"), row.get("index_description").lower()
    if row.whole and name and keys:
        words = re.findall(r"[a-z]+", said.partition(" located")[0])
        yield IndexKeys(index=name, keys=keys, clustered="clustered" in words, unique="unique" in words)
