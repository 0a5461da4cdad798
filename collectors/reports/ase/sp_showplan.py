"""Query plans (`sp_showplan`, `set showplan on`, `show_plan()`, `dbcc prsqlcache`).

15.0 and later draw a tree, whose bars say nothing here::

    QUERY PLAN FOR STATEMENT 2 (at line 14).

        STEP 1
            The type of query is SELECT.

            2 operator(s) under root

           |ROOT:EMIT Operator (VA = 1)
           |
           |   |SCAN Operator (VA = 0)
           |   |  FROM TABLE
           |   |  orders.dbo.item
           |   |  i
           |   |  Table Scan.
           |   |  Forward Scan.
           |   |  Positioning at start of table.
           |   |  Using I/O Size 2 Kbytes for data pages.
           |   |  With LRU Buffer Replacement Strategy for data pages.

12.5 prints the same sentences without a tree. `dbcc prsqlcache` prints a head of the cached statement above its plan,
with `ssql_id`, `ssql_isolate` (the isolation level) and its text.

* Whose plan it is stands in no line of the plan: the echoed command above it tells (`isql -e`), `sp_showplan 45, …` the
  session, `show_plan(-1, 1207799001, …)` the cached statement. Without the echo a plan belongs to nobody.
* Below FROM TABLE stand its name, as the statement writes it, and its alias, if it has one. Work tables are left out.
* A table that is only written (TO TABLE) is not read by a plan, and gives no fact.
* Text of the statement is not kept: `monCachedStatement` has it.
"""

import re
from collections.abc import Iterator
from dataclasses import replace

from collectors.facts.ase import PlanAccess
from collectors.facts.base import known
from collectors.registry import Report, report

PLAN = re.compile(
    r"QUERY PLAN FOR STATEMENT (?P<number>[0-9]{1,9})(?:\s{1,3}\(at line (?P<line>[0-9]{1,9})\))?", re.IGNORECASE
)
CACHED = re.compile(r"SSQL_DESC\s{1,9}0x", re.IGNORECASE)
START = re.compile(rf"^[\s|]{{0,40}}(?:QUERY PLAN FOR STATEMENT [0-9]|{CACHED.pattern})", re.IGNORECASE)
ASKED = re.compile(
    r"\bsp_showplan\s{1,9}(?:@spid\s{0,9}=\s{0,9})?(?P<session>[0-9]{1,9})\b"
    r"|\bshow_plan\s{0,9}\(\s{0,9}(?:-1\s{0,9},\s{0,9}(?P<cached>[0-9]{1,12})|(?P<process>[0-9]{1,9}))",
    re.IGNORECASE,
)
QUERY = re.compile(r"The type of query is (?P<query>[A-Z][A-Z ]{0,40}?)\.", re.IGNORECASE)
TABLE = re.compile(r"(?P<way>FROM|TO) TABLE\s{0,9}$", re.IGNORECASE)
NAME = re.compile(r"(?:(?:(?P<database>[\w#@$]{1,255})\.)?[\w#@$]{0,255}\.)?(?P<table>[\w#@$]{1,255})")
ALIAS = re.compile(r"[A-Za-z_@#][\w#@$]{0,254}")
WORK_TABLE = re.compile(r"Worktable[0-9]{1,9}", re.IGNORECASE)
SCANNED = re.compile(r"Table Scan\.", re.IGNORECASE)
INDEX = re.compile(r"Index\s{0,3}:\s{0,3}(?P<index>[\w#@$]{1,255})|Using Clustered Index", re.IGNORECASE)
COVERED = re.compile(r"Index contains all needed columns", re.IGNORECASE)
IO = re.compile(r"Using I/O Size (?P<kb>[0-9]{1,4}) Kbytes for (?P<of>data|index)", re.IGNORECASE)
STRATEGY = re.compile(r"With (?P<strategy>LRU|MRU) Buffer Replacement Strategy for (?P<of>data|index)", re.IGNORECASE)
HEAD = re.compile(r"\bssql_(?P<key>id|isolate)\s{1,9}(?P<value>[0-9]{1,12})\b", re.IGNORECASE)
TEXT = re.compile(r"SQL TEXT\s{0,3}:", re.IGNORECASE)
OTHERS = re.compile(
    r"STEP [0-9]|Table Scan\.|Index\s{0,3}:|The (?:update mode|sort for|abstract plan)|Optimized using|Executed in par"
    r"|Executing a |Auxiliary|[0-9]{1,6} operator|ROOT:|Nested iteration|EXISTS TABLE|(?:Forward|Backward) scan"
    r"|Keys are|Positioning|Key (?:Count|Ordering)|Using (?:Worktable|Dynamic|[0-9])|Evaluate |Total estimated"
    r"|Worktable[0-9]|QUERY PLAN IS|THE RECOMPILED"
    r"|ssql_|opt options |DBCC execution completed|Log Scan|(?:Non)?correlated |(?:Run )?subquery |END OF QUERY PLAN"
    r"|(?:Using|With) .{1,60} for (?:data|index)|[\w#@$]{1,255}\s{1,3}(?:ASC|DESC)$",
    re.IGNORECASE,
)
"""Sentences of a plan of which nothing is kept here."""
NOBODY = PlanAccess(table="", statement=0)
LOOK_BACK = 8
"""Lines above the first plan among which its command is looked for."""
SWITCHED_ON = re.compile(r"\s{0,9}(?:[0-9]{1,4}>\s{0,9})?set\s{1,9}showplan\s{1,9}on\b", re.IGNORECASE)
"""Whoever asks so types the statement himself below it: its plan is no session's."""


