"""Who commits most, and how little each time, by what the sessions did between two snapshots (`monProcessActivity`).

Each commit asks for the end of the log once, so a program that commits every row by itself is what to change where
tasks wait for the log. The table also says whether user log caches are flushed because they are full: where hardly
any is, a larger one is for nothing (knowledge/ase-waits-caches.md, 5.1).
"""

from collections.abc import Iterator
from dataclasses import dataclass

from collectors.facts import Fact, Facts, Source, known
from collectors.facts.ase import (
    MonCachedStatement,
    MonProcess,
    MonProcessActivity,
    MonProcessLookup,
    RowsAffected,
    SysmonSample,
)
from rules.ase._evidence.objects.sessions import Client, Program, Session, programs_of, say_spids
from rules.ase._evidence.objects.statements import shown
from rules.changes.quoting import comment
from rules.finding import Evidence

COMMITTER_FACTS: tuple[type[Fact], ...] = (
    MonProcessActivity,
    MonProcess,
    MonProcessLookup,
    MonCachedStatement,
    RowsAffected,
    SysmonSample,
)
"""What a rule declares that asks for it."""
MOST = 0.5
"""This project: of all commits, from which on a program is named as the one that makes them."""
MANY_COMMITS = 100.0
"""This project: commits a second from which on batches matter; the vendor gives no figure."""
LOOP_COMMITS = 50.0
"""This project: commits a second of each session of a program that no person waits for between them."""
BATCH = 100
"""This project: rows of a first batch; more hold locks and log for longer, and spare little that is left."""
SMALL_BYTES = 2048.0
"""This project: log of a transaction that fits the smallest page is of a few rows."""
FEW_ROWS = 2.0
"""This project: rows changed for each commit up to which most commits are saved by batches. The vendor names larger
transactions and gives no figure."""
LEAST_RUNS, MOST_RUNS = 0.8, 1.25
"""This project: executions of a statement for each commit that make it the one statement of nearly each of them."""


@dataclass(frozen=True)
class Commits:
    """That each transaction changes a row or two, and how many there are."""

    rows: float
    per_second: float
    source: Source

    @property
    def says(self) -> str:
        """Both figures, as a clause."""
        return f"{self.per_second:,.0f} commits a second of {self.rows:.1f} rows each"

    @property
    def evidence(self) -> Evidence:
        """Rows of each commit."""
        how = "Total Rows Affected / Committed Xacts"
        return Evidence("rows changed for each commit", round(self.rows, 2), "rows", self.source, FEW_ROWS, how)


def small_commits(facts: Facts) -> Commits | None:
    """How small the transactions are, where they are as small as that and many; `None` where not, or not counted."""
    rows, sample = facts.latest(RowsAffected, operation="All"), facts.latest(SysmonSample)
    if rows is None or sample is None or not known(rows.count) or not known(sample.committed_xacts):
        return None
    commits = sample.committed_xacts
    if not sample.seconds or rows.count <= 0 or commits < MANY_COMMITS * sample.seconds:
        return None
    each = rows.count / commits
    return Commits(each, commits / sample.seconds, rows.source) if each <= FEW_ROWS else None


@dataclass(frozen=True)
class Committers:
    """The program that makes most of the commits, each of which changes little."""

    program: Program
    per_second: float
    whole: float
    """Commits a second of all sessions that were listed in both snapshots; of a single listing all their commits."""
    bytes_each: float | None
    """Of log, for each of its commits; `None`: not counted, where `small` tells."""
    statement: MonCachedStatement | None
    """The one that runs once for each of its commits, where the statement cache shows one."""
    single: bool = False
    """Of a single listing, so both counts are no rates."""
    database: str = ""
    """Of all of its sessions, where they are listed with it."""
    small: Commits | None = None
    """How little all commits of the server change, where its own log was not counted."""

    @property
    def loops(self) -> bool:
        """Whether its sessions commit as often as a loop over rows does, and nobody at a screen."""
        return not self.single and self.per_second >= LOOP_COMMITS * len(self.program.sessions)

    @property
    def says(self) -> str:
        """What it does, as a clause behind its name."""
        text = f" ({shown(self.statement.text or '', 40)})" if self.statement and self.statement.text else ""
        each = (
            f"one statement each, SSQLID {self.statement.statement}{text}"
            if self.statement
            else f"{self.bytes_each:,.0f} bytes of log each"
            if self.bytes_each is not None
            else f"{self.small.rows:.1f} rows each on average"
            if self.small
            else "few rows each"
        )
        if self.single:
            return f"it makes {100 * self.per_second / self.whole:.0f} % of all commits listed, of {each}"
        return f"it makes {self.per_second:,.0f} of {self.whole:,.0f} commits a second, of {each}"

    @property
    def who(self) -> str:
        """Its name with its sessions, as a clause."""
        where = f", in {self.database}" if self.database else ""
        return f"{self.program.name}, SPID {say_spids(self.program.sessions)}{where}"

    @property
    def evidence(self) -> Iterator[Evidence]:
        """The figures."""
        name, source, unit = self.program.name, self.program.source, "" if self.single else "/s"
        yield Evidence(f"commits of {name}", round(self.per_second, 1), unit, source)
        yield Evidence("commits of all sessions", round(self.whole, 1), unit, source)
        if self.bytes_each is not None:
            yield Evidence(f"log of a commit of {name}", round(self.bytes_each), "bytes", source)
        if self.statement and known(self.statement.executions):
            metric = f"executions of statement {self.statement.statement}"
            yield Evidence(metric, self.statement.executions, "", self.statement.source)


