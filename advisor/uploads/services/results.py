"""What became of an upload: the report each file was taken for, the system it belongs to, the lines not understood."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from advisor.audits.models import Capture
from advisor.audits.services.deduplicate import captures_in
from advisor.audits.services.excerpts import fetch_lines
from advisor.findings.services.pages import worst_now
from advisor.uploads.models import Input, Upload
from advisor.uploads.services.spooling import spooled

AROUND = 12
"""Lines shown before and after the ones a finding quotes."""
MOST_SHOWN = 400
MOST_ASKED = 200
"""Files that are given a field for their system; a form holds no thousand of them."""
NAMELESS = "names no system"
COMMAND_LINE = "--name NAME tells which one it belongs to"
ON_THE_PAGE = "say below which system it belongs to"
LONGEST_SHOWN = 2000


@dataclass(frozen=True)
class Row:
    """The reports of one kind in one file, and the captures the file's facts went to."""

    inputs: tuple[Input, ...]
    captures: tuple[Capture, ...]
    chosen: str
    """The system somebody said this very file belongs to; empty: nobody did."""
    asks: bool
    """Whether the file can be given a system: it names none, and this is its first row."""

    @property
    def file(self) -> str:
        """The file they stand in, or the archive and its member."""
        return self.inputs[0].file

    @property
    def report(self) -> str | None:
        """Their kind; `None` where no report was found."""
        return self.inputs[0].report

    @property
    def facts(self) -> int:
        """The facts of all of them."""
        return sum(one.facts for one in self.inputs)

    @property
    def nameless(self) -> bool:
        """Whether none of them says which system it is of."""
        return all(map(is_nameless, self.inputs))

    @property
    def problems(self) -> list[tuple[str, int]]:
        """Their problems in the words of a page, each with how many reports have it."""
        return list(Counter(said(problem) for one in self.inputs for problem in one.problems).items())

    @property
    def leftovers(self) -> list[dict[str, Any]]:
        """The places that were not understood, in the order of the file."""
        return sorted((run for one in self.inputs for run in one.leftovers), key=lambda run: run["lines"][0])

    @property
    def systems(self) -> list[Any]:
        """Their systems, each once."""
        return list({capture.system_id: capture.system for capture in self.captures}.values())

    @property
    def lines_left(self) -> int:
        """How many lines were not understood."""
        return lines_left(self.leftovers)


def lines_left(leftovers: Iterable[dict[str, Any]]) -> int:
    """How many lines the places hold that were not understood."""
    return sum(run["lines"][1] - run["lines"][0] + 1 for run in leftovers)


def said(problem: str) -> str:
    """A problem in the words of a page: the readers speak of their command line."""
    return problem.replace(COMMAND_LINE, ON_THE_PAGE)


def is_nameless(one: Input) -> bool:
    """Whether a report says not itself which system it is of."""
    if one.names_system is None:  # read before this was asked: its problem tells
        return any(problem.startswith(NAMELESS) for problem in one.problems)
    return not one.names_system


def rows_of(upload: Upload) -> list[Row]:
    """Every file of an upload in order, a row for each kind of report in it."""
    captures = list(captures_in(upload).select_related("system").defer("figures").order_by("taken", "id"))
    of_file: dict[str, list[Capture]] = {}
    for capture in captures:
        for file in capture.files:
            of_file.setdefault(file, []).append(capture)
    kinds: dict[tuple[str, str | None], list[Input]] = {}
    named: set[str] = set()
    for one in upload.inputs.all():
        kinds.setdefault((one.file, one.report), []).append(one)
        if one.facts and not is_nameless(one):
            named.add(one.file)
    asked: set[str] = set()
    rows = []
    for (file, _), inputs in kinds.items():
        facts = any(one.facts for one in inputs)
        asks = facts and file not in named and file not in asked and len(asked) < MOST_ASKED
        if asks:
            asked.add(file)
        went = tuple(of_file.get(file, ())) if facts else ()
        rows.append(Row(tuple(inputs), went, upload.system_names.get(file, ""), asks))
    return rows


def captures_by_system(upload: Upload) -> list[tuple[Any, list[Capture]]]:
    """The captures of an upload under their systems."""
    found: dict[int, tuple[Any, list[Capture]]] = {}
    captures = captures_in(upload).annotate(worst_now=worst_now()).select_related("system", "audit")
    for capture in captures.order_by("system__name", "taken", "id"):
        found.setdefault(capture.system_id, (capture.system, []))[1].append(capture)
    return list(found.values())


def lines_around(upload: Upload, file: str, first: int, last: int) -> list[tuple[int, str, bool]]:
    """The lines of a file around those quoted: number, text, whether quoted; empty where the bytes have gone."""
    last = min(max(first, last), first + MOST_SHOWN)
    start = max(1, first - AROUND)
    wanted: dict[int, str | None] = dict.fromkeys(range(start, last + AROUND + 1))
    with spooled(upload, file) as files:
        fetch_lines(file, wanted, files.streams, LONGEST_SHOWN)
    return list(_marked(wanted, first, last))


def _marked(lines: dict[int, str | None], first: int, last: int) -> Iterator[tuple[int, str, bool]]:
    for number, text in lines.items():
        if text is not None:
            yield number, text, first <= number <= last
