"""The connection to the mail server: Django's SMTP backend, which keeps what the server answered to each message.

Many messages go over one connection. How far the server came with the last one says what a failure means: whether all
messages have to wait for the server, or this one alone is refused, or nobody knows whether it was taken.
"""

import binascii
import re
import smtplib
import time
from collections.abc import Callable, Sequence
from email.utils import parseaddr
from socket import IPPROTO_TCP, TCP_NODELAY, socket
from typing import Any

from django.core.mail import EmailMessage
from django.core.mail.backends.smtp import EmailBackend

from advisor.core.models import Site
from advisor.core.sealing import unseal
from advisor.notifications.mail.rendering import RenderedMessage, envelope, one_line, rendered

TIMEOUT = 10.0
"""Seconds to wait for each answer of the mail server (this project's figure)."""
PER_CONNECTION = 20
"""Messages over one connection: the usual limit of Exchange; others allow more."""
CHUNK = 16 * 1024
"""Bytes sent at once: each has the time-out to itself, a slow server is not taken for a dead one."""
BODY_SECONDS = 120.0
"""For the whole of a message, so that one server cannot hold a task for ever (this project's figure)."""
LONGEST_ANSWER = 64 * 1024
"""Bytes of one answer; a server that says more does not speak SMTP."""
CLOSING = 421
"""The server ends the connection (RFC 5321, 3.8)."""
TOO_BIG = 552
WANTS_LOGIN = (530, 535, 538)
Reply = tuple[int, bytes]


class OutboxBackend(EmailBackend):
    """Django's SMTP with the mail settings of the site. Raises what `failures.explain` explains."""

    def __init__(self, site: Site, answer_seconds: float | None = None) -> None:
        """`answer_seconds`: how long the server may think about a whole message, where that is not `TIMEOUT`."""
        super().__init__(
            host=site.mail_host,
            port=site.mail_port,
            username=site.mail_user,
            password="",  # unsealed when it is needed
            use_tls=site.mail_security == Site.Security.STARTTLS,
            use_ssl=site.mail_security == Site.Security.TLS,
            timeout=TIMEOUT,
        )
        self.site = site
        self.answer_seconds = answer_seconds
        self.answer = ""
        """What the server said when it took the last message, as `250 OK`."""
        self.session: Session | None = None
        """The last one, kept after its end: it knows how far it came."""
        self.begun_messages = 0
        """On the present connection."""

    @property
    def connection_class(self) -> type[smtplib.SMTP]:
        """What Django opens."""
        return SessionOverTLS if self.use_ssl else Session

    @property
    def handed_over(self) -> bool:
        """Whether the server was given the whole of the last message: it may have it, whatever was heard since."""
        return self.session is not None and self.session.handed_over

    def open(self) -> bool:
        """Have a connection that is alive and may carry one more message; returns whether it is a new one."""
        if self._may_carry_more():
            return False
        self.close()
        self.session = None
        self.password = unseal(self.site.mail_password_sealed) if self.site.mail_password_sealed else ""
        try:
            super().open()
        except binascii.Error:  # a challenge of the login that is none
            raise smtplib.SMTPResponseException(-1, "what it says is no SMTP") from None
        assert isinstance(self.connection, Session)  # noqa: S101 - `connection_class` says so
        self.session = self.connection
        return True

    def close(self) -> None:
        """End the connection, if there is one."""
        super().close()
        self.begun_messages = 0

    def send_messages(self, email_messages: Sequence[EmailMessage]) -> int:
        """Send them, each to one address, and return how many; the connection stays open for more until `close`."""
        for message in email_messages:
            self._send(message)
        return len(email_messages)

    def is_fault_of_server(self, error: BaseException) -> bool:
        """Whether a failure concerns all messages: it came before this one was begun, or a login is wanted."""
        code = code_of(error)
        too_big = isinstance(error, smtplib.SMTPSenderRefused) and code == TOO_BIG
        return (not self._begun and not too_big) or code in WANTS_LOGIN

    @property
    def _begun(self) -> bool:
        return self.session is not None and self.session.begun

    def _send(self, message: EmailMessage) -> bool:
        """Send one, over a new connection where the server ends the old one before it has begun with the message."""
        data = rendered(message)
        sender, to = envelope(parseaddr(message.from_email)[1]), envelope(message.to[0])
        self.open()
        try:
            self._transmit(sender, to, data, message)
        except OSError as error:
            if self.begun_messages < 2 or self._begun or code_of(error) not in (CLOSING, -1):
                raise
        else:
            return True
        self.close()
        self.open()
        self._transmit(sender, to, data, message)
        return True

    def _transmit(self, sender: str, to: str, data: bytes, message: EmailMessage) -> None:
        session = self.session
        assert session is not None  # noqa: S101 - it is open
        self.begun_messages += 1
        session.answer_seconds = self.answer_seconds
        session.before_end = message.before_end if isinstance(message, RenderedMessage) else None
        session.sendmail(sender, [to], data)
        self.answer = answer(*session.reply)

    def _may_carry_more(self) -> bool:
        if self.session is None or self.connection is None or self.begun_messages >= PER_CONNECTION:
            return False
        self.session.begun = self.session.handed_over = False
        try:
            return not self.begun_messages or self.session.rset()[0] == 250
        except OSError:
            return False

    def _close_connection(self, connection: smtplib.SMTP) -> None:
        """End it whatever its state; a message that was taken is sent, even if the farewell goes wrong."""
        try:
            connection.quit()
        except OSError:  # smtplib's own errors are some
            connection.close()


