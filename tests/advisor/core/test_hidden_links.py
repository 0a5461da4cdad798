"""The signed links of mails stand in no log: they open settings without a login."""

import logging
import subprocess
import sys
from pathlib import Path

import pytest
from django.test import Client

from advisor.notifications.mail import links
from tests.advisor.notifications.mail.hearing import hearer
from tests.advisor.people import People
from tests.servers import PATIENCE

ROOT = Path(__file__).resolve().parents[3]


def test_what_goes_wrong_with_a_link_is_logged_without_it(people: People, caplog: pytest.LogCaptureFixture) -> None:
    token = links.token(hearer(people))
    client = Client()
    assert client.put(f"/mail/for/{token}/").status_code == 405
    assert client.post(f"/mail/for/{token}/", {"days": "x"}).status_code == 400
    assert client.get(f"/mail/for/{token}/nothing/").status_code == 404
    assert client.get(f"/mail/for/{token}/?x=1").status_code == 200
    assert len(caplog.records) == 3
    assert token not in caplog.text
    assert caplog.text.count("/mail/for/…") == 3


@pytest.mark.parametrize("path", ["/MAIL/for//5.abc/", "/mail/for%2F5.abc", "https://x.org/mail/for/5.abc/?a=b"])
@pytest.mark.parametrize("logger", ["django.request", "django.security.csrf", "django.server"])
def test_however_it_is_written_a_link_is_cut(logger: str, path: str) -> None:
    record = logging.LogRecord(logger, logging.WARNING, "", 1, "Forbidden (%s): %s %d", ("no", path, 403), None)
    assert logging.getLogger(logger).filter(record)
    assert record.getMessage().lower().endswith("/mail/for/… 403")
    assert "5.abc" not in record.getMessage()


def test_a_line_of_any_logger_holds_no_link() -> None:
    program = (
        "import logging, django; django.setup();"
        "logging.getLogger('some.library').warning('failed at /mail/for/5.abc/ with %s', {'/mail/for/x': 1})"
    )
    made = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE, check=True
    )
    assert "failed at /mail/for/… with" in made.stderr
    assert "5.abc" not in made.stderr
