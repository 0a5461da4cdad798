"""Monitoring tables (MDA) as result sets, one or more snapshots of any of them, and spinlock rows of `sysmonitors`

isql, wide or wrapped at 80, with its prompts and queries or without::

    1> select @@servername ServerName, getdate() SampleTime, @@boottime BootTime
     ServerName                     SampleTime                      BootTime
     ------------------------------ ------------------------------- -------------------------------
     ALDER_ASE                      Nov 21 2026 10:15:12:123AM      Nov  1 2026  6:00:03:000AM
    1> select SpinlockName, SpinlockSlotID, Grabs, Spins, Waits, Contention from master..monSpinlockActivity
     SpinlockName         SpinlockSlotID Grabs        Spins         Waits       Contention
     -------------------- -------------- ------------ ------------- ----------- ----------
     default data cache                7    904417233      70331207    21706013   2.400000
     addrlockspins                     0     77120331    4012992771    30848132  40.000000

Also read: boxes of JDBC tools, values parted by TAB, comma, semicolon or bar with the separators of any locale, and
`bcp -c` files, whose columns are told by the file's name and the types of its values.

A table is known by its columns, in any order, with any others beside them, or by the query above it. Totals are given
as they stand, a negative one of a 32-bit column too. NULL is absent, asterisks are an overflow; a heading without rows
is a table of no rows, which is not the same as zeros. A time above the tables or in their rows, or a table that comes
again, begins the next snapshot. Rows that a query subtracts itself (`Waits = w2.Waits - w.Waits`) are differences, over
the time that its title or the rows tell. In a hand-made list of `sysmonitors` the ids tell rows of one name apart.
"""

from collections.abc import Sequence
from dataclasses import replace

from collectors.facts.ase import IndexSize, MonTable, Server, Snapshot, TableRows, TableScheme
from collectors.registry import Follows, Outcome, stream
from collectors.reports.ase.monitor_tables.parser import Parser
from collectors.reports.ase.monitor_tables.table_starts import FILES, START, TABLES

EVENTS_ALONE = (
    "the names of wait events alone, which need no other file: to have them beside the waits, put this answer into the "
    "file of monSysWaits"
)
UNREAD = "{0} is no monitoring table that is read here (`manage.py collect-script ase` asks for those that are)"
MISLAID = (
    "{0} is asked for, and no heading of it follows: expected are rows below a heading with the columns {1}, as isql "
    "prints them (isql -w 2000 -o FILE)"
)

PROVIDES = (
    Server,
    Snapshot,
    MonTable,
    TableScheme,
    TableRows,
    IndexSize,
    *dict.fromkeys(table.fact for table in TABLES),
)


@stream(starts=START, provides=PROVIDES, rank=1, files=FILES)
class MonitorTables(Follows):
    """One run of result sets; keeps the facts, and of the lines only the record at hand."""

    def __init__(self, file: str, above: Sequence[str]) -> None:
        """Begin; `above` may hold the time, or the first line of a heading."""
        self.file, self.above = file, above
        self.walk = Parser(file)
        self.begun = False

    def follows(self, before: object) -> None:
        """Go on with the snapshots of an earlier run of the same file: another report stood between."""
        if isinstance(before, MonitorTables):
            self.walk.follow(before.walk)

    def feed(self, first: int, lines: Sequence[str]) -> int:
        """Take lines up to one that begins another kind of report."""
        if not self.begun:
            self.begun = True
            for offset, line in enumerate(self.above, start=first - len(self.above)):
                self.walk.take(offset, line)
            self.walk.first = first
        take, take_block, index = self.walk.take, self.walk.take_block, 0
        while index < len(lines):
            if rows := take_block(first + index, lines, index):
                index += rows
            elif take(first + index, lines[index]):
                index += 1
            else:
                return index
        return len(lines)

    def close(self) -> Outcome:
        """Hand over the facts; without any, what the lines are, if that can be told."""
        outcome = self.walk.finish()
        return outcome if outcome.facts else replace(outcome, why=self._why_nothing())

    def _why_nothing(self) -> str:
        if self.walk.run.events or self.walk.run.classes:
            return EVENTS_ALONE
        known = {table.name.lower(): table for table in TABLES}
        for name, written in self.walk.asked.spelled.items():
            table = known.get(name)
            if table is None:
                return UNREAD.format(written)
            if table.marks:
                _, columns = min((len(one), sorted(one)) for one in table.marks)
                return MISLAID.format(table.name, " and ".join(columns))
        return ""
