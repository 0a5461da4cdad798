"""Pages for what went wrong: what it was, and what to do. They tell nothing of what exists."""

import sys
from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse

from advisor.core.infrastructure_errors import outside
from advisor.core.views import page

MISTAKE = "Lockwright made a mistake; its log says which. Nothing of yours was changed."


def error(request: HttpRequest, status: int, title: str, says: str) -> HttpResponse:
    """Render one; as plain text where the request failed before anybody knew who asks."""
    if not hasattr(request, "user"):
        return HttpResponse(f"{title}. {says}\n", status=status, content_type="text/plain; charset=utf-8")
    return page(request, "core/error.html", {"title": title, "says": says, "status": status}, status)


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
    """Own up to a fault of ours, or say what failed outside. Needs no database and no user."""
    failed = outside(sys.exc_info()[1])
    status, says = (failed.status, f"{failed.says} {failed.do}") if failed else (500, MISTAKE)
    if "application/json" in request.headers.get("Accept", ""):
        return JsonResponse({"error": says}, status=status)
    return HttpResponse(f"{says}\n", status=status, content_type="text/plain; charset=utf-8")
