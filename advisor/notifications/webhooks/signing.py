"""The secret of a webhook, and the signature by which a receiver knows that a delivery is ours and fresh."""

import hashlib
import hmac
import json
import secrets
import time

from advisor.core.sealing import seal, unseal
from advisor.notifications.models import Webhook

PURPOSE = "webhook secret"
PREFIX = "lwh_"
"""By this a secret that leaked into a file or a repository is found."""
BOTH_SECONDS = 86400
"""So long after a renewal the former secret signs as well: the receiver has a day to change it."""
CHECK = """\
import hashlib, hmac, time

def genuine(secret: str, signature: str, body: bytes) -> bool:
    parts = [part.partition("=")[::2] for part in signature.split(",")]
    at = dict(parts).get("t", "")
    made = hmac.new(secret.encode(), at.encode() + b"." + body, hashlib.sha256).hexdigest()
    fresh = at.isdecimal() and abs(time.time() - int(at)) < 300
    return fresh and any(name == "v1" and hmac.compare_digest(made, said) for name, said in parts)
"""
"""How a receiver checks `Lockwright-Signature`, as the page shows it; a test runs it."""


def new_secret() -> str:
    """Make a secret of 256 bits."""
    return PREFIX + secrets.token_urlsafe(32)


def sealed(secret: str, former: str = "", until: float = 0) -> str:
    """Seal a secret, with the one before it and the Unix time until which that signs as well."""
    return seal(json.dumps({"secret": secret, "former": former, "until": until}), PURPOSE)


def renewed(webhook: Webhook, secret: str) -> str:
    """Seal a new secret in the place of the present one, which signs for a day more. Raises `Unsealable`."""
    return sealed(secret, _secrets(webhook)[0], time.time() + BOTH_SECONDS)


def signature(webhook: Webhook, body: bytes) -> str:
    """The header `Lockwright-Signature` for this body at this moment. Raises `Unsealable`."""
    now = int(time.time())
    signed = f"{now}.".encode() + body
    made = (hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest() for secret in _secrets(webhook))
    return ",".join([f"t={now}", *(f"v1={one}" for one in made)])


def _secrets(webhook: Webhook) -> list[str]:
    """The secrets that sign now, the present one first."""
    held = json.loads(unseal(webhook.secret_sealed, PURPOSE))
    return [held["secret"], held["former"]] if held["former"] and time.time() < held["until"] else [held["secret"]]
