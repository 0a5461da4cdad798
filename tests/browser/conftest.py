"""A real browser (Debian's Chromium without windows) before the real service (`manage.py up`, as a DBA starts it)."""

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import pytest
from _pytest.mark import ParameterSet
from playwright.sync_api import Browser, BrowserContext, Locator, Page, expect, sync_playwright

from tests.servers import PATIENCE, free_port

ROOT = Path(__file__).resolve().parent.parent.parent
FLAGS = [
    *("--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--no-first-run", "--disable-quic"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
]
PASSWORD = "correct horse battery staple"
EXAMPLES = 7
"""Systems of the examples that the service has from the start."""
Scheme = Literal["light", "dark"]
Looked = tuple[Page, Scheme, int]
LOOKS: Sequence[Any] = (
    ("light", 1280),
    ("dark", 400),
    pytest.param(("dark", 1280), marks=pytest.mark.long),
    pytest.param(("light", 400), marks=pytest.mark.long),
)
"""Colour schemes, and widths in px: `make test` has each of them, `make test-all` all pairs."""
expect.set_options(timeout=PATIENCE * 1000)


@dataclass
class Service:
    """The running service, and its first login."""

    address: str
    user: str
    password: str
    run: Path
    session: list[Any] = field(default_factory=list, init=False)
    """Cookies of whom the password let in, for all browsers of the tests: its hash takes long, as it has to."""
    brought: dict[object, str] = field(default_factory=dict, init=False)
    """Addresses of the audits of exports that a test has brought, for all tests that look at the same ones."""


@dataclass
class Watched:
    """A browser's context whose every request and complaint is noted."""

    context: BrowserContext
    requests: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)

    def page(self) -> Page:
        """Open a page that notes."""
        page = self.context.new_page()
        page.on("console", lambda said: self.complaints.append(said.text) if said.type == "error" else None)
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        return page


@pytest.fixture(scope="session")
def service() -> Iterator[Service]:
    """Start the service as the README says, with the examples, in a folder of its own."""
    with started() as found:
        yield found


@contextmanager
def started(*options: str, beside: Service | None = None) -> Iterator[Service]:
    """The service in a folder of its own, started with these options of `manage.py up`.

    It takes the static files of the one it is `beside`, which is of the same version: to compress them takes long.
    """
    with tempfile.TemporaryDirectory(prefix="lw-") as folder:
        if beside:
            shutil.copytree(beside.run / "static", Path(folder) / "static")
            shutil.copy2(beside.run / "static.stamp", folder)
        address = f"127.0.0.1:{free_port()}"
        environment = {
            **{name: value for name, value in os.environ.items() if name not in ("DATABASE_URL", "BROKER_URL")},
            "RUN_DIR": folder,
            "SITE_URL": f"http://{address}",
        }
        log = Path(folder) / "up.log"
        with log.open("wb") as output:
            up = subprocess.Popen(
                [sys.executable, "manage.py", "up", "--listen", address, *options],
                cwd=ROOT,
                env=environment,
                stdout=output,
                stderr=subprocess.STDOUT,
            )
            try:
                yield _when_ready(address, log, up, Path(folder))
            finally:
                up.send_signal(signal.SIGTERM)
                up.wait(PATIENCE)


def _when_ready(address: str, log: Path, up: "subprocess.Popen[bytes]", folder: Path) -> Service:
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until and up.poll() is None:
        told = log.read_text(errors="replace")
        first = re.search(r"First login: (\S+)  password: (\S+)", told)
        ready = "--no-examples" in up.args or "audited: the first page" in told  # type: ignore[operator]
        if first and "examples are" not in told and ready:
            try:
                urllib.request.urlopen(f"http://{address}/healthz", timeout=5)
            except (urllib.error.URLError, OSError):
                pass
            else:
                return Service(f"http://{address}", first[1], first[2], folder)
        time.sleep(0.2)
    raise AssertionError(f"the service did not start:\n{log.read_text(errors='replace')}")


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Debian's Chromium: the program that draws pages and has no windows, menus or tabs of its own."""
    chromium = shutil.which("chromium-headless-shell")
    assert chromium, "the browser tests need Debian's package chromium-headless-shell"
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=chromium, args=FLAGS, timeout=PATIENCE * 1000)
        yield started
        started.close()


