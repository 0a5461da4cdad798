"""Secrets at rest: sealed with a key made from SECRET_KEY, so that a copy of the database alone opens nothing."""

from base64 import urlsafe_b64encode

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.conf import settings

MAIL_PASSWORD = "mail password"  # noqa: S105 - what it is for, not what it is


class Unsealable(Exception):
    """The key of the site is another one than it was sealed with, or the seal is broken."""


def seal(text: str, purpose: str = MAIL_PASSWORD) -> str:
    """Seal a secret. What is sealed for one purpose does not open for another."""
    return _box(purpose).encrypt(text.encode()).decode()


def unseal(sealed: str, purpose: str = MAIL_PASSWORD, *, seconds: int | None = None) -> str:
    """Open a seal, at most `seconds` old where given. Raises `Unsealable`."""
    try:
        return _box(purpose).decrypt(sealed.encode(), ttl=seconds).decode()
    except InvalidToken:
        raise Unsealable from None


def _box(purpose: str) -> MultiFernet:
    """Seals with the key of today and opens with those before it, too."""
    keys = [settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS]
    return MultiFernet([Fernet(_key(str(key), purpose)) for key in keys])


def _key(secret: str, purpose: str) -> bytes:
    derived = HKDF(algorithm=SHA256(), length=32, salt=None, info=f"lockwright {purpose}".encode())
    return urlsafe_b64encode(derived.derive(secret.encode()))
