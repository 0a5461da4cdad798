"""Deleted rows pile up faster than the housekeeper clears them.

Finds: tables whose clean-ups the housekeeper lost (HkgcOverflows of monOpenObjectActivity, 15.0.2 on), at a rate and a
share of the requests that count, with the empty pages and deleted rows of `systabstats` where they were listed. By one
snapshot alone: such a share since the start, clean-ups that wait now, and more deleted rows than others in
`systabstats`. Where `enable housekeeper GC` is 0, nothing is asked of the housekeeper and nothing can be lost: then the
empty pages alone.

Why it matters: a row that is deleted from a data-only-locked table stays in its page until the housekeeper looks at it
(vendor). Pages without a row that nobody gives back are read by every scan, and the table takes its old size.

What to do: `enable housekeeper GC` 5, which makes the housekeeper look thoroughly and leaves deletes as they are; the
vendor has 4, dearer for the delete itself, for deletes in batches. It is dynamic. What is left already goes with
`reorg reclaim_space`, which gives back pages without a row; it does so for the indexes only when they are named. Where
4 or 5 is in force already, that is all there is. From 0, which the vendor recommends against, go to the default of 1.

How loud it is: a warning where half of the pages are empty, or half of the rows of a large table are deleted ones;
with the housekeeper switched off only if the table is read for a part of all logical reads that counts, else advice.

When to ignore it: a table that is emptied and filled again at once uses its pages anew. What the columns of the
housekeeper count is recalled, and no source gives a limit: both are this project's.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from collectors.facts import Facts, known
from collectors.facts.ase import ConfigParameter, MonOpenObjectActivity, Server, TableRows
from rules.ase._evidence.objects.scans import LEAST_PAGES, TABLE_PERCENT, share_of
from rules.ase._evidence.objects.seen import activity, is_system, name_of
from rules.ase._evidence.server import setting_of
from rules.changes.ase_binding import is_tempdb
from rules.changes.ase_config import configure, waiting_number
from rules.changes.quoting import bare_table, comment
from rules.engine import limit, percent, rule
from rules.finding import Clean, Evidence, Finding, Outcome, Severity, Unknown, joined

LINKS = (
    "https://infocenter.sybase.com/help/topic/com.sybase.infocenter.dc31654.1600/doc/html/san1360629076720.html",
    "https://infocenter.sybase.com/help/topic/com.sybase.infocenter.dc31644.1600/doc/html/san1371158638554.html",
)
NAME, THOROUGH, DEFAULT = "enable housekeeper GC", 5, 1
AGGRESSIVE = (4, 5)
"""The values with which the housekeeper looks thoroughly (vendor); 2 and 3 are reserved."""
BECAUSE = (
    "A deleted row of a data-only-locked table stays until the housekeeper looks at its page: what finds its list full "
    "is not looked at again. Pages without a row stay allocated, and every scan reads them."
)
BATCHES = "Where the rows are deleted in batches, the vendor has 4: more thorough, and the delete itself is dearer."
RECLAIM = "`reorg reclaim_space {0}` at a quiet time gives back what is empty already (indexes when named after it)."
EMPTY = MonOpenObjectActivity.COLLECTED_BY
OFF = (
    "With 0 the housekeeper clears nothing, and a page that deletes left empty stays allocated until `reorg "
    "reclaim_space` (vendor, who recommends against 0). Every scan reads it."
)
MORE = "If pages still pile up, the vendor has 5 (deletes of concurrent transactions) and 4 (deletes in batches)."


@dataclass(frozen=True)
class Limits:
    """From which rate and shares on."""

    per_second: float = limit(
        10.0, "this project: fewer lost clean-ups are made up for by any scan or reorg", unit="/s"
    )
    lost_percent: float = percent(10.0, "this project: one clean-up of ten; no source gives a limit", of="requests")
    empty_percent: float = percent(
        50.0, "this project: half of the table is read for nothing: a warning", of="pages", low=1
    )
    pages: float = limit(LEAST_PAGES, "this project: a smaller table is read soon enough, empty or not", unit="pages")
    table_percent: float = percent(TABLE_PERCENT, "this project: a table with less is not worth a warning", low=0.1)


@dataclass(frozen=True)
class Lost:
    """What the housekeeper lost of one table and its indexes, over an interval."""

    row: MonOpenObjectActivity
    requests: float
    overflows: float
    pending: float

    @property
    def share(self) -> float:
        """Per cent of the requests."""
        return 100.0 * self.overflows / self.requests if self.requests > 0 else 100.0

    @property
    def rate(self) -> float:
        """Clean-ups lost a second."""
        return self.overflows / self.row.seconds if self.row.seconds else 0.0


@rule(
    needs=(),
    uses=(MonOpenObjectActivity, ConfigParameter, Server, TableRows),
    links=LINKS,
    limits=Limits,
)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Judge the table that lost most; where the housekeeper is switched off, the one with most empty pages."""
    setting = setting_of(facts, NAME)
    if setting and setting.run_number == 0 and not waiting_number(setting) and (left := _left(facts, limits)):
        yield _off(facts, limits, left, setting)
        return
    if not facts.every(MonOpenObjectActivity):
        yield Unknown.of(MonOpenObjectActivity)
        return
    rows = [one for one in activity(facts) if one.of_interval and known(one.hkgc_overflows)]
    if not rows:
        if behind := _behind(facts, limits):
            yield _now(facts, limits, *behind, setting)
        else:
            yield Unknown.without("HkgcOverflows of two snapshots", EMPTY, "no HkgcOverflows over an interval")
        return
    worst = max(_lost(rows), key=lambda one: one.overflows, default=None)
    if worst is None and any(one.overflows > 0 for one in _lost(rows, timed=False)):
        yield Unknown.without("HkgcOverflows of two snapshots with their times", EMPTY, "over which time is not known")
        return
    if worst is None or worst.overflows <= 0:
        yield Clean("the housekeeper lost no clean-up of a user table")
        return
    said = f"{worst.rate:,.1f} clean-ups a second of {name_of(worst.row)} were lost, {worst.share:.0f} % of those asked"
    if worst.rate < limits.per_second or worst.share < limits.lost_percent:
        yield Clean(f"{said} (limits {limits.per_second:g} a second and {limits.lost_percent:g} %)")
        return
    if setting is None or setting.run_number is None:
        yield Unknown.of(ConfigParameter)
    yield _finding(facts, limits, worst, setting)


