"""Every page, light and dark, at 1280 and at 400 pixels: WCAG AA by axe, nothing cut off sideways, a picture.

`SCREENSHOTS=folder` keeps the pictures.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page

from tests.browser.conftest import Service, log_in

PAGES = {
    "overview": "/",
    "upload": "/upload/",
    "uploads": "/uploads/",
    "one-upload": "/uploads/1/",
    "audit": "/audits/1/",
    "lines": "/uploads/1/lines/?file=sysmon.txt&first=254&last=257",
    "system": "/systems/1/",
    "rulebook": "/rules/",
    "rule": "/rules/ase/address_lock_spinlock_contended/",
    "account": "/account/",
    "administration": "/administration/",
    "mail": "/administration/mail/",
    "journal": "/administration/journal/",
    "not-here": "/systems/999999/",
}
AA = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]}
Scheme = Literal["light", "dark"]


@pytest.fixture(scope="module", params=[("light", 1280), ("dark", 1280), ("light", 400), ("dark", 400)], ids=str)
def looked(request: pytest.FixtureRequest, browser: Browser, service: Service) -> Iterator[tuple[Page, Scheme, int]]:
    """A browser that may run axe in spite of the content security policy, in one colour scheme and width."""
    scheme, width = request.param
    context = browser.new_context(
        viewport={"width": width, "height": 900}, color_scheme=scheme, bypass_csp=True, base_url=service.address
    )
    page = context.new_page()
    log_in(page, service)
    for _ in range(120):  # the examples are read in the background
        page.goto("/")
        if page.locator("tr[data-row]").count() >= 7:
            break
        page.wait_for_timeout(500)
    yield page, scheme, width
    context.close()


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_accessible_and_fits(looked: tuple[Page, Scheme, int], name: str) -> None:
    page, scheme, width = looked
    page.goto(PAGES[name])
    page.evaluate("document.querySelectorAll('main details').forEach((one) => { one.open = true; })")
    if folder := os.environ.get("SCREENSHOTS"):
        page.screenshot(path=Path(folder) / f"{name}-{width}-{scheme}.png", full_page=True)
    found = Axe().run(page, options=AA).response["violations"]
    assert not [(one["id"], [node["html"][:200] for node in one["nodes"]][:4]) for one in found]
    assert page.evaluate("document.documentElement.scrollWidth") <= width
