"""Lists that sort by the headings of their columns, on the server: the address says by which, and which way."""

from dataclasses import replace
from typing import Any, ClassVar, cast
from urllib.parse import urlencode


class Sortable:
    """What an address asks a list for, as a dataclass of texts; its field `sort` is a column, `-` before it: downwards.

    `turned` is the link behind the heading of a column, `query` the one of any other choice.
    """

    sort: str
    DESCENDING: ClassVar[tuple[str, ...]] = ()
    """Columns whose first sorting puts the highest at the top."""

    def query(self, **changes: str) -> str:
        """The part of the address behind the question mark, with some fields changed; the page is the first."""
        changed = replace(cast(Any, self), **changes)
        return urlencode({name: value for name, value in vars(changed).items() if value})

    @property
    def column(self) -> str:
        """The column it is sorted by; empty for the list's own order."""
        return self.sort.removeprefix("-")

    @property
    def descending(self) -> bool:
        """Whether the highest stands first."""
        return self.sort.startswith("-")

    def turned(self, column: str) -> str:
        """The address that sorts by this column; where it is sorted by it, the other way round."""
        first, other = (f"-{column}", column) if column in self.DESCENDING else (column, f"-{column}")
        return self.query(sort=other if self.sort == first else first)


def both_ways(columns: tuple[str, ...]) -> tuple[str, ...]:
    """What `sort` may be for these columns."""
    return (*columns, *(f"-{one}" for one in columns))
