"""Links in mails that open the settings of one recipient without a login: signed, and shut by a new nonce."""

from django.conf import settings as site_settings
from django.core.signing import Signer
from django.urls import reverse
from django.utils.crypto import constant_time_compare

from advisor.notifications.models import Recipient

SALT = "advisor.notifications.mail.links"
LENGTH = 24
"""Characters of the signature that are kept: 144 bits, so that a link fits on a line of a terminal."""
DIGITS = 18
"""A number of more digits is none of a row."""


def settings(recipient: Recipient) -> str:
    """The address of the page where this recipient's settings are changed."""
    return _address("letter-settings", recipient)


def unsubscribe(recipient: Recipient) -> str:
    """The address that stops mail to this recipient: a page with a button, and RFC 8058's one click."""
    return _address("letter-unsubscribe", recipient)


def token(recipient: Recipient) -> str:
    """What a link carries: the number of the recipient, and a signature over it and its nonce. It does not run out."""
    return f"{recipient.pk}.{_signature(recipient, site_settings.SECRET_KEY)}"


def recipient_of(token: str) -> Recipient | None:
    """Whom a link is for; `None` where it was not made here, or the recipient is gone or has a new nonce."""
    number, _, signature = token.partition(".")
    if not (number.isascii() and number.isdigit() and len(number) <= DIGITS):
        return None
    recipient = Recipient.objects.select_related("team", "user").filter(pk=int(number)).first()
    if recipient is None:
        return None
    keys = [site_settings.SECRET_KEY, *site_settings.SECRET_KEY_FALLBACKS]
    right = any(constant_time_compare(signature, _signature(recipient, key)) for key in keys)
    return recipient if right else None


def _address(view: str, recipient: Recipient) -> str:
    return site_settings.SITE_URL + reverse(view, args=[token(recipient)])


def _signature(recipient: Recipient, key: str | bytes) -> str:
    return Signer(salt=SALT).signature(f"{recipient.pk}.{recipient.nonce}", key)[:LENGTH]
