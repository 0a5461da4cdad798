"""Updates of data-only-locked tables forward many rows.

Finds: sp_sysmon with a tenth or more of the updates of data-only-locked tables forwarding their row, which grew and no
longer fits where it is, at a rate that counts.

Why it matters: a row that was forwarded leaves a pointer in its old place. Each read by an index then takes two pages,
with the latches and, where they are not in memory, the reads of both, until a reorg moves the row back.

What to do: find the tables whose rows grow (variable-length or nullable columns filled in later), leave room with
`exp_row_size`, and move the rows back with `reorg forwarded_rows`. sp_sysmon counts them for the whole server and
names no table: `systabstats.forwrowcnt` does, and where a tenth of the rows of a table is forwarded, `reorg rebuild`
lays them out anew with that room, in an outage; `reorg forwarded_rows` needs none and leaves the others as they are.
Without it those that two snapshots of monOpenObjectActivity show to be updated most are the first to look at. How many
bytes a row comes to is at least the mean of all rows (`systabstats.datarowsize`); what a grown one has is in no export,
so this is words and no script.

When to ignore it: a load that fills rows in once. The vendor gives no limit: both are this project's.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil

from collectors.facts import OVERFLOW, Facts, known
from collectors.facts.ase import RowsAffected, RowsChanged, SysmonSample, TableRows
from rules.ase._evidence.caches.figures import seconds_of
from rules.ase._evidence.objects.rebuild import NEEDS as REBUILD_NEEDS
from rules.ase._evidence.objects.updated import UPDATED_FACTS, say_updated, updated_most
from rules.ase._evidence.server import subject_of
from rules.ase._evidence.spinlocks.lock_work import FORWARDED
from rules.ase._evidence.times import without_head
from rules.changes.quoting import bare_table, comment
from rules.engine import limit, percent, rule
from rules.finding import Clean, Evidence, Finding, MissingInput, Outcome, Severity, Unknown, Untrusted, joined

LINKS = ("https://infocenter.sybase.com/help/topic/com.sybase.infocenter.dc36273.1600/doc/html/san1393051988727.html",)
UPDATES = "Data Only Locked Updates"
TWICE = "Each read of a forwarded row by an index takes two pages instead of one, until a reorg moves it back."
ROOM = (
    "First see by systabstats.forwrowcnt, in each database, which tables they are. "
    'Leave room in the tables whose rows grow (sp_chgattribute "<table>", "exp_row_size", <bytes>), then run reorg '
    "forwarded_rows on them at a quiet time."
)
LOOK = (
    "Look first at {0}: where systabstats.forwrowcnt shows many, leave room for its rows (sp_chgattribute "
    '"{1}", "exp_row_size", <bytes>), then run reorg forwarded_rows {1} at a quiet time.'
)
REBUILD = (
    'Leave room for the rows of {0} (sp_chgattribute "{1}", "exp_row_size", <{2}>), then lay it '
    f"out anew with that room: `reorg rebuild {{1}}`, which takes its size once more ({REBUILD_NEEDS}). "
    "Without outage: `reorg forwarded_rows {1}`."
)
FEW = (
    'Leave room for the rows of {0} (sp_chgattribute "{1}", "exp_row_size", <{2}>), then run '
    "`reorg forwarded_rows {1}` at a quiet time."
)
REBUILD_PERCENT = 10.0
"""This project: from this share of its rows on a table is laid out anew, which moves each row once; moving them back
one by one takes longer and leaves the others without room."""
MOST_PERCENT = 50.0
"""This project: a table is named where it has more than half of all forwarded rows that are listed."""
WHOSE = MissingInput("which tables these rows are of", TableRows.COLLECTED_BY)
NOT_WHOSE = (
    "Which tables these are is not in sp_sysmon; monOpenObjectActivity shows which are updated most, not whose rows "
    "grow."
)
WHICH = "Which tables these are is not in sp_sysmon: look at those with columns that are filled in after the insert."


@dataclass(frozen=True)
class Limits:
    """From which share and rate on."""

    forwarded_percent: float = percent(10.0, "this project: a tenth of the updates; no source gives a limit", low=0.1)
    per_second: float = limit(10.0, "this project: fewer cost nothing that can be seen", unit="/s")


@rule(
    needs=(RowsChanged,),
    uses=(RowsChanged, RowsAffected, SysmonSample, TableRows, *UPDATED_FACTS),
    links=LINKS,
    limits=Limits,
)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Hold the forwarded rows against the updates of data-only-locked tables."""
    rows = [one for one in facts.every(RowsChanged) if one.way == FORWARDED]
    if any(one.count is OVERFLOW or (known(one.count) and one.count < 0) for one in rows):
        yield Untrusted("rows forwarded: a count is negative or printed as asterisks")
        return
    counted = [one for one in rows if known(one.count)]
    forwarded = sum(one.count for one in counted if known(one.count))
    if not forwarded:
        yield Clean("no row was forwarded in the sample")
        return
    total = facts.latest(RowsAffected, operation=UPDATES)
    updates = total.count if total else None
    if total is None or not known(updates) or updates <= 0:
        yield Unknown.of(RowsAffected)
        return
    if forwarded > updates:
        yield Untrusted(f"{forwarded:,.0f} rows forwarded by {updates:,.0f} updates cannot be: a counter wrapped")
        return
    seconds = seconds_of(facts)
    share, rate = 100.0 * forwarded / updates, forwarded / seconds if seconds else None
    said = f"{share:.1f} % of the updates of data-only-locked tables forwarded their row"
    said += f", {rate:,.1f} a second" if rate is not None else ""
    if rate is None and share >= limits.forwarded_percent:
        yield without_head(said)
        return
    if rate is None or share < limits.forwarded_percent or rate < limits.per_second:
        yield Clean(f"{said} (limits {limits.forwarded_percent:g} % and {limits.per_second:g} a second)")
        return
    listed = _most_forwarded(facts)
    tables = [] if listed else updated_most(facts)
    name = listed.table if listed else (tables[0].row.object_name or "") if tables else ""
    yield Finding(
        subject=subject_of(facts),
        severity=Severity.ADVICE,
        title=f"{share:.0f} % of the updates of data-only-locked tables forward their row"
        + (f", most in {_place(listed)}" if listed else ""),
        seen=joined(f"{said} ({forwarded:,.0f} of {updates:,.0f}).", _say(listed) if listed else ""),
        because=TWICE,
        do=_do(listed, bare_table(name))
        if listed
        else LOOK.format(say_updated(tables), bare_table(name))
        if tables
        else ROOM,
        unknown="" if listed else NOT_WHOSE if tables else WHICH,
        evidence=(
            *(Evidence("rows forwarded", one.count, "", one.source) for one in counted if known(one.count)),
            Evidence("updates of data-only-locked tables", updates, "", total.source),
            Evidence(
                "share of them that forwarded the row",
                round(share, 1),
                "%",
                counted[0].source,
                limits.forwarded_percent,
                "from these lines",
            ),
            Evidence("rows forwarded a second", round(rate, 1), "/s", counted[0].source, limits.per_second),
            *(one.evidence for one in tables),
            *((Evidence(f"forwarded rows of {_place(listed)}", _number(listed), "", listed.source),) if listed else ()),
        ),
    )
    if not listed:
        yield Unknown((WHOSE,))


