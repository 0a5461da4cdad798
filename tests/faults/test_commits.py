"""How often an audit has the database commit: each costs a round trip to its host, or SQLite an fsync."""

from collections.abc import Iterator
from datetime import timedelta
from itertools import pairwise

import pytest

from advisor.uploads.services.process_upload import AT_A_TIME, TELL_EVERY
from tests.faults.conftest import Crew
from tests.faults.exports import many, sysmon
from tests.faults.gate import SAMPLES
from tests.faults.plant import Plant
from tests.faults.postbox import Postbox
from tests.faults.statements import LOGGED, Commit, commits
from tests.servers import Postgres, eventually

MOST = 10
"""Commits from the moment a worker takes an upload of one capture until its mail is sent."""

BETWEEN_NOTES = timedelta(seconds=TELL_EVERY, milliseconds=-1)
"""As the log of the server has it, which cuts its times."""


@pytest.fixture(scope="module")
def postbox() -> Iterator[Postbox]:
    box = Postbox()
    box.open()
    yield box
    box.close()


@pytest.fixture(scope="module", autouse=True)
def _service(plant: Plant, crew: Crew, postbox: Postbox) -> None:
    """Without a scheduler: what it starts every few seconds is no part of an audit."""
    plant.ask("mail_server", port=postbox.port)
    plant.ask("recipient", team=crew.team, user=crew.user, address="dba@example.org", everything=True)
    plant.worker("worker", "celery,mail", processes=1, **LOGGED)
    plant.web()
    plant.ready()


def committed(plant: Plant, database: Postgres, content: bytes) -> list[Commit]:
    """What the worker commits from taking an upload until the mail about its audit is sent."""
    start, had = database.log.stat().st_size, len(plant.rows("Mail", "pk"))
    upload = plant.bring(content)
    eventually(lambda: plant.done(upload) and len(plant.rows("Mail", "pk", state="done")) == had + 1)
    eventually(lambda: not plant.rows("Lease", "pk"), what="whoever sent the mail has ended")
    return commits(database.log, start)


def is_note(commit: Commit) -> bool:
    """Whether it is a note of progress alone, of which a page sees the last."""
    return commit.is_of("UPDATE", "uploads_upload") and "state" not in commit.statements[0].partition(" WHERE ")[0]


@pytest.mark.parametrize("number", [0, 1], ids=["a new system", "a known system"])
def test_an_audit_of_one_capture_and_its_mail_take_ten(number: int, plant: Plant, database: Postgres) -> None:
    name = f"ONE{number}"
    for before in range(number):
        committed(plant, database, sysmon(name, before))
    made = [one for one in committed(plant, database, sysmon(name, number)) if one.counts]
    for table in ("audits_audit", "notifications_mail"):
        assert len([one for one in made if one.has("INSERT", table)]) == 1, "the worker's statements are logged"
    notes = pairwise(filter(is_note, made))
    of_time = [note for before, note in notes if note.at - before.at >= BETWEEN_NOTES]  # of a slow machine
    assert len(made) - len(of_time) <= MOST, "\n".join(map(str, made))


def test_many_captures_are_kept_in_short_transactions_after_notes_of_progress(plant: Plant, database: Postgres) -> None:
    made = committed(plant, database, many("MANY", SAMPLES))
    assert [count for one in made if (count := one.count("INSERT", "audits_capture"))] == [AT_A_TIME, 1]
    kept = next(at for at, one in enumerate(made) if one.has("INSERT", "audits_capture"))
    notes = "\n".join(map(str, filter(is_note, made[:kept])))
    for column, value in {"unpacked_bytes": None, "captures_found": SAMPLES, "captures_judged": SAMPLES}.items():
        assert f'"{column}" = {value or ""}' in notes
