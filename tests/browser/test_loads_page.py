"""Load series in a browser: WCAG AA by axe, nothing cut off sideways, several machines in one picture without scripts.

`SCREENSHOTS=folder` keeps the pictures.
"""

import pytest
from playwright.sync_api import Browser, FilePayload, expect

from tests.advisor.series.machines import LARGE, SMALL, sysmons
from tests.browser.conftest import Looked, Service, log_in
from tests.browser.views import bring, look


def _file(name: str, text: str) -> FilePayload:
    return {"name": name, "mimeType": "text/plain", "buffer": text.encode()}


@pytest.fixture(scope="module")
def audits(browser: Browser, service: Service) -> tuple[str, str]:
    """Bring the runs of two machines, each as a capture of its own: the addresses of their audits."""
    return (
        bring(browser, service, [_file("staffa.txt", LARGE)]),
        bring(browser, service, [_file("barra.txt", SMALL)]),
    )


@pytest.fixture(scope="module")
def over_time(browser: Browser, service: Service) -> str:
    """Bring captures of a server with more and more engines: the address of what they make over time."""
    audit = bring(browser, service, [_file(*one) for one in sysmons().items()])
    context = browser.new_context(base_url=service.address)
    page = context.new_page()
    log_in(page, service)
    page.goto(audit)
    page.locator(".crumbs a").last.click()
    page.get_by_role("link", name="Work by load").click()
    expect(page.locator("figure svg").first).to_be_visible()
    address = page.url
    context.close()
    return address


def test_the_views_are_accessible_and_fit(looked: Looked, audits: tuple[str, str], over_time: str) -> None:
    large, small = audits
    look(looked, f"{large}loads/?with={small.split('/')[2]}&scaled=1", "loads-machines")
    look(looked, over_time, "loads-over-time")


def test_from_the_audit_to_two_machines_at_one_clock_without_any_script_of_ours(
    browser: Browser, service: Service, audits: tuple[str, str]
) -> None:
    context = browser.new_context(base_url=service.address, java_script_enabled=False)
    page = context.new_page()
    log_in(page, service)
    page.goto(audits[0])
    page.get_by_role("navigation", name="Views of this capture").get_by_role("link", name="Load series").click()
    expect(page.locator("figure svg.plotted")).to_have_count(1)
    page.get_by_role("checkbox", name="barra").check()
    page.get_by_role("checkbox", name="Scale all rates").check()
    page.get_by_role("button", name="Show").click()
    expect(page.locator("figure svg.plotted")).to_have_count(2)
    expect(page.get_by_text("does more with each cycle")).to_be_visible()
    context.close()
