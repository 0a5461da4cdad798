"""Webhooks: made, changed, paused, tried out; what was sent and what came of it."""

from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec

from django import forms
from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST

from advisor.models import Delivery, Group, System, Team, Webhook
from advisor.services.hooks import signing, webhook_settings
from advisor.services.hooks.posting import LONGEST_URL
from advisor.web.kit import Asked, administrators_only, page, paged

LEVELS = [(0, "every audit"), (1, "note or worse"), (2, "advice or worse"), (3, "warning or worse"), (4, "critical")]
P = ParamSpec("P")


def _there(view: Callable[P, HttpResponse]) -> Callable[P, HttpResponse]:
    """Have a view answer 404 where the webhook was deleted while it was at work."""

    @wraps(view)
    def looked_for(*args: P.args, **named: P.kwargs) -> HttpResponse:
        try:
            return view(*args, **named)
        except Webhook.DoesNotExist:
            raise Http404 from None

    return looked_for


class WebhookForm(forms.Form):
    """What a webhook is to be; services.webhook_settings says what may be."""

    name = forms.CharField(
        max_length=80, widget=forms.TextInput(attrs={"autocomplete": "off"}), help_text="Say what receives it."
    )
    url = forms.CharField(
        label="Address",
        max_length=LONGEST_URL,
        widget=forms.TextInput(attrs={"autocomplete": "off", "inputmode": "url"}),
        help_text="https://host/path. The audits are posted there.",
    )
    systems = forms.ModelMultipleChoiceField(
        System.objects.none(),
        required=False,
        widget=forms.SelectMultiple(attrs={"size": 8}),
        help_text="Choose several by Ctrl or Shift. Without a system and a group chosen: every system of the team.",
    )
    groups = forms.ModelMultipleChoiceField(Group.objects.none(), required=False)
    severity = forms.TypedChoiceField(
        label="Worst finding",
        choices=LEVELS,
        coerce=int,
        initial=1,
        help_text="Of the audit, or of the one before: so the receiver hears that it is over, too.",
    )
    only_changes = forms.BooleanField(label="Only where findings are new, worse, better or gone", required=False)

    def __init__(self, data: Any, team: Team, hook: Webhook | None = None) -> None:
        names = ("name", "url", "severity", "only_changes")
        held = {name: getattr(hook, name) for name in names} if hook else {}
        if hook:
            held |= {"systems": hook.systems.all(), "groups": hook.groups.all()}
        super().__init__(data, initial=held)
        for name, choices in (("systems", team.systems.all()), ("groups", team.groups.all())):
            field = self.fields[name]
            assert isinstance(field, forms.ModelMultipleChoiceField)  # noqa: S101 - declared so above
            field.queryset = choices
        if not team.groups.exists():
            del self.fields["groups"]

    def wanted(self) -> webhook_settings.Wanted:
        """What was typed."""
        return webhook_settings.Wanted(**self.cleaned_data)


@administrators_only
def listing(request: Asked) -> HttpResponse:
    """List them, those of a team together."""
    hooks = Webhook.objects.select_related("team").prefetch_related("systems", "groups").order_by("team__name", "name")
    some = paged(request, hooks)
    ended = webhook_settings.ended(some)
    rows = [
        {"hook": hook, "failing": webhook_settings.failing(last), "last": next(iter(last), None)}
        for hook in some
        for last in [ended[hook.pk]]
    ]
    context = {"some": some, "rows": rows, "levels": dict(LEVELS), "teams": Team.objects.all()}
    return page(request, "administration/webhooks.html", context)


@administrators_only
@never_cache
def add(request: Asked, team_pk: int) -> HttpResponse:
    """Add one to a team, and show its secret this once."""
    team = get_object_or_404(Team, pk=team_pk)
    form = WebhookForm(request.POST or None, team)
    if request.method == "POST" and form.is_valid():
        try:
            hook, secret = webhook_settings.make(team, request.user, form.wanted(), request)
        except webhook_settings.Refused as refused:
            form.add_error(None, str(refused))
        else:
            return _secret(request, hook, secret, "Added")
    return page(request, "administration/webhook_add.html", {"form": form, "team": team})


