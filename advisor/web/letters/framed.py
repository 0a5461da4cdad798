"""The HTML of a mail at an address of its own, for a frame: nothing in it runs, and nothing is loaded."""

from collections.abc import Callable
from typing import Any, TypeVar

from csp.decorators import csp_update
from django.http import HttpResponse

View = TypeVar("View", bound=Callable[..., Any])
CSP = "sandbox; default-src 'none'; img-src data:; style-src 'unsafe-inline'; frame-ancestors 'self'"


def page(html: str) -> HttpResponse:
    """Answer with it."""
    answer = HttpResponse(html, content_type="text/html; charset=utf-8")
    answer["Content-Security-Policy"] = CSP
    answer["Referrer-Policy"] = "no-referrer"
    return answer


def framing(view: View) -> View:
    """Let a page show a frame of our own."""
    return csp_update({"frame-src": ["'self'"]})(view)  # type: ignore[return-value]  # it is typed for views of one page
