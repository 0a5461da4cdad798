"""The forms of notifications: what a recipient wishes for, the mail settings, a webhook."""

import re
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from ipaddress import ip_address
from typing import Any
from zoneinfo import available_timezones

from django import forms

from advisor.accounts.models import User
from advisor.core.models import Site
from advisor.core.sealing import Unsealable, unseal
from advisor.notifications.models import Recipient, Webhook
from advisor.notifications.services import mail_server
from advisor.notifications.services.preferences import LEVELS, WORDS
from advisor.notifications.webhooks.posting import LONGEST_URL
from advisor.systems.forms import SystemsField
from advisor.systems.models import Group, System

LABEL = r"(?!-)[A-Za-z0-9_-]{1,63}(?<!-)"
HOST = re.compile(rf"{LABEL}(\.{LABEL})*\.?")
CARRIED_SECONDS = 3600
"""A typed password is carried, sealed, from a test to the saving for an hour (this project's figure)."""
WORST_FINDING = [
    (0, "every audit"),
    (1, "note or worse"),
    (2, "advice or worse"),
    (3, "warning or worse"),
    (4, "critical"),
]
WHOLE = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


@cache
def zones() -> list[tuple[str, str]]:
    """Every time zone there is, by name."""
    return [(name, name) for name in sorted(available_timezones() - {"localtime"})]


class WishesForm(forms.ModelForm):  # type: ignore[type-arg]  # generic for mypy alone
    """What is wanted of the systems a recipient is about."""

    severity = forms.TypedChoiceField(
        label="Findings reported",
        coerce=int,
        choices=[(level, f"from {word} on" if level < 4 else f"{word} alone") for level, word in LEVELS.items()],
        help_text="What is less severe is neither reported nor a reason for a report.",
    )
    days = forms.TypedMultipleChoiceField(
        label="Days on which these are sent",
        coerce=int,
        choices=list(enumerate(WHOLE)),
        widget=forms.CheckboxSelectMultiple,
        help_text="What falls on another day is sent on the next of these.",
    )
    digest_day = forms.TypedChoiceField(label="Sent on", coerce=int, choices=list(enumerate(WHOLE)))
    digest_hour = forms.TypedChoiceField(
        label="Sent at", coerce=int, choices=[(hour, f"{hour:02}:00") for hour in range(24)]
    )
    zone = forms.ChoiceField(label="Time zone of these days and hours", choices=zones)

    class Meta:
        model = Recipient
        fields = list(WORDS)
        labels = {
            "reports": "Reports after audits",
            "everything": "A report after every audit",
            "heartbeat": "“Nothing changed”",
            "scripts": "Scripts that apply and undo, as files",
            "not_audited": "When a system is not audited any more",
            "digest": "The week, one line per system",
            "daily": "The day of the fleet, on one page",
        }
        help_texts = {
            "everything": "Otherwise only after one in which something changed.",
            "daily": "On the days chosen above; its hour is chosen below, once this is ticked.",
            "heartbeat": "A short mail after each audit that is worth no report.",
        }

    def __init__(self, data: Any, *, instance: Recipient, **kwargs: Any) -> None:
        super().__init__(data, instance=instance, **kwargs)
        self.label_suffix = ""


