"""The raw rows of a section, each with the headings above it as its path.

They are made when somebody asks for them: an archive has ten times more rows than rules look at, and as text they
take a tenth of the memory.

Which headings a row stands under is told by indentation. A heading ends those that are not further left. A row ends
those further right, and after a blank line those at its own level too. A row that others are indented under is their
heading: `Cache Hits` of `Found in Wash`. Where white space was collapsed, the last heading alone is the path.
"""

from collectors.facts.ase.sysmon import SysmonRow
from collectors.facts.base import ABSENT, Reading
from collectors.reports.ase.sp_sysmon.items import RULE, STANDARD, Head, Row, Sentence, Table
from collectors.reports.ase.sp_sysmon.lines import items_of
from collectors.reports.ase.sp_sysmon.page import Kept, Page, walk

DEEPEST = 12
"""Headings above a row; the layout has five."""


class PackedRows:
    """The text of a section; called, the rows."""

    __slots__ = ("first", "stray", "text", "title")

    def __init__(self, title: str, first: int, text: str, stray: int) -> None:
        """Take the text, of which the first line is number `first`; `stray` as in `walk`."""
        self.title, self.first, self.text, self.stray = title, first, text, stray

    def __call__(self) -> tuple[SysmonRow, ...]:
        """Read every row."""
        page = Page("", self.first, self.text.split("\n"), items_of(self.text))
        kept: list[Kept] = []
        walk(page, self.title, self.stray, kept)
        paths = _Paths(page)
        return tuple(row for one in kept if (row := paths.take(one)))


class _Paths:
    """The headings that the next row stands under: indentation, label, whether it is a row itself."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.stack: list[tuple[int, str, bool]] = []
        self.table: tuple[int, str, bool] | None = None
        """The heading with column headings; headings of its own level stand under it while it has no row of its own."""
        self.bare = False
        """Whether it has none yet."""
        self.depth = 0
        """Indentation of the last row."""

    def take(self, one: Kept) -> SysmonRow | None:
        """Make the row, or remember the heading."""
        at, label, columns = one
        item, number = self.page.items[at], self.page.first + at
        if isinstance(item, Head | Table):
            self._heading(item.indent, label, table=isinstance(item, Table))
        elif isinstance(item, Sentence):
            value: Reading = float(self.page.lines[at][item.figure]) if item.figure else ABSENT
            return SysmonRow(number, (label,), ABSENT, ABSENT, ABSENT, ABSENT, ((item.column, value),))
        elif isinstance(item, Row) and columns is STANDARD:
            rate, each, count, percent = (self.page.figure(at, column) for column in range(4))
            return SysmonRow(number, self._path(at, label, item), rate, each, count, percent)
        elif isinstance(item, Row) and columns:
            cells = tuple((name, self.page.figure(at, place - len(columns))) for place, name in enumerate(columns))
            return SysmonRow(number, self._path(at, label, item), ABSENT, ABSENT, ABSENT, ABSENT, cells)
        return None

    def _heading(self, indent: int, label: str, *, table: bool) -> None:
        while (
            self.stack and self.stack[-1][0] >= indent and (table or not (self.bare and self.stack[-1] is self.table))
        ):
            self.stack.pop()
        self.stack.append((indent, label, False))
        if table:
            self.stack, self.bare = [self.stack[-1]], True
            self.table = self.stack[0]

    def _path(self, at: int, label: str, row: Row) -> tuple[str, ...]:
        above = self.page.items[at - 1] if at else None
        after_blank = at > 0 and not self.page.lines[at - 1].strip() and not row.tight
        closes = self.depth > row.indent and above is not RULE
        while self.stack:
            entry = self.stack[-1]
            indent, _, is_row = entry
            if indent < row.indent or (entry is self.table and not after_blank):
                break
            if indent == row.indent and not (is_row or after_blank or closes):
                break
            self.stack.pop()
        if self.stack and self.stack[-1] is self.table:
            self.bare = False
        self.depth = row.indent
        path = tuple(name for _, name, _ in self.stack)
        if not row.tight and len(self.stack) < DEEPEST:
            self.stack.append((row.indent, label, True))
        return (*path, label) if label or not path else path
