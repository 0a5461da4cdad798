"""What every message needs: the line to the site's mail server, and three templates made into one mail."""

import binascii
import smtplib
from collections.abc import Callable, Mapping
from email.utils import parseaddr
from typing import Any

from django.core.mail import EmailMultiAlternatives
from django.core.mail.backends.smtp import EmailBackend
from django.template.loader import render_to_string

from advisor.mail.line import Line, LineOverTLS
from advisor.mail.rendering import envelope, rendered, sender
from advisor.mail.sealing import unseal
from advisor.mail.words import one_line
from advisor.models import Site

TIMEOUT = 10.0
"""Seconds to wait for each answer of the mail server (this project's figure)."""


class Connection(EmailBackend):
    """Django's SMTP with the settings of the site."""

    @property
    def connection_class(self) -> type[smtplib.SMTP]:
        """The kind of line."""
        return LineOverTLS if self.use_ssl else Line

    @property
    def line(self) -> Line:
        """The line, opened and greeted."""
        try:
            self.open()
        except binascii.Error:  # a challenge of the login that is none
            raise smtplib.SMTPResponseException(-1, "what it says is no SMTP") from None
        line = self.connection
        assert isinstance(line, Line)  # noqa: S101 - `open` made it or raised
        line.ehlo_or_helo_if_needed()
        return line

    def deliver(self, message: EmailMultiAlternatives) -> str:
        """Send one mail and give what the server answered, as `250 OK`. Raises what `failures.explain` explains."""
        to, data = envelope(message.to[0]), rendered(message)
        try:
            return self.hand_over(parseaddr(message.from_email)[1], to, data)
        finally:
            self.hang_up()

    def hand_over(
        self,
        mail_from: str,
        to: str,
        data: bytes,
        before_end: Callable[[], Any] = lambda: None,
        answer_seconds: float | None = None,
    ) -> str:
        """Send the bytes of one mail and give the answer; the line stays open. As `Line.hand_over`."""
        return answer(*self.line.hand_over(mail_from, to, data, before_end, answer_seconds))

    def hang_up(self) -> None:
        """End the line whatever its state; a mail that was taken is sent, even if the farewell goes wrong."""
        line: smtplib.SMTP | None = self.connection or getattr(self, "_partial_connection", None)
        self.connection = self._partial_connection = None
        if line is not None:
            try:
                line.quit()
            except (OSError, smtplib.SMTPException):
                line.close()


def connection(site: Site) -> Connection:
    """Make the line to the mail server of the site; it opens with the first mail. Raises `sealing.Unsealable`."""
    return Connection(
        host=site.mail_host,
        port=site.mail_port,
        username=site.mail_user,
        password=unseal(site.mail_password_sealed) if site.mail_password_sealed else "",
        use_tls=site.mail_security == Site.Security.STARTTLS,
        use_ssl=site.mail_security == Site.Security.TLS,
        timeout=TIMEOUT,
    )


def message(
    name: str,
    to: str,
    context: dict[str, Any],
    site: Site,
    headers: Mapping[str, str] | None = None,
    reference: str = "",
) -> EmailMultiAlternatives:
    """Make the mail `templates/email/<name>/`: a subject of one line, a body of text, the same as HTML.

    `headers` are more of its headers, each made one clean line; mails with the same `reference` (a Message-ID, see
    `words.message_id`) are one thread.
    """
    thread = {"References": reference, "In-Reply-To": reference} if reference else {}
    more = {**thread, **(headers or {}), "Auto-Submitted": "auto-generated"}
    made = EmailMultiAlternatives(
        one_line(render_to_string(f"email/{name}/subject.txt", context), 900),
        render_to_string(f"email/{name}/body.txt", context),
        sender(site.mail_from),
        [to],
        headers={key: one_line(value, 900) for key, value in more.items()},
    )
    made.attach_alternative(render_to_string(f"email/{name}/body.html", context), "text/html")
    return made


def answer(code: int, said: bytes | str) -> str:
    """What a mail server said, on one line and at most 300 characters: it is a stranger's text."""
    text = said.decode("utf-8", "replace") if isinstance(said, bytes) else said
    return one_line(f"{code} {text}", 300)
