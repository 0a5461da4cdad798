"""What a line of an sp_sysmon report can be.

Sample, with the kind of each line::

    Lock Management                                                                        Mark (section)
    ---------------                                                                        Nothing (rule)
      Lock Detail                     per sec      per xact       count  % of total        Table
      Exclusive Page                                                                       Head
        Granted                         483.4           4.0       29227     100.0 %        Row
      Tuning Recommendations for Lock Management                                           Advice
      No physical locks are acquired                                                       Sentence
"""

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field

from collectors.facts.base import Missing

STANDARD = ("per sec", "per xact", "count", "% of total")


@dataclass(slots=True, eq=False)
class Item:
    """What a line is."""

    form: str | None = field(init=False, default="")
    """Lines of one form differ in nothing but their figures. `None`: the form is `prefix` and the label in the line."""
    prefix: str = field(init=False, default="")
    cut: int = field(init=False, default=0)
    """Where the label ends."""
    notable: bool = field(init=False, default=False)
    """Whether a reader of reports must look at it before sections are taken apart."""

    def _name(self, *parts: object) -> None:
        """Name the form; the last part is the label, if it is known."""
        self.prefix = " ".join(map(str, parts[:-1])) + " "
        self.form = None if parts[-1] is None else sys.intern(self.prefix + str(parts[-1]))


@dataclass(slots=True, eq=False)
class Row(Item):
    """A label and figures. `figures` are slices of the line, or why there is no number."""

    kind: str
    """`standard`: the four columns of the layout. `numbers`, `percents`: a table's own. `lone`: n/a or % alone."""
    label: str | None
    """`None`: holds digits (or is not ASCII, or depends on the table), so it must be read from the line."""
    stop: int
    indent: int
    figures: tuple[slice | Missing, ...]
    spans: tuple[tuple[int, int], ...]
    stray: int
    """How far figures stand from their columns, 0 to 2: the row lost characters, or the whole copy was typed anew."""
    tight: bool
    """Whether single blanks part the figures: white space was collapsed on the way here."""

    def __post_init__(self) -> None:
        """Name the form. Of per cents the right edge counts too: it is compared from row to row."""
        self.notable = self.stray > 0
        edge = self.spans[-1][1] if self.kind == "percents" else 0
        self._name("row", self.kind, self.stray, self.tight, len(self.figures), edge, self.indent, self.label)
        self.cut = self.spans[0][1] if self.kind == "numbers" else self.stop


@dataclass(slots=True, eq=False)
class Head(Item):
    """A heading that is a label alone."""

    label: str | None
    stop: int
    indent: int
    ours: bool
    """Whether it is one of the layout's own."""

    def __post_init__(self) -> None:
        """Name the form. At the margin a section may begin; and any line we do not know may begin another export."""
        self.notable = not self.indent or not self.ours
        self._name("head", self.indent, self.label)
        self.cut = self.stop


@dataclass(slots=True, eq=False)
class Table(Item):
    """A heading with column headings beside it."""

    label: str | None
    stop: int
    indent: int
    columns: tuple[str, ...]

    def __post_init__(self) -> None:
        """Name the form."""
        self._name("table", self.indent, self.columns, self.label)
        self.cut = self.stop


@dataclass(slots=True, eq=False)
class Sentence(Item):
    """A fixed sentence; `figure` where one stands in it."""

    label: str
    column: str
    figure: slice | None
    indent: int

    def __post_init__(self) -> None:
        """Name the form."""
        self._name("sentence", self.indent, self.column, self.label)


@dataclass(slots=True, eq=False)
class Mark(Item):
    """A line that parts reports and sections: `title`, `end`, `section`, or a `field` of the header."""

    what: str
    name: str = ""
    at: int = 0

    def __post_init__(self) -> None:
        """Name the form."""
        self.notable = True
        self._name(self.what, self.name)


@dataclass(slots=True, eq=False)
class Advice(Item):
    """The heading of Tuning Recommendations, or a `- bullet` below it; the text begins at `at`."""

    bullet: bool
    at: int

    def __post_init__(self) -> None:
        """Name the form."""
        self._name("advice", self.bullet)


@dataclass(slots=True, eq=False)
class Odd(Item):
    """Not understood; `damaged`: it looks like a row that lost something."""

    damaged: bool

    def __post_init__(self) -> None:
        """Name the form; it must be looked at: another export may begin there."""
        self.notable = True
        self._name("odd", self.damaged)


@dataclass(slots=True, eq=False)
class Nothing(Item):
    """A line that says nothing by itself: `blank`, a `rule`, or repeated column `heads`."""

    what: str

    def __post_init__(self) -> None:
        """Name the form."""
        self._name(self.what)


BLANK, RULE, HEADS = Nothing("blank"), Nothing("rule"), Nothing("heads")


def label_of(item: Row | Head | Table, line: str) -> str:
    """The label as printed, runs of blanks made one."""
    return item.label if item.label is not None else " ".join(line[: item.stop].split())


def forms_of(items: Sequence[Item], lines: Sequence[str]) -> tuple[str | None, ...]:
    """The form of every line; two runs of lines with the same forms differ in nothing but their figures."""
    forms = [item.form for item in items]
    if None in forms:
        for at, form in enumerate(forms):
            if form is None:
                item = items[at]
                forms[at] = item.prefix + lines[at][: item.cut]
    return tuple(forms)
