"""The page of the source documents: each table and figure, what is made of it, and the test that holds it to that."""

from django.http import HttpResponse

from advisor.services.documents import documents, platforms
from advisor.web.kit import Asked, page


def show(request: Asked) -> HttpResponse:
    """List them, document by document, and the comparison of platforms below."""
    found = documents()
    entries = [entry for one in found for entry in one["entries"]]
    context = {
        "documents": found,
        "count": len(entries),
        "missing": sum(entry["figures_missing"] for entry in entries),
        "slips": sum(entry["slip"] is not None for entry in entries),
        "platforms": platforms(),
    }
    return page(request, "documents.html", context)
