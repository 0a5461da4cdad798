"""Before and after in a browser: WCAG AA by axe, nothing cut off sideways, and from the captures to it without scripts.

`SCREENSHOTS=folder` keeps the pictures.
"""

import io

import pypdf
import pytest
from playwright.sync_api import Browser, FilePayload, Page, expect

from tests.advisor.audits.compared.states import exports
from tests.browser.conftest import Looked, Service, log_in
from tests.browser.views import bring, look


@pytest.fixture(scope="module")
def system(browser: Browser, service: Service) -> str:
    """Two captures of a system, before and after a change; the address of its page."""
    for day, xacts, spread in ((0, 307.0, False), (1, 431.0, True)):
        texts = {name: text.replace("CLAIMS1", "CLAIMS7") for name, text in exports(day, xacts, spread=spread).items()}
        files: list[FilePayload] = [
            {"name": name, "mimeType": "text/plain", "buffer": text.encode()} for name, text in texts.items()
        ]
        audit = bring(browser, service, files, row="CLAIMS7")
    context = browser.new_context(base_url=service.address)
    page = context.new_page()
    log_in(page, service)
    page.goto(audit)
    found = page.get_by_role("link", name="CLAIMS7", exact=True).get_attribute("href")
    context.close()
    assert found
    return found


def test_before_and_after_is_accessible_and_fits(looked: Looked, system: str) -> None:
    look(looked, f"{system}compare/", "compared")


def test_on_paper_it_begins_with_the_verdict_and_has_no_form(page: Page, system: str) -> None:
    page.goto(f"{system}compare/")
    sheets = [sheet.extract_text() for sheet in pypdf.PdfReader(io.BytesIO(page.pdf(format="Letter"))).pages]
    assert "It got better: 29 % less CPU ms per committed transaction" in " ".join(sheets[0].split())
    assert "Choose captures" not in "".join(sheets)


def test_from_the_list_of_captures_to_the_verdict_and_to_the_finding_without_any_script(
    browser: Browser, service: Service, system: str
) -> None:
    context = browser.new_context(base_url=service.address, java_script_enabled=False)
    page = context.new_page()
    log_in(page, service)
    page.goto(system)
    page.get_by_role("button", name="Compare").click()
    expect(
        page.get_by_role("heading", name="It got better: 29 % less CPU ms per committed transaction")
    ).to_be_visible()
    expect(page.locator("svg.pair").first).to_be_visible()
    page.get_by_role("button", name="Export").click()
    with page.expect_download() as download:
        page.get_by_role("link", name="Figures as CSV").click()
    assert download.value.suggested_filename == "lockwright-CLAIMS7-compare.csv"
    page.locator(".fates a[href*='#f']").first.click()
    expect(page.locator("article.finding:target")).to_be_visible()
    context.close()
