"""What is followed of the findings of an audit: their states beside them, and the way to their pages."""

from advisor.audits.models import Audit
from advisor.findings.models import TrackedFinding


def pages_of(audit: Audit) -> dict[str, TrackedFinding]:
    """What is followed of the findings of an audit, by the finding's key; one query."""
    rows = TrackedFinding.objects.filter(system=audit.system_id, key__in=audit.findings.order_by().values("key"))
    return {row.key: row for row in rows.select_related("owner", "state_by")}
