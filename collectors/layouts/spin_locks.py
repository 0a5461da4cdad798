"""The rows of spin locks that Performance Toolkit prints on FCX265 (LOCKLOG) and FCX326 (LOCKACT).

Three groups of four columns, of which the headings say which is which; `End Time` is there on the log alone::

                           <----- Combined -------->  <------ Exclusive ------>  <-------- Shared -------->
      Interval             Colls AvgSpin  Spin  CADs  Colls AvgSpin  Spin  CADs   Colls AvgSpin  Spin  CADs
      End Time LockName     /sec    usec %Busy  /sec   /sec    usec %Busy  /sec    /sec    usec %Busy  /sec
      >>Mean>> SRMSLOCK    812.4   3.105  .252  96.0  640.1   3.402  .218  80.2   172.3   2.001  .034  15.8

Older releases have one group, or `Locks /sec`, `Average usec`, `Pct Spin` (or `Pct Spin Time`) [R]. The identity
collisions × microseconds × 1e-4 = per cent is checked in each group [D, zvm-unix-scalability.md a1, a3], as far as the
printed digits go: the figures of a group that does not keep it are left out, as nobody can tell which of them is wrong.
The groups are not compared with each other: rates below .1 round to something that does not add up.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from statistics import median

from collectors.facts.base import ABSENT, known, number_or
from collectors.facts.zvm import PerfkitPage, SpinLock
from collectors.layouts.perfkit import is_sample, page_fact
from collectors.layouts.perfkit_table import (
    GROUP,
    LONGEST,
    MEAN,
    TIME,
    WORD,
    Page,
    Row,
    claim_heads,
    cut,
    figure,
    half_digit,
)
from collectors.registry import Report

PREFIX = {"combined": "", "total": "", "exclusive": "exclusive_", "shared": "shared_"}
RATE, TIME_OF_ONE, BUSY, CADS = "collisions_per_second", "average_spin_usec", "spin_percent", "cads_per_second"
IDENTITY = (RATE, TIME_OF_ONE, BUSY)
WHOLE = tuple(f"{prefix}{kind}" for prefix in ("", "exclusive_", "shared_") for kind in (*IDENTITY, CADS))
LOCK = re.compile(r"[A-Z0-9$#@_]{1,8}")
TOTAL = re.compile(r">{1,2}Total>{1,2}", re.IGNORECASE)
SLACK = 0.001
"""This project: 0.1 %, beside the rounding of the printed digits; the six published runs keep it within 0.03 %."""
SHARP = 0.1
"""This project: a product known to 10 %, and to three last digits of the per cent, tells; a smaller one does not."""
ENOUGH = 2
"""This project: so many sharp products that fit prove a recalled layout; one may do so by chance."""
MOST_TOTALS = 1_500
"""This project: intervals of a log of which the totals are kept; a day has 1,440 minutes."""
REMEDY = "save the page again"


@dataclass(frozen=True)
class Layout:
    """What the columns are: a field of `SpinLock` for each figure, `None` for one that is not known."""

    timed: bool
    fields: tuple[str | None, ...]

    @property
    def width(self) -> int:
        """Tokens of a row."""
        return len(self.fields) + 1 + self.timed

    @property
    def confirmed(self) -> bool:
        """Whether it is the layout of the vendor's manual."""
        return self.timed and self.fields == WHOLE


@dataclass
class LockRow:
    """One row: its figures as printed, by field; `last` is the index of its last line."""

    index: int
    last: int
    statistic: str
    lock: str
    texts: dict[str, str]

    @property
    def total(self) -> bool:
        """Whether it is of all locks together."""
        return TOTAL.fullmatch(self.lock) is not None


def layout_of(report: Report, page: Page) -> Layout | None:
    """Read the headings; `None` and a problem where they are not those of spin locks."""
    lines = [report.lines[index][:LONGEST] for index in page.heads]
    groups = [
        PREFIX[name]
        for line in lines
        for bar in GROUP.finditer(line)
        if (name := bar["name"].strip().lower()) in PREFIX
    ]
    words = [list(WORD.finditer(line)) for line in lines if not GROUP.search(line)]
    at = next((at for at in range(len(words) - 1, -1, -1) if len(words[at]) > 2), None)
    if at is None:
        report.problem(f"no headings of columns above the rows: {REMEDY} with all its lines", 0)
        return None
    names = [place for place, word in enumerate(words[at]) if word[0].lower() in ("lockname", "lock", "name")]
    before, low = words[at][: max(names, default=-1) + 1], words[at][max(names, default=-1) + 1 :]
    if not names:
        before, low = low, [word for word in low if word[0].lower() not in ("end", "time", "interval")]
    timed = any(word[0].lower() == "time" for word in before) or any("Interval" in line for line in lines[1:])
    high = [word for word in words[at - 1] if word[0].lower() != "interval"] if at else []
    groups = groups or [""]
    per = len(low) // len(groups)
    kinds = [_kind(label) for label in _labels(high, low)]
    fields = (
        [
            f"{groups[number // per]}{kind}" if kind else None
            for number, kind in enumerate(kinds)
            if number // per < len(groups)
        ]
        if per
        else []
    )
    named = [name for name in fields if name]
    whole = len(fields) == len(low) and len(set(named)) == len(named)
    if not whole or not all(f"{group}{kind}" in named for group in groups for kind in IDENTITY):
        report.problem(
            f"the headings do not name collisions, spin time and per cent for each group: {REMEDY} unedited", 0
        )
        return None
    claim_heads(report, page)
    return Layout(timed, tuple(fields))


