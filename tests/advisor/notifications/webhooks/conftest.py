"""How long a delivery waits is counted by a clock that stands, so that it does not matter how long a test takes."""

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
import time_machine


@pytest.fixture(autouse=True)
def _still() -> Iterator[None]:
    with time_machine.travel(datetime.now(UTC), tick=False):
        yield
