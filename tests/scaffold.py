"""`make new-rule ID=ase/x` and `make new-reader ID=ase/x`: the files of a new rule or reader, with a case that fails.

What is written is code that runs, with the places to fill in marked `TODO`; `docs/engineers/add-a-rule.md` and
`add-a-reader.md` show both filled in.
"""

import re
import sys
from pathlib import Path

from rules.engine import PRODUCTS

ROOT = Path(__file__).resolve().parent.parent
RULE = '''"""TODO: what is wrong, in one sentence.

Finds: TODO what the figures show, and on which reports.

Why it matters: TODO what it costs, and who says so.

What to do: TODO the change, and what has to be weighed before it.

When to ignore it: TODO the case in which this finding would be wrong.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from collectors.facts import Facts
from rules.engine import percent, rule
from rules.finding import Clean, Outcome


@dataclass(frozen=True)
class Limits:
    """TODO: what the limits are of."""

    share_percent: float = percent(10.0, "this project: TODO where the figure comes from")


@rule(needs=(), links=("https://example.org/TODO",), limits=Limits)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """TODO."""
    yield Clean("TODO: what was judged, with its figures")
'''
EXAMPLES = """# Figures of our own.

TODO the case that this rule is for:
  facts: []
  fires: [{subject: PROD1, severity: advice}]

TODO the case in which a finding would be wrong:
  facts: []
  clean: TODO

nothing was collected:
  facts: []
  unknown: TODO
"""
FACT = '''"""TODO: what these facts are about. Delete this file where there is a fact that says the same."""

from dataclasses import dataclass
from typing import ClassVar

from collectors.facts.base import ABSENT, Fact, Reading


@dataclass(frozen=True, kw_only=True)
class {name}(Fact):
    """TODO: what one of them says, with units."""

    COLLECTED_BY: ClassVar[str] = "TODO the command that prints it"
    NOT_JUDGED: ClassVar[str] = "open: TODO which rule or page will use it"

    name: str
    figure: Reading = ABSENT
'''
READER = '''"""TODO: what this export is, and the command that prints it.

As it is printed::

    TODO a sample of a few lines

TODO what is read tolerantly, and what is refused.
"""

import re
from collections.abc import Iterator

from collectors.facts.{product}.{export} import {name}
from collectors.registry import Report, report

START = re.compile(r"^TODO the line by which it is recognised")


@report(starts=START, provides=({name},))
def read(report: Report) -> Iterator[{name}]:
    """TODO: one fact for each row; whatever is understood is claimed, damage is told with its line."""
    return iter(())
'''
EXPORT = "TODO the line by which it is recognised\n"
CASE = """# TODO: what this export shows.
facts:
  - {{fact: {product}.{name}, name: TODO, figure: 0.0, lines: [1, 1]}}
"""


class NotMade(ValueError):
    """The message says why, and what would do."""


def of_rule(name: str) -> dict[Path, str]:
    """The files of a rule by their paths. Raises `NotMade`."""
    product, fault = parts(name)
    return {
        ROOT / "rules" / product / f"{fault}.py": RULE,
        ROOT / "rules" / product / "examples" / f"{fault}.yml": EXAMPLES,
    }


def of_reader(name: str) -> dict[Path, str]:
    """The files of a reader by their paths. Raises `NotMade`."""
    product, export = parts(name)
    cases = ROOT / "tests" / "exports" / product / export
    names = {"product": product, "export": export, "name": "".join(map(str.capitalize, export.split("_")))}
    return {
        ROOT / "collectors" / "reports" / product / f"{export}.py": READER.format(**names),
        ROOT / "collectors" / "facts" / product / f"{export}.py": FACT.format(**names),
        cases / "first.txt": EXPORT,
        cases / "first.yml": CASE.format(**names),
    }


def parts(name: str) -> tuple[str, str]:
    """Product and name. Raises `NotMade`."""
    product, _, one = name.partition("/")
    if product not in PRODUCTS or not re.fullmatch(r"[a-z][a-z0-9_]+", one):
        raise NotMade(
            f"{name!r}: write ID=<product>/<name> with a product of {', '.join(PRODUCTS)}, name in small letters"
        )
    return product, one


def write(files: dict[Path, str]) -> list[str]:
    """Write them all, or none where one is there. Raises `NotMade`."""
    if there := [path for path in files if path.exists()]:
        raise NotMade(f"{there[0].relative_to(ROOT)} is there already")
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return [str(path.relative_to(ROOT)) for path in files]


def main(kind: str, name: str) -> int:
    """Write and say what; 1 where nothing was written."""
    try:
        made = write({"rule": of_rule, "reader": of_reader}[kind](name))
    except NotMade as error:
        sys.stderr.write(f"{error}\n")
        return 1
    sys.stdout.write("".join(f"made {path}\n" for path in made))
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
