"""The lines of one sp_sysmon report, cut into sections and blocks.

A block is a heading and the rows below it, up to the next heading::

      Exclusive Page
        Granted                         483.4           4.0       29227     100.0 %
        Waited                            0.0           0.0           0       0.0 %
      -------------------------  ------------  ------------  ----------  ----------
      Total EX-Page Requests            483.4           4.0       29227      19.0 %

The heading of a row is the last heading above it. That holds in every version and even where white space was
collapsed on the way, so the typed facts are read from blocks; indentation only makes the paths of the raw rows.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from collectors.facts.base import ABSENT, Reading, Source
from collectors.reports.ase.sp_sysmon.items import (
    RULE,
    STANDARD,
    Advice,
    Head,
    Item,
    Mark,
    Nothing,
    Odd,
    Row,
    Sentence,
    Table,
    label_of,
)

TWO_LINE_LABEL = ("Pages Requested", "Reside in Another")
"""`Pages Requested` / `Reside in Another` / `Buffer Pool` is one label on three lines [R]."""
NEAR = 8
"""Lines within which a heading's first row must follow."""


@dataclass(slots=True, eq=False)
class Block:
    """A heading and its rows: label of the row → index of its line."""

    label: str
    at: int
    columns: tuple[str, ...] = STANDARD
    """Of the table the block stands in."""
    table: bool = False
    """Whether the heading has column headings beside it."""
    rows: dict[str, int] = field(default_factory=dict)
    note: str = ""
    """A sentence instead of rows: `Statistics Not Available`."""


@dataclass(slots=True, eq=False)
class Advised:
    """One of the Tuning Recommendations: where its text stands, and the heading above it."""

    at: int
    last: int
    area: int | None
    title: str

    def area_in(self, page: "Page") -> str:
        """What the recommendation is for."""
        heading = page.items[self.area] if self.area is not None else None
        if self.area is None or not isinstance(heading, Advice):
            return self.title
        return page.lines[self.area][heading.at :].strip()


def advice_text(page: "Page", one: Advised) -> str:
    """The recommendation in one line."""
    item = page.items[one.at]
    start = item.at if isinstance(item, Advice) else 0
    return " ".join(" ".join([page.lines[one.at][start:], *page.lines[one.at + 1 : one.last + 1]]).split())


@dataclass(slots=True, eq=False)
class Section:
    """One section, taken apart. Nothing in it comes from a figure, so it serves every section of the same forms."""

    title: str
    blocks: list[Block] = field(default_factory=list)
    advice: list[Advised] = field(default_factory=list)
    sentences: dict[str, int] = field(default_factory=dict)
    odd: list[int] = field(default_factory=list)
    """Lines not understood."""
    damaged: list[int] = field(default_factory=list)
    """Those of them that were rows once."""


@dataclass(slots=True, eq=False)
class Page:
    """The lines of one section and what each of them is."""

    file: str
    first: int
    lines: Sequence[str]
    items: Sequence[Item]

    def figure(self, at: int | None, column: int) -> Reading:
        """One figure of the row at an index; absent without a row."""
        row = self.items[at] if at is not None else None
        if at is None or not isinstance(row, Row) or column >= len(row.figures):
            return ABSENT
        figure = row.figures[column]
        return float(self.lines[at][figure]) if isinstance(figure, slice) else figure

    def source(self, start: int, last: int) -> Source:
        """Where these lines stand in the file."""
        return Source(self.file, self.first + start, self.first + last)


Kept = tuple[int, str, "tuple[str, ...] | None"]
"""Index of a line, its label, and the columns of a row's table; `None` for a heading."""


def walk(page: Page, title: str, stray: int, kept: list[Kept] | None = None) -> Section:
    """Take the lines of one section apart.

    Rows that stray further from the columns than `stray` are damaged. `kept` collects headings and rows in order, for
    the raw rows.
    """
    return _Walk(page, Section(title), stray, kept).run()


