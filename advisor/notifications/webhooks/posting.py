"""Post a body to an address that an administrator typed, within a time that no answer can stretch.

httpx bounds each wait for the other side alone: who sends a byte every nine seconds holds the line for ever. So the
connection is made here, under httpcore (what httpx stands on). The name is resolved once, the addresses found are
checked, and one of these is connected to: a name server that answers otherwise the second time gains nothing.
No redirect is followed, no proxy of the environment is asked. Certificates are checked against those this machine
trusts, where a site's own issuer is installed.
"""

import errno
import ipaddress
import re
import socket
import ssl
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import urlsplit

import httpcore

from advisor.uploads.services.uploads import clean_text

CONNECT, ANSWER, BODY = 5.0, 10.0, 3.0
"""Seconds to wait for the connection, for each answer, and for the text of an answer (this project's figures)."""
MOST_READ = 4096
LONGEST_URL = 500
FORBIDDEN = tuple(
    ipaddress.ip_network(net)
    for net in (
        *("169.254.0.0/16", "fe80::/10", "224.0.0.0/4", "ff00::/8"),
        *("100.100.100.200/32", "168.63.129.16/32", "fd00:ec2::254/128", "fd20:ce::254/128", "fd00:c1::a9fe:a9fe/128"),
        *("64:ff9b:1::/48", "2001::/32"),
    )
)
"""Link-local addresses and groups of machines; those by which clouds tell a machine its secrets; and what leads to an
IPv4 address that is not to be read out of it (a network's own NAT64, Teredo)."""
EMBEDDED = tuple(ipaddress.ip_network(net) for net in ("::/96", "::ffff:0:0/96", "::ffff:0:0:0/96", "64:ff9b::/96"))
"""IPv6 addresses whose last 32 bits are an IPv4 address: compatible, mapped, translated (SIIT), NAT64."""
ISATAP = (0x00005EFE, 0x02005EFE)
"""What stands before the IPv4 address in an address of ISATAP (RFC 5214)."""
URL = re.compile(r"[!-~]+")


class BadAddress(ValueError):
    """An address nothing is posted to; the message says why and what to write."""


class NoAnswer(Exception):
    """No answer came; what happened, and what to do about it."""

    def __init__(self, says: str, do: str) -> None:
        super().__init__(f"{says} {do}")
        self.says, self.do = says, do


@dataclass(frozen=True)
class Answer:
    """What the other side said: the status, the first line of its text, and how many seconds it asks to wait."""

    status: int
    text: str = ""
    retry_after: float | None = None
    location: str = ""


def checked_url(text: str) -> str:
    """The address as it is stored. Raises `BadAddress`."""
    url = text.strip()
    if not url or not URL.fullmatch(url):
        raise BadAddress("Write an address of ASCII letters without blanks (a name with others as xn--…).")
    if len(url) > LONGEST_URL:
        raise BadAddress(f"An address of more than {LONGEST_URL} characters is not taken.")
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise BadAddress("This is no address: write https://host/path, with a port from 1 to 65535 if any.") from None
    if parts.scheme not in ("http", "https"):
        raise BadAddress("Write an address that begins with https:// (or http:// inside your own network).")
    if parts.username is not None or parts.password is not None:
        raise BadAddress("Leave user and password out: deliveries are signed, the receiver checks that.")
    if parts.fragment or "#" in url:
        raise BadAddress("Leave out what follows #: it is not sent to a server.")
    if not parts.hostname or port == 0:
        raise BadAddress("This address has no host, or port 0: write https://host/path.")
    if _number(parts.hostname):
        _check(parts.hostname, parts.hostname)
        if inner := embedded(ipaddress.ip_address(parts.hostname.partition("%")[0])):
            raise BadAddress(f"This is the IPv4 address {inner[0]} in IPv6 letters: write it as {inner[0]}.")
    elif meant := in_four_numbers(parts.hostname):
        _check(meant, parts.hostname)
        raise BadAddress(f"This is the IPv4 address {meant} in another spelling: write it as {meant}.")
    else:
        try:
            parts.hostname.encode("idna")  # as it is asked for at the name server
        except UnicodeError:
            says = "A part of this host's name is empty or longer than 63 letters: check the dots in it."
            raise BadAddress(says) from None
    return url