class RecipientForm(WishesForm):
    """A recipient of a team: its systems, its groups, and what is wanted of them."""

    systems = SystemsField(
        System.objects.none(),
        required=False,
        help_text="None chosen, and no group: all of the team.",
    )
    groups = forms.ModelMultipleChoiceField(Group.objects.none(), required=False, widget=forms.CheckboxSelectMultiple)
    of_all = forms.BooleanField(label="All systems of the team", required=False)
    field_order = ("address", "systems", "groups", "of_all")

    def __init__(self, data: Any, *, instance: Recipient, systems: Sequence[int] = (), **kwargs: Any) -> None:
        """Offer the systems and groups of the team; `systems`: chosen beforehand, instead of those it has."""
        super().__init__(data, instance=instance, **kwargs)
        team = instance.team
        self.fields["systems"].queryset = System.objects.filter(team=team)  # type: ignore[attr-defined]
        self.fields["groups"].queryset = Group.objects.filter(team=team)  # type: ignore[attr-defined]
        if not Group.objects.filter(team=team).exists():
            del self.fields["groups"]
        if instance.left_alone:
            self.fields["systems"].help_text = ""
        else:
            del self.fields["of_all"]
        if instance.pk:
            self.initial["systems"] = list(instance.systems.values_list("pk", flat=True))
            self.initial["groups"] = list(instance.groups.values_list("pk", flat=True))
        if systems:
            self.initial.update(systems=list(systems), groups=[])
        chosen = System.objects.filter(team=team, pk__in=self.initial.get("systems") or ())
        if names := [one.name for one in chosen.order_by("name")]:  # of many systems they stand far apart
            count = f"{len(names)} {'system' if len(names) == 1 else 'systems'}"
            field = self.fields["systems"]
            field.help_text = f"Chosen until now, {count}: {', '.join(names)}. {field.help_text}".rstrip()

    def chosen(self) -> tuple[list[System], list[Group]]:
        """The systems and groups that were chosen."""
        return list(self.cleaned_data["systems"]), list(self.cleaned_data.get("groups", ()))


class AddForm(RecipientForm):
    """A new recipient."""

    address = forms.EmailField(max_length=254, widget=forms.EmailInput(attrs={"autocomplete": "email"}))

    def clean(self) -> dict[str, Any]:
        """Give the recipient its address."""
        given: dict[str, Any] = super().clean() or self.cleaned_data
        self.instance.address = given.get("address", "")
        return given


class MailForm(forms.ModelForm):  # type: ignore[type-arg]  # generic for mypy alone
    """The mail settings. The password is never shown again: a field for a new one, a box to take it away."""

    password = forms.CharField(
        required=False,
        max_length=200,
        strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
        help_text="Kept encrypted and never shown again. An empty field keeps what is stored.",
    )
    remove_password = forms.BooleanField(label="Remove the stored password", required=False)
    carried = forms.CharField(required=False, widget=forms.HiddenInput)
    test_to = forms.EmailField(label="Test mail to", required=False, help_text="Empty: to your own address.")

    class Meta:
        model = Site
        fields = ["mail_host", "mail_port", "mail_security", "mail_user", "mail_from"]
        labels = {
            "mail_host": "Host",
            "mail_port": "Port",
            "mail_security": "Security",
            "mail_user": "User",
            "mail_from": "Sender address",
        }
        help_texts = {
            "mail_host": "Name or address of the mail server. Empty: no mail is sent.",
            "mail_port": "Usual: 25 without security, 587 with STARTTLS, 465 with TLS from the start.",
            "mail_user": "Empty: no login.",
        }

    def __init__(self, data: Any, *, by: User, stored: Site) -> None:
        super().__init__(data, instance=stored, initial={"test_to": by.email})
        self.by, self.purpose = by, f"typed mail password of user {by.pk}"
        self.testing = bool(data) and data.get("do") == "test"
        self.had_password = bool(stored.mail_password_sealed)
        self.typed = ""

    def clean_mail_host(self) -> str:
        """A host name or an IP address, nothing else."""
        host: str = self.cleaned_data["mail_host"]
        with suppress(ValueError):
            return str(ip_address(host.strip("[]")))
        if host and not HOST.fullmatch(host):
            raise forms.ValidationError("Write a host name (letters, digits, dots, hyphens) or an IP address.")
        return host

    def clean_mail_user(self) -> str:
        """What a login can carry."""
        return _printable(self.cleaned_data["mail_user"])

    def clean_password(self) -> str:
        """What a login can carry."""
        return _printable(self.cleaned_data["password"])

    def clean(self) -> dict[str, Any]:
        """What must go together."""
        given: dict[str, Any] = super().clean() or self.cleaned_data
        self.typed = given.get("password") or self._carried(given.get("carried", ""))
        keeps = self.had_password and not self.typed and not given.get("remove_password")
        if keeps and "mail_host" in self.changed_data and given.get("mail_host"):
            self.add_error("password", "The host is another one: type its password, or remove the stored one. It is "
                           "not sent to a server it was not typed for.")  # fmt: skip
        if given.get("mail_host") and not given.get("mail_from") and "mail_from" not in self.errors:
            self.add_error("mail_from", "Mail needs a sender address.")
        if self.testing and not given.get("mail_host") and "mail_host" not in self.errors:
            self.add_error("mail_host", "A test needs a host.")
        if self.testing and not (given.get("test_to") or self.by.email) and "test_to" not in self.errors:
            self.add_error("test_to", "You have no e-mail address here: write one.")
        return given

    def settings(self) -> Site:
        """The settings as typed, not yet stored."""
        site: Site = self.instance
        mail_server.take_password(site, self.typed, remove=self.cleaned_data["remove_password"])
        return site

    def words(self) -> list[str]:
        """What is changed, for the journal: a password by the word alone."""
        names = [name for name in self.changed_data if name in mail_server.FIELDS]
        said = [f"{self.fields[name].label} {self.cleaned_data[name] or 'none'}" for name in names]
        if self.cleaned_data["remove_password"]:
            return [*said, "password removed"]
        return [*said, "password set"] if self.typed else said

    def _carried(self, sealed: str) -> str:
        """The password typed for the test before, which came along sealed."""
        with suppress(Unsealable):
            return unseal(sealed, self.purpose, seconds=CARRIED_SECONDS) if sealed else ""
        return ""


