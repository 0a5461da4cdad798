"""The uploads as a list: which ones the address asks for, in which order, and what became of each on a page of them.

A page takes the same number of queries however many uploads, files and captures it tells of.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

from django.db.models import Count, Exists, F, Min, OuterRef, Q, QuerySet, Window
from django.db.models.expressions import OrderBy
from django.db.models.functions import RowNumber

from advisor.accounts.models import User
from advisor.audits.models import Audit, Capture
from advisor.core.access import systems_of, uploads_of
from advisor.core.sorting import Sortable, both_ways
from advisor.findings.services.pages import verdicts_now, worst_now
from advisor.systems.models import System
from advisor.uploads.models import Input, Upload, UploadFile
from advisor.uploads.services.uploads import clean_text

SORTS = ("when", "who", "team", "size", "state")
UNNAMED = "unnamed"
"""As a state: uploads that hold files of systems which nobody named."""
STATES = (*Upload.State.values, UNNAMED)
WORDS = 8
"""So many words of a search are looked for."""
NAMED_FILES, NAMED_SYSTEMS = 3, 3
"""Files and systems that a row names; the rest is counted."""
SAID = ("system", "worst", "headline", "counts", "unjudged", "summary")
"""What of an audit a row tells."""


@dataclass(frozen=True)
class Filter(Sortable):
    """What the list is asked for, as the address holds it; an empty field asks for all."""

    DESCENDING = ("when", "size")

    q: str = ""
    """Words, each of which the name of a system or of a file must have."""
    state: str = ""
    """One of `STATES`."""
    sort: str = ""
    """A column of `SORTS`, with a minus before it for the highest first; empty: newest first."""

    @classmethod
    def read(cls, given: Mapping[str, str]) -> "Filter":
        """Read the address: a word that no filter knows asks for nothing."""
        read = {one.name: clean_text(given.get(one.name, ""), 200).strip() for one in fields(cls)}
        for name, words in (("state", STATES), ("sort", both_ways(SORTS))):
            read[name] = read[name] if read[name] in words else ""
        return cls(**read)

    @property
    def narrowed(self) -> bool:
        """Whether it asks for less than all uploads."""
        return bool(self.q or self.state)


@dataclass
class OfSystem:
    """What an upload brought of one system."""

    system: System
    captures: int
    audit: Audit | None
    """That of the newest of these captures; none while it is not judged."""
    verdict: str
    """What it says, without counting as open what is accepted today; empty where it has none."""

    @property
    def worst(self) -> int:
        """The severity of its worst finding that is not accepted today; 0: none is open; -1: it is not judged."""
        now = getattr(self.audit, "worst_now", None)
        return (now["severity"] if now else 0) if self.audit else -1


@dataclass
class Row:
    """One upload on the list."""

    upload: Upload
    files: list[str] = field(default_factory=list)
    """The names of the first few."""
    file_count: int = 0
    systems: list[OfSystem] = field(default_factory=list)
    """Worst first."""

    @property
    def named(self) -> list[OfSystem]:
        """The systems the row names."""
        return self.systems[:NAMED_SYSTEMS]

    @property
    def worst(self) -> OfSystem | None:
        """The system whose verdict the row prints; none where nothing was judged."""
        return next((one for one in self.systems if one.audit), None)


def listed(user: User, asked: Filter) -> QuerySet[Upload]:
    """The uploads that are asked for, of those this person may see, in the order asked for."""
    found = uploads_of(user).select_related("by", "team").defer("system_names")
    if asked.state == UNNAMED:
        found = found.filter(unnamed__gt=0)
    elif asked.state:
        found = found.filter(state=asked.state)
    for word in asked.q.split()[:WORDS]:
        systems = systems_of(user).filter(name__icontains=word).values("pk")
        again = Capture.also_in.through.objects.filter(upload=OuterRef("pk"), capture__system__in=systems)
        found = found.filter(
            Q(system_name__icontains=word)
            | Exists(UploadFile.objects.filter(upload=OuterRef("pk"), name__icontains=word))
            | Exists(Input.objects.filter(upload=OuterRef("pk"), file__icontains=word))
            | Exists(Capture.objects.filter(upload=OuterRef("pk"), system__in=systems))
            | Exists(again)
        )
    newest = ("-at", "-pk")
    if not asked.column:
        return found.order_by(*newest)
    column = {
        "when": "at",
        "who": "by__username",
        "team": "team__name",
        "size": "total_bytes",
        "state": "state",
    }[asked.column]
    return found.order_by(OrderBy(F(column), descending=asked.descending, nulls_last=True), *newest)


def being_read(user: User) -> dict[str, Any]:
    """How many uploads are not read yet: `waiting`, `reading`, since when the first of these, and the files of all."""
    states = Upload.State
    return uploads_of(user).aggregate(
        waiting=Count("pk", filter=Q(state=states.WAITING)),
        reading=Count("pk", filter=Q(state=states.READING)),
        since=Min("claimed", filter=Q(state=states.READING)),
    )


def rows(uploads: Sequence[Upload]) -> list[Row]:
    """Make the rows of a page: the files of each upload, and what was found of which system."""
    made = {one.pk: Row(one) for one in uploads}
    for upload, name, count in _first_files(made):
        made[upload].files.append(name)
        made[upload].file_count = count
    of_system = _captures(made)
    newest = {audit for found in of_system.values() for _, _, audit in found.values() if audit}
    audits = Audit.objects.only(*SAID).annotate(worst_now=worst_now(audit="pk")).in_bulk(newest)
    verdicts = verdicts_now(audits.values())
    systems = System.objects.only("name", "product").in_bulk({pk for found in of_system.values() for pk in found})
    for upload, found in of_system.items():
        told = [
            OfSystem(systems[pk], count, audits.get(audit or 0), verdicts.get(audit or 0, ""))
            for pk, (_, count, audit) in found.items()
        ]
        told.sort(key=lambda one: (-one.worst, one.system.name))
        made[upload].systems = told
    return list(made.values())


def _first_files(uploads: Iterable[int]) -> Iterable[tuple[int, str, int]]:
    """The first files of each upload: its number, the file's name, and how many files it has."""
    of = F("upload")
    found = UploadFile.objects.filter(upload__in=list(uploads)).annotate(
        place=Window(RowNumber(), partition_by=of, order_by=("number", "pk")),
        count=Window(Count("pk"), partition_by=of),
    )
    return found.filter(place__lte=NAMED_FILES).order_by("number", "pk").values_list("upload", "name", "count")


