"""How large the data of a table is (`sp_spaceused "<table>", 1`).

Without the 1 there is the second result alone::

     index_name           size       reserved   unused
     -------------------- ---------- ---------- ----------
     item_pk              96256 KB   96400 KB   144 KB

     name                 rowtotal    reserved        data            index_size      unused
     -------------------- ----------- --------------- --------------- --------------- ---------------
     item                 5210400     909080 KB       812416 KB       96256 KB        408 KB

The fact is the size of the data, as index 0, with the rows and the sum of the indexes. A name that is printed with its
owner or its database (`dbo.item`, `sales..item`) is taken apart. The indexes are listed by name without their numbers,
which other reports know them by, so their sizes are not kept one by one: the query of `ase/lock_schemes` gives both.
The form for a whole database (`database_name`, `database_size`) is of no use here and is not read.
"""

import re
from collections.abc import Iterator

from collectors.facts.ase import IndexSize
from collectors.facts.base import ABSENT
from collectors.layouts.ase_catalog import is_system
from collectors.layouts.figures import reading, size
from collectors.layouts.tables import Row, Table
from collectors.registry import Report, report
from collectors.tables import Listing

INDEXES = re.compile(r"\bindex_name\W{1,80}size\W{1,80}reserved\W{1,80}unused\b", re.IGNORECASE)
TABLE = re.compile(r"\bname\W{1,300}row_?total\W{1,80}reserved\W{1,80}data\b", re.IGNORECASE)
START = re.compile(f"{INDEXES.pattern}|{TABLE.pattern}", re.IGNORECASE)
STOP = re.compile(rf"\W{{0,40}}(?:{START.pattern})|\s*go\s*$", re.IGNORECASE)
FIGURES = re.compile(
    r"\s*(?P<name>\S.{0,300}?)\s+(?P<rows>[0-9*]{1,20})(?P<rest>(?:\s+[0-9*]{1,20}\s*KB){4})\s*", re.IGNORECASE
)
KILOBYTES = re.compile(r"[0-9*]{1,20}\s*KB", re.IGNORECASE)
REMEDY = "export it again in full (isql -w 1000)"


@report(starts=START, provides=(IndexSize,))
def read(report: Report) -> Iterator[IndexSize]:
    """Yield one fact per table."""
    yield from SIZES.read(report)


def _size(row: Row, table: Table) -> Iterator[IndexSize]:
    name, data, rows = row.get("name"), row.get("data"), row.get("rowtotal")
    indexes = row.get("index_size")
    found = FIGURES.fullmatch(row.text[:800])
    if found:  # by their units: dashes may be shorter than the columns
        name, rows = found["name"], found["rows"]
        _, data, indexes, _ = KILOBYTES.findall(found["rest"])
    elif not row.whole:
        return
    kb = size(data, "k") if data else ABSENT
    if name and kb is not ABSENT:
        database, owner, own = _apart(name)
        yield IndexSize(
            database=database,
            owner=owner,
            table=own,
            index_id=0,
            size_kb=kb,
            rows=reading(rows) if rows else ABSENT,
            indexes_kb=size(indexes, "k") if indexes else ABSENT,
            system=is_system(own),
        )


def _apart(name: str) -> tuple[str | None, str | None, str]:
    """Database, owner and table of a name with up to three parts; a quoted one is left as it is."""
    parts = name.split(".")
    if len(parts) > 3 or not parts[-1] or any(mark in name for mark in "\"[]' "):
        return None, None, name
    database, owner = ([""] * (3 - len(parts)) + parts)[:2]
    return database or None, owner or None, parts[-1]


SIZES = Listing(heading=START, row=_size, stop=STOP, used=TABLE, remedy=REMEDY)
