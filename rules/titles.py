"""Rules as a text names them: whoever reads it knows titles and the numbers of findings, not ids."""

import re
from collections.abc import Callable, Mapping
from functools import cache

from rules.engine import PRODUCTS, rules_of

ID = re.compile(r"\b[a-z]+/[a-z][a-z0-9_]+\b")
"""What looks like the id of a rule; a path in an export may."""


@cache
def _titles(product: str) -> Mapping[str, str]:
    """The title of each rule of a product without its full stop, by id; of a word that is no product there is none.

    Rules of no other product are loaded: an audit at the command line needs those of its own alone.
    """
    return {one.id: one.title.rstrip(".") for one in rules_of(product)} if product in PRODUCTS else {}


def _known(rule: str) -> str | None:
    return _titles(rule.partition("/")[0]).get(rule)


def title_of(rule: str) -> str:
    """The title of a rule; of one that there is no longer, its id."""
    return _known(rule) or rule


def finding_named(key: str) -> str:
    """A finding by its key alone: the title of its rule, and what it is about."""
    rule, _, subject = key.partition(":")
    return f"{title_of(rule)}: {subject}" if subject and _known(rule) else key


def number_of(rule: str, numbers: Mapping[str, int]) -> int | None:
    """The lowest number that a finding of a rule has among `numbers`, which are by the findings' keys."""
    return min((n for key, n in numbers.items() if key.partition(":")[0] == rule), default=None)


def replaced(text: str, said: Callable[[str], str]) -> str:
    """Put what `said` makes of it in place of the id of each rule that a text names."""
    return ID.sub(lambda found: said(found[0]) if _known(found[0]) else found[0], text)


def in_words(text: str, numbers: Mapping[str, int] | None = None) -> str:
    """A text that names rules by the finding that is there (`finding 3`), else by the title in quotes."""

    def said(rule: str) -> str:
        number = number_of(rule, numbers or {})
        return f"finding {number}" if number else f'"{title_of(rule)}"'

    return replaced(text, said)