class _Walk:
    """One way through the lines of a section."""

    def __init__(self, page: Page, section: Section, stray: int, kept: list[Kept] | None) -> None:
        self.page, self.section, self.stray, self.kept = page, section, stray, kept
        self.area: int | None = None
        self.columns: tuple[str, ...] = STANDARD
        self.pending: list[int] = []
        """Headings that no row has followed yet."""
        self.prefix: list[int] = []
        """The lines of a label that goes on."""
        self.uneven: list[tuple[int, int, Block, str]] = []
        """Rows of a table of per cents: where the last figure ends, index, block, label."""
        self.dropped: set[int] = set()
        self.block = Block("", 0)
        section.blocks.append(self.block)

    def run(self) -> Section:
        section, lines, skip = self.section, self.page.lines, 0
        for at, item in enumerate(self.page.items):
            if at < skip or type(item) is Nothing:
                continue
            if type(item) is Row:
                if self.pending:
                    self._settle(at, item)
                if item.kind != "standard" or self.columns is not STANDARD or self.prefix:
                    self._special(at, item)
                elif item.stray > self.stray:
                    section.damaged.append(at)
                else:
                    self._row(at, item.label if item.label is not None else label_of(item, lines[at]))
            elif type(item) is Head:
                self._head(at, item)
            elif type(item) is Table:
                self._table(at, item)
            elif type(item) is Sentence:
                self._sentence(at, item)
            elif type(item) is Advice:
                skip = self._advice(at, item)
            elif type(item) is Odd:
                (section.damaged if item.damaged else section.odd).append(at)
            elif not (type(item) is Mark and item.what == "section" and not at):
                section.odd.append(at)
        self._end_of_table()
        self._drop_prefix()
        self._settle()
        section.odd = sorted(section.odd + section.damaged)
        if self.kept and self.dropped:
            self.kept[:] = [one for one in self.kept if one[0] not in self.dropped]
        return section

    def _row(self, at: int, label: str) -> None:
        self.block.rows.setdefault(label, at)  # twice: the second is of a block whose heading is lost
        if self.kept is not None:
            self.kept.append((at, label, self.columns))

    def _head(self, at: int, item: Head) -> None:
        label = label_of(item, self.page.lines[at])
        if len(self.prefix) < 2 and label == TWO_LINE_LABEL[len(self.prefix)]:
            self.prefix.append(at)
            return
        self._drop_prefix()
        self.pending.append(at)
        self._begin(Block(label, at, self.columns))

    def _table(self, at: int, item: Table) -> None:
        self._drop_prefix()
        self._end_of_table()
        self.pending = []  # such a heading needs no row below it, nor do those before it
        self.columns = item.columns
        self._begin(Block(label_of(item, self.page.lines[at]), at, item.columns, table=True))

    def _begin(self, block: Block) -> None:
        self.block = block
        self.section.blocks.append(block)
        if self.kept is not None:
            self.kept.append((block.at, block.label, None))

    def _sentence(self, at: int, item: Sentence) -> None:
        self.pending = []
        self.section.sentences[item.label] = at
        if item.figure is None:
            self.block.note = item.label
        elif self.kept is not None:
            self.kept.append((at, item.label, (item.column,)))

    def _advice(self, at: int, item: Advice) -> int:
        """Take a recommendation with the lines it goes on over; returns the index of the line after it."""
        self._settle()
        items, after = self.page.items, at + 1
        if not item.bullet:
            self.area = at
            return after
        while after < len(items) and isinstance(items[after], Head | Odd | Sentence):
            after += 1
        self.section.advice.append(Advised(at, after - 1, self.area, self.section.title))
        return after

    def _special(self, at: int, item: Row) -> None:
        """A row that is not a label and the four columns, or whose label began above."""
        need, many = len(self.columns), len(item.figures)
        label = label_of(item, self.page.lines[at])
        if item.kind == "lone":
            if self.section.title != "NV Cache Management":
                self.section.damaged.append(at)
        elif item.stray > self.stray:
            self._drop_prefix()
            self.section.damaged.append(at)
        elif item.kind == "standard" and self.columns is STANDARD:
            if self.prefix and label == "Buffer Pool":
                label, self.prefix = " ".join((*TWO_LINE_LABEL, label)), []
            self._drop_prefix()
            self._row(at, label)
        elif self.columns is STANDARD or many < need or (item.kind == "percents" and many > need):
            self.section.damaged.append(at)
        else:
            if item.kind != "standard":
                label = " ".join(self.page.lines[at][: item.spans[-need][0]].split())
            if item.kind == "percents" and not item.tight:
                self.uneven.append((item.spans[-1][1], at, self.block, label))
            self._row(at, label)

    def _end_of_table(self) -> None:
        """Find the rows of a table of per cents whose last figure ends elsewhere than in most rows."""
        uneven, self.uneven = self.uneven, []
        if len(uneven) < 3:
            return
        edge = Counter(end for end, _, _, _ in uneven).most_common(1)[0][0]
        for end, at, block, label in uneven:
            if end != edge:
                self.section.damaged.append(at)
                self.dropped.add(at)
                block.rows.pop(label, None)

    def _drop_prefix(self) -> None:
        """The label that seemed to go on does not."""
        self.section.odd.extend(self.prefix)
        self.prefix = []

    def _settle(self, row_at: int | None = None, row: Row | None = None) -> None:
        """Believe the headings that a row below them follows; the others were no headings."""
        pending, self.pending = self.pending, []
        if self.section.title == "NV Cache Management":
            return
        not_headings = {at for at in pending if not self._believable(at, row_at, row)}
        if not not_headings:
            return
        self.section.odd.extend(not_headings)
        self.dropped |= not_headings
        if self.block.at in not_headings:
            blocks = self.section.blocks
            while len(blocks) > 1 and blocks[-1].at in not_headings:
                blocks.pop()
            self.block = blocks[-1]

    def _believable(self, at: int, row_at: int | None, row: Row | None) -> bool:
        items, head = self.page.items, self.page.items[at]
        if at + 1 < len(items) and items[at + 1] is RULE:
            return True
        if row_at is None or row is None or row_at - at > NEAR or not isinstance(head, Head):
            return False
        return head.ours or row.tight or 0 < head.indent < row.indent