def _lost(rows: list[MonOpenObjectActivity], *, timed: bool = True) -> list[Lost]:
    """Each user table with its indexes; `timed`: by rows whose time is known alone."""
    tables: dict[tuple[str, str], list[MonOpenObjectActivity]] = {}
    for one in rows:
        if one.object_name and (one.seconds or not timed) and not is_system(one) and not is_tempdb(one.database or ""):
            tables.setdefault((one.database or "", one.object_name), []).append(one)
    return [
        Lost(
            min(several, key=lambda one: one.index_id),
            sum(one.hkgc_requests for one in several if known(one.hkgc_requests)),
            sum(one.hkgc_overflows for one in several if known(one.hkgc_overflows)),
            sum(one.hkgc_pending for one in several if known(one.hkgc_pending)),
        )
        for several in tables.values()
    ]


def _behind(facts: Facts, limits: Limits) -> tuple[Lost, TableRows, float, float] | None:
    """By one snapshot: the table that lost most since the start and holds more deleted rows than others, with both."""
    rows = [one for one in activity(facts) if not one.of_interval and known(one.hkgc_overflows)]
    for lost in sorted(_lost(rows, timed=False), key=lambda one: -one.overflows):
        held = _empty(facts, lost.row)
        if held is None or not (known(held.deleted) and known(held.rows) and known(held.pages)):
            continue
        full = lost.requests > 0 and lost.share >= limits.lost_percent and lost.pending > 0
        if full and held.deleted > held.rows and held.pages >= limits.pages:
            return lost, held, held.deleted, held.rows
    return None


