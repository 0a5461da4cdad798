"""What somebody collects who has nothing yet: by product a script, or the outputs that its rules read."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from advisor.audits.report.render import PRODUCT_NAMES
from advisor.audits.services.collect_script import MOST_MINUTES, PRODUCTS, collect_script, first_audit
from collectors.facts import is_command
from rules.engine import rules

RUN_BY = {
    "ase": "isql, once for each server",
    "openvms": "DCL, once on each node",
    "rdb": "DCL, on the node where the database is open",
    "zvm": "CMS",
}
"""What runs the script, and how often."""
LONGEST_RELEASE = 40
QUOTED = re.compile(r"`([^`]+)`")


@dataclass(frozen=True)
class Command:
    """One output that rules of a product read."""

    text: str
    """A command, or words where no command prints it."""
    commands: tuple[str, ...]
    """What of it can be run: all of it, or what the words quote."""
    rules: tuple[str, ...]
    """The rules that read it."""

    @property
    def runs(self) -> bool:
        """Whether it is a command as it stands."""
        return self.commands == (self.text,)


@dataclass(frozen=True)
class FirstCollect:
    """What a first audit of a product needs."""

    product: str
    name: str
    script: str = ""
    """Empty where there is none for this product."""
    run_by: str = ""
    commands: tuple[Command, ...] = ()
    """In place of the script."""


def first_collect(product: str, minutes: int, release: str = "") -> FirstCollect | None:
    """What to collect for a first audit; `None` where there is no such product.

    `minutes`: how long is measured, brought into 1 to `MOST_MINUTES`. `release`: 15.7, V8.4; empty: not known.
    """
    if product not in PRODUCT_NAMES:
        return None
    if product in PRODUCTS:
        minutes = min(max(minutes, 1), MOST_MINUTES)
        wanted = first_audit(product, minutes=minutes, version=release[:LONGEST_RELEASE] or None)
        return FirstCollect(product, PRODUCT_NAMES[product], collect_script(wanted), RUN_BY[product])
    return FirstCollect(product, PRODUCT_NAMES[product], commands=_commands()[product])


@lru_cache(maxsize=1)
def _commands() -> Mapping[str, tuple[Command, ...]]:
    """By product, what brings the facts that its rules read; what the most rules read first."""
    found: dict[str, dict[str, list[str]]] = {name: {} for name in PRODUCT_NAMES}
    for rule in rules():
        for one in dict.fromkeys(kind.COLLECTED_BY for kind in (*rule.needs, *rule.uses) if kind.COLLECTED_BY):
            found[rule.product].setdefault(one, []).append(rule.id)
    return {
        name: tuple(
            Command(text, (text,) if is_command(text) else tuple(QUOTED.findall(text)), tuple(ids))
            for text, ids in sorted(of.items(), key=lambda one: (-len(one[1]), one[0]))
        )
        for name, of in found.items()
    }
