"""What the tests of the views of a capture share: exports brought, a window of a size, what every view has to be."""

import os
import re
from collections.abc import Sequence
from pathlib import Path

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, FilePayload, Page

from tests.browser.conftest import Looked, Service, log_in, until

AA = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"], "resultTypes": ["violations"]}
"""Every rule is tried, and what passed is not told element by element."""


def bring(
    browser: Browser, service: Service, files: Sequence[Path] | Sequence[FilePayload], row: str | None = None
) -> str:
    """Bring exports, and give the address of their audit; `row` is a word of its row where there are several.

    What is brought already is not brought again.
    """
    texts = [(one.name, one.read_bytes()) if isinstance(one, Path) else (one["name"], one["buffer"]) for one in files]
    which = (*texts, row)
    if which not in service.brought:
        service.brought[which] = _bring(browser, service, files, row)
    return service.brought[which]


def _bring(browser: Browser, service: Service, files: Sequence[Path] | Sequence[FilePayload], row: str | None) -> str:
    context = browser.new_context(base_url=service.address)
    page = context.new_page()
    log_in(page, service)
    page.goto("/upload/")
    page.locator("input[type=file]").set_input_files(files)
    page.get_by_role("button", name="Upload and audit").click()
    page.wait_for_url(re.compile(r"/uploads/\d+/"))
    place = page.get_by_role("row").filter(has_text=row) if row else page.locator("main")
    link = place.locator("a[href^='/audits/']").first
    until(page, link.count)
    found = link.get_attribute("href")
    context.close()
    assert found
    return found.split("#")[0]


PHONE = 400
"""Pixels that the narrowest look has."""
OPEN_ALL = "document.querySelectorAll('main details').forEach((one) => { one.open = true; })"
TOO_WIDE = """(width) => [...document.querySelectorAll('main *')]
    .filter((one) => !one.closest('pre, svg, .wide'))
    .filter((one) => {
        const box = one.getBoundingClientRect();
        return Math.max(box.right, box.left + one.scrollWidth) > width;
    })
    .map((one) => one.outerHTML.slice(0, 200)).slice(0, 8)"""
"""The first elements that reach beyond the right edge, or whose text does."""


def assert_fits(page: Page, width: int) -> None:
    """Nothing scrolls sideways; `page` is open with all its details."""
    assert page.evaluate("document.documentElement.scrollWidth") <= width, (page.url, page.evaluate(TOO_WIDE, width))


NOT_WHOLE = """(width) => {
    const all = (words) => [...document.querySelectorAll(words)].filter((one) => one.getClientRects().length);
    const hidden = all('main .wide, main .plot, main table').filter((one) => one.scrollWidth > one.clientWidth + 1)
        .map((one) => 'scrolls: ' + one.outerHTML.slice(0, 120));
    const beyond = all('main :is(td, th)').filter((one) => {
        const box = one.getBoundingClientRect();
        return box.width > 1 && box.left >= 0 && box.right > width + 1;
    }).map((one) => 'beyond: ' + one.textContent.slice(0, 60));
    const small = all('main figure svg text').filter((one) => {
        const svg = one.closest('svg[viewBox]:not(.c-area)');
        const scale = svg ? svg.getBoundingClientRect().width / svg.viewBox.baseVal.width : 1;
        return parseFloat(getComputedStyle(one).fontSize) * scale < 11.9;
    }).map((one) => 'small: ' + one.textContent);
    return [...hidden, ...beyond, ...small].slice(0, 9);
}"""
"""What scrolls sideways, what lies beyond the right edge, and texts of pictures that are shown smaller than 12 px."""


def assert_whole(page: Page, width: int) -> None:
    """No column is hidden, and every text of a picture is read as it is: at 12 px or more."""
    assert not page.evaluate(NOT_WHOLE, width)


def filled(page: Page) -> float:
    """Which share of its panel's inner width the first picture that is shown takes."""
    share = page.evaluate(
        """() => {
            const all = [...document.querySelectorAll('main figure.plot svg:not(svg svg)')];
            const svg = all.find((one) => one.getClientRects().length);
            const place = svg.closest('figure').getBoundingClientRect();
            return svg.getBoundingClientRect().width / place.width;
        }"""
    )
    assert isinstance(share, float | int)
    return float(share)


def look(looked: Looked, address: str, picture: str, status: int = 200) -> None:
    """Open a view with all its details: no complaint of axe, nothing scrolls sideways, and nothing would on a phone.

    `SCREENSHOTS` keeps it.
    """
    page, scheme, width = looked
    answer = page.goto(address)
    assert answer
    assert answer.status == status
    page.evaluate(OPEN_ALL)
    if folder := os.environ.get("SCREENSHOTS"):
        page.screenshot(path=Path(folder) / f"{picture}-{width}-{scheme}.png", full_page=True)
    found = Axe().run(page, options=AA).response["violations"]
    assert [
        (one["id"], [(node["html"][:200], node["failureSummary"]) for node in one["nodes"]][:4]) for one in found
    ] == []
    assert_fits(page, width)
    if width > PHONE:
        page.set_viewport_size({"width": PHONE, "height": 900})
        try:
            assert_fits(page, PHONE)
        finally:
            page.set_viewport_size({"width": width, "height": 900})
