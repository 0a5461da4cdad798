"""Every picture of every page, measured in a browser: no text leaves its picture, is cut, or stands on another one."""

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Browser, FilePayload, Page

from tests.advisor.openvms.two_nodes import exports
from tests.advisor.series.machines import LARGE, SMALL
from tests.browser.conftest import Scheme, Service, system_of, until
from tests.browser.test_openvms_pages import ASKED
from tests.browser.views import OPEN_ALL, bring

STORIES = Path(__file__).resolve().parents[2] / "advisor" / "examples" / "audits"
BROUGHT = {
    "caches": "vlh_4_hot_tables",
    "trees": "one_file_makes_the_locks",
    "cpus": "lock_manager_on_a_busy_core",
    "plan": "three_nodes_one_decision",
    "far": "far_apart_sites",
}
PAGES = {
    "cache map": ("caches", "caches/"),
    "ASE audit": ("caches", ""),
    "lock trees": ("trees", "lock-trees/"),
    "CPU map": ("cpus", "cpus/"),
    "lock tables": ("cpus", f"lock-tables/{ASKED}"),
    "plan of a cluster": ("plan", "cluster/"),
    "far cluster": ("far", "cluster/"),
    "cluster": ("two", "cluster/?master=SKYE"),
    "day": ("two", "day/"),
    "loads": ("large", "loads/"),
    "loads of two machines": ("large", "loads/?with={small}&scaled=1"),
    "audit of loads": ("large", ""),
}
WRONG = """() => {
    const wrong = [];
    const shown = (one) => one.getBoundingClientRect().width > 0;
    for (const svg of document.querySelectorAll('main svg:not(svg svg)')) {
        const place = svg.getBoundingClientRect();
        const texts = [...svg.querySelectorAll('text')].filter(shown).map((one) => {
            const words = [...one.childNodes].filter((node) => node.nodeType === 3).map((node) => node.data).join('');
            return { words, box: one.getBoundingClientRect() };
        });
        texts.forEach(({ words, box }, n) => {
            const out = Math.max(place.left - box.left, box.right - place.right, place.top - box.top - 1,
                                 box.bottom - place.bottom - 1);
            if (out > 1) wrong.push(`leaves its picture by ${out.toFixed(0)} px: ${words}`);
            if (words.includes('…')) wrong.push(`cut: ${words}`);
            for (const other of texts.slice(n + 1)) {
                const wide = Math.min(box.right, other.box.right) - Math.max(box.left, other.box.left);
                const tall = Math.min(box.bottom, other.box.bottom) - Math.max(box.top, other.box.top);
                if (wide > 1 && tall > 4) wrong.push(`one upon the other: ${words}, ${other.words}`);
            }
        });
    }
    return wrong;
}"""
"""Of all pictures that are shown: what is wrong with their texts (a line is a little higher than its letters)."""
HIDDEN = """() => [...document.querySelectorAll('main .wide')]
    .filter((one) => one.scrollWidth > one.clientWidth + 1 && getComputedStyle(one, '::after').visibility !== 'visible')
    .map((one) => one.getAttribute('aria-label') || one.textContent.trim().slice(0, 80))"""
"""Tables that scroll sideways without saying so."""


@pytest.fixture(scope="module")
def audits(browser: Browser, service: Service) -> dict[str, str]:
    """Bring a capture of each kind of picture: the addresses of their audits."""

    def files(texts: dict[str, str]) -> list[FilePayload]:
        return [
            {"name": Path(name).name, "mimeType": "text/plain", "buffer": text.encode()} for name, text in texts.items()
        ]

    found = {}
    for name, story in BROUGHT.items():
        paths = sorted(path for path in (STORIES / story).iterdir() if path.suffix != ".yml")
        found[name] = bring(browser, service, paths)
    found["two"] = bring(browser, service, files(exports(rows=48, dedicated=80.0, quiet=(20, 21))), row="ORKNEY")
    found["large"] = bring(browser, service, files({"staffa.txt": LARGE}))
    found["small"] = bring(browser, service, files({"barra.txt": SMALL}))
    return found


def hold(page: Page, address: str) -> None:
    """Open a page with all its details and measure."""
    page.goto(address)
    page.evaluate(OPEN_ALL)
    assert page.evaluate("document.querySelectorAll('main svg text').length"), "a page with pictures"
    assert page.evaluate(WRONG) == []
    assert page.evaluate(HIDDEN) == []


@pytest.mark.parametrize("width", [1440, 390])
@pytest.mark.parametrize("name", PAGES)
def test_every_text_of_a_picture_is_whole_and_stands_alone(
    windows: Callable[[Scheme, int], Page], audits: dict[str, str], name: str, width: int
) -> None:
    audit, address = PAGES[name]
    hold(windows("light", width), audits[audit] + address.format(small=audits["small"].split("/")[2]))


@pytest.mark.parametrize("width", [1440, 390])
def test_the_pictures_of_systems_findings_and_proofs_are_whole(
    windows: Callable[[Scheme, int], Page], width: int
) -> None:
    page = windows("light", width)
    system = f"{system_of(page, 'TIREE').get_attribute('href')}"
    page.goto(f"{system}compare/")
    until(page, page.locator("svg.pair").count)
    hold(page, f"{system}compare/")
    hold(page, system)
    page.goto("/findings/")
    links = page.locator("table.findings a[href^='/findings/']").evaluate_all(
        "all => all.map((one) => one.getAttribute('href')).filter((one) => /^.findings.[0-9]+.$/.test(one))"
    )
    chains = 0
    for link in dict.fromkeys(links[:30]):
        page.goto(link)
        if page.locator("svg .c-here").count():
            hold(page, link)
            chains += 1
            if chains == 3:
                break
    assert chains, "chains of causes"
