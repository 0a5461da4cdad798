"""Rows of a row cache that many users share, by Hot Row Information: what is said of a row that processes wait for.

Sharing a row is no wait: the vendor calls much of it good use of a row cache (help, Row Cache Utilization screen). So
it is told of a row that a log or screen of waits names, and never by itself. The number before the page may be that of
a logical area, of which no fact has the name: storage areas are named by the cache that they are assigned to.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from collectors.facts import Facts, Source, known
from collectors.facts.rdb import HotRow, WaitGroup
from rules.changes.quoting import comment
from rules.finding import Evidence, joined
from rules.rdb._evidence.counted import Mean, rounded
from rules.rdb._evidence.databases import OneDatabase, belonging
from rules.rdb._evidence.listings import process_of
from rules.rdb._evidence.standstill import longest
from rules.rdb._evidence.waiting_types import most_waited_for
from rules.rdb._evidence.waits import Queue, is_row, named, total, with_care

MOST_AREAS = 2
"""Storage areas of a cache that are named."""

IN_ROW = "let it change the row last and commit at once, and ask no person for input."
"""What the transaction that holds it is to do, the rest of a sentence: more than to find its rows by an index."""
COUNTER = "if it is a counter, take a range of numbers at once, or let a sequence or an identity column take its place"
"""No lock setting splits one row, so its design is what helps for good; the rest of a sentence."""
ALONE = f"Change {{}} in a short transaction of its own; {COUNTER}."


@dataclass(frozen=True)
class SharedRow:
    """A row with the users that shared it at the moment of the screen."""

    dbkey: str
    users: float
    cache: str | None
    areas: tuple[str, ...]
    """The storage areas that are assigned to the cache."""
    source: Source

    def alone(self, what: str) -> str:
        """How fewer wait for it, as a sentence; `what`: the row as the log or display names it."""
        return f"Change {what}, which {self.users:,.0f} users share, in a short transaction of its own; {COUNTER}."

    @property
    def where(self) -> str:
        """` in row cache PAY_ROWS (storage area PAYROLL)`, fit for any output; or empty."""
        if not self.cache:
            return ""
        named = ", ".join(comment(area, 31) for area in self.areas[:MOST_AREAS])
        more = f" and {len(self.areas) - MOST_AREAS} more" if len(self.areas) > MOST_AREAS else ""
        area = f" (storage area{'s' * (len(self.areas) > 1)} {named}{more})" if named else ""
        return f" in row cache {comment(self.cache, 31)}{area}"


def shared_rows(facts: Facts, one: OneDatabase) -> dict[str, SharedRow]:
    """The rows of one database that two users or more share, by their key; of several screens that with most users."""
    found: dict[str, SharedRow] = {}
    for row in belonging(facts.every(HotRow), one):
        before = found.get(row.dbkey)
        if not known(row.users) or row.users <= 1 or (before and before.users >= row.users):
            continue
        cache = (row.cache or "").upper()
        areas = tuple(area.name for area in one.areas if cache and (area.row_cache or "").upper() == cache)
        found[row.dbkey] = SharedRow(row.dbkey, row.users, row.cache, areas, row.source)
    return found


def shared_of(group: WaitGroup, rows: dict[str, SharedRow]) -> SharedRow | None:
    """The row that a group waits for, where it is one that is shared."""
    return rows.get(group.resource.partition(" ")[0]) if group.resource_kind == "record" else None


def shared_in(resource: str, rows: dict[str, SharedRow]) -> SharedRow | None:
    """The row that a lock in RMU/SHOW LOCKS is of, where it is one that is shared."""
    kind, _, rest = resource.strip().partition(" ")
    return rows.get(rest.partition(" ")[0]) if kind.lower() == "record" else None


def of_row(
    do: str,
    long: Sequence[WaitGroup],
    lines: Sequence[Queue],
    rows: dict[str, SharedRow],
    *,
    again: bool = False,
    passed: bool = False,
) -> str:
    """What to do where the row that is waited for is shared: about the row first; else `do`, as it stands.

    `long`: the long waits where nobody is known to hold it; `lines`: those behind one process each, the worst first.
    `again`: whether most lock timeouts are for the first of `long`, so that many want to change it, as if shared.
    `passed`: whether the row of the first of `lines` passes from one to the next (`passes_on`), as if shared, too.
    """
    if long and again and is_row(long[0]) and long[0].mode == "EX" and not shared_of(long[0], rows):
        return joined(ALONE.format(named(long[0])), do)
    if long and (row := shared_of(long[0], rows)):
        return joined(row.alone(named(long[0])), do)
    line = lines[0] if lines else None
    row = shared_in(line.holder.resource, rows) if line else None
    if line is None or line.in_turn or line.more or not (row or passed):
        return do
    now = f"Now {process_of(line.holder)} holds it while {line.behind} wait: {IN_ROW}"
    change = row.alone(f"record {comment(row.dbkey, 40)}") if row else ALONE.format(comment(line.holder.resource, 100))
    return joined(change, with_care(now, line))


def passes_on(lines: Sequence[Queue], mean: Mean | None, least: int, still: float) -> bool:
    """Whether the row of the first of these queues passes from one process to the next, all of which change it.

    By the statistics as many wait for record locks at any moment, `least` or more, and a wait takes less than `still`
    seconds on average: no process held it all the time.
    """
    if not lines or not mean or not lines[0].holder.resource.lower().startswith("record "):
        return False
    change = all(lock.requested == "EX" for lock in lines[0].waiting) and lines[0].holder.granted == "EX"
    kind, found = most_waited_for(mean) or ("", None)
    return bool(
        change
        and found
        and kind == "record"
        and mean.seconds < still
        and least <= found.processes <= 2 * lines[0].behind
    )


def shared_by(line: Queue, rows: dict[str, SharedRow]) -> str:
    """`, a row that 37 users share`, to stand behind who holds others up at it; or empty."""
    row = None if line.in_turn else shared_in(line.holder.resource, rows)
    return f", a row that {row.users:,.0f} users share" if row else ""


def evidence_of_shared(groups: Sequence[WaitGroup], rows: dict[str, SharedRow]) -> tuple[Evidence, ...]:
    """Of each row that is waited for and shared, how many users share it."""
    shared = {row.dbkey: row for group in groups if (row := shared_of(group, rows))}
    return tuple(
        Evidence(f"users that share row {comment(row.dbkey, 40)}{row.where}", row.users, "users", row.source)
        for row in shared.values()
    )


def ended_for(group: WaitGroup, whole: int, rows: dict[str, SharedRow]) -> str:
    """`231 of 241 lock timeouts are for record 63:2210:7 (EX), a row that 11 users share`."""
    row = shared_of(group, rows)
    shared = f", a row that {row.users:,.0f} users share" if row else ""
    return f"{total([group]):,} of {whole:,} lock timeouts are for {named(group)}{shared}"


def longest_waits(long: list[WaitGroup], rows: dict[str, SharedRow]) -> str:
    """The longest waits, with their sums: at most, for a stall may stand in several lines."""
    named_ones = ", ".join(
        f"{named(g, short=g is not long[0])} up to {rounded(longest(g))} s"
        + (f" (at most {rounded(g.seconds)} s in {g.logged:,} lines)" if known(g.seconds) and g.logged > 1 else "")
        + (f" by {g.processes} processes" if g.processes > 1 else "")
        + (
            f", a row that {row.users:,.0f} users share{row.where}"
            if g is long[0] and (row := shared_of(g, rows))
            else ""
        )
        for g in long
    )
    moment = " at one moment" if all(g.kind == "stall messages" for g in long) else ""
    return f"longest waits for a lock{moment}: {named_ones}"
