"""Real receivers of webhooks on the loopback, for tests: they take, refuse, wait and drip as they are told."""

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from django.utils import timezone

from advisor.accounts.models import Team, User
from advisor.notifications.models import Delivery, Webhook
from advisor.notifications.webhooks import deliveries, setup

Says = tuple[int, dict[str, str], bytes]
TAKES: Says = (200, {}, b"thank you")


@dataclass
class Taken:
    """A request as it came."""

    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def told(self) -> dict[str, Any]:
        """Its JSON."""
        told: dict[str, Any] = json.loads(self.body)
        return told


@dataclass
class Receiver:
    """A server: answers what is next in `says`, the last again and again; remembers what it was sent."""

    port: int
    says: list[Says] = field(default_factory=lambda: [TAKES])
    taken: list[Taken] = field(default_factory=list)
    seconds: float = 0.0
    """How long it thinks before it answers."""
    at_once: int = 0
    most_at_once: int = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/hook?who=us"


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as one:
        yield one


@contextmanager
def receiving(tls: Any = None) -> Iterator[Receiver]:
    """A receiver that listens; over TLS with this context."""
    here: list[Receiver] = []
    lock = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            one = here[0]
            one.taken.append(Taken(self.path, dict(self.headers.items()), body))
            with lock:
                one.at_once += 1
                one.most_at_once = max(one.most_at_once, one.at_once)
            status, headers, text = one.says.pop(0) if len(one.says) > 1 else one.says[0]
            time.sleep(one.seconds)
            with lock:
                one.at_once -= 1
            with suppress(OSError):  # whoever asked may have gone
                self.send_response(status)
                for name, value in {"Content-Length": str(len(text)), **headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(text)

        do_GET = do_POST

        def log_message(self, *said: Any) -> None:
            """A test reads what it was sent instead."""

    class Server(ThreadingHTTPServer):
        def handle_error(self, *of: Any) -> None:
            """A line that ends early is what some tests are about."""

    server = Server(("127.0.0.1", 0), Handler)
    if tls:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    here.append(Receiver(server.server_address[1]))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield here[0]
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@contextmanager
def raw(speak: Callable[[socket.socket], None]) -> Iterator[str]:
    """The address of a server that reads what it is sent and then speaks bytes, until whoever asked hangs up."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(30)

        def serve() -> None:
            with suppress(OSError):
                line, _ = server.accept()
                with line:
                    line.settimeout(30)
                    line.recv(100_000)
                    speak(line)

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.getsockname()[1]}/"
        finally:
            server.close()
            thread.join()


def hang(line: socket.socket) -> None:
    """Take everything and answer nothing."""
    while line.recv(65536):
        pass


def drip(line: socket.socket) -> None:
    """Answer a byte at a time, for ever."""
    line.sendall(b"HTTP/1.1 200 OK\r\nX-Slow: ")
    while True:
        line.sendall(b"x")
        time.sleep(0.05)


def hook_for(team: Team, by: User, url: str, **wanted: Any) -> tuple[Webhook, str]:
    """A webhook and its secret."""
    about = {name: wanted.pop(name) for name in ("systems", "groups") if name in wanted}
    hook = Webhook(team=team, name=wanted.pop("name", "pager"), url=url, **wanted)
    return hook, setup.make(hook, by, **about)


def delivery(hook: Webhook, key: str = "ping 1") -> Delivery:
    """A delivery that waits; its task is not started."""
    return deliveries.put(hook, key)


def later(seconds: float) -> None:
    """Have what waits been put off so much longer ago."""
    for row in Delivery.objects.filter(state=Delivery.State.WAITING):
        Delivery.objects.filter(pk=row.pk).update(not_before=row.not_before - timedelta(seconds=seconds))


def waits(row: Delivery) -> float:
    """Seconds until it is tried again."""
    row.refresh_from_db()
    assert row.state == Delivery.State.WAITING, row.error
    return (row.not_before - timezone.now()).total_seconds()
