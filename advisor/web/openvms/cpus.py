"""The CPU map: cores, co-threads, what runs on which CPU, and where the lock manager is to sit."""

from django.http import HttpResponse

from advisor.services.openvms.cpu_picture import drawn
from advisor.services.openvms.cpus import RULES, cpu_map
from advisor.services.openvms.said import said_of
from advisor.web.kit import Asked, page
from advisor.web.openvms.kit import audit_for, head


def show(request: Asked, pk: int) -> HttpResponse:
    """Show it."""
    audit, kept = audit_for(request, pk)
    shown = cpu_map(kept.facts)
    context = {
        **head(audit, kept, "openvms-cpus"),
        "shown": shown,
        "picture": drawn(shown) if shown.cores else None,
        "verdicts": said_of(audit, RULES),
    }
    return page(request, "openvms/cpus.html", context)
