"""A web server of another version than the database is: 503 to everything, until one of the two is changed."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse, JsonResponse

from advisor.operations.services.versions import mismatch


class VersionMiddleware:
    """Answers in place of every page, `/healthz` too: a load balancer takes such a server out."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Say why nothing is done, or pass it on."""
        found = mismatch()
        if found is None:
            return self.get_response(request)
        if request.path.startswith("/api/") or "application/json" in request.headers.get("Accept", ""):
            return JsonResponse({"error": found.says, "remedy": found.do}, status=found.status)
        text = f"{found.says} {found.do}\n"
        return HttpResponse(text, status=found.status, content_type="text/plain; charset=utf-8")
