"""What views share: who asks, what they may do, pages of a long list."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any, Concatenate, ParamSpec

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.core.paginator import Page, Paginator
from django.db.models import QuerySet
from django.forms import BaseForm
from django.http import HttpRequest, HttpResponse, QueryDict
from django.http.response import HttpResponseBase
from django.shortcuts import render

from advisor.accounts.models import User
from advisor.core.records import Refused

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


@contextmanager
def refusal_told(request: HttpRequest, says: str = "{}") -> Iterator[None]:
    """Say in a message what a service refuses, and go on behind the block."""
    try:
        yield
    except Refused as why:
        messages.error(request, says.format(why))


@contextmanager
def refusal_in(form: BaseForm, field: str = "", says: str = "{}") -> Iterator[None]:
    """Say in a form what a service refuses, and go on behind the block: beside the field it is about, or `field`."""
    try:
        yield
    except Refused as why:
        beside = field or why.field
        form.add_error(beside if beside in form.fields else None, says.format(why))


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
