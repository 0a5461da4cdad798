"""What a recipient wishes for, as a form: on the page, and behind the link in a mail."""

from functools import cache
from typing import Any
from zoneinfo import available_timezones

from django import forms
from django.conf import settings

from advisor.models import Group, Recipient, System, Team
from advisor.services.mailing.wishes import DAYS, LEVELS, Wishes, wishes_of

WHOLE = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


@cache
def zones() -> list[tuple[str, str]]:
    """Every time zone there is, by name."""
    return [(name, name) for name in sorted(available_timezones() - {"localtime"})]


class WishesForm(forms.Form):
    """What is wanted of the systems a recipient is about."""

    reports = forms.BooleanField(label="Reports after audits", required=False)
    severity = forms.TypedChoiceField(
        label="Findings told",
        coerce=int,
        choices=[(level, f"from {word} on" if level < 4 else f"{word} alone") for level, word in LEVELS.items()],
        help_text="What is less severe is neither told nor a reason for a report.",
    )
    everything = forms.BooleanField(
        label="A report after every audit", required=False, help_text="Else only where something changed."
    )
    heartbeat = forms.BooleanField(
        label="“Nothing changed”", required=False, help_text="A short mail after each audit that is worth no report."
    )
    scripts = forms.BooleanField(label="Scripts that apply and undo, as files", required=False)
    not_audited = forms.BooleanField(label="When a system is not audited any more", required=False)
    days = forms.TypedMultipleChoiceField(
        label="Days on which these are sent",
        coerce=int,
        choices=list(enumerate(WHOLE)),
        widget=forms.CheckboxSelectMultiple,
        help_text="What falls on another day is told on the next of these.",
    )
    digest = forms.BooleanField(label="The week, a line a system", required=False)
    digest_day = forms.TypedChoiceField(label="Told on", coerce=int, choices=list(enumerate(WHOLE)))
    digest_hour = forms.TypedChoiceField(
        label="Told at", coerce=int, choices=[(hour, f"{hour:02}:00") for hour in range(24)]
    )
    zone = forms.ChoiceField(label="Time zone of these days and hours", choices=zones)

    def __init__(self, *args: Any, wishes: Wishes, **kwargs: Any) -> None:
        """Show these wishes first."""
        super().__init__(*args, **kwargs)
        self.label_suffix = ""
        self.initial = {**vars(wishes), "days": list(wishes.days), **self.initial}

    def wishes(self) -> Wishes:
        """What was chosen."""
        given = {name: self.cleaned_data[name] for name in Wishes.__dataclass_fields__}
        return Wishes(**{**given, "days": tuple(sorted(given["days"]))})


class RecipientForm(WishesForm):
    """A recipient of a team: its systems, its groups, and what is wanted of them."""

    systems = forms.ModelMultipleChoiceField(
        System.objects.none(),
        required=False,
        widget=forms.SelectMultiple(attrs={"size": 8}),
        help_text="None chosen, and no group: all of the team. Ctrl and a click choose several, or take one back.",
    )
    groups = forms.ModelMultipleChoiceField(Group.objects.none(), required=False, widget=forms.CheckboxSelectMultiple)
    of_all = forms.BooleanField(label="All systems of the team", required=False)
    field_order = ("address", "systems", "groups", "of_all")

    def __init__(self, *args: Any, team: Team, recipient: Recipient | None = None, **kwargs: Any) -> None:
        """Offer the systems and groups of the team."""
        super().__init__(*args, wishes=wishes_of(recipient) if recipient else begun(), **kwargs)
        self.fields["systems"].queryset = System.objects.filter(team=team)  # type: ignore[attr-defined]
        self.fields["groups"].queryset = Group.objects.filter(team=team)  # type: ignore[attr-defined]
        if not Group.objects.filter(team=team).exists():
            del self.fields["groups"]
        if recipient and recipient.left_alone:
            self.fields["systems"].help_text = "Ctrl and a click choose several, or take one back."
        else:
            del self.fields["of_all"]
        if recipient:
            self.initial["systems"] = list(recipient.systems.values_list("pk", flat=True))
            self.initial["groups"] = list(recipient.groups.values_list("pk", flat=True))

    def chosen(self) -> tuple[list[System], list[Group]]:
        """The systems and groups that were chosen."""
        return list(self.cleaned_data["systems"]), list(self.cleaned_data.get("groups", ()))


class AddForm(RecipientForm):
    """A new recipient."""

    address = forms.EmailField(max_length=254, widget=forms.EmailInput(attrs={"autocomplete": "email"}))


def begun() -> Wishes:
    """What a new recipient gets if nothing else is chosen, in the time zone of the site."""
    return Wishes(zone=settings.TIME_ZONE)


def day_names(days: list[int]) -> str:
    """Days of the week, short."""
    return "every day" if len(days) == len(DAYS) else ", ".join(DAYS[day] for day in days)
