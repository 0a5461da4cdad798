"""The storage area whose file is extended again and again: FILID locks guard the end of a file (vendor: RMU help)."""

import re

from collectors.facts import known
from rules.changes.quoting import comment
from rules.finding import Evidence
from rules.rdb._evidence.databases import OneDatabase
from rules.rdb._evidence.waits import STALLS, Waits

EXTENDING = re.compile(r"extending (?:storage )?area (?P<number>[0-9]{1,9})\b", re.IGNORECASE)
NUMBER = re.compile(r"[0-9]{1,9}")
SMALL = 99.0
"""Pages, vendor: the least extent of the default (99 to 9999 pages, by 20 %), as SHOW STORAGE AREA prints it (7.2)."""
DO = (
    "Let {area} extend in larger steps: ALTER DATABASE FILENAME '{root}' ALTER STORAGE AREA {area} EXTENT IS (MINIMUM "
    "OF 99 PAGES, MAXIMUM OF 9999 PAGES, PERCENT GROWTH IS 20), Oracle's default, or more; then have it grow before "
    "the busy hours (ALLOCATION IS n PAGES). {now}"
)
ASK = (
    "See by a stall log which storage area is extended (`extending storage area n`) and its extents (SQL: SHOW STORAGE "
    "AREA *): FILID locks guard the end of a file, so larger extents are asked for less often."
)


def of_extents(one: OneDatabase, waits: Waits) -> tuple[str, str, tuple[Evidence, ...]]:
    """The storage area by name (empty: not known), what to do, two sentences, and the evidence of its extents.

    That the number of a FILID lock is that of the area is recalled; `extending storage area n` says so itself.
    """
    found: dict[str, int] = {}
    for group in waits.of(STALLS, "filid", "io"):
        number = EXTENDING.search(group.resource) if group.resource_kind == "io" else NUMBER.match(group.resource)
        if number:
            key = number[0] if group.resource_kind == "filid" else number["number"]
            found[key] = found.get(key, 0) + group.logged + group.missed
    most = max(found, key=lambda key: found[key], default="")
    area = next((a for a in one.areas if known(a.number) and f"{a.number:.0f}" == most), None)
    if area is None or waits.refused():
        return "", ASK, ()
    name, least, largest = comment(area.name, 31), area.extent_minimum_pages, area.extent_maximum_pages
    now = f"See first what it has: SQL SHOW STORAGE AREA {name}."
    if known(least) and known(largest):
        now = f"Now it extends by {least:,.0f} to {largest:,.0f} pages."
    said = DO.format(area=name, root=comment(one.root, 255) if one.root else "<root file>", now=now)
    proof = (Evidence(f"largest extent of {name}", largest, "pages", area.source, SMALL),) if known(largest) else ()
    if known(least) and least >= SMALL:
        said = (
            f"{name} is extended often, though by {least:,.0f} pages or more at a time: have it grow before the busy "
            f"hours (ALTER DATABASE FILENAME '{comment(one.root, 255) if one.root else '<root file>'}' ALTER STORAGE "
            f"AREA {name} ALLOCATION IS n PAGES), and see what fills it."
        )
    return name, said, proof
