"""A DBA sets up an audit that runs by itself, and somebody who gets its report: page, drop folder, mail as received."""

import email
import email.policy
import re
from collections.abc import Iterator
from email.message import EmailMessage

import pytest
from aiosmtpd.controller import Controller
from playwright.sync_api import Page, expect

from tests.advisor.notifications.mail.mail_servers import Postbox
from tests.browser.conftest import ROOT, Service
from tests.servers import HOST, free_port

STORY = ROOT / "advisor" / "examples" / "audits" / "address_lock_storm"


@pytest.fixture
def postbox() -> Iterator[tuple[Postbox, int]]:
    """A real mail server on the loopback, and its port."""
    box, port = Postbox(), free_port()
    server = Controller(box, hostname=HOST, port=port)
    server.start()
    yield box, port
    server.stop()


def test_a_dropped_export_is_audited_and_its_report_is_read(
    page: Page, service: Service, postbox: tuple[Postbox, int]
) -> None:
    box, port = postbox
    page.goto("/administration/mail/")
    page.locator("[name=mail_host]").fill(HOST)
    page.locator("[name=mail_port]").fill(str(port))
    page.locator("[name=mail_from]").fill("advisor@example.org")
    page.get_by_role("button", name="Store").click()
    page.goto("/mail/add/")
    page.get_by_label("Address").fill("night@example.org")
    page.get_by_role("button", name="Add it").click()
    expect(page.get_by_role("link", name="night@example.org")).to_be_visible()

    page.goto("/schedules/new/")
    page.get_by_label("Name").fill("dropped")
    page.get_by_label("Path").fill("dropped")
    page.get_by_label("A file is taken when").fill("1")
    page.get_by_role("button", name="Make the schedule").click()
    folder = service.run / "drop" / "DBA" / "dropped"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "sysmon.txt").write_bytes((STORY / "sysmon.txt").read_bytes().replace(b"CLAIMS1", b"DROPPED1"))
    page.get_by_role("button", name="Run now").click()
    expect(page.get_by_text("1 file taken")).to_be_visible()
    expect(page.locator("#main")).to_contain_text("audited")
    expect(page.locator("#main")).to_contain_text(re.compile(r"\d sent(?!.*waiting)"))

    (envelope,) = [one for one in box.mails if one.rcpt_tos == ["night@example.org"]]
    assert isinstance(envelope.content, bytes)
    mail = email.message_from_bytes(envelope.content, _class=EmailMessage, policy=email.policy.default)
    assert str(mail["Subject"]).startswith("DROPPED1: ")
    text = mail.get_body(("plain",))
    assert text
    assert "Object descriptor spinlocks 34.6 % contended" in " ".join(text.get_content().split())
    page.goto("/mail/outbox/")
    expect(page.get_by_role("row", name="night@example.org").get_by_role("link", name="DROPPED1: ")).to_be_visible()
    link = next(line for line in text.get_content().splitlines() if line.endswith("/unsubscribe/"))
    page.context.clear_cookies()
    page.goto(link)
    page.get_by_role("button", name="Send nothing more").click()
    expect(page.locator("#main")).to_contain_text("nothing more")
