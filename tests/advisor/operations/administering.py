"""What tests of users and teams share: logging in, a person's form as typed, and the journal of deeds."""

import re

from django.db.models import QuerySet
from django.test import Client
from django.urls import reverse

from advisor.accounts.models import User
from advisor.core.models import JournalEntry


def made_password(page: bytes) -> str:
    found = re.search(r'<pre id="made-password">([^<]+)</pre>', page.decode())
    assert found
    return found[1]


def log_in(name: str, password: str, client: Client | None = None) -> Client:
    client = client or Client()
    client.post(reverse("login"), {"username": name, "password": password})
    return client


def logged_in(client: Client) -> bool:
    return "_auth_user_id" in client.session


def as_typed(user: User, **other: object) -> dict[str, object]:
    """What the form of a person holds, with changes."""
    typed: dict[str, object] = {
        "role": user.role,
        "name": user.name,
        "email": user.email,
        "teams": list(user.teams.values_list("pk", flat=True)),
        "is_active": "on",
    }
    return {**typed, **other}


def deeds() -> QuerySet[JournalEntry]:
    """The journal without the logins that a test itself makes."""
    return JournalEntry.objects.exclude(action="login")
