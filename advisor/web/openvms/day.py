"""The day of a capture: curves with the findings marked on them, and the figures behind them."""

from django.http import HttpResponse

from advisor.services.openvms.day import day_view
from advisor.web.kit import Asked, page
from advisor.web.openvms.kit import audit_for, head
from collectors.facts.openvms import Curve


def show(request: Asked, pk: int) -> HttpResponse:
    """Show it: `?export=` the number of an export, where several have curves."""
    audit, kept = audit_for(request, pk)
    shown = day_view(audit, kept.facts, request.GET.get("export", ""))
    context = {**head(audit, kept, "openvms-day"), "shown": shown, "bring": (Curve.BRING,)}
    return page(request, "openvms/day.html", context)
