"""Cache map, spinlocks and what-if in a browser: WCAG AA by axe, nothing cut off sideways, with and without scripts.

`SCREENSHOTS=folder` keeps the pictures.
"""

import io
import os
from collections.abc import Callable
from pathlib import Path

import pypdf
import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import Looked, Scheme, Service, each_once, log_in
from tests.browser.views import assert_whole, bring, filled, look
from tests.longer import first_of

STORIES = Path(__file__).resolve().parents[2] / "advisor" / "examples" / "audits"
STORY, HEALTHY = STORIES / "vlh_4_hot_tables", STORIES / "healthy_monitored_server"
BLOCKED = STORIES / "row_held_by_a_client_that_thinks"
PROCESSES = Path(__file__).resolve().parents[1] / "exports" / "ase" / "monitor_tables" / "processes.txt"
ASKED = "?address=5&object=3&lock=20&buckets=65536&cut-0=64&size-1=100000&engines=12&index_hash=0"
VIEWS = {"caches": "caches/", "spinlocks": "spinlocks/", "what-if": "what-if/", "what-if-asked": f"what-if/{ASKED}"}


@pytest.fixture(scope="module")
def audit(browser: Browser, service: Service) -> str:
    """Bring the exports of a story with hot tables, and give the address of its audit."""
    return bring(browser, service, sorted(STORY.glob("*.txt")))


@pytest.fixture(scope="module")
def waiting(browser: Browser, service: Service) -> str:
    """The same of a story in which many wait for a client that thinks."""
    return bring(browser, service, sorted(BLOCKED.glob("*.txt")))


@pytest.fixture(scope="module")
def working(browser: Browser, service: Service) -> str:
    """The same of tables by process and by statement."""
    return bring(browser, service, [PROCESSES])


@each_once("asked", ["", "?values=shown&sort=executions"])
def test_who_does_the_work_is_accessible_and_fits(looked: Looked, working: str, asked: str) -> None:
    look(looked, f"{working}statements/{asked}", f"ase-statements{'-whole' if asked else ''}")


@each_once("name", ["waits", "blocking"])
def test_what_is_waited_for_is_accessible_and_fits(looked: Looked, waiting: str, name: str) -> None:
    look(looked, f"{waiting}{name}/", f"ase-{name}")


@first_of(
    2,
    "looked",
    [("dark", 400), ("light", 1000), ("light", 1280), ("dark", 1280), ("light", 400)],
    ids=str,
    indirect=True,
)
@pytest.mark.parametrize("name", VIEWS)
def test_a_view_of_a_capture_is_accessible_and_fits(looked: Looked, audit: str, name: str) -> None:
    look(looked, audit + VIEWS[name], f"ase-{name}")


def test_from_the_audit_to_an_answer_and_to_the_script_without_any_script_of_ours(
    browser: Browser, service: Service, audit: str
) -> None:
    context = browser.new_context(base_url=service.address, java_script_enabled=False)
    page = context.new_page()
    log_in(page, service)
    page.goto(audit)
    page.get_by_role("link", name="Cache map").click()
    expect(page.locator("figure svg:visible")).to_have_count(2)
    page.get_by_role("link", name="Size, MB").click()
    expect(page.locator("th[aria-sort=descending]")).to_have_text("Size, MB")
    page.get_by_role("link", name="What-if").click()
    page.get_by_label("Partitions of default data cache").fill("32")
    page.get_by_role("button", name="Answer").click()
    expect(page.get_by_role("heading", name="All data caches together")).to_be_visible()
    assert "cut-0=32" in page.url
    assert page.get_by_label("Partitions of default data cache").input_value() == "32"
    page.get_by_role("link", name="Spinlocks").click()
    page.locator("td.main a").first.click()
    expect(page.locator("article.finding:target")).to_be_visible()
    context.close()


@pytest.mark.parametrize("width", [1440, 1280, 390])
@pytest.mark.parametrize("name", ["caches", "spinlocks"])
def test_no_column_is_hidden_and_pictures_fill_their_place(
    windows: Callable[[Scheme, int], Page], audit: str, name: str, width: int
) -> None:
    page = windows("light", width)
    page.goto(audit + VIEWS[name])
    assert_whole(page, width)
    if name == "caches":
        assert filled(page) > (0.7 if width == 1280 else 0.95)
        row = page.locator("section[aria-labelledby=table] tbody tr").first
        expect(row.get_by_text("strict LRU")).to_be_hidden()
        row.locator("summary").click()
        expect(row.get_by_text("strict LRU")).to_be_visible()


def test_spinlocks_stand_in_the_order_of_their_findings(page: Page, audit: str) -> None:
    page.goto(f"{audit}spinlocks/")
    links = page.locator("section[aria-labelledby=table] td.main > a").evaluate_all("all => all.map((one) => one.hash)")
    numbers = [int(link.removeprefix("#f")) for link in links]
    assert numbers
    assert numbers == sorted(numbers)
    rows = page.locator("section[aria-labelledby=table] tbody tr")
    assert rows.first.locator("td.main > a").count() == 1, "what has a finding stands before what has none"


def test_a_large_but_normal_spinlock_says_why_on_any_screen(
    browser: Browser, service: Service, windows: Callable[[Scheme, int], Page]
) -> None:
    files = sorted(path for path in HEALTHY.iterdir() if path.suffix != ".yml")
    healthy = bring(browser, service, files)
    for width in (1280, 400):
        page = windows("light", width)
        page.goto(f"{healthy}spinlocks/")
        row = (
            page.get_by_role("row").filter(has_text="Sched Q")
            if width > 860
            else page.locator("tr", has_text="Sched Q")
        )
        expect(row.first.locator(".normal")).to_contain_text("very many spins with a low share of waits are normal")
        expect(row.first.locator(".normal")).to_be_visible()
        cell = row.first.locator("td").last.bounding_box()
        assert cell
        assert cell["x"] + cell["width"] <= width, "no column is hidden"


def test_it_prints(page: Page, audit: str) -> None:
    page.goto(f"{audit}caches/")
    printed = page.pdf()
    if folder := os.environ.get("SCREENSHOTS"):
        (Path(folder) / "ase-caches.pdf").write_bytes(printed)
    text = "".join(sheet.extract_text() for sheet in pypdf.PdfReader(io.BytesIO(printed)).pages)
    words = " ".join(text.split())
    assert "most of its searches" in words, "the picture"
    assert "not in the export, or cannot be believed" in words, "the table's foot"
