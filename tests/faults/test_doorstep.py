"""The web server as it is run: strangers bring no bodies, one address holds few connections, and those known go on."""

import json
import shutil
import socket
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import httpx
import pytest

from tests.servers import HOST, PATIENCE, eventually, manage, waitress

MOST = 6
PASSWORD = "a good long word"
LARGE = 8 << 20
MAKE = """
from django.core.management import call_command
call_command("migrate", verbosity=0)
from advisor.accounts.models import Role, Team, User
from advisor.accounts.services.tokens import make_token
from django.contrib.sessions.backends.db import SessionStore
from django.test import Client
team = Team.objects.create(name="Claims")
user = User.objects.create_user("olga", "PASSWORD", role=Role.DBA)
user.teams.add(team)
client = Client()
client.force_login(user)
print("made", make_token(user, "script", ["upload"], None)[1], client.cookies["sessionid"].value)
""".replace("PASSWORD", PASSWORD)


class Site:
    """The service, and who is known there."""

    def __init__(self, address: str, token: str, session: str, spool: Path, environment: dict[str, str]) -> None:
        self.port, self.token, self.session, self.spool = int(address.rpartition(":")[2]), token, session, spool
        self.environment = environment

    def line(self) -> socket.socket:
        return socket.create_connection((HOST, self.port), timeout=PATIENCE)

    def spooled(self) -> list[str]:
        """Files of bodies that a process which serves has open: they have no name any more."""
        found = []
        for process in Path("/proc").glob("[0-9]*"):
            try:
                if b"waitress" in (process / "cmdline").read_bytes():
                    found += [str(one.readlink()) for one in (process / "fd").iterdir()]
            except OSError:
                continue
        return [one for one in found if one.startswith(str(self.spool))]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, static: Path) -> Iterator[Site]:
    run, spool = tmp_path_factory.mktemp("run"), tmp_path_factory.mktemp("spool")
    environment = {
        "RUN_DIR": str(run),
        "SECRET_KEY": "doorstep",
        "TMPDIR": str(spool),
        "CONNECTIONS_PER_ADDRESS": str(MOST),
        "BROKER_URL": "redis://127.0.0.1:1",
        "REQUEST_SECONDS": f"{PATIENCE:.0f}",
    }
    shutil.copytree(static, run, dirs_exist_ok=True)
    made = [line for line in manage("shell", "-c", MAKE, environment=environment).splitlines() if line[:5] == "made "]
    _, token, session = made[0].split()
    with waitress(environment) as address:
        yield Site(address, token, session, spool, environment)


@pytest.fixture(scope="module")
def hasty(site: Site) -> Iterator[Site]:
    """The same service once more, which gives strangers a second for a request."""
    with waitress({**site.environment, "REQUEST_SECONDS": "1"}) as address:
        yield Site(address, site.token, site.session, site.spool, site.environment)


def head(path: str, size: int, *more: str) -> bytes:
    lines = [f"POST {path} HTTP/1.1", "Host: 127.0.0.1", "Content-Type: multipart/form-data; boundary=xx"]
    return "\r\n".join([*lines, f"Content-Length: {size}", *more, "", ""]).encode()


def answer(line: socket.socket) -> tuple[int, bytes]:
    """The status, and all that follows it until the other side closes."""
    whole = b""
    while piece := line.recv(65536):
        whole += piece
    return int(whole.split()[1]), whole.partition(b"\r\n\r\n")[2]


@pytest.mark.parametrize("path", ["/upload/", "/api/uploads", "/login/", "/nowhere"])
@pytest.mark.parametrize(
    "who", ["", "Authorization: Bearer lw_nobody", "Cookie: sessionid=abcdefghijklmnopqrstuvwxyz", "Cookie: \x00=;;="]
)
def test_a_stranger_is_refused_before_the_body_is_read(site: Site, path: str, who: str) -> None:
    """The answer comes though not one byte of the body was sent."""
    with site.line() as line:
        line.sendall(head(path, LARGE, *([who] if who else [])))
        status, body = answer(line)
    assert status in (400, 401) if "\x00" in who else status == 401
    if path.startswith("/api/") and status == 401:
        assert json.loads(body).keys() == {"error", "remedy"}


def test_a_token_opens_the_api_and_no_page(site: Site) -> None:
    with site.line() as line:
        line.sendall(head("/upload/", LARGE, f"Authorization: Bearer {site.token}"))
        assert answer(line)[0] == 401


def test_who_sends_all_of_it_at_once_reads_the_answer_and_nothing_is_kept(site: Site) -> None:
    with site.line() as line:
        line.sendall(head("/api/uploads", LARGE) + b"x" * LARGE)
        assert site.spooled() == []
        line.shutdown(socket.SHUT_WR)
        assert answer(line)[0] == 401


def test_a_body_in_chunks_is_refused_when_it_is_more_than_a_form(site: Site) -> None:
    with site.line() as line:
        line.sendall(b"POST /api/uploads HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n")
        line.sendall(b"20000\r\n" + b"x" * 0x20000 + b"\r\n")
        assert answer(line)[0] == 401


@pytest.mark.parametrize("who", ["token", "session"])
@pytest.mark.parametrize("expect", [True, False])
def test_who_is_known_brings_as_before(site: Site, who: str, expect: bool) -> None:
    parts = [b'--xx\r\nContent-Disposition: form-data; name="files"; filename="a.txt"\r\n\r\n', b"x" * LARGE]
    body = b"".join([*parts, who.encode(), str(expect).encode(), b"\r\n--xx--\r\n"])
    named = f"Authorization: Bearer {site.token}" if who == "token" else f"Cookie: sessionid={site.session}"
    path = "/api/uploads" if who == "token" else "/upload/"
    with site.line() as line:
        line.sendall(head(path, len(body), named, "Connection: close", *(["Expect: 100-continue"] if expect else [])))
        if expect:
            assert line.recv(25) == b"HTTP/1.1 100 Continue\r\n\r\n"
        line.sendall(body)
        status, _ = answer(line)
    assert status == (202 if who == "token" else 403), "the page wants its CSRF token, which stands after the body"


