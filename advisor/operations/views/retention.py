"""How long what is kept, what the last clearing did, and a clearing now."""

from django import forms
from django.contrib import messages
from django.db import transaction
from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST
from kombu.exceptions import OperationalError

from advisor.core import journal
from advisor.core.models import JournalEntry, Site
from advisor.core.views import Asked, administrators_only, page
from advisor.operations import tasks

SHOWN = 10


class RetentionForm(forms.ModelForm):  # type: ignore[type-arg]  # generic for mypy alone
    """Five numbers of days."""

    class Meta:
        model = Site
        fields = [
            "keep_bytes_days",
            "keep_captures_days",
            "keep_old_audits_days",
            "keep_runs_days",
            "keep_journal_days",
        ]
        labels = {
            "keep_bytes_days": "Files of uploads, in days",
            "keep_captures_days": "Captures and their audits, in days",
            "keep_old_audits_days": "Superseded audits, in days",
            "keep_runs_days": "Runs, mails and deliveries, in days",
            "keep_journal_days": "Journal, in days",
        }
        help_texts = {
            "keep_bytes_days": "What was understood of the files stays; their lines can no longer be looked up.",
            "keep_captures_days": "The newest capture of a system stays whatever its age.",
            "keep_old_audits_days": "Audits of a capture that a later audit took the place of.",
            "keep_runs_days": "The last run of a schedule stays, and so does what is not yet sent.",
            "keep_journal_days": "Entries and records of logins.",
        }


@administrators_only
def show(request: Asked) -> HttpResponse:
    """Show and change the days."""
    form = RetentionForm(request.POST or None, instance=Site.get())
    if request.method == "POST" and form.is_valid():
        said = ", ".join(f"{form.fields[name].label} {form.cleaned_data[name]}" for name in form.changed_data)
        with transaction.atomic():
            form.instance.save(update_fields=form.Meta.fields)
            journal.note(request.user, "retention changed", said or "nothing", request=request)
        messages.success(request, "Stored. The next clearing goes by it.")
        return redirect("administration-retention")
    done = JournalEntry.objects.filter(action="cleared up", user=None)[:SHOWN]
    return page(request, "operations/retention.html", {"form": form, "done": done})


@administrators_only
@require_POST
def clear_up_now(request: Asked) -> HttpResponse:
    """Start the clearing of the night now."""
    try:
        with transaction.atomic():
            journal.note(request.user, "clearing asked for", request=request)
            transaction.on_commit(lambda: tasks.clear_up.delay())
    except OperationalError:
        messages.error(request, "Not started: the broker of the workers cannot be reached. The log says more.")
    else:
        messages.success(request, "The clearing is started. When it is through, it stands below: load this page again.")
    return redirect("administration-retention")