def forbidden(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> bool:
    """Whether nothing is ever posted to this address, also where it is written inside another one."""
    return any(one in net for one in (address, *embedded(address)) for net in FORBIDDEN if one.version == net.version)


def embedded(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> list[ipaddress.IPv4Address]:
    """The IPv4 addresses that an IPv6 address leads to; of `::` and `::1`, which are addresses by themselves, none."""
    if isinstance(address, ipaddress.IPv4Address) or int(address) < 2:
        return []
    last = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    found = [last] if any(address in net for net in EMBEDDED) else []
    if int(address) >> 32 & 0xFFFFFFFF in ISATAP:
        found.append(last)
    return [*found, *([address.sixtofour] if address.sixtofour else [])]


def post(url: str, body: bytes, headers: Mapping[str, str], *, seconds: float) -> Answer:
    """Post it; all together takes no longer than `seconds` (and the name server). Raises `BadAddress`, `NoAnswer`."""
    parts = urlsplit(checked_url(url))
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    host = parts.hostname or ""
    where = httpcore.URL(scheme=parts.scheme, host=host, port=parts.port, target=target)
    lines = _Lines(time.monotonic() + seconds)
    sent = [("Host", parts.netloc), *headers.items()]
    trusts = ssl.create_default_context() if parts.scheme == "https" else None
    waits = {"connect": CONNECT, "read": ANSWER, "write": ANSWER, "pool": CONNECT}
    try:
        with (
            httpcore.ConnectionPool(ssl_context=trusts, network_backend=lines) as pool,
            pool.stream("POST", where, headers=sent, content=body, extensions={"timeout": waits}) as answer,
        ):
            lines.until = min(lines.until, time.monotonic() + BODY)
            return _read(answer)
    except (httpcore.TimeoutException, httpcore.NetworkError, httpcore.ProtocolError, OSError) as error:
        where_to = f"{host}, port {parts.port or (443 if parts.scheme == 'https' else 80)}"
        raise _explain(error, lines.fault or error, where_to) from error


class _Line(httpcore.NetworkStream):
    """A connection whose every wait ends with the whole."""

    def __init__(self, line: socket.socket, owner: "_Lines") -> None:
        self.line, self.owner = line, owner

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        with self.owner.told(httpcore.ReadTimeout, httpcore.ReadError):
            self.line.settimeout(self.owner.left(timeout))
            return self.line.recv(max_bytes)

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        with self.owner.told(httpcore.WriteTimeout, httpcore.WriteError):
            while buffer:
                self.line.settimeout(self.owner.left(timeout))
                buffer = buffer[self.line.send(buffer) :]

    def close(self) -> None:
        self.line.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> "_Line":
        with self.owner.told(httpcore.ConnectTimeout, httpcore.ConnectError):
            self.line.settimeout(self.owner.left(timeout))
            return _Line(ssl_context.wrap_socket(self.line, server_hostname=server_hostname), self.owner)

    def get_extra_info(self, info: str) -> Any:
        return self.line if info == "socket" else None


class _Lines(httpcore.NetworkBackend):
    """Connects to addresses that were checked."""

    def __init__(self, until: float) -> None:
        self.until = until
        self.fault: OSError | None = None
        """What went wrong in the end: httpcore itself drops the cause of its errors."""

    @contextmanager
    def told(self, slow: type[Exception], broken: type[Exception]) -> Iterator[None]:
        """Give errors of the line the names that httpcore knows."""
        try:
            yield
        except TimeoutError as error:
            self.fault = error
            raise slow from error
        except OSError as error:
            self.fault = error
            raise broken from error

    def left(self, most: float | None) -> float:
        """Seconds for one more wait. Raises `TimeoutError`."""
        left = self.until - time.monotonic()
        if left <= 0:
            raise TimeoutError
        return left if most is None else min(left, most)

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> _Line:
        """Connect to the first address of the host that takes it."""
        with self.told(httpcore.ConnectTimeout, httpcore.ConnectError):
            return _Line(self._connect(_addresses(host, port), timeout), self)

    def _connect(self, addresses: Iterable[Any], timeout: float | None) -> socket.socket:
        last = OSError(errno.EADDRNOTAVAIL, "no address")
        for family, _, _, _, address in addresses:
            line = socket.socket(family, socket.SOCK_STREAM)
            try:
                line.settimeout(self.left(timeout))
                line.connect(address)
            except OSError as error:
                line.close()
                last = error
            else:
                line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                return line
        raise last


def _addresses(host: str, port: int) -> list[Any]:
    """What the name server says of a host. Raises `BadAddress` if any of it is forbidden: such a name is no slip."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP)
    for *_, address in found:
        _check(str(address[0]), host)
    return found


def _check(number: str, host: str) -> None:
    if forbidden(ipaddress.ip_address(number.partition("%")[0])):
        says = f"{host} is an address of this machine's own network line or of its cloud: nothing is sent there."
        raise BadAddress(says)


def _number(host: str) -> bool:
    """Whether a host is written as an address."""
    with suppress(ValueError):
        return bool(ipaddress.ip_address(host.partition("%")[0]))
    return False


def in_four_numbers(host: str) -> str:
    """The IPv4 address that a resolver reads out of what looks like a name (`2130706433`, `0x7f.1`); empty: none."""
    with suppress(OSError, ValueError):
        return socket.inet_ntoa(socket.inet_aton(host.rstrip(".")))
    return ""


def _read(answer: httpcore.Response) -> Answer:
    """The status, and as much of the text as is worth keeping."""
    text = b""
    with suppress(httpcore.TimeoutException, httpcore.NetworkError, httpcore.ProtocolError):  # the status is there
        for part in answer.iter_stream():
            text += part
            if len(text) >= MOST_READ:
                break
    headers = {name.lower(): value.decode("latin-1") for name, value in answer.headers}
    said = clean_text(text[:MOST_READ].decode("utf-8", "replace"), 200)
    location = clean_text(headers.get(b"location", ""), 200)
    return Answer(answer.status, said, _seconds(headers.get(b"retry-after", "")), location)


def _seconds(retry_after: str) -> float | None:
    """What `Retry-After` asks for: seconds, or a date."""
    text = retry_after.strip()
    if text.isascii() and text.isdigit():
        return float(text[:9])
    try:
        date = parsedate_to_datetime(text)
        return max(0.0, (date.replace(tzinfo=date.tzinfo or UTC) - datetime.now(UTC)).total_seconds())
    except (ValueError, OverflowError):  # the second: a date that no calendar has, or none in our zone
        return None


def _explain(error: Exception, cause: Exception, where: str) -> NoAnswer:
    """Put into words why no answer came: what httpcore says, and what the line said."""
    if isinstance(cause, socket.gaierror):
        says = f"Nobody knows a host of the name {where.partition(',')[0]} ({cause.strerror})."
        return NoAnswer(says, "Check the name, and that this machine has a name server.")
    if isinstance(cause, ConnectionRefusedError):
        return NoAnswer(f"{where} refuses the connection.", "Check the port, and that the receiver runs.")
    if isinstance(error, httpcore.TimeoutException) or isinstance(cause, TimeoutError):
        return NoAnswer(f"{where} did not answer in time.", "The receiver must answer within 10 s: it may work later.")
    if isinstance(cause, ssl.SSLCertVerificationError):
        says = f"The certificate of {where} is not trusted: {cause.verify_message}."
        do = "Write the name that is in the certificate, or have its issuer's certificate installed on this machine."
        return NoAnswer(says, do)
    if isinstance(cause, ssl.SSLError):
        return NoAnswer(f"{where} and this service could not agree on TLS: {cause.reason or cause}.", "Is it https?")
    if isinstance(error, httpcore.ProtocolError):
        return NoAnswer(f"What {where} answers is no HTTP: {clean_text(str(error), 120)}.", "Check the port.")
    if isinstance(cause, ConnectionError) or isinstance(error, (httpcore.ReadError, httpcore.WriteError)):
        return NoAnswer(f"{where} broke the connection.", "The log of the receiver may say why.")
    return NoAnswer(f"{where} cannot be reached: {getattr(cause, 'strerror', None) or cause}.", "Check the network.")
