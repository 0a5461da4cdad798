"""A week of a team in the browser: an administrator, a DBA and somebody who reads; ten systems; from finding to proof.

The tasks a DBA comes with are taken one by one, each from the first page on, and each within a few clicks: what is
wrong, what is to be done tonight, hide that until the upgrade, did last week's change help, mail about four of them.
"""

import io
import re
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from datetime import date, timedelta

import pytest
from playwright.sync_api import Browser, FilePayload, Page, expect

from tests.advisor.audits.compared.states import exports
from tests.browser.conftest import Service, log_in, until

NAMES = [f"WEEK{number:02}" for number in range(1, 11)]
ADDRESS = "Address lock hash table spinlocks 52.3 % contended"
OBJECTS = "Object descriptor spinlocks 34.6 % contended"


def captures(day: int, xacts: float, names: list[str], *, spread: bool) -> FilePayload:
    """The exports of one day, a folder for each server in one archive; `spread`: with the ratio advised."""
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as book:
        for name in names:
            for file, text in exports(day, xacts, spread=spread).items():
                book.writestr(f"{name}/{file}", text.replace("CLAIMS1", name))
    return {"name": f"week-{day}.zip", "mimeType": "application/zip", "buffer": archive.getvalue()}


def upload(page: Page, files: FilePayload, audited: int) -> None:
    """Bring exports by the form and wait until so many systems have their audit."""
    page.goto("/upload/")
    page.locator("input[type=file]").set_input_files(files)
    page.get_by_role("button", name="Upload and audit").click()
    page.wait_for_url(re.compile(r"/uploads/\d+/"))
    until(page, lambda: page.locator("a[href^='/audits/']").count() >= audited)


def found(page: Page, system: str) -> None:
    """Go to the first page and look for a system there."""
    page.goto("/")
    page.get_by_role("searchbox", name="Find").fill(system)
    page.wait_for_url(re.compile(f"q={system}"))
    expect(page.locator("tr[data-row]")).to_have_count(1)


def ticked(page: Page, names: list[str]) -> None:
    """Tick systems among those of this week on the first page."""
    page.goto("/?q=WEEK")
    for name in names:
        page.get_by_label(f"Select {name}", exact=True).check()


@pytest.fixture
def team(browser: Browser, service: Service) -> Iterator[dict[str, Page]]:
    """The administrator, who adds a DBA and somebody who reads; each logged in, in a browser of their own."""
    contexts = [browser.new_context(viewport={"width": 1440, "height": 900}, base_url=service.address) for _ in "123"]
    admin, *others = (one.new_page() for one in contexts)
    log_in(admin, service)
    pages = {"admin": admin}
    for page, (name, role) in zip(others, {"dora": "dba", "vic": "viewer"}.items(), strict=True):
        admin.goto("/administration/users/add/")
        admin.get_by_label("Name for the login").fill(name)
        admin.get_by_label("E-mail").fill(f"{name}@example.org")
        admin.get_by_label("Role").select_option(role)
        admin.get_by_label("DBA", exact=True).check()
        admin.get_by_role("button", name="Add the user").click()
        made = admin.locator("main code, main pre, main .password").first.inner_text()
        log_in(page, replace(service, user=name, password=made))
        pages[name] = page
    yield pages
    for context in contexts:
        context.close()


