"""Keywords of ODBC connection strings that are taken: who is asked, by which login, and how both speak.

A connection string says more than an address: which library is loaded (`DRIVER=/tmp/x.so`), which files are read or
written (`FILEDSN`, `SAVEFILE`, `DumpFile`), where else to go (`Servername`, `SecondaryHost`, `DSURL`). So what may
stand in one is listed, and not what may not. What else a driver wants belongs into `odbc.ini`, which the operator of
the machine keeps, as `DSN=name`.
"""

import re
from collections.abc import Collection

PASSWORDS = ("pwd", "password")
USERS = ("uid", "user", "userid", "username")
SERVERS = ("server", "host", "hostname", "networkaddress", "na")
PORTS = ("port", "serverport")
ONE_OF = (
    ("driver", "dsn"),
    SERVERS,
    ("dsn", *SERVERS),
    ("dsn", *PORTS),
    PORTS,
    USERS,
    ("database", "db"),
    ("app", "applicationname"),
    ("wsid", "workstationid"),
    ("charset", "clientcharset"),
)
"""Names of one thing: of several a driver takes the first or the last, and another one than was looked at. A DSN says
by itself where it leads: with another host the password that `odbc.ini` keeps for it would go there."""
PLAIN = (
    *("driver", "dsn", *PORTS, "database", "db", "app", "applicationname", "wsid", "workstationid"),
    *("language", "charset", "clientcharset", "tds_version", "textsize", "packetsize", "encryption", "encryptpassword"),
    *("timeout", "logintimeout", "commandtimeout", "class"),
)
"""Keywords of FreeTDS, of SAP's driver and of Oracle's driver for Rdb that name no file and no other place."""
TAKEN = (*PLAIN, *SERVERS, *USERS)
ENDS = frozenset("{};")
"""FreeTDS ends a value in braces at `};` and knows no `}}`: what follows would be keywords of their own, `DumpFile`
among them. So no value that is kept has any of these; who may log in is hardly called so."""
SECRET = re.compile(r"(?i)p *w *d *=|(?<!encrypt)(?<!encrypt )p *a *s *s[a-z_ ]{0,20}=|//[^/@]{0,200}:[^@]{0,200}@")
"""Where a password seems to be written, also where no keyword can be (`UID=me PWD=…`, `ase://me:…@host`)."""


def listed() -> str:
    """The keywords that are taken, as a message lists them."""
    return ", ".join(one.upper() for one in sorted(TAKEN))


def clash(keys: Collection[str]) -> tuple[str, ...]:
    """Keywords of these that say the same thing, or a DSN and where it is to lead; empty: there are none."""
    for group in ONE_OF:
        found = tuple(dict.fromkeys(key for key in keys if key in group))
        if len(found) > 1:
            return found
    return ()


def remedy(both: Collection[str]) -> str:
    """What to do about keywords that `clash` found."""
    if "dsn" in both:
        others = ", ".join(key.upper() for key in both if key != "dsn")
        return (
            f"with DSN leave {others} out, for odbc.ini says where a DSN leads; or leave DSN out, and write DRIVER, "
            "SERVER and PORT"
        )
    return "leave one of them out: drivers differ in which one they follow"
