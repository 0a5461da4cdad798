"""Add a recipient, or change what one gets."""

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.cache import never_cache

from advisor.models import Mail, Recipient, Team
from advisor.services.access import may_work_for, recipients_of, teams_of
from advisor.services.mailing import audience, recipients
from advisor.services.mailing.wishes import Refused, in_words, wishes_of
from advisor.web.kit import Asked, page
from advisor.web.letters.forms import AddForm, RecipientForm

SHOWN_MAILS = 10
OWN_ALONE = "Your role has mail sent to yourself alone. Ask somebody with the role of a DBA."


@never_cache
def add(request: Asked) -> HttpResponse:
    """Add one to the team that `?team=` names; who is in one team is not asked."""
    teams = list(teams_of(request.user))
    team = _team(request, teams)
    if team is None:
        return page(request, "letters/choose_team.html", {"teams": teams})
    data = request.POST if request.method == "POST" else None
    form = AddForm(data, team=team, initial={"address": _own_address(request, team)})
    if form.is_valid():
        systems, groups = form.chosen()
        try:
            made = recipients.make(
                team,
                form.cleaned_data["address"],
                form.wishes(),
                request.user,
                systems=systems,
                groups=groups,
                request=request,
            )
        except Refused as refused:
            form.add_error(None, str(refused))
        else:
            messages.success(request, f"{made.address} gets mail about {team.name}, from the next audit on.")
            return redirect("letters")
    context = {"form": form, "team": team, "several": len(teams) > 1, "any": may_work_for(request.user, team)}
    return page(request, "letters/add.html", context, 400 if form.errors else 200)


@never_cache
def edit(request: Asked, pk: int) -> HttpResponse:
    """Show what a recipient gets, and change it."""
    recipient = get_object_or_404(recipients_of(request.user).select_related("team", "user", "by"), pk=pk)
    allowed = recipients.may_change(request.user, recipient)
    if request.method == "POST" and not allowed:
        raise PermissionDenied(OWN_ALONE)
    data = request.POST if request.method == "POST" else None
    form = RecipientForm(data, team=recipient.team, recipient=recipient)
    if form.is_valid():
        systems, groups = form.chosen()
        try:
            said = recipients.change(
                recipient,
                form.wishes(),
                request.user,
                systems=systems,
                groups=groups,
                of_all=form.cleaned_data.get("of_all", False),
                request=request,
            )
        except Refused as refused:
            form.add_error(None, str(refused))
        else:
            messages.success(request, f"{recipient.address}: {'; '.join(said) or 'nothing was changed'}.")
            return redirect("letter-recipient", pk)
    context = {
        "form": form,
        "recipient": recipient,
        "allowed": allowed,
        "gets": in_words(wishes_of(recipient)),
        "belongs": audience.belongs(recipient),
        "about": audience.about(recipient),
        "mails": Mail.objects.filter(recipient=recipient, size__gt=0).defer("message")[:SHOWN_MAILS],
    }
    return page(request, "letters/recipient.html", context, 400 if form.errors else 200)


def _team(request: Asked, teams: list[Team]) -> Team | None:
    """The team that was asked for, or the only one; `None`: it has to be chosen."""
    asked = request.GET.get("team", "")
    if asked:
        found = next((team for team in teams if str(team.pk) == asked), None)
        if found is None:
            raise Http404
        return found
    return teams[0] if len(teams) == 1 else None


def _own_address(request: Asked, team: Team) -> str:
    """One's own address, unless it gets mail of the team already."""
    own = request.user.email
    return "" if Recipient.objects.filter(team=team, address__iexact=own).exists() else own
