"""The one way to add, change, pause, resume and remove what people set up: schedules, recipients, webhooks and so on.

Each deed is a transaction that holds the row, and one entry of the journal: who did what, and what was and is.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import wraps
from typing import Any, Generic, ParamSpec, TypeVar

from django.core.exceptions import ObjectDoesNotExist
from django.db import IntegrityError, transaction
from django.db.models import Model
from django.http import Http404, HttpRequest
from django.utils import timezone

from advisor.accounts.models import User
from advisor.core import journal

P = ParamSpec("P")
T = TypeVar("T")
Row = TypeVar("Row", bound=Model)


class Refused(ValueError):
    """What is not done, why, and what to do instead, for the person who asked."""

    def __init__(self, message: str, field: str = "", line: int | None = None) -> None:
        super().__init__(message)
        self.field = field
        """Which field it is about; empty: all of it."""
        self.line = line
        """Which line of a field of several, from 1."""


class Gone(Refused):
    """What was to be changed has been removed meanwhile."""


@dataclass
class Change(Generic[Row]):
    """A row while it is changed."""

    row: Row
    """As it is stored, and held until the change is over."""
    said: list[str] = field(default_factory=list)
    """What is other than before, in words: what the body says itself, behind the difference of `Records.words`."""


class Records(Generic[Row]):
    """How rows of one kind are kept. A kind derives from this and says what differs."""

    model: type[Row]
    kind: str
    """What the journal calls one."""
    related: tuple[str, ...] = ("team",)
    """What is read with a row that is held."""
    no_key = False
    """Whether others may add rows that point to the row while it is held."""
    added, removed = "added", "removed"
    gone = ""
    """What is said of a row that is not there any more; empty: `DoesNotExist` is raised."""
    taken = ""
    """What is said where somebody took the name between a look at it and the storing; `{row}` is the row."""
    taken_field = ""
    lost = ""
    """What is said where somebody removed what the row was to point to; empty: the error of the database goes on."""

    def told(self, deed: str, row: Row) -> str:
        """What the journal says of a row that is added, removed, paused or resumed."""
        return str(row)

    def words(self, row: Row) -> Mapping[str, str]:
        """What of a row is told when it changes, by name; no secret."""
        return {}

    def told_change(self, row: Row, before: Mapping[str, str], said: list[str]) -> str:
        """What the journal says of a row that has changed; empty: nothing has."""
        return f"{row}: {'; '.join(said) or 'nothing'}"

    def shown(self, name: str, value: str) -> str:
        """What may be told of one of the words."""
        return value

    def turned(self, row: Row) -> None:
        """Do what else it takes that a row is paused or resumed; it is stored as such already."""

    def leaves(self, row: Row) -> None:
        """Do what else it takes before a row is removed."""

    def note(self, by: User | None, deed: str, row: Row, request: HttpRequest | None, what: str | None = None) -> None:
        """Write the entry of the journal."""
        what = self.told(deed, row) if what is None else what
        journal.note(by, f"{self.kind} {deed}", what, about=row, request=request)

    @contextmanager
    def held(self, row: Row) -> Iterator[Row]:
        """A transaction in which nobody else changes or removes the row; gives it as it is stored."""
        with transaction.atomic():
            rows = self.model._default_manager.select_related(*self.related)
            stored = rows.select_for_update(of=("self",), no_key=self.no_key).filter(pk=row.pk).first()
            if stored is None:
                raise Gone(self.gone) if self.gone else self.model.DoesNotExist  # type: ignore[attr-defined]
            yield stored

    @contextmanager
    def _unique(self, row: Row) -> Iterator[None]:
        """A transaction in which a row is stored. Raises `Refused` where somebody was quicker."""
        try:
            with transaction.atomic():
                yield
        except IntegrityError as error:
            taken = "unique" in str(error).lower()
            if not (says := self.taken if taken else self.lost):
                raise
            raise Refused(says.format(row=row), self.taken_field if taken else "") from None

    @contextmanager
    def adding(self, row: Row, by: User, request: HttpRequest | None = None) -> Iterator[Row]:
        """Have the body store a new row and all that belongs to it. Raises `Refused`."""
        with self._unique(row):
            yield row
            self.note(by, self.added, row, request)

    @contextmanager
    def changing(self, row: Row, by: User | None, request: HttpRequest | None = None) -> Iterator[Change[Row]]:
        """Have the body change and store the row; afterwards what changed is in its `said`. Raises `Refused`."""
        with self._unique(row), self.held(row) as stored:
            change, before = Change(stored), self.words(stored)
            yield change
            change.said[:0] = journal.changes(before, self.words(stored), self.shown)
            if what := self.told_change(stored, before, change.said):
                self.note(by, "changed", stored, request, what)

    def pause(self, row: Row, by: User, request: HttpRequest | None = None) -> bool:
        """Let it rest until it is resumed; gives whether it was not paused before."""
        return self._turn(row, by, request, "paused")

    def resume(self, row: Row, by: User, request: HttpRequest | None = None) -> bool:
        """Have it go on; gives whether it was paused."""
        return self._turn(row, by, request, "resumed")

    def _turn(self, row: Row, by: User, request: HttpRequest | None, deed: str) -> bool:
        with self.held(row) as held:
            stored: Any = held
            pauses = deed == "paused"
            if pauses == bool(stored.paused):
                return False
            stored.paused = timezone.now() if pauses else None
            stored.save(update_fields=["paused"])
            self.turned(stored)
            self.note(by, deed, stored, request)
        return True

    def remove(self, row: Row, by: User, request: HttpRequest | None = None) -> None:
        """Remove it, with what belongs to it alone. Raises `Refused` where it may not go."""
        with self.held(row) as stored:
            self.leaves(stored)
            self.note(by, self.removed, stored, request)
            stored.delete()


def there(view: Callable[P, T]) -> Callable[P, T]:
    """Have a view or an operation of the API answer 404 where its row was removed while it was at work."""

    @wraps(view)
    def looked_for(*args: P.args, **named: P.kwargs) -> T:
        try:
            return view(*args, **named)
        except ObjectDoesNotExist:
            raise Http404 from None

    return looked_for
