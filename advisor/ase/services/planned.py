"""What the plan of an audit makes of the data caches, read back from its findings: never a second plan.

What the plan changes and expects stands in the findings; which parts of it hold stands in the audit's plan, where a
change that conflicts with another, or that is for a person to decide, is in no step that is run.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from advisor.ase.services.caches import CacheMap, Shown
from advisor.audits.models import Audit, Finding
from rules.ase._evidence.caches.memory import Overhead
from rules.changes.quoting import comment

SHARE = re.compile(r"share of all searches in (?P<cache>.{1,255}), %\Z", re.DOTALL)
OWN = re.compile(r"share of its searches in (?P<cache>.{1,255}), %\Z", re.DOTALL)
"""What a cache keeps of its own searches, by a finding that moves a part of them elsewhere: no two move the same."""
WAITED = re.compile(r"spinlock contention of (?P<cache>.{1,255})\Z", re.DOTALL)
SIZE = re.compile(r"(?P<mb>[0-9]{1,12}(?:\.[0-9]{1,2})?) MB(?: in [0-9]{1,3} partitions)?\Z")
CUT = re.compile(r'sp_cacheconfig .*"cache_partition=(?P<count>[0-9]{1,3})"')
RELAXED = re.compile(r'sp_cacheconfig "(?:[^"]|"")*", "[0-9]+M", [a-z]+, relaxed\b')
POOL = re.compile(r'\bsp_poolconfig "(?:[^"]|"")*", "(?P<mb>[0-9]+)M", "(?P<kb>[0-9]+)K"')
CACHE = re.compile(r"ase\.cache:(?P<name>.*):(?P<what>create|size|cache_partition|replacement)\Z", re.DOTALL)
BOUND = "ase.bind:"
FREE = "memory that is free"
NOT_RUN = "advice"
"""A step that is for a person to decide: nothing of it is made by the plan."""


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
    pools: tuple[str, ...] = ()
    """For large I/O."""
    waited: float | None = None
    """Expected share of the grabs that wait, per cent."""

    @property
    def replacement(self) -> str:
        """Its strategy."""
        return "relaxed LRU" if self.relaxed else "strict LRU"


@dataclass(frozen=True)
class Altered:
    """A cache that is there already, as the plan leaves it; `None`: as it is now, or not known."""

    cache: Shown
    size_mb: float | None
    partitions: int | None
    replacement: str | None
    share: float | None
    """Expected share of all searches, 0 to 1."""
    came: tuple[str, ...]
    """What is bound to it."""
    gone: tuple[str, ...]
    """What is bound elsewhere."""
    waited: float | None
    """Expected share of the grabs that wait, per cent; `None` where several changes act on it, or none is computed."""
    several: bool
    """Whether findings expect different figures, each of its own changes alone."""
    spins: float | None
    """Expected spins over the same time, where its partitions alone change: waits fall as the contention does, and each
    is taken to spin as long as now (this project)."""

    @property
    def name(self) -> str:
        """As the server spells it."""
        return self.cache.name


@dataclass(frozen=True)
class Planned:
    """The plan in figures."""

    new: tuple[NewCache, ...]
    altered: tuple[Altered, ...]
    moved: tuple[tuple[str, str, str], ...]
    """What moves: object, from, to."""
    shares: dict[str, float]
    """Expected share of all searches of caches there are already, 0 to 1."""
    basis: str
    """Of the shares, as the rule names it."""
    expects: tuple[dict[str, Any], ...]
    """What else the rules expect, as the contract prints it."""
    free_mb: float | None
    restarts: int
    """Steps of the plan that restart the server and change a cache."""
    outages: int
    """Steps in which a database or a table cannot be used, for a binding."""
    findings: tuple[Finding, ...]
    conflicts: tuple[str, ...]
    overhead: Overhead = field(default_factory=Overhead)
    """What a cache takes beside its size on this server."""

    @property
    def memory_mb(self) -> float:
        """What the new caches take, overhead included: by the law the plan was made with."""
        return sum(cache.size_mb + self.overhead.mb(cache.size_mb) for cache in self.new)

    @property
    def freed_mb(self) -> float:
        """What caches that become smaller give back."""
        sizes = ((one.cache.size_mb, one.size_mb) for one in self.altered)
        return sum(max(0.0, now - then) for now, then in sizes if now is not None and then is not None)

    def of(self, name: str) -> Altered | None:
        """What becomes of a cache that is there; `None`: it stays as it is."""
        return next((one for one in self.altered if one.name == name), None)


def planned(audit: Audit, shown: CacheMap) -> Planned | None:
    """The plan; `None` where the audit changes no cache. `shown` are the caches there are."""
    steps = [step for step in audit.plan.get("steps", []) if step["takes_effect"] != NOT_RUN]
    holding = {key for step in steps for key in step["change_keys"]}
    all_of = [one for one in audit.findings.all() if any(_ours(change["key"]) for change in one.data["changes"])]
    findings = [one for one in all_of if any(change["key"] in holding for change in one.data["changes"])]
    conflicts = tuple(
        one["why"] for one in audit.plan.get("conflicts", []) if any(_ours(key) for key in one["change_keys"])
    )
    changes = {one["key"]: one for finding in findings for one in finding.data["changes"] if one["key"] in holding}
    if not any(_ours(key) for key in changes):
        return None
    moved = tuple(
        (one["key"].removeprefix(BOUND), str(one["from"] or ""), str(one["to"]))
        for one in changes.values()
        if one["key"].startswith(BOUND)
    )
    expected = [one for finding in findings for one in finding.data["expects"]]
    waited = _waited(expected)
    there = {cache.name for cache in shown.caches}
    shares, basis = _shares(expected, shown)
    rest = [one for one in expected if not any(known.match(one["metric"]) for known in (SHARE, OWN, WAITED))]
    return Planned(
        new=tuple(_new(changes.values(), shares, waited, moved)),
        altered=tuple(_altered(shown.caches, changes, shares, waited, moved)),
        moved=moved,
        shares={name: share for name, share in shares.items() if name in there},
        basis=basis,
        expects=tuple({one["metric"]: one for one in rest}.values()),
        free_mb=_free(findings),
        restarts=sum(
            1 for step in steps if step["takes_effect"] == "restart" and not step.get("after") and _any(step, _ours)
        ),
        outages=sum(1 for step in steps if step["when"] == "outage" and _any(step, _binds)),
        findings=tuple(findings),
        conflicts=conflicts,
        overhead=shown.overhead,
    )


def _shares(expected: Iterable[Mapping[str, Any]], shown: CacheMap) -> tuple[dict[str, float], str]:
    """Expected share of all searches by cache, 0 to 1, and on what basis: what the findings move is added up."""
    shares: dict[str, float] = {}
    gone: dict[str, float] = {}
    bases: dict[str, None] = {}
    for one in expected:
        whole, own = SHARE.match(one["metric"]), OWN.match(one["metric"])
        if (whole or own) and isinstance(one["to"], int | float):
            bases[one["basis"]] = None
            if whole:
                shares[whole["cache"]] = one["to"] / 100.0
            elif own:
                gone[own["cache"]] = gone.get(own["cache"], 0.0) + 1 - one["to"] / 100.0
    now = {cache.name: cache.searches_share for cache in shown.caches}
    for name, part in gone.items():
        before = now.get(name)
        left = None if before is None else shares.get(name, before) - before * part
        shares.pop(name, None)
        if left is not None and left >= 0:
            shares[name] = left
    return shares, ", ".join(bases)


def _ours(key: str) -> bool:
    """Whether a change is of a cache or of what is bound to one."""
    return _binds(key) or CACHE.match(key) is not None


def _binds(key: str) -> bool:
    return key.startswith(BOUND)


def _any(step: Mapping[str, Any], asked: Any) -> bool:
    return any(asked(key) for key in step["change_keys"])


def _waited(expected: Iterable[Mapping[str, Any]]) -> dict[str, set[tuple[float | None, float]]]:
    """By cache what the findings expect of its contention: before and after, per cent."""
    found: dict[str, set[tuple[float | None, float]]] = {}
    for one in expected:
        metric = WAITED.match(one["metric"])
        if metric and isinstance(one["to"], int | float):
            now = one["from"] if isinstance(one["from"], int | float) else None
            found.setdefault(metric["cache"], set()).add((now, float(one["to"])))
    return found


def _new(
    changes: Iterable[Mapping[str, Any]],
    shares: Mapping[str, float],
    waited: Mapping[str, set[tuple[float | None, float]]],
    moved: Iterable[tuple[str, str, str]],
) -> Iterator[NewCache]:
    """The caches to be made, as their scripts say them."""
    for one in changes:
        created, size = CACHE.match(one["key"]), SIZE.match(str(one["to"]))
        if not created or created["what"] != "create" or not size:
            continue
        script, name = "\n".join(one["apply"]), created["name"]
        cut, expected = CUT.search(script), waited.get(name, set())
        yield NewCache(
            name=name,
            size_mb=float(size["mb"]),
            partitions=int(cut["count"]) if cut else 1,
            relaxed=bool(RELAXED.search(script)),
            share=shares.get(name),
            members=tuple(what for what, _, to in moved if to == name),
            pools=tuple(f"{pool['kb']} KB: {int(pool['mb']):,} MB" for pool in POOL.finditer(script)),
            waited=next(iter(expected))[1] if len(expected) == 1 else None,
        )


def _altered(
    caches: Iterable[Shown],
    changes: Mapping[str, Mapping[str, Any]],
    shares: Mapping[str, float],
    waited: Mapping[str, set[tuple[float | None, float]]],
    moved: Iterable[tuple[str, str, str]],
) -> Iterator[Altered]:
    """The caches there are that the plan changes, or that something is bound to or out of."""
    moved = tuple(moved)
    for cache in caches:
        name = comment(cache.name)
        to = {what: changes.get(f"ase.cache:{name}:{what}") for what in ("size", "cache_partition", "replacement")}
        size, cut, strategy = (one["to"] if one else None for one in to.values())
        came = tuple(what for what, _, there in moved if there == cache.name)
        gone = tuple(what for what, home, _ in moved if home == cache.name)
        if not (came or gone or any(to.values())):
            continue
        found = SIZE.match(str(size)) if size is not None else None
        expected = waited.get(cache.name, set())
        sure = next(iter(expected)) if len(expected) == 1 else None
        yield Altered(
            cache=cache,
            size_mb=float(found["mb"]) if found else None,
            partitions=int(cut) if isinstance(cut, int | float) else None,
            replacement=str(strategy) if strategy is not None else None,
            share=shares.get(cache.name),
            came=came,
            gone=gone,
            waited=sure[1] if sure else None,
            several=len(expected) > 1,
            spins=_spins(cache, sure) if cut is not None and not (came or gone or size or strategy) else None,
        )


def _spins(cache: Shown, expected: tuple[float | None, float] | None) -> float | None:
    """Spins over the same time when waits fall as their share of the grabs does; `None` where it is not known."""
    now = cache.load.spins
    if now is None or expected is None or not expected[0]:
        return None
    return now * expected[1] / expected[0]


def _free(findings: Iterable[Finding]) -> float | None:
    for finding in findings:
        for item in finding.data["evidence"]:
            if item["metric"] == FREE and isinstance(item["value"], int | float):
                return float(item["value"])
    return None
