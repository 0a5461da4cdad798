"""The service's Celery application as the workers of these tests start it, with a collector of their own.

A worker that is to move the file whose name stands in `hold` says so by `held`, and waits as long as `hold` is there:
a file is moved too fast for a test to be there in time.
"""

import sys
import time
from typing import Any

from django.conf import settings

from advisor.config.celery import app
from tests.faults import collectors

__all__ = ["app", "collectors"]
HOLD, HELD = settings.RUN_DIR / "hold", settings.RUN_DIR / "held"


def wait_for_test(event: str, given: tuple[Any, ...]) -> None:
    """Wait where the test says."""
    if event == "os.rename":
        while HOLD.exists() and HOLD.read_text() == given[0]:
            HELD.touch()
            time.sleep(0.01)


sys.addaudithook(wait_for_test)