def _now(
    facts: Facts,
    limits: Limits,
    lost: Lost,
    held: TableRows,
    deleted: float,
    rows: float,
    setting: ConfigParameter | None,
) -> Finding:
    """What has piled up by now, where no second snapshot tells how fast."""
    name, plain = comment(name_of(lost.row)), bare_table(lost.row.object_name or "")
    value, share = setting.run_number if setting else None, _share(held)
    to = value not in AGGRESSIVE and waiting_number(setting) not in AGGRESSIVE
    step = f'Let the housekeeper look thoroughly (`sp_configure "{NAME}", {THOROUGH}`).' if to else ""
    empty = f", and {share:.0f} % of its pages are empty" if share is not None else ""
    return Finding(
        subject=name,
        severity=Severity.WARNING if share is not None and share >= limits.empty_percent else Severity.ADVICE,
        title=f"The housekeeper does not keep up with {name}: {deleted:,.0f} deleted rows beside {rows:,.0f} others",
        seen=joined(
            f"{lost.pending:,.0f} clean-ups of {name} wait, and {lost.overflows:,.0f} of {lost.requests:,.0f} found "
            f"the list full since the start{'' if value is None else f', with {NAME} {value:g}'}.",
            f"By systabstats it holds {deleted:,.0f} deleted rows and {rows:,.0f} others{empty}.",
        ),
        because=BECAUSE,
        do=joined(step, RECLAIM.format(plain)),
        unknown=f"How fast they pile up: {EMPTY}.",
        evidence=(
            Evidence(f"clean-ups that wait, {name}", lost.pending, "", lost.row.source),
            Evidence(f"clean-ups lost since the start, {name}", lost.overflows, "", lost.row.source),
            Evidence("share of clean-ups lost", round(lost.share, 1), "%", lost.row.source, limits.lost_percent),
            Evidence(f"deleted rows of {name}", deleted, "", held.source),
            Evidence(f"rows of {name}", rows, "", held.source),
            *((Evidence(NAME, value, "", setting.source),) if setting and value is not None else ()),
        ),
        changes=(configure(NAME, value, THOROUGH, cautions=(BATCHES, RECLAIM.format(plain))),)
        if to and value is not None
        else (),
    )


def _finding(facts: Facts, limits: Limits, worst: Lost, setting: ConfigParameter | None) -> Finding:
    name, table = comment(name_of(worst.row)), worst.row.object_name or ""
    value = setting.run_number if setting else None
    waits = waiting_number(setting)
    empty = _empty(facts, worst.row)
    share = _share(empty) if empty else None
    plain = bare_table(table)
    to = value not in AGGRESSIVE and waits not in AGGRESSIVE
    step = f'Let the housekeeper look thoroughly (`sp_configure "{NAME}", {THOROUGH}`)' if to else ""
    now = "" if value is None else f", with {NAME} {value:g}"
    counted = _counted(limits, empty) if empty else ""
    held = _held(limits, empty) if empty and share is None else None
    return Finding(
        subject=name,
        severity=Severity.WARNING if max(share or 0.0, held or 0.0) >= limits.empty_percent else Severity.ADVICE,
        title=f"The housekeeper loses {worst.share:.0f} % of the clean-ups of {name}"
        + (f"; {share:.0f} % of its pages are empty" if share is not None else "")
        + (_beside(empty) if empty and held is not None else ""),
        seen=joined(
            f"{worst.rate:,.0f} clean-ups a second of {name} found the housekeeper's list full, {worst.share:.0f} % of "
            f"those asked for, and {worst.pending:,.0f} were waiting{now}.",
            counted,
        ),
        because=BECAUSE,
        do=joined(f"{step}." if to else "", RECLAIM.format(plain)),
        unknown="" if counted else f"How many pages are empty: {TableRows.COLLECTED_BY}.",
        evidence=(
            Evidence(f"clean-ups lost, {name}", worst.overflows, "", worst.row.source),
            Evidence(f"clean-ups asked for, {name}", worst.requests, "", worst.row.source),
            Evidence(
                f"clean-ups lost a second, {name}", round(worst.rate, 1), "/s", worst.row.source, limits.per_second
            ),
            Evidence("share of clean-ups lost", round(worst.share, 1), "%", worst.row.source, limits.lost_percent),
            *((Evidence(NAME, value, "", setting.source),) if setting and value is not None else ()),
            *(
                (Evidence(f"empty pages of {name}", round(share, 1), "%", empty.source, limits.empty_percent),)
                if empty and share is not None
                else ()
            ),
            *(
                (Evidence(f"deleted rows of all in {name}", round(held, 1), "%", empty.source, limits.empty_percent),)
                if empty and held is not None
                else ()
            ),
        ),
        changes=(configure(NAME, value, THOROUGH, cautions=(BATCHES, RECLAIM.format(plain))),)
        if to and value is not None
        else (),
        share=worst.share,
    )


