"""One whole sp_sysmon report: lines in, facts, leftovers and problems out."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from collectors.facts.ase.sysmon import SysmonAdvice, SysmonSample, SysmonSection
from collectors.facts.base import ABSENT, Fact
from collectors.leftovers import Leftover, Leftovers
from collectors.registry import Outcome
from collectors.reports.ase.sp_sysmon.caches import CACHE, caches
from collectors.reports.ase.sp_sysmon.checks import cache_sums, lock_sums
from collectors.reports.ase.sp_sysmon.forms import COUNT, Form, Forms
from collectors.reports.ase.sp_sysmon.header import Header, header_of
from collectors.reports.ase.sp_sysmon.items import BLANK, Head, Item, Mark, Row, Sentence, forms_of
from collectors.reports.ase.sp_sysmon.kernel import kernel
from collectors.reports.ase.sp_sysmon.lines import LONGEST_SHAPE
from collectors.reports.ase.sp_sysmon.locks import EVENTS, locks
from collectors.reports.ase.sp_sysmon.page import Advised, Page, Section, advice_text, walk
from collectors.reports.ase.sp_sysmon.rows import PackedRows
from collectors.reports.ase.sp_sysmon.work import (
    devices,
    metadata,
    packets,
    procedures,
    tasks,
    transaction_logs,
    transactions,
    workers,
)

FORMS: dict[str, Callable[[Section], Iterator[Form]]] = {
    "Kernel Utilization": kernel,
    "Worker Process Management": workers,
    "Task Management": tasks,
    "Transaction Profile": transactions,
    "Transaction Management": transaction_logs,
    "Metadata Cache Management": metadata,
    "Lock Management": locks,
    "Data Cache Management": caches,
    "Procedure Cache Management": procedures,
    "Disk I/O Management": devices,
    "Network I/O Management": packets,
}
"""What is read from which section beyond its rows."""
LOOSE = ("Kernel Utilization", "Disk I/O Management", "Network I/O Management")
"""Read sections of which a few rows stand one column beside the others [R]; the other sections are straight [R]."""
BY_HEADING = {
    "Engine Busy Utilization": "Kernel Utilization",
    "Engine Utilization (Tick %)": "Kernel Utilization",
    "Task Context Switches Due To": "Task Management",
    "Transaction Summary": "Transaction Profile",
    "Transaction Detail": "Transaction Profile",
    "Metadata Cache Summary": "Metadata Cache Management",
    "Lock Summary": "Lock Management",
    "Lock Detail": "Lock Management",
    "Max Outstanding I/Os": "Disk I/O Management",
    CACHE: "Data Cache Management",
}
"""Which section a piece belongs to that begins below its section's title."""
MOST_PLANS = 1000
"""Plans remembered: 21 sections, and a few variants of each (a lock type without requests has fewer lines)."""
LONGEST_PLAN = 5000
"""Lines; the device section of a server with 400 devices is shorter."""
MOST_SHOWN = 3
NEAR = 4
"""Lines above a title within which the double rule stands."""
COLLECTED_BY = "export the whole report again"


@dataclass(slots=True, eq=False)
class _Plan:
    """What every section of these lines says, but for the figures."""

    section: Section
    forms: Forms
    last: int
    """Index of the last line that says something."""


_plans: dict[tuple[Any, ...], _Plan] = {}


def _plan_of(page: Page, title: str, stray: int) -> _Plan:
    key = (title, stray, forms_of(page.items, page.lines))
    plan = _plans.get(key)
    if plan is None:
        section = walk(page, title, stray)
        last = len(page.items) - 1
        while last > 0 and page.items[last] is BLANK:
            last -= 1
        plan = _Plan(section, Forms([*_typed(section), *map(_advice, section.advice)]), last)
        if len(_plans) >= MOST_PLANS:
            _plans.clear()
        if len(page.lines) <= LONGEST_PLAN and all(len(line) <= LONGEST_SHAPE for line in page.lines):
            _plans[key] = plan
    return plan


def _typed(section: Section) -> Iterator[Form]:
    return FORMS[section.title](section) if section.title in FORMS else iter(())


def _advice(one: Advised) -> Form:
    return Form(
        SysmonAdvice,
        one.at,
        one.last,
        derived={"area": lambda page: one.area_in(page), "text": lambda page: advice_text(page, one)},
    )


