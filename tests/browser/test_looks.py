"""Every page, light and dark, at 1280 and at 400 pixels: WCAG AA by axe, nothing cut off sideways, a picture.

`SCREENSHOTS=folder` keeps the pictures.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import Service, log_in

PAGES = {
    "overview": "/",
    "upload": "/upload/",
    "uploads": "/uploads/",
    "one-upload": "/uploads/1/",
    "audit": "/audits/1/",
    "lines": "/uploads/1/lines/?file=sysmon.txt&first=254&last=257",
    "system": "/systems/1/",
    "schedules": "/schedules/",
    "schedule": "/schedules/1/",
    "schedule-new": "/schedules/new/",
    "groups": "/groups/",
    "group-new": "/groups/new/",
    "recipients": "/mail/",
    "recipient-add": "/mail/add/",
    "recipient": "/mail/recipients/1/",
    "outbox": "/mail/outbox/",
    "outbox-mail": "/mail/outbox/1/",
    "webhooks": "/administration/webhooks/",
    "retention": "/administration/retention/",
    "rulebook": "/rules/",
    "documents": "/rules/documents/",
    "rule": "/rules/ase/address_lock_spinlock_contended/",
    "account": "/account/",
    "administration": "/administration/",
    "mail": "/administration/mail/",
    "journal": "/administration/journal/",
    "not-here": "/systems/999999/",
}
AA = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]}
Scheme = Literal["light", "dark"]
LIMIT = "ase/address_lock_spinlock_contended.contention_percent"
LONG = "the_longest_name_that_anybody_ever_gave_to_a_procedure_of_the_claims_application_and_its_nightly_batch"
"""A word that no line of a narrow page holds."""


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
    work_on(page)
    yield page, scheme, width
    context.close()


def work_on(page: Page) -> None:
    """Leave a limit and a note at the system that is looked at, so that its tables and its journal hold something."""
    page.goto(PAGES["system"])
    if page.locator("#limits ~ div td", has_text=LIMIT).count():
        return
    form = page.locator("form", has=page.locator("#limit-value"))
    form.locator("select").select_option(LIMIT)
    form.locator("#limit-value").fill("12")
    form.locator("#limit-why").fill(f"agreed for {LONG}")
    form.get_by_role("button", name="Set the limit").click()
    page.get_by_label("Add a note").fill(f"ask Mats before changing {LONG}")
    page.get_by_role("button", name="Keep the note").click()
    expect(page.locator("#journal ~ .wide", has_text="limit set")).to_be_visible()
    page.goto(PAGES["schedule-new"])
    page.get_by_label("Name").fill("hourly")
    page.get_by_label("Blackout windows").fill("2060-12-24 00:00 - 2060-12-27 00:00")
    page.get_by_role("button", name="Make the schedule").click()
    page.get_by_role("button", name="Run now").click()
    page.goto(PAGES["recipient-add"])
    page.get_by_label("Address").fill(f"{LONG[:60]}@example.org")
    page.get_by_role("button", name="Add it").click()
    page.goto(f"{PAGES['recipient']}preview/")
    page.get_by_role("button", name="@example.org as a test").click()


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_accessible_and_fits(looked: tuple[Page, Scheme, int], name: str) -> None:
    page, scheme, width = looked
    answer = page.goto(PAGES[name])
    assert answer
    assert answer.status == (404 if name == "not-here" else 200)
    page.evaluate("document.querySelectorAll('main details').forEach((one) => { one.open = true; })")
    if folder := os.environ.get("SCREENSHOTS"):
        page.screenshot(path=Path(folder) / f"{name}-{width}-{scheme}.png", full_page=True)
    found = Axe().run(page, options=AA).response["violations"]
    assert not [(one["id"], [node["html"][:200] for node in one["nodes"]][:4]) for one in found]
    assert page.evaluate("document.documentElement.scrollWidth") <= width
