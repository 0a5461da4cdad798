"""The cached statement of SAP ASE that scans one table again and again, while none of its indexes begins as it looks.

By the statement cache, the scans of the table between two snapshots and its indexes as `sp_helpindex` lists them: how
often it ran is counted, or taken to be as often as the table was scanned. Without the list of the indexes, or where one
begins with a column that it compares, nothing is said: something else may keep that from being used.
"""

from dataclasses import dataclass

from collectors.facts import Facts, known
from collectors.facts.ase import IndexKeys, MonCachedStatement, MonOpenObjectActivity, MonProcess
from rules.ase._evidence.objects.indexes import beginning_with, index_evidence, indexes_of, say_indexes
from rules.ase._evidence.objects.scans import LEAST_PAGES, pages_by_statement, reading_most, scans_of
from rules.ase._evidence.objects.seen import name_of
from rules.ase._evidence.objects.sessions import Program, programs_of
from rules.ase._evidence.waits.events import READS
from rules.ase._evidence.waits.index_wanted import PAGES_A_ROW, columns_of, wrapped_column
from rules.changes.quoting import bare_table, comment
from rules.finding import Evidence

RUNS, SCANS_PER_SECOND = 10, 1 / 60
"""This project: a table scanned less often in the interval, or than once a minute, is read by indexes or a report."""
PAGES = "logical reads of the statement for each execution, at most those of the table for each scan"
LONGEST = 300
"""Characters of what to do from which on the indexes that are there stand in the evidence alone."""


@dataclass(frozen=True)
class Unserved:
    """A statement, the table that it scans, and the columns that an index for it would have."""

    statement: MonCachedStatement
    table: MonOpenObjectActivity
    pages: float
    """That one scan reads."""
    columns: tuple[str, ...]
    indexes: tuple[IndexKeys, ...]
    program: Program | None
    """Whose sessions alone waited for reads in its database when `monProcess` was asked; `None`: several, or nobody."""

    @property
    def name(self) -> str:
        """`SSQLID 1711200144`."""
        return f"SSQLID {self.statement.statement}"

    @property
    def says(self) -> str:
        """What is known of it, as a clause that begins with "which"."""
        count = len(self.program.sessions) if self.program else 0
        now = (
            f"; {count} of {self.program.name} waited for reads at one moment, and nobody else" if self.program else ""
        )
        return (
            f"which {self.name} scans: {scans_of(self.table):,.0f} scans of {self.pages:,.0f} pages, and no index "
            f"begins with what it compares{now}"
        )

    @property
    def step(self) -> str:
        """The index to make, as two sentences."""
        on, home = bare_table(self.table.object_name or ""), comment(self.table.database or "", 60)
        index = f"`create index <name> on {on}({', '.join(self.columns)})` in {home}"
        have = f"; those it has are {say_indexes(list(self.indexes))}"
        first = (
            f"First {index} for {self.name}{f' of {self.program.name}' if self.program else ''}, if that finds few rows"
        )
        then = f"Make it outside working hours, as it locks the table, then `sp_recompile {on}`."
        said = f"{first}{have}. {then}"
        return said if len(said) <= LONGEST else f"{first}. {then}"

    @property
    def evidence(self) -> tuple[Evidence, ...]:
        """The scans, their pages, whose they are, and the indexes."""
        name, source = name_of(self.table), self.table.source
        who = self.program
        return (
            Evidence(f"scans of {name}", scans_of(self.table), "", source, RUNS),
            Evidence(
                f"pages of each scan of {name}", round(self.pages), "pages", self.statement.source, computed=PAGES
            ),
            *(
                (Evidence(f"sessions of {who.name} that wait for reads", len(who.sessions), "", who.source),)
                if who
                else ()
            ),
            *index_evidence(list(self.indexes)),
        )


def unserved(facts: Facts, table: MonOpenObjectActivity) -> Unserved | None:
    """The statement that makes most of the reads of this table by scanning it, where no index serves it."""
    scans, top = scans_of(table), reading_most(facts, table)
    statement = top.fact if top and isinstance(top.fact, MonCachedStatement) else None
    if (
        table.index_id != 0
        or not table.seconds
        or scans < max(RUNS, SCANS_PER_SECOND * table.seconds)
        or statement is None
    ):
        return None
    pages, text = pages_by_statement(facts, table), statement.text or ""
    rows = statement.mean_read_rows if known(statement.mean_read_rows) else 0.0
    if pages is None or pages < max(LEAST_PAGES, PAGES_A_ROW * rows) or wrapped_column(text):
        return None
    columns, indexes = columns_of(text), indexes_of(facts, table.object_name)
    if not columns or not indexes or any(beginning_with(indexes, one) for one in columns):
        return None
    return Unserved(statement, table, pages, columns, tuple(indexes), _waiting(facts, table.database))


def _waiting(facts: Facts, database: str | None) -> Program | None:
    """The one program whose sessions wait for reads in a database."""
    waiting = [row for row in facts.every(MonProcess) if row.wait_event in READS and row.database == database]
    found = programs_of(facts, dict.fromkeys((row.spid, row.kpid) for row in waiting))
    return found[0] if len(found) == 1 and (found[0].application or found[0].login) else None
