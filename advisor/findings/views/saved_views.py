"""Keep a filter of the list, and let it go again."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.views.decorators.http import require_POST

from advisor.core.views import Asked, refusal_told
from advisor.findings.services import saved_views


@require_POST
def save(request: Asked) -> HttpResponse:
    """Keep the filter that the page shows under a name."""
    with refusal_told(request):
        view = saved_views.save(request.user, request.POST.get("name", ""), request.POST.get("query", ""))
        messages.success(request, f"The view {view.name} is kept.")
        return redirect(f"{reverse('findings')}?{view.query}")
    return redirect("findings")


@require_POST
def remove(request: Asked, pk: int) -> HttpResponse:
    """Let a view of one's own go."""
    view = get_object_or_404(request.user.saved_views, pk=pk)
    view.delete()
    messages.success(request, f"The view {view.name} is removed.")
    return redirect(f"{reverse('findings')}?{view.query}")
