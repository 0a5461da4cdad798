"""Files without a heading (`bcp -c`): the columns are those of a release whose types fit, told by the first rows."""

import re
from collections.abc import Sequence

from collectors.facts.base import known
from collectors.layouts.dates import moment
from collectors.layouts.streamed import Heading, split, values
from collectors.layouts.tables import SEPARATORS
from collectors.reports.ase.monitor_tables.cells import Doubt, percent, small, time, words
from collectors.reports.ase.monitor_tables.tables import MonitorTable

SAMPLE = 200
"""Rows that are looked at before the order of columns is decided."""
ROUNDING = 0.51
"""By how much a printed percentage may differ from waits over grabs, in points."""
FIT = 0.95
"""Share of the rows that must fit: a damaged one may be among them."""
TEXT = re.compile(r".*[A-Za-z_]")
REMEDY = "put the line of column names above the rows, parted as the rows are (TAB for bcp -c)"


def separator_of(line: str) -> str | None:
    """What parts the values of a line, or `None` where nothing does."""
    best = max(SEPARATORS, key=line.count)
    return best if best in line else None


def may_be_row(line: str, table: MonitorTable) -> bool:
    """Whether a line looks like a row: a TAB parts its values, or another separator as many as the table has."""
    separator = separator_of(line)
    sizes = {len(order) + more for order in table.orders for more in (0, 1)}
    return separator == "\t" or (separator is not None and len(line.split(separator)) in sizes)


def heading_of(lines: Sequence[str], table: MonitorTable) -> Heading | str:
    """Find the columns of these rows; or say why they cannot be told."""
    separator = separator_of(lines[0]) or "\t"
    rows = [cells for line in lines if (cells := split(line, separator))]
    size = max(map(len, rows), default=0)
    fits = [one for order in table.orders for one in (order, ("sampletime", *order)) if _fits(table, one, rows, size)]
    if not fits:
        what = f"{size} columns without names, which fit no release's {table.name}"
        return f"{what}: {REMEDY}"
    if len({tuple(table.plan(one)) for one in fits}) > 1:
        return f"rows without column names that fit more than one release's {table.name}: {REMEDY}"
    return Heading("delimited", fits[0], 1, values(len(fits[0]), separator), separator=separator)


def _fits(table: MonitorTable, order: Sequence[str], rows: Sequence[Sequence[str]], size: int) -> bool:
    """Whether nearly all rows hold in each column what the column holds."""
    if len(order) != size:
        return False
    whole = [row for row in rows if len(row) == size]
    good = sum(_row_fits(table, order, row) for row in whole)
    texts = [place for place, _, read in table.plan(order) if read in (words, small)]
    named = all(_holds_text([row[place] for row in whole]) for place in texts)
    return named and good >= FIT * len(whole) and bool(whole)


def _holds_text(cells: Sequence[str]) -> bool:
    """Whether a column of names holds one: a number in every row would be a counter."""
    filled = [cell for cell in cells if cell.strip()]
    return not filled or any(TEXT.match(cell) for cell in filled)


def _row_fits(table: MonitorTable, order: Sequence[str], row: Sequence[str]) -> bool:
    read: dict[str, object] = {}
    if order[0] == "sampletime" and moment(row[0]) is None:
        return False
    try:
        for place, name, reader in table.plan(order):
            value = reader(row[place])
            if reader is time and value is None and row[place].strip():
                return False
            if reader in (words, small) and value and moment(row[place]):
                return False
            if reader is percent and known(value) and not -ROUNDING <= value <= 100 + ROUNDING:
                return False
            read[name] = value
    except Doubt:
        return False
    if not table.needed <= {name for name, value in read.items() if value is not None}:
        return False
    grabs, waits, printed = read.get("grabs"), read.get("waits"), read.get("contention_percent")
    if isinstance(grabs, float) and isinstance(waits, float) and isinstance(printed, float) and grabs > 0:
        return abs(100.0 * waits / grabs - printed) <= ROUNDING
    return True
