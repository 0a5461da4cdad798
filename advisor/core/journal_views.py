"""The journal: who did what when, as a page and as CSV."""

from collections.abc import Iterator
from datetime import date, datetime, time, timedelta

from django import forms
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpResponse, QueryDict
from django.http.response import HttpResponseBase
from django.utils import timezone

from advisor.core.access import journal_of
from advisor.core.csv_files import csv_answer
from advisor.core.error_pages import error
from advisor.core.models import JournalEntry
from advisor.core.views import (
    Asked,
    administrators_only,
    page,
    paged,
)

EARLIEST, LATEST = date(1970, 1, 1), date(9998, 12, 31)
COLUMNS = ("time", "who", "action", "system", "team", "what", "address")


class Day(forms.DateField):
    """A day the database can be asked for."""

    widget = forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d")

    def __init__(self, label: str) -> None:
        super().__init__(label=label, required=False, input_formats=["%Y-%m-%d"])

    def validate(self, value: date | None) -> None:
        """Refuse what lies outside of calendars."""
        super().validate(value)
        if value is not None and not EARLIEST <= value <= LATEST:
            raise forms.ValidationError(f"Write a day from {EARLIEST} to {LATEST}.")


class Filter(forms.Form):
    """What of the journal to show."""

    who = forms.CharField(label="Person", max_length=80, required=False)
    action = forms.ChoiceField(required=False)
    system = forms.CharField(max_length=120, required=False)
    text = forms.CharField(max_length=200, required=False, widget=forms.TextInput(attrs={"data-search": ""}))
    since = Day("From")
    until = Day("Until")

    def __init__(self, data: QueryDict, entries: QuerySet[JournalEntry]) -> None:
        super().__init__(data)
        self.entries = entries
        actions = entries.order_by("action").values_list("action", flat=True).distinct()
        self.fields["action"] = forms.ChoiceField(
            required=False, choices=[("", "all"), *((action, action) for action in actions)]
        )

    def found(self) -> QuerySet[JournalEntry]:
        """The entries that fit every filter that could be understood, newest first."""
        self.is_valid()
        given, entries = self.cleaned_data, self.entries
        if who := given.get("who"):
            entries = entries.filter(who__icontains=who)
        if action := given.get("action"):
            entries = entries.filter(action=action)
        if system := given.get("system"):
            entries = entries.filter(system__name__icontains=system)
        if text := given.get("text"):
            entries = entries.filter(what__icontains=text)
        if since := given.get("since"):
            entries = entries.filter(at__gte=_midnight(since))
        if until := given.get("until"):
            entries = entries.filter(at__lt=_midnight(until + timedelta(days=1)))
        return entries.select_related("system", "team")


def _midnight(day: date) -> datetime:
    """When a day begins in the time zone of the site."""
    return timezone.make_aware(datetime.combine(day, time.min))


@administrators_only
def listing(request: Asked) -> HttpResponse:
    """Show it, newest first."""
    form = Filter(request.GET, journal_of(request.user))
    asked = request.GET.copy()
    asked.pop("page", None)
    context = {"form": form, "some": paged(request, form.found(), 100), "asked": asked.urlencode()}
    return page(request, "core/journal.html", context)


def download(request: Asked) -> HttpResponseBase:
    """Give all of it, by the same filters, as CSV; times in UTC. A filter that makes no sense gives an error."""
    if not request.user.is_administrator:  # by hand: the decorator is for answers in one piece
        raise PermissionDenied("Only an administrator may do this.")
    form = Filter(request.GET, journal_of(request.user))
    entries = form.found()
    if form.errors:
        return error(request, 400, "A filter makes no sense", "Go back and correct it; nothing was written.")
    return csv_answer(f"lockwright-journal-{timezone.localdate():%Y-%m-%d}.csv", COLUMNS, _rows(entries))


def _rows(entries: QuerySet[JournalEntry]) -> Iterator[tuple[str, ...]]:
    for entry in entries.iterator(chunk_size=1000):
        yield (
            entry.at.strftime("%Y-%m-%dT%H:%M:%SZ"),
            entry.who,
            entry.action,
            entry.system.name if entry.system else "",
            entry.team.name if entry.team else "",
            entry.what,
            entry.address or "",
        )