class SysmonReport:
    """The lines of one report, in the order they come, and what becomes of them."""

    def __init__(self, file: str, first: int) -> None:
        """Start without lines; the first one will be number `first`."""
        self.file, self.first = file, first
        self.lines: list[str] = []
        self.items: list[Item] = []
        self.marks: list[int] = []
        """Indexes of title, header fields, section titles, headings at the margin, and end."""
        self.strays = [0, 0, 0]
        """Rows by how far they stray from the columns of the layout (the straight ones are not counted)."""
        self.complete = False
        self.too_long = False

    def outcome(self) -> Outcome:
        """Read everything."""
        end = len(self.lines) - self.complete
        spans = self._sections(end)
        whole = Page(self.file, self.first, self.lines, self.items)
        header = header_of(whole, spans[0][1] if spans else end)
        pages = [Page(self.file, self.first + a, self.lines[a:b], self.items[a:b]) for _, a, b in spans]
        titles = [title for title, _, _ in spans]
        strays = [self._stray(title, page) for page, title in zip(pages, titles, strict=True)]
        plans = [_plan_of(*each) for each in zip(pages, titles, strays, strict=True)]
        facts: list[Fact] = [header.server] if header.server else []
        facts.append(self._sample(header, pages, plans))
        sums: list[str] = []
        for page, plan, stray in zip(pages, plans, strays, strict=True):
            cut = not self.complete and page is pages[-1]
            facts.append(_raw(page, plan, stray))
            facts.extend(own := plan.forms.fill(page))
            sums.extend(_sums(page, plan.section, own, cut=cut))
        odd, damaged = list(header.odd), list[int]()
        for (_, start, _), plan in zip(spans, plans, strict=True):
            odd += [start + at for at in plan.section.odd]
            damaged += [start + at for at in plan.section.damaged]
        if header.first is None and not any(block.rows for plan in plans for block in plan.section.blocks):
            return Outcome([], self._leftovers(range(len(self.lines)), []))  # it only began like a report
        problems = [*self._cut(header), *header.problems, *self._damage(sorted(damaged)), *sums]
        return Outcome(facts, self._leftovers(odd, problems), problems)

    def _leftovers(self, odd: Iterable[int], problems: list[str]) -> list[Leftover]:
        rest = Leftovers()
        for at in odd:
            rest.add(self.first + at, self.lines[at])
        if rest.dropped:
            problems.append(f"{rest.dropped:,} more lines were not understood")
        return rest.runs

    def _sections(self, end: int) -> list[tuple[str, int, int]]:
        """Title, index of the title line, and index after the last line of each section."""
        starts: dict[int, str] = {}
        header = False
        for at in self.marks:
            item = self.items[at]
            if isinstance(item, Head):
                if self._is_title(at):
                    starts[at] = " ".join(self.lines[at].split())
            elif isinstance(item, Mark) and item.what == "section":
                starts[at] = item.name
            else:
                header = header or not starts
        if end and not header and 0 not in starts:
            starts[0] = self._title_of(min(starts, default=end))
        ordered = sorted(starts)
        ends = [*ordered[1:], end] if ordered else []
        return [(starts[at], at, stop) for at, stop in zip(ordered, ends, strict=True)]

    def _is_title(self, at: int) -> bool:
        """Whether a heading at the margin is the title of a section we do not know: underlined, below a double rule."""
        above = next((line for line in reversed(self.lines[max(0, at - NEAR) : at]) if line.strip()), "")
        return above.startswith("===") and at + 1 < len(self.lines) and self.lines[at + 1].startswith("---")

    def _title_of(self, end: int) -> str:
        """Title of the section that a piece of a report begins in the middle of."""
        for line in self.lines[:end]:
            for heading, title in BY_HEADING.items():
                if line.lstrip().startswith(heading):
                    return title
        return ""

    def _stray(self, title: str, page: Page) -> int:
        """How far rows may stray from the columns: as far as most rows of the report do, and some sections allow 1.

        Where every row of a section that strays ends its figures where others of them do, that was typed or pasted
        with other blanks: what loses characters is a row by itself.
        """
        if self.strays[2] and _stray_alike(page):
            return 2
        shifted, crooked = self.strays[1], self.strays[2]
        if (shifted + crooked) * 10 > len(self.items):
            rows = sum(1 for item in self.items if isinstance(item, Row) and item.kind == "standard")
            if crooked * 2 >= rows or shifted * 2 >= rows:
                return 2 if crooked * 2 >= rows else 1
        return 0 if title in FORMS and title not in LOOSE else 1

    def _sample(self, header: Header, pages: Sequence[Page], plans: Sequence[_Plan]) -> SysmonSample:
        first, last = (header.first, header.last) if header.first is not None else (0, len(self.lines) - 1)
        sample: dict[str, Any] = {"committed_xacts": ABSENT, "cpu_units": ABSENT, "xacts_per_cpu_unit": ABSENT}
        for page, plan in zip(pages, plans, strict=True):
            if plan.section.title == "Transaction Profile":
                rows = {label: at for block in plan.section.blocks for label, at in block.rows.items()}
                sample["committed_xacts"] = page.figure(rows.get("Committed Xacts"), COUNT)
            elif plan.section.title == "Kernel Utilization":
                for field, label in SENTENCES.items():
                    at = plan.section.sentences.get(label, 0)
                    item = page.items[at]
                    if isinstance(item, Sentence) and item.figure:
                        sample[field] = float(page.lines[at][item.figure])
        return SysmonSample(
            source=Page(self.file, self.first, (), ()).source(first, last),
            start=header.start,
            end=header.end,
            seconds=header.seconds,
            mode=header.mode,
            counters_cleared=header.cleared,
            complete=self.complete,
            **sample,
        )

    def _cut(self, header: Header) -> Iterator[str]:
        if self.too_long:
            yield f"longer than any report: read up to here only; {COLLECTED_BY}"
        elif not self.complete and header.first is None:
            yield "a piece of a report, without header and End of Report line: what is missing is not known to be zero"
        elif not self.complete:
            yield f"truncated: no End of Report line, so sections may be missing or cut; {COLLECTED_BY}"
        elif header.first is None:
            yield f"no header: server, release and time of the sample are not known; {COLLECTED_BY}"

    def _damage(self, damaged: Sequence[int]) -> Iterator[str]:
        if damaged:
            shown = ", ".join(str(self.first + at) for at in damaged[:MOST_SHOWN])
            more = f" and {len(damaged) - MOST_SHOWN:,} more" if len(damaged) > MOST_SHOWN else ""
            lines = "lines" if len(damaged) > 1 else "line"
            damage = "figures stand beside their columns (cut, or typed anew), so they were not read"
            yield f"{lines} {shown}{more}: {damage}; {COLLECTED_BY}"


