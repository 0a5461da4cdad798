"""Pages for what went wrong: what it was, and what to do. They tell nothing of what exists."""

from typing import Any

from django.http import HttpRequest, HttpResponse

from advisor.web.kit import page


def error(request: HttpRequest, status: int, title: str, says: str) -> HttpResponse:
    """Render one; as plain text where the request failed before anybody knew who asks."""
    if not hasattr(request, "user"):
        return HttpResponse(f"{title}. {says}\n", status=status, content_type="text/plain; charset=utf-8")
    return page(request, "error.html", {"title": title, "says": says, "status": status}, status)


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Say the same of what does not exist and of what belongs to another team."""
    return error(request, 404, "Not here", "There is no such page, or it belongs to a team you are not in.")


def forbidden(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Say what role it takes."""
    return error(request, 403, "Not for your role", str(exception) or "Your role does not allow this.")


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Say that the request made no sense."""
    return error(request, 400, "That request makes no sense", "Go back, load the page again, and try once more.")


def csrf_failed(request: HttpRequest, reason: str = "", **rest: Any) -> HttpResponse:
    """Say how a form loses its token."""
    return error(request, 403, "The form was too old", "Load the page again and send it once more; nothing was done.")


def broken(request: HttpRequest) -> HttpResponse:
    """Own up to a fault of ours. Needs no database and no user."""
    return HttpResponse(
        b"Lockwright made a mistake; its log says which. Nothing of yours was changed.\n",
        status=500,
        content_type="text/plain; charset=utf-8",
    )
