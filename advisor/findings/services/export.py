"""The list of findings as a file for a spreadsheet: CSV of any length, Excel of as much as a request may take.

Texts come from exports: a cell that a spreadsheet would take for a formula is made harmless (`core.csv_files`), and in
Excel no text is ever written as a formula or as a link. Numbers are numbers, days are days in the site's time zone.
"""

import io
from collections.abc import Iterator
from datetime import date, datetime
from typing import Any

from django.db.models import QuerySet
from django.utils import timezone
from xlsxwriter import Workbook
from xlsxwriter.worksheet import Worksheet

from advisor.audits.report.render import PRODUCT_NAMES
from advisor.core.csv_files import safe_cell
from advisor.core.jinja import SEVERITY
from advisor.findings.models import TrackedFinding
from advisor.findings.services.listing import NO_STEP, STATE_WORDS, WHEN_WORDS

Cell = str | float | int | date | datetime | None
COLUMNS = (
    *("severity", "finding", "system", "team", "product", "rule", "subject", "CPUs lost", "CPUs of the system"),
    *("figure", "value", "unit", "limit", "takes effect", "state", "since", "accepted until", "why", "owner"),
    *("newest capture", "captures that show it", "first seen", "last seen", "number"),
)
MOST_IN_EXCEL = 20_000
"""Rows of a workbook: they are all held in memory, and take some seconds (this project's figure)."""
A_CHUNK = 2000
READ = (
    *("severity", "title", "rule", "subject", "processors", "metric", "value", "unit", "limit", "when", "state"),
    *("state_since", "state_until", "state_why", "presence", "seen", "first_seen", "last_seen", "owner__username"),
    *("system__name", "system__product", "system__processors", "system__team__name"),
)
"""Columns of the tables that a file is made of."""


def csv_rows(found: QuerySet[TrackedFinding]) -> Iterator[Iterator[Any]]:
    """The findings as rows of a CSV file, below `COLUMNS`."""
    return (map(_in_csv, cells) for cells in _rows(found))


def workbook(found: QuerySet[TrackedFinding]) -> bytes:
    """The findings as an Excel workbook; the caller has seen to it that they are at most `MOST_IN_EXCEL`."""
    made = io.BytesIO()
    options = {"in_memory": True, "strings_to_formulas": False, "strings_to_urls": False, "remove_timezone": True}
    with Workbook(made, options) as book:
        sheet = book.add_worksheet("Findings")
        day, moment = book.add_format({"num_format": "yyyy-mm-dd"}), book.add_format({"num_format": "yyyy-mm-dd hh:mm"})
        sheet.write_row(0, 0, COLUMNS, book.add_format({"bold": True}))
        sheet.freeze_panes(1, 2)
        sheet.set_column(1, 1, 60)
        sheet.set_column(2, len(COLUMNS) - 1, 16)
        last = 0
        for last, cells in enumerate(_rows(found), 1):
            for place, cell in enumerate(cells):
                _write(sheet, last, place, cell, day, moment)
        sheet.autofilter(0, 0, last, len(COLUMNS) - 1)
    return made.getvalue()


def _rows(found: QuerySet[TrackedFinding]) -> Iterator[tuple[Cell, ...]]:
    """The cells of each finding, in the order of `COLUMNS`; texts are safe already."""
    read = found.select_related("system__team", "owner").only(*READ)
    for one in read.iterator(chunk_size=A_CHUNK):
        system = one.system
        cells: tuple[Cell, ...] = (
            *(SEVERITY[one.severity], one.title, system.name, system.team.name),
            *(PRODUCT_NAMES.get(system.product, system.product), one.rule, one.subject),
            *(one.processors, system.processors, one.metric, one.value, one.unit, one.limit),
            *(WHEN_WORDS.get(one.when or NO_STEP, one.when), STATE_WORDS[TrackedFinding.State(one.state)]),
            *(one.state_since, one.state_until, one.state_why, one.owner.username if one.owner else ""),
            *(one.get_presence_display(), one.seen, one.first_seen, one.last_seen, one.pk),
        )
        yield tuple(safe_cell(cell) if isinstance(cell, str) else cell for cell in cells)


def _in_csv(cell: Cell) -> Any:
    if isinstance(cell, datetime):
        return timezone.localtime(cell).isoformat(timespec="minutes")
    return cell.isoformat() if isinstance(cell, date) else cell


def _write(sheet: Worksheet, row: int, place: int, cell: Cell, day: Any, moment: Any) -> None:
    """Write a cell as what it is: a text stays a text whatever it looks like."""
    if isinstance(cell, str):
        sheet.write_string(row, place, cell)
    elif isinstance(cell, datetime):
        sheet.write_datetime(row, place, timezone.localtime(cell), moment)
    elif isinstance(cell, date):
        sheet.write_datetime(row, place, cell, day)
    elif cell is not None:
        sheet.write_number(row, place, cell)
