"""How waitress keeps a request until it is whole: where its disk has no room the answer says so.

By itself it closes the line then, and whoever brings exports learns nothing.
"""

import json
import time
from contextlib import suppress
from typing import Any

from waitress.buffers import OverflowableBuffer
from waitress.channel import HTTPChannel
from waitress.parser import HTTPRequestParser
from waitress.utilities import Error

from advisor.core.infrastructure_errors import NO_ROOM, outside
from advisor.operations.web_server import doorstep


class Kept(OverflowableBuffer):  # type: ignore[misc]  # waitress has no types
    """A body as waitress keeps it; where the disk is full it is let go, and the rest of it goes by."""

    full = False

    def append(self, s: bytes) -> None:
        """Keep more of it."""
        if self.full:
            return
        try:
            super().append(s)
        except OSError as error:
            if outside(error) is None:
                raise
            self.full = True
            with suppress(OSError):  # what it still wants to write has no room either
                self.close()
            self.buf, self.strbuf = None, b""


class NoRoom(Error):  # type: ignore[misc]
    """The answer, in the form that was asked for."""

    code, reason = NO_ROOM.status, "Insufficient Storage"

    def to_response(self, ident: str | None = None) -> tuple[str, list[tuple[str, str]], bytes]:
        """Give status, headers and body."""
        kind, body = "text/plain; charset=utf-8", f"{NO_ROOM.says} {NO_ROOM.do}\n"
        if self.body == "json":
            kind, body = "application/json", json.dumps({"error": NO_ROOM.says, "remedy": NO_ROOM.do})
        return f"{self.code} {self.reason}", [("Content-Type", kind)], body.encode()


class Parser(HTTPRequestParser):  # type: ignore[misc]
    """A request as waitress reads it."""

    admitted = False
    """Whether it was looked who sends it; see `doorstep`."""
    continue_wanted = False
    expect_continue: bool

    def __init__(self, adj: Any) -> None:
        """Begin with the first byte."""
        super().__init__(adj)
        self.began = time.monotonic()

    @property
    def asks_who(self) -> bool:
        """Whether it brings more than a stranger may, and nobody has looked yet who sends it."""
        size = self.body_bytes_received if self.chunked else self.content_length
        return not (self.admitted or self.completed) and self.headers_finished and size > doorstep.OF_STRANGERS

    def parse_header(self, header_plus: bytes) -> None:
        """Read the head; the body will be kept by `Kept`."""
        super().parse_header(header_plus)
        if self.body_rcv is not None:
            self.body_rcv.buf = Kept(self.adj.inbuf_overflow)
        if not self.chunked and self.content_length > doorstep.OF_STRANGERS:  # not asked for before it is known of whom
            self.continue_wanted, self.expect_continue = self.expect_continue, False

    def received(self, data: bytes) -> int:
        """Read more of it; gives how much was read."""
        consumed: int = super().received(data)
        if self.completed and self.body_rcv is not None and self.body_rcv.buf.full:
            json_wanted = self.path.startswith("/api/") or "json" in self.headers.get("ACCEPT", "")
            self.error = NoRoom("json" if json_wanted else "text")
        return consumed


def install() -> None:
    """Have waitress, if it is the server, read requests this way."""
    HTTPChannel.parser_class = Parser
    doorstep.install()
