"""What holds for every answer: none is kept by a proxy or a shared browser, and a file says that it has come.

A page shows somebody's servers. A browser that is handed a file stays on its page and tells no script of it, so the
script that says "on its way" (`app.js`) waits for the cookie.
"""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse

HANDED_OVER = "handed-over"
"""Name of the cookie by which the page learns that a file is there; it holds nothing of anybody."""
HANDED_OVER_SECONDS = 30


class PrivateMiddleware:
    """Marks every answer that says nothing of it as private and not to be stored; static files do not come here."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Mark one."""
        response = self.get_response(request)
        response.headers.setdefault("Cache-Control", "private, no-store")
        if response.headers.get("Content-Disposition", "").startswith("attachment"):
            secure = request.is_secure()
            response.set_cookie(HANDED_OVER, "1", max_age=HANDED_OVER_SECONDS, secure=secure, samesite="Lax")
        return response
