"""The line to a mail server: smtplib with an end to every wait, and one mail handed over in two steps."""

import re
import smtplib
import time
from collections.abc import Callable
from socket import IPPROTO_TCP, TCP_NODELAY, socket
from typing import Any

CHUNK = 16 * 1024
"""Bytes given to the line at once: each has the time-out to itself, a slow server is not taken for a dead one."""
BODY_SECONDS = 120.0
"""For the whole of a mail, so that one server cannot hold a task for ever (this project's figure)."""
LONGEST_ANSWER = 64 * 1024
"""Bytes of one answer; who says more talks rubbish."""


class Line(smtplib.SMTP):
    """A conversation with a mail server. smtplib waits for each piece of an answer anew; here an answer has an end."""

    begun = False
    """Whether the server has taken the sender of the mail we are at: from here a failure may be due to the mail."""
    handed_over = False
    """Whether the end of the mail was sent: from here the server may have it, whatever is heard."""
    patience: float | None = None
    """Seconds for the next answer, where other than the time-out of the line."""

    def getreply(self) -> tuple[int, bytes]:
        """Read one answer within the time-out. A number of -1: what was said is no SMTP."""
        if self.file is None and self.sock is not None:
            self.sock.setsockopt(IPPROTO_TCP, TCP_NODELAY, 1)  # a mail is several writes: none waits for the one before
            self.file = _Answers(self.sock)
        if isinstance(self.file, _Answers):
            self.file.begin(self.patience or self._seconds())
        return super().getreply()

    def hand_over(
        self, sender: str, to: str, data: bytes, before_end: Callable[[], Any], answer_seconds: float | None = None
    ) -> tuple[int, bytes]:
        """Send one mail (7 bit, CRLF) to one address and give the answer to it, a 2xx.

        `before_end` is called when all but the last line is sent: what it raises keeps the server from having the mail.
        Raises what smtplib does: `SMTPSenderRefused`, `SMTPRecipientsRefused`, `SMTPDataError`, `OSError`.
        """
        self.begun = self.handed_over = False
        options = [f"size={len(data)}"] if self.has_extn("size") else []
        code, said = self.mail(sender, options)
        if code // 100 != 2:
            raise smtplib.SMTPSenderRefused(code, said, sender)
        self.begun = True
        code, said = self.rcpt(to)
        if code // 100 != 2:
            raise smtplib.SMTPRecipientsRefused({to: (code, said)})
        code, said = self.docmd("data")
        if code != 354:
            raise smtplib.SMTPDataError(code, said)
        try:
            self._send_body(data)
            before_end()
        except BaseException:
            self.close()  # without the last line the server has nothing
            raise
        self.handed_over = True
        self.send(b".\r\n")
        self.patience = answer_seconds
        try:
            code, said = self.getreply()
        finally:
            self.patience = None
        if code // 100 != 2:
            raise smtplib.SMTPDataError(code, said)
        return code, said

    def _send_body(self, data: bytes) -> None:
        quoted = re.sub(rb"(?m)^\.", b"..", data)
        last = time.monotonic() + BODY_SECONDS
        for start in range(0, len(quoted), CHUNK):
            if time.monotonic() > last:
                raise TimeoutError(f"the server took less than the whole mail in {BODY_SECONDS:g} s")
            self.send(quoted[start : start + CHUNK])

    def _seconds(self) -> float:
        return float(self.timeout or 60)


class LineOverTLS(Line, smtplib.SMTP_SSL):
    """The same, over TLS from the start."""


class _Answers:
    """The lines a server says. One answer must come within its time, however small its pieces."""

    def __init__(self, sock: socket) -> None:
        self.sock = sock
        self.held = b""
        self.until = 0.0
        self.left = 0

    def begin(self, seconds: float) -> None:
        self.until = time.monotonic() + seconds
        self.left = LONGEST_ANSWER

    def readline(self, limit: int) -> bytes:
        usual = self.sock.gettimeout()
        try:
            while b"\n" not in self.held and len(self.held) < limit and self._more():
                pass
        finally:
            self.sock.settimeout(usual)
        end = self.held.find(b"\n") + 1 or len(self.held)
        line, self.held = self.held[: min(end, limit)], self.held[min(end, limit) :]
        return line

    def _more(self) -> bool:
        """Read on; false at the end of the line."""
        wait = self.until - time.monotonic()
        if wait <= 0:
            raise TimeoutError("timed out")
        if self.left <= 0:
            raise ConnectionError("the answer does not end")
        self.sock.settimeout(wait)
        piece = self.sock.recv(4096)
        self.left -= len(piece)
        self.held += piece
        return bool(piece)

    def close(self) -> None:
        """The socket is closed by the line."""
