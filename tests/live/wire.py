"""A client without a driver: the bytes of TDS 5.0 as the protocol has them, written and read by hand."""

import socket
import struct
from types import TracebackType

from tests.live.running import Serving

LOGIN, NORMAL, CANCEL, REPLY = 2, 15, 6, 4
HEADER = 8
RECORD = 568
AT_HOST, AT_USER, AT_PASSWORD, AT_PROGRAM, AT_VERSION, AT_PACKET = 0, 31, 62, 140, 458, 557
CAPABILITIES_NARROW = bytes((0xE2, 18, 0, 1, 7, *bytes(7), 2, 7, *bytes(7)))
"""A capability token that asks for nothing: the server must send the old, narrow row formats."""


class Line:
    """A line to the server, for one `with`."""

    def __init__(self, server: Serving) -> None:
        """Connect."""
        self._server = server
        self._socket = socket.create_connection((server.host, server.port), 10)

    def __enter__(self) -> "Line":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._socket.close()

    def wait_no_longer_than(self, seconds: float) -> None:
        """Let `read` raise `TimeoutError` after so long."""
        self._socket.settimeout(seconds)

    def login(self, *, password: str | None = None) -> None:
        """Send a login record with the password in clear."""
        record = bytearray(RECORD)
        secret = self._server.password if password is None else password
        for at, text in ((AT_HOST, "here"), (AT_USER, self._server.user), (AT_PASSWORD, secret), (AT_PROGRAM, "bytes")):
            record[at : at + len(text)] = text.encode()
            record[at + 30] = len(text)
        record[AT_VERSION : AT_VERSION + 4] = bytes((5, 0, 0, 0))
        record[AT_PACKET : AT_PACKET + 3] = b"512"
        record[AT_PACKET + 6] = 3
        self.send(LOGIN, bytes(record) + CAPABILITIES_NARROW)

    def send_batch(self, batch: str) -> None:
        """Send a batch as a LANGUAGE token."""
        text = batch.encode()
        self.send(NORMAL, struct.pack("<BIB", 0x21, len(text) + 1, 0) + text)

    def send(self, kind: int, body: bytes) -> None:
        """Send a request in packets of 512 bytes."""
        room = 512 - HEADER
        chunks = [body[at : at + room] for at in range(0, max(1, len(body)), room)]
        for at, chunk in enumerate(chunks):
            last = int(at == len(chunks) - 1)
            self._socket.sendall(struct.pack(">BBHHBB", kind, last, HEADER + len(chunk), 0, 0, 0) + chunk)

    def read(self) -> bytes:
        """Read an answer of one or more packets. Raises `TimeoutError`, `ConnectionError`."""
        body = b""
        while True:
            kind, last, length = struct.unpack(">BBH", self._exactly(HEADER)[:4])
            assert kind == REPLY
            assert length <= 512
            body += self._exactly(length - HEADER)
            if last & 1:
                return body

    def _exactly(self, count: int) -> bytes:
        got = b""
        while len(got) < count:
            some = self._socket.recv(count - len(got))
            if not some:
                raise ConnectionError("the server closed the line")
            got += some
        return got