@administrators_only
@_there
def edit(request: Asked, pk: int) -> HttpResponse:
    """Change one; its deliveries stand below."""
    hook = _hook(pk)
    form = WebhookForm(request.POST or None, hook.team, hook)
    if request.method == "POST" and form.is_valid():
        try:
            changed = webhook_settings.change(hook, request.user, form.wanted(), request)
        except webhook_settings.Refused as refused:
            form.add_error(None, str(refused))
        else:
            messages.success(request, f"{hook.name}: {'; '.join(changed) or 'nothing was changed'}.")
            return redirect("administration-webhook", pk)
        hook = _hook(pk)
    rows = hook.deliveries.select_related("audit__system", "system").defer("body")
    context = {
        "form": form,
        "hook": hook,
        "some": paged(request, rows),
        "failing": webhook_settings.failing(webhook_settings.ended([hook])[hook.pk]),
        "gone": hook.paused is not None and hook.deliveries.filter(status=410, finished__lte=hook.paused).exists(),
        "check": signing.CHECK,
        "minutes": 5,
    }
    return page(request, "administration/webhook.html", context)


@administrators_only
@require_POST
@_there
def pause(request: Asked, pk: int) -> HttpResponse:
    """Pause it, or resume it where `do` says so."""
    hook = _hook(pk)
    if request.POST.get("do") == "resume":
        webhook_settings.resume(hook, request.user, request)
        messages.success(request, f"{hook.name} is resumed: what waited is being sent.")
    else:
        webhook_settings.pause(hook, request.user, request)
        messages.success(request, f"{hook.name} is paused: nothing more is sent.")
    return redirect("administration-webhook", pk)


@administrators_only
@require_POST
@_there
def delete(request: Asked, pk: int) -> HttpResponse:
    """Delete it and its deliveries."""
    hook = _hook(pk)
    webhook_settings.remove(hook, request.user, request)
    messages.success(request, f"{hook.name} is deleted.")
    return redirect("administration-webhooks")


@administrators_only
@require_POST
@never_cache
@_there
def renew(request: Asked, pk: int) -> HttpResponse:
    """Make a new secret, and show it this once."""
    hook = _hook(pk)
    return _secret(request, hook, webhook_settings.renew_secret(hook, request.user, request), "A new secret is made")


@administrators_only
@require_POST
@_there
def ping(request: Asked, pk: int) -> HttpResponse:
    """Send a delivery that tells of no audit."""
    hook = _hook(pk)
    try:
        webhook_settings.ping(hook, request.user, request)
    except webhook_settings.Refused as refused:
        messages.error(request, str(refused))
    else:
        messages.success(request, "A test is being sent. What came of it stands below: load this page again.")
    return redirect("administration-webhook", pk)


@administrators_only
@require_POST
@_there
def send_again(request: Asked, pk: int, delivery_pk: int) -> HttpResponse:
    """Send a delivery once more, or now."""
    row = get_object_or_404(Delivery.objects.select_related("webhook__team", "system"), pk=delivery_pk, webhook=pk)
    try:
        webhook_settings.send_again(row, request.user, request)
    except webhook_settings.Refused as refused:
        messages.error(request, str(refused))
    else:
        messages.success(request, f"Delivery {row.number} is being sent again.")
    return redirect("administration-webhook", pk)


def _hook(pk: int) -> Webhook:
    return get_object_or_404(Webhook.objects.select_related("team"), pk=pk)


def _secret(request: Asked, hook: Webhook, secret: str, done: str) -> HttpResponse:
    """The page that shows a made secret: the answer itself, so that it is stored nowhere in plain."""
    return page(request, "administration/webhook_secret.html", {"hook": hook, "secret": secret, "done": done})
