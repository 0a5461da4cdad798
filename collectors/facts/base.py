"""What every fact is made of: where it was read, and the four ways a figure can be missing or there."""

import enum
import gc
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, ClassVar, Self, TypeGuard, TypeVar


class Missing(enum.Enum):
    """Why a figure is not a number. Zero is a number and is none of these."""

    ABSENT = "not in the export"
    OVERFLOW = "printed as asterisks: too wide for its column"
    NOT_MEASURED = "not measured: its switch is off"

    def __repr__(self) -> str:
        """Print the short name, so that a failed test reads well."""
        return self.name


ABSENT, OVERFLOW, NOT_MEASURED = Missing.ABSENT, Missing.OVERFLOW, Missing.NOT_MEASURED

Reading = float | Missing
"""A figure as read: a number, or the reason why there is none."""


def known(reading: "Reading | str | None") -> TypeGuard[float]:
    """Whether a reading is a number one may judge by."""
    return isinstance(reading, int | float)


def number_or(reading: Reading, otherwise: float) -> float:
    """Return the number, or `otherwise` where the absence of a row means exactly that value."""
    return reading if known(reading) else otherwise


@dataclass(frozen=True, slots=True, init=False)
class Source:
    """Where a fact stands: file as the user named it, first and last line, counted from 1."""

    file: str
    first: int
    last: int
    tentative: bool = False
    """Whether the layout it was read by is recalled, confirmed by no source, and nothing in the export proves it. What
    rests on such a fact is never advised firmly: `rules.engine` sees to that for all rules."""

    def __init__(self, file: str, first: int, last: int, tentative: bool = False) -> None:
        """Take all of it, in less time than the method made for a frozen dataclass needs: each fact has one."""
        _put_file(self, file)
        _put_first(self, first)
        _put_last(self, last)
        _put_tentative(self, tentative)

    def __str__(self) -> str:
        """Print as `file:640` or `file:640-641`."""
        lines = str(self.first) if self.first == self.last else f"{self.first}-{self.last}"
        return f"{self.file}:{lines}"


_put_file, _put_first, _put_last, _put_tentative = (
    getattr(Source, name).__set__ for name in ("file", "first", "last", "tentative")
)
NOWHERE = Source("", 0, 0)
"""For facts written by hand in a test."""


COMMAND = re.compile(
    r'(?:sp_[a-z_]+|select)\b|[A-Z][A-Z0-9$_]*(?:/[A-Z_=]+)*(?:\s+[A-Z0-9$_/=.,:;+"\[\]-]+)+(?:\s*!|$)'
)
"""T-SQL as it is written here, or a whole line of DCL: capitals, then nothing or a comment."""


def is_command(bring: str) -> bool:
    """Whether what is to be collected is printed by a command that can be pasted as it stands.

    Everything else (a file, a series of runs) is described in words that begin in lower case.
    """
    return COMMAND.match(bring) is not None


@dataclass(frozen=True, kw_only=True)
class Fact:
    """One typed statement read from an export. Each subclass says in `COLLECTED_BY` what brings it.

    That is a command that runs as it is, remarks in comments of its language; or, where no command prints it, words
    that cannot be taken for one: `is_command` tells which.
    """

    __slots__ = ()

    COLLECTED_BY: ClassVar[str] = ""
    PART: ClassVar[str] = ""
    """What of that output it is read from, as the output calls it; empty where it is the whole."""
    NOT_JUDGED: ClassVar[str] = ""
    """Of a kind that no rule declares in `needs` or `uses`: who puts it to use, and what for.

    `shown by <module>: …` (a page shows it, and that is all), `read by <module>: …` (what runs under all rules reads
    it), or `open: …` (nobody does yet, and what a rule would judge by it). Empty: a rule judges it. What is read and
    put to no use is dead weight; a test holds each mark to what it says.
    """

    source: Source = NOWHERE

    def placed(self, source: Source, **fields: Any) -> Self:
        """Give the same statement, read elsewhere, or one with some fields otherwise.

        It is what `dataclasses.replace` makes, in a tenth of its time: for readers that make a fact of every line.
        """
        fact = object.__new__(type(self))
        values = fact.__dict__
        values.update(self.__dict__)
        values.update(fields)
        values["source"] = source
        return fact

    @classmethod
    def fact_name(cls) -> str:
        """Name as the contract prints it: product and class, `ase.LockHashtable`."""
        return f"{cls.__module__.split('.')[2]}.{cls.__name__}"


