"""Add a data source, and change one."""

from django.contrib import messages
from django.db import transaction
from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters, sensitive_variables

from advisor.accounts.models import Team
from advisor.core.access import teams_of
from advisor.core.records import there
from advisor.core.views import Asked, page, refusal_in, workers_only
from advisor.schedules.models import DataSource
from advisor.schedules.source_forms import SourceForm
from advisor.schedules.source_views.one import for_work
from advisor.schedules.sources import data_sources
from advisor.schedules.views.changing import team_of

SECRETS = ("password", "odbc")


@sensitive_post_parameters(*SECRETS)
@never_cache
@workers_only
@sensitive_variables()
def add(request: Asked) -> HttpResponse:
    """Add one in the team `?team=`; `?system=` is what it is of, if the team has it."""
    team = team_of(request)
    if team is None:
        return page(request, "schedules/team.html", {"teams": list(teams_of(request.user)), "what": "source"})
    form = SourceForm(request.POST or None, team=team, system=request.GET.get("system", ""))
    if request.method == "POST" and form.is_valid():
        with refusal_in(form), transaction.atomic():
            source = _made(request, form)
            messages.success(request, f"{source.name} is added. Try whether it can be asked.")
            return redirect("source", source.pk)
    return _form(request, form, team, None)


@sensitive_post_parameters(*SECRETS)
@never_cache
@there
@sensitive_variables()
def change(request: Asked, pk: int) -> HttpResponse:
    """Change it; its password is not shown."""
    source = for_work(request, pk)
    form = SourceForm(request.POST or None, team=source.system.team, source=source)
    if request.method == "POST" and form.is_valid():
        with refusal_in(form):
            changed = data_sources.change(source, form.wish(), request.user, request)
            messages.success(request, f"Kept as you have it now: {', '.join(changed) or 'nothing is changed'}.")
            return redirect("source", pk)
    return _form(request, form, source.system.team, source)


@sensitive_variables()
def _made(request: Asked, form: SourceForm) -> DataSource:
    given = form.cleaned_data
    system = form.chosen() or data_sources.system_for(
        form.team, given["product"], given["new_system"], request.user, request
    )
    return data_sources.make(system, form.wish(), request.user, request)


def _form(request: Asked, form: SourceForm, team: Team, source: DataSource | None) -> HttpResponse:
    context = {"form": form, "team": team, "source": source}
    return page(request, "schedules/source_form.html", context, 400 if form.errors else 200)
