"""The words a DBA reads are those of the glossary: pages, mails, printed reports, and what readers and forms say.

The glossary is that of the design document of the house (chapter 4): one word for one thing, an engineer's words.
"""

import ast
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
NOT_SO = re.compile(
    r"\b(bring|brings|brought|cures?|cured|relieves?|relieved|dearest|a line a|alike|speaks above"
    r"|(?:is|are) waited for|taken in|told(?! apart))\b",
    re.IGNORECASE,
)
"""Words that the glossary has others for: collect or upload, fix, reduce, most expensive, comparable, reported."""
SHOWN = re.compile(r'(?:aria-label|title|data-confirm|placeholder)="([^"]*)"')
QUOTED = re.compile(r"\"([^\"]*\s[^\"]*)\"|'([^']*\s[^']*)'")


def words_of_template(text: str) -> Iterator[tuple[int, str]]:
    """What a reader sees of each line: text, attributes that are shown or read out, and texts within expressions."""
    for number, line in enumerate(text.splitlines(), 1):
        seen = re.sub(r"\{#.*?#\}|\{%.*?%\}", " ", line)
        quoted: list[str] = []
        for code in re.findall(r"\{\{.*?\}\}", seen):
            quoted += [one or other for one, other in QUOTED.findall(code) if not re.match(r"[\s~)(|]", one or other)]
        seen = re.sub(r"\{\{.*?\}\}", " ", seen)
        seen = re.sub(r"<[^>]*>", lambda tag: " ".join(SHOWN.findall(tag.group())), seen)
        yield number, " ".join((seen, *quoted))


def words_of_module(text: str) -> Iterator[tuple[int, str]]:
    """Each text of a module that has a blank in it, and is not a docstring."""
    tree = ast.parse(text)
    alone = (node.value for node in ast.walk(tree) if isinstance(node, ast.Expr))
    documentation = {id(text) for text in alone if isinstance(text, ast.Constant)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and id(node) not in documentation and isinstance(node.value, str):
            yield node.lineno, node.value if " " in node.value.strip() else ""


def broken(paths: Iterator[Path], words: Callable[[str], Iterator[tuple[int, str]]]) -> list[str]:
    """Each place where a word of another kind stands."""
    return [
        f"{path.relative_to(ROOT)}:{number}: {found.group()}: {text.strip()[:120]}"
        for path in sorted(paths)
        if path.is_file() and "migrations" not in path.parts
        for number, text in words(path.read_text(encoding="utf-8"))
        if (found := NOT_SO.search(text))
    ]


def test_pages_mails_and_reports_use_the_words_of_the_glossary() -> None:
    assert broken((ROOT / "templates").rglob("*.*"), words_of_template) == []


@pytest.mark.parametrize("part", ["advisor", "collectors"])
def test_messages_use_the_words_of_the_glossary(part: str) -> None:
    assert broken((ROOT / part).rglob("*.py"), words_of_module) == []


def test_a_word_of_another_kind_is_noticed() -> None:
    assert [bool(NOT_SO.search(text)) for _, text in words_of_template('<p title="bring it">Upload it</p>')] == [True]
    assert [text.strip() for _, text in words_of_template("{% if told %}{{ told.when }}{% endif %}")] == [""]
    assert not NOT_SO.search("lines that cannot be told apart")
