"""One page that most logged stalls are for, by processes that want to change it: what lies there decides."""

from dataclasses import dataclass

from collectors.facts.rdb import WaitGroup
from rules.changes.quoting import comment
from rules.finding import Evidence
from rules.rdb._evidence.databases import OneDatabase
from rules.rdb._evidence.waits import STALLS, Waits, total

LEAST = 10
"""This project: of fewer logged stalls half may be chance."""
MOST_PERCENT = 50.0
"""This project: from here on one page has more of the stalls than all others together."""
CHANGES = ("EX", "PW", "CW")
"""Modes in which a page is wanted to change it; of those who only read it a row cache takes the locks away."""
DO = (
    "See what lies on page {0} (RMU/DUMP/NOHEADER/AREAS={1}/START={2}/END={2} {3}). If it is the end of a sorted index "
    "whose key only rises (SQL: SHOW INDEX *), partition that index, make it hashed or let another column lead; if it "
    "has rows of a small table, a row cache takes the page locks away."
)
"""Vendor: RMU help, Dump Database, /AREAS, /START, /END. That a rising key fills the last node alone is arithmetic."""


@dataclass(frozen=True)
class HotPage:
    """A page with the logged stalls for it and those for all locks."""

    group: WaitGroup
    stalls: int
    of: int

    @property
    def said(self) -> str:
        """`45 of 64 logged stalls are for page 4:88120 of storage area CALL_TS_IDX`."""
        return f"{self.stalls:,} of {self.of:,} logged stalls are for page {comment(self.group.resource, 60)}"

    @property
    def evidence(self) -> tuple[Evidence, ...]:
        """The stalls for it; none of a log whose reading nothing proves, as they are beside what was counted."""
        name = f"logged stalls for page {comment(self.group.resource, 60)}"
        source = self.group.source
        return () if source.tentative else (Evidence(name, self.stalls, "events", source, LEAST),)

    def do(self, one: OneDatabase) -> str:
        """The first step, two sentences."""
        key, _, area = self.group.resource.partition(" of storage area ")
        number, _, page = key.strip().partition(":")
        return DO.format(f"{key} of {area}" if area else key, area or number, page, one.root or "<root file>")


def hot_page(waits: Waits) -> HotPage | None:
    """The page, where one has that much of the stalls for locks and is wanted for a change."""
    groups = waits.most(STALLS)
    pages = [group for group in groups if group.resource_kind == "page" and ":" in group.resource]
    if waits.refused() or not pages:
        return None
    found, whole = pages[0], total(groups)
    stalls = total([found])
    if found.mode not in CHANGES or whole < LEAST or 100 * stalls < MOST_PERCENT * whole:
        return None
    return HotPage(found, stalls, whole)
