"""A client for the tests of the server: pyodbc with FreeTDS, as a collector has to use it, always drained."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pyodbc

from tests.live.running import Serving

pyodbc.pooling = False
LOGIN_SECONDS = 60
Part = tuple[str, Any]


@contextmanager
def connected(
    server: Serving, *, autocommit: bool = True, seconds: int = 0, **more: str
) -> Iterator[pyodbc.Connection]:
    """Log in and yield the connection; `seconds` is the limit of a query, `more` goes into the connection string."""
    connection = pyodbc.connect(server.connection(**more), autocommit=autocommit, timeout=LOGIN_SECONDS)
    connection.timeout = seconds
    try:
        yield connection
    finally:
        connection.close()


def ask(connection: pyodbc.Connection, batch: str) -> list[Part]:
    """Send a batch and give all of its answer in order: `("message", text)` and `("rows", names, rows)`, flat.

    Raises `pyodbc.Error`, of an error after rows too.
    """
    cursor = connection.cursor()
    try:
        found: list[Part] = []
        cursor.execute(batch)
        while True:
            found += [("message", text.rpartition("]")[2]) for _, text in cursor.messages or []]
            if cursor.description:
                names = [one[0] for one in cursor.description]
                found.append(("rows", [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]))
            if not cursor.nextset():
                return found
    finally:
        cursor.close()


def rows(connection: pyodbc.Connection, batch: str) -> list[dict[str, Any]]:
    """Send a batch and give the rows of its only result set, by column."""
    (found,) = [part for kind, part in ask(connection, batch) if kind == "rows"]
    assert isinstance(found, list)
    return found


def one(connection: pyodbc.Connection, expression: str) -> Any:
    """Ask for one value."""
    (row,) = rows(connection, f"select {expression} x")
    return row["x"]
