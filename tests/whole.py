"""All that comes out of an exhibit, an export, a story and a comparison, as a digest of each part: `tests/accepted/`.

A claim (`rules/*/examples/*.yml` and the like) says what matters, in pieces. This notices what no piece names: the
figure at the end of a sentence, the second cause, the line a fact stands in. A test that fails says which part became
what; where that is right, `make accept` writes the digests anew.
"""

import dataclasses
import os
import re
from collections.abc import Iterable, Mapping
from functools import cache
from hashlib import blake2b
from pathlib import Path
from tempfile import gettempdir
from typing import Any

from collectors.read import Input
from tests.facts_yml import plain

HERE = Path(__file__).parent / "accepted"
FRACTION = re.compile(r"\d+\.\d+(?:e[+-]?\d+)?")
FOLDER = re.compile(
    rf"{re.escape(str(HERE.parents[1]))}/[\w/.-]*/|{re.escape(gettempdir())}/(?:pytest-of-\w+/pytest-\d+/(?:popen-gw\d+/)?[^/']+|tmp\w+)/"
)
"""Where exports lie on this machine."""
READ = ("capture", "before", "after", "audits")
KINDS = re.compile(r"\b\d+ kinds\b")
"""In the list of what can be read, which a new reader changes in every export that is none."""
LONGEST = 2_000
"""Characters of a part that a failed test prints."""
ACCEPT_INTO = "ACCEPT_INTO"
"""A folder in the environment, while `tests.accept` writes anew what is accepted: each process has a file there."""


def parts_of(one: Any) -> dict[str, Any]:
    """The fields of a dataclass that hold something, without those of what was read."""
    fields = {
        field.name: plain(getattr(one, field.name)) for field in dataclasses.fields(one) if field.name not in READ
    }
    return {name: value for name, value in fields.items() if value not in (None, False, "", [], {})}


def check(place: str, name: str, parts: Mapping[str, Any]) -> None:
    """Hold the parts of one thing against what was accepted; `place`: the file, as `rules/ase/blocked_chain`.

    What is new is not there yet: `names` says of what is.
    """
    said = {part: _text(value) for part, value in parts.items()}
    new = " ".join(f"{part}={_digest(text)}" for part, text in said.items())
    if folder := os.environ.get(ACCEPT_INTO):
        with Path(folder, str(os.getpid())).open("a", encoding="utf-8") as out:
            out.write(f"{place}\t{name}\t{new}\n")
        return
    old = _accepted(place).get(name, new).split()
    changed = {part: said.get(part, "")[:LONGEST] for part in _changed(set(old), set(new.split()))}
    assert not changed, f"another whole than accepted (`make accept`) in {', '.join(changed)}: {changed}"


def names(place: str) -> set[str]:
    """What is accepted of a file."""
    return set(_accepted(place))


def check_inputs(place: str, name: str, inputs: Iterable[Input]) -> None:
    """The same for what was read: the facts by kind, what was told, and the lines that nobody took."""
    parts: dict[str, list[Any]] = {}
    for one in inputs:
        for fact in one.facts:
            parts.setdefault(fact.fact_name(), []).append(fact)
        parts.setdefault("told", []).extend([one.report, *one.problems, *one.leftovers])
    check(place, name, parts)


def write(folder: Path, *, keep: bool) -> None:
    """Write what was put into the folder; without `keep` what no test asked for goes."""
    found: dict[str, dict[str, str]] = {}
    for line in (line for part in sorted(folder.iterdir()) for line in part.read_text("utf-8").splitlines()):
        place, name, parts = line.split("\t")
        found.setdefault(place, dict(_accepted(place)) if keep else {})[name] = parts
    if not keep:
        for path in HERE.rglob("*.txt"):
            path.unlink()
    for place, lines in found.items():
        path = HERE / f"{place}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(f"{name}\t{lines[name]}\n" for name in sorted(lines)), "utf-8")


def _changed(old: set[str], new: set[str]) -> list[str]:
    return sorted({one.partition("=")[0] for one in old ^ new})


def _text(value: Any) -> str:
    """Its text, with figures to nine digits: the last ones differ between processors."""
    text = KINDS.sub("kinds", FOLDER.sub("", repr(plain(value))))
    return FRACTION.sub(lambda found: f"{float(found[0]):.9g}", text)


def _digest(text: str) -> str:
    return blake2b(text.encode(), digest_size=2).hexdigest()


@cache
def _accepted(place: str) -> dict[str, str]:
    path = HERE / f"{place}.txt"
    lines = path.read_text("utf-8").splitlines() if path.exists() else []
    return {name: parts for name, _, parts in (line.partition("\t") for line in lines)}
