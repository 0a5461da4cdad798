"""The form of the what-if: what may be asked of one capture, what was asked, and all the answers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from advisor.ase.services.caches import CacheMap, Shown
from advisor.ase.services.what_if import data_caches, engines, settings
from advisor.ase.services.what_if.answers import (
    Answer,
    BadNumber,
    Judgement,
    judgement_of,
    whole,
)
from advisor.audits.models import Audit
from advisor.charts.words import figure
from collectors.facts import Facts
from rules.ase._evidence.caches.binding_plan import movable
from rules.ase._evidence.caches.contents import Contents, Held
from rules.ase._evidence.caches.memory import MEMORY_MISSING, FreeMemory, free_memory
from rules.ase._evidence.server import busy_of
from rules.changes.ase_config import legal

MOST_CACHES = 12
"""Caches the form offers: the largest."""
MOST_OBJECTS = 24
"""Objects the form offers for a new cache: the most searched."""


@dataclass(frozen=True)
class Field:
    """One field of the form."""

    name: str
    label: str
    now: str
    """The value in force, in words."""
    may_be: str
    """What the server takes, in words."""
    typed: str
    error: str = ""


@dataclass(frozen=True)
class Choice:
    """One object that may be chosen for a new cache."""

    name: str
    said: str
    chosen: bool


@dataclass
class Form:
    """The whole form, filled with what was asked."""

    ratios: list[Field] = field(default_factory=list)
    caches: list[tuple[str, Field, Field]] = field(default_factory=list)
    """Name, partitions, size."""
    objects: list[Choice] = field(default_factory=list)
    new: list[Field] = field(default_factory=list)
    engines: Field | None = None
    unknown: list[str] = field(default_factory=list)
    """Objects that were asked for and are not among those that may be chosen."""


@dataclass(frozen=True)
class Answered:
    """The answers, and what they take together."""

    form: Form
    answers: tuple[Answer, ...]
    memory_mb: float
    """Memory of all of it, as far as that can be said."""
    memory_unknown: tuple[str, ...]
    """What takes memory that cannot be said."""
    free: FreeMemory | None
    free_bring: str

    @property
    def fits(self) -> bool | None:
        """Whether all of it fits into what is free; `None` where that cannot be said."""
        if self.free is None:
            return None
        if self.memory_mb > self.free.mb:
            return False
        return None if self.memory_unknown else True


class _Typed:
    """What was typed, number by number; keeps the errors."""

    def __init__(self, given: Mapping[str, str]) -> None:
        self.given = given
        self.errors: dict[str, str] = {}

    def text(self, name: str) -> str:
        return str(self.given.get(name, ""))[:40]

    def number(self, name: str) -> int | None:
        try:
            return whole(self.text(name))
        except BadNumber as why:
            self.errors[name] = str(why)
            return None

    def field(self, name: str, label: str, now: str, may_be: str) -> Field:
        self.number(name)
        return Field(name, label, now, may_be, self.text(name), self.errors.get(name, ""))


def answer(
    facts: Facts, shown: CacheMap, contents: object, audit: Audit, given: Mapping[str, str], moved: Sequence[str]
) -> Answered:
    """Answer what was asked (`given`: fields by name, `moved`: objects for a new cache); everything may be empty."""
    typed = _Typed(given)
    offered = shown.caches[:MOST_CACHES]
    held = candidates(contents)
    chosen = tuple(one.name for one in held if one.name in set(moved))
    form = _form(facts, typed, offered, contents, held, chosen)
    form.unknown = [name[:200] for name in dict.fromkeys(moved) if name not in chosen][:5]
    judged = judgement_of(audit)
    answers: list[Answer] = []
    size = typed.number("buckets")
    ratio = typed.number("lock")
    legal_size = size if size is not None and legal(settings.SIZE, size) else None
    legal_ratio = ratio if ratio is not None and legal(settings.RATIOS["lock"].parameter, ratio) else None
    for name in settings.RATIOS:
        new = typed.number(name)
        if new is not None:
            answers.append(settings.ratio_answer(facts, name, new, legal_size, judged))
    if size is not None:
        answers.append(settings.size_answer(facts, size, legal_ratio, judged))
    answers += _of_caches(facts, typed, offered, shown, contents, chosen, judged)
    if (count := typed.number("engines")) is not None:
        answers.append(engines.engines_answer(facts, audit, count, judged))
    free = free_memory(facts)
    taking = [one for one in answers if not one.refused]
    return Answered(
        form=form,
        answers=tuple(answers),
        memory_mb=sum(one.memory_mb or 0.0 for one in taking),
        memory_unknown=tuple(one.what for one in taking if one.memory_mb is None and one.memory_said),
        free=free,
        free_bring="" if free else MEMORY_MISSING.command,
    )


def _of_caches(
    facts: Facts,
    typed: _Typed,
    offered: Sequence[Shown],
    shown: CacheMap,
    contents: object,
    chosen: tuple[str, ...],
    judged: Judgement,
) -> list[Answer]:
    answers: list[Answer] = []
    cuts: dict[str, int] = {}
    for n, one in enumerate(offered):
        cut, size = typed.number(f"cut-{n}"), typed.number(f"size-{n}")
        if cut is not None:
            made = data_caches.cut_answer(facts, one, cut, judged)
            answers.append(made)
            if not made.refused:
                cuts[one.name] = cut
        if size is not None:
            answers.append(data_caches.size_answer(facts, one, size, cuts.get(one.name)))
    new_cut = typed.number("new-cut")
    asked = data_caches.Asked(cuts, chosen, typed.number("new-size"), 1 if new_cut is None else new_cut)
    moving = False
    if chosen and isinstance(contents, Contents):
        made = data_caches.new_answer(facts, contents, asked, judged)
        answers.append(made)
        moving = not made.refused
    if cuts or moving:
        asked = asked if moving else data_caches.Asked(cuts)
        answers.append(data_caches.together(shown, contents, asked))
    return answers


def candidates(contents: object) -> list[Held]:
    """Objects that may be bound and are searched, the most searched first."""
    if not isinstance(contents, Contents):
        return []
    found = [one for one in contents.held if one.reads and movable(one)]
    return found[:MOST_OBJECTS]


def _form(
    facts: Facts,
    typed: _Typed,
    offered: Sequence[Shown],
    contents: object,
    held: Sequence[Held],
    chosen: tuple[str, ...],
) -> Form:
    form = Form()
    for name, one in settings.RATIOS.items():
        form.ratios.append(
            typed.field(name, one.parameter, _value(facts, one.parameter), settings.range_of(one.parameter))
        )
    form.ratios.insert(
        2, typed.field("buckets", settings.SIZE, _value(facts, settings.SIZE), settings.range_of(settings.SIZE))
    )
    most = data_caches.largest_partitions(facts)
    for n, cache in enumerate(offered):
        cut = typed.field(
            f"cut-{n}",
            f"Partitions of {cache.name}",
            "not in the export" if cache.partitions is None else f"{cache.partitions:,}",
            f"a power of two up to {most}",
        )
        size = typed.field(
            f"size-{n}",
            f"Size of {cache.name}, MB",
            "not in the export" if cache.size_mb is None else figure(round(cache.size_mb, 1), "MB"),
            "from 1 MB",
        )
        form.caches.append((cache.name, cut, size))
    form.objects = [
        Choice(one.name, f"{100 * contents.share(one.reads):.2g} % of all searches, {_size(one)}", one.name in chosen)
        for one in held
        if isinstance(contents, Contents)
    ]
    if held:
        form.new.append(typed.field("new-size", "Size of the new cache, MB", "", "empty: as large as it needs to be"))
        form.new.append(typed.field("new-cut", "Partitions of the new cache", "", f"a power of two up to {most}"))
    engines_now, _ = busy_of(facts)
    now = "not in the export" if engines_now is None else f"{engines_now:,}"
    form.engines = typed.field("engines", "engines online", now, settings.range_of(engines.MOST))
    return form


def _value(facts: Facts, parameter: str) -> str:
    now = settings.running(facts, parameter)
    return "not in the export" if now is None else f"{now:,.0f}"


def _size(one: Held) -> str:
    return "size not in the export" if one.size_mb is None else figure(round(one.size_mb, 1), "MB")
