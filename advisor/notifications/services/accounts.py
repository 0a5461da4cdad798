"""Recipients of mail that are people with an account: they follow what becomes of it."""

from collections.abc import Iterable
from secrets import token_urlsafe

from django.db import IntegrityError, transaction
from django.db.models import Q
from django.http import HttpRequest

from advisor.accounts.models import Role, Team, User
from advisor.core import journal
from advisor.notifications.models import Recipient
from advisor.notifications.services import recipients, subscribers


def teams_of(user: User) -> set[int]:
    """The teams whose systems this person sees while active."""
    return set((Team.objects.all() if user.is_administrator else user.teams.all()).values_list("pk", flat=True))


def follow(user: User, by: User, *, was: str, before: Iterable[int] = (), request: HttpRequest | None = None) -> None:
    """Have the recipients with this person's address follow a change of the account that is stored already.

    `was` is the address from before the change, `before` the teams. Mail to who is inactive now, or has left the team,
    ends by this: also to a recipient that was written down before there was an account.
    """
    now = teams_of(user) if user.is_active else set()
    teams = now.union(before) if user.is_active else set(Team.objects.values_list("pk", flat=True))
    if was and was != user.email:
        _claim(user, was, teams - now, by, request)
        for one in Recipient.objects.filter(user=user, address__iexact=was).select_related("team"):
            _move(one, user, by, request)
    _claim(user, user.email, teams, by, request)


def _claim(user: User, address: str, teams: set[int], by: User, request: HttpRequest | None) -> None:
    """Note whose address it is with recipients of these teams of whom that was not known."""
    if not address:
        return
    unknown = Recipient.objects.filter(user=None, address__iexact=address, team__in=teams)
    for one in unknown.select_related("team"):
        one.user = _holder(one, user)
        one.save(update_fields=["user"])
        end = "" if subscribers.belongs(one) else ", who gets nothing more"
        what = f"{one.address}: the address of {one.user.username}{end}"
        journal.note(by, "recipient changed", what, team=one.team, request=request)


def _holder(recipient: Recipient, user: User) -> User:
    """Who of those with this address may know of the systems, this person first; if nobody may, this person."""
    same = User.objects.filter(Q(email__iexact=recipient.address) | Q(pk=user.pk), is_active=True)
    known = {*same.filter(teams=recipient.team), *same.filter(role=Role.ADMINISTRATOR)}
    return user if user in known else min(known, key=lambda one: one.pk, default=user)


def _move(recipient: Recipient, user: User, by: User, request: HttpRequest | None) -> None:
    """Send to the new address of the account, where that is free; the links in mails to the old one open nothing."""
    name, _, domain = user.email.rpartition("@")
    new, old = f"{name}@{domain.lower()}", recipient.address
    if not user.email:
        recipients.stop(recipient, by, f"the account {user.username} has no e-mail address any more", request=request)
        return
    others = Recipient.objects.filter(team=recipient.team).exclude(pk=recipient.pk)
    recipient.address, recipient.nonce, recipient.refused, recipient.refused_at = new, token_urlsafe(), "", None
    try:
        with transaction.atomic():
            if others.filter(address__iexact=new).exists():
                raise IntegrityError
            recipient.save(update_fields=["address", "nonce", "refused", "refused_at"])
    except IntegrityError:  # or somebody took it at this moment
        recipient.address = old
        why = f"{user.username} has the address {new} now, which gets mail of this team already"
        recipients.stop(recipient, by, why, request=request)
    else:
        what = f"{old}: {user.username} has the address {new} now"
        journal.note(by, "recipient changed", what, team=recipient.team, request=request)
