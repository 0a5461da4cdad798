"""What the views of an OpenVMS capture share: the audit, and the facts of its capture."""

from typing import Any

from advisor.models import Audit
from advisor.services.openvms.stored import Stored, stored
from advisor.web import captured
from advisor.web.kit import Asked


def audit_for(request: Asked, pk: int) -> tuple[Audit, Stored]:
    """The audit, if it is this person's to see and of an OpenVMS node, and the facts of its capture."""
    audit = captured.audit_of(request, pk, "openvms")
    return audit, stored(audit.capture)


def head(audit: Audit, kept: Stored, here: str) -> dict[str, Any]:
    """What the top of each view needs; `here` is the name of its address."""
    return captured.head(audit, kept.problems, here)