def test_a_stranger_is_not_told_to_go_on(site: Site) -> None:
    with site.line() as line:
        line.sendall(head("/api/uploads", LARGE, "Expect: 100-continue"))
        assert answer(line)[0] == 401


def test_an_address_holds_few_connections_and_a_newcomer_takes_the_place_of_an_idle_one(site: Site) -> None:
    """Busy ones are those that have begun a request: they are not closed, and no other one is taken."""
    lines = [site.line() for _ in range(MOST)]
    try:
        for line in lines[1:]:
            assert begun(line)
        lines[0].sendall(b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        assert lines[0].recv(12) == b"HTTP/1.1 200"
        # for a moment after its answer a connection still counts as busy: until then the newcomer is told 503
        eventually(lambda: newcomer(site, lines), what="the idle one makes room")
        while lines[0].recv(4096):  # the rest of its answer, and then its end
            pass
        with site.line() as one_more:
            assert answer(one_more)[0] == 503
        for line in lines[1:]:
            line.sendall(b"x=y")
            assert line.recv(12) == b"HTTP/1.1 403", "who was there before goes on (to be told of the CSRF token)"
    finally:
        for line in lines:
            line.close()


def test_heads_that_never_end_keep_nobody_at_their_address_out(site: Site) -> None:
    lines = [site.line() for _ in range(MOST)]
    try:
        for line in lines:
            line.sendall(b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ")
        with site.line() as visitor:
            visitor.sendall(b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
            assert answer(visitor)[0] == 200
    finally:
        for line in lines:
            line.close()


@pytest.mark.parametrize(
    "begun",
    [
        pytest.param(b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ", id="head"),
        pytest.param(head("/login/", 60_000) + b"username=", id="body"),
        pytest.param(head("/api/uploads", 60_000, "Authorization: Bearer lw_nobody"), id="unknown-token"),
        pytest.param(
            head("/login/", 0).replace(b"Content-Length: 0", b"Transfer-Encoding: chunked") + b"5000\r\nab", id="chunks"
        ),
    ],
)
def test_a_stranger_who_sends_byte_by_byte_is_ended(hasty: Site, begun: bytes) -> None:
    """Each byte comes before the connection would count as idle."""
    with hasty.line() as line:
        line.sendall(begun)
        line.settimeout(0.2)
        until = time.monotonic() + PATIENCE
        said = b""
        while not said and time.monotonic() < until:
            with suppress(TimeoutError):
                said = line.recv(65536)
            if not said:
                with suppress(ConnectionError):
                    line.sendall(b"x")
        line.settimeout(PATIENCE)
        with suppress(ConnectionError):  # what was sent meanwhile is not read any more
            while piece := line.recv(65536):
                said += piece
    assert said.split()[1:2] == [b"408"]


def test_who_is_known_may_be_slow(hasty: Site) -> None:
    parts = [b'--xx\r\nContent-Disposition: form-data; name="files"; filename="a.txt"\r\n\r\nslow', b"\r\n--xx--\r\n"]
    with hasty.line() as line:
        named = f"Authorization: Bearer {hasty.token}"
        line.sendall(head("/api/uploads", sum(map(len, parts)), named, "Connection: close") + parts[0])
        time.sleep(4)  # four times what a stranger has, and the server looks each second
        line.sendall(parts[1])
        assert answer(line)[0] == 202


def test_others_behind_an_address_do_not_lock_out_a_browser_that_was_logged_in(site: Site) -> None:
    with browser(site) as known, browser(site) as stranger, browser(site) as new:
        assert log_in(known, "olga", PASSWORD) == 302
        known.cookies.delete("sessionid")
        tried = [log_in(stranger, f"name{number}", "wrong") for number in range(24)]
        tried += [log_in(stranger, "olga", "wrong") for _ in range(6)]
        assert tried[-1] == 429
        assert log_in(new, "olga", PASSWORD) == 429, "the address is slowed, the right password or not"
        assert log_in(known, "olga", PASSWORD) == 302


def browser(site: Site) -> httpx.Client:
    """Somebody's browser."""
    return httpx.Client(base_url=f"http://{HOST}:{site.port}", timeout=PATIENCE, trust_env=False)


def log_in(browser: httpx.Client, name: str, password: str) -> int:
    """The status of the answer to a login by the page."""
    form = browser.get("/login/").text
    csrf = form.split('name="csrfmiddlewaretoken" value="')[1].split('"')[0]
    typed = {"username": name, "password": password, "csrfmiddlewaretoken": csrf}
    return browser.post("/login/", data=typed).status_code


def begun(line: socket.socket) -> bool:
    """Have a request begun, and know that the server has seen it; `False`: it takes no connection."""
    try:
        line.sendall(head("/login/", 3, "Expect: 100-continue"))
        return line.recv(25) == b"HTTP/1.1 100 Continue\r\n\r\n"
    except ConnectionError:
        return False


def newcomer(site: Site, lines: list[socket.socket]) -> bool:
    """Add one more connection with a request begun to `lines`; `False`: it was not taken."""
    line = site.line()
    if begun(line):
        lines.append(line)
        return True
    line.close()
    return False
