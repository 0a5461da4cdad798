"""Users and teams, as the pages of the administration make and change them."""

from typing import Any, Literal

from django.http import HttpResponse
from django.shortcuts import get_object_or_404
from ninja import Router, Schema, Status
from pydantic import Field

from advisor.accounts.api_auth import Asked, needs
from advisor.accounts.forms import AddForm, EditForm, TeamForm
from advisor.accounts.models import Team, User
from advisor.accounts.services import lock_outs, people
from advisor.core.access import teams_of
from advisor.core.api import ERRORS, Limit, Number, Offset, part
from advisor.core.api_forms import LEFT_OUT, WRITE_ERRORS, Wish, checked, refusal_by_field

users = Router(tags=["users"])
teams = Router(tags=["teams"])
USER, TEAM = "/{int:user_id}", "/{int:team_id}"
SCOPE = "administration"
RoleName = Literal["viewer", "dba", "administrator"]
TEAMS = "Numbers of teams: their systems are seen by their people alone, and by administrators."
CALLED = {"is_active": "active"}


class UserRow(Schema):
    """A person. No password is ever read back."""

    id: int
    username: str
    name: str
    email: str
    role: RoleName
    teams: list[int] = Field(description=TEAMS)
    active: bool = Field(description="Without it nobody logs in and no token works.")
    must_change_password: bool


class UserMade(UserRow):
    """A person with the password that was made for them: it is shown this once."""

    password: str


class UserPage(Schema):
    """Some of the users, by name; `count`: how many there are."""

    count: int
    items: list[UserRow]


class NewUser(Wish):
    """A user to be added."""

    username: str = Field(max_length=60, description="The name for the login; it cannot be changed later.")
    role: RoleName
    name: str = Field("", max_length=120)
    email: str = Field("", max_length=254)
    teams: list[Number] = Field([], max_length=10_000, description=TEAMS)


class UserWish(Wish):
    """What is to be changed of a user; what is left out stays."""

    role: RoleName = Field(LEFT_OUT)
    name: str = Field(LEFT_OUT, max_length=120)
    email: str = Field(LEFT_OUT, max_length=254)
    teams: list[Number] = Field(LEFT_OUT, max_length=10_000, description=TEAMS)
    active: bool = Field(LEFT_OUT)


class TeamRow(Schema):
    """A team."""

    id: int
    name: str


class TeamPage(Schema):
    """Some of the teams, by name; `count`: how many there are."""

    count: int
    items: list[TeamRow]


class TeamWish(Wish):
    """What a team is called."""

    name: str = Field(max_length=80)


ONE_USER: dict[int, Any] = {200: UserRow, **WRITE_ERRORS}
ONE_TEAM: dict[int, Any] = {200: TeamRow, **WRITE_ERRORS}


@users.get("", auth=needs(SCOPE), response={200: UserPage, **ERRORS}, url_name="users", summary="Users")
def listing(request: Asked, limit: Limit = 50, offset: Offset = 0) -> Any:
    """List users by name."""
    return part(User.objects.prefetch_related("teams").order_by("username"), limit, offset, _user)


@users.post("", auth=needs(SCOPE), response={201: UserMade, **WRITE_ERRORS}, url_name="users", summary="Add a user")
def add(request: Asked, new: NewUser, response: HttpResponse) -> Any:
    """Add a person. The password in this answer is nowhere else; it has to be changed at the first login."""
    form = AddForm(new.dict())
    checked(form, (), "added")
    given = form.cleaned_data
    with refusal_by_field("added", "username"):
        user, password = people.add_user(
            given["username"],
            request.user,
            role=given["role"],
            name=given["name"],
            email=given["email"],
            teams=given["teams"],
            request=request,
        )
    return Status(201, _with_password(user, password, response))


@users.get(USER, auth=needs(SCOPE), response={200: UserRow, **ERRORS}, url_name="user", summary="A user")
def show(request: Asked, user_id: int) -> Any:
    """Give one user."""
    return _user(get_object_or_404(User, pk=user_id))


@users.patch(USER, auth=needs(SCOPE), response=ONE_USER, url_name="user", summary="Change a user")
def change(request: Asked, user_id: int, new: UserWish) -> Any:
    """Change what is sent of a person. Nobody deactivates themselves, and the last administrator stays one."""
    return _changed(request, get_object_or_404(User, pk=user_id), new.dict(exclude_unset=True), "changed")


