"""Rules as a text names them: whoever reads it knows titles and the numbers of findings, not ids."""

import re
from collections.abc import Callable, Mapping
from functools import cache

from rules.engine import rules

ID = re.compile(r"\b[a-z]+/[a-z][a-z0-9_]+\b")
"""What looks like the id of a rule; a path in an export may."""


@cache
def titles() -> Mapping[str, str]:
    """The title of each rule without its full stop, by id."""
    return {one.id: one.title.rstrip(".") for one in rules()}


def title_of(rule: str) -> str:
    """The title of a rule; of one that there is no longer, its id."""
    return titles().get(rule, rule)


def finding_named(key: str) -> str:
    """A finding by its key alone: the title of its rule, and what it is about."""
    rule, _, subject = key.partition(":")
    return f"{title_of(rule)}: {subject}" if subject and rule in titles() else key


def number_of(rule: str, numbers: Mapping[str, int]) -> int | None:
    """The lowest number that a finding of a rule has among `numbers`, which are by the findings' keys."""
    return min((n for key, n in numbers.items() if key.partition(":")[0] == rule), default=None)


def replaced(text: str, said: Callable[[str], str]) -> str:
    """Put what `said` makes of it in place of the id of each rule that a text names."""
    return ID.sub(lambda found: said(found[0]) if found[0] in titles() else found[0], text)


def in_words(text: str, numbers: Mapping[str, int] | None = None) -> str:
    """A text that names rules by the finding that is there (`finding 3`), else by the title in quotes."""

    def said(rule: str) -> str:
        number = number_of(rule, numbers or {})
        return f"finding {number}" if number else f'"{title_of(rule)}"'

    return replaced(text, said)
