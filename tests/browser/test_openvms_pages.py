"""Cluster and day of two OpenVMS nodes in a browser: WCAG AA by axe, nothing cut off sideways, without any script.

`SCREENSHOTS=folder` keeps the pictures.
"""

import os
import re
from pathlib import Path
from typing import Literal

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, FilePayload, Page, expect

from tests.advisor.openvms.two_nodes import exports
from tests.browser.conftest import Service, log_in
from tests.browser.test_looks import AA

VIEWS = {"cluster": "cluster/?master=SKYE", "day": "day/"}
LOOKS = [("light", 1280), ("dark", 1280), ("light", 400), ("dark", 400)]
Scheme = Literal["light", "dark"]


@pytest.fixture(scope="module")
def audit(browser: Browser, service: Service) -> str:
    """Bring the exports of both nodes, and give the address of ORKNEY's audit."""
    context = browser.new_context(base_url=service.address)
    page = context.new_page()
    log_in(page, service)
    page.goto("/upload/")
    brought: list[FilePayload] = [
        {"name": Path(name).name, "mimeType": "text/plain", "buffer": text.encode()}
        for name, text in exports(rows=48, dedicated=80.0, quiet=(20, 21)).items()
    ]
    page.locator("input[type=file]").set_input_files(brought)
    page.get_by_role("button", name="Upload and audit").click()
    page.wait_for_url(re.compile(r"/uploads/\d+/"))
    own = page.get_by_role("row").filter(has_text="ORKNEY")  # the examples have nodes of this name, too
    link = own.locator("a[href^='/audits/']").first
    for _ in range(120):
        if link.count():
            break
        page.wait_for_timeout(500)
        page.reload()
    found = link.get_attribute("href")
    context.close()
    assert found
    return found.split("#")[0]


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
def test_a_view_of_two_nodes_is_accessible_and_fits(looked: "tuple[Page, Scheme, int]", audit: str, name: str) -> None:
    page, scheme, width = looked
    answer = page.goto(audit + VIEWS[name])
    assert answer
    assert answer.status == 200
    page.evaluate("document.querySelectorAll('main details').forEach((one) => { one.open = true; })")
    if folder := os.environ.get("SCREENSHOTS"):
        page.screenshot(path=Path(folder) / f"openvms-{name}-{width}-{scheme}.png", full_page=True)
    found = Axe().run(page, options=AA).response["violations"]
    assert not [(one["id"], [node["html"][:200] for node in one["nodes"]][:4]) for one in found]
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_from_the_audit_to_another_master_and_from_a_mark_to_its_finding_without_any_script(
    browser: Browser, service: Service, audit: str
) -> None:
    context = browser.new_context(base_url=service.address, java_script_enabled=False)
    page = context.new_page()
    log_in(page, service)
    page.goto(audit)
    page.get_by_role("navigation", name="Views of this capture").get_by_role("link", name="Cluster").click()
    expect(page.locator("figure svg")).to_be_visible()
    page.get_by_role("link", name="Outgoing/s").click()
    expect(page.locator("th[aria-sort=descending]")).to_have_text("Outgoing/s")
    page.get_by_label("Node as master").select_option("SKYE")
    page.get_by_role("button", name="Show how").click()
    expect(page.get_by_role("heading", name="SKYE as master")).to_be_visible()
    assert "master=SKYE" in page.url
    page.get_by_role("link", name="Day", exact=True).click()
    expect(page.locator("figure svg")).to_have_count(5)
    page.locator("ul.marks a").first.click()
    expect(page.locator("article.finding:target")).to_be_visible()
    context.close()
