"""Conclude from a comparison that was looked at: the ticked findings get the state it tells, or the one chosen."""

from django import forms
from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_POST

from advisor.audits.models import Capture
from advisor.audits.services import comparing
from advisor.core.access import systems_of
from advisor.core.jinja import counted
from advisor.core.records import Refused
from advisor.core.views import Asked, numbers_of, workers_only
from advisor.findings.services import states
from advisor.findings.services.conclude import CONCLUSIONS, Concluded, conclude

MOST_TOLD = 3
"""Findings of which it is said why nothing was concluded; more than these are counted."""


class ConcludeForm(forms.Form):
    """What is concluded, and why."""

    state = forms.ChoiceField(choices=tuple(CONCLUSIONS.items()))
    why = forms.CharField(required=False, max_length=states.LONGEST_WHY)


@require_POST
@workers_only
def act(request: Asked, pk: int) -> HttpResponse:
    """Note it and go back to the comparison; nothing is noted where the two cannot be compared."""
    system = get_object_or_404(systems_of(request.user).select_related("team"), pk=pk)
    before, after, picked = (numbers_of(request.POST, name) for name in ("before", "after", "pick"))
    form = ConcludeForm(request.POST)
    if not picked:
        messages.error(request, "Tick the findings first.")
    elif not form.is_valid():
        messages.error(request, f"Nothing was noted. {next(iter(form.errors.values()))[0]}")
    else:
        said = form.cleaned_data
        try:
            sides = comparing.sides_of(system, before, after)
            done = conclude(request.user, sides, picked, said["state"], said["why"], request=request)
        except Capture.DoesNotExist:
            raise Http404 from None
        except Refused as refused:
            messages.error(request, f"Nothing was noted. {refused}")
        else:
            _say(request, done)
    sides_asked = urlencode({"before": before, "after": after}, doseq=True)
    return redirect(f"{reverse('compare', args=[pk])}?{sides_asked}#findings")


def _say(request: Asked, done: Concluded) -> None:
    if done.count:
        messages.success(request, f"Noted at {counted(done.count, 'finding')}.")
    for one in done.left[:MOST_TOLD]:
        messages.warning(request, f"Nothing follows for {one}")
    if len(done.left) > MOST_TOLD:
        messages.warning(request, f"Nor for {len(done.left) - MOST_TOLD} more.")
