"""Plots in a browser: the exact figure at the pointer and by the keyboard, zoom and back, the still picture without.

No other host, no complaint of the content policy (`watched`).
"""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, FilePayload, Locator, Page, expect

from tests.advisor.openvms.two_nodes import exports
from tests.advisor.series.machines import LARGE
from tests.browser.conftest import Service, log_in, system_of
from tests.browser.views import bring


@pytest.fixture(scope="module")
def day(browser: Browser, service: Service) -> str:
    """Bring a node with a day of curves: the address of its day."""
    two: list[FilePayload] = [
        {"name": Path(name).name, "mimeType": "text/plain", "buffer": text.encode()}
        for name, text in exports(rows=48, dedicated=80.0, quiet=(20, 21)).items()
    ]
    return bring(browser, service, two, row="ORKNEY") + "day/"


@pytest.fixture(scope="module")
def loads(browser: Browser, service: Service) -> str:
    """Bring the runs of a machine: the address of its load series."""
    runs: list[FilePayload] = [{"name": "staffa.txt", "mimeType": "text/plain", "buffer": LARGE.encode()}]
    return bring(browser, service, runs) + "loads/"


def part(plot: Locator, share: float) -> tuple[float, float]:
    """The place on the page at this share of a plot's width."""
    box = plot.locator(".c-area").bounding_box()
    assert box
    return box["x"] + share * box["width"], box["y"] + box["height"] / 2


def ticks(plot: Locator) -> list[str]:
    return plot.locator(".c-ticks text").all_text_contents()


def test_the_pointer_tells_the_figures_and_the_time_of_the_nearest_point(page: Page, day: str) -> None:
    page.goto(day)
    plots = page.locator("svg.plotted")
    expect(plots).to_have_count(5)
    first = plots.first
    first.scroll_into_view_if_needed()
    x, y = part(first, 0.5)
    page.mouse.move(x, y)
    told = page.locator(".told").first
    expect(told).to_have_text(
        re.compile(r"2026-03-02 \d\d:\d\d(:\d\d)? – lock operations: [\d,.]+ /s; local: [\d,.]+ /s; incoming: ")
    )
    mine = first.evaluate("(svg) => JSON.parse(svg.dataset.plot)")
    at, said = (told.text_content() or "").split(" – ")
    figure = float(said.split(": ")[1].split(" ")[0].replace(",", ""))
    n = mine["s"][0]["y"].index(figure)
    place = mine["s"][0]["x"][n]
    assert abs(place - (mine["x"][0] + mine["x"][1]) / 2) <= 150, "the nearest of steps of 300 s"
    moment = page.evaluate("(s) => new Date(s * 1000).toISOString().slice(0, 19).replace('T', ' ')", place)
    assert moment.removesuffix(":00") == at
    expect(page.locator(".c-cross line")).to_have_count(5)  # the same moment in all plots of the day
    page.mouse.move(2, 2)
    expect(page.locator(".c-cross line")).to_have_count(0)


def test_the_keyboard_goes_from_point_to_point_and_reads_them_out(page: Page, day: str) -> None:
    page.goto(day)
    plot, told = page.locator("svg.plotted").nth(2), page.locator(".told").nth(2)
    plot.focus()
    page.keyboard.press("Home")
    expect(told).to_have_text(re.compile("^2026-03-02 08:0"))
    expect(told).to_have_attribute("aria-live", "polite")
    first = told.text_content()
    page.keyboard.press("ArrowRight")
    expect(told).not_to_have_text(first or "")
    page.keyboard.press("ArrowLeft")
    expect(told).to_have_text(first or "")
    page.keyboard.press("End")
    expect(told).to_have_text(re.compile("^2026-03-02 1[12]:"))
    assert plot.get_attribute("aria-describedby") == told.get_attribute("id")
    texts = [told.text_content() or ""]
    for _ in range(46):
        page.keyboard.press("ArrowLeft")
        texts.append(told.text_content() or "")
    assert [text for text in texts if "no figure" in text], "a gap is said, and is no zero"


