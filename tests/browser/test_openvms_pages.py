"""The views of OpenVMS captures in a browser: WCAG AA by axe, nothing cut off sideways, with and without scripts.

`SCREENSHOTS=folder` keeps the pictures.
"""

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Browser, FilePayload, Page, expect

from tests.advisor.openvms.two_nodes import exports
from tests.browser.conftest import Looked, Scheme, Service, each_once, log_in
from tests.browser.views import assert_whole, bring, filled, look

STORIES = Path(__file__).resolve().parents[2] / "advisor" / "examples" / "audits"
ASKED = "?resources=400000&mean=300000&growth=50&now=8192&reshashtbl=70000&locks=500000&lockidnow=20000&lockidtbl=7"
VIEWS = {
    "cpus": ("OSLO", "cpus/"),
    "lock-tables": ("BERGEN", "lock-tables/"),
    "lock-tables-asked": ("OSLO", f"lock-tables/{ASKED}"),
    "cluster": ("ORKNEY", "cluster/?master=SKYE"),
    "cluster-plan": ("LEWIS", "cluster/"),
    "day": ("ORKNEY", "day/"),
    "lock-trees": ("LCKQUE_20260512_1016", "lock-trees/"),
}


@pytest.fixture(scope="module")
def audits(browser: Browser, service: Service) -> dict[str, str]:
    """Bring a node with a conflict, a lock-bound one, and two nodes of a cluster; the addresses of their audits."""
    found = {}
    stories = {
        "OSLO": "lock_manager_on_a_busy_core",
        "BERGEN": "lock_bound_node",
        "LCKQUE_20260512_1016": "one_file_makes_the_locks",
    }
    for name, story in stories.items():
        files = sorted(path for path in (STORIES / story).iterdir() if path.suffix != ".yml")
        found[name] = bring(browser, service, files)
    three = sorted(path for path in (STORIES / "three_nodes_one_decision").iterdir() if path.suffix != ".yml")
    found["LEWIS"] = bring(browser, service, three, row="LEWIS")
    two: list[FilePayload] = [
        {"name": Path(name).name, "mimeType": "text/plain", "buffer": text.encode()}
        for name, text in exports(rows=48, dedicated=80.0, quiet=(20, 21)).items()
    ]
    found["ORKNEY"] = bring(browser, service, two, row="ORKNEY")  # the examples have nodes of this name, too
    return found


@each_once("name", VIEWS)
def test_a_view_of_a_node_is_accessible_and_fits(looked: Looked, audits: dict[str, str], name: str) -> None:
    node, address = VIEWS[name]
    look(looked, audits[node] + address, f"openvms-{name}")


@pytest.mark.parametrize("width", [1440, 1280, 390])
@pytest.mark.parametrize("name", ["cpus", "cluster", "day", "lock-trees"])
def test_pictures_fill_their_place_and_no_column_is_hidden(
    windows: Callable[[Scheme, int], Page], audits: dict[str, str], name: str, width: int
) -> None:
    page, (node, address) = windows("light", width), VIEWS[name]
    page.goto(audits[node] + address)
    assert_whole(page, width)
    assert filled(page) > (0.7 if width == 1280 else 0.95)
    if width == 1440:
        panel = page.locator("section.panel").first.bounding_box()
        assert panel
        assert panel["width"] > 1370, "the frame of the page"


def test_what_has_no_column_of_its_own_stands_folded_in_its_row(page: Page, audits: dict[str, str]) -> None:
    page.goto(audits["ORKNEY"] + "cluster/")
    row = page.locator("section[aria-labelledby=table] tbody tr").first
    expect(row.get_by_text("LOCKDIRWT")).to_be_hidden()
    row.locator("summary").click()
    expect(row.get_by_text("LOCKDIRWT")).to_be_visible()
    expect(row.get_by_text("HP rx2800")).to_be_visible()


def test_from_the_map_to_the_finding_and_to_an_answer_without_any_script_of_ours(
    browser: Browser, service: Service, audits: dict[str, str]
) -> None:
    context = browser.new_context(base_url=service.address, java_script_enabled=False)
    page = context.new_page()
    log_in(page, service)
    page.goto(audits["OSLO"])
    page.get_by_role("navigation", name="Views of this capture").get_by_role("link", name="CPU map").click()
    expect(page.locator("figure svg:visible")).to_have_count(1)
    page.locator(".message").get_by_role("link", name="Lock manager on CPU 13").click()
    expect(page.locator("article.finding:target")).to_be_visible()
    page.get_by_role("navigation", name="Views of this capture").get_by_role("link", name="Lock tables").click()
    page.get_by_label("Resources at the peak").fill("50000")
    page.get_by_label("RESHASHTBL asked for").fill("99999999")
    page.get_by_role("button", name="Answer").click()
    expect(page.locator("#reshashtbl-help strong")).to_contain_text("from 1 to 16,777,216")
    page.get_by_label("RESHASHTBL asked for").fill("40000")
    page.get_by_role("button", name="Answer").click()
    expect(page.get_by_role("cell", name="65,536").first).to_be_visible()
    assert page.get_by_label("Resources at the peak").input_value() == "50000"
    context.close()


def test_from_the_audit_to_another_master_and_from_a_mark_to_its_finding_without_any_script(
    browser: Browser, service: Service, audits: dict[str, str]
) -> None:
    context = browser.new_context(base_url=service.address, java_script_enabled=False)
    page = context.new_page()
    log_in(page, service)
    page.goto(audits["ORKNEY"])
    page.get_by_role("navigation", name="Views of this capture").get_by_role("link", name="Cluster").click()
    expect(page.locator("figure svg:visible")).to_have_count(1)
    page.get_by_role("link", name="Outgoing/s").click()
    expect(page.locator("th[aria-sort=descending]")).to_have_text("Outgoing/s")
    page.get_by_label("Node as master").select_option("SKYE")
    page.get_by_role("button", name="Show how").click()
    expect(page.get_by_role("heading", name="SKYE as master")).to_be_visible()
    assert "master=SKYE" in page.url
    page.get_by_role("link", name="Day", exact=True).click()
    expect(page.locator("figure svg.plotted")).to_have_count(5)
    page.locator("ul.marks a").first.click()
    expect(page.locator("article.finding:target")).to_be_visible()
    context.close()
