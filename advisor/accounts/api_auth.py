"""Who asks, and for which team: a token with the scope it takes, or somebody logged in, as far as the role reaches."""

from collections.abc import Callable
from dataclasses import dataclass

from django.conf import settings
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest
from ninja.security import HttpBearer
from ninja.security.base import AuthBase
from ninja.utils import check_csrf

from advisor.accounts.models import Team, Token, User
from advisor.accounts.services.tokens import (
    SCOPES,
    find_token,
    granted,
    scopes_for,
)
from advisor.core.access import may_work_for, teams_of
from advisor.core.api_errors import ASK, LOG_IN, Problem


@dataclass(frozen=True)
class Caller:
    """Who asks, and through which token; none: through a page of this site."""

    user: User
    token: Token | None

    @property
    def scopes(self) -> frozenset[str]:
        """What may be asked for. One's own tokens anybody who is logged in may see to."""
        return granted(self.token) if self.token else frozenset((*scopes_for(self.user), "tokens"))


class Asked(HttpRequest):
    """A request to the API that came through."""

    user: User
    auth: Caller


class BearerToken(HttpBearer):
    """`Authorization: Bearer lw_…`."""

    def __init__(self, scope: str | None) -> None:
        """Ask for a scope; `None`: any live token will do."""
        super().__init__()
        self.scope = scope

    def authenticate(self, request: HttpRequest, token: str) -> Caller:
        """Find the token. Raises `Problem`: a wrong one never falls back to a session."""
        found = find_token(token.strip())
        if found is None:
            raise Problem(401, "This token is not known, was revoked or has expired.", LOG_IN)
        caller = Caller(found.user, found)
        if self.scope is not None and self.scope not in caller.scopes:
            raise Problem(
                403,
                f"This token lacks the scope {self.scope}, or your role no longer reaches to it.",
                "Make a token with that scope on your account page.",
            )
        request.user = found.user
        return caller


class Session(AuthBase):
    """The cookie of somebody who is logged in; what changes something needs the header `X-CSRFToken`, too."""

    openapi_type = "apiKey"
    openapi_in = "cookie"
    openapi_name = settings.SESSION_COOKIE_NAME

    def __init__(self, scope: str | None) -> None:
        """Ask for what the role must reach to; `None`: any role."""
        super().__init__()
        self.scope = scope

    def __call__(self, request: HttpRequest) -> Caller | None:
        """Find who is logged in. Raises `Problem`; the role is looked at before any of the body is read."""
        user = request.user
        if not isinstance(user, User) or not user.is_active:
            return None
        caller = Caller(user, None)
        if self.scope is not None and self.scope not in caller.scopes:
            raise Problem(403, f"Your role does not allow this: {SCOPES[self.scope]}", ASK)
        if check_csrf(request) is not None:
            raise Problem(403, "The CSRF token is missing or wrong.", "Send it as X-CSRFToken, or use an API token.")
        return caller


def needs(scope: str | None) -> list[Callable[[HttpRequest], Caller | None]]:
    """The two ways in, for an endpoint that takes this scope (`None`: whoever is known)."""
    return [BearerToken(scope), Session(scope)]


def chosen_team(user: User, chosen: str, *, work: bool = True) -> Team:
    """The team of this name or number, for somebody who may work for it; the only one where none was named.

    Without `work` it is enough to be in it: what is called then looks at what the role allows.
    Raises `Problem`, `PermissionDenied`.
    """
    teams, word = list(teams_of(user)), chosen.strip().lower()
    found = [team for team in teams if not word or team.name.lower() == word]
    found = found or [team for team in teams if str(team.pk) == word]
    if word and not found:
        raise Problem(404, "There is no such team, or you are not in it.", _your(teams))
    if len(found) != 1:
        raise Problem(400, "Which team do the systems belong to?", f"Send the field `team`. {_your(teams)}")
    if work and not may_work_for(user, found[0]):
        raise PermissionDenied
    return found[0]


def _your(teams: list[Team]) -> str:
    return f"Your teams: {', '.join(team.name for team in teams)}." if teams else "You are in no team yet."
