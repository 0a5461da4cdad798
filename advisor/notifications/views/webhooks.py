"""Webhooks: made, changed, paused, tried out; what was sent and what came of it."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST

from advisor.accounts.models import Team
from advisor.core.records import there
from advisor.core.views import Asked, administrators_only, page, paged, refusal_in, refusal_told
from advisor.notifications.forms import WORST_FINDING, WebhookForm
from advisor.notifications.models import Delivery, Webhook
from advisor.notifications.webhooks import setup, signing


@administrators_only
def listing(request: Asked) -> HttpResponse:
    """List them, those of a team together."""
    hooks = Webhook.objects.select_related("team").prefetch_related("systems", "groups").order_by("team__name", "name")
    some = paged(request, hooks)
    ended = setup.ended(some)
    rows = [
        {"hook": hook, "failing": setup.failing(last), "last": next(iter(last), None)}
        for hook in some
        for last in [ended[hook.pk]]
    ]
    context = {"some": some, "rows": rows, "levels": dict(WORST_FINDING), "teams": Team.objects.all()}
    return page(request, "notifications/webhooks.html", context)


@administrators_only
@never_cache
def add(request: Asked, team_pk: int) -> HttpResponse:
    """Add one to a team, and show its secret this once."""
    team = get_object_or_404(Team, pk=team_pk)
    form = WebhookForm(request.POST or None, instance=Webhook(team=team))
    if request.method == "POST" and form.is_valid():
        with refusal_in(form):
            secret = setup.make(form.instance, request.user, *form.chosen(), request)
            return _secret(request, form.instance, secret, "Added")
    return page(request, "notifications/webhook_add.html", {"form": form, "team": team})


@administrators_only
@there
def edit(request: Asked, pk: int) -> HttpResponse:
    """Change one; its deliveries stand below."""
    hook = _hook(pk)
    form = WebhookForm(request.POST or None, instance=hook)
    if request.method == "POST":
        if form.is_valid():
            with refusal_in(form):
                changed = setup.change(hook, request.user, *form.chosen(), request)
                messages.success(request, f"{hook.name}: {'; '.join(changed) or 'nothing was changed'}.")
                return redirect("administration-webhook", pk)
        hook = _hook(pk)  # the form has put what was typed into the other one
    rows = hook.deliveries.select_related("audit__system", "system").defer("body")
    context = {
        "form": form,
        "hook": hook,
        "some": paged(request, rows),
        "failing": setup.failing(setup.ended([hook])[hook.pk]),
        "gone": hook.paused is not None and hook.deliveries.filter(status=410, finished__lte=hook.paused).exists(),
        "check": signing.CHECK,
        "minutes": 5,
    }
    return page(request, "notifications/webhook.html", context)


@administrators_only
@require_POST
@there
def pause(request: Asked, pk: int) -> HttpResponse:
    """Pause it, or resume it where `do` says so."""
    hook = _hook(pk)
    if request.POST.get("do") == "resume":
        setup.resume(hook, request.user, request)
        messages.success(request, f"{hook.name} is resumed: what waited is being sent.")
    else:
        setup.pause(hook, request.user, request)
        messages.success(request, f"{hook.name} is paused: nothing more is sent.")
    return redirect("administration-webhook", pk)


@administrators_only
@require_POST
@there
def delete(request: Asked, pk: int) -> HttpResponse:
    """Delete it and its deliveries."""
    hook = _hook(pk)
    setup.remove(hook, request.user, request)
    messages.success(request, f"{hook.name} is deleted.")
    return redirect("administration-webhooks")


@administrators_only
@require_POST
@never_cache
@there
def renew(request: Asked, pk: int) -> HttpResponse:
    """Make a new secret, and show it this once."""
    hook = _hook(pk)
    return _secret(request, hook, setup.renew_secret(hook, request.user, request), "A new secret is made")


@administrators_only
@require_POST
@there
def ping(request: Asked, pk: int) -> HttpResponse:
    """Send a delivery that tells of no audit."""
    hook = _hook(pk)
    with refusal_told(request):
        setup.ping(hook, request.user, request)
        messages.success(request, "A test is being sent. What came of it stands below: load this page again.")
    return redirect("administration-webhook", pk)


@administrators_only
@require_POST
@there
def send_again(request: Asked, pk: int, delivery_pk: int) -> HttpResponse:
    """Send a delivery once more, or now."""
    row = get_object_or_404(Delivery.objects.select_related("webhook__team", "system"), pk=delivery_pk, webhook=pk)
    with refusal_told(request):
        setup.send_again(row, request.user, request)
        messages.success(request, f"Delivery {row.number} is being sent again.")
    return redirect("administration-webhook", pk)


def _hook(pk: int) -> Webhook:
    return get_object_or_404(Webhook.objects.select_related("team"), pk=pk)


def _secret(request: Asked, hook: Webhook, secret: str, done: str) -> HttpResponse:
    """The page that shows a made secret: the answer itself, so that it is stored nowhere in plain."""
    return page(request, "notifications/webhook_secret.html", {"hook": hook, "secret": secret, "done": done})