def _labels(high: Sequence[re.Match[str]], low: Sequence[re.Match[str]]) -> list[str]:
    """Join the two lines of headings: word by word, or by their places where the upper one has fewer."""
    if len(high) == len(low):
        return [f"{one[0]} {other[0]}" for one, other in zip(high, low, strict=True)]
    over: list[list[str]] = [[] for _ in low]
    for word in high:
        shared = [min(word.end(), one.end()) - max(word.start(), one.start()) for one in low]
        if max(shared, default=-9) > -2:
            over[shared.index(max(shared))].append(word[0])
    return [" ".join([*words, one[0]]) for words, one in zip(over, low, strict=True)]


def _kind(label: str) -> str | None:
    text = label.lower()
    if "%" in text or "pct" in text:
        return BUSY
    if "usec" in text or "avgspin" in text:
        return TIME_OF_ONE
    if "cad" in text:
        return CADS
    return RATE if ("coll" in text or "lock" in text) and "/s" in text else None


def rows_of(report: Report, page: Page, layout: Layout) -> Iterator[LockRow]:
    """Each row with a figure for each column; a last row that breaks off with what is whole of it."""
    skip = -1
    for number, row in enumerate(page.rows):
        if number == skip:
            continue
        tokens, last = row.tokens, row.index
        following = page.rows[number + 1] if number + 1 < len(page.rows) else None
        if following and len(tokens) < layout.width and _goes_on(row, following, layout.width - len(tokens)):
            tokens, last, skip = (*tokens, *following.tokens), following.index, number + 1
        head, texts = tokens[: 1 + layout.timed], tokens[1 + layout.timed :]
        statistic = "mean" if not layout.timed or MEAN.fullmatch(head[0]) else head[0]
        if len(head) < 1 + layout.timed or (layout.timed and statistic != "mean" and not TIME.fullmatch(statistic)):
            continue
        lock = head[-1]
        if not (LOCK.fullmatch(lock) or TOTAL.fullmatch(lock)):
            continue
        report.claim(row.index, last)
        wanted = len(layout.fields)
        if len(texts) > wanted or (len(texts) < wanted and following):
            report.problem(f"{lock}: {len(texts)} figures below {wanted} headings, row left out: {REMEDY}", row.index)
            continue
        if len(texts) < wanted:
            report.problem(
                f"{lock}: the page breaks off after {max(0, len(texts) - 1)} figures: {REMEDY} whole", row.index
            )
            texts = texts[:-1]  # the last one may be half of a figure
        named = {name: text for name, text in zip(layout.fields, texts, strict=False) if name}
        yield LockRow(row.index, last, statistic, lock, named)


def _goes_on(row: Row, following: Row, wanted: int) -> bool:
    """Whether the next line is nothing but the figures that did not fit on this one."""
    tokens = following.tokens
    numbers = all(figure(token) is not ABSENT or not token.strip("-.") for token in tokens)
    return following.index == row.index + 1 and len(tokens) == wanted and numbers


@dataclass(frozen=True)
class Test:
    """The identity in one group of one row."""

    fits: bool
    sharp: bool
    ratio: float
    """Collisions × microseconds ÷ what the printed per cent says."""


def test_of(row: LockRow, prefix: str) -> Test | None:
    """Collisions × microseconds × 1e-4 against the per cent, within the printed digits; `None` where one is missing."""
    texts = [row.texts.get(f"{prefix}{kind}", "") for kind in IDENTITY]
    rate, one, busy = (figure(text) for text in texts)
    if not (known(rate) and known(one) and known(busy)):
        return None
    off = [half_digit(text) for text in texts]
    low = max(0.0, rate - off[0]) * max(0.0, one - off[1]) * 1e-4 * (1 - SLACK)
    high = (rate + off[0]) * (one + off[1]) * 1e-4 * (1 + SLACK)
    sharp = high - low < SHARP * high and high > 6 * off[2]
    return Test(low <= busy + off[2] and high >= busy - off[2], sharp, rate * one * 1e-4 / busy if busy else 0.0)


