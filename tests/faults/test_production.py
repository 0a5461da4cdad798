"""Production as the README has it: every part a process of its own, and a whole day's chain through all of them."""

import time
from collections.abc import Iterator

import pytest

from tests.faults.conftest import Crew, Measured
from tests.faults.exports import sysmon
from tests.faults.plant import Plant
from tests.faults.postbox import Postbox
from tests.faults.truth import assert_all_is_true, words_of
from tests.servers import eventually

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def postbox() -> Iterator[Postbox]:
    box = Postbox()
    box.open()
    yield box
    box.close()


@pytest.fixture(scope="module", autouse=True)
def _service(plant: Plant, crew: Crew, postbox: Postbox) -> None:
    plant.ask("mail_server", port=postbox.port)
    plant.worker("auditor1", "celery", processes=2)
    plant.worker("auditor2", "celery", processes=2)
    for name, queue in (("clock", "clock"), ("collector", "runs"), ("courier", "mail"), ("caller", "hooks")):
        plant.worker(name, queue, processes=1)
    plant.beat()
    plant.web()
    plant.ready()


def test_from_the_dropped_file_to_the_mail(plant: Plant, crew: Crew, postbox: Postbox, measured: Measured) -> None:
    plant.ask("recipient", team=crew.team, user=crew.user, address="dba@example.org")
    folder = plant.folder / "drop" / "Claims"
    (folder / "LEDGER9").mkdir(parents=True)
    wish = {"name": "the drop folder", "folder": str(folder), "settle_seconds": 1, "every_minutes": 1}
    schedule = plant.ask("schedule", team=crew.team, user=crew.user, **wish)
    for number in range(2):
        (folder / f"claims{number}.txt").write_bytes(sysmon("CLAIMS9", number))
    (folder / "LEDGER9" / "ledger.txt").write_bytes(sysmon("LEDGER9"))
    dropped = time.monotonic()
    plant.ask("due_now", pk=schedule)
    eventually(lambda: len(plant.rows("Mail", "pk", state="done")) == 2)
    measured("file dropped, taken (settled for 1 s), audited, mailed", time.monotonic() - dropped)
    assert plant.rows("Upload", "state", "tries", "origin") == [["done", 1, "schedule"]] * 2
    assert len(plant.rows("Capture", "pk")) == 3
    assert_mails(plant, postbox, {"CLAIMS9", "LEDGER9"})
    assert_pages(plant, schedule)
    assert_all_is_true(plant)


def assert_mails(plant: Plant, postbox: Postbox, systems: set[str]) -> None:
    """One mail a system, about its newest audit, as the outbox says."""
    subjects = sorted(str(mail["Subject"]) for mail in postbox.mails)
    assert subjects == sorted(plant.rows("Mail", "subject"))
    assert {subject.partition(":")[0] for subject in subjects} == systems
    assert all(" critical" in subject for subject in subjects)
    assert {str(mail["To"]) for mail in postbox.mails} == {"dba@example.org"}
    assert set(postbox.times().values()) == {1}
    for mail in postbox.mails:
        text = mail.get_body(("plain",))
        assert text
        assert plant.address in text.get_content()
    latest = dict(plant.rows("System", "name", "latest"))
    mailed = dict(plant.rows("Mail", "system__name", "audit"))
    assert mailed == latest


def assert_pages(plant: Plant, schedule: int) -> None:
    """The outbox and the schedule say what became of it."""
    outbox = words_of(plant, "/mail/outbox/?state=done")
    for subject in plant.rows("Mail", "subject"):
        assert subject in outbox
    told = words_of(plant, f"/schedules/{schedule}/")
    assert "3 files taken" in told
    for name in ("claims0.txt", "claims1.txt", "ledger.txt"):
        assert name in told
