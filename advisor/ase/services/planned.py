"""The binding plan of an audit, read back from its findings: no plan is made here, and never a second one.

What the plan expects stands in the findings of its two rules; which parts of it hold stands in the audit's plan, where
a change that conflicts with another is in no step.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from advisor.ase.services.caches import CacheMap
from advisor.audits.models import Audit, Finding
from rules.laws.binding import overhead_mb

RULES = ("ase/hot_table_in_default_cache", "ase/system_tables_in_default_cache")
SHARE = re.compile(r"share of all searches in (?P<cache>.{1,255}), %\Z", re.DOTALL)
SIZE = re.compile(r"(?P<mb>[0-9]{1,12}) MB\Z")
CUT = re.compile(r'sp_cacheconfig .*"cache_partition=(?P<count>[0-9]{1,3})"')
RELAXED = re.compile(r'sp_cacheconfig "(?:[^"]|"")*", "[0-9]+M", [a-z]+, relaxed\b')
CREATED, BOUND = re.compile(r"ase\.cache:(?P<name>.*):create\Z", re.DOTALL), "ase.bind:"
FREE = "memory that is free"


@dataclass(frozen=True)
class NewCache:
    """A cache the plan makes."""

    name: str
    size_mb: float
    partitions: int
    relaxed: bool
    share: float | None
    """Expected share of all searches, 0 to 1."""
    members: tuple[str, ...]


@dataclass(frozen=True)
class Planned:
    """The plan in figures."""

    new: tuple[NewCache, ...]
    moved: tuple[tuple[str, str, str], ...]
    """What moves: object, from, to."""
    shares: dict[str, float]
    """Expected share of all searches of caches there are already, 0 to 1."""
    basis: str
    """Of the shares, as the rule names it."""
    expects: tuple[dict[str, Any], ...]
    """What else the rules expect, as the contract prints it."""
    free_mb: float | None
    findings: tuple[Finding, ...]
    conflicts: tuple[str, ...]

    @property
    def memory_mb(self) -> float:
        """What the new caches take, overhead included: by the law the plan was made with."""
        return sum(cache.size_mb + overhead_mb(cache.size_mb) for cache in self.new)


def planned(audit: Audit, shown: CacheMap) -> Planned | None:
    """The plan; `None` where the audit has none. `shown` are the caches there are."""
    findings = [one for one in audit.findings.filter(rule__in=RULES) if one.data["changes"]]
    if not findings:
        return None
    steps = audit.plan.get("steps", [])
    holding = {key for step in steps for key in step["change_keys"]}
    changes = list({one["key"]: one for finding in findings for one in finding.data["changes"]}.values())
    moved = tuple(
        (one["key"].removeprefix(BOUND), str(one["from"] or ""), str(one["to"]))
        for one in changes
        if one["key"].startswith(BOUND) and one["key"] in holding
    )
    expected = [one for finding in findings for one in finding.data["expects"]]
    there = {cache.name for cache in shown.caches}
    shares, bases = {}, []
    for one in expected:
        found = SHARE.match(one["metric"])
        if found and isinstance(one["to"], int | float):
            shares[found["cache"]] = one["to"] / 100.0
            bases.append(one["basis"])
    rest = [one for one in expected if not SHARE.match(one["metric"])]
    return Planned(
        new=tuple(_new(changes, holding, shares, moved)),
        moved=moved,
        shares={name: share for name, share in shares.items() if name in there},
        basis=", ".join(dict.fromkeys(bases)),
        expects=tuple({one["metric"]: one for one in rest}.values()),
        free_mb=_free(findings),
        findings=tuple(findings),
        conflicts=tuple(
            one["why"]
            for one in audit.plan.get("conflicts", [])
            if any(key.startswith(BOUND) or CREATED.match(key) for key in one["change_keys"])
        ),
    )


def _new(
    changes: Iterable[dict[str, Any]],
    holding: set[str],
    shares: dict[str, float],
    moved: Iterable[tuple[str, str, str]],
) -> Iterator[NewCache]:
    """The caches to be made, as their scripts say them."""
    for one in changes:
        created, size = CREATED.match(one["key"]), SIZE.match(str(one["to"]))
        if not created or not size or one["key"] not in holding:
            continue
        script = "\n".join(one["apply"])
        cut = CUT.search(script)
        yield NewCache(
            name=created["name"],
            size_mb=float(size["mb"]),
            partitions=int(cut["count"]) if cut else 1,
            relaxed=bool(RELAXED.search(script)),
            share=shares.get(created["name"]),
            members=tuple(what for what, _, to in moved if to == created["name"]),
        )


def _free(findings: Iterable[Finding]) -> float | None:
    for finding in findings:
        for item in finding.data["evidence"]:
            if item["metric"] == FREE and isinstance(item["value"], int | float):
                return float(item["value"])
    return None
