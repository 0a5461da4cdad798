"""One run of LOCK_ACTV: its trees and nodes, and the facts they become."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime

from collectors.facts.base import OVERFLOW, Reading, known
from collectors.facts.openvms import LockActivity, LockTree
from collectors.facts.openvms.resource_names import decode
from collectors.layouts.lock_names import own_order
from collectors.registry import Report

MOST_TREES = 100
"""Trees of a report that become facts, the busiest; a cluster has one for each open file (this project)."""


@dataclass
class Tree:
    """One tree; lines as indices."""

    name: bytes
    first: int
    last: int
    total: Reading
    rates: dict[str, Reading] = field(default_factory=dict)
    master: str | None = None


@dataclass
class Run:
    """One report, or the records of one run."""

    first: int
    last: int
    at: datetime | None = None
    trees: list[Tree] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    whole: bool = True

    def facts(self, report: Report) -> Iterator[LockActivity | LockTree]:
        """What is kept of it; sums are of all trees."""
        number = report.source(self.first).first
        kinds: dict[str, tuple[float, float]] = {}
        nodes: dict[str, float] = {}
        for tree in self.trees:
            kind = decode(tree.name).kind
            many, rate = kinds.get(kind, (0.0, 0.0))
            kinds[kind] = (many + 1, rate + _number(tree.total))
            for node, asked in tree.rates.items():
                nodes[node] = nodes.get(node, 0.0) + _number(asked)
        overflowed = any(tree.total is OVERFLOW for tree in self.trees)
        yield LockActivity(
            source=report.source(self.first, self.last),
            report=number,
            at=self.at,
            nodes=tuple(sorted(nodes)),
            failed=tuple(dict.fromkeys(self.failed)),
            trees=len(self.trees),
            total=OVERFLOW if overflowed else sum(_number(tree.total) for tree in self.trees),
            by_node=tuple(sorted(nodes.items())),
            kinds=tuple((kind, many, rate) for kind, (many, rate) in sorted(kinds.items())),
            whole=self.whole,
        )
        for tree in sorted(self.trees, key=_order)[:MOST_TREES]:
            yield LockTree(
                source=report.source(tree.first, tree.last),
                report=number,
                at=self.at,
                name=own_order(tree.name),
                total=tree.total,
                rates=tuple(tree.rates.items()),
                master=tree.master,
            )


def _number(reading: Reading) -> float:
    return reading if known(reading) else 0.0


def _order(tree: Tree) -> tuple[bool, float, bytes]:
    """The busiest first; one whose figure overflowed is busier than any that did not."""
    return tree.total is not OVERFLOW, -_number(tree.total), tree.name
