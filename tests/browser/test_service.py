"""The service as one machine runs it: a script's line of the README, a worker that dies, files for the owner alone."""

import json
import os
import re
import signal
import stat
import subprocess
import sys
from pathlib import Path

from playwright.sync_api import Page, Route, expect

from tests.browser.conftest import ROOT, Service
from tests.browser.test_dba import bring_own
from tests.servers import PATIENCE, eventually

STORY = ROOT / "advisor" / "examples" / "audits" / "address_lock_storm"


def curl_line() -> str:
    """The one line of the README that uploads a file and gets its audit."""
    (line,) = re.findall(r"^curl .*/api/uploads.*$", (ROOT / "README.md").read_text("utf-8"), re.MULTILINE)
    return str(line)


def test_the_curl_line_of_the_readme_uploads_a_file_and_gets_its_audit(
    page: Page, service: Service, tmp_path: Path
) -> None:
    page.goto("/account/")
    page.get_by_label("Name").fill("readme")
    page.locator("input[name=scopes][value=upload]").check()
    page.locator("form:has(input[name=scopes]) button").click()
    secret = re.search(r"lw_[\w-]{40}", page.content())
    assert secret
    (tmp_path / "sysmon.txt").write_bytes((STORY / "sysmon.txt").read_bytes().replace(b"CLAIMS1", b"SCRIPT1"))
    line = curl_line().replace("http://127.0.0.1:8000", service.address)
    done = subprocess.run(
        ["bash", "-c", line],
        capture_output=True,
        cwd=tmp_path,
        env={**os.environ, "LOCKWRIGHT_TOKEN": secret[0]},
        check=True,
    )
    data = json.loads(done.stdout)
    assert data["contract"] == "audit/1"
    assert data["captures"][0]["system"]["name"] == "SCRIPT1"
    assert any(f["key"].startswith("ase/address_lock") for f in data["captures"][0]["findings"])


def processes(service: Service, words: str) -> list[int]:
    """The processes of this service (by its run folder in their environment) whose command holds these words."""
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        try:
            command = (place / "cmdline").read_bytes().replace(b"\0", b" ").decode()
            mine = f"RUN_DIR={service.run}".encode() in (place / "environ").read_bytes().split(b"\0")
        except OSError:
            continue
        if words in command and mine:
            found.append(int(place.name))
    return found


def test_a_worker_that_dies_is_started_again_and_nothing_is_lost(page: Page, service: Service) -> None:
    before = processes(service, "-A advisor.config.celery worker")
    assert before
    for pid in before:
        os.kill(pid, signal.SIGKILL)
    bring_own(page, "AFTERDEATH")
    expect(page.get_by_role("heading", name="What it holds")).to_be_visible()
    assert not set(processes(service, "-A advisor.config.celery worker")) & set(before)


def test_every_queue_has_workers_of_its_own(service: Service) -> None:
    for queue in ("celery", "runs", "clock", "mail", "hooks", "prints"):
        eventually(lambda queue=queue: processes(service, f"-Q {queue} "))  # type: ignore[misc]


def test_what_the_service_writes_is_for_its_owner_alone(service: Service) -> None:
    assert stat.S_IMODE(service.run.stat().st_mode) == 0o700
    assert stat.S_IMODE((service.run / "secret_key").stat().st_mode) == 0o600
    for folder in ("drop", "collectors"):
        assert stat.S_IMODE((service.run / folder).stat().st_mode) == 0o700
    assert stat.S_IMODE((service.run / "redis.sock").stat().st_mode) == 0o600


def test_a_second_start_from_the_same_folder_is_refused(service: Service) -> None:
    command = [sys.executable, "manage.py", "up", "--listen", "127.0.0.1:1"]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={**os.environ, "RUN_DIR": str(service.run)},
        timeout=PATIENCE,
    )
    assert done.returncode != 0
    assert "running already" in done.stderr


CLICKED = """(link) => new Promise((done) => {
  const said = document.querySelector(".on-its-way");
  const seen = () => { if (!said.hidden) done(said.innerText); };
  new MutationObserver(seen).observe(said, {attributes: true});
  link.click();
})"""
"""Clicks, and gives what is then said; in the page, as Playwright itself waits for the next page before it looks."""


def test_a_page_or_a_file_that_takes_long_says_that_it_is_on_its_way(page: Page) -> None:
    page.goto("/")
    held = list[Route]()
    on_its_way = page.locator(".on-its-way")
    expect(on_its_way).to_be_hidden()
    page.route("**/findings/", lambda route: held.append(route))
    link = page.get_by_role("navigation", name="Pages").get_by_role("link", name="Findings")
    assert re.match(r"On its way", link.evaluate(CLICKED))
    held[-1].continue_()
    expect(page.get_by_role("heading", level=1, name="Findings")).to_be_visible()
    expect(on_its_way).to_be_hidden()

    page.get_by_text("Export, keep this view").click()
    page.route("**/findings/findings.csv*", lambda route: held.append(route))
    assert re.match(r"On its way", page.get_by_role("link", name="CSV").evaluate(CLICKED))
    with page.expect_download() as brought:
        held[-1].continue_()
    assert brought.value.suggested_filename.endswith(".csv")
    expect(on_its_way).to_be_hidden()
