"""Who gets mail: the recipients of one's teams, added, changed, stopped, resumed and removed."""

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db.models import OuterRef, Subquery
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST

from advisor.accounts.models import Team
from advisor.core.access import may_work_for, recipients_of, systems_of, teams_of
from advisor.core.models import Site
from advisor.core.views import Asked, numbers_of, page, paged, refusal_in, refusal_told
from advisor.notifications.forms import AddForm, RecipientForm
from advisor.notifications.models import Mail, Recipient
from advisor.notifications.services import mail_server, recipients, subscribers
from advisor.notifications.services.preferences import in_words
from advisor.systems.models import System

SHOWN_MAILS = 10
OWN_ALONE = "Your role has mail sent to yourself alone. Ask somebody with the role of a DBA."
ALL = "all systems"
NAMES = 4
"""Systems and groups that are named in a row of the list."""


def listing(request: Asked) -> HttpResponse:
    """List the recipients of one's teams: what each gets, and what became of the last mail."""
    last = Mail.objects.filter(recipient=OuterRef("pk"), size__gt=0).order_by("-created", "-pk").values("pk")[:1]
    found = recipients_of(request.user).select_related("team", "user").prefetch_related("systems", "groups")
    shown = paged(request, found.annotate(last=Subquery(last)).order_by("team__name", "address"))
    some: list[Any] = list(shown)
    context = {
        "rows": [_row(one) for one in some],
        "shown": shown,
        "last": Mail.objects.defer("message").in_bulk([one.last for one in some if one.last]),
        "belonging": set(subscribers.belonging().filter(pk__in=[one.pk for one in some]).values_list("pk", flat=True)),
        "server": mail_server.state_of_server(Site.get()),
        "teams": teams_of(request.user).count(),
    }
    return page(request, "notifications/recipients.html", context)


@never_cache
def add(request: Asked) -> HttpResponse:
    """Add one to the team that `?team=` names; who is in one team is not asked.

    `?system=`: the systems it is to be about, chosen beforehand. Where one's own address has mail of the team already,
    these are offered at that recipient, since an address is there once.
    """
    teams = list(teams_of(request.user))
    wanted = list(systems_of(request.user).filter(pk__in=numbers_of(request.GET, "system")).order_by("name"))
    team = _team(request, teams, wanted)
    if team is None:
        return page(request, "notifications/choose_team.html", {"teams": teams, "wanted": wanted})
    of_team = [one.pk for one in wanted if one.team_id == team.pk]
    own = recipients_of(request.user).filter(team=team, address__iexact=request.user.email or "-").first()
    if of_team and own and request.method != "POST":
        messages.warning(request, f"{own.address} gets mail about {team.name} already: these systems are chosen below.")
        return redirect(f"{reverse('letter-recipient', args=[own.pk])}?{urlencode({'system': of_team}, doseq=True)}")
    data = request.POST if request.method == "POST" else None
    new = Recipient(team=team, zone=settings.TIME_ZONE)
    form = AddForm(data, instance=new, initial={"address": _own_address(request, team)}, systems=of_team)
    if form.is_valid():
        systems, groups = form.chosen()
        with refusal_in(form):
            made = recipients.make(new, request.user, systems=systems, groups=groups, request=request)
            about = _about(made)
            whose = f"all systems of {team.name}" if about == ALL else about
            messages.success(request, f"{made.address} gets mail about {whose}, from the next audit on.")
            return redirect("letters")
    others = [one for one in wanted if one.team_id != team.pk]
    context = {
        "form": form,
        "team": team,
        "others": others,
        "several": len(teams) > 1,
        "any": may_work_for(request.user, team),
        "server": mail_server.state_of_server(Site.get()),
    }
    return page(request, "notifications/add.html", context, 400 if form.errors else 200)


