"""Which hosts are asked: the service does it, from inside the network, for whoever typed a name.

Never link-local addresses and those by which clouds tell a machine its secrets. Where ALLOWED_SOURCES says more, only
what it names. A name is looked up once: what was checked is what is connected to, wherever we make the connection.
"""

import ipaddress
import socket
from dataclasses import dataclass
from fnmatch import fnmatchcase

from django.conf import settings

from advisor.notifications.webhooks.posting import forbidden, in_four_numbers

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
MOST = 32
"""Addresses of one name that are looked at."""


@dataclass
class NotAsked(Exception):
    """A host that is not asked; says why and what to do."""

    says: str
    do: str


def literal(host: str) -> Address | None:
    """The address a host is written as, if it is one; with a zone it is none: after its % Python takes any sign."""
    if "%" in host:
        return None
    try:
        return ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return None


def check(host: str) -> None:
    """Look at a host as it was typed, without asking a name server. Raises `NotAsked`."""
    address = literal(host) or literal(in_four_numbers(host))
    if address is not None:
        _check(host, [address])
    elif settings.ALLOWED_SOURCES and not _networks() and not _named(host):
        raise _outside(host)


def check_dsn(name: str) -> None:
    """Look at a name of odbc.ini: whoever keeps that file has said where it leads. Raises `NotAsked`."""
    if settings.ALLOWED_SOURCES and f"dsn={name}".lower() not in map(str.lower, settings.ALLOWED_SOURCES):
        raise _outside(f"DSN={name}")


def resolved(host: str) -> str:
    """The address of a host that may be asked. Raises `NotAsked`."""
    address = literal(host)
    if address is not None:
        _check(host, [address])
        return str(address)
    try:
        told = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise NotAsked(f"the name {host} is not known here", "see that the machine of the workers knows it") from None
    addresses = [ipaddress.ip_address(str(one[4][0]).partition("%")[0]) for one in told[:MOST]]
    _check(host, addresses)
    return str(addresses[0])


def _check(host: str, addresses: list[Address]) -> None:
    if not addresses or any(forbidden(one) for one in addresses):
        raise NotAsked(f"{host} is a link-local address or a cloud's own: it is never asked", "name the server itself")
    if settings.ALLOWED_SOURCES and not _named(host) and not all(_inside(one) for one in addresses):
        raise _outside(host)


def _outside(host: str) -> NotAsked:
    do = "choose a server inside what the operator allows, or have ALLOWED_SOURCES name it"
    return NotAsked(f"{host} is outside of what this service may ask", do)


def _named(host: str) -> bool:
    """Whether a pattern of names covers the host; a pattern of an address does it for that address."""
    name = host.lower().rstrip(".")
    return any("/" not in one and fnmatchcase(name, one.lower()) for one in settings.ALLOWED_SOURCES)


def _inside(address: Address) -> bool:
    inner = getattr(address, "ipv4_mapped", None) or address
    return any(inner in net for net in _networks() if net.version == inner.version)


def _networks() -> list[ipaddress.IPv4Network | ipaddress.IPv6Network]:
    """The networks of ALLOWED_SOURCES; one that cannot be read allows nothing (the check advisor.E003 tells)."""
    found = []
    for one in settings.ALLOWED_SOURCES:
        if "/" in one:
            try:
                found.append(ipaddress.ip_network(one, strict=False))
            except ValueError:
                continue
    return found


def unreadable() -> list[str]:
    """Which entries of ALLOWED_SOURCES with a slash are no network."""
    found = []
    for one in settings.ALLOWED_SOURCES:
        try:
            if "/" in one:
                ipaddress.ip_network(one, strict=False)
        except ValueError:
            found.append(one)
    return found
