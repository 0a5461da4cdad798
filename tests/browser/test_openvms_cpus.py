"""CPU map and lock tables in a browser: WCAG AA by axe, nothing cut off sideways, with and without scripts.

`SCREENSHOTS=folder` keeps the pictures.
"""

import os
import re
from pathlib import Path
from typing import Literal

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import Service, log_in
from tests.browser.test_looks import AA

STORIES = Path(__file__).resolve().parent.parent / "audits"
ASKED = "?resources=400000&mean=300000&growth=50&now=8192&reshashtbl=70000&locks=500000&lockidnow=20000&lockidtbl=7"
VIEWS = {
    "cpus": ("OSLO", "cpus/"),
    "lock-tables": ("BERGEN", "lock-tables/"),
    "lock-tables-asked": ("OSLO", f"lock-tables/{ASKED}"),
}
LOOKS = [("light", 1280), ("dark", 1280), ("light", 400), ("dark", 400)]
Scheme = Literal["light", "dark"]


@pytest.fixture(scope="module")
def audits(browser: Browser, service: Service) -> dict[str, str]:
    """Bring a node with a conflict and a lock-bound one, and give the addresses of their audits."""
    context = browser.new_context(base_url=service.address)
    page = context.new_page()
    log_in(page, service)
    found = {}
    for name, story in (("OSLO", "lock_manager_on_a_busy_core"), ("BERGEN", "lock_bound_node")):
        files = sorted(path for path in (STORIES / story).iterdir() if path.suffix != ".yml")
        page.goto("/upload/")
        page.locator("input[type=file]").set_input_files(files)
        page.get_by_role("button", name="Upload and audit").click()
        page.wait_for_url(re.compile(r"/uploads/\d+/"))
        link = page.locator("main a[href^='/audits/']").first
        for _ in range(120):
            if link.count():
                break
            page.wait_for_timeout(500)
            page.reload()
        found[name] = (link.get_attribute("href") or "").split("#")[0]
    context.close()
    assert all(found.values())
    return found


@pytest.fixture(scope="module", params=LOOKS, ids=str)
def looked(request: pytest.FixtureRequest, browser: Browser, service: Service) -> "tuple[Page, Scheme, int]":
    scheme, width = request.param
    context = browser.new_context(
        viewport={"width": width, "height": 900}, color_scheme=scheme, bypass_csp=True, base_url=service.address
    )
    page = context.new_page()
    log_in(page, service)
    return page, scheme, width


@pytest.mark.parametrize("name", VIEWS)
def test_a_view_of_a_node_is_accessible_and_fits(
    looked: "tuple[Page, Scheme, int]", audits: dict[str, str], name: str
) -> None:
    page, scheme, width = looked
    node, address = VIEWS[name]
    answer = page.goto(audits[node] + address)
    assert answer
    assert answer.status == 200
    if folder := os.environ.get("SCREENSHOTS"):
        page.screenshot(path=Path(folder) / f"openvms-{name}-{width}-{scheme}.png", full_page=True)
    found = Axe().run(page, options=AA).response["violations"]
    assert not [(one["id"], [node["html"][:200] for node in one["nodes"]][:4]) for one in found]
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_from_the_map_to_the_finding_and_to_an_answer_without_any_script_of_ours(
    browser: Browser, service: Service, audits: dict[str, str]
) -> None:
    context = browser.new_context(base_url=service.address, java_script_enabled=False)
    page = context.new_page()
    log_in(page, service)
    page.goto(audits["OSLO"])
    page.get_by_role("navigation", name="Views of this capture").get_by_role("link", name="CPU map").click()
    expect(page.locator("figure svg").first).to_be_visible()
    page.locator(".message").get_by_role("link", name="Lock manager on CPU 13").click()
    expect(page.locator("article.finding:target")).to_be_visible()
    page.get_by_role("navigation", name="Views of this capture").get_by_role("link", name="Lock tables").click()
    page.get_by_label("Resources at the peak").fill("50000")
    page.get_by_label("RESHASHTBL asked for").fill("99999999")
    page.get_by_role("button", name="Answer").click()
    expect(page.locator("#reshashtbl-help strong")).to_contain_text("from 1 to 16,777,216")
    page.get_by_label("RESHASHTBL asked for").fill("40000")
    page.get_by_role("button", name="Answer").click()
    expect(page.get_by_role("cell", name="65,536").first).to_be_visible()
    assert page.get_by_label("Resources at the peak").input_value() == "50000"
    context.close()
