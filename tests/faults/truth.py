"""What must be true when a fault is over: nothing lost, nothing double, and the pages and the API say what is."""

import math
import re
from collections import Counter
from html import unescape

from advisor.systems.views.overview import A_PAGE
from tests.faults.plant import Plant
from tests.servers import eventually


def assert_all_is_true(plant: Plant) -> None:
    """Compare the database with itself, and with what the API and the pages say of it."""
    amiss = {what: found for what, found in plant.ask("truth").items() if found}
    assert not amiss
    systems = plant.rows("System", "pk", "name", "latest")
    listed = plant.api("/api/systems?limit=200")["items"]
    assert sorted((row["id"], row["name"], row["audit"]) for row in listed) == sorted(map(tuple, systems))[:200]
    pages = range(1, 1 + max(1, math.ceil(len(systems) / A_PAGE)))
    overview = "".join(plant.page(f"/?page={number}") for number in pages)
    for _, name, audit in systems:
        assert name in overview
        assert audit is None or f"/audits/{audit}/" in overview
    uploads = words_of(plant, "/uploads/")
    for pk, state, error in plant.rows("Upload", "pk", "state", "error")[-20:]:
        assert re.search(rf"\bUpload {pk} .*?\b{state}\b", uploads), (pk, state)
        assert " ".join(error.split()) in uploads
        told = plant.api(f"/api/uploads/{pk}")
        assert (told["state"], told["error"]) == (state, error)
    eventually(lambda: _mails_are_told(plant), "the pages of the outbox count the mails there are")


def _mails_are_told(plant: Plant) -> bool:
    """Whether the outbox counts the mails as the database does; they may be on their way between two looks."""
    mails = Counter(plant.rows("Mail", "state"))
    for state in ("waiting", "running", "done", "failed", "skipped"):
        count = mails[state]
        said = f"{count} {'mail' if count == 1 else 'mails'}, newest first" if count else "No mail fits"
        if said not in words_of(plant, f"/mail/outbox/?state={state}"):
            return False
    return True


def words_of(plant: Plant, path: str) -> str:
    """What a page says, in one line."""
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", plant.page(path))).split())
