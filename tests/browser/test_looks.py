"""Every page, light and dark, at 1280 and at 400 pixels: WCAG AA by axe, nothing cut off sideways, a picture.

`SCREENSHOTS=folder` keeps the pictures.
"""

import io
from collections.abc import Callable

import pypdf
import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import EXAMPLES, Looked, Scheme, each_once, system_of, until
from tests.browser.views import OPEN_ALL, assert_fits, look

PAGES = {
    "overview": "/",
    "overview-sorted": "/?sort=-findings&worst=critical",
    "findings": "/findings/",
    "findings-filtered": "/findings/?severity=warning&sort=-lost&changed=new",
    "upload": "/upload/",
    "uploads": "/uploads/",
    "one-upload": "/uploads/1/",
    "audit": "/audits/1/",
    "run-sheet": "/audits/1/run-sheet/",
    "finding": "/findings/1/",
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
LIMIT = "ase/address_lock_spinlock_contended.contention_percent"
LONG = "the_longest_name_that_anybody_ever_gave_to_a_procedure_of_the_claims_application_and_its_nightly_batch"
"""A word that no line of a narrow page holds."""
LAST_EXAMPLE = "TIREE"
"""The system of the examples that are collected last."""


@pytest.fixture(scope="module")
def worked(windows: Callable[[Scheme, int], Page]) -> None:
    """The examples are there, and somebody has worked on the first one."""
    page = windows("light", 1280)
    page.goto("/")
    until(page, lambda: page.locator("tr[data-row]").count() >= EXAMPLES)
    work_on(page)


def work_on(page: Page) -> None:
    """Leave a limit and a note at the system that is looked at, so that its tables and its journal hold something."""
    page.goto(PAGES["system"])
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
    made = page.get_by_role("link", name=f"{LONG[:60]}@example.org").first.get_attribute("href")
    page.goto(f"{made}preview/")
    page.get_by_role("button", name="@example.org as a test").click()


@pytest.mark.usefixtures("worked")
@each_once("name", PAGES)
def test_a_page_is_accessible_and_fits(looked: Looked, name: str) -> None:
    look(looked, PAGES[name], name, 404 if name == "not-here" else 200)


@pytest.mark.usefixtures("worked")
def test_the_proof_of_a_change_is_accessible_and_fits_a_phone_and_one_sheet(looked: Looked) -> None:
    """The two captures of the example that is collected last: as it was, and after the change that was advised."""
    page = looked[0]
    address = f"{system_of(page, LAST_EXAMPLE).get_attribute('href')}compare/"
    page.goto(address)
    until(page, page.locator("svg.pair").count)
    look(looked, address, "compare")
    assert page.locator("svg.account-bar").count() == 2, "where the capacity went, before and after"
    sheets = pypdf.PdfReader(io.BytesIO(page.pdf(format="A4"))).pages
    assert len(sheets) == 1
    told = sheets[0].extract_text()
    assert told.index("It got better") < told.index("Can the two be compared?") < told.index("Findings")


@pytest.mark.parametrize("every", [4, pytest.param(1, marks=pytest.mark.long)])
def test_the_audits_of_the_examples_fit_a_phone(windows: Callable[[Scheme, int], Page], every: int) -> None:
    """What a plan prints is as wide as its scripts, and which audit is the first depends on the workers."""
    page = windows("dark", 400)
    system_of(page, LAST_EXAMPLE)
    page.goto("/")
    systems, further = set[str | None](), page.get_by_role("link", name="Further rows")
    while True:
        systems |= {link.get_attribute("href") for link in page.locator("tr[data-row] a[href^='/systems/']").all()}
        if not further.count():
            break
        page.goto(f"/{further.get_attribute('href')}")
    audits: set[str] = set()
    for system in systems:
        page.goto(f"{system}")
        audits |= {f"{link.get_attribute('href')}".split("#")[0] for link in page.locator("a[href^='/audits/']").all()}
    assert len(audits) > EXAMPLES
    for address in sorted(audits)[::every]:
        page.goto(address)
        page.evaluate(OPEN_ALL)
        assert_fits(page, 400)
