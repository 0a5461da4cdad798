"""Where an Oracle Rdb database is: an ODBC connection string that names its driver or a data source."""

from collectors.live.ase import connection as odbc
from collectors.live.ase.connection import Connection
from collectors.live.registry import CollectorFailed

FORMS = "give an ODBC connection string: DSN=name;UID=user (odbc.ini), or DRIVER={name};… as its driver wants it"


def parse(text: str, password: str = "", *, paths: bool = False) -> Connection:
    """Read a connection. Raises `CollectorFailed`.

    `password` counts where the text has none; `paths`: as `collectors.live.ase.connection.parse` has it.
    """
    if "://" in text.partition(";")[0].partition("=")[0]:
        raise CollectorFailed("an Oracle Rdb database is reached by ODBC alone", FORMS)
    found = odbc.parse(text, password, paths=paths)
    if found.freetds:  # it is also what `parse` adds where no driver is named
        raise CollectorFailed("no driver for Oracle Rdb is named (FreeTDS speaks to SAP ASE)", FORMS)
    return found
