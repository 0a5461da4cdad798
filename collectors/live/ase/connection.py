"""Where to connect: an ODBC connection string of any driver, or `ase://user@host:port/`. The password stands apart.

A connection string of known keywords is passed on as it was given. Where the driver is FreeTDS, what is missing is
added: it needs the protocol named (else it tries another one first, which ASE writes into its error log), and sends
passwords in clear unless it is told otherwise.
"""

import re
from dataclasses import dataclass, field
from urllib.parse import unquote, urlsplit

from collectors.live.keywords import ENDS, PASSWORDS, PORTS, SECRET, SERVERS, TAKEN, USERS, clash, listed, remedy
from collectors.live.registry import CollectorFailed

LONGEST = 4096
LONGEST_PASSWORD = 1000
"""Characters. ASE takes 255 bytes; the whole order goes to the collecting process by a pipe that holds 64 KB."""
HOST = re.compile(r"[\w.:%-]{1,255}")
"""What stands between `@` and the port of an address: nothing that ends a part of a connection string."""
REFUSED = ("dumpfile", "dumpfileappend", "debugflags", "filedsn", "savefile")
"""Parts that would have a driver read or write files: what is sent, the password with it."""
FREETDS = (
    ("TDS_Version", "5.0"),
    ("ClientCharset", "UTF-8"),
    ("APP", "lockwright"),
    ("Encryption", "require"),  # RSA: the password never goes in clear, and a server that cannot do it is refused
)
PORT = "5000"
FORMS = "give ase://USER@HOST:PORT/ or an ODBC connection string: DRIVER={FreeTDS};SERVER=host;PORT=5000;UID=user"
MARK = "***"
PART = re.compile(r"\s*([^=;{}\s][^=;{}]*)=\s*(\{(?:[^}]|\}\})*\}|(?!\{)[^;]*)\s*(?:;+|\Z)")


@dataclass(frozen=True)
class Connection:
    """Where to connect."""

    parts: tuple[tuple[str, str], ...]
    """As given, braces and all, without the password."""
    password: str = field(default="", repr=False)

    @property
    def driver(self) -> str:
        """The driver by its name or path; empty where a DSN says it."""
        return self._part("driver")

    @property
    def freetds(self) -> bool:
        """Whether the driver is FreeTDS, by its own name or that of its file."""
        return "freetds" in self.driver.lower() or "tdsodbc" in self.driver.lower()

    @property
    def host(self) -> str:
        """The host; empty where a DSN says it."""
        return next(filter(None, map(self._part, SERVERS)), "")

    @property
    def port(self) -> str:
        """The port; empty where it is not said."""
        return next(filter(None, map(self._part, PORTS)), "")

    @property
    def user(self) -> str:
        """The login; empty where it is not said."""
        return next(filter(None, map(self._part, USERS)), "")

    @property
    def where(self) -> str:
        """The address as messages name it."""
        if self.host:
            return f"{self.host}:{self.port}" if self.port else self.host
        return f"the data source {self._part('dsn')}" if self._part("dsn") else "the server"

    def _part(self, name: str) -> str:
        return next((_bare(value) for key, value in self.parts if _name(key) == name), "")

    def without_password(self) -> str:
        """The connection string that may be shown and kept."""
        return ";".join(f"{name}={value}" for name, value in self.parts)

    def odbc(self) -> str:
        """The connection string for the driver, with the password."""
        parts = list(self.parts)
        there = {name.strip().lower() for name, _ in parts}
        if self.freetds:
            parts += [(name, value) for name, value in FREETDS if name.lower() not in there]
        if self.password:
            parts.append(("PWD", self._quoted_password()))
        return ";".join(f"{name}={value}" for name, value in parts) + ";"

    def _quoted_password(self) -> str:
        """The password as its driver reads it: FreeTDS ends what is in braces at `};`, and doubles nothing."""
        if self.freetds and _braced(self.password) != self.password:
            if "};" in self.password or self.password.endswith("}"):
                says = (
                    "this password cannot be passed to FreeTDS: it has a semicolon or a brace in a place that ends it"
                )
                raise CollectorFailed(says, "give the login a password without semicolons and braces")
            return "{" + self.password + "}"
        return _braced(self.password)

    def scrub(self, text: str) -> str:
        """Take the password out of a message; see `scrub`."""
        return scrub(text, self.password)


def scrub(text: str, *secrets: str) -> str:
    """Take secrets out of a message of a driver, and what controls a terminal; at most 500 characters."""
    for secret in secrets:
        for form in {secret, _braced(secret), secret.replace("}", "}}")} - {""}:
            text = text.replace(form, MARK)
    text = re.sub(r"(?i)\b(pwd|password)\s*=\s*(?:\{[^}]*\}|[^;\s]*)", rf"\1={MARK}", text)
    return "".join(char if char.isprintable() else " " for char in text)[:500].strip()


