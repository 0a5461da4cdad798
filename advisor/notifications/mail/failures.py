"""What went wrong with a mail server, in plain words, and what to do about it."""

import smtplib
import socket
import ssl
from dataclasses import dataclass

from celery.exceptions import SoftTimeLimitExceeded

from advisor.core.models import Site
from advisor.core.sealing import Unsealable
from advisor.notifications import backends
from advisor.notifications.mail.rendering import Unsendable

EXPECTED = (OSError, Unsealable, Unsendable, UnicodeError)
"""What sending may raise for reasons outside this program; smtplib's own errors are OSErrors."""


@dataclass(frozen=True)
class Failure:
    """What happened and what to do, a sentence or two each."""

    says: str
    do: str


def explain(error: BaseException, site: Site) -> Failure:
    """Explain one of `EXPECTED`, raised while sending through the settings of `site`."""
    where = f"{site.mail_host}, port {site.mail_port}"
    if isinstance(error, Unsealable):
        says = "The stored password cannot be read: the secret key of this site has changed since it was stored."
        return Failure(says, "Type the password again.")
    if isinstance(error, Unsendable):
        return Failure(str(error), "Correct the address.")
    if isinstance(error, SoftTimeLimitExceeded):
        return Failure(f"{where} takes too long over everything.", "Ask whoever runs it why it is slow.")
    if isinstance(error, UnicodeError):
        says = "The user name, the password or an address has characters that this mail server cannot be given."
        return Failure(says, "Use letters without accents, digits and signs.")
    if isinstance(error, smtplib.SMTPException):
        return _of_the_server(error, site, where)
    return _of_the_line(error, where)


def unknown(why: Failure) -> Failure:
    """What to say where a mail was handed over whole and the answer did not come."""
    do = "It is sent again under the same Message-ID: most mailboxes show it once."
    return Failure(f"{why.says} Whether the server has taken the mail is not known.", do)


def timed_out(error: BaseException) -> bool:
    """Whether it was waited for in vain, whatever smtplib made of that."""
    return isinstance(error, TimeoutError) or isinstance(error.__context__, TimeoutError)


def _of_the_server(error: smtplib.SMTPException, site: Site, where: str) -> Failure:
    """The server was reached."""
    if isinstance(error, smtplib.SMTPRecipientsRefused):
        said = "; ".join(f"{to}: {backends.answer(*reply)}" for to, reply in error.recipients.items())
        do = "Check the address. If it is right, the server may relay only after a login, or only from known machines."
        return Failure(f"The server refused the recipient. {said}", do)
    if isinstance(error, smtplib.SMTPSenderRefused) and error.smtp_code == 530:
        said = backends.answer(error.smtp_code, error.smtp_error)
        return Failure(f"The server wants a login or TLS first: {said}", "Fill in user and password, or choose TLS.")
    if isinstance(error, smtplib.SMTPSenderRefused):
        says = f"The server refused the sender {site.mail_from}: {backends.answer(error.smtp_code, error.smtp_error)}"
        return Failure(says, "Use a sender address that this server may send for.")
    if isinstance(error, smtplib.SMTPResponseException):
        return _of_an_answer(error, site, where)
    if isinstance(error, smtplib.SMTPServerDisconnected):
        if timed_out(error):
            return _too_slow(where)
        says = f"{where} ended the connection in the middle of the conversation."
        return Failure(says, "Check port and security: 465 wants TLS from the start, 587 STARTTLS.")
    if isinstance(error, smtplib.SMTPNotSupportedError) and "STARTTLS" in str(error):
        return Failure(f"{where} offers no STARTTLS.", "Choose TLS from the start (often port 465), or none.")
    return Failure(
        f"{where} offers no login that this service knows: {error}",
        "Many offer it only over TLS: choose STARTTLS. If the server wants no login, leave user and password empty.",
    )


def _of_an_answer(error: smtplib.SMTPResponseException, site: Site, where: str) -> Failure:
    """The server said no, with a number."""
    said = backends.answer(error.smtp_code, error.smtp_error)
    if isinstance(error, smtplib.SMTPAuthenticationError):
        do = (
            "Check user name and password. Some servers want a password made for applications, or log in over TLS only."
        )
        return Failure(f"The server refused the login of {site.mail_user}: {said}", do)
    if isinstance(error, smtplib.SMTPDataError):
        return Failure(f"The server refused the mail itself: {said}", "Ask whoever runs it: a filter is likely.")
    if isinstance(error, smtplib.SMTPConnectError):
        do = "Ask whoever runs it whether it takes mail from this machine."
        return Failure(f"{where} took the connection and then refused to talk: {said}", do)
    return Failure(f"The server refused: {said}", "Check port and security, or ask whoever runs it.")


def _of_the_line(error: BaseException, where: str) -> Failure:
    """The server was not reached, or TLS was not agreed on."""
    host = where.partition(",")[0]
    if isinstance(error, socket.gaierror):
        says = f"Nobody knows a host of the name {host} ({error.strerror})."
        return Failure(says, "Check the name, and that this machine has a name server.")
    if isinstance(error, ConnectionRefusedError):
        do = "Check the port (25, 587 or 465 are usual) and that the server listens on that address."
        return Failure(f"{where} refuses the connection: nothing listens there, or a firewall says no.", do)
    if isinstance(error, TimeoutError):
        return _too_slow(where)
    if isinstance(error, ssl.SSLCertVerificationError):
        do = "Write the name that is in the certificate, or have its issuer's certificate installed on this machine."
        return Failure(f"The certificate of {where} is not trusted: {error.verify_message}.", do)
    if isinstance(error, ssl.SSLError):
        do = "It probably speaks no TLS from the start on this port: choose STARTTLS, or another port (465)."
        return Failure(f"{where} and this service could not agree on TLS: {error.reason or error}.", do)
    if isinstance(error, ConnectionError):
        says = f"{where} broke the connection."
        return Failure(says, "Check port and security: 465 wants TLS from the start, 587 STARTTLS.")
    return Failure(
        f"{where} cannot be reached: {getattr(error, 'strerror', None) or error}.", "Check host and network."
    )


def _too_slow(where: str) -> Failure:
    do = "A firewall may drop what is sent there; or the port wants TLS from the start (465) and none was chosen."
    return Failure(f"{where} did not answer within {backends.TIMEOUT:g} s.", do)