F = TypeVar("F", bound=Fact)
T = TypeVar("T")


@dataclass(frozen=True)
class System:
    """The server, node or machine under study."""

    name: str
    product: str
    version: str | None = None
    platform: str | None = None
    processors: int | None = None


@dataclass(frozen=True)
class Interval:
    """What time the figures cover. `None` where the export does not say; seconds are elapsed seconds."""

    start: datetime | None = None
    end: datetime | None = None
    seconds: float | None = None


class Undeclared(TypeError):
    """A rule asked for a fact it had not declared."""


@dataclass(frozen=True)
class Facts:
    """The facts of one capture, as a rule sees them: by type, narrowed to what the rule declared."""

    items: tuple[Fact, ...] = ()
    declared: frozenset[type[Fact]] | None = None
    by_type: dict[type[Fact], list[Fact]] = field(default_factory=dict, compare=False, repr=False)
    made: dict[object, Any] = field(default_factory=dict, compare=False, repr=False)
    """What was made of the facts once, by what made it; narrowed views share it."""

    def __post_init__(self) -> None:
        """Sort once by type; a narrowed view shares the table."""
        if not self.by_type:
            for item in self.items:
                self.by_type.setdefault(type(item), []).append(item)

    def may_ask(self, kind: type[Fact]) -> bool:
        """Whether a rule declared this type."""
        return self.declared is None or kind in self.declared

    def _check_declared(self, kind: type[Fact]) -> None:
        if not self.may_ask(kind):
            raise Undeclared(f"{kind.fact_name()} is used but not declared in needs or uses")

    def once(self, kind: type[Fact], make: Callable[["Facts"], T]) -> T:
        """What `make` makes of the facts of this type and of no other: made once, however many rules ask."""
        self._check_declared(kind)
        if make not in self.made:
            self.made[make] = make(self)
        made: T = self.made[make]
        return made

    def every(self, kind: type[F]) -> list[F]:
        """Every fact of this type, in the order of the exports."""
        self._check_declared(kind)
        return list(self.by_type.get(kind, ()))  # type: ignore[arg-type]  # the table is keyed by exact type

    def latest(self, kind: type[F], /, **fields: Any) -> F | None:
        """The last-read fact of this type whose fields have these values, or `None`.

        The last one, because of two listings of the same thing the later one is the newer.
        """
        alike = (
            item
            for item in reversed(self.every(kind))
            if all(getattr(item, name) == value for name, value in fields.items())
        )
        return next(alike, None)

    def narrowed(self, kinds: Iterable[type[Fact]]) -> "Facts":
        """The same facts, with access to these types alone."""
        return Facts(self.items, frozenset(kinds), self.by_type, self.made)

    def also(self, *kinds: type[Fact]) -> "Facts":
        """The same facts, with access to these types, too: for what helps every rule and declares what it needs."""
        return self if self.declared is None else self.narrowed(self.declared.union(kinds))

    def __iter__(self) -> Iterator[Fact]:
        """Walk over all facts."""
        return iter(self.items)


@dataclass(frozen=True)
class Capture:
    """The facts of one system over one interval."""

    system: System
    interval: Interval
    facts: Facts


@contextmanager
def without_collection() -> Iterator[None]:
    """Pause the cycle collector: facts hold no cycles, and each of its rounds looks at all facts of all captures.

    What was made meanwhile counts as old afterwards: else the first round would look at each of these objects, which
    took a fifth of the time of reading an archive. What a cycle holds of them goes in the next full round.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            if not gc.get_freeze_count():  # what a web process froze for good stays so
                gc.freeze()
                gc.unfreeze()
            gc.enable()
