"""What the three views of an ASE capture share: the audit, and what is shown of its capture."""

from typing import Any

from advisor.models import Audit
from advisor.services.ase.stored import Views, views_of
from advisor.web import captured
from advisor.web.kit import Asked


def audit_for(request: Asked, pk: int) -> tuple[Audit, Views]:
    """The audit, if it is this person's to see and of an ASE, and what is shown of its capture."""
    audit = captured.audit_of(request, pk, "ase")
    return audit, views_of(audit.capture)


def head(audit: Audit, views: Views, here: str) -> dict[str, Any]:
    """What the top of each view needs; `here` is the name of its address."""
    return captured.head(audit, views.problems, here)
