"""The first run: from an empty overview to the examples and back; a file without a name gets one on its upload page."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, FilePayload, Page, expect

from tests.browser.conftest import Service, log_in, started, until
from tests.browser.test_dba import STORY

LISTING = (STORY / "config.txt").read_bytes()


@pytest.fixture(scope="module")
def empty(service: Service) -> Iterator[Service]:
    """A service without the examples, as it is where somebody installs it for good."""
    with started("--no-examples", beside=service) as found:
        yield found


@pytest.fixture
def first(browser: Browser, empty: Service) -> Iterator[Page]:
    """The first page of somebody who has just logged in there; nothing complains on the way."""
    context = browser.new_context(viewport={"width": 1280, "height": 900}, base_url=empty.address)
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    page, complaints = context.new_page(), list[str]()
    page.on("console", lambda said: complaints.append(said.text) if said.type == "error" else None)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("dialog", lambda dialog: dialog.accept())
    log_in(page, empty)
    page.goto("/")
    yield page
    context.close()
    assert not complaints


def files(*names: str) -> list[FilePayload]:
    """Listings of servers that they do not name, each with bytes of its own."""
    return [
        {"name": name, "mimeType": "text/plain", "buffer": LISTING + b"\n" * number}
        for number, name in enumerate(names)
    ]


def upload(page: Page, *names: str) -> None:
    page.goto("/upload/")
    page.locator("input[type=file]").set_input_files(files(*names))
    page.get_by_role("button", name="Upload and audit").click()
    page.wait_for_url(re.compile(r"/uploads/\d+/"))


def test_the_examples_come_by_one_click_and_go_by_another(first: Page) -> None:
    expect(first.get_by_role("heading", name="Collect your own")).to_be_visible()
    first.get_by_role("button", name="Load the examples").click()
    expect(first.get_by_text(re.compile(r"\d+ example uploads are being read"))).to_be_visible()
    until(first, lambda: first.locator("tr[data-row]").count() > 3)
    expect(first.locator("tr[data-row] .state", has_text="example").first).to_be_visible()
    first.get_by_role("button", name="Remove the examples").click()
    expect(first.get_by_text(re.compile(r"The examples are removed: \d+ systems"))).to_be_visible()
    until(first, lambda: first.get_by_role("heading", name="Look at the examples").count())
    expect(first.locator("tr[data-row]")).to_have_count(0)


def test_a_product_leads_to_its_script_and_the_form_to_upload_what_it_prints(first: Page) -> None:
    first.goto("/upload/")
    card = first.locator("section", has=first.get_by_role("heading", name="Collect your own"))
    card.get_by_label("Product").select_option("openvms")
    card.get_by_role("button", name="Show what to collect").click()
    card.get_by_role("button", name="Copy", exact=True).click()
    copied = first.evaluate("navigator.clipboard.readText()")
    assert "$ SHOW CPU/FULL" in copied
    expect(first.get_by_role("button", name="Upload and audit")).to_be_visible()
    first.get_by_role("button", name="Help").click()
    expect(first.get_by_role("region", name="Help on this page")).to_contain_text("Collect at the busiest hour")


def test_files_without_a_name_are_asked_for_one_and_land_where_they_belong(first: Page) -> None:
    upload(first, "one.txt", "two.txt", "notes.txt")
    expect(first.get_by_role("heading", name="Which systems are these?")).to_be_visible()
    for file, name in (("one.txt", "NIGHT1"), ("two.txt", "NIGHT2"), ("notes.txt", "NIGHT2")):
        first.get_by_label(f"System of {file}").fill(name)
    first.get_by_role("button", name="Give them these names").click()
    expect(first.get_by_role("link", name="NIGHT1").first).to_be_visible()
    expect(first.get_by_text("Which systems are these?")).to_have_count(0)
    first.goto("/")
    expect(first.locator("tr[data-row]")).to_have_count(2)

    for name in ("NIGHT1", "NIGHT2"):
        first.get_by_label(f"Select {name}").check()
    expect(first.get_by_text("2 selected")).to_be_visible()
    first.get_by_role("button", name="Rename, merge or delete").click()
    first.get_by_label("Replace in the names").fill("NIGHT")
    first.get_by_label("by", exact=True).fill("DAY")
    first.get_by_role("button", name="Propose names").click()
    first.get_by_role("button", name="Give these names").click()
    expect(first.get_by_text("2 systems are renamed.")).to_be_visible()

    for name in ("DAY1", "DAY2"):
        first.get_by_label(f"Select {name}").check()
    first.get_by_role("button", name="Rename, merge or delete").click()
    first.get_by_label("The one that stays").select_option(label="DAY1")
    first.get_by_role("button", name="Show what would be merged").click()
    expect(first.get_by_text("DAY2 would become DAY1")).to_be_visible()
    first.get_by_role("button", name="Merge into DAY1").click()
    expect(first.get_by_text("1 merged into DAY1.")).to_be_visible()
    first.goto("/")
    expect(first.locator("tr[data-row]")).to_have_count(1)

    first.get_by_label("Select DAY1").check()
    first.get_by_role("button", name="Rename, merge or delete").click()
    first.get_by_label("To delete 1 system, type 1").fill("1")
    first.get_by_role("button", name="Delete", exact=True).click()
    first.goto("/")
    expect(first.get_by_role("heading", name="Look at the examples")).to_be_visible()  # as empty as it was found
