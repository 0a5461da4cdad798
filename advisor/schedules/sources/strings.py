"""ODBC connection strings that people type: taken apart, bounded, and rid of their password.

Which keywords are taken, and why no others: `collectors.live.keywords`.
"""

import ipaddress
import re
from collections.abc import Callable, Iterator
from contextlib import suppress

from collectors.live.keywords import ENDS, PASSWORDS, SECRET, SERVERS, TAKEN, USERS, clash, listed, remedy

__all__ = ["ENDS", "TAKEN", "USERS", "BadString", "checked", "freetds", "hosts", "of", "pinned", "taken_out"]
LONGEST = 1000
HOST = re.compile(r"(?!-)[A-Za-z0-9_-]{1,63}(?<!-)(\.(?!-)[A-Za-z0-9_-]{1,63}(?<!-)){0,12}\.?")
NAME = re.compile(r"[A-Za-z0-9 _.+-]{1,80}")
"""What a driver or a DSN is called: no path."""
Pairs = list[tuple[str, str]]


class BadString(ValueError):
    """A connection string that is not taken; says why and what to write. It never quotes the string."""


def parsed(text: str) -> Pairs:
    """The keywords, in lower case without blanks, and their values without braces. Raises `BadString`."""
    if len(text) > LONGEST:
        raise BadString(f"A connection string of more than {LONGEST:,} characters is not taken.")
    if not text.isprintable():
        raise BadString("A connection string is one line without control characters.")
    return list(_pairs(text))


def written(pairs: Pairs) -> str:
    """A connection string of these, each value in braces where it needs them."""
    return "".join(f"{key.upper()}={_braced(value)};" for key, value in pairs)


def taken_out(text: str) -> tuple[str, str]:
    """A string without its password, and the password.

    Where one seems to stand in it otherwise, or it cannot be read, it ends before that and no password is given.
    """
    left, password = text, ""
    with suppress(BadString):
        pairs = parsed(text)
        if any(key in PASSWORDS for key, _ in pairs):
            left = written([(key, value) for key, value in pairs if key not in PASSWORDS])
            password = next(value for key, value in pairs if key in PASSWORDS)
    if found := SECRET.search(left):
        return left[: found.start()].rstrip(" ;"), ""
    return left, password


def checked(text: str) -> str:
    """The string as it is kept, without password. Raises `BadString`."""
    pairs = parsed(text)
    keys = [key for key, _ in pairs]
    if len(set(keys)) != len(keys):
        raise BadString("A keyword stands in it twice: leave one of both out.")
    if any(key in PASSWORDS for key in keys):
        raise BadString("Leave the password out of it: it has a field of its own.")
    if any(key not in TAKEN for key in keys):
        raise BadString(
            f"A keyword of it is not taken. Taken are {listed()}. What else the "
            "driver needs belongs into odbc.ini on the machine of the workers: name it by DSN=."
        )
    if both := clash(keys):
        raise BadString(f"{' and '.join(key.upper() for key in both)} at once: {remedy(both)}.")
    if "driver" not in keys and "dsn" not in keys:
        raise BadString("It names no driver: write DRIVER={name of the driver} or DSN=name.")
    for key, value in pairs:
        if ENDS & set(value):
            raise BadString(
                f"The value of {key.upper()} has a brace or a semicolon in it: drivers differ in where it ends."
            )
        if SECRET.search(value):
            raise BadString(f"The value of {key.upper()} seems to hold a password: that has a field of its own.")
        if key in ("port", "serverport") and not (value.isascii() and value.isdigit() and 0 < int(value[:9]) < 65536):
            raise BadString("PORT is a number from 1 to 65535.")
        if key in ("driver", "dsn") and not NAME.fullmatch(value):
            raise BadString(f"{key.upper()} is a name that odbcinst.ini or odbc.ini has, not a path.")
        if key in ("encryption", "class", "database", "db") and ("/" in value or "\\" in value):
            raise BadString(f"{key.upper()} holds a path: that belongs into odbc.ini.")
        if key == "encryption" and value.lower() != "require":
            raise BadString("ENCRYPTION is require, or left out: the password is not sent in clear.")
        if key in SERVERS and not (HOST.fullmatch(value) or _is_address(value)):
            raise BadString(f"{key.upper()} is a host name or an IP address; its port stands apart, as PORT=5000.")
    return written(pairs)


def hosts(text: str) -> list[str]:
    """The hosts a checked string names; none where a DSN says it."""
    return [value for key, value in parsed(text) if key in SERVERS]


def pinned(text: str, resolve: Callable[[str], str]) -> str:
    """The string after each host in it was looked up; for FreeTDS, which asks no host for its name, by its address."""
    found = parsed(text)
    addresses = {value: resolve(value) for key, value in found if key in SERVERS}
    if not freetds(text):
        return text
    return written([(key, addresses[value] if key in SERVERS else value) for key, value in found])


def freetds(text: str) -> bool:
    """Whether the string names FreeTDS as its driver, by its own name or that of its library."""
    driver = of(text, "driver").lower()
    return "freetds" in driver or "tdsodbc" in driver


def of(text: str, *keys: str) -> str:
    """The value of the first of these keywords; empty: it has none."""
    return next((value for key, value in parsed(text) if key in keys), "")


def _pairs(text: str) -> Iterator[tuple[str, str]]:
    at = 0
    while at < len(text):
        if text[at] in "; ":
            at += 1
            continue
        equals = text.find("=", at)
        if equals < 0 or ";" in text[at:equals]:
            raise BadString("It is written KEYWORD=value;KEYWORD=value; with values that hold a ; in {braces}.")
        key = "".join(text[at:equals].lower().split())
        value, at = _value(text, equals + 1)
        yield key, value


def _value(text: str, at: int) -> tuple[str, int]:
    """The value that begins here, and where the next keyword does. In braces `}}` stands for `}`."""
    while text[at : at + 1] == " ":
        at += 1
    if text[at : at + 1] != "{":
        end = text.find(";", at)
        end = len(text) if end < 0 else end
        return text[at:end].strip(), end
    value, at = "", at + 1
    while True:
        end = text.find("}", at)
        if end < 0:
            raise BadString("A brace { is not closed.")
        value += text[at:end]
        if text[end : end + 2] != "}}":
            return value, end + 1
        value, at = value + "}", end + 2


def _braced(value: str) -> str:
    if not value or any(char in value for char in ";{}[]=,() ") or value != value.strip():
        return "{" + value.replace("}", "}}") + "}"
    return value


def _is_address(value: str) -> bool:
    """Whether it is an IP address; one with a zone is none: after its % Python takes any sign."""
    try:
        ipaddress.ip_address(value)
    except ValueError:
        return False
    return "%" not in value
