"""The what-if: a form whose address can be passed on, and its answers. Nothing is changed and no script is printed."""

from django.http import HttpResponse

from advisor.services.ase.what_if.asking import MOST_OBJECTS, answer
from advisor.web.ase.kit import audit_for, head
from advisor.web.kit import Asked, page


def show(request: Asked, pk: int) -> HttpResponse:
    """Show it with what the address asks for: a field for each setting, `move=` for each object."""
    audit, views = audit_for(request, pk)
    given = {name: str(value) for name, value in request.GET.items()}
    moved = [name[:800] for name in request.GET.getlist("move")[:MOST_OBJECTS]]
    answered = answer(views.facts, views.caches, views.contents, audit, given, moved)
    return page(request, "ase/what_if.html", {**head(audit, views, "ase-what-if"), "answered": answered})
