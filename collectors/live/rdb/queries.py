"""The round of questions in the collecting process. Only that process imports this, and with it pyodbc.

Autocommit is off: with it a driver ends the transaction after each statement, and `SET TRANSACTION READ ONLY` holds for
none of ours (PostgreSQL says so by a warning and lets writes pass; tried). A question that fails leaves a transaction
that takes no more statements, so each has one of its own.
"""

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import pyodbc

from collectors.live.ase.collect_request import LONGER
from collectors.live.ase.connection import Connection
from collectors.live.printing import ResultSet, plain, printed
from collectors.live.rdb.questions import FILE, QUESTIONS, READ_ONLY, WHO, CollectRequest, Question
from collectors.live.registry import CollectorFailed

LONGEST = 300
NO_DRIVER = ("IM002", "IM003", "IM004")
NO_TABLE = ("42S02", "42P01")
SLACK = 5.0
"""Seconds after which an answer that the driver was to give up is not waited for any more."""
MAKE_THEM = "have SQL$SAMPLE:INFO_TABLES.SQL of this release run in the database, or upload RMU/DUMP/HEADER"


class NotReadOnly(Exception):
    """The server did not promise to only read; says what it said."""


@dataclass
class Result:
    """What a round brought."""

    server: str = ""
    version: str = ""
    driver: str = ""
    root: str = ""
    asked: list[str] = field(default_factory=list)
    rows: int = 0
    seconds: float = 0.0
    bounded: list[str] = field(default_factory=list)
    left_out: list[dict[str, str]] = field(default_factory=list)
    bytes: int = 0
    """Of the file, up to the last whole answer."""
    planned: list[str] = field(default_factory=list)
    """What is still to be asked."""

    @property
    def named(self) -> str | None:
        """Which database it is: its root file, or the name the driver gives; `None`: it did not say."""
        return (self.root or self.server) if WHO in self.asked else None


