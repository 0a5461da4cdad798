"""What the captures of a system make over time: a rate by the load it was done with."""

from django.http import HttpResponse
from django.shortcuts import get_object_or_404

from advisor.services import history
from advisor.services.access import systems_of
from advisor.services.loads.over_time import LEAST_LOADS, over_time
from advisor.web.kit import Asked, page
from advisor.web.room import few_at_a_time
from rules.laws.derived import DEMAND


@few_at_a_time(4)
def show(request: Asked, pk: int) -> HttpResponse:
    """Show it, of the newest captures."""
    system = get_object_or_404(systems_of(request.user).only("pk", "name", "product"), pk=pk)
    seen = history.recent(system)
    context = {
        "system": system,
        "found": over_time(seen),
        "captures": len(seen),
        "most": history.MOST_CAPTURES,
        "demand": DEMAND,
        "least": LEAST_LOADS,
    }
    return page(request, "loads/system.html", context)