def test_a_team_goes_from_ten_systems_to_the_proof_of_a_change(team: dict[str, Page]) -> None:
    dora, vic = team["dora"], team["vic"]

    # Monday: ten systems are collected at once, and stand on the first page with their worst finding
    upload(dora, captures(0, 307.0, NAMES, spread=False), len(NAMES))
    dora.goto("/?q=WEEK")
    expect(dora.locator("tr[data-row]")).to_have_count(len(NAMES))

    # what is wrong with WEEK01: two clicks from the first page
    found(dora, "WEEK01")
    dora.locator("tr[data-row] a[href^='/audits/']").first.click()
    expect(dora.locator(":target")).to_contain_text(OBJECTS)
    dora.goto(dora.url.split("#")[0])
    expect(dora.locator("#verdict")).to_contain_text("contended")
    expect(dora.locator("#verdict")).to_be_in_viewport()  # the answer, without scrolling

    # what is to be done tonight on all of them: one plan, with what takes effect at once first
    ticked(dora, NAMES)
    dora.get_by_role("button", name="Plan over them").click()
    expect(dora.get_by_role("heading", level=1)).to_have_text(f"Plan over {len(NAMES)} systems")
    change = dora.locator("article.joint", has_text="lock address spinlock ratio")
    expect(change.locator("summary")).to_contain_text(f"{len(NAMES)} systems")
    change.get_by_label("Select lock address spinlock ratio on every system").check()
    acts = dora.get_by_role("form", name="With the selected findings")
    acts.get_by_label("Do", exact=True).select_option(label="Plan the change")
    acts.get_by_role("button", name="Do it").click()
    expect(dora.get_by_role("status")).to_contain_text(f"{len(NAMES)} findings planned")

    # Tuesday: one finding is hidden until the upgrade, on three systems at once, and stays counted
    dora.goto("/findings/?q=Object+descriptor+WEEK0")
    for name in NAMES[:3]:
        dora.locator("tr[data-row]", has_text=name).get_by_role("checkbox").check()
    act = dora.locator("#act")
    act.get_by_label("Do", exact=True).select_option("accept")
    act.get_by_label("until").fill((date.today() + timedelta(days=60)).isoformat())  # noqa: DTZ011 - as a person types
    act.get_by_label("because").fill("until the upgrade to 16.0")
    act.get_by_role("button", name="Do it").click()
    expect(dora.get_by_role("status")).to_have_text("3 findings accepted.")
    vic.goto("/findings/?state=accepted&q=WEEK0")
    expect(vic.locator("#findings tr[data-row]")).to_have_count(3)
    expect(vic.locator("input[name=pick]")).to_have_count(0)
    expect(vic.get_by_role("link", name="Upload", exact=True)).to_have_count(0)

    # Wednesday: mail about four of them alone, and of nothing but what is critical
    ticked(dora, NAMES[:4])
    dora.get_by_role("button", name="Mail about them").click()
    expect(dora.get_by_label("Address")).to_have_value("dora@example.org")
    chosen = dora.locator("label:has(input[name=systems]:checked)")
    expect(chosen).to_have_text([f"{name} (SAP ASE)" for name in NAMES[:4]])
    dora.get_by_label("Filter the boxes below by name").fill(NAMES[4])
    expect(dora.locator("input[name=systems]:visible")).to_have_count(1)
    dora.get_by_role("button", name="Select all shown").click()
    expect(chosen).to_have_count(5)
    dora.get_by_role("button", name="Select all shown").click()
    dora.get_by_label("Filter the boxes below by name").fill("")
    expect(chosen).to_have_text([f"{name} (SAP ASE)" for name in NAMES[:4]])
    dora.get_by_label("Findings reported").select_option(label="critical alone")
    dora.get_by_role("button", name="Add it").click()
    row = dora.get_by_role("row").filter(has_text="dora@example.org")
    expect(row).to_contain_text("WEEK01, WEEK02, WEEK03, WEEK04")

    # Thursday: the change was made on one of them; the next capture says so by itself
    upload(dora, captures(1, 431.0, NAMES[:1], spread=True), 1)

    # Friday: did it help? The reader sees it, too, from the first page on
    vic.goto("/")
    vic.get_by_role("navigation", name="Pages").get_by_role("link", name="Findings").click()
    until(vic, lambda: vic.goto("/findings/?state=proven&q=WEEK01") and vic.locator("#findings tr[data-row]").count())
    vic.get_by_role("link", name=ADDRESS).click()
    expect(vic.get_by_role("heading", name="What came of the change")).to_be_visible()
    vic.get_by_role("link", name="Before and after, figure by figure").click()
    expect(vic.locator("#verdict")).to_contain_text("It got better")
    expect(vic.locator("#conclude")).to_have_count(0)
    dora.goto("/plan/?" + "&".join(f"system={number}" for number in systems(dora)))
    applied = dora.locator("#applied tr", has_text="lock address spinlock ratio")
    expect(applied).to_contain_text("WEEK01")
    expect(applied.locator("td[data-label=Proven]")).to_contain_text("WEEK01")
    expect(applied.locator("td[data-label=Planned]")).to_contain_text("WEEK02")


def systems(page: Page) -> list[str]:
    """The numbers of the systems of this week."""
    page.goto("/?q=WEEK")
    return [one.get_attribute("value") or "" for one in page.locator("input[name=system]").all()]