def _captures(uploads: Iterable[int]) -> dict[int, dict[int, tuple[Any, int, int | None]]]:
    """By upload and system: when the newest of its captures was taken, how many there are, and the newest's audit.

    Captures that the upload tells of as well, after another one did, are its own too.
    """
    found: defaultdict[int, dict[int, tuple[Any, int, int | None]]] = defaultdict(dict)
    numbers = list(uploads)
    own: QuerySet[Any] = Capture.objects.all()
    again: QuerySet[Any] = Capture.also_in.through.objects.all()
    for query, to in ((own, ""), (again, "capture__")):
        of = (F("upload"), F(f"{to}system"))
        newest = (F(f"{to}taken").desc(), F(f"{to}pk").desc())
        ranked = query.filter(upload__in=numbers).annotate(
            place=Window(RowNumber(), partition_by=of, order_by=newest), count=Window(Count("pk"), partition_by=of)
        )
        columns = ("upload", f"{to}system", f"{to}taken", "count", f"{to}audit")
        for upload, system, taken, count, audit in ranked.filter(place=1).order_by().values_list(*columns):
            known = found[upload].get(system)
            if known is None:
                found[upload][system] = (taken, count, audit)
            else:
                last, before, earlier = known
                found[upload][system] = (max(taken, last), before + count, audit if taken > last else earlier)
    return found
