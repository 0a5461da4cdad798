"""Cache map, spinlocks and what-if in a browser: WCAG AA by axe, nothing cut off sideways, with and without scripts.

`SCREENSHOTS=folder` keeps the pictures.
"""

import io
import os
import re
from pathlib import Path
from typing import Literal

import pypdf
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import Service, log_in
from tests.browser.test_looks import AA

STORY = Path(__file__).resolve().parent.parent / "audits" / "vlh_4_hot_tables"
ASKED = "?address=5&object=3&lock=20&buckets=65536&cut-0=64&size-1=100000&engines=12&index_hash=0"
VIEWS = {"caches": "caches/", "spinlocks": "spinlocks/", "what-if": "what-if/", "what-if-asked": f"what-if/{ASKED}"}
LOOKS = [("light", 1280), ("light", 1000), ("dark", 1280), ("light", 400), ("dark", 400)]
Scheme = Literal["light", "dark"]


@pytest.fixture(scope="module")
def audit(browser: Browser, service: Service) -> str:
    """Bring the exports of a story with hot tables, and give the address of its audit."""
    context = browser.new_context(base_url=service.address)
    page = context.new_page()
    log_in(page, service)
    page.goto("/upload/")
    page.locator("input[type=file]").set_input_files(sorted(STORY.glob("*.txt")))
    page.get_by_role("button", name="Upload and audit").click()
    page.wait_for_url(re.compile(r"/uploads/\d+/"))
    link = page.locator("main a[href^='/audits/']").first
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
def test_a_view_of_a_capture_is_accessible_and_fits(looked: "tuple[Page, Scheme, int]", audit: str, name: str) -> None:
    page, scheme, width = looked
    answer = page.goto(audit + VIEWS[name])
    assert answer
    assert answer.status == 200
    page.evaluate("document.querySelectorAll('main details').forEach((one) => { one.open = true; })")
    if folder := os.environ.get("SCREENSHOTS"):
        page.screenshot(path=Path(folder) / f"ase-{name}-{width}-{scheme}.png", full_page=True)
    found = Axe().run(page, options=AA).response["violations"]
    assert not [(one["id"], [node["html"][:200] for node in one["nodes"]][:4]) for one in found]
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_from_the_audit_to_an_answer_and_to_the_script_without_any_script_of_ours(
    browser: Browser, service: Service, audit: str
) -> None:
    context = browser.new_context(base_url=service.address, java_script_enabled=False)
    page = context.new_page()
    log_in(page, service)
    page.goto(audit)
    page.get_by_role("link", name="Cache map").click()
    expect(page.locator("figure svg").first).to_be_visible()
    page.get_by_role("link", name="Size, MB").click()
    expect(page.locator("th[aria-sort=descending]")).to_have_text("Size, MB")
    page.get_by_role("link", name="What-if").click()
    page.get_by_label("Partitions of default data cache").fill("32")
    page.get_by_role("button", name="Answer").click()
    expect(page.get_by_role("heading", name="All data caches together")).to_be_visible()
    assert "cut-0=32" in page.url
    assert page.get_by_label("Partitions of default data cache").input_value() == "32"
    page.get_by_role("link", name="Spinlocks").click()
    page.get_by_role("link", name="fired", exact=True).first.click()
    expect(page.locator("article.finding:target")).to_be_visible()
    context.close()


def test_it_prints(page: Page, audit: str) -> None:
    page.goto(f"{audit}caches/")
    printed = page.pdf()
    if folder := os.environ.get("SCREENSHOTS"):
        (Path(folder) / "ase-caches.pdf").write_bytes(printed)
    text = "".join(sheet.extract_text() for sheet in pypdf.PdfReader(io.BytesIO(printed)).pages)
    words = " ".join(text.split())
    assert "most of its searches" in words, "the picture"
    assert "not in the export, or cannot be believed" in words, "the table's foot"
