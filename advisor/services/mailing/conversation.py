"""What is said with the mail server during one task: one line for many mails, a new one when the server wants that."""

from collections.abc import Callable
from smtplib import SMTPDataError, SMTPRecipientsRefused, SMTPResponseException, SMTPSenderRefused
from zlib import compress, decompress

from django.conf import settings

from advisor.mail import failures, kit
from advisor.mail.line import Line
from advisor.mail.rendering import envelope, sent_from
from advisor.models import Mail, Site

PER_LINE = 20
"""Mails on one line: the usual limit of Exchange; others allow more."""
WANTS_LOGIN = (530, 535, 538)
TOO_BIG = 552
CLOSING = 421


class NotOurs(Exception):
    """Another process has the mail by now."""


class Conversation:
    """What is said with the mail server during one task."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self.connection: kit.Connection | None = None
        self.line: Line | None = None
        self.on_line = 0
        """Mails begun on the line we have."""
        self.broken = 0
        """Lines in a row that broke in the middle of a mail."""
        self.well = False
        """Whether it has answered to a mail."""

    def hand_over(self, mail: Mail, before_end: Callable[[], None]) -> str:
        """Send one mail, give the answer (`Line.hand_over`). Raises `failures.EXPECTED`, and what `before_end` does."""
        data = self._data(mail)
        to = envelope(mail.to)
        self._be_ready()
        try:
            return self._hand_over(to, data, before_end)
        except failures.EXPECTED as error:
            if self.on_line < 2 or self._begun() or not _closes(error):
                raise
        self.hang_up()  # the server was tired of this line, not of us
        self._be_ready()
        return self._hand_over(to, data, before_end)

    def hang_up(self) -> None:
        """End the line, if there is one."""
        if self.connection is not None:
            self.connection.hang_up()
        self.connection, self.on_line = None, 0

    @property
    def handed_over(self) -> bool:
        """Whether the server was given the whole of the last mail."""
        return self.line is not None and self.line.handed_over

    def _begun(self) -> bool:
        return self.line is not None and self.line.begun

    def means_server(self, error: BaseException) -> bool:
        """Whether a failure is the server's with all mails: it came before the mail, or a login is wanted."""
        too_big = isinstance(error, SMTPSenderRefused) and code_of(error) == TOO_BIG
        return (not self._begun() and not too_big) or code_of(error) in WANTS_LOGIN

    def _hand_over(self, to: str, data: bytes, before_end: Callable[[], None]) -> str:
        assert self.line is not None  # noqa: S101 - `_be_ready` was called
        self.on_line += 1
        sender = envelope(self.site.mail_from)
        return kit.answer(*self.line.hand_over(sender, to, data, before_end, settings.MAIL_ANSWER_SECONDS))

    def _be_ready(self) -> None:
        """Have a line that is alive and may carry one more mail."""
        if self.line is not None and self.connection is not None and 0 < self.on_line < PER_LINE:
            self.line.begun = self.line.handed_over = False
            try:
                if self.line.rset()[0] == 250:
                    return
            except OSError:
                pass
        self.hang_up()
        self.line = None
        self.connection = kit.connection(self.site)
        self.line = self.connection.line

    def _data(self, mail: Mail) -> bytes:
        """The bytes to send. The sender of the site may have been changed since they were made."""
        stored = decompress(bytes(mail.message))
        data = sent_from(stored, self.site.mail_from)
        if data != stored:
            Mail.objects.filter(pk=mail.pk).update(message=compress(data), size=len(data))
        return data


def reply_of(error: BaseException) -> tuple[int, bytes | str]:
    """What the server said, as number and text; -1 where it said nothing."""
    if isinstance(error, SMTPRecipientsRefused):
        return next(iter(error.recipients.values()), (-1, b""))
    if isinstance(error, SMTPSenderRefused | SMTPDataError | SMTPResponseException):
        return error.smtp_code, error.smtp_error
    return -1, b""


def code_of(error: BaseException) -> int:
    """The number the server answered; -1 where it did not, or no SMTP."""
    return reply_of(error)[0]


def _closes(error: BaseException) -> bool:
    """Whether the server ended the line, by a word or without."""
    return code_of(error) in (CLOSING, -1)
