"""One's own account: who one is here, and the tokens of one's scripts; for administrators those of everybody."""

from datetime import timedelta
from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST

from advisor.accounts.models import Team, Token, User
from advisor.accounts.services.tokens import (
    SCOPES,
    BadToken,
    make_token,
    revoke,
    scopes_for,
)
from advisor.core.views import (
    Asked,
    administrators_only,
    page,
    paged,
)
from advisor.notifications.models import Recipient
from advisor.notifications.services.preferences import in_words

DAYS = (("30", "in 30 days"), ("90", "in 90 days"), ("365", "in a year"), ("", "never"))


class TokenForm(forms.Form):
    """What a new token is to be."""

    name = forms.CharField(max_length=80, help_text="Which script uses it, and where.")
    scopes = forms.MultipleChoiceField(widget=forms.CheckboxSelectMultiple, label="It may")
    days = forms.ChoiceField(choices=DAYS, required=False, initial="90", label="It expires")

    def __init__(self, user: User, *args: Any, **kwargs: Any) -> None:
        """Offer the scopes this person's role reaches to."""
        super().__init__(*args, **kwargs)
        offered = [(scope, f"{scope}: {SCOPES[scope]}") for scope in scopes_for(user)]
        self.fields["scopes"].choices = offered  # type: ignore[attr-defined]
        self.fields["scopes"].initial = ["read"]


@never_cache
def show(request: Asked) -> HttpResponse:
    """Show the account, or make a token and show its secret: in this one answer, which no address gives again."""
    form = TokenForm(request.user, request.POST or None)
    made = secret = None
    if request.method == "POST" and form.is_valid():
        days = form.cleaned_data["days"]
        expires = timezone.now() + timedelta(days=int(days)) if days else None
        try:
            made, secret = make_token(
                request.user, form.cleaned_data["name"], form.cleaned_data["scopes"], expires, request=request
            )
        except BadToken as error:
            form.add_error(None, f"Not made: {error}.")
        else:
            form = TokenForm(request.user)
    context = {
        "form": form,
        "made": made,
        "secret": secret,
        "tokens": list(request.user.tokens.all()),
        "teams": list(request.user.teams.all()),
        "mail": _mail(request.user),
    }
    return page(request, "accounts/account.html", context, 400 if form.errors else 200)


def _mail(user: User) -> list[tuple[Team, Recipient | None, str]]:
    """Each team of a person, with what mail about its systems they get."""
    own = {one.team_id: one for one in user.recipients.select_related("team")}
    teams = {one.pk: one for one in user.teams.all()} | {one.team_id: one.team for one in own.values()}
    rows = sorted(teams.values(), key=lambda team: team.name)
    return [(team, one := own.get(team.pk), in_words(one) if one else "") for team in rows]


@require_POST
def take_back(request: Asked, pk: int) -> HttpResponse:
    """Revoke one of one's own tokens."""
    token = get_object_or_404(request.user.tokens, pk=pk)
    if revoke(token, request.user, request=request):
        messages.success(request, f"The token {token.name} opens nothing any more.")
    return redirect("account")


@administrators_only
def all_tokens(request: Asked) -> HttpResponse:
    """List the tokens of everybody, newest first: what they may do, when they were last used. Never a secret."""
    some = paged(request, Token.objects.select_related("user"))
    return page(request, "accounts/all_tokens.html", {"some": some, "now": timezone.now()})


@administrators_only
@require_POST
def take_any_back(request: Asked, pk: int) -> HttpResponse:
    """End one of anybody for good."""
    token = get_object_or_404(Token.objects.select_related("user"), pk=pk)
    revoke(token, request.user, request=request)
    messages.success(request, f"{token.name} of {token.user.username} opens nothing any more.")
    return redirect("administration-tokens")
