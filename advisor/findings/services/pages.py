"""What is followed of findings that audits have: their states beside them, and the way to their pages."""

from collections.abc import Iterable
from typing import Any

from advisor.audits.models import Audit, Finding
from advisor.findings.models import TrackedFinding


def pages_of(audit: Audit) -> dict[str, TrackedFinding]:
    """What is followed of the findings of an audit, by the finding's key; one query."""
    rows = TrackedFinding.objects.filter(system=audit.system_id, key__in=audit.findings.order_by().values("key"))
    return {row.key: row for row in rows.select_related("owner", "state_by")}


def state_of(row: TrackedFinding) -> dict[str, Any]:
    """The state of a finding as the contract names it, in the service's API alone."""
    return {
        "state": row.state,
        "state_until": row.state_until.isoformat() if row.state_until else None,
        "state_why": row.state_why,
        "owner": row.owner.username if row.owner else None,
        "back_if": row.back_if,
    }


def with_states(findings: Iterable[Finding]) -> list[dict[str, Any]]:
    """Findings as the contract prints them, each with its state of now, and as `followed` the number of its page."""
    some = list(findings)
    rows = TrackedFinding.objects.filter(
        system__in={one.system_id for one in some}, key__in={one.key for one in some}
    ).select_related("owner")
    known = {(row.system_id, row.key): row for row in rows}
    told = []
    for one in some:
        row = known.get((one.system_id, one.key))
        told.append({**one.data, **(state_of(row) if row else {}), "followed": row.pk if row else None})
    return told
