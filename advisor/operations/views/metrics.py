"""The figures for Prometheus, the sign of life, and the middleware that times every request."""

from collections.abc import Callable
from time import perf_counter

from django.contrib.auth.decorators import login_not_required
from django.db import Error, connection
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

from advisor.accounts.api_auth import needs
from advisor.core.api_errors import LOG_IN, Problem, answer
from advisor.operations.services.metrics import REQUESTS, exposed


class Measured:
    """Middleware: time every request, by the name of its page and its status."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        """Stand before everything else that is to be timed."""
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Time one. An address that leads nowhere is `none`: a stranger cannot make labels."""
        begin = perf_counter()
        response = self.get_response(request)
        match = request.resolver_match
        view = match.view_name if match else "none"
        REQUESTS.labels(view, str(response.status_code)).observe(perf_counter() - begin)
        return response


@login_not_required
@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """Give the figures to a token with the scope `metrics`, or to an administrator who is logged in."""
    try:
        if not any(way(request) for way in needs("metrics")):
            return answer(401, "Who asks is not known.", LOG_IN)
    except Problem as problem:
        return answer(problem.status, **problem.said)
    return HttpResponse(generate_latest(exposed()), content_type=CONTENT_TYPE_LATEST)


@login_not_required
@require_safe
def healthz(request: HttpRequest) -> HttpResponse:
    """Say `ok` while the database answers, else 503. Tells nothing more: anybody may ask."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
            cursor.fetchone()
    except Error:
        return HttpResponse("the database does not answer\n", status=503, content_type="text/plain")
    return HttpResponse("ok\n", content_type="text/plain")
