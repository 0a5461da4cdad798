"""Which kind of report a file is nearest to by its words, where no reader takes it.

A reader knows words of its report: the columns, headings and labels that its source looks for. A word counts the more,
the fewer kinds know it. What is told is a likeness of words and no more: nothing of the file is read because of it.
"""

import ast
import functools
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from collectors.derived import derived
from collectors.facts.base import is_command
from collectors.registry import Kind, kinds

WORD = re.compile(r"[A-Za-z][A-Za-z_$]{3,30}")
ESCAPE = re.compile(r"\\[A-Za-z]")
"""Of a pattern: the letter is none of a word."""
LEAST_SCORE, LEAST_SHARE, TIMES_THE_NEXT = 3.5, 0.2, 1.3
"""This project: so much the words of the kind weigh (one that no other kind knows is 1), so large is their part of all
words of the file, and so far is the next kind behind. Prose about a report has at most half of that part; each example
that comes with the program has its own kind first or is told of none."""
TOLD = 4
"""Words that the message names."""
NEAREST = (
    "; by its words ({words}) it is nearest to {id} ({title}), but no line begins that report: collect it whole{how}"
)


def nearest(lines: Sequence[str]) -> str:
    """What is told of the beginning of a file that no reader takes, after the words for that; empty: nothing."""
    have = {word.lower(): word for line in lines for word in WORD.findall(line)}
    known, kinds_of = _known(), _kinds_of()
    scores = {name: sum(1 / kinds_of[word] for word in have.keys() & words) for name, words in known.items() if have}
    first, *rest = sorted(scores, key=lambda name: (-scores[name], name)) or [""]
    if not first or scores[first] < LEAST_SCORE or scores[first] < LEAST_SHARE * len(have):
        return ""
    if rest and scores[first] < TIMES_THE_NEXT * scores[rest[0]]:
        return ""
    rarest = sorted(have.keys() & known[first], key=lambda word: (kinds_of[word], -len(word), word))[:TOLD]
    kind = next(one for one in kinds() if one.id == first)
    title = kind.title.strip().rstrip(".:")
    return NEAREST.format(words=", ".join(have[word] for word in rarest), id=first, title=title, how=_how(kind))


def how_to_collect(report: str) -> str:
    """The command that makes a kind of report, in the words of a message after "collect it"; empty: none is known."""
    kind = next((one for one in kinds() if one.id == report), None)
    return _how(kind) if kind else ""


def _how(kind: Kind) -> str:
    brings = Counter(fact.COLLECTED_BY for fact in kind.provides if fact.COLLECTED_BY)  # of most of its facts
    if not brings:
        return ""
    told = brings.most_common(1)[0][0]
    return f", with {told}" if is_command(told) else f": {told}"


@functools.cache
def _known() -> dict[str, frozenset[str]]:
    """The words of each kind, by its id."""
    folder = os.path.join(os.path.dirname(__file__), "reports")  # noqa: PTH118, PTH120 - as `derived` takes it
    found = derived("vocabulary", folder, lambda: {name: sorted(words) for name, words in _all_words(Path(folder))})
    return {name: frozenset(words) for name, words in found.items()}


@functools.cache
def _kinds_of() -> Counter[str]:
    """How many kinds know each word."""
    return Counter(word for words in _known().values() for word in words)


def _all_words(folder: Path) -> Iterator[tuple[str, set[str]]]:
    for kind in kinds():
        place = folder / kind.id
        files = sorted(place.rglob("*.py")) if place.is_dir() else [place.with_suffix(".py")]
        if words := {word for file in files if file.is_file() for word in _words_in(file)}:
            yield kind.id, words


def _words_in(file: Path) -> Iterable[str]:
    """The words of the texts and patterns in a source file; docstrings are sentences about it, and left out."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    told = {
        id(one.value) for one in ast.walk(tree) if isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant)
    }
    for one in ast.walk(tree):
        if isinstance(one, ast.Constant) and isinstance(one.value, str) and id(one) not in told:
            yield from map(str.lower, WORD.findall(ESCAPE.sub(" ", one.value)))
