"""One connection to a server: batches in, parts of the answer out. Only the collecting process imports this.

pyodbc and FreeTDS have traps: transactions are begun unless autocommit is on, an error may come after the rows and
only with the next result, a login that is never answered hangs for ever (so all of this runs in a process that can be
ended), statements with parameters are prepared on the server. Hence: autocommit, no parameters, every answer read to
its end, one cursor at a time.
"""

import re
import socket
from collections.abc import Collection

import pyodbc

from collectors.live.ase.connection import Connection, scrub
from collectors.live.ase.guard import check
from collectors.live.identity import Silent
from collectors.live.printing import Message, Part, ResultSet
from collectors.live.registry import CollectorFailed

MOST_ROWS = 200_000
"""Of one answer; the questions set lower bounds themselves."""
MOST_MESSAGES = 20_000
AT_ONCE = 1000
PREFIX = re.compile(r"\A(?:\[[^\[\]]{1,60}\]){0,2}\[(?:SQL Server|Adaptive Server Enterprise|[^\[\]]{0,30}Driver)\]")
"""What drivers write before a server's own words: `[FreeTDS][SQL Server]`."""
NUMBER = re.compile(r"\(([0-9]+)\)(?: \(SQL\w+\))?\s*\Z")
STATE = re.compile(r"\A\[?[0-9A-Z]{5}\]?\s+")
NO_NEWS = (5701, 5703, 5704)
"""Changed database, language, character set: said at every login."""
LOST_NUMBERS = frozenset([20002, 20003, 20004, 20006, 20009, 20017, 20020, 20047])
"""FreeTDS's own: reading, writing or logging in failed, or the connection is dead already."""
REJECTED = "08004"
"""What FreeTDS calls Msg 911, a database that is not there (any more), too: the line holds."""
SLOW = ("HYT00",)
DEADLOCK = 1205
PACKAGES = "on Debian: apt-get install unixodbc tdsodbc; for SAP's own driver see its installation guide"
Unsigned = Collection[tuple[str, str]]


class Refused(Exception):
    """The server answered with an error; the line holds."""

    def __init__(self, number: int | None, text: str) -> None:
        """Take the number of the message and its text."""
        super().__init__(text)
        self.number, self.text = number, text


class Lost(Exception):
    """The connection ended or was never answered; the message is the driver's."""


class Slow(Lost):
    """No whole answer within the time; what became of the connection is not known."""


class Server:
    """A connection that only reads."""

    def __init__(self, connection: Connection, login_seconds: float) -> None:
        """Connect. Raises `CollectorFailed`."""
        self._where = connection
        pyodbc.pooling = False
        try:
            self._odbc = pyodbc.connect(connection.odbc(), autocommit=True, timeout=max(1, round(login_seconds)))
        except pyodbc.Error as error:
            raise _not_connected(connection, error) from None

    def ask(self, sql: str, seconds: float, table: str = "", unsigned: Unsigned = ()) -> list[Part]:
        """Send one batch and read its answer to the end. Raises `Refused`, `Lost`, `Slow`, `ValueError` (guard).

        `unsigned` are columns, as `(table, column)`, whose figures a driver may give as negative ones.
        """
        check(sql)
        self._limit(seconds)
        cursor = None
        try:
            cursor = self._odbc.cursor()
            return _read(cursor, sql, table, unsigned)
        except pyodbc.Error as error:
            raise self._sorted(error) from None
        finally:
            _close(cursor)

    def close(self) -> None:
        """Say goodbye."""
        _close(self._odbc)

    def _limit(self, seconds: float) -> None:
        try:
            self._odbc.timeout = max(1, round(seconds))
        except pyodbc.Error:  # a driver that has none: the process that watches ends us
            return

    def _sorted(self, error: pyodbc.Error) -> Exception:
        state, number, text = _told(error, self._where)
        if state in SLOW:
            return Slow(text)
        if state == REJECTED and number not in (None, *LOST_NUMBERS):
            return Refused(number, text)
        if state.startswith("08") or state in ("01002", "HYT01") or number in LOST_NUMBERS:
            return Lost(text)
        return Refused(number, text)


