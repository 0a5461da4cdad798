"""Add and change people and teams. Every change is noted; the site never loses its last administrator."""

import secrets
from collections.abc import Iterable

from django.contrib.sessions.models import Session
from django.db import transaction
from django.http import HttpRequest
from django.utils import timezone

from advisor.accounts.models import Role, Team, User
from advisor.core import journal
from advisor.core.models import Site
from advisor.core.records import Refused
from advisor.notifications.services import accounts
from advisor.schedules.services.watch_folder import places

READABLE = "abcdefghjkmnpqrstuvwxyz346789"
"""Without look-alikes: no i, l, 1, o, 0, no 2 beside z, no 5 beside s, no capitals."""
MADE_LENGTH = 16
"""Characters of a made password: 16 of 29 kinds, 77 bits."""


OWNED = ("systems", "uploads", "schedules", "groups", "recipients", "webhooks")
"""What of a team would go with it."""


def made_password() -> str:
    """Make a password of 16 characters that reads well on paper and over the telephone."""
    return "".join(secrets.choice(READABLE) for _ in range(MADE_LENGTH))


def make_first_administrator() -> tuple[User, str] | None:
    """Where there is no user at all, make `admin` in a team `DBA`; gives the user and the password, once.

    Several processes may ask at the same time: one makes the user, the others get None.
    """
    with transaction.atomic():
        _one_at_a_time()
        if User.objects.exists():
            return None
        password = made_password()
        user = User.objects.create_user("admin", password, role=Role.ADMINISTRATOR, must_change_password=True)
        user.teams.add(Team.objects.get_or_create(name="DBA")[0])
        journal.note(None, "user added", "admin: administrator, teams DBA")
    return user, password


def add_user(
    username: str,
    by: User,
    *,
    role: str,
    name: str = "",
    email: str = "",
    teams: Iterable[Team] = (),
    request: HttpRequest | None = None,
) -> tuple[User, str]:
    """Add a person; gives the user and a made password that must be changed at the first login. Raises `Refused`."""
    with transaction.atomic():
        _one_at_a_time()
        if User.objects.filter(username__iexact=username).exists():
            raise Refused("There is a user of this name.")
        password = made_password()
        user = User.objects.create_user(
            username, password, role=role, name=name, email=email, must_change_password=True
        )
        user.teams.set(teams)
        journal.note(by, "user added", f"{username}: {role}, teams {_names(user.teams.all())}", request=request)
        accounts.follow(user, by, was=email, request=request)
    return user, password


def change_user(
    user: User,
    by: User,
    *,
    role: str,
    name: str,
    email: str,
    teams: Iterable[Team],
    active: bool,
    request: HttpRequest | None = None,
) -> list[str]:
    """Change a person; gives what changed, in words. Raises `Refused` for oneself or the last administrator."""
    said: list[str] = []

    def note(action: str, what: str) -> None:
        said.append(what)
        journal.note(by, action, f"{user.username}: {what}", request=request)

    with transaction.atomic():
        _one_at_a_time()
        now = User.objects.select_for_update().get(pk=user.pk)
        if now == by and not active:
            raise Refused("Nobody deactivates themselves. Ask another administrator.")
        if _leads(now) and not (active and role == Role.ADMINISTRATOR) and not _others_lead(now):
            raise Refused("This is the last active administrator. Make another one first.")
        if now.role != role:
            note("role changed", f"role {now.role} to {role}")
        if now.is_active != active:
            note("user activated" if active else "user deactivated", "activated" if active else "deactivated")
        if now.name != name:
            note("user changed", f"full name {now.name or 'none'} to {name or 'none'}")
        if now.email != email:
            note("user changed", f"e-mail {now.email or 'none'} to {email or 'none'}")
        was, seen = now.email, accounts.teams_of(now)
        before, after = _names(now.teams.all()), sorted(teams, key=lambda team: team.name)
        if before != _names(after):
            now.teams.set(after)
            note("user changed", f"teams {before} to {_names(after)}")
        now.role, now.is_active, now.name, now.email = role, active, name, email
        now.save(update_fields=["role", "is_active", "name", "email"])
        accounts.follow(now, by, was=was, before=seen, request=request)
        if not active:
            _end_sessions(now)
    return said


