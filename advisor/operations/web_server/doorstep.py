"""Who may bring much: bodies of strangers are refused before they are kept, and one address holds few connections.

waitress takes a whole body, of up to `UPLOAD_MB`, before it asks the application anything. So what is larger than any
form of a stranger waits here: a thread looks whether its head names a session or a token that lives, while the line is
not read on; then the body is let in, or refused and never kept. What is smaller, and a head, must be whole within
`REQUEST_SECONDS`: else one byte a minute holds a connection for weeks.
"""

import ipaddress
import json
import logging
import time
from contextlib import suppress
from http.cookies import CookieError
from typing import Any

from django.conf import settings
from django.contrib.auth import get_user
from django.contrib.sessions.backends.db import SessionStore
from django.db import close_old_connections
from django.http import HttpRequest, parse_cookie
from waitress.channel import HTTPChannel
from waitress.server import BaseWSGIServer
from waitress.utilities import Error

from advisor.accounts.services.tokens import find_token

LOG = logging.getLogger(__name__)
OF_STRANGERS = 64 << 10
"""Bytes of a body that anybody may send: a login has a few hundred (this project's figure)."""
LINGER = 30.0
"""Seconds for which what a refused client still sends is thrown away, so that it reads the answer."""
FULL = b"HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nRetry-After: 5\r\nContent-Length: 0\r\n\r\n"


class NotTaken(Error):  # type: ignore[misc]  # waitress has no types
    """The answer to a body that is not taken; `body` is its path and what it accepts."""

    code, reason = 401, "Unauthorized"
    says, do = "Who sends this is not known.", "Log in first, or send a token that lives (Authorization: Bearer …)."

    def to_response(self, ident: str | None = None) -> tuple[str, list[tuple[str, str]], bytes]:
        """Give status, headers and body."""
        path, accepts = self.body
        kind, body = "text/plain; charset=utf-8", f"{self.says} {self.do}\n"
        if path.startswith("/api/") or "json" in accepts:
            kind, body = "application/json", json.dumps({"error": self.says, "remedy": self.do})
        headers = [("Content-Type", kind), ("Cache-Control", "private, no-store"), ("WWW-Authenticate", "Bearer")]
        return f"{self.code} {self.reason}", headers, body.encode()


class NotInTime(NotTaken):
    """Head or body did not come within the time that anybody has."""

    code, reason = 408, "Request Timeout"
    says, do = "The request did not come whole in time.", "Send it again, faster, or log in first."


class NotNow(NotTaken):
    """It cannot be looked up who sends it."""

    code, reason = 503, "Service Unavailable"
    says, do = "The database does not answer.", "Try again in a minute."


def is_known(path: str, headers: dict[str, str]) -> bool:
    """Whether the head of a request names a token that lives (for the API), or the session of somebody active."""
    kind, _, secret = headers.get("AUTHORIZATION", "").partition(" ")
    if path.startswith("/api/") and kind.lower() == "bearer":
        return find_token(secret.strip()) is not None
    cookies: dict[str, str] = {}
    with suppress(CookieError):
        cookies = parse_cookie(headers.get("COOKIE", ""))
    key = cookies.get(settings.SESSION_COOKIE_NAME)
    if not key:
        return False
    request = HttpRequest()
    request.session = SessionStore(key)
    return get_user(request).is_authenticated


def _asked(request: Any) -> tuple[str, str]:
    """The path of a request and what it accepts, as far as they have come."""
    return getattr(request, "path", ""), request.headers.get("ACCEPT", "")


class Look:
    """A task for a thread of waitress: see who sends a body that waits."""

    def __init__(self, channel: "Channel", request: Any, refusal: type[NotTaken] = NotTaken) -> None:
        self.channel, self.request, self.refusal = channel, request, refusal

    def service(self) -> None:
        """Look, and let the body in or refuse it."""
        asked = _asked(self.request)
        error: NotTaken | None = None
        try:
            close_old_connections()
            if not is_known(self.request.path, self.request.headers):
                error = self.refusal(asked)
        except Exception:
            LOG.exception("who sends a body was not found out")
            error = NotNow(asked)
        finally:
            close_old_connections()
        self.channel.looked(self.request, error)

    def cancel(self) -> None:
        """The server stops."""
        self.channel.will_close = True


