"""A password that somebody else made is changed before anything else is done."""

from collections.abc import Callable
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, resolve_url
from django_htmx.http import HttpResponseClientRedirect

OPEN = frozenset(("password", "logout", "login"))
"""Pages that stay open, by name. Static files do not come here; a token brings no session, so its scripts go on."""


class MustChangeMiddleware:
    """Sends whoever must change their password to the page for it. Stands after the authentication."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Pass it on: the page is known only in `process_view`."""
        return self.get_response(request)

    def process_view(self, request: HttpRequest, view: Any, args: Any, kwargs: Any) -> HttpResponse | None:
        """Answer in place of the page asked for, or let it through."""
        if not (request.user.is_authenticated and request.user.must_change_password):
            return None
        if request.resolver_match is not None and request.resolver_match.view_name in OPEN:
            return None
        if getattr(request, "htmx", False):
            return HttpResponseClientRedirect(resolve_url("password"))
        return redirect("password")
