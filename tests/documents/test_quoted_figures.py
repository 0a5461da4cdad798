"""Figures in texts that cite a source document: each stands in the list of documents, and none can be changed unseen.

A text is a paragraph of a docstring, of the README or of a page, or a text in the code (of an f-string what is written
there, names of the sources put in). It cites a document where it names it, or tells of something that only a document
tells of. Every number of such a text has to lie within a piece of `quoted.yml`, which says in which entry the figure
stands, or why it is none. A number that is changed is in none of those pieces.
"""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from advisor.audits.services.documents import Entry
from rules import sources
from tests.documents.listed import DOCUMENTS
from tests.documents.test_documents import NO_FIGURES as NO_FIGURES_OF
from tests.facts_yml import load

ROOT = Path(__file__).resolve().parent.parent.parent
QUOTED = Path(__file__).parent / "quoted.yml"
MODULES = sorted(
    path
    for folder in ("rules", "collectors", "advisor")
    for path in (ROOT / folder).rglob("*.py")
    if "documents" not in path.parts
)
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")), *sorted((ROOT / "templates").rglob("*.html"))]
WORKED_OUT = {"000: Lessons from BL870"}
"""Single figures that a test works out of a table of the same document."""
BLOCK = re.compile(r"<(?!/?(?:a|abbr|b|code|em|i|small|span|strong)\b)[^>]{1,500}>|\{%.{1,200}?%\}")
"""Elements and template tags that end a paragraph."""
CITES = re.compile(
    r"JCC Consulting|\bBL870c?\b|\brx4640\b|Tallman|document 00[0-4]|HP's talk|HP World|APUE|Stevens and Rago"
    r"|Scheduler Lock Improvement|z/VM 4\.4\.0 performance report|[Pp]ublished (?:runs?|tests?|ceiling|gain)\b"
    r"|[(;] ?published(?: for [^:]{1,60})?:|(?<!AlphaServer )\bES40\b|\bthe slides?\b|\bINSQUE\b|\bAMD Opteron\b"
    r"|\bof the [\d,]+ buckets\b|\bone hash table of [\d,]+ buckets\b"
)
NAMES = {"JCC": sources.JCC, "TALLMAN": sources.TALLMAN, "HP": sources.HP}
NO_FIGURES = re.compile(
    r"\b(?:2004|2014)\b|\bASE 1[56](?:\.\d)?|\b1[56]\.[07]\b(?! ?(?:%|µ|ms\b))|\bz/VM \d\.\d(?:\.\d)?|\b\d\.\d\.0\b"
    r"|\bAPUE 20\.9|\b[Ff]igure 20\.\d|\bTable 1\b|\b[VX]\d\.\d(?:-\d)?|\bLinux \d\.\d\.\d|\bdocument 00[0-4]"
)
"""Years of publication, releases, and numbers of sections, figures and tables."""
NUMBER = re.compile(r"(?<![\w.,$])(?P<number>(?:\d[\d,]*\d|\d)(?:\.\d+)?|\.\d+)(?:[GMK](?:[Hh]z|B)|e-?\d+)?(?!\w|\.\d)")
TEST = re.compile(r"tests/[\w/]+\.py")
IN_ENTRY = re.compile(r"\d[\d,]*(?:\.\d+)?|(?<!\d)\.\d+")


@cache
def texts(path: Path) -> tuple[str, ...]:
    """Every paragraph of a page, and every paragraph and text of a module, on one line each; parsed once."""
    return tuple(_texts(path))


def _texts(path: Path) -> Iterator[str]:
    written = path.read_text(encoding="utf-8")
    if path.suffix != ".py":
        for paragraph in re.split(r"\n\s*\n", BLOCK.sub("\n\n", written)):
            yield " ".join(paragraph.split())
        return
    tree = ast.parse(written)
    within: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            within |= {id(part) for part in node.values}
            yield " ".join("".join(map(_piece, node.values)).split())
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in within:
            for paragraph in re.split(r"\n\s*\n", node.value):
                yield " ".join(paragraph.split())


def _piece(part: ast.expr) -> str:
    """What is written in an f-string; of what is put in only the names of the sources are known."""
    if isinstance(part, ast.Constant):
        return str(part.value)
    named = part.value if isinstance(part, ast.FormattedValue) else None
    return NAMES.get(named.id, "{}") if isinstance(named, ast.Name) else "{}"


@cache
def quotes() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = load(QUOTED)
    return found


