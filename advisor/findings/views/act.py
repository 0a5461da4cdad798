"""Act on the findings that are ticked in the list or in a plan: a state, or an owner, for all of them."""

from datetime import date

from django import forms
from django.contrib import messages
from django.db.models import Q
from django.http import HttpResponse, QueryDict
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_POST

from advisor.accounts.models import Role, User
from advisor.core.access import teams_of
from advisor.core.jinja import counted
from advisor.core.records import Refused
from advisor.core.views import Asked, numbers_of, workers_only
from advisor.findings.services import states
from advisor.findings.services.listing import Filter
from advisor.findings.services.selection import Selection

ACTS = {
    "plan": "Plan the change",
    "accept": "Accept until a day",
    "change-made": "Change made",
    "reopen": "Open again",
    "assign": "Assign",
}
SAID = {
    "plan": "planned",
    "accept": "accepted",
    "change-made": "waiting for proof",
    "reopen": "open again",
    "assign": "assigned",
}


class ActForm(forms.Form):
    """What is done, with which findings; the services say what is missing."""

    do = forms.ChoiceField(choices=tuple(ACTS.items()))
    until = forms.DateField(required=False)
    why = forms.CharField(required=False, max_length=states.LONGEST_WHY)
    owner = forms.ModelChoiceField(User.objects.filter(is_active=True), required=False)


LONGEST_QUERY = 20_000
"""Characters of the address one goes back to: five hundred systems are half of it."""


@require_POST
@workers_only
def act(request: Asked) -> HttpResponse:
    """Do it with all or with none, and go back to the list as it was filtered, or to the plan of the same systems.

    A `pick` is the number of a finding, or several with commas between them.
    """
    picked = numbers_of(request.POST, "pick")
    form = ActForm(request.POST)
    if not picked:
        messages.error(request, "Tick the findings first.")
    elif not form.is_valid():
        wrong = "; ".join(f"{name}: {' '.join(map(str, said))}" for name, said in form.errors.items())
        messages.error(request, f"Nothing was done. {wrong}")
    else:
        _do(request, picked, **form.cleaned_data)
    return redirect(_back(request))


def _back(request: Asked) -> str:
    """The page that the form stood on, as its address was."""
    query = QueryDict(request.POST.get("query", "")[:LONGEST_QUERY])
    if request.POST.get("page") == "plan":
        return f"{reverse('plan')}?{Selection.read(query).query()}"
    return f"{reverse('findings')}?{Filter.read(query.dict()).query()}"


def _do(request: Asked, picked: list[int], do: str, until: date | None, why: str, owner: User | None) -> None:
    try:
        if do == "accept":
            count = states.accept(request.user, picked, until, why, request=request)
        elif do == "assign":
            count = states.assign(request.user, picked, owner, request=request)
        else:
            decide = {"plan": states.plan, "change-made": states.change_made, "reopen": states.reopen}[do]
            count = decide(request.user, picked, why, request=request)
    except Refused as refused:
        messages.error(request, f"Nothing was done. {refused}")
        return
    to = f" to {owner.username if owner else 'nobody'}" if do == "assign" else ""
    messages.success(request, f"{counted(count, 'finding')} {SAID[do]}{to}.")


def owners(user: User) -> list[User]:
    """The people that this person may assign findings to: of each team those who may work for it."""
    may = Q(role=Role.ADMINISTRATOR) | Q(role=Role.DBA, teams__in=teams_of(user))
    return list(User.objects.filter(may, is_active=True).distinct().order_by("username"))
