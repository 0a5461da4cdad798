"""From a finding to a limit in a browser: try it, see what it would change, save it, undo it."""

from collections.abc import Callable

from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import Scheme, Service
from tests.browser.test_finding_page import TITLE, capture
from tests.browser.views import bring, look

LOOKS: tuple[tuple[Scheme, int], ...] = (("light", 1440), ("dark", 1280), ("light", 390), ("dark", 390))
SYSTEM = "CLAIMS6"


def test_a_limit_is_tried_at_the_finding_saved_and_undone(
    browser: Browser, service: Service, windows: Callable[[Scheme, int], Page]
) -> None:
    for day, xacts, spread in ((0, 307.0, False), (1, 431.0, True)):
        audit = bring(browser, service, capture(day, xacts, spread=spread, name=SYSTEM), row=SYSTEM)
        if not day:
            first = audit
    page = windows("light", 1440)
    page.goto(first)
    finding = page.locator("article.finding", has_text=TITLE).first
    finding.locator("summary").first.click()
    finding.get_by_text("Change a limit of this rule").click()
    finding.get_by_label("New value").fill("101")
    finding.get_by_role("button", name="Show what it would change").click()
    expect(page.get_by_role("alert")).to_contain_text("101 is outside 0 to 100")
    page.get_by_label("New value").fill("60")
    page.get_by_label("Why").last.fill("known until the upgrade")
    page.get_by_role("button", name="Show what it would change").click()
    expect(page.get_by_role("heading", name="1 capture of 2 would change")).to_be_visible()
    row = page.get_by_role("row", name="Address lock hash table spinlocks 52.3 % contended")
    expect(row).to_contain_text("critical")
    expect(row).to_contain_text("not found")
    tried = page.url
    for scheme, width in LOOKS[1:]:
        look((windows(scheme, width), scheme, width), tried, "limit-tried")

    page.get_by_role("button", name="Set the limit to 60 %").click()
    expect(page.locator(".message.success").first).to_contain_text("is 60 now, 10 before")
    page.get_by_role("link", name="finding", exact=True).click()
    limits = page.locator("section", has=page.get_by_role("heading", name="Limits of this rule"))
    expect(limits).to_contain_text(f"60 % for {SYSTEM}")
    expect(limits).to_contain_text("known until the upgrade")
    address = page.url
    for scheme, width in LOOKS[1:]:
        look((windows(scheme, width), scheme, width), address, "finding-with-limit")
    limits.get_by_role("button", name="Undo contention_percent = 60").click()
    expect(page.locator(".message.success").first).to_contain_text("is 10 again")
    expect(page.locator("#tried")).to_contain_text("10 counts again")
    expect(page.get_by_role("button", name="Undo")).to_have_count(0)
