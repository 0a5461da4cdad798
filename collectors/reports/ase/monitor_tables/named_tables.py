"""Which tables the queries above the rows name: they tell headings apart that look alike."""

import re
from collections.abc import Sequence

from collectors.layouts.tables import key
from collectors.reports.ase.monitor_tables.select_list import LONGEST, query_of
from collectors.reports.ase.monitor_tables.subtracted import Subtracted, by_query, by_title, length_of
from collectors.reports.ase.monitor_tables.table_starts import MENTION, START, TABLES

QUERY = re.compile(r"\b(?:select|from|where|order by|go|exec|use|print|set|waitfor|declare|join|and)\b", re.IGNORECASE)
COMMENT = re.compile(r"\s{0,10}(?:##|--|/\*|=== |\*\*)\s{0,10}\S")
COLUMNS = frozenset(column for table in TABLES for column in table.columns)
"""Every column that is read here, as `key` writes it."""
OWN = frozenset(("@@servername", "@@boottime", "getdate", "showcachedtext"))
"""What a query gives whatever name it likes, and is known by what it is, as a select list shows it."""
MOST_NAMED = 50
"""Tables remembered of one batch."""


class NamedTables:
    """The tables that the batch at hand asks for, in small letters."""

    def __init__(self) -> None:
        """Start with nothing asked."""
        self.tables: list[str] = []
        self.spelled: dict[str, str] = {}
        """Every table that was asked for, as it was written."""
        self.subtracts = False
        """Whether the batch subtracts two copies of a table."""
        self.titled = False
        """Whether a title above the prompt of the batch says so, of the rows that are yet to come."""
        self.seconds: float | None = None
        """Between them, by the title nearest above."""
        self.above = ""
        """The line above, where no prompt stood before it."""
        self.query = ""
        """The batch itself, as far as it stands behind prompts or names tables."""
        self.answered = False
        """Whether something came after the query: the next one begins a new batch."""

    def note_query(self, line: str, *, prompted: bool) -> bool:
        """Take a line if it is part of a query, or a title; `prompted`: a prompt stood before it."""
        above, self.above = self.above, "" if prompted else line
        if prompted:
            self._add(line)
        if titled := by_title(line, above):
            self.tables, self.answered = [] if self.answered else self.tables, False
            self.seconds, self.subtracts, self.titled = titled.seconds, True, not prompted
            return True
        if (length := length_of(line)) and not prompted:
            self.seconds, self.subtracts = length, False
            return True
        subtracts = prompted and by_query(line)
        self.subtracts = self.subtracts or subtracts
        written = MENTION.findall(line)
        mentions = [name.lower() for name in written]
        if not prompted and not (mentions and (COMMENT.match(line) or QUERY.search(line) or START.search(line))):
            return False
        if not mentions and not (prompted and QUERY.search(line)):
            return "  " not in line.strip() and not START.search(line)
        if self.answered:
            self.tables, self.answered, self.subtracts = [], False, subtracts or self.titled
        if not prompted:
            self._add(line)
        self.tables = [*self.tables, *mentions][-MOST_NAMED:]
        self.spelled = dict([*self.spelled.items(), *zip(mentions, written, strict=True)][-MOST_NAMED:])
        return True

    def _add(self, line: str) -> None:
        if self.answered:
            self.query = ""
        if len(self.query) < LONGEST:
            self.query += f"{line}\n"

    def renamed(self, columns: Sequence[str], *, printed: bool) -> tuple[str, ...]:
        """The columns of a heading, those that the query gives a name of its own, or none, called after what they show.

        Where isql printed no query, a first column of no name is the time, if its rows say one: scripts put it there.
        """
        known, query = list(columns), query_of(self.query)
        blank = [place for place, one in enumerate(known) if not one.strip()]
        nameless = [one for one in query.nameless if len(one) == len(blank) and any(one)] if self.tables else []
        if not self.tables and printed and blank == [0]:
            nameless = [("getdate",)]
        if len(nameless) == 1 and len(blank) < len(columns):
            for place, what in zip(blank, nameless[0], strict=True):
                known[place] = what or known[place]
        have = set(map(key, known))
        for place, one in enumerate(known):
            column = query.shows.get(key(one), "")
            if column in OWN or (column in COLUMNS - have and key(one) not in COLUMNS):
                known[place] = column
        return tuple(known)

    def fixed(self, columns: Sequence[str]) -> dict[str, str]:
        """Columns that a heading lacks, as the query asks for the rows of one value: `where SPID = 118`.

        None where no column is known: then the heading is damaged, or not one of these tables.
        """
        have = set(map(key, columns))
        found = query_of(self.query).fixed if have & COLUMNS else {}
        return {name: value for name, value in found.items() if name in COLUMNS - have}

    @property
    def subtracted(self) -> Subtracted | None:
        """That the rows below are differences already, where the query says so."""
        return Subtracted(self.seconds) if self.subtracts else None

    @property
    def last(self) -> str | None:
        """The table asked for last, as the server spells it."""
        return next((table.name for table in TABLES if table.name.lower() in self.tables[-1:]), None)
