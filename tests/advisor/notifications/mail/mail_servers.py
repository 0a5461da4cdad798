"""Real SMTP servers on the loopback, and the administrator's form of the mail settings, for tests."""

import re
import socket
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
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
Rude = Callable[..., "RudeServer"]
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

    def start(box: Postbox, port: int = 0, **options: Any) -> int:
        controller = Controller(box, hostname="127.0.0.1", port=port or free_port(), **options)
        controller.start()
        running.append(controller)
        return int(controller.port)

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


@dataclass(frozen=True)
class Taken:
    """A mail as it came over the line, without the dots that were doubled."""

    to: str
    data: bytes


class Gone(Exception):
    """The server hangs up."""


class RudeServer:
    """Speaks SMTP from a socket, and at each step says what the script has for it: an answer, `drop` or `hang`.

    Steps: greeting, ehlo, mail, rcpt, data, middle (of the mail), end, rset. What the script says is used up, one a
    time; the last of a list that ends with `...` stays. `most`: mails on one line, then it drops.
    """

    USUAL = {"greeting": "220 rude", "ehlo": "250-rude\r\n250 SIZE 99999999", "data": "354 go on", "middle": ""}

    def __init__(self, script: dict[str, list[Any]], most: int = 0, port: int = 0) -> None:
        self.script = script
        self.most = most
        self.mails: list[Taken] = []
        self.lines = 0
        self.said: list[str] = []
        self.cut_off: list[bytes] = []
        """What came last of mails that did not come to their end."""
        self.ended = threading.Event()
        self.listening = socket.create_server(("127.0.0.1", port))
        self.port: int = self.listening.getsockname()[1]
        self.threads = [threading.Thread(target=self._listen)]
        self.threads[0].start()

    def stop(self) -> None:
        self.ended.set()
        self.listening.shutdown(socket.SHUT_RDWR)
        for thread in self.threads:
            thread.join()
        self.listening.close()

    def _listen(self) -> None:
        while True:
            try:
                line = self.listening.accept()[0]
            except OSError:
                return
            self.lines += 1
            self.threads.append(threading.Thread(target=self._talk, args=(line,)))
            self.threads[-1].start()

    def _talk(self, line: socket.socket) -> None:
        with line, line.makefile("rb") as heard:
            try:
                self._say(line, "greeting")
                self._listen_to(line, heard)
            except (Gone, OSError):
                return

    def _listen_to(self, line: socket.socket, heard: Any) -> None:
        to, here = "", 0
        while text := heard.readline():
            word = text[:4].decode("latin-1").strip().lower()
            self.said.append(text.decode("latin-1").strip())
            if word == "quit":
                line.sendall(b"221 bye\r\n")
                return
            if word == "mail" and self.most and here >= self.most:
                raise Gone
            if word == "rcpt":
                to = text.decode().partition("<")[2].partition(">")[0]
            answer = self._say(line, word)
            if word == "data" and answer.startswith("354"):
                data = self._body(line, heard)
                if self._say(line, "end").startswith("250"):
                    self.mails.append(Taken(to, data))
                    here += 1

    def _body(self, line: socket.socket, heard: Any) -> bytes:
        kept: list[bytes] = []
        while (text := heard.readline()) != b".\r\n":
            if not text:
                self.cut_off.append(kept[-1] if kept else b"")
                raise Gone
            kept.append(text.removeprefix(b".") if text.startswith(b".") else text)
            if len(kept) == 1:
                self._say(line, "middle")
        return b"".join(kept)

    def _say(self, line: socket.socket, step: str) -> str:
        left = self.script.get(step, [])
        answer = left[0] if left else self.USUAL.get(step, "250 2.0.0 OK")
        if left and left[1:] != [...]:
            left.pop(0)
        if answer == "hang":
            self.ended.wait()
            raise Gone
        if answer == "drop":
            raise Gone
        if callable(answer):
            answer = answer()
        *slowly, last = answer.split("|slow|")
        for piece in slowly:
            line.sendall(piece.encode())
            time.sleep(0.05)
        line.sendall(f"{last}\r\n".encode() if answer else b"")
        return str(answer)


@pytest.fixture
def rude() -> Iterator[Rude]:
    """Start a server that keeps to a script, and stop it when the test is done."""
    running: list[RudeServer] = []

    def start(script: dict[str, list[Any]] | None = None, **more: Any) -> RudeServer:
        running.append(RudeServer({} if script is None else script, **more))
        return running[-1]

    yield start
    for server in running:
        server.stop()
