"""One's own tokens."""

from datetime import datetime
from typing import Any

from django.http import HttpResponse
from django.shortcuts import get_object_or_404
from django.utils import timezone
from ninja import Router, Status

from advisor.api.auth import Asked, needs
from advisor.api.problems import Problem
from advisor.api.shapes import ERRORS, NewToken, TokenMade, TokenRow
from advisor.models import Token
from advisor.services.tokens import BadToken, make_token, revoke

router = Router(tags=["tokens"])


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
