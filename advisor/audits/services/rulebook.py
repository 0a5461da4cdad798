"""The rule book: every rule as data, made from its docstring, its limits and its links."""

import functools
import re
from collections.abc import Iterable
from typing import Any

from collectors.facts import Fact, Facts
from rules.engine import Rule, judge_one, rules
from rules.missing import command_of, first_release

ALSO = {"openvms": ("rdb",)}
"""By a system's product those of other rules that may judge it: a node's captures hold the databases open on it."""


MADE_BY = re.compile(r"[:;] made by `collectors\..*")


def judging(product: str) -> tuple[str, ...]:
    """The products whose rules may judge a system of `product`; a load series may be of any."""
    return tuple(dict.fromkeys((product, *ALSO.get(product, ()), "scaling")))


def judged_by(product: str) -> tuple[str, ...] | None:
    """The products of the systems that rules of `product` may judge; `None`: all."""
    return None if product == "scaling" else (product, *(one for one, also in ALSO.items() if product in also))


def entry(one: Rule) -> dict[str, Any]:
    """Turn one rule into the shape pages, mail and JSON use."""
    parts = one.parts
    return {
        "rule": one.id,
        "title": one.title,
        "finds": parts.get("Finds", ""),
        "why": parts.get("Why it matters", ""),
        "do": parts.get("What to do", ""),
        "ignore": parts.get("When to ignore it", ""),
        "needs": [{"fact": kind.fact_name(), "bring": kind.COLLECTED_BY} for kind in one.needs],
        "asks": asks(one.id),
        "limits": [
            {
                "limit": field.name,
                "value": field.default,
                "unit": field.metadata["unit"] or None,
                "low": field.metadata["low"],
                "high": None if field.metadata["high"] == float("inf") else field.metadata["high"],
                "origin": field.metadata["origin"],
            }
            for field in one.limit_fields
        ],
        "sources": list(one.links),
    }


@functools.cache
def asks(rule_id: str) -> dict[str, Any]:
    """What a rule needs to judge, as it says itself of a capture without any facts.

    `how`: `all` of `outputs` are needed, any `one` of them lets it begin, or `none`: it asks for nothing and speaks
    only where `also`, what it reads besides, is there. Each has the command or export, what is read of it, and the
    first release that has it, as far as a source names one. `releases`: which releases the rule is for.
    """
    one = next(one for one in rules() if one.id == rule_id)
    missing = judge_one(one, Facts(()), {}).missing
    named = {kind.fact_name(): kind for kind in (*one.needs, *one.uses)}
    asked: dict[str, list[str]] = {}
    for lack in missing:
        asked.setdefault(lack.command, []).append(_about([named[lack.fact]]) if lack.fact in named else lack.fact)
    also: dict[str, list[type[Fact]]] = {}
    known = {command_of(command) for command in asked}
    for kind in (*one.needs, *one.uses):
        if command_of(kind.COLLECTED_BY) not in known:
            also.setdefault(kind.COLLECTED_BY, []).append(kind)
    all_of_them = bool(one.needs) or one.together or len(asked) == 1
    return {
        "how": "none" if not asked else "all" if all_of_them else "one",
        "outputs": [_output(command, "; ".join(parts)) for command, parts in asked.items()],
        "also": [_output(command, _about(kinds)) for command, kinds in also.items()],
        "releases": one.releases,
    }


def _output(command: str, read: str) -> dict[str, str]:
    return {"bring": command, "read": read, "since": first_release(command)}


def _about(kinds: Iterable[type[Fact]]) -> str:
    """What is read: of each kind of fact the first sentence about it, without the module that makes it."""
    told = ((kind.__doc__ or kind.fact_name()).strip().split("\n", 1)[0].split(". ")[0] for kind in kinds)
    return "; ".join(dict.fromkeys(MADE_BY.sub("", one).rstrip(".") for one in told))


def rulebook(rule_id: str | None = None) -> list[dict[str, Any]]:
    """All rules, or those whose id is or begins with `rule_id` (`ase`, `ase/address_lock_spinlock_contended`)."""
    wanted = (rule_id or "").rstrip("/")
    return [entry(one) for one in rules() if not wanted or one.id == wanted or one.id.startswith(wanted + "/")]
