"""Takes a batch of Transact-SQL apart: its statements, and the words of one statement.

Statements need no separator; the next one begins at a word that can only begin one. What is quoted and what is a
comment is never looked into.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

PIECE = re.compile(
    r"""(?P<string>'(?:[^']|'')*')|(?P<quoted>"(?:[^"]|"")*")|(?P<bracketed>\[[^\]]*\])"""
    r"""|(?P<comment>/\*.*?\*/|--[^\n]*)|(?P<word>@{0,2}[A-Za-z_#][\w$#]*)|(?P<number>\d+(?:\.\d+)?)"""
    r"""|(?P<blank>\s+)|(?P<other>.)""",
    re.DOTALL,
)
# fmt: off
BEGINS = frozenset(
    (
        "select", "exec", "execute", "use", "set", "print", "waitfor", "declare", "if", "begin", "commit",
        "rollback", "save", "dbcc", "create", "drop", "insert", "update", "delete", "alter", "grant", "revoke",
        "truncate", "kill", "checkpoint", "shutdown", "while", "return", "lock", "disk", "dump", "load",
    )
)
# fmt: on
"""Words that begin a statement wherever they stand outside brackets, but for the cases in `_goes_on`."""
GO_ON_AFTER = frozenset(("union", "all", "except", "intersect", "as", "for"))


@dataclass(frozen=True)
class Piece:
    """A piece of the text: `kind` is a group of `PIECE`."""

    kind: str
    text: str


def pieces(text: str) -> Iterator[Piece]:
    """Take a text apart without losing a letter."""
    for found in PIECE.finditer(text):
        assert found.lastgroup
        yield Piece(found.lastgroup, found.group())


def statements(batch: str) -> list[list[Piece]]:
    """Give the statements of a batch, each as its pieces without comments. A comment parts as a blank does."""
    found: list[list[Piece]] = []
    depth, before = 0, ""
    for piece in pieces(batch):
        if piece.kind == "comment":
            piece = Piece("blank", " ")
        word = piece.text.lower() if piece.kind == "word" else ""
        if not depth and piece.text == ";":
            found.append([])
            before = ""
            continue
        if not found or (word in BEGINS and not depth and not _goes_on(word, before, found[-1])):
            found.append([])
        depth += (piece.text == "(") - (piece.text == ")")
        found[-1].append(piece)
        if piece.kind != "blank":
            before = word or piece.text
    return [one for one in found if any(piece.kind != "blank" for piece in one)]


def words(statement: list[Piece]) -> list[Piece]:
    """Give the pieces of a statement without its blanks."""
    return [piece for piece in statement if piece.kind != "blank"]


def value(piece: Piece) -> str:
    """Give what a piece says: a string or a quoted name without its quotes."""
    match piece.kind:
        case "string":
            return piece.text[1:-1].replace("''", "'")
        case "quoted":
            return piece.text[1:-1].replace('""', '"')
        case "bracketed":
            return piece.text[1:-1]
        case _:
            return piece.text


def _goes_on(word: str, before: str, statement: list[Piece]) -> bool:
    """Whether a word that could begin a statement belongs to the one that is open."""
    first = next((piece.text.lower() for piece in statement if piece.kind == "word"), "")
    if not first or before in GO_ON_AFTER:
        return True
    return (
        (word == "select" and first in ("insert", "create", "declare", "if", "while", "grant"))
        or (word == "set" and first == "update")
        or (word == "lock" and before == "set")
        or first in ("grant", "revoke")
    )
