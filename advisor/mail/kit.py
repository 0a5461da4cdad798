"""What every message needs: the line to the site's mail server, and three templates made into one mail."""

import smtplib
from email.utils import formataddr
from typing import Any

from django.core.mail import EmailMultiAlternatives
from django.core.mail.backends.smtp import EmailBackend
from django.template.loader import render_to_string

from advisor.mail.sealing import unseal
from advisor.models import Site

TIMEOUT = 10.0
"""Seconds to wait for each answer of the mail server (this project's figure)."""


class _Remembers(smtplib.SMTP):
    """A line that remembers what the server said when it took the mail; smtplib itself forgets that."""

    taken: tuple[int, bytes] | None = None

    def data(self, msg: Any) -> tuple[int, bytes]:
        """Send the mail, and keep the answer."""
        self.taken = super().data(msg)
        return self.taken


class _RemembersOverTLS(_Remembers, smtplib.SMTP_SSL):
    """The same, over TLS from the start."""


class Connection(EmailBackend):
    """Django's SMTP with the settings of the site."""

    @property
    def connection_class(self) -> type[smtplib.SMTP]:
        """The kind of line."""
        return _RemembersOverTLS if self.use_ssl else _Remembers

    def deliver(self, message: EmailMultiAlternatives) -> str:
        """Send one mail and give what the server answered, as `250 OK`. Raises what `failures.explain` explains."""
        try:
            self.open()
            self.send_messages([message])
            line = self.connection
            return answer(*line.taken) if isinstance(line, _Remembers) and line.taken else ""
        finally:
            self._hang_up()

    def _hang_up(self) -> None:
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


def message(name: str, to: str, context: dict[str, Any], site: Site) -> EmailMultiAlternatives:
    """Make the mail `templates/email/<name>/`: a subject of one line, a body of text, the same as HTML."""
    subject = " ".join(render_to_string(f"email/{name}/subject.txt", context).split())
    made = EmailMultiAlternatives(
        subject,
        render_to_string(f"email/{name}/body.txt", context),
        formataddr(("Lockwright", site.mail_from)),
        [to],
        headers={"Auto-Submitted": "auto-generated"},
    )
    made.attach_alternative(render_to_string(f"email/{name}/body.html", context), "text/html")
    return made


def answer(code: int, said: bytes | str) -> str:
    """What a mail server said, on one line and at most 300 characters: it is a stranger's text."""
    text = said.decode("utf-8", "replace") if isinstance(said, bytes) else said
    return " ".join(f"{code} {text}".split())[:300]