def _read(cursor: "pyodbc.Cursor", sql: str, table: str, unsigned: Unsigned) -> list[Part]:
    parts: list[Part] = []
    cursor.execute(sql)
    more = True
    while more:
        parts += _messages(cursor)
        if cursor.description:
            columns = tuple(column[0] or "" for column in cursor.description)
            masked = [at for at, name in enumerate(columns) if (table, name) in unsigned]
            rows = _rows(cursor)
            parts.append(ResultSet(columns, [_mended(row, masked) for row in rows] if masked else rows))
        more = bool(cursor.nextset())
        if len(parts) > MOST_MESSAGES:
            raise Refused(None, f"more than {MOST_MESSAGES:,} messages")
    return parts


def _rows(cursor: "pyodbc.Cursor") -> list[tuple[object, ...]]:
    """The rows of the current result. Not asked for once more at their end: FreeTDS would pass over what follows."""
    rows: list[tuple[object, ...]] = []
    while len(rows) <= MOST_ROWS:
        more = cursor.fetchmany(AT_ONCE)
        rows += (tuple(row) for row in more)
        if len(more) < AT_ONCE:
            return rows
    raise Refused(None, f"more than {MOST_ROWS:,} rows")


def _mended(row: tuple[object, ...], masked: list[int]) -> tuple[object, ...]:
    """A row with its 32 bits read as unsigned ones."""
    cells = list(row)
    for at in masked:
        cell = cells[at]
        if isinstance(cell, int) and -(1 << 31) <= cell < 0:
            cells[at] = cell & 0xFFFFFFFF
    return tuple(cells)


def _messages(cursor: "pyodbc.Cursor") -> list[Message]:
    found = []
    for kind, text in cursor.messages or ():
        number = NUMBER.search(kind)
        if not number or int(number[1]) not in NO_NEWS:
            found.append(Message(PREFIX.sub("", text)))
    return found


def _close(what: "pyodbc.Cursor | pyodbc.Connection | None") -> None:
    try:
        if what is not None:
            what.close()
    except pyodbc.Error:  # it is gone already
        return


def _told(error: pyodbc.Error, connection: Connection) -> tuple[str, int | None, str]:
    """The state, the number and the words of a driver's error; the first of several, without our password."""
    state = str(error.args[0]) if error.args else ""
    text = connection.scrub(str(error.args[-1]) if error.args else str(error))
    first = STATE.sub("", re.split(r"; \[[0-9A-Z]{5}\]", text)[0])
    number = NUMBER.search(first)
    words = NUMBER.sub("", PREFIX.sub("", first)).strip() or "no reason given"
    return state, int(number[1]) if number else None, words


def _not_connected(connection: Connection, error: pyodbc.Error) -> CollectorFailed:
    """Why there is no connection, and what to do."""
    state, number, text = _told(error, connection)
    whole, where = str(error), connection.where
    if state in ("IM002", "IM003", "IM004") or "Can't open lib" in whole:
        there = ", ".join(pyodbc.drivers()) or "none"
        lacking = f"ODBC driver {connection.driver} that works" if connection.driver else f"ODBC driver for {where}"
        says = f"this machine has no {lacking} (it has: {there})"
        return CollectorFailed(says, f"install it; {PACKAGES}")
    if number == 4002 or state == "28000" or "Login failed" in whole or "4002" in whole:
        do = "see that login and password are right and the login is not locked (sp_displaylogin)"
        says = f"{where} refuses the login{f' {connection.user}' if connection.user else ''}"
        return CollectorFailed(says, do, again=False)  # some servers lock a login after a few wrong passwords
    if state.startswith("08") or state in SLOW or "(20009)" in whole or "(20013)" in whole:
        return _not_reached(connection, text)
    return CollectorFailed(f"no connection to {where}: {text}", "see that it is an SAP ASE, and ask its DBA")


def _not_reached(connection: Connection, text: str) -> CollectorFailed:
    """Look at the address by ourselves: drivers say the same of a name nobody knows and of a closed port."""
    where = connection.where
    if connection.host and connection.port.isdecimal():
        try:
            with socket.create_connection((connection.host, int(connection.port)), timeout=3):
                pass
        except socket.gaierror:
            return CollectorFailed(f"the host {scrub(connection.host)} is not known", "see that its name is right")
        except ConnectionRefusedError:
            do = "see that the port is right (sp_helpserver, the interfaces file) and that the server runs"
            return CollectorFailed(f"{where} refuses the connection", do)
        except TimeoutError:
            return Silent(f"{where} does not answer", "see that no firewall stands between")
        except (OSError, OverflowError) as error:
            return CollectorFailed(
                f"{where} is not reached ({scrub(str(error))})", "see that address and port are right"
            )
    return CollectorFailed(f"no connection to {where}: {text}", "see that it is an SAP ASE, and that it runs")