class Round:
    """One round over one login; `write`: whether answers are written into `folder`."""

    def __init__(
        self,
        connection: Connection,
        order: CollectRequest,
        folder: Path,
        tell: Callable[[str, float], None],
        keep: Callable[[Result], None] = lambda result: None,
        *,
        write: bool,
    ) -> None:
        """Connect. Raises `CollectorFailed`.

        `tell` and `keep` as `collectors.live.ase.queries.Round` has them.
        """
        self.connection, self.order, self.folder, self.tell, self.write = connection, order, folder, tell, write
        self.keep = keep
        self.result = Result()
        tell("the login", order.login_seconds + SLACK)
        pyodbc.pooling = False
        seconds = max(1, round(order.login_seconds))
        try:
            self.line = pyodbc.connect(connection.odbc(), autocommit=False, timeout=seconds, readonly=True)
        except pyodbc.Error as error:
            raise _not_connected(connection, error) from None

    def ask(self) -> Result:
        """Ask all of it. Raises `CollectorFailed`."""
        self.result.version = " ".join(filter(None, (self._told("SQL_DBMS_NAME"), self._told("SQL_DBMS_VER"))))
        self.result.driver = " ".join(filter(None, (self._told("SQL_DRIVER_NAME"), self._told("SQL_DRIVER_VER"))))
        self.result.server = self._told("SQL_DATABASE_NAME") or self._told("SQL_DATA_SOURCE_NAME")
        self.result.planned = [one.name for one in QUESTIONS if one.name not in self.order.without]
        began = time.monotonic()
        for one in QUESTIONS:
            if one.name in self.order.without:
                self._leave(one, "left out as was asked for", "")
                continue
            self.tell(f"`{one.name}`", 2 * self.order.question_seconds + SLACK)
            try:
                self._question(one)
            except NotReadOnly as error:
                says = f"{self.connection.where} was asked nothing: it does not take `{READ_ONLY}` ({error})"
                do = "name a driver that passes it on, or upload RMU/DUMP/HEADER"
                raise CollectorFailed(says, do, again=False) from None
            except pyodbc.Error as error:
                if not self._failed(one, error):
                    break
            self.result.planned.remove(one.name)
            self.keep(self.result)
        self.result.seconds = round(time.monotonic() - began, 3)
        self._close()
        return self.result

    def _question(self, one: Question) -> None:
        """Ask one table in a transaction that only reads. Raises `NotReadOnly`, `pyodbc.Error`."""
        cursor = self.line.cursor()
        try:
            self._limit()
            try:
                cursor.execute(READ_ONLY)
            except pyodbc.Error as error:
                if _state(error).startswith(("08", "HYT")):
                    raise
                raise NotReadOnly(_text(self.connection, error)) from None
            if cursor.messages:  # a warning that it has no effect
                raise NotReadOnly(plain(str(cursor.messages[0][-1]))[:LONGEST])
            cursor.execute(one.sql)
            columns = tuple(column[0] or "" for column in cursor.description or ())
            rows = [tuple(row) for row in cursor.fetchmany(one.most_rows + 1)]
        finally:
            self._end(cursor)
        self._take(one, columns, rows)

    def _take(self, one: Question, columns: tuple[str, ...], rows: list[tuple[object, ...]]) -> None:
        if not columns:
            self._leave(one, "the server answered with no columns", "ask it by hand and upload the answer")
            return
        if len(rows) > one.most_rows:
            del rows[one.most_rows :]
            self.result.bounded.append(f"{one.name}: the first {one.most_rows:,} rows")
        if one.columns != "*" and rows and isinstance(rows[0][0], str):
            self.result.root = plain(rows[0][0].strip())[:255]
        stripped = [tuple(cell.rstrip() if isinstance(cell, str) else cell for cell in row) for row in rows]
        self.result.asked.append(one.name)
        self.result.rows += len(rows)
        if self.write:
            with (self.folder / FILE).open("a", encoding="utf-8", newline="\n") as out:
                out.write(printed(one.sql, [ResultSet(columns, stripped)]))
                out.flush()
                self.result.bytes = out.tell()

    def _failed(self, one: Question, error: pyodbc.Error) -> bool:
        """Note a question that was not answered; gives whether to go on. What was answered before is kept.

        Raises `CollectorFailed` where the line is lost before anything was answered.
        """
        state, text = _state(error), _text(self.connection, error)
        if state.startswith(("08", "HYT")):
            says = f"{self.connection.where} did not answer to the end, at `{one.name}` ({text})"
            do = f"see that the database is open and no transaction holds it up, or {LONGER}"
            if not self.result.asked:
                raise CollectorFailed(says, do)
            for left in QUESTIONS[QUESTIONS.index(one) :]:
                if left.name not in self.order.without:
                    self._leave(left, f"not answered any more: {says}", do)
            return False
        do = MAKE_THEM if state in NO_TABLE else "ask it by hand with this login and see what the server says"
        self._leave(one, text, do)
        return True

    def _leave(self, one: Question, why: str, do: str) -> None:
        self.result.left_out.append({"question": one.name, "why": why, "do": do})

    def _end(self, cursor: "pyodbc.Cursor") -> None:
        """End the transaction; a driver that cannot must not hide why the question failed."""
        with suppress(pyodbc.Error):
            cursor.close()
            self.line.rollback()

    def _limit(self) -> None:
        """Have the driver give up in time, where it knows how to; else the process that watches ends us."""
        with suppress(pyodbc.Error):  # psqlODBC has no such attribute
            self.line.timeout = max(1, round(self.order.question_seconds))

    def _told(self, constant: str) -> str:
        try:
            return plain(str(self.line.getinfo(getattr(pyodbc, constant))))[:LONGEST].strip()
        except pyodbc.Error:
            return ""

    def _close(self) -> None:
        with suppress(pyodbc.Error):  # it is gone already
            self.line.close()


def _state(error: pyodbc.Error) -> str:
    return str(error.args[0]) if error.args else ""


def _text(connection: Connection, error: pyodbc.Error) -> str:
    return connection.scrub(str(error.args[-1]) if error.args else str(error))[:LONGEST]


def _not_connected(connection: Connection, error: pyodbc.Error) -> CollectorFailed:
    """Why there is no connection, and what to do."""
    state, text = _state(error), _text(connection, error)
    if state in NO_DRIVER or "Can't open lib" in str(error):
        there = ", ".join(pyodbc.drivers()) or "none"
        do = "install the driver and name it as odbcinst.ini does, or the data source as odbc.ini does"
        return CollectorFailed(f"this machine has no such ODBC driver or data source (drivers: {there})", do)
    if state.startswith("28"):
        return CollectorFailed(
            f"{connection.where} refuses the login ({text})", "look at user and password", again=False
        )
    return CollectorFailed(f"no connection to {connection.where} ({text})", "look at host and port, and at its server")
