"""Rows of figures: read, held against each other, and refused where they cannot be right."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from collectors.facts.base import ABSENT, OVERFLOW, Reading, known
from collectors.layouts import figures
from collectors.layouts.separated import fitted
from collectors.reports.unix.locking_runs.headings import Heading, Variant

NOT_THERE = {"", "-", "--", "n/a", "na", "null", "none", "?"}
SPACED = re.compile(r"[0-9.,?%+-]{1,20}(?:\s+[0-9.,?%+-]{1,20}){2,80}\s*")
FIGURE = re.compile(r"(?:(?P<whole>[0-9]{1,9})|(?P<zero>[0-9]{0,9})\.(?P<decimals>[0-9]{1,6}))")
PERCENT = re.compile(r"-?(?:0|[1-9][0-9]{0,4})(?:\.[0-9]{1,3})?%?")
WHOLE = re.compile(r"[1-9][0-9]{0,8}")
PLAIN_SECONDS = re.compile(r"[1-9][0-9]{0,8}\.[0-9]{1,6}")
COUNTS = {"processes", "records", "operations", "calls", "blocked"}
TICK = 0.005
"""Seconds: half of the smallest that is printed; a logarithm needs more than 0."""
SHARE_OVER, SECONDS_OVER = 0.1, 0.1
"""A process keeps one processor busy at most; but clocks tick, and some leave out its start and end (this project)."""
CAUSES = (
    (("delta_clock", "clock_seconds"), "coarse", "fine"),
    (("delta_system", "system_seconds"), "mandatory", "fine"),
)


@dataclass(frozen=True)
class Cells:
    """The cells of one row, and where it stands."""

    index: int
    cells: tuple[str, ...]


@dataclass
class Row:
    """One row that was read: figures by column."""

    index: int
    figures: dict[int, Reading] = field(default_factory=dict)
    texts: dict[int, str] = field(default_factory=dict)
    wrong: str = ""
    """Why it is left out."""

    def of(self, heading: Heading, what: str, variant: Variant | None = None) -> Reading:
        """One figure; absent where the table has no such column."""
        at = heading.at(what, variant)
        return ABSENT if at is None else self.figures.get(at, ABSENT)


def read_rows(heading: Heading, rows: Sequence[Cells]) -> list[Row]:
    """Read every row; one that cannot be right says why."""
    commas = figures.decimal_comma(cell for row in rows for cell in row.cells) and heading.separator != ","
    return [_read(heading, row, comma=commas) for row in rows]


def _read(heading: Heading, row: Cells, *, comma: bool) -> Row:
    read = Row(row.index)
    cells = fitted(row.cells, len(heading.columns))
    if len(cells) != len(heading.columns):
        read.wrong = f"{len(cells)} cells below {len(heading.columns)} headings: write the row whole"
        return read
    for at, (column, text) in enumerate(zip(heading.columns, cells, strict=True)):
        if not column.what or column.what == "variant":
            continue
        value = _figure(text, comma=comma)
        if value is None or (known(value) and value < 0 and not column.what.startswith("delta")):
            read.wrong = f"{text[:40]!r} is no figure of {column.what.replace('_', ' ')}: write it as digits"
            return read
        if not comma and column.what in COUNTS and figures.POINT_GROUPS.fullmatch(text.strip()):
            read.wrong = (
                f"the point in {text[:40]!r} may part thousands, and a count has no fraction: write plain digits"
            )
            return read
        read.figures[at], read.texts[at] = value, text
    read.wrong = _impossible(heading, read) or _delta_wrong(heading, read)
    return read


def _figure(text: str, *, comma: bool) -> Reading | None:
    text = text.strip().removesuffix("%").rstrip()
    if text.lower() in NOT_THERE:
        return ABSENT
    if not text.strip("*"):
        return OVERFLOW
    return figures.number(text, comma=comma)


def _impossible(heading: Heading, row: Row) -> str:
    """More CPU seconds than the processes can have had, or more waits than calls."""
    processes = row.of(heading, "processes")
    if heading.at("processes") is None:
        processes = 1.0
    if not known(processes) or processes < 1:
        return "the number of processes is missing or below 1: fill it in"
    variants: list[Variant | None] = [*heading.variants]
    for variant in variants or [None]:
        user, system, clock = (row.of(heading, f"{name}_seconds", variant) for name in ("user", "system", "clock"))
        if known(user) and known(system) and known(clock):
            most = processes * (clock * (1 + SHARE_OVER) + SECONDS_OVER)
            if user + system > most:
                told = f"{user + system:g} CPU seconds of {processes:g} processes within {clock:g} s of the clock"
                return f"{told} cannot be: look for a digit or a column in the wrong place"
    calls, blocked = row.of(heading, "calls"), row.of(heading, "blocked")
    if known(calls) and known(blocked) and blocked > calls:
        return f"{blocked:g} calls blocked of {calls:g} cannot be: look for swapped columns"
    return ""


def _delta_wrong(heading: Heading, row: Row) -> str:
    """A printed difference that does not follow from the seconds it is made of, however they were rounded."""
    for (delta, what), more, less in CAUSES:
        top: Variant = ("fine", True) if more == "mandatory" else (more, False)
        ats = heading.at(delta), heading.at(what, top), heading.at(what, (less, False))
        if any(at is None for at in ats):
            continue
        printed, upper, lower = (row.figures[at] for at in ats if at is not None)
        if not (known(printed) and known(upper) and known(lower)):
            continue
        half, high_half, low_half = (_half(row.texts[at]) for at in ats if at is not None)
        if lower <= low_half:
            continue
        least = 100 * ((upper - high_half) / (lower + low_half) - 1) - half
        most = 100 * ((upper + high_half) / (lower - low_half) - 1) + half
        if not least - 1e-9 <= printed <= most + 1e-9:
            name = "ΔClock" if delta == "delta_clock" else "ΔSys"
            by = f"{100 * (upper / lower - 1):.0f} per cent by its seconds, {upper:g} over {lower:g}"
            return f"{name} is {printed:g} and would be {by}: look for split digits or swapped columns"
    return ""


def _half(text: str) -> float:
    """Half a unit of the last digit that is printed."""
    found = re.search(r"[.,]([0-9]+)\s*%?\s*$", text)
    return 0.5 * 10.0 ** -(len(found[1]) if found else 0)


def in_columns(lines: Sequence[str]) -> bool:
    """Whether all figures end below each other with two blanks or more between them: so a format printed them."""
    ends = {tuple(found.end() for found in re.finditer(r"\S+", line)) for line in lines}
    return len(lines) > 1 and len(ends) == 1 and not any(re.search(r"\S\s\S", line) for line in lines)


def split_digits(heading: Heading, rows: Sequence[Cells], *, aligned: bool = False) -> tuple[int, str] | None:
    """The first row of a table between blanks in which a number was split in two, and how it shows; else `None`.

    `aligned`: no digit can stand on the wrong side of a blank.
    """
    zeros = any(re.match(r"0\.", cell) for row in rows for cell in row.cells)
    decimals = _most_common(
        len(found["decimals"])
        for row in rows
        for cell in row.cells
        if (found := FIGURE.fullmatch(cell)) and found["decimals"]
    )
    before = 0
    for row in rows:
        if len(row.cells) != len(heading.columns):
            if row is rows[-1] and len(row.cells) < len(heading.columns):
                continue  # the end was cut off; what is left of the row is not used
            return row.index, f"{len(row.cells)} figures below {len(heading.columns)} headings"
        for column, text in zip(heading.columns, row.cells, strict=True):
            if why := _odd(column.what, text, decimals, zeros=zeros):
                return row.index, why
        load = int(row.cells[0])
        if load <= before:
            return row.index, f"{load} below {before} in the first column, which does not rise"
        if not aligned and (why := _moved(heading, row.cells, before)):
            return row.index, why
        before = load
    return None


def _moved(heading: Heading, cells: Sequence[str], before: int) -> str:
    """Why a digit beside the first blank seems to stand on its wrong side: nothing else holds these two figures.

    It does so if the number of processes rises with the digit there, too, and the user seconds come nearer to those of
    the other variants, whose program is the same but for its locks (APUE 20.9).
    """
    first, second = cells[0], cells[1]
    if second.startswith("."):  # a table that prints no 0 before the point
        round_number = heading.columns[0].what == "records" and first.endswith("0")
        split_here = int(first) // 10 > before and not round_number
        return f"'{first} {second}' may be {first[:-1]} and {first[-1]}{second}" if split_here else ""
    users = [at for at, column in enumerate(heading.columns) if column.what == "user_seconds"]
    others = [float(cells[at]) for at in users[1:] if float(cells[at]) > 0] if users[:1] == [1] else []
    for load, user in ((first[:-1], first[-1] + second), (first + second[0], second[1:])):
        if others and WHOLE.fullmatch(load) and PLAIN_SECONDS.fullmatch(user) and int(load) > before:
            moved, printed = (abs(math.log(max(float(text), TICK) / others[0])) for text in (user, second))
            if moved < printed:
                return f"'{first} {second}' may be {load} and {user}"
    return ""


def _odd(what: str, text: str, decimals: int, *, zeros: bool) -> str:
    """Why this cell is not printed as the rest of its table is, or nothing."""
    if what in ("processes", "records"):
        return "" if WHOLE.fullmatch(text) else f"{text[:20]!r} is no whole number"
    if what.startswith("delta"):
        return "" if PERCENT.fullmatch(text) else f"{text[:20]!r} is no per cent"
    found = FIGURE.fullmatch(text)
    if not found:
        return f"{text[:20]!r} is no figure"
    if len(found["decimals"] or "") != decimals:
        return f"{text[:20]!r} has not the {decimals} decimals of the other figures"
    if len(found["zero"] or "") > 1 and text.startswith("0"):
        return f"{text[:20]!r} begins with 0"
    if found["zero"] == "" and zeros:
        return f"{text[:20]!r} has no 0 before its point, as other figures have"
    return ""


def _most_common(counts: Iterable[int]) -> int:
    seen = Counter(counts)
    return max(seen, key=seen.__getitem__, default=0)
