"""A mail server in the test's own process, which can be told to refuse, and to hold an answer back."""

import asyncio
import threading
from collections import Counter
from email import message_from_bytes, policy
from email.message import EmailMessage
from pathlib import Path
from typing import Any

from aiosmtpd.controller import Controller, UnixSocketController
from aiosmtpd.smtp import Envelope

from tests.servers import HOST, free_port

OPEN = ("", "")


class Postbox:
    """What came, in order. A mail counts as taken when its last line is here, whatever is answered and when."""

    def __init__(self, path: Path | None = None) -> None:
        """Listen nowhere yet; `path` is that of a Unix socket to listen at, in place of a port."""
        self.port = 0 if path else free_port()
        self.path = path
        self.mails: list[EmailMessage] = []
        self.refuse: dict[str, str] = {}
        """Address → the answer to its RCPT."""
        self.hold = OPEN
        """Step (`RCPT`, `DATA`) at which it says nothing, and how the addresses begin of which it does."""
        self.held = threading.Event()
        """Set when somebody waits for such an answer."""
        self.server: Controller | UnixSocketController | None = None

    def open(self) -> None:
        """Be there."""
        self.server = (
            UnixSocketController(self, self.path) if self.path else Controller(self, hostname=HOST, port=self.port)
        )
        self.server.start()

    def close(self) -> None:
        """Be away."""
        if self.server is not None:
            self.server.stop()
            self.server = None

    def close_at(self, step: str, address: str) -> None:
        """Say nothing at a step from now on, of mails to addresses that begin so."""
        self.hold = step, address
        self.held.clear()

    def times(self) -> Counter[str]:
        """How often each mail came, by its Message-ID."""
        return Counter(str(mail["Message-ID"]) for mail in self.mails)

    async def handle_RCPT(self, server: Any, session: Any, envelope: Envelope, address: str, options: Any) -> str:
        """Answer RCPT."""
        await self._held_at("RCPT", address)
        if address in self.refuse:
            return self.refuse[address]
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server: Any, session: Any, envelope: Envelope) -> str:
        """Answer the end of DATA."""
        assert isinstance(envelope.content, bytes)
        self.mails.append(message_from_bytes(envelope.content, policy=policy.default))
        await self._held_at("DATA", *envelope.rcpt_tos)
        return "250 2.0.0 queued"

    async def _held_at(self, step: str, *addresses: str) -> None:
        while self.hold[0] == step and any(address.startswith(self.hold[1]) for address in addresses):
            self.held.set()
            await asyncio.sleep(0.01)
