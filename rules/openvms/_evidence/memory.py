"""What SHOW MEMORY says is free: main memory, and room in the page files.

The display does not say how large a page of main memory is: what is free is its share of the size printed in bytes. A
heading of page files names their pages (`8KB pages`), else they are those of main memory.
"""

import re
from dataclasses import dataclass

from collectors.facts import Facts, Source, known
from collectors.facts.openvms import MemoryUse
from rules.finding import Evidence
from rules.openvms._evidence.node import in_prose

PAGES_OF = re.compile(r"([0-9]{1,3}) ?KB pages", re.IGNORECASE)


@dataclass(frozen=True)
class FreeMemory:
    """What was free at one moment, MB."""

    mb: float
    source: Source
    what: str = "of main memory"

    @property
    def said(self) -> str:
        """`16 MB of main memory free by SHOW MEMORY`."""
        return f"{in_prose(self.mb)} MB {self.what} free by SHOW MEMORY"

    @property
    def evidence(self) -> Evidence:
        """The figure."""
        return Evidence(
            f"{self.what.removeprefix('of ').removeprefix('in ')} free", round(self.mb, 1), "MB", self.source
        )


def free_memory(facts: Facts) -> FreeMemory | None:
    """Free main memory; `None` where it was not brought or cannot be believed."""
    for one in reversed(facts.also(MemoryUse).every(MemoryUse)):
        page, free = _page_mb(one) if _is_main(one) else None, one.figure("Free")
        if page and known(free) and 0 <= free <= _total(one):
            return FreeMemory(page * free, one.source)
    return None


@dataclass(frozen=True)
class MainMemory:
    """How large main memory is."""

    pages: float
    mb: float
    source: Source


def main_memory(facts: Facts) -> MainMemory | None:
    """Main memory by the newest display; `None` where it was not brought."""
    for one in reversed(facts.also(MemoryUse).every(MemoryUse)):
        if _is_main(one) and known(one.size_mb) and one.size_mb > 0 and _total(one) > 0:
            return MainMemory(_total(one), one.size_mb, one.source)
    return None


def free_paging(facts: Facts) -> FreeMemory | None:
    """Room in all page files of the newest display; `None` where the size of their pages is not known."""
    lines = [one for one in facts.also(MemoryUse).every(MemoryUse) if one.group.lower().startswith("paging file")]
    last = [one for one in lines if one.source.file == lines[-1].source.file and "PAGEFILE" in one.name.upper()]
    main = next(
        (page for one in reversed(facts.also(MemoryUse).every(MemoryUse)) if _is_main(one) and (page := _page_mb(one))),
        None,
    )
    room, names = 0.0, set[str]()
    for one in last:
        named = PAGES_OF.fullmatch(one.unit)
        page = int(named[1]) / 1024 if named else main if one.unit.lower() == "pages" else None
        free = one.figure("Free")
        if page is None or not known(free) or free < 0 or one.name in names:
            return None
        room, names = room + page * free, names | {one.name}
    return FreeMemory(room, last[0].source, "in the page file") if last else None


def _is_main(one: MemoryUse) -> bool:
    return one.group.lower().startswith("physical memory") and one.name.lower() == "main memory"


def _total(one: MemoryUse) -> float:
    total = one.figure("Total")
    return total if known(total) else 0.0


def _page_mb(one: MemoryUse) -> float | None:
    """MB of a page of main memory."""
    return one.size_mb / _total(one) if known(one.size_mb) and one.size_mb > 0 and _total(one) > 0 else None
