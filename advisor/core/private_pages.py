"""No page is kept by a proxy or by the browser of a shared machine: it shows somebody's servers."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse


class PrivateMiddleware:
    """Marks every answer that says nothing of it as private and not to be stored; static files do not come here."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Mark one."""
        response = self.get_response(request)
        response.headers.setdefault("Cache-Control", "private, no-store")
        return response