@never_cache
def edit(request: Asked, pk: int) -> HttpResponse:
    """Show what a recipient gets, and change it."""
    recipient = get_object_or_404(recipients_of(request.user).select_related("team", "user", "by"), pk=pk)
    allowed = recipients.may_change(request.user, recipient)
    if request.method == "POST" and not allowed:
        raise PermissionDenied(OWN_ALONE)
    data = request.POST if request.method == "POST" else None
    gets = in_words(recipient)
    wanted = System.objects.filter(team=recipient.team, pk__in=numbers_of(request.GET, "system"))
    form = RecipientForm(data, instance=recipient, systems=[one.pk for one in wanted])
    if form.is_valid():
        systems, groups = form.chosen()
        with refusal_in(form):
            said = recipients.change(
                recipient,
                request.user,
                systems=systems,
                groups=groups,
                of_all=form.cleaned_data.get("of_all", False),
                request=request,
            )
            messages.success(request, f"{recipient.address}: {'; '.join(said) or 'nothing was changed'}.")
            return redirect("letter-recipient", pk)
    context = {
        "form": form,
        "recipient": recipient,
        "allowed": allowed,
        "gets": gets,
        "belongs": subscribers.belongs(recipient),
        "about": subscribers.about(recipient),
        "mails": Mail.objects.filter(recipient=recipient, size__gt=0).defer("message")[:SHOWN_MAILS],
    }
    return page(request, "notifications/recipient.html", context, 400 if form.errors else 200)


@require_POST
def stop(request: Asked, pk: int) -> HttpResponse:
    """Send nothing more."""
    recipient = _to_change(request, pk)
    if recipients.stop(recipient, request.user, request=request):
        messages.success(request, f"{recipient.address} gets nothing more, until it is resumed.")
    return redirect("letter-recipient", pk)


@require_POST
def resume(request: Asked, pk: int) -> HttpResponse:
    """Send again from now on."""
    recipient = _to_change(request, pk)
    with refusal_told(request):
        if recipients.resume(recipient, request.user, request=request):
            messages.success(request, f"{recipient.address} gets mail again, from the next audit on.")
    return redirect("letter-recipient", pk)


@require_POST
def remove(request: Asked, pk: int) -> HttpResponse:
    """Forget one."""
    recipient = _to_change(request, pk)
    recipients.remove(recipient, request.user, request=request)
    messages.success(request, f"{recipient.address} is removed: the links in its mails open nothing any more.")
    return redirect("letters")


def _row(recipient: Recipient) -> dict[str, Any]:
    """One row: the recipient, and in words what it is about and gets."""
    return {"one": recipient, "about": _about(recipient), "gets": in_words(recipient)}


def _about(recipient: Recipient) -> str:
    """The first systems and groups that it is about, by name."""
    names = [one.name for one in recipient.systems.all()] + [f"group {one.name}" for one in recipient.groups.all()]
    more = [f"and {len(names) - NAMES} more"] if len(names) > NAMES else []
    of_none = recipients.NOTHING if recipient.left_alone else ALL
    return ", ".join([*names[:NAMES], *more]) or of_none


def _to_change(request: Asked, pk: int) -> Recipient:
    """The recipient, for somebody who may change it; of another team it does not exist."""
    recipient = get_object_or_404(recipients_of(request.user).select_related("team"), pk=pk)
    if not recipients.may_change(request.user, recipient):
        raise PermissionDenied(OWN_ALONE)
    return recipient


def _team(request: Asked, teams: list[Team], wanted: list[System]) -> Team | None:
    """The team that was asked for, that of all systems chosen beforehand, or the only one; `None`: to be chosen."""
    asked = request.GET.get("team", "")
    if asked:
        found = next((team for team in teams if str(team.pk) == asked), None)
        if found is None:
            raise Http404
        return found
    of_wanted = {one.team_id for one in wanted}
    fitting = [team for team in teams if team.pk in of_wanted] or teams
    return fitting[0] if len(fitting) == 1 else None


def _own_address(request: Asked, team: Team) -> str:
    """One's own address, unless it gets mail of the team already."""
    own = request.user.email
    return "" if Recipient.objects.filter(team=team, address__iexact=own).exists() else own
