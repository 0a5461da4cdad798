"""Mail while the server is away, slow or refusing, and while workers die: each mail comes, and comes once."""

import os
import signal
import time
from collections.abc import Iterator

import pytest

from tests.faults.conftest import Crew, Measured
from tests.faults.exports import sysmon
from tests.faults.plant import Plant
from tests.faults.postbox import OPEN, Postbox
from tests.faults.truth import assert_all_is_true, words_of
from tests.servers import PATIENCE, eventually


@pytest.fixture(scope="module")
def postbox() -> Iterator[Postbox]:
    box = Postbox()
    box.open()
    yield box
    box.hold = OPEN
    box.close()


@pytest.fixture(scope="module", autouse=True)
def _service(plant: Plant, crew: Crew, postbox: Postbox) -> None:
    plant.ask("mail_server", port=postbox.port)
    plant.worker("worker", "celery", processes=1)
    plant.worker("courier", "clock,mail", processes=2)
    plant.beat()
    plant.web()
    plant.ready()


@pytest.fixture
def put(plant: Plant, crew: Crew) -> "Put":
    return Put(plant, crew)


class Put:
    """Puts mails into the outbox, each to an address of its own."""

    def __init__(self, plant: Plant, crew: Crew) -> None:
        self.plant, self.crew = plant, crew

    def __call__(self, name: str, count: int) -> list[int]:
        made = []
        for number in range(count):
            address = f"{name}{number}@example.org"
            given = {"team": self.crew.team, "user": self.crew.user, "address": address}
            made.append(self.plant.ask("mail", recipient=self.plant.ask("recipient", **given)))
        return made


def states(plant: Plant, mails: list[int]) -> set[str]:
    return set(plant.rows("Mail", "state", pk__in=mails))


def came(plant: Plant, postbox: Postbox, mails: list[int]) -> list[int]:
    """How often each of them came."""
    return [postbox.times()[number] for number in plant.rows("Mail", "message_id", pk__in=mails)]


def nothing_waits(plant: Plant) -> None:
    eventually(lambda: not plant.rows("Mail", "pk", state__in=("waiting", "running")))


def sender(plant: Plant) -> int:
    """The process that sends at this moment."""
    claimant = plant.one("Lease", "claimant", name="mail")
    return int(claimant.split("/")[1].split(".")[0])


def test_a_server_that_is_away_and_comes_back(plant: Plant, postbox: Postbox, put: Put, measured: Measured) -> None:
    postbox.close()
    mails = put("away", 3)
    eventually(lambda: plant.rows("Site", "pk", mail_down_since__isnull=False))
    eventually(lambda: states(plant, mails) == {"waiting"})
    assert plant.rows("Mail", "tries", pk__in=mails) == [0, 0, 0]
    told = plant.one("Site", "mail_down_says").splitlines()[0]
    assert told in words_of(plant, "/mail/outbox/")
    postbox.open()
    plant.ask("change", model="Site", where={}, values={"mail_down_until": None})  # half a minute has passed
    back = time.monotonic()
    eventually(lambda: states(plant, mails) == {"done"})
    measured("the mail server is back and tried: 3 mails sent", time.monotonic() - back)
    assert came(plant, postbox, mails) == [1, 1, 1]
    assert plant.rows("Site", "mail_down_since") == [None]


def test_a_worker_killed_before_the_mail_was_handed_over(
    plant: Plant, postbox: Postbox, put: Put, measured: Measured
) -> None:
    postbox.close_at("RCPT", "before")
    mails = put("before", 3)
    assert postbox.held.wait(PATIENCE)
    os.kill(sender(plant), signal.SIGKILL)
    killed = time.monotonic()
    postbox.hold = OPEN
    eventually(lambda: states(plant, mails) == {"done"})
    measured("a worker's process killed while it sends: 3 mails sent", time.monotonic() - killed)
    assert came(plant, postbox, mails) == [1, 1, 1]
    assert plant.rows("Mail", "again", pk__in=mails) == [0, 0, 0]


def test_a_worker_killed_between_the_last_line_and_the_answer(plant: Plant, postbox: Postbox, put: Put) -> None:
    """The one moment in which nobody can know: the mail is sent again, under the same Message-ID, and says so."""
    postbox.close_at("DATA", "between")
    mails = put("between", 3)
    assert postbox.held.wait(PATIENCE)
    plant.part("courier").kill()
    postbox.hold = OPEN
    plant.worker("courier", "clock,mail", processes=2)
    eventually(lambda: states(plant, mails) == {"done"})
    assert sorted(came(plant, postbox, mails)) == [1, 1, 2]
    assert sorted(plant.rows("Mail", "again", pk__in=mails)) == [0, 0, 1]


def test_a_slow_server_keeps_nobody_else_waiting(plant: Plant, postbox: Postbox, put: Put, measured: Measured) -> None:
    postbox.close_at("DATA", "slow")
    mails = put("slow", 4)
    assert postbox.held.wait(PATIENCE)
    upload = plant.bring(sysmon("MEANWHILE"))
    since = time.monotonic()
    eventually(lambda: plant.done(upload))
    measured("a mail server that does not answer: an upload meanwhile is audited", time.monotonic() - since)
    assert "running" in states(plant, mails)
    postbox.hold = OPEN
    eventually(lambda: states(plant, mails) == {"done"})
    assert came(plant, postbox, mails) == [1, 1, 1, 1]
    eventually(lambda: plant.rows("Mail", "pk", system__name="MEANWHILE", state="done"))  # it is told everybody else
    nothing_waits(plant)


def test_a_refused_recipient_is_told_and_keeps_the_others_from_nothing(
    plant: Plant, postbox: Postbox, put: Put
) -> None:
    postbox.refuse = {"refused1@example.org": "550 5.1.1 no such user"}
    mails = put("refused", 3)
    eventually(lambda: states(plant, mails) == {"done", "failed"})
    eventually(lambda: plant.rows("Mail", "state", pk__in=mails) == ["done", "failed", "done"])
    assert came(plant, postbox, mails) == [1, 0, 1]
    assert "no such user" in plant.one("Recipient", "refused", address="refused1@example.org")
    assert "no such user" in words_of(plant, f"/mail/outbox/{mails[1]}/")
    nothing_waits(plant)
    assert_all_is_true(plant)