@users.delete(USER, auth=needs(SCOPE), response=ONE_USER, url_name="user", summary="Deactivate a user")
def deactivate(request: Asked, user_id: int) -> Any:
    """Deactivate a person: sessions end, tokens stop. The row stays, as what they did names them; once more is fine."""
    return _changed(request, get_object_or_404(User, pk=user_id), {"active": False}, "deactivated")


@users.post(
    USER + "/password",
    auth=needs(SCOPE),
    response={200: UserMade, **WRITE_ERRORS},
    url_name="user-password",
    summary="Make a user a new password",
)
def set_password(request: Asked, user_id: int, response: HttpResponse) -> Any:
    """Make a person a new password, shown this once, to be changed at the next login. Not for oneself."""
    user = get_object_or_404(User, pk=user_id)
    with refusal_by_field("set"):
        password = people.set_new_password(user, request.user, request)
    return _with_password(user, password, response)


@users.post(
    USER + "/unlock",
    auth=needs(SCOPE),
    response={200: UserRow, **ERRORS},
    url_name="user-unlock",
    summary="Let a user try again",
)
def unlock(request: Asked, user_id: int) -> Any:
    """Let a person log in again who was locked out by wrong passwords."""
    user = get_object_or_404(User, pk=user_id)
    lock_outs.unlock(user, request.user, request)
    return _user(user)


@teams.get("", auth=needs("read"), response={200: TeamPage, **ERRORS}, url_name="teams", summary="Teams")
def list_teams(request: Asked, limit: Limit = 50, offset: Offset = 0) -> Any:
    """List your teams by name; an administrator sees all."""
    return part(teams_of(request.user).order_by("name"), limit, offset, _team)


@teams.post("", auth=needs(SCOPE), response={201: TeamRow, **WRITE_ERRORS}, url_name="teams", summary="Add a team")
def add_team(request: Asked, new: TeamWish) -> Any:
    """Add a team; nobody is in it yet."""
    name = _team_name(new, "added")
    with refusal_by_field("added", "name"):
        return Status(201, _team(people.add_team(name, request.user, request)))


@teams.patch(TEAM, auth=needs(SCOPE), response=ONE_TEAM, url_name="team", summary="Rename a team")
def rename_team(request: Asked, team_id: int, new: TeamWish) -> Any:
    """Give it another name."""
    team = get_object_or_404(Team, pk=team_id)
    name = _team_name(new, "renamed")
    with refusal_by_field("renamed", "name"):
        people.rename_team(team, name, request.user, request)
    return _team(get_object_or_404(Team, pk=team_id))


@teams.delete(TEAM, auth=needs(SCOPE), response=ONE_TEAM, url_name="team", summary="Delete a team")
def delete_team(request: Asked, team_id: int) -> Any:
    """Delete a team that owns nothing; its people stay. The answer is what it was."""
    team = get_object_or_404(Team, pk=team_id)
    was = _team(team)
    with refusal_by_field("deleted"):
        people.delete_team(team, request.user, request)
    return was


def _changed(request: Asked, user: User, sent: dict[str, Any], what: str) -> dict[str, Any]:
    """Change a user through the form of its page."""
    stored = {**_user(user), **sent}
    form = EditForm({**stored, "is_active": stored["active"]}, instance=user)
    checked(form, (), what, called=CALLED)
    given = form.cleaned_data
    with refusal_by_field(what):
        people.change_user(
            user,
            request.user,
            role=given["role"],
            name=given["name"],
            email=given["email"],
            teams=given["teams"],
            active=given["is_active"],
            request=request,
        )
    return _user(get_object_or_404(User, pk=user.pk))


def _team_name(new: TeamWish, what: str) -> str:
    form = TeamForm(new.dict())
    checked(form, (), what)
    name: str = form.cleaned_data["name"]
    return name


def _with_password(user: User, password: str, response: HttpResponse) -> dict[str, Any]:
    response["Cache-Control"] = "no-store"
    return {**_user(user), "password": password}


def _user(user: User) -> dict[str, Any]:
    same = ("username", "name", "email", "role", "must_change_password")
    in_teams = sorted(team.pk for team in user.teams.all())
    return {"id": user.pk, **{name: getattr(user, name) for name in same}, "teams": in_teams, "active": user.is_active}


def _team(team: Team) -> dict[str, Any]:
    return {"id": team.pk, "name": team.name}
