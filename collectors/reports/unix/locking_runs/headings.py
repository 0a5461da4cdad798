"""Headings of tables of runs: which figure of which variant stands in which column."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from collectors.layouts.separated import fitted, separator_of, split

LOAD = r"(?:(?:number of |no\.? of |# ?)?(?:processes|procs?|children)|nprocs?)"
RECORDS = r"(?:(?:number of |# ?)?records|nrec)"
VARIANT = r"(?:(?:advisory|mandatory)[ _-])?(?:no|none|coarse|fine|mandatory)(?:[ _-]?grained)?(?:[ _-]locking)?"
SECONDS = r"(?:user|sys|system|clock|elapsed|real)(?:[ _](?:time|seconds|secs?|s|cpu))?(?: ?\((?:s|secs?|seconds)\))?"
MOST_COLUMNS = 60
"""Columns of a line that is looked at; four variants of three figures take sixteen."""


NAMES = {
    "variant": re.compile(r"variant|variant of locking|locking", re.IGNORECASE),
    "processes": re.compile(LOAD.replace(" ", "[ _]"), re.IGNORECASE),
    "records": re.compile(RECORDS.replace(" ", "[ _]"), re.IGNORECASE),
    "operations": re.compile(r"operations|ops", re.IGNORECASE),
    "calls": re.compile(r"(?:fcntl[ _])?calls", re.IGNORECASE),
    "blocked": re.compile(r"blocked(?:[ _](?:fcntl[ _])?calls)?", re.IGNORECASE),
    "frequency_mhz": re.compile(r"(?:mean[ _])?(?:frequency|mhz)(?:[ _]mhz)?", re.IGNORECASE),
    "frequency_low_mhz": re.compile(r"(?:frequency[ _])?(?:low|min)(?:[ _]mhz)?", re.IGNORECASE),
    "frequency_high_mhz": re.compile(r"(?:frequency[ _])?(?:high|max)(?:[ _]mhz)?", re.IGNORECASE),
}
ONE_OF_SECONDS = re.compile(SECONDS, re.IGNORECASE)
OF_A_VARIANT = re.compile(rf"(?P<variant>{VARIANT})[ _:/-]{{1,3}}(?P<figure>{SECONDS})", re.IGNORECASE)
DELTA = re.compile(
    r"(?:[\u0394\u2206]|delta|d)[ _]?(?P<of>clock|sys|system)(?:[ _]?(?:time|%|percent|\(%\)|pct)){0,2}", re.IGNORECASE
)
FIGURES = {"user": "user_seconds", "sys": "system_seconds", "system": "system_seconds"}
VARIANT_NAME = re.compile(
    r"(?:(?P<how>advisory|mandatory)[ _-]?)?(?P<name>no|none|coarse|fine)?(?:[ _-]?grained)?(?:[ _-]?locking)?",
    re.IGNORECASE,
)
PHRASE = re.compile(
    r"(?P<top>No locking|Advisory locking|Mandatory locking)"
    r"|(?P<group>(?:Coarse|Fine)[- ]grained (?:locking|advisory|mandatory))"
    r"|(?P<delta>(?:[\u0394\u2206]|Delta ?|\bd)(?:Clock|Sys))|(?P<figure>User|System|Sys|Clock)|(?P<percent>Percent|%)"
    r"|(?P<load># ?Proc(?:esses)?|Processes|nrec|Records)",
    re.IGNORECASE,
)
MOST_HEADING_LINES = 8

Variant = tuple[str, bool]
"""`none`, `coarse` or `fine`, and whether it is mandatory."""


@dataclass(frozen=True)
class Column:
    """What one column holds: the name of a field of a run, or `delta_clock`, `delta_system`; of a variant or of all."""

    what: str
    variant: Variant | None = None


@dataclass
class Heading:
    """The columns of one table; `separator` is a blank where nothing but blanks parts them."""

    columns: tuple[Column, ...]
    separator: str
    lines: int = 1
    names: tuple[str, ...] = field(default=())
    """As they are printed, where there is one to a column."""

    @property
    def variants(self) -> list[Variant]:
        """Those with columns of their own, in their order."""
        return list(dict.fromkeys(column.variant for column in self.columns if column.variant))

    def at(self, what: str, variant: Variant | None = None) -> int | None:
        """The first column that holds this."""
        return next((at for at, one in enumerate(self.columns) if (one.what, one.variant) == (what, variant)), None)


def variant_of(text: str) -> Variant | None:
    """Read the name of a variant: `mandatory fine`, `coarse-grained locking`; `None` for any other word."""
    found = VARIANT_NAME.fullmatch(text.strip())
    if not found or not (found["how"] or found["name"]):
        return None
    mandatory = (found["how"] or "").lower() == "mandatory"
    name = (found["name"] or ("fine" if mandatory else "")).lower()
    return ({"no": "none"}.get(name, name), mandatory) if name else None


def heading_at(lines: Sequence[str], at: int) -> Heading | None:
    """The heading that begins at this line, if one does."""
    return _separated(lines[at]) or _printed(lines, at)


def _separated(line: str) -> Heading | None:
    if (separator := separator_of(line)) is None:
        return None
    names = fitted(split(line, separator), 0)
    if not 2 <= len(names) <= MOST_COLUMNS:
        return None
    columns = tuple(map(_column, names))
    found = Heading(columns, separator, names=tuple(name[:40] for name in names))
    counted = found.at("processes") is not None or found.at("records") is not None
    long = found.at("variant") is not None and found.at("processes") is not None
    seconds = [column for column in columns if column.what.endswith("_seconds")]
    if not seconds or not (long if not found.variants else counted):
        return None
    return found if len(set(used := [one for one in columns if one.what])) == len(used) else None


def _column(name: str) -> Column:
    if found := OF_A_VARIANT.fullmatch(name):
        return Column(_seconds(found["figure"]), variant_of(found["variant"]))
    if found := DELTA.fullmatch(name):
        return Column("delta_clock" if found["of"].lower() == "clock" else "delta_system")
    if ONE_OF_SECONDS.fullmatch(name):
        return Column(_seconds(name))
    return Column(next((what for what, pattern in NAMES.items() if pattern.fullmatch(name)), ""))


def _seconds(name: str) -> str:
    return FIGURES.get(re.split(r"[ _(]", name.lower())[0], "clock_seconds")


def _printed(lines: Sequence[str], at: int) -> Heading | None:
    """The heading of several lines over a table between blanks."""
    found: list[tuple[str, str]] = []
    taken = 0
    for line in lines[at : at + MOST_HEADING_LINES]:
        phrases = list(PHRASE.finditer(line)) if len(line) <= 400 else []
        if not phrases or PHRASE.sub("", line).strip():
            break
        found += [(phrase.lastgroup or "", phrase[0]) for phrase in phrases]
        taken += 1
    tops, groups, loads = ([text for kind, text in found if kind == one] for one in ("top", "group", "load"))
    order = [kind for kind, _ in found if kind in ("figure", "percent")]
    figures = [text for kind, text in found if kind == "figure"]
    deltas = [text for kind, text in found if kind == "delta"]
    variants = _variants(tops, groups, len(figures) // 3)
    if len(loads) != 1 or not variants or len(figures) != 3 * len(variants) or order.count("percent") != len(deltas):
        return None
    columns = [_column(loads[0])]
    seen = 0
    for kind in order:
        if kind == "percent":
            columns.append(_column(deltas.pop(0)))
        else:
            columns.append(Column(_seconds(figures[seen]), variants[seen // 3]))
            seen += 1
    return Heading(tuple(columns), " ", taken) if len(set(columns)) == len(columns) else None


def _variants(tops: list[str], groups: list[str], count: int) -> list[Variant]:
    """Whose figures stand from left to right: what a column repeats stands under `Mandatory locking`."""
    if not groups and [top.lower()[:4] for top in tops] == ["advi", "mand"] and count == len(tops):
        return [("fine", False), ("fine", True)]  # of one grain, whichever it is
    variants: list[Variant] = []
    if tops and tops[0].lower().startswith("no ") and count == len(groups) + 1:
        variants.append(("none", False))
    for group in groups:
        name = group.lower().split("-")[0].split(" ")[0]
        said = group.lower().endswith("mandatory")
        again = (name, False) in variants and not said
        if again and not any(top.lower().startswith("mandatory") for top in tops):
            return []
        variants.append((name, again or said))
    return variants if len(variants) == count == len(set(variants)) else []