def _printable(text: str) -> str:
    """SMTP's logins carry ASCII alone."""
    if not (text.isascii() and (text.isprintable() or not text)):
        raise forms.ValidationError("Use ASCII letters, digits and signs: a mail login carries no others.")
    return text


class WebhookForm(forms.ModelForm):  # type: ignore[type-arg]  # generic for mypy alone
    """What a webhook is to be, of the team that its instance has; `webhooks.setup` says what may be."""

    url = forms.CharField(  # the model's own field takes no host without a dot, which a network of one's own may have
        label="Address",
        max_length=LONGEST_URL,
        widget=forms.TextInput(attrs={"autocomplete": "off", "inputmode": "url"}),
        help_text="https://host/path. The audits are posted there.",
    )
    severity = forms.TypedChoiceField(
        label="Worst finding",
        choices=WORST_FINDING,
        coerce=int,
        help_text="Of the audit, or of the one before: so the receiver hears that it is over, too.",
    )
    field_order = ("name", "url", "systems", "groups", "severity", "only_changes")

    class Meta:
        model = Webhook
        fields = ["name", "systems", "groups", "severity", "only_changes"]
        field_classes = {"systems": SystemsField}
        labels = {"only_changes": "Only where findings are new, worse, better or gone"}
        help_texts = {
            "name": "Say what receives it.",
            "systems": "Without a system and a group chosen: every system of the team.",
        }
        widgets = {
            "name": forms.TextInput(attrs={"autocomplete": "off"}),
            "groups": forms.CheckboxSelectMultiple,
        }

    def __init__(self, data: Any, *, instance: Webhook) -> None:
        super().__init__(data, instance=instance, initial={"url": instance.url})
        team = instance.team
        self.fields["systems"].queryset = team.systems.all()  # type: ignore[attr-defined]
        self.fields["groups"].queryset = team.groups.all()  # type: ignore[attr-defined]
        if not team.groups.exists():
            del self.fields["groups"]

    def clean(self) -> dict[str, Any]:
        """Give the webhook its address."""
        given: dict[str, Any] = super().clean() or self.cleaned_data
        self.instance.url = given.get("url", "")
        return given

    def chosen(self) -> tuple[list[System], list[Group]]:
        """The systems and groups that were chosen."""
        return list(self.cleaned_data["systems"]), list(self.cleaned_data.get("groups", ()))
