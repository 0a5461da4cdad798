"""How a reader is declared: a report as a run of numbered lines, and the registry of all kinds of report.

A kind of report is a module `collectors/reports/<product>/<name>.py`, or a package of that name where it takes more
than one file; its path is its id, `ase/sp_sysmon`, and its presence there is its registration. It offers one of three
things:

* a function with `@report(...)`: gets the whole run of lines at once as a `Report` and yields facts;
* a class with `@stream(...)`: is fed blocks of lines and keeps only what it needs (large files);
* a class with `@recording(...)`: is fed the bytes of a file that is no text, which it has to itself.
"""

import functools
import importlib
import math
import os
import pkgutil
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from collectors.derived import derived
from collectors.facts.base import ABSENT, OVERFLOW, Fact, Reading, Source
from collectors.leftovers import RULES, Leftover, Leftovers
from collectors.starts import Alternative, Starts, worked_out


def name_of(file: str) -> str:
    """The name of a file without its folders, of whichever system they are."""
    return re.split(r"[/\\]", file)[-1]


class NotThisReport(Exception):
    """These lines began like this report and are not one: let the next kind try."""


@dataclass
class Outcome:
    """What one kind of report made of one run of lines."""

    facts: list[Fact] = field(default_factory=list)
    leftovers: list[Leftover] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    above: int = 0
    """How many lines directly above its first one a fed reader understood."""
    why: str = ""
    """Of a fed reader without facts and problems: what these lines are and what to collect instead, if it can tell."""


MOST_PROBLEMS = 100
"""Problems of one report that are told; the others are counted (this project)."""


class Report:
    """The lines of one report, with a memory of which were understood; the rest becomes leftovers."""

    def __init__(self, file: str, first: int, lines: Sequence[str], before: Sequence[str] = ()) -> None:
        """Take `lines`, of which the first is number `first` of `file`; `before` are the unclaimed ones above."""
        self.file, self.first, self.lines, self.before = file, first, lines, before
        self.claimed = bytearray(len(lines))
        self.above = 0
        """How many of the lines directly above were understood too: a reader may raise it."""
        self.problems: list[str] = []
        self.more_problems = 0
        """How many were not kept; their number stands last in `problems`."""
        self.unsure = False

    def tentative(self, why: str) -> None:
        """Say that the layout is recalled and nothing here proves it: sources made from now on are marked so."""
        self.unsure = True
        at = len(self.problems) - bool(self.more_problems)
        self.problems.insert(at, f"tentative: {why}")

    def source(self, start: int, end: int | None = None) -> Source:
        """Where `lines[start]` to `lines[end]` (inclusive, default the same) stand in the file."""
        return Source(self.file, self.first + start, self.first + (start if end is None else end), self.unsure)

    def claim(self, start: int, end: int | None = None) -> None:
        """Mark `lines[start]` to `lines[end]` (inclusive) as understood."""
        if end is None or end == start:
            self.claimed[start] = 1
        elif end > start:
            self.claimed[end] = 1
            self.claimed[start:end] = bytes([1]) * (end - start)

    def below(self, index: int) -> Iterator[str]:
        """Each line below `lines[index]`, as far as somebody looks: a slice of all of them would be a copy of them."""
        return map(self.lines.__getitem__, range(index + 1, len(self.lines)))

    def over(self, index: int, many: int) -> list[str]:
        """The last `many` lines above `lines[index]`, those that stand before the report among them."""
        own = self.lines[max(0, index - many) : index]
        return [*(self.before[-(many - len(own)) :] if len(own) < many else ()), *own]

    def every(
        self, pattern: re.Pattern[str], start: int = 0, end: int | None = None
    ) -> Iterator[tuple[int, re.Match[str]]]:
        """Each line that matches from its beginning, with its index; they count as understood."""
        for index in range(start, len(self.lines) if end is None else end):
            if found := pattern.match(self.lines[index]):
                self.claim(index)
                yield index, found

    def problem(self, what: str, index: int | None = None) -> None:
        """Tell the user that something is wrong with the export: what, and the remedy; many are counted."""
        if len(self.problems) >= MOST_PROBLEMS:
            self.more_problems += 1
            more = "problem" if self.more_problems == 1 else "problems"
            del self.problems[len(self.problems) - (self.more_problems > 1) :]
            self.problems.append(f"{self.more_problems:,} more {more} in these lines: mend those above first")
            return
        where = "" if index is None else f"line {self.first + index}: "
        self.problems.append(where + what)

    def leftovers(self) -> list[Leftover]:
        """Every line that was not understood and is no noise, in runs."""
        rest = Leftovers()
        start = self.claimed.find(0)
        while start >= 0:
            end = self.claimed.find(1, start)
            rest.extend(self.first + start, self.lines[start : end if end >= 0 else len(self.lines)])
            start = self.claimed.find(0, end) if end >= 0 else end
        if rest.dropped:
            last = rest.runs[-1].last
            what = f"{rest.dropped:,} more lines below it were not understood and are not listed"
            self.problem(f"{what}: look whether they belong to this report", last - self.first)
        return rest.runs


