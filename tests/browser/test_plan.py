"""One plan over several systems, from the ticked rows of the overview to a state of every finding."""

import io
import re
import zipfile
from pathlib import Path

from playwright.sync_api import Page, expect

from tests.browser.conftest import EXAMPLES, Looked, until
from tests.browser.views import OPEN_ALL, look


def all_there(page: Page) -> Page:
    """The overview with all examples on it, and none that is still being read."""
    page.goto("/")
    systems, reading = page.locator("input[name=system]"), page.get_by_text("being read")
    until(page, lambda: systems.count() >= EXAMPLES and not reading.count())
    return page


def test_ticked_systems_become_one_plan_and_its_changes_are_planned(page: Page, tmp_path: Path) -> None:
    all_there(page)
    act = page.get_by_role("form", name="With the selected systems")
    expect(act).to_be_hidden()
    page.get_by_role("button", name="Select all on this page").click()
    boxes = page.locator("input[name=system]")
    chosen = boxes.count()
    expect(act).to_contain_text(f"{chosen} selected")
    boxes.first.uncheck()
    expect(act).to_contain_text(f"{chosen - 1} selected")
    act.get_by_role("button", name="Plan over them").click()
    expect(page.get_by_role("heading", level=1)).to_have_text(f"Plan over {chosen - 1} systems")
    assert page.url.count("system=") == chosen - 1, "the address holds the choice"
    for word, state in (("Plan the change", "planned"), ("Open again", "open")):
        page.get_by_role("button", name="Select every change").click()
        acts = page.get_by_role("form", name="With the selected findings")
        expect(acts).to_contain_text(re.compile(r"[1-9]\d* selected"))
        acts.get_by_label("Do", exact=True).select_option(label=word)
        acts.get_by_role("button", name="Do it").click()
        expect(page.get_by_role("status")).to_contain_text(f" {state}")
        assert page.url.count("system=") == chosen - 1
        expect(page.locator(f".joint .state.{state}").first).to_be_visible()
    page.evaluate(OPEN_ALL)
    assert page.locator(".applied td").first.evaluate(FOLDED) >= 24, "a finger needs 24 px (WCAG 2.2, 2.5.8)"
    with page.expect_download() as download:
        page.get_by_role("link", name="Scripts (ZIP)").click()
    archive = tmp_path / "scripts.zip"
    download.value.save_as(archive)
    with zipfile.ZipFile(io.BytesIO(archive.read_bytes())) as book:
        assert "run-sheet.txt" in book.namelist()
    page.get_by_role("link", name="Run sheet", exact=True).click()
    expect(page.get_by_role("heading", level=1).first).to_have_text(f"Run sheet over {chosen - 1} systems")


FOLDED = """(cell) => {
    cell.innerHTML = '<div>one</div><details><summary>7 more</summary></details>';
    return cell.querySelector('summary').getBoundingClientRect().height;
}"""
"""How high the fold of a cell is: the examples alone are too few systems for one."""


def test_plan_and_sheet_fit_every_look(looked: Looked) -> None:
    page = all_there(looked[0])
    query = "&".join(f"system={one.get_attribute('value')}" for one in page.locator("input[name=system]").all())
    look(looked, f"/plan/?{query}", "plan")
    look(looked, f"/plan/run-sheet/?{query}", "plan-sheet")
    look(looked, "/plan/", "plan-choose")
