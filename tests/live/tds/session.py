"""One client of the server: its packets, its login, and the answers it gets until it goes."""

import select
import socket
import struct
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Protocol

from cryptography.hazmat.primitives.asymmetric import rsa

from tests.live.tds import tokens
from tests.live.tds.login import Exchange, Login, Refused, read_login
from tests.live.tds.tokens import Changed, Cut, Event, Message, Pause, Rows, Silence, Status

LANGUAGE_PACKET, LOGIN_PACKET, REPLY_PACKET, CANCEL_PACKET, NORMAL_PACKET = 1, 2, 4, 6, 15
HEADER = 8
PROGRAM = "Adaptive Server Enterprise"
"""What an Adaptive Server calls itself in the answer to a login."""
SMALLEST, LARGEST = 512, 16_384
"""Bytes of a packet that this server grants."""
MOST_REQUESTED = 1_000_000
"""Bytes of one request; a client that sends more is none of ours."""
ROWS_BETWEEN_LOOKS = 256
"""Rows sent between two looks for a cancel."""


class Cancelled(Exception):
    """The client sent an attention."""


class Gone(Exception):
    """The client closed the line, or what it sends is no TDS."""


@dataclass
class Client:
    """What the server knows of a session. `options` are what SET has set."""

    spid: int
    user: str = ""
    application: str = ""
    host: str = ""
    database: str = "master"
    options: dict[str, str] = field(default_factory=dict)


class Server(Protocol):
    """What a session asks of the server behind it."""

    name: str
    key: rsa.RSAPrivateKey
    program: tuple[int, int, int, int]

    def record(self, client: Client, kind: str, text: str, **more: object) -> None:
        """Write down what a client sent."""

    def admits(self, client: Client, password: str) -> bool:
        """Whether this login is known with this password."""

    def takes_encrypted(self) -> bool:
        """Whether the server can do the exchange for an encrypted password."""

    def greets(self) -> Iterable[Event]:
        """What happens before a login is looked at: nothing, or a fault."""

    def answer(self, client: Client, batch: str) -> Iterable[Event]:
        """Answer a batch."""