def committers(facts: Facts) -> Committers | None:
    """The program; `None` where none makes most of them, its transactions are not small, or nothing was measured."""
    rows: dict[Session, MonProcessActivity] = {(row.spid, row.kpid): row for row in _sessions(facts)}
    commits = {session: float(row.commits) for session, row in rows.items() if known(row.commits) and row.commits > 0}
    single = not any(row.of_interval for row in rows.values())
    seconds = 1.0 if single else max((row.seconds or 0.0 for row in rows.values()), default=0.0)
    whole = sum(commits.values())
    if not seconds or whole < MANY_COMMITS * seconds:
        return None
    found = programs_of(facts, list(commits), who=_who(facts))
    first = max(found, key=lambda one: sum(commits[session] for session in one.sessions), default=None)
    if first is None or not (first.application or first.login):
        return None
    own = sum(commits[session] for session in first.sessions)
    written = [rows[session].ulc_bytes_written for session in first.sessions]
    each = sum(one for one in written if known(one)) / own if all(map(known, written)) else None
    statement, small = _statement(facts, own), None if any(map(known, written)) else small_commits(facts)
    of_all = small is not None and (single or own >= MOST * small.per_second * seconds)
    if own < MOST * whole or not (of_all if each is None else each <= SMALL_BYTES or statement):
        return None
    homes = {rows[session].database for session in first.sessions}
    home = comment(next(iter(homes)) or "", 60) if len(homes) == 1 else ""
    return Committers(first, own / seconds, whole / seconds, each, None if single else statement, single, home, small)


def full_percent(facts: Facts) -> float | None:
    """Share of the sessions' flushes of user log caches that were of full ones; `None` where it was not measured."""
    rows = [row for row in _rows(facts) if known(row.ulc_flushes) and known(row.ulc_flushes_full)]
    flushes = sum(row.ulc_flushes for row in rows if known(row.ulc_flushes))
    full = sum(row.ulc_flushes_full for row in rows if known(row.ulc_flushes_full))
    return 100.0 * full / flushes if flushes and full <= flushes else None


def _rows(facts: Facts) -> list[MonProcessActivity]:
    return [row for row in facts.every(MonProcessActivity) if row.of_interval and row.believed]


def _sessions(facts: Facts) -> list[MonProcessActivity]:
    return _rows(facts) or _listed(facts)


def _listed(facts: Facts) -> list[MonProcessActivity]:
    """A single listing, where sp_sysmon says that commits are many now: it gives shares, since each login, no rates."""
    rows, sample = facts.every(MonProcessActivity), facts.latest(SysmonSample)
    ran = sample.committed_xacts if sample else None
    if not sample or not sample.seconds or not known(ran) or ran < MANY_COMMITS * sample.seconds:
        return []
    return [] if any(row.of_interval for row in rows) else list(rows)


def _who(facts: Facts) -> dict[Session, Client]:
    """Who each session is, by any table that was asked for its program."""
    rows: list[Client] = [*facts.every(MonProcessLookup), *facts.every(MonProcess), *_sessions(facts)]
    return {(row.spid, row.kpid): row for row in rows if row.application or row.login}


def _statement(facts: Facts, commits: float) -> MonCachedStatement | None:
    """The change that runs once for each of so many commits; `None` where none does, or several do."""
    rows = {one.statement: one for one in facts.every(MonCachedStatement) if one.of_interval and one.believed}
    ran = [one for one in rows.values() if known(one.executions) and _once(one.executions, commits) and _changes(one)]
    return ran[0] if len(ran) == 1 else None


def _once(executions: float, commits: float) -> bool:
    return LEAST_RUNS * commits <= executions <= MOST_RUNS * commits


def _changes(row: MonCachedStatement) -> bool:
    return (row.text or "").lstrip().lower().startswith(("insert", "update", "delete"))
