"""What a DBA does on a day: log in, bring exports, read the worst finding, copy its script, set a limit, print."""

import base64
import io
import re
from pathlib import Path

import pypdf
from playwright.sync_api import Page, expect

from tests.browser.conftest import Service, Watched, log_in_by_form, system_of, until

STORY = Path(__file__).resolve().parents[2] / "advisor" / "examples" / "audits" / "address_lock_storm"
NAMES = ("sysmon.txt", "config.txt", "caches.txt")
DROP = """([selector, files]) => {
    const transfer = new DataTransfer();
    for (const [name, data] of files) {
        const bytes = Uint8Array.from(atob(data), (c) => c.charCodeAt(0));
        transfer.items.add(new File([bytes], name, { type: "text/plain" }));
    }
    const target = document.querySelector(selector);
    for (const kind of ["dragenter", "dragover", "drop"])
        target.dispatchEvent(new DragEvent(kind, { dataTransfer: transfer, bubbles: true, cancelable: true }));
}"""


def bring_own(page: Page, name: str) -> None:
    """Drag three exports of a server of our own onto the upload page, and send them."""
    page.goto("/upload/")
    files = [
        [f"{name}-{file}", base64.b64encode((STORY / file).read_bytes().replace(b"CLAIMS1", name.encode())).decode()]
        for file in NAMES
    ]
    page.evaluate(DROP, [".drop", files])
    expect(page.locator("[data-chosen]")).to_contain_text(f"{name}-sysmon.txt")
    page.get_by_role("button", name="Upload and audit").click()
    page.wait_for_url(re.compile(r"/uploads/\d+/"))


def test_a_dba_does_a_days_work(page: Page) -> None:
    bring_own(page, "WORKDAY")
    held = page.get_by_role("heading", name="What it holds")
    expect(held).to_be_visible()
    expect(page.get_by_text("every line understood").first).to_be_visible()
    page.goto("/?q=WORKDAY")
    page.locator("tr[data-row] a", has_text="Object descriptor spinlocks").click()

    finding = page.locator("article.finding:target")
    expect(finding).to_contain_text("34.6 %")
    finding.get_by_role("button", name="Copy apply").first.click()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert 'sp_configure "open object spinlock ratio", 5' in copied
    finding.get_by_text("To undo it").first.click()
    finding.get_by_role("button", name="Copy undo").first.click()
    assert 'sp_configure "open object spinlock ratio", 100' in page.evaluate("navigator.clipboard.readText()")

    printed = page.pdf()
    text = "".join(sheet.extract_text() for sheet in pypdf.PdfReader(io.BytesIO(printed)).pages)
    assert "lock address spinlock ratio" in text
    assert "In order" in text
    audit = page.url
    page.get_by_role("button", name="Export").click()
    with page.expect_download() as download:  # from the audit's page, or from the one that waits until it is made
        page.get_by_role("link", name="PDF", exact=True).click()
    assert download.value.suggested_filename.startswith("lockwright-WORKDAY-")
    assert Path(download.value.path()).read_bytes().startswith(b"%PDF")

    page.goto(audit)
    page.get_by_role("button", name="More: limits").click()
    page.get_by_role("link", name="Limits").click()
    page.get_by_label("Limit", exact=True).select_option("ase/object_descriptor_spinlock_contended.contention_percent")
    page.get_by_label("Value", exact=True).fill("90")
    page.get_by_label("Why", exact=True).fill("known; the migration to datarows is planned")
    page.get_by_role("button", name="Set the limit").click()
    expect(page.get_by_text("known; the migration to datarows is planned").first).to_be_visible()
    page.goto("/?q=WORKDAY")
    until(page, lambda: not page.get_by_text("Object descriptor spinlocks").count())  # audited again by and by
    expect(page.locator("tr[data-row]")).to_have_count(1)
    expect(page.locator("tr[data-row]")).not_to_contain_text("Object descriptor spinlocks")


def test_the_first_page_shows_the_examples_with_their_findings(page: Page) -> None:
    system_of(page, "CLAIMS1")
    system_of(page, "OSLO")
    until(page, page.get_by_text("Lock manager on CPU 13 shares its core with CPU 5").count)


def test_everything_goes_by_keyboard(page: Page) -> None:
    page.goto("/")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_be_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("/")
    page.keyboard.type("claims1")
    expect(page.locator("tr[data-row]")).to_have_count(1)
    page.wait_for_url("**q=claims1**")  # the address is written after the rows
    asked = list[str]()
    page.on("request", lambda request: asked.append(request.url))
    page.locator("#q").blur()
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(r"/systems/\d+/"))
    assert not any("q=" in url for url in asked), "leaving the box brought the rows anew: the one reached was gone"
    page.keyboard.press("g")
    page.keyboard.press("u")
    page.wait_for_url("**/upload/")


def test_wrong_passwords_lock_the_name_and_the_stranger_learns_nothing(watched: Watched, service: Service) -> None:
    page = watched.page()
    for _ in range(5):
        page.goto("/login/")
        page.get_by_label("Name").fill("nobody")
        page.get_by_label("Password").fill("wrong wrong wrong")
        page.get_by_role("button", name="Log in").click()
        page.wait_for_load_state()
    expect(page.get_by_role("heading", name="Locked")).to_be_visible()
    watched.complaints.clear()  # the browser notes the status 429 of the page
    page.goto("/systems/1/")
    assert "/login/" in page.url
    log_in_by_form(page, service)


def test_the_findings_of_an_audit_go_by_keyboard_and_its_menus_by_mouse(page: Page) -> None:
    """What a DBA does on the page of an audit: open rows, jump from a step to its finding, copy its address."""
    system_of(page, "LEWIS").click()
    page.locator("a[href^='/audits/']").first.click()
    page.wait_for_url(re.compile(r"/audits/\d+/"))
    address = page.url.split("#")[0]
    page.goto(address)
    rows = page.locator("#findings article.row")
    expect(rows.locator("details[open]")).to_have_count(0)
    page.keyboard.press("j")
    page.keyboard.press("o")
    expect(rows.first.locator("> details")).to_have_attribute("open", "")
    expect(rows.first).to_contain_text("Evidence")
    page.keyboard.press("o")
    expect(rows.locator("> details[open]")).to_have_count(0)
    page.get_by_role("button", name="Open or close all").click()
    expect(rows.locator("> details[open]")).to_have_count(rows.count())
    page.get_by_role("button", name="Export").click()
    page.get_by_role("button", name="Copy the address").click()
    assert page.evaluate("navigator.clipboard.readText()") == address
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="Copy the address")).to_be_hidden()


def test_the_theme_is_switched_and_stays(page: Page) -> None:
    page.goto("/")
    shade = "getComputedStyle(document.body).backgroundColor"
    before = page.evaluate(shade)
    page.get_by_role("button", name="Switch between the light and the dark theme").click()
    after = page.evaluate(shade)
    assert after != before
    page.reload()
    assert page.evaluate(shade) == after