def _held(limits: Limits, row: TableRows) -> float | None:
    """Per cent of its rows that are deleted ones, where the table is large; `None` where it cannot be told."""
    if not (known(row.deleted) and known(row.rows) and known(row.pages)) or row.pages < limits.pages:
        return None
    return 100.0 * row.deleted / (row.deleted + row.rows) if row.deleted > 0 and row.rows >= 0 else None


def _beside(row: TableRows) -> str:
    """How many deleted rows a table holds, to end a title."""
    return f"; it holds {row.deleted:,.0f} deleted rows beside {row.rows:,.0f} others"


def _counted(limits: Limits, row: TableRows) -> str:
    """What systabstats says of the table, as a sentence: its empty pages, else its deleted rows; empty without both."""
    if _share(row) is not None:
        return f"By systabstats {row.empty_pages:,.0f} of its {row.pages:,.0f} pages are empty."
    if _held(limits, row) is None:
        return ""
    return f"By systabstats its {row.pages:,.0f} pages hold {row.deleted:,.0f} deleted rows and {row.rows:,.0f} others."


def _left(facts: Facts, limits: Limits) -> TableRows | None:
    """The table with most empty pages, of those that are large and mostly empty."""
    last = {(one.database, one.table): one for one in facts.every(TableRows) if one.index_id <= 1}
    found = [
        (one.empty_pages, one)
        for one in last.values()
        if known(one.empty_pages) and known(one.pages) and one.pages >= limits.pages
        if not is_tempdb(one.database or "") and (_share(one) or 0.0) >= limits.empty_percent
    ]
    return max(found, key=lambda one: one[0])[1] if found else None


def _off(facts: Facts, limits: Limits, left: TableRows, setting: ConfigParameter) -> Finding:
    """What stays in a table while the housekeeper is switched off."""
    rows = [one for one in activity(facts) if one.of_interval and known(one.logical_reads)]
    row = next((one for one in rows if one.index_id <= 1 and _empty(facts, one) is left), None)
    name = comment(name_of(row) if row else ".".join(part for part in (left.database, left.table) if part))
    share, pages, empty = _share(left) or 0.0, left.pages, left.empty_pages
    assert known(pages) and known(empty)  # noqa: S101, PT018 - `_left` asked
    total = sum(one.logical_reads for one in rows if known(one.logical_reads))
    reads = row.logical_reads if row and known(row.logical_reads) else 0.0
    part = share_of(reads, total) if total > 0 else 0.0
    reclaim = RECLAIM.format(bare_table(left.table))
    return Finding(
        subject=name,
        severity=Severity.WARNING if part >= limits.table_percent else Severity.ADVICE,
        title=f"{NAME} is 0, and {share:.0f} % of the pages of {name} are empty",
        seen=joined(
            f"{empty:,.0f} of the {pages:,.0f} pages of {name} are empty by systabstats, and {NAME} is 0.",
            f"The table takes {part:.0f} % of the logical reads of the listed objects." if reads else "",
        ),
        because=OFF,
        do=f'Switch the housekeeper on (`sp_configure "{NAME}", {DEFAULT}`, in force at once). {reclaim}',
        unknown="" if reads else f"How much the table is read: {EMPTY}.",
        evidence=(
            Evidence(NAME, 0, "", setting.source),
            Evidence(f"empty pages of {name}", round(share, 1), "%", left.source, limits.empty_percent),
            Evidence(f"pages of {name}", pages, "pages", left.source, limits.pages),
            *(
                (Evidence(f"share of {name} in all reads", round(part, 1), "%", row.source, limits.table_percent),)
                if row
                else ()
            ),
        ),
        changes=(configure(NAME, 0, DEFAULT, cautions=(MORE, reclaim)),),
        share=share,
    )


def _empty(facts: Facts, row: MonOpenObjectActivity) -> TableRows | None:
    """The line of systabstats for the data of this table; one without a database is of the only table of its name."""
    names = {one.database for one in activity(facts) if one.object_name == row.object_name}
    found = [
        one
        for one in facts.every(TableRows)
        if one.table == row.object_name and one.index_id <= 1 and (one.database or row.database) == row.database
    ]
    sure = [one for one in found if one.database or len(names) == 1]
    return sure[-1] if sure else None


def _share(row: TableRows) -> float | None:
    """Which part of its pages is empty, per cent; `None` where it cannot be told."""
    if not known(row.pages) or not known(row.empty_pages) or not 0 <= row.empty_pages <= row.pages or row.pages <= 0:
        return None
    return 100.0 * row.empty_pages / row.pages