def parse(text: str, password: str = "", *, paths: bool = False) -> Connection:
    """Read a connection. Raises `CollectorFailed`.

    `password` counts where the text has none. `paths`: whether a driver may be named by the path of its library;
    only for who may run any program on this machine.
    """
    text = text.strip()
    if len(text) > LONGEST or not text.isprintable():
        raise CollectorFailed("the connection cannot be read", f"{FORMS}; no line breaks, at most {LONGEST} characters")
    found = _of_url(text) if "://" in text.partition(";")[0].partition("=")[0] else _of_odbc(text)
    _check_parts(found)
    said = found.password or password
    if "};" in said:  # FreeTDS, and who knows which driver of Rdb, takes what follows for keywords
        says = "a password with }; in it cannot be passed to every driver"
        raise CollectorFailed(says, "give the login another one")
    if len(said) > LONGEST_PASSWORD or any(char in said for char in "\0\r\n"):
        do = f"give one without line breaks, of at most {LONGEST_PASSWORD:,} characters"
        raise CollectorFailed("the password cannot be passed to a driver", do)
    if not paths and re.search(r"[/\\]", found.driver):
        do = "have it registered on this machine (odbcinst.ini) and name it: DRIVER={name}"
        raise CollectorFailed("a driver is named by its path", do)
    return Connection(found.parts, said)


def _check_parts(found: Connection) -> None:
    """Refuse what drivers read otherwise than we do: then a value could hold parts that nobody has looked at.

    Of a part that comes twice some take the first, some the last. Some end a value in braces at the first `};`.
    """
    names = [_name(name) for name, _ in found.parts]
    if bad := [name for name in names if name in REFUSED]:
        do = f"leave {', '.join(bad)} away"
        raise CollectorFailed("the connection has a part that makes a driver read or write files", do)
    if any(name not in TAKEN for name in names):  # which one is not said: it may be a piece of a password
        do = f"taken are {listed()}; what else the driver wants belongs into odbc.ini: name it by DSN="
        raise CollectorFailed("the connection has a keyword that is not taken", do)
    if twice := [name for name in names if names.count(name) > 1]:
        raise CollectorFailed(f"the connection has {twice[0]} twice", "leave one of them away")
    if both := clash(names):
        says = f"the connection has {' and '.join(one.upper() for one in both)}"
        raise CollectorFailed(says, remedy(both))
    if bad := [name for name, value in found.parts if ENDS & set(_bare(value))]:
        says = f"the connection has a brace or a semicolon within its {bad[0]}"
        raise CollectorFailed(says, "give a value without them: drivers differ in where it ends")
    if bad := [name for name, value in found.parts if not _is_one(_name(name), _bare(value))]:
        raise CollectorFailed(f"the {bad[0]} of the connection is none", "name one host, its port apart, or one DSN")
    if bad := [name for name, value in found.parts if not _bare(value).isprintable()]:
        raise CollectorFailed(f"the connection has a control character within its {bad[0]}", "leave it away")
    if bad := [name for name, value in found.parts if SECRET.search(_bare(value))]:
        says = f"the connection seems to have a password within its {bad[0]}"
        raise CollectorFailed(says, "part the keywords by semicolons, and give the password apart")


def _is_one(name: str, value: str) -> bool:
    """Whether a value that says where to go says one place: no list, no path, no instance."""
    if name in SERVERS:
        return bool(HOST.fullmatch(value))
    if name in PORTS:
        return value.isascii() and value.isdigit()
    return name != "dsn" or not re.search(r"[/\\,]", value)


def _of_url(text: str) -> Connection:
    try:
        url = urlsplit(text)
        host, port = url.hostname, url.port
    except ValueError:
        host, port, url = None, None, urlsplit("")
    if (
        url.scheme != "ase"
        or not host
        or not HOST.fullmatch(host)
        or url.path not in ("", "/")
        or url.query
        or url.fragment
    ):
        raise CollectorFailed("the connection cannot be read", FORMS)
    parts = [("DRIVER", "{FreeTDS}"), ("SERVER", host), ("PORT", str(port or PORT))]
    if url.username:
        parts.append(("UID", _braced(unquote(url.username))))
    return Connection(tuple(parts), unquote(url.password or ""))


def _of_odbc(text: str) -> Connection:
    """Split at the semicolons outside braces; within braces `}}` is one brace."""
    parts: list[tuple[str, str]] = []
    at = 0
    while found := PART.match(text, at):
        at = found.end()
        parts.append((found[1].strip(), found[2].strip()))
    if at != len(text) or not parts:
        raise CollectorFailed("the connection cannot be read", FORMS)
    names = [_name(name) for name, _ in parts]
    if not {"driver", "dsn", "filedsn"} & set(names):
        parts.insert(0, ("DRIVER", "{FreeTDS}"))
    passwords = [_bare(value) for name, value in parts if _name(name) in PASSWORDS]
    kept = Connection(tuple(part for part in parts if _name(part[0]) not in PASSWORDS))
    if kept.freetds and kept.host and not kept.port:
        kept = Connection((*kept.parts, ("PORT", PORT)))
    return Connection(kept.parts, next(iter(passwords), ""))


def _name(keyword: str) -> str:
    """A keyword as drivers look it up: in small letters, without blanks."""
    return "".join(keyword.lower().split())


def _bare(value: str) -> str:
    return value[1:-1].replace("}}", "}") if value.startswith("{") and value.endswith("}") else value


def _braced(value: str) -> str:
    """A value as it stands in a connection string: in braces where it would end or begin wrongly without."""
    if value and value == value.strip() and ";" not in value and not value.startswith("{"):
        return value
    return "{" + value.replace("}", "}}") + "}"
