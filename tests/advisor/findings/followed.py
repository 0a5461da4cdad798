"""Followed findings for tests of the pages, made as they stand in the table."""

from datetime import timedelta
from itertools import count
from typing import Any

from django.utils import timezone

from advisor.findings.models import TrackedFinding
from advisor.systems.models import System

_numbers = count(1)


def followed(system: System, title: str = "Spinlocks are contended", **columns: Any) -> TrackedFinding:
    """One finding of a system: an open warning that stands, unless the columns say otherwise."""
    number = next(_numbers)
    seen = timezone.now() - timedelta(days=30)
    fields: dict[str, Any] = {
        **{"key": f"ase/made_up:{number}", "rule": "ase/made_up", "subject": f"object {number}", "title": title},
        **{"severity": 3, "when": "restart", "first_seen": seen, "last_seen": seen, "state_since": seen},
    }
    return TrackedFinding.objects.create(system=system, **(fields | columns))