class Channel(HTTPChannel):  # type: ignore[misc]
    """A connection. It is not read on while it is being looked who sends a large body."""

    looking = False
    lingers_until: float | None = None
    to_linger = False
    close_when_flushed: bool
    will_close: bool

    def readable(self) -> bool:
        """Whether the next bytes are to be read."""
        if self.lingers_until is not None:
            self.will_close = self.will_close or time.time() > self.lingers_until
            return not self.will_close
        self._end_what_is_late()
        return not self.looking and bool(super().readable())

    def _end_what_is_late(self) -> None:
        """Refuse a request that is not whole in time, unless who sends it is known.

        The server asks each connection at least once a second whether it is to be read.
        """
        with self.requests_lock:
            request = self.request
            if request is None or request.admitted or self.looking or self.will_close or self.close_when_flushed:
                return
            if self.requests:  # others are answered first, and this one is not read meanwhile
                request.began = time.monotonic()
            elif time.monotonic() - request.began > settings.REQUEST_SECONDS:
                if request.headers_finished:
                    self.looking = True
                    self.server.add_task(Look(self, request, NotInTime))
                else:
                    self._refuse(request, NotInTime(_asked(request)))

    def received(self, data: bytes) -> bool:
        """Take bytes; have it looked who sends them where they are many."""
        if self.lingers_until is not None:
            return False
        taken = bool(super().received(data))
        with self.requests_lock:
            request = self.request
            if request is not None and not self.looking and request.asks_who:
                self.looking = True
                self.server.add_task(Look(self, request))
        return taken

    def looked(self, request: Any, error: NotTaken | None) -> None:
        """Go on with a request after it was looked who sends it."""
        with self.requests_lock:
            request.admitted = True
            self.looking = False
            if error is not None:
                self.to_linger = True
                self._refuse(request, error)
            elif request.continue_wanted:
                request.expect_continue = True
                if not self.requests and not self.sent_continue:
                    self.send_continue()
        self.last_activity = time.time()
        self.server.pull_trigger()

    def _refuse(self, request: Any, error: NotTaken) -> None:
        """Have a request answered with an error; whoever calls has `requests_lock`."""
        request.error, request.completed, self.request = error, True, None
        self.requests.append(request)
        if len(self.requests) == 1:
            self.server.add_task(self)

    def handle_write(self) -> None:
        """Send on; after a refusal the line is closed only when the other side has read it."""
        if self.to_linger and self.close_when_flushed and self.lingers_until is None:
            self._flush_exception(self._flush_some)
            if not self.total_outbufs_len and not self.will_close:
                self.close_when_flushed = False
                self.lingers_until = time.time() + LINGER
                with suppress(OSError):
                    self.socket.shutdown(1)
            if not self.will_close:
                return
        super().handle_write()

    def handle_read(self) -> None:
        """Read on; what follows a refusal is thrown away."""
        if self.lingers_until is None:
            super().handle_read()
            return
        try:
            data = self.recv(self.adj.recv_bytes)
        except OSError:
            data = b""
        if not data or time.time() > self.lingers_until:
            self.handle_close()


def place(address: str) -> str:
    """What of an address counts as one place: all of IPv4, the first 64 bits of IPv6, which one customer has."""
    try:
        found = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(found, ipaddress.IPv6Address):
        if found.ipv4_mapped:
            return str(found.ipv4_mapped)
        return str(ipaddress.IPv6Address(int(found) >> 64 << 64))
    return str(found)


def _is_idle(one: Any) -> bool:
    """Whether a connection is at no request: one of which not even the head is there is sent byte by byte for ever."""
    begun = one.request is not None and one.request.headers_finished
    return not begun and not one.requests and not one.total_outbufs_len


def _since(one: Any) -> tuple[bool, float]:
    """Which connection goes first: the one that is silent the longest, then the oldest of those with half a head."""
    return one.request is not None, one.creation_time if one.request is not None else one.last_activity


def admit(server: Any, sock: Any, addr: Any, adj: Any, map: dict[int, Any]) -> None:
    """Take a connection; where its address has too many, an idle one is closed for it, or else this one.

    Connections of a proxy of our own, and of a Unix socket, are not counted: it counts its visitors itself.
    """
    most = settings.CONNECTIONS_PER_ADDRESS
    ours = addr[1] is None or (settings.PROXIES and settings.TRUSTED_PROXY in ("*", addr[0]))
    if most and not ours:
        mine = place(addr[0])
        held = [one for one in map.values() if isinstance(one, HTTPChannel) and place(str(one.addr[0])) == mine]
        if len(held) >= most:
            idle = [one for one in held if _is_idle(one)]
            if not idle:
                with suppress(OSError):
                    sock.send(FULL)
                sock.close()
                return
            min(idle, key=_since).handle_close()
    Channel(server, sock, addr, adj, map=map)


def install() -> None:
    """Have waitress, if it is the server, take connections this way."""
    BaseWSGIServer.channel_class = staticmethod(admit)
