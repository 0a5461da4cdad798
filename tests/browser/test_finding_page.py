"""From a finding to its proof in a browser that runs no script: find, accept, assign, plan, and see it proven."""

from collections.abc import Callable
from datetime import date, timedelta

from playwright.sync_api import Browser, FilePayload, Page, expect

from tests.advisor.audits.compared.states import exports
from tests.browser.conftest import Scheme, Service, log_in, until
from tests.browser.views import bring, look

SYSTEM = "CLAIMS8"
LOOKS: tuple[tuple[Scheme, int], ...] = (("light", 1280), ("dark", 400))
TITLE = "Address lock hash table spinlocks 52.3 % contended"


def capture(day: int, xacts: float, *, spread: bool, name: str = SYSTEM) -> list[FilePayload]:
    """The exports of one day; `spread`: with the ratio advised."""
    texts = {file: text.replace("CLAIMS1", name) for file, text in exports(day, xacts, spread=spread).items()}
    return [{"name": file, "mimeType": "text/plain", "buffer": text.encode()} for file, text in texts.items()]


def test_from_finding_to_proof_without_any_script(
    browser: Browser, service: Service, windows: Callable[[Scheme, int], Page]
) -> None:
    audit = bring(browser, service, capture(0, 307.0, spread=False), row=SYSTEM)
    context = browser.new_context(base_url=service.address, java_script_enabled=False)
    page = context.new_page()
    log_in(page, service)
    page.goto(audit)
    finding = page.locator("h3", has_text=TITLE).first.locator("xpath=ancestor::*[self::article or self::details][1]")
    address = finding.locator("a[href^='/findings/']").first.get_attribute("href")  # it is folded away
    assert address
    page.goto(address)
    expect(page.get_by_role("heading", name=TITLE)).to_be_visible()
    expect(page.locator("#what ~ figure svg:visible, #evidence ~ .ev svg:visible").first).to_be_visible()

    page.get_by_label("Until").fill((date.today() + timedelta(days=30)).isoformat())  # noqa: DTZ011 - as a person types
    page.get_by_label("Reason").fill("until the upgrade")
    page.get_by_role("button", name="Accept it").click()
    expect(page.locator("h1 + p .state.accepted")).to_be_visible()
    expect(page.locator("ul.log")).to_contain_text("until the upgrade")
    page.get_by_label("Owner").select_option(label=service.user)
    page.get_by_role("button", name="Assign it").click()
    page.get_by_label("Comment").fill("window asked for: <b>CHG-4471</b>")
    page.get_by_role("button", name="Comment").click()
    expect(page.locator("ul.log")).to_contain_text("window asked for: <b>CHG-4471</b>")
    page.get_by_role("button", name="Plan it").click()
    expect(page.locator("h1 + p .state.planned")).to_be_visible()

    bring(browser, service, capture(1, 431.0, spread=True), row=SYSTEM)
    page.goto(address)
    until(page, page.locator("h1 + p .state.proven").count)
    proof = page.locator("section", has=page.get_by_role("heading", name="What came of the change"))
    expect(proof.get_by_role("row", name="address lock hash table spinlock contention")).to_contain_text("2.1")
    expect(page.locator("ul.log")).to_contain_text("Proven: Gone")
    proof.get_by_role("link", name="Before and after, figure by figure").click()
    expect(page.get_by_role("heading", name="It got better")).to_be_visible()
    context.close()
    for scheme, width in LOOKS:
        look((windows(scheme, width), scheme, width), address, "finding-proven")
