"""The statement that took most of the processor by one listing of `monCachedStatement`, where nothing counts it newer.

Its executions times the mean processor time of each are what it took since it was cached, which may be these minutes or
days: it is a share of what the statements listed took, and never of what the engines worked.
"""

from dataclasses import dataclass

from collectors.facts import Facts, known
from collectors.facts.ase import MonCachedStatement
from rules.ase._evidence.objects.indexes import beginning_with, indexes_of
from rules.ase._evidence.objects.scans import LEAST_PAGES
from rules.ase._evidence.objects.statements import shown, tables_in
from rules.ase._evidence.server import engines_of
from rules.ase._evidence.waits.index_wanted import columns_of, pages_each
from rules.changes.quoting import bare_table, comment
from rules.finding import Evidence

MOST_PERCENT, LEAST_LISTED = 50.0, 3
"""This project: of the processor time of all statements listed, and of how many at least, from which one is named."""
COULD = 0.25
"""This project: a statement that took less since it was cached than this part of what the engines worked in the
interval is not what keeps them busy."""
TEXT = 80
"""Characters of the statement that are shown."""


@dataclass(frozen=True)
class ListedCostliest:
    """One statement, with what it took since it was cached."""

    statement: MonCachedStatement
    percent: float
    """Of the processor time of all that are listed."""
    listed: int
    table: str = ""
    """The one table that it reads; empty where the text does not say it plainly, or an index begins with a column."""
    columns: tuple[str, ...] = ()
    """By which an index is wanted."""
    indexes: bool = False
    """Whether the indexes of that table are listed."""

    @property
    def name(self) -> str:
        """`SSQLID 1711200144`."""
        return f"SSQLID {self.statement.statement}"

    @property
    def title(self) -> str:
        """What a title adds."""
        table = f" on {comment(self.table, 60)}" if self.table else ""
        return f"; {self.name}{table} took {self.percent:.0f} % of the CPU of the statements listed"

    @property
    def says(self) -> str:
        """The statement with its text and figures, as a clause."""
        row, pages = self.statement, pages_each(self.statement)
        text = f" ({shown(row.text, TEXT)})" if row.text else ""
        read = f" and {pages:,.0f} pages" if pages else ""
        return (
            f"{self.name}{text} took {self.percent:.0f} % of the CPU of {self.listed} statements since they were "
            f"cached, {row.executions:,.0f} times {row.mean_cpu_milliseconds:,.0f} ms{read}"
        )

    @property
    def step(self) -> str:
        """What to do first, as a sentence."""
        if not self.table:
            return f"First tune {self.name}: its plan, an index for its where clause, or fewer executions."
        where = f", in {comment(self.statement.database, 60)}" if self.statement.database else ""
        index = f"`create index <name> on {bare_table(self.table)} ({', '.join(self.columns)})`{where}"
        if self.indexes:
            return f"First give {self.name} an index, as none listed begins so: {index}."
        return (
            f"First look at the plan of {self.name}, and give it an index where none begins so (sp_helpindex): {index}."
        )

    @property
    def evidence(self) -> tuple[Evidence, ...]:
        """Its share, with its text."""
        row = self.statement
        text = (Evidence(f"text of statement {row.statement}", shown(row.text), "", row.source),) if row.text else ()
        what = f"share of statement {row.statement} in the CPU of the statements listed"
        return (Evidence(what, round(self.percent, 1), "%", row.source, MOST_PERCENT), *text)


def costliest_listed(facts: Facts) -> ListedCostliest | None:
    """The one that took most; `None` where none stands out, reads many pages each time, or two listings tell more."""
    rows = {row.statement: row for row in facts.every(MonCachedStatement)}
    if len(rows) < LEAST_LISTED or any(row.of_interval for row in rows.values()):
        return None
    took = {number: _milliseconds(row) for number, row in rows.items()}
    most = max(took, key=lambda number: took[number])
    row, percent = rows[most], 100.0 * took[most] / (sum(took.values()) or 1.0)
    engines, pages = engines_of(facts, interval=True), pages_each(row)
    if percent < MOST_PERCENT or pages is None or pages < LEAST_PAGES:
        return None
    if not engines.seconds or not engines.number or not engines.busy_percent:
        return None
    worked = 1000.0 * engines.seconds * engines.number * engines.busy_percent / 100.0
    if took[most] < COULD * worked:
        return None
    columns, tables = columns_of(row.text or ""), tables_in(row.text or "")
    table = next(iter(tables))[1] if len(tables) == 1 and columns else None
    listed = indexes_of(facts, table)
    if not table or beginning_with(listed, columns[0]):
        return ListedCostliest(row, percent, len(rows))
    return ListedCostliest(row, percent, len(rows), table, columns, bool(listed))


def _milliseconds(row: MonCachedStatement) -> float:
    """Of processor time, by all its executions; 0 where either figure is not known."""
    each, ran = row.mean_cpu_milliseconds, row.executions
    return max(0.0, each * ran) if known(each) and known(ran) else 0.0