class Follows:
    """A fed reader that goes on where another of its kind ended earlier in the same file.

    A base class and no protocol: to look at one for its methods takes 80 us, which each report would pay.
    """

    def follows(self, before: object) -> None:
        """Hear of the closed reader, before the first line."""
        raise NotImplementedError


class Stream(Protocol):
    """A reader that is fed; it may also be one that `Follows`."""

    def feed(self, first: int, lines: Sequence[str]) -> int:
        """Take lines, the first of which has this number; return how many: fewer than given means "I am done"."""

    def close(self) -> Outcome:
        """Hand over what was read."""


class Recorder(Protocol):
    """A reader of a file that is no text, from its first byte to its last."""

    def feed(self, data: bytes) -> bool:
        """Take the next bytes; `False` means that no more are wanted."""

    def close(self) -> Sequence[Outcome]:
        """Hand over what was read, at least one outcome: one for each recording in the file.

        "Lines" of its sources are numbers of records, counted from 1 over the whole file.
        """


@dataclass(frozen=True)
class Kind:
    """One kind of report."""

    id: str
    starts: re.Pattern[str]
    provides: tuple[type[Fact], ...]
    read: Callable[[Report], Iterable[Fact]] | None = None
    stream: Callable[[str, Sequence[str]], Stream] | None = None
    title: str = ""
    rank: int = 0
    files: re.Pattern[str] | None = None
    """What the name of a file without any heading tells (`bcp`), searched in its last part."""
    recording: Callable[[str], Recorder] | None = None
    begins: re.Pattern[bytes] | None = None
    """The first bytes of a file that is no text."""
    alone: bool = False
    """Whether its lines are a report only where the file has no other: readers of others have them as lines above."""


def _id_of(module: str) -> str:
    return "/".join(module.split(".")[2:])


REGISTER: dict[str, Kind] = {}


def report(
    *,
    starts: re.Pattern[str],
    provides: tuple[type[Fact], ...],
    rank: int = 0,
    files: re.Pattern[str] | None = None,
    alone: bool = False,
) -> Callable[[Callable[[Report], Iterable[Fact]]], Callable[[Report], Iterable[Fact]]]:
    """Register a reader of whole reports.

    `starts` is searched in each line not yet owned by a report, without regard to case and without flags of its own
    (the patterns of all readers are joined into one); the report runs until a line that starts another
    kind, or the end of the file (lines that start the same kind again belong to it too). Of two kinds that start on
    the same line the one of higher `rank` tries first; `NotThisReport` passes the lines on. `files`: as of `stream`;
    `alone`: as of `Kind`.
    """

    def register(read: Callable[[Report], Iterable[Fact]]) -> Callable[[Report], Iterable[Fact]]:
        kind = Kind(
            _id_of(read.__module__),
            _plain(starts),
            provides,
            read=read,
            title=_title(read.__module__),
            rank=rank,
            files=files,
            alone=alone,
        )
        REGISTER[kind.id] = kind
        return read

    return register


def stream(
    *,
    starts: re.Pattern[str],
    provides: tuple[type[Fact], ...],
    rank: int = 0,
    files: re.Pattern[str] | None = None,
) -> Callable[[type], type]:
    """Register a fed reader: a class called with (file name, the unclaimed lines above) and a `Stream` from then on.

    It owns every line it is fed until it takes fewer than it was given. If a file's first line that is not blank starts
    no kind of report, the reader whose `files` is found in the file's name gets the file from there on.
    """

    def register(cls: type) -> type:
        title = _title(cls.__module__)
        kind = Kind(_id_of(cls.__module__), _plain(starts), provides, stream=cls, title=title, rank=rank, files=files)
        REGISTER[kind.id] = kind
        return cls

    return register


NEVER = re.compile(r"(?!)")
"""Starts on no line."""
FIRST_BYTES = 1024
"""So many bytes of a file its `begins` may look at."""


def recording(*, begins: re.Pattern[bytes], provides: tuple[type[Fact], ...]) -> Callable[[type], type]:
    """Register a reader of files that are no text: a class called with the file's name and a `Recorder` from then on.

    `begins` is matched at the first byte of a file, before anything asks whether it is text; it sees `FIRST_BYTES`.
    """

    def register(cls: type) -> type:
        title = _title(cls.__module__)
        kind = Kind(_id_of(cls.__module__), NEVER, provides, title=title, recording=cls, begins=begins)
        REGISTER[kind.id] = kind
        return cls

    return register