def _most_forwarded(facts: Facts) -> TableRows | None:
    """The table with most of the forwarded rows that are listed; `None` where there is none such."""
    rows = list({(one.database, one.table): one for one in facts.every(TableRows) if known(one.forwarded)}.values())
    most = max(rows, key=_number, default=None)
    return most if most and 100.0 * _number(most) > MOST_PERCENT * sum(map(_number, rows)) else None


def _number(row: TableRows) -> float:
    return row.forwarded if known(row.forwarded) else 0.0


def _place(row: TableRows) -> str:
    """Database and table, as they may stand in a text."""
    return comment(f"{row.database or ''}{'..' if row.database else ''}{row.table}")


def _share(row: TableRows) -> float | None:
    """Which part of its rows is forwarded, per cent; `None` where the rows are not listed."""
    return 100.0 * _number(row) / row.rows if known(row.rows) and row.rows > 0 else None


def _say(row: TableRows) -> str:
    share = _share(row)
    of = f" of {row.rows:,.0f} rows ({share:.0f} %)" if share is not None and known(row.rows) else " rows"
    return f"By systabstats {_number(row):,.0f}{of} of {_place(row)} are forwarded."


def _do(row: TableRows, name: str) -> str:
    share = _share(row)
    many = share is not None and share >= REBUILD_PERCENT
    return (REBUILD if many else FEW).format(_place(row), name, _bytes(row))


def _bytes(row: TableRows) -> str:
    """How many bytes are to be set: the mean of all rows at least, as those that have grown are longer."""
    if not known(row.row_bytes) or row.row_bytes <= 0:
        return "bytes that a row comes to"
    return f"{ceil(row.row_bytes)} bytes or more: rows have {row.row_bytes:,.0f} on average, grown ones more"
