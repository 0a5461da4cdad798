"""Teams: add, rename, delete."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_POST

from advisor.accounts.forms import TeamForm
from advisor.accounts.models import Team
from advisor.accounts.services import people
from advisor.core.views import Asked, administrators_only, page, refusal_in, refusal_told


@administrators_only
def add(request: Asked) -> HttpResponse:
    """Add a team."""
    form = TeamForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        with refusal_in(form, "name"):
            team = people.add_team(form.cleaned_data["name"], request.user, request)
            messages.success(request, f"Team {team.name} is added; now put people in it.")
            return redirect("administration")
    return page(request, "accounts/team.html", {"form": form, "team": None})


@administrators_only
def edit(request: Asked, pk: int) -> HttpResponse:
    """Rename a team, and offer to delete it where it owns nothing."""
    team = get_object_or_404(Team, pk=pk)
    form = TeamForm(request.POST or None, initial={"name": team.name})
    if request.method == "POST" and form.is_valid():
        with refusal_in(form, "name"):
            people.rename_team(team, form.cleaned_data["name"], request.user, request)
            messages.success(request, f"The team is called {form.cleaned_data['name']}.")
            return redirect("administration")
    context = {
        "form": form,
        "team": team,
        "systems": team.systems.count(),
        "uploads": team.uploads.count(),
        "people": team.users.all(),
    }
    return page(request, "accounts/team.html", context)


@administrators_only
@require_POST
def delete(request: Asked, pk: int) -> HttpResponse:
    """Delete a team that owns nothing."""
    team = get_object_or_404(Team, pk=pk)
    with refusal_told(request):
        people.delete_team(team, request.user, request)
        messages.success(request, f"Team {team.name} is deleted.")
        return redirect("administration")
    return redirect("administration-team", pk)
