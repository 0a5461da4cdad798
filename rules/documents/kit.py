"""What an entry of the list of source documents is: a table, chart, display, arithmetic, a figure or a statement."""

from dataclasses import dataclass

KINDS = ("table", "chart", "display", "arithmetic", "figure", "statement")


@dataclass(frozen=True)
class Entry:
    """One of them: what it says, what this project does with it, and the test that holds it to that."""

    place: str
    """Its heading, slide or paragraph, in the document's own words where it has any."""
    kind: str
    """`table`, `chart`, `display` (printed by a system), `arithmetic` (worked out in the text),
    `figure`, or `statement`: words without a figure that advice rests on."""
    shows: str
    used: str
    """What this project does with it; begins with `not used` where it does nothing."""
    tests: tuple[str, ...]
    """`tests/….py::test_name`, `tests/findings/….yml#case`, a folder `tests/audits/…` or a file `tests/exports/…`."""
    figures: tuple[str, ...] = ()
    """As the text prints them; of a chart at most the marks of its axes."""
    used_by: tuple[str, ...] = ()
    """Ids of rules (`openvms/spinlock_hot`) and modules (`rules.laws.usl`, `collectors.reports.openvms.show_cpu`)."""
    quoted: bool = False
    """Whether its figures are quoted as printed: measurements of others, which nothing here can work out. What holds
    them is that the document has them and that every text that cites it has those of the entry and no others
    (`tests/documents/test_quoted_figures.py`); the tests it names show what is done with them."""
    slip: str = ""
    """Where figures of the document do not fit each other: what is taken instead."""

    @property
    def figures_missing(self) -> bool:
        """Whether what it draws is in a picture alone, as of every chart here: marks of its axes are no figures."""
        return self.kind == "chart"


@dataclass(frozen=True)
class Document:
    """One source document and all its entries, in its order."""

    number: str
    """`000` to `004`: how the rule book and the tests call it."""
    title: str
    by: str
    about: str
    entries: tuple[Entry, ...]
