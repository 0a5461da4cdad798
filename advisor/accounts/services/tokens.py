"""Keys for scripts: made once, shown once, kept as a digest only."""

import hashlib
import secrets
from collections.abc import Iterable
from contextlib import suppress
from datetime import datetime, timedelta

from django.db import OperationalError
from django.db.models import Q
from django.http import HttpRequest
from django.utils import timezone

from advisor.accounts.models import Token, User
from advisor.core import journal
from advisor.uploads.services.uploads import clean_text

SCOPES = {
    "read": "Read systems, captures, audits, findings, uploads and the rule book.",
    "upload": "Upload exports, and have captures audited again.",
    "limits": "Set limits and take them back, as far as your role allows.",
    "findings": "Accept, plan, assign and comment findings, as far as your role allows.",
    "schedules": "Make, change, run, pause and delete schedules and groups of systems.",
    "systems": "Snooze systems and wake them.",
    "sources": "Add, change and remove data sources.",
    "mail": "Add, change, stop and remove recipients of mail, as far as your role allows.",
    "administration": "Add and change users, teams and webhooks: whoever has it can make administrators.",
    "metrics": "Read the figures of the service itself, for a monitoring system.",
    "tokens": "List, make and revoke your own tokens.",
}
ADMINISTRATORS = ("administration", "metrics")
"""Scopes of their tokens alone."""
PREFIX = "lw_"
"""By this a secret that leaked into a file or a repository is found."""
HINT = 9
NOTED_EVERY = timedelta(minutes=1)
"""A busy script does not write its token's row at every request."""


class BadToken(ValueError):
    """A token that is not made; the message says why and what to do."""


def scopes_for(user: User) -> tuple[str, ...]:
    """The scopes a person's role lets their tokens have."""
    if user.is_administrator:
        return tuple(SCOPES)
    return tuple(one for one in SCOPES if one not in ADMINISTRATORS) if user.may_work else ("read", "mail")


def granted(token: Token) -> frozenset[str]:
    """What a token may do today: its scopes, as far as the role its user has now allows them."""
    return frozenset(token.scopes) & frozenset(scopes_for(token.user))


def make_token(
    user: User, name: str, scopes: Iterable[str], expires: datetime | None, *, request: HttpRequest | None = None
) -> tuple[Token, str]:
    """Make a token and its secret, which nobody can ever read again. Raises `BadToken`.

    A name belongs to one live token of a person, so that a form sent twice makes one. `expires` needs a time zone;
    `None`: never.
    """
    name, wanted = clean_text(name, 80), set(scopes)
    if not name:
        raise BadToken("a token needs a name: say which script uses it")
    if unknown := wanted - SCOPES.keys():
        raise BadToken(f"there is no scope {', '.join(sorted(unknown))}: the scopes are {', '.join(SCOPES)}")
    if not wanted:
        raise BadToken(f"a token needs a scope: choose of {', '.join(scopes_for(user))}")
    if beyond := wanted - set(scopes_for(user)):
        raise BadToken(f"your role does not reach to {', '.join(sorted(beyond))}: ask an administrator")
    if expires is not None and expires <= timezone.now():
        raise BadToken("the token would have expired already: choose a time to come")
    if any(token.live for token in user.tokens.filter(name=name)):
        raise BadToken("you have a token of this name: revoke it first, or choose another name")
    secret = PREFIX + secrets.token_urlsafe(30)
    token = Token.objects.create(
        user=user,
        name=name,
        digest=_digest(secret),
        hint=secret[:HINT],
        scopes=[scope for scope in SCOPES if scope in wanted],
        expires=expires,
    )
    until = f" until {expires:%Y-%m-%d %H:%M %Z}" if expires else ""
    journal.note(user, "token made", f"{token}: {', '.join(token.scopes)}{until}", request=request)
    return token, secret


def find_token(secret: str) -> Token | None:
    """The live token of this secret, else `None`; notes that it was used, at most once a minute.

    Whatever is given costs one digest and one look-up, by the digest: no secret is compared letter by letter.
    """
    token = Token.objects.select_related("user").filter(digest=_digest(secret)).first()
    if token is None or not token.live:
        return None
    now = timezone.now()
    if token.used is None or now - token.used >= NOTED_EVERY:
        stale = Q(used=None) | Q(used__lte=now - NOTED_EVERY)
        with suppress(OperationalError):  # SQLite, while something large is written: a note is not worth a failure
            Token.objects.filter(stale, pk=token.pk).update(used=now)
        token.used = now
    return token


def revoke(token: Token, by: User, *, request: HttpRequest | None = None) -> bool:
    """Take a token back for ever; returns whether it was not revoked before."""
    done = Token.objects.filter(pk=token.pk, revoked=None).update(revoked=timezone.now())
    if done:
        whose = "" if token.user_id == by.pk else f" of {token.user.username}"
        journal.note(by, "token revoked", f"{token}{whose}", request=request)
    return bool(done)


def _digest(secret: str) -> str:
    """40 random letters need no slow digest: there is nothing to guess from."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()