class Session(smtplib.SMTP):
    """smtplib's conversation with an end to every wait, which remembers how far it came with a message.

    smtplib waits for each piece of an answer anew; here an answer has an end.
    """

    begun = False
    """Whether the server has taken the sender of the message: from here a failure may be due to the message."""
    handed_over = False
    """Whether the end of the message was sent: from here the server may have it, whatever is heard."""
    before_end: Callable[[], Any] | None = None
    """Called when all but the last line of a message is sent: what it raises keeps the server from having it."""
    answer_seconds: float | None = None
    """Seconds for the answer to a whole message, where other than the time-out."""
    reply: Reply = (-1, b"")
    """To the last whole message."""

    def mail(self, sender: str, options: Sequence[str] = ()) -> Reply:
        """Begin a message."""
        self.begun = self.handed_over = False
        reply = _by_first_digit(super().mail(sender, options))
        self.begun = reply[0] == 250
        return reply

    def rcpt(self, recip: str, options: Sequence[str] = ()) -> Reply:
        """Name the recipient."""
        return _by_first_digit(super().rcpt(recip, options))

    def data(self, msg: Any) -> Reply:
        """Send a whole message (bytes, 7 bit, CRLF) in two steps: all but its last line, `before_end`, the last line.

        Raises `SMTPDataError`, `OSError`, and what `before_end` does.
        """
        code, said = self.docmd("data")
        if code != 354:
            raise smtplib.SMTPDataError(code, said)
        try:
            self._send_body(msg)
            if self.before_end is not None:
                self.before_end()
        except BaseException:
            self.close()  # without the last line the server has nothing
            raise
        self.handed_over = True
        self.send(b".\r\n")
        self.reply = self._getreply(self.answer_seconds)
        return _by_first_digit(self.reply)

    def getreply(self) -> Reply:
        """Read one answer within the time-out. A number of -1: what was said is no SMTP."""
        return self._getreply(None)

    def _getreply(self, seconds: float | None) -> Reply:
        if self.file is None and self.sock is not None:
            # a message is several writes: none waits for the one before
            self.sock.setsockopt(IPPROTO_TCP, TCP_NODELAY, 1)
            self.file = _Answers(self.sock)
        if isinstance(self.file, _Answers):
            self.file.begin(seconds or float(self.timeout or 60))
        return super().getreply()

    def _send_body(self, data: bytes) -> None:
        quoted = re.sub(rb"(?m)^\.", b"..", data)
        last = time.monotonic() + BODY_SECONDS
        for start in range(0, len(quoted), CHUNK):
            if time.monotonic() > last:
                raise TimeoutError(f"the server took less than the whole mail in {BODY_SECONDS:g} s")
            self.send(quoted[start : start + CHUNK])


class SessionOverTLS(Session, smtplib.SMTP_SSL):
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
        """Read on; false at the end of the connection."""
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
        """The socket is closed by the session."""


def reply_of(error: BaseException) -> tuple[int, bytes | str]:
    """What the server said, as number and text; -1 where it said nothing."""
    if isinstance(error, smtplib.SMTPRecipientsRefused):
        return next(iter(error.recipients.values()), (-1, b""))
    if isinstance(error, smtplib.SMTPResponseException):
        return error.smtp_code, error.smtp_error
    return -1, b""


def code_of(error: BaseException) -> int:
    """The number the server answered; -1 where it did not, or no SMTP."""
    return reply_of(error)[0]


def answer(code: int, said: bytes | str) -> str:
    """What a mail server said, on one line and at most 300 characters: it is a stranger's text."""
    text = said.decode("utf-8", "replace") if isinstance(said, bytes) else said
    return one_line(f"{code} {text}", 300)


def _by_first_digit(reply: Reply) -> Reply:
    """A reply as smtplib knows it: it compares whole numbers, where the first digit decides (RFC 5321, 4.3.2)."""
    return (250, reply[1]) if reply[0] // 100 == 2 else reply
