"""Every limit that was set in place of a rule's own, for the site or a system."""

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_POST

from advisor.models import LimitSetting
from advisor.services.limits import take_back_limit
from advisor.services.rulebook import rulebook
from advisor.web.kit import Asked, administrators_only, page, paged


@administrators_only
def listing(request: Asked) -> HttpResponse:
    """List them beside the rules' own: the site's first, then by system."""
    own = {f"{one['rule']}.{limit['limit']}": (one["rule"], limit) for one in rulebook() for limit in one["limits"]}
    settings = LimitSetting.objects.select_related("system__team", "by").order_by("name", "system__name", "pk")
    some = paged(request, settings)
    rows: list[dict[str, Any]] = []
    for setting in some:
        rule, limit = own.get(setting.name, (None, None))
        rows.append({"setting": setting, "rule": rule, "limit": limit})
    return page(request, "administration/limits.html", {"rows": rows, "some": some})


@administrators_only
@require_POST
def take_back(request: Asked, pk: int) -> HttpResponse:
    """Go back to the rule's own limit, or for a system to the site's."""
    setting = get_object_or_404(LimitSetting, pk=pk)
    take_back_limit(setting.name, request.user, system=setting.system, request=request)
    messages.success(request, f"{setting.name} is taken back; the audits it concerns are made again.")
    return redirect("administration-limits")