class Session:
    """A line to a client, from its login to its end."""

    def __init__(self, line: socket.socket, server: Server, client: Client) -> None:
        """Take the line; nothing is read yet."""
        line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.line, self.server, self.client = line, server, client
        self.packet, self.wide, self.out = SMALLEST, False, bytearray()

    def serve(self) -> None:
        """Serve the client until it goes."""
        try:
            kind, body = self._read()
            if kind != LOGIN_PACKET:  # a greeting of TDS 7: closing has the client fall back, or give up
                self.server.record(self.client, "not a login", f"packet type {kind}")
                return
            self._events(self.server.greets())
            if self._login(read_login(body)):
                while self._request(*self._read()):
                    pass
        except (Gone, Refused, OSError) as error:
            self.server.record(self.client, "gone", str(error))

    def _login(self, login: Login) -> bool:
        client = self.client
        client.user, client.application, client.host = login.user, login.application, login.host
        password: str | None = login.password
        how = "encrypted" if login.encrypted else "clear"
        self.server.record(client, "login", login.user, application=login.application, password=how)
        if login.password and login.encrypted:
            self.server.record(client, "password in clear", login.user)
        self.wide = login.wide
        if login.encrypted and self.server.takes_encrypted():
            password = self._exchange()
        if password is None or not self.server.admits(client, password):
            self._message(Message(4002, 14, "Login failed.\n"))
            self.out += tokens.login_answer(tokens.LOGIN_REFUSED, PROGRAM, self.server.program)
            self.out += tokens.done(tokens.ERROR)
            self._flush()
            return False
        size = max(SMALLEST, min(login.packet, LARGEST))
        self.out += tokens.changed(Changed(tokens.DATABASE, "master"))
        self._message(Message(5701, 10, "Changed database context to 'master'.\n", state=2))
        self.out += tokens.changed(Changed(tokens.CHARSET, "utf8", "iso_1"))
        if size != self.packet:
            self.out += tokens.changed(Changed(tokens.PACKET_SIZE, str(size), str(self.packet)))
        self.out += tokens.login_answer(tokens.LOGIN_TAKEN, PROGRAM, self.server.program)
        self.out += tokens.capabilities(login.capabilities) + tokens.done(tokens.FINAL)
        self._flush()
        self.packet = size
        return True

    def _exchange(self) -> str | None:
        exchange = Exchange(self.server.key)
        self.out += tokens.login_answer(tokens.LOGIN_GOES_ON, PROGRAM, self.server.program)
        self.out += exchange.challenge() + tokens.done(tokens.FINAL)
        self._flush()
        _, answer = self._read()
        return exchange.password(answer)

    def _request(self, kind: int, body: bytes) -> bool:
        """Serve one request; whether another may follow."""
        if kind == CANCEL_PACKET:  # it came when the answer was already out
            self._cancelled()
            return True
        if kind == LANGUAGE_PACKET:
            return self._batch(body.decode("utf-8", "replace"))
        if kind != NORMAL_PACKET or not body:
            raise Gone(f"packet type {kind}")
        match body[0]:
            case tokens.LOGOUT:
                self.server.record(self.client, "logout", "")
                self.out += tokens.done(tokens.FINAL)
                self._flush()
                return False
            case tokens.LANGUAGE:
                (length,) = struct.unpack_from("<I", body, 1)
                return self._batch(body[6 : 5 + length].decode("utf-8", "replace"), parameters=bool(body[5] & 1))
            case tokens.DBRPC:
                return self._not_served("procedure call", body[4 : 4 + body[3]].decode("utf-8", "replace"))
            case tokens.DYNAMIC | tokens.DYNAMIC2:
                return self._not_served("prepared statement", body[3:].decode("utf-8", "replace")[:200])
            case other:
                return self._not_served("request", f"token {other:#04x}")

    def _not_served(self, kind: str, text: str) -> bool:
        """Refuse what only a client with parameters sends: the collector must not, and the record says who did."""
        self.server.record(self.client, kind, text)
        self._message(Message(2812, 16, f"Stored procedure '{text[:60]}' not found.\n"))
        self.out += tokens.done(tokens.ERROR)
        self._flush()
        return True

    def _batch(self, batch: str, *, parameters: bool = False) -> bool:
        self.server.record(self.client, "batch with parameters" if parameters else "batch", batch)
        try:
            self._events(self.server.answer(self.client, batch))
        except Cancelled:
            self._cancelled()
        return True

    def _cancelled(self) -> None:
        self.server.record(self.client, "cancel", "")
        self.out += tokens.done(tokens.ATTENTION)
        self._flush()

    def _events(self, events: Iterable[Event]) -> None:
        """Send an answer. Each result set has its own DONE; the last one ends the answer."""
        open_count: int | None = None
        failed, said = 0, False
        for event in events:
            if open_count is not None:
                self.out += tokens.done(tokens.COUNT | tokens.MORE, open_count)
            open_count, said = None, True
            match event:
                case Rows():
                    open_count = self._rows(event)
                case Message():
                    self._message(event)
                    failed = tokens.ERROR if event.severity >= tokens.ERRORS_FROM else failed
                case Status():
                    self.out += tokens.returned(event)
                case Changed():
                    self.out += tokens.changed(event)
                case Pause():
                    self._flush(last=False)
                    self._look_for_cancel(event.seconds)
                case Cut():
                    self._cut()
                case Silence():
                    self._fall_silent()
        if said or self.client.user:
            self.out += tokens.done(failed | (0 if open_count is None else tokens.COUNT), open_count or 0)
            self._flush()

    def _rows(self, result: Rows) -> int:
        self.out += tokens.row_format(result.columns, wide=self.wide)
        write: Callable[[object], bytes] = tokens.row_writer(result.columns)
        count = 0
        for row in result.rows:
            if isinstance(row, Cut):
                self._cut()
            self.out += write(row)
            count += 1
            if count % ROWS_BETWEEN_LOOKS == 0:
                self._flush(last=False)
                self._look_for_cancel(0)
        return count

    def _cut(self) -> None:
        self._flush(last=False)
        raise Gone("the line was cut, as this fault wants it")

    def _fall_silent(self) -> None:
        """Read whatever comes and answer nothing, until the client goes."""
        self._flush(last=False)
        while self.line.recv(LARGEST):
            pass
        raise Gone("the client had enough of the silence")

    def _message(self, said: Message) -> None:
        self.out += tokens.message(said, self.server.name)

    def _look_for_cancel(self, seconds: float) -> None:
        """Wait so long for an attention. Raises `Cancelled`; the answer in the making is given up between two rows."""
        until = time.monotonic() + seconds
        if select.select([self.line], [], [], max(0.0, until - time.monotonic()))[0]:
            kind, _ = self._read()
            if kind == CANCEL_PACKET:
                raise Cancelled

    def _read(self) -> tuple[int, bytes]:
        """Read a request of one or more packets. Raises `Gone`."""
        body = b""
        while True:
            kind, status, length = struct.unpack(">BBH", self._exactly(HEADER)[:4])
            body += self._exactly(max(0, length - HEADER))
            if len(body) > MOST_REQUESTED:
                raise Gone("too large a request")
            if status & 1:
                return kind, body

    def _exactly(self, count: int) -> bytes:
        got = b""
        while len(got) < count:
            some = self.line.recv(count - len(got))
            if not some:
                raise Gone("the client closed the line")
            got += some
        return got

    def _flush(self, *, last: bool = True) -> None:
        """Send what waits in packets; without `last` the answer is not ended, and no empty packet goes."""
        room = self.packet - HEADER
        while self.out:
            chunk, self.out = bytes(self.out[:room]), self.out[room:]
            self._send(chunk, last=last and not self.out)
        # an answer always has at least its DONE, so `last` never needs an empty packet

    def _send(self, chunk: bytes, *, last: bool) -> None:
        head = struct.pack(">BBHHBB", REPLY_PACKET, int(last), HEADER + len(chunk), 0, 0, 0)
        self.line.sendall(head + chunk)