@pytest.fixture
def watched(browser: Browser, service: Service) -> Iterator[Watched]:
    """A fresh browser; afterwards: nothing was asked of another host, nothing complained (CSP, scripts)."""
    context = browser.new_context(viewport={"width": 1280, "height": 900}, base_url=service.address)
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    found = Watched(context)
    context.on("request", lambda request: found.requests.append(request.url))
    yield found
    context.close()
    outside = [url for url in found.requests if not url.startswith((service.address + "/", "data:", "blob:"))]
    assert not outside
    assert not found.complaints


@pytest.fixture(scope="session")
def windows(browser: Browser, service: Service) -> Iterator[Callable[[Scheme, int], Page]]:
    """Pages of a width in light or dark, logged in, which may run axe in spite of the content security policy."""
    found: dict[tuple[Scheme, int], Page] = {}

    def window(scheme: Scheme, width: int) -> Page:
        if (scheme, width) not in found:
            context = browser.new_context(
                viewport={"width": width, "height": 900}, color_scheme=scheme, bypass_csp=True, base_url=service.address
            )
            found[scheme, width] = page = context.new_page()
            log_in(page, service)
        return found[scheme, width]

    yield window
    for page in found.values():
        page.context.close()


def each_once(argument: str, names: Iterable[str]) -> pytest.MarkDecorator:
    """Parametrize this argument and `looked`: `make test` has each name once, in the first two looks by turns.

    `make test-all` has each name in each look. How wide a page is on a phone is measured in every look (`views.look`).
    """
    cases = []
    for number, name in enumerate(names):
        for place, one in enumerate(LOOKS):
            (values, marks) = (one.values[0], one.marks) if isinstance(one, ParameterSet) else (one, ())
            more = () if place == number % 2 else (pytest.mark.long,)
            cases.append(pytest.param(name, values, marks=[*marks, *more], id=f"{values}-{name}"))
    return pytest.mark.parametrize((argument, "looked"), cases, indirect=["looked"])


@pytest.fixture(params=LOOKS, ids=str)
def looked(request: pytest.FixtureRequest, windows: Callable[[Scheme, int], Page]) -> Looked:
    """A window of each look."""
    scheme, width = request.param
    return windows(scheme, width), scheme, width


@pytest.fixture
def page(watched: Watched, service: Service) -> Page:
    """A page of somebody who is logged in (whose password of their own is set)."""
    page = watched.page()
    log_in(page, service)
    return page


def until(page: Page, look: Callable[[], object]) -> None:
    """Load a page again until it has what comes by and by."""
    last = time.monotonic() + PATIENCE
    while not look():
        assert time.monotonic() < last, f"{page.url} never has it"
        page.wait_for_timeout(250)
        page.reload()


def system_of(page: Page, name: str) -> Locator:
    """Ask the overview for a system by its name, wait until it is there, and give its link.

    The page shows thirty of all that the tests have brought, the worst first.
    """
    page.goto(f"/?q={name}")
    link = page.get_by_role("link", name=name, exact=True).first
    until(page, link.count)
    return link


def log_in(page: Page, service: Service) -> None:
    """Be somebody who is logged in: the first time by the form, and from then on by what it gave the browser."""
    page.set_default_timeout(PATIENCE * 1000)
    if service.session:
        page.context.add_cookies(service.session)
    else:
        log_in_by_form(page, service)
        service.session = page.context.cookies()


def log_in_by_form(page: Page, service: Service) -> None:
    """Log in by the form; the very first time with the printed password, which has to be changed."""
    page.set_default_timeout(PATIENCE * 1000)
    page.goto("/login/")
    page.get_by_label("Name").fill(service.user)
    page.get_by_label("Password").fill(service.password)
    page.get_by_role("button", name="Log in").click()
    page.wait_for_load_state()
    if "/password/" in page.url:
        page.get_by_label("Old password").fill(service.password)
        page.get_by_label("New password:", exact=True).fill(PASSWORD)
        page.get_by_label("New password confirmation:").fill(PASSWORD)
        page.get_by_role("button", name="Change it").click()
        page.wait_for_load_state()
        service.password = PASSWORD
    page.goto("/")
