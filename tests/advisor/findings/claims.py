"""CLAIMS1 of the story `address_lock_storm` on days of February 2026, and its finding on address locks."""

import io

from django.db import transaction

from advisor.findings.models import TrackedFinding
from advisor.uploads.models import Upload
from advisor.uploads.services.uploads import Brought, ingest
from tests.advisor.audits.compared.states import exports
from tests.advisor.people import People

ADDRESS = "ase/address_lock_spinlock_contended"


def bring_day(people: People, number: int, *replaced: tuple[str, str], spread: bool, xacts: float) -> Upload:
    """Bring its exports of a day, some texts of them replaced; they are read when the transaction is through."""
    texts = exports(number - 11, xacts, spread=spread)
    for old, new in replaced:
        assert any(old in text for text in texts.values()), old
        texts = {name: text.replace(old, new) for name, text in texts.items()}
    with transaction.atomic():
        brought = [Brought(name, io.BytesIO(text.encode())) for name, text in texts.items()]
        return ingest(brought, people.team, people.owner).upload


def first_day(people: People) -> None:
    """Bring those of 11 February, for the tests of a module that begin with them."""
    bring_day(people, 11, spread=False, xacts=307.0)


def followed(rule: str = ADDRESS) -> TrackedFinding:
    """What is followed of a rule that has one finding."""
    return TrackedFinding.objects.get(rule=rule)


def told(row: TrackedFinding) -> list[tuple[str, str]]:
    """What was told of it, oldest first."""
    return [(one.kind, one.text) for one in row.events.order_by("id")]
