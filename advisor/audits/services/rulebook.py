"""The rule book: every rule as data, made from its docstring, its limits and its links."""

from typing import Any

from rules.engine import Rule, rules

ALSO = {"openvms": ("rdb",)}
"""By a system's product those of other rules that may judge it: a node's captures hold the databases open on it."""


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


def rulebook(rule_id: str | None = None) -> list[dict[str, Any]]:
    """All rules, or those whose id is or begins with `rule_id` (`ase`, `ase/address_lock_spinlock_contended`)."""
    wanted = (rule_id or "").rstrip("/")
    return [entry(one) for one in rules() if not wanted or one.id == wanted or one.id.startswith(wanted + "/")]
