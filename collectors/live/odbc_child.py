"""The process that looks who answers by an ODBC connection: reads what to connect to from its standard input.

Called by `collectors.live.odbc`, by its path. It says what it found as one line of JSON, and connects to nothing else.
"""

import json
import sys

TOLD = {
    "driver": "SQL_DRIVER_NAME",
    "driver_version": "SQL_DRIVER_VER",
    "product": "SQL_DBMS_NAME",
    "release": "SQL_DBMS_VER",
    "server": "SQL_SERVER_NAME",
    "database": "SQL_DATABASE_NAME",
}
"""What is asked of the driver and of the server by SQLGetInfo."""


def main() -> None:
    """Connect and tell. What goes wrong is told as `state` and `text`, the driver's own words."""
    import pyodbc  # here: the service itself never loads a driver

    pyodbc.pooling = False
    order = json.load(sys.stdin)
    try:
        line = pyodbc.connect(order["connection"], autocommit=True, timeout=order["seconds"], readonly=True)
    except pyodbc.Error as error:
        state, text = ([*map(str, error.args), "", ""])[:2]
        told = {"state": state, "text": text}
    else:
        told = {name: _told(line, getattr(pyodbc, constant)) for name, constant in TOLD.items()}
    sys.stdout.write(json.dumps(told))
    sys.stdout.flush()


def _told(line: object, which: int) -> str:
    """What the driver says to one question; empty where it knows no answer."""
    import pyodbc

    try:
        return str(line.getinfo(which))  # type: ignore[attr-defined]
    except pyodbc.Error:
        return ""


if __name__ == "__main__":
    main()
