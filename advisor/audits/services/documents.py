"""The source documents: every table and figure of each, what is made of it, and the platforms they compare.

What they claim is in `rules/documents/document_<number>.yml`, written by hand; the tests hold it to the documents.
"""

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from advisor.core.yml import load
from rules.engine import rules
from rules.laws.platforms import CHARTS_ALONE, PUBLISHED

ROOT = Path(__file__).parents[3]
KINDS = ("table", "chart", "display", "arithmetic", "figure", "statement")
LISTS = ("figures", "used_by", "tests")


@dataclass(frozen=True)
class Entry:
    """A table, chart, display, arithmetic, figure or statement: what it says, and what this project does with it."""

    place: str
    """Its heading, slide or paragraph, in the document's own words where it has any."""
    kind: str
    """`table`, `chart`, `display` (printed by a system), `arithmetic` (worked out in the text),
    `figure`, or `statement`: words without a figure that advice rests on."""
    shows: str
    used: str
    """What this project does with it; begins with `not used` where it does nothing."""
    tests: tuple[str, ...]
    """What holds the entry to that: a test (`….py::test_name`), a case of a rule
    (`rules/<product>/examples/….yml#case`), a story (`advisor/examples/audits/…`) or an export that is read."""
    figures: tuple[str, ...] = ()
    """As the text prints them; of a chart at most the marks of its axes."""
    used_by: tuple[str, ...] = ()
    """Ids of rules (`openvms/spinlock_hot`) and modules (`rules.laws.usl`, `collectors.reports.openvms.show_cpu`)."""
    quoted: bool = False
    """Whether its figures are quoted as printed: measurements of others, which nothing here can work out. What holds
    them is that the document has them and that every text that cites it has those of the entry and no others; the
    tests it names show what is done with them."""
    slip: str = ""
    """Where figures of the document do not fit each other: what is taken instead."""

    @property
    def figures_missing(self) -> bool:
        """Whether what it draws is in a picture alone, as of every chart here: marks of its axes are no figures."""
        return self.kind == "chart"


@dataclass(frozen=True)
class PublishedRun:
    """What the document measured under some setting: a reference beside the runs of others, of another machine."""

    place: str
    """The entry that has its figures."""
    settings: tuple[str, ...]
    """What it says something of, by the lock laboratory's names: `dlm`, `threads`, `lvb_bytes`, `reshashtbl`, …"""
    machine: str
    """What was measured, and what it was held against."""
    points: tuple[tuple[float, float], ...] = ()
    """Load and rate of each run; none where the text gives no rates."""
    load_name: str = ""
    rate_name: str = ""
    told: tuple[str, ...] = ()
    """What came of it, as sentences."""


@dataclass(frozen=True)
class Document:
    """One source document and all its entries, in its order."""

    number: str
    """`000` to `004`: how the rule book and the tests call it."""
    title: str
    by: str
    about: str
    entries: tuple[Entry, ...]
    runs: tuple[PublishedRun, ...] = ()

    @property
    def cited(self) -> str:
        """Who wrote it, and its title."""
        return f"{self.by}: {self.title}"


@functools.cache
def source_documents() -> tuple[Document, ...]:
    """All of them, in order. Raises `TypeError` for a key that an entry or a document does not have."""
    found = []
    for path in sorted((ROOT / "rules" / "documents").glob("document_*.yml")):
        told = load(path)
        lists = [{name: tuple(one.get(name, ())) for name in LISTS} for one in told["entries"]]
        entries = tuple(Entry(**(one | listed)) for one, listed in zip(told.pop("entries"), lists, strict=True))
        runs = tuple(_run(**one) for one in told.pop("runs", ()))
        found.append(Document(number=path.stem.removeprefix("document_"), entries=entries, runs=runs, **told))
    return tuple(found)


def _run(
    settings: list[str], points: Sequence[Sequence[float]] = (), told: Sequence[str] = (), **words: str
) -> PublishedRun:
    placed = tuple((float(load), float(rate)) for load, rate in points)
    return PublishedRun(settings=tuple(settings), points=placed, told=tuple(told), **words)


def runs_about(setting: str) -> tuple[tuple[Document, PublishedRun], ...]:
    """What the documents measured under a setting, those with rates first."""
    found = [(document, run) for document in source_documents() for run in document.runs if setting in run.settings]
    return tuple(sorted(found, key=lambda pair: not pair[1].points))


def entry_data(one: Entry) -> dict[str, Any]:
    """Turn one table or figure into the shape the page and JSON use."""
    ids = _rule_ids()
    return {
        "place": one.place,
        "kind": one.kind,
        "shows": one.shows,
        "figures": list(one.figures),
        "figures_missing": one.figures_missing,
        "quoted": one.quoted,
        "slip": one.slip or None,
        "used": one.used,
        "rules": [name for name in one.used_by if name in ids],
        "modules": [name for name in one.used_by if name not in ids],
        "tests": list(one.tests),
    }


@functools.cache
def _rule_ids() -> frozenset[str]:
    return frozenset(one.id for one in rules())


def documents() -> list[dict[str, Any]]:
    """All five, in order, with every entry."""
    return [
        {
            "document": one.number,
            "title": one.title,
            "by": one.by,
            "about": one.about,
            "entries": [entry_data(entry) for entry in one.entries],
        }
        for one in source_documents()
    ]


def platforms() -> dict[str, Any]:
    """What was published of one machine against another, and what of it stands in charts without figures."""
    return {
        "pairs": [
            {
                "what": one.what,
                "unit": one.unit or None,
                "first": {"name": one.first.name, "value": one.first.value},
                "second": {"name": one.second.name, "value": one.second.value},
                "times": one.times,
                "printed": one.printed,
                "applies_to": one.applies_to,
                "source": one.source,
            }
            for one in PUBLISHED
        ],
        "charts_alone": list(CHARTS_ALONE),
    }
