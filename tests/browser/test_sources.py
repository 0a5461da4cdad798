"""A DBA has a server asked: adds it with its password, tries it, collects from it, and reads the audit."""

import os
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import Service, log_in, until
from tests.browser.views import AA
from tests.live.running import Serving, serving


def add(page: Page, server: Serving, name: str, system: str) -> None:
    """Add the server as a data source of a new system."""
    page.goto("/sources/new/")
    page.get_by_label("System", exact=False).first.select_option("new")
    page.get_by_label("Name of the new system").fill(system)
    page.locator("[name=name]").fill(name)
    page.locator("[name=host]").fill(server.host)
    page.locator("[name=port]").fill(str(server.port))
    page.locator("[name=user]").fill(server.user)
    page.locator("[name=password]").fill(server.password)
    page.locator("[name=seconds]").fill("5")
    page.get_by_role("button", name="Add the data source").click()
    expect(page.get_by_role("heading", name=name)).to_be_visible()


def test_a_server_is_added_tried_and_collected_from(page: Page, service: Service) -> None:
    with serving("16.0", pace=20) as server:
        add(page, server, "front door", "TIDEWAY")
        page.get_by_role("button", name="Try it").click()
        expect(page.locator("#tried")).to_contain_text("mon_role")
        expect(page.locator("#tried")).to_contain_text("Nothing is missing")
        assert server.password not in page.content()
        page.get_by_role("button", name="Collect from TIDEWAY now").click()
        expect(page.locator("#run-list")).to_contain_text("audited")
        page.locator("#run-list").get_by_role("link", name="TIDEWAY").first.click()
    expect(page.locator("#main")).to_contain_text("collected live from data source front door")
    assert server.password not in page.content()
    log = (service.run / "up.log").read_text(errors="replace")
    assert server.password not in log
    assert (service.run / "source_key").stat().st_mode & 0o777 == 0o600


def test_what_is_missing_is_shown_with_its_grant(page: Page) -> None:
    with serving("15.7", faults=("no-mon-role",)) as server:
        add(page, server, "side door", "HARVEST")
        page.get_by_role("button", name="Try it").click()
        expect(page.locator("#tried")).to_contain_text("What is missing")
        expect(page.locator("#tried")).to_contain_text("grant role mon_role")


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 400)])
def test_the_pages_of_data_sources_are_accessible_and_fit(
    browser: Browser, service: Service, scheme: str, width: int
) -> None:
    context = browser.new_context(
        viewport={"width": width, "height": 900},
        color_scheme="dark" if scheme == "dark" else "light",
        bypass_csp=True,
        base_url=service.address,
    )
    page = context.new_page()
    log_in(page, service)
    with serving("15.7", faults=("no-mon-role", "switch-off=enable spinlock monitoring")) as server:
        add(page, server, f"door {scheme} {width}", f"HARVEST{width}")
        page.get_by_role("button", name="Try it").click()
        expect(page.locator("#tried")).to_contain_text("Release")
    one = page.url.removeprefix(service.address)
    system = page.get_by_role("link", name=f"HARVEST{width}").first.get_attribute("href")
    for name, address in {
        "source": one,
        "source-change": f"{one}change/",
        "source-new": "/sources/new/",
        "sources": "/sources/",
        "source-system": f"{system}",
        "source-schedule-new": f"/schedules/new/?system={(system or '').split('/')[2]}",
    }.items():
        page.goto(address)
        page.evaluate("document.querySelectorAll('main details').forEach((one) => { one.open = true; })")
        if folder := os.environ.get("SCREENSHOTS"):
            page.screenshot(path=Path(folder) / f"{name}-{width}-{scheme}.png", full_page=True)
        found = Axe().run(page, options=AA).response["violations"]
        assert not [(one["id"], [node["html"][:200] for node in one["nodes"]][:4]) for one in found], name
        assert page.evaluate("document.documentElement.scrollWidth") <= width, name
    context.close()


def test_without_scripts_a_source_is_added_and_tried_by_loading_again(browser: Browser, service: Service) -> None:
    context = browser.new_context(java_script_enabled=False, base_url=service.address)
    page = context.new_page()
    log_in(page, service)
    with serving("15.7") as server:
        add(page, server, "plain door", "PLAIN1")
        page.get_by_role("button", name="Try it").click()
        until(page, page.locator("#tried", has_text="Release").count)
        expect(page.locator("#tried")).to_contain_text("HARVEST")
        expect(page.locator("#tried")).to_contain_text("The server calls itself HARVEST")
    context.close()