def kept(report: Report, rows: Iterable[LockRow]) -> list[LockRow]:
    """The rows that say something of their own, in their order.

    Kept are the means; of each interval all locks together; of each lock its worst interval, that of the highest per
    cent. So a log of any length stays small.
    """
    found: list[LockRow] = []
    worst: dict[str, tuple[float, LockRow]] = {}
    totals = 0
    for row in rows:
        if row.statistic == "mean":
            found.append(row)
        elif row.total and totals < MOST_TOTALS:
            totals += 1
            found.append(row)
        else:
            if row.total and totals == MOST_TOTALS:
                what = f"of the intervals of all locks after the first {MOST_TOTALS:,} only the worst is kept"
                report.problem(f"{what}: upload the log in parts of fewer intervals", row.index)
                totals += 1
            busy = number_or(figure(row.texts.get(BUSY, "")), -1.0)
            if row.lock not in worst or busy > worst[row.lock][0]:
                worst[row.lock] = (busy, row)
    found.extend(row for _, row in worst.values())
    return sorted(found, key=lambda row: row.index)


def read_locks(report: Report) -> Iterator[PerfkitPage | SpinLock]:
    """Yield the page and its locks, without the figures that contradict each other."""
    if is_sample(report):
        return
    page = cut(report, page_fact(report))
    layout = layout_of(report, page) if page.rows else None
    if not page.rows:
        report.problem(f"no rows of locks below the heading: {REMEDY}", 0)
    rows = kept(report, rows_of(report, page, layout)) if layout else []
    prefixes = [name.removesuffix(BUSY) for name in layout.fields if name and name.endswith(BUSY)] if layout else []
    tests = {(row.index, prefix): test for row in rows for prefix in prefixes if (test := test_of(row, prefix))}
    sharp = [test for test in tests.values() if test.sharp]
    share = _share(sharp)
    if share:
        report.tentative(
            f"spin per cent is 1/{round(share, 1):g} of collisions × microseconds in every row: taken as printed"
        )
    elif layout and not layout.confirmed and not (len(sharp) >= ENOUGH and all(test.fits for test in tests.values())):
        report.tentative("the columns of this page are recalled, and its figures do not prove them")
    yield replace(page.fact, source=replace(page.fact.source, tentative=report.unsure))
    for row in rows:
        wrong = [prefix for prefix in prefixes if (test := tests.get((row.index, prefix))) and not test.fits]
        wrong = [] if share else wrong
        if layout and layout.confirmed:
            wrong += [prefix for prefix in prefixes if prefix not in wrong and _swapped(row, prefix)]
        yield _fact(report, row, wrong)


def _swapped(row: LockRow, prefix: str) -> bool:
    """Whether rate and time changed places, which no product shows: a rate has one digit behind its point."""
    rate, one = (len(row.texts.get(f"{prefix}{kind}", "").partition(".")[2]) for kind in (RATE, TIME_OF_ONE))
    return rate == 3 and one < 2


def _share(sharp: Sequence[Test]) -> float | None:
    """By what factor all per cents are smaller than the product, as a mean over processors would be; else `None`."""
    ratios = [test.ratio for test in sharp if not test.fits]
    middle = median(ratios) if len(ratios) == len(sharp) > ENOUGH else 0.0
    alike = all(abs(ratio / middle - 1) < SHARP for ratio in ratios) if middle else False
    return middle if middle > 1.5 and alike else None


def _fact(report: Report, row: LockRow, wrong: Sequence[str]) -> SpinLock:
    """Make the fact, with the figures of the groups that contradict themselves left out."""
    figures = {name: figure(row.texts.get(name, "")) for name in WHOLE}
    lock = "Total" if row.total else row.lock
    if odd := [text for name, text in row.texts.items() if figures.get(name) is ABSENT and text.strip("-.")]:
        what = f"{lock}: {odd[0][:20]!r} is no figure as the page prints them, left out"
        report.problem(f"{what}: {REMEDY} without separators or commas", row.index)
    for prefix in wrong:
        rate, one, busy = (row.texts.get(f"{prefix}{kind}", "nothing") for kind in IDENTITY)
        product = number_or(figure(rate), 0.0) * number_or(figure(one), 0.0) * 1e-4
        group = prefix.strip("_") or "combined"
        report.problem(
            f"{lock}, {group}: {rate}/s of {one} µs make {product:.3f} per cent, {busy} is printed. Columns were"
            f" swapped or digits lost: these figures are left out, {REMEDY}",
            row.index,
        )
        figures |= {f"{prefix}{kind}": ABSENT for kind in (*IDENTITY, CADS)}
    return SpinLock(
        source=report.source(row.index, row.last), lock=lock, statistic=row.statistic, total=row.total, **figures
    )