ALIKE = 3
"""So many rows with their figures in the same wrong places are a layout, not a loss (this project)."""


def _stray_alike(page: Page) -> bool:
    """Whether all rows of a section that stray far do it like others of them."""
    rows = [item for item in page.items if isinstance(item, Row) and item.kind == "standard" and item.stray > 1]
    ends = Counter(tuple(end for _, end in row.spans[:3]) for row in rows)
    return bool(ends) and min(ends.values()) >= ALIKE


SENTENCES = {
    "cpu_units": "Adaptive Server threads are consuming",
    "xacts_per_cpu_unit": "Throughput (committed xacts per CPU unit)",
}


def _sums(page: Page, section: Section, facts: Sequence[Fact], *, cut: bool) -> Iterator[str]:
    if section.title == "Lock Management":
        past = any(block.label in EVENTS for block in section.blocks)
        yield from lock_sums(facts, cut=cut and not past)
    elif section.title == "Data Cache Management":
        above: dict[str, int] = {}
        for block in section.blocks:
            if block.label.startswith(CACHE):
                break
            above.update(block.rows)
        searches, grabbed = above.get("Total Cache Searches"), above.get("Buffers Grabbed")
        yield from cache_sums(facts, page.figure(searches, COUNT), page.figure(grabbed, COUNT), cut=cut)


def _raw(page: Page, plan: _Plan, stray: int) -> SysmonSection:
    title = plan.section.title
    rows = PackedRows(title, page.first, "\n".join(page.lines[: plan.last + 1]), stray)
    return SysmonSection(source=page.source(0, plan.last), title=title, rows=rows)
