"""Data sources, as their pages add and change them. No password, login or connection string is ever read back."""

from datetime import datetime
from typing import Any, Literal

from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.shortcuts import get_object_or_404
from django.views.decorators.debug import sensitive_variables
from ninja import Router, Schema, Status
from pydantic import Field, SecretStr

from advisor.accounts.api_auth import Asked, chosen_team, needs
from advisor.core.access import may_work_for, sources_of
from advisor.core.api import ERRORS, Limit, Number, Offset, part
from advisor.core.api_forms import LEFT_OUT, WRITE_ERRORS, Wish, checked, refusal_by_field
from advisor.core.records import there
from advisor.schedules.models import DataSource
from advisor.schedules.source_forms import NEW, SourceForm
from advisor.schedules.sources import data_sources, strings

router = Router(tags=["data sources"])
ONE = "/{int:source_id}"
SCOPE = "sources"
WRITTEN = ("name", "host", "port", "user", "odbc", "seconds", "sysmon", "without", "question_seconds")


class SourceWish(Wish):
    """What a data source is to be: reached by host, port and user, or by ODBC. What is left out stays as it is."""

    name: str = Field(LEFT_OUT, max_length=data_sources.LONGEST)
    host: str = Field(LEFT_OUT, max_length=255)
    port: int | None = Field(LEFT_OUT, ge=1, le=65535)
    user: str = Field(LEFT_OUT, max_length=128, description="A login of its own that may read only.")
    odbc: str = Field(LEFT_OUT, max_length=strings.LONGEST, description="In place of host, port and user; no password.")
    password: SecretStr = Field(LEFT_OUT, description="Kept encrypted, never read back; left out: it stays.")
    remove_password: bool = Field(LEFT_OUT)
    seconds: int = Field(LEFT_OUT, description="Between the two snapshots, 5 to 600.")
    sysmon: str = Field(LEFT_OUT, max_length=8, description="HH:MM:SS; empty: sp_sysmon is not called.")
    without: str = Field(LEFT_OUT, max_length=data_sources.LONGEST_WITHOUT, description="Questions that are left out.")
    question_seconds: int | None = Field(LEFT_OUT, description="For one question, 30 to 600; null: 30.")


class NewSource(SourceWish):
    """A data source to be added."""

    name: str = Field(max_length=data_sources.LONGEST)
    system: Number | None = Field(LEFT_OUT, description="The system it is of; null: a new one, by the next two.")
    new_system: str = Field("", max_length=120, description="As the server calls itself.")
    product: Literal["", "ase", "rdb"] = Field("", description="Of the new system.")
    team: str = Field("", max_length=80, description="Name or number of the team; needed in several.")


class SourceRow(Schema):
    """A data source."""

    id: int
    name: str
    system: int
    system_name: str
    product: str
    team: str
    leads_to: str | None = Field(description="Host and port or DSN; null for who may not work for the team.")
    has_password: bool
    seconds: int
    sysmon: str
    without: str
    question_seconds: int | None
    created: datetime


class SourcePage(Schema):
    """Some of the data sources, by team, system and name; `count`: how many there are."""

    count: int
    items: list[SourceRow]


ROW: dict[int, Any] = {200: SourceRow, **WRITE_ERRORS}


@router.get("", auth=needs("read"), response={200: SourcePage, **ERRORS}, url_name="sources", summary="Data sources")
def listing(request: Asked, limit: Limit = 50, offset: Offset = 0) -> Any:
    """List data sources by team, system and name."""
    found = sources_of(request.user).select_related("system__team")
    ordered = found.order_by("system__team__name", "system__name", "name")
    return part(ordered, limit, offset, lambda source: _row(request, source))


@router.post(
    "", auth=needs(SCOPE), response={201: SourceRow, **WRITE_ERRORS}, url_name="sources", summary="Add a data source"
)
@sensitive_variables()
def add(request: Asked, new: NewSource) -> Any:
    """Add one to a system of a team, or to a new system."""
    team = chosen_team(request.user, new.team)
    sent = _sent(new, {"team", "system"})
    system = NEW if new.system is None else str(new.system)
    form = SourceForm({"seconds": 60, **sent, "system": system}, team=team)
    checked(form, (), "added")
    with refusal_by_field("added"), transaction.atomic():
        of = form.chosen() or data_sources.system_for(team, new.product, new.new_system, request.user, request)
        made = data_sources.make(of, form.wish(), request.user, request)
    return Status(201, _row(request, made))


@router.get(ONE, auth=needs("read"), response={200: SourceRow, **ERRORS}, url_name="source", summary="A data source")
def show(request: Asked, source_id: int) -> Any:
    """Give one data source."""
    return _row(request, _seen(request, source_id))


@router.patch(ONE, auth=needs(SCOPE), response=ROW, url_name="source", summary="Change a data source")
@there
@sensitive_variables()
def change(request: Asked, source_id: int, new: SourceWish) -> Any:
    """Change what is sent of it. A stored password goes to no address or login that it was not typed for."""
    source = _mine(request, source_id)
    sent = _sent(new, set())
    stored = {name: getattr(source, name) for name in WRITTEN}
    if sent.get("odbc"):  # one way in place of the other
        stored |= {"host": "", "port": None, "user": ""}
    elif sent.get("host"):
        stored["odbc"] = ""
    form = SourceForm({**stored, **sent}, team=source.system.team, source=source)
    checked(form, (), "changed")
    with refusal_by_field("changed"):
        data_sources.change(source, form.wish(), request.user, request)
    return _row(request, _seen(request, source_id))


@router.delete(ONE, auth=needs(SCOPE), response=ROW, url_name="source", summary="Remove a data source")
def remove(request: Asked, source_id: int) -> Any:
    """Remove it with its password; what it brought stays. The answer is what it was."""
    source = _mine(request, source_id)
    was = _row(request, source)
    data_sources.remove(source, request.user, request)
    return was


def _seen(request: Asked, source_id: int) -> DataSource:
    return get_object_or_404(sources_of(request.user).select_related("system__team"), pk=source_id)


def _mine(request: Asked, source_id: int) -> DataSource:
    """A data source that this person may change. Raises `Http404`, `PermissionDenied`."""
    source = _seen(request, source_id)
    if not may_work_for(request.user, source.system.team):
        raise PermissionDenied
    return source


@sensitive_variables()
def _sent(new: SourceWish, but: set[str]) -> dict[str, Any]:
    """What was sent, as the form has it."""
    sent = new.dict(exclude_unset=True, exclude=but)
    if "password" in sent:
        sent["password"] = sent["password"].get_secret_value()
    return sent


def _row(request: Asked, source: DataSource) -> dict[str, Any]:
    system = source.system
    same = ("name", "seconds", "sysmon", "without", "question_seconds", "created")
    return {
        "id": source.pk,
        "system": system.pk,
        "system_name": system.name,
        "product": system.product,
        "team": system.team.name,
        "leads_to": data_sources.place(source) if may_work_for(request.user, system.team) else None,
        "has_password": bool(source.password_sealed),
        **{name: getattr(source, name) for name in same},
    }
