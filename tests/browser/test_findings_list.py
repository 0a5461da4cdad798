"""The list of findings in a browser: search, chips, headings that sort, ticking many and acting on them, files."""

import csv
import re
from pathlib import Path

from playwright.sync_api import Page, expect

from tests.browser.conftest import EXAMPLES, until


def rows(page: Page) -> int:
    return page.locator("#findings tr[data-row]").count()


def test_a_dba_works_through_the_list(page: Page, tmp_path: Path) -> None:
    page.goto("/")
    until(page, lambda: page.locator("tr[data-row]").count() >= EXAMPLES)
    page.get_by_role("navigation", name="Pages").get_by_role("link", name="Findings").click()
    expect(page.get_by_role("heading", level=1, name="Findings")).to_be_visible()

    # the search narrows the list as one types, and the address holds it
    page.keyboard.press("/")
    page.keyboard.type("spinlock")
    page.wait_for_url(re.compile(r"q=spinlock"))
    expect(page.locator("#findings tr[data-row]").first).to_contain_text(re.compile("spinlock", re.IGNORECASE))
    searched = rows(page)
    page.get_by_role("link", name="Severity").click()
    page.wait_for_url(re.compile(r"sort=-severity"))
    assert "q=spinlock" in page.url
    expect(page.locator("th[aria-sort=descending]")).to_have_text("Severity")
    assert rows(page) == searched

    # nothing to act on until something is ticked
    act = page.locator("#act")
    expect(act).to_be_hidden()
    page.keyboard.press("j")
    page.keyboard.press("x")
    expect(act).to_be_visible()
    expect(act).to_contain_text("1 selected")
    page.get_by_role("button", name="Select all on this page").click()
    expect(act).to_contain_text(f"{searched} selected")

    # what an act does not need is not asked for
    expect(act.get_by_label("until")).to_be_hidden()
    act.get_by_label("Do").select_option("accept")
    expect(act.get_by_label("until")).to_be_visible()
    act.get_by_label("Do").select_option("assign")
    expect(act.get_by_label("because")).to_be_hidden()
    act.get_by_label("to", exact=True).select_option("admin")
    act.get_by_role("button", name="Do it").click()
    expect(page.get_by_role("status")).to_have_text(f"{searched} findings assigned to admin.")
    assert "q=spinlock" in page.url
    mine = page.get_by_role("link", name=re.compile("^Mine"))
    expect(mine).to_contain_text(str(searched))
    mine.click()
    page.wait_for_url(re.compile("owner=mine"))

    # kept under a name, and taken as a file
    page.get_by_text("Export, keep this view").click()
    page.get_by_label("Keep this view as").fill("my spinlocks")
    page.get_by_role("button", name="Keep", exact=True).click()
    expect(page.get_by_role("link", name="my spinlocks")).to_have_attribute("aria-current", "true")
    page.get_by_text("Export, keep this view").click()
    with page.expect_download() as taken:
        page.get_by_role("link", name="CSV").click()
    taken.value.save_as(tmp_path / "findings.csv")
    with (tmp_path / "findings.csv").open(newline="") as file:
        assert len(list(csv.DictReader(file))) == searched


def test_the_overview_leads_into_the_list(page: Page) -> None:
    page.goto("/")
    until(page, lambda: page.locator("tr[data-row]").count() >= EXAMPLES)
    page.get_by_role("columnheader", name="Findings").get_by_role("link").click()
    page.wait_for_url(re.compile("sort=-findings"))
    first = page.locator("tr[data-row] a.state.open").first
    count = int(first.inner_text().split()[0])
    first.click()
    page.wait_for_url(re.compile(r"system=\d+&state=open"))
    assert rows(page) == min(count, 50)
