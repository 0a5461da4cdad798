"""The what-if of the lock tables: a form whose address can be passed on, and its answers. Nothing is scripted here."""

from django.http import HttpResponse

from advisor.services.openvms.hash_pictures import pictures_of
from advisor.services.openvms.what_if import UNPROVEN, answer
from advisor.web.kit import Asked, page
from advisor.web.openvms.kit import audit_for, head


def show(request: Asked, pk: int) -> HttpResponse:
    """Show it with what the address asks for: a figure for each field."""
    audit, kept = audit_for(request, pk)
    given = {name: str(value) for name, value in request.GET.items()}
    answered = answer(kept.facts, audit, given)
    context = {
        **head(audit, kept, "openvms-what-if"),
        "answered": answered,
        "pictures": pictures_of(answered),
        "unproven": UNPROVEN,
    }
    return page(request, "openvms/what_if.html", context)