def uncovered(text: str) -> list[str]:
    """The numbers of a text that lie within no quoted piece."""
    bare = NO_FIGURES.sub(lambda found: "#" * len(found[0]), text)
    spans = [
        (at, at + len(quote["text"]))
        for quote in quotes()
        for at in (found.start() for found in re.finditer(re.escape(quote["text"]), text))
    ]
    return [
        found["number"]
        for found in NUMBER.finditer(bare)
        if not any(start <= found.start() and found.end("number") <= end for start, end in spans)
    ]


def numbers_of(text: str) -> list[str]:
    """The numbers of a text as printed, years, releases and the like left out."""
    bare = NO_FIGURES.sub(lambda found: "#" * len(found[0]), text)
    return [found["number"] for found in NUMBER.finditer(bare)]


@cache
def citing() -> list[tuple[str, str]]:
    return [
        (str(path.relative_to(ROOT)), text) for path in (*MODULES, *PAGES) for text in texts(path) if CITES.search(text)
    ]


def figures_of(one: Entry) -> list[str]:
    """Every number of an entry's figures, as printed but for the commas."""
    return [found.replace(",", "") for text in one.figures for found in IN_ENTRY.findall(text)]


def stands_in(number: str, figures: list[str]) -> bool:
    """Whether a number is one of the figures, or one of them rounded to its decimals."""
    decimals, value = len(number.partition(".")[2]), float(number.replace(",", ""))
    return any(abs(round(float(figure), decimals) - value) < 1e-9 for figure in figures)


def place(name: str) -> Entry:
    number, _, words = name.partition(": ")
    (found,) = [
        one for document in DOCUMENTS if document.number == number for one in document.entries if one.place == words
    ]
    return found


def test_every_number_of_a_text_that_cites_a_document_is_listed_with_its_entry() -> None:
    missing = {(path, text): numbers for path, text in citing() if (numbers := uncovered(text))}
    assert missing == {}, "list them in tests/documents/quoted.yml, with the entry or the reason"


@pytest.mark.parametrize("quote", quotes(), ids=lambda one: one["text"][:60])
def test_every_quoted_number_stands_in_its_entry(quote: dict[str, Any]) -> None:
    figures = [figure for name in quote.get("from", ()) for figure in figures_of(place(name))]
    own = {float(number): why for number, why in quote.get("own", {}).items()}
    assert all(str(why).strip() for why in own.values())
    numbers = numbers_of(quote["text"])
    assert numbers, "a piece without a number covers nothing"
    wrong = [one for one in numbers if float(one.replace(",", "")) not in own and not stands_in(one, figures)]
    assert wrong == []


def test_a_single_figure_that_texts_quote_is_marked_as_quoted_or_worked_out() -> None:
    named = {name for quote in quotes() for name in quote.get("from", ())}
    bare = {name for name in named if place(name).kind == "figure" and not place(name).quoted}
    assert bare <= WORKED_OUT, "mark the entry as quoted, or name the test that works it out"


def test_every_test_that_a_reason_names_is_there() -> None:
    named = {name for quote in quotes() for why in quote.get("own", {}).values() for name in re.findall(TEST, str(why))}
    assert named
    assert [name for name in named if not (ROOT / name).is_file()] == []


def test_every_quoted_piece_is_still_in_some_text() -> None:
    every = [text for path in (*MODULES, *PAGES) for text in texts(path)]
    assert [quote["text"] for quote in quotes() if not any(quote["text"] in text for text in every)] == []


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("fell from 23.1 to 3.03 ms on 9 processors", "fell from 23.1 to 3.3 ms on 9 processors"),
        ("(2,084 → 10,999 I/Os per second)", "(2,084 → 10,909 I/Os per second)"),
        ("10 % starts the search", "12 % starts the search"),
        ("three did 84, 55 or 25 %", "three did 84, 55 or 35 %"),
    ],
)
def test_a_figure_that_is_changed_is_noticed(right: str, wrong: str) -> None:
    assert uncovered(f"{right} ({sources.JCC})") == []
    assert uncovered(f"{wrong} ({sources.JCC})") != []


def test_what_an_entry_says_it_shows_has_no_other_figures_than_the_documents() -> None:
    """Words of this project beside the document's figures: a slip of the pen there would be believed."""
    wrong = {}
    for document in DOCUMENTS:
        figures = [figure for one in document.entries for figure in figures_of(one)]
        figures += [f"{number:g}" for number in NO_FIGURES_OF[document.number]]
        for one in document.entries:
            if left := [number for number in numbers_of(one.shows) if not stands_in(number, figures)]:
                wrong[document.number, one.place] = left
    assert wrong == {}
