"""The mail server: its settings, and a real mail through them."""

import re
from contextlib import suppress
from ipaddress import ip_address
from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.cache import never_cache

from advisor.mail.sealing import Unsealable, seal, unseal
from advisor.models import Site, User
from advisor.services.mailing import mail_settings
from advisor.web.kit import Asked, administrators_only, page

LABEL = r"(?!-)[A-Za-z0-9_-]{1,63}(?<!-)"
HOST = re.compile(rf"{LABEL}(\.{LABEL})*\.?")
CARRIED_SECONDS = 3600
"""A typed password is carried, sealed, from a test to the saving for an hour (this project's figure)."""


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
        mail_settings.take_password(site, self.typed, remove=self.cleaned_data["remove_password"])
        return site

    def words(self) -> list[str]:
        """What is changed, for the journal: a password by the word alone."""
        names = [name for name in self.changed_data if name in mail_settings.FIELDS]
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


@administrators_only
@never_cache
def show(request: Asked) -> HttpResponse:
    """Show, store or try out the settings. A try stores nothing."""
    form = MailForm(request.POST or None, by=request.user, stored=Site.get())
    outcome = None
    if request.method == "POST" and form.is_valid():
        site = form.settings()
        if not form.testing:
            mail_settings.store(site, form.words(), request.user, request)
            messages.success(request, "The mail settings are stored. A test shows whether they work.")
            return redirect("administration-mail")
        to = form.cleaned_data["test_to"] or request.user.email
        outcome = mail_settings.try_out(site, to, request.user, request)
    carried = seal(form.typed, form.purpose) if form.typed else ""
    context = {"form": form, "outcome": outcome, "carried": carried, "site": Site.get()}
    return page(request, "administration/mail.html", context)
