"""Give a system another name, merge it into another one, or forget it."""

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_POST

from advisor.core.access import may_work_for, systems_of
from advisor.core.views import Asked, refusal_told
from advisor.systems.models import System
from advisor.systems.services.systems import forget_system, let_go_of_name, rename_system
from advisor.uploads.services.uploads import clean_text


@require_POST
def rename(request: Asked, pk: int) -> HttpResponse:
    """Give it the name `name`; with `merge` into the system that has it already."""
    system = _for_work(request, pk)
    before, merge = system.name, bool(request.POST.get("merge"))
    with refusal_told(request, "Not renamed: {}."):
        now = rename_system(system, request.POST.get("name", ""), request.user, merge=merge, request=request)
        merged = f"{before} is merged into {now.name}." if now.pk != pk else f"{before} is called {now.name} now."
        messages.success(request, merged)
        return redirect("system", now.pk)
    return redirect("system", pk)


@require_POST
def let_go(request: Asked, pk: int) -> HttpResponse:
    """Let it no longer answer to the former name `name`."""
    system = _for_work(request, pk)
    name = request.POST.get("name", "")
    with refusal_told(request, "Nothing let go: {}."):
        let_go_of_name(system, name, request.user, request=request)
        messages.success(request, f"{clean_text(name, 120)} is not a name of {system.name} any more.")
    return redirect("system", pk)


@require_POST
def forget(request: Asked, pk: int) -> HttpResponse:
    """Forget it with all that is known of it; `name` must be its name."""
    system = _for_work(request, pk)
    with refusal_told(request, "Not forgotten: {}."):
        forget_system(system, request.POST.get("name", ""), request.user, request=request)
        messages.success(request, f"{system.name} is forgotten. Its uploads are kept; read again, they make it anew.")
        return redirect("overview")
    return redirect("system", pk)


def _for_work(request: Asked, pk: int) -> System:
    """The system, for somebody who may change it; of another team it does not exist."""
    system = get_object_or_404(systems_of(request.user).select_related("team"), pk=pk)
    if not may_work_for(request.user, system.team):
        raise PermissionDenied("Your role reads. Ask an administrator for the role of a DBA.")
    return system
