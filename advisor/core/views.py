"""What views share: who asks, what they may do, pages of a long list."""

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec

from django.core.exceptions import PermissionDenied
from django.core.paginator import Page, Paginator
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, QueryDict
from django.http.response import HttpResponseBase
from django.shortcuts import render

from advisor.accounts.models import User

P = ParamSpec("P")


class Asked(HttpRequest):
    """A request of somebody who is logged in (`LoginRequiredMiddleware` lets no other one through)."""

    user: User
    htmx: Any


View = Callable[Concatenate[Asked, P], HttpResponseBase]


def workers_only(view: View[P]) -> View[P]:
    """Let DBAs and administrators through; which teams they may work for the view asks of `access`."""

    @wraps(view)
    def checked(request: Asked, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponseBase:
        if not request.user.may_work:
            raise PermissionDenied("Your role reads. Ask an administrator for the role of a DBA.")
        return view(request, *args, **kwargs)

    return checked


def administrators_only(view: View[P]) -> View[P]:
    """Let administrators through."""

    @wraps(view)
    def checked(request: Asked, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponseBase:
        if not request.user.is_administrator:
            raise PermissionDenied("Only an administrator may do this.")
        return view(request, *args, **kwargs)

    return checked


def page(request: HttpRequest, template: str, context: dict[str, Any], status: int = 200) -> HttpResponse:
    """Render a page: `<app>/<name>.html` of `templates/`."""
    return render(request, template, context, status=status)


def numbers_of(given: QueryDict, name: str) -> list[int]:
    """The numbers of rows that a form or an address names, each once; what is no such number is left out.

    One value may hold several with commas between them.
    """
    told = dict.fromkeys(one for several in given.getlist(name) for one in several.split(","))
    return [int(one) for one in told if one.isascii() and one.isdigit() and len(one) < 19]


def paged(
    request: HttpRequest, rows: "QuerySet[Any] | list[Any]", size: int = 50, count: int | None = None
) -> "Page[Any]":
    """The page of a long list that the address asks for (`?page=3`); the nearest there is for a number beyond.

    `count` is how many rows there are, where that is known already.
    """
    pages = Paginator(rows, size)
    if count is not None:
        pages.count = count
    return pages.get_page(request.GET.get("page"))
