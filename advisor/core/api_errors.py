"""What goes wrong is JSON, too: `{"error": what it was, "remedy": what to do}`, with the status that fits."""

import logging
from collections.abc import Callable
from functools import wraps
from typing import Any

from django.conf import settings
from django.core.exceptions import PermissionDenied, RequestDataTooBig, SuspiciousOperation, TooManyFilesSent
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotAllowed, JsonResponse, UnreadablePostError
from django.http.multipartparser import MultiPartParserError
from django.http.response import HttpResponseBase
from django.urls import URLPattern
from kombu.exceptions import OperationalError as BrokerAway
from ninja import NinjaAPI
from ninja.errors import AuthenticationError, HttpError, ValidationError

from advisor.core.infrastructure_errors import outside

LOG = logging.getLogger("advisor.api")
LOG_IN = "Send the header `Authorization: Bearer lw_…` with a token of your account page."
ASK = "Ask an administrator for the role it takes."
READ_DOCS = "/api/docs lists every address with its fields."


class Problem(Exception):
    """An answer that is not what was asked for."""

    def __init__(self, status: int, error: str, remedy: str, **more: Any) -> None:
        """Say what went wrong and what to do; `more` are further fields."""
        super().__init__(error)
        self.status, self.said = status, {"error": error, "remedy": remedy, **more}


def answer(status: int, error: str, remedy: str, **more: Any) -> HttpResponse:
    """Make the response."""
    response = JsonResponse({"error": error, "remedy": remedy, **more}, status=status)
    if status == 401:
        response["WWW-Authenticate"] = 'Bearer realm="Lockwright"'
    return response


def not_here() -> HttpResponse:
    """Say the same of what does not exist and of what belongs to another team."""
    return answer(404, "There is no such thing, or it belongs to a team you are not in.", READ_DOCS)


def cut_off(request: HttpRequest) -> bool:
    """Whether the upload handler ended a request because it brought more than the site allows."""
    return bool(request.META.get("lockwright.too_much"))


def too_much() -> HttpResponse:
    """Say how much is allowed."""
    return answer(413, f"More than {settings.UPLOAD_MB:,} MB at a time.", "Zip the files, or upload some of them.")


def listen(api: NinjaAPI) -> None:
    """Have every exception of the API answered this way."""

    def on(kind: type[Exception], handler: Callable[[HttpRequest, Any], HttpResponse]) -> None:
        api.add_exception_handler(kind, handler)

    on(Problem, lambda request, error: answer(error.status, **error.said))
    on(Http404, lambda request, error: not_here())
    on(PermissionDenied, lambda request, error: answer(403, _said(error, "Your role does not allow this."), ASK))
    on(AuthenticationError, lambda request, error: answer(401, "Who asks is not known.", LOG_IN))
    on(HttpError, lambda request, error: answer(error.status_code, error.message, READ_DOCS))
    on(ValidationError, _invalid)
    on(RequestDataTooBig, lambda request, error: answer(413, "The form fields are too long.", READ_DOCS))
    on(TooManyFilesSent, lambda request, error: answer(413, "Too many files at a time.", "Zip them, or upload some."))
    for kind in (SuspiciousOperation, MultiPartParserError, UnreadablePostError):
        on(kind, lambda request, error: answer(400, "The request cannot be read.", READ_DOCS))
    on(BrokerAway, _broker_away)
    on(Exception, _broken)


def _said(error: Exception, default: str) -> str:
    return str(error) or default


def _invalid(request: HttpRequest, error: ValidationError) -> HttpResponse:
    """Name each field that is missing or out of range, never the value that was sent."""
    if cut_off(request):  # the files are missing because they were cut off
        return too_much()
    said = [f"{'.'.join(map(str, one['loc'][1:])) or 'body'}: {one['msg']}" for one in error.errors]
    return answer(400, "; ".join(said) + ".", READ_DOCS)


def _broker_away(request: HttpRequest, error: Exception) -> HttpResponse:
    LOG.error("the broker does not answer: %s", error)
    return answer(503, "The queue of the workers does not answer.", "Send the same request again in a minute.")


def _broken(request: HttpRequest, error: Exception) -> HttpResponse:
    """Own up to a fault of ours, or say what failed outside; the log says which."""
    LOG.error("%s %s failed", request.method, request.path, exc_info=error)
    if failed := outside(error):
        return answer(failed.status, failed.says, failed.do)
    return answer(500, "Lockwright made a mistake; its log says which.", "Tell an administrator when it was.")


def json_only(pattern: URLPattern) -> URLPattern:
    """Free a view from the login page (it asks for a token itself), and answer wrong methods in JSON."""
    view: Callable[..., HttpResponseBase] = pattern.callback

    @wraps(view)
    def wrapped(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        response = view(request, *args, **kwargs)
        if not isinstance(response, HttpResponseNotAllowed):
            return response
        said = answer(405, f"{request.method} is not for this address.", f"Use {response['Allow']}.")
        said["Allow"] = response["Allow"]
        return said

    wrapped.login_required = False  # type: ignore[attr-defined]
    pattern.callback = wrapped
    return pattern