def set_new_password(user: User, by: User, request: HttpRequest | None = None) -> str:
    """Give a person a made password, to be changed at the next login. Tokens stay; sessions end with the old one."""
    if user == by:
        raise Refused("Change your own password on its page.")
    password = made_password()
    with transaction.atomic():
        user.set_password(password)
        user.must_change_password = True
        user.save(update_fields=["password", "must_change_password"])
        journal.note(by, "password set", user.username, request=request)
    return password


def add_team(name: str, by: User, request: HttpRequest | None = None) -> Team:
    """Add a team. Raises `Refused` where one has this name, without regard to case, or its drop folder."""
    with transaction.atomic():
        _one_at_a_time()
        _team_name_is_free(name)
        team = Team.objects.create(name=name)
        journal.note(by, "team added", name, team=team, request=request)
    return team


def rename_team(team: Team, name: str, by: User, request: HttpRequest | None = None) -> None:
    """Give a team another name. Raises `Refused` where another one has it, or the drop folder it would get."""
    with transaction.atomic():
        _one_at_a_time()
        now = Team.objects.select_for_update().get(pk=team.pk)
        if now.name == name:
            return
        _team_name_is_free(name, other_than=now)
        before, now.name = now.name, name
        now.save(update_fields=["name"])
        journal.note(by, "team renamed", f"{before} to {name}", team=now, request=request)


def delete_team(team: Team, by: User, request: HttpRequest | None = None) -> None:
    """Delete a team that owns nothing; its people stay. Raises `Refused` while it has anything of `OWNED`."""
    with transaction.atomic():
        # The lock keeps out an upload that would come between the look and the deletion, and be deleted with it.
        now = Team.objects.select_for_update().get(pk=team.pk)
        owns = [
            f"{count:,} {name[:-1] if count == 1 else name}" for name in OWNED if (count := getattr(now, name).count())
        ]
        if owns:
            raise Refused(f"{now.name} still has {', '.join(owns)}.")
        members = _names(now.users.all())
        now.delete()
        journal.note(by, "team deleted", f"{team.name}; its people: {members}", request=request)


def _one_at_a_time() -> None:
    """Wait for other changes of people: rules about all of them (a name is free, one administrator stays) must hold."""
    Site.objects.select_for_update().get(pk=Site.get().pk)


def _leads(user: User) -> bool:
    return user.is_active and user.is_administrator


def _others_lead(user: User) -> bool:
    return User.objects.filter(role=Role.ADMINISTRATOR, is_active=True).exclude(pk=user.pk).exists()


def _team_name_is_free(name: str, other_than: Team | None = None) -> None:
    same = Team.objects.filter(name__iexact=name)
    if (same.exclude(pk=other_than.pk) if other_than else same).exists():
        raise Refused("There is a team of this name.")
    if other := places.namesake(name, other_than):
        what = f"Its drop folder would be that of team {other}, too"
        raise Refused(f"{what}: choose a name that differs from that one in English letters or digits.")
    if schedule := places.looking_into(name, other_than):
        what = (
            f"Schedule {schedule} of team {schedule.team} looks into {schedule.folder}, which would be its drop folder"
        )
        raise Refused(f"{what}: choose another name, or another folder for that schedule first.")


def _names(some: Iterable[Team | User]) -> str:
    return ", ".join(str(one) for one in some) or "none"


def _end_sessions(user: User) -> None:
    """Delete a person's sessions: refused while inactive, they would open again with the person's return."""
    for session in Session.objects.filter(expire_date__gt=timezone.now()).iterator():
        if session.get_decoded().get("_auth_user_id") == str(user.pk):
            session.delete()
