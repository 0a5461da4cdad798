"""A key for passwords, and a system to ask."""

import pytest
from pytest_django import Settings

from advisor.systems.models import System
from tests.advisor.people import People
from tests.advisor.schedules.scheduling import make_system
from tests.advisor.schedules.sources.asked import KEY


@pytest.fixture(autouse=True)
def _key(settings: Settings) -> None:
    settings.SOURCE_KEYS = [KEY]


@pytest.fixture
def system(people: People) -> System:
    """The system that the server of `tests.live` is, release 16.0."""
    return make_system(people.team, "TIDEWAY")
