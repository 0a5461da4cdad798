"""Indexes of a table and their columns (`sp_helpindex <table>`).

From 15.0 the columns stand behind the name; before, the description does, and the last columns are not there::

    Object has the following indexes

     index_name   index_keys           index_description    index_max_rows_per_page index_fillfactor ...
     ------------ -------------------- -------------------- ----------------------- ---------------- ...
     ledger_pk    entry_id             clustered, unique                          0                0 ...
     ledger_day   booked, branch DESC  nonclustered                               0                0 ...

* Whose indexes they are stands in the command alone, so a listing begins with its echo. Without one it says nothing,
  but where the file is named by the command and holds one listing: `sp_helpindex_entry.txt`, of the table `entry`,
  with its first line or without.
  `sp_help` prints the same listing among others, and is read with its lock scheme (`lock_schemes`).
* A description says `clustered` or `nonclustered`, with `unique` and other words (`located on <segment>`).
* A table without any has a line that says so: it is a heap.
* The partitions of the indexes, which newer releases list below (`index_ptn_name index_ptn_seg`), give no facts.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import replace

from collectors.facts.ase import IndexKeys, WithoutIndexes
from collectors.layouts.ase_indexes import INDEXES_LISTED, index_of
from collectors.registry import NotThisReport, Report, name_of, report
from collectors.tables import Listing, claim

SAID = re.compile(r"\W{0,9}Object (?:has the following indexes|does not have any indexes)\b", re.IGNORECASE)
NONE = re.compile(r"\W{0,9}Object does not have any indexes\b", re.IGNORECASE)
STOP = re.compile(rf"\W{{0,40}}(?:{INDEXES_LISTED.pattern})|\s*(?:[0-9]{{1,4}}>\s*)?(?:sp_\w+\b|go\s*$)", re.IGNORECASE)
ASKED = re.compile(
    r"\W{0,9}(?:[0-9]{1,4}>\s*)?(?:exec(?:ute)?\s+)?sp_helpindex\s+[\"'\[]?(?:[\w#$]{0,255}\.){0,2}(?P<table>[\w#$]{1,255})",
    re.IGNORECASE,
)
FILES = re.compile(r"^sp_helpindex[ _.-](?:dbo\.)?(?P<table>[\w#$]{1,255})\.(?:txt|out|lst|log)$", re.IGNORECASE)
PARTITIONS_LISTED = re.compile(r"^\s{0,9}index_ptn_name\s{1,300}index_ptn_seg\b", re.IGNORECASE)
REMEDY = "export it again in full (isql -w 1000)"


@report(starts=ASKED, provides=(IndexKeys, WithoutIndexes), files=FILES)
def read(report: Report) -> Iterator[IndexKeys | WithoutIndexes]:
    """Yield one fact per index, or that the table has none."""
    named = FILES.match(name_of(report.file))
    listings = (SAID.match, ASKED.match), (INDEXES_LISTED.search,)
    alone = all(sum(any(is_it(line) for is_it in begins) for line in report.lines) <= 1 for begins in listings)
    of_file = named["table"] if named and alone else None
    questions = [(at, found["table"]) for at, line in enumerate(report.lines) if (found := ASKED.match(line))]

    def asked(at: int) -> str | None:
        above = bisect_left(questions, (at, ""))
        return questions[above - 1][1] if above else of_file

    said = 0
    for heading, table in INDEXES.tables(report):
        said += 1
        for fact in INDEXES.facts(report, table, heading):
            yield replace(fact, table=asked(fact.source.first - report.first))
    for _, table in PARTITIONS.tables(report) if said else ():
        claim(report, table)
    for at, line in enumerate(report.lines):
        if NONE.match(line) and (without := asked(at)):
            said += 1
            yield WithoutIndexes(source=report.source(at), table=without)
    if not said:
        raise NotThisReport


INDEXES = Listing(heading=INDEXES_LISTED, row=index_of, stop=STOP, remarks=SAID, remedy=REMEDY)
PARTITIONS: Listing[IndexKeys] = Listing(heading=PARTITIONS_LISTED, row=lambda row, table: (), stop=STOP, remedy=REMEDY)
