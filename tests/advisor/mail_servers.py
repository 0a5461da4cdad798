"""Real SMTP servers on the loopback, and the administrator's form of the mail settings, for tests."""

import re
import socket
from collections.abc import Callable, Iterator
from html import unescape
from typing import Any

import pytest
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult, Envelope, LoginPassword
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse

from tests.advisor.people import AsUser, People

Serve = Callable[..., int]
SECRET = "a password % of the mail server"


class Postbox:
    """Takes mail, or refuses what it is told to refuse."""

    def __init__(self, **refuse: str) -> None:
        self.refuse = refuse
        self.mails: list[Envelope] = []

    async def handle_MAIL(self, server: Any, session: Any, envelope: Any, address: str, options: Any) -> str:
        if said := self.refuse.get("sender"):
            return said
        envelope.mail_from = address
        return "250 OK"

    async def handle_RCPT(self, server: Any, session: Any, envelope: Any, address: str, options: Any) -> str:
        if said := self.refuse.get("recipient"):
            return said
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server: Any, session: Any, envelope: Envelope) -> str:
        if said := self.refuse.get("data"):
            return said
        self.mails.append(envelope)
        return "250 2.0.0 queued as 4711"


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
    return port


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Start a real SMTP server on a free port, and stop it when the test is done."""
    running: list[Controller] = []

    def start(box: Postbox, **options: Any) -> int:
        controller = Controller(box, hostname="127.0.0.1", port=free_port(), **options)
        controller.start()
        running.append(controller)
        port: int = controller.port
        return port

    yield start
    for controller in running:
        controller.stop()


@pytest.fixture
def client(people: People, as_user: AsUser) -> Client:
    """The administrator's browser."""
    return as_user(people.administrator)


def typed(port: int = 25, **other: object) -> dict[str, object]:
    """What the form holds, with changes."""
    held: dict[str, object] = {
        "mail_host": "127.0.0.1",
        "mail_port": port,
        "mail_security": "none",
        "mail_user": "",
        "mail_from": "advisor@example.org",
    }
    return {**held, **other}


def send(client: Client, do: str, **held: Any) -> HttpResponse:
    answer = client.post(reverse("administration-mail"), {**typed(**held), "do": do})
    assert isinstance(answer, HttpResponse)
    return answer


def tried(client: Client, **held: Any) -> str:
    """What the page says of a test."""
    text = send(client, "test", **held).content.decode()
    found = re.search(r'<div class="message (success|error)".*?</div>', text, re.DOTALL)
    assert found, text
    return unescape(" ".join(re.sub(r"<[^>]+>", " ", found[0]).split()))


def login_wanted(user: str, password: str) -> dict[str, Any]:
    def check(server: Any, session: Any, envelope: Any, mechanism: str, data: LoginPassword) -> AuthResult:
        right = (data.login.decode(), data.password.decode()) == (user, password)
        return AuthResult(success=right, handled=False)

    return {"authenticator": check, "auth_required": True, "auth_require_tls": False}