@report(starts=START, provides=(PlanAccess,))
def read(report: Report) -> Iterator[PlanAccess]:
    """Yield one fact per table that a plan reads; that plans are nobody's is told once."""
    plans = _Plans(report)
    for line in report.before[-LOOK_BACK:]:
        plans.asked(line)
    for index, line in enumerate(report.lines):
        if plans.hear(index, line):
            report.claim(index)
    plans.leave_table()
    yield from plans.read
    if plans.nobodys and not any(map(SWITCHED_ON.match, report.before[-LOOK_BACK:])):
        of = f"{plans.nobodys} of {plans.count} plans" if plans.count > 1 else "this plan"
        report.problem(f"the session or statement of {of} is not known: print the command, too (isql -e)")


class _Plans:
    """Plan after plan, table after table."""

    def __init__(self, report: Report) -> None:
        self.report = report
        self.count = self.nobodys = 0
        self.in_text = False
        self.statement = NOBODY
        """What the tables of this plan share; it has no table."""
        self.access: PlanAccess | None = None
        """The table that is read; `None` of one whose figures are not wanted."""
        self.named = 2
        """How many lines of its name were read: the second is its alias."""
        self.where = (0, 0)
        self.read: list[PlanAccess] = []

    def asked(self, line: str) -> bool:
        """Whether this line asks for a plan: the next ones are of its session or statement."""
        found = ASKED.search(line)
        if found:
            self.leave_table()
            spid = found["session"] or found["process"]
            self.statement = replace(NOBODY, spid=_whole(spid), ssql_id=_whole(found["cached"]))
        return found is not None

    def hear(self, index: int, line: str) -> bool:
        """Take one line; whether it was understood."""
        said = line.strip(" \t|")
        if self.asked(line) or self._begins(said):
            self.in_text = False
        elif TEXT.match(said):
            self.in_text = True
        elif self.in_text:
            pass
        elif way := TABLE.match(said):
            self.leave_table()
            self.access = self.statement if way["way"].upper() == "FROM" else None
            self.named, self.where = 0, (index, index)
        elif query := QUERY.match(said):
            self.statement = replace(self.statement, query=query["query"].upper())
        elif said and self._of_table(said):
            self.where = (self.where[0], index)
        elif not line.lstrip().startswith("|"):
            return OTHERS.match(said) is not None
        return True

    def _begins(self, said: str) -> bool:
        """Whether this line begins a plan, or the head of one in the statement cache."""
        if plan := PLAN.match(said):
            self.leave_table()
            number, line = int(plan["number"]), _whole(plan["line"])
            self.statement = replace(self.statement, statement=number, line=line, query=None)
            self.count += 1
            self.nobodys += self.statement.spid is None and self.statement.ssql_id is None
        elif CACHED.match(said):
            self.leave_table()
            self.statement = NOBODY
        elif heads := {one["key"].lower(): int(one["value"]) for one in HEAD.finditer(said)}:
            cached, level = heads.get("id", self.statement.ssql_id), heads.get("isolate", self.statement.isolation)
            self.statement = replace(self.statement, ssql_id=cached, isolation=level)
        else:
            return False
        return True

    def _of_table(self, said: str) -> bool:
        """Whether this line says something of the table below whose heading it stands."""
        if self.named == 0 and (name := NAME.fullmatch(said.rstrip("."))):
            self.named = 1
            if WORK_TABLE.fullmatch(name["table"]):
                self.access = None
            if self.access:
                self.access = replace(self.access, database=name["database"], table=name["table"])
            return True
        if self.named == 1 and ALIAS.fullmatch(said):
            self.named = 2
            return True
        told = self.access and self.named and _said_of(self.access, said)
        if not told:
            return False
        self.access, self.named = told, 2
        return True

    def leave_table(self) -> None:
        """Keep the table that was read, where its plan says how it is reached."""
        access, self.access, self.named = self.access, None, 2
        if access and access.table and (access.scanned or access.by_index):
            self.read.append(access.placed(self.report.source(*self.where)))


def _said_of(access: PlanAccess, said: str) -> PlanAccess | None:
    """The table with what this line says of it; `None` where it says nothing that is kept."""
    if SCANNED.match(said):
        return replace(access, scanned=True)
    if found := INDEX.match(said):
        return replace(access, by_index=True, index=found["index"] or access.index)
    if COVERED.match(said):
        return replace(access, covered=True)
    if found := IO.match(said):
        of_data = found["of"].lower() == "data"
        return replace(access, io_kb=float(found["kb"])) if of_data or not known(access.io_kb) else access
    if found := STRATEGY.match(said):
        of_data = found["of"].lower() == "data"
        return replace(access, strategy=found["strategy"].upper()) if of_data or not access.strategy else access
    return None


def _whole(text: str | None) -> int | None:
    return int(text) if text else None
