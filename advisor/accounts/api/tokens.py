"""One's own tokens."""

from datetime import datetime
from typing import Any

from django.http import HttpResponse
from django.shortcuts import get_object_or_404
from django.utils import timezone
from ninja import Router, Schema, Status
from pydantic import Field

from advisor.accounts.api_auth import Asked, needs
from advisor.accounts.models import Token
from advisor.accounts.services.tokens import BadToken, make_token, revoke
from advisor.core.api import ERRORS
from advisor.core.api_errors import Problem

router = Router(tags=["tokens"])


class TokenRow(Schema):
    """A token of one's own."""

    id: int
    name: str
    hint: str = Field(description="The first letters of its secret.")
    scopes: list[str]
    created: datetime
    expires: datetime | None
    used: datetime | None
    revoked: datetime | None
    live: bool


class TokenMade(TokenRow):
    """A new token with its secret: it is shown this once."""

    secret: str


class NewToken(Schema):
    """What a token is to be."""

    name: str = Field(max_length=80)
    scopes: list[str]
    expires: datetime | None = Field(None, description="Without a time zone: in that of the site. Null: never.")


@router.get(
    "", auth=needs("tokens"), response={200: list[TokenRow], **ERRORS}, url_name="tokens", summary="Your tokens"
)
def listing(request: Asked) -> Any:
    """List your own tokens, newest first, those that open nothing any more included."""
    return [_row(token) for token in request.user.tokens.all()]


@router.post("", auth=needs("tokens"), response={201: TokenMade, **ERRORS}, url_name="tokens", summary="Make a token")
def make(request: Asked, new: NewToken, response: HttpResponse) -> Any:
    """Make a token; its secret is in this answer and nowhere else. A token makes none that can do or live longer."""
    expires = _aware(new.expires)
    minter = request.auth.token
    if minter is not None:
        if beyond := set(new.scopes) - request.auth.scopes:
            raise Problem(
                403, f"This token lacks the scope {', '.join(sorted(beyond))}.", "Ask for no more than it has."
            )
        if minter.expires is not None and (expires is None or expires > minter.expires):
            until = minter.expires.isoformat()
            raise Problem(403, "A token may not make one that outlives it.", f"Let it expire by {until}.")
    try:
        token, secret = make_token(request.user, new.name, new.scopes, expires, request=request)
    except BadToken as error:
        reason, _, remedy = str(error).partition(": ")
        raise Problem(400, f"Not made: {reason}.", f"{remedy[:1].upper()}{remedy[1:]}.") from None
    response["Cache-Control"] = "no-store"
    return Status(201, {**_row(token), "secret": secret})


@router.delete(
    "/{int:token_id}",
    auth=needs("tokens"),
    response={200: TokenRow, **ERRORS},
    url_name="token",
    summary="Revoke a token",
)
def take_back(request: Asked, token_id: int) -> Any:
    """Revoke one of your own tokens; it opens nothing from now on."""
    token = get_object_or_404(request.user.tokens, pk=token_id)
    revoke(token, request.user, request=request)
    token.refresh_from_db()
    return _row(token)


def _aware(time: datetime | None) -> datetime | None:
    return timezone.make_aware(time) if time is not None and timezone.is_naive(time) else time


def _row(token: Token) -> dict[str, Any]:
    fields = ("name", "hint", "scopes", "created", "expires", "used", "revoked", "live")
    return {"id": token.pk, **{name: getattr(token, name) for name in fields}}
