"""Listings of RMU/SHOW LOCKS, one after another: which lines are of one moment, and whether the holder changes."""

from collections.abc import Mapping, Sequence

from collectors.facts.rdb import HeldLock
from rules.changes.quoting import comment

LEAST_NAME = 3
"""Characters that names of processes have in common, before they are called by them (this project)."""
MOST = 3
"""Processes that are named in a sentence."""


def listing_of(held: Sequence[HeldLock]) -> dict[int, object]:
    """The listing that each line stands in, by the identity of the fact: a file may hold several, one after another.

    A listing has a process once for each resource, so a second time begins the next one.
    """
    found: dict[int, object] = {}
    number: dict[tuple[str, int, str | None], int] = {}
    seen: dict[tuple[str, int, str | None], set[tuple[str, str]]] = {}
    for lock in sorted(held, key=lambda one: (one.source.file, one.source.first)):
        key, own = (lock.source.file, lock.listing, lock.display), (lock.resource, lock.pid)
        if own in seen.setdefault(key, set()):
            number[key] = number.get(key, 0) + 1
            seen[key] = set()
        seen[key].add(own)
        found[id(lock)] = (*key, number.get(key, 0))
    return found


def held_in_turn(
    held: Sequence[HeldLock], roots: Sequence[HeldLock], listing: Mapping[int, object]
) -> dict[str, list[HeldLock]]:
    """Resources that are held in several listings and by no process in all of them, with the lines of who holds."""
    found: dict[str, list[HeldLock]] = {lock.resource: [] for lock in roots}
    for lock in held:
        if lock.role == "blocker" and lock.resource in found:
            found[lock.resource].append(lock)
    return {resource: lines for resource, lines in found.items() if _changes(lines, listing)}


def _changes(lines: Sequence[HeldLock], listing: Mapping[int, object]) -> bool:
    """Whether these lines are of several listings, and of no process in all of them."""
    by_listing: dict[object, set[str]] = {}
    for lock in lines:
        by_listing.setdefault(listing[id(lock)], set()).add(lock.pid)
    return len(by_listing) > 1 and not set.intersection(*by_listing.values())


def group_of(locks: Sequence[HeldLock]) -> str:
    """`4 processes ORDENTRY_*`, by what their names have in common, else `2 processes (20403A10, 20403A11)`."""
    first, last = (pick(lock.process or "" for lock in locks) for pick in (min, max))
    alike = next((at for at, (one, other) in enumerate(zip(first, last, strict=False)) if one != other), len(first))
    same = first[:alike].rstrip("0123456789")
    if len(same.strip("_-. ")) >= LEAST_NAME:
        return f"{len(locks)} processes {comment(same, 20)}*"
    more = f" and {len(locks) - MOST} more" if len(locks) > MOST else ""
    return f"{len(locks)} processes ({', '.join(process_of(lock) for lock in locks[:MOST])}{more})"


def process_of(lock: HeldLock) -> str:
    """`PAYROLL_07 (20600A07)`, or the identification alone."""
    return f"{comment(lock.process, 20)} ({lock.pid})" if lock.process else lock.pid
