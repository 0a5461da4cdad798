"""Runs a script as isql does: batches over pyodbc and FreeTDS, printed as isql prints them.

Unlike in what `collectors.live.printing` makes, dates have no seconds, and the lines of a batch, comments and all,
stand in front of its answer only with `-e`; else nothing does, or a prompt for each line, as some clients have it.
"""

import re
from collections.abc import Iterator
from datetime import datetime

import pyodbc

from collectors.live.ase.driver import NO_NEWS, NUMBER, PREFIX
from collectors.live.printing import Message, Part, ResultSet, printed
from tests.live.queries import connected
from tests.live.running import Serving

GO = re.compile(r"^go\s*$", re.MULTILINE)
ECHOED, PROMPTED, PLAIN = "the lines, by -e", "prompts", "nothing"
ECHO = re.compile(r"\A(?:[0-9]+> .*\n)+")


def batches(script: str) -> list[str]:
    """The batches of a script, without what stands behind the last `go`."""
    return [one.strip("\n") for one in GO.split(script)[:-1]]


def run(server: Serving, script: str, before: str = ECHOED) -> str:
    """Run a script and give what isql writes into its file; `before`: what stands in front of an answer."""
    with connected(server) as connection:
        return "".join(_answer(connection, batch, before) for batch in batches(script))


def _answer(connection: pyodbc.Connection, batch: str, before: str) -> str:
    text = printed(batch, list(_parts(connection, batch)))
    if before == ECHOED:
        return text
    prompts = "".join(f"{number}> " for number in range(1, len(batch.splitlines()) + 2))
    return (prompts if before == PROMPTED else "") + ECHO.sub("", text)


def _parts(connection: pyodbc.Connection, batch: str) -> Iterator[Part]:
    """The answer to a batch; an error of the server ends it, as a message."""
    cursor = connection.cursor()
    try:
        cursor.execute(batch)
        while True:
            for kind, text in cursor.messages or []:
                number = NUMBER.search(kind)
                if not number or int(number[1]) not in NO_NEWS:
                    yield Message(PREFIX.sub("", text))
            if cursor.description:
                columns = tuple(one[0] or "" for one in cursor.description)
                yield ResultSet(columns, [tuple(map(_cell, row)) for row in cursor.fetchall()])
            if not cursor.nextset():
                return
    except pyodbc.Error as error:
        number = NUMBER.search(str(error.args[-1]))
        said = PREFIX.sub("", re.sub(r"\A\[?[0-9A-Z]{5}\]?\s+", "", str(error.args[-1])))
        yield Message(f"Msg {number[1] if number else 0}, Level 16, State 1:\nServer 'PROD1', Line 1:\n{said}")
    finally:
        cursor.close()


def _cell(value: object) -> object:
    """A value as isql has it: a date in the server's own form, which has no seconds."""
    if isinstance(value, datetime):
        hour = value.hour % 12 or 12
        return f"{value:%b} {value.day:2d} {value.year} {hour:2d}:{value:%M%p}"
    return value