def recorded_by(start: bytes) -> Kind | None:
    """The kind of recording that a file with these first bytes is; `None` for text and for all else."""
    for one in _signs():
        if one.begins and re.compile(one.begins[0].encode("latin-1"), one.begins[1]).match(start[:FIRST_BYTES]):
            return _kind(one.id)
    return None


def _title(module: str) -> str:
    return (importlib.import_module(module).__doc__ or "").strip().split("\n")[0]


@functools.cache
def kinds() -> tuple[Kind, ...]:
    """Every kind of report there is, by walking the package; highest rank first, then by id. Loads every reader."""
    for name in _modules():
        importlib.import_module(name)
    return tuple(sorted(REGISTER.values(), key=lambda kind: (-kind.rank, kind.id)))


def _modules() -> Iterator[str]:
    """The module of every kind of report."""
    import collectors.reports as package

    for product in pkgutil.iter_modules(package.__path__, "collectors.reports."):
        room = importlib.import_module(product.name)
        yield from (found.name for found in pkgutil.iter_modules(room.__path__, f"{product.name}."))


class Signs(NamedTuple):
    """By what the reports of one kind are known, without loading its reader. Plain values: they can be kept."""

    id: str
    starts: Sequence[Alternative]
    begins: tuple[str, int] | None
    """Pattern, as Latin-1, and flags of the first bytes of a file that is no text."""
    files: tuple[str, int] | None
    """Pattern and flags of names of files, for a reader that knows its own by them, too."""


def _signs_of(kind: Kind) -> Signs:
    """Of a kind whose reader is loaded."""
    if kind.begins:
        return Signs(kind.id, [], (kind.begins.pattern.decode("latin-1"), kind.begins.flags), None)
    files = (kind.files.pattern, kind.files.flags) if kind.files else None
    return Signs(kind.id, worked_out(kind.starts.pattern), None, files)


def _signs_of_files() -> list[Signs]:
    """Of every kind whose reader is a file here: a test may have registered others."""
    files = set(_modules())
    return [_signs_of(kind) for kind in kinds() if _module(kind.id) in files]


@functools.cache
def _signs() -> tuple[Signs, ...]:
    """By what every kind is known, in the order of `kinds`. They are kept, so that no reader is loaded for them."""
    told = derived("readers", os.path.dirname(__file__), _signs_of_files)  # noqa: PTH120 - a Path takes longer
    found = [Signs(name, [Alternative(*one) for one in starts], *rest) for name, starts, *rest in told]
    if REGISTER.keys() <= {one.id for one in found}:
        return tuple(found)
    return tuple(map(_signs_of, kinds()))


def _module(name: str) -> str:
    return f"collectors.reports.{'.'.join(name.split('/')[:2])}"


def _kind(name: str) -> Kind:
    """The kind of this id; its reader is loaded where it was not yet."""
    if name not in REGISTER:
        importlib.import_module(_module(name))
    return REGISTER[name]


def _plain(starts: re.Pattern[str]) -> re.Pattern[str]:
    """Refuse flags that would be lost when the patterns are joined."""
    if starts.flags & ~(re.IGNORECASE | re.UNICODE):
        raise ValueError(f"{starts.pattern!r}: no flags but IGNORECASE, all starts are joined into one pattern")
    return starts


@functools.cache
def _starts() -> Starts[str]:
    return Starts((one.id, one.starts) for one in _signs() if not one.begins)


def starting(line: str) -> list[Kind]:
    """The kinds that may start on this line, highest rank first."""
    return starting_on([line]).get(0, [])


def starting_on(lines: Sequence[str]) -> dict[int, list[Kind]]:
    """The kinds that may start on each of these lines, highest rank first, by index; only lines on which some may."""
    found = _starts().of_lines(lines)
    return {index: [_kind(name) for name in names] for index, names in found.items() if lines[index].strip(RULES)}


def named_for(file: str) -> list[Kind]:
    """The reader that a file is named for, if there is one: at most one."""
    name = name_of(file)
    return [_kind(one.id) for one in _signs() if one.files and re.search(one.files[0], name, one.files[1])][:1]


NUMBER = re.compile(r"[-+]?(?:[0-9][0-9,]*(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?")
LONGEST_NUMBER = 40
"""Characters: more is damage, and would read as infinity."""


def reading(token: str) -> Reading:
    """Read one figure: a number, asterisks for overflow, anything else for absent. Never raises."""
    token = token.strip()
    if not token or token.lower() in ("n/a", "null", "-", "%"):
        return ABSENT
    if token.strip("*") == "":
        return OVERFLOW
    if len(token) <= LONGEST_NUMBER and NUMBER.fullmatch(token):
        number = float(token.replace(",", ""))
        return number if math.isfinite(number) else ABSENT
    return ABSENT