def test_dragging_and_buttons_zoom_all_plots_of_the_day_and_a_button_goes_back(page: Page, day: str) -> None:
    page.goto(day)
    first, last = page.locator("svg.plotted").first, page.locator("svg.plotted").last
    first.scroll_into_view_if_needed()
    whole, area = ticks(first), first.locator(".c-area")
    assert area.get_attribute("viewBox", timeout=1000) == "0 0 1000 226"
    back = page.get_by_role("button", name="Whole: Lock operations")
    expect(back).to_be_disabled()
    (x, y), (to, _) = part(first, 0.25), part(first, 0.5)
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move((x + to) / 2, y)
    expect(first.locator(".c-select")).to_be_visible()
    page.mouse.move(to, y)
    page.mouse.up()
    start, _, wide, _ = map(float, (area.get_attribute("viewBox") or "").split())
    assert [start, wide] == pytest.approx([250, 250], abs=6)
    assert ticks(first) != whole
    assert len(ticks(first)) >= 3
    other = (last.locator(".c-area").get_attribute("viewBox") or "").split()
    assert other[:3] == (area.get_attribute("viewBox") or "").split()[:3], "all plots of the day"
    for text in first.locator(".c-ticks text").all():
        box, inside = text.bounding_box(), first.bounding_box()
        assert box
        assert inside
        assert inside["x"] <= box["x"] <= inside["x"] + inside["width"]
    page.get_by_role("button", name="Zoom in: Lock operations").click()
    assert float((area.get_attribute("viewBox") or "").split()[2]) == pytest.approx(wide / 2, abs=1)
    page.get_by_role("button", name="Zoom out: Lock operations").click()
    assert float((area.get_attribute("viewBox") or "").split()[2]) == pytest.approx(wide, abs=1)
    back.click()
    assert area.get_attribute("viewBox") == "0 0 1000 226"
    assert ticks(first) == whole
    expect(back).to_be_disabled()
    first.focus()
    page.keyboard.press("+")
    expect(back).to_be_enabled()
    page.keyboard.press("Escape")
    expect(back).to_be_disabled()


def test_loads_and_figures_over_captures_tell_and_zoom_too(page: Page, loads: str) -> None:
    page.goto(loads)
    plot, told = page.locator("svg.plotted"), page.locator(".told")
    plot.focus()
    page.keyboard.press("Home")
    expect(told).to_have_text("processes 1 – lock operations per second: 236,000")
    page.keyboard.press("ArrowRight")
    expect(told).to_have_text("processes 2 – lock operations per second: 318,400")
    page.get_by_role("button", name="Zoom in").click()
    expect(page.get_by_role("button", name="Whole")).to_be_enabled()
    system_of(page, "TARIFF64").click()
    expect(page.locator("figure svg.plotted").first).to_be_visible()
    page.locator("figure svg.plotted").first.focus()
    page.keyboard.press("End")
    expect(page.locator(".told").first).to_have_text(re.compile(r"^\d{4}-\d\d-\d\d \d\d:\d\d – .+: [\d,.]+"))


def test_without_scripts_the_still_picture_stands_and_nothing_asks_to_be_clicked(
    browser: Browser, service: Service, day: str
) -> None:
    context = browser.new_context(
        base_url=service.address, java_script_enabled=False, viewport={"width": 1440, "height": 900}
    )
    page = context.new_page()
    log_in(page, service)
    page.goto(day)
    assert page.locator("svg.plotted").count() == 5
    assert page.locator("svg.plotted polyline").count() >= 5
    assert not page.locator(".plot-controls, svg[tabindex]").count()
    expect(page.locator("svg.plotted text", has_text="lock operations").first).to_be_visible()
    context.close()


@pytest.mark.parametrize("width", [1440, 1280, 390])
def test_no_text_of_a_plot_is_smaller_than_12_px_or_cut_off_at_any_width(
    browser: Browser, service: Service, day: str, width: int
) -> None:
    context = browser.new_context(base_url=service.address, viewport={"width": width, "height": 900})
    page = context.new_page()
    log_in(page, service)
    page.goto(day)
    small = page.evaluate(
        """(width) => [...document.querySelectorAll('svg.plotted text')].filter((one) => {
            const box = one.getBoundingClientRect();
            const size = parseFloat(getComputedStyle(one).fontSize);
            return box.width && (size < 12 || box.left < 0 || box.right > width);
        }).map((one) => one.textContent)""",
        width,
    )
    assert not small
    lefts = page.locator("svg.plotted .c-area").evaluate_all(
        "all => all.map((one) => Math.round(one.getBoundingClientRect().left))"
    )
    assert len(set(lefts)) == 1, "the axes are aligned"
    if width > 860:
        plot = page.locator("svg.plotted").last.bounding_box()
        assert plot
        assert plot["width"] > 0.85 * min(width, 1400) or plot["width"] > 0.6 * width
    context.close()


def test_what_has_nothing_to_zoom_has_no_buttons_for_it(page: Page) -> None:
    """A system of two captures: its figures are told, and nothing between the two is to be drawn larger."""
    system_of(page, "TIREE").click()
    plot = page.locator("svg[data-plot]").first
    expect(plot).to_be_visible()
    plot.focus()
    page.keyboard.press("Home")
    expect(page.locator(".told").first).to_have_text(re.compile(r"^\d{4}-"))
    expect(page.locator(".plot-controls button")).to_have_count(0)
    page.keyboard.press("+")
    expect(page.locator(".c-cross line").first).to_be_attached()
