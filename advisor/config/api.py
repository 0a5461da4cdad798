"""The addresses of the API, of the figures and the sign of life, and of one's own account."""

from functools import cache
from typing import Any, cast

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import URLPattern, include, path, re_path
from ninja import NinjaAPI
from ninja.operation import Operation

from advisor.accounts.api import people
from advisor.accounts.api.tokens import router as tokens
from advisor.accounts.api_auth import Asked, needs
from advisor.accounts.views import account
from advisor.audits.api import audits, limits, rules
from advisor.core.api_errors import json_only, listen, not_here
from advisor.core.version import VERSION
from advisor.findings.api.findings import router as followed
from advisor.notifications.api import recipients, webhooks
from advisor.operations.views import metrics
from advisor.schedules.api import sources
from advisor.schedules.api.schedules import router as schedules
from advisor.systems.api import groups, systems
from advisor.uploads.api import router as uploads

SAYS = """Everything a DBA does on the pages, for scripts. Send `Authorization: Bearer lw_…` with a token of your \
account page; its scopes and your role say what it opens. What belongs to another team answers 404. \
Errors are `{"error": …, "remedy": …}`."""


class Api(NinjaAPI):
    """The API; its operations are known by the names of their addresses, so that generated clients keep theirs."""

    def get_openapi_operation_id(self, operation: Operation) -> str:
        """Name one: `system_limit_put`."""
        return f"{operation.url_name}_{operation.methods[0]}".replace("-", "_").lower()


api = Api(
    title="Lockwright",
    version=VERSION,
    description=SAYS,
    urls_namespace="api",
    openapi_url=None,
    docs_url=None,
    auth=needs("read"),
)
listen(api)
api.add_router("/uploads", uploads)
api.add_router("/systems", systems.router)
api.add_router("", audits.router)
api.add_router("", limits.router)
api.add_router("/findings", followed)
api.add_router("/schedules", schedules)
api.add_router("/groups", groups.router)
api.add_router("/sources", sources.router)
api.add_router("/recipients", recipients.router)
api.add_router("/webhooks", webhooks.router)
api.add_router("/users", people.users)
api.add_router("/teams", people.teams)
api.add_router("/rules", rules.router)
api.add_router("/tokens", tokens)


@api.get("/openapi.json", auth=needs(None), include_in_schema=False, url_name="openapi")
def openapi(request: Asked) -> Any:
    """Describe every address."""
    return description()


@cache
def description() -> Any:
    """Made once a process: it takes half a second, and nothing of it changes while the service runs."""
    return api.get_openapi_schema()


def docs(request: HttpRequest) -> HttpResponse:
    """Show the description as a page on which one can try it."""
    return render(request, "core/api_docs.html")


def home(request: HttpRequest) -> HttpResponse:
    """Lead to the description."""
    return redirect("api-docs")


@login_not_required
def nowhere(request: HttpRequest) -> HttpResponse:
    """Answer a script that asks for what is not there, in its own language."""
    return not_here()


operations, app_name, namespace = api.urls
urlpatterns = [
    path("api/", home),
    path("api/docs", docs, name="api-docs"),
    path("api/", include(([json_only(cast(URLPattern, one)) for one in operations], app_name), namespace=namespace)),
    re_path(r"^api/", nowhere),
    path("metrics", metrics.metrics, name="metrics"),
    path("healthz", metrics.healthz, name="healthz"),
    path("account/", account.show, name="account"),
    path("account/tokens/<int:pk>/revoke/", account.take_back, name="account-token-revoke"),
]
